"""What is counted of all examples of a split, and which of them are kept for what cannot be counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from simtown.datasets.audit.features import TRIPLES, Columns, group_names, groups, triples
from simtown.datasets.settings import Settings
from simtown.language.relations import RELATIONS
from simtown.scenes.placement import LEAST_VISIBLE

#: Examples of a split that statistics which need whole columns are computed from at most.
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


@dataclass
class SplitCounts:
    """Counts of the examples of a split.

    Attributes:
        examples: how many there are.
        answers: for each of :func:`~simtown.datasets.audit.features.group_names`, (groups, 2) int64: examples
            with the answer no, and yes.
        triples: (TRIPLES,) int64 examples that ask each question.
        kinds: scenes that show each set of kinds of vehicles; a set is a sorted tuple, -1 for an empty slot.
        ambiguous: questions nearer than the relation's margin.
        close: questions less than CLOSE beyond it.
        unseen: questions about a vehicle less than LEAST_VISIBLE visible.
        hidden: questions about a vehicle less than HIDDEN visible.
        least: the least visible share of a vehicle that is asked about.
    """

    examples: int
    answers: dict[str, np.ndarray]
    triples: np.ndarray
    kinds: Counter[tuple[int, ...]]
    ambiguous: int
    close: int
    unseen: int
    hidden: int
    least: float

    @classmethod
    def of(cls, columns: Columns, settings: Settings) -> SplitCounts:
        """Those of n > 0 examples."""
        answer, names = columns["answer"].astype(np.int64), group_names(settings)
        slots = np.stack([columns["subject_slot"], columns["object_slot"]], axis=1).astype(np.int64)
        visible = np.take_along_axis(columns["visible"], slots, axis=1).min(axis=1)
        distance = np.abs(columns["margin"].astype(np.float64))
        margin = np.array([relation.margin for relation in RELATIONS])[columns["relation"]]
        return cls(
            examples=len(answer),
            answers={
                what: np.bincount(2 * numbers + answer, minlength=2 * len(names[what])).reshape(-1, 2)
                for what, numbers in groups(columns, settings).items()
            },
            triples=np.bincount(triples(columns), minlength=TRIPLES),
            kinds=Counter(map(tuple, np.sort(columns["scene/entity"], axis=1).tolist())),
            ambiguous=int((distance < margin - 1e-6).sum()),
            close=int((distance < margin + CLOSE).sum()),
            unseen=int((visible < LEAST_VISIBLE - 1e-6).sum()),
            hidden=int((visible < HIDDEN).sum()),
            least=float(visible.min()),
        )

    def add(self, other: SplitCounts) -> SplitCounts:
        """Add those of other examples to these."""
        for what, counts in other.answers.items():
            self.answers[what] += counts
        for name in ("examples", "triples", "ambiguous", "close", "unseen", "hidden"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.kinds.update(other.kinds)
        self.least = min(self.least, other.least)
        return self


def sample_rows(length: int) -> np.ndarray:
    """(m,) int64: the examples of a split that are kept, m ≤ SAMPLE: all, or pairs of neighbours at equal
    distances over the split.
    """
    if length <= SAMPLE:
        return np.arange(length)
    first = np.arange(SAMPLE // 2) * (length // 2) // (SAMPLE // 2)
    return (2 * first[:, None] + [0, 1]).ravel()
