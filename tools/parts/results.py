"""The committed results that pages are made from.

Cells of the main grid lie in sample-complexity/, cells of another grid in a folder of its own beside it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from simtown.complexity.estimate import estimate
from simtown.complexity.factors import Effect, effects
from simtown.complexity.finished_runs import Run, read_runs, whole
from simtown.complexity.needs import Findings

#: The two models of the paper.
STRUCTURED, UNSTRUCTURED = "pbn", "cnn-lstm"
#: Folder of the main grid's cells.
MAIN_GRID = "sample-complexity"
#: Folder of the cells of benchmarks/presets/pictures-128.toml.
LARGER = "pictures-128"
#: Folder of cells of the main grid that a card trained once more.
ON_CARD = "on-a-card"
#: Folder of the cells of benchmarks/presets/paper-rule-64.toml.
LITERAL = "paper-rule-64"
#: Folder of the cells of benchmarks/presets/fixed-15.toml.
FIXED = "fixed-15"
#: Record and learning curve of a finished run.
Cell = tuple[dict[str, Any], dict[str, list[float]]]


@dataclass(frozen=True)
class Results:
    """The committed results, read when first needed.

    Attributes:
        folder: benchmarks/results, or another with the same layout.
    """

    folder: Path

    def files(self, name: str = MAIN_GRID) -> list[Path]:
        """The files of the main grid's cells, or of another's by the name of its folder."""
        # not below: a folder of fixed sizes may lie there
        return sorted((self.folder / name).glob("*.json"))

    def runs(self, name: str = MAIN_GRID) -> list[Run]:
        """The cells of the main grid, or of another by the name of its folder."""
        files = self.files(name)
        return read_runs(files) if files else []

    def curves(self, name: str = MAIN_GRID) -> Iterator[Cell]:
        """The cells of the main grid, or of another by the name of its folder, with their curves."""
        for file in self.files(name):
            cell = json.loads(file.read_text(encoding="utf-8"))
            yield cell["run"], cell["curve"]

    @cached_property
    def report(self) -> Findings | None:
        """What the main grid says; None before its first cell."""
        runs = whole(self.runs())
        return estimate(runs) if runs else None

    def beside(self, name: str) -> Findings | None:
        """What a grid beside the published one says, by its folder's name; None before its first cell."""
        runs = whole(self.runs(name))
        return estimate(runs) if runs else None

    @cached_property
    def effects(self) -> list[Effect]:
        """Two by two, from the main grid."""
        return effects(self.report.curves, self.report.targets) if self.report else []

    def csv(self, name: str) -> list[dict[str, str]]:
        """The lines of a CSV file without its comments; none if there is no such file."""
        path = self.folder / name
        if not path.exists():
            return []
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))

    def draw(self, folder: Path) -> None:
        """Draw the figures of the main grid, and of the paper's stopping rule, once they show growth."""
        from simtown.complexity.learning_figure import learning
        from simtown.complexity.needs_figure import samples

        if self.report and shows_growth(self.report):
            samples(self.report, folder / "sample-complexity.png")
            learning(self.report, folder / "learning-curves.png")
        if (literal := self.beside(LITERAL)) and shows_growth(literal):
            samples(literal, folder / "paper-rule.png")


def shows_growth(report: Findings | None) -> bool:
    """Whether both models of the paper were measured in two worlds: a figure of fewer shows no growth."""
    worlds = [
        {c.entities for c in report.curves if c.model == model and not c.distractor} if report else set()
        for model in (STRUCTURED, UNSTRUCTURED)
    ]
    return len(worlds[0] & worlds[1]) > 1
