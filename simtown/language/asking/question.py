"""Questions and what they are drawn from: the recipe, a question that is being made, a table of questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simtown.core.streams import Stream
from simtown.language.asking.hold_out import HoldOut
from simtown.language.asking.question_world import AskedWorld
from simtown.language.asking.streets import Limits, VehiclesOfStreet
from simtown.language.asking.template import Family
from simtown.language.meaning.evaluate import Values
from simtown.language.meaning.forms import Form
from simtown.language.meaning.programs import END, LENGTH
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.street import SLOTS

if TYPE_CHECKING:
    from simtown.language.asking.twins import Twins

#: Streets that are drawn at most for the first of several questions about a picture.
MOST_STREETS = 400
#: Vehicles whose kinds differ from all others', where several questions are asked about each picture.
DISTINCT_KINDS = 2


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

    @property
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
class Questions:
    """A table of n questions, the question first.

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
