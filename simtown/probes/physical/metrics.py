"""Scores of a task's decisions: the cells of Table 2, intervals over objects, F1 and accuracy by item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simtown.probes import statistics
from simtown.probes.physical.tasks import DecisionRows
from simtown.probes.statistics import Confusion

#: Bootstrap replicates of every interval.
REPLICATES = 2000


@dataclass(frozen=True)
class Scores:
    """One row of one column group of Table 2, as shares.

    Attributes:
        left: macro F1 over left items in the paper's form.
        right: the same over right items.
        micro: micro F1.
        left_mean: the usual macro F1 over left items.
        right_mean: the same over right items.
        accuracy: of all decisions.
    """

    left: float
    right: float
    micro: float
    left_mean: float
    right_mean: float
    accuracy: float


def scores(rows: DecisionRows, decided: np.ndarray) -> Scores:
    """Score decisions.

    Args:
        rows: what is decided.
        decided: (n,) bool, one a row.
    """
    left, right = (
        Confusion.per_item(items, rows.label, decided, int(items.max()) + 1)
        for items in (rows.left, rows.right)
    )
    return Scores(
        float(statistics.macro_f1_of_means(left)),
        float(statistics.macro_f1_of_means(right)),
        float(statistics.micro_f1(left)),
        float(statistics.macro_f1(left)),
        float(statistics.macro_f1(right)),
        float((decided == rows.label).mean()),
    )


Replicate = Callable[[np.ndarray], dict[str, np.ndarray]]


def replicator(rows: DecisionRows, objects: bool) -> Replicate:
    """A function from decisions (n,) bool to {"left", "right", "micro": (replicates,)}, with the groups drawn
    with replacement.

    All calls use the same draws, so the difference of two models' replicates is the bootstrap of their
    difference. Where the left items are `objects`, which is what the groups are, one that is drawn twice is
    two items.
    """
    present, group = np.unique(rows.group, return_inverse=True)
    draws = statistics.group_draws(len(present), REPLICATES, seed=0)

    def counted(items: np.ndarray, decided: np.ndarray) -> Confusion:
        codes, item = np.unique(items, return_inverse=True)
        each = Confusion.per_item(group * len(codes) + item, rows.label, decided, len(present) * len(codes))
        shaped = (len(present), len(codes))
        return Confusion(*(draws @ c.reshape(shaped) for c in (each.tp, each.fp, each.fn, each.tn)))

    def replicate(decided: np.ndarray) -> dict[str, np.ndarray]:
        left, right = counted(group if objects else rows.left, decided), counted(rows.right, decided)
        return {
            "left": statistics.macro_f1_of_means(left, draws if objects else 1.0),
            "right": statistics.macro_f1_of_means(right),
            "micro": statistics.micro_f1(right),
        }

    return replicate


def f1_by_item(
    items: np.ndarray, label: np.ndarray, decided: np.ndarray, names: Sequence[str]
) -> dict[str, float]:
    """{name: F1} of every item with a positive label (Figure 2 a).

    Args:
        items: (n,) int64 into the names.
        label: (n,) bool, the truth.
        decided: (n,) bool.
        names: of the items.
    """
    counts = Confusion.per_item(items, label, decided, len(names))
    value = statistics.f1(counts.tp, counts.fp, counts.fn)
    return {name: float(value[i]) for i, name in enumerate(names) if counts.tp[i] + counts.fn[i] > 0}


def accuracy_by_item(
    items: np.ndarray, label: np.ndarray, decided: np.ndarray, names: Sequence[str]
) -> dict[str, float]:
    """{name: accuracy} of every item that occurs (Figure 2 b). Arguments as for :func:`f1_by_item`."""
    count = np.bincount(items, minlength=len(names))
    correct = np.bincount(items, weights=decided == label, minlength=len(names))
    return {name: float(correct[i] / count[i]) for i, name in enumerate(names) if count[i]}
