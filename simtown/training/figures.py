"""The paper's Figures 5 to 10 in one picture, learning curves, and a run's own curve.

Figures are drawn with matplotlib's object interface, which needs no display and shares no state; matplotlib is imported when one is drawn.
A model has the same colour in every figure (Okabe and Ito's, told apart by the colour-blind); a target has the same marker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.files import replacing
from simtown.training.curves import ABOVE, BELOW
from simtown.training.results import model_order

if TYPE_CHECKING:
    from simtown.training.bootstrap import Curve
    from simtown.training.findings import Report, Row

NAMES = {"cnn-lstm": "CNN-LSTM", "pbn": "PBN", "question-only": "Question only"}
COLOURS = {"cnn-lstm": "#D55E00", "pbn": "#0072B2", "question-only": "#555555"}
_OTHERS = ("#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933", "#332288")
_MARKERS = ("o", "s", "D", "^", "v", "P", "X")
_INK, _FAINT = "#333333", "#DDDDDD"
#: Figure 7 and 10's target.
_COMPARED = 0.9
#: Height of a censoring arrow, in points.
_ARROW = 15
#: A legend below its column, where it hides no line.
_BELOW_AXES = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "fontsize": 8.5, "title_fontsize": 8.5, "frameon": False}


def _names(models: Sequence[str]) -> dict[str, str]:
    """What figures call the models: one's own `package.module:Class` is Class, unless two would be called so."""
    names = {model: NAMES.get(model, model.rpartition(":")[2] or model) for model in models}
    return {model: name if list(names.values()).count(name) == 1 else model for model, name in names.items()}


def _colours(models: Sequence[str]) -> dict[str, str]:
    others = sorted(set(models) - set(COLOURS))
    return COLOURS | {model: _OTHERS[i % len(_OTHERS)] for i, model in enumerate(others)}


def _distractors(distractor: bool) -> str:
    return "with distractor" if distractor else "no distractor"


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150, layout="constrained", facecolor="white")


def _caption(figure: Any, words: str) -> None:
    """Small print below, in as many lines as the width asks for."""
    figure.supxlabel(fill(words, int(13 * figure.get_figwidth())), fontsize=8.5, color="#666666")


def _save(figure: Any, path: Path) -> None:
    """Write a PNG so that it is either the old one or the new one."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", metadata={"Software": None})


def _plain(axes: Any) -> None:
    """Two thin spines, a faint grid behind everything."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#888888")
    axes.tick_params(colors=_INK, which="both", labelsize=9)
    axes.grid(True, which="major", color=_FAINT, linewidth=0.6)
    axes.set_axisbelow(True)


def _short(n: float, _: object = None) -> str:
    """250, 1k, 2.5k, 60k."""
    return f"{n:g}" if n < 1000 else f"{n / 1000:g}k"


def _log_ticks(axis: Any, values: Sequence[float], label: Any) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_major_formatter(FuncFormatter(label))
    axis.set_minor_locator(NullLocator())


def _round_sizes(low: float, high: float) -> list[float]:
    """1, 2, 5 times powers of ten within the range; without 2 and 5 where there would be too many."""
    for steps in ((1, 2, 5), (1,)):
        ticks = [float(m * 10**e) for e in range(10) for m in steps if low <= m * 10**e <= high]
        if len(ticks) <= 9:
            break
    return ticks


# Samples needed


