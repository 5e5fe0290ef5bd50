"""Programs as data sets store them: logical forms (:mod:`simtown.language.forms`) as a few whole numbers.

A form is written from the outside in. A node is 8 times its place in NODES plus the number of its parts; its
parts follow. Words and numbers are in ranges of their own, so that new kinds of vehicles move nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import COLOUR_WORDS
from simtown.language.forms import Form, fill
from simtown.language.nouns import OWN_NOUNS, VEHICLE_NOUNS
from simtown.language.relations import RELATION_NAMES
from simtown.scenes.weather import WEATHERS

#: Numbers of the longest program.
LENGTH = 40
#: Nodes of forms (append, do not reorder).
NODES = (
    "all", "filter", "most", "nth", "union", "the", "a", "every", "no", "related", "has", "same", "compared",
    "among", "holds", "exist", "count", "query", "weather", "equal", "more", "fewer", "least", "utmost",
    "not", "and", "or",
)  # fmt: skip
#: Relations in a vehicle's own frame: its driver's left, right, front and back.
OWN_RELATIONS = ("driver-left", "driver-right", "driver-front", "driver-behind")
ORDERS = ("leftmost", "rightmost", "nearest", "farthest", "biggest", "smallest")
ATTRIBUTES = ("colour", "lane", "direction", "kind", "group", "hidden", "sight", "distance", "box", "weather")
LANES, DIRECTIONS = ("near", "far", "parked"), ("right", "left", "away", "viewer")
COLOURS: tuple[str, ...] = tuple("grey" if colour == "gray" else colour for colour in COLOUR_WORDS)
#: Where the numbers of each range begin.
NUMBER, ENTITY, PROP, WORD = 1_000, 2_000, 3_000, 4_000
#: All other words (append, do not reorder).
WORDS: tuple[str, ...] = tuple(
    dict.fromkeys((
        *RELATION_NAMES, "between", *OWN_RELATIONS, *ORDERS, *ATTRIBUTES, *COLOURS, *LANES, *DIRECTIONS,
        "partly hidden", "entirely visible", *WEATHERS, *VEHICLE_NOUNS, "person", "tree", "furniture",
        "building", "house", "pedestrian", *OWN_NOUNS,
    ))
)  # fmt: skip
#: What ends a stored program that is shorter than LENGTH.
END = -1


class ProgramError(ValueError):
    """A form or its numbers are no program; the message says what is wrong."""


@cache
def _numbers() -> dict[str, int]:
    """The number of every word."""
    ranges = ((PROP, PROPS), (ENTITY, ENTITIES), (WORD, WORDS))
    return {word: start + place for start, words in ranges for place, word in enumerate(words)}


@cache
def _names() -> dict[int, str]:
    return {number: word for word, number in _numbers().items()}


def encode(form: Form) -> list[int]:
    """A form as whole numbers. Raises ProgramError for a word that no program has, or too long a form."""
    numbers = list(_encoded(form))
    if len(numbers) > LENGTH:
        raise ProgramError(f"{form} has {len(numbers)} parts: a program has at most {LENGTH}")
    return numbers


def _encoded(part: Any) -> Iterator[int]:
    if isinstance(part, Form):
        if part.name not in NODES or len(part.parts) > 7:
            raise ProgramError(f"'{part.name}' is no node of programs: use {', '.join(NODES)}")
        yield 8 * NODES.index(part.name) + len(part.parts)
        for inner in part.parts:
            yield from _encoded(inner)
    elif isinstance(part, int) or part.isdigit():
        yield NUMBER + int(part)
    elif part in _numbers():
        yield _numbers()[part]
    else:
        raise ProgramError(f"'{part}' is no word of programs")


def decode(numbers: Any) -> Form:
    """The form of a stored program: whole numbers, perhaps with END behind them. Raises ProgramError."""
    stream = iter(int(number) for number in numbers)
    try:
        form = _decoded(stream)
    except (StopIteration, LookupError):
        raise ProgramError("these numbers are no program") from None
    if not isinstance(form, Form) or next(stream, END) != END:
        raise ProgramError("these numbers are no program")
    return form


def _decoded(stream: Iterator[int]) -> Any:
    number = next(stream)
    if 0 <= number < 8 * len(NODES):
        return Form(NODES[number // 8], tuple(_decoded(stream) for _ in range(number % 8)))
    if NUMBER <= number < ENTITY:
        return number - NUMBER
    return _names()[number]


def stored(programs: list[list[int]]) -> np.ndarray:
    """(n, LENGTH) int16, as data sets store programs."""
    out = np.full((len(programs), LENGTH), END, dtype=np.int16)
    for row, numbers in zip(out, programs, strict=True):
        row[: len(numbers)] = numbers
    return out


def depth(form: Any) -> int:
    """How many things a form goes through, one after the other: 1 for "the bus", 2 for what is left of it."""
    if not isinstance(form, Form):
        return 0
    return (
        (form.name == "all")
        + (form.name in ("related", "same", "compared"))
        + max(
            (depth(part) for part in form.parts if isinstance(part, Form) and part.name != "all"), default=0
        )
    )


def parse(text: str) -> Form:
    """The form that a text such as "count(all(bus))" spells. Raises ProgramError."""
    try:
        form = fill(text, range(1, ENTITY - NUMBER))
        encode(form)
    except (IndexError, AttributeError, ValueError, TypeError) as error:
        raise ProgramError(f"'{text}' is no program: {error}") from None
    return form
