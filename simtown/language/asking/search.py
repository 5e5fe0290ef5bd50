"""Questions of all families, fair by construction: words and answer first, then a street in which it is true.

The words of a question are drawn, and an answer, fairly and independent of the words; then streets are drawn
until the program's value is that answer. So no words hint at the answer. Of questions 2j and 2j + 1, both of
one family, the answers differ. Every draw has an address (example, attempt): a question depends on the recipe
and its number alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from simtown.core.streams import Draws
from simtown.language.asking.hold_out import streets_obey
from simtown.language.asking.paper import ImpossibleError
from simtown.language.asking.question import (
    VEHICLE_DRAWS,
    AskingRecipe,
    Question,
    Questions,
    draw_questions,
    word_columns,
    word_questions,
)
from simtown.language.asking.roadside import draw_roadside
from simtown.language.asking.streets import VehiclesOfStreet, fill_street
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.evaluate import (
    CLOSE,
    HIDING_WORDS,
    ILL_POSED,
    KNOWN,
    SEEN_WORDS,
    Values,
    evaluate,
)
from simtown.language.meaning.limits import LEAST_INTENSITY
from simtown.language.meaning.programs import stored
from simtown.scenes.camera import draw_cameras
from simtown.scenes.crowd import crowd_camera, place_crowds, thin_fog
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.silhouette import visibility
from simtown.scenes.street import SLOTS, draw_street
from simtown.scenes.weather import draw_weather

#: Words that are drawn for a question, at most.
WORDS = 128
#: Streets that are drawn for some words, at most.
STREETS = 960
#: Streets in a row that have the same vehicles.
PLACES = 6
#: Streets that a round draws at least, of all questions that have none yet: fewer take as long.
_TOGETHER = 128
#: After so many streets in which a question has no answer at all, its words are drawn anew.
HOPELESS = 96
#: Weather is so much lighter where questions are about what stands beside the road: thick fog hides trees.
LIGHTER = np.float32(0.8)
#: Fields of scenes that a street for a question decides.
_STREET = ("entity", "pose", "paint", "weather", "prop", "prop_pose", "prop_style")


@dataclass
class Streets:
    """A table of k streets, each for a question.

    Attributes:
        question: (k,) place of the question among those of the search, in order.
        example: (k,) number of the question; with `attempt`, (k,), the address of the street's draws.
        turn: (k,) place of the street among those that were drawn together.
        scene: k scenes.
        program: (k, LENGTH) int16 programs of the questions.
        visible: (k, v) float32 visible shares.
        values: values of the programs.
    """

    question: np.ndarray
    example: np.ndarray
    attempt: np.ndarray
    turn: np.ndarray
    scene: SceneBatch
    program: np.ndarray
    visible: np.ndarray
    values: Values

    def __len__(self) -> int:
        return len(self.question)

    def __getitem__(self, rows: np.ndarray) -> Streets:
        """The streets of an index array, or where a bool array is true."""
        return Streets(
            self.question[rows],
            self.example[rows],
            self.attempt[rows],
            self.turn[rows],
            self.scene[rows],
            self.program[rows],
            self.visible[rows],
            self.values.at(rows),
        )


class Rule(Protocol):
    """A rule that streets must keep, beside showing the answer."""

    def keep(self, streets: Streets, questions: Sequence[Question]) -> np.ndarray:
        """(k,) bool: which of k streets keep the rule, each for the question beside it."""


def ask_families(recipe: AskingRecipe, index: np.ndarray, again: int = 0) -> Questions:
    """The questions with the numbers `index` ((n,) int64); `again` counts the other streets for their words.

    Raises ImpossibleError if no street is found for one of them.
    """
    first_attempt = again * WORDS * STREETS
    return search(recipe, [*draw_questions(recipe, index, first_attempt)])


def search(recipe: AskingRecipe, questions: list[Question], twins: Rule | None = None) -> Questions:
    """Words and streets for `questions`; with `twins`, streets of which an edit has the other answer.

    Raises ImpossibleError if no street is found for one of them.
    """
    index = np.array([question.index for question in questions], dtype=np.int64)
    result = Questions.empty(len(questions), recipe.world.most)
    result.scene.camera[:] = cameras(recipe, index)
    for name, column in draw_weather(recipe.stream("weather"), index, recipe.weathers).items():
        getattr(result.scene, name)[:] = column
    # twins have both answers, so no words give one away: those that suit few streets are drawn anew
    first_epoch = questions[0].first_attempt // STREETS if twins else 0
    patience = HOPELESS if twins and not recipe.cannot_tell else STREETS
    waiting = np.arange(len(questions))
    for epoch in range(first_epoch, first_epoch + WORDS):
        word_questions(recipe, [questions[i] for i in waiting.tolist()], epoch)
        hopeless = waiting[:0]
        drawn = 0
        while len(waiting) and drawn < patience:
            number = max(1, drawn // 2, _TOGETHER // len(waiting))
            number = min(number, (HOPELESS if drawn < HOPELESS else STREETS) - drawn)
            attempts = np.arange(drawn, drawn + number) + epoch * STREETS
            streets = draw_streets(recipe, questions, result.scene, waiting, attempts)
            found = _keep_first_that_fit(recipe, questions, streets, result, twins)
            _count_tries(result, streets, found, waiting, number)
            waiting = waiting[~np.isin(waiting, found.question)]
            drawn += number
            if drawn == HOPELESS:  # whatever the answer, these words do not fit a street
                fitting = np.array([questions[i].some_street_fits for i in waiting.tolist()], dtype=bool)
                hopeless, waiting = waiting[~fitting], waiting[fitting]
        waiting = np.sort(np.concatenate([waiting, hopeless]))
    if len(waiting):
        raise ImpossibleError(_why_impossible(questions[waiting[0]]))
    _complete(recipe, questions, index, result)
    return result


def draw_streets(
    recipe: AskingRecipe,
    questions: list[Question],
    pictures: SceneBatch,
    waiting: np.ndarray,
    attempts: np.ndarray,
) -> Streets:
    """Streets for each waiting question, of every attempt; those whose vehicles do not fit are left out.

    Their vehicles are placed by their boxes alone, and only what needs no masks is evaluated.
    """
    question = np.repeat(waiting, len(attempts))
    own = [(questions[i].index, questions[i].first_attempt) for i in question.tolist()]
    example, first_attempt = np.array(own).T
    attempt = np.tile(attempts, len(waiting)) + first_attempt
    vehicles = _fill_streets(recipe, questions, question, example, attempt)
    turn = np.array([place for place, filled in enumerate(vehicles) if filled], dtype=np.int64)
    scene = empty_batch(len(turn), recipe.world.most, SLOTS)
    scene.camera[:] = pictures.camera[question[turn]]
    scene.weather[:] = pictures.weather[question[turn]]
    filled = [street for street in vehicles if street]
    for row, street in enumerate(filled):
        scene.entity[row], scene.paint[row] = street.entity, street.paint
        if street.weather >= 0:
            scene.weather[row] = street.weather
    scene.pose[:], visible, placed = place_crowds(
        recipe.stream("crowd"),
        example[turn],
        attempt[turn],
        scene.entity.astype(np.int64),
        scene.camera,
        rough=True,
    )
    things = [street.things for street, fits in zip(filled, placed, strict=True) if fits]
    turn, scene, visible = turn[placed], scene[placed], visible[placed]
    question, example, attempt = question[turn], example[turn], attempt[turn]
    beside = np.flatnonzero([planted is not None for planted in things])
    if len(beside):
        scene.intensity[beside] = LIGHTER * pictures.intensity[question[beside]]
        address = example[beside] + (attempt[beside] << 40)
        draw_roadside(recipe, scene, beside, address, [planted for planted in things if planted])
    program = stored([questions[i].numbers for i in question.tolist()])
    hide = np.isin(program, HIDING_WORDS).any(axis=1)
    visible[hide] = visibility(scene.entity[hide], scene.pose[hide], scene.camera[hide])
    values = evaluate(scene, program, visible, recipe.size)
    for place in np.unique(question[(values.state != ILL_POSED) & ~values.idle]).tolist():
        questions[place].some_street_fits = True
    return Streets(question, example, attempt, turn, scene, program, visible, values)


def _fill_streets(
    recipe: AskingRecipe,
    questions: list[Question],
    question: np.ndarray,
    example: np.ndarray,
    attempt: np.ndarray,
) -> list[VehiclesOfStreet | None]:
    """The vehicles of each street; PLACES streets in a row have the same ones."""
    new = attempt % PLACES == 0
    address, turn = example[new], attempt[new] // PLACES
    numbers = iter(recipe.stream("vehicles").uniform(address, VEHICLE_DRAWS, turn).tolist())
    vehicles = []
    for place, is_new in zip(question.tolist(), new.tolist(), strict=True):
        own = questions[place]
        if is_new:
            draws = next(numbers)
            own.filled = fill_street(
                recipe.world,
                own.form,
                Draws(draws[::-1]).choice(own.answers) if own.wants_cannot_tell else own.answer,
                recipe.world.most if own.first_attempt else own.vehicles,
                Draws(draws),
                own.limits if own.limits and own.limits.held.pictured else None,
                unclear=own.wants_cannot_tell,
            )
        vehicles.append(own.filled)
    return vehicles


def _keep_first_that_fit(
    recipe: AskingRecipe,
    questions: list[Question],
    streets: Streets,
    result: Questions,
    twins: Rule | None,
) -> Streets:
    """Keep the first street of each question that fits it; returns the streets that were kept, in order.

    Masks take longest, and edits: so of each question one street is tried after the other.
    """
    untried = np.flatnonzero(_show_answers(recipe, questions, streets))
    depends_on_masks = np.asarray(np.isin(streets.program, SEEN_WORDS).any(axis=1))
    kept = [untried[:0]]
    while len(untried):
        first = np.unique(streets.question[untried], return_index=True)[1]
        rows = untried[first]
        trial = streets[rows]
        scene = trial.scene
        _, trial.visible, fits = place_crowds(
            recipe.stream("crowd"),
            trial.example,
            trial.attempt,
            scene.entity.astype(np.int64),
            scene.camera,
            kept=scene.pose,
        )
        again = np.flatnonzero(depends_on_masks[rows] & fits)
        values = evaluate(scene[again], trial.program[again], trial.visible[again], recipe.size)
        trial.values.keep(again, values)
        fits[fits] = _show_answers(recipe, questions, trial[fits])
        if twins is not None:
            likely = trial[fits]
            fits[fits] = twins.keep(likely, [questions[i] for i in likely.question.tolist()])
        found = trial[fits]
        result.keep(found.question, found.scene, found.visible, found.values, _STREET)
        kept.append(rows[fits])
        untried = np.delete(untried, first)
        untried = untried[~np.isin(streets.question[untried], found.question)]
    return streets[np.sort(np.concatenate(kept))]


def _show_answers(recipe: AskingRecipe, questions: list[Question], streets: Streets) -> np.ndarray:
    """(k,) bool: which streets show the answers of their questions, and keep to their limits."""
    own = [questions[i] for i in streets.question.tolist()]
    answer = np.array([question.answer for question in own])
    cannot_tell = np.array([question.wants_cannot_tell for question in own], dtype=bool)
    values = streets.values
    known = (values.state == KNOWN) & (values.answer == answer)
    shown = np.where(cannot_tell, values.state == CLOSE, known) & ~values.idle
    if recipe.hold_out:
        shown &= streets_obey([question.limits for question in own], streets.scene)
    return shown


def _count_tries(
    result: Questions, streets: Streets, found: Streets, waiting: np.ndarray, number: int
) -> None:
    """Count the streets that were drawn for waiting questions, `number` each, until one was found."""
    starts = number * np.arange(len(waiting))
    ends = starts + number
    ends[np.searchsorted(waiting, found.question)] = found.turn + 1
    placed = np.searchsorted(streets.turn, ends) - np.searchsorted(streets.turn, starts)
    result.tried[waiting] += np.stack([ends - starts, placed], axis=1)


def _why_impossible(question: Question) -> str:
    """The message for a question without a street."""
    family = question.family
    answer = "cannot tell" if question.wants_cannot_tell else ANSWERS[family.answer][question.answer]
    return (
        f"no street was found in which the answer to '{question.words}' is '{answer}': leave the family "
        f"{family.name} out of `questions`, or allow more `crowd` or `entities`"
    )


def _complete(recipe: AskingRecipe, questions: list[Question], index: np.ndarray, result: Questions) -> None:
    """Give scenes their weather's strength and sun, and a street where the question is about none; and the
    table its words and answers.
    """
    scene = result.scene
    asks_weather = np.array([question.form.parts[0] == "weather" for question in questions])
    strong = LEAST_INTENSITY + (1 - LEAST_INTENSITY) * scene.intensity
    scene.intensity[:] = np.where(asks_weather, strong, scene.intensity)
    scene.sun[:] = draw_weather(recipe.stream("weather"), index, recipe.weathers, scene.weather)["sun"]
    empty = scene.prop[:, 0] < 0  # a street has a building there
    scene.intensity[~empty] *= LIGHTER
    scene.intensity[:] = thin_fog(scene.weather, scene.intensity, scene.camera)
    street = draw_street(recipe.stream("street"), index[empty], scene.weather[empty])
    scene.prop[empty], scene.prop_pose[empty], scene.prop_style[empty] = street
    for name, column in word_columns(questions).items():
        setattr(result, name, column)
    result.answer[:] = [-1 if question.wants_cannot_tell else question.answer for question in questions]


def cameras(recipe: AskingRecipe, index: np.ndarray) -> np.ndarray:
    """(n, 7) float32 cameras of examples."""
    nominal = crowd_camera(recipe.world.most)
    return draw_cameras(nominal, recipe.stream, index, recipe.jitter, recipe.varied)
