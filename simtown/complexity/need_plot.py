"""The figure of one need: a learning curve, its target, and the interval of the need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.core import plots

if TYPE_CHECKING:
    from simtown.complexity.needs import NeededSamples


def draw_need(found: NeededSamples, axes: Any = None) -> Any:
    """Draw a need on matplotlib's axes; by default new ones, which read at 390 pixels.

    Dots are seeds, the line their mean, the bar the 95 % interval of the need. An open mark has no known
    place on its bar; an arrow leads on where an end is unknown.
    """
    if axes is None:
        axes = plots.new_figure(3.9, 3.1, dpi=200).subplots()
    sizes, scores, colour, accent = found.train_sizes_, found.scores_, plots.PALETTE[0], plots.PALETTE[4]
    plots.style_axes(axes)
    axes.set_xscale("log")
    right = max(sizes[-1], found.need_ or 0)
    axes.set_xlim(sizes[0] / 1.2, right * 1.3)
    axes.plot(sizes, scores, "o", color=colour, alpha=0.35, markersize=3.5, markeredgewidth=0)
    axes.plot(sizes, np.nanmean(scores, axis=1), "-", color=colour, linewidth=1.8)
    axes.axhline(found.target, color="#888888", linestyle=(0, (4, 3)), linewidth=1)
    ends = list(axes.get_xlim())
    for i, tip in enumerate("<>"):
        if found.interval_[i] is None:
            axes.plot(ends[i], found.target, tip, color=accent, markersize=8, clip_on=False)
        else:
            ends[i] = found.interval_[i]
    axes.plot(ends, [found.target] * 2, color=accent, linewidth=5, alpha=0.45, solid_capstyle="butt")
    if found.bound_ is None:
        place = found.need_ or np.sqrt(np.prod(ends))
        face = accent if found.need_ else "white"
        axes.plot(
            place, found.target, "o", color=accent, markerfacecolor=face, markersize=8, markeredgewidth=1.5
        )
    plots.set_log_ticks(axes.xaxis, plots.round_values(*axes.get_xlim()), plots.short_number)
    style = {"color": plots.INK, "fontsize": 10}
    axes.set_xlabel("training examples", **style)
    axes.set_ylabel("score", **style)
    axes.set_title(f"{found} for {found.target:.4g}", loc="left", **style)
    return axes
