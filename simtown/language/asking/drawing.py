"""The family, the answer and the words of each question, drawn before any street.

The answer is drawn fairly and independent of the words, so no words hint at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from simtown.language.asking.draws import Draws
from simtown.language.asking.hold_out import NO_LIMIT
from simtown.language.asking.paper import ImpossibleError
from simtown.language.asking.question import AskingRecipe, Question
from simtown.language.asking.question_world import AskedWorld
from simtown.language.asking.slots import Drawer, NoWordsError
from simtown.language.asking.streets import Limits, least_vehicles, may_ask
from simtown.language.asking.template import Family, Template, may_be_close
from simtown.language.meaning.forms import Form
from simtown.language.meaning.programs import encode
from simtown.language.words import wording
from simtown.scenes.weather import draw_weather

#: Words that are drawn at most until some fit.
TRIES = 16
#: More words that are drawn then, unless compositions are held out.
MORE_TRIES = 512
#: The number of the first of these attempts.
LATE = 1 << 32
#: Streets that show whether words may have an answer.
FILLS = 4
#: Uniform numbers for the words of a question.
WORD_DRAWS = 64
#: Uniform numbers for the vehicles of a street.
VEHICLE_DRAWS = 64


class DrawnWords(NamedTuple):
    """A question in words.

    Attributes:
        template: place of a template in its family.
        text: place of one of the template's texts.
        form: the program.
        slots: what fills the slots of the text.
    """

    template: int
    text: int
    form: Form
    slots: list[Any]


def draw_questions(recipe: AskingRecipe, index: np.ndarray) -> Iterator[Question]:
    """The family and the answer of every question: of 2j and 2j + 1 the same family and other answers.

    Both want as many vehicles in their streets, so that the number does not hint at the answer.
    """
    weathers = draw_weather(recipe.stream("weather"), index, recipe.weathers)["weather"].tolist()
    pair_draws = recipe.stream("answer").uniform(index // 2, 4).tolist()
    cannot_tell_draws = recipe.stream("cannot tell").uniform(index, 1)[:, 0].tolist()
    vehicle_draws = recipe.stream("vehicle number").uniform(index // 2, 1)[:, 0].tolist()
    cannot_tell = recipe.cannot_tell * (1 + recipe.twins)  # one of two pictures is unclear
    least, most = recipe.world.least, recipe.world.most
    hold_out = recipe.hold_out
    places = tuple(range(len(recipe.families)))
    limits: Limits | None = None
    for row, number in enumerate(index.tolist()):
        family_draw, first_draw, second_draw, rule_draw = pair_draws[row]
        if hold_out:
            rule = int(rule_draw * len(hold_out.held))
            limits = Limits(hold_out.held[rule], hold_out.alone, weathers[row])
            places = hold_out.families[rule]
        place = places[int(family_draw * len(places))]
        vehicles = least + int(vehicle_draws[row] * (most - least + 1))
        question = _question(recipe, number, place, vehicles, limits)
        answer = int(first_draw * len(question.answers))
        if number % 2:
            others = len(question.answers) - 1
            answer = (answer + 1 + int(second_draw * others)) % len(question.answers)
        yield replace(
            question,
            answer=question.answers[answer],
            wants_cannot_tell=question.wants_cannot_tell and cannot_tell_draws[row] < cannot_tell,
        )


def _question(
    recipe: AskingRecipe, number: int, place: int, vehicles: int, limits: Limits | None
) -> Question:
    """A question of a family with its first possible answer, or an unclear one if that is possible."""
    family = recipe.families[place]
    answers = recipe.world.answers[family.answer]
    may_be_unclear = not family.clear
    if limits:
        answers = limits.held.answers(family.answer, answers, limits.alone, recipe.twins)
        may_be_unclear &= not (limits.alone and limits.held.count < NO_LIMIT)
    return Question(number, family, place, answers[0], may_be_unclear, answers, vehicles, limits)


def askable(recipe: AskingRecipe, place: int) -> bool:
    """Whether a family has words for each of its answers; with a hold-out, such as keep to its only rule."""
    hold_out = recipe.hold_out
    limits = None
    if hold_out:
        limits = Limits(hold_out.held[0], hold_out.alone, recipe.world.weathers[0])
    question = _question(recipe, 0, place, recipe.world.least, limits)
    numbers = recipe.stream("words").uniform(np.zeros(1, np.int64), WORD_DRAWS)
    try:
        for answer in question.answers[: 1 if hold_out else None]:
            _word(recipe, replace(question, answer=answer), 0, numbers[0])
    except ImpossibleError:
        return False
    return True


def draw_words(
    world: AskedWorld, templates: Sequence[tuple[int, Template]], draws: Draws, narrowed: int | None = None
) -> DrawnWords | None:
    """A question of one of some templates, each with its place; None if nothing fills its slots."""
    place, template = draws.choice(templates)
    text = draws.below(len(template.texts))
    try:
        return DrawnWords(place, text, *Drawer(world, draws, narrowed).question(template))
    except (NoWordsError, StopIteration):
        return None


def text_of(family: Family, drawn: DrawnWords) -> str:
    """A question in words."""
    return wording.fill(family.templates[drawn.template].texts[drawn.text], drawn.slots)


def word_questions(recipe: AskingRecipe, questions: Sequence[Question], epoch: int) -> None:
    """Give each question words, others in each epoch. Raises ImpossibleError if this world has none."""
    index = np.array([question.index for question in questions], dtype=np.int64)
    numbers = recipe.stream("words").uniform(index, WORD_DRAWS, epoch * _tries(recipe))
    for question, own in zip(questions, numbers, strict=True):
        _word(recipe, question, epoch, own)


def _tries(recipe: AskingRecipe) -> int:
    """Words that are drawn at most until some fit."""
    return recipe.hold_out.tries if recipe.hold_out else TRIES


def _word(recipe: AskingRecipe, question: Question, epoch: int, numbers: np.ndarray) -> None:
    """Draw words until some fit a street of this world; `numbers` are those of the first attempt."""
    first, tries = epoch * _tries(recipe), _tries(recipe)
    late = LATE + epoch * MORE_TRIES
    more = 0 if recipe.hold_out else MORE_TRIES
    templates = [*enumerate(question.family.templates)]
    for attempt in chain(range(first, first + tries), range(late, late + more)):
        if attempt != first:
            numbers = recipe.stream("words").uniform(np.array([question.index]), WORD_DRAWS, attempt)[0]
        drawn = draw_words(recipe.world, templates, Draws(numbers.tolist()))
        vehicles = _vehicles_needed(recipe, question, drawn.form, attempt) if drawn else None
        if drawn and vehicles is not None:
            question.template, question.text = drawn.template, drawn.text
            question.form, question.numbers = drawn.form, encode(drawn.form)
            question.words = text_of(question.family, drawn)
            question.vehicles = vehicles
            question.filled, question.some_street_fits = None, False
            return
    raise ImpossibleError(
        f"this world has too few kinds for the family {question.family.name}: leave it out of `questions` or "
        "give more `entities`"
        + ", or more `crowd`, or add exist to `questions`"
        * (recipe.distinct_kinds > 0)
    )


def _vehicles_needed(recipe: AskingRecipe, question: Question, form: Form, attempt: int) -> int | None:
    """Vehicles of the streets of a question with this program; None if it must not be asked."""
    family, world = question.family, recipe.world
    may_be_unclear = recipe.cannot_tell > 0 and not family.clear
    if may_be_unclear and not may_be_close(form):
        return None  # no street makes it unclear, so its words would hint
    answers = question.answers if family.answer in ("truth", "count") else (question.answer,)
    vehicles = least_vehicles(
        world, form, answers, question.wanted_vehicles, recipe.distinct_kinds, may_be_unclear
    )
    if vehicles > world.most:
        return None
    if question.limits:
        address, fills = np.full(FILLS, question.index), attempt * FILLS + np.arange(FILLS)
        tries = recipe.stream("hold-out").uniform(address, VEHICLE_DRAWS, fills).tolist()
        if not may_ask(world, form, question.answers, vehicles, question.limits, tries):
            return None
    return vehicles
