"""A scene in words: what decides a question, and what does not.

The words name the vehicles ("the taxi", or "taxi 2" if there is another one) and say what is true of them by
the limits of data sets (:mod:`simtown.language.meaning.limits`). What is too close to say is left out.
Whoever takes it as false still has the right answer: the values of programs do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from math import atan2, degrees
from typing import NamedTuple

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.limits import SOLID_MARGINS
from simtown.language.meaning.nouns import STREET_NOUNS, plural
from simtown.language.meaning.programs import COLOURS, DIRECTIONS, LANES, OWN_RELATIONS, Form
from simtown.language.meaning.relations import DRIVER_RELATIONS, LATERAL, RADIAL, own_separations, separations
from simtown.language.meaning.solids import Solid, between, distance
from simtown.language.meaning.views import (
    classify_hidden,
    judge_colours,
    members,
    nouns,
    partly_hidden,
    thirds,
    view_scenes,
)
from simtown.language.words import wording
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import depths, outline, placed
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS

#: How places are said.
STYLES = ("sentences", "coordinates", "plan")
#: What a text says where the right answer is "cannot tell".
UNCLEAR = "What is asked is too close to say."
_HIDDEN = ("None", "Less than a third", "More than a third")


class SceneText(NamedTuple):
    """Sentences about a scene: those that decide a question, and others about its vehicles and weather."""

    decisive: list[str]
    others: list[str]


def describe_scene(
    form: Form,
    kinds: set[str],
    scenes: SceneBatch,
    visible: np.ndarray,
    size: tuple[int, int],
    style: str = STYLES[0],
) -> SceneText:
    """What a text says of a scene that a question is about.

    Args:
        form: the question's program.
        kinds: the kinds of vehicles that it names.
        scenes: of one scene.
        visible: (1, v) visible share of each vehicle.
        size: width and height of the picture, pixels.
        style: how places are said, one of STYLES.
    """
    beside = [noun for noun in STREET_NOUNS if noun in form.words]
    writer = _Writer(scenes, visible, size, bool(beside))
    asked = [slot for slot in writer.slots if writer.kind(slot) in kinds]
    decisive = [writer.all_vehicles(), *map(writer.count_beside, beside)]
    gaps = any(own.name in ("most", "compared") and len(own.parts) > 2 for own in form.forms())
    topics = [
        name
        for name, words in _TOPICS.items()
        if not form.words.isdisjoint(words) or (gaps and name == "gaps")
    ]
    if style != STYLES[0] and not _PLACES[style].isdisjoint(topics):
        topics = [style, *(name for name in topics if name not in _PLACES[style])]
    for name in topics:
        decisive += getattr(writer, name)(asked)
    others = [line for name in _OTHERS for line in getattr(writer, name)(writer.slots)]
    return SceneText(decisive, [line for line in others if line not in decisive])


def listed(names: Sequence[str]) -> str:
    """Names in a row: "the bus, the taxi and the van"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


