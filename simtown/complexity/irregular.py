"""Runs that never learned, and curves that fall: found in the scores, without knowing what chance is."""

import numpy as np
from scipy import stats

from simtown.complexity.curves import ROUNDING

#: A run is stuck if it lies in the lowest quarter of what smaller sets reached already,
_LOWEST = 0.25
#: and below both that and its own size's median by this much accuracy, and by this many of the usual spreads.
_GAP, _SPREADS = 0.1, 5
#: Probability with which a curve that never falls is said to fall.
_FALSE_ALARM = 0.01


def stuck_runs(scores: np.ndarray) -> np.ndarray:
    """Which of the scores (S, K) of S sizes and K seeds are of runs that stayed where learning begins.

    Most runs of a smaller size must have left that level, as do most of its own size: so a run that is late
    in a steep rise is not stuck.
    """
    if scores.shape[1] < 2:
        return np.zeros(scores.shape, dtype=bool)
    median = np.nanmedian(scores, axis=1)
    bottom, top = np.nanmin(scores), np.nanmax(scores)
    usual = stats.norm.ppf(0.75) ** -1 * np.nanmedian(np.abs(scores - median[:, None]))
    reached = np.concatenate([[bottom], np.maximum.accumulate(median)[:-1]])
    has_learned = reached - bottom >= _LOWEST * (top - bottom)
    low = scores < (bottom + _LOWEST * (reached - bottom))[:, None]
    gap = np.minimum(reached, median)[:, None] - scores
    stuck = has_learned[:, None] & low & (gap > max(_GAP, _SPREADS * usual))
    few = stuck.sum(axis=1) < np.isfinite(scores).sum(axis=1) / 2
    return stuck & few[:, None]


def falls(means: np.ndarray, seeds: int, widened: float) -> bool:
    """Whether the mean curve falls somewhere by more than luck.

    The greatest fall is measured in standard errors of its own pair of sizes, or of the usual pair where they
    are more, against Student's t for all pairs of sizes at once.

    Args:
        means: (1 + replicates, S), the first is the curve.
        seeds: behind each mean.
        widened: by which factor replicates spread more than means do.
    """
    pairs = np.triu_indices(means.shape[1], 1)
    if not len(pairs[0]):
        return False
    drops = means[:, pairs[0]] - means[:, pairs[1]]
    errors = drops[1:].std(axis=0) / widened
    least = stats.t.isf(_FALSE_ALARM / len(drops[0]), means.shape[1] * (seeds - 1))
    return bool((drops[0] > least * np.maximum(errors, np.median(errors)) + ROUNDING).any())


def held(means: np.ndarray) -> np.ndarray:
    """The accuracy (R, S) that a size and all larger ones have."""
    return np.minimum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
