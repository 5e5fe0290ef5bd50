"""What a model may know of the world before it sees an example, and what it is given of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simtown.datasets.names import names
from simtown.language.questions import LENGTH, vocabulary_for
from simtown.language.relations import RELATION_NAMES

if TYPE_CHECKING:
    import torch

    from simtown.datasets.settings import Settings


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
    """

    entities: int
    width: int
    height: int
    words: int
    relations: int = len(RELATION_NAMES)
    length: int = LENGTH

    @classmethod
    def of(cls, settings: Settings) -> World:
        """The world of the data sets of these settings."""
        words = len(vocabulary_for(settings.phrasing, settings.relations, len(settings.own_kinds)))
        relations = len(names(settings)["relations"])
        return cls(settings.entities, settings.width, settings.height, words, relations)


@dataclass
class Batch:
    """b examples on one device.

    Attributes:
        image: (b, 3, height, width) float32 in [-1, 1], in channels-last memory.
        tokens: (b, length) int64, padded with 0.
        subject: (b,) int64, the rank of the vehicle's kind in the world, 0 the most frequent.
        relation: (b,) int64.
        object: (b,) int64, as `subject`.
        answer: (b,) float32, 0 or 1.
        boxes: (b, 2, 4) float32, subject then object: centre x, centre y, width, height as shares of the
            picture.
    """

    image: torch.Tensor
    tokens: torch.Tensor
    subject: torch.Tensor
    relation: torch.Tensor
    object: torch.Tensor
    boxes: torch.Tensor
    answer: torch.Tensor

    def __len__(self) -> int:
        return len(self.answer)
