"""The need of one model under other conditions than the main grid's: what is asked, what is shown, what is
drawn more often, and how much can be seen of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import Run, whole
from simtown.complexity.needs import Findings, Need, Ratio
from tools.parts.claims import MAIN
from tools.parts.results import MAIN_GRID, STRUCTURED, UNSTRUCTURED, Results
from tools.parts.words import NOTHING_YET, markdown, name_of, paragraphs

#: Seeds of the grids of conditions, and so the main grid's that are compared with them.
SEEDS = range(3)


#: Folder of the cells that are asked about two axes.
TWO_AXES = "conditions/relations-all"
#: The relations of an axis, by its name on the page.
AXES = {"left and right": ("left of", "right of"), "depth": ("in front of", "behind")}

#: The runs of a model under a condition, without a distractor.
Condition = Callable[[Results, str], list[Run]]


def grid(folder: str) -> Condition:
    """The condition of a grid, by the folder of its finished cells."""

    def runs(results: Results, model: str) -> list[Run]:
        return [
            run
            for run in results.runs(folder)
            if run.model == model and run.seed in SEEDS and not run.distractor
        ]

    return runs


def seen(least: int, most: int) -> Condition:
    """The main grid's test questions alone whose vehicle that is hidden more is visible to so many percent.

    Of the runs, these answers count; nothing was trained for them.
    """

    def runs(results: Results, model: str) -> list[Run]:
        percents = {
            line["test_id"]: np.frombuffer(bytes.fromhex(line["percent"]), dtype=np.uint8)
            for line in results.csv("visible.csv")
        }
        chosen = []
        for run in results.runs():
            if run.model == model and not run.distractor and run.test_id in percents:
                percent = percents[run.test_id]
                asked = (least <= percent) & (percent <= most)
                items = run.test_id if asked.all() else f"{run.test_id}, {least} to {most} %"
                chosen.append(replace(run, correct=run.correct[asked], test_id=items))
        return chosen

    return runs


@dataclass(frozen=True)
class Comparison:
    """Conditions that differ in one thing, for one model, without a distractor.

    Attributes:
        name: of the figure.
        title: what the conditions are, in words.
        model: the model that all lines are about.
        conditions: by name. The first is the one that the others are compared with.
    """

    name: str
    title: str
    model: str
    conditions: dict[str, Condition]

    def report(self, results: Results) -> Findings | None:
        """What the cells say, each condition as if it were a model; None unless two conditions have some."""
        runs, found = [], 0
        for name, runs_of in self.conditions.items():
            own = enough(whole(runs_of(results, self.model)))
            runs += [replace(run, model=name) for run in own]
            found += bool(own)
        return estimate(runs, targets=[MAIN], reference=next(iter(self.conditions))) if found > 1 else None


def enough(runs: list[Run]) -> list[Run]:
    """The runs of worlds that have all the seeds that are compared."""
    seeds: dict[int, set[int]] = defaultdict(set)
    for run in runs:
        seeds[run.entities].add(run.seed)
    return [run for run in runs if seeds[run.entities] >= set(SEEDS)]


SKEW = Comparison(
    *("skew", "frequencies", STRUCTURED),
    {"Uniform": grid("skew/uniform"), "Visual Genome": grid(MAIN_GRID), "Zipf 2": grid("skew/zipf-2")},
)
SHOWN = Comparison(
    *("shown", "what is asked and shown", STRUCTURED),
    {
        "One axis, every weather": grid(MAIN_GRID),
        "Two axes": grid(TWO_AXES),
        "Clear weather": grid("conditions/weather-clear"),
    },
)
WORDED = Comparison(
    *("worded", "questions", UNSTRUCTURED),
    {"One phrasing": grid(MAIN_GRID), "Several phrasings": grid("conditions/phrasing-varied")},
)
SEEN = {
    "all": seen(0, 100),
    "wholly visible": seen(100, 100),
    "70 to 99 % visible": seen(70, 99),
    "40 to 69 % visible": seen(0, 69),
}
VISIBLE = tuple(
    Comparison(f"visible-{model}", "vehicles asked about", model, SEEN)
    for model in (STRUCTURED, UNSTRUCTURED)
)
COMPARISONS = (SKEW, SHOWN, WORDED, *VISIBLE)


def skew(results: Results) -> str:
    """What the skew of the frequencies does to the need of the Place-Binder Network."""
    return compared(results, SKEW)


def shown(results: Results) -> str:
    """What a second axis and the weather do to the need of the Place-Binder Network."""
    return compared(results, SHOWN)


def axes(results: Results) -> str:
    """How often the Place-Binder Network is right about an axis, asked about one axis and about two.

    On the sizes that every compared seed has in both.
    """
    accuracies: dict[tuple[int, int, str], dict[int, float]] = {}
    for folder in (MAIN_GRID, TWO_AXES):
        for run, _ in results.curves(folder):
            if run["model"] != STRUCTURED or run["seed"] not in SEEDS or run["data"]["distractor"]:
                continue
            for axis, relations in AXES.items():
                parts = [
                    run["test"]["relations"][name] for name in relations if name in run["test"]["relations"]
                ]
                if parts:
                    right = sum(part["n"] * part["accuracy"] for part in parts)
                    cell = run["data"]["entities"], run["train_size"], f"{folder} {axis}"
                    accuracies.setdefault(cell, {})[run["seed"]] = right / sum(part["n"] for part in parts)
    columns = [f"{MAIN_GRID} left and right", *(f"{TWO_AXES} {axis}" for axis in AXES)]
    body = []
    for entities, size in sorted({(entities, size) for entities, size, _ in accuracies}):
        cells = [accuracies.get((entities, size, column), {}) for column in columns]
        if all(cell.keys() == set(SEEDS) for cell in cells):
            means = [f"{sum(cell.values()) / len(cell):.3f}" for cell in cells]
            body.append([str(entities), f"{size:,}", *means])
    head = ("entities", "examples", "one axis", *(f"two axes: {axis}" for axis in AXES))
    return markdown(head, body, 0) if body else NOTHING_YET


def worded(results: Results) -> str:
    """What several phrasings do to the need of the CNN-LSTM."""
    return compared(results, WORDED)


def visible(results: Results) -> str:
    """What hidden vehicles do to the needs of both models of the paper."""
    return paragraphs(
        *(
            part
            for comparison in VISIBLE
            for part in (f"{name_of(comparison.model)}:", compared(results, comparison))
        )
    )


def compared(results: Results, comparison: Comparison) -> str:
    """A table with a line for each condition, below its figure if there is growth to show."""
    report = comparison.report(results)
    if report is None:
        return NOTHING_YET
    first = next(iter(comparison.conditions))
    needed: dict[tuple[str, int], Need] = {
        (x.model, x.entities): x for x in report.rows if x.rule == "isotonic"
    }
    times: dict[tuple[str, int], Ratio] = {
        (x.upper, x.entities): x
        for x in report.ratios
        if (x.rule, x.lower) == ("isotonic", first) and x.known
    }
    slopes = {x.model: x for x in report.exponents if x.rule == "isotonic" and x.known}
    worlds = sorted({entities for _, entities in needed})
    body = []
    for name in (name for name in comparison.conditions if any(model == name for model, _ in needed)):
        line = [name]
        for entities in worlds:
            need, ratio = needed.get((name, entities)), times.get((name, entities))
            line.append(f"{need}, {need.seeds_fewest} seeds" + f"; {ratio} ×" * bool(ratio) if need else "–")
        difference = slopes.get(f"{name} - {first}")
        line.append(str(slopes.get(name, "–")))
        line.append(f"{difference}, {difference.verdict}" if difference else "–")
        body.append(line)
    head = [
        comparison.title,
        *(f"{entities} entities" for entities in worlds),
        "exponent",
        "less the first line's",
    ]
    picture = f"![Samples needed, by {comparison.title}](../gallery/{comparison.name}.png)"
    return paragraphs(picture if shows_growth(report) else "", markdown(head, body, 1))


def draw(results: Results, folder: Path) -> None:
    """Draw the figure of each comparison that shows growth."""
    from simtown.complexity.needs_figure import samples

    for comparison in COMPARISONS:
        if (report := comparison.report(results)) and shows_growth(report):
            samples(report, folder / f"{comparison.name}.png", compared=name_of(comparison.model))


def shows_growth(report: Findings) -> bool:
    """Whether two conditions were measured in two worlds each."""
    worlds = Counter(curve.model for curve in report.curves)
    return sum(number > 1 for number in worlds.values()) > 1
