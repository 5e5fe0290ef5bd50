"""Samples needed against the size of the world: the paper's Figures 5 to 10 in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.complexity.bootstrap import marked, too_narrow
from simtown.complexity.curves import ABOVE, BELOW
from simtown.complexity.finished_runs import model_order
from simtown.complexity.model_looks import MARKERS, ModelLook, distractor_words, looks_of
from simtown.core import plots

if TYPE_CHECKING:
    from simtown.complexity.quantities import Findings, Need

#: The rule by which needs are read off, and Figure 7 and 10's target.
_RULE, _COMPARED = "isotonic", 0.9
#: What stands instead of a figure where no need can be read off.
_ONE_SIZE = "Samples needed: this takes runs on training sets of at least two sizes,\nand there is one size."
#: Inches that the name of a line takes, one above the other, and that a target takes in the legend.
_LABEL, _TARGET = 0.23, 0.75
#: Panels of single models beside each other: about so many.
_ACROSS = 3
#: A look, and the needs that are drawn with it.
_Line = tuple[ModelLook, list["Need"]]


@dataclass(frozen=True)
class _Panels:
    """Parts that the panels of one figure share: needs and models to draw, looks, and the ends of
    the axes.
    """

    report: Findings
    rows: list[Need]
    models: list[str]
    looks: dict[str, ModelLook]
    low: float
    high: float

    @property
    def worlds(self) -> list[int]:
        return sorted({row.entities for row in self.rows})


def samples(report: Findings, path: Path, compared: str = "All models") -> None:
    """Draw samples needed against the size of the world: all models at a target of 0.9, each at every target.

    The paper's Figures 5 to 7 (without distractor) stand above 8 to 10 (with it). Bars are bootstrap
    intervals, dotted ones are too narrow. Not reached on the largest set: an open triangle up on a dotted
    line; reached on the smallest already: an open triangle down. A model that reached no target anywhere is
    named below instead, unless none did. Where worlds have no size, samples stand against targets. With one
    target there are no panels of single models. `compared` is what the title calls the models.
    """
    every = sorted({c.model for c in report.curves}, key=model_order)
    reached = {r.model for r in report.rows if r.rule == _RULE and r.samples < ABOVE}
    never = [m for m in every if m not in reached] if reached else []
    models = [m for m in every if m not in never]
    rows = [r for r in report.rows if r.rule == _RULE and r.model in models]
    if len({size for row in rows for size in (row.smallest, row.largest)}) == 1:
        figure = plots.new_figure(6.3, 2.1)
        figure.text(0.5, 0.5, _ONE_SIZE, ha="center", va="center", fontsize=10, color=plots.INK)
        return plots.save_figure(figure, path)
    heights = [_height(n, row) for row in rows for n in (row.samples, row.low, row.high)]
    low, high = min(heights), max(heights)
    room = max(1.6, (high / low) ** 0.13)  # for triangles
    # models that are left out keep their looks, as in the figure of learning curves
    panels = _Panels(report, rows, models, looks_of(every), low / room, high * room)
    figure = _over_worlds(panels, compared) if report.world else _over_targets(panels)
    words = [_bars(rows)]
    drawn = {n for row in rows for n in (row.samples, row.low, row.high)}
    if ABOVE in drawn:
        words.append("Triangle up: not reached on the largest set.")
    if BELOW in drawn:
        words.append("Triangle down: reached on the smallest set already.")
    if any(row.jumps for row in rows):
        words.append("Open mark: anywhere on its bar.")
    if report.world:
        words.append("Grey, dotted: in proportion to the world.")
    if never:
        largest = {m: max(r.largest for r in report.rows if r.model == m) for m in never}
        names = (f"{looks_of(never)[m].name} ({largest[m]:,} samples at most)" for m in never)
        words.append(f"No target reached in any world: {', '.join(names)}.")
    plots.add_footnote(figure, " ".join(words))
    plots.save_figure(figure, path)


def _bars(rows: Sequence[Need]) -> str:
    """The meaning of a figure's bars in words."""
    overs = dict.fromkeys(row.interval_over for row in rows)
    fine, narrow = ([marked(over) for over in overs if too_narrow(over) == unfit] for unfit in (False, True))
    words = [f"95 % bootstrap intervals over {'; or '.join(fine)}"] * bool(fine)
    words += [f"{'dotted: ' if fine else 'bootstrap intervals over '}{'; or '.join(narrow)}"] * bool(narrow)
    return f"Bars: {'; '.join(words)}."