def samples(report: Report, path: Path, rule: str = "isotonic") -> None:
    """Figures 5 to 7 above, 8 to 10 below: a column a model, and one of all models at a target of 0.9.

    Bars are bootstrap intervals. Not reached on the largest set: an open arrow up on a dotted line; reached on the smallest already:
    an open arrow down. A model that reached no target anywhere is named below instead, unless none did.
    """
    settings = sorted({c.distractor for c in report.curves})
    models = sorted({c.model for c in report.curves}, key=model_order)
    colours, names = _colours(models), _names(models)
    reached = {r.model for r in report.rows if r.rule == rule and r.samples < ABOVE}
    never = [m for m in models if m not in reached] if reached else []
    models = [m for m in models if m not in never]
    compared = min(report.targets, key=lambda t: abs(t - _COMPARED))
    low, high = min(int(c.sizes[0]) for c in report.curves), max(int(c.sizes[-1]) for c in report.curves)
    figure = _figure(4.1 * (len(models) + 1), 3.7 * len(settings) + 0.5)
    grid = figure.subplots(len(settings), len(models) + 1, squeeze=False, sharey=True)
    for row, distractor in enumerate(settings):
        worlds = sorted({c.entities for c in report.curves if c.distractor == distractor})
        for column, axes in enumerate(grid[row]):
            _frame(axes, worlds, low, high)
            last = column == len(models)
            if last:
                marker = _MARKERS[report.targets.index(compared) % len(_MARKERS)]
                lines = [(m, compared, colours[m], marker, names[m]) for m in models]
                title = f"All models at {compared:.0%}"
            else:
                model = models[column]
                shades = _shades(colours[model], len(report.targets))
                lines = [(model, t, shades[i], _MARKERS[i % len(_MARKERS)], f"{t:.4g}") for i, t in enumerate(report.targets)]
                title = names[model]
            axes.set_title(f"{title}, {_distractors(distractor)}", fontsize=11, color=_INK, loc="left")
            gap = min((b / a for a, b in pairwise(worlds)), default=1.8)
            step = min(1.09, gap ** (0.45 / max(len(lines) - 1, 1)))  # lines stand side by side, so that their bars do not hide each other
            for i, (model, target, colour, marker, label) in enumerate(lines):
                rows = [r for r in report.rows if (r.model, r.distractor, r.target, r.rule) == (model, distractor, target, rule)]
                _samples_line(axes, rows, colour, marker, label, dodge=step ** (i - (len(lines) - 1) / 2))
            if column == 0:
                axes.set_ylabel("training samples needed", color=_INK)
            if row == len(settings) - 1:
                axes.set_xlabel("entities in the world", color=_INK)
                axes.legend(title="model" if last else "test accuracy", ncols=min(len(lines), 3 if last else 4), **_BELOW_AXES)
    once = all(r.seeds == 1 for r in report.rows)
    bars = f"Bars: 95 % bootstrap intervals over {'test items only (one seed)' if once else 'seeds and test items'}."
    words = [bars, "Arrow up: not reached on the largest set; arrow down: reached on the smallest already."]
    words += [f"No target reached in any world: {', '.join(names[m] for m in never)}."] if never else []
    _caption(figure, " ".join(words))
    _save(figure, path)


def _frame(axes: Any, worlds: Sequence[int], low: float, high: float) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    margin = 1.3 if len(worlds) > 1 else 1.8
    axes.set_xlim(worlds[0] / margin, worlds[-1] * margin)
    room = max(2.1, (high / low) ** 0.17)
    axes.set_ylim(low / room, high * room)
    _plain(axes)
    _log_ticks(axes.xaxis, worlds, lambda n, _: f"{n:g}")
    _log_ticks(axes.yaxis, _round_sizes(low, high), _short)
    for inside, outside in ((low, low / room), (high, high * room)):  # never trained
        axes.axhspan(min(inside, outside), max(inside, outside), color="#F4F4F4", linewidth=0, zorder=0)
        axes.axhline(inside, color="#BBBBBB", linewidth=0.8, zorder=1)
    look = {"textcoords": "offset points", "fontsize": 7.5, "color": "#888888"}  # beyond the arrows
    axes.annotate(f"largest set: {_short(high)}", (0, high), (4, _ARROW + 3), ("axes fraction", "data"), va="bottom", **look)
    axes.annotate(f"smallest set: {_short(low)}", (0, low), (4, -_ARROW - 3), ("axes fraction", "data"), va="top", **look)


