"""From how many metres on a model tells left from right: thresholds of what models answered.

A curve (:mod:`simtown.complexity.psychometric`) for each part of the questions and each quantity that varies,
as sentences, a table and a figure; two models that answered the same questions are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simtown.complexity.intervals import holm, share
from simtown.complexity.model_looks import ModelLook, looks_of
from simtown.complexity.psychometric import (
    LEAST_ITEMS,
    LEAST_VALUES,
    LEVEL,
    Answers,
    PsychometricCurve,
    bins,
    compare,
    fit_curve,
    without_threshold,
)
from simtown.core import plots
from simtown.core.files import save_text
from simtown.core.table_files import FLAG, INTEGER, NUMBER, TEXT
from simtown.core.tables import Table
from simtown.core.untrusted import markdown
from simtown.datasets.making.manifests import SEAL
from simtown.datasets.reading.reader import Dataset
from simtown.language.meaning.relations import LATERAL, RELATIONS
from simtown.probes.report import Results
from simtown.vlm.conditions import AskedSplit

if TYPE_CHECKING:
    import torch

#: The condition that thresholds are of: the question with its own picture.
_PICTURE = "picture"
#: Panels of the figure in a row.
_ACROSS = 3
_TELLS = {r.name: "left from right" if r.axis == LATERAL else "near from far" for r in RELATIONS}
_NOTE = (
    "A threshold is halfway between chance and ceiling: 75 % right for questions of yes or no without lapses."
    " In parentheses: 95 % intervals, of a difference by a bootstrap; questions about a picture or a group of"
    " twins count together. p: of as clear a trend without one, by Holm's correction over all parts and"
    " quantities of a model; there is a threshold if it is below 0.05. Quantities go together: vehicles that"
    " stand close also hide each other."
)


class Quantity(NamedTuple):
    """A quantity that accuracy may depend on: a column of the rows, and how an axis and a sentence say it."""

    column: str
    title: str
    words: str
    unit: str = ""
    falls: bool = False


QUANTITIES = (
    Quantity("margin", "margin, metres", "from {} on", " m"),
    Quantity("pixels", "height of the vehicles, pixels", "from a height of {} on", " pixels"),
    Quantity("visible", "visible share of the vehicles", "from a visible share of {} on"),
    Quantity("vehicles", "vehicles in the scene", "up to {}", " vehicles", falls=True),
    Quantity("intensity", "intensity of the weather", "up to a weather's intensity of {}", falls=True),
)


@dataclass(frozen=True, eq=False)
class AnsweredQuestions:
    """A model's answers to questions about pictures.

    Attributes:
        model: its name.
        data: what tells the questions from those of other data sets and splits.
        rows: (n,) arrays by name: what :meth:`simtown.vlm.conditions.AskedExample.quantities` gives, and
            "type", "gold" and "right".
    """

    model: str
    data: str
    rows: dict[str, np.ndarray]

    @classmethod
    def of_results(cls, results: Results) -> AnsweredQuestions:
        """The answers in a directory of results (:mod:`simtown.vlm.vlm_run`)."""
        columns = {"example": INTEGER, "cluster": INTEGER, "right": FLAG}
        columns |= dict.fromkeys(("family", "relation", "type", "gold"), TEXT)
        columns |= {quantity.column: NUMBER for quantity in QUANTITIES}
        rows = {name: np.array(column) for name, column in results.rows(_PICTURE, columns).items()}
        settings = results.content["settings"]
        return cls(results.model, f"{settings['seal']} {settings['split']}", rows)

    @classmethod
    def of_run(
        cls, run: Path, dataset: Dataset, device: torch.device, allow_model: Collection[str] = ()
    ) -> AnsweredQuestions:
        """The answers of a run to the test questions of a data set; raises as :func:`ask.evaluate`."""
        from simtown.training import ask

        right, asked = ask.right_answers(run, dataset, device, allow_model), AskedSplit(dataset, "test")
        examples = (asked[number] for number in range(len(asked)))
        each = [{**e.quantities(), "type": e.kind, "gold": e.example.reply} for e in examples]
        rows = {name: np.array([row[name] for row in each]) for name in each[0]}
        return cls(run.name, f"{dataset.manifest[SEAL]} test", rows | {"right": right})

    def parts(self) -> dict[str, np.ndarray]:
        """(n,) bool for each part of the questions, by what a model does that is right.

        Distances are in no part, since no guess of a distance has a chance.
        """
        rows = self.rows
        pairs = zip(rows["relation"].tolist(), rows["family"].tolist(), strict=True)
        does = np.array([f"tells {_TELLS[r]}" if r else f"answers '{family}'" for r, family in pairs])
        usable = np.isin(rows["gold"], ("yes", "no")) | ~np.isin(rows["type"], ("truth", "metres"))
        return {str(part): usable & (does == part) for part in np.unique(does[usable])}

    def answers(self, which: np.ndarray, column: str) -> tuple[Answers, np.ndarray]:
        """The answers to some questions against a quantity, and the numbers of their examples."""
        x = self.rows[column].astype(float)
        which = which & np.isfinite(x) & (x > 0)
        names = "gold", "right", "example", "cluster"
        gold, right, examples, cluster = (self.rows[name][which] for name in names)
        yes = np.select([gold == "yes", gold == "no"], [1, -1], 0)
        chance = np.full(len(gold), 1 / max(len(np.unique(gold)), 2))
        return Answers(x[which], right, chance, yes, cluster), examples


class FoundThreshold(NamedTuple):
    """The curve of what a model answered, in a part of the questions, against a quantity."""

    source: AnsweredQuestions
    part: str
    quantity: Quantity
    curve: PsychometricCurve
    answers: Answers
    examples: np.ndarray

    def binned(self) -> list[dict[str, float]]:
        """Shares of right answers in up to eight bins of the quantity, with its mean "x"."""
        x, right, cluster = self.answers.x, self.answers.right, self.answers.cluster
        return [
            {"x": float(np.exp(np.log(x[own]).mean())), **(share(right[own], cluster[own]) or {})}
            for own in bins(x)
        ]

    def record(self) -> dict[str, Any]:
        """What a figure of the curve shows."""
        words = {"part": self.part, "title": self.quantity.title, "sentence": self.sentence()}
        return {**words, **vars(self.curve), "bins": self.binned()}

    def threshold(self) -> str:
        """Such as "1.9 m (1.6 to 2.3)"."""
        low, high = self.curve.low, self.curve.high
        interval = f"{_number(low)} to {_number(high)}"
        if not low or np.isinf(high):
            interval = f"more than {_number(low)}" if low else f"less than {_number(high)}"
        return f"{_number(self.curve.threshold)}{self.quantity.unit} ({interval})"

    def sentence(self) -> str:
        """Such as "tells left from right from 1.9 m (1.6 to 2.3) on"."""
        if self.curve.problem:
            return f"{self.part}: no threshold of {self.quantity.title}: {self.curve.problem}"
        return f"{self.part} {self.quantity.words.format(self.threshold())}"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2g}"


def find(
    sources: Sequence[AnsweredQuestions], quantities: Sequence[Quantity] = QUANTITIES
) -> list[FoundThreshold]:
    """A curve for each model, part of the questions and quantity that varies.

    Of each model only those have a threshold whose trend is certain by Holm's correction over all of them.
    """
    found = []
    for source in sources:
        own = []
        for part, which in source.parts().items():
            for quantity in quantities:
                answers, examples = source.answers(which, quantity.column)
                if len(np.unique(answers.x)) >= LEAST_VALUES:
                    curve = fit_curve(answers, quantity.falls)
                    own.append(FoundThreshold(source, part, quantity, curve, answers, examples))
        p = np.array([one.curve.p for one in own])
        tested = np.isfinite(p)
        p[tested] = holm(p[tested])
        for one, corrected in zip(own, p.tolist(), strict=True):
            found.append(one._replace(curve=_corrected(one, corrected)))
    return found


def _corrected(found: FoundThreshold, p: float) -> PsychometricCurve:
    """A curve with its corrected p, and without a threshold if that is too large."""
    curve = replace(found.curve, p=p)
    is_kept = p <= LEVEL or curve.problem
    return curve if is_kept else without_threshold(curve, float(found.answers.right.mean()))


def sentences(found: Sequence[FoundThreshold]) -> list[str]:
    """A sentence for each threshold, and of the margin also where enough answers have none."""
    shown = [
        own
        for own in found
        if not own.curve.problem or (own.quantity is QUANTITIES[0] and own.curve.n >= LEAST_ITEMS)
    ]
    several = len({own.source.model for own in found}) > 1
    return [f"{own.source.model} {own.sentence()}" if several else own.sentence() for own in shown]


def comparisons(found: Sequence[FoundThreshold]) -> Iterator[str]:
    """A sentence for each two models that have a threshold on the same questions."""
    for one, other in combinations([own for own in found if not own.curve.problem], 2):
        same = one[1:3] == other[1:3] and one.source.data == other.source.data
        if not same or one.source.model == other.source.model:
            continue
        _, rows, others = np.intersect1d(one.examples, other.examples, return_indices=True)
        pair = one.answers.rows(rows), other.answers.rows(others)
        difference, low, high = map(_number, compare(*pair, falls=one.quantity.falls))
        unit = one.quantity.unit or f" of the {one.quantity.title}"
        yield (
            f"{one.part}: the threshold of {one.source.model} less that of {other.source.model} is "
            f"{difference}{unit} ({low} to {high}, {len(rows):,} questions)"
        )


def table(found: Sequence[FoundThreshold]) -> Table:
    """A row for each curve."""
    columns = ("threshold", "low", "high", "ceiling", "guesses yes", "p")
    rows = []
    for source, part, quantity, curve, answers, _ in found:
        bias = curve.bias if answers.yes.any() else np.nan
        numbers = (curve.threshold, curve.low, curve.high, 1 - curve.lapse, bias, curve.p)
        cells = ["" if np.isnan(value) else f"{value:.3g}" for value in numbers]
        rows.append([source.model, part, quantity.title, *cells, curve.n, curve.problem])
    return Table(("model", "questions", "quantity", *columns, "n", "why"), rows)


def write(found: Sequence[FoundThreshold], directory: Path) -> list[str]:
    """Write thresholds.csv, .md and, if a quantity varies, .png; returns the sentences."""
    lines, rows = [*sentences(found), *comparisons(found)], table(found)
    save_text(directory / "thresholds.csv", rows.csv())
    listed = "\n".join(f"- {markdown(line)}" for line in lines)
    save_text(directory / "thresholds.md", f"# Thresholds\n\n{listed}\n\n{rows.markdown(3)}\n\n{_NOTE}\n")
    if found:
        draw(found, directory / "thresholds.png")
    return lines


def draw(found: Sequence[FoundThreshold], path: Path) -> None:
    """Accuracy against quantities: bins, and curves with their thresholds.

    A panel for each part and quantity of which some model has a threshold; without any, for each of margin.
    """
    shown = [own for own in found if not own.curve.problem]
    shown = shown or [own for own in found if own.quantity is QUANTITIES[0]] or list(found)
    panels: dict[Any, list[FoundThreshold]] = {
        own[1:3]: [] for own in sorted(shown, key=lambda own: own.part)
    }
    for own in found:
        panels.get(own[1:3], []).append(own)
    looks = looks_of(list(dict.fromkeys(own.source.model for own in found)))
    across = min(len(panels), _ACROSS)
    down = -(-len(panels) // across)
    figure = plots.new_figure(max(5.5, 3.4 * across), 2.7 * down + 0.8)
    grid = figure.subplots(down, across, squeeze=False).flat
    handles: dict[str, Any] = {}
    for ((part, quantity), members), axes in zip(panels.items(), grid, strict=False):
        for own in members:
            look = looks[own.source.model]
            handles.setdefault(look.name, _draw_curve(axes, own, look))
        low, high = (end([end(own.answers.x) for own in members]) for end in (np.min, np.max))
        chance = members[0].curve.chance
        ticks = [value / 1000 for value in plots.round_values(1000 * low, 1000 * high)]
        floor = min(chance - 0.12, axes.dataLim.y0 - 0.02)
        axes.set(xscale="log", xlim=(low / 1.05, high * 1.05), ylim=(floor, 1.02))
        plots.set_log_ticks(axes.xaxis, ticks or [low, high], plots.short_number)
        plots.style_axes(axes)
        plots.draw_chance(axes, chance)
        axes.set_title(part, fontsize=10, color=plots.INK, loc="left")
        axes.set_xlabel(quantity.title, color=plots.INK)
        axes.set_ylabel("accuracy", color=plots.INK)
    for axes in grid:  # what no panel fills
        axes.set_axis_off()
    figure.legend(handles.values(), handles, fontsize=9, frameon=False, loc="outside upper left", ncols=3)
    bars = "Bars across: 95 % intervals of the thresholds, halfway between chance and ceiling."
    bars = bars if any(not own.curve.problem for own in found) else "No model has a threshold."
    plots.add_footnote(figure, f"Dots: answers in up to eight bins, with 95 % intervals. {bars}")
    plots.save_figure(figure, path)


def _draw_curve(axes: Any, own: FoundThreshold, look: ModelLook) -> Any:
    """Draw the bins of a model's answers, and its curve and threshold; returns what a legend shows."""
    curve, x = own.curve, own.answers.x
    names = ("x", "accuracy", "low", "high")
    middles, mean, low, high = np.array([[each[name] for name in names] for each in own.binned()]).T
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "markersize": 4.5}
    line = ":" if curve.problem else "none"
    dots = axes.errorbar(middles, mean, [mean - low, high - mean], linestyle=line, elinewidth=0.9, **style)
    if not curve.problem:
        across = np.geomspace(x.min(), x.max(), 200)
        axes.plot(across, curve.accuracy(across), color=look.colour, linewidth=1.7)
        height = float(curve.accuracy(np.array(curve.threshold)))
        ends = np.clip([curve.low, curve.high], x.min(), x.max())
        axes.plot(ends, [height] * 2, color=look.colour, linewidth=5, alpha=0.4, solid_capstyle="butt")
        axes.plot([curve.threshold], [height], "|", color=look.colour, markersize=12, markeredgewidth=1.7)
    return dots
