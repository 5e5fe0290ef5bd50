"""The committed results that pages are made from.

Cells of the main grid are a table in sample-complexity/, those of another grid in a folder of its own.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from simtown.complexity.cell_table import TABLE, read_table
from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import Run, keep_complete_sizes, read_and_count
from simtown.complexity.quantities import Findings
from tools.parts.factors import Effect, effects

#: The two models of the paper, the accuracy of sentences, and the paper's worlds.
STRUCTURED, UNSTRUCTURED = "pbn", "cnn-lstm"
MAIN, PAPER_WORLDS = 0.9, (5, 15, 31, 60)
#: Folders of cells: the main grid, the same once more on a card, and the other presets of benchmarks/presets.
MAIN_GRID, ON_CARD = "sample-complexity", "on-a-card"
LARGER, LITERAL, FIXED, HEAD = "pictures-128", "paper-rule-64", "fixed-15", "head"
#: What no validation of a model that answers by chance reaches: a thousand coins, tossed for each validation
#: of a search, reach it once in a hundred searches.
BY_CHANCE = 0.56


class Results:
    """The results in a folder, each read when first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.report = cache(self._report)
        self.runs = cache(self._runs)

    def cells(self, grid: str = MAIN_GRID) -> Iterator[tuple[dict[str, Any], dict[str, list[float]]]]:
        """The records of a grid's finished runs, with their learning curves."""
        for cell in read_table(self._table(grid)).values():
            yield cell["run"], cell["curve"]

    def pair(self) -> Findings:
        """What the main grid says of the paper's two models at 90 %, without a distractor."""
        runs = (run for run in keep_complete_sizes(self.runs(MAIN_GRID)) if not run.distractor)
        return estimate([r for r in runs if r.model in (STRUCTURED, UNSTRUCTURED)], targets=[MAIN])

    def head(self) -> Findings:
        """What a head on a frozen encoder needs beside the paper's two models, all with one seed."""
        single = (r for r in self.runs(MAIN_GRID) if r.seed == 0 and r.entities <= 31 and not r.distractor)
        return estimate([*self.runs(HEAD), *(r for r in single if r.model in (STRUCTURED, UNSTRUCTURED))])

    def effects(self) -> list[Effect]:
        """Two by two, from the main grid."""
        report = self.report(MAIN_GRID)
        return effects(report.curves, report.targets)

    def csv(self, name: str) -> list[dict[str, str]]:
        """The lines of a CSV file without its comments."""
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))

    def _table(self, grid: str) -> Path:
        return self.folder / grid / TABLE

    def _runs(self, grid: str) -> list[Run]:
        return read_and_count([self._table(grid)])[0]

    def _report(self, grid: str) -> Findings:
        """What a grid says, from the sizes that are finished with all seeds."""
        return estimate(keep_complete_sizes(self.runs(grid)))


def isotonic(findings: Iterable[Any]) -> list[Any]:
    """Those by the isotonic rule of which something is known."""
    return [x for x in findings if x.rule == "isotonic" and getattr(x, "known", True)]


def main(findings: Iterable[Any]) -> list[Any]:
    """Those by the isotonic rule, for 90 %."""
    return [x for x in findings if (x.target, x.rule) == (MAIN, "isotonic")]


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"
