"""Two rules that read off a learning curve how many samples a target accuracy needs.

They are `smallest` (the paper's) and `isotonic` (ours).

A rule takes sizes (S,) ascending, accuracy (R, S), weight (S,) the number of answers behind an accuracy, and
targets (K,); it returns N* (K, R). N* is never guessed beyond what was trained: not reached on the largest
set, it is *right-censored*; reached on the smallest already, *left-censored*. In arrays of N* these are the
codes `ABOVE` (inf) and `BELOW` (0), so that N* can be sorted.

All R curves, the replicates of a bootstrap, are fitted at once. That is why the isotonic fit is written here
as an array formula: scipy fits one curve at a time. The tests hold it to scipy's answers.
"""

from typing import NamedTuple

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


class Bracket(NamedTuple):
    """Two neighbouring sizes between which fits (R, S) reach targets, (K, R) each.

    Attributes:
        before: index of the smaller size; 0 where the smallest size reaches the target or none does.
        state: BELOW or ABOVE where the need is a bound, else 1.
        evenness: how evenly a fit rises: its rise per log n beside the bracket, on the side where it is
            smaller, as a share of the rise within. About 1 on a straight line, 0 at a step.
    """

    before: np.ndarray
    state: np.ndarray
    evenness: np.ndarray

    @property
    def jumps(self) -> np.ndarray:
        """Whether a fit rises so much more within the bracket that nothing says where."""
        return (self.state == 1) & (self.evenness < EVEN)


#: The least evenness at which a place between two sizes is claimed.
EVEN = 0.05
#: How far a curve may leave the cubic between two sizes, by its evenness: standard deviation of the logit of
#: the place, on a scale of log n. Of random power laws and logistic curves, less what the luck of replicates
#: adds to it; docs/reproduce/intervals.md.
_EVENNESS, _DOUBT = (0.01, EVEN, 0.1, 0.3, 1.0), (1.8, 0.32, 0.22, 0.15, 0.05)
#: A side of a bracket beyond which nothing was trained counts as this share of the other.
_UNSEEN = 0.05


def bracket_of(sizes: np.ndarray, fit: np.ndarray, targets: np.ndarray) -> Bracket:
    reached = fit >= targets[:, None, None] - ROUNDING
    after = reached.argmax(axis=2)
    state = np.where(~reached.any(axis=2), ABOVE, np.where(after == 0, BELOW, 1.0))
    before = np.maximum(after - 1, 0)
    if len(sizes) < 2:
        return Bracket(before, state, np.zeros(before.shape))
    slopes = np.pad(np.diff(fit, axis=1) / np.diff(np.log(sizes)), ((0, 0), (1, 1)))
    slopes[:, [0, -1]] = _UNSEEN * slopes[:, [2, -3]]
    row = np.arange(len(fit))
    left, within, right = (slopes[row, before + i] for i in range(3))
    return Bracket(before, state, np.minimum(left, right) / np.maximum(within, ROUNDING))


def isotonic(
    sizes: np.ndarray,
    accuracy: np.ndarray,
    weight: np.ndarray,
    targets: np.ndarray,
    luck: np.ndarray | None = None,
) -> np.ndarray:
    """Read N* off the never-falling curve of least squares.

    It is joined by a cubic in log n that never falls either (PCHIP). Straight lines would cut the corner
    where a curve bends towards its ceiling: they find needs 2 to 7 % too large.

    Between two sizes the curve is unknown: where it rises unevenly, N* is drawn towards the middle, and moved
    by `luck`, a standard normal number a replicate, times the doubt that the evenness leaves.
    """
    fit = isotonic_fit(accuracy, weight)
    bracket = bracket_of(sizes, fit, targets)
    before = bracket.before
    between = np.full(before.shape, np.nan)
    if len(sizes) > 1:
        from scipy.interpolate import PchipInterpolator

        log_n = np.log(sizes)
        # (4, K, R), from the highest power
        cubic = PchipInterpolator(log_n, fit, axis=1).c[:, before, np.arange(len(fit))]
        width = log_n[before + 1] - log_n[before]
        low, high = np.zeros(before.shape), width
        for _ in range(50):  # halves
            middle = (low + high) / 2
            reaches = ((cubic[0] * middle + cubic[1]) * middle + cubic[2]) * middle + cubic[3]
            short = reaches < targets[:, None]
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        share = high / width
        if luck is not None:
            share = _moved(share, bracket.evenness, luck)
        between = np.clip(np.exp(log_n[before] + share * width), sizes[before], sizes[before + 1])
    return np.where(bracket.state == 1, between, bracket.state)


def _moved(share: np.ndarray, evenness: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Shares of a bracket, moved by luck times doubt; without any evenness every share is about as likely."""
    share = np.clip(share, 1e-4, 1 - 1e-4)
    log_even = np.log(np.maximum(evenness, _EVENNESS[0]))
    doubt = np.interp(log_even, np.log(_EVENNESS), _DOUBT)
    kept = np.interp(log_even, np.log(_EVENNESS[:2]), (0, 1))
    logit = kept * np.log(share / (1 - share)) + doubt * luck
    return 1 / (1 + np.exp(-logit))


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
