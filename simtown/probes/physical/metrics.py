"""Scores of a task's decisions: the cells of Table 2, intervals over objects, accuracy by property category."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simtown.probes import statistics
from simtown.probes.physical.datasets import CATEGORIES, Release
from simtown.probes.physical.tasks import Rows, Task
from simtown.probes.statistics import Confusion

#: Bootstrap replicates of every interval.
REPLICATES = 2000


@dataclass(frozen=True)
class Scores:
    """One row of one column group of Table 2, as shares.

    Attributes:
        left, right: macro F1 over left and right items in the paper's form. micro: micro F1. left_mean, right_mean: the usual macro F1.
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
        *(float(f(c)) for f, c in (
            (statistics.macro_f1_of_means, left), (statistics.macro_f1_of_means, right), (statistics.micro_f1, left),
            (statistics.macro_f1, left), (statistics.macro_f1, right),
        )),
        accuracy=float((said == rows.label).mean()),
    )  # fmt: skip


Replicate = Callable[[np.ndarray], dict[str, np.ndarray]]


def replicator(task: Task) -> Replicate:
    """A function from decisions (n,) bool to {"left", "right", "micro": (replicates,)}, test objects drawn with replacement.

    All calls use the same draws, so the difference of two models' replicates is the bootstrap of their difference. A drawn object that
    is itself the item counts as often as it was drawn.
    """
    rows = task.test
    present, group = np.unique(rows.group, return_inverse=True)
    draws = statistics.group_draws(len(present), REPLICATES, seed=0)

    def counted(items: np.ndarray, said: np.ndarray) -> Confusion:
        codes, item = np.unique(items, return_inverse=True)
        each = Confusion.per_item(group * len(codes) + item, rows.label, said, len(present) * len(codes))
        shaped = (len(present), len(codes))
        return Confusion(*(draws @ c.reshape(shaped) for c in (each.tp, each.fp, each.fn, each.tn)))

    objects = task.kinds[0] == "object"

    def replicate(said: np.ndarray) -> dict[str, np.ndarray]:
        left, right = counted(group if objects else rows.left, said), counted(rows.right, said)
        return {"left": statistics.macro_f1_of_means(left, draws if objects else 1.0), "right": statistics.macro_f1_of_means(right),
                "micro": statistics.micro_f1(right)}  # fmt: skip

    return replicate


def f1_by_item(rows: Rows, said: np.ndarray, names: tuple[str, ...], side: str) -> dict[str, float]:
    """{name: F1} of every left or right item with a positive label among the rows (Figure 2 a)."""
    items = getattr(rows, side)
    counts = Confusion.per_item(items, rows.label, said, len(names))
    value = statistics.f1(counts.tp, counts.fp, counts.fn)
    return {name: float(value[i]) for i, name in enumerate(names) if counts.tp[i] + counts.fn[i] > 0}


def accuracy_by_property(task: Task, said: np.ndarray) -> dict[str, float]:
    """{property uid: accuracy} over the test rows (Figure 2 b)."""
    right = task.test.right
    correct = np.bincount(right, weights=said == task.test.label, minlength=len(task.rights))
    return {name: float(correct[i] / n) for i, name in enumerate(task.rights) if (n := int((right == i).sum()))}


def accuracy_by_category(release: Release, task: Task, said: np.ndarray) -> dict[str, float]:
    """{category: mean accuracy of its properties}, in the order of CATEGORIES; empty for a task without properties."""
    if task.kinds[1] != "property":
        return {}
    each = accuracy_by_property(task, said)
    return {c: float(np.mean([a for uid, a in each.items() if release.properties[uid].category == c])) for c in CATEGORIES}
