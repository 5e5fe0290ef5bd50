"""Learning curves with their uncertainty: test items and seeds are drawn again, and everything is computed from each draw.

A *curve* is one model in one world (entities, distractor): its test accuracy at every trained size n. Row 0 of every array over replicates
is the data itself, the rest are replicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from scipy import stats

from simtown.training.curves import ABOVE, BELOW, ROUNDING, RULES, power_misfit
from simtown.training.results import Run

#: Share of the replicates inside an interval.
LEVEL = 0.95


@dataclass(frozen=True)
class Curve:
    """A model in a world: S sizes, K seeds. `samples` holds N* by rule, (targets, 1 + replicates)."""

    model: str
    entities: int
    distractor: bool
    sizes: np.ndarray  #: (S,) int, ascending
    seeds: tuple[int, ...]
    runs: np.ndarray  #: (S, K) accuracy of every run, NaN where there is none
    items: int  #: test items of the smallest test set
    accuracy: np.ndarray  #: (S,) mean over the seeds
    low: np.ndarray  #: (S,) ends of the interval of accuracy
    high: np.ndarray
    samples: dict[str, np.ndarray] = field(repr=False)
    medians: dict[str, np.ndarray] = field(repr=False)  #: (targets,) Kaplan-Meier median over seeds, by rule
    reached: dict[str, np.ndarray] = field(repr=False)  #: (targets,) seeds that reached the target, by rule
    misfit: float  #: largest distance of an accuracy from the power law; NaN without one

    @property
    def fewest(self) -> int:
        """Seeds of the size that has fewest."""
        return int(np.isfinite(self.runs).sum(axis=1).min())


def _generator(seed: int, *address: object) -> np.random.Generator:
    """Random numbers that depend on the seed and the address alone: another model or world changes no interval of this one."""
    digest = blake2b(repr(address).encode(), digest_size=16).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "little")])


def resampled_accuracies(runs: Sequence[Run], replicates: int, seed: int) -> np.ndarray:
    """Accuracy (1 + replicates, runs) on resampled test items; runs with the same test set see the same items."""
    result = np.empty((1 + replicates, len(runs)))
    for test_id in sorted({run.test_id for run in runs}):
        columns = [i for i, run in enumerate(runs) if run.test_id == test_id]
        correct = np.stack([runs[i].correct for i in columns]).astype(np.float32)  # counts below 2^24 are exact
        count = correct.shape[1]
        random = _generator(seed, "items", test_id)
        result[0, columns] = correct.sum(axis=1, dtype=np.float64) / count
        chunk = max(1, 4_000_000 // count)
        for start in range(0, replicates, chunk):
            r = min(chunk, replicates - start)
            drawn = random.integers(0, count, (r, count)) + count * np.arange(r)[:, None]
            times = np.bincount(drawn.ravel(), minlength=r * count).reshape(r, count).astype(np.float32)
            result[1 + start : 1 + start + r, columns] = (times @ correct.T).astype(np.float64) / count
    return result


def stretch(seeds: int) -> float:
    """How much wider than the replicates' spread over so many seeds an interval must be, as Student's t is wider than the normal.

    Percentiles alone cover too little with few seeds: at 95 %, measured on known curves, 79 % with two seeds, 87 % with three, 91 % with
    five. Two seeds are taken for three, because t with one degree of freedom covers far too much here.
    """
    end = (1 + LEVEL) / 2
    return float(stats.t.ppf(end, max(seeds - 1, 2)) / stats.norm.ppf(end))


def curve_of(runs: Sequence[Run], accuracies: np.ndarray, targets: np.ndarray, seed: int) -> Curve:
    """The curve of the runs of one model in one world; accuracies (1 + replicates, runs)."""
    model, entities, distractor = runs[0].model, runs[0].entities, runs[0].distractor
    sizes = np.array(sorted({run.train_size for run in runs}))
    seeds = tuple(sorted({run.seed for run in runs}))
    place = {(run.train_size, run.seed): i for i, run in enumerate(runs)}
    column = np.array([[place.get((int(n), s), -1) for s in seeds] for n in sizes])
    there = column >= 0
    answers = np.where(there, np.array([len(run.correct) for run in runs])[column], 0)
    cube = accuracies[:, column]  # (1 + replicates, S, K); meaningless where not there

    # One seed fewer than there are is drawn: the variance of a mean of k - 1 draws is then right, of k draws too small by (k - 1) / k.
    k, replicates = len(seeds), len(accuracies) - 1
    drawn = np.ones((1 + replicates, k))
    if k > 1:
        drawn[1:] = _generator(seed, "seeds", model, entities, distractor).multinomial(k - 1, np.full(k, 1 / k), size=replicates)
    share = drawn[:, None, :] * there
    share = np.where(share.any(axis=2, keepdims=True), share, there)  # a size of which no drawn seed was trained keeps those it has
    every = (there * cube).sum(axis=2) / there.sum(axis=1)
    mean = np.clip(every + stretch(k) * ((share * cube).sum(axis=2) / share.sum(axis=2) - every), 0, 1)

    weight = answers.sum(axis=1).astype(float)
    samples = {name: rule(sizes, mean, weight, targets) for name, rule in RULES.items()}
    low, high = np.array([interval(column[1:]) for column in mean.T]).T
    if k == 1:
        n = answers[:, 0]
        wilson = [stats.binomtest(round(p * m), m).proportion_ci(LEVEL, "wilson") for p, m in zip(mean[0], n.tolist(), strict=True)]
        low, high = np.array([[ci.low, ci.high] for ci in wilson]).T
    alone = _each_seed(sizes, cube[0], answers, targets)
    return Curve(
        model, entities, distractor, sizes, seeds, np.where(there, cube[0], np.nan), min(len(run.correct) for run in runs),
        mean[0], low, high, samples,
        {name: np.array([median(n, sizes[0], limits) for n in ns]) for name, (ns, limits) in alone.items()},
        {name: (ns < ABOVE).sum(axis=1) for name, (ns, _) in alone.items()}, power_misfit(sizes, mean[0], weight),
    )  # fmt: skip


def _each_seed(
    sizes: np.ndarray, accuracy: np.ndarray, answers: np.ndarray, targets: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By rule: N* (targets, K) of every seed's own curve, and the largest size (K,) it was trained on."""
    result = {}
    for name, rule in RULES.items():
        columns, limits = [], []
        for s in range(accuracy.shape[1]):
            own = answers[:, s] > 0
            n = rule(sizes[own], accuracy[own, s][None], answers[own, s].astype(float), targets)[:, 0]
            # Reached at once by a seed that was not trained on the smallest size: no more is known than that it got there.
            columns.append(np.where((n == BELOW) & (sizes[own][0] > sizes[0]), sizes[own][0], n))
            limits.append(sizes[own][-1])
        result[name] = np.stack(columns, axis=1), np.array(limits)
    return result


