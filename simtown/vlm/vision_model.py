"""The protocol of a vision-language model: queries go in, what the model said comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from simtown.language.words.replies import Gold
from simtown.language.words.statements import statements

if TYPE_CHECKING:
    from simtown.vlm.conditions import AskedSplit
    from simtown.vlm.vlm_settings import VlmSettings

#: The largest number of tokens or requests that is believed.
_MOST = 10**9


class Turn(NamedTuple):
    """A message before a question: of the "system", the "user" with pictures, or the "assistant"."""

    role: str
    text: str
    pictures: tuple[np.ndarray, ...] = ()
    is_behind: bool = False


@dataclass(frozen=True, eq=False)
class Query:
    """One question to a model.

    Attributes:
        key: its name, which no other query of the condition has, such as "test:7".
        pictures: (h, w, 3) uint8 each, in their order; () if the question is asked without one.
        text: the question, and how to answer it.
        gold: the right answer, its type and the answers to choose among. No model sees the right answer.
        question: the question alone.
        turns: messages before it.
        letters: by answer the letter of its option, if the answers are offered as options.
        is_behind: whether the pictures stand behind the text, for models that get messages.
    """

    key: str
    pictures: tuple[np.ndarray, ...]
    text: str
    gold: Gold
    question: str = ""
    turns: tuple[Turn, ...] = ()
    letters: Mapping[str, str] = field(default_factory=dict)
    is_behind: bool = False

    @property
    def picture(self) -> np.ndarray | None:
        """The first picture; None if there is none."""
        return self.pictures[0] if self.pictures else None

    @property
    def messages(self) -> tuple[Turn, ...]:
        """The messages before the question, and the question."""
        return *self.turns, Turn("user", self.text, self.pictures, self.is_behind)

    @property
    def spoken(self) -> tuple[str, ...]:
        """For each of `gold.choices` what a model says to choose it: the answer, or its letter."""
        return tuple(self.letters.get(choice, choice) for choice in self.gold.choices)

    @property
    def statements(self) -> tuple[tuple[str, ...], ...]:
        """For each of `gold.choices` what says it, for models that compare pictures with sentences."""
        return statements(self.question, self.gold.type, self.gold.choices)


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model's reply.

    Attributes:
        text: its reply.
        scores: a number for each of `gold.choices`, whose highest is the model's answer; differences are
            log-odds. None if the model gives its reply alone.
        read: tokens of the question and its picture, 0 if nobody counted them. A server may have sent
            anything; :func:`normalise` makes it a number.
        written: tokens of the reply, as `read`.
        finish: why the reply ended, in the server's words: "stop"; "length" if it was cut.
        reasoning: the thoughts that came apart from the reply.
        problem: why there is nothing to read, such as a server's refusal; "" if there is something.
        refused: whether the server refused this question.
        requests: how often the question was sent.
        seconds: that passed in the run since the answer before; they add up to the time of the run.
    """

    text: str
    scores: tuple[float, ...] | None = None
    read: Any = 0
    written: Any = 0
    finish: str = ""
    reasoning: str = ""
    problem: str = ""
    refused: bool = False
    requests: Any = 1
    seconds: float = 0.0


def normalise(said: Said, query: Query) -> Said:
    """A model's reply in a form that can be stored and summed: all answers of all models pass here.

    Half a surrogate pair becomes U+FFFD, and a count that is none 0. Scores that are not a finite number for
    each answer are a `problem`.
    """
    text, scores, problem = said.text, said.scores, said.problem
    if scores is not None and not (len(scores) == len(query.gold.choices) and all(map(isfinite, scores))):
        text, scores, problem = "", None, "its scores are not a finite number for each answer"
    texts = {"text": text, "finish": said.finish, "reasoning": said.reasoning, "problem": problem}
    counts = {"read": said.read, "written": said.written, "requests": said.requests}
    changes: dict[str, Any] = {
        **{name: _whole_text(value) for name, value in texts.items()},
        **{name: _whole_number(value) for name, value in counts.items()},
    }
    return msgspec.structs.replace(said, scores=scores, **changes)


def _whole_text(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _whole_number(count: Any) -> int:
    return int(count) if type(count) in (int, float) and 0 <= count <= _MOST else 0


class VisionModel(ABC):
    """A model that is asked about pictures.

    Attributes:
        identity: what tells its answers from those of another model of the same name, such as a digest of
            its weights; "" if nothing does.
        holds_turns: whether it can be given messages before a question.
        holds_several: whether a question may have several pictures.
        batch: queries that it is asked at once.
    """

    identity = ""
    holds_turns = False
    holds_several = False
    batch = 1

    def prepare(self, asked: AskedSplit, settings: VlmSettings) -> VlmSettings:
        """The settings by which it is asked about a split; raises ValueError if it cannot be."""
        return settings

    @abstractmethod
    def ask(self, queries: Iterable[Query]) -> Iterator[tuple[Query, Said]]:
        """Ask, and give every query with its answer as soon as it is there, in any order.

        Raises UnreachableError if the model stops answering.
        """


class BatchedModel(VisionModel):
    """A model that answers a batch of queries at a time."""

    def ask(self, queries: Iterable[Query]) -> Iterator[tuple[Query, Said]]:
        waiting = iter(queries)
        while batch := list(islice(waiting, self.batch)):
            yield from zip(batch, self.answer(batch), strict=True)

    @abstractmethod
    def answer(self, queries: Sequence[Query]) -> Sequence[Said]:
        """The model's reply to each of some queries."""
