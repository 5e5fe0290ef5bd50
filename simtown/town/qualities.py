"""Qualities of one thing: its colour, direction, place, size, distance, and how much of it is seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simtown.assets.entities import with_article
from simtown.assets.palette import ALSO_CALLED, COLOUR_WORDS
from simtown.assets.street.road_surface import NEAR_KERB
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.colours import COLOURS, clear, seen
from simtown.language.meaning.limits import (
    LANE_EDGE,
    NO_COLOUR,
    TOWN_HIDING,
    TOWN_NEARER,
    TOWN_SPEED,
)
from simtown.language.meaning.nouns import group_of
from simtown.language.meaning.programs import DIRECTIONS
from simtown.language.meaning.solids import distance, truth
from simtown.language.meaning.views import classify_headings, classify_hidden
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import depths
from simtown.scenes.paint import own_paint
from simtown.scenes.scene import SceneBatch, Weather
from simtown.town.checks import TownError
from simtown.town.relating import MARGINS, measure
from simtown.town.snapshot import SIZE
from simtown.town.things import Thing, scene_of, the
from simtown.town.truth import Truth, mask_alone

if TYPE_CHECKING:
    from simtown.town.deeds import Deeds

#: Of each quantity: how it is said, and the orders in which more of it and less of it come first.
QUANTITIES = {
    "distance": ("{:.2f} m from ", "farthest", "nearest"),
    "size": ("as big as a cube of {:.2f} m", "biggest", "smallest"),
    "height": ("{:.2f} m tall", "tallest", "shortest"),
    "length": ("{:.2f} m long", "longest", ""),
    "width": ("{:.2f} m wide", "widest", "narrowest"),
    "speed": ("{:.2f} m/s fast", "fastest", "slowest"),
}
#: Of each order: its quantity or relation, and whether more of it (1) or less (-1) comes first.
ORDERS = {order: (quantity, 1) for quantity, (_, order, _) in QUANTITIES.items()}
ORDERS |= {order: (quantity, -1) for quantity, (_, _, order) in QUANTITIES.items()}
ORDERS |= {"leftmost": ("left of", -1), "rightmost": ("right of", 1)}


class TooCloseError(Exception):
    """Raised if the value of a question is too close to say."""


class Judgement(NamedTuple):
    """The outcome of a question: its truth, a reason, a value, and metres of margin (nan if there are none).

    It does not apply if it asks how a thing stands to itself.
    """

    truth: bool | None
    why: str
    value: Any = None
    margin: float = math.nan
    applies: bool = True


class View(NamedTuple):
    """A town as its camera sees it, for questions.

    `seen` returns the names of the visible things, which alone count; it is None if hidden things count, too.
    `unseen` says why a thing is not seen, `truth` returns the truth of the picture, and `seed` draws examples
    of questions. `deeds` returns what vehicles do in a film; it is None if nothing drives in one.
    """

    things: list[Thing]
    camera: Camera
    weather: Weather
    seed: int
    seen: Callable[[], set[str]] | None
    unseen: Callable[[Thing], str]
    truth: Callable[[], Truth]
    deeds: Callable[[], Deeds] | None = None

    def counted(self, things: list[Thing]) -> list[Thing]:
        """The things among some that count."""
        if self.seen is None or not things:
            return things
        seen = self.seen()
        return [t for t in things if t.name in seen]

    def hidden(self, noun: str, things: list[Thing]) -> str:
        """Why none of some things is visible."""
        if len(things) > 1:
            return f"{len(things)} things that '{noun}' may mean are outside the picture or hidden"
        return f"{the(things[0])} is {self.unseen(things[0])}"

    def quantity(self, quantity: str, thing: Thing, to: Thing | None = None) -> float:
        """Metres, or metres a second: how far from the viewer or another thing, how big, tall, long, fast."""
        if quantity == "distance":
            viewer = np.array([[self.camera.x, self.camera.y]])
            gap = distance(thing.solid(), to.solid()) if to else -float(depths(viewer, thing.outline)[0])
            return max(gap, 0.0)
        if quantity in MARGINS:  # how far right the viewer sees it
            right, depth = self.camera.place(thing.x, thing.y)
            return right / max(depth, 1e-9)
        if quantity == "speed":
            with suppress(TownError):  # of a film that cannot be
                if self.deeds:
                    return self.deeds().speed(thing)
            return float(np.hypot(*thing.velocity[:2]))
        along, across, up = thing.size
        sizes = {"height": up, "length": max(along, across), "width": min(along, across)}
        return sizes.get(quantity, float(np.cbrt(along * across * up)))

    def said(self, quantity: str, thing: Thing, to: Thing | None = None) -> str:
        """A quantity in words: "the taxi is 4.20 m long"."""
        words = QUANTITIES[quantity][0].format(self.quantity(quantity, thing, to))
        return f"{the(thing)} is {words}{(the(to) if to else 'the viewer') if quantity == 'distance' else ''}"

    def more(self, order: str, a: Thing, b: Thing, to: Thing | None = None) -> Judgement:
        """Whether a thing comes before another one in an order."""
        if a is b:
            return Judgement(False, f"{the(a)} is the same thing", margin=-math.inf, applies=False)
        quantity, sign = ORDERS[order]
        if quantity in MARGINS:
            margin = measure(quantity, self.camera, a.solid(), b.solid())
            why = f"{the(a)} is {abs(margin):.2f} m {quantity if margin > 0 else 'beside'} {the(b)}"
            return Judgement(truth(margin, MARGINS[quantity]), why, margin=margin)
        if quantity == "speed" and self.deeds:
            return self.deeds().faster(sign, a, b)
        margin = sign * (self.quantity(quantity, a, to) - self.quantity(quantity, b, to))
        holds = truth(margin, TOWN_NEARER)
        close = f"; up to {TOWN_NEARER:g} is too close to say" if holds is None else ""
        why = f"{self.said(quantity, a, to)}, {self.said(quantity, b, to)}{close}"
        return Judgement(holds, why, margin=margin)

    def attribute(self, attribute: str, thing: Thing) -> tuple[Any, str]:
        """The value of an attribute of a thing, and a sentence that says it.

        Raises:
            TownError: the thing has no such attribute.
            TooCloseError: the value is between two.
        """
        name = the(thing)
        if attribute == "colour":
            if thing.group != "vehicle":
                raise TownError(
                    f"the town knows the colours of vehicles alone, not of {name}: ask about a vehicle"
                )
            paint, seen_shares = self._colours(thing)
            body = np.array([paint in paints for paints in COLOUR_WORDS.values()])
            if body.any() and not clear(seen_shares, body).any():
                most = seen_shares.argmax()
                share = f"{seen_shares[most]:.0%} of the paint that is seen is {COLOURS[most]}"
                raise TooCloseError(f"the body of {name} is {paint}, and {share}")
            return paint, f"the body of {name} is {paint}"
        if attribute == "direction":
            if thing.group not in ("vehicle", "person", "building", "animal"):
                return None, f"{name} has no front"
            place = int(classify_headings(np.array(thing.front - self.camera.yaw)))
            if place < 0:
                raise TooCloseError(f"{name} faces between two directions")
            value = DIRECTIONS[place]
            return value, f"{name} faces {'the ' if value == 'viewer' else ''}{value}"
        right, depth = self.camera.place(thing.x, thing.y)
        side = "right" if right > 0 else "left"
        aside = f"{abs(right):.2f} m {side} of the middle"
        if attribute == "side":
            if abs(right) <= MARGINS["left of"]:
                raise TooCloseError(f"{name} is {aside}")
            return side, f"{name} is {aside}"
        if attribute in ("motion", "drive", "pace"):
            return self._deed(attribute, thing)
        lane = ("near" if thing.y < 0 else "far") if abs(thing.y) < LANE_EDGE else None
        if attribute == "lane":
            parked = thing.group == "vehicle" and NEAR_KERB < thing.y <= -LANE_EDGE
            why = "is parked at the kerb" if parked else f"is in {f'the {lane}' if lane else 'no'} lane"
            return "parked" if parked else lane, f"{name} {why}"
        if attribute == "kind":
            return thing.kind, f"{name} is {with_article(thing.kind)}"
        if attribute == "group":
            group = group_of(thing.kind) if thing.group == "vehicle" else thing.group
            return group, f"{name} counts as {group}"
        known = self.truth()[thing.name]
        why = f"{100 * known.visible:.0f} % of {name} is visible"
        why = why if known.pixels else self.hidden("", [thing])
        if attribute == "sight":
            return round(known.visible, 4), why
        if attribute == "hidden":
            return self._hidden(1.0 - known.visible, why), why
        if attribute == "box":
            if known.seen is None:
                raise TownError(f"{why}: ask about a thing that is seen")
            return known.seen, f"x0, y0, x1, y1 in pixels of a picture of {SIZE[0]} x {SIZE[1]}; {why}"
        below = [*map(the, known.on), f"the {known.ground or 'ground'}"][0]
        below = f"in the {lane} lane" if lane and known.ground == "road" else f"on {below}"
        metres = f"{self.quantity('distance', thing):.2f} m from the viewer"
        return f"{below}, {aside if depth > 0 else 'behind the camera'}, {metres}", why

    def _deed(self, deed: str, thing: Thing) -> tuple[Any, str]:
        """What a thing does in a film, or by its velocity."""
        if self.deeds:
            return self.deeds().value(deed, thing)
        speed = self.quantity("speed", thing)
        why = f"{the(thing)} moves at {speed:.1f} m/s"
        if speed <= TOWN_NEARER:
            return ("still" if deed == "motion" else None), why
        if deed != "motion":
            raise TownError(f"{why}: ask how it drives in a film, as in town.drive('{thing}', 3.0)")
        return ("right" if thing.velocity[0] > 0 else "left"), why

    def _colours(self, thing: Thing) -> tuple[str, np.ndarray]:
        """The paint of a vehicle's body, and (c,) the share of each colour in what is seen of its paint."""
        alone = SceneBatch.of([scene_of([thing], self.weather, self.camera)])
        return thing.paint or own_paint(thing.kind), seen(alone)[0, 0]

    def _painted(self, thing: Thing, value: str) -> Judgement:
        """Whether a vehicle has a colour, or a paint."""
        paint, shares = self._colours(thing)
        word = "gray" if value == "grey" else value
        why = f"the body of {the(thing)} is {paint}"
        if value == paint or paint in COLOUR_WORDS.get(word, ()):
            try:
                self.attribute("colour", thing)
            except TooCloseError as unclear:
                return Judgement(None, str(unclear))
            return Judgement(True, why if value == paint else f"{why}, a kind of {value}")
        if word in ALSO_CALLED.get(paint, ()):
            return Judgement(None, f"{why}, which some call {value}")
        share = shares[COLOURS.index(word)] if word in COLOURS else 0.0
        if share > NO_COLOUR:
            return Judgement(None, f"{why}, and {share:.0%} of the paint seen is {value}")
        return Judgement(False, why)

    def _hidden(self, share: float, why: str) -> str:
        """A hidden share in words. Raises TooCloseError near the borders of what they mean."""
        place = int(classify_hidden(np.array(share)))
        if place < 0:
            raise TooCloseError(f"{why}, too close to another answer to say")
        return ANSWERS["hidden"][place]

    def same(self, attribute: str, a: Thing, b: Thing) -> Judgement:
        """Whether an attribute of two things has the same value."""
        (value, why), (other, other_why) = self.attribute(attribute, a), self.attribute(attribute, b)
        holds: bool | None = value == other
        if attribute == "colour" and not holds:  # navy and sky are both blue
            words, others = _colour_words(value), _colour_words(other)
            holds = not words.isdisjoint(others)
            holds = None if holds and len(words | others) > 1 else holds  # what some call alike
        return Judgement(holds, f"{why}, and {other_why}", applies=a is not b)

    def hiding(self, thing: Thing, other: Thing) -> Judgement:
        """Whether a thing hides some of another one, or all of it."""
        picture = self.truth()
        alone = mask_alone(self.camera, other, *SIZE)
        share = float((alone & picture.mask(thing.name)).sum() / max(alone.sum(), 1))
        why = f"{the(thing)} hides {share:.1%} of {the(other)}"
        return Judgement(None if 0 < share < TOWN_HIDING else share > 0, why)

    def has(self, thing: Thing, attribute: str, value: str) -> Judgement:
        """Whether an attribute of a thing has a value."""
        if attribute == "place":  # "in town"
            return Judgement(True, f"{the(thing)} is in this town")
        if attribute == "colour" and thing.group == "vehicle":
            return self._painted(thing, value)
        actual: Any
        try:
            if attribute in QUANTITIES:
                actual, why = self.quantity(attribute, thing), self.said(attribute, thing)
            else:
                actual, why = self.attribute(attribute, thing)
        except TownError as unknown:
            return Judgement(None, str(unknown).partition(":")[0], applies=False)
        except TooCloseError as unclear:
            return Judgement(None, str(unclear))
        holds = actual == value if value != "moving" else actual != "still"
        if attribute == "speed":
            holds = abs(actual - float(value)) <= TOWN_SPEED
        if attribute == "sight":
            tests = {"visible": actual > 0, "partly hidden": 0 < actual < 1, "entirely visible": actual == 1}
            holds = tests.get(value, actual == 0 and self.truth()[thing.name].box is not None)
        return Judgement(holds, why)


def _colour_words(paint: str) -> set[str]:
    """The words by which people call a paint."""
    return {word for word, paints in COLOUR_WORDS.items() if paint in paints} | {*ALSO_CALLED.get(paint, ())}
