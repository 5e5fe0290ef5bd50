"""Learning curves: test accuracy against training samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.complexity.bootstrap import marked
from simtown.complexity.finished_runs import model_order
from simtown.complexity.model_looks import colours_of, distractor_words, markers_of, names_of
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
    from simtown.complexity.bootstrap import BootstrapCurve
    from simtown.complexity.needs import Findings

#: Inches of a letter of the legend, and of what stands beside a name.
_LETTER, _HANDLE = 0.078, 0.6


def learning(report: Findings, path: Path) -> None:
    """Draw test accuracy against training samples: a panel for each world, seeds as dots.

    In the town also chance.
    """
    settings = sorted({c.distractor for c in report.curves})
    worlds = sorted({c.entities for c in report.curves})
    models = sorted({c.model for c in report.curves}, key=model_order)
    colours, names, markers = colours_of(models), names_of(models), markers_of(models)
    low, high = min(int(c.sizes[0]) for c in report.curves), max(int(c.sizes[-1]) for c in report.curves)
    town = report.world == "entities"
    # the band of a single size has no width, so nobody sees it
    bands_low = [c.low.min() for c in report.curves if len(c.sizes) > 1]
    least = float(np.nanmin([*bands_low, *(np.nanmin(c.runs) for c in report.curves)])) - 0.03
    floor = min(0.45, least) if town else max(least, -0.02)
    width = max(6.0, 3.3 * len(worlds))
    shown = [names[m] for m in models]
    across = max(1, min(len(shown), int(width / (_LETTER * max(map(len, shown)) + _HANDLE))))
    figure = new_figure(width, 3.1 * len(settings) + 0.25 + 0.25 * -(-len(shown) // across))
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
            style_axes(axes)
            if town:
                _chance(axes)
            for curve in here:
                _learning_line(axes, curve, colours[curve.model], markers[curve.model], names[curve.model])
            title = (
                f"{entities} entities, {distractor_words(distractor)}"
                if town
                else f"world of {entities}" * bool(report.world)
            )
            axes.set_title(title, fontsize=11, color=INK, loc="left")
    ticks = round_values(low, high) or sorted({int(n) for c in report.curves for n in c.sizes})
    for axes in grid.flat:
        set_log_ticks(axes.xaxis, ticks, short_number)
    for column in grid.T:  # the lowest panel of each column names its sizes
        lowest = [axes for axes in column if axes.get_visible()][-1]
        lowest.tick_params(labelbottom=True)
        lowest.set_xlabel("training samples", color=INK)
    for row_of_axes in grid:  # the first panel of each row names its accuracies
        first = next(axes for axes in row_of_axes if axes.get_visible())
        first.tick_params(labelleft=True)
        first.set_ylabel("test accuracy", color=INK)
    handles = {
        label: handle
        for axes in grid.flat
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    look = {"fontsize": 10, "frameon": False, "loc": "outside upper left", "ncols": across}
    figure.legend([handles[name] for name in shown], shown, **look)
    single, several = (any((len(c.seeds) > 1) == many for c in report.curves) for many in (False, True))
    overs = dict.fromkeys(marked(c.interval_over) for c in report.curves if len(c.seeds) > 1)
    bands = [f"95 % intervals over {'; or '.join(overs)}, dots: single seeds"] * several
    bands += ["where there is one seed, Wilson intervals over test items only: too narrow"] * single
    add_footnote(figure, f"Bands: {'; '.join(bands)}.")
    save_figure(figure, path)


def _chance(axes: Any) -> None:
    axes.axhline(0.5, color="#888888", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    look = {"fontsize": 8, "color": "#777777", "ha": "right", "va": "top"}
    axes.annotate("chance", (1, 0.5), (-2, -3), ("axes fraction", "data"), "offset points", **look)


def _learning_line(axes: Any, curve: BootstrapCurve, colour: str, marker: str, label: str) -> None:
    axes.fill_between(curve.sizes, curve.low, curve.high, color=colour, alpha=0.16, linewidth=0, zorder=2)
    look = {
        "linewidth": 1.7,
        "markersize": 5,
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
        "zorder": 4,
    }
    axes.plot(curve.sizes, curve.accuracy, "-", marker=marker, color=colour, label=label, **look)
    if len(curve.seeds) > 1:
        sizes = np.repeat(curve.sizes[:, None], len(curve.seeds), axis=1)
        axes.plot(
            sizes.ravel(),
            curve.runs.ravel(),
            "o",
            color=colour,
            alpha=0.3,
            markersize=3,
            markeredgewidth=0,
            zorder=3,
        )
