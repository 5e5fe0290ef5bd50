"""The need of one model under other conditions than the main grid's: what is asked, what is shown, what is
drawn more often, and how much can be seen of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import Run, keep_complete_sizes
from simtown.complexity.quantities import Exponent, Findings
from simtown.core.tables import Table
from tools.parts.results import MAIN, MAIN_GRID, STRUCTURED, UNSTRUCTURED, Results, isotonic

#: Seeds of the grids of conditions, and so the main grid's that are compared with them.
SEEDS = range(3)
#: Folder of the cells that are asked about two axes, and the relations of each axis.
TWO_AXES = "conditions/relations-all"
AXES = {"left and right": ("left of", "right of"), "depth": ("in front of", "behind")}

#: The runs of a model under a condition, without a distractor.
Condition = Callable[[Results, str], list[Run]]


def cells_of(folder: str) -> Condition:
    """The condition of a grid, by the folder of its finished cells."""
    return lambda results, model: [
        run for run in results.runs(folder) if run.model == model and run.seed in SEEDS and not run.distractor
    ]


def seen(least: int, most: int) -> Condition:
    """The main grid's test questions alone whose vehicle that is hidden more is visible to so many percent.

    Of the runs, these answers count; nothing was trained for them.
    """

    def runs(results: Results, model: str) -> list[Run]:
        lines = {line["test_id"]: bytes.fromhex(line["percent"]) for line in results.csv("visible.csv")}
        chosen = []
        for run in results.runs(MAIN_GRID):
            if run.model == model and not run.distractor and run.test_id in lines:
                percent = np.frombuffer(lines[run.test_id], dtype=np.uint8)
                asked = (least <= percent) & (percent <= most)
                items = run.test_id if asked.all() else f"{run.test_id}, {least} to {most} %"
                chosen.append(replace(run, correct=run.correct[asked], test_id=items))
        return chosen

    return runs


@dataclass(frozen=True)
class Comparison:
    """Conditions by name that differ in one thing, for one model, without a distractor.

    The first is the one that the others are compared with.
    """

    model: str
    conditions: dict[str, Condition]

    def report(self, results: Results) -> Findings:
        """What the cells say, each condition as if it were a model.

        A world counts if it has all the seeds that are compared.
        """
        runs = []
        for name, runs_of in self.conditions.items():
            own = keep_complete_sizes(runs_of(results, self.model))
            seeds = defaultdict(set)
            for run in own:
                seeds[run.entities].add(run.seed)
            runs += [replace(run, model=name) for run in own if seeds[run.entities] >= set(SEEDS)]
        return estimate(runs, targets=[MAIN], reference=next(iter(self.conditions)))


_SEEN = {
    "all": seen(0, 100),
    "wholly visible": seen(100, 100),
    "70 to 99 % visible": seen(70, 99),
    "40 to 69 % visible": seen(0, 69),
}
#: By the name of the part and the figure.
COMPARISONS = {
    "skew": Comparison(
        STRUCTURED,
        {
            "Uniform": cells_of("skew/uniform"),
            "Visual Genome": cells_of(MAIN_GRID),
            "Zipf 2": cells_of("skew/zipf-2"),
        },
    ),
    "shown": Comparison(
        STRUCTURED,
        {
            "One axis, every weather": cells_of(MAIN_GRID),
            "Two axes": cells_of(TWO_AXES),
            "Clear weather": cells_of("conditions/weather-clear"),
        },
    ),
    "worded": Comparison(
        UNSTRUCTURED,
        {"One phrasing": cells_of(MAIN_GRID), "Several phrasings": cells_of("conditions/phrasing-varied")},
    ),
    "visible-pbn": Comparison(STRUCTURED, _SEEN),
    "visible-cnn-lstm": Comparison(UNSTRUCTURED, _SEEN),
}


def compared(results: Results, comparison: Comparison) -> str:
    """A line for each world: the need under each condition, and how many times the first one's it is.

    Two lines with exponents follow.
    """
    report = comparison.report(results)
    first = next(iter(comparison.conditions))
    needed = {(x.model, x.entities): x for x in isotonic(report.rows)}
    ratios = {(x.upper, x.entities): x for x in isotonic(report.ratios)}
    exponents = {x.model: x for x in isotonic(report.exponents)}
    lines = []
    for entities in sorted({entities for _, entities in needed}):
        line = [str(entities)]
        for world in ((name, entities) for name in comparison.conditions):
            times = f"; × {ratios[world]}" if world in ratios else ""
            line.append(f"{needed[world]}{times}" if world in needed else "–")
        lines.append(line)
    differences = [exponents.get(f"{name} - {first}") for name in comparison.conditions]
    lines.append(["exponent", *(_short(exponents.get(name)) for name in comparison.conditions)])
    verdicts = (f"{_short(x)}, {x.verdict}" if x else "–" for x in differences)
    lines.append(["less the first one's", *verdicts])
    return Table(["kinds", *comparison.conditions], lines).markdown(1)


def _short(exponent: Exponent | None) -> str:
    """An exponent without the share of replicates that know it."""
    return re.sub(r"\(interval unknown: .*?\)", "(interval unknown)", str(exponent)) if exponent else "–"


def axes(results: Results) -> str:
    """How often the Place-Binder Network is right about an axis, asked about one axis and about two.

    On the sizes that every compared seed has in both.
    """
    accuracies: dict[Any, Any] = defaultdict(lambda: defaultdict(dict))
    for folder in (MAIN_GRID, TWO_AXES):
        for run, _ in results.cells(folder):
            data, measured = run["data"], run["test"]["relations"]
            if run["model"] != STRUCTURED or run["seed"] not in SEEDS or data["distractor"]:
                continue
            for axis, relations in AXES.items():
                if parts := [measured[name] for name in relations if name in measured]:
                    right = sum(part["n"] * part["accuracy"] for part in parts) / sum(p["n"] for p in parts)
                    columns = accuracies[data["entities"], run["train_size"]]
                    columns[folder, axis][run["seed"]] = right
    shown = [(MAIN_GRID, "left and right"), *((TWO_AXES, axis) for axis in AXES)]
    lines = []
    for (entities, size), columns in sorted(accuracies.items()):
        if all(columns[column].keys() == set(SEEDS) for column in shown):
            means = [f"{sum(columns[column].values()) / len(SEEDS):.3f}" for column in shown]
            lines.append([entities, f"{size:,}", *means])
    head = ["kinds", "examples", "one axis", *(f"two axes: {axis}" for axis in AXES)]
    return Table(head, lines).markdown(0)
