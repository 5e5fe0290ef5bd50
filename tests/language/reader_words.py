"""The words of questions, as a reader understands them: functions of a reader (:mod:`tests.language.reader`).

Each function of words returns all ways in which these can be read.
"""

import re
from functools import cache
from itertools import product

from simtown.assets.catalogue import PROPS
from simtown.assets.entities import ENTITIES
from simtown.assets.palette import COLOUR_WORDS
from simtown.language.meaning.nouns import NOUNS, plural

COLOURS = [colour.replace("gray", "grey") for colour in COLOUR_WORDS]
LANES = {"in the near lane": "near lane", "in the far lane": "far lane", "parked at the kerb": "parked"}
ORDINALS = ("first", "second", "third")


class NothingError(Exception):
    """There is nothing that "the ..." could mean."""


@cache
def nouns():
    """All nouns by their singulars and plurals."""
    return {name: noun for noun in (*NOUNS, *ENTITIES, *PROPS) for name in (plural(noun), noun)}


def ways(find):
    """A function that remembers all ways to read some words."""
    return cache(lambda words: [*find(words)])


@ways
def sets(words):
    """Lists of things: "buses", "red bus", "nearest bus", "bus that is behind the taxi"."""
    if noun := nouns().get(words):
        yield lambda r: r.named(noun)
    first, *others = words.split(" ")
    for inner in sets(" ".join(others)) if others else ():
        if first in COLOURS:
            yield lambda r, inner=inner: [thing for thing in inner(r) if r.has_colour(thing, first)]
        if first in ("leftmost", "rightmost", "nearest", "farthest"):
            yield lambda r, inner=inner: r.ordered(inner(r), first)[:1]
    if match := re.fullmatch(r"(second|third) (.+) from the (left|right)", words):
        place = ORDINALS.index(match[1])
        for inner in sets(match[2]):
            yield lambda r, inner=inner: r.ordered(inner(r), f"{match[3]}most")[place : place + 1]
    for space in re.finditer(" ", words):
        for inner in sets(words[: space.start()]):
            for test in tests(re.sub("^that (is|are) ", "", words[space.end() :])):
                yield lambda r, inner=inner, test=test: [thing for thing in inner(r) if test(r, thing)]


@ways
def a(words):
    article, _, rest = words.partition(" ")
    return sets(rest) if article in ("a", "an") else ()


@ways
def the(words):
    """Functions that return one thing."""
    if words.startswith("the "):
        for inner in sets(words[4:]):
            yield lambda r, inner=inner: r.the(words, inner(r))


@ways
def tests(words):
    """Functions of a reader and a thing: "in the near lane", "facing left", "behind the bus", "red"."""
    if words in LANES:
        yield lambda r, thing: thing < r.scene.vehicles and r.lane(thing) == LANES[words]
    if match := re.fullmatch("facing (left|right|away|the viewer)", words):
        way = match[1].removeprefix("the ")
        yield lambda r, thing: thing < r.scene.vehicles and r.direction(thing) == way
    if words in COLOURS:
        yield lambda r, thing: r.has_colour(thing, words)
    if match := re.fullmatch("(?:to the )?(left of|right of|in front of|behind) (the .+)", words):
        for other in the(match[2]):
            yield lambda r, thing, other=other: r.stands(thing, match[1], other(r))


#: Kinds of words in questions and how they are read.
WORDS = {"set": sets, "a": a, "the": the, "is": tests}


def those(reader, things, test):
    return [thing for thing in things(reader) if test(reader, thing)]


def every(reader, things, test):
    if not things(reader):
        raise NothingError("every")
    return len(those(reader, things, test)) == len(things(reader))


def another(reader, things, thing):
    own = thing(reader)
    return any(reader.colour(t) == reader.colour(own) for t in things(reader) if t != own)


def value(attribute):
    """What is asked for of one thing: a method of readers."""
    return lambda r, x: getattr(r, attribute)(x(r))


