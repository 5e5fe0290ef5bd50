"""A relation's subjects with what is true of each, wherever it was counted: the form in which the study takes its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Group = Literal["single", "multi", "any"]
GROUPS: tuple[Group, ...] = ("single", "multi", "any")
Thresholds = Literal["paper", "release"]
#: Share of the commonest class that makes a subject Single; how many classes and which share of them make it Multi (section 3.2).
_GROUPING: dict[Thresholds, tuple[float, int, float]] = {"paper": (0.80, 4, 0.90), "release": (0.85, 3, 0.90)}


@dataclass(frozen=True)
class Dataset:
    """Subjects of a relation, in their source's order.

    Attributes:
        relation: "color".
        classes: (c) names.
        words: (c) tuples of the words that count for a class.
        subjects: (n) nouns.
        gold: (n,) int64, the class that fits best.
        other: (n,) int64, a class that does not fit, to choose against.
        train: (n,) bool, whether a subject is there to learn from; the others are the test.
        counts: (n, c) float64 how often a class was seen of a subject, or None where only the best is known.
        templates: sentences with [X] for the subject and [Y] for the class.
    """

    relation: str
    classes: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    subjects: tuple[str, ...]
    gold: np.ndarray
    other: np.ndarray
    train: np.ndarray
    counts: np.ndarray | None
    templates: tuple[str, ...]

    @property
    def test(self) -> np.ndarray:
        """(m,) int64 numbers of the test's subjects."""
        return np.flatnonzero(~self.train)


def grouped(counts: np.ndarray, thresholds: Thresholds = "paper") -> np.ndarray:
    """Reporting-bias groups (section 3.2). (n,) str: single, multi, any.

    Args:
        counts: (n, c), each row with something in it.
        thresholds: the paper says Single from 80 % and Multi from 90 % in four classes; the released groups were made with 85 % and three
            classes.
    """
    most, classes, together = _GROUPING[thresholds]
    shares = -np.sort(-counts / counts.sum(axis=1, keepdims=True), axis=1)
    within = shares[:, :classes].sum(axis=1)
    above: np.ndarray = shares[:, 0] > most if thresholds == "paper" else shares[:, 0] >= most
    multi = within > together if thresholds == "paper" else within >= together
    result: np.ndarray = np.where(above, "single", np.where(multi, "multi", "any"))
    return result
