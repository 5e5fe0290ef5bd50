"""The need of one model under other conditions than the main grid's: what is asked, what is shown, and
what is drawn more often.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from simtown.training.complexity import estimate
from simtown.training.findings import Findings, Need, Ratio
from simtown.training.results import whole
from tools.parts.claims import MAIN
from tools.parts.results import MAIN_GRID, STRUCTURED, UNSTRUCTURED, Results
from tools.parts.words import NOTHING_YET, markdown, name_of, paragraphs

#: Seeds of the grids of conditions, and so the main grid's that are compared with them.
SEEDS = range(3)


@dataclass(frozen=True)
class Comparison:
    """Conditions that differ in one thing, for one model, without a distractor.

    Attributes:
        name: of the part and of its figure.
        title: what the conditions are, in words.
        model: the model that all lines are about.
        folders: folder of the finished cells, by the condition's name. The first condition is the one that
            the others are compared with.
    """

    name: str
    title: str
    model: str
    folders: dict[str, str]

    def report(self, results: Results) -> Findings | None:
        """What the cells say, each condition as if it were a model; None unless two conditions have some."""
        runs, found = [], 0
        for condition, folder in self.folders.items():
            own = whole(
                [
                    run
                    for run in results.runs(folder)
                    if run.model == self.model and run.seed in SEEDS and not run.distractor
                ]
            )
            runs += [replace(run, model=condition) for run in own]
            found += bool(own)
        return estimate(runs, targets=[MAIN], reference=next(iter(self.folders))) if found > 1 else None


SKEW = Comparison(
    *("skew", "frequencies", STRUCTURED),
    {"Uniform": "skew/uniform", "Visual Genome": MAIN_GRID, "Zipf 2": "skew/zipf-2"},
)
SHOWN = Comparison(
    *("shown", "what is asked and shown", STRUCTURED),
    {
        "One axis, every weather": MAIN_GRID,
        "Two axes": "conditions/relations-all",
        "Clear weather": "conditions/weather-clear",
    },
)
WORDED = Comparison(
    *("worded", "questions", UNSTRUCTURED),
    {"One phrasing": MAIN_GRID, "Several phrasings": "conditions/phrasing-varied"},
)
COMPARISONS = (SKEW, SHOWN, WORDED)


def skew(results: Results) -> str:
    """What the skew of the frequencies does to the need of the Place-Binder Network."""
    return compared(results, SKEW)


def shown(results: Results) -> str:
    """What a second axis and the weather do to the need of the Place-Binder Network."""
    return compared(results, SHOWN)


def worded(results: Results) -> str:
    """What several phrasings do to the need of the CNN-LSTM."""
    return compared(results, WORDED)


def compared(results: Results, comparison: Comparison) -> str:
    """A table with a line for each condition, below its figure if there is growth to show."""
    report = comparison.report(results)
    if report is None:
        return NOTHING_YET
    first = next(iter(comparison.folders))
    needed: dict[tuple[str, int], Need] = {
        (x.model, x.entities): x for x in report.rows if x.rule == "isotonic"
    }
    times: dict[tuple[str, int], Ratio] = {
        (x.upper, x.entities): x
        for x in report.ratios
        if (x.rule, x.lower) == ("isotonic", first) and x.telling
    }
    slopes = {x.model: x for x in report.exponents if x.rule == "isotonic" and x.telling}
    worlds = sorted({entities for _, entities in needed})
    body = []
    for name in (name for name in comparison.folders if any(model == name for model, _ in needed)):
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
    from simtown.training import figures  # Matplotlib

    for comparison in COMPARISONS:
        if (report := comparison.report(results)) and shows_growth(report):
            figures.samples(report, folder / f"{comparison.name}.png", compared=name_of(comparison.model))


def shows_growth(report: Findings) -> bool:
    """Whether two conditions were measured in two worlds each."""
    worlds = Counter(curve.model for curve in report.curves)
    return sum(number > 1 for number in worlds.values()) > 1
