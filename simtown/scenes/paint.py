"""The paints of vehicles: each kind's own, all alike, as cars in the street are painted, or by a table."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING

from simtown.assets.entities import ENTITIES, KEEP_PAINT, NAMED_BY_COLOUR
from simtown.assets.palette import PAINTS
from simtown.core.tables import read_rows

if TYPE_CHECKING:
    import numpy as np

#: Paints that represent a material, such as skin, planks, walls and straw. "uniform" leaves them out.
STUFFS: frozenset[str] = frozenset({"wood", "brick", "rust", "skin", "skin dark", "hay", "concrete"})

#: Colours of the cars built worldwide in 2022, in percent: Axalta, "70th Global Automotive Color Popularity
#: Report", press release of 15 December 2022. Silver is the rest of the 82 percent that it gives for white,
#: black, gray and silver. The 4 percent of other colours are left out.
NATURAL: dict[str, float] = {
    "white": 34,
    "black": 21,
    "grey": 19,
    "silver": 8,
    "blue": 8,
    "red": 5,
    "green": 1,
}

#: Characters of a cell that are read, and shown in a message.
_LONGEST_CELL = 80
#: The choices that need no file.
CHOICES = ("own", "uniform", "natural")


def paint_frequencies(choice: str) -> np.ndarray:
    """Probability of every paint: (36,) float64 in the order of PAINTS, summing to 1; (0,) for "own".

    Args:
        choice: "own" (every kind keeps its paint), "uniform" (all paints but STUFFS alike), "natural"
            (NATURAL), or a CSV file with the header ``paint,weight``; a paint that it does not list has
            weight 0.

    Raises:
        ValueError: the choice is none of these, or the file is not such a table.
        OSError: the file cannot be read.
    """
    import numpy as np

    if choice == "own":
        return np.zeros(0)
    if choice == "uniform":
        weights = {name: 1.0 for name in PAINTS if name not in STUFFS}
    elif choice == "natural":
        weights = NATURAL
    elif isfile(choice):  # pathlib's raises an error for a name that is too long
        weights = _read(Path(choice))
    else:
        raise ValueError(
            f"unknown paint '{choice}': use {', '.join(CHOICES)} or an existing CSV file with the columns "
            "paint, weight"
        )
    counts = np.array([weights.get(name, 0.0) for name in PAINTS])
    total = np.cumsum(counts)[-1]  # one after the other, whatever the processor
    if total <= 0:
        raise ValueError(f"{choice} gives no paint a weight above 0: name at least one")
    result: np.ndarray = counts / total
    return result


@lru_cache(maxsize=1)
def may_change() -> np.ndarray:
    """(entities + 1,) bool: whether every entity, then the empty slot, may have other paint than its own."""
    import numpy as np

    return np.array([name not in KEEP_PAINT for name in ENTITIES] + [False])


def why_unpainted(kind: str) -> str:
    """Why a kind of KEEP_PAINT keeps its own paint."""
    return "its name says its colour" if kind in NAMED_BY_COLOUR else "its TOML file names no paint"


def own_paint(kind: str) -> str:
    """The paint of a kind's body where a scene does not exchange it."""
    from simtown.assets.atlas import atlas

    return PAINTS[atlas().own_paint[ENTITIES.index(kind)]]


def _read(path: Path) -> dict[str, float]:
    """Weights by paint. Raises ValueError if the file is not such a table, OSError if it cannot be read."""
    weights: dict[str, float] = {}
    for where, cells in read_rows(path, ("paint", "weight")):
        name, text = (cells[column][:_LONGEST_CELL] for column in ("paint", "weight"))
        if name not in PAINTS:
            similar = get_close_matches(name, PAINTS, 3, 0.5)
            hint = f"the paints are {', '.join(PAINTS)}"
            if similar:
                hint = f"did you mean {' or '.join(similar)}?"
            raise ValueError(f"{where} lists an unknown paint '{name}': {hint}")
        if name in weights:
            raise ValueError(f"{where} lists the paint {name} twice: give it one weight")
        try:
            weights[name] = float(text)
        except ValueError:
            weights[name] = -1.0
        if not 0 <= weights[name] <= 1e9:
            wrong = f"{where} gives the paint {name} the weight '{text}'"
            raise ValueError(f"{wrong}: give a number from 0 to 1e9")
    return weights
