"""Similarity of vectors against what people say: word similarity and word association (appendix D).

Pairs that share a word are not independent, so that words are drawn, not pairs: for intervals with
replacement (two copies of a word make no pair), for p-values by exchanging words (Mantel's test).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from simtown.probes import measures

REPLICATES = 2000


@dataclass(frozen=True)
class MatrixAgreement:
    """How alike two similarity matrices order the pairs of words.

    Attributes:
        pairs: of words.
        rho: Spearman's correlation over the pairs.
        low: of the 95 % interval over words.
        high: of the 95 % interval over words.
        p: Mantel's, two-sided.
    """

    pairs: int
    rho: float
    low: float
    high: float
    p: float


def agreement(a: np.ndarray, b: np.ndarray, seed: int = 0) -> MatrixAgreement:
    """Do two (n, n) symmetric matrices order the pairs of words alike? NaN where a matrix is constant."""
    n = len(a)
    upper = np.triu_indices(n, 1)
    rho = representational(a, b)
    if np.isnan(rho):
        return MatrixAgreement(len(upper[0]), rho, rho, rho, rho)
    low, high = _interval(_rhos(a[upper], b[upper], _weights(n, seed)))
    generator = np.random.default_rng(seed)
    orders = np.array([generator.permutation(n) for _ in range(REPLICATES)])
    ranks = np.zeros((n, n))
    ranks[upper] = stats.rankdata(a[upper])
    ranks += ranks.T
    exchanged = ranks[orders[:, upper[0]], orders[:, upper[1]]]
    shuffled = _correlation(exchanged, stats.rankdata(b[upper])[None], np.ones((1, len(upper[0]))))
    p = (1 + (np.abs(shuffled) >= abs(rho) - 1e-12).sum()) / (1 + REPLICATES)
    return MatrixAgreement(len(upper[0]), rho, low, high, float(p))


def difference(a: np.ndarray, b: np.ndarray, people: np.ndarray, seed: int = 0) -> tuple[float, float, float]:
    """How much better a agrees with people than b does: the difference of the two correlations, and its 95 %
    interval over words.
    """
    upper = np.triu_indices(len(people), 1)
    weights = _weights(len(people), seed)
    differences = _rhos(a[upper], people[upper], weights) - _rhos(b[upper], people[upper], weights)
    return representational(a, people) - representational(b, people), *_interval(differences)


def representational(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's correlation of two spaces' (n, n) similarities over all pairs of words."""
    upper = np.triu_indices(len(a), 1)
    return float(_rhos(a[upper], b[upper], np.ones((1, len(upper[0]))))[0])


def _weights(words: int, seed: int) -> np.ndarray:
    """(REPLICATES, pairs): how often each pair is in each replicate, words being drawn with replacement."""
    times = measures.group_draws(words, REPLICATES, seed).astype(np.float64)
    i, j = np.triu_indices(words, 1)
    result: np.ndarray = times[:, i] * times[:, j]
    return result


def _rhos(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(r,) Spearman's correlations of (p,) pairs, each as often as (r, p) weights say; NaN if constant."""

    def ranks(side: np.ndarray) -> np.ndarray:
        return weights @ ((side[None] < side[:, None]) + 0.5 * (side[None] == side[:, None])).T

    return _correlation(ranks(x), ranks(y), weights)


def _correlation(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(r,) weighted Pearson correlations along the rows."""
    whole = np.maximum(weights.sum(axis=1, keepdims=True), 1)
    x, y = (side - (side * weights).sum(axis=1, keepdims=True) / whole for side in (x, y))
    square = np.sqrt((weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1))
    covariance = (weights * x * y).sum(axis=1)
    result: np.ndarray = np.divide(covariance, square, out=np.full(len(square), np.nan), where=square > 1e-12)
    return result


def _interval(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return measures.interval(finite) if len(finite) else (float("nan"), float("nan"))