def same(attribute):
    return lambda r, x, y: getattr(r, attribute)(x(r)) == getattr(r, attribute)(y(r))


def nearest(reader):
    return reader.ordered(reader.named("vehicle"), "nearest")[0]


#: Answers of a reader by what their words mean, and the texts of the questions.
QUESTIONS = [
    (
        lambda r, s: bool(s(r)),
        "is there {a}?",
        "can you see {a}?",
        "are there any {set}?",
        "is there any {set}?",
    ),
    (lambda r, s, t: bool(s(r) and t(r)), "is there {a}, and is there {a}?"),
    (lambda r, s, t: bool(s(r) or t(r)), "is there {a}, or is there {a}?"),
    (lambda r, s, t: bool(s(r) and not t(r)), "is there {a}, and is there no {set}?"),
    (
        lambda r, s, t: len(s(r)) > len(t(r)),
        "are there more {set} than {set}?",
        "do the {set} outnumber the {set}?",
    ),
    (lambda r, s, t: len(s(r)) < len(t(r)), "are there fewer {set} than {set}?"),
    (
        lambda r, s, t: len(s(r)) == len(t(r)),
        "are there as many {set} as {set}?",
        "is the number of {set} the same as the number of {set}?",
    ),
    (
        lambda r, s: len(s(r)),
        "how many {set} are there?",
        "how many {set} can you see?",
        "what is the number of {set}?",
    ),
    (lambda r, s, p: len(those(r, s, p)), "how many {set} are {is}?", "how many {set} are there {is}?"),
    (every, "is every {set} {is}?", "are all {set} {is}?"),
    (lambda r, s, p: 2 * len(those(r, s, p)) > len(s(r)), "are most {set} {is}?"),
    (lambda r, s, p: len(those(r, s, p)) >= 2, "are at least 2 {set} {is}?"),
    (lambda r, s, p: len(those(r, s, p)) <= 1, "is at most one {set} {is}?"),
    (
        another,
        "is there another {set} of the same colour as {the}?",
        "can you see another {set} of the same colour as {the}?",
    ),
    (
        lambda r, x, p: p(r, x(r)),
        "is {the} {is}?",
        "is it true that {the} is {is}?",
        "{the} is {is}, isn't it?",
        "does {the} stand {is}?",
    ),
    (lambda r, x, p, q: p(r, x(r)) or q(r, x(r)), "is {the} {is} or {is}?"),
    (
        lambda r, x, p, q: p(r, x(r)) and q(r, x(r)),
        "is {the} {is} and {is}?",
        "is {the} both {is} and {is}?",
    ),
    (lambda r, x, p, q: not (p(r, x(r)) or q(r, x(r))), "is {the} neither {is} nor {is}?"),
    (same("lane"), "is {the} in the same lane as {the}?", "are {the} and {the} in the same lane?"),
    (
        same("direction"),
        "do {the} and {the} face the same way?",
        "are {the} and {the} facing the same direction?",
    ),
    (
        lambda r, x, y, z: r.is_between(x(r), y(r), z(r)),
        "is {the} between {the} and {the}?",
        "does {the} stand between {the} and {the}?",
    ),
    (
        lambda r, x, y: r.is_nearer(x(r), y(r)),
        "is {the} nearer to the viewer than {the}?",
        "is {the} closer to the camera than {the}?",
    ),
    (
        lambda r, x, y: r.is_nearer(y(r), x(r)),
        "is {the} farther from the viewer than {the}?",
        "is {the} further away than {the}?",
    ),
    (lambda r, x, z, y: r.is_nearer(x(r), y(r), z(r)), "is {the} nearer to {the} than {the}?"),
    (
        lambda r, x: x(r) == nearest(r),
        "is {the} the nearest vehicle?",
        "is {the} the vehicle closest to the viewer?",
    ),
    (
        value("kind"),
        "what kind of vehicle is {the}?",
        "what type of vehicle is {the}?",
        "name the kind of {the}.",
    ),
    (
        value("group"),
        "is {the} a car, a bus, a truck, a van, a two-wheeler or another vehicle?",
        "what group of vehicles does {the} belong to?",
    ),
    (
        value("colour"),
        "what colour is {the}?",
        "what is the colour of {the}?",
        "which colour does {the} have?",
    ),
    (
        value("lane"),
        "which lane is {the} in?",
        "is {the} in the near lane, in the far lane or parked?",
        "in which lane does {the} stand?",
    ),
    (
        value("direction"),
        "which way does {the} face?",
        "which direction is {the} facing?",
        "does {the} face left or right?",
    ),
    (value("hidden"), "how much of {the} is hidden?", "what share of {the} is hidden by other vehicles?"),
    (value("third"), "where in the picture is {the}?", "in which third of the picture is {the}?"),
    (
        lambda r, x, y: r.metres(x(r), y(r)),
        "how far is {the} from {the}, in metres?",
        "how many metres are between {the} and {the}?",
        "what is the distance from {the} to {the} in metres?",
    ),
    (
        lambda r: r.weather(),
        "what is the weather?",
        "what is the weather like?",
        "how is the weather?",
    ),
    (lambda r, x: r.direction(x(r)) == "left", "does {the} face left?"),
    (lambda r, x: r.direction(x(r)) == "right", "does {the} face right?"),
]
for _relation in ("left of", "right of", "in front of", "behind"):
    QUESTIONS.append(
        (
            lambda r, s, t, how=_relation: any(r.stands(x, how, y) for x in s(r) for y in t(r)),
            f"is {{a}} {_relation} {{a}}?",
        )
    )
