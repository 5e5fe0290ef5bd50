"""Two by two: what structure saves, and what box supervision saves.

Four models differ in two things: whether they are structured, and whether they learn from the vehicles'
boxes. The need N* of each, in one world and for one target, splits the lead of the Place-Binder Network over
the CNN-LSTM into a part of structure and a part of boxes:

    log N(cnn-lstm) - log N(pbn) = structure + boxes,

where each part is the mean of its two effects, with and without the other. Every effect is a contrast of the
four log N*. A need that is only a bound leaves a bound of the effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simtown.complexity.bootstrap import BootstrapCurve
from simtown.complexity.growth import contrast
from simtown.complexity.needs import factor_text

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
    """By which factor an effect lowers the need, in one world, for one target, by the isotonic rule.

    Fields as in :mod:`simtown.complexity.needs`; `seeds` are those of the size and model that has fewest.
    """

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
        """`11 (8.0 to 15)`, or a bound: `> 11 (from 8.0)`."""
        unknown = self.at_least == 0 and self.at_most == np.inf
        return "unknown" if unknown else factor_text(self.at_least, self.at_most, self.low, self.high)


def effects(curves: Sequence[BootstrapCurve], targets: Sequence[float]) -> list[Effect]:
    """Every effect whose models were trained, by world and target; curves of other models are left out.

    `targets` are accuracies, in the order of the rows of `BootstrapCurve.samples`.
    """
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
