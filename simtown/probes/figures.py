"""Pictures of a study's scores, and the canvas that the studies' figures share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.plots import INK, PALETTE, new_figure, save_figure, style_axes
from simtown.core.untrusted import figure_text


def canvas(
    columns: int, width: float, height: float, ratios: Sequence[float] | None = None
) -> tuple[Any, list[Any]]:
    """A white figure and its panels, side by side, plain. Sizes in inches."""
    figure = new_figure(width, height)
    widths = {"width_ratios": ratios} if ratios else None
    panels = figure.subplots(1, columns, squeeze=False, gridspec_kw=widths)[0]
    for panel in panels:
        style_axes(panel, "y", 8.5)
    return figure, list(panels)


def titled(panel: Any, title: str) -> None:
    """A small title above the panel's left edge."""
    panel.set_title(title, fontsize=9.5, loc="left", color=INK)


def rank_correlations(path: Path, modes: Mapping[str, Any], title: str) -> None:
    """Draw ρ by group, a bar a mode, with interval, prior and ceiling; and ρ ± sd by best class."""
    first = next(iter(modes.values()))
    classes = first["classes"]
    groups = first["groups"]
    figure, (left, right) = canvas(2, 11.5, 4.4, (4, 7))
    width = 0.8 / len(modes)
    for m, (mode, numbers_of) in enumerate(modes.items()):
        shift = (m - (len(modes) - 1) / 2) * width
        for panel, order, entries in (
            (left, list(groups), numbers_of["groups"]),
            (right, list(classes), numbers_of["classes"]),
        ):
            x = np.array([order.index(name) for name in entries]) + shift
            rho = [{key: 100 * (value or 0.0) for key, value in e["rho"].items()} for e in entries.values()]
            mean = np.array([r["mean"] for r in rho])
            if panel is left:
                bounds = [[r["mean"] - r["low"] for r in rho], [r["high"] - r["mean"] for r in rho]]
                error = np.array(bounds).clip(0)
            else:
                error = np.array([r["sd"] for r in rho])
            look = {"ecolor": "#555555", "elinewidth": 0.9}
            panel.bar(x, mean, width * 0.92, yerr=error, color=PALETTE[m], error_kw=look, label=mode)
    for i, numbers in enumerate(groups.values()):
        for key, style, label in (("prior_rho", "--", "prior"), ("ceiling_rho", "-", "ceiling")):
            ends, height = [i - 0.45, i + 0.45], [_percent(numbers[key])] * 2
            left.plot(ends, height, style, color=INK, linewidth=1.3, label=label if i == 0 else None)
    for i, numbers in enumerate(classes.values()):
        right.plot([i - 0.45, i + 0.45], [_percent(numbers["prior_rho"])] * 2, "--", color=INK, linewidth=1.1)
    left.set_xticks(range(len(groups)), [figure_text(f"{g}\n({e['n']})") for g, e in groups.items()])
    labels = [figure_text(f"{c}\n({e['n']})") for c, e in classes.items()]
    right.set_xticks(range(len(classes)), labels, fontsize=7.5, rotation=45 if len(classes) > 12 else 0)
    left.set_ylabel("Spearman ρ × 100", fontsize=9, color=INK)
    titled(left, "by group; bars: 95 % intervals")
    titled(right, "by best class; bars: ± sd; dashed: prior")
    left.set_ylim(top=118)
    left.legend(fontsize=7.5, frameon=False, ncols=4, loc="upper left", handlelength=1.5, columnspacing=1.0)
    figure.suptitle(title, fontsize=11, color=INK)
    save_figure(figure, path)


def _percent(share: float | None) -> float:
    """A share times 100; NaN, which is not drawn, where there is none."""
    return float("nan") if share is None else 100 * share


def accuracies(path: Path, modes: Mapping[str, Any], title: str) -> None:
    """Draw the share of subjects whose best class came first, and was preferred to a wrong one."""
    panels = [("accuracy", "best of all; dashed: prior")]
    if any(numbers["groups"]["all"]["choice"]["mean"] is not None for numbers in modes.values()):
        panels.insert(0, ("choice", "best against a wrong one; dashed: chance"))
    figure, axes = canvas(len(panels), 4.25 * len(panels), 3.8)
    for panel, (key, head) in zip(axes, panels, strict=True):
        for m, mode in enumerate(modes.values()):
            numbers = mode["groups"]["all"]
            mean, low, high = (100 * (numbers[key][k] or 0) for k in ("mean", "low", "high"))
            error = [[max(mean - low, 0)], [max(high - mean, 0)]]
            panel.bar(m, mean, 0.6, yerr=error, color=PALETTE[m], error_kw={"ecolor": "#555555"})
            line = 50 if key == "choice" else 100 * numbers["prior_accuracy"]
            panel.plot([m - 0.4, m + 0.4], [line] * 2, "--", color=INK, linewidth=1.2)
        panel.set_xticks(range(len(modes)), list(modes))
        panel.set_xlim(-1, len(modes))
        titled(panel, head)
    axes[0].set_ylim(0, 102)
    axes[0].set_ylabel("% of subjects", fontsize=9, color=INK)
    figure.suptitle(title, fontsize=11, color=INK)
    save_figure(figure, path)
