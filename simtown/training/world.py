"""Facts of the world that a model may know before it sees an example, and its input from each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simtown.datasets.names import names
from simtown.datasets.source import source_of
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.language.words import tokens
from simtown.language.words.questions import LENGTH

if TYPE_CHECKING:
    import torch

    from simtown.datasets.reading.reader import Dataset
    from simtown.datasets.settings import Settings

#: What a run records of questions of families: their names, the closed vocabulary of answers, all tokens.
LANGUAGE = ("families", "answers", "vocabulary")


def language_of(dataset: Dataset) -> dict[str, list[str]]:
    """By the names in LANGUAGE, the texts of a data set of families; {} for the paper's questions."""
    if not dataset.settings.has_families:
        return {}
    return {name: dataset.names.get(name, dataset.vocabulary) for name in LANGUAGE}


@dataclass(frozen=True)
class World:
    """Sizes a model is built for.

    Attributes:
        entities: kinds of vehicles.
        width: of a picture, pixels.
        height: of a picture, pixels.
        words: tokens of the vocabulary, padding (0) included.
        relations: all relations there are.
        length: tokens of a question.
        answers: logits that a model returns for a question: 1, of yes, or one for each answer.
        families: of questions.
        pictures: of an example, more than 1 of sequences.
    """

    entities: int
    width: int
    height: int
    words: int
    relations: int = len(RELATION_NAMES)
    length: int = LENGTH
    answers: int = 1
    families: int = 1
    pictures: int = 1

    @classmethod
    def of(cls, settings: Settings, language: Mapping[str, Sequence[str]] | None = None) -> World:
        """The world of the data sets of these settings.

        `language`: of a data set of families, as :func:`language_of` has it; by default that of this simtown.
        """
        size = settings.entities, settings.width, settings.height
        if not settings.has_families:
            return cls(*size, len(source_of(settings).vocabulary()), len(names(settings)["relations"]))
        if not language:
            language = {"vocabulary": source_of(settings).vocabulary(), **names(settings)}
        words, answers, families = (len(language[name]) for name in ("vocabulary", "answers", "families"))
        return cls(
            *size,
            words,
            length=tokens.LENGTH,
            answers=max(2, answers),
            families=families,
            pictures=settings.shots,
        )


@dataclass
class Batch:
    """b examples on one device.

    Attributes:
        image: (b, 3, height, width) float32 in [-1, 1], in channels-last memory, where the P pictures of a
            sequence are (b, 3 * P, height, width) in the order in which they are shown; or (b, places,
            channels) float16, what the frozen encoder of a model made of it.
        tokens: (b, length) int64, padded with 0.
        subject: (b,) int64, the rank of the vehicle's kind in the world, 0 the most frequent.
        relation: (b,) int64.
        object: (b,) int64, as `subject`.
        answer: (b,) float32, 0 or 1; of families (b,) int64, the place among the data set's answers.
        boxes: (b, 2, 4) float32, subject then object: centre x, centre y, width, height as shares of the
            picture.
        family: (b,) int64 of the question, 0 for the paper's. Questions of families have neither subject nor
            relation nor object, and no boxes: all are 0.
    """

    image: torch.Tensor
    tokens: torch.Tensor
    subject: torch.Tensor
    relation: torch.Tensor
    object: torch.Tensor
    boxes: torch.Tensor
    answer: torch.Tensor
    family: torch.Tensor

    def __len__(self) -> int:
        return len(self.answer)