class _Writer:
    """Sentences about one scene, and its vehicles by slot."""

    def __init__(self, scenes: SceneBatch, visible: np.ndarray, size: tuple[int, int], beside: bool) -> None:
        self.scene, self.visible, self.size = scenes, visible, size
        self.views = view_scenes(scenes, size, beside)
        entity = self.scene.entity[0].tolist()
        self.slots = [slot for slot, kind in enumerate(entity) if kind >= 0]
        self.names: dict[int, str] = {}
        for slot in self.slots:
            same = [other for other in self.slots if entity[other] == entity[slot]]
            kind = ENTITIES[entity[slot]]
            self.names[slot] = f"the {kind}" if len(same) == 1 else f"{kind} {same.index(slot) + 1}"

    def kind(self, slot: int) -> str:
        return ENTITIES[int(self.scene.entity[0, slot])]

    def all_vehicles(self) -> str:
        return f"The vehicles are {listed(sorted(self.names.values()))}."

    def count_beside(self, noun: str) -> str:
        """The number of things beside the road that are surely seen and meant by a noun."""
        number = next(number for number, word in nouns().items() if word == noun)
        count = (members()[number][self.views.kind[0]] & (self.views.sight[0] == 1)).sum()
        return f"The number of {plural(noun)} beside the road is {count}."

    def _ranks(self, axis: int, slots: Sequence[int]) -> list[int]:
        """Slots from left to right, or from front to back."""
        apart = separations(self.scene.pose[:, slots], self.scene.camera)[0, axis]
        return [slots[place] for place in (apart > 0).sum(axis=1).argsort(kind="stable")]

    def _order(self, axis: int, words: str, slots: Sequence[int]) -> Iterator[str]:
        if len(slots) > 1:
            yield f"{words} are {listed([self.names[slot] for slot in self._ranks(axis, slots)])}."

    def lateral(self, slots: Sequence[int]) -> Iterator[str]:
        yield from self._order(LATERAL, "From left to right", slots)

    def radial(self, slots: Sequence[int]) -> Iterator[str]:
        yield from self._order(RADIAL, "From front to back", slots)

    def plan(self, slots: Sequence[int]) -> Iterator[str]:
        """Letters in rows and columns: the order from left to right, and from front to back."""
        letters = dict(zip(sorted(slots, key=self.names.__getitem__), "ABCDEFGH", strict=False))
        if len(slots) < 2:
            return
        across, back = self._ranks(LATERAL, slots), self._ranks(RADIAL, slots)
        rows = [" ".join(letters[s] if s == row else "." for s in across) for row in reversed(back)]
        key = listed([f"{letter} is {self.names[slot]}" for slot, letter in letters.items()])
        yield "\n".join([f"Seen from above, with the viewer below the last row, {key}:", *rows])

    def coordinates(self, slots: Sequence[int]) -> Iterator[str]:
        """Where each vehicle stands: in the picture, ahead of the viewer, and on the ground."""
        eye = Camera(*self.scene.camera[0].tolist())
        for slot in slots:
            x, y, yaw = self.scene.pose[0, slot].tolist()
            bearing = degrees(atan2(*eye.place(x, y)))
            _, ahead = replace(eye, pitch=0.0).place(x, y)
            places = f"bearing {bearing:.2f} degrees, ahead {ahead:.2f} m"
            ground = f"x {x:.2f} m, y {y:.2f} m, heading {degrees(yaw):.1f} degrees"
            yield self._says(slot, f"at {places}, {ground}")

    def _solid(self, slot: int) -> Solid:
        x, y, yaw = self.scene.pose[0, slot].tolist()
        border = placed(outline(self.kind(slot)), x, y, yaw)
        return Solid(border, 0.0, lambda x, y: 0.0, np.array([x, y]), yaw)

    def away(self, slots: Sequence[int]) -> Iterator[str]:
        eye = self.scene.camera[:, :2].astype(np.float64)
        for slot in slots:
            metres = -depths(eye, self._solid(slot).outline)[0]
            yield self._says(slot, f"{metres:.2f} m from the viewer")

    def gaps(self, slots: Sequence[int]) -> Iterator[str]:
        for one, other in combinations(slots, 2):
            metres = max(distance(self._solid(one), self._solid(other)), 0.0)
            yield self._says(one, f"{metres:.2f} m from {self.names[other]}")

    def driver(self, slots: Sequence[int]) -> Iterator[str]:
        apart = own_separations(self.scene.pose)[0]
        for one, other in permutations(slots, 2):
            for relation in DRIVER_RELATIONS:
                if relation.sign * apart[relation.axis, one, other] > relation.margin:
                    yield self._says(one, Form("related", (relation.name, self._form(other))))

    def between(self, slots: Sequence[int]) -> Iterator[str]:
        solids = {slot: self._solid(slot) for slot in slots}
        for one in slots:
            for ends in combinations([slot for slot in slots if slot != one], 2):
                depth = between(solids[one], *(solids[end] for end in ends))
                form = Form("related", ("between", *map(self._form, ends)))
                if abs(depth) > SOLID_MARGINS["between"]:
                    yield self._says(one, form if depth > 0 else Form("not", (form,)))

    def colour(self, slots: Sequence[int]) -> Iterator[str]:
        truths = judge_colours(self.scene, self.visible, self.size)[0]
        for slot in slots:
            shown = [COLOURS[place] for place in np.flatnonzero(truths[slot] == 1)]
            if shown:
                yield self._says(slot, listed(shown))

    def lane(self, slots: Sequence[int]) -> Iterator[str]:
        yield from self._values("lane", LANES, self.views.lane, slots)

    def direction(self, slots: Sequence[int]) -> Iterator[str]:
        yield from self._values("direction", DIRECTIONS, self.views.direction, slots)

    def _values(
        self, attribute: str, words: Sequence[str], values: np.ndarray, slots: Sequence[int]
    ) -> Iterator[str]:
        for slot in slots:
            if values[0, slot] >= 0:
                yield self._says(slot, Form("has", (attribute, words[values[0, slot]])))

    def hidden(self, slots: Sequence[int]) -> Iterator[str]:
        hidden = classify_hidden(1 - self.visible.astype(np.float64))[0]
        some_hidden = partly_hidden(self.visible)[0]
        for slot in slots:
            share, is_hidden = hidden[slot], some_hidden[slot]
            if share >= 0:
                yield f"{_HIDDEN[share]} of {self.names[slot]} is hidden."
            elif is_hidden > 0:
                yield f"Some of {self.names[slot]} is hidden."

    def box(self, slots: Sequence[int]) -> Iterator[str]:
        third = thirds(self.scene, self.size)[0]
        for slot in slots:
            if third[slot] >= 0:
                yield self._says(slot, f"in the {ANSWERS['box'][third[slot]]} of the picture")

    def weather(self, slots: Sequence[int]) -> Iterator[str]:
        if self.views.weather[0] >= 0:
            yield f"The weather is {WEATHERS[self.views.weather[0]]}."

    def _form(self, slot: int) -> Form:
        """A thing as forms name it, whose words are its name."""
        return Form("one", (self.names[slot].removeprefix("the "),))

    def _says(self, slot: int, predicate: Form | str) -> str:
        """That a predicate, or words behind "is", are true of a vehicle."""
        words = predicate if isinstance(predicate, str) else wording.predicate(predicate)
        name = self.names[slot]
        return f"{name[0].upper()}{name[1:]} is {words}."


#: What sentences may be about, a method of the writer, and words of programs that ask for it.
_TOPICS: dict[str, tuple[str, ...]] = {
    "lateral": ("left of", "right of", "leftmost", "rightmost"),
    "radial": ("in front of", "behind"),
    "away": ("nearest", "farthest"),
    "gaps": ("distance",),
    "driver": OWN_RELATIONS,
    "between": ("between",),
    "colour": ("colour",),
    "lane": ("lane",),
    "direction": ("direction",),
    "hidden": ("hidden", "sight"),
    "box": ("box",),
    "weather": ("weather",),
}
#: Topics that a style takes the place of.
_PLACES = {"coordinates": {"lateral", "radial", "driver"}, "plan": {"lateral", "radial"}}
#: Topics of distractors.
_OTHERS = ("colour", "lane", "direction", "weather")
