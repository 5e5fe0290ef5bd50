"""Ways to put a question: lettered options, worked examples before it, a system prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from string import ascii_uppercase
from typing import Any

import numpy as np

from simtown.core.options import SettingsError
from simtown.core.streams import Stream
from simtown.vlm.conditions import AskedSplit
from simtown.vlm.vision_model import Query, Turn
from simtown.vlm.vlm_settings import VlmSettings

_LETTERS = "letters"


@dataclass(frozen=True, eq=False)
class Prompting:
    """What stands before and behind the questions of an evaluation, by its settings.

    Raises SettingsError if there are fewer training examples than worked ones.
    """

    settings: VlmSettings
    asked: AskedSplit

    def __post_init__(self) -> None:
        if (self.settings.shots or 0) > len(self.train):
            few = f"{self.settings.shots} are more than the {len(self.train)} examples of train"
            raise SettingsError(few, "shots")

    def put(self, query: Query, number: int) -> Query:
        """A question about an example with this number, as the model is asked it."""
        turns = [Turn("system", self.settings.system)] if self.settings.system else []
        for place in self._worked(number):
            example = self.train[place]
            worked = self._lettered(example.query(), self.train, place)
            answer = worked.letters.get(worked.gold.answer, worked.gold.answer)
            turns += [Turn("user", worked.text, worked.pictures), Turn("assistant", answer)]
        return replace(self._lettered(query, self.asked, number), turns=tuple(turns))

    @cached_property
    def train(self) -> AskedSplit:
        """The examples of which some are shown worked."""
        return AskedSplit(self.asked.dataset, "train")

    def _worked(self, number: int) -> list[int]:
        """The training examples that are shown before an example: drawn by its number alone."""
        if not self.settings.shots:
            return []
        return _shuffled("worked examples", number, len(self.train), self.asked.split)[: self.settings.shots]

    def _lettered(self, query: Query, asked: AskedSplit, number: int) -> Query:
        """A question with its answers as options.

        Of the examples with one right answer, each k in a row have it on all k letters, in an order that is
        drawn; the other options follow an order that the number of the example draws.
        """
        choices, right = list(query.gold.choices), query.gold.answer
        if self.settings.choices != _LETTERS or len(choices) > len(ascii_uppercase):
            return query
        turn, letter = divmod(int(asked.earlier[number]), max(len(choices), 1))
        order = [choices[place] for place in _shuffled("options", number, len(choices))]
        if right in choices:
            order.remove(right)
            order.insert(_shuffled(f"letters of {right}", turn, len(choices))[letter], right)
        letters = dict(zip(order, ascii_uppercase, strict=False))
        listed = "\n".join(f"({letter}) {answer}" for answer, letter in letters.items())
        words = f"{query.question}\n{listed}\nAnswer with the letter of the right option."
        return replace(query, text=words, letters=letters)


def _shuffled(component: str, number: int, count: int, split: str = "") -> list[int]:
    """The numbers below a count, in an order that is drawn by a number."""
    luck = Stream(0, split, component).uniform(np.array([number]), count)
    return [int(place) for place in luck[0].argsort()]


def positions(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """By letter the share of questions whose right option it is, and of replies that chose it."""
    lettered = [row for row in rows if row["letter"]]
    return {
        letter: {
            name: sum(row[column] == letter for row in lettered) / len(lettered)
            for name, column in (("right", "letter"), ("chosen", "chosen"))
        }
        for letter in sorted({row["letter"] for row in lettered})
    }


def over_samples(samples: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, np.ndarray]:
    """What several samples of n questions give.

    Returns:
        (n,) each: "any", whether some sample is right, which is pass@k of k samples; "majority", whether the
        most frequent answer is right (of equally frequent ones, the first); "agreement", the share of pairs
        of samples with one answer.
    """
    right = np.array([[row["right"] for row in rows] for rows in samples]).T
    majority, agreement = [], []
    for each, own in zip(zip(*samples, strict=True), right, strict=True):
        answers = [row["answer"] for row in each]
        counts = {answer: answers.count(answer) for answer in answers if answer is not None}
        majority.append(bool(counts) and bool(own[answers.index(max(counts, key=counts.__getitem__))]))
        agreement.append(sum(n * (n - 1) for n in counts.values()) / (len(answers) * (len(answers) - 1)))
    return {
        "any": np.asarray(right.any(axis=1)),
        "majority": np.array(majority),
        "agreement": np.array(agreement),
    }
