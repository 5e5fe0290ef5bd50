"""Tables 1 and 2 of Forbes, Holtzman & Choi (2019) beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np

from simtown.core.options import SettingsError
from simtown.probes import measures, report
from simtown.probes.physical import FORM, TASKS, physical_release
from simtown.probes.physical.decisions import DecidedItems, PhysicalTask, build
from simtown.probes.physical.scores import decisions_of, scores, short_columns
from simtown.probes.reproduce import PrintedNumber, PrintedTable

#: Table 2 by row and column group: (macro F1 left, macro F1 right, micro F1, significance against the best
#: model of the group).
TABLE2: dict[str, dict[str, tuple[float, float, float, str]]] = {
    name: dict(zip(TASKS, cells, strict=True))
    for name, cells in {
        "Random": [
            (0.25, 0.26, 0.26, "***"),
            (0.24, 0.25, 0.22, "***"),
            (0.53, 0.62, 0.51, "***"),
            (0.24, 0.26, 0.23, "***"),
        ],
        "Majority": [
            (0.34, 0.11, 0.31, "***"),
            (0.16, 0.05, 0.17, "***"),
            (0.82, 0.68, 0.82, "***"),
            (0.18, 0.05, 0.17, "***"),
        ],
        "GloVe": [
            (0.63, 0.47, 0.63, "***"),
            (0.55, 0.39, 0.57, ""),
            (0.85, 0.73, 0.86, ""),
            (0.27, 0.13, 0.29, ""),
        ],
        "Dep-Embs": [
            (0.62, 0.42, 0.60, "***"),
            (0.54, 0.36, 0.54, "***"),
            (0.84, 0.67, 0.84, "*"),
            (0.26, 0.12, 0.28, ""),
        ],
        "ELMo": [
            (0.67, 0.55, 0.67, "**"),
            (0.58, 0.44, 0.58, "***"),
            (0.84, 0.71, 0.85, "**"),
            (0.31, 0.17, 0.34, ""),
        ],
        "BERT": [
            (0.74, 0.67, 0.74, ""),
            (0.64, 0.59, 0.67, ""),
            (0.87, 0.77, 0.88, ""),
            (0.36, 0.25, 0.37, ""),
        ],
        "Human": [
            (0.78, 0.80, 0.67, ""),
            (0.70, 0.69, 0.61, ""),
            (0.83, 0.93, 0.80, ""),
            (0.65, 0.67, 0.40, ""),
        ],
    }.items()
}
#: Coin tosses of the Random row.
TOSSES = 20
_PARTS = ("left", "right", "micro")


def table1(data: Path, runs: Sequence[Path] = ()) -> list[PrintedTable]:
    """Every cell of Table 1, from the released labels.

    Raises:
        SettingsError: `runs` are given, though the table has no rows of models.
    """
    if runs:
        raise SettingsError("adds a row to forbes-table2; Table 1 is about the data", "runs")
    release = physical_release.read(data)
    abstract, situated = np.array(list(release.abstract.values())) == 1, release.instances
    affordances = sum(len(instance.yes) for instance in situated)

    def spread(counts: np.ndarray) -> str:
        return f"{np.median(counts):g} ({counts.min()}, {counts.max()})"

    table = PrintedTable("Table 1: paper / here", ("",))
    for name, paper, here in (
        ("abstract: objects", "514", len(abstract)),
        ("abstract: train objects", "411", len(release.splits["abstract", "train"])),
        ("abstract: test objects", "103", len(release.splits["abstract", "test"])),
        ("abstract: properties", "50", abstract.shape[1]),
        ("abstract: objects a property, median (min, max)", "60 (3, 302)", spread(abstract.sum(axis=0))),
        ("abstract: properties an object, median (min, max)", "8 (1, 23)", spread(abstract.sum(axis=1))),
        ("abstract: annotations", "77,100", 3 * abstract.size),
        ("situated: objects", "1,024", len(situated)),
        ("situated: unique objects", "80", len({instance.object for instance in situated})),
        ("situated: unique train objects", "64", len(release.splits["situated", "train"])),
        ("situated: unique test objects", "16", len(release.splits["situated", "test"])),
        ("situated: properties", "50", len(release.properties)),
        ("situated: affordances", "3,072", affordances),
        (
            "situated: annotations",
            "156,672",
            3 * len(situated) * len(release.properties) + affordances,
        ),
    ):
        table.add(name, PrintedNumber(paper, here if isinstance(here, str) else f"{here:,}"))
    return [table]


def table2(
    baselines: Mapping[str, Callable[[PhysicalTask, int], DecidedItems]],
    data: Path,
    runs: Sequence[Path] = (),
) -> list[PrintedTable]:
    """Random, Majority, the given directories of results, and Human, a table for each task.

    A directory that is called as a row of the paper, such as "GloVe", stands beside its numbers. The
    asterisks are McNemar's test of every row against the best micro F1 of its task, also adjusted over the
    whole table.

    Raises:
        FileNotFoundError: a directory holds no results.
        DamagedError: a file of its results is damaged.
    """
    release = physical_release.read(data)
    cells: dict[tuple[str, str], list[PrintedNumber]] = {}
    correct: dict[str, dict[str, np.ndarray]] = {title: {} for title in TASKS}
    tasks = {title: build(release, title) for title in TASKS}

    def add(name: str, title: str, decided: DecidedItems) -> None:
        paper = TABLE2.get(name, {}).get(title)
        ours = scores(decided.rows, decided.said)
        cells[name, title] = [
            PrintedNumber(f"{paper[i]:.2f}" if paper else "", rounded(getattr(ours, part)))
            for i, part in enumerate(_PARTS)
        ]
        if len(decided.rows) == len(tasks[title].test):
            correct[title][name] = decided.said == decided.rows.label

    for title, task in tasks.items():
        add("Random", title, baselines["random"](task, 0))
        tosses = [baselines["random"](task, seed) for seed in range(TOSSES)]
        drawn = [scores(toss.rows, toss.said) for toss in tosses]
        for i, part in enumerate(_PARTS):
            values = [getattr(each, part) for each in drawn]
            paper = f"{TABLE2['Random'][title][i]:.2f}"
            cells["Random", title][i] = PrintedNumber(paper, f"{np.mean(values):.3f}", float(np.std(values)))
        add("Majority", title, baselines["majority"](task, 0))
    names = []
    for path in runs:
        results = report.load(path, FORM)
        alike = [run for run in runs if run.name == path.name]
        names.append(
            str(path) if len(alike) > 1 or path.name in ("Random", "Majority", "Human") else path.name
        )
        for title in results.tasks:
            add(names[-1], title, decisions_of(results, title))
    stars = _significance(cells, correct) if runs else {}
    for title, task in tasks.items():
        add("Human", title, baselines["human"](task, 0))
    order = [*(n for n in TABLE2 if n != "Human"), *(n for n in names if n not in TABLE2), "Human"]
    tables = []
    for title in TASKS:
        columns = (*short_columns(title), "sig: paper", "here", "adjusted")
        table = PrintedTable(f"Table 2, {title.replace('-', ' ')}: paper / here", columns)
        for name in order:
            printed = TABLE2.get(name, {}).get(title)
            row = cells.get((name, title)) or [PrintedNumber(f"{x:.2f}") for x in (printed or ())[:3]]
            if row:
                table.add(name, *row, printed[3] if printed else "", *stars.get((name, title), ("", "")))
        tables.append(table)
    return tables


def _significance(
    cells: Mapping[tuple[str, str], Sequence[PrintedNumber]], correct: Mapping[str, Mapping[str, np.ndarray]]
) -> dict[tuple[str, str], tuple[str, str]]:
    """{(row, task): asterisks, plain and adjusted over all of them}."""
    tests = {}
    for title, each in correct.items():
        best = max(each, key=lambda name: float(cells[name, title][2].here))
        for name in each:
            if name != best:
                tests[name, title] = measures.mcnemar(each[best], each[name]).plain
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
