"""Two models on the same decisions: McNemar's test, and the bootstrap of their difference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.probes import statistics
from simtown.probes.physical import metrics, results
from simtown.probes.physical.models import DecidedItems
from simtown.probes.physical.settings import TITLES, physical_record
from simtown.probes.printed import PrintedTable
from simtown.probes.release_files import understood
from simtown.probes.result_files import shared_tasks
from simtown.probes.statistics import McNemar


@dataclass(frozen=True)
class TaskComparison:
    """Two models on one task.

    Attributes:
        title: of the task.
        a: {"left", "right", "micro": F1} of the first model.
        b: the same of the second.
        difference: {the same: (a - b, low, high)}, 95 % over test objects.
        test: on the decisions.
        adjusted: the plain p-value, adjusted for all tasks compared (Benjamini-Hochberg).
    """

    title: str
    a: dict[str, float]
    b: dict[str, float]
    difference: dict[str, tuple[float, float, float]]
    test: McNemar
    adjusted: float


def compare(a: Path, b: Path) -> list[TaskComparison]:
    """Every task that both directories of results have.

    Raises:
        ValueError: they share none, or their decisions are about different items.
    """
    shared = shared_tasks(physical_record(), TITLES, a, b)
    pairs = [
        (title, *aligned(results.decisions(a, title), results.decisions(b, title), title)) for title in shared
    ]
    tests = [statistics.mcnemar(x.said == x.rows.label, y.said == y.rows.label) for _, x, y in pairs]
    adjusted = statistics.benjamini_hochberg([t.plain for t in tests])
    with understood(f"{a} or {b}", "make both again"):
        return [
            _compared(title, x, y, test, float(p))
            for (title, x, y), test, p in zip(pairs, tests, adjusted, strict=True)
        ]


def aligned(a: DecidedItems, b: DecidedItems, title: str) -> tuple[DecidedItems, DecidedItems]:
    """The two, if they are about the same items in the same order.

    Raises:
        ValueError: they are about other items.
    """
    same = (a.lefts, a.rights, a.groups) == (b.lefts, b.rights, b.groups) and all(
        np.array_equal(getattr(a.rows, f), getattr(b.rows, f)) for f in ("left", "right", "label", "group")
    )
    if not same:
        raise ValueError(
            f"the two hold decisions about different items of {title} (the human row has 50 of them): they "
            "cannot be compared"
        )
    return a, b


def _compared(title: str, a: DecidedItems, b: DecidedItems, test: McNemar, adjusted: float) -> TaskComparison:
    replicate = metrics.replicator(a.rows, a.kinds[0] == "object")
    drawn = [replicate(j.said) for j in (a, b)]
    scores = [metrics.scores(j.rows, j.said) for j in (a, b)]
    values = [{name: float(getattr(s, name)) for name in drawn[0]} for s in scores]
    difference = {
        name: (values[0][name] - values[1][name], *statistics.interval(drawn[0][name] - drawn[1][name]))
        for name in drawn[0]
    }
    return TaskComparison(title, values[0], values[1], difference, test, adjusted)


def compared(a: Path, b: Path) -> list[PrintedTable]:
    """Differences of F1, and McNemar's test, as tables."""
    scores = PrintedTable(f"F1, A: {a}, B: {b}", ("F1", "A", "B", "A - B", "95 % of objects"), words=2)
    tests = PrintedTable(
        "McNemar's test of the decisions",
        ("only A right", "only B right", "p", "corrected", "exact", "p, adjusted"),
    )
    for comparison in compare(a, b):
        for part, name in zip(("left", "right", "micro"), results.columns(comparison.title), strict=True):
            middle, low, high = comparison.difference[part]
            f1 = (f"{comparison.a[part]:.3f}", f"{comparison.b[part]:.3f}")
            title = comparison.title if part == "left" else ""
            scores.add(title, name, *f1, f"{middle:+.3f}", f"{low:+.3f} to {high:+.3f}")
        test = comparison.test
        p_values = (test.plain, test.corrected, test.exact, comparison.adjusted)
        tests.add(comparison.title, f"{test.only_a:,}", f"{test.only_b:,}", *(f"{p:.2g}" for p in p_values))
    return [scores, tests]
