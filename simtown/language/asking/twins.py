"""Twins: every question is asked of two pictures that differ in one thing, so that its answer is another.

The words and two answers are drawn first. A street is searched in which the first is true, then an edit of it
in which the second is: one vehicle turned, painted, moved, exchanged for another kind, removed or added, or
the weather. The least edits are tried first. Which picture comes first is random, so no wording gives
the answer away. Where the right answer is "cannot tell", it is so in one of the two pictures.

If a question of yes or no is asked whose answer flips too, the same two pictures are a group of four
examples: two pictures, two questions. Otherwise a group is a pair. With several a picture, all have so many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from simtown.assets.catalogue import PROPS
from simtown.assets.entities import ENTITIES
from simtown.core.streams import Draws
from simtown.language.asking.hold_out import streets_obey
from simtown.language.asking.question import AskingRecipe, Question, Questions, draw_questions
from simtown.language.asking.question_world import AskedWorld, means
from simtown.language.asking.search import STREETS, WORDS, Streets, search
from simtown.language.asking.several import (
    Askable,
    Given,
    Placed,
    WordsToDraw,
    ask_another_question,
    ask_several,
    join,
    seen_world,
)
from simtown.language.asking.templates import NARROWED, Family, Template
from simtown.language.meaning.evaluate import SEEN_WORDS, evaluate
from simtown.language.meaning.limits import LANE_EDGE, LEAST_INTENSITY, TURNED_PIXELS, TWIN_THING_PIXELS
from simtown.language.meaning.nouns import kinds_meant
from simtown.language.meaning.programs import COLOURS, HEADING, fill
from simtown.language.meaning.sights import street_pixels
from simtown.language.meaning.views import groups, own_colours, paint_colours
from simtown.scenes.camera import NOMINAL
from simtown.scenes.crowd import place_crowds, thin_fog
from simtown.scenes.paint import may_change
from simtown.scenes.placement import LANES, half_sizes
from simtown.scenes.scene import SceneBatch
from simtown.scenes.street import PAVEMENT_SLOTS, ROADSIDE_SLOTS, pavement_kinds

#: Parts of programs that ask where vehicles stand.
_STANDING = frozenset({"related", "lane", "most", "nth", "compared", "distance", "box", "hidden", "sight"})
#: Parts of programs that ask which vehicles there are.
_PRESENT = frozenset({"exist", "count", "a", "every", "no"})


class EditKind(NamedTuple):
    """A kind of edit.

    Attributes:
        name: its name.
        undo: the name of the edit that undoes it.
        flips: parts of programs whose answers of yes or no it may flip.
        slots: slots of templates that may be filled with such parts.
        narrowed: what narrows sets whose members may be others then.
    """

    name: str
    undo: str
    flips: frozenset[str] = frozenset()
    slots: frozenset[str] = frozenset()
    narrowed: str | None = None


#: What may be edited, from the least edit to the greatest (append, do not reorder).
_KINDS = (
    EditKind("turned", "turned", HEADING, frozenset({"driver", "set", "clause", "turn"}), "direction"),
    EditKind("painted", "painted", frozenset({"colour", *COLOURS}), frozenset({"set"}), "colour"),
    EditKind("moved", "moved", _STANDING, frozenset({"set", "clause", "turn"}), "lane"),
    EditKind("exchanged", "exchanged", _PRESENT),
    EditKind("removed", "added", _PRESENT),
    EditKind("added", "removed", _PRESENT),
    EditKind("weather", "weather"),
    EditKind("thing", "thing"),
)
EDITS = tuple(kind.name for kind in _KINDS)
TURNED, PAINTED, MOVED, EXCHANGED, REMOVED, ADDED, WEATHER, THING = range(len(EDITS))
#: Fields of scenes that edits change.
EDITED = ("entity", "pose", "paint", "weather", "prop")
#: The edit of scenes that do not differ in one thing, and the slot if the weather was edited.
NONE = 255
#: By edit, the one that undoes it.
_UNDO = np.array([EDITS.index(kind.undo) for kind in _KINDS], dtype=np.uint8)
#: Examples of a group of two pictures and two questions.
GROUP = 4
#: Edits of a street that are judged at once, the first ones first.
_EDITS_AT_ONCE = (8, 40)
#: Places to which a vehicle is moved, one after the other.
_MOVES = 6
#: Uniform numbers for the edits of a street.
_EDIT_DRAWS = 256
#: Kinds of vehicles on either side, by length, for which one may be exchanged if its kind is asked for.
_NEIGHBOURS = 4
#: How much wider a parked vehicle may be than the one for which it is exchanged, half of it, metres.
_WIDER = 0.1


class Twins(NamedTuple):
    """Which examples belong together: (n,) each.

    Attributes:
        group: int64; examples of one group have the same two pictures, and each question of one picture is
            asked of the other, too (:mod:`simtown.datasets.proving.twin_groups`).
        edit: uint8 place in EDITS of what makes the second picture of the first.
        edited: uint8 slot of the vehicle that is edited, of the thing beside the road if the edit is "thing"
            (one is put there, or taken away), or NONE.
    """

    group: np.ndarray
    edit: np.ndarray
    edited: np.ndarray


class _Edit(NamedTuple):
    """An edit: the slot, and what kind, paint and weather it leaves there; the pose follows."""

    edit: Any
    slot: Any
    kind: Any
    paint: Any
    weather: Any


def ask_twins(recipe: AskingRecipe, index: np.ndarray) -> Questions:
    """The examples with the numbers `index` ((n,) int64). Raises ImpossibleError."""
    if recipe.questions_per_picture > 1:
        return ask_several(recipe, index, _begin)
    groups = np.unique(index // GROUP)
    given, n = _begin(recipe, 2 * groups), len(groups)
    # further questions are never unclear: beside first ones that may be, their words would hint
    found = ask_another_question(recipe, given) if not recipe.cannot_tell else np.zeros(n, dtype=bool)
    parts, alone = [part for both in given.asked for part in both], np.flatnonzero(~found)
    places = np.arange(GROUP * n).reshape(GROUP, n).T
    if len(alone):
        places[alone, 2:] = len(parts) * n + np.arange(2 * len(alone)).reshape(2, -1).T
        parts += _begin(recipe, 2 * groups[alone] + 1).asked[0]
    return join(parts, places[np.searchsorted(groups, index // GROUP), index % GROUP])


def answer_pairs(recipe: AskingRecipe, pairs: np.ndarray, first_attempt: int) -> list[Question]:
    """The first question of each pair of examples, with both answers: first the one that an edit undoes with
    greater ease, such as yes.

    Two counts differ by one, and two kinds of vehicles are neighbours in length, so that one fits where the
    other stands; the shortest and the longest are neighbours too, so every kind is as often an answer.
    """
    u = recipe.stream("twin answer").uniform(pairs, 2)
    rows = list(draw_questions(recipe, 2 * pairs, first_attempt))
    for row, twin, (low, far) in zip(rows, draw_questions(recipe, 2 * pairs + 1), u.tolist(), strict=True):
        answers, row.twin_answer = row.answers, twin.answer
        limits = row.limits if row.limits and not row.limits.alone else None
        if row.family.answer == "count":
            at = int(low * (len(answers) - 1))
            row.twin_answer, row.answer = answers[at : at + 2]
        elif row.family.answer == "kind":
            if limits:
                answers = tuple(kind for kind in answers if not limits.held.tables["kind"][row.answer, kind])
            by_length = sorted(answers, key=lambda kind: half_sizes()[kind, 0])
            step = 1 + int(far * min(_NEIGHBOURS, len(answers) - 1))
            row.twin_answer = by_length[(by_length.index(row.answer) + step) % len(answers)]
        elif not row.wants_cannot_tell:
            row.twin_answer, row.answer = sorted((row.answer, row.twin_answer))
        if limits and row.family.answer in ("kind", "group"):  # a weather for both
            kinds = np.arange(len(ENTITIES)) if row.family.answer == "kind" else groups()[:-1]
            free = (recipe.world.chances > 0)[:, None] & ~limits.held.tables["weather"][:-1]
            both = [free[kinds == answer].any(axis=0) for answer in (row.answer, row.twin_answer)]
            fits = [weather for weather in recipe.world.weathers if both[0][weather] and both[1][weather]]
            if fits and limits.weather not in fits:
                row.limits = replace(limits, weather=fits[int(far * len(fits))])
    return rows


def _begin(recipe: AskingRecipe, pairs: np.ndarray, again: int = 0) -> Given:
    """The first questions of the pairs `pairs`, and what is asked further of their pictures."""
    questions = answer_pairs(recipe, pairs, again * WORDS * STREETS)
    edits = Edits(recipe, len(questions))
    first, other = search(recipe, questions, edits), edits.batch
    scene = first.scene
    # fog is as thin as from this camera, though only one of the two pictures may have it
    intensity = thin_fog(other.scene.weather, scene.intensity, scene.camera)
    weak = edits.edit == WEATHER  # but what thins fog must not thin snow until nobody could tell it
    scene.intensity[:] = np.where(weak, np.maximum(intensity, LEAST_INTENSITY), intensity)
    changed = {name: getattr(other.scene, name) for name in EDITED}
    changed["prop"] = np.where((edits.edit == THING)[:, None], other.scene.prop, scene.prop)
    other = replace(
        first, scene=replace(scene, **changed), visible=other.visible, values=other.values, tried=other.tried,
        answer=np.array([row.twin_answer for row in questions]),
    )  # fmt: skip
    # whichever street is easier to find, either is as often the first picture
    swapped = recipe.stream("first picture").uniform(pairs, 1)[:, 0] < 0.5
    swaps = np.arange(len(questions)) + np.where([swapped, ~swapped], len(questions), 0)
    edit = np.where(swapped, _UNDO[edits.edit], edits.edit)
    twins = Twins(pairs * recipe.questions_per_picture, edit, edits.edited)
    pictures = [replace(join([first, other], order), twins=twins) for order in swaps]
    truth = np.array([row.family.answer == "truth" for row in questions]) & (pictures[0].answer >= 0)
    wanted = np.where(truth, 1 - pictures[0].answer, -1)
    limits = [question.limits for question in questions]
    return Given([pictures], edit < WEATHER, pairs, limits, TwinPictures(recipe, pictures, wanted))


class TwinPictures:
    """The other picture of each pair, in which further questions have other answers."""

    def __init__(self, recipe: AskingRecipe, pictures: list[Questions], wanted: np.ndarray) -> None:
        assert pictures[0].twins is not None
        self._recipe, self._picture, self._wanted = recipe, pictures[1], wanted
        self._edit, self._edited = pictures[0].twins.edit, pictures[0].twins.edited
        self._entity = np.stack([part.scene.entity for part in pictures], axis=1)
        self._paint = np.stack([part.scene.paint for part in pictures], axis=1)
        self._askable = [
            [_askable(recipe.families, edit, alone) for alone in (False, True)] for edit in range(WEATHER)
        ]
        self._known: dict[tuple[int, int], WordsToDraw] = {}

    def words(self, row: int, number: int, attempt: int) -> WordsToDraw:
        """Templates of questions whose answers the edit may flip, about what the pictures show."""
        answer = int(self._wanted[row]) if number == 1 else -1
        where = answer if answer >= 0 else attempt % 2
        if (row, where) not in self._known:
            self._known[row, where] = self._words_about(row, where)
        return self._known[row, where]._replace(answer=answer)

    def _words_about(self, row: int, where: int) -> WordsToDraw:
        """Words about the vehicle that is edited, first of all about its kind in one of the two pictures."""
        edit, slot, entity = int(self._edit[row]), int(self._edited[row]), self._entity[row]
        kinds = entity[[1 - where, where], slot].tolist()
        alone = bool(((entity == max(kinds)).sum(axis=1) < 2).all())
        world = seen_world(self._recipe.world, entity, self._paint[row], kinds)
        narrows = _KINDS[edit].narrowed
        narrowed = NARROWED.index(narrows) if narrows else None
        return WordsToDraw(self._askable[edit][alone], world, narrowed, -1)

    def scenes(self, address: np.ndarray, rows: np.ndarray, attempts: np.ndarray) -> Placed:
        """The other pictures, whatever the attempt."""
        return Placed(self._picture.scene, self._picture.visible, rows, np.ones(len(rows), dtype=bool))


class _EditedStreets(NamedTuple):
    """e streets after an edit: (e,) the question's row, what is edited, and the address of its placing."""

    row: np.ndarray
    edit: np.ndarray
    slot: np.ndarray
    address: np.ndarray
    scene: SceneBatch
    visible: np.ndarray


