"""Two rules that read off a learning curve how many samples a target accuracy needs.

They are `smallest` (the paper's) and `isotonic` (ours).

A rule takes sizes (S,) ascending, accuracy (R, S), weight (S,) the number of answers behind an accuracy, and
targets (K,); it returns N* (K, R). N* is never guessed beyond what was trained: not reached on the largest
set, it is *right-censored*; reached on the smallest already, *left-censored*. In arrays of N* these are the
codes `ABOVE` (inf) and `BELOW` (0), so that N* can be sorted.

All R curves, the replicates of a bootstrap, are fitted at once. That is why the isotonic fit is written here
as an array formula: scipy fits one curve at a time. The tests hold it to scipy's answers.
"""

import numpy as np

#: Codes of a left-censored and a right-censored N*.
BELOW, ABOVE = 0.0, np.inf
#: Of an accuracy or a share: what rounding may add. It must not decide whether a target was reached.
ROUNDING = 1e-12


def smallest(sizes: np.ndarray, accuracy: np.ndarray, weight: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The paper's rule: the smallest trained size whose accuracy reaches the target."""
    reached = accuracy >= targets[:, None, None] - ROUNDING
    first = reached.argmax(axis=2)
    return np.where(~reached.any(axis=2), ABOVE, np.where(first == 0, BELOW, sizes[first].astype(float)))


def isotonic(sizes: np.ndarray, accuracy: np.ndarray, weight: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Read N* off the never-falling curve of least squares.

    It is joined by a cubic in log n that never falls either (PCHIP).

    Straight lines would cut the corner where a curve bends towards its ceiling: they find needs 2 to 7 % too
    large.
    """
    fit = isotonic_fit(accuracy, weight)
    reached = fit >= targets[:, None, None] - ROUNDING
    after = reached.argmax(axis=2)  # (K, R)
    between = np.full(after.shape, np.nan)
    if len(sizes) > 1:
        before = np.maximum(after - 1, 0)
        log_n = np.log(sizes)
        # (4, K, R), from the highest power
        from scipy.interpolate import PchipInterpolator

        cubic = PchipInterpolator(log_n, fit, axis=1).c[:, before, np.arange(len(fit))]
        low, high = np.zeros(after.shape), log_n[before + 1] - log_n[before]
        for _ in range(50):  # halves
            middle = (low + high) / 2
            reaches = ((cubic[0] * middle + cubic[1]) * middle + cubic[2]) * middle + cubic[3]
            short = reaches < targets[:, None]
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        between = np.clip(np.exp(log_n[before] + high), sizes[before], sizes[before + 1])
    return np.where(~reached.any(axis=2), ABOVE, np.where(after == 0, BELOW, between))


def isotonic_fit(accuracy: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The never-falling fit (R, S) of accuracies (R, S), by the min-max formula.

    At i, it is the maximum over j ≤ i of the minimum over k ≥ i of the mean of j..k.
    """
    s = len(weight)
    weights = np.concatenate([[0.0], np.cumsum(weight)])
    sums = np.concatenate([np.zeros((len(accuracy), 1)), np.cumsum(weight * accuracy, axis=1)], axis=1)
    later = np.triu(np.ones((s, s), dtype=bool))  # j ≤ k
    span = np.where(later, weights[None, 1:] - weights[:-1, None], 1)
    means = np.where(later, (sums[:, None, 1:] - sums[:, :-1, None]) / span, np.inf)
    least = np.minimum.accumulate(means[:, :, ::-1], axis=2)[:, :, ::-1]
    return np.where(later, least, -np.inf).max(axis=1)


RULES = {"smallest": smallest, "isotonic": isotonic}
