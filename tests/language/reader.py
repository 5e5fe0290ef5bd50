"""A reader of questions: an oracle of data sets that knows neither programs nor how streets were planted.

It parses the English words of a question in every way that it can, and answers them as people would: "the
bus" is any vehicle that a reader calls a bus. Readers decide differently what is too close to say, and take
different ones of several things that fit; what all of them answer alike is the answer.
"""

import random
import re
from functools import cache
from math import cos, sin

import numpy as np

from simtown.assets.catalogue import PROPS
from simtown.assets.entities import ENTITIES
from simtown.assets.palette import COLOUR_WORDS
from simtown.language.colours import NO_COLOUR
from simtown.language.families import CANNOT_TELL
from simtown.language.nouns import NOUNS, called_by, group_of, perhaps_called_by, plural
from simtown.language.sights import also_shown
from simtown.language.views import HIDDEN, HIDDEN_MARGIN, THIRDS
from simtown.scenes.weather import WEATHERS
from tests.language.plain import ALONG, ASIDE, HEADINGS, NEARER, to_border

#: Readers that are asked, and those that are if none of these sees why nobody can tell.
READERS, MANY_READERS = 24, 2000
COLOURS = [colour.replace("gray", "grey") for colour in COLOUR_WORDS]
LANES = {"in the near lane": "near lane", "in the far lane": "far lane", "parked at the kerb": "parked"}
SHARES = ("none of it", "less than a third", "more than a third")


class NothingError(Exception):
    """There is nothing that "the ..." could mean."""


def objection(scene, question, reply):
    """Why readers object to a reply to a question in a scene (:class:`tests.language.plain.Plain`), or ""."""
    answers, always_several, some_find_nothing = set(), True, False
    for number in range(MANY_READERS):
        if number >= READERS and (reply != CANNOT_TELL or len(answers) > 1):
            break
        reader = Reader(scene, number)
        given, several, miscalled = read(reader, question)
        if miscalled:
            return "calls something else so, too"
        answers |= given
        some_find_nothing |= not given
        always_several &= several
        if not reader.doubts:
            break
    if always_several and answers:
        return "takes it for several things"
    if reply == CANNOT_TELL:
        return "" if len(answers) > 1 else f"can tell: {answers}"
    if some_find_nothing:
        return "finds no such thing"
    return "" if answers == {reply} else f"says {sorted(answers)}"


def read(reader, question):
    """The answers of a reader, whether "the ..." means several things, and whether one is only called so.

    Of all ways to read the words only those count in which "the ..." means one thing, if there are such.
    """
    meanings = understand(question)
    assert meanings, f"no reader understands '{question}'"
    clear, unclear, miscalled = set(), set(), True
    for meaning in meanings:
        reader.several = reader.miscalled = False
        try:
            answer = meaning(reader)
        except NothingError:
            continue
        answer = ("no", "yes")[answer] if isinstance(answer, bool) else str(answer)
        (unclear if reader.several else clear).add(answer)
        miscalled &= reader.miscalled
    return clear or unclear, not clear, miscalled and bool(unclear) and not clear


@cache
def is_called(kind, noun):
    """Whether readers call a kind so: by its name, its last word or its group; None if only some do."""
    meant = NOUNS.get(noun, (noun,))
    head = kind.partition(" with ")[0].removesuffix(" bare")
    if kind in (*meant, *called_by(noun)) or any(f" {head}".endswith(f" {name}") for name in (noun, *meant)):
        return True
    beside = {*meant}.isdisjoint(ENTITIES)
    some = {*perhaps_called_by(noun), *(also_shown(meant) if beside else ())}
    return None if kind in some else False


