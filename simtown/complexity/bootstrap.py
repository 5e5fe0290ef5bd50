"""Learning curves with their uncertainty, by a bootstrap over whatever varied among the runs.

Everything is computed again from each draw.

A *curve* is one model in one world size (entities, distractor): its test accuracy at every trained size n.
Row 0 of every array over replicates is the data itself, the rest are replicates. docs/reproduce/intervals.md
shows how often the intervals hold the truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b

import numpy as np
from scipy import stats

from simtown.complexity.curves import (
    ABOVE,
    BELOW,
    ROUNDING,
    Bracket,
    bracket_of,
    isotonic,
    isotonic_fit,
    smallest,
)
from simtown.complexity.finished_runs import Run, keep_complete_sizes
from simtown.complexity.irregular import falls, held, stuck_runs

#: Share of the replicates inside an interval.
LEVEL = 0.95


@dataclass(frozen=True)
class BootstrapCurve:
    """The learning curve of a model in a world: S sizes, K seeds.

    Attributes:
        sizes: (S,) int, ascending.
        runs: (S, K) accuracy of every run, NaN where there is none.
        items: test items of the smallest test set.
        accuracy: (S,) mean over the seeds.
        low: (S,) lower ends of the intervals of accuracy.
        high: (S,) upper ends.
        interval_over: what varied among the runs of every size, as :func:`interval_over` says it.
        samples: N* by rule, (targets, 1 + replicates).
        reached: (targets,) number of seeds that reached the target, by rule.
        over: (targets,) what varied among the runs of the sizes around N*.
        jumps: (targets,) whether nothing says where between two sizes the target is reached.
        stuck: (S, K) which runs never learned (:func:`simtown.complexity.irregular.stuck_runs`); N* by the
            isotonic rule is of the others.
        means: (1 + replicates, S) mean curves from which the isotonic rule reads N*.
        falls: whether it falls; N* by the isotonic rule is then the size from which the target holds.
    """

    model: str
    entities: int
    distractor: bool
    sizes: np.ndarray
    seeds: tuple[int, ...]
    runs: np.ndarray
    items: int
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray
    interval_over: str
    samples: dict[str, np.ndarray] = field(repr=False)
    reached: dict[str, np.ndarray] = field(repr=False)
    over: tuple[str, ...] = field(repr=False)
    jumps: np.ndarray = field(repr=False)
    stuck: np.ndarray = field(repr=False)
    means: np.ndarray = field(repr=False)
    falls: bool

    @property
    def fewest(self) -> int:
        """Seeds of the size that has fewest."""
        return int(np.isfinite(self.runs).sum(axis=1).min())


# What varied among the runs of a curve

#: From least to most. Intervals over the first two are too narrow; SEEDS are those of runs that do not say
#: where their data came from.
ITEMS, WEIGHTS, SEEDS, DATA, WORLDS = _OVERS = (
    "items only",
    "weights and items",
    "seeds and items",
    "weights, data and items",
    "weights, data, world and items",
)
_MARKS = {ITEMS: " (too narrow)", WEIGHTS: " (too narrow)", DATA: " (of one world)"}


def interval_over(runs: Sequence[Run]) -> str:
    """The sources of variation among the runs of every size, which an interval covers."""
    by_size: dict[int, list[Run]] = {}
    for run in runs:
        by_size.setdefault(run.train_size, []).append(run)
    return narrowest(*map(_varied, by_size.values()))


def _varied(runs: Sequence[Run]) -> str:
    """The sources of variation among the runs of one size."""
    if len(set(_clusters(runs))) < 2:
        return ITEMS  # one run, or runs that are drawn together
    if any(run.data_seed is None for run in runs):
        return SEEDS
    if len({run.world_seed for run in runs}) > 1:
        return WORLDS
    return DATA if len({run.data_seed for run in runs}) > 1 else WEIGHTS


def marked(over: str) -> str:
    """The coverage of an interval, with a mark if it is too narrow for the truth that a reader asks for."""
    return over + _MARKS.get(over, "")


def too_narrow(over: str) -> bool:
    """Whether so many fewer than 95 % of such intervals hold the truth that they decide nothing."""
    return over in (ITEMS, WEIGHTS)


def narrowest(*overs: str) -> str:
    """The coverage of an interval that compares several curves."""
    return min(overs, key=_OVERS.index)


def _clusters(runs: Sequence[Run]) -> list[tuple[str, int]]:
    """The cluster with which each run is drawn: its world if worlds vary, else its data set if data sets do,
    else itself.

    Runs that share the outermost thing that varied rise and fall together, so they are drawn together.
    """
    for name in ("world_seed", "data_seed"):
        values = [getattr(run, name) for run in runs]
        if None not in values and len(set(values)) > 1:
            return [(name, value) for value in values]
    return [("seed", run.seed) for run in runs]


# Replicates


def _generator(seed: int, *address: object) -> np.random.Generator:
    """Random numbers of a seed and an address alone: another model or world changes no interval of this."""
    digest = blake2b(repr(address).encode(), digest_size=16).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "little")])


def resampled_accuracies(curves: Sequence[Sequence[Run]], replicates: int, seed: int) -> list[np.ndarray]:
    """Accuracies (1 + replicates, runs) of each curve's runs on resampled test items.

    Runs with the same test set see the same items. Where each cluster of a curve was tested on items of its
    own, the luck of items is drawn with the cluster, so there the items are not resampled.
    """
    drawn: set[str] = set()
    tests: dict[str, list[tuple[int, int]]] = {}
    for c, runs in enumerate(curves):
        by_size: dict[int, set[str]] = {}
        for i, run in enumerate(runs):
            tests.setdefault(run.test_id, []).append((c, i))
            by_size.setdefault(run.train_size, set()).add(run.test_id)
        drawn |= {test_id for ids in by_size.values() if len(ids) == 1 for test_id in ids}
    result = [np.tile([run.correct.mean() for run in runs], (1 + replicates, 1)) for runs in curves]
    for test_id in drawn:
        correct = np.stack([curves[c][i].correct for c, i in tests[test_id]])
        accuracies = _on_drawn_items(correct, replicates, _generator(seed, "items", test_id))
        for (c, i), column in zip(tests[test_id], accuracies.T, strict=True):
            result[c][:, i] = column
    return result


def _on_drawn_items(correct: np.ndarray, replicates: int, random: np.random.Generator) -> np.ndarray:
    """Accuracies (1 + replicates, runs) from right answers (runs, T).

    Row 0 is on the items themselves, the others on as many drawn with replacement.
    """
    count = correct.shape[1]
    accuracy = correct.sum(axis=1) / count
    if len(correct) == 1:  # of items drawn again, the number answered right is binomial
        return np.concatenate([accuracy[None], random.binomial(count, accuracy[0], (replicates, 1)) / count])
    parts = [accuracy[None]]
    ones = correct.T.astype(np.float32)  # counts below 2^24 are exact
    chunk = max(1, 4_000_000 // count)
    for start in range(0, replicates, chunk):
        r = min(chunk, replicates - start)
        items = random.integers(0, count, (r, count)) + count * np.arange(r)[:, None]
        times = np.bincount(items.ravel(), minlength=r * count).reshape(r, count).astype(np.float32)
        parts.append((times @ ones).astype(np.float64) / count)
    return np.concatenate(parts)


@cache
def stretch(draws: int) -> float:
    """By which factor Student's t distribution over so many draws is wider than the normal distribution."""
    end = (1 + LEVEL) / 2
    return float(stats.t.ppf(end, draws - 1) / stats.norm.ppf(end))


