"""Learning curves: test accuracy against training samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.complexity.bootstrap import marked
from simtown.complexity.finished_runs import model_order
from simtown.complexity.model_looks import ModelLook, distractor_words, looks_of
from simtown.core import plots

if TYPE_CHECKING:
    from simtown.complexity.bootstrap import BootstrapCurve
    from simtown.complexity.quantities import Findings

#: Inches of a letter of the legend, and of what stands beside a name.
_LETTER, _HANDLE = 0.078, 0.6
#: How accuracy on held-out compositions is drawn.
_HELD_OUT = {"linewidth": 1.3, "markersize": 5, "markerfacecolor": "white", "zorder": 4}


def learning(report: Findings, path: Path, chance: bool = True) -> None:
    """Draw test accuracy against training samples: a panel for each world, seeds as dots.

    In the town also the `chance` of guessing yes or no, and dashed the accuracy on held-out compositions.
    """
    curves = report.curves
    settings, worlds = sorted({c.distractor for c in curves}), sorted({c.entities for c in curves})
    looks = looks_of(sorted({c.model for c in curves}, key=model_order))
    low, high = min(int(c.sizes[0]) for c in curves), max(int(c.sizes[-1]) for c in curves)
    ticks = plots.round_values(low, high) or sorted({int(n) for c in curves for n in c.sizes})
    town = report.world == "entities"
    held_out = [x for x in report.accuracies if np.isfinite(x.held_out)]
    lowest = (*(np.nanmin(c.runs) for c in curves), *(x.held_out for x in held_out))
    least = float(np.nanmin(lowest)) - 0.03  # a band may leave the panel: no room for what no seed did
    floor = min(0.45, least) if town else max(least, -0.02)
    width = max(6.0, 3.3 * len(worlds))
    names = [look.name for look in looks.values()]
    across = max(1, min(len(names), int(width / (_LETTER * max(map(len, names)) + _HANDLE))))
    figure = plots.new_figure(width, 3.1 * len(settings) + 0.25 + 0.25 * -(-len(names) // across))
    grid = figure.subplots(len(settings), len(worlds), squeeze=False, sharex=True, sharey=True)
    handles: dict[str, Any] = {}
    for row, distractor in enumerate(settings):
        for column, entities in enumerate(worlds):
            axes = grid[row][column]
            panel = [c for c in curves if (c.entities, c.distractor) == (entities, distractor)]
            if not panel:
                axes.set_visible(False)
                continue
            axes.set_xscale("log")
            axes.set_xlim(low / 1.25, high * 1.25)
            axes.set_ylim(floor, 1.02)
            plots.style_axes(axes)
            if town and chance:
                plots.draw_chance(axes)
            for curve in panel:
                look = looks[curve.model]
                handles[look.name] = _draw_curve(axes, curve, look)
                cell = curve.model, entities, distractor
                own = [x for x in held_out if (x.model, x.entities, x.distractor) == cell]
                x, y = [a.size for a in own], [a.held_out for a in own]
                axes.plot(x, y, "--", color=look.colour, marker=look.marker, **_HELD_OUT)
            name = f"{entities} entities, {distractor_words(distractor)}" if town else f"world of {entities}"
            axes.set_title(name * bool(report.world), fontsize=11, color=plots.INK, loc="left")
    for axes in grid.flat:
        plots.set_log_ticks(axes.xaxis, ticks, plots.short_number)
    for column_of_axes in grid.T:  # the lowest panel of each column names its sizes
        lowest = [axes for axes in column_of_axes if axes.get_visible()][-1]
        lowest.tick_params(labelbottom=True)
        lowest.set_xlabel("training samples", color=plots.INK)
    for row_of_axes in grid:  # the first panel of each row names its accuracies
        first = next(axes for axes in row_of_axes if axes.get_visible())
        first.tick_params(labelleft=True)
        first.set_ylabel("test accuracy", color=plots.INK)
    place = {"fontsize": 10, "frameon": False, "loc": "outside upper left", "ncols": across}
    figure.legend([handles[name] for name in names], names, **place)
    dashed = " Dashed, open: on compositions that training never shows." * bool(held_out)
    plots.add_footnote(figure, _footnote(curves) + dashed)
    plots.save_figure(figure, path)


def _footnote(curves: list[BootstrapCurve]) -> str:
    overs = dict.fromkeys(marked(c.interval_over) for c in curves if len(c.seeds) > 1)
    bands = [f"95 % intervals over {'; or '.join(overs)}, dots: single seeds"] if overs else []
    if any(len(c.seeds) == 1 for c in curves):
        bands.append("where there is one seed, Wilson intervals over test items only (too narrow)")
    return f"Bands: {'; '.join(bands)}."


def _draw_curve(axes: Any, curve: BootstrapCurve, look: ModelLook) -> Any:
    """Draw the curve, its band and its seeds; returns the line for the legend."""
    sizes, colour = curve.sizes, look.colour
    axes.fill_between(sizes, curve.low, curve.high, color=colour, alpha=0.16, linewidth=0, zorder=2)
    style = {"linewidth": 1.7, "markersize": 5, "markeredgecolor": "white", "markeredgewidth": 0.5}
    style |= {"marker": look.marker, "color": colour, "label": look.name, "zorder": 4}
    (line,) = axes.plot(sizes, curve.accuracy, "-", **style)
    if len(curve.seeds) > 1:
        x = np.repeat(sizes[:, None], len(curve.seeds), axis=1).ravel()
        style = {"alpha": 0.3, "markersize": 3, "markeredgewidth": 0, "zorder": 3}
        axes.plot(x, curve.runs.ravel(), "o", color=colour, **style)
    return line
