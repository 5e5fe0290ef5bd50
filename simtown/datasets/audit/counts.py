"""What is counted of all examples of a split, shard by shard, and which of them are kept for what cannot be
counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simtown.datasets.audit.columns import TRIPLES, Columns, group_names, groups, triples
from simtown.datasets.settings import Settings
from simtown.language.relations import RELATIONS
from simtown.scenes.placement import LEAST_VISIBLE

#: Examples of a split that statistics which need whole columns are worked out from at most.
SAMPLE = 200_000
#: The columns that are read of every example.
COLUMNS = (
    "answer", "subject", "object", "relation", "phrasing", "subject_slot", "object_slot", "margin", "boxes",
    "visible", "scene/entity", "scene/pose", "scene/camera", "scene/weather", "scene/intensity", "scene/sun",
    "scene/prop",
)  # fmt: skip
#: Metres beyond a relation's own margin within which a question is close.
CLOSE = 0.25
#: Visible share below which a vehicle counts as hidden in good part.
HIDDEN = 0.6
#: More kinds of vehicles than there are.
_KINDS = 1_000


@dataclass
class SplitCounts:
    """Counts of the examples of a split.

    Attributes:
        examples: how many there are.
        answers: for each of :func:`~simtown.datasets.audit.columns.group_names`, (groups, 2) int64: examples
            with the answer no, and yes.
        triples: (TRIPLES,) int64 examples that ask each question.
        kinds: (k,) int64 numbers of the sets of kinds that scenes show (:func:`kinds_of`), ascending.
        scenes: (k,) int64 scenes that show each of these sets.
        ambiguous: questions nearer than the relation's margin.
        close: questions less than CLOSE beyond it.
        unseen: questions about a vehicle less than LEAST_VISIBLE visible.
        hidden: questions about a vehicle less than HIDDEN visible.
        least: the least visible share of a vehicle that is asked about.
    """

    examples: int
    answers: dict[str, np.ndarray]
    triples: np.ndarray
    kinds: np.ndarray
    scenes: np.ndarray
    ambiguous: int
    close: int
    unseen: int
    hidden: int
    least: float

    @classmethod
    def none(cls, settings: Settings) -> SplitCounts:
        """Of no examples."""
        nothing = np.zeros(0, dtype=np.int64)
        answers = {
            what: np.zeros((len(names), 2), dtype=np.int64) for what, names in group_names(settings).items()
        }
        return cls(
            examples=0,
            answers=answers,
            triples=np.zeros(TRIPLES, dtype=np.int64),
            kinds=nothing,
            scenes=nothing,
            ambiguous=0,
            close=0,
            unseen=0,
            hidden=0,
            least=1.0,
        )

    @classmethod
    def of(cls, columns: Columns, settings: Settings) -> SplitCounts:
        """Those of n examples."""
        answer, names = columns["answer"].astype(np.int64), group_names(settings)
        slots = np.stack([columns["subject_slot"], columns["object_slot"]], axis=1).astype(np.int64)
        visible = np.take_along_axis(columns["visible"], slots, axis=1).min(axis=1)
        distance = np.abs(columns["margin"].astype(np.float64))
        least = np.array([r.margin for r in RELATIONS])[columns["relation"]]
        kinds, scenes = np.unique(_set_numbers(columns["scene/entity"]), return_counts=True)
        return cls(
            examples=len(answer),
            answers={
                what: np.bincount(2 * numbers + answer, minlength=2 * len(names[what])).reshape(-1, 2)
                for what, numbers in groups(columns, settings).items()
            },
            triples=np.bincount(triples(columns), minlength=TRIPLES),
            kinds=kinds,
            scenes=scenes,
            ambiguous=int((distance < least - 1e-6).sum()),
            close=int((distance < least + CLOSE).sum()),
            unseen=int((visible < LEAST_VISIBLE - 1e-6).sum()),
            hidden=int((visible < HIDDEN).sum()),
            least=float(visible.min(initial=1.0)),
        )

    def add(self, other: SplitCounts) -> None:
        """Add those of other examples."""
        self.examples += other.examples
        for what, counts in other.answers.items():
            self.answers[what] += counts
        self.triples += other.triples
        kinds, place = np.unique(np.concatenate([self.kinds, other.kinds]), return_inverse=True)
        scenes = np.zeros(len(kinds), dtype=np.int64)
        np.add.at(scenes, place, np.concatenate([self.scenes, other.scenes]))
        self.kinds, self.scenes = kinds, scenes
        self.ambiguous += other.ambiguous
        self.close += other.close
        self.unseen += other.unseen
        self.hidden += other.hidden
        self.least = min(self.least, other.least)

    @property
    def yes(self) -> int:
        """Examples answered yes."""
        return int(self.answers["relation"][:, 1].sum())


def _set_numbers(entity: np.ndarray) -> np.ndarray:
    """(n,) int64: a number for the kinds (n, v) of each scene, whatever their order."""
    number = np.zeros(len(entity), dtype=np.int64)
    for kinds in np.sort(entity.astype(np.int64), axis=1).T:
        number = number * _KINDS + kinds + 1  # -1 is an empty slot
    return number


def kinds_of(numbers: np.ndarray, vehicles: int) -> np.ndarray:
    """(k, v) int64: the kinds of each set, ascending, -1 for an empty slot, by its number in
    :class:`SplitCounts`.
    """
    return numbers[:, None] // _KINDS ** np.arange(vehicles - 1, -1, -1) % _KINDS - 1


def sample_rows(length: int) -> np.ndarray:
    """(m,) int64: the examples of a split that are kept, m ≤ SAMPLE: all, or pairs of neighbours at equal
    distances over the split.
    """
    if length <= SAMPLE:
        return np.arange(length)
    first = np.arange(SAMPLE // 2) * (length // 2) // (SAMPLE // 2)
    return (2 * first[:, None] + [0, 1]).ravel()
