"""Scores and tests that the studies share:

F1 in its forms, McNemar, bootstrap over groups, Benjamini-Hochberg, correlations.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

#: Numbers that a bootstrap of a mean draws at once.
BLOCK = 4_000_000


@dataclass(frozen=True)
class Confusion:
    """Counts of decisions per item, (..., items) float64 each.

    Attributes:
        tp: true positives.
        fp: false positives.
        fn: false negatives.
        tn: true negatives.
    """

    tp: np.ndarray
    fp: np.ndarray
    fn: np.ndarray
    tn: np.ndarray

    @staticmethod
    def per_item(items: np.ndarray, label: np.ndarray, decided: np.ndarray, count: int) -> Confusion:
        """Count decisions by item.

        Args:
            items: (n,) int, the item of each decision, below `count`.
            label: (n,) bool.
            decided: (n,) bool.
            count: of items.
        """

        def of(mask: np.ndarray) -> np.ndarray:
            return np.bincount(items[mask], minlength=count).astype(np.float64)

        return Confusion(
            of(label & decided), of(~label & decided), of(label & ~decided), of(~label & ~decided)
        )


def f1(tp: np.ndarray | float, fp: np.ndarray | float, fn: np.ndarray | float) -> np.ndarray:
    """2 tp / (2 tp + fp + fn), 0 where nothing is positive on either side."""
    tp, fp, fn = (np.asarray(x, dtype=np.float64) for x in (tp, fp, fn))
    whole = 2 * tp + fp + fn
    result: np.ndarray = np.divide(2 * tp, whole, out=np.zeros_like(whole), where=whole > 0)
    return result


def micro_f1(counts: Confusion) -> np.ndarray:
    """F1 of the one table that all items add up to: (...,)."""
    return f1(counts.tp.sum(-1), counts.fp.sum(-1), counts.fn.sum(-1))


def macro_f1(counts: Confusion, times: np.ndarray | float = 1.0) -> np.ndarray:
    """The usual macro F1, the mean of the items' F1s: (...,). Items without a positive label are left out.

    Args:
        counts: decisions by item.
        times: how often each item counts, (..., items); for replicates of a bootstrap over items.
    """
    return _mean(f1(counts.tp, counts.fp, counts.fn), times, counts.tp + counts.fn > 0)


def macro_f1_of_means(counts: Confusion, times: np.ndarray | float = 1.0) -> np.ndarray:
    """Macro F1 as Forbes et al. (2019) print it: the harmonic mean of the items' mean precision and mean
    recall. (...,).

    Items without a positive label are left out; precision is 1 where nothing was said to be positive. See
    :func:`macro_f1` for `times`.
    """
    positive, predicted = counts.tp + counts.fn, counts.tp + counts.fp
    precision = np.divide(counts.tp, predicted, out=np.ones_like(predicted), where=predicted > 0)
    recall = np.divide(counts.tp, positive, out=np.zeros_like(positive), where=positive > 0)
    p, r = (_mean(x, times, positive > 0) for x in (precision, recall))
    whole = p + r
    result: np.ndarray = np.divide(2 * p * r, whole, out=np.zeros_like(whole), where=whole > 0)
    return result


def _mean(values: np.ndarray, times: np.ndarray | float, kept: np.ndarray) -> np.ndarray:
    weight = kept * np.broadcast_to(times, values.shape)
    whole = weight.sum(-1, dtype=np.float64)
    return np.divide((values * weight).sum(-1), whole, out=np.zeros_like(whole), where=whole > 0)


@dataclass(frozen=True)
class McNemar:
    """McNemar's test on the same decisions.

    Attributes:
        only_a: decisions that the first model alone got right.
        only_b: decisions that the second alone got right.
        plain: p-value by chi-squared.
        corrected: p-value with Edwards' continuity correction.
        exact: p-value of the two-sided binomial test.
    """

    only_a: int
    only_b: int
    plain: float
    corrected: float
    exact: float


def mcnemar(right_a: np.ndarray, right_b: np.ndarray) -> McNemar:
    """Are two models right equally often on the same decisions?

    ``plain`` is (b - c)² / (b + c) against chi-squared with one degree of freedom, as the paper uses it;
    ``corrected`` has Edwards' continuity correction; ``exact`` is the two-sided binomial test.

    Args:
        right_a: (n,) bool, whether each decision is right.
        right_b: (n,) bool, whether each decision is right.
    """
    b, c = int((right_a & ~right_b).sum()), int((~right_a & right_b).sum())
    if b + c == 0:
        return McNemar(0, 0, 1.0, 1.0, 1.0)
    plain = (b - c) ** 2 / (b + c)
    corrected = max(abs(b - c) - 1, 0) ** 2 / (b + c)
    return McNemar(
        b,
        c,
        float(stats.chi2.sf(plain, 1)),
        float(stats.chi2.sf(corrected, 1)),
        float(stats.binomtest(b, b + c).pvalue),
    )


def stars(p: float) -> str:
    """*** below 0.001, ** below 0.01, * below 0.05."""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


def benjamini_hochberg(p: Sequence[float]) -> np.ndarray:
    """(n,) p-values adjusted for the false discovery rate over all of them; NaN stays NaN and counts for
    nothing.
    """
    p_values = np.asarray(p, dtype=np.float64)
    result = np.full_like(p_values, np.nan)
    kept = np.isfinite(p_values)
    if kept.any():
        result[kept] = stats.false_discovery_control(p_values[kept], method="bh")
    return result


def group_draws(groups: int, replicates: int, seed: int) -> np.ndarray:
    """(replicates, groups) int64: how often each group is in each bootstrap replicate, drawn with
    replacement.
    """
    return np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), size=replicates)


def interval(replicates: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of a statistic's replicates."""
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation.

    Attributes:
        n: pairs.
        rho: the correlation, NaN where a side is constant.
        p: two-sided p-value, NaN where a side is constant.
    """

    n: int
    rho: float
    p: float


def spearman(x: np.ndarray, y: np.ndarray) -> Correlation:
    """Spearman's rank correlation; ties have average ranks.

    Args:
        x: (n,).
        y: (n,).
    """
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(len(x), float("nan"), float("nan"))
    correlation = stats.spearmanr(x, y)
    return Correlation(len(x), float(correlation.statistic), float(correlation.pvalue))


def mean_interval(
    values: np.ndarray, level: float = 0.95, replicates: int = 2_000, seed: int = 0
) -> tuple[float, float]:
    """Bootstrap percentile interval of the mean of (n,) values, without those that are NaN."""
    kept = values[np.isfinite(values)]
    n = len(kept)
    if not n:
        return float("nan"), float("nan")
    # the numbers of group_draws, a few replicates at a time
    generator, chances, block = np.random.default_rng(seed), np.full(n, 1 / n), max(1, BLOCK // n)
    sizes = [min(block, replicates - begin) for begin in range(0, replicates, block)]
    means = [generator.multinomial(n, chances, size=size) @ kept / n for size in sizes]
    return interval(np.concatenate(means), level)


@dataclass(frozen=True)
class PairedDifference:
    """The mean of a less that of b over the same subjects.

    Attributes:
        n: subjects.
        mean: of the differences.
        paired: two-sided p-value of the paired t-test; NaN without subjects, as is `welch`.
        welch: two-sided p-value of Welch's t-test, as if the subjects were others.
    """

    n: int
    mean: float
    paired: float
    welch: float


def difference(a: np.ndarray, b: np.ndarray) -> PairedDifference:
    """The mean difference of two models on the same subjects, with tests.

    Args:
        a: (n,); subjects that are NaN in a or b are left out.
        b: (n,) of the same subjects.
    """
    kept = np.isfinite(a) & np.isfinite(b)
    a, b = a[kept], b[kept]
    if not len(a):
        return PairedDifference(0, float("nan"), float("nan"), float("nan"))
    if len(a) < 2 or (np.ptp(a - b) == 0 and a[0] == b[0]):
        return PairedDifference(len(a), float((a - b).mean()), 1.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nearly equal differences
        paired = 0.0 if np.ptp(a - b) == 0 else float(stats.ttest_rel(a, b).pvalue)
        return PairedDifference(
            len(a), float((a - b).mean()), paired, float(stats.ttest_ind(a, b, equal_var=False).pvalue)
        )
