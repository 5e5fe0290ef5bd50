"""Questions about sequences as a source of examples: their recipes, columns and proof."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.core.options import SettingsError
from simtown.datasets.family_questions import (
    FamilyQuestions,
    families_of,
    problems,
    question_columns,
    stored_questions,
)
from simtown.datasets.question_source import (
    FAMILY_ARRAYS,
    SEQUENCE_ARRAYS,
    Columns,
    Problems,
    as_stored,
)
from simtown.language.asking.sequences import REVERSED, SequenceQuestions, SequenceRecipe, ask_sequences
from simtown.language.meaning.evaluate import Values, evaluate
from simtown.language.meaning.moments import evaluate_shown, show
from simtown.language.meaning.programs import ProgramError
from simtown.scenes.scene import SceneBatch, plausible
from simtown.scenes.sequence import COLUMNS, Sequence, known, pictures, stored_pictures
from simtown.scenes.silhouette import boxes

if TYPE_CHECKING:
    from simtown.datasets.settings import Settings

#: Examples that are sampled at once, and to find out whether there are such.
ASKED_AT_ONCE, TRIAL = 2048, 64
#: Columns of sequences that values depend on beside those of single pictures.
SEQUENCE_COLUMNS = (*(f"scene/{name}" for name in COLUMNS), "order")
#: Columns of the question, which a pair shares.
_WORDS = ("question", "tokens", "family", "template", "text", "program")


class SequenceSource(FamilyQuestions):
    """Questions about sequences (:mod:`simtown.language.asking.sequences`)."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.arrays = FAMILY_ARRAYS | SEQUENCE_ARRAYS
        self.batch = ASKED_AT_ONCE

    def check(self) -> None:
        unasked = problems(self.settings)
        for name in (name for name in self.settings.questions if name in unasked):
            raise SettingsError(f"{name} {unasked[name]}, or leave it out", "questions")
        if not families_of(self.settings):
            name, why = next(iter(unasked.items()))
            raise SettingsError(f"no family can be asked: {name} {why}", "questions")
        for split in ("train", "test"):
            self.draw(split, np.arange(TRIAL))

    def recipe(self, split: str) -> Any:
        asking, settings = super().recipe(split), self.settings
        return SequenceRecipe(asking, settings.sequence, settings.shots, settings.seconds)

    def draw(self, split: str, index: np.ndarray) -> Any:
        return ask_sequences(self.recipe(split), index)

    def pictures(self, drawn: Any) -> SceneBatch:
        _, first = np.unique(drawn.number, return_index=True)
        return pictures(drawn.sequence[first])

    def shown(self, drawn: Any, rows: np.ndarray) -> SceneBatch:
        return pictures(drawn.sequence[rows], drawn.order[rows])

    def columns(self, drawn: Any, index: np.ndarray) -> dict[str, np.ndarray]:
        settings = self.settings
        scenes = pictures(drawn.sequence, drawn.order)
        box = boxes(scenes, settings.width, settings.height).reshape(*drawn.visible.shape, 4)
        return {
            **question_columns(drawn, index, settings, {"boxes": box, "visible": drawn.visible}),
            "sequence": drawn.number,
            "order": drawn.order,
            "shared": drawn.shared,
            **drawn.sequence.columns(),
        }

    def problems(self, stored: Columns, split: str, quick: bool) -> Problems:
        yield from super().problems(stored, split, False)
        yield from pair_problems(stored)

    def unknown_numbers(self, stored: Columns) -> np.ndarray:
        return ~known(stored)

    def implied(self, stored: Columns, visible: np.ndarray) -> Any:
        settings, sequence, order = self.settings, Sequence.of_columns(stored), stored["order"]
        shown = show(sequence, order)
        if not plausible(shown.scenes).all():
            raise ProgramError("a picture shows what does not exist")
        shown = replace(shown, visible=as_stored(stored["visible"], shown.visible))
        values = evaluate_shown(shown, stored["program"], (settings.width, settings.height))
        return SequenceQuestions(
            sequence=sequence,
            number=stored["sequence"],
            order=order,
            shared=stored["shared"],
            visible=shown.visible,
            **stored_questions(stored, families_of(settings), values),
        )


def stored_values(stored: Columns, settings: Settings) -> Values:
    """The values of stored programs of families in their stored scenes or sequences."""
    program, visible, size = stored["program"], stored["visible"], (settings.width, settings.height)
    if settings.sequence:
        return evaluate_shown(show(Sequence.of_columns(stored), stored["order"], visible), program, size)
    scenes = SceneBatch.of_columns(stored)
    return evaluate(scenes, program, visible, size, by_name=settings.hand_made)


def pair_problems(columns: Columns) -> Problems:
    """Problems of pairs, examples 2j and 2j + 1: sentences, and (n,) bool for which examples.

    A reversed pair has one sequence, whose pictures the second shows in reverse order: so whoever ignores
    their order gives both the same answer. Any other pair shares a picture.
    """
    one, other = ({name: column[start::2] for name, column in columns.items()} for start in (0, 1))
    back = one["shared"] == REVERSED

    def differ(names: list[str] | tuple[str, ...]) -> np.ndarray:
        parts = [(one[name] != other[name]).reshape(len(back), -1).any(axis=1) for name in names]
        return np.any(parts, axis=0)

    def of_examples(wrong: np.ndarray) -> np.ndarray:
        return np.repeat(wrong, 2)

    yield "a pair has different words", of_examples(differ(_WORDS))
    yield "a pair has the same answer", of_examples(one["value"] == other["value"])
    yield "a pair names two shared pictures", of_examples(differ(("shared",)))
    reverse = (one["order"] == other["order"][:, ::-1]).all(axis=1) & (one["sequence"] == other["sequence"])
    latent = differ([name for name in columns if name.startswith("scene/")])
    yield "a reversed pair does not show one sequence in both orders", of_examples(back & (~reverse | latent))
    number = columns["index"] // 2 * 2
    own = np.where(of_examples(back), number, columns["index"])
    yield "a sequence has another number than its first example", columns["sequence"] != own
    count = columns["order"].shape[1]
    yield "a shared picture is none of the pictures", of_examples(~back & (one["shared"] >= count))
    which = np.where(back, 0, np.minimum(one["shared"], count - 1))
    rows = np.arange(len(back)) * count + which
    first, second = (stored_pictures(half)[rows].columns() for half in (one, other))
    parts = [(first[name] != second[name]).reshape(len(back), -1).any(axis=1) for name in first]
    yield "a pair shares no picture", of_examples(~back & np.any(parts, axis=0))
