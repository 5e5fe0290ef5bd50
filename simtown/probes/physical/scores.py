"""Scores of a task's decisions: the cells of Table 2, intervals over objects; two models side by side."""

from typing import Any

import numpy as np

from simtown.core.table_files import FLAG, TEXT
from simtown.probes import measures, report
from simtown.probes.measures import Confusion
from simtown.probes.physical import TASKS
from simtown.probes.physical.physical_release import CATEGORIES, KINDS, Answers, Decisions, PhysicalTask
from simtown.probes.report import Results
from simtown.probes.reproduce import PrintedTable

#: Bootstrap replicates of every interval.
REPLICATES = 2000
#: Columns of a task's rows.
COLUMNS = ("left", "right", "object", "label", "said", "score")
_DECIDED = dict.fromkeys(COLUMNS[:3], TEXT) | dict.fromkeys(COLUMNS[3:5], FLAG)
_SHORT = {"object": "obj", "property": "prop", "affordance": "aff"}


def short_columns(title: str) -> tuple[str, str, str]:
    """What Table 2 calls a task's three columns: "obj", "prop", "μF1"."""
    left, right = KINDS[title[-2:]]
    return _SHORT[left], _SHORT[right], "μF1"


def by_item(items: np.ndarray, label: np.ndarray, said: np.ndarray) -> tuple[list[str], Confusion]:
    """The different items, and the counts of each."""
    names, codes = np.unique(items, return_inverse=True)
    return names.tolist(), Confusion.per_item(codes, label, said, len(names))


def scores(rows: Decisions, said: np.ndarray) -> dict[str, float]:
    """One row of one column group of Table 2, as shares: macro F1 by left and right, micro F1, accuracy.

    "left" and "right" have the paper's form, "left_mean" and "right_mean" are the usual macro F1s.
    """
    (_, left), (_, right) = (by_item(items, rows.label, said) for items in (rows.left, rows.right))
    sides = {"left": left, "right": right}
    macro = {side: float(measures.macro_f1_of_means(counts)) for side, counts in sides.items()}
    means = {f"{side}_mean": float(measures.macro_f1(counts)) for side, counts in sides.items()}
    accuracy = float((said == rows.label).mean())
    return {**macro, "micro": float(measures.micro_f1(left)), **means, "accuracy": accuracy}


def replicates(rows: Decisions, said: np.ndarray) -> dict[str, np.ndarray]:
    """{"left", "right", "micro": (r,) F1 of bootstrap replicates over the rows' objects}.

    All calls use the same draws, so that two models can be compared on each. Where left items are the objects
    themselves, an object that is drawn twice is two items.
    """
    objects = np.array_equal(rows.left, rows.object)
    present, group = np.unique(rows.object, return_inverse=True)
    draws = measures.group_draws(len(present), REPLICATES, seed=0)

    def counted(items: np.ndarray) -> Confusion:
        names, item = np.unique(items, return_inverse=True)
        each = Confusion.per_item(group * len(names) + item, rows.label, said, len(present) * len(names))
        shape = len(present), len(names)
        return Confusion(*(draws @ c.reshape(shape) for c in (each.tp, each.fp, each.fn, each.tn)))

    left, right = counted(rows.left), counted(rows.right)
    return {
        "left": measures.macro_f1_of_means(left, draws if objects else 1.0),
        "right": measures.macro_f1_of_means(right),
        "micro": measures.micro_f1(right),
    }


def describe(task: PhysicalTask, rows: Decisions, said: np.ndarray) -> dict[str, Any]:
    """The summary of one task: scores, intervals, F1 by item, accuracy by property, frequencies."""
    f1, frequency, accuracy = {}, {}, dict[str, float]()
    for kind, items in zip(task.kinds, (rows.left, rows.right), strict=True):
        names, counts = by_item(items, rows.label, said)
        each, positive = measures.f1(counts.tp, counts.fp, counts.fn), counts.tp + counts.fn > 0
        f1[kind] = {name: float(each[i]) for i, name in enumerate(names) if positive[i]}
        if kind != "object":  # do F1s depend on how often an item is written about (Figure 2 c, d)?
            frequency_of = task.release.frequencies[kind]
            known = [name for name in f1[kind] if name in frequency_of]
            sides = (np.array([numbers[name] for name in known]) for numbers in (frequency_of, f1[kind]))
            frequency[kind] = measures.spearman(*sides)._asdict()
        if kind == "property":
            right = counts.tp + counts.tn
            accuracy = dict(zip(names, (right / (right + counts.fp + counts.fn)).tolist(), strict=True))
    summary: dict[str, Any] = {
        "decisions": len(rows),
        "scores": scores(rows, said),
        "intervals": {name: measures.interval(values) for name, values in replicates(rows, said).items()},
        "f1": f1,
        "frequency": frequency,
    }
    if accuracy:
        category_of = {uid: task.release.properties[uid].category for uid in accuracy}
        by_category = {c: [accuracy[uid] for uid in accuracy if category_of[uid] == c] for c in CATEGORIES}
        summary["accuracy"] = accuracy
        summary["accuracy_by_category"] = {c: float(np.mean(a)) for c, a in by_category.items() if a}
    return summary


def answers_of(results: Results, title: str) -> Answers:
    """A task's decisions, read back. Raises DamagedError if the rows are missing or damaged."""
    *rows, said = (np.array(column) for column in results.rows(title, _DECIDED).values())
    return Decisions(*rows), said


def compare(a: Results, b: Results) -> list[PrintedTable]:
    """Differences of F1 with their bootstrap over test objects, and McNemar's test, for all shared tasks.

    Raises ValueError if they share none, or decided about different items.
    """
    heads = ("F1", "A", "B", "A - B", "95 % of objects")
    differences = PrintedTable(f"F1, A: {a.path}, B: {b.path}", heads, words=2)
    titles = sorted(report.shared_tasks(a, b), key=TASKS.index)
    tests = []
    for title in titles:
        (rows, said_a), (other, said_b) = (answers_of(results, title) for results in (a, b))
        if not all(np.array_equal(column, vars(other)[name]) for name, column in vars(rows).items()):
            raise ValueError(f"the two decided different items of {title}: they cannot be compared")
        tests.append(measures.mcnemar(said_a == rows.label, said_b == rows.label))
        drawn_a, drawn_b = replicates(rows, said_a), replicates(rows, said_b)
        f1_a, f1_b = scores(rows, said_a), scores(rows, said_b)
        for part, name in zip(drawn_a, short_columns(title), strict=True):
            low, high = measures.interval(drawn_a[part] - drawn_b[part])
            f1 = f"{f1_a[part]:.3f}", f"{f1_b[part]:.3f}", f"{f1_a[part] - f1_b[part]:+.3f}"
            differences.add(title if part == "left" else "", name, *f1, f"{low:+.3f} to {high:+.3f}")
    columns = ("only A right", "only B right", "p", "corrected", "exact", "p, adjusted")
    table = PrintedTable("McNemar's test of the decisions", columns)
    adjusted = measures.benjamini_hochberg([test.plain for test in tests])
    for title, test, p in zip(titles, tests, adjusted, strict=True):
        p_values = (test.plain, test.corrected, test.exact, p)
        table.add(title, f"{test.only_a:,}", f"{test.only_b:,}", *(f"{value:.2g}" for value in p_values))
    return [differences, table]