def curve_of(runs: Sequence[Run], accuracies: np.ndarray, targets: np.ndarray, seed: int) -> BootstrapCurve:
    """The curve of the runs of one model in one world; accuracies (1 + replicates, runs)."""
    sizes = np.array(sorted({run.train_size for run in runs}))
    seeds = tuple(sorted({run.seed for run in runs}))
    place = {(run.train_size, run.seed): i for i, run in enumerate(runs)}
    column = np.array([[place.get((int(n), s), -1) for s in seeds] for n in sizes])
    trained = column >= 0
    by_seed = np.where(trained, accuracies[0][column], np.nan)  # (S, K)
    answers = np.where(trained, np.array([len(run.correct) for run in runs])[column], 0)

    mean = _mean(runs, sizes, accuracies, seed)
    weight = answers.sum(axis=1).astype(float)
    low, high = np.array([interval(column[1:]) for column in mean.T]).T
    if len(seeds) == 1:
        counts = zip(mean[0], answers[:, 0].tolist(), strict=True)
        wilson = [stats.binomtest(round(p * n), n).proportion_ci(LEVEL, "wilson") for p, n in counts]
        low, high = np.array([[ci.low, ci.high] for ci in wilson]).T

    stuck = stuck_runs(by_seed)
    learned = np.sort(column[trained & ~stuck])
    learners = [runs[i] for i in learned]
    rising = _mean(learners, sizes, accuracies[:, learned], seed) if stuck.any() else mean
    has_fallen = len(seeds) > 1 and falls(rising, len(seeds), stretch(len(seeds)))
    if has_fallen:
        rising = held(rising)
    bracket = bracket_of(sizes, isotonic_fit(rising[:1], weight), targets)
    case = runs[0].model, runs[0].entities, runs[0].distractor
    luck = np.append(0, _generator(seed, "between", *case).standard_normal(len(mean) - 1))
    return BootstrapCurve(
        *case,
        sizes=sizes,
        seeds=seeds,
        runs=by_seed,
        items=min(len(run.correct) for run in runs),
        accuracy=mean[0],
        low=low,
        high=high,
        interval_over=interval_over(runs),
        samples={
            "smallest": smallest(sizes, mean, weight, targets),
            "isotonic": isotonic(sizes, rising, weight, targets, luck),
        },
        reached=_seeds_reached(by_seed, answers, targets),
        over=tuple(_near(learners, sizes, bracket, t) for t in range(len(targets))),
        jumps=bracket.jumps[:, 0],
        stuck=stuck,
        means=rising,
        falls=has_fallen,
    )


