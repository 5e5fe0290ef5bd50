"""Twins: every question is asked of two pictures that differ in one thing, so that its answer is another.

The words and two answers are drawn first. A street is searched in which the first is true, then an edit of it
in which the second is: one vehicle turned, painted, moved, exchanged for another kind, removed or added, or
the weather. The least edits are tried first. Both answers are as often the first one, so no words hint.

If a question of yes or no is asked whose answer flips too, the same two pictures are a group of four
examples: two pictures, two questions. Otherwise a group is a pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from simtown.assets.catalogue import PROPS
from simtown.assets.entities import ENTITIES, NAMED_BY_COLOUR
from simtown.language import wording
from simtown.language.asking import AskedBatch, AskingRecipe, Row, rows_of, search
from simtown.language.composing import kept
from simtown.language.evaluate import KNOWN, SEEN_WORDS, Values, evaluate
from simtown.language.families import AskedWorld, Drawer, Draws, Family, NoWordsError, Template, means
from simtown.language.forms import Form, fill
from simtown.language.more import join
from simtown.language.nouns import kinds_meant
from simtown.language.programs import COLOURS, OWN_RELATIONS, encode, stored
from simtown.language.sights import street_pixels
from simtown.language.views import LANE_EDGE, LEAST_INTENSITY, groups, own_colours, paint_colours
from simtown.scenes.camera import NOMINAL
from simtown.scenes.crowd import place_crowds, thin_fog
from simtown.scenes.placement import LANES, half_sizes
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.silhouette import boxes
from simtown.scenes.street import PAVEMENT_SLOTS, ROADSIDE_SLOTS, SLOTS, pavement_kinds

#: What may be edited, from the least edit to the greatest (append, do not reorder).
EDITS = ("turned", "painted", "moved", "exchanged", "removed", "added", "weather", "thing")
TURNED, PAINTED, MOVED, EXCHANGED, REMOVED, ADDED, WEATHER, THING = range(len(EDITS))
#: Fields of scenes that edits change.
EDITED = ("entity", "pose", "paint", "weather", "prop")
#: The edit of scenes that do not differ in one thing, and the slot if the weather was edited.
NONE = 255
#: Examples of a group of two pictures and two questions.
GROUP = 4
#: Edits of a street that are judged at once, the first ones first; and second questions of two pictures.
_EDITS_AT_ONCE, _WORDS_AT_ONCE = (8, 40), (8, 12, 16)
_MOVES, _EDIT_DRAWS, _WORD_DRAWS = 6, 256, 64
#: Parts of programs that ask where vehicles head, where they stand, and which there are.
_HEADING = {"direction", *OWN_RELATIONS}
_STANDING = {"related", "lane", "most", "nth", "compared", "distance", "box", "hidden", "sight"}
_PRESENT = {"exist", "count", "a", "every", "no"}
#: By edit: of what the answer to a question of yes or no may flip, and slots that may be filled with it.
_FLIPS = (_HEADING, {"colour", *COLOURS}, _STANDING, _PRESENT, _PRESENT, _PRESENT, {"weather"}, _PRESENT)
_FLIPPING_SLOTS: tuple[set[str], ...] = (
    {"driver", "set", "clause", "turn"},
    {"set", "thing"},
    {"set", "clause", "turn"},
    *(set(),) * 5,
)
#: Kinds of vehicles on either side, by length, for which one may be exchanged if its kind is asked for.
_NEIGHBOURS = 4
#: Pixels that a vehicle covers at least if it is turned (the visible share of its box), and a thing.
LEAST_TURNED, LEAST_THING = 40.0, 2.0
#: How much wider a parked vehicle may be than the one for which it is exchanged, half of it, metres.
_WIDER = 0.1
_MAY_CHANGE = ~np.isin(ENTITIES, [*NAMED_BY_COLOUR])


#: Places of families, with some of their templates and their places.
Askable = list[tuple[int, list[tuple[int, Template]]]]


class Twins(NamedTuple):
    """Which examples belong together: (n,) each.

    Attributes:
        group: int64; examples 2j and 2j + 1 have the same words. Those of one group have the same pictures.
        edit: uint8 place in EDITS of what makes picture 2j + 1 of picture 2j.
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


