"""Pictures of a study's scores, and the canvas that the studies' figures share."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.plots import INK, PALETTE, new_figure, save_figure, style_axes
from simtown.core.untrusted import figure_text


def canvas(columns: int, width: float, height: float, ratios: Sequence[float] = ()) -> tuple[Any, list[Any]]:
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


def bar(
    panel: Any, x: float, numbers: Mapping[str, Any], width: float, colour: str, sd: bool = False, **more: Any
) -> None:
    """A mean of shares, times 100, with its 95 % interval, or ± its standard deviation."""
    mean, low, high, deviation = (100 * (numbers.get(name) or 0.0) for name in ("mean", "low", "high", "sd"))
    error = [[deviation]] * 2 if sd else [[max(mean - low, 0)], [max(high - mean, 0)]]
    look = {"ecolor": "#555555", "elinewidth": 0.9}
    panel.bar(x, mean, width, yerr=error, color=colour, error_kw=look, **more)


def level(panel: Any, x: float, share: float | None, style: str = "--", label: str | None = None) -> None:
    """A line across a column, at a share times 100; none where there is no share."""
    if share is not None:
        ends, height = [x - 0.45, x + 0.45], [100 * share] * 2
        panel.plot(ends, height, style, color=INK, linewidth=1.2, label=label)


def swarm(values: np.ndarray, step: float, width: float) -> np.ndarray:
    """Sideways places (n,) that keep near-equal values apart: rows centred on 0, no wider than `width`."""
    _, row, counts = np.unique(np.round(values / step), return_inverse=True, return_counts=True)
    places = np.zeros(len(values))
    for i, count in enumerate(counts):
        inside = np.flatnonzero(row == i)
        places[inside[np.argsort(values[inside], kind="stable")]] = np.arange(count) - (count - 1) / 2
    return places * min(0.055, width / counts.max(initial=1))


def boxes(
    panel: Any, groups: Mapping[str, Sequence[float]], colours: Mapping[str, str] | None = None
) -> None:
    """Quartiles with every point, a column a group."""
    for x, (group, values) in enumerate(groups.items()):
        if not len(values):
            continue
        colour = (colours or {}).get(group, PALETTE[0])
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        panel.bar(x, high - low, bottom=low, width=0.62, color=colour, alpha=0.18)
        panel.plot([x - 0.31, x + 0.31], [middle] * 2, color=colour, linewidth=2)
        sideways = swarm(np.array(values), float(np.ptp(values)) / 40 or 1.0, 0.5)
        panel.scatter(x + sideways, values, s=16, color=colour, alpha=0.8, linewidths=0)
    panel.set_xticks(range(len(groups)), [figure_text(f"{g}\n({len(v)})") for g, v in groups.items()])


def rank_correlations(path: Path, modes: Mapping[str, Any], title: str) -> None:
    """Draw ρ by group, a bar a mode, with interval, prior and ceiling; and ρ ± sd by best class."""
    first = next(iter(modes.values()))
    groups, classes = first["groups"], first["classes"]
    figure, (left, right) = canvas(2, 11.5, 4.4, (4, 7))
    width = 0.8 / len(modes)
    for m, (mode, numbers) in enumerate(modes.items()):
        shift = (m - (len(modes) - 1) / 2) * width
        for panel, order, entries in ((left, groups, "groups"), (right, classes, "classes")):
            for name, entry in numbers[entries].items():
                x, label = list(order).index(name) + shift, mode if name == "all" else None
                bar(panel, x, entry["rho"], width * 0.92, PALETTE[m], sd=panel is right, label=label)
    for i, numbers in enumerate(groups.values()):
        level(left, i, numbers["prior_rho"], "--", None if i else "prior")
        level(left, i, numbers["ceiling_rho"], "-", None if i else "ceiling")
    for i, numbers in enumerate(classes.values()):
        level(right, i, numbers["prior_rho"])
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


def accuracies(path: Path, modes: Mapping[str, Any], title: str) -> None:
    """Draw the share of subjects whose best class came first, and was preferred to a wrong one."""
    panels = [("accuracy", "best of all; dashed: prior")]
    if any(numbers["groups"]["all"]["choice"]["mean"] is not None for numbers in modes.values()):
        panels.insert(0, ("choice", "best against a wrong one; dashed: chance"))
    figure, axes = canvas(len(panels), 4.25 * len(panels), 3.8)
    for panel, (key, head) in zip(axes, panels, strict=True):
        for m, mode in enumerate(modes.values()):
            numbers = mode["groups"]["all"]
            bar(panel, m, numbers[key], 0.6, PALETTE[m])
            level(panel, m, 0.5 if key == "choice" else numbers["prior_accuracy"])
        panel.set_xticks(range(len(modes)), list(modes))
        panel.set_xlim(-1, len(modes))
        titled(panel, head)
    axes[0].set_ylim(0, 102)
    axes[0].set_ylabel("% of subjects", fontsize=9, color=INK)
    figure.suptitle(title, fontsize=11, color=INK)
    save_figure(figure, path)
