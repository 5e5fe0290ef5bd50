"""Samples needed against the size of the world: the paper's Figures 5 to 10 in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.complexity.bootstrap import marked, too_narrow
from simtown.complexity.curves import ABOVE, BELOW
from simtown.complexity.finished_runs import model_order
from simtown.complexity.model_looks import MARKERS, colours_of, distractor_words, markers_of, names_of
from simtown.core.plots import (
    INK,
    add_footnote,
    new_figure,
    round_values,
    save_figure,
    set_log_ticks,
    short_number,
    style_axes,
)

if TYPE_CHECKING:
    from simtown.complexity.needs import Findings, Need

#: Figure 7 and 10's target.
_COMPARED = 0.9
#: Height of a censoring arrow, as a multiple of a marker's size.
_ARROW = 2.0
#: Inches that the name of a line takes, one above the other.
_LABEL = 0.23
#: Inches that a target takes in the legend.
_TARGET = 0.75
#: Panels of single models beside each other: about so many.
_ACROSS = 3


def samples(report: Findings, path: Path, rule: str = "isotonic", compared: str = "All models") -> None:
    """Draw samples needed against the size of the world: all models at a target of 0.9, each at every target.

    The paper's Figures 5 to 7 (without distractor) stand above 8 to 10 (with it). Bars are bootstrap
    intervals, dotted ones are too narrow. Not reached on the largest set: an open arrow up on a dotted line;
    reached on the smallest already: an open arrow down. A model that reached no target anywhere is named
    below instead, unless none did. Where worlds have no size, samples stand against targets. With one target
    there are no panels of single models.

    Args:
        report: what to draw.
        path: of the picture.
        rule: that needs follow.
        compared: what the title calls the models.
    """
    every = sorted({c.model for c in report.curves}, key=model_order)
    reached = {r.model for r in report.rows if r.rule == rule and r.samples < ABOVE}
    never = [m for m in every if m not in reached] if reached else []
    models = [m for m in every if m not in never]
    rows = [r for r in report.rows if r.rule == rule and r.model in models]
    style = _Style(every, models, rows)
    if report.world:
        figure = _over_worlds(report, rows, style, compared)
    else:
        figure = _over_targets(report, rows, style)
    words = [
        _bars(rows),
        "Arrow up: not reached on the largest set; arrow down: reached on the smallest already.",
    ]
    if never:
        largest = {m: max(r.largest for r in report.rows if r.model == m) for m in never}
        names = (f"{names_of(never)[m]} ({largest[m]:,} samples at most)" for m in never)
        words.append(f"No target reached in any world: {', '.join(names)}.")
    add_footnote(figure, " ".join(words))
    save_figure(figure, path)


class _Style:
    """How models look in one figure, and the range of samples that its panels share."""

    def __init__(self, every: Sequence[str], models: Sequence[str], rows: Sequence[Need]) -> None:
        self.models = models
        # those that are left out keep their looks, as in the figure of learning curves
        self.colours, self.names, self.markers = colours_of(every), names_of(every), markers_of(every)
        heights = [_height(n, row) for row in rows for n in (row.samples, row.low, row.high)]
        low, high = min(heights), max(heights)
        room = max(1.6, (high / low) ** 0.13)  # for arrows
        self.low, self.high = low / room, high * room


def _bars(rows: Sequence[Need]) -> str:
    """What the bars of a figure hold, in words."""
    overs = dict.fromkeys(row.interval_over for row in rows)
    fine, narrow = ([marked(over) for over in overs if too_narrow(over) == unfit] for unfit in (False, True))
    words = [f"95 % bootstrap intervals over {'; or '.join(fine)}"] * bool(fine)
    words += [f"{'dotted: ' if fine else 'bootstrap intervals over '}{'; or '.join(narrow)}"] * bool(narrow)
    return f"Bars: {'; '.join(words)}."


def _over_worlds(report: Findings, rows: Sequence[Need], style: _Style, compared: str) -> Any:
    settings, worlds = sorted({r.distractor for r in rows}), sorted({r.entities for r in rows})
    several = len(report.targets) > 1
    count = len(style.models)
    down = max(1 + (count > _ACROSS), round(count / _ACROSS))
    across = -(-count // down)
    height = max(4.3, 2.35 * down + 0.3 if several else 0.0, _LABEL * count + 1.0)
    figure = new_figure(5.9 + 2.65 * across if several else 6.3, height * len(settings) + 0.75 * several)
    bands = figure.subfigures(len(settings), 1, squeeze=False)[:, 0]
    for band, distractor in zip(bands, settings, strict=True):
        here = [r for r in rows if r.distractor == distractor]
        left, *right = (
            band.subfigures(1, 2, width_ratios=(5.9, 2.65 * across)) if several else (band.subfigures(),)
        )
        suffix = f", {distractor_words(distractor)}" if report.world == "entities" else ""
        _all_models(left.subplots(), report, here, worlds, style, (compared, suffix))
        for panels in right:
            _each_model(panels, report.targets, here, worlds, style, across)
    if several:
        _legend_of_targets(figure, report.targets)
    return figure


def _all_models(
    axes: Any,
    report: Findings,
    rows: Sequence[Need],
    worlds: Sequence[int],
    style: _Style,
    title: tuple[str, str],
) -> None:
    """One panel: every model at the target nearest to 0.9, named in the title between its two words."""
    target = min(report.targets, key=lambda t: abs(t - _COMPARED))
    _frame(axes, worlds, style)
    axes.set_title(f"{title[0]} at {100 * target:.4g}%{title[1]}", fontsize=13, color=INK, loc="left")
    axes.set_ylabel("training samples needed", color=INK, fontsize=11)
    axes.set_xlabel(
        "entities in the world" if report.world == "entities" else "size of the world",
        color=INK,
        fontsize=11,
    )
    lines = [
        (model, [r for r in rows if (r.model, r.target) == (model, target)])
        for model in style.models
        if any(r.model == model for r in rows)
    ]
    _side_by_side(
        axes, worlds, [(line, style.colours[model], style.markers[model]) for model, line in lines], size=8
    )
    _proportional(axes, report.world)
    _labels(
        axes,
        [(style.names[model], line, style.colours[model], style.markers[model]) for model, line in lines],
        style,
    )


def _each_model(
    panels: Any,
    targets: Sequence[float],
    rows: Sequence[Need],
    worlds: Sequence[int],
    style: _Style,
    across: int,
) -> None:
    """A panel for each model, with every target."""
    models = [m for m in style.models if any(r.model == m for r in rows)]
    grid = panels.subplots(-(-len(models) // across), across, squeeze=False, sharex=True, sharey=True)
    for axes in grid.flat[len(models) :]:
        axes.set_visible(False)
    for column in range(min(across, len(models))):  # the lowest panel of each column names its worlds
        lowest = max(i for i in range(len(models)) if i % across == column)
        grid.flat[lowest].tick_params(labelbottom=True)
    for model, axes in zip(models, grid.flat, strict=False):
        _frame(axes, worlds, style)
        axes.set_title(style.names[model], fontsize=10, color=INK, loc="left")
        shades = _shades(style.colours[model], len(targets))
        parts = [
            (
                [r for r in rows if (r.model, r.target) == (model, t)],
                shades[i],
                MARKERS[i % len(MARKERS)],
            )
            for i, t in enumerate(targets)
        ]
        _side_by_side(axes, worlds, parts, size=5)


def _over_targets(report: Findings, rows: Sequence[Need], style: _Style) -> Any:
    """One world without a size: samples needed against the target."""
    figure = new_figure(6.8, max(4.6, _LABEL * len(style.models) + 1.3))
    axes = figure.subplots()
    style_axes(axes)
    axes.set_yscale("log")
    axes.set_ylim(style.low, style.high)
    axes.set_xticks(report.targets, [f"{t:.4g}" for t in report.targets])
    axes.margins(x=0.12)
    set_log_ticks(axes.yaxis, round_values(style.low, style.high), short_number)
    axes.set_xlabel("test accuracy to reach", color=INK)
    axes.set_ylabel("training samples needed", color=INK)
    gap = min((b - a for a, b in pairwise(report.targets)), default=0.1)
    lines = []
    for i, model in enumerate(style.models):
        rows_of_model = sorted((r for r in rows if r.model == model), key=lambda r: r.target)
        aside = 0.02 * gap * (i - (len(style.models) - 1) / 2)
        _samples_line(
            axes,
            [(r.target + aside, r) for r in rows_of_model],
            style.colours[model],
            style.markers[model],
            7,
        )
        lines.append((style.names[model], rows_of_model, style.colours[model], style.markers[model]))
    _labels(axes, lines, style)
    return figure


def _frame(axes: Any, worlds: Sequence[int], style: _Style) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    margin = 1.3 if len(worlds) > 1 else 1.8
    axes.set_xlim(worlds[0] / margin, worlds[-1] * margin)
    axes.set_ylim(style.low, style.high)
    style_axes(axes)
    set_log_ticks(axes.xaxis, worlds, lambda n, _: f"{n:g}")
    set_log_ticks(axes.yaxis, round_values(style.low, style.high), short_number)


def _proportional(axes: Any, world: str) -> None:
    """A faint line at the foot along which samples grow as the world does, to judge slopes by.

    Its words stand just below it, where they are farthest from what is drawn already.
    """
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    points = _drawn(axes)
    low = bottom * 1.15
    axes.plot(
        [left, right],
        [low, low * right / left],
        linestyle=(0, (1, 2.5)),
        color="#AAAAAA",
        zorder=1,
        scalex=False,
        scaley=False,
    )
    words = "in proportion to entities" if world == "entities" else "in proportion to the world"
    slope, foot = np.log([right / left, low / bottom]) / np.log(top / bottom)  # in shares of the panel
    end = min(1.0, (1 - foot) / slope)  # where the line leaves the panel
    half_length, beneath = 0.17, 0.045
    room = max(end - half_length, half_length)
    middles = np.linspace(half_length, room, 60)
    taken = middles[:, None] + half_length * np.linspace(-1, 1, 15)
    taken = np.stack([taken, foot + slope * taken - beneath], axis=-1)
    distances = np.linalg.norm(taken[:, :, None] - points, axis=-1)
    middle = middles[np.argmax(distances.min((1, 2)))]
    x, y = left * (right / left) ** middle, low * (right / left) ** middle / 1.1
    look = {
        "fontsize": 8,
        "color": "#888888",
        "va": "top",
        "ha": "center",
        "rotation_mode": "anchor",
        "transform_rotates_text": True,
        "zorder": 1,
    }
    axes.text(x, y, words, rotation=float(np.degrees(np.arctan2(y, x))), **look)


def _drawn(axes: Any) -> Any:
    """(n, 2) points along all lines of a panel, in shares of its width and height."""
    to_shares = axes.transData - axes.transAxes
    shares = [to_shares.transform(line.get_xydata()) for line in axes.lines]
    steps = np.linspace(0, 1, 50)[:, None]
    pieces = [start + steps * (stop - start) for line in shares for start, stop in pairwise(line)]
    return np.concatenate([*shares, *pieces])


def _side_by_side(
    axes: Any, worlds: Sequence[int], lines: Sequence[tuple[Sequence[Need], Any, str]], size: float
) -> None:
    """Draw lines of rows in a colour with a marker.

    Each is shifted a little, so that their bars do not hide each other.
    """
    gap = min((b / a for a, b in pairwise(worlds)), default=1.8)
    step = min(1.09, gap ** (0.45 / max(len(lines) - 1, 1)))
    for i, (rows, colour, marker) in enumerate(lines):
        aside = step ** (i - (len(lines) - 1) / 2)
        _samples_line(
            axes,
            [(r.entities * aside, r) for r in sorted(rows, key=lambda r: r.entities)],
            colour,
            marker,
            size,
        )


def _samples_line(
    axes: Any, points: Sequence[tuple[float, Need]], colour: Any, marker: str, size: float
) -> None:
    """The rows at their places along x: joined markers with bars."""
    x = [place for place, _ in points]
    rows = [row for _, row in points]
    y = [_height(r.samples, r) for r in rows]
    exact = [BELOW < r.samples < ABOVE for r in rows]
    least = [0 if r.samples == BELOW else height for r, height in zip(rows, y, strict=True)]
    most = [np.inf if r.samples == ABOVE else height for r, height in zip(rows, y, strict=True)]
    for i in range(len(rows) - 1):
        if not any(most[j] <= least[k] for j, k in ((i, i + 1), (i + 1, i))):
            continue  # bounds that leave open whether the need rises or falls
        style = "-" if exact[i] and exact[i + 1] else ":"
        axes.plot(x[i : i + 2], y[i : i + 2], style, color=colour, linewidth=1.6, zorder=3)
    for i, row in enumerate(rows):
        low, high = _height(row.low, row), _height(row.high, row)
        if high > low:
            bar = (0, (1, 1)) if too_narrow(row.interval_over) else "-"
            axes.plot([x[i]] * 2, [low, high], linestyle=bar, color=colour, linewidth=1.2, zorder=3)
            for end, value, tip in ((low, row.low, "v"), (high, row.high, "^")):
                open_end = value in (BELOW, ABOVE)
                if not (open_end and not exact[i]):
                    axes.plot(
                        x[i],
                        end,
                        marker=tip if open_end else "_",
                        color=colour,
                        markersize=5,
                        markerfacecolor="white",
                        zorder=3.5,
                    )
        if exact[i]:
            axes.plot(
                x[i],
                y[i],
                marker=marker,
                color=colour,
                markersize=size,
                markeredgecolor="white",
                markeredgewidth=0.7,
                zorder=5,
            )
        else:
            _arrow(axes, x[i], y[i], 1 if row.samples == ABOVE else -1, colour, size)


def _labels(axes: Any, lines: Sequence[tuple[str, Sequence[Need], Any, str]], style: _Style) -> None:
    """The names of lines at the right, at the height of their ends, moved apart where they would touch."""
    ends = sorted(
        (float(np.log(_height(rows[-1].samples, rows[-1]))), i)
        for i, (_, rows, _, _) in enumerate(lines)
        if rows
    )
    bottom, top = np.log(style.low), np.log(style.high)
    apart = (top - bottom) * min(0.062, 1 / max(len(lines), 1))
    heights = [end for end, _ in ends]
    for _ in range(200):  # touching neighbours push each other away
        for j in range(len(heights) - 1):
            overlap = apart - (heights[j + 1] - heights[j])
            if overlap > 0:
                heights[j] -= overlap / 2
                heights[j + 1] += overlap / 2
        heights = [float(np.clip(h, bottom + apart / 2, top - apart / 2)) for h in heights]
    for height, (_, i) in zip(heights, ends, strict=True):
        name, _, colour, marker = lines[i]
        y = np.exp(height)
        place = axes.get_yaxis_transform()
        axes.plot(
            [1.035],
            [y],
            marker=marker,
            color=colour,
            markersize=7,
            markeredgecolor="white",
            transform=place,
            clip_on=False,
            label=name,
        )
        axes.annotate(
            name, (1.06, y), xycoords=place, va="center", fontsize=10, color=colour, annotation_clip=False
        )


def _legend_of_targets(figure: Any, targets: Sequence[float]) -> None:
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"linestyle": "-", "linewidth": 1.4, "markersize": 6, "markeredgecolor": "white"}
    shades = _shades("#777777", len(targets))
    marks = [
        Line2D([], [], color=shades[i], marker=MARKERS[i % len(MARKERS)], label=f"{t:.4g}", **look)
        for i, t in enumerate(targets)
    ]
    look = {"fontsize": 9, "title_fontsize": 9, "frameon": False}
    figure.legend(
        handles=marks,
        title="test accuracy to reach",
        ncols=min(len(marks), int(figure.get_figwidth() / _TARGET)),
        loc="outside upper right",
        **look,
    )


def _height(n: float, row: Need) -> float:
    return float(np.clip(n, row.smallest, row.largest))


def _arrow(axes: Any, x: float, y: float, up: int, colour: Any, size: float) -> None:
    """An open arrow from (x, y), up or down, in proportion to markers of this size."""
    from matplotlib.path import Path as Outline

    half = [(0.12, 0.0), (0.12, 0.5), (0.32, 0.5), (0.0, 1.0)]
    outline = [*half, *((-u, v) for u, v in half[-2::-1]), half[0]]
    marker = Outline([(u, up * v) for u, v in outline], closed=True)
    axes.plot(
        x,
        y,
        marker=marker,
        markersize=2 * _ARROW * size,
        color=colour,
        markerfacecolor="white",
        markeredgewidth=1.2,
        zorder=6,
    )


def _shades(colour: str, count: int) -> list[Any]:
    """From a light tint of the colour (lowest target) to a dark shade of it."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(colour))
    places = np.linspace(-0.55, 0.45, count) if count > 1 else [0.0]
    return [tuple(rgb + (1 - rgb) * -p if p < 0 else rgb * (1 - p)) for p in places]
