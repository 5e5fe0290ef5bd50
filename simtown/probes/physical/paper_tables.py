"""Tables 1 and 2 of Forbes, Holtzman & Choi (2019) beside ours."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np

from simtown.core.options import SettingsError
from simtown.probes import measures, report
from simtown.probes.physical import FORM, TASKS, physical_release
from simtown.probes.physical.heads import human, majority, random
from simtown.probes.physical.physical_release import Answers
from simtown.probes.physical.scores import answers_of, scores, short_columns
from simtown.probes.reproduce import PrintedNumber, PrintedTable, printed_numbers

#: Coin tosses of the Random row.
TOSSES = 20
_PARTS = ("left", "right", "micro")


def table1(data: Path, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Every cell of Table 1, from the released labels. Raises SettingsError for `runs`: it has no models."""
    if runs:
        raise SettingsError("adds a row to forbes-table2; Table 1 is about the data", "runs")
    release = physical_release.read(data)
    abstract, situated, actions = (release.decisions[title] for title in TASKS[:3])
    properties, affordances = len(release.properties), int(actions.label.sum())

    def unique(which: str, part: str) -> int:
        return len(release.splits[which, part])

    def spread(items: np.ndarray) -> str:
        counts = np.array([abstract.label[items == item].sum() for item in np.unique(items)])
        return f"{np.median(counts):g} ({counts.min()}, {counts.max()})"

    ours: dict[str, int | str] = {
        "abstract: objects": len(np.unique(abstract.object)),
        "abstract: train objects": unique("abstract", "train"),
        "abstract: test objects": unique("abstract", "test"),
        "abstract: properties": properties,
        "abstract: objects a property, median (min, max)": spread(abstract.right),
        "abstract: properties an object, median (min, max)": spread(abstract.left),
        "abstract: annotations": 3 * len(abstract),
        "situated: objects": len(situated) // properties,
        "situated: unique objects": len(np.unique(situated.object)),
        "situated: unique train objects": unique("situated", "train"),
        "situated: unique test objects": unique("situated", "test"),
        "situated: properties": properties,
        "situated: affordances": affordances,
        "situated: annotations": 3 * len(situated) + affordances,
    }
    table = PrintedTable("Table 1: paper / here", ("",))
    for name, paper in printed_numbers()["forbes-table1"].items():
        here = ours[name]
        table.add(name, PrintedNumber(paper, here if isinstance(here, str) else f"{here:,}"))
    return [table]


def table2(data: Path, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Random, Majority, the given directories of results, and Human, a table for each task.

    A directory that is called as a row of the paper, such as "GloVe", stands beside its numbers. The
    asterisks are McNemar's test of every row against the best micro F1 of its task, also adjusted over the
    whole table. Raises as :func:`simtown.probes.report.load`.
    """
    release = physical_release.read(data)
    tasks = {title: release.task(title) for title in TASKS}
    names = [run.name for run in runs]
    taken = {name for name in names if names.count(name) > 1} | {"Random", "Majority", "Human"}
    added = {str(run) if run.name in taken else run.name: report.load(run, FORM) for run in runs}
    answers: dict[str, dict[str, Answers]] = {
        title: {
            "Random": random(task, 0),
            "Majority": majority(task, 0),
            **{name: answers_of(run, title) for name, run in added.items() if title in run.tasks},
        }
        for title, task in tasks.items()
    }
    stars = _significance(answers) if runs else {}
    tables = []
    for title, task in tasks.items():
        columns = (*short_columns(title), "sig: paper", "here", "adjusted")
        table = PrintedTable(f"Table 2, {title.replace('-', ' ')}: paper / here", columns)
        ours = {name: scores(*each) for name, each in answers[title].items()}
        ours["Human"] = scores(*human(task, 0))
        tosses = [scores(*random(task, seed)) for seed in range(TOSSES)]
        drawn = np.array([[toss[part] for part in _PARTS] for toss in tosses])
        printed = printed_numbers()["forbes-table2"]
        order = dict.fromkeys([*printed, *ours])
        for name in sorted(order, key=lambda name: name == "Human"):
            *paper, significance = printed.get(name, {}).get(title, [""] * 4)
            here = [rounded(ours[name][part]) for part in _PARTS] if name in ours else [""] * 3
            spread = [None] * 3
            if name == "Random":
                here = [f"{mean:.3f}" for mean in drawn.mean(axis=0)]
                spread = drawn.std(axis=0).tolist()
            row = [PrintedNumber(*cells) for cells in zip(paper, here, spread, strict=True)]
            table.add(name, *row, significance, *stars.get((name, title), ("", "")))
        tables.append(table)
    return tables


def _significance(answers: dict[str, dict[str, Answers]]) -> dict[tuple[str, str], tuple[str, str]]:
    """{(row, task): asterisks, plain and adjusted over all of them}; without directories of few items."""
    tests = {}
    for title, rows_of in answers.items():
        whole = len(rows_of["Random"][0])
        right = {name: said == rows.label for name, (rows, said) in rows_of.items() if len(rows) == whole}
        best = max(right, key=lambda name: scores(*rows_of[name])["micro"])
        for name in right:
            if name != best:
                tests[name, title] = measures.mcnemar(right[best], right[name]).plain
    adjusted = measures.benjamini_hochberg(list(tests.values()))
    return {
        place: (measures.stars(p), measures.stars(float(q)))
        for (place, p), q in zip(tests.items(), adjusted, strict=True)
    }


def rounded(value: float) -> str:
    """A share as Table 2 prints it: rounded to three decimals, then half up to two.

    The human's .66477 (AP, properties) stands in the table as .67; the other 23 cells that the data decides
    come out by this rule too.
    """
    return str(Decimal(f"{value:.3f}").quantize(Decimal("0.01"), ROUND_HALF_UP))