def interval(values: np.ndarray) -> tuple[float, float]:
    """Percentile interval of the replicates; its ends are replicates, so they may be BELOW or ABOVE.

    A replicate without a value (NaN) counts as lying below everything for the lower end and above everything for the upper end.
    """
    outside = (1 - LEVEL) / 2 * len(values)
    low = np.sort(np.where(np.isnan(values), -np.inf, values))[int(np.floor(outside + ROUNDING))]
    high = np.sort(np.where(np.isnan(values), np.inf, values))[-1 - int(np.floor(outside + ROUNDING))]
    return float(low), float(high)


def median(samples: np.ndarray, smallest: float, limits: np.ndarray) -> float:
    """Kaplan-Meier median of N* over seeds: where the share of seeds that have not reached the target falls to one half.

    Args:
        samples: (K,) N* of every seed.
        smallest: size.
        limits: (K,) largest size of every seed, where it is right-censored.
    """
    if np.isnan(samples).any():
        return float("nan")
    late = samples == ABOVE
    if late.all():
        return ABOVE
    # Nothing lies below the smallest size, so being left-censored is the same as an event there.
    data = stats.CensoredData(uncensored=np.maximum(samples[~late], smallest), right=np.asarray(limits, dtype=float)[late])
    survival = stats.ecdf(data).sf
    half = survival.probabilities <= 0.5 + ROUNDING
    if not half.any():
        return ABOVE
    found = float(survival.quantiles[half.argmax()])
    return BELOW if found <= smallest else found
