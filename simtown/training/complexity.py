"""Asymptotic sample complexity (Bingham et al., sections 1 and 4): from many runs to the samples a model needs, and how that grows.

N* is the number of training samples at which a model in a world reaches a target accuracy, by one of the rules of
:mod:`simtown.training.curves`, where the codes of censored N* are explained too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np

from simtown.progress import Progress
from simtown.training.bootstrap import LEVEL, Curve, curve_of, interval, resampled_accuracies
from simtown.training.curves import ABOVE, BELOW, RULES
from simtown.training.findings import Exponent, Ratio, Report, Row
from simtown.training.growth import ratios, slopes
from simtown.training.results import Run, model_order, world_name

TARGETS = (0.75, 0.85, 0.90, 0.95)
#: Two models are compared as N*(other) / N*(REFERENCE).
REFERENCE = "pbn"
_PATIENCE = 2.0  # seconds before a progress bar shows


def estimate(
    runs: Sequence[Run],
    *,
    targets: Sequence[float] = TARGETS,
    replicates: int = 1000,
    seed: int = 0,
    skipped: Mapping[str, int] | None = None,
) -> Report:
    """Samples needed, exponents and ratios of the runs. Their order does not matter.

    Every replicate draws test items (the same for all runs with one test set, so that models are compared on the same items) and seeds (the
    same for all sizes of a curve, for a seed is one initialisation), and computes everything again.

    Raises:
        ValueError: no runs, targets that are no accuracies between 0 and 1, or fewer than 40 replicates.
    """
    levels = np.array(sorted(set(targets)), dtype=float)
    if not len(levels) or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(f"targets must be accuracies between 0 and 1, not {', '.join(map(str, targets)) or 'none'}")
    if replicates < 40:
        raise ValueError(f"--replicates {replicates} are too few for a {LEVEL:.0%} interval: give at least 40, better 1,000")
    if not runs:
        raise ValueError("there are no finished runs to compare: give directories that simtown fit or sweep has finished")
    order = sorted(range(len(runs)), key=lambda i: _order(runs[i]))
    runs = [runs[i] for i in order]
    accuracies = resampled_accuracies(runs, replicates, seed)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, run in enumerate(runs):
        groups.setdefault((run.model, run.entities, run.distractor), []).append(i)
    curves = [
        curve_of([runs[i] for i in group], accuracies[:, group], levels, seed)
        for group in _watched(list(groups.values()), "sample complexity")
    ]
    rows = [row for curve in curves for row in _rows(curve, levels)]
    growing, unreached = _reaching(curves)
    notes = _tests(runs) + unreached
    exponents = _exponents(growing, levels)
    compared = _ratios(growing, levels)
    return Report(tuple(levels.tolist()), replicates, seed, len(runs), dict(skipped or {}), curves, rows, exponents, compared, notes)


def _order(run: Run) -> tuple[Any, ...]:
    return run.distractor, model_order(run.model), run.entities, run.train_size, run.seed


def _watched(items: list[Any], title: str) -> Iterator[Any]:
    """The items, with a progress bar once they have taken two seconds."""
    begun, shown = monotonic(), False
    with Progress(title) as progress:
        for done, item in enumerate(items):
            if shown:
                progress.advanced(1, {})
            elif monotonic() - begun > _PATIENCE:
                progress.started(len(items) - done, 0)
                shown = True
            yield item


def _rows(curve: Curve, targets: np.ndarray) -> Iterator[Row]:
    over = "seeds and items" if len(curve.seeds) > 1 else "items only"
    for rule, samples in curve.samples.items():
        for t, target in enumerate(targets):
            low, high = (np.nan, np.nan) if np.isnan(samples[t, 0]) else interval(samples[t, 1:])
            yield Row(
                curve.model, curve.entities, curve.distractor, float(target), rule, float(samples[t, 0]), low, high, over,
                float(curve.medians[rule][t]), int(curve.reached[rule][t]), len(curve.seeds), curve.fewest, curve.items,
                int(curve.sizes[0]), int(curve.sizes[-1]), _misfit(curve, rule),
            )  # fmt: skip


def _tests(runs: Sequence[Run]) -> list[str]:
    """A note about each world whose runs were not all tested on the same items."""
    tests: dict[str, set[str]] = {}
    for run in runs:
        tests.setdefault(world_name(run.entities, run.distractor), set()).add(run.test_id)
    words = "their accuracies also differ by the choice of items, and ratios are not paired where models share no test set"
    return [f"{world}: the runs were tested on {len(ids)} test sets, so {words}" for world, ids in tests.items() if len(ids) > 1]


def _reaching(curves: Sequence[Curve]) -> tuple[list[Curve], list[str]]:
    """The curves of models that reached a target in some world, and a note about each of the others: they grow and compare by no number."""
    reached = {(c.model, c.distractor) for c in curves if any((samples[:, 0] < ABOVE).any() for samples in c.samples.values())}
    notes = []
    for model in dict.fromkeys(c.model for c in curves):
        settings = {c.distractor for c in curves if c.model == model}
        never = [distractor for distractor in settings if (model, distractor) not in reached]
        if never:
            where = "" if len(never) == len(settings) else f" {'with' if never[0] else 'without'} distractor"
            notes.append(f"{model} reached no target in any world{where}, so it is left out of exponents and ratios{where}")
    return [c for c in curves if (c.model, c.distractor) in reached], notes


def _exponents(curves: Sequence[Curve], targets: np.ndarray) -> list[Exponent]:
    result = []
    for distractor in sorted({c.distractor for c in curves}):
        models = list(dict.fromkeys(c.model for c in curves if c.distractor == distractor))
        for rule in RULES:
            for t, target in enumerate(targets):
                found: dict[str, _Growth] = {}
                for model in models:
                    found[model] = _growth([c for c in curves if (c.model, c.distractor) == (model, distractor)], rule, t)
                if REFERENCE in found:
                    for model in (m for m in models if m != REFERENCE):
                        found[f"{model} - {REFERENCE}"] = found[model].less(found[REFERENCE])
                result += [growth.exponent(name, distractor, float(target), rule) for name, growth in found.items()]
    return result


@dataclass(frozen=True)
class _Growth:
    """Exponent (1 + replicates,) of one model, or a difference of two; of how many worlds, uncensored ones, and the worst misfit."""

    slope: np.ndarray
    worlds: int
    exact: int
    misfit: float

    def less(self, other: _Growth) -> _Growth:
        fewest = min(self.worlds, other.worlds), min(self.exact, other.exact)
        return _Growth(self.slope - other.slope, *fewest, _worst(self.misfit, other.misfit))

    def exponent(self, model: str, distractor: bool, target: float, rule: str) -> Exponent:
        value, share = float(self.slope[0]), float(np.isfinite(self.slope[1:]).mean())
        reason = "" if np.isfinite(value) else self._reason()
        low, high = (np.nan, np.nan) if reason else interval(self.slope[1:])
        return Exponent(model, distractor, target, rule, value, low, high, self.worlds, self.exact, share, reason, self.misfit)

    def _reason(self) -> str:
        if self.worlds < 2:
            return f"not identifiable: {self.worlds or 'no'} world{'s' * (self.worlds != 1)}"
        return f"not identifiable: {self.exact} of {self.worlds} worlds uncensored, two are needed"


def _growth(curves: Sequence[Curve], rule: str, t: int) -> _Growth:
    """How a model's N* grows over the worlds to which the rule applies."""
    worlds = [c for c in curves if not np.isnan(c.samples[rule][t, 0])]
    if not worlds:
        return _Growth(np.full(curves[0].samples[rule].shape[1], np.nan), 0, 0, float("nan"))
    samples = np.stack([c.samples[rule][t] for c in worlds], axis=1)
    exact = int((np.isfinite(samples[0]) & (samples[0] != BELOW)).sum())
    ends = (np.array([c.sizes[i] for c in worlds]) for i in (0, -1))
    slope = slopes(np.array([c.entities for c in worlds]), samples, *ends)
    return _Growth(slope, len(worlds), exact, _worst(*(_misfit(c, rule) for c in worlds)))


def _misfit(curve: Curve, rule: str) -> float:
    return curve.misfit if rule == "power" else float("nan")


def _worst(*misfits: float) -> float:
    return float(np.max(misfits))  # NaN if any is: there is no law, or nothing that it was fitted to


def _ratios(curves: Sequence[Curve], targets: np.ndarray) -> list[Ratio]:
    result = []
    reference = {(c.entities, c.distractor): c for c in curves if c.model == REFERENCE}
    for rule in RULES:
        for curve in curves:
            other = reference.get((curve.entities, curve.distractor))
            if other is None or curve is other:
                continue
            for t, target in enumerate(targets):
                a, b = curve.samples[rule][t], other.samples[rule][t]
                if np.isnan(a[0]) or np.isnan(b[0]):
                    continue
                least, most = ratios(a, curve.sizes, b, other.sizes)
                models, worst = (curve.model, other.model), _worst(_misfit(curve, rule), _misfit(other, rule))
                ends = float(least[0]), float(most[0]), interval(least[1:])[0], interval(most[1:])[1]
                result.append(Ratio(*models, curve.entities, curve.distractor, float(target), rule, *ends, worst))
    return result
