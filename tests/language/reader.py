"""A reader of questions: an oracle of data sets that knows neither programs nor how streets were planted.

It reads the English words of a question in every way that it can (:mod:`tests.language.reader_words`), and
answers them as people would: "the bus" is any vehicle that a reader calls a bus. Readers decide differently
what is too close to say, and take different ones of several things that fit; what all of them answer alike
is the answer.
"""

import random
from functools import cache
from math import cos, sin

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.language.meaning.answers import CANNOT_TELL
from simtown.language.meaning.limits import HIDDEN, HIDDEN_MARGIN, NO_COLOUR
from simtown.language.meaning.nouns import NOUNS, called_by, group_of, perhaps_called_by
from simtown.language.meaning.sights import also_shown
from simtown.language.meaning.views import ENDS_ALIKE, THIRDS
from simtown.scenes.weather import WEATHERS
from tests.language.plain import ALONG, ASIDE, HEADINGS, NEARER, to_border
from tests.language.reader_words import COLOURS, NothingError, understand

#: Readers that are asked, and those that are if none of these sees why nobody can tell.
READERS, MANY_READERS = 24, 2000
SHARES = ("none of it", "less than a third", "more than a third")


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
    if kind in meant or any(f" {head}".endswith(f" {name}") for name in (noun, *meant)):
        return True
    if noun.partition(" ")[0] in COLOURS:  # who is called so depends on the paint
        return False
    if kind in called_by(noun):
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
        colour, _, painted = noun.partition(" ")
        called = is_called(kind, noun)
        if called is False and painted and colour in COLOURS and beside < 0:
            doubtful = self.scene.may_be_called(thing, colour)
            if doubtful or self.scene.body(thing) == colour:
                called = None if doubtful and is_called(kind, painted) else is_called(kind, painted)
        if called is False or sight < 0:
            return False
        if kind not in NOUNS.get(noun, (noun,)):
            self.loosely_named.add(thing)
        return True if called and sight else self.decide((noun, thing))

    def has_colour(self, thing, colour):
        if thing >= self.scene.vehicles:
            return False
        if self.scene.kinds[thing].startswith(f"{colour} "):  # who knows the kind knows its colour
            return True
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

    def kind(self, thing):
        return self.scene.kinds[thing]

    def group(self, thing):
        return group_of(self.scene.kinds[thing])

    def direction(self, thing):
        scene = self.scene.scene
        turn = np.degrees(scene.vehicles[thing].yaw - scene.camera.yaw)
        off = {name: abs((turn - angle + 180) % 360 - 180) for name, angle in HEADINGS.items()}
        nearest, next_one, _, farthest = sorted(off, key=off.get)
        if self.kind(thing) in ENDS_ALIKE:  # which end is the front?
            return self.decide(("direction", thing), (nearest, farthest))
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
            to_border((camera.x, camera.y), self.scene.outlines[t])
            if end is None
            else self.scene.metres(t, end)
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
