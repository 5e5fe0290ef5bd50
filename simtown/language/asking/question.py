"""Questions: what they are drawn from, the table of them, and how their words are drawn.

The family, the answer and the words of each question are drawn before any street. The answer is drawn fairly
and independent of the words, so no words hint at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simtown.core.streams import Draws, Stream
from simtown.language.asking.hold_out import NO_LIMIT, HoldOut, Limits
from simtown.language.asking.paper import ImpossibleError
from simtown.language.asking.question_world import AskedWorld
from simtown.language.asking.streets import VehiclesOfStreet, fill_street, least_vehicles
from simtown.language.asking.templates import Drawer, Family, NoWordsError, Template, may_be_close
from simtown.language.meaning.evaluate import Values
from simtown.language.meaning.programs import END, LENGTH, Form, encode, stored
from simtown.language.words import wording
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.street import SLOTS
from simtown.scenes.weather import WEATHERS, draw_weather

if TYPE_CHECKING:
    from simtown.language.asking.twins import Twins

#: Streets that are drawn at most for the first of several questions about a picture.
MOST_STREETS = 400
#: Vehicles whose kinds differ from all others', where several questions are asked about each picture.
DISTINCT_KINDS = 2
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


@dataclass(frozen=True)
class AskingRecipe:
    """The recipe from which questions and streets are drawn.

    Attributes:
        seed: the data set's seed.
        split: the name of the split.
        world: kinds, paints, weathers, numbers of vehicles.
        families: what is asked, each as often.
        weathers: names of the weathers that may occur.
        size: width and height of the pictures, pixels.
        jitter: largest random shift of the camera to a side, metres.
        varied: whether cameras stand on both sides, low and high.
        cannot_tell: share of questions whose answer is that one cannot tell.
        questions_per_picture: questions of a picture.
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
    varied: bool = False
    cannot_tell: float = 0.0
    questions_per_picture: int = 1
    hold_out: HoldOut | None = None
    twins: bool = False
    count_changes: Callable[[SceneBatch, SceneBatch, tuple[int, int]], np.ndarray] | None = None
    streets: int = MOST_STREETS

    @cached_property
    def distinct_kinds(self) -> int:
        """Vehicles of kinds of their own that a street must have, since further questions depend on them."""
        asks_exist = any(family.name == "exist" for family in self.families)
        return 0 if self.questions_per_picture == 1 or asks_exist else DISTINCT_KINDS

    def stream(self, component: str) -> Stream:
        """The draws of a component."""
        return Stream(self.seed, self.split, component)


@dataclass
class Question:
    """A question that is being made.

    Attributes:
        index: its number in the split.
        family: its family; `family_place` is the family's place in the recipe.
        answer: the answer that its street must have.
        wants_cannot_tell: whether its answer must be "cannot tell" instead.
        answers: all answers that questions of the family may have.
        wanted_vehicles: the number of vehicles of its streets, unless its words need more.
        limits: the compositions that its street must not show, or of which it must show one.
        twin_answer: the answer in the twin of its picture, if it has one.
        first_attempt: the number of its first street, for the addresses of draws.
        vehicles: the number of vehicles of its streets.
        template: place of the template in the family; `text` is the place of the text in the template.
        form: its program; `numbers` is the program as numbers.
        words: the question in words.
        some_street_fits: whether these words had any answer in a street that was drawn.
        filled: the vehicles of the streets that are drawn now; None if no vehicles fit the words.
    """

    index: int
    family: Family
    family_place: int
    answer: int
    wants_cannot_tell: bool
    answers: tuple[int, ...]
    wanted_vehicles: int
    limits: Limits | None = None
    twin_answer: int = -1
    first_attempt: int = 0
    vehicles: int = 0
    template: int = 0
    text: int = 0
    form: Form = field(default_factory=lambda: Form("", ()))
    numbers: list[int] = field(default_factory=list)
    words: str = ""
    some_street_fits: bool = False
    filled: VehiclesOfStreet | None = None


@dataclass
class QuestionTable:
    """n questions, whatever they are about; the question first.

    Attributes:
        family: (n,) int64 place in the recipe's families; `template` (n,) place in the family's templates,
            `text` (n,) in the template's texts.
        program: (n, programs.LENGTH) int16.
        words: n questions in words.
        answer: (n,) int64 the answer, as the evaluator numbers those of the family's type; -1 for "cannot
            tell".
        values: what the evaluator says of them.
        tried: (n, 2) int64 how many streets were drawn and how many of them could be placed.
    """

    family: np.ndarray
    template: np.ndarray
    text: np.ndarray
    program: np.ndarray
    words: list[str]
    answer: np.ndarray
    values: Values
    tried: np.ndarray


