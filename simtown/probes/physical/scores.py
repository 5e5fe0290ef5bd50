"""Scores of a task's decisions: the cells of Table 2, intervals over objects, F1 and accuracy by item; and
two models on the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from simtown.core.files import DamagedError
from simtown.probes import measures, report
from simtown.probes.measures import Confusion
from simtown.probes.physical import TASKS
from simtown.probes.physical.decisions import KINDS, DecidedItems, DecisionRows
from simtown.probes.physical.physical_release import CATEGORIES, PhysicalRelease
from simtown.probes.report import Results
from simtown.probes.reproduce import PrintedTable

#: Bootstrap replicates of every interval.
REPLICATES = 2000
#: Columns of a task's rows.
COLUMNS = ("left", "right", "object", "label", "said", "score")
_SHORT = {"object": "obj", "property": "prop", "affordance": "aff"}


def short_columns(title: str) -> tuple[str, str, str]:
    """What Table 2 calls a task's three columns: "obj", "prop", "μF1"."""
    left, right = KINDS[title[-2:]]
    return _SHORT[left], _SHORT[right], "μF1"


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
    """Score (n,) bool decisions about rows."""
    left, right = (
        Confusion.per_item(items, rows.label, decided, int(items.max()) + 1)
        for items in (rows.left, rows.right)
    )
    return Scores(
        float(measures.macro_f1_of_means(left)),
        float(measures.macro_f1_of_means(right)),
        float(measures.micro_f1(left)),
        float(measures.macro_f1(left)),
        float(measures.macro_f1(right)),
        float((decided == rows.label).mean()),
    )