class Edits:
    """The twins of n streets, and what is edited: (n,) as in Twins."""

    def __init__(self, recipe: AskingRecipe, n: int) -> None:
        self.recipe, self.batch = recipe, Questions.empty(n, recipe.world.most)
        self.edit, self.edited = np.zeros((2, n), dtype=np.uint8)

    def keep(self, streets: Streets, questions: Sequence[Question]) -> np.ndarray:
        """Search edits of streets and keep the first of each that has the other answer.

        Args:
            streets: k streets in which the first answer is true.
            questions: k questions.

        Returns:
            (k,) bool, for which an edit was found.
        """
        found = np.zeros(len(questions), dtype=bool)
        numbers = self.recipe.stream("edit").uniform(streets.example, _EDIT_DRAWS, streets.attempt).tolist()
        plans = [
            _edits(self.recipe.world, question, streets.scene, i, Draws(own))
            for i, (question, own) in enumerate(zip(questions, numbers, strict=True))
        ]
        for block, size in enumerate(_EDITS_AT_ONCE):
            waiting = np.flatnonzero(~found).tolist()
            planned = [(i, *edit) for i in waiting for edit in islice(plans[i], size)]
            if not planned:
                break
            edited = self._edit_streets(streets, planned, block)
            self._keep_first_that_fit(edited, streets, questions, found)
        return found

    def _edit_streets(
        self, streets: Streets, planned: Sequence[tuple[int, ...]], block: int
    ) -> _EditedStreets:
        """The streets in which planned edits, each with its row, find a place."""
        row, edit, slot, kind, paint, weather = np.array(planned).T
        every = np.arange(len(row))
        address = (streets.attempt[row] * len(_EDITS_AT_ONCE) + block) * max(_EDITS_AT_ONCE)
        address += every - np.searchsorted(row, row)
        scene, visible = streets.scene[row], streets.visible[row]
        scene.weather[:] = weather
        thing, moved, removed = edit == THING, edit == MOVED, edit == REMOVED
        scene.prop[every[thing], slot[thing]] = kind[thing]
        vehicle = np.where(thing, 0, slot)
        scene.entity[every, vehicle] = np.where(thing, scene.entity[:, 0], kind)
        scene.paint[every, vehicle] = np.where(thing, scene.paint[:, 0], paint)
        yaw = scene.pose[every, vehicle, 2]
        right, left = (np.float32(heading) for _, heading in LANES)
        scene.pose[every, vehicle, 2] = np.where(edit == TURNED, np.where(yaw == 0, left, right), yaw)
        scene.pose[every[moved], vehicle[moved]] = np.nan
        scene.pose[every[removed], vehicle[removed]] = 0
        placed, which = np.ones(len(row), dtype=bool), np.flatnonzero(moved)
        scene.pose[which], visible[which], placed[which] = self._place(
            scene, which, streets.example[row], address, rough=True
        )
        scene.pose[which, vehicle[which], 2] = yaw[which]
        tried, count = self.batch.tried, len(streets)
        tried[streets.question, 0] += np.bincount(row, minlength=count)
        tried[streets.question, 1] += np.bincount(row[placed], minlength=count)
        row, edit, slot, address = (column[placed] for column in (row, edit, slot, address))
        return _EditedStreets(row, edit, slot, address, scene[placed], visible[placed])

    def _keep_first_that_fit(
        self, edited: _EditedStreets, streets: Streets, questions: Sequence[Question], found: np.ndarray
    ) -> None:
        """Keep the first edited street of each question that has the other answer, and enter it in `found`.

        The cheapest checks come first; what fails a later one gives way to the question's next edit.
        """
        row, edit, slot, address, scene, visible = edited
        own = [questions[i] for i in row.tolist()]
        programs, answer = streets.program[row], np.array([question.twin_answer for question in own])
        depends_on_masks = np.asarray(np.isin(programs, SEEN_WORDS).any(axis=1))
        values = evaluate(scene, programs, visible, self.recipe.size)
        fits = values.clear() & (values.answer == answer)
        if self.recipe.hold_out:
            fits &= streets_obey([question.limits for question in own], scene)
        while fits.any():
            first = np.flatnonzero(fits)
            first = first[np.unique(row[first], return_index=True)[1]]  # the first edit of each question
            moved = first[~np.isin(edit[first], (PAINTED, WEATHER, THING))]
            _, visible[moved], fits[moved] = self._place(scene, moved, streets.example[row], address)
            again = moved[fits[moved] & depends_on_masks[moved]]
            if len(again):  # what other vehicles hide decides too
                anew = evaluate(scene[again], programs[again], visible[again], self.recipe.size)
                fits[again] = anew.clear() & (anew.answer == answer[again])
                values.keep(again, anew)
            first = first[fits[first]]
            fits[first] = self._change_is_seen(
                streets.scene[row[first]], scene[first], edit[first], slot[first]
            )
            first = first[fits[first]]
            into = streets.question[row[first]]
            self.batch.keep(into, scene[first], visible[first], values.at(first), EDITED)
            self.edit[into] = edit[first]
            self.edited[into] = np.where(edit[first] == WEATHER, NONE, slot[first])
            found[row[first]] = True
            fits &= ~found[row]

    def _change_is_seen(
        self, before: SceneBatch, after: SceneBatch, edit: np.ndarray, slot: np.ndarray
    ) -> np.ndarray:
        """Whether so many pixels of a vehicle that turns, or of a thing, change that both pictures differ."""
        result, (width, height) = np.ones(len(edit), dtype=bool), self.recipe.size
        turned, thing = np.flatnonzero(edit == TURNED), np.flatnonzero(edit == THING)
        if len(turned):
            assert self.recipe.count_changes is not None
            changed = self.recipe.count_changes(before[turned], after[turned], self.recipe.size)
            result[turned] = changed >= TURNED_PIXELS
        if len(thing):
            pixels = [
                street_pixels(scenes[thing], self.recipe.size)[0][np.arange(len(thing)), slot[thing]]
                for scenes in (before, after)
            ]
            nominal = NOMINAL[0] * NOMINAL[1] / (width * height)
            result[thing] = np.max(pixels, axis=0) >= TWIN_THING_PIXELS * nominal
        return result

    def _place(
        self,
        scenes: SceneBatch,
        which: np.ndarray,
        index: np.ndarray,
        address: np.ndarray,
        rough: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Poses of some streets, of which one may be missing, visible shares, and whether they fit."""
        entity, camera, pose = scenes.entity[which], scenes.camera[which], scenes.pose[which]
        stream = self.recipe.stream("edit place")
        return place_crowds(stream, index[which], address[which], entity, camera, kept=pose, rough=rough)


def _edits(world: AskedWorld, row: Question, scenes: SceneBatch, i: int, draws: Draws) -> Iterator[_Edit]:
    """Edits of scene i that may give a question its other answer, the least ones first; none adds a vehicle,
    since the other picture may come first.
    """
    entity, paint, pose = scenes.entity[i].tolist(), scenes.paint[i].tolist(), scenes.pose[i]
    sky, parts, free = int(scenes.weather[i]), row.form.words, may_change()[:-1]
    if "weather" in parts:
        yield _Edit(WEATHER, 0, entity[0], paint[0], row.twin_answer)
        return
    if row.filled is not None and row.filled.things:
        yield from _thing_edits(row.filled.things[0], scenes.prop[i].tolist(), sky, draws)
        return
    named = np.where(_named(parts), world.chances, 0.0)
    present = [slot for slot, kind in enumerate(entity) if kind >= 0]
    drawn = {slot: (not named[entity[slot]], draws.below(1 << 30)) for slot in present}
    order = sorted(present, key=drawn.__getitem__)
    asked = [slot for slot in order if named[entity[slot]]]
    if not asked or parts & {"vehicle", "hidden"}:
        asked = order  # where any other vehicle stands matters

    if parts & HEADING:
        yield from (_Edit(TURNED, slot, entity[slot], paint[slot], sky) for slot in asked)
    if "colour" in parts or parts & {*COLOURS}:
        for slot in order if world.painted else ():
            new = _paint(world, row, parts, draws)
            if free[entity[slot]] and new != paint[slot]:
                yield _Edit(PAINTED, slot, entity[slot], new, sky)
    if parts & _STANDING:
        for _ in range(_MOVES):
            yield from (_Edit(MOVED, slot, entity[slot], paint[slot], sky) for slot in asked)
    if row.family.answer in ("kind", "group", "colour") or parts & _PRESENT:
        for _ in range(1 if row.family.answer == "kind" else 2):
            for slot in order:
                chances = _exchanged(world, row, named, entity[slot])
                if world.painted:
                    chances = np.where(free[entity[slot]] == free, chances, 0.0)
                if pose[slot, 1] < -LANE_EDGE:  # parked at the kerb
                    wide = half_sizes()[:, 1] > half_sizes()[entity[slot], 1] + _WIDER
                    chances = np.where(wide, 0.0, chances)
                if chances.any():
                    yield _Edit(EXCHANGED, slot, draws.weighted(chances), paint[slot], sky)
            if parts & _PRESENT:
                removable = order[:2] if len(present) > world.least else []
                yield from (_Edit(REMOVED, slot, -1, -1, sky) for slot in removable)


def _thing_edits(noun: str, prop: list[int], sky: int, draws: Draws) -> Iterator[_Edit]:
    """A thing that a noun means is taken away from beside the road, or put there."""
    meant = [PROPS.index(kind) for kind in kinds_meant(noun)]
    here = [slot for slot in ROADSIDE_SLOTS if prop[slot] in meant]
    fitting = [kind for kind in meant if kind in pavement_kinds()]
    for slot in sorted(here, key=lambda _: draws.below(1 << 30)):
        yield _Edit(THING, slot, -1, -1, sky)
    free = [slot for slot in (PAVEMENT_SLOTS if fitting else ROADSIDE_SLOTS) if prop[slot] < 0]
    kinds = fitting or sorted({prop[slot] for slot in here})
    for slot in sorted(free, key=lambda _: draws.below(1 << 30)) if kinds else ():
        yield _Edit(THING, slot, draws.choice(kinds), -1, sky)


def _exchanged(world: AskedWorld, row: Question, named: np.ndarray, kind: int) -> np.ndarray:
    """Chances of the kinds for which a vehicle is exchanged so that a question may have its other answer."""
    if row.family.answer == "kind":
        return np.where(np.arange(len(ENTITIES)) == row.twin_answer, 1.0, 0.0)
    if row.family.answer == "group":
        return np.where(groups()[:-1] == row.twin_answer, world.chances, 0.0)
    if row.family.answer == "colour":
        return np.where(own_colours() == row.twin_answer, world.chances, 0.0)
    return np.where(named > 0, 0.0, world.chances) if named[kind] or not named.any() else named


def _paint(world: AskedWorld, row: Question, parts: frozenset[str], draws: Draws) -> int:
    """A paint of the colour that is the other answer, or of one that is named, or any."""
    wanted = [COLOURS.index(colour) for colour in parts & {*COLOURS}]
    if row.family.answer == "colour":
        wanted = [row.twin_answer]
    fits = np.isin(paint_colours(), sorted(wanted)) & (world.paint > 0)
    named = fits.any() and (row.family.answer == "colour" or draws.often(0.5))
    return draws.weighted(np.where(fits, world.paint, 0.0) if named else world.paint)


@lru_cache(maxsize=4096)
def _named(parts: frozenset[str]) -> np.ndarray:
    """(entities,) bool: the kinds that words mean, but for "vehicle"."""
    return np.any([means(name) for name in parts - {"vehicle"}], axis=0)


def may_lead(family: Family) -> bool:
    """Whether further questions can be asked of a family's twins: not if the weather or a thing is edited."""
    return not any("weather" in t.form.words or {"street", "weather"} & {*t.slots} for t in family.templates)


def _askable(families: tuple[Family, ...], edit: int, alone: bool) -> Askable:
    """The templates of questions of yes or no whose answers an edit may flip, with the places of their
    families and their own.

    Of a vehicle that is `alone` of its kind sets say little: "a taxi facing left" is the taxi.
    """
    flipping = _KINDS[edit].flips | _KINDS[edit].slots
    if alone and edit != PAINTED:
        flipping -= {"set"}

    def may_flip(template: Template) -> bool:
        return (
            "street" not in template.slots  # too few words to ask a second thing
            and not template.form.has("filter")  # two hops are seldom well posed in a given street
            and sum(slot in ("kind", "thing") for slot in template.slots) < 3  # these are slow to judge
            and not fill(template.program, template.slots).words.isdisjoint(flipping)
        )

    asked = [(place, family) for place, family in enumerate(families) if family.answer == "truth"]
    found = [(place, [own for own in enumerate(f.templates) if may_flip(own[1])]) for place, f in asked]
    return [(place, templates) for place, templates in found if templates]
