"""Two by two: what structure saves, and what box supervision saves.

Four models differ in two things: whether they are structured, and whether they learn from vehicles' boxes.
In a world and for a target, the lead of the Place-Binder Network over the CNN-LSTM is, of the needs N*,
log N(cnn-lstm) - log N(pbn) = structure + boxes: each the mean of two effects, with and without the other.
A need that is only a bound leaves a bound of the effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simtown.complexity.bootstrap import BootstrapCurve
from simtown.complexity.growth import contrast
from simtown.complexity.quantities import factor_text

#: The four models: unstructured without and with boxes, structured without and with boxes.
DESIGN = ("cnn-lstm", "cnn-lstm-boxes", "pbn-no-boxes", "pbn")
#: Effects by name, as coefficients of the four log N* in the order of DESIGN. Positive: fewer samples are
#: needed. Structure over boxes compares the CNN-LSTM with boxes and the PBN without; interaction is structure
#: with boxes less structure without.
EFFECTS: dict[str, tuple[float, float, float, float]] = {
    "structure without boxes": (1, 0, -1, 0),
    "structure with boxes": (0, 1, 0, -1),
    "boxes without structure": (1, -1, 0, 0),
    "boxes with structure": (0, 0, 1, -1),
    "structure": (0.5, 0.5, -0.5, -0.5),
    "boxes": (0.5, -0.5, 0.5, -0.5),
    "lead": (1, 0, 0, -1),
    "structure over boxes": (0, 1, -1, 0),
    "interaction": (-1, 1, 1, -1),
}


@dataclass(frozen=True)
class Effect:
    """By which factor an effect lowers the need, by the isotonic rule; `seeds`: where there are fewest."""

    name: str
    entities: int
    distractor: bool
    target: float
    at_least: float
    at_most: float
    low: float
    high: float
    seeds: int
    interval_over: str

    def __str__(self) -> str:
        unknown = self.at_least == 0 and self.at_most == np.inf
        return "unknown" if unknown else factor_text(self.at_least, self.at_most, self.low, self.high)


def effects(curves: Sequence[BootstrapCurve], targets: Sequence[float]) -> list[Effect]:
    """Every effect whose models were trained; targets in the order of `BootstrapCurve.samples`."""
    worlds: dict[tuple[bool, int], dict[str, BootstrapCurve]] = {}
    for curve in curves:
        if curve.model in DESIGN:
            worlds.setdefault((curve.distractor, curve.entities), {})[curve.model] = curve
    result = []
    for (distractor, entities), curve_of in sorted(worlds.items()):
        for t, target in enumerate(targets):
            for name, coefficients in EFFECTS.items():
                models = {model: c for model, c in zip(DESIGN, coefficients, strict=True) if c}
                if models.keys() <= curve_of.keys():
                    own = [curve_of[model] for model in models]
                    ends, over = contrast(list(models.values()), own, "isotonic", t, factor=True)
                    seeds = min(curve.fewest for curve in own)
                    result.append(Effect(name, entities, distractor, float(target), *ends, seeds, over))
    return result