@dataclass
class Questions(QuestionTable):
    """A table of n questions about single pictures.

    Attributes:
        scene: the complete latent scenes.
        visible: (n, v) float32 visible share of each vehicle.
        twins: which of them are about twins, if pictures come in twos (:mod:`simtown.language.asking.twins`).
    """

    scene: SceneBatch
    visible: np.ndarray
    twins: Twins | None = None

    @classmethod
    def empty(cls, n: int, vehicles: int) -> Questions:
        """A table of n questions that are still to be found."""
        return cls(
            scene=empty_batch(n, vehicles, SLOTS),
            visible=np.zeros((n, vehicles), dtype=np.float32),
            family=np.zeros(n, dtype=np.int64),
            template=np.zeros(n, dtype=np.int64),
            text=np.zeros(n, dtype=np.int64),
            program=np.full((n, LENGTH), END, dtype=np.int16),
            words=[""] * n,
            answer=np.zeros(n, dtype=np.int64),
            values=Values.empty(n),
            tried=np.zeros((n, 2), dtype=np.int64),
        )

    def keep(
        self, rows: np.ndarray, scenes: SceneBatch, visible: np.ndarray, values: Values, names: Sequence[str]
    ) -> None:
        """Put scenes, but only their fields with some names, visible shares and values into some rows."""
        self.visible[rows] = visible
        for name in names:
            getattr(self.scene, name)[rows] = getattr(scenes, name)
        self.values.keep(rows, values)


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


def draw_questions(recipe: AskingRecipe, index: np.ndarray, first_attempt: int = 0) -> Iterator[Question]:
    """The family and the answer of every question: of 2j and 2j + 1 the same family and other answers.

    Both want as many vehicles in their streets, so that the number does not hint at the answer. Streets are
    numbered from `first_attempt` on.
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
        question.answer = question.answers[answer]
        question.wants_cannot_tell &= cannot_tell_draws[row] < cannot_tell
        question.first_attempt = first_attempt
        yield question


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
    try:
        for answer in question.answers[: 1 if hold_out else None]:
            word_questions(recipe, [replace(question, answer=answer)], 0)
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


def word_questions(recipe: AskingRecipe, questions: Sequence[Question], epoch: int) -> None:
    """Give each question words that fit a street of this world, others in each epoch.

    Raises ImpossibleError if there are none.
    """
    stream = recipe.stream("words")
    tries = recipe.hold_out.tries if recipe.hold_out else TRIES
    first, late = epoch * tries, LATE + epoch * MORE_TRIES
    attempts = [*range(first, first + tries)]
    if not recipe.hold_out:
        attempts += range(late, late + MORE_TRIES)
    index = np.array([question.index for question in questions], dtype=np.int64)
    first_draws = stream.uniform(index, WORD_DRAWS, first)
    for place, question in enumerate(questions):
        family, numbers = question.family, first_draws[place]
        templates = [*enumerate(family.templates)]
        for attempt in attempts:
            if attempt != first:
                numbers = stream.uniform(index[place : place + 1], WORD_DRAWS, attempt)[0]
            drawn = draw_words(recipe.world, templates, Draws(numbers.tolist()))
            vehicles = _vehicles_needed(recipe, question, drawn.form, attempt) if drawn else None
            if drawn and vehicles is not None:
                break
        else:
            raise ImpossibleError(
                f"this world has too few kinds for the family {family.name}: leave it out of `questions` or "
                "give more `entities`"
                + ", or more `crowd`, or add exist to `questions`"
                * (recipe.distinct_kinds > 0)
            )
        question.template, question.text = drawn.template, drawn.text
        question.form, question.numbers = drawn.form, encode(drawn.form)
        question.words = wording.fill(family.templates[drawn.template].texts[drawn.text], drawn.slots)
        question.vehicles = vehicles
        question.filled, question.some_street_fits = None, False


def word_columns(questions: Sequence[Question]) -> dict[str, Any]:
    """The columns of a table that questions in words fill, by name."""
    return {
        "family": np.array([question.family_place for question in questions]),
        "template": np.array([question.template for question in questions]),
        "text": np.array([question.text for question in questions]),
        "program": stored([question.numbers for question in questions]),
        "words": [question.words for question in questions],
    }


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
    if question.limits and not _may_ask(recipe, question, form, vehicles, attempt):
        return None
    return vehicles


def _may_ask(recipe: AskingRecipe, question: Question, form: Form, number: int, attempt: int) -> bool:
    """Whether a split may ask a question about `number` vehicles, whatever the answer is: so its words do not
    hint at the answer.

    Words of training name no composition that is held out, and no answer to them makes one. Words of the
    split of compositions ask for one, or any answer to them may be true where a picture shows one.
    """
    limits = question.limits
    assert limits is not None
    held = limits.held
    if limits.alone and not held.pictured:
        return (held.count < NO_LIMIT and form.name == "count") or held.asks(form)
    if not limits.alone and (held.asks(form) or held.names(form, WEATHERS[limits.weather])):
        return False
    if not held.pictured:
        return True
    address, fills = np.full(FILLS, question.index), attempt * FILLS + np.arange(FILLS)
    tries = recipe.stream("hold-out").uniform(address, VEHICLE_DRAWS, fills).tolist()
    for answer in question.answers:
        streets = (fill_street(recipe.world, form, answer, number, Draws(own), limits) for own in tries)
        if not any(streets):
            return False
    return True
