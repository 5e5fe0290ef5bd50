"""The paper's Tables 1 and 2 beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.probes import statistics
from simtown.probes.physical import baselines, metrics, published, results
from simtown.probes.physical.datasets import Release
from simtown.probes.physical.models import Choices, judge
from simtown.probes.physical.tasks import ALL, build
from simtown.probes.release_files import understood

#: Coin tosses of the Random row.
TOSSES = 20


@dataclass(frozen=True)
class Cell:
    """A number: as printed in the paper (None where it has none) and here; `spread` its standard deviation where it is drawn."""

    paper: str | None
    here: str
    spread: float | None = None

    @property
    def same(self) -> bool | None:
        """None where nothing is to be compared. A drawn number is the same within two standard deviations and rounding."""
        if self.paper is None:
            return None
        if self.spread is None:
            return self.paper == self.here
        return abs(float(self.paper) - float(self.here)) <= 2 * self.spread + 0.005


@dataclass(frozen=True)
class Row:
    """A row of Table 2: `cells` by (task title, "left", "right" or "micro"), `stars` by title: of p, and of p adjusted over the table."""

    name: str
    cells: dict[tuple[str, str], Cell]
    stars: dict[str, tuple[str, str]]


@understood("the data")
def table1(release: Release) -> list[tuple[str, Cell]]:
    """Every cell of Table 1, from the released labels. Raises DamagedError where they lack what it counts."""
    abstract, situated = np.array(list(release.abstract.values())) == 1, release.instances
    uids = {i.object for i in situated}

    def spread(counts: np.ndarray) -> str:
        return f"{np.median(counts):g} ({counts.min()}, {counts.max()})"

    affordances = sum(len(i.yes) for i in situated)
    here: tuple[int | str, ...] = (
        len(abstract), *(len(release.splits["abstract", part]) for part in ("train", "test")), abstract.shape[1],
        spread(abstract.sum(axis=0)), spread(abstract.sum(axis=1)), 3 * abstract.size,
        len(situated), len(uids), *(len(release.splits["situated", part]) for part in ("train", "test")), len(release.properties),
        affordances, 3 * len(situated) * len(release.properties) + affordances,
    )  # fmt: skip
    return [(name, Cell(paper, h if isinstance(h, str) else f"{h:,}")) for (name, paper), h in zip(published.TABLE1, here, strict=True)]


@understood("the data, or a directory of results,")
def table2(release: Release, runs: Sequence[Path] = ()) -> list[Row]:
    """Random, Majority, the given directories of results, and Human, cell by cell.

    A directory that is called as a row of the paper, such as "GloVe", stands beside its numbers.

    Raises:
        FileNotFoundError, DamagedError, ValueError: a directory holds no results, or results about other items.
    """
    tasks = [build(release, place, name) for place, name in ALL]
    random, majority, human = (_row(name.capitalize()) for name in ("random", "majority", "human"))
    for task in tasks:
        drawn = [metrics.scores(task.test, baselines.random(task, seed)) for seed in range(TOSSES)]
        for i, part in enumerate(("left", "right", "micro")):
            values = [getattr(s, part) for s in drawn]
            random.cells[task.title, part] = Cell(f"{published.TABLE2['Random'][task.title][i]:.2f}", f"{np.mean(values):.3f}",
                                                  float(np.std(values)))  # fmt: skip
        for row, model in ((majority, "majority"), (human, "human")):
            judged = judge(release, task, Choices(model), None, lambda steps: lambda: None)
            _fill(row, task.title, metrics.scores(judged.rows, judged.said))
    ours = []
    correct = {
        t.title: {"Majority": baselines.majority(t) == t.test.label, "Random": baselines.random(t, 0) == t.test.label} for t in tasks
    }
    for path in runs:
        content = results.STUDY.load(path)
        taken = path.name in ("Random", "Majority", "Human") or [p.name for p in runs].count(path.name) > 1
        row = _row(str(path) if taken else path.name)
        for task in tasks:
            if task.title not in content["tasks"]:
                continue
            found = results.decisions(path, task.title)
            if len(found.rows) == len(task.test):
                correct[task.title][row.name] = found.said == found.rows.label
            _fill(row, task.title, metrics.scores(found.rows, found.said))
        ours.append(row)
    if ours:
        _significance([random, majority, *ours], correct)
    return [random, majority, *ours, human]


def _row(name: str) -> Row:
    return Row(name, {}, {})


def _fill(row: Row, title: str, found: metrics.Scores) -> None:
    paper = published.TABLE2.get(row.name, {}).get(title)
    for i, part in enumerate(("left", "right", "micro")):
        row.cells[title, part] = Cell(f"{paper[i]:.2f}" if paper else None, published.printed(getattr(found, part)))


def _significance(rows: Sequence[Row], correct: dict[str, dict[str, np.ndarray]]) -> None:
    """McNemar's test of every row against the best micro F1 of its task, as the paper's asterisks; adjusted over all of the table."""
    found = []
    for title, each in correct.items():
        best = max((r for r in rows if r.name in each), key=lambda r: float(r.cells[title, "micro"].here))
        for row in rows:
            if row.name in each and row is not best:
                found.append((row, title, statistics.mcnemar(each[best.name], each[row.name]).plain))
    for (row, title, p), q in zip(found, statistics.benjamini_hochberg([p for _, _, p in found]), strict=True):
        row.stars[title] = (statistics.stars(p), statistics.stars(float(q)))
