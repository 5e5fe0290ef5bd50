"""Three rules that read off a learning curve how many samples a target accuracy needs: smallest, isotonic and power.

A rule takes sizes (S,) ascending, accuracy (R, S), weight (S,) the number of answers behind an accuracy, and targets (K,); it returns N*
(K, R). N* is never guessed beyond what was trained: not reached on the largest set, it is *right-censored*; reached on the smallest
already, *left-censored*. In arrays of N* these are the codes `ABOVE` (inf) and `BELOW` (0), so that N* can be sorted; NaN where a rule does
not apply.

All R curves, the replicates of a bootstrap, are fitted at once. That is why isotonic and power fits are written here as array formulas:
scipy fits one curve at a time. The tests hold them to scipy's answers.
"""

from __future__ import annotations

import numpy as np

#: Codes of a left-censored and a right-censored N*.
BELOW, ABOVE = 0.0, np.inf
#: Largest distance between accuracy and its power law that tables leave unmentioned.
MISFIT = 0.03
#: Of an accuracy or a share: what rounding may add. It must not decide whether a target was reached.
ROUNDING = 1e-12


def smallest(sizes: np.ndarray, accuracy: np.ndarray, weight: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The paper's rule: the smallest trained size whose accuracy reaches the target."""
    reached = accuracy >= targets[:, None, None] - ROUNDING
    first = reached.argmax(axis=2)
    return np.where(~reached.any(axis=2), ABOVE, np.where(first == 0, BELOW, sizes[first].astype(float)))


def isotonic(sizes: np.ndarray, accuracy: np.ndarray, weight: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Least squares among the curves that never fall, joined by straight lines in log n."""
    fit = isotonic_fit(accuracy, weight)
    rows, log_n = np.arange(len(fit)), np.log(sizes)
    reached = fit >= targets[:, None, None] - ROUNDING
    after = reached.argmax(axis=2)
    before = np.maximum(after - 1, 0)
    low, high = fit[rows, before], fit[rows, after]
    share = np.clip((targets[:, None] - low) / np.where(high > low, high - low, 1), 0, 1)
    between = np.exp(log_n[before] + share * (log_n[after] - log_n[before]))
    return np.where(~reached.any(axis=2), ABOVE, np.where(after == 0, BELOW, np.clip(between, sizes[before], sizes[after])))


def isotonic_fit(accuracy: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The never-falling fit (R, S) of accuracy (R, S), by the min-max formula: max over j ≤ i of min over k ≥ i of the mean of j..k."""
    s = len(weight)
    weights = np.concatenate([[0.0], np.cumsum(weight)])
    sums = np.concatenate([np.zeros((len(accuracy), 1)), np.cumsum(weight * accuracy, axis=1)], axis=1)
    later = np.triu(np.ones((s, s), dtype=bool))  # j ≤ k
    span = np.where(later, weights[None, 1:] - weights[:-1, None], 1)
    means = np.where(later, (sums[:, None, 1:] - sums[:, :-1, None]) / span, np.inf)
    least = np.minimum.accumulate(means[:, :, ::-1], axis=2)[:, :, ::-1]
    return np.where(later, least, -np.inf).max(axis=1)


def power(sizes: np.ndarray, accuracy: np.ndarray, weight: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Where the inverse power law of :func:`power_fit` reaches the target; NaN with fewer than three sizes."""
    if len(sizes) < 3:
        return np.full((len(targets), len(accuracy)), np.nan)
    a, b, c = power_fit(sizes, accuracy, weight)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        n = sizes[0] * (b / (a - targets[:, None])) ** (1 / c)
    n = np.where(a > targets[:, None], n, ABOVE)
    return np.where(n > sizes[-1], ABOVE, np.where(n <= sizes[0], BELOW, n))


def power_fit(sizes: np.ndarray, accuracy: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a, b, c (each (R,)) of accuracy = a - b (n / smallest n)^-c, a ≤ 1, b ≥ 0, 0.02 ≤ c ≤ 20, by weighted least squares.

    An accuracy weighs as its binomial variance tells (at (correct + 2) / (answers + 4), so that none is 0). For a given c the best a and b
    are a formula; the best c is searched, on a coarse grid and then between its neighbours.
    """
    shrunk = (accuracy * weight + 2) / (weight + 4)
    w = weight / (shrunk * (1 - shrunk))
    ratio = np.log(sizes / sizes[0])

    def fit(c: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """a, b and squared error (R, C) for exponents (R or 1, C)."""
        x = np.exp(-c[:, :, None] * ratio)
        s0, s1 = w.sum(axis=1)[:, None], np.einsum("rs,rcs->rc", w, x)
        y0 = (w * accuracy).sum(axis=1)[:, None]
        x_, y_ = x - (s1 / s0)[:, :, None], accuracy - y0 / s0
        b = np.maximum(-np.einsum("rs,rcs,rs->rc", w, x_, y_) / np.einsum("rs,rcs->rc", w, x_**2), 0)
        a = (y0 + b * s1) / s0
        over = a > 1
        pinned = np.maximum(np.einsum("rs,rcs->rc", w * (1 - accuracy), x) / np.einsum("rs,rcs->rc", w, x**2), 0)
        a, b = np.where(over, 1, a), np.where(over, pinned, b)
        error = np.einsum("rs,rcs->rc", w, (accuracy[:, None] - a[:, :, None] + b[:, :, None] * x) ** 2)
        return a, b, error

    rows, grid = np.arange(len(accuracy)), np.geomspace(0.02, 20, 60)
    best = fit(np.broadcast_to(grid, (1, len(grid))))[2].argmin(axis=1)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, len(grid) - 1)]
    for _ in range(7):
        c = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, 7)
        a, b, error = fit(c)
        best = error.argmin(axis=1)
        low, high = c[rows, np.maximum(best - 1, 0)], c[rows, np.minimum(best + 1, 6)]
    return a[rows, best], b[rows, best], c[rows, best]


def power_misfit(sizes: np.ndarray, accuracy: np.ndarray, weight: np.ndarray) -> float:
    """Largest distance of one curve's accuracy (S,) from its power law; NaN with fewer than three sizes."""
    if len(sizes) < 3:
        return float("nan")
    a, b, c = (float(p[0]) for p in power_fit(sizes, accuracy[None], weight))
    return float(np.abs(accuracy - a + b * (sizes / sizes[0]) ** -c).max())


RULES = {"smallest": smallest, "isotonic": isotonic, "power": power}
