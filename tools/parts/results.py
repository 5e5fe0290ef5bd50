"""The committed results that pages are made from.

Cells of the main grid lie in sample-complexity/, cells of another grid in a folder of its own beside it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from simtown.complexity.estimate import estimate
from simtown.complexity.factors import Effect, effects
from simtown.complexity.finished_runs import Run, read_runs, whole
from simtown.complexity.model_looks import NAMES
from simtown.complexity.needs import Findings

#: The two models of the paper, the accuracy of sentences, and the paper's worlds.
STRUCTURED, UNSTRUCTURED = "pbn", "cnn-lstm"
MAIN, PAPER_WORLDS = 0.9, (5, 15, 31, 60)
#: Folders of cells: the main grid, the same once more on a card, and the other presets of benchmarks/presets.
MAIN_GRID, ON_CARD = "sample-complexity", "on-a-card"
LARGER, LITERAL, FIXED = "pictures-128", "paper-rule-64", "fixed-15"
#: What no validation of a model that answers by chance reaches: a thousand coins, tossed for each validation
#: of a search, reach it once in a hundred searches.
BY_CHANCE = 0.56
#: Record and learning curve of a finished run.
Cell = tuple[dict[str, Any], dict[str, list[float]]]


class Results:
    """The results in a folder, each read when first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.report = cache(self._report)
        self.runs = cache(self._runs)

    def cells(self, grid: str = MAIN_GRID) -> Iterator[Cell]:
        """The cells of a grid, with their curves."""
        for file in self._files(grid):
            cell = json.loads(file.read_text(encoding="utf-8"))
            yield cell["run"], cell["curve"]

    def effects(self) -> list[Effect]:
        """Two by two, from the main grid."""
        report = self.report(MAIN_GRID)
        return effects(report.curves, report.targets)

    def csv(self, name: str) -> list[dict[str, str]]:
        """The lines of a CSV file without its comments."""
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))

    def _files(self, grid: str) -> list[Path]:
        return sorted((self.folder / grid).glob("*.json"))

    def _runs(self, grid: str = MAIN_GRID) -> list[Run]:
        return read_runs(self._files(grid))

    def _report(self, grid: str = MAIN_GRID) -> Findings:
        """What a grid says, from the sizes that are finished with all seeds."""
        return estimate(whole(self.runs(grid)))


def name_of(model: str) -> str:
    return NAMES.get(model, model)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"