def _samples_line(axes: Any, rows: Sequence[Row], colour: Any, marker: str, label: str, dodge: float) -> None:
    axes.plot([], [], "-", color=colour, marker=marker, markersize=6, linewidth=1.6, label=label)
    rows = sorted((r for r in rows if not np.isnan(r.samples)), key=lambda r: r.entities)
    x = [r.entities * dodge for r in rows]
    y = [_height(r.samples, r) for r in rows]
    exact = [BELOW < r.samples < ABOVE for r in rows]
    for i in range(len(rows) - 1):
        style = "-" if exact[i] and exact[i + 1] else ":"
        axes.plot(x[i : i + 2], y[i : i + 2], style, color=colour, linewidth=1.6, zorder=3)
    for i, row in enumerate(rows):
        low, high = _height(row.low, row), _height(row.high, row)
        if high > low:
            axes.plot([x[i]] * 2, [low, high], color=colour, linewidth=1.1, zorder=3)
            for end, value, tip in ((low, row.low, "v"), (high, row.high, "^")):
                open_end = value in (BELOW, ABOVE)
                if not (open_end and not exact[i]):
                    axes.plot(x[i], end, marker=tip if open_end else "_", color=colour, markersize=5, markerfacecolor="white", zorder=3.5)
        if exact[i]:
            axes.plot(x[i], y[i], marker=marker, color=colour, markersize=6, markeredgecolor="white", markeredgewidth=0.7, zorder=5)
        else:
            _arrow(axes, x[i], y[i], 1 if row.samples == ABOVE else -1, colour)


def _height(n: float, row: Row) -> float:
    return float(np.clip(n, row.smallest, row.largest))


def _arrow(axes: Any, x: float, y: float, up: int, colour: Any) -> None:
    """An open arrow from (x, y), up or down."""
    from matplotlib.path import Path as Outline

    half = [(0.12, 0.0), (0.12, 0.5), (0.32, 0.5), (0.0, 1.0)]
    outline = [*half, *((-u, v) for u, v in half[-2::-1]), half[0]]
    marker = Outline([(u, up * v) for u, v in outline], closed=True)
    axes.plot(x, y, marker=marker, markersize=2 * _ARROW, color=colour, markerfacecolor="white", markeredgewidth=1.2, zorder=6)


