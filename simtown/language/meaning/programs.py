"""The logical forms of questions, which print as programs: ``count(filter(all(bus), has(colour, red)))``.

Forms about things are of three kinds, which nest: sets, and phrases, which are sets with a quantifier ("the",
"a", "every", "no"); predicates of one thing; and questions. ``_GRAMMAR`` lists them all. ``not``, ``and`` and
``or`` join predicates or questions; ``and`` and ``or`` join phrases, too.

Data sets store a form as a few whole numbers, from the outside in. A node is 8 times its place in NODES plus
the number of its parts; its parts follow. Words and numbers are in ranges of their own, so that new kinds of
vehicles move nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import COLOUR_WORDS
from simtown.language.meaning.nouns import NOUNS, ORDINALS, OWN_NOUNS, VEHICLE_NOUNS
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


@dataclass(frozen=True, repr=False)
class Form:
    """A logical form: its name and its parts, which are forms, words or numbers."""

    name: str
    parts: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parts))})"

    __repr__ = __str__

    def map(self, change: Callable[[Any], Any]) -> Form:
        """The same form of other words and numbers."""
        parts = [part.map(change) if isinstance(part, Form) else change(part) for part in self.parts]
        return Form(self.name, tuple(parts))

    def exchange(self, old: Form, new: Form) -> Form:
        """The same form with another form in the place of one."""
        if self == old:
            return new
        parts = [part.exchange(old, new) if isinstance(part, Form) else part for part in self.parts]
        return Form(self.name, tuple(parts))

    def has(self, name: str, *first: Any) -> bool:
        """Whether this form or one in it has a name, and begins with some parts."""
        return any(form.name == name and form.parts[: len(first)] == first for form in self.forms())

    @cached_property
    def words(self) -> frozenset[str]:
        """The names of this form and of all forms in it, and their words and numbers."""
        parts = (part for form in self.forms() for part in (form.name, *form.parts))
        return frozenset(str(part) for part in parts if not isinstance(part, Form))

    def nouns(self) -> list[str]:
        """The nouns of all sets in this form, from the outside in."""
        return [form.parts[0] for form in self.forms() if form.name == "all"]

    def forms(self) -> Iterator[Form]:
        """This form and all forms in it, from the outside in."""
        waiting = [self]
        while waiting:
            form = waiting.pop()
            yield form
            waiting += [part for part in reversed(form.parts) if isinstance(part, Form)]


def fill(template: str, values: Sequence[Any]) -> Any:
    """The form that a text such as "count(filter(1, 2))" spells, its numbers replaced by values from 1 on."""
    form = parsed(template)
    if isinstance(form, Form):
        return form.map(lambda part: values[part - 1] if isinstance(part, int) else part)
    return values[form - 1] if isinstance(form, int) else form


@lru_cache(maxsize=4096)
def parsed(template: str) -> Any:
    """The form that a text spells; its numbers stand for values."""
    stack: list[list[Any]] = [[]]
    for token, name, bracket in re.findall(r"\s*(([^(),]*)(\()?|\)|,)", template):
        if bracket:
            stack.append([name])
        elif token == ")":
            head, *parts = stack.pop()
            stack[-1].append(Form(head, tuple(parts)))
        elif name:
            stack[-1].append(int(name) if name.isdigit() else name)
    return stack[0][0]


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
    numbers: list[int] = []
    parts: list[Any] = [form]
    while parts:
        part = parts.pop(0)
        if isinstance(part, Form):
            numbers.append(_NODES[part.name] + len(part.parts))
            parts = [*part.parts, *parts]
        else:
            numbers.append(NUMBER + part if isinstance(part, int) else _NUMBERS[part])
    if len(numbers) > LENGTH:
        raise ProgramError(f"{form} has {len(numbers)} parts: a program has at most {LENGTH}")
    return numbers


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
