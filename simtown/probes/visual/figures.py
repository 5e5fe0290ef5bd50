"""Figures 2 to 9: ρ by group and class, sizes along a scale, models against sources, subject by subject."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simtown.files import replacing
from simtown.probes.visual import results
from simtown.probes.visual.classes import SIZES
from simtown.probes.visual.dataset import GROUPS

_INK, _FAINT, _GREY = "#333333", "#E4E4E4", "#9A9A9A"
#: Okabe and Ito's, told apart by the colour-blind.
_PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")


def canvas(columns: int, width: float, height: float, ratios: Sequence[float] | None = None) -> tuple[Any, list[Any]]:
    """A white figure and its panels, side by side, plain. Sizes in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=150, layout="constrained", facecolor="white")
    panels = figure.subplots(1, columns, squeeze=False, gridspec_kw={"width_ratios": ratios} if ratios else None)[0]
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color("#888888")
        panel.tick_params(colors=_INK, labelsize=8.5)
        panel.grid(True, axis="y", color=_FAINT, linewidth=0.6)
        panel.set_axisbelow(True)
    return figure, list(panels)


def save(figure: Any, path: Path) -> None:
    """As PNG, whole or not at all."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", metadata={"Software": None})


def task(out: Path, name: str, content: dict[str, Any]) -> None:
    """A task's picture, OUT/TASK.png, from what its summary says."""
    told = content["tasks"][name]
    model = str(content["settings"]["model"])
    model = model if len(model) < 60 else f"…{model[-59:]}"
    if name == "size":
        _size(out, told, model)
    elif name == "cooccurrence":
        _choices(out / f"{name}.png", told, f"cooccurrence, {model}")
    else:
        _relation(out / f"{name}.png", told, f"{name}, {model}")


def _relation(path: Path, told: dict[str, Any], title: str) -> None:
    """Left: ρ by group, a bar a mode, with interval, prior and ceiling. Right: ρ ± sd by best class (Figure 4)."""
    modes = told["modes"]
    classes = next(iter(modes.values()))["classes"]
    groups = {g: e for g in ("all", *GROUPS) if (e := next(iter(modes.values()))["groups"].get(g))}
    figure, (left, right) = canvas(2, 11.5, 4.4, (4, 7))
    width = 0.8 / len(modes)
    for m, (mode, one) in enumerate(modes.items()):
        shift = (m - (len(modes) - 1) / 2) * width
        for panel, order, entries in ((left, list(groups), one["groups"]), (right, list(classes), one["classes"])):
            x = np.array([order.index(name) for name in entries]) + shift
            rho = [{key: 100 * (value or 0.0) for key, value in e["rho"].items()} for e in entries.values()]
            mean = np.array([r["mean"] for r in rho])
            if panel is left:
                error = np.array([[r["mean"] - r["low"] for r in rho], [r["high"] - r["mean"] for r in rho]]).clip(0)
            else:
                error = np.array([r["sd"] for r in rho])
            panel.bar(x, mean, width * 0.92, yerr=error, color=_PALETTE[m], error_kw={"ecolor": "#555555", "elinewidth": 0.9}, label=mode)
    for i, numbers in enumerate(groups.values()):
        for key, style, label in (("prior_rho", "--", "prior"), ("ceiling_rho", "-", "ceiling")):
            left.plot([i - 0.45, i + 0.45], [100 * numbers[key]] * 2, style, color=_INK, linewidth=1.3, label=label if i == 0 else None)
    for i, numbers in enumerate(classes.values()):
        right.plot([i - 0.45, i + 0.45], [100 * numbers["prior_rho"]] * 2, "--", color=_INK, linewidth=1.1)
    left.set_xticks(range(len(groups)), [f"{g}\n({e['n']})" for g, e in groups.items()])
    right.set_xticks(
        range(len(classes)), [f"{c}\n({e['n']})" for c, e in classes.items()], fontsize=7.5, rotation=45 if len(classes) > 12 else 0
    )
    left.set_ylabel("Spearman ρ × 100", fontsize=9, color=_INK)
    left.set_title("by group; bars: 95 % intervals", fontsize=9.5, loc="left", color=_INK)
    right.set_title("by best class (Figure 4); bars: ± sd; dashed: prior", fontsize=9.5, loc="left", color=_INK)
    left.set_ylim(top=118)
    left.legend(fontsize=7.5, frameon=False, ncols=4, loc="upper left", handlelength=1.5, columnspacing=1.0)
    figure.suptitle(title, fontsize=11, color=_INK)
    save(figure, path)


