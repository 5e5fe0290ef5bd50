"""Measures and tests that studies share: F1, rank correlations, shares of right answers, bootstraps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

#: Numbers that a bootstrap of a mean draws at once.
BLOCK = 4_000_000
#: Values that differ by less are equal: what is left is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Confusion:
    """Counts of true and false positives and negatives per item, (..., items) float64 each."""

    tp: np.ndarray
    fp: np.ndarray
    fn: np.ndarray
    tn: np.ndarray

    @staticmethod
    def per_item(items: np.ndarray, label: np.ndarray, decided: np.ndarray, count: int) -> "Confusion":
        """Count (n,) decisions about (n,) items, numbered below `count`, of which (n,) labels are true."""
        masks = (label & decided, ~label & decided, label & ~decided, ~label & ~decided)
        return Confusion(*(np.bincount(items[m], minlength=count).astype(np.float64) for m in masks))


def _ratio(part: np.ndarray, whole: np.ndarray, otherwise: float = 0.0) -> np.ndarray:
    """part / whole, and `otherwise` where the whole is 0."""
    return np.divide(part, whole, out=np.full(np.shape(whole), otherwise), where=np.asarray(whole) > 0)


def f1(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray) -> np.ndarray:
    """2 tp / (2 tp + fp + fn), 0 where nothing is positive on either side."""
    return _ratio(2 * tp, 2 * tp + fp + fn)


def micro_f1(counts: Confusion) -> np.ndarray:
    """F1 of the one table that all items add up to: (...,)."""
    return f1(counts.tp.sum(-1), counts.fp.sum(-1), counts.fn.sum(-1))


def macro_f1(counts: Confusion) -> np.ndarray:
    """The usual macro F1, the mean of the items' F1s: (...,). Items without a positive label are left out."""
    positive = counts.tp + counts.fn > 0
    each = f1(counts.tp, counts.fp, counts.fn)
    return _ratio(each.sum(-1, where=positive), positive.sum(-1))


def macro_f1_of_means(counts: Confusion, times: np.ndarray | float = 1.0) -> np.ndarray:
    """Macro F1 as Forbes et al. (2019) print it: the harmonic mean of mean precision and mean recall. (...,).

    Items without a positive label are left out; precision is 1 where nothing was said to be positive. `times`
    (..., items) says how often each item counts, for replicates of a bootstrap over items.
    """
    positive = counts.tp + counts.fn
    weight = (positive > 0) * np.broadcast_to(times, positive.shape)
    each = _ratio(counts.tp, counts.tp + counts.fp, 1.0), _ratio(counts.tp, positive)
    p, r = (_ratio((x * weight).sum(-1), weight.sum(-1, dtype=np.float64)) for x in each)
    return _ratio(2 * p * r, p + r)


class McNemar(NamedTuple):
    """McNemar's test on the same decisions; `only_a` are those that the first model alone got right.

    Attributes:
        plain: p-value of (b - c)² / (b + c) by chi-squared, as Forbes et al. use it.
        corrected: the same with Edwards' continuity correction.
        exact: p-value of the two-sided binomial test.
    """

    only_a: int
    only_b: int
    plain: float
    corrected: float
    exact: float


def mcnemar(right_a: np.ndarray, right_b: np.ndarray) -> McNemar:
    """Test whether two models are right equally often, given which of the same (n,) decisions are right."""
    from scipy import stats

    b, c = int((right_a & ~right_b).sum()), int((~right_a & right_b).sum())
    if b + c == 0:
        return McNemar(0, 0, 1.0, 1.0, 1.0)
    gaps = abs(b - c), max(abs(b - c) - 1, 0)
    plain, corrected = (float(stats.chi2.sf(gap**2 / (b + c), 1)) for gap in gaps)
    return McNemar(b, c, plain, corrected, float(stats.binomtest(b, b + c).pvalue))


def stars(p: float) -> str:
    """*** below 0.001, ** below 0.01, * below 0.05."""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


def benjamini_hochberg(p: Sequence[float]) -> np.ndarray:
    """(n,) p-values adjusted for the false discovery rate over all of them; NaN counts for nothing."""
    from scipy import stats

    p_values = np.asarray(p, dtype=np.float64)
    result = np.full_like(p_values, np.nan)
    kept = np.isfinite(p_values)
    if kept.any():
        result[kept] = stats.false_discovery_control(p_values[kept], method="bh")
    return result


def group_draws(groups: int, replicates: int, seed: int | np.random.Generator) -> np.ndarray:
    """(replicates, groups) int64: how often each group is in each replicate, drawn with replacement."""
    return np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), size=replicates)


def interval(replicates: np.ndarray) -> tuple[float, float]:
    """95 % percentile interval of a statistic's replicates, without those that are NaN; NaN without any."""
    finite = replicates[np.isfinite(replicates)]
    low, high = np.quantile(finite, [0.025, 0.975]) if len(finite) else (np.nan, np.nan)
    return float(low), float(high)


class Correlation(NamedTuple):
    """Spearman's rank correlation over n pairs, with its two-sided p-value; NaN where a side is constant."""

    n: int
    rho: float
    p: float


def spearman(x: np.ndarray, y: np.ndarray) -> Correlation:
    """Spearman's rank correlation of (n,) values; ties have average ranks."""
    from scipy import stats

    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(len(x), float("nan"), float("nan"))
    correlation = stats.spearmanr(x, y)
    return Correlation(len(x), float(correlation.statistic), float(correlation.pvalue))