class Reader:
    """One reader of one scene; another number decides otherwise what is too close to say.

    Attributes:
        doubts: whether something was too close to say.
        several: whether "the ..." meant several things.
        miscalled: whether one of these is something else that the reader only calls so.
    """

    def __init__(self, scene, number):
        self.scene, self.random, self.decided = scene, random.Random(number), {}
        self.doubts = self.several = self.miscalled = False
        self.loosely_named = set()

    def decide(self, key, values=(False, True)):
        """One of several values, always the same."""
        self.doubts = True
        if key not in self.decided:
            self.decided[key] = self.random.choice(list(values))
        return self.decided[key]

    def exceeds(self, metres, margin, measure, one, other):
        """Whether a thing is more than another by a measure, of which the reader sees so many metres."""
        if abs(metres) <= margin:
            metres += self.decide((measure, one), (-margin / 2, margin / 2))
            metres -= self.decide((measure, other), (-margin / 2, margin / 2))
        return metres > 0

    def the(self, words, things):
        """The one thing that "the ..." means; any if it means several."""
        if not things:
            raise NothingError(words)
        if len(things) == 1:
            return things[0]
        self.several = True
        self.miscalled |= not self.loosely_named.isdisjoint(things)
        return self.decide(words, things)

    # What things are.

    def named(self, noun):
        """All that this reader calls by a noun."""
        return [thing for thing in range(len(self.scene.things)) if self.is_named(thing, noun)]

    def is_named(self, thing, noun):
        kind, beside = self.scene.kinds[thing], thing - self.scene.vehicles
        sight = self.scene.sights[beside] if beside >= 0 else 1
        called = is_called(kind, noun)
        colour, _, painted = noun.partition(" ")
        if called is not True and painted and colour in COLOURS and beside < 0:
            called = is_called(kind, painted) and self.scene.body(thing) == colour or called
        if called is False or sight < 0:
            return False
        if kind not in NOUNS.get(noun, (noun,)):
            self.loosely_named.add(thing)
        return True if called and sight else self.decide((noun, thing))

    def has_colour(self, thing, colour):
        if thing >= self.scene.vehicles:
            return False
        share = self.scene.shares[thing][COLOURS.index(colour)]
        if self.scene.colour(thing) == colour and not self.scene.may_be_called(thing):
            return True
        doubtful = share > NO_COLOUR or self.scene.body(thing) == colour
        return self.decide((colour, thing)) if doubtful or self.scene.may_be_called(thing, colour) else False

    def colour(self, thing):
        own = self.scene.colour(thing)
        if own is not None and not self.scene.may_be_called(thing):
            return own
        possible = [colour for colour in COLOURS if self.has_colour(thing, colour)]
        return self.decide(("colour", thing), possible or ["of no name"])

    def direction(self, thing):
        scene = self.scene.scene
        turn = np.degrees(scene.vehicles[thing].yaw - scene.camera.yaw)
        off = {name: abs((turn - angle + 180) % 360 - 180) for name, angle in HEADINGS.items()}
        nearest, next_one, *_ = sorted(off, key=off.get)
        return nearest if off[nearest] <= 40 else self.decide(("direction", thing), (nearest, next_one))

    def lane(self, thing):
        lane = self.scene.lane(thing)
        return f"{lane} lane" if lane in ("near", "far") else lane

    def hidden(self, thing):
        share = 1 - float(self.scene.visible[thing])
        more = [
            share > border if abs(share - border) > near else self.decide(("hidden", border, thing))
            for border, near in zip(HIDDEN, HIDDEN_MARGIN, strict=True)
        ]
        return SHARES[sum(more)]

    def third(self, thing):
        x0, _, x1, _ = self.scene.boxes[thing]
        middle = 1.5 * (x0 + x1) / self.scene.width
        border = min((1, 2), key=lambda place: abs(middle - place))
        close = abs(middle - border) < 0.05
        return THIRDS[border - 1 + (self.decide(("third", thing)) if close else middle > border)]

    def weather(self):
        kind = self.scene.scene.weather.kind
        return kind if self.scene.is_clear() else self.decide("weather", WEATHERS)

    # Where things are.

    def stands(self, thing, relation, other):
        """Whether the viewer sees a thing so: "left of", "right of", "in front of" or "behind" another."""
        if thing == other:
            return False
        if relation in ("behind", "in front of"):
            farther = self.scene.place(thing)[1] - self.scene.place(other)[1]
            return self.exceeds(farther, ALONG, "depth", thing, other) == (relation == "behind")
        aside = self.scene.right_of(thing, other)
        return self.exceeds(aside, ASIDE, "side", thing, other) == (relation == "right of")

    def sees(self, driver, where, thing):
        """Whether the driver of a vehicle has a thing "left", "right", "front" or "back"."""
        it, own = self.scene.things[thing], self.scene.things[driver]
        dx, dy, c, s = it.x - own.x, it.y - own.y, cos(own.yaw), sin(own.yaw)
        if where in ("left", "right"):
            left = self.exceeds(dy * c - dx * s, ASIDE, ("driver's left", driver), thing, driver)
            return left == (where == "left")
        front = self.exceeds(dx * c + dy * s, ALONG, ("driver's front", driver), thing, driver)
        return front == (where == "front")

    def is_nearer(self, thing, other, end=None):
        """Whether a thing is nearer to the viewer, or to a third thing, than another."""
        camera = self.scene.scene.camera
        metres = [
            to_border((camera.x, camera.y), self.scene.outlines[t]) if end is None else self.scene.metres(t, end)
            for t in (thing, other)
        ]
        return self.exceeds(metres[1] - metres[0], NEARER, ("nearness", end), other, thing)

    def metres(self, one, other):
        if one == other:
            raise NothingError("a distance of a thing from itself")
        return f"{round(self.scene.metres(one, other))} m"

    def is_between(self, thing, one, other):
        if one == other:
            raise NothingError("what is between a thing and itself")
        sure = self.scene.between(thing, one, other)
        return self.decide(("between", thing, *sorted((one, other)))) if sure is None else sure

    def ordered(self, things, order):
        """Things in an order, such as the leftmost first."""

        def is_before(one, other):
            if order in ("nearest", "farthest"):
                return self.is_nearer(one, other) == (order == "nearest")
            return self.stands(one, f"{order.removesuffix('most')} of", other)

        wins = {one: sum(is_before(one, t) for t in things if t != one) for one in things}
        return sorted(things, key=wins.get, reverse=True)


