"""The battery of ``simtown check``: pairs of questions of which one known thing differs.

A probe asks two questions with the same words whose pictures differ in one thing, and whose right answers
therefore differ. Whoever gets the pictures as they were sent can solve both; whoever does not get the
difference answers both alike, or guesses. Beside each pair stands a control, a pair that needs the same sight
and not the thing in question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from simtown.assets.entities import ENTITIES
from simtown.core.streams import Stream
from simtown.language.words.instructions import prompt
from simtown.language.words.replies import Gold
from simtown.scenes.camera import CAMERAS
from simtown.town.town import Town
from simtown.vlm.vision_model import Query, Turn

#: Vehicles that are shown, and the length of one as a share of the picture's shorter side.
KINDS, LENGTH = ("sedan", "coupe", "estate car", "muscle car"), 0.3
#: Lengths of vehicles in adaptive probes, pixels.
LENGTHS = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
#: Pixels of a picture from which vehicles are cut.
_SOURCE = 896
#: The outermost part of a picture, as a share of its side.
_EDGE = 0.06
#: Paints that are about equally bright: without colour nothing tells them apart; and greys.
_PAINTS, _GREYS = ("red", "blue", "green"), ("white", "black", "grey")
_WHERE = "Is there a vehicle in the picture?"
_ANY = "Is there a vehicle in any of the pictures?"

#: Two questions with the same words and different right answers.
Pair = tuple[Query, Query]


@cache
def cut_out(kind: str, paint: str) -> Image.Image:
    """A vehicle that heads right, seen from above, cut out of a picture: RGBA, without a border."""
    town = Town()
    town.clear()
    town.camera = replace(CAMERAS["bird"], focal=3.5, y=-13.0)
    town.place(kind, x=0.0, y=-1.85, paint=paint)
    drawn = town.render(_SOURCE)
    mask = drawn.mask(town.vehicles[0].name)
    picture = Image.fromarray(np.dstack([drawn.rgb, np.uint8(255) * mask]), "RGBA")
    return picture.crop(picture.getbbox())


@cache
def street(number: int, width: int, height: int) -> np.ndarray:
    """An empty street, seen from above: (height, width, 3) uint8."""
    town = Town()
    town.clear()
    town.camera = replace(CAMERAS["bird"], x=float(number * 3 % 40))
    return town.render((width, height)).rgb


@dataclass(frozen=True)
class EmptyStreet:
    """An empty street on which a probe puts a vehicle: one for each pair of a probe.

    Attributes:
        number: of the pair.
        side: of a picture, pixels.
        pixels: length of the vehicle in probes that look for the smallest.
    """

    number: int
    side: int
    pixels: int = 24

    @property
    def inside(self) -> tuple[float, float]:
        """A place away from the edges, as shares of the picture's width and height."""
        u, v = (float(Stream(0, "check", name).uniform(np.array([self.number]), 1)[0, 0]) for name in "uv")
        return 0.3 + 0.4 * u, 0.3 + 0.4 * v

    def empty(self, shape: tuple[float, float] = (1, 1), other: int = 0) -> np.ndarray:
        """The street without a vehicle.

        Args:
            shape: width and height in sides.
            other: of another stretch of it.
        """
        width, height = (round(self.side * share) for share in shape)
        return street(self.number + 17 * other + 3 * self.pixels, width, height)

    def shown(
        self,
        u: float = 0.5,
        v: float = 0.5,
        paint: str = "red",
        length: float | None = None,
        ratio: float | None = None,
        **where: Any,
    ) -> np.ndarray:
        """The street with a vehicle.

        Args:
            u: of its middle, as a share of the picture's width.
            v: of its middle, as a share of the picture's height.
            paint: of its body.
            length: of its longer side, pixels; by default LENGTH of the picture's shorter side.
            ratio: of its width to its height; by default its own.
            where: as :meth:`empty` takes it.
        """
        ground = Image.fromarray(self.empty(**where))
        vehicle = cut_out(KINDS[self.number % len(KINDS)], paint)
        length = length or LENGTH * min(ground.size)
        ratio = ratio or vehicle.width / vehicle.height
        wide, high = (max(1, round(length * own)) for own in (min(1, ratio), min(1, 1 / ratio)))
        vehicle = vehicle.resize((wide, high), Image.Resampling.BOX)
        x, y = (
            min(max(round(share * whole - own / 2), 0), whole - own)
            for share, whole, own in zip((u, v), ground.size, (wide, high), strict=True)
        )
        ground.paste(vehicle, (x, y), vehicle)
        return np.asarray(ground)

    def pair(
        self, name: str, question: str, by_answer: Mapping[str, Any], choices: tuple[str, ...] = ()
    ) -> Pair:
        """A question that is asked twice.

        Args:
            name: that begins the keys.
            question: its words.
            by_answer: for each of the two answers the picture, or the pictures.
            choices: all answers that the question may have; by default these two.
        """
        choices = choices or tuple(by_answer)
        kind = "truth" if "yes" in choices else "group"
        text = prompt(question, kind, choices)
        queries = []
        for answer, shown in by_answer.items():
            pictures = shown if isinstance(shown, tuple) else (shown,)
            gold = Gold(kind, answer, choices)
            key = f"{name}:{self.number}:{self.pixels}:{answer}"
            queries.append(Query(key, pictures, text, gold, question))
        return queries[0], queries[1]