def ask_twins(recipe: AskingRecipe, index: np.ndarray) -> AskedBatch:
    """The examples with the numbers `index` ((n,) int64). Raises ImpossibleError."""
    groups = np.unique(index // GROUP)
    rows, first = _pairs(recipe, 2 * groups)
    second, found = _second_questions(recipe, rows, first)
    alone = np.flatnonzero(~found)
    parts = [first, second]
    if len(alone):
        parts.append(_pairs(recipe, 2 * groups[alone] + 1)[1])
    examples = np.arange(2 * len(groups)).reshape(-1, 2)
    places = np.concatenate([examples, examples + 2 * len(groups)], axis=1)
    places[alone, 2:] = 4 * len(groups) + np.arange(2 * len(alone)).reshape(-1, 2)
    at = places[np.searchsorted(groups, index // GROUP), index % GROUP]
    return join(parts, at)


def answer_pairs(recipe: AskingRecipe, pairs: np.ndarray) -> list[Row]:
    """The first question of each pair of examples, with both answers, either of them as often the first.

    Two counts differ by one, and two kinds of vehicles are neighbours in length, so that one fits where the
    other stands; the shortest and the longest are neighbours too, so every kind is as often an answer.
    """
    u = recipe.stream("twin answer").uniform(pairs, 3)
    rows = list(rows_of(recipe, 2 * pairs))
    for row, twin, (low, up, far) in zip(rows, rows_of(recipe, 2 * pairs + 1), u.tolist(), strict=True):
        row.other = twin.answer
        answers = row.answers
        sign = 1 if up < 0.5 else -1
        if row.family.answer == "count":
            at = int(low * (len(answers) - 1))
            row.answer, row.other = answers[at : at + 2][::sign]
        elif row.family.answer == "kind":
            limits = row.limits if row.limits and not row.limits.alone else None
            if limits:
                answers = tuple(kind for kind in answers if not limits.held.tables["kind"][row.answer, kind])
            by_length = sorted(answers, key=lambda kind: half_sizes()[kind, 0])
            step = 1 + int(far * min(_NEIGHBOURS, len(answers) - 1))
            row.other = by_length[(by_length.index(row.answer) + sign * step) % len(answers)]
            if limits:  # a weather for both
                barred = limits.held.tables["weather"][[row.answer, row.other]]
                fits = [weather for weather in recipe.world.weathers if not barred[:, weather].any()]
                if fits and limits.weather not in fits:
                    row.limits = replace(limits, weather=fits[int(far * len(fits))])
    return rows


def _pairs(recipe: AskingRecipe, pairs: np.ndarray) -> tuple[list[Row], AskedBatch]:
    """The examples 2j and 2j + 1 of the pairs `pairs`, and the rows of their questions."""
    rows = answer_pairs(recipe, pairs)
    edits = Edits(recipe, len(rows))
    first = search(recipe, rows, edits)
    # fog is as thin as from this camera, though only one of the two pictures may have it
    intensity = thin_fog(edits.scene.weather, first.scene.intensity, first.scene.camera)
    weak = edits.edit == WEATHER  # but what thins fog must not thin snow until nobody could tell it
    intensity[weak] = np.maximum(intensity[weak], LEAST_INTENSITY)
    scene = replace(first.scene, intensity=intensity)
    changed = {name: getattr(edits.scene, name) for name in EDITED}
    changed["prop"] = np.where((edits.edit == THING)[:, None], edits.scene.prop, scene.prop)
    twin = replace(scene, **changed)
    twins = Twins(pairs, edits.edit, edits.edited)
    answer = np.array([row.other for row in rows], dtype=np.int64)
    first = replace(first, scene=scene, twins=twins)
    other = replace(
        first, scene=twin, visible=edits.visible, answer=answer, values=edits.values, tried=edits.tried
    )
    return rows, join([first, other], _alternating(len(rows)))


def _alternating(n: int) -> np.ndarray:
    """0, n, 1, n + 1, ...: the rows of two parts of n by turns."""
    return np.arange(2 * n).reshape(2, n).T.reshape(-1)


class Edits:
    """The twins of n streets, (n, ...) arrays as AskedBatch and Twins have them."""

    def __init__(self, recipe: AskingRecipe, n: int) -> None:
        self.recipe, self.scene = recipe, empty_batch(n, recipe.world.most, SLOTS)
        self.edit, self.edited = np.zeros((2, n), dtype=np.uint8)
        self.visible = np.zeros((n, recipe.world.most), dtype=np.float32)
        self.tried = np.zeros((n, 2), dtype=np.int64)
        self.values = Values.empty(n)

    def find(
        self,
        places: np.ndarray,
        rows: list[Row],
        attempt: np.ndarray,
        scenes: SceneBatch,
        visible: np.ndarray,
    ) -> np.ndarray:
        """Search edits of streets and keep the first of each that has the other answer.

        Args:
            places: (k,) where the twins are kept.
            rows: k questions.
            attempt: (k,) numbers of the streets, for the addresses of draws.
            scenes: k streets in which the first answer is true.
            visible: (k, v) visible shares.

        Returns:
            (k,) bool, for which an edit was found.
        """
        found = np.zeros(len(rows), dtype=bool)
        index, other = np.array([(row.index, row.other) for row in rows], dtype=np.int64).reshape(-1, 2).T
        programs = stored([row.numbers for row in rows])
        coloured = np.asarray(np.isin(programs, SEEN_WORDS).any(axis=1))
        numbers = self.recipe.stream("edit").uniform(index, _EDIT_DRAWS, attempt).tolist()
        plans = [
            _edits(self.recipe.world, row, scenes, i, Draws(own))
            for i, (row, own) in enumerate(zip(rows, numbers, strict=True))
        ]
        for block, size in enumerate(_EDITS_AT_ONCE):
            planned = [(i, *edit) for i in np.flatnonzero(~found).tolist() for edit in islice(plans[i], size)]
            if not planned:
                break
            at, *columns = np.array(planned).T
            edits = _Edit(*columns)
            address = (attempt[at] * len(_EDITS_AT_ONCE) + block) * max(_EDITS_AT_ONCE)
            address += np.arange(len(at)) - np.searchsorted(at, at)
            self.tried[places, 0] += np.bincount(at, minlength=len(rows))
            made, seen, placed = self._made(scenes[at], visible[at], edits, index[at], address)
            at, edit, slot = (column[placed] for column in (at, edits.edit, edits.slot))
            made, seen, address = made[placed], seen[placed], address[placed]
            self.tried[places, 1] += np.bincount(at, minlength=len(rows))
            values, fits = self._judged(made, programs[at], seen, other[at])
            if self.recipe.hold_out:
                fits &= kept([rows[i].limits for i in at.tolist()], made)
            while fits.any():
                first = np.flatnonzero(fits)
                first = first[np.unique(at[first], return_index=True)[1]]  # the first edit of each question
                moved = first[~np.isin(edit[first], (PAINTED, WEATHER, THING))]
                _, seen[moved], fits[moved] = self._placed(made, moved, index[at], address)
                again = moved[fits[moved] & coloured[at[moved]]]
                if len(again):  # what other vehicles hide decides too
                    asked, answer = programs[at[again]], other[at[again]]
                    anew, fits[again] = self._judged(made[again], asked, seen[again], answer)
                    for whole, part in zip(values, anew, strict=True):
                        whole[again] = part
                first = first[fits[first]]
                fits[first] = self._shown(
                    scenes[at[first]], made[first], edit[first], slot[first], seen[first]
                )
                first = first[fits[first]]
                into = places[at[first]]
                for name in EDITED:
                    getattr(self.scene, name)[into] = getattr(made, name)[first]
                self.visible[into], self.edit[into] = seen[first], edit[first]
                self.edited[into] = np.where(edit[first] == WEATHER, NONE, slot[first])
                for whole, part in zip(self.values, values, strict=True):
                    whole[into] = part[first]
                found[at[first]] = True
                fits &= ~found[at]
        return found

    def _made(
        self, made: SceneBatch, seen: np.ndarray, edits: _Edit, index: np.ndarray, address: np.ndarray
    ) -> tuple[SceneBatch, np.ndarray, np.ndarray]:
        """Scenes and visible shares, which are changed in place, with their edits; and whether these fit."""
        edit, slot, kind, paint, made.weather[:] = edits
        rows, thing = np.arange(len(edit)), edit == THING
        made.prop[rows[thing], slot[thing]] = kind[thing]
        slot = np.where(thing, 0, slot)
        made.entity[rows, slot] = np.where(thing, made.entity[:, 0], kind)
        made.paint[rows, slot] = np.where(thing, made.paint[:, 0], paint)
        placing = (edit == MOVED) | (edit == ADDED)
        yaw = made.pose[rows, slot, 2]
        headings = np.array([heading for _, heading in LANES], dtype=np.float32)
        made.pose[rows, slot, 2] = np.where(edit == TURNED, np.where(yaw == 0, headings[1], headings[0]), yaw)
        made.pose[rows[placing], slot[placing]] = np.nan
        made.pose[rows[edit == REMOVED], slot[edit == REMOVED]] = 0
        placed, which = np.ones(len(edit), dtype=bool), np.flatnonzero(placing)
        made.pose[which], seen[which], placed[which] = self._placed(made, which, index, address, rough=True)
        back = placed & (edit == MOVED) & (made.pose[rows, slot, 2] != yaw)
        made.pose[rows[back], slot[back], 2] = yaw[back]
        return made, seen, placed

    def _shown(
        self, before: SceneBatch, after: SceneBatch, edit: np.ndarray, slot: np.ndarray, seen: np.ndarray
    ) -> np.ndarray:
        """Whether a vehicle that turns, or a thing, covers so many pixels that both pictures differ."""
        result, (width, height) = np.ones(len(edit), dtype=bool), self.recipe.size
        turned, thing = np.flatnonzero(edit == TURNED), np.flatnonzero(edit == THING)
        if len(turned):
            box = boxes(after[turned], width, height)[np.arange(len(turned)), slot[turned]]
            area = (box[:, 2] - box[:, 0]) * (box[:, 3] - box[:, 1]) * seen[turned, slot[turned]]
            result[turned] = area >= LEAST_TURNED
        if len(thing):
            pixels = [
                street_pixels(scenes[thing], self.recipe.size)[0][np.arange(len(thing)), slot[thing]]
                for scenes in (before, after)
            ]
            nominal = NOMINAL[0] * NOMINAL[1] / (width * height)
            result[thing] = np.max(pixels, axis=0) >= LEAST_THING * nominal
        return result

    def _judged(
        self, scenes: SceneBatch, programs: np.ndarray, seen: np.ndarray, other: np.ndarray
    ) -> tuple[Values, np.ndarray]:
        """The values of programs, and whether these are the other answers."""
        values = evaluate(scenes, programs, seen, self.recipe.size)
        return values, (values.state == KNOWN) & (values.answer == other) & ~values.idle

    def _placed(
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


def _edits(world: AskedWorld, row: Row, scenes: SceneBatch, i: int, draws: Draws) -> Iterator[_Edit]:
    """Edits of scene i that may give a question its other answer, the least ones first."""
    entity, paint, pose = scenes.entity[i].tolist(), scenes.paint[i].tolist(), scenes.pose[i]
    sky, parts = int(scenes.weather[i]), _words_of(row.form)
    if "weather" in parts:
        yield _Edit(WEATHER, 0, entity[0], paint[0], row.other)
        return
    if row.filled is not None and row.filled[3]:
        yield from _thing_edits(row.filled[3][0], scenes.prop[i].tolist(), sky, draws)
        return
    named = np.where(_named(parts), world.chances, 0.0)
    present = [slot for slot, kind in enumerate(entity) if kind >= 0]
    drawn = {slot: (not named[entity[slot]], draws.below(1 << 30)) for slot in present}
    order = sorted(present, key=drawn.__getitem__)
    asked = [slot for slot in order if named[entity[slot]]]
    if not asked or parts & {"vehicle", "hidden"}:
        asked = order  # where any other vehicle stands matters

    def edit(edit: int, slot: int, kind: int | None = None, new_paint: int | None = None) -> _Edit:
        own_kind, own_paint = entity[slot], paint[slot]
        kind, new_paint = own_kind if kind is None else kind, own_paint if new_paint is None else new_paint
        return _Edit(edit, slot, kind, new_paint, sky)

    if parts & _HEADING:
        yield from (edit(TURNED, slot) for slot in asked)
    if "colour" in parts or parts & {*COLOURS}:
        for slot in order if world.painted else ():
            new = _paint(world, row, parts, draws)
            if _MAY_CHANGE[entity[slot]] and new != paint[slot]:
                yield edit(PAINTED, slot, new_paint=new)
    if parts & _STANDING:
        yield from (edit(MOVED, slot) for _ in range(_MOVES) for slot in asked)
    if row.family.answer in ("kind", "group", "colour") or parts & _PRESENT:
        for _ in range(1 if row.family.answer == "kind" else 2):
            for slot in order:
                chances = _exchanged(world, row, named, entity[slot])
                if world.painted:
                    chances = np.where(_MAY_CHANGE[entity[slot]] == _MAY_CHANGE, chances, 0.0)
                if pose[slot, 1] < -LANE_EDGE:  # parked at the kerb
                    wide = half_sizes()[:, 1] > half_sizes()[entity[slot], 1] + _WIDER
                    chances = np.where(wide, 0.0, chances)
                if chances.any():
                    yield edit(EXCHANGED, slot, draws.weighted(chances))
            if parts & _PRESENT:
                if len(present) > world.least:
                    yield from (edit(REMOVED, slot, -1, -1) for slot in order[:2])
                if len(present) < world.most and named.any():
                    kind = draws.weighted(named)
                    new = _paint(world, row, parts, draws) if world.painted and _MAY_CHANGE[kind] else -1
                    yield edit(ADDED, entity.index(-1), kind, new)


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


def _exchanged(world: AskedWorld, row: Row, named: np.ndarray, kind: int) -> np.ndarray:
    """Chances of the kinds for which a vehicle is exchanged so that a question may have its other answer."""
    if row.family.answer == "kind":
        return np.where(np.arange(len(ENTITIES)) == row.other, 1.0, 0.0)
    if row.family.answer == "group":
        return np.where(groups()[:-1] == row.other, world.chances, 0.0)
    if row.family.answer == "colour":
        return np.where(own_colours() == row.other, world.chances, 0.0)
    return np.where(named > 0, 0.0, world.chances) if named[kind] else named


def _paint(world: AskedWorld, row: Row, parts: frozenset[str], draws: Draws) -> int:
    """A paint of the colour that is the other answer, or of one that is named, or any."""
    wanted = [row.other] if row.family.answer == "colour" else [COLOURS.index(c) for c in parts & {*COLOURS}]
    fits = np.isin(paint_colours(), sorted(wanted)) & (world.paint > 0)
    named = fits.any() and (row.family.answer == "colour" or draws.often(0.5))
    return draws.weighted(np.where(fits, world.paint, 0.0) if named else world.paint)


@lru_cache(maxsize=4096)
def _words_of(form: Form) -> frozenset[str]:
    return frozenset(_parts(form))


@lru_cache(maxsize=4096)
def _named(parts: frozenset[str]) -> np.ndarray:
    """(entities,) bool: the kinds that words mean, but for "vehicle"."""
    return np.any([means(name) for name in parts - {"vehicle"}], axis=0)


def _parts(form: Any) -> Iterator[str]:
    """The names of all nodes and words of a program."""
    if isinstance(form, Form):
        yield form.name
        for part in form.parts:
            yield from _parts(part)
    else:
        yield str(form)


def _second_questions(
    recipe: AskingRecipe, rows: list[Row], first: AskedBatch
) -> tuple[AskedBatch, np.ndarray]:
    """AskedBatch of yes or no whose answers flip between the pictures of pairs, where there are any.

    If the first question is of yes or no too, the answers are in the opposite order.

    Args:
        recipe: of the data set.
        rows: the first questions of n pairs.
        first: their 2 n examples.

    Returns:
        2 n questions, and (n,) bool, for which pairs there is one; the others repeat the first question.
    """
    n, twins = len(rows), first.twins
    assert twins is not None
    askable = [_askable(recipe.families, edit) for edit in range(len(EDITS))]
    found = np.zeros(n, dtype=bool)
    second = join([first], np.arange(2 * n))
    second.tried[:] = 0
    index = np.array([row.index for row in rows], dtype=np.int64)
    coin = recipe.stream("second answer").uniform(index, 1)[:, 0] < 0.5
    wanted = np.array([
        1 - row.answer if row.family.answer == "truth" else int(heads)
        for row, heads in zip(rows, coin.tolist(), strict=True)
    ])  # fmt: skip
    begin, stream = 0, recipe.stream("second words")
    edits = twins.edit[::2].tolist()
    may = np.array([bool(askable[edit]) for edit in edits])
    worlds = {
        i: _seen_world(recipe.world, first.scene, 2 * i, NONE if edits[i] == THING else edited, 1 - wanted[i])
        for i, edited in enumerate(twins.edited[::2].tolist()) if may[i]
    }  # fmt: skip
    for attempts in _WORDS_AT_ONCE:
        asked: list[tuple[int, Row, list[Any]]] = []
        places = np.repeat(np.flatnonzero(may & ~found), attempts)
        tries = begin + np.arange(len(places)) % attempts
        draws = stream.uniform(index[places], _WORD_DRAWS, tries).tolist()
        for i, numbers in zip(places.tolist(), draws, strict=True):
            row, slots = _worded(recipe, worlds[i], askable[edits[i]], rows[i].index + 2, Draws(numbers))
            if slots is not None:
                asked.append((i, row, slots))
        begin += attempts
        if not asked:
            continue
        at = 2 * np.array([i for i, *_ in asked])
        programs = stored([encode(row.form) for _, row, _ in asked])
        fits = np.arange(len(asked))
        judged: list[Values] = []
        for twin in (0, 1):  # the second picture is judged only where the first has the answer
            own = evaluate(first.scene, programs[fits], first.visible, recipe.size, at[fits] + twin)
            answer = np.abs(wanted[at[fits] // 2] - twin)
            good = (own.state == KNOWN) & ~own.idle & (own.answer == answer)
            if recipe.hold_out:
                limits = [rows[i].limits for i in (at[fits] // 2).tolist()]
                good &= kept(limits, first.scene[at[fits] + twin], programs[fits])
            judged = [Values(*(part[good] for part in values)) for values in (*judged, own)]
            fits = fits[good]
        for place, which in enumerate(fits.tolist()):
            i, row, slots = asked[which]
            if found[i] or _FLIPS[edits[i]].isdisjoint(_parts(row.form)):
                continue
            found[i] = True
            words = wording.fill(
                recipe.families[row.family_place].templates[row.template].texts[row.text], slots
            )
            for twin, values in enumerate(judged):
                example = 2 * i + twin
                second.family[example], second.template[example] = row.family_place, row.template
                second.text[example], second.words[example] = row.text, words
                second.program[example], second.answer[example] = programs[which], values.answer[place]
                for whole, part in zip(second.values, values, strict=True):
                    whole[example] = part[place]
                second.tried[example] = begin
    return second, found


def _seen_world(world: AskedWorld, scenes: SceneBatch, at: int, edited: int, first: int) -> AskedWorld:
    """A world of the kinds and paints of the scenes `at` and after it, so that words are about what is there.

    Kinds that are in a scene twice are left out, since "the taxi" means none of two. The kind of the edited
    vehicle, in the first scene that has one counting from the `first` of both, is as likely as all others
    together.
    """
    entity = scenes.entity[at : at + 2]
    numbers = [np.bincount(kinds[kinds >= 0], minlength=len(ENTITIES)) for kinds in entity]
    chances = np.where((np.max(numbers, axis=0) == 1) & (world.chances > 0), 1.0, 0.0)
    its = (
        [kind for kind in entity[[first, 1 - first], edited].tolist() if kind >= 0] if edited != NONE else []
    )
    if its:
        chances[its[0]] *= max(chances.sum() - 1, 1)
    paints = np.unique(scenes.paint[at : at + 2])
    colours = {*paint_colours()[paints[paints >= 0]].tolist()} & {*world.colours}
    return replace(world, chances=chances, colours=tuple(sorted(colours)) or world.colours)


def _askable(families: tuple[Family, ...], edit: int) -> Askable:
    """The templates of questions of yes or no whose answers an edit may flip, with the places of their
    families and their own.
    """
    found: dict[int, list[tuple[int, Template]]] = {}
    every = [
        (place, number, template)
        for place, family in enumerate(families)
        for number, template in enumerate(family.templates)
        if family.answer == "truth"
        and ("street" in template.slots) == (edit == THING)
        and "filter" not in template.program  # two hops are seldom well posed in a given street
        and sum(slot in ("kind", "thing") for slot in template.slots) < 3  # these are slow to judge
        and ({*_parts(fill(template.program, template.slots))} & (_FLIPS[edit] | _FLIPPING_SLOTS[edit]))
    ]
    for place, number, template in every:
        found.setdefault(place, []).append((number, template))
    return [*found.items()]


def _worded(
    recipe: AskingRecipe,
    world: AskedWorld,
    askable: Askable,
    index: int,
    draws: Draws,
) -> tuple[Row, list[Any] | None]:
    """A question of one of some templates, and its slots; None if they cannot be about this world."""
    place, templates = draws.choice(askable)
    number, template = draws.choice(templates)
    row = Row(index, recipe.families[place], place, -1, False, (), template=number)
    row.text = draws.below(len(template.texts))
    try:
        row.form, slots = Drawer(world, draws).question(template)
    except (NoWordsError, StopIteration):
        return row, None
    return row, slots
