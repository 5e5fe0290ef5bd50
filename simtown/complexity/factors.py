"""Two by two: what structure saves, and what box supervision saves.

Four models differ in two things: whether they are structured, and whether they are told where vehicles stand.
The need N* of each, in one world and for one target, splits the lead of the Place-Binder Network over the
CNN-LSTM into a part of structure and a part of boxes:

    log N(cnn-lstm) - log N(pbn) = structure + boxes,

where each part is the mean of its two effects, with and without the other. Every effect is a contrast of the
four log N*. A need that is only a bound leaves a bound of the effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simtown.complexity.bootstrap import BootstrapCurve, interval, narrowest
from simtown.complexity.curves import ABOVE, BELOW

#: The four models: unstructured without and with boxes, structured without and with boxes.
DESIGN = ("cnn-lstm", "cnn-lstm-boxes", "pbn-no-boxes", "pbn")
#: Effects by name, as coefficients of the four log N* in the order of DESIGN. Positive: fewer samples are
#: needed.
EFFECTS: dict[str, tuple[float, float, float, float]] = {
    "structure without boxes": (1, 0, -1, 0),
    "structure with boxes": (0, 1, 0, -1),
    "boxes without structure": (1, -1, 0, 0),
    "boxes with structure": (0, 0, 1, -1),
    "structure": (0.5, 0.5, -0.5, -0.5),
    "boxes": (0.5, -0.5, 0.5, -0.5),
    "lead": (1, 0, 0, -1),
    "structure over boxes": (
        0,
        1,
        -1,
        0,
    ),  # structure less boxes: what is left is the CNN-LSTM with boxes against the PBN without
    "interaction": (-1, 1, 1, -1),  # structure with boxes less structure without
}


@dataclass(frozen=True)
class Effect:
    """By which factor an effect lowers the need, in one world, for one target.

    Attributes:
        name: of EFFECTS.
        entities: the size of the world.
        distractor: whether scenes have one.
        target: accuracy.
        rule: by which needs were read off.
        at_least: the least factor that bounded needs leave open.
        at_most: the greatest; equal to `at_least` if no need is bounded.
        low: lower end of the interval; 0 if unknown.
        high: upper end of the interval; infinity if unknown.
        seeds: of the size and model that has fewest.
        interval_over: what the interval holds, as :func:`simtown.complexity.bootstrap.interval_over` says it.
    """

    name: str
    entities: int
    distractor: bool
    target: float
    rule: str
    at_least: float
    at_most: float
    low: float
    high: float
    seeds: int
    interval_over: str


def effects(
    curves: Sequence[BootstrapCurve], targets: Sequence[float], rule: str = "isotonic"
) -> list[Effect]:
    """Every effect whose models were trained, by world and target; curves of other models are left out.

    Args:
        curves: with N* for `targets`, whose replicates draw seeds and items together.
        targets: accuracies, in the order of the rows of `BootstrapCurve.samples`.
        rule: a name of :data:`simtown.complexity.curves.RULES`.
    """
    worlds: dict[tuple[bool, int], dict[str, BootstrapCurve]] = {}
    for curve in curves:
        if curve.model in DESIGN:
            worlds.setdefault((curve.distractor, curve.entities), {})[curve.model] = curve
    return [
        _effect(name, contrast, cells, entities, distractor, t, float(target), rule)
        for (distractor, entities), cells in sorted(worlds.items())
        for t, target in enumerate(targets)
        for name, contrast in EFFECTS.items()
        if all(model in cells for model, c in zip(DESIGN, contrast, strict=True) if c)
    ]


def _effect(
    name: str,
    contrast: Sequence[float],
    cells: Mapping[str, BootstrapCurve],
    entities: int,
    distractor: bool,
    t: int,
    target: float,
    rule: str,
) -> Effect:
    models = {model: c for model, c in zip(DESIGN, contrast, strict=True) if c}
    bounds = [log_bounds(cells[model].samples[rule][t], cells[model].sizes) for model in models]
    least, most = contrasted(list(models.values()), bounds)
    low, high = interval(least[1:])[0], interval(most[1:])[1]
    seeds = min(cells[model].fewest for model in models)
    over = narrowest(*(cells[model].interval_over for model in models))
    at_least, at_most, low, high = (float(np.exp(end)) for end in (least[0], most[0], low, high))
    return Effect(
        name=name,
        entities=entities,
        distractor=distractor,
        target=target,
        rule=rule,
        at_least=at_least,
        at_most=at_most,
        low=low,
        high=high,
        seeds=seeds,
        interval_over=over,
    )


def log_bounds(samples: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest log N* (R,) that needs (R,) leave open.

    They are equal for a known need; a bounded one leaves half a line.
    """
    with np.errstate(divide="ignore"):
        log_needs = np.log(samples)  # -inf for BELOW, inf for ABOVE
    return np.where(samples == ABOVE, np.log(sizes[-1]), log_needs), np.where(
        samples == BELOW, np.log(sizes[0]), log_needs
    )


def contrasted(
    coefficients: Sequence[float], bounds: Sequence[tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest sum of coefficients times values between bounds; no coefficient is 0."""
    pairs = list(zip(coefficients, bounds, strict=True))
    least = sum((c * (low if c > 0 else high) for c, (low, high) in pairs), start=np.zeros(1))
    most = sum((c * (high if c > 0 else low) for c, (low, high) in pairs), start=np.zeros(1))
    return least, most