# What words mean: each function returns functions of a reader, one for every way to read the words.


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
        place = 1 if match[1] == "second" else 2
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


def alike(reader, attribute, one, other):
    return attribute(reader, one(reader)) == attribute(reader, other(reader))


def another(reader, things, thing):
    own = thing(reader)
    return any(reader.colour(t) == reader.colour(own) for t in things(reader) if t != own)


def nearest(reader):
    return reader.ordered(reader.named("vehicle"), "nearest")[0]


def choose(attribute):
    """What is asked for of one thing."""
    return lambda r, thing: attribute(r, thing(r))


KIND = choose(lambda r, thing: r.scene.kinds[thing])
GROUP = choose(lambda r, thing: group_of(r.scene.kinds[thing]))
NTH = {
    f"{word} from the {side}": lambda r, place=place, side=side: r.ordered(r.named("vehicle"), f"{side}most")[place]
    for place, word in enumerate(("second", "third"), 1)
    for side in ("left", "right")
}
DRIVER = {"left": "on the left", "right": "on the right", "front": "ahead", "back": "behind"}
#: Texts of questions, and the answers of a reader by what their words mean.
QUESTIONS = {
    "is there {a}?|can you see {a}?|are there any {set}?|is there any {set}?": lambda r, s: bool(s(r)),
    "is there {a}, and is there {a}?": lambda r, s, t: bool(s(r) and t(r)),
    "is there {a}, or is there {a}?": lambda r, s, t: bool(s(r) or t(r)),
    "is there {a}, and is there no {set}?": lambda r, s, t: bool(s(r) and not t(r)),
    "are there more {set} than {set}?|do the {set} outnumber the {set}?": lambda r, s, t: len(s(r)) > len(t(r)),
    "are there fewer {set} than {set}?": lambda r, s, t: len(s(r)) < len(t(r)),
    "are there as many {set} as {set}?|is the number of {set} the same as the number of {set}?":
        lambda r, s, t: len(s(r)) == len(t(r)),
    "how many {set} are there?|how many {set} can you see?|what is the number of {set}?": lambda r, s: len(s(r)),
    "how many {set} are {is}?|how many {set} are there {is}?": lambda r, s, p: len(those(r, s, p)),
    "is every {set} {is}?|are all {set} {is}?": every,
    "are most {set} {is}?": lambda r, s, p: 2 * len(those(r, s, p)) > len(s(r)),
    "are at least 2 {set} {is}?": lambda r, s, p: len(those(r, s, p)) >= 2,
    "is at most one {set} {is}?": lambda r, s, p: len(those(r, s, p)) <= 1,
    "is there another {set} of the same colour as {the}?|can you see another {set} of the same colour as {the}?":
        another,
    "is {the} {is}?|is it true that {the} is {is}?|{the} is {is}, isn't it?|does {the} stand {is}?":
        lambda r, x, p: p(r, x(r)),
    "is {the} {is} or {is}?": lambda r, x, p, q: p(r, x(r)) or q(r, x(r)),
    "is {the} {is} and {is}?|is {the} both {is} and {is}?": lambda r, x, p, q: p(r, x(r)) and q(r, x(r)),
    "is {the} neither {is} nor {is}?": lambda r, x, p, q: not (p(r, x(r)) or q(r, x(r))),
    "is {the} in the same lane as {the}?|are {the} and {the} in the same lane?":
        lambda r, x, y: alike(r, Reader.lane, x, y),
    "do {the} and {the} face the same way?|are {the} and {the} facing the same direction?":
        lambda r, x, y: alike(r, Reader.direction, x, y),
    "is {the} between {the} and {the}?|does {the} stand between {the} and {the}?":
        lambda r, x, y, z: r.is_between(x(r), y(r), z(r)),
    "is {the} nearer to the viewer than {the}?|is {the} closer to the camera than {the}?":
        lambda r, x, y: r.is_nearer(x(r), y(r)),
    "is {the} farther from the viewer than {the}?|is {the} further away than {the}?":
        lambda r, x, y: r.is_nearer(y(r), x(r)),
    "is {the} nearer to {the} than {the}?": lambda r, x, z, y: r.is_nearer(x(r), y(r), z(r)),
    "is {the} the nearest vehicle?|is {the} the vehicle closest to the viewer?": lambda r, x: x(r) == nearest(r),
    "what kind of vehicle is {the}?|what type of vehicle is {the}?|name the kind of {the}.": KIND,
    "is {the} a car, a bus, a truck, a van, a two-wheeler or another vehicle?|what group of vehicles does {the} "
    "belong to?": GROUP,
    "what colour is {the}?|what is the colour of {the}?|which colour does {the} have?": choose(Reader.colour),
    "which lane is {the} in?|is {the} in the near lane, in the far lane or parked?|in which lane does {the} "
    "stand?": choose(Reader.lane),
    "which way does {the} face?|which direction is {the} facing?|does {the} face left or right?":
        choose(Reader.direction),
    "how much of {the} is hidden?|what share of {the} is hidden by other vehicles?": choose(Reader.hidden),
    "where in the picture is {the}?|in which third of the picture is {the}?": choose(Reader.third),
    "how far is {the} from {the}, in metres?|how many metres are between {the} and {the}?|what is the distance "
    "from {the} to {the} in metres?": lambda r, x, y: r.metres(x(r), y(r)),
    "what is the weather?|what is the weather like?|how is the weather?": Reader.weather,
}
for _words, _nth in NTH.items():
    QUESTIONS[f"what kind of vehicle is the {_words}?|which kind of vehicle stands {_words}?"] = (
        lambda r, nth=_nth: r.scene.kinds[nth(r)]
    )