def _choices(path: Path, told: dict[str, Any], title: str) -> None:
    """Without counts: the share of subjects whose best class was preferred to a wrong one, and came first."""
    figure, (left, right) = canvas(2, 8.5, 3.8)
    modes = told["modes"]
    for panel, key, head in (
        (left, "choice", "best against a wrong one; dashed: chance"),
        (right, "accuracy", "best of all; dashed: prior"),
    ):
        for m, one in enumerate(modes.values()):
            numbers = one["groups"]["all"]
            mean, low, high = (100 * (numbers[key][k] or 0) for k in ("mean", "low", "high"))
            panel.bar(m, mean, 0.6, yerr=[[max(mean - low, 0)], [max(high - mean, 0)]], color=_PALETTE[m], error_kw={"ecolor": "#555555"})
            line = 50 if key == "choice" else 100 * numbers["prior_accuracy"]
            panel.plot([m - 0.4, m + 0.4], [line] * 2, "--", color=_INK, linewidth=1.2)
        panel.set_xticks(range(len(modes)), list(modes))
        panel.set_xlim(-1, len(modes))
        panel.set_title(head, fontsize=9.5, loc="left", color=_INK)
    left.set_ylim(0, 102)
    left.set_ylabel("% of subjects", fontsize=9, color=_INK)
    figure.suptitle(title, fontsize=11, color=_INK)
    save(figure, path)


def _size(out: Path, told: dict[str, Any], model: str) -> None:
    """Left: rank partition both ways, chance and perfect (Table 4). Right: projections by size (Figure 3)."""
    partition, panels = told["partition"], bool(told["partition"]) + bool(told["projection"])
    figure, places = canvas(panels, 5.6 * panels, 4.2)
    if partition:
        panel = places.pop(0)
        for i, (name, one) in enumerate(partition.items()):
            panel.bar(i, 100 * one["mean"], 0.62, yerr=[[100 * (one["mean"] - one["low"])], [100 * (one["high"] - one["mean"])]],
                      color=_PALETTE["corrected" not in name], error_kw={"ecolor": "#555555"})  # fmt: skip
            for key, style in (("chance", "--"), ("perfect", "-")):
                panel.plot([i - 0.4, i + 0.4], [100 * one[key]] * 2, style, color=_INK, linewidth=1.3, label=key if i == 0 else None)
        panel.set_xticks(range(len(partition)), [n.replace(", ", "\n") for n in partition])
        panel.set_ylabel("rank partition, %", fontsize=9, color=_INK)
        panel.set_ylim(0, 112)
        panel.legend(fontsize=8, frameon=False, ncols=2)
    if told["projection"]:
        rows = results.rows(out, "size")
        scores = [(s, x) for m, s, x in zip(rows["method"], rows["size"], rows["score"], strict=True) if m == "projection"]
        rho, p = told["projection"]["rho"], told["projection"]["p"]
        boxes(places[0], {size: [x for s, x in scores if s == size] for size in SIZES})
        places[0].set_title(f"adjective projection; ρ = {rho:.2f}, p = {p:.2g}", fontsize=9.5, loc="left", color=_INK)
    figure.suptitle(f"size, {model}", fontsize=11, color=_INK)
    save(figure, out / "size.png")


def boxes(panel: Any, groups: dict[str, list[float]]) -> None:
    """Quartiles with every point, a column a group."""
    for i, values in enumerate(groups.values()):
        if values:
            low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
            panel.bar(i, high - low, bottom=low, width=0.6, color=_PALETTE[0], alpha=0.18)
            panel.plot([i - 0.3, i + 0.3], [middle] * 2, color=_PALETTE[0], linewidth=2)
            spread = (np.arange(len(values)) % 7 - 3) * 0.06
            panel.scatter(i + spread, values, s=9, color=_PALETTE[0], alpha=0.7, linewidths=0)
    panel.set_xticks(range(len(groups)), list(groups))
    panel.set_ylabel("cosine with large − small", fontsize=9, color=_INK)
