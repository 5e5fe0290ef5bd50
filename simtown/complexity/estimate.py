"""Asymptotic sample complexity (Bingham et al., sections 1 and 4).

From many runs to the samples that a model needs, and how these grow.

N* is the number of training samples at which a model in a world reaches a target accuracy, by one of the
rules of :mod:`simtown.complexity.curves`, where the codes of censored N* are explained too.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from simtown.complexity import bootstrap
from simtown.complexity.bootstrap import BootstrapCurve
from simtown.complexity.curves import ABOVE, BELOW, ROUNDING, RULES
from simtown.complexity.finished_runs import Run, keep_complete_sizes, model_order, world_name
from simtown.complexity.growth import WorldNeeds, contrast
from simtown.complexity.quantities import Accuracies, Addition, BothReach, Exponent, Findings, Need, Ratio
from simtown.complexity.size_search import worth_training

TARGETS = (0.75, 0.85, 0.90, 0.95)
#: Two models are compared as N*(other) / N*(REFERENCE).
REFERENCE = "pbn"
#: Most replicates of the bootstrap, each of which takes memory.
MOST_REPLICATES = 100_000


def estimate(
    runs: Sequence[Run],
    *,
    targets: Sequence[float] = TARGETS,
    replicates: int = 1000,
    seed: int = 0,
    skipped: Mapping[str, int] | None = None,
    reference: str = REFERENCE,
    world: str = "entities",
) -> Findings:
    """Samples needed, exponents, ratios and additional data of the runs. Their order does not matter.

    Every replicate draws test items (the same for all runs with one test set, so that models are compared on
    the same items), and the seeds with what varied with them (the same for all models, sizes and worlds, so
    that models are compared on the same data), and computes everything again. Sizes without all seeds do not
    count (:func:`simtown.complexity.finished_runs.keep_complete_sizes`).

    Args:
        targets: accuracies to reach.
        seed: of the bootstrap.
        skipped: runs left out, by status.
        reference: the model that the others are compared with.
        world: what the size of a world counts, empty if worlds have no size.

    Raises:
        ValueError: there are no runs, a target is not between 0 and 1, two targets agree in four digits, or
            replicates are fewer than 40 or too many.
    """
    levels = np.array(sorted(set(targets)), dtype=float)
    between = len(levels) > 0 and bool(((levels > 0) & (levels < 1)).all())
    if not between or len({f"{level:.4g}" for level in levels}) < len(levels):
        raise ValueError(
            f"`targets` must be accuracies between 0 and 1 that differ in four digits, not {list(targets)}"
        )
    if not 40 <= replicates <= MOST_REPLICATES:
        possible = f"at least 40 for a {bootstrap.LEVEL:.0%} interval, and at most {MOST_REPLICATES:,}"
        raise ValueError(f"`replicates` must be {possible}, not {replicates}")
    given = len(runs)
    runs = keep_complete_sizes(runs)
    runs = sorted(runs, key=lambda r: (r.distractor, model_order(r.model), r.entities, r.train_size, r.seed))
    groups: dict[tuple[str, int, bool], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.model, run.entities, run.distractor].append(run)
    accuracies = bootstrap.resampled_accuracies(list(groups.values()), replicates, seed)
    drawn = zip(groups.values(), accuracies, strict=True)
    curves = [bootstrap.curve_of(own, shares, levels, seed) for own, shares in drawn]
    reaching, unreached = _reaching(curves)
    return Findings(
        tuple(levels.tolist()),
        replicates,
        seed,
        len(runs),
        dict(skipped or {}),
        curves,
        rows=[row for curve in curves for row in needs_of(curve, levels.tolist())],
        exponents=list(_exponents(reaching, levels, reference)) if world else [],
        ratios=list(_ratios(reaching, levels, reference)),
        notes=[
            *_notes_on_runs(given, len(runs), curves, world),
            *(_notes_on_tests(runs) if world == "entities" else []),
            *unreached,
        ],
        additions=list(_additions(reaching, levels, reference)) if world else [],
        both_reach=list(_both_reach(curves, levels, reference)),
        accuracies=_accuracies(runs),
        world=world,
    )


def needs_of(curve: BootstrapCurve, targets: Sequence[float]) -> Iterator[Need]:
    """The needs of a curve by each rule; targets are those of the curve, in their order."""
    for rule, samples in curve.samples.items():
        for t, target in enumerate(targets):
            case = curve.model, curve.entities, curve.distractor, float(target), rule
            need, ends = float(samples[t, 0]), bootstrap.interval(samples[t, 1:])
            seeds = int(curve.reached[rule][t]), len(curve.seeds), curve.fewest
            sizes = int(curve.sizes[0]), int(curve.sizes[-1])
            found = Need(*case, need, *ends, curve.over[t], *seeds, curve.items, *sizes)
            yield _with_caution(found, curve, bool(curve.jumps[t])) if rule == "isotonic" else found


def _with_caution(need: Need, curve: BootstrapCurve, jumps: bool) -> Need:
    """The need with what is irregular about its curve. Where it jumps, the ends become trained sizes."""
    sizes = curve.sizes
    low, high = need.low, need.high
    if jumps:
        low = low if low == BELOW else float(sizes[sizes <= low].max(initial=sizes[0]))
        high = high if high == ABOVE else float(sizes[sizes >= high].min(initial=sizes[-1]))
    return replace(
        need,
        low=low,
        high=high,
        jumps=jumps,
        stuck=int(curve.stuck.sum()),
        falls=curve.falls,
        next_size=worth_training(sizes.tolist(), need.samples, jumps),
    )


def _notes_on_runs(given: int, kept: int, curves: Sequence[BootstrapCurve], world: str) -> Iterator[str]:
    """Notes about runs that are left out or stuck, and about curves that fall."""
    if kept < given:
        yield f"{given - kept} of {given} runs are left out: their sizes lack other seeds"
    for curve in curves:
        name = curve.model
        if world:
            size = str(curve.entities)
            name += f", {world_name(curve.entities, curve.distractor) if world == 'entities' else size}"
        if curve.stuck.any():
            places = (
                f"seed {curve.seeds[s]} with {curve.sizes[i]:,} samples" for i, s in np.argwhere(curve.stuck)
            )
            yield (
                f"{name}: {curve.stuck.sum()} of {np.isfinite(curve.runs).sum()} runs never learned "
                f"({'; '.join(places)}), so isotonic needs are those of the other runs"
            )
        if curve.falls:
            yield (
                f"{name}: accuracy falls with more samples, so isotonic needs are the sizes from which a "
                "target holds; the smallest set that reached it stands beside"
            )


def _notes_on_tests(runs: Sequence[Run]) -> list[str]:
    """A note about each world whose runs saw the same kinds but were tested on different items."""
    tests: dict[tuple[str, int | None], set[str]] = defaultdict(set)
    for run in runs:
        tests[world_name(run.entities, run.distractor), run.world_seed].add(run.test_id)
    most: dict[str, int] = {}
    for (world, _), ids in tests.items():
        most[world] = max(most.get(world, 0), len(ids))
    return [
        f"{world}: the runs were tested on {count} test sets, so their accuracies also differ by the choice "
        "of items, and ratios are not paired where models share no test set"
        for world, count in most.items()
        if count > 1
    ]


def _reaching(curves: Sequence[BootstrapCurve]) -> tuple[list[BootstrapCurve], list[str]]:
    """The curves of models that reached a target in some world, and a note about each other model.

    The others have no exponents and no ratios.
    """
    reached = {
        (c.model, c.distractor) for c in curves if any((n[:, 0] < ABOVE).any() for n in c.samples.values())
    }
    notes = []
    for model in dict.fromkeys(c.model for c in curves):
        settings = {c.distractor for c in curves if c.model == model}
        never = [distractor for distractor in settings if (model, distractor) not in reached]
        if never:
            where = "" if len(never) == len(settings) else f" {'with' if never[0] else 'without'} distractor"
            largest = max(max(c.sizes) for c in curves if c.model == model and c.distractor in never)
            notes.append(
                f"{model} reached no target in any world{where}, with {largest:,} samples at most, so it is "
                f"left out of exponents and ratios{where}"
            )
    return [c for c in curves if (c.model, c.distractor) in reached], notes


def _by_model(curves: Iterable[BootstrapCurve]) -> dict[bool, dict[str, list[BootstrapCurve]]]:
    """The curves of each model, worlds ascending, by distractor."""
    result: dict[bool, dict[str, list[BootstrapCurve]]] = defaultdict(lambda: defaultdict(list))
    for curve in sorted(curves, key=lambda c: (c.distractor, model_order(c.model), c.entities)):
        result[curve.distractor][curve.model].append(curve)
    return result


def _in_shared_worlds(*models: Sequence[BootstrapCurve]) -> list[list[BootstrapCurve]]:
    """The curves of each model in the worlds that all of them have.

    A need that does not grow as a power has another exponent in other worlds.
    """
    shared = set.intersection(*({c.entities for c in own} for own in models))
    return [[c for c in own if c.entities in shared] for own in models]


def _exponents(curves: Sequence[BootstrapCurve], targets: np.ndarray, reference: str) -> Iterator[Exponent]:
    for distractor, models in _by_model(curves).items():
        for rule, (t, target) in product(RULES, enumerate(targets)):
            case = distractor, float(target), rule
            for model, own in models.items():
                yield _exponent(model, case, [own], t)
            for model, own in models.items():
                if reference in models and model != reference:
                    pair = _in_shared_worlds(own, models[reference])
                    if pair[0]:
                        yield _exponent(f"{model} - {reference}", case, pair, t)


def _exponent(
    name: str, case: tuple[bool, float, str], models: Sequence[Sequence[BootstrapCurve]], t: int
) -> Exponent:
    """The exponent of one model, or the difference of two.

    It is computed again with every other treatment of censored worlds.
    """
    needs = [WorldNeeds.of(np.array([c.entities for c in own]), own, case[2], t) for own in models]
    over = bootstrap.narrowest(*(c.interval_over for own in models for c in own))

    def slopes(treatment: tuple[int, bool] | None = None) -> np.ndarray:
        own = [n.slopes(treatment) for n in needs]
        return own[0] - own[1] if len(own) == 2 else own[0]

    slope = slopes()
    value, identified = float(slope[0]), float(np.isfinite(slope[1:]).mean())
    worlds, uncensored = min(len(n.worlds) for n in needs), min(n.uncensored for n in needs)
    if not np.isfinite(value):
        few = f"{worlds} world{'s' * (worlds != 1)}"
        many = f"{uncensored} of {worlds} worlds uncensored, two are needed"
        reason = f"not identifiable: {few if worlds < 2 else many}"
        return Exponent(name, *case, value, np.nan, np.nan, worlds, uncensored, identified, reason, over)
    treated = [slope, *(slopes(way) for way in dict.fromkeys(way for n in needs for way in n.treatments()))]
    intervals = [bootstrap.interval(other[1:]) for other in treated]
    values = [float(other[0]) for other in treated if np.isfinite(other[0])]
    verdict = _verdict(intervals, over) if len(needs) == 2 else ""
    low, high = intervals[0]
    ends = min(values), max(values)
    return Exponent(name, *case, value, low, high, worlds, uncensored, identified, "", over, *ends, verdict)


def _verdict(intervals: Sequence[tuple[float, float]], over: str) -> str:
    """Whether all intervals exclude 0 on the same side, and hold enough of what varies to decide anything."""
    above, below = all(low > 0 for low, _ in intervals), all(high < 0 for _, high in intervals)
    return "decided" if (above or below) and not bootstrap.too_narrow(over) else "undecided"


def _ratios(curves: Sequence[BootstrapCurve], targets: np.ndarray, reference: str) -> Iterator[Ratio]:
    references = {(c.entities, c.distractor): c for c in curves if c.model == reference}
    for rule, curve in product(RULES, curves):
        other = references.get((curve.entities, curve.distractor))
        if other is None or curve is other:
            continue
        case = curve.model, other.model, curve.entities, curve.distractor
        for t, target in enumerate(targets):
            ends, over = contrast((1, -1), (curve, other), rule, t, factor=True)
            yield Ratio(*case, float(target), rule, *ends, over)


def _additions(curves: Sequence[BootstrapCurve], targets: np.ndarray, reference: str) -> Iterator[Addition]:
    """Additional data from the smallest to the largest world that a model and the reference share.

    Of both, and of their difference.
    """
    for distractor, models in _by_model(curves).items():
        for rule, (t, target), (model, own) in product(RULES, enumerate(targets), models.items()):
            own, theirs = _in_shared_worlds(own, models.get(reference, own))
            if len(own) < 2:
                continue
            case = distractor, float(target), rule, own[0].entities, own[-1].entities
            few, many = own[0], own[-1]
            ends, over = contrast((-1, 1), (few, many), rule, t)
            yield Addition(model, *case, *ends, over)
            if reference in models and model != reference:
                worlds = few, many, theirs[0], theirs[-1]
                ends, over = contrast((-1, 1, 1, -1), worlds, rule, t)
                verdict = _verdict([ends[2:]], over)
                yield Addition(f"{model} - {reference}", *case, *ends, over, verdict)


def _both_reach(curves: Sequence[BootstrapCurve], targets: np.ndarray, reference: str) -> Iterator[BothReach]:
    for distractor, models in _by_model(curves).items():
        for model, target in product(models, targets):
            if reference in models and model != reference:
                upper, lower = (
                    {(c.entities, int(n)) for c in own for n in c.sizes[c.accuracy >= target - ROUNDING]}
                    for own in (models[model], models[reference])
                )
                sets = tuple(sorted(upper & lower))
                yield BothReach(model, reference, distractor, float(target), sets)


def _accuracies(runs: Sequence[Run]) -> list[Accuracies]:
    """A line a cell, in the order of the runs."""
    cells: dict[tuple[str, int, bool, int], list[Run]] = defaultdict(list)
    for run in runs:
        cells[run.model, run.entities, run.distractor, int(run.train_size)].append(run)

    def mean(values: Iterable[float | None]) -> float:
        return float(np.mean([value for value in values if value is not None] or [np.nan]))

    return [
        Accuracies(
            *cell,
            len({run.seed for run in own}),
            validation=mean(run.validation for run in own),
            reweighted=mean(run.reweighted for run in own),
            test=mean(float(run.correct.mean()) for run in own),
            held_out=mean(run.held_out for run in own),
            seen=mean(run.seen for run in own),
        )
        for cell, own in cells.items()
    ]
