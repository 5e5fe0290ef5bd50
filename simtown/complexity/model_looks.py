"""How models look: each has the same name, colour and marker in every figure.

The colours are Okabe and Ito's and Tol's, which colour-blind readers can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence

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
SHAPES = {
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


def _cut(name: str, longest: int = 200) -> str:
    return name if len(name) <= longest else f"{name[:longest]}…"


def names_of(models: Sequence[str]) -> dict[str, str]:
    """What figures call the models: `package.module:Class` is Class, unless two would have that name."""
    names = {
        model: NAMES.get(model, _cut(model if " " in model else model.rpartition(":")[2] or model, _LONGEST))
        for model in models
    }
    return {
        model: figure_text(name if list(names.values()).count(name) == 1 else _cut(model))
        for model, name in names.items()
    }


def colours_of(models: Sequence[str]) -> dict[str, str]:
    """A colour for each model; those of simtown's models are taken by no other."""
    free = [colour for colour in _OTHERS if colour not in {COLOURS.get(model) for model in models}]
    return COLOURS | {
        model: free[i % len(free)] for i, model in enumerate(sorted(set(models) - set(COLOURS)))
    }


def markers_of(models: Sequence[str]) -> dict[str, str]:
    """A shape for each model, the second sign by which it is known."""
    return SHAPES | {
        # beyond the colours another marker: no two of 81 look alike
        model: MARKERS[(i + i // len(_OTHERS)) % len(MARKERS)]
        for i, model in enumerate(sorted(set(models) - set(SHAPES)))
    }


def distractor_words(distractor: bool) -> str:
    """What figures call worlds with, or without, a distractor."""
    return "with distractor" if distractor else "no distractor"