for _way in ("left", "right"):
    QUESTIONS[f"does {{the}} face {_way}?"] = lambda r, x, way=_way: r.direction(x(r)) == way
for _relation in ("left of", "right of", "in front of", "behind"):
    QUESTIONS[f"is {{a}} {_relation} {{a}}?"] = lambda r, s, t, relation=_relation: any(
        r.stands(one, relation, other) for one in s(r) for other in t(r)
    )
for _side, _seen in DRIVER.items():
    _of = {"front": "ahead of", "back": "at the back of"}.get(_side, f"{_seen} of")
    QUESTIONS[
        f"from the view of {{the}}'s driver, is {{the}} {_seen}?"
    ] = lambda r, x, y, side=_side: r.sees(x(r), side, y(r))
    QUESTIONS[f"does the driver of {{the}} have {{the}} {_seen}?"] = QUESTIONS[
        f"from the view of {{the}}'s driver, is {{the}} {_seen}?"
    ]
    QUESTIONS[f"is {{the}} {_of} {{the}}'s driver?"] = lambda r, y, x, side=_side: r.sees(x(r), side, y(r))


@ways
def understand(question):
    """Functions of a reader that return an answer, one for every way to read a question."""
    question = question[0].lower() + question[1:]
    for texts, answer in QUESTIONS.items():
        for text in texts.split("|"):
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
