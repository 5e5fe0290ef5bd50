"""Psychometric curves: how accuracy rises with a quantity x, and the threshold from which on a model sees.

With probability F(x), a logistic function of log x, an observer sees what it is asked about. It is then right
except for lapses; else it guesses. Of k possible answers a guess is right with probability 1 / k; of yes and
no it is yes with a probability of its own, the bias. So the accuracy rises from chance to 1 - lapse.
There is a threshold only if the accuracy changes with x: whether it does, a test of trend says, of the ranks
of x. Answers about one picture are a cluster: the test, the intervals and the bootstrap take them together.

The threshold is the x with F(x) = 1/2: halfway between chance and ceiling, which is 75 % right for questions
of yes or no without lapses. Bias and lapses do not move it. Curves are fitted by maximum likelihood; 95 %
intervals are of the profile likelihood, and of a paired bootstrap between models.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import optimize, special, stats

#: Fewest answers, and fewest values of x, of which a curve is made.
LEAST_ITEMS, LEAST_VALUES = 100, 4
#: By how much twice the log-likelihood may fall within a 95 % interval.
_DROP = stats.chi2.ppf(0.95, 1)
#: The largest probability of a trend as clear as that of the answers, if there is none.
LEVEL = 0.05
#: Bins of answers, and the least probability of deviations from a curve as large as theirs.
_BINS, _LEAST_FIT = 8, 0.001
#: Between these a curve's log spread is sought: from a step to a line.
_STEEPEST, _FLATTEST = np.log(0.02), np.log(3.0)
#: Fewest degrees of freedom of the variance of a threshold.
_LEAST_DEGREES = 3
_TINY = 1e-12


class Answers(NamedTuple):
    """A model's answers to n questions.

    Attributes:
        x: (n,) float64 > 0, the quantity.
        right: (n,) bool.
        chance: (n,) float64 the probability that a guess is right, such as 1 / 9 of nine answers.
        yes: (n,) int8 1 where yes is the right answer, -1 where no is; 0 where a guess has no bias.
        cluster: (n,) int64, equal for questions that stand or fall together, such as those of a picture.
    """

    x: np.ndarray
    right: np.ndarray
    chance: np.ndarray
    yes: np.ndarray
    cluster: np.ndarray

    def rows(self, which: np.ndarray) -> Answers:
        """Some of the answers, by number or as a bool for each."""
        return Answers(*(column[which] for column in self))


@dataclass(frozen=True)
class PsychometricCurve:
    """A fitted curve.

    Attributes:
        chance: mean probability that a guess is right.
        falls: whether accuracy falls with x, as with the number of vehicles.
        n: the answers.
        problem: why the answers have no threshold; "" if they have one. The rest is then NaN.
        threshold: x halfway between chance and ceiling.
        low: lower end of its 95 % interval; 0 if it lies below every x of the answers.
        high: upper end; infinite if it lies above every x.
        spread: of log x; from 27 % to 73 % of the way up it is twice as much.
        lapse: the share of wrong answers where everything is seen.
        bias: the probability that a guess is yes.
        p: probability of as clear a trend if there is none; NaN if it was not tested.
    """

    chance: float
    falls: bool
    n: int
    problem: str = ""
    threshold: float = np.nan
    low: float = np.nan
    high: float = np.nan
    spread: float = np.nan
    lapse: float = np.nan
    bias: float = np.nan
    p: float = np.nan

    def accuracy(self, x: np.ndarray) -> np.ndarray:
        """Accuracy at every x, if yes and no are equally often right."""
        seen = special.expit((-1 if self.falls else 1) * np.log(x / self.threshold) / self.spread)
        return self.chance + (1 - self.lapse - self.chance) * seen


def fit_curve(answers: Answers, falls: bool = False) -> PsychometricCurve:
    """Fit a curve to answers by maximum likelihood.

    Args:
        answers: of n questions.
        falls: whether accuracy falls with x.

    Returns:
        The curve. If the answers cannot hold a threshold, it has a `problem` and no threshold: they are too
        few, or the accuracy does not change with x, always or never is halfway to the ceiling.
    """
    n = len(answers.x)
    chance = float(answers.chance.mean()) if n else np.nan
    none = PsychometricCurve(chance, falls, n)
    if n < LEAST_ITEMS:
        return replace(none, problem=f"{n} answers are too few: {LEAST_ITEMS} are needed")
    if (values := len(np.unique(answers.x))) < LEAST_VALUES:
        return replace(none, problem=f"{values} different values are too few: {LEAST_VALUES} are needed")
    none = replace(none, p=_trend(answers, falls))
    mean, halfway = answers.right.mean(), (1 + chance) / 2  # the ceiling is at least halfway
    if none.p > LEVEL:
        return without_threshold(none, float(mean))
    best, cost = _best(answers, falls)
    centre, log_spread, lapse, bias = best
    ends = np.log([answers.x.min(), answers.x.max()])
    if lapse > 0.99 * (1 - halfway):
        return replace(none, problem=f"never reached: {mean:.0%} are right, and {halfway:.0%} nowhere")
    if _misfit(best, answers, falls) < _LEAST_FIT:
        way = "falls" if falls else "rises"
        return replace(none, problem=f"accuracy follows no curve that {way} all the way")
    if not ends[0] <= centre <= ends[1]:
        always = (centre < ends[0]) != falls
        where = "always above the threshold" if always else "never reached"
        return replace(none, problem=f"{where} between {np.exp(ends[0]):.2g} and {np.exp(ends[1]):.2g}")
    low, high = (_profile_end(answers, falls, best, cost, end) for end in ends)
    threshold, spread = float(np.exp(centre)), float(np.exp(log_spread))
    numbers = (threshold, low, high, spread, float(lapse), float(bias))
    return PsychometricCurve(chance, falls, n, "", *numbers, none.p)


def without_threshold(curve: PsychometricCurve, mean: float) -> PsychometricCurve:
    """A curve of answers that show no trend, of which the share `mean` is right."""
    same = f"{mean:.0%} are right, not measurably {'fewer' if curve.falls else 'more'} with more of it"
    is_above = mean >= (1 + curve.chance) / 2
    problem = f"{'always above the threshold' if is_above else 'never reached'}: {same}"
    return PsychometricCurve(curve.chance, curve.falls, curve.n, problem, p=curve.p)


def compare(
    one: Answers, other: Answers, falls: bool = False, resamples: int = 500, seed: int = 0
) -> tuple[float, float, float]:
    """The threshold of `one` less that of `other`, and the ends of its 95 % interval.

    Both answered the same n questions, in one order, and have a threshold (:func:`fit_curve`). The interval
    is of a bootstrap that draws clusters of questions, with both models' answers to them.
    """
    both = one, other
    starts = [_best(answers, falls)[0] for answers in both]
    rng, differences = np.random.default_rng(seed), []
    _, place = np.unique(one.cluster, return_inverse=True)
    members = np.split(np.argsort(place, kind="stable"), np.bincount(place).cumsum()[:-1])
    for _ in range(resamples):
        rows = np.concatenate([members[drawn] for drawn in rng.integers(len(members), size=len(members))])
        fits = [_minimise(own.rows(rows), falls, start) for own, start in zip(both, starts, strict=True)]
        differences.append(np.exp(fits[0][0][0]) - np.exp(fits[1][0][0]))
    low, high = np.quantile(differences, [0.025, 0.975])
    return float(np.exp(starts[0][0]) - np.exp(starts[1][0])), float(low), float(high)


def _model(
    parameters: np.ndarray, answers: Answers, sign: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(n,) each: probabilities of right answers; log x in spreads; what is seen; its gain over guesses."""
    centre, log_spread, lapse, bias = parameters
    z = sign * (np.log(answers.x) - centre) * np.exp(-log_spread)
    seen = special.expit(z)
    guess = np.where(answers.yes == 0, answers.chance, 0.5 + answers.yes * (bias - 0.5))
    height = 1 - lapse - guess
    return np.clip(guess + height * seen, _TINY, 1 - _TINY), z, seen, height


