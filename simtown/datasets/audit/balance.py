"""Does anything but the street as it stands hint at the answer? Shares of "yes", and mutual information."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simtown.datasets.audit.columns import Columns, features, group_names
from simtown.datasets.audit.counts import Counts
from simtown.datasets.audit.findings import Finding, wilson
from simtown.datasets.settings import Settings

#: Draws from the null distribution of a mutual information.
DRAWS = 300
#: Chances below which features are told apart by how much they tell.
_SURE = 1e-9


def overall(counts: Counts, name: str) -> Finding:
    """The share of "yes" in a split against one half."""
    from scipy.stats import binomtest

    yes, n = counts.yes, counts.examples
    low, high = wilson(yes, n)
    return Finding(
        "answers", name, f"{yes / n:.1%} yes (95 %: {low:.1%} to {high:.1%})",
        "Ask as many questions with the answer yes as with no; otherwise a model that always says the same beats 50 %.",
        float(binomtest(yes, n).pvalue), details={"yes": yes, "n": n, "low": low, "high": high},
    )  # fmt: skip


def by_group(counts: Counts, settings: Settings, name: str) -> Iterator[Finding]:
    """The share of "yes" in every group (relation, entity, position) against one half; intervals hold for all groups together."""
    from scipy.stats import binom

    for what, names in group_names(settings).items():
        n = counts.answers[what].sum(axis=1)
        there = np.flatnonzero(n)
        n, yes = n[there], counts.answers[what][there, 1]
        p = np.minimum(1.0, 2 * binom.cdf(np.minimum(yes, n - yes), n, 0.5))
        low, high = wilson(yes, n, len(there))
        worst = int(np.argmin(p))
        label = names[there[worst]]
        yield Finding(
            f"answers by {what}", name,
            f"furthest from half: {label} {yes[worst] / n[worst]:.1%} yes ({low[worst]:.1%} to {high[worst]:.1%}) of {n[worst]:,}",
            f"Make the data anew so that each {what} is answered yes as often as no, or weight the examples; first look at: {label}.",
            min(1.0, float(p[worst]) * len(there)),
            details={"groups": [{"name": names[g], "yes": int(y), "n": int(m), "low": float(lo), "high": float(hi)}
                                for g, y, m, lo, hi in zip(there, yes, n, low, high, strict=True)]},
        )  # fmt: skip


def information(sample: Columns, rows: np.ndarray, length: int, settings: Settings, name: str, seed: int = 0) -> Finding:
    """Mutual information of the answer with every feature it must not depend on, less what chance alone would give.

    The null distribution is that of the data set's own design: where answers come in pairs of opposites, each pair is exchanged by
    a coin; otherwise answers are permuted. Its tail is a gamma distribution with the mean and variance of DRAWS draws.

    Args:
        sample: columns of the examples `rows` of a split of this length (:func:`simtown.datasets.audit.counts.sample_rows`).
    """
    from scipy.stats import gamma

    answer, table = sample["answer"].astype(bool), features(sample, rows, length, settings)
    nulls = np.array([[mutual_information(numbers, drawn) for numbers in table.values()] for drawn in null_answers(answer, DRAWS, seed)])
    told: list[dict[str, Any]] = []
    for (feature, numbers), null in zip(table.items(), nulls.T, strict=True):
        measured = mutual_information(numbers, answer)
        mean, variance = float(null.mean()), float(null.var(ddof=1))
        p = float(gamma.sf(measured, mean * mean / variance, scale=variance / mean)) if variance > 1e-18 else float(measured <= mean + 1e-9)
        told.append({"feature": feature, "bits": measured - mean, "plain_bits": measured, "values": int(numbers.max()) + 1, "p": p})
    told.sort(key=lambda row: (max(row["p"], _SURE), -row["bits"]))
    first = told[0]
    telling = [f"{row['feature']} ({row['bits']:.3f} bits)" for row in told if row["p"] < 1e-4] or [first["feature"]]
    among = f"; of {len(rows):,} examples" if len(rows) < length else ""
    return Finding(
        "information", name,
        f"{first['feature']} tells most about the answer: {first['bits']:+.4f} of 1 bit beyond chance (p {first['p']:.2g}){among}",
        f"The answer can be guessed from {', '.join(telling)} without understanding the picture: find out why, and make the data anew. "
        f"{_most_lopsided(table[first['feature']], answer, rows)}",
        min(1.0, first["p"] * len(told)), details={"features": told, "n": len(rows)},
    )  # fmt: skip


def _most_lopsided(numbers: np.ndarray, answer: np.ndarray, rows: np.ndarray) -> str:
    """Where to look: the value of a feature whose answers are furthest from half, by examples that have it."""
    n, yes = np.bincount(numbers), np.bincount(numbers, weights=answer)
    value = int(np.argmax(np.abs(yes - n / 2) / np.sqrt(n)))  # every value occurs
    examples = ", ".join(map(str, rows[np.flatnonzero(numbers == value)[:3]]))
    return f"Look at examples {examples}: of the {n[value]:,} that agree with them in this, {yes[value] / n[value]:.0%} are answered yes."


def null_answers(answer: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Answers (n,) bool as they could as well have been, if they depended on nothing."""
    rng, n = np.random.default_rng(seed), len(answer)
    paired = n % 2 == 0 and bool((answer[0::2] ^ answer[1::2]).all())
    for _ in range(draws):
        yield answer ^ np.repeat(rng.random(n // 2) < 0.5, 2) if paired else rng.permutation(answer)


def mutual_information(numbers: np.ndarray, answer: np.ndarray) -> float:
    """Plug-in estimate in bits of I(feature; answer), for (n,) int64 from 0 up and (n,) bool."""
    n = len(answer)
    joint = np.bincount(2 * numbers + answer, minlength=2 * (int(numbers.max()) + 1)).reshape(-1, 2).astype(np.float64)
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0) / n
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / expected[seen])).sum() / n)