for _place, _side in product((1, 2), ("left", "right")):
    _nth = f"{ORDINALS[_place]} from the {_side}"
    QUESTIONS.append(
        (
            lambda r, at=_place, order=f"{_side}most": r.kind(r.ordered(r.named("vehicle"), order)[at]),
            f"what kind of vehicle is the {_nth}?",
            f"which kind of vehicle stands {_nth}?",
        )
    )
#: Where a driver sees a thing, in the words of questions from the driver's view and from the other's.
DRIVER = {
    "left": ("on the left", "on the left of"),
    "right": ("on the right", "on the right of"),
    "front": ("ahead", "ahead of"),
    "back": ("behind", "at the back of"),
}
for _where, (_seen, _of) in DRIVER.items():
    QUESTIONS += [
        (
            lambda r, driver, thing, where=_where: r.sees(driver(r), where, thing(r)),
            f"from the view of {{the}}'s driver, is {{the}} {_seen}?",
            f"does the driver of {{the}} have {{the}} {_seen}?",
        ),
        (
            lambda r, thing, driver, where=_where: r.sees(driver(r), where, thing(r)),
            f"is {{the}} {_of} {{the}}'s driver?",
        ),
    ]


@ways
def understand(question):
    """Functions of a reader that return an answer, one for every way to read a question."""
    question = question[0].lower() + question[1:]
    for answer, *texts in QUESTIONS:
        for text in texts:
            for parts in fill(re.split(r"\{(\w+)\}", text), question):
                yield lambda r, answer=answer, parts=parts: answer(r, *parts)


def fill(text, words):
    """What stands for the gaps of a text, in every way in which it makes up the words."""
    literal, *rest = text
    if not words.startswith(literal):
        return
    words = words[len(literal) :]
    if not rest:
        if not words:
            yield ()
        return
    kind, *rest = rest
    for end in range(1, len(words) + 1):
        if words[end:].startswith(rest[0]) and (rest[1:] or end + len(rest[0]) == len(words)):
            for meaning in WORDS[kind](words[:end]):
                for others in fill(rest, words[end:]):
                    yield meaning, *others