def mean_interval(
    values: np.ndarray, replicates: int = 2_000, seed: int = 0, clusters: np.ndarray | None = None
) -> tuple[float, float]:
    """95 % bootstrap interval of the mean of (n,) values, without those that are NaN.

    `clusters` (n,) are names: values of one name are drawn together, unless all have the same.
    """
    finite = np.isfinite(values)
    kept = values[finite]
    names, cluster = np.unique(np.zeros(0) if clusters is None else clusters[finite], return_inverse=True)
    if len(names) > 1:
        sums, times = np.bincount(cluster, kept), np.bincount(cluster)
    else:
        sums, times = kept, np.ones(len(kept), dtype=np.int64)
    n = len(sums)
    if not n:
        return float("nan"), float("nan")
    generator, block = np.random.default_rng(seed), max(1, BLOCK // n)
    sizes = [min(block, replicates - begin) for begin in range(0, replicates, block)]
    means = []
    for size in sizes:
        draws = group_draws(n, size, generator)
        means.append(draws @ sums / (draws @ times))
    return interval(np.concatenate(means))


class PairedDifference(NamedTuple):
    """The mean of a less that of b over n subjects; p of the paired t-test and of Welch's; perhaps NaN."""

    n: int
    mean: float
    paired: float
    welch: float


def difference(a: np.ndarray, b: np.ndarray) -> PairedDifference:
    """The mean difference of two models on the same (n,) subjects, without those that are NaN in a or b.

    Equal differences have no deviation: p of the paired test is NaN; Welch's where all of a and all of b are.
    """
    kept = np.isfinite(a) & np.isfinite(b)
    a, b = a[kept], b[kept]
    n = len(a)
    if not n:
        return PairedDifference(0, float("nan"), float("nan"), float("nan"))
    mean, constant = float((a - b).mean()), np.ptp(a - b) < ROUNDING
    if n < 2 or (constant and abs(mean) < ROUNDING):
        return PairedDifference(n, mean, 1.0, 1.0)
    own, other, both = (x.var(ddof=1) / n for x in (a, b, a - b))
    paired = np.nan if constant else _two_sided(mean, both, n - 1)
    welch = np.nan
    if np.ptp(a) + np.ptp(b) >= ROUNDING:
        welch = _two_sided(mean, own + other, (own + other) ** 2 / (own**2 + other**2) * (n - 1))
    return PairedDifference(n, mean, float(paired), float(welch))


def _two_sided(mean: float, variance: float, freedom: float) -> float:
    """The p-value of a mean with that variance, by Student's t."""
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(mean) / np.sqrt(variance)))


def spearman_rows(a: np.ndarray, b: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """(n,) Spearman's ρ of each row of a with that of b, (n, c) both; NaN where a row is constant.

    Ties have average ranks. `among` (n, c) bool are the columns that are ranked in each row; None: all.
    """
    ranked = np.ones(a.shape, dtype=bool) if among is None else among
    ranks = []
    for x in (a, b):
        r = _ranks(np.where(ranked, x, np.nan))
        ranks.append(np.where(ranked, r - r.mean(axis=1, keepdims=True, where=ranked), 0.0))
    ra, rb = ranks
    return _ratio((ra * rb).sum(axis=1), np.sqrt((ra**2).sum(axis=1) * (rb**2).sum(axis=1)), np.nan)


def _ranks(values: np.ndarray) -> np.ndarray:
    """(n, c) float64 rank of each value in its row, from 1 on; ties have average ranks, NaN come last."""
    order = np.argsort(values, axis=1)
    ascending = np.take_along_axis(values, order, axis=1)
    differs = np.ones(values.shape, dtype=bool)
    differs[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    run = np.cumsum(differs) - 1
    places = np.tile(np.arange(1, values.shape[1] + 1), len(values))
    ranks = np.empty(values.shape)
    means = np.bincount(run, places) / np.bincount(run)
    np.put_along_axis(ranks, order, means[run].reshape(values.shape), axis=1)
    return ranks


def ceiling_rows(counts: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """(n,) ρ of a ranking without ties that agrees with the counts: all that a model can reach."""
    ranking = np.argsort(np.argsort(counts, axis=1, kind="stable"), axis=1)
    return spearman_rows(ranking, counts, among)


def share_right(scores: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(n,) share of right classes, (n, c) bool, among those with the highest of (n, c) scores; 0 without."""
    highest = scores.max(axis=1, keepdims=True)
    top = (scores == highest) & np.isfinite(highest)
    return (top & right).sum(axis=1) / top.sum(axis=1).clip(1)


def usually_right(right: np.ndarray, wrong: np.ndarray, classes: int) -> np.ndarray:
    """(classes,) of how many of the pairs in which it stands a class is the right one; 1/2 without any."""
    wins, losses = (np.bincount(side, minlength=classes) for side in (right, wrong))
    return np.where(wins + losses, wins / (wins + losses).clip(1), 0.5)


def shares(counts: np.ndarray) -> np.ndarray:
    """(n, c) each row's shares; their mean over the train subjects is the prior."""
    return counts / counts.sum(axis=1, keepdims=True)


def shares_of_others(shares: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """(n, c) for each row the sum of the other rows, less an average row of every other class.

    Less the row alone, its own class alone would become rarer: of as many "yes" as "no", every guess would be
    wrong.
    """
    classes, class_of = np.unique(gold, return_inverse=True)
    means = np.array([shares[gold == c].mean(axis=0) for c in classes])
    left = shares.sum(axis=0) - means.sum(axis=0)  # all rows but one of each class
    return np.round(left + means[class_of] - shares, 12)  # so that rounding breaks no tie