def _near(runs: Sequence[Run], sizes: np.ndarray, bracket: Bracket, t: int) -> str:
    """Sources of variation among the runs of the sizes around N*, of target number t."""
    before = {BELOW: 0, ABOVE: len(sizes) - 1}.get(bracket.state[t, 0], bracket.before[t, 0])
    near = sizes[before : before + 2]
    return interval_over([run for run in runs if run.train_size in near])


def curve_of_scores(
    sizes: Sequence[int], scores: np.ndarray, targets: Sequence[float], *, replicates: int, seed: int = 0
) -> BootstrapCurve:
    """The curve of scores (S, K), NaN where there is none; their test items are not known.

    Curves with other scores are unknown in other ways between their sizes, so they go by other names.

    Raises:
        ValueError: fewer than two sizes have the same two seeds.
    """
    runs = [
        Run("", 1, False, int(n), s, f"{n}, {s}", np.array([score]))
        for n, row in zip(sizes, scores, strict=True)
        for s, score in enumerate(row)
        if np.isfinite(score)
    ]
    runs = keep_complete_sizes(runs)
    for what, count in (
        ("size", len({run.train_size for run in runs})),
        ("seed", len({r.seed for r in runs})),
    ):
        if count < 2:
            raise ValueError(
                f"a need takes two seeds at each of two sizes, and there is one {what}: train more {what}s"
            )
    digest = blake2b(np.concatenate([run.correct for run in runs]).tobytes(), digest_size=8)
    runs = [replace(run, model=digest.hexdigest()) for run in runs]
    (accuracies,) = resampled_accuracies([runs], replicates, seed)
    return curve_of(runs, accuracies, np.array(targets), seed)


