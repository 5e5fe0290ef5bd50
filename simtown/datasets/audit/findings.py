"""The findings of an audit, and the level at which it warns."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

#: The probability that an audit of a data set without bias warns by chance, over all its tests.
LEVEL = 0.01


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        check: its name.
        where: the split or splits that it examined.
        figure: what was measured, in words.
        advice: what to do about a warning.
        p: probability of such a figure in a data set without bias; None if the check is not a test.
        status: "pass", "warn", or "note" if no figure is wrong; of tests it is set by :func:`judge`.
        details: all measurements, for JSON.
    """

    check: str
    where: str
    figure: str
    advice: str = ""
    p: float | None = None
    status: str = "pass"
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_count(
        cls, check: str, where: str, count: int, figure: str, advice: str, **details: Any
    ) -> Finding:
        """The finding of a check that warns if it counts anything."""
        return cls(check, where, figure, advice, status="warn" if count else "pass", details=details)

    @classmethod
    def of_accuracy(
        cls, check: str, where: str, right: int, n: int, chance: dict[str, float], advice: str, **details: Any
    ) -> Finding:
        """The finding of a model that has so many of n answers right; `chance` is named by its only key."""
        from scipy.stats import binom

        ((name, share),) = chance.items()
        low, high = wilson(right, n)
        figure = f"{right / n:.1%} right (95 %: {low:.1%} to {high:.1%}) of {n:,}; {name} {share:.1%}"
        measured = {"right": right, "n": n, "low": low, "high": high, **chance, **details}
        return cls(check, where, figure, advice, float(binom.sf(right - 1, n, share)), details=measured)

    def to_json(self) -> dict[str, Any]:
        """The finding for JSON. Only a warning has advice."""
        advice = self.advice if self.status == "warn" else ""
        about = {"check": self.check, "where": self.where, "status": self.status, "found": self.figure}
        return {**about, "p": self.p, "advice": advice, "details": self.details}


def judge(findings: list[Finding]) -> list[Finding]:
    """Set the status of the findings that have a p-value, by Holm's procedure over all of them, at LEVEL."""
    p_values = {i: f.p for i, f in enumerate(findings) if f.p is not None}
    judged, rejecting = list(findings), True
    for rank, (i, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        rejecting = rejecting and p * (len(p_values) - rank) < LEVEL
        judged[i] = replace(findings[i], status="warn" if rejecting else "pass")
    return judged


def information(
    features: Collection[np.ndarray], answers: Iterable[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Information of features about the first of several answers, beside what they say about the others.

    The others are draws of its null distribution, whose tail is a gamma distribution with their mean and
    variance. A feature, and an answer, is (n,) int64, where every number from 0 up to the largest occurs.

    Returns:
        Of each feature: its mutual information with the first answer beyond the others' mean, in bits; its
        information; and the probability of so much by chance.
    """
    from scipy.stats import gamma

    measured, *null = ([mutual_information(feature, answer) for feature in features] for answer in answers)
    plain, mean, variance = np.array(measured), np.mean(null, axis=0), np.var(null, axis=0, ddof=1)
    centre, spread = np.maximum(mean, 1e-12), np.maximum(variance, 1e-18)
    p = gamma.sf(plain, centre * centre / spread, scale=spread / centre)
    return plain - mean, plain, np.where(variance > 1e-18, p, plain <= mean + 1e-9)


def mutual_information(feature: np.ndarray, answer: np.ndarray) -> float:
    """Plug-in estimate in bits of the mutual information of (n,) int64 numbers from 0 up."""
    shape = feature.max() + 1, answer.max() + 1
    joint = np.bincount(feature * shape[1] + answer, minlength=shape[0] * shape[1])
    shares = joint.reshape(shape) / len(answer)
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    seen = shares > 0
    return float((shares[seen] * np.log2(shares[seen] / expected[seen])).sum())


def wilson(hits: int | np.ndarray, n: int | np.ndarray, tests: int = 1) -> tuple[Any, Any]:
    """The 95 % Wilson score interval of a share, or of each of an array of shares.

    The level holds for `tests` intervals at once (Bonferroni).
    """
    from scipy.stats import norm

    z = float(norm.isf(0.025 / tests))
    share = hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half