def _slopes(parameters: np.ndarray, answers: Answers, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """(n,) probabilities of right answers, and the slopes of minus the log-likelihood of each answer, (n, 4):
    centre, log spread, lapse, bias.
    """
    p, z, seen, height = _model(parameters, answers, sign)
    outer = np.where(answers.right > 0, -1 / p, 1 / (1 - p))
    steep = outer * height * seen * (1 - seen)
    columns = (
        -sign * np.exp(-parameters[1]) * steep, -steep * z, -outer * seen, outer * answers.yes * (1 - seen),
    )  # fmt: skip
    return p, np.stack(columns, axis=1)


def _cost(parameters: np.ndarray, answers: Answers, sign: int) -> tuple[float, np.ndarray]:
    """Minus the log-likelihood of answers, and its gradient: centre, log spread, lapse, bias."""
    p, slopes = _slopes(parameters, answers, sign)
    return -float(np.log(np.where(answers.right > 0, p, 1 - p)).sum()), slopes.sum(axis=0)


def _bounds(answers: Answers, centre: float | None = None) -> np.ndarray:
    """(4, 2) between which the parameters are sought; both ends of a given centre are its own."""
    log_x = np.log(answers.x)
    centres = (log_x.min() - 1, log_x.max() + 1) if centre is None else (centre, centre)
    lapses = (0.0, (1 - float(answers.chance.mean())) / 2)
    return np.array([centres, (_STEEPEST, _FLATTEST), lapses, (0.01, 0.99)])


def _minimise(
    answers: Answers, falls: bool, start: np.ndarray, centre: float | None = None
) -> tuple[np.ndarray, float]:
    """Parameters of the greatest likelihood, at a given centre if there is one; and minus its logarithm."""
    bounds = _bounds(answers, centre)
    cost = partial(_cost, answers=answers, sign=-1 if falls else 1)
    found = optimize.minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x, float(found.fun)


def _best(answers: Answers, falls: bool) -> tuple[np.ndarray, float]:
    """The best of several fits, which begin at other places: a likelihood may have more than one peak."""
    starts = [
        np.array([np.log(np.quantile(answers.x, share)), log_spread, 0.03, 0.5])
        for share in (0.2, 0.5, 0.8)
        for log_spread in (np.log(0.2), np.log(0.8))
    ]
    return min((_minimise(answers, falls, start) for start in starts), key=lambda found: found[1])


def bins(x: np.ndarray) -> list[np.ndarray]:
    """The rows of up to eight bins of x, about as many in each; equal values are in one bin."""
    edges = np.unique(np.quantile(x, np.linspace(0, 1, _BINS + 1)[:-1], method="higher"))
    place = np.searchsorted(edges, x, side="right")
    return [np.flatnonzero(place == number) for number in np.unique(place)]


def _misfit(parameters: np.ndarray, answers: Answers, falls: bool) -> float:
    """The probability of deviations from a curve as large as those of the bins of the answers."""
    p, *_ = _model(parameters, answers, -1 if falls else 1)
    rest = (answers.right - p) / np.sqrt(p * (1 - p))
    rows = bins(answers.x)
    squares = [(answers.right[own] - p[own]).sum() ** 2 / (p[own] * (1 - p[own])).sum() for own in rows]
    together = sum(float((_sums(rest[own], answers.cluster[own]) ** 2).sum()) for own in rows)
    effect = max(1.0, together / (rest @ rest))
    return float(stats.chi2.sf(sum(squares) / effect, max(len(rows) - 2, 1)))


def _trend(answers: Answers, falls: bool) -> float:
    """The probability of as clear a rise (or fall) with the rank of x if there is none."""
    rank = stats.rankdata(answers.x) * (-1 if falls else 1)
    rest = answers.right.astype(float)
    for side in np.unique(answers.yes):  # a bias for yes makes one side right more often
        own = answers.yes == side
        rank[own] -= rank[own].mean()
        rest[own] -= rest[own].mean()
    sums = _sums(rank * rest, answers.cluster)
    count = len(sums)
    error = np.sqrt((sums @ sums) * count / max(count - 1, 1))
    return float(stats.t.sf(sums.sum() / error, count - 1)) if error > 0 and count > 1 else 1.0


def _sums(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """(m, ...) sums of values (n, ...) over m clusters."""
    numbers, place = np.unique(cluster, return_inverse=True)
    result = np.zeros((len(numbers), *values.shape[1:]))
    np.add.at(result, place, values)
    return result


def _effect(parameters: np.ndarray, answers: Answers, sign: int) -> float:
    """By how much clusters widen the likelihood ratio of a fitted centre, at least 1.

    The variance of the centre is that of a jackknife, which leaves out one cluster at a time, each by a step
    of Newton's method. Where a few clusters decide it, that says little of the variance: Student's t then
    has as many degrees of freedom as their shares of it tell. A parameter at its bound is not fitted.
    """
    p, slopes = _slopes(parameters, answers, sign)
    lowest, highest = _bounds(answers).T
    fitted = (parameters > lowest) & (parameters < highest) & (slopes != 0).any(axis=0)
    fitted[0] = True
    slopes = slopes[:, fitted]
    # the information of an answer is its expected square of slopes; an outer factor depends on the answer
    expected = np.where(answers.right > 0, p / (1 - p), (1 - p) / p)
    squares = expected[:, None, None] * slopes[:, :, None] * slopes[:, None, :]
    sums, information = _sums(slopes, answers.cluster), _sums(squares, answers.cluster)
    whole = information.sum(axis=0)
    rest = whole - information + _TINY * np.eye(len(whole))
    moved = np.linalg.solve(rest, sums[:, :, None])[:, 0, 0]
    squared = moved**2
    total = squared.sum()
    if not total > 0:
        return 1.0
    degrees = max(total**2 / (squared @ squared) - 1, _LEAST_DEGREES)
    few = stats.t.ppf(0.975, degrees) ** 2 / _DROP
    return max(1.0, float(few * total / np.linalg.pinv(whole)[0, 0]))


def _profile_end(answers: Answers, falls: bool, best: np.ndarray, cost: float, end: float) -> float:
    """The end of the 95 % interval between the best centre and `end`; 0 or infinite if it lies beyond."""
    state = best.copy()
    drop = float(_DROP) * _effect(best, answers, -1 if falls else 1)

    def above(centre: float) -> float:
        found, value = _minimise(answers, falls, state, centre)
        state[1:] = found[1:]
        return 2 * (value - cost) - drop

    if abs(end - best[0]) < _TINY or above(end) <= 0:
        return 0.0 if end <= best[0] else np.inf
    state = best.copy()
    return float(np.exp(optimize.brentq(above, best[0], end, xtol=1e-3)))