def _shades(colour: str, count: int) -> list[Any]:
    """From a light tint of the colour (lowest target) to a dark shade of it."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(colour))
    places = np.linspace(-0.55, 0.45, count) if count > 1 else [0.0]
    return [tuple(rgb + (1 - rgb) * -p if p < 0 else rgb * (1 - p)) for p in places]


# Learning curves


def learning(report: Report, path: Path) -> None:
    """Test accuracy against training samples: a panel a world, every model in it, seeds as dots, and chance."""
    settings = sorted({c.distractor for c in report.curves})
    worlds = sorted({c.entities for c in report.curves})
    models = sorted({c.model for c in report.curves}, key=model_order)
    colours, names = _colours(models), _names(models)
    low, high = min(int(c.sizes[0]) for c in report.curves), max(int(c.sizes[-1]) for c in report.curves)
    floor = min(0.45, min(float(np.nanmin(c.runs)) for c in report.curves) - 0.03)
    width = max(6.0, 3.3 * len(worlds))
    figure = _figure(width, 3.1 * len(settings) + 0.5)
    grid = figure.subplots(len(settings), len(worlds), squeeze=False, sharex=True, sharey=True)
    for row, distractor in enumerate(settings):
        for column, entities in enumerate(worlds):
            axes = grid[row][column]
            here = [c for c in report.curves if (c.entities, c.distractor) == (entities, distractor)]
            if not here:
                axes.set_visible(False)
                continue
            axes.set_xscale("log")
            axes.set_xlim(low / 1.25, high * 1.25)
            axes.set_ylim(floor, 1.02)
            _plain(axes)
            axes.axhline(0.5, color="#888888", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            axes.annotate(
                "chance", (1, 0.5), (-2, -3), ("axes fraction", "data"), "offset points", fontsize=8, color="#777777", ha="right", va="top"
            )
            for curve in here:
                _learning_line(axes, curve, colours[curve.model], names[curve.model])
            axes.set_title(f"{entities} entities, {_distractors(distractor)}", fontsize=11, color=_INK, loc="left")
    for axes in grid.flat:
        _log_ticks(axes.xaxis, _round_sizes(low, high), _short)
    for axes in grid[-1]:
        axes.set_xlabel("training samples", color=_INK)
    for axes in grid[:, 0]:
        axes.set_ylabel("test accuracy", color=_INK)
    handles = {label: handle for axes in grid.flat for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    shown = [names[m] for m in models]
    look = {"fontsize": 10, "frameon": False, "loc": "outside upper left", "ncols": min(len(shown), int(width / 1.6))}
    figure.legend([handles[name] for name in shown], shown, **look)
    one, more = (any((len(c.seeds) > 1) == several for c in report.curves) for several in (False, True))
    bands = ["over seeds and test items, dots: single seeds"] * more + ["over test items where there is one seed (Wilson)"] * one
    _caption(figure, f"Bands: 95 % intervals {'; '.join(bands)}.")
    _save(figure, path)


def _learning_line(axes: Any, curve: Curve, colour: str, label: str) -> None:
    axes.fill_between(curve.sizes, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0, zorder=2)
    axes.plot(curve.sizes, curve.accuracy, "-o", color=colour, linewidth=1.7, markersize=4, zorder=4, label=label)
    if len(curve.seeds) > 1:
        sizes = np.repeat(curve.sizes[:, None], len(curve.seeds), axis=1)
        axes.plot(sizes.ravel(), curve.runs.ravel(), "o", color=colour, alpha=0.3, markersize=3, markeredgewidth=0, zorder=3)


# One run


def curve(metrics: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Loss and accuracy of one run, epoch by epoch, with the epoch of best validation accuracy marked.

    Args:
        metrics: rows of metrics.jsonl, with epoch, step, train_loss, train_accuracy, val_loss, val_accuracy; one that is missing is a gap.

    Raises:
        ValueError: there are no rows.
    """
    if not metrics:
        raise ValueError("no metrics: the run has not finished an epoch")

    def column(key: str) -> np.ndarray:
        return np.array([np.nan if row.get(key) is None else row[key] for row in metrics], dtype=float)

    epoch = column("epoch")
    validation = column("val_accuracy")
    figure = _figure(9.5, 3.6)
    loss, accuracy = figure.subplots(1, 2)
    for axes, kind in ((loss, "loss"), (accuracy, "accuracy")):
        _plain(axes)
        for split, colour, words in (("train", "#8A8A8A", "training"), ("val", "#0072B2", "validation")):
            axes.plot(epoch, column(f"{split}_{kind}"), "-o", color=colour, linewidth=1.6, markersize=2.5, label=words)
        axes.set_title(kind, fontsize=11, color=_INK, loc="left")
        axes.set_xlabel("epoch", color=_INK)
        axes.set_xlim(epoch[0] - 0.5, epoch[-1] + 0.5)
        axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    accuracy.set_ylim(min(0.45, np.nanmin([column("train_accuracy"), validation, [0.5] * len(epoch)]) - 0.02), 1.02)
    accuracy.axhline(0.5, color="#888888", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    if np.isfinite(validation).any():
        best = int(np.nanargmax(validation))
        for axes in (loss, accuracy):
            axes.axvline(epoch[best], color="#D55E00", linewidth=1, linestyle=":", zorder=1)
        accuracy.plot(epoch[best], validation[best], "*", color="#D55E00", markersize=12, zorder=5, markeredgecolor="white",
                      label=f"best, epoch {epoch[best]:g}: {validation[best]:.3f}")  # fmt: skip
    figure.legend(*accuracy.get_legend_handles_labels(), fontsize=8.5, frameon=False, loc="outside lower center", ncols=3)
    _save(figure, path)
