"""Two models on the same decisions: McNemar's test, and the bootstrap of their difference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.probes import statistics
from simtown.probes.physical import metrics, results
from simtown.probes.physical.models import Judged
from simtown.probes.release_files import understood
from simtown.probes.statistics import McNemar


@dataclass(frozen=True)
class Compared:
    """Two models on one task.

    Attributes:
        a, b: {"left", "right", "micro": F1}.
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


def compare(a: Path, b: Path) -> list[Compared]:
    """Every task that both directories of results have.

    Raises:
        ValueError: they share none, or their decisions are about different items.
    """
    shared = [t for t in results.TITLES if all(t in results.STUDY.load(p)["tasks"] for p in (a, b))]
    if not shared:
        raise ValueError(f"{a} and {b} have no task in common")
    pairs = [(title, *aligned(results.decisions(a, title), results.decisions(b, title), title)) for title in shared]
    tests = [statistics.mcnemar(x.said == x.rows.label, y.said == y.rows.label) for _, x, y in pairs]
    adjusted = statistics.benjamini_hochberg([t.plain for t in tests])
    with understood(f"{a} or {b}", "make both again"):
        return [_compared(title, x, y, test, float(p)) for (title, x, y), test, p in zip(pairs, tests, adjusted, strict=True)]


def aligned(a: Judged, b: Judged, title: str) -> tuple[Judged, Judged]:
    """The two, if they are about the same items in the same order. Raises ValueError."""
    same = (a.lefts, a.rights, a.groups) == (b.lefts, b.rights, b.groups) and all(
        np.array_equal(getattr(a.rows, f), getattr(b.rows, f)) for f in ("left", "right", "label", "group")
    )
    if not same:
        raise ValueError(f"the two hold decisions about different items of {title} (the human row has 50 of them): they cannot be compared")
    return a, b


def _compared(title: str, a: Judged, b: Judged, test: McNemar, adjusted: float) -> Compared:
    replicate = metrics.replicator(a.rows, a.kinds[0] == "object")
    drawn = [replicate(j.said) for j in (a, b)]
    scores = [metrics.scores(j.rows, j.said) for j in (a, b)]
    values = [{name: float(getattr(s, name)) for name in drawn[0]} for s in scores]
    difference = {name: (values[0][name] - values[1][name], *statistics.interval(drawn[0][name] - drawn[1][name])) for name in drawn[0]}
    return Compared(title, values[0], values[1], difference, test, adjusted)
