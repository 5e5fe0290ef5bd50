"""Questions of all families, fair by construction: words and answer first, then a street in which it is true.

The words of a question are drawn, and an answer, fairly and independent of the words; then streets are drawn
until the program's value is that answer. So no words hint at the answer. Of questions 2j and 2j + 1, both of
one family, the answers differ. Every draw has an address (example, attempt): a question depends on the recipe
and its number alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from simtown.core.streams import Stream
from simtown.language.asking.families import (
    ANSWERS,
    MOST_COUNT,
    AskedWorld,
    Drawer,
    Draws,
    Family,
    NoWordsError,
    Template,
    may_be_close,
)
from simtown.language.asking.hold_out import NO_LIMIT, HoldOut
from simtown.language.asking.paper import JITTER, ImpossibleError
from simtown.language.asking.requirements import let_animals_in, plant_things
from simtown.language.asking.streets import Filled, Limits, fill_street, keeps, kept, least_vehicles
from simtown.language.meaning.evaluate import (
    CLOSE,
    HIDING_WORDS,
    ILL_POSED,
    KNOWN,
    SEEN_WORDS,
    Values,
    evaluate,
)
from simtown.language.meaning.forms import Form
from simtown.language.meaning.programs import END, LENGTH, encode, stored
from simtown.language.meaning.views import LEAST_INTENSITY
from simtown.language.words import wording
from simtown.scenes.crowd import crowd_camera, place_crowds, thin_fog
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.silhouette import visibility
from simtown.scenes.street import SLOTS, draw_street
from simtown.scenes.weather import draw_weather

if TYPE_CHECKING:
    from simtown.language.asking.twins import Edits, Twins

#: Streets that are drawn for some words, with the same vehicles for some of them; and words for an answer.
STREETS, PLACES, WORDS = 960, 6, 128
#: Streets that a round draws at least, of all questions that have none yet: fewer take as long.
_TOGETHER = 128
#: After so many streets in which a question has no answer at all its words are drawn anew.
HOPELESS = 96
#: Words that are drawn at most until some fit; without a hold-out, so many more follow, from attempt LATE on.
TRIES, MORE_TRIES, LATE = 16, 512, 1 << 32
#: Streets that are drawn at most for the first of several questions about a picture.
MOST_STREETS = 400
#: Streets by which it is seen whether words may have an answer.
FILLS = 4
#: Weather is so much lighter where questions are about what stands beside the road: thick fog hides trees.
LIGHTER = np.float32(0.8)
#: Vehicles whose kinds differ from all others', where several questions are asked about each picture.
APART = 2
#: Fields of scenes that a street for a question decides.
_STREET = ("entity", "pose", "paint", "weather", "prop", "prop_pose", "prop_style")
#: Uniform numbers for the words of a question, and for the vehicles of a street.
_WORD_DRAWS, _VEHICLE_DRAWS = 64, 64


@dataclass(frozen=True)
class AskingRecipe:
    """What questions and streets are drawn from.

    Attributes:
        seed: the data set's seed.
        split: the name of the split.
        world: kinds, paints, weathers, numbers of vehicles.
        families: what is asked, each as often.
        weathers: names of the weathers that may occur.
        size: width and height of the pictures, pixels.
        jitter: largest random shift of the camera to a side, metres.
        cannot_tell: share of questions whose answer is that one cannot tell.
        each: questions of a picture.
        hold_out: how the split keeps to the rules of a hold-out.
        twins: whether pictures come in twos that differ in what is asked
            (:mod:`simtown.language.asking.twins`).
        count_changes: for twins: (n,) how many pixels differ between n scenes and n others in pictures of a
            size.
        streets: that are drawn at most for a picture about which too few questions are found.
    """

    seed: int
    split: str
    world: AskedWorld
    families: tuple[Family, ...]
    weathers: tuple[str, ...]
    size: tuple[int, int]
    jitter: float = 0.0
    cannot_tell: float = 0.0
    each: int = 1
    hold_out: HoldOut | None = None
    twins: bool = False
    count_changes: Callable[[SceneBatch, SceneBatch, tuple[int, int]], np.ndarray] | None = None
    streets: int = MOST_STREETS

    @property
    def apart(self) -> int:
        """Vehicles that a street must tell apart by their kinds, where further questions hang on them."""
        free = self.each == 1 or any(family.name == "exist" for family in self.families)
        return 0 if free else APART

    def stream(self, component: str) -> Stream:
        """The draws of a component."""
        return Stream(self.seed, self.split, component)


@dataclass
class AskedBatch:
    """n questions, the question first.

    Attributes:
        scene: the complete latent scenes.
        visible: (n, v) float32 visible share of each vehicle.
        family: (n,) int64 place in the recipe's families; `template` (n,) place in the family's templates,
            `text` (n,) in the template's texts.
        program: (n, programs.LENGTH) int16.
        words: n questions in words.
        answer: (n,) int64 the answer, as the evaluator numbers those of the family's type; -1 for "cannot
            tell".
        values: what the evaluator says of them.
        tried: (n, 2) int64 how many streets were drawn and how many of them could be placed.
        twins: which of them are about twins, if pictures come in twos (:mod:`simtown.language.asking.twins`).
    """

    scene: SceneBatch
    visible: np.ndarray
    family: np.ndarray
    template: np.ndarray
    text: np.ndarray
    program: np.ndarray
    words: list[str]
    answer: np.ndarray
    values: Values
    tried: np.ndarray
    twins: Twins | None = None

    @classmethod
    def empty(cls, n: int, vehicles: int) -> AskedBatch:
        """Of n questions that are still to be found."""
        family, template, text, answer = np.zeros((4, n), dtype=np.int64)
        program, tried = np.full((n, LENGTH), END, dtype=np.int16), np.zeros((n, 2), dtype=np.int64)
        scene, visible = empty_batch(n, vehicles, SLOTS), np.zeros((n, vehicles), dtype=np.float32)
        return cls(scene, visible, family, template, text, program, [""] * n, answer, Values.empty(n), tried)

    def keep(
        self, rows: np.ndarray, scenes: SceneBatch, visible: np.ndarray, values: Values, names: Sequence[str]
    ) -> None:
        """Put scenes, but only their fields with some names, visible shares and values into some rows."""
        self.visible[rows] = visible
        for name in names:
            getattr(self.scene, name)[rows] = getattr(scenes, name)
        self.values.keep(rows, values)


@dataclass
class Row:
    """A question that is being made: its words, and the vehicles of its streets by attempt.

    `other` is the answer in the twin of its picture, if it has one; streets are counted from `begin`. They
    have `vehicles` vehicles: as many as wanted, or more if the words need more for any answer.
    """

    index: int
    family: Family
    family_place: int
    answer: int
    unclear: bool
    answers: tuple[int, ...]
    wanted_vehicles: int
    limits: Limits | None = None
    other: int = -1
    begin: int = 0
    vehicles: int = 0
    template: int = 0
    text: int = 0
    form: Form = field(default_factory=lambda: Form("", ()))
    numbers: list[int] = field(default_factory=list)
    words: str = ""
    fitted: bool = False
    filled: Filled | None = None


def ask_families(recipe: AskingRecipe, index: np.ndarray, again: int = 0) -> AskedBatch:
    """The questions with the numbers `index` ((n,) int64); `again` counts the other streets for their words.

    Raises ImpossibleError if no street is found for one of them.
    """
    return search(recipe, [replace(row, begin=again * WORDS * STREETS) for row in rows_of(recipe, index)])


def search(recipe: AskingRecipe, rows: list[Row], edits: Edits | None = None) -> AskedBatch:
    """Questions and streets for `rows`; with `edits`, only streets of which an edit has the other answer.

    Raises ImpossibleError if no street is found for one of them.
    """
    result = AskedBatch.empty(len(rows), recipe.world.most)
    scene, index = result.scene, np.array([row.index for row in rows], dtype=np.int64)
    scene.camera[:] = cameras(recipe, index)
    for name, column in draw_weather(recipe.stream("weather"), index, recipe.weathers).items():
        getattr(scene, name)[:] = column
    waiting = np.arange(len(rows))
    # twins have both answers, so no words give one away: those that suit few streets are drawn anew
    again = rows[0].begin // STREETS if edits else 0
    for epoch in range(again, again + WORDS):
        later: list[int] = []
        numbers = recipe.stream("words").uniform(index[waiting], _WORD_DRAWS, epoch * _tries(recipe))
        for row, own in zip(waiting.tolist(), numbers, strict=True):
            _word(recipe, rows[row], epoch, own)
        begin, most = 0, HOPELESS if edits and not recipe.cannot_tell else STREETS
        while len(waiting) and begin < most:
            streets = max(1, begin // 2, _TOGETHER // len(waiting))
            streets = min(streets, (HOPELESS if begin < HOPELESS else STREETS) - begin)
            done = _round(recipe, rows, waiting, begin, streets, epoch, result, edits)
            waiting, begin = waiting[~done], begin + streets
            if begin == HOPELESS:  # whatever the answer, these words do not fit a street
                hopeless = np.array([not rows[i].fitted for i in waiting.tolist()], dtype=bool)
                later.extend(waiting[hopeless].tolist())
                waiting = waiting[~hopeless]
        waiting = np.sort(np.array([*waiting.tolist(), *later], dtype=np.int64))
    if len(waiting):
        row = rows[waiting[0]]
        meant = "cannot tell" if row.unclear else ANSWERS[row.family.answer][row.answer]
        raise ImpossibleError(
            f"no street was found in which the answer to '{row.words}' is '{meant}': leave the family "
            f"{row.family.name} out of `questions`, or allow more `crowd` or `entities`"
        )
    asks_weather = np.array([row.form.parts[0] == "weather" for row in rows])
    strong = LEAST_INTENSITY + (1 - LEAST_INTENSITY) * scene.intensity
    scene.intensity[:] = np.where(asks_weather, strong, scene.intensity)
    scene.sun[:] = draw_weather(recipe.stream("weather"), index, recipe.weathers, scene.weather)["sun"]
    others = scene.prop[:, 0] < 0  # the question is about no street, which has a building there
    scene.intensity[~others] *= LIGHTER
    scene.intensity[:] = thin_fog(scene.weather, scene.intensity, scene.camera)
    street = draw_street(recipe.stream("street"), index[others], scene.weather[others])
    scene.prop[others], scene.prop_pose[others], scene.prop_style[others] = street
    result.family[:] = [row.family_place for row in rows]
    result.template[:] = [row.template for row in rows]
    result.text[:] = [row.text for row in rows]
    result.program[:] = stored([row.numbers for row in rows])
    result.words[:] = [row.words for row in rows]
    result.answer[:] = [-1 if row.unclear else row.answer for row in rows]
    return result


def cameras(recipe: AskingRecipe, index: np.ndarray) -> np.ndarray:
    """(n, 7) float32 cameras of examples."""
    nominal = crowd_camera(recipe.world.most)
    rows = np.tile(nominal.row(), (len(index), 1))
    if recipe.jitter:
        u = recipe.stream("camera").uniform(index, 4)
        rows[:, :4] += (recipe.jitter * np.array(JITTER) * (2 * u - 1)).astype(np.float32)
    return rows


def rows_of(recipe: AskingRecipe, index: np.ndarray) -> Iterator[Row]:
    """The family and the answer of every question: of 2j and 2j + 1 the same family and other answers.

    For both as many vehicles are wanted in their streets, so that the number does not hint at the answer.
    """
    weather = draw_weather(recipe.stream("weather"), index, recipe.weathers)["weather"]
    u = recipe.stream("answer").uniform(index // 2, 4)
    share = recipe.cannot_tell * (1 + recipe.twins)  # one of two pictures is unclear
    unclear = recipe.stream("cannot tell").uniform(index, 1)[:, 0] < share
    numbers = recipe.stream("vehicle number").uniform(index // 2, 1)[:, 0]
    hold, places = recipe.hold_out, tuple(range(len(recipe.families)))
    limits: Limits | None = None
    for number, (which, first, second, rule), cannot, sky, many in zip(
        index.tolist(), u.tolist(), unclear.tolist(), weather.tolist(), numbers.tolist(), strict=True
    ):
        if hold:
            at = int(rule * len(hold.held))
            limits, places = Limits(hold.held[at], hold.alone, sky), hold.families[at]
        place = places[int(which * len(places))]
        least, most = recipe.world.least, recipe.world.most
        vehicles = least + int(many * (most - least + 1))
        row = _row(recipe, number, place, vehicles, limits)
        at = int(first * len(row.answers))
        if number % 2:
            at = (at + 1 + int(second * (len(row.answers) - 1))) % len(row.answers)
        yield replace(row, answer=row.answers[at], unclear=row.unclear and cannot)


def _row(recipe: AskingRecipe, number: int, place: int, vehicles: int, limits: Limits | None) -> Row:
    """A question of a family with its first possible answer, or an unclear one if that is possible."""
    family = recipe.families[place]
    answers = recipe.world.answers[family.answer]
    if limits:
        answers = limits.held.answers(family.answer, answers, limits.alone, recipe.twins)
    may_be_unclear = not family.clear and (
        limits is None or not (limits.alone and limits.held.count < NO_LIMIT)
    )
    return Row(number, family, place, answers[0], may_be_unclear, answers, vehicles, limits)


def _tries(recipe: AskingRecipe) -> int:
    """Words that are drawn at most until some fit."""
    return recipe.hold_out.tries if recipe.hold_out else TRIES


def askable(recipe: AskingRecipe, place: int) -> bool:
    """Whether a family has words for each of its answers; with a hold-out, such as keep to its only rule."""
    hold = recipe.hold_out
    limits = Limits(hold.held[0], hold.alone, recipe.world.weathers[0]) if hold else None
    row = _row(recipe, 0, place, recipe.world.least, limits)
    numbers = recipe.stream("words").uniform(np.zeros(1, np.int64), _WORD_DRAWS)
    try:
        for answer in row.answers[: 1 if hold else None]:
            _word(recipe, replace(row, answer=answer), 0, numbers[0])
    except ImpossibleError:
        return False
    return True


#: The places of a template and of one of its texts, a program, and what fills the slots.
Drawn: TypeAlias = tuple[int, int, Form, list[Any]]


def draw_words(
    world: AskedWorld, templates: Sequence[tuple[int, Template]], draws: Draws, narrowed: int | None = None
) -> Drawn | None:
    """A question of one of some templates, each with its place; None if nothing fills its slots."""
    place, template = draws.choice(templates)
    text = draws.below(len(template.texts))
    try:
        return place, text, *Drawer(world, draws, narrowed).question(template)
    except (NoWordsError, StopIteration):
        return None


def text_of(family: Family, template: int, text: int, slots: list[Any]) -> str:
    """A question in words."""
    return wording.fill(family.templates[template].texts[text], slots)


def _word(recipe: AskingRecipe, row: Row, epoch: int, numbers: np.ndarray) -> None:
    """Draw the words of a question; some words fill no slot of this world, then others are drawn.

    `numbers` are the uniform numbers of its first attempt.
    """
    tries, late = _tries(recipe), LATE + epoch * MORE_TRIES
    first, more = epoch * tries, 0 if recipe.hold_out else MORE_TRIES
    for attempt in chain(range(first, first + tries), range(late, late + more)):
        if attempt != first:
            numbers = recipe.stream("words").uniform(np.array([row.index]), _WORD_DRAWS, attempt)[0]
        drawn = draw_words(recipe.world, [*enumerate(row.family.templates)], Draws(numbers.tolist()))
        if drawn is None:
            continue
        template, text, form, slots = drawn
        if recipe.cannot_tell and not row.family.clear and not may_be_close(str(form)):
            continue  # no street makes it unclear, so its words would hint
        several = row.answers if row.family.answer in ("truth", "count") else (row.answer,)
        may_be_unclear = recipe.cannot_tell > 0 and not row.family.clear
        vehicles = least_vehicles(
            recipe.world, form, several, row.wanted_vehicles, recipe.apart, may_be_unclear
        )
        if vehicles > recipe.world.most:
            continue
        if row.limits:
            address, fills = np.full(FILLS, row.index), attempt * FILLS + np.arange(FILLS)
            tried = recipe.stream("hold-out").uniform(address, _VEHICLE_DRAWS, fills).tolist()
            if not keeps(recipe.world, form, row.answers, vehicles, row.limits, tried):
                continue
        row.template, row.text, row.form, row.filled, row.fitted = template, text, form, None, False
        row.vehicles = vehicles
        row.numbers, row.words = encode(form), text_of(row.family, template, text, slots)
        return
    raise ImpossibleError(
        f"this world has too few kinds for the family {row.family.name}: leave it out of `questions` or give "
        "more `entities`" + ", or more `crowd`, or add exist to `questions`" * (recipe.apart > 0)
    )


def _round(
    recipe: AskingRecipe,
    rows: list[Row],
    waiting: np.ndarray,
    begin: int,
    streets: int,
    epoch: int,
    result: AskedBatch,
    edits: Edits | None,
) -> np.ndarray:
    """Draw some more streets for each waiting question and keep the first that fits.

    Returns (w,) bool, which of the waiting are done.
    """
    at = np.repeat(np.arange(len(waiting)), streets)
    attempt = np.tile(np.arange(begin, begin + streets), len(waiting)) + epoch * STREETS
    index, counted = np.array([(row.index, row.begin) for row in rows])[waiting[at]].T
    attempt += counted
    new = attempt % PLACES == 0
    numbers = iter(
        recipe.stream("vehicles").uniform(index[new], _VEHICLE_DRAWS, attempt[new] // PLACES).tolist()
    )
    fills: list[tuple[int, Filled]] = []
    for place, (row_at, is_new) in enumerate(zip(at.tolist(), new.tolist(), strict=True)):
        row = rows[waiting[row_at]]
        if is_new:
            row.filled = _fill(recipe, row, next(numbers))
        if row.filled is not None:
            fills.append((place, row.filled))
    some = np.array([place for place, _ in fills], dtype=np.int64)
    at, index, attempt = at[some], index[some], attempt[some]
    every, asking = empty_batch(len(some), recipe.world.most, SLOTS), waiting[at]
    every.camera[:], every.weather[:] = result.scene.camera[asking], result.scene.weather[asking]
    for place, (_, (entity, paint, sky, _)) in enumerate(fills):
        every.entity[place], every.paint[place] = entity, paint
        every.weather[place] = sky if sky >= 0 else every.weather[place]
    stream = recipe.stream("crowd")
    entity = every.entity.astype(np.int64)
    pose, seen, placed = place_crowds(stream, index, attempt, entity, every.camera, rough=True)
    good, seen, at, index, attempt = (column[placed] for column in (some, seen, at, index, attempt))
    candidates, asked = replace(every, pose=pose)[placed], [rows[i] for i in waiting[at].tolist()]
    things = [fills[place][1][3] for place in np.flatnonzero(placed).tolist()]
    beside = np.array([k for k, planted in enumerate(things) if planted], dtype=np.int64)
    candidates.intensity[beside] = LIGHTER * result.scene.intensity[waiting[at[beside]]]
    _beside(recipe, candidates, beside, index, attempt, things)
    programs = stored([row.numbers for row in asked])
    hide = np.isin(programs, HIDING_WORDS).any(axis=1)
    seen[hide] = visibility(candidates.entity[hide], candidates.pose[hide], candidates.camera[hide])
    judged = evaluate(candidates, programs, seen, recipe.size)
    for slot in np.unique(at[(judged.state != ILL_POSED) & ~judged.idle]).tolist():
        rows[waiting[slot]].fitted = True
    coloured = np.asarray(np.isin(programs, SEEN_WORDS).any(axis=1))
    left = np.flatnonzero(_accepted(asked, candidates, judged))
    first = np.full(len(waiting), -1)
    while len(left):  # masks take longest, and edits: of each question one street after the other
        likely = np.isin(np.arange(len(left)), np.unique(at[left], return_index=True)[1])
        trial, left = left[likely], left[~likely]
        _, seen[trial], fine = place_crowds(
            stream, index[trial], attempt[trial], candidates.entity[trial].astype(np.int64),
            candidates.camera[trial], kept=candidates.pose[trial],
        )  # fmt: skip
        trial = trial[fine]
        again = trial[coloured[trial]]
        judged.keep(again, evaluate(candidates[again], programs[again], seen[again], recipe.size))
        own = [asked[k] for k in trial.tolist()]
        fine = _accepted(own, candidates[trial], judged.at(trial))
        trial, own = trial[fine], [row for row, fits in zip(own, fine.tolist(), strict=True) if fits]
        if edits is not None:
            trial = trial[edits.find(waiting[at[trial]], own, attempt[trial], candidates[trial], seen[trial])]
        first[at[trial]] = trial
        left = left[first[at[left]] < 0]
    done = first >= 0
    chosen = first[done]
    result.keep(waiting[done], candidates[chosen], seen[chosen], judged.at(chosen), _STREET)
    starts = streets * np.arange(len(waiting))
    ends = starts + streets
    ends[done] = good[chosen] + 1
    placed = np.searchsorted(good, ends) - np.searchsorted(good, starts)
    result.tried[waiting] += np.stack([ends - starts, placed], axis=1)
    return done


def _accepted(rows: list[Row], scenes: SceneBatch, values: Values) -> np.ndarray:
    """(n,) bool: whether questions have their answers in their scenes."""
    wanted = np.array([row.answer for row in rows])
    unclear = np.array([row.unclear for row in rows], dtype=bool)
    known = (values.state == KNOWN) & (values.answer == wanted)
    result = np.where(unclear, values.state == CLOSE, known) & ~values.idle
    return np.asarray(result & kept([row.limits for row in rows], scenes))


def _beside(
    recipe: AskingRecipe,
    scenes: SceneBatch,
    rows: np.ndarray,
    index: np.ndarray,
    attempt: np.ndarray,
    things: list[Any],
) -> None:
    """Draw what stands beside the road of some scenes, another street by attempt, and plant things there."""
    if not len(rows):
        return
    scenes.intensity[rows] = thin_fog(scenes.weather[rows], scenes.intensity[rows], scenes.camera[rows])
    address = index[rows] + (attempt[rows] << 40)
    street = draw_street(recipe.stream("street"), address, scenes.weather[rows])
    numbers = recipe.stream("things").uniform(address, 2 * MOST_COUNT)
    passing = recipe.stream("animals").uniform(address, 5)
    for prop, row, own, animals in zip(
        street[0], rows.tolist(), numbers.tolist(), passing.tolist(), strict=True
    ):
        noun, number = things[row]
        let_animals_in(prop, Draws(animals))
        plant_things(prop, noun, number, Draws(own))
    scenes.prop[rows], scenes.prop_pose[rows], scenes.prop_style[rows] = street


def _fill(recipe: AskingRecipe, row: Row, numbers: list[float]) -> Filled | None:
    """The vehicles of a street for a question, by uniform numbers."""
    answer = row.answer
    if row.unclear:
        answer = Draws(numbers[::-1]).choice(row.answers)
    vehicles = recipe.world.most if row.begin else row.vehicles
    limits = row.limits if row.limits and row.limits.held.pictured else None
    return fill_street(recipe.world, row.form, answer, vehicles, Draws(numbers), limits, row.unclear)