def _is_there(stage: EmptyStreet, name: str, place: tuple[float, float] = (0.5, 0.5), **how: Any) -> Pair:
    """A street with a vehicle at a place, and without."""
    shape = how.get("shape", (1, 1))
    return stage.pair(name, _WHERE, {"yes": stage.shown(*place, **how), "no": stage.empty(shape)})


def sight(stage: EmptyStreet) -> Pair:
    """A picture with a vehicle, and one without: the control of most probes."""
    return _is_there(stage, "sight", stage.inside)


def words(stage: EmptyStreet) -> Pair:
    """The same question without a picture, about a street in words."""
    where = f"a street with {stage.number + 2} houses"
    facts = {"yes": f"There is a {ENTITIES[stage.number]} on {where}.", "no": f"There is nothing on {where}."}
    pair = stage.pair("words", "Is there a vehicle on the street?", dict.fromkeys(facts, ()))
    return _changed(pair, lambda query: {"text": f"{facts[query.gold.answer]} {query.text}"})


def _one_of_three(name: str, place: int) -> Callable[[EmptyStreet], Pair]:
    """Three pictures, of which one at a place has a vehicle, or none has."""

    def make(stage: EmptyStreet) -> Pair:
        empty = tuple(stage.empty(other=other) for other in range(3))
        shown = list(empty)
        shown[place] = replace(stage, number=stage.number + 17 * place).shown()
        pair = stage.pair(name, _ANY, {"yes": tuple(shown), "no": empty})
        return pair[0], replace(pair[1], key=f"none-of-three:{stage.number}")

    return make


def order(stage: EmptyStreet) -> Pair:
    """Two pictures, of which the first or the second has a vehicle."""
    shown, empty = stage.shown(), stage.empty(other=1)
    question = "Which picture has a vehicle in it, the first or the second?"
    return stage.pair("order", question, {"first": (shown, empty), "second": (empty, shown)})


def left_right(stage: EmptyStreet) -> Pair:
    """A vehicle at the left, or at the right."""
    sides = {"left": stage.shown(0.2), "right": stage.shown(0.8)}
    return stage.pair("left-right", "In which half of the picture is the vehicle, left or right?", sides)


def up_down(stage: EmptyStreet) -> Pair:
    """A vehicle at the top, or at the bottom."""
    sides = {"upper": stage.shown(v=0.2), "lower": stage.shown(v=0.8)}
    return stage.pair("up-down", "In which half of the picture is the vehicle, upper or lower?", sides)


def quarter_turn(stage: EmptyStreet) -> Pair:
    """A picture, or the same after a quarter turn."""
    shown = stage.shown()
    turned = {"horizontal": shown, "vertical": np.ascontiguousarray(np.rot90(shown))}
    question = "Is the long side of the vehicle horizontal or vertical in the picture?"
    return stage.pair("quarter-turn", question, turned)


