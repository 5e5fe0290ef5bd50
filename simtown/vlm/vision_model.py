"""The protocol of a vision-language model: queries go in, what the model said comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from simtown.language.replies import Gold
from simtown.vlm.statements import statements


@dataclass(frozen=True, eq=False)
class Query:
    """One question to a model.

    Attributes:
        key: its name, which no other query of the condition has, such as "test:7".
        picture: (h, w, 3) uint8, or None.
        text: the question, and how to answer it.
        gold: the right answer, its type and the answers to choose among. No model sees the right answer.
        question: the question alone.
    """

    key: str
    picture: np.ndarray | None
    text: str
    gold: Gold
    question: str = ""

    @property
    def statements(self) -> tuple[tuple[str, ...], ...]:
        """For each of `gold.choices` what says it, for models that compare pictures with sentences."""
        return statements(self.question, self.gold.type, self.gold.choices)


@dataclass(frozen=True)
class Said:
    """What a model said.

    Attributes:
        text: its reply.
        scores: a number for each of `gold.choices`, whose highest is the model's answer; differences are
            log-odds. None if the model gives its reply alone.
        read: tokens of the question and its picture, if the model counts them.
        written: tokens of the reply.
    """

    text: str
    scores: tuple[float, ...] | None = None
    read: int = 0
    written: int = 0


class UnreachableError(ValueError):
    """The model cannot be asked any more; the message says why. What it said before is kept."""


class VisionModel(ABC):
    """A model that is asked about pictures.

    Attributes:
        identity: what tells its answers from those of another model of the same name, such as a digest of
            its weights; "" if nothing does.
    """

    identity = ""

    @abstractmethod
    def ask(self, queries: Iterable[Query]) -> Iterator[tuple[Query, Said]]:
        """Ask, and give every query with its answer as soon as it is there, in any order.

        Raises UnreachableError if the model stops answering.
        """


class BatchedModel(VisionModel):
    """A model that answers a batch of queries at a time."""

    batch = 1

    def ask(self, queries: Iterable[Query]) -> Iterator[tuple[Query, Said]]:
        waiting = iter(queries)
        while batch := list(islice(waiting, self.batch)):
            yield from zip(batch, self.answer(batch), strict=True)

    @abstractmethod
    def answer(self, queries: Sequence[Query]) -> Sequence[Said]:
        """What the model says to each of some queries."""
