"""Scores of a task's decisions: the cells of Table 2, intervals over objects, F1 and accuracy by item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simtown.probes import statistics
from simtown.probes.physical.tasks import Rows
from simtown.probes.statistics import Confusion

#: Bootstrap replicates of every interval.
REPLICATES = 2000


@dataclass(frozen=True)
class Scores:
    """One row of one column group of Table 2, as shares.

    Attributes:
        left, right: macro F1 over left and right items in the paper's form.
        micro: micro F1.
        left_mean, right_mean: the usual macro F1.
        accuracy: of all decisions.
    """

    left: float
    right: float
    micro: float
    left_mean: float
    right_mean: float
    accuracy: float


def scores(rows: Rows, said: np.ndarray) -> Scores:
    """Score decisions. said: (n,) bool, one a row."""
    left, right = (Confusion.per_item(items, rows.label, said, int(items.max()) + 1) for items in (rows.left, rows.right))
    return Scores(
        float(statistics.macro_f1_of_means(left)),
        float(statistics.macro_f1_of_means(right)),
        float(statistics.micro_f1(left)),
        float(statistics.macro_f1(left)),
        float(statistics.macro_f1(right)),
        float((said == rows.label).mean()),
    )


Replicate = Callable[[np.ndarray], dict[str, np.ndarray]]


def replicator(rows: Rows, objects: bool) -> Replicate:
    """A function from decisions (n,) bool to {"left", "right", "micro": (replicates,)}, with the groups drawn with replacement.

    All calls use the same draws, so the difference of two models' replicates is the bootstrap of their difference. Where the left items
    are `objects`, which is what the groups are, one that is drawn twice is two items.
    """
    present, group = np.unique(rows.group, return_inverse=True)
    draws = statistics.group_draws(len(present), REPLICATES, seed=0)

    def counted(items: np.ndarray, said: np.ndarray) -> Confusion:
        codes, item = np.unique(items, return_inverse=True)
        each = Confusion.per_item(group * len(codes) + item, rows.label, said, len(present) * len(codes))
        shaped = (len(present), len(codes))
        return Confusion(*(draws @ c.reshape(shaped) for c in (each.tp, each.fp, each.fn, each.tn)))

    def replicate(said: np.ndarray) -> dict[str, np.ndarray]:
        left, right = counted(group if objects else rows.left, said), counted(rows.right, said)
        return {"left": statistics.macro_f1_of_means(left, draws if objects else 1.0), "right": statistics.macro_f1_of_means(right),
                "micro": statistics.micro_f1(right)}  # fmt: skip

    return replicate


def f1_by_item(items: np.ndarray, label: np.ndarray, said: np.ndarray, names: Sequence[str]) -> dict[str, float]:
    """{name: F1} of every item with a positive label (Figure 2 a). items: (n,) int64 into the names. label, said: (n,) bool."""
    counts = Confusion.per_item(items, label, said, len(names))
    value = statistics.f1(counts.tp, counts.fp, counts.fn)
    return {name: float(value[i]) for i, name in enumerate(names) if counts.tp[i] + counts.fn[i] > 0}


def accuracy_by_item(items: np.ndarray, label: np.ndarray, said: np.ndarray, names: Sequence[str]) -> dict[str, float]:
    """{name: accuracy} of every item that occurs (Figure 2 b). Arguments as for :func:`f1_by_item`."""
    count = np.bincount(items, minlength=len(names))
    right = np.bincount(items, weights=said == label, minlength=len(names))
    return {name: float(right[i] / count[i]) for i, name in enumerate(names) if count[i]}
