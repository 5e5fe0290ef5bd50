"""Figure 2: F1 by item, accuracy by property category, F1 against frequency in text."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simtown.core.plots import INK, new_figure, save_figure, style_axes
from simtown.core.untrusted import figure_text
from simtown.probes.figures import boxes, swarm
from simtown.probes.model_names import in_words
from simtown.probes.physical.physical_release import CATEGORIES, PhysicalRelease, PhysicalTask
from simtown.probes.report import Results

#: Of kinds of properties, and of items.
_COLOURS = dict(zip(CATEGORIES, ("#009E73", "#0072B2", "#E69F00", "#CC79A7"), strict=True))
_KINDS = {"property": "#0072B2", "object": "#555555", "affordance": "#D55E00"}
_PLURAL = {"object": "objects", "property": "properties", "affordance": "affordances"}


def figure2(results: Results, title: str, task: PhysicalTask) -> None:
    """The panels that a task has, as a PNG: (a) always, (b) and (c) with properties, (d) with affordances."""
    summary, release = results.tasks[title], task.release
    f1, accuracy = summary["f1"], summary.get("accuracy")
    panels: dict[str, Callable[[Any], str]] = {"a": lambda axes: _by_item(axes, f1)}
    if accuracy:
        panels["b"] = lambda axes: _by_category(axes, accuracy, release)
    if "property" in f1:
        panels["c"] = lambda axes: _by_frequency(axes, "property", summary, release)
    if "affordance" in f1:
        panels["d"] = lambda axes: _by_frequency(axes, "affordance", summary, release)
    rows, across = (2, 2) if len(panels) == 4 else (1, len(panels))
    figure = new_figure(5.25 * across, 0.6 + 4.1 * rows)
    for axes, (letter, panel) in zip(figure.subplots(rows, across).ravel(), panels.items(), strict=True):
        style_axes(axes, "y", 8.5)
        axes.set_title(f"({letter}) {panel(axes)}", loc="left", fontsize=10, color=INK, pad=9)
    micro = f"{title.replace('-', ' ')}: micro F1 {summary['scores']['micro']:.2f}"
    figure.suptitle(f"{micro}, {in_words(results.model)}", fontsize=11.5, color=INK)
    save_figure(figure, results.path / f"{title}.png")


def _by_item(axes: Any, f1: dict[str, dict[str, float]]) -> str:
    """(a): every item's F1, a column a kind; the line is the mean."""
    f1 = {kind: f1[kind] for kind in _KINDS if kind in f1}
    for x, (kind, each) in enumerate(f1.items()):
        values = np.array(list(each.values()))
        sideways, look = x + swarm(values, 0.025, 0.8), {"color": _KINDS[kind], "alpha": 0.65}
        axes.scatter(sideways, values, s=16, linewidths=0, **look)
        axes.plot([x - 0.42, x + 0.42], [values.mean()] * 2, color=INK, linewidth=1.2)
        axes.annotate(f"{values.mean():.2f}", (x + 0.44, values.mean()), va="center", fontsize=8.5, color=INK)
    axes.set_xticks(range(len(f1)), [f"{len(each)} {_PLURAL[kind]}" for kind, each in f1.items()])
    axes.set_xlim(-0.6, len(f1) - 0.3)
    axes.set_ylim(-0.04, 1.04)
    axes.set_ylabel("F1", fontsize=9, color=INK)
    return "F1 by item; lines: means"


def _by_category(axes: Any, accuracy: dict[str, float], release: PhysicalRelease) -> str:
    """(b): every property's accuracy by category, with the quartiles behind."""
    groups: dict[str, list[float]] = {category: [] for category in CATEGORIES}
    for uid, share in accuracy.items():
        groups[release.properties[uid].category].append(share)
    boxes(axes, {category: values for category, values in groups.items() if values}, _COLOURS)
    axes.set_ylim(max(0.0, min(accuracy.values()) - 0.05), 1.02)
    axes.set_ylabel("accuracy", fontsize=9, color=INK)
    return "accuracy by kind of property; boxes: quartiles"


def _by_frequency(axes: Any, kind: str, summary: dict[str, Any], release: PhysicalRelease) -> str:
    """(c), (d): F1 against relative frequency, with the least-squares line and one standard deviation."""
    frequencies, f1, correlation = release.frequencies[kind], summary["f1"][kind], summary["frequency"][kind]
    names = [n for n in f1 if frequencies.get(n, 0) > 0]
    x, y = np.log10([frequencies[n] for n in names]), np.array([f1[n] for n in names])
    colours: Any = _KINDS[kind]
    if kind == "property":
        colours = [_COLOURS[release.properties[n].category] for n in names]
    axes.scatter(10**x, y, s=18, c=colours, alpha=0.75, linewidths=0)
    if len(names) > 2 and np.ptp(x) > 0:
        slope, offset = np.polyfit(x, y, 1)
        ends = np.array([x.min(), x.max()])
        line = slope * ends + offset
        deviation = float(np.std(y - slope * x - offset))
        axes.plot(10**ends, line, color=INK, linewidth=1.2)
        axes.fill_between(10**ends, line - deviation, line + deviation, color=INK, alpha=0.08, linewidth=0)
    words = [release.properties[n].word for n in names] if kind == "property" else names
    _label(axes, words, x, y)
    axes.set_xscale("log")
    axes.set_ylim(-0.04, 1.04)
    axes.set_xlabel("relative frequency in text", fontsize=9, color=INK)
    axes.set_ylabel("F1", fontsize=9, color=INK)
    rho, p = (float("nan") if correlation[name] is None else correlation[name] for name in ("rho", "p"))
    return f"F1 of {_PLURAL[kind]} by frequency; ρ = {rho:.2f}, p = {p:.2g}"


def _label(axes: Any, words: Sequence[str], x: np.ndarray, y: np.ndarray) -> None:
    """Words of the rarest, the commonest and the best points, where they hide nothing."""
    across = (x - x.min(initial=0)) / max(float(np.ptp(x)), 1e-9) if len(x) else x
    for i in dict.fromkeys([*np.argsort(x)[:3], *np.argsort(-x)[:3], *np.argsort(-y, kind="stable")[:4]]):
        inwards = 1 if across[i] < 0.5 else -1
        distance = (across - across[i]) * inwards
        hidden = (distance > 0) & (distance < 0.05 + 0.0165 * len(words[i])) & (np.abs(y - y[i]) < 0.04)
        if not hidden.any():
            side = {"ha": "left" if inwards > 0 else "right", "va": "center", "textcoords": "offset points"}
            look = {"xytext": (5 * inwards, 0), "fontsize": 7.5, "color": "#666666"}
            axes.annotate(figure_text(words[i]), (10 ** x[i], y[i]), **side, **look)
