"""Scores and tests that the studies share: F1 in its forms, McNemar, bootstrap over groups, Benjamini-Hochberg, correlations."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Confusion:
    """Counts per item: `tp`, `fp`, `fn`, `tn`, each (..., items) float64."""

    tp: np.ndarray
    fp: np.ndarray
    fn: np.ndarray
    tn: np.ndarray

    @staticmethod
    def per_item(items: np.ndarray, label: np.ndarray, said: np.ndarray, count: int) -> Confusion:
        """Count decisions by item.

        Args:
            items: (n,) int, the item of each decision, below `count`.
            label, said: (n,) bool.
        """

        def of(mask: np.ndarray) -> np.ndarray:
            return np.bincount(items[mask], minlength=count).astype(np.float64)

        return Confusion(of(label & said), of(~label & said), of(label & ~said), of(~label & ~said))


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
        times: how often each item counts, (..., items); for replicates of a bootstrap over items.
    """
    return _mean(f1(counts.tp, counts.fp, counts.fn), times, counts.tp + counts.fn > 0)


def macro_f1_of_means(counts: Confusion, times: np.ndarray | float = 1.0) -> np.ndarray:
    """Macro F1 as Forbes et al. (2019) print it: the harmonic mean of the items' mean precision and mean recall. (...,).

    Items without a positive label are left out; precision is 1 where nothing was said to be positive. See :func:`macro_f1` for `times`.
    """
    positive, said = counts.tp + counts.fn, counts.tp + counts.fp
    precision = np.divide(counts.tp, said, out=np.ones_like(said), where=said > 0)
    recall = np.divide(counts.tp, positive, out=np.zeros_like(positive), where=positive > 0)
    p, r = (_mean(x, times, positive > 0) for x in (precision, recall))
    both = p + r
    result: np.ndarray = np.divide(2 * p * r, both, out=np.zeros_like(both), where=both > 0)
    return result


def _mean(values: np.ndarray, times: np.ndarray | float, kept: np.ndarray) -> np.ndarray:
    weight = kept * np.broadcast_to(times, values.shape)
    whole = weight.sum(-1, dtype=np.float64)
    return np.divide((values * weight).sum(-1), whole, out=np.zeros_like(whole), where=whole > 0)


@dataclass(frozen=True)
class McNemar:
    """McNemar's test on the same decisions: `only_a` and `only_b` count those that one alone got right; three p-values."""

    only_a: int
    only_b: int
    plain: float
    corrected: float
    exact: float


def mcnemar(right_a: np.ndarray, right_b: np.ndarray) -> McNemar:
    """Are two models right equally often on the same decisions?

    ``plain`` is (b - c)² / (b + c) against chi-squared with one degree of freedom, as the paper uses it; ``corrected`` has Edwards'
    continuity correction; ``exact`` is the two-sided binomial test.

    Args:
        right_a, right_b: (n,) bool, whether each decision is right.
    """
    b, c = int((right_a & ~right_b).sum()), int((~right_a & right_b).sum())
    if b + c == 0:
        return McNemar(0, 0, 1.0, 1.0, 1.0)
    plain = (b - c) ** 2 / (b + c)
    corrected = max(abs(b - c) - 1, 0) ** 2 / (b + c)
    return McNemar(b, c, float(stats.chi2.sf(plain, 1)), float(stats.chi2.sf(corrected, 1)), float(stats.binomtest(b, b + c).pvalue))


def stars(p: float) -> str:
    """*** below 0.001, ** below 0.01, * below 0.05."""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


def benjamini_hochberg(p: Sequence[float]) -> np.ndarray:
    """(n,) p-values adjusted for the false discovery rate over all of them; NaN stays NaN and counts for nothing."""
    given = np.asarray(p, dtype=np.float64)
    result = np.full_like(given, np.nan)
    kept = np.isfinite(given)
    if kept.any():
        result[kept] = stats.false_discovery_control(given[kept], method="bh")
    return result


def group_draws(groups: int, replicates: int, seed: int) -> np.ndarray:
    """(replicates, groups) int64: how often each group is in each bootstrap replicate, drawn with replacement."""
    return np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), size=replicates)


def interval(replicates: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of a statistic's replicates."""
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation of n pairs with its two-sided p-value, NaN where a side is constant."""

    n: int
    rho: float
    p: float


def spearman(x: np.ndarray, y: np.ndarray) -> Correlation:
    """Average ranks for ties. x, y: (n,)."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(len(x), float("nan"), float("nan"))
    found = stats.spearmanr(x, y)
    return Correlation(len(x), float(found.statistic), float(found.pvalue))


def mean_interval(values: np.ndarray, level: float = 0.95, replicates: int = 2_000, seed: int = 0) -> tuple[float, float]:
    """Bootstrap percentile interval of the mean over groups (subjects, objects), NaN left out. values: (n,)."""
    kept = values[np.isfinite(values)]
    if not len(kept):
        return float("nan"), float("nan")
    return interval(group_draws(len(kept), replicates, seed) @ kept / len(kept), level)


@dataclass(frozen=True)
class Difference:
    """Mean of a less that of b over the same n subjects, and two-sided p-values: paired t, and Welch's t as if the subjects were others."""

    n: int
    mean: float
    paired: float
    welch: float


def difference(a: np.ndarray, b: np.ndarray) -> Difference:
    """a, b: (n,), of the same subjects; those where either is NaN are left out."""
    kept = np.isfinite(a) & np.isfinite(b)
    a, b = a[kept], b[kept]
    if len(a) < 2 or (np.ptp(a - b) == 0 and a[0] == b[0]):
        return Difference(len(a), float((a - b).mean()) if len(a) else float("nan"), 1.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nearly equal differences
        paired = 0.0 if np.ptp(a - b) == 0 else float(stats.ttest_rel(a, b).pvalue)
        return Difference(len(a), float((a - b).mean()), paired, float(stats.ttest_ind(a, b, equal_var=False).pvalue))