def width_height(stage: EmptyStreet) -> Pair:
    """A vehicle at the left or the right: at an end of a wide picture, or at the upper end of a high one."""
    is_wide = stage.number % 2 == 0
    shape, left, right, height = ((1.4, 0.8), 0.12, 0.88, 0.5) if is_wide else ((0.8, 1.4), 0.2, 0.8, 0.1)
    sides = {
        "left": stage.shown(left, height, shape=shape),
        "right": stage.shown(right, height, shape=shape),
    }
    return stage.pair("width-height", "In which half of the picture is the vehicle, left or right?", sides)


def aspect(stage: EmptyStreet) -> Pair:
    """A vehicle that is wider than high in a very wide picture, or higher than wide in a very high one."""
    shown = {
        "wider": stage.shown(ratio=1.6, shape=(1.5, 0.5)),
        "higher": stage.shown(ratio=1 / 1.6, shape=(0.5, 1.5)),
    }
    question = "Is the vehicle in the picture wider than it is high, or higher than it is wide?"
    return stage.pair("aspect", question, shown)


def _painted(stage: EmptyStreet, name: str, paints: tuple[str, ...], words: str, **how: Any) -> Pair:
    """A vehicle in one of some colours, and in the next: each colour is the right answer equally often."""
    first = stage.number % len(paints)
    shown = {paint: stage.shown(paint=paint, **how) for paint in (2 * paints)[first : first + 2]}
    return stage.pair(name, f"Which colour has the {words}, {' or '.join(paints)}?", shown, paints)


def colour(stage: EmptyStreet) -> Pair:
    """A vehicle in two of _PAINTS."""
    return _painted(stage, "colour", _PAINTS, "vehicle")


def small_colour(stage: EmptyStreet) -> Pair:
    """A small vehicle in two of _PAINTS."""
    return _painted(stage, "detail", _PAINTS, "small vehicle", length=stage.pixels)


def grey(stage: EmptyStreet) -> Pair:
    """A vehicle in two of _GREYS."""
    return _painted(stage, "grey", _GREYS, "vehicle")


def small_grey(stage: EmptyStreet) -> Pair:
    """A small vehicle in two of _GREYS."""
    return _painted(stage, "small-grey", _GREYS, "small vehicle", length=stage.pixels)


def _tiny(stage: EmptyStreet, name: str, place: tuple[float, float]) -> Pair:
    """A vehicle of the size of _EDGE, or the empty street of :func:`sight`."""
    return _is_there(stage, name, place, length=_EDGE * stage.side, ratio=1.0)[0], sight(stage)[1]


def edges(stage: EmptyStreet) -> Pair:
    """A vehicle in the outermost part of a picture, at each of its sides in turn; or none."""
    place = [(0.0, 0.4), (1.0, 0.6), (0.6, 0.0), (0.4, 1.0)][stage.number % 4]
    return _tiny(stage, "edges", place)


def inside(stage: EmptyStreet) -> Pair:
    """The same vehicle further inside."""
    return _tiny(stage, "inside", stage.inside)


def small_in_large(stage: EmptyStreet) -> Pair:
    """A small vehicle in a picture of twice the side, or none."""
    return _is_there(stage, "resolution", shape=(2, 2), length=stage.pixels)


def small_in_small(stage: EmptyStreet) -> Pair:
    """A vehicle of the same pixels in a picture of half the side, or none."""
    return _is_there(stage, "small", shape=(0.5, 0.5), length=stage.pixels)


def _sold(stage: EmptyStreet, name: str) -> Pair:
    """A question about a fact that no picture shows."""
    kinds = (ENTITIES[stage.number], ENTITIES[-1 - stage.number])
    question = f"Which vehicle was sold today, the {' or the '.join(kinds)}?"
    return stage.pair(name, question, dict.fromkeys(kinds, ()))


def _fact(query: Query) -> str:
    return f"Today the {query.gold.answer} was sold."


def _changed(pair: Pair, change: Callable[[Query], dict[str, Any]]) -> Pair:
    """A pair with other attributes of both queries."""
    first, second = (replace(query, **change(query)) for query in pair)
    return first, second