def _over_worlds(panels: _Panels, compared: str) -> Any:
    report = panels.report
    settings = sorted({r.distractor for r in panels.rows})
    several = len(report.targets) > 1
    count = len(panels.models)
    down = max(1 + (count > _ACROSS), round(count / _ACROSS))
    across = -(-count // down)
    height = max(4.3, 2.35 * down + 0.3 if several else 0.0, _LABEL * count + 1.0)
    widths = (5.9, 2.65 * across)
    figure = plots.new_figure(sum(widths) if several else 6.3, height * len(settings) + 0.75 * several)
    bands = figure.subfigures(len(settings), 1, squeeze=False)[:, 0]
    target = min(report.targets, key=lambda t: abs(t - _COMPARED))
    for band, distractor in zip(bands, settings, strict=True):
        rows = [r for r in panels.rows if r.distractor == distractor]
        suffix = f", {distractor_words(distractor)}" if report.world == "entities" else ""
        title = f"{compared} at {100 * target:.4g} %{suffix}"
        if several:
            left, right = band.subfigures(1, 2, width_ratios=widths)
            _draw_all_models(left.subplots(), panels, [r for r in rows if r.target == target], title)
            _draw_each_model(right, panels, rows, across)
        else:
            _draw_all_models(band.subfigures().subplots(), panels, rows, title)
    if several:
        _draw_legend_of_targets(figure, report.targets)
    return figure


def _draw_all_models(axes: Any, panels: _Panels, rows: Sequence[Need], title: str) -> None:
    """One panel: every model at one target."""
    town = panels.report.world == "entities"
    _frame(axes, panels)
    axes.set_title(title, fontsize=13, color=plots.INK, loc="left")
    axes.set_ylabel("training samples needed", color=plots.INK, fontsize=11)
    axes.set_xlabel("kinds of vehicles" if town else "size of the world", color=plots.INK, fontsize=11)
    lines = [(panels.looks[m], [r for r in rows if r.model == m]) for m in panels.models]
    lines = [(look, own) for look, own in lines if own]
    _draw_side_by_side(axes, panels.worlds, lines, size=8)
    # a faint line at the foot along which samples grow as the world does, to judge slopes by
    (left, right), low = axes.get_xlim(), axes.get_ylim()[0] * 1.15
    style = {"linestyle": (0, (1, 2.5)), "color": "#AAAAAA", "zorder": 1, "scalex": False, "scaley": False}
    axes.plot([left, right], [low, low * right / left], **style)
    _draw_names(axes, panels, lines)


def _draw_each_model(figure: Any, panels: _Panels, rows: Sequence[Need], across: int) -> None:
    """A panel for each model, with every target."""
    models = [m for m in panels.models if any(r.model == m for r in rows)]
    targets = panels.report.targets
    grid = figure.subplots(-(-len(models) // across), across, squeeze=False, sharex=True, sharey=True)
    for axes in grid.flat[len(models) :]:
        axes.set_visible(False)
    for axes in grid.flat[max(len(models) - across, 0) : len(models)]:  # the lowest of each column
        axes.tick_params(labelbottom=True)
    for model, axes in zip(models, grid.flat, strict=False):
        _frame(axes, panels)
        axes.set_title(panels.looks[model].name, fontsize=10, color=plots.INK, loc="left")
        looks = _looks_of_targets(panels.looks[model].colour, targets)
        own = [[r for r in rows if (r.model, r.target) == (model, t)] for t in targets]
        _draw_side_by_side(axes, panels.worlds, list(zip(looks, own, strict=True)), size=5)


def _over_targets(panels: _Panels) -> Any:
    """One world without a size: samples needed against the target."""
    targets, count = panels.report.targets, len(panels.models)
    figure = plots.new_figure(6.8, max(4.6, _LABEL * count + 1.3))
    axes = figure.subplots()
    plots.style_axes(axes)
    axes.set_yscale("log")
    axes.set_ylim(panels.low, panels.high)
    axes.set_xticks(targets, [f"{t:.4g}" for t in targets])
    axes.margins(x=0.12)
    axes.set_title("Samples needed to reach an accuracy", fontsize=13, color=plots.INK, loc="left")
    plots.set_log_ticks(axes.yaxis, plots.round_values(panels.low, panels.high), plots.short_number)
    axes.set_xlabel("test accuracy to reach", color=plots.INK)
    axes.set_ylabel("training samples needed", color=plots.INK)
    gap = min((b - a for a, b in pairwise(targets)), default=0.1)
    lines = []
    for i, model in enumerate(panels.models):
        rows = sorted((r for r in panels.rows if r.model == model), key=lambda r: r.target)
        aside = 0.02 * gap * (i - (count - 1) / 2)
        _draw_line(axes, [r.target + aside for r in rows], rows, panels.looks[model], size=7)
        lines.append((panels.looks[model], rows))
    _draw_names(axes, panels, lines)
    return figure


def _frame(axes: Any, panels: _Panels) -> None:
    worlds = panels.worlds
    axes.set_xscale("log")
    axes.set_yscale("log")
    margin = 1.3 if len(worlds) > 1 else 1.8
    axes.set_xlim(worlds[0] / margin, worlds[-1] * margin)
    axes.set_ylim(panels.low, panels.high)
    plots.style_axes(axes)
    plots.set_log_ticks(axes.xaxis, worlds, lambda n, _: f"{n:g}")
    plots.set_log_ticks(axes.yaxis, plots.round_values(panels.low, panels.high), plots.short_number)


def _draw_side_by_side(axes: Any, worlds: Sequence[int], lines: Sequence[_Line], size: float) -> None:
    """Draw lines of needs, each shifted a little, so that their bars do not hide each other."""
    gap = min((b / a for a, b in pairwise(worlds)), default=1.8)
    step = min(1.09, gap ** (0.45 / max(len(lines) - 1, 1)))
    for i, (look, rows) in enumerate(lines):
        aside = step ** (i - (len(lines) - 1) / 2)
        ordered = sorted(rows, key=lambda r: r.entities)
        _draw_line(axes, [r.entities * aside for r in ordered], ordered, look, size)


def _draw_line(axes: Any, x: Sequence[float], rows: Sequence[Need], look: ModelLook, size: float) -> None:
    """Needs at their places along x: joined markers with bars."""
    colour = look.colour
    y = [_height(r.samples, r) for r in rows]
    exact = [BELOW < r.samples < ABOVE for r in rows]
    least = [0 if r.samples == BELOW else height for r, height in zip(rows, y, strict=True)]
    most = [np.inf if r.samples == ABOVE else height for r, height in zip(rows, y, strict=True)]
    for i, j in pairwise(range(len(rows))):
        if most[i] <= least[j] or most[j] <= least[i]:  # else it is open whether the need rises or falls
            joint = "-" if exact[i] and exact[j] else ":"
            axes.plot(x[i : j + 1], y[i : j + 1], joint, color=colour, linewidth=1.6, zorder=3)
    for i, row in enumerate(rows):
        low, high = _height(row.low, row), _height(row.high, row)
        if high > low:
            bar = (0, (1, 1)) if too_narrow(row.interval_over) else "-"
            axes.plot([x[i]] * 2, [low, high], linestyle=bar, color=colour, linewidth=1.2, zorder=3)
            for end, value, tip in ((low, row.low, "v"), (high, row.high, "^")):
                open_end = value in (BELOW, ABOVE)
                if exact[i] or not open_end:
                    style = {"markersize": 5, "markerfacecolor": "white", "zorder": 3.5}
                    axes.plot(x[i], end, marker=tip if open_end else "_", color=colour, **style)
        if exact[i]:
            style = {"markersize": size, "markeredgecolor": "white", "markeredgewidth": 0.7, "zorder": 5}
            if row.jumps:
                style |= {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 1.2}
            axes.plot(x[i], y[i], marker=look.marker, color=colour, **style)
        else:
            style = {"markersize": 1.3 * size, "markerfacecolor": "white", "markeredgewidth": 1.5}
            tip = "^" if row.samples == ABOVE else "v"
            axes.plot(x[i], y[i], marker=tip, color=colour, zorder=6, **style)


def _height(n: float, row: Need) -> float:
    return float(np.clip(n, row.smallest, row.largest))


def _draw_names(axes: Any, panels: _Panels, lines: Sequence[_Line]) -> None:
    """The names of lines at the right, at the height of their ends, moved apart where they would touch."""
    tops = [float(np.log(_height(rows[-1].samples, rows[-1]))) for _, rows in lines]
    ends = sorted(zip(tops, range(len(lines)), strict=True))
    bottom, top = np.log(panels.low), np.log(panels.high)
    apart = (top - bottom) * min(0.062, 1 / max(len(lines), 1))
    heights = [end for end, _ in ends]
    for _ in range(200):  # touching neighbours push each other away
        for j in range(len(heights) - 1):
            overlap = apart - (heights[j + 1] - heights[j])
            if overlap > 0:
                heights[j] -= overlap / 2
                heights[j + 1] += overlap / 2
        heights = [float(np.clip(h, bottom + apart / 2, top - apart / 2)) for h in heights]
    place = axes.get_yaxis_transform()
    for height, (_, i) in zip(heights, ends, strict=True):
        look, y = lines[i][0], np.exp(height)
        style = {"markersize": 7, "markeredgecolor": "white", "transform": place, "clip_on": False}
        axes.plot([1.035], [y], marker=look.marker, color=look.colour, label=look.name, **style)
        style = {"va": "center", "fontsize": 10, "annotation_clip": False}
        axes.annotate(look.name, (1.06, y), xycoords=place, color=look.colour, **style)


def _draw_legend_of_targets(figure: Any, targets: Sequence[float]) -> None:
    from matplotlib.lines import Line2D

    style: dict[str, Any] = {"linestyle": "-", "linewidth": 1.4, "markersize": 6, "markeredgecolor": "white"}
    marks = [
        Line2D([], [], color=look.colour, marker=look.marker, label=look.name, **style)
        for look in _looks_of_targets("#777777", targets)
    ]
    style = {"fontsize": 9, "title_fontsize": 9, "frameon": False, "loc": "outside upper right"}
    across = min(len(marks), int(figure.get_figwidth() / _TARGET))
    figure.legend(handles=marks, title="test accuracy to reach", ncols=across, **style)


def _looks_of_targets(colour: str, targets: Sequence[float]) -> list[ModelLook]:
    """From a light tint of the colour (lowest target) to a dark shade of it."""
    from matplotlib.colors import to_hex, to_rgb

    rgb = np.array(to_rgb(colour))
    places = np.linspace(-0.55, 0.45, len(targets)) if len(targets) > 1 else [0.0]
    shades = [rgb + (1 - rgb) * -p if p < 0 else rgb * (1 - p) for p in places]
    return [
        ModelLook(f"{target:.4g}", to_hex(shade), MARKERS[i % len(MARKERS)])
        for i, (target, shade) in enumerate(zip(targets, shades, strict=True))
    ]
