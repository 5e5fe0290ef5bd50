"""Looks of models: each has the same name, colour and marker in every figure.

The colours are Okabe and Ito's and Tol's, which colour-blind readers can tell apart.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from simtown.core.tables import parse_cells
from simtown.core.untrusted import figure_text


class ModelLook(NamedTuple):
    """The look of a model in figures."""

    name: str
    colour: str
    marker: str


_LOOKS = """
    cnn-lstm         | CNN-LSTM           | #D55E00 | s
    cnn-lstm-boxes   | CNN-LSTM, box loss | #E69F00 | ^
    film             | FiLM ResNet        | #009E73 | v
    relation-network | Relation network   | #CC79A7 | P
    vit              | ViT                | #882255 | X
    pbn-no-boxes     | PBN, no box loss   | #56B4E9 | D
    pbn              | PBN                | #0072B2 | o
    true-boxes       | True boxes         | #222222 | p
    order-blind      | Order-blind        | #44AA99 | <
    one-picture      | One picture        | #999933 | >
    question-only    | Question only      | #999999 | h
    picture-only     | Picture only       | #666666 | d
"""
#: Our models, in the order of tables and figures. Kin have kindred colours: blue PBN, orange CNN-LSTM.
LOOKS = {model: ModelLook(*cells) for model, *cells in parse_cells(_LOOKS)}
_OTHERS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933", "#332288")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "p", "h")
#: Letters of a name: more leave no room for the curves.
_LONGEST = 32


def looks_of(models: Sequence[str]) -> dict[str, ModelLook]:
    """A look for each model. `package.module:Class` is called Class, unless two would have that name.

    Colours and markers of simtown's models are taken by no other.
    """
    names = {model: name_of(model) if model in LOOKS else _short(model) for model in models}
    taken = {value for model in models if model in LOOKS for value in LOOKS[model]}
    free = [colour for colour in _OTHERS if colour not in taken]
    markers = [marker for marker in MARKERS if marker not in taken] or MARKERS
    others = sorted(set(models) - set(LOOKS))
    result = {}
    for model, name in names.items():
        if model in LOOKS:
            _, colour, marker = LOOKS[model]
        else:
            again, i = divmod(others.index(model), len(free))
            colour, marker = free[i], markers[(i + again) % len(markers)]
        unique = list(names.values()).count(name) == 1
        result[model] = ModelLook(figure_text(name if unique else model), colour, marker)
    return result


def name_of(model: str) -> str:
    """The name of a model in pages and figures."""
    return LOOKS[model].name if model in LOOKS else model


def _short(model: str) -> str:
    name = model if " " in model else model.rpartition(":")[2] or model
    if model.startswith("head:"):  # on an encoder, whose last folder has its name
        name = f"head on {Path(name).name}"
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"


def distractor_words(distractor: bool) -> str:
    return "with distractor" if distractor else "no distractor"
