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
    x = np.repeat(sizes[:, None], scores.shape[1], axis=1)
    axes.plot(x.ravel(), scores.ravel(), "o", color=colour, alpha=0.35, markersize=3.5, markeredgewidth=0)
    axes.plot(sizes, np.nanmean(scores, axis=1), "-", color=colour, linewidth=1.8)
    axes.axhline(found.target, color="#888888", linestyle=(0, (4, 3)), linewidth=1)
    left, far = axes.get_xlim()
    low, high = (
        end if end is not None else limit for end, limit in zip(found.interval_, (left, far), strict=True)
    )
    axes.plot([low, high], [found.target] * 2, color=accent, linewidth=5, alpha=0.45, solid_capstyle="butt")
    for end, limit, tip in zip(found.interval_, (left, far), "<>", strict=True):
        if end is None:
            axes.plot(limit, found.target, tip, color=accent, markersize=8, clip_on=False)
    if found.bound_ is None:
        place = found.need_ or np.sqrt(low * high)
        face = accent if found.need_ else "white"
        axes.plot(
            place, found.target, "o", color=accent, markerfacecolor=face, markersize=8, markeredgewidth=1.5
        )
    plots.set_log_ticks(axes.xaxis, plots.round_values(*axes.get_xlim()), plots.short_number)
    axes.set_xlabel("training examples", color=plots.INK, fontsize=10)
    axes.set_ylabel("score", color=plots.INK, fontsize=10)
    axes.set_title(f"{found} for {found.target:.4g}", color=plots.INK, fontsize=10.5, loc="left")
    return axes