def replicator(rows: DecisionRows, objects: bool) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """A function from decisions (n,) bool to {"left", "right", "micro": (replicates,)}, with the groups drawn
    with replacement.

    All calls use the same draws, so the difference of two models' replicates is the bootstrap of their
    difference. Where the left items are `objects`, which is what the groups are, one that is drawn twice is
    two items.
    """
    present, group = np.unique(rows.group, return_inverse=True)
    draws = measures.group_draws(len(present), REPLICATES, seed=0)

    def counted(items: np.ndarray, decided: np.ndarray) -> Confusion:
        codes, item = np.unique(items, return_inverse=True)
        each = Confusion.per_item(group * len(codes) + item, rows.label, decided, len(present) * len(codes))
        shaped = (len(present), len(codes))
        return Confusion(*(draws @ c.reshape(shaped) for c in (each.tp, each.fp, each.fn, each.tn)))

    def replicate(decided: np.ndarray) -> dict[str, np.ndarray]:
        left, right = counted(group if objects else rows.left, decided), counted(rows.right, decided)
        return {
            "left": measures.macro_f1_of_means(left, draws if objects else 1.0),
            "right": measures.macro_f1_of_means(right),
            "micro": measures.micro_f1(right),
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
    value = measures.f1(counts.tp, counts.fp, counts.fn)
    return {name: float(value[i]) for i, name in enumerate(names) if counts.tp[i] + counts.fn[i] > 0}


def accuracy_by_item(
    items: np.ndarray, label: np.ndarray, decided: np.ndarray, names: Sequence[str]
) -> dict[str, float]:
    """{name: accuracy} of every item that occurs (Figure 2 b). Arguments as for :func:`f1_by_item`."""
    count = np.bincount(items, minlength=len(names))
    correct = np.bincount(items, weights=decided == label, minlength=len(names))
    return {name: float(correct[i] / count[i]) for i, name in enumerate(names) if count[i]}


def frequency_correlation(f1: dict[str, float], frequencies: dict[str, float]) -> measures.Correlation:
    """Spearman's correlation of items' F1 with how often they are written about (Figure 2 c, d)."""
    names = [name for name in f1 if name in frequencies]
    return measures.spearman(np.array([frequencies[n] for n in names]), np.array([f1[n] for n in names]))


def describe(decided: DecidedItems, release: PhysicalRelease) -> dict[str, Any]:
    """The summary of one task: scores, 95 % intervals over objects, F1 and accuracy by item, correlations
    with frequency, notes.
    """
    rows, said = decided.rows, decided.said
    left_kind, right_kind = decided.kinds
    replicates = replicator(rows, left_kind == "object")(said)
    f1 = {
        left_kind: f1_by_item(rows.left, rows.label, said, decided.lefts),
        right_kind: f1_by_item(rows.right, rows.label, said, decided.rights),
    }
    summary: dict[str, Any] = {
        "decisions": len(rows),
        "scores": asdict(scores(rows, said)),
        "intervals": {name: measures.interval(values) for name, values in replicates.items()},
        "f1": f1,
        "frequency": {
            kind: asdict(frequency_correlation(f1[kind], release.frequencies[kind]))
            for kind in f1
            if kind != "object"
        },
        **decided.notes,
    }
    if right_kind == "property":
        each = accuracy_by_item(rows.right, rows.label, said, decided.rights)
        by_category = {
            category: [a for uid, a in each.items() if release.properties[uid].category == category]
            for category in CATEGORIES
        }
        summary["accuracy"] = each
        summary["accuracy_by_category"] = {c: float(np.mean(a)) for c, a in by_category.items() if a}
    return summary


# Rows of a directory of results


def rows_of(decided: DecidedItems) -> dict[str, Any]:
    """A row a decision, by :data:`COLUMNS`."""
    rows = decided.rows
    left, right, group = (
        [names[code] for code in codes]
        for names, codes in (
            (decided.lefts, rows.left),
            (decided.rights, rows.right),
            (decided.groups, rows.group),
        )
    )
    return dict(zip(COLUMNS, (left, right, group, rows.label, decided.said, decided.score), strict=True))


def decisions_of(results: Results, title: str) -> DecidedItems:
    """A task's decisions, read back.

    Raises:
        DamagedError: the rows are missing or damaged.
    """
    left, right, group, label, said, score = results.rows(title, COLUMNS).values()
    if not left:
        raise DamagedError(
            f"{results.path / title}.parquet holds no decisions: delete it and run the study again"
        )
    names, codes = zip(*(np.unique(side, return_inverse=True) for side in (left, right, group)), strict=True)
    rows = DecisionRows(codes[0], codes[1], np.array(label), codes[2])
    lefts, rights, groups = (tuple(each.tolist()) for each in names)
    return DecidedItems(KINDS[title[-2:]], lefts, rights, groups, rows, np.array(said), np.array(score))


# Two models


def compare(a: Results, b: Results) -> list[PrintedTable]:
    """Differences of F1 with their bootstrap over test objects, and McNemar's test, for all tasks that both
    directories have.

    Raises:
        ValueError: they share none, or their decisions are about different items.
    """
    shared = sorted(report.shared_tasks(a, b), key=TASKS.index)
    pairs = [_same_items(decisions_of(a, title), decisions_of(b, title), title) for title in shared]
    tests = [measures.mcnemar(x.said == x.rows.label, y.said == y.rows.label) for x, y in pairs]
    adjusted = measures.benjamini_hochberg([test.plain for test in tests])
    differences = PrintedTable(
        f"F1, A: {a.path}, B: {b.path}", ("F1", "A", "B", "A - B", "95 % of objects"), words=2
    )
    table = PrintedTable(
        "McNemar's test of the decisions",
        ("only A right", "only B right", "p", "corrected", "exact", "p, adjusted"),
    )
    for title, (x, y), test, p in zip(shared, pairs, tests, adjusted, strict=True):
        for name, cells in _differences(x, y, title).items():
            differences.add(title if name == short_columns(title)[0] else "", name, *cells)
        p_values = (test.plain, test.corrected, test.exact, p)
        table.add(title, f"{test.only_a:,}", f"{test.only_b:,}", *(f"{value:.2g}" for value in p_values))
    return [differences, table]


def _same_items(a: DecidedItems, b: DecidedItems, title: str) -> tuple[DecidedItems, DecidedItems]:
    """The two, if they are about the same items in the same order; raises ValueError if not."""
    same = (a.lefts, a.rights, a.groups) == (b.lefts, b.rights, b.groups) and all(
        np.array_equal(getattr(a.rows, f), getattr(b.rows, f)) for f in ("left", "right", "label", "group")
    )
    if not same:
        raise ValueError(
            f"the two hold decisions about different items of {title} (the human row has 50 of them): they "
            "cannot be compared"
        )
    return a, b


def _differences(a: DecidedItems, b: DecidedItems, title: str) -> dict[str, tuple[str, ...]]:
    """{column of Table 2: F1 of two models, their difference and its 95 % interval over test objects}."""
    replicate = replicator(a.rows, a.kinds[0] == "object")
    drawn_a, drawn_b = replicate(a.said), replicate(b.said)
    scores_a, scores_b = scores(a.rows, a.said), scores(b.rows, b.said)
    cells: dict[str, tuple[str, ...]] = {}
    for part, name in zip(drawn_a, short_columns(title), strict=True):
        f1_a, f1_b = getattr(scores_a, part), getattr(scores_b, part)
        low, high = measures.interval(drawn_a[part] - drawn_b[part])
        cells[name] = (f"{f1_a:.3f}", f"{f1_b:.3f}", f"{f1_a - f1_b:+.3f}", f"{low:+.3f} to {high:+.3f}")
    return cells
