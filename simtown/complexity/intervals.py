"""Shares of right answers and their differences, with 95 % intervals: an evaluation makes all of its here.

Answers about one picture, or about the pictures of a group of twins, stand or fall together: such a *cluster*
counts for fewer answers than it has. The design effect says for how many, and divides the answers before
Wilson's interval of a share, Newcombe's of a difference, and that of a paired difference, which is between
Tango's and the likelihood ratio's. All three are sound near 0 and 1, where none has a width of zero.
docs/evaluate-reference.md says how often they hold the truth.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import optimize, special, stats

#: Standard errors from the middle of a normal distribution to the ends of its 95 %.
_Z = float(stats.norm.ppf(0.975))
#: Weight of an imagined picture that has all its answers wrong. Without it, few errors, which may lie in
#: pictures of their own by chance, would say that answers about a picture are independent.
_IMAGINED = 0.5
_TINY = 1e-9
#: In the interval of a paired difference of n answers the likelihood ratio counts for 9 n-ths, most at 20
#: answers: Tango's score alone is too wide there, the ratio alone too narrow.
_RATIO, _MOST_AT = 9, 20

#: From so many pictures on, intervals of paired differences hold the truth in 92 to 98 % of the simulations.
ENOUGH = 30
TOO_FEW = (
    f"The interval of a difference over fewer than {ENOUGH} pictures is often too wide: it holds the truth in"
    " 92 to 100 %."
)

Values = np.ndarray | Sequence[float] | Sequence[bool]
Clusters = np.ndarray | Sequence[int] | None


def standard_error(values: Values, clusters: Clusters = None) -> float:
    """The standard error of a mean, clustered; NaN of a single cluster.

    Args:
        values: (n,) numbers.
        clusters: (n,) int, equal where values belong together; by default each is its own.
    """
    value, place, count = _grouped(values, clusters)
    if count < 2:
        return float("nan")
    sums = np.bincount(place, weights=value - value.mean())
    return float(np.sqrt((sums @ sums) * count / (count - 1)) / len(value))


def design_effect(values: Values, clusters: Clusters = None) -> float:
    """By how much the variance of a mean grows because values of a cluster go together, at least 1."""
    value, place, count = _grouped(values, clusters)
    n, sizes = len(value), np.bincount(place)
    if n == count:
        return 1.0
    if np.ptp(value) == 0 or count == 1:  # nothing says how much they do
        return n / count
    rest = value - value.mean()
    sums = np.bincount(place, weights=rest)
    size = float(sizes @ sizes) / n
    clustered = (sums @ sums) * count / (count - 1) + _IMAGINED * size**2
    alone = (rest @ rest) * n / (n - 1) + _IMAGINED * size
    return max(1.0, float(clustered / alone))


def share(correct: Values, clusters: Clusters = None) -> dict[str, float] | None:
    """The share of (n,) right answers; None where nothing was asked.

    Returns:
        "accuracy"; "low" and "high", the ends of its 95 % interval; "n", and "clusters", their number.
    """
    if not len(correct):
        return None
    mean, n = float(np.mean(correct)), len(correct)
    effective = n / design_effect(correct, clusters)
    middle = (mean + _Z**2 / (2 * effective)) / (1 + _Z**2 / effective)
    half = _Z * np.sqrt(mean * (1 - mean) / effective + (_Z / (2 * effective)) ** 2) / (1 + _Z**2 / effective)
    low = 0.0 if mean == 0 else float(middle - half)
    high = 1.0 if mean == 1 else float(middle + half)
    return {"accuracy": mean, "low": low, "high": high, "n": n, "clusters": _grouped(correct, clusters)[2]}


def paired_difference(one: Values, other: Values, clusters: Clusters = None) -> dict[str, float]:
    """The accuracy of `one` less that of `other`, right or wrong on the same n > 0 questions.

    Returns:
        "difference"; "low" and "high", the ends of its 95 % interval; "se", its standard error, clustered;
        "one" and "other", the questions that this one alone has right; "n", and "clusters", their number; "p"
        of McNemar's exact test of "one" and "other", divided by the design effect.
    """
    change = np.asarray(one, float) - np.asarray(other, float)
    n, gained, lost = len(change), int((change > 0).sum()), int((change < 0).sum())
    mean, effect = (gained - lost) / n, design_effect(change, clusters)
    size, more, less = n / effect, gained / effect, lost / effect

    counts = np.array([more, less, max(size - more - less, 0)])
    likelihood = special.xlogy(counts, counts / size).sum()
    weight = _RATIO * size / max(size, _MOST_AT) ** 2

    def excess(delta: float) -> float:
        """By how much the statistic is beyond that of an end, if the difference were `delta`."""
        b = (2 * size - more + less) * delta - more - less
        root = max(b**2 + 8 * size * less * delta * (1 - delta), 0.0) ** 0.5
        likeliest = (root - b) / (4 * size)  # share of lost answers
        shares = [likeliest + delta, likeliest, 1 - delta - 2 * likeliest]
        ratio = 2 * (likelihood - special.xlogy(counts, np.maximum(shares, _TINY)).sum())
        variance = size * (2 * likeliest + delta * (1 - delta))
        score = (more - less - size * delta) ** 2
        return float((1 - weight) * score + variance * (weight * ratio - _Z**2))

    low = optimize.brentq(excess, -1.0, mean - _TINY) if excess(-1.0) > 0 else -1.0
    high = optimize.brentq(excess, mean + _TINY, 1.0) if excess(1.0) > 0 else 1.0
    differing, few = round(more + less), round(min(more, less))
    p = min(1.0, 2 * float(stats.binom.cdf(few, differing, 0.5)))
    return {
        "difference": mean,
        "low": float(low),
        "high": float(high),
        "se": standard_error(change, clusters),
        "one": gained,
        "other": lost,
        "n": n,
        "clusters": _grouped(change, clusters)[2],
        "p": p,
    }


def difference(one: Mapping[str, float], other: Mapping[str, float]) -> tuple[float, float, float]:
    """One share less another of other questions, and the ends of the 95 % interval (Newcombe 1998)."""
    mean = one["accuracy"] - other["accuracy"]
    below = np.hypot(one["accuracy"] - one["low"], other["high"] - other["accuracy"])
    above = np.hypot(one["high"] - one["accuracy"], other["accuracy"] - other["low"])
    return mean, float(mean - below), float(mean + above)


def holm(p: Sequence[float]) -> np.ndarray:
    """(n,) probabilities of n tests together, by Holm's correction."""
    order = np.argsort(p)
    times = np.arange(len(order), 0, -1)
    result = np.empty(len(order))
    result[order] = np.minimum(np.maximum.accumulate(np.asarray(p)[order] * times), 1)
    return result


def _grouped(values: Values, clusters: Clusters) -> tuple[np.ndarray, np.ndarray, int]:
    """Values as numbers, the place of the cluster of each, and how many clusters there are."""
    value = np.asarray(values, float)
    if clusters is None:
        return value, np.arange(len(value)), len(value)
    numbers, place = np.unique(clusters, return_inverse=True)
    return value, place, len(numbers)
