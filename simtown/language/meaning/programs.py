"""Programs as data sets store them: logical forms (:mod:`simtown.language.meaning.forms`) as a few whole
numbers.

A form is written from the outside in. A node is 8 times its place in NODES plus the number of its parts; its
parts follow. Words and numbers are in ranges of their own, so that new kinds of vehicles move nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import COLOUR_WORDS
from simtown.language.meaning.forms import ORDINALS, Form, fill
from simtown.language.meaning.nouns import NOUNS, OWN_NOUNS, VEHICLE_NOUNS
from simtown.language.meaning.relations import DRIVER_RELATIONS, RELATION_NAMES
from simtown.scenes.weather import WEATHERS

#: Numbers of the longest program.
LENGTH = 40
#: Nodes of forms (append, do not reorder).
NODES = (
    "all", "filter", "most", "nth", "union", "the", "a", "every", "no", "related", "has", "same", "compared",
    "among", "holds", "exist", "count", "query", "weather", "equal", "more", "fewer", "least", "utmost",
    "not", "and", "or", "at", "ever", "always", "first", "earlier", "differs", "passes", "nears",
)  # fmt: skip
#: Nodes about the pictures of a sequence (:mod:`simtown.language.meaning.moments`), and predicates of how one
#: vehicle drives past another in it.
OVER_PICTURES = NODES[NODES.index("at") : NODES.index("passes")]
MEETINGS = ("passes", "nears")
_NODES = {name: 8 * place for place, name in enumerate(NODES)}
#: Relations in a vehicle's own frame: its driver's left, right, front and back.
OWN_RELATIONS: tuple[str, ...] = tuple(relation.name for relation in DRIVER_RELATIONS)
#: Relations of solid things that programs may name: simtown/kernels/processor/programs.cpp measures them, and
#: simtown/language/meaning/solids.py has their margins (append, do not reorder).
SOLIDS: tuple[str, ...] = ("between",)
#: Every relation of a program (append, do not reorder). The first release had four of the viewer's.
PROGRAM_RELATIONS: tuple[str, ...] = tuple(
    dict.fromkeys((*RELATION_NAMES[:4], *OWN_RELATIONS, "between", *RELATION_NAMES, *SOLIDS))
)
#: Words of programs that ask where vehicles head.
HEADING: frozenset[str] = frozenset(("direction", "drive", "change", "seat", *OWN_RELATIONS))
ORDERS = ("leftmost", "rightmost", "nearest", "farthest", "biggest", "smallest")
ATTRIBUTES = ("colour", "lane", "direction", "kind", "group", "hidden", "sight", "distance", "box", "weather")
LANES, DIRECTIONS = ("near", "far", "parked"), ("right", "left", "away", "viewer")
#: What a vehicle does over a sequence, the values of each; "camera" and "moment" (whether all pictures show
#: one) are of the whole sequence, "seat" is the picture that a vehicle's driver sees, and "place" that from
#: the left among those of its kind in the last picture.
OVER_TIME: dict[str, tuple[str, ...]] = {
    "motion": ("right", "left", "still"),
    "drive": ("forwards", "backwards"),
    "pace": ("goes on", "speeds up", "slows down", "starts", "stops"),
    "change": ("nothing", "turned", "painted", "moved", "exchanged", "came", "went"),
    "camera": ("left", "right", "nearer", "farther", "higher", "lower"),
    "seat": tuple(f"picture {number}" for number in range(1, 9)),
    "place": ORDINALS,
    "moment": ("no", "yes"),
}
#: Those of a whole sequence.
OF_SEQUENCE = ("camera", "moment")
#: Orders of vehicles by how far they drive in a sequence.
SPEEDS = ("fastest", "slowest")
COLOURS: tuple[str, ...] = tuple("grey" if colour == "gray" else colour for colour in COLOUR_WORDS)
#: Where the numbers of each range begin.
NUMBER, ENTITY, PROP, WORD = 1_000, 2_000, 3_000, 4_000
#: All other words (append, do not reorder): those of the first release, then kinds of one's own, then what
#: tables have got since.
WORDS: tuple[str, ...] = tuple(
    dict.fromkeys((
        *RELATION_NAMES[:4], "between", *OWN_RELATIONS, *ORDERS, *ATTRIBUTES, *COLOURS, *LANES, *DIRECTIONS,
        "partly hidden", "entirely visible", *WEATHERS[:7], *VEHICLE_NOUNS, "person", "tree", "furniture",
        "building", "house", "pedestrian", "animal", *OWN_NOUNS, *PROGRAM_RELATIONS, *WEATHERS,
        *[*OVER_TIME][:5], *SPEEDS, *OVER_TIME["motion"], *OVER_TIME["drive"], *OVER_TIME,
    ))
)  # fmt: skip
#: What ends a stored program that is shorter than LENGTH.
END = -1
#: The programs that can be evaluated. Words in capitals are types; "..." repeats the part before it.
_GRAMMAR = """
QUESTION = TRUTH | count(SET) | query(weather) | query(VALUE, THE) | query(distance, THE, THE)
TRUTH = exist(SET) | holds(PHRASE, TEST) | weather(WEATHER, ...) | not(TRUTH) | and(TRUTH, TRUTH, ...)
TRUTH = or(TRUTH, TRUTH, ...) | equal(count(SET), AMOUNT) | more(count(SET), AMOUNT)
TRUTH = fewer(count(SET), AMOUNT) | least(count(SET), AMOUNT) | utmost(count(SET), AMOUNT)
AMOUNT = count(SET) | NUMBER
SET = all(NOUN) | filter(SET, TEST) | most(ORDER, SET) | most(NEARNESS, SET, THE) | nth(NUMBER, ORDER, SET)
SET = union(THE, THE, ...)
THE = the(SET)
PHRASE = the(SET) | a(SET) | every(SET) | no(SET) | and(PHRASE, PHRASE, ...) | or(PHRASE, PHRASE, ...)
TEST = related(RELATION, PHRASE) | related(DRIVER, PHRASE) | related(between, THE, THE) | has(colour, COLOUR)
TEST = has(lane, LANE) | has(direction, DIRECTION) | has(sight, SIGHT) | same(SHARED, PHRASE)
TEST = compared(ORDER, PHRASE) | compared(NEARNESS, PHRASE, THE) | among(the(SET)) | among(a(SET))
TEST = not(TEST) | and(TEST, TEST, ...) | or(TEST, TEST, ...)
QUESTION = at(NUMBER, QUESTION) | first(TRUTH) | query(WHOLE) | query(DEED, THE)
TRUTH = at(NUMBER, TRUTH) | ever(TRUTH) | always(TRUTH) | earlier(TRUTH, TRUTH) | differs(QUESTION)
TEST = has(motion, MOTION) | has(drive, DRIVE) | compared(SPEED, PHRASE) | passes(PHRASE) | nears(PHRASE)
SET = most(SPEED, SET)
"""
_CHOICES: dict[str, Sequence[Any]] = {
    "NOUN": (*ENTITIES, *PROPS, *(word for word in WORDS if word in NOUNS)),
    "RELATION": RELATION_NAMES, "DRIVER": OWN_RELATIONS, "ORDER": ORDERS, "NEARNESS": ORDERS[2:4],
    "COLOUR": COLOURS, "LANE": LANES, "DIRECTION": DIRECTIONS, "SIGHT": ("partly hidden", "entirely visible"),
    "SHARED": ATTRIBUTES[:5], "VALUE": (*ATTRIBUTES[:6], "box"), "WEATHER": WEATHERS,
    "NUMBER": range(ENTITY - NUMBER), "WHOLE": OF_SEQUENCE,
    "DEED": [deed for deed in OVER_TIME if deed not in OF_SEQUENCE], "MOTION": OVER_TIME["motion"],
    "DRIVE": OVER_TIME["drive"], "SPEED": SPEEDS,
}  # fmt: skip


class ProgramError(ValueError):
    """A form or its numbers are no program; the message says what is wrong."""


#: The number of every word.
_NUMBERS = {
    word: start + place
    for start, words in ((PROP, PROPS), (ENTITY, ENTITIES), (WORD, WORDS))
    for place, word in enumerate(words)
}
_NAMES = {number: word for word, number in _NUMBERS.items()}


@cache
def grammar() -> dict[str, Sequence[Any]]:
    """By type, what a part of a program may be: forms of types and words, other types, words or numbers."""
    types: dict[str, Sequence[Any]] = dict(_CHOICES)
    for line in _GRAMMAR.strip().splitlines():
        name, _, forms = line.partition(" = ")
        types[name] = (*types.get(name, ()), *(fill(form, ()) for form in forms.split(" | ")))
    return types


def check(form: Any) -> None:
    """Raises ProgramError if a form is not a question of the grammar, and so has no value."""
    if not _fits(form, "QUESTION"):
        raise ProgramError(f"'{form}' is not a program: some part of it is unknown, or of another type")


def _fits(part: Any, pattern: Any) -> bool:
    """Whether a part of a form is a word or of a type, or whether its parts fit those of another form."""
    if isinstance(pattern, Form):
        if not isinstance(part, Form) or part.name != pattern.name:
            return False
        types = list(pattern.parts)
        if types[-1] == "...":
            types[-1:] = types[-2:-1] * (len(part.parts) - len(types) + 1)
        return len(types) == len(part.parts) < 8 and all(map(_fits, part.parts, types))
    if pattern in _CHOICES:
        return part in _CHOICES[pattern]
    return part == pattern or any(_fits(part, choice) for choice in grammar().get(pattern, ()))


def encode(form: Form) -> list[int]:
    """A form of the grammar as whole numbers. Raises ProgramError if it is too long."""
    numbers = _encoded(form)
    if len(numbers) > LENGTH:
        raise ProgramError(f"{form} has {len(numbers)} parts: a program has at most {LENGTH}")
    return numbers


def _encoded(part: Any) -> list[int]:
    if isinstance(part, Form):
        return [_NODES[part.name] + len(part.parts), *chain.from_iterable(map(_encoded, part.parts))]
    return [NUMBER + part if isinstance(part, int) else _NUMBERS[part]]


def decode(numbers: Any) -> Form:
    """The form of a stored program: whole numbers, perhaps with END behind them. Raises ProgramError."""
    stream = iter(int(number) for number in numbers)
    try:
        form = _decoded(stream)
    except (StopIteration, LookupError):
        form = None
    if form is None or next(stream, END) != END:
        raise ProgramError("these numbers are no program")
    check(form)
    return form


def _decoded(stream: Iterator[int]) -> Any:
    number = next(stream)
    if 0 <= number < 8 * len(NODES):
        return Form(NODES[number // 8], tuple([_decoded(stream) for _ in range(number % 8)]))
    if NUMBER <= number < ENTITY:
        return number - NUMBER
    return _NAMES[number]


def numbers_of(words: Collection[str]) -> list[int]:
    """The numbers that stand for some names of forms, with any number of parts, and words in programs."""
    forms = [8 * place + parts for place, name in enumerate(NODES) if name in words for parts in range(8)]
    return forms + [WORD + place for place, word in enumerate(WORDS) if word in words]


def stored(programs: list[list[int]]) -> np.ndarray:
    """(n, LENGTH) int16, as data sets store programs."""
    out = np.full((len(programs), LENGTH), END, dtype=np.int16)
    for row, numbers in zip(out, programs, strict=True):
        row[: len(numbers)] = numbers
    return out


def answer_type(form: Form) -> str:
    """The type of a question's answer, a key of :data:`simtown.language.meaning.answers.ANSWERS`."""
    if form.name == "at":
        return answer_type(form.parts[1])
    named = {"count": "count", "first": "picture"}
    asked = str(form.parts[0]) if form.name == "query" else named.get(form.name, "truth")
    return "metres" if asked == "distance" else asked


def depth(form: Any) -> int:
    """The number of things that a form goes through, one after the other: 1 for "the bus", 2 for what is left
    of it.
    """
    if not isinstance(form, Form):
        return 0
    return (form.name in ("all", "related", "same", "compared")) + max(map(depth, form.parts), default=0)


def parse(text: str) -> Form:
    """The form that a text such as "count(all(bus))" spells. Raises ProgramError."""
    try:
        form = fill(text, (*range(1, ENTITY - NUMBER), 0))
    except (IndexError, ValueError):
        form = None
    if str(form).replace(" ", "") != text.replace(" ", ""):
        raise ProgramError(
            f"'{text}' is not a program: write one such as count(filter(all(bus), has(lane, far)))"
        )
    check(form)
    encode(form)
    return form
