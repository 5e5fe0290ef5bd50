"""How models look: each has the same name, colour and marker in every figure.

The colours are Okabe and Ito's and Tol's, which colour-blind readers can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simtown.core.untrusted import figure_text

NAMES = {
    "cnn-lstm": "CNN-LSTM",
    "cnn-lstm-boxes": "CNN-LSTM, box loss",
    "film": "FiLM ResNet",
    "relation-network": "Relation network",
    "vit": "ViT",
    "pbn-no-boxes": "PBN, no box loss",
    "pbn": "PBN",
    "true-boxes": "True boxes",
    "question-only": "Question only",
}
#: Kin have kindred colours: blue for PBN, orange for CNN-LSTM.
COLOURS = {
    "cnn-lstm": "#D55E00",
    "cnn-lstm-boxes": "#E69F00",
    "film": "#009E73",
    "relation-network": "#CC79A7",
    "vit": "#882255",
    "pbn-no-boxes": "#56B4E9",
    "pbn": "#0072B2",
    "true-boxes": "#222222",
    "question-only": "#999999",
}
_OTHERS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933", "#332288")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "p", "h")
_MARKER_OF = {
    "pbn": "o",
    "cnn-lstm": "s",
    "pbn-no-boxes": "D",
    "cnn-lstm-boxes": "^",
    "film": "v",
    "relation-network": "P",
    "vit": "X",
    "true-boxes": "p",
    "question-only": "h",
}
#: Letters of a name: more leave no room for the curves.
_LONGEST = 32


class ModelLook(NamedTuple):
    """How a figure shows a model."""

    name: str
    colour: str
    marker: str


def looks_of(models: Sequence[str]) -> dict[str, ModelLook]:
    """A look for each model. `package.module:Class` is called Class, unless two would have that name.

    Colours and markers of simtown's models are taken by no other.
    """
    names = {model: NAMES.get(model, _short(model)) for model in models}
    free = [colour for colour in _OTHERS if colour not in {COLOURS.get(model) for model in models}]
    others = sorted(set(models) - set(COLOURS))
    result = {}
    for model, name in names.items():
        unique = list(names.values()).count(name) == 1
        colour, marker = COLOURS.get(model), _MARKER_OF.get(model)
        if colour is None or marker is None:
            i = others.index(model)
            # beyond the colours another marker: no two of 81 look alike
            colour, marker = free[i % len(free)], MARKERS[(i + i // len(_OTHERS)) % len(MARKERS)]
        result[model] = ModelLook(figure_text(name if unique else model), colour, marker)
    return result


def _short(model: str) -> str:
    name = model if " " in model else model.rpartition(":")[2] or model
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"


def distractor_words(distractor: bool) -> str:
    return "with distractor" if distractor else "no distractor"