def system_text(stage: EmptyStreet) -> Pair:
    """A fact in the system's message."""
    return _changed(_sold(stage, "system-text"), lambda query: {"turns": (Turn("system", _fact(query)),)})


def user_text(stage: EmptyStreet) -> Pair:
    """The same fact in the question."""
    return _changed(_sold(stage, "user-text"), lambda query: {"text": f"{_fact(query)} {query.text}"})


def earlier_turn(stage: EmptyStreet) -> Pair:
    """A picture in an earlier message than the question."""
    pair = _is_there(stage, "earlier-turn", stage.inside)
    seen = Turn("assistant", "I see it.")
    return _changed(
        pair,
        lambda query: {"turns": (Turn("user", "Here is a picture.", query.pictures), seen), "pictures": ()},
    )


def behind_words(stage: EmptyStreet) -> Pair:
    """A picture behind the words of a question."""
    return _changed(_is_there(stage, "behind-words", stage.inside), lambda query: {"is_behind": True})


class Probe(NamedTuple):
    """A probe of the battery.

    Attributes:
        about: what is delivered, in words.
        test: makes a pair that only what is delivered solves.
        lost: what it means if the two questions of a pair are answered alike.
        reversed: what it means if they are answered the other way round.
        control: makes a pair that needs the same sight.
        needs: what the model must be able to take: an attribute of a
            :class:`~simtown.vlm.vision_model.VisionModel`, or "".
        is_adaptive: whether the vehicle is made smaller as long as the control is solved.
    """

    about: str
    test: Callable[[EmptyStreet], Pair]
    lost: str
    reversed: str = ""
    control: Callable[[EmptyStreet], Pair] = sight
    needs: str = ""
    is_adaptive: bool = False


_SEVERAL, _TURNS = "holds_several", "holds_turns"
#: The battery, in the order in which it is asked.
PROBES = {
    "picture": Probe(
        "a picture", sight, "no reply depends on the picture: none arrives, or an empty one", control=words
    ),
    "first-picture": Probe(
        "the first of several pictures", _one_of_three("first-picture", 0), "it is dropped", needs=_SEVERAL
    ),
    "middle-picture": Probe(
        "pictures between", _one_of_three("middle-picture", 1), "they are dropped", needs=_SEVERAL
    ),
    "last-picture": Probe(
        "the last of several pictures", _one_of_three("last-picture", 2), "it is dropped", needs=_SEVERAL
    ),
    "order": Probe(
        "the order of pictures", order, "a set and its reverse get one answer",
        "pictures arrive in reverse order", needs=_SEVERAL,
    ),
    "left-right": Probe("left and right", left_right, "they get one answer", "pictures are mirrored"),
    "up-down": Probe("up and down", up_down, "they get one answer", "pictures are upside down"),
    "quarter-turn": Probe(
        "which side is up", quarter_turn, "a quarter turn changes nothing", "pictures are turned by a quarter"
    ),
    "width-height": Probe(
        "wide and high pictures", width_height,
        "their ends are lost: width and height are exchanged, or the ends are cut off",
        "their ends are exchanged", left_right,
    ),
    "aspect": Probe(
        "the shape of things", aspect, "pictures are stretched to one shape",
        "pictures are stretched to one shape, or width and height are exchanged", quarter_turn,
    ),
    "colour": Probe("colours", colour, "they are lost", "red and blue are exchanged", grey),
    "edges": Probe("the outer parts of a picture", edges, "they are cut off", control=inside),
    "resolution": Probe(
        "the size that was sent", small_in_large, "large pictures are made smaller",
        control=small_in_small, is_adaptive=True,
    ),
    "detail": Probe(
        "fine colours", small_colour, "pictures are compressed with loss, as JPEG does",
        "red and blue are exchanged", control=small_grey, is_adaptive=True,
    ),
    "system-text": Probe("the system's message", system_text, "it is dropped", "", user_text, _TURNS),
    "earlier-turn": Probe("a picture of an earlier message", earlier_turn, "it is dropped", needs=_TURNS),
    "behind-words": Probe("a picture behind the words", behind_words, "it is dropped"),
}  # fmt: skip
