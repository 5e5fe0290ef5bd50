"""Whether anything but the scene hints at the answer: shares of "yes", and mutual information."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from simtown.datasets.audit.columns import Columns, features, group_names
from simtown.datasets.audit.counts import SplitCounts
from simtown.datasets.audit.findings import Finding, wilson
from simtown.datasets.settings import Settings

#: Draws from the null distribution of a mutual information.
DRAWS = 300
#: Features with p-values below this are ordered by their information.
_SURE = 1e-9


def overall(counts: SplitCounts, name: str) -> Finding:
    """The share of "yes" in a split against one half."""
    from scipy.stats import binomtest

    yes, n = counts.yes, counts.examples
    low, high = wilson(yes, n)
    return Finding(
        "answers",
        name,
        f"{yes / n:.1%} yes (95 %: {low:.1%} to {high:.1%})",
        "Ask as many questions with the answer yes as with no; otherwise a model that always says the same "
        "beats 50 %.",
        float(binomtest(yes, n).pvalue),
        details={"yes": yes, "n": n, "low": low, "high": high},
    )


def by_group(counts: SplitCounts, settings: Settings, name: str) -> Iterator[Finding]:
    """The share of "yes" in every group (relation, entity, position) against one half.

    The level of the intervals holds for all groups at once.
    """
    from scipy.stats import binom

    for what, names in group_names(settings).items():
        n = counts.answers[what].sum(axis=1)
        occurring = np.flatnonzero(n)
        n, yes = n[occurring], counts.answers[what][occurring, 1]
        p = np.minimum(1.0, 2 * binom.cdf(np.minimum(yes, n - yes), n, 0.5))
        low, high = wilson(yes, n, len(occurring))
        worst = int(np.argmin(p))
        label = names[occurring[worst]]
        yield Finding(
            f"answers by {what}",
            name,
            f"furthest from half: {label} {yes[worst] / n[worst]:.1%} yes ({low[worst]:.1%} to "
            f"{high[worst]:.1%}) of {n[worst]:,}",
            f"Generate the data set again so that each {what} is answered yes as often as no, or weight the "
            f"examples; first look at: {label}.",
            min(1.0, float(p[worst]) * len(occurring)),
            details={
                "groups": [
                    {"name": names[g], "yes": int(y), "n": int(m), "low": float(lo), "high": float(hi)}
                    for g, y, m, lo, hi in zip(occurring, yes, n, low, high, strict=True)
                ]
            },
        )


def information(
    sample: Columns, rows: np.ndarray, length: int, settings: Settings, name: str, seed: int = 0
) -> Finding:
    """Mutual information of the answer with every feature that it must not depend on, beyond chance.

    The null distribution is that of the data set's own design: if answers come in pairs of opposites, a coin
    exchanges each pair; otherwise answers are permuted. Its tail is a gamma distribution with the mean and
    variance of DRAWS draws.

    Args:
        sample: columns of some examples.
        rows: their numbers (:func:`simtown.datasets.audit.counts.sample_rows`).
        length: of the split.
        settings: of the data set.
        name: of the split.
        seed: of the draws.
    """
    from scipy.stats import gamma

    answer, table = sample["answer"].astype(bool), features(sample, rows, length, settings)
    estimates = mutual_information(
        list(table.values()), itertools.chain([answer], null_answers(answer, DRAWS, seed))
    )
    measures: list[dict[str, Any]] = []
    for (feature, numbers), measured, null in zip(
        table.items(), estimates[0].tolist(), estimates[1:].T, strict=True
    ):
        mean, variance = float(null.mean()), float(null.var(ddof=1))
        p = (
            float(gamma.sf(measured, mean * mean / variance, scale=variance / mean))
            if variance > 1e-18
            else float(measured <= mean + 1e-9)
        )
        measures.append(
            {
                "feature": feature,
                "bits": measured - mean,
                "plain_bits": measured,
                "values": int(numbers.max()) + 1,
                "p": p,
            }
        )
    measures.sort(key=lambda row: (max(row["p"], _SURE), -row["bits"]))
    first = measures[0]
    telling = [f"{row['feature']} ({row['bits']:.3f} bits)" for row in measures if row["p"] < 1e-4] or [
        first["feature"]
    ]
    among = f"; of {len(rows):,} examples" if len(rows) < length else ""
    return Finding(
        "information",
        name,
        f"{first['feature']} tells most about the answer: {first['bits']:+.4f} of 1 bit beyond chance (p "
        f"{first['p']:.2g}){among}",
        f"The answer can be guessed from {', '.join(telling)} without understanding the picture: find out "
        f"why, and generate the data set again. {_most_lopsided(table[first['feature']], answer, rows)}",
        min(1.0, first["p"] * len(measures)),
        details={"features": measures, "n": len(rows)},
    )


def _most_lopsided(numbers: np.ndarray, answer: np.ndarray, rows: np.ndarray) -> str:
    """Where to look: examples with the value of a feature whose answers are furthest from half."""
    n, yes = np.bincount(numbers), np.bincount(numbers, weights=answer)
    value = int(np.argmax(np.abs(yes - n / 2) / np.sqrt(n)))  # every value occurs
    examples = ", ".join(map(str, rows[np.flatnonzero(numbers == value)[:3]]))
    return (
        f"Look at examples {examples}: of the {n[value]:,} that agree with them in this, "
        f"{yes[value] / n[value]:.0%} are answered yes."
    )


def null_answers(answer: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Random answers (n,) bool of the same design, which depend on nothing."""
    rng, n = np.random.default_rng(seed), len(answer)
    paired = n % 2 == 0 and bool((answer[0::2] ^ answer[1::2]).all())
    for _ in range(draws):
        yield answer ^ np.repeat(rng.random(n // 2) < 0.5, 2) if paired else rng.permutation(answer)


def mutual_information(features: Sequence[np.ndarray], answers: Iterable[np.ndarray]) -> np.ndarray:
    """Plug-in estimates in bits of I(feature; answer).

    Args:
        features: each (n,) int64, where every number from 0 up to the largest occurs.
        answers: each (n,) bool.

    Returns:
        (answers, features) float64.
    """
    totals = [np.bincount(numbers) for numbers in features]
    total, starts = np.concatenate(totals), np.cumsum([0, *map(len, totals[:-1])])
    estimates = []
    for answer in answers:
        yes = np.concatenate(
            [np.bincount(f[answer], minlength=len(t)) for f, t in zip(features, totals, strict=True)]
        )
        joint = np.stack([total - yes, yes], axis=1).astype(np.float64)
        expected = total[:, None] * np.array([1 - answer.mean(), answer.mean()])
        terms = joint * np.log2(np.divide(joint, expected, out=np.ones_like(joint), where=joint > 0))
        estimates.append(np.add.reduceat(terms.sum(axis=1), starts) / len(answer))
    return np.array(estimates)
