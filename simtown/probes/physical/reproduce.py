"""The paper's Tables 1 and 2 beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.probes import statistics
from simtown.probes.bars import no_bars
from simtown.probes.physical import baselines, metrics, published, results
from simtown.probes.physical.datasets import PhysicalRelease
from simtown.probes.physical.models import judge
from simtown.probes.physical.settings import TITLES, PhysicalSettings, physical_record
from simtown.probes.physical.tasks import ALL, build
from simtown.probes.printed import PrintedNumber, PrintedTable, verdict
from simtown.probes.release_files import understood
from simtown.probes.result_files import load

#: Coin tosses of the Random row.
TOSSES = 20


@dataclass(frozen=True)
class PrintedRow:
    """A row of Table 2.

    Attributes:
        name: of the model.
        cells: by (task title, "left", "right" or "micro").
        stars: by title: of p, and of p adjusted over the table.
    """

    name: str
    cells: dict[tuple[str, str], PrintedNumber]
    stars: dict[str, tuple[str, str]]


@understood("the data")
def table1(release: PhysicalRelease) -> list[tuple[str, PrintedNumber]]:
    """Every cell of Table 1, from the released labels. Raises DamagedError if a part is missing."""
    abstract, situated = np.array(list(release.abstract.values())) == 1, release.instances
    uids = {i.object for i in situated}

    def spread(counts: np.ndarray) -> str:
        return f"{np.median(counts):g} ({counts.min()}, {counts.max()})"

    affordances = sum(len(i.yes) for i in situated)
    here: tuple[int | str, ...] = (
        len(abstract),
        *(len(release.splits["abstract", part]) for part in ("train", "test")),
        abstract.shape[1],
        spread(abstract.sum(axis=0)),
        spread(abstract.sum(axis=1)),
        3 * abstract.size,
        len(situated),
        len(uids),
        *(len(release.splits["situated", part]) for part in ("train", "test")),
        len(release.properties),
        affordances,
        3 * len(situated) * len(release.properties) + affordances,
    )
    return [
        (name, PrintedNumber(paper, h if isinstance(h, str) else f"{h:,}"))
        for (name, paper), h in zip(published.TABLE1, here, strict=True)
    ]


@understood("the data, or a directory of results,")
def table2(release: PhysicalRelease, runs: Sequence[Path] = ()) -> list[PrintedRow]:
    """Random, Majority, the given directories of results, and Human, cell by cell.

    A directory that is called as a row of the paper, such as "GloVe", stands beside its numbers.

    Raises:
        FileNotFoundError: a directory holds no results.
        DamagedError: a file of its results is damaged.
        ValueError: its results are about other items.
    """
    tasks = [build(release, place, name) for place, name in ALL]
    random, majority, human = (_row(name.capitalize()) for name in ("random", "majority", "human"))
    for task in tasks:
        drawn = [metrics.scores(task.test, baselines.random(task, seed)) for seed in range(TOSSES)]
        for i, part in enumerate(("left", "right", "micro")):
            values = [getattr(s, part) for s in drawn]
            random.cells[task.title, part] = PrintedNumber(
                f"{published.TABLE2['Random'][task.title][i]:.2f}",
                f"{np.mean(values):.3f}",
                float(np.std(values)),
            )
        for row, model in ((majority, "majority"), (human, "human")):
            judged = judge(release, task, PhysicalSettings(model), None, lambda steps: no_bars("", steps))
            _fill(row, task.title, metrics.scores(judged.rows, judged.said))
    ours = []
    correct = {
        t.title: {
            "Majority": baselines.majority(t) == t.test.label,
            "Random": baselines.random(t, 0) == t.test.label,
        }
        for t in tasks
    }
    for path in runs:
        content = load(physical_record(), path)
        taken = path.name in ("Random", "Majority", "Human") or [p.name for p in runs].count(path.name) > 1
        row = _row(str(path) if taken else path.name)
        for task in tasks:
            if task.title not in content["tasks"]:
                continue
            decided = results.decisions(path, task.title)
            if len(decided.rows) == len(task.test):
                correct[task.title][row.name] = decided.said == decided.rows.label
            _fill(row, task.title, metrics.scores(decided.rows, decided.said))
        ours.append(row)
    if ours:
        _significance([random, majority, *ours], correct)
    return [random, majority, *ours, human]


def _row(name: str) -> PrintedRow:
    return PrintedRow(name, {}, {})


def _fill(row: PrintedRow, title: str, scores: metrics.Scores) -> None:
    paper = published.TABLE2.get(row.name, {}).get(title)
    for i, part in enumerate(("left", "right", "micro")):
        row.cells[title, part] = PrintedNumber(
            f"{paper[i]:.2f}" if paper else "", published.printed(getattr(scores, part))
        )


def _significance(rows: Sequence[PrintedRow], correct: dict[str, dict[str, np.ndarray]]) -> None:
    """McNemar's test of every row against the best micro F1 of its task, as the paper's asterisks; adjusted
    over all of the table.
    """
    tests = []
    for title, each in correct.items():
        best = max((r for r in rows if r.name in each), key=lambda r: float(r.cells[title, "micro"].here))
        for row in rows:
            if row.name in each and row is not best:
                tests.append((row, title, statistics.mcnemar(each[best.name], each[row.name]).plain))
    for (row, title, p), q in zip(
        tests, statistics.benjamini_hochberg([p for _, _, p in tests]), strict=True
    ):
        row.stars[title] = (statistics.stars(p), statistics.stars(float(q)))


def printed_table(
    table: str, release: PhysicalRelease, runs: Sequence[Path]
) -> tuple[list[PrintedTable], list[str]]:
    """A table of the paper beside ours, and how many of its cells are as printed.

    Raises:
        ValueError: `runs` are given to Table 1, which has no rows of models.
    """
    if table == "forbes-table1":
        if runs:
            raise ValueError("`runs` adds a row to forbes-table2; Table 1 is about the data")
        cells = table1(release)
        printed = PrintedTable("Table 1: paper / here", ("",), [(name, [cell]) for name, cell in cells])
        return [printed], [verdict([cell for _, cell in cells])]
    rows = table2(release, runs)
    return _by_task(rows), [verdict([cell for row in rows for cell in row.cells.values()])]


def _by_task(rows: Sequence[PrintedRow]) -> list[PrintedTable]:
    """A table for each column group of Table 2."""
    tables = []
    ours = {row.name: row for row in rows}
    printed = published.TABLE2
    for title in TITLES:
        heads = (*results.columns(title), "sig: paper", "here", "adjusted")
        table = PrintedTable(f"Table 2, {title.replace('-', ' ')}: paper / here", heads)
        for name in [*(n for n in printed if n != "Human"), *(n for n in ours if n not in printed), "Human"]:
            row, paper = ours.get(name), printed.get(name, {}).get(title)
            if row is None:
                cells = [PrintedNumber(f"{paper[i]:.2f}") for i in range(3)] if paper else []
            elif (title, "micro") in row.cells:
                cells = [row.cells[title, part] for part in ("left", "right", "micro")]
            else:
                continue
            stars = row.stars.get(title, ("", "")) if row else ("", "")
            table.add(name, *cells, paper[3] if paper else "", *stars)
        tables.append(table)
    return tables