def _mean(runs: Sequence[Run], sizes: np.ndarray, accuracies: np.ndarray, seed: int) -> np.ndarray:
    """The mean curve of the runs, and its replicates, (1 + replicates, S), from (1 + replicates, runs).

    A replicate moves the mean by the luck of the items that its runs share, and by the luck of the clusters:
    each cluster has one normal number a replicate, the same for every curve in which it occurs, by which its
    distance from the mean counts. The sum has the variance of a mean of C clusters, whatever their distances
    are, and stretched it is Student's interval.
    """
    columns: dict[int, dict[tuple[str, int], list[int]]] = {}
    for j, (run, cluster) in enumerate(zip(runs, _clusters(runs), strict=True)):
        columns.setdefault(run.train_size, {}).setdefault(cluster, []).append(j)
    replicates = len(accuracies) - 1
    normal = {
        key: _generator(seed, "cluster", *key).standard_normal(replicates) for key in set(_clusters(runs))
    }
    result = np.empty((1 + replicates, len(sizes)))
    for i, n in enumerate(sizes):
        members = dict(sorted(columns[int(n)].items()))
        count = len(members)
        # (1 + replicates, C)
        cluster_means = np.stack([accuracies[:, own].mean(axis=1) for own in members.values()], axis=1)
        mean = cluster_means[0].mean()
        items = cluster_means[1:].mean(axis=1) - mean
        result[0, i] = mean
        if count == 1:
            result[1:, i] = mean + items
            continue
        luck = np.stack([normal[key] for key in members]).T
        distances = luck @ (cluster_means[0] - mean) / np.sqrt(count * (count - 1))
        shared = _shared_by_items([[runs[j] for j in own] for own in members.values()])
        result[1:, i] = mean + np.sqrt(shared) * items + stretch(count) * distances
    return np.clip(result, 0, 1)


def _shared_by_items(clusters: Sequence[Sequence[Run]]) -> float:
    """Share of the variance over test items that all clusters have in common.

    Drawing items adds this much to drawing clusters: the rest is the luck of each cluster with its items,
    which is part of the spread of the clusters. Clusters tested on items of their own share nothing.
    """
    if len({run.test_id for cluster in clusters for run in cluster}) > 1:
        return 0.0
    # (C, items)
    shares = np.stack([np.mean([run.correct for run in cluster], axis=0) for cluster in clusters])
    total = shares.mean(axis=0).var()
    own = shares.var(axis=0, ddof=1).mean() / len(shares)
    return float(np.clip(1 - own / total, 0, 1)) if total > 0 else 0.0


def _seeds_reached(accuracy: np.ndarray, answers: np.ndarray, targets: np.ndarray) -> dict[str, np.ndarray]:
    """By rule: (targets,) number of seeds whose own curve reaches each target."""
    best = np.nanmax(accuracy, axis=0)
    ends = [
        isotonic_fit(accuracy[own, s][None], answers[own, s].astype(float))[0, -1]
        for s, own in enumerate((answers > 0).T)
    ]
    least = targets[:, None] - ROUNDING
    return {"smallest": (best >= least).sum(axis=1), "isotonic": (np.array(ends) >= least).sum(axis=1)}


def interval(values: np.ndarray) -> tuple[float, float]:
    """Percentile interval of the replicates; its ends are replicates, so they may be BELOW or ABOVE.

    A replicate without a value (NaN) counts as lying below everything for the lower end and above everything
    for the upper end.
    """
    outside = int(np.floor((1 - LEVEL) / 2 * len(values) + ROUNDING))
    low = np.sort(np.where(np.isnan(values), -np.inf, values))[outside]
    high = np.sort(np.where(np.isnan(values), np.inf, values))[-1 - outside]
    return float(low), float(high)
