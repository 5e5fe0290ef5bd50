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

from simtown.complexity.bootstrap import BootstrapCurve, interval, narrowest
from simtown.complexity.growth import bounds
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
            for name, contrast in EFFECTS.items():
                models = {model: c for model, c in zip(DESIGN, contrast, strict=True) if c}
                if models.keys() <= curve_of.keys():
                    own = [curve_of[model] for model in models]
                    ends, over = compared(list(models.values()), own, t)
                    seeds = min(curve.fewest for curve in own)
                    least, most, low, high = map(float, np.exp(ends))
                    case = entities, distractor, float(target)
                    result.append(Effect(name, *case, least, most, low, high, seeds, over))
    return result


def compared(
    coefficients: Sequence[float], curves: Sequence[BootstrapCurve], t: int
) -> tuple[tuple[float, float, float, float], str]:
    """Least and greatest sum of coefficients times log N*, the ends of its interval, and what that holds."""
    pairs = [log_bounds(curve.samples["isotonic"][t], curve.sizes) for curve in curves]
    least, most = contrasted(coefficients, pairs)
    ends = float(least[0]), float(most[0]), interval(least[1:])[0], interval(most[1:])[1]
    return ends, narrowest(*(curve.interval_over for curve in curves))


def log_bounds(samples: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest log N* (R,) that needs (R,) leave open."""
    with np.errstate(divide="ignore"):
        low, high = np.log(bounds(samples, sizes))
    return low, high


def contrasted(
    coefficients: Sequence[float], pairs: Sequence[tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest sum of coefficients times values between bounds; no coefficient is 0."""
    signed = [(c, pair if c > 0 else pair[::-1]) for c, pair in zip(coefficients, pairs, strict=True)]
    least = sum((c * low for c, (low, _) in signed), start=np.zeros(1))
    most = sum((c * high for c, (_, high) in signed), start=np.zeros(1))
    return least, most
