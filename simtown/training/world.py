"""What a model may know of the world before it sees an example, and what it is given of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simtown.language.questions import LENGTH
from simtown.language.relations import RELATION_NAMES

if TYPE_CHECKING:
    import torch

    from simtown.datasets.reader import Dataset


@dataclass(frozen=True)
class World:
    """Sizes a model is built for.

    Attributes:
        entities: kinds of vehicles.
        relations: all relations there are.
        words: tokens of the vocabulary, padding (0) included.
        length: tokens of a question.
        width, height: pixels.
    """

    entities: int
    width: int
    height: int
    words: int
    relations: int = len(RELATION_NAMES)
    length: int = LENGTH

    @classmethod
    def of(cls, dataset: Dataset) -> World:
        """The world of a data set."""
        settings = dataset.settings
        return cls(settings.entities, settings.width, settings.height, len(dataset.vocabulary))


@dataclass
class Batch:
    """b examples on one device.

    Attributes:
        image: (b, 3, height, width) float32 in [-1, 1], in channels-last memory.
        tokens: (b, length) int64, padded with 0.
        subject, relation, object: (b,) int64. A vehicle's number is its kind's rank in the world, 0 the most frequent.
        answer: (b,) float32, 0 or 1.
        boxes: (b, 2, 4) float32, subject then object: centre x, centre y, width, height as shares of the picture.
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
