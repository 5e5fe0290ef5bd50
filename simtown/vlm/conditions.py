"""Conditions under which a model is asked about an example: the question with its picture, or a change of one
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from simtown.core.streams import Stream
from simtown.datasets.family_questions import answers_of, kinds_named
from simtown.datasets.reading.reader import Dataset, Example, Split
from simtown.language.meaning.programs import Form, parse
from simtown.language.words.instructions import prompt
from simtown.language.words.replies import Gold
from simtown.scenes.scene import SceneBatch
from simtown.vlm.vision_model import Query


@dataclass(frozen=True, eq=False)
class AskedSplit:
    """A split whose examples a model is asked about: ``asked[i]`` is an :class:`AskedExample`."""

    dataset: Dataset
    split: str

    @property
    def examples(self) -> Split:
        """The split itself."""
        return self.dataset[self.split]

    @cached_property
    def clusters(self) -> np.ndarray:
        """(n,) int64: see :attr:`Split.clusters`."""
        return self.examples.clusters

    @cached_property
    def earlier(self) -> np.ndarray:
        """(n,) int64: how many earlier examples have the same answer, of the same type."""
        column, names = self.examples.column, self.dataset.names
        if self.dataset.settings.has_families:
            types = np.array([self.answers[name][0] for name in names["families"]])
            texts = np.array(names["answers"])[column("value")]
            _, same = np.unique(np.stack([types[column("family")], texts]), axis=1, return_inverse=True)
        else:
            same = column("answer")
        result = np.empty(len(same), dtype=np.int64)
        for case in range(same.max(initial=-1) + 1):
            rows = np.flatnonzero(same == case)
            result[rows] = np.arange(len(rows))
        return result

    @cached_property
    def answers(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """By family: the type of its answer, and the answers that it may have."""
        return answers_of(self.dataset.settings)

    def __len__(self) -> int:
        return len(self.examples)

    def order(self, count: int) -> list[int]:
        """The order in which the first examples are asked: neighbours have different answers, so they stand
        apart.
        """
        numbers = Stream(0, "", "asking order").uniform(np.arange(count), 1)[:, 0]
        return [int(number) for number in numbers.argsort(kind="stable")]

    def __getitem__(self, number: int) -> AskedExample:
        return AskedExample(self, number, self.examples[number])


@dataclass(frozen=True, eq=False)
class AskedExample:
    """An example with all that a condition needs to make queries of it.

    Attributes:
        asked: the split that holds it.
        number: of the example in the split.
        example: the example.
    """

    asked: AskedSplit
    number: int
    example: Example

    @property
    def kind(self) -> str:
        """The type of the answer."""
        return self.asked.answers[self.example.family][0]

    @cached_property
    def form(self) -> Form:
        """The program of the question, of the paper's as well."""
        example = self.example
        if example.program:
            return parse(example.program)
        subject, obj = (Form("the", (Form("all", (kind,)),)) for kind in (example.subject, example.object))
        return Form("holds", (subject, Form("related", (example.relation, obj))))

    @property
    def twin(self) -> AskedExample | None:
        """The same question about the twin picture; None without twins."""
        number = self.asked.examples.twin_number(self.number)
        return None if number is None else self.asked[number]

    @property
    def pictures(self) -> tuple[np.ndarray, ...]:
        """The picture, or those of a sequence in the order that it shows, each (h, w, 3) uint8."""
        images = self.example.image
        return tuple(images.reshape(-1, *images.shape[-3:]))

    @property
    def slots(self) -> list[int]:
        """The slots of the vehicles."""
        return [number - 1 for number in self.example.vehicle_ids]

    @property
    def scenes(self) -> SceneBatch:
        """A batch of its scene alone, without empty slots between vehicles."""
        return SceneBatch.of([self.example.scene])

    @property
    def shares(self) -> np.ndarray:
        """(1, v) float32 visible share of each vehicle of `scenes`."""
        shares = np.zeros(self.scenes.entity.shape, np.float32)
        shares[0, : len(self.slots)] = self.example.visible[self.slots]
        return shares

    @property
    def meant(self) -> list[int]:
        """The slots of the vehicles that the question names; of all, if it names none."""
        nouns, slots = kinds_named(self.form), self.slots
        vehicles = zip(slots, self.example.scene.vehicles, strict=True)
        return [slot for slot, vehicle in vehicles if vehicle.entity in nouns] or slots

    @property
    def relation(self) -> str:
        """The relation that the question asks about two vehicles; "" if it asks something else."""
        return str(self.form.parts[1].parts[0]) if self.example.family in ("paper", "relations") else ""

    def quantities(self) -> dict[str, Any]:
        """The quantities of an example that its answer may depend on, as plain values.

        Returns:
            Its number as "example", its "cluster" (:attr:`Split.clusters`), "family" and "relation";
            "margin" in metres (NaN if there is none); of the vehicles that the question names the least
            height, "pixels", and the least "visible" share, of a sequence where most is seen of each; the
            number of "vehicles"; "weather" and its "intensity" in [0, 1] (0 of clear weather).
        """
        example, weather = self.example, self.example.scene.weather
        boxes = example.boxes.reshape(-1, *example.boxes.shape[-2:])  # of a sequence: of each picture
        heights = (boxes[..., 3] - boxes[..., 1]).max(axis=0)
        visible = example.visible.reshape(len(boxes), -1).max(axis=0)
        return {
            "example": self.number,
            "cluster": int(self.asked.clusters[self.number]),
            "family": example.family,
            "relation": self.relation,
            "margin": abs(example.margin),
            "pixels": float(heights[self.meant].min()),
            "visible": float(visible[self.meant].min()),
            "vehicles": len(example.scene.vehicles),
            "weather": weather.kind,
            "intensity": weather.intensity * (weather.kind != "clear"),
        }

    def gold(self) -> Gold:
        """The right answer."""
        example = self.example
        kind, choices = self.asked.answers[example.family]
        return Gold(kind, example.reply, choices, example.tolerance, example.number)

    def query(self) -> Query:
        """The question about the picture."""
        gold, question = self.gold(), self.example.question
        text = prompt(question, gold.type, gold.choices)
        key = f"{self.asked.split}:{self.number}"
        return Query(key, self.pictures, text, gold, question)

    def changed(self, suffix: str, **changes: Any) -> Query:
        """The question with other values of some attributes of :class:`Query`; the key gets a suffix."""
        query = self.query()
        return replace(query, key=f"{query.key}/{suffix}", **changes)


#: From an example to the queries that a condition makes of it, none where it does not apply.
Condition = Callable[[AskedExample], Sequence[Query]]


def picture(asked: AskedExample) -> list[Query]:
    """The question about its picture."""
    return [asked.query()]
