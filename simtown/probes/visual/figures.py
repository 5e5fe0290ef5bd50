"""Figures 2 to 9: ρ by group and class, sizes along a scale, models against sources, subject by subject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simtown.files import replacing
from simtown.probes import statistics
from simtown.probes.visual import results
from simtown.probes.visual.classes import SIZES
from simtown.probes.visual.dataset import GROUPS
from simtown.probes.visual.release import CODA_CLASSES, Release
from simtown.quoting import figure_text, title_of

_INK, _FAINT, _GREY = "#333333", "#E4E4E4", "#9A9A9A"
#: Okabe and Ito's, told apart by the colour-blind.
_PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")


def canvas(columns: int, width: float, height: float, ratios: Sequence[float] | None = None) -> tuple[Any, list[Any]]:
    """A white figure and its panels, side by side, plain. Sizes in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=150, layout="constrained", facecolor="white")
    panels = figure.subplots(1, columns, squeeze=False, gridspec_kw={"width_ratios": ratios} if ratios else None)[0]
    for panel in panels:
        plain(panel)
    return figure, list(panels)


def plain(panel: Any) -> None:
    """Nothing but faint lines across and two quiet axes."""
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color("#888888")
    panel.tick_params(colors=_INK, labelsize=8.5)
    panel.grid(True, axis="y", color=_FAINT, linewidth=0.6)
    panel.set_axisbelow(True)


def save(figure: Any, path: Path) -> None:
    """As PNG, whole or not at all."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", metadata={"Software": None})


def task(out: Path, name: str, content: dict[str, Any]) -> None:
    """A task's picture, OUT/TASK.png, from what its summary says."""
    told = content["tasks"][name]
    model = title_of(str(content["settings"]["model"]))
    model = figure_text(model if len(model) < 60 else f"…{model[-59:]}")
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
        range(len(classes)),
        [figure_text(f"{c}\n({e['n']})") for c, e in classes.items()],
        fontsize=7.5,
        rotation=45 if len(classes) > 12 else 0,
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
    panel.set_xticks(range(len(groups)), list(map(figure_text, groups)))
    panel.set_ylabel("cosine with large − small", fontsize=9, color=_INK)


def figure2(release: Release, path: Path) -> None:
    """ρ of models with CoDa, Visual Genome and Wikipedia colours, best template, as released: a heat map."""
    names = ("BERT base", "Oscar base", "Distilled", "RoBERTa base", "ALBERT base", "Vokenization")
    table = np.array([[100 * float(x) for x in row[1:]] for row in release.table("heatmap_data")[1 : len(names) + 1]])
    figure, (panel,) = canvas(1, 4.6, 4.4)
    panel.grid(False)
    panel.imshow(table, cmap="Blues", vmin=0, vmax=80, aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        panel.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=9, color="white" if value > 50 else _INK)
    panel.set_xticks(range(3), ["CoDa", "VG", "Wikipedia"])
    panel.set_yticks(range(len(names)), names)
    panel.set_title("Spearman ρ × 100, color, best template", fontsize=9.5, loc="left", color=_INK)
    save(figure, path)


def _projections(release: Release) -> dict[str, dict[str, list[float]]]:
    """{model: {size: projections}} as released."""
    found: dict[str, dict[str, list[float]]] = {}
    for _, model, size, value in release.table("size_sims")[1:]:
        found.setdefault(model, {}).setdefault(size, []).append(float(value))
    return found


def figure3(release: Release, path: Path) -> None:
    """The paper's projections on "large" less "small", by size and model."""
    found = _projections(release)
    figure, panels = canvas(len(found), 4.4 * len(found), 3.8)
    for panel, (model, groups) in zip(panels, found.items(), strict=True):
        boxes(panel, groups)
        sizes = np.repeat(np.arange(len(groups)), [len(v) for v in groups.values()])
        rho = statistics.spearman(np.concatenate([np.array(v) for v in groups.values()]), sizes).rho
        panel.set_title(f"{figure_text(model)}; ρ with size {rho:.2f}", fontsize=9.5, loc="left", color=_INK)
    save(figure, path)


def figure5(release: Release, path: Path) -> None:
    """Projections of the same nouns by BERT and by Oscar."""
    found = _projections(release)
    figure, (panel,) = canvas(1, 4.8, 4.4)
    x, y = (np.concatenate([np.array(v) for v in found[model].values()]) for model in ("bert", "oscar"))
    for (size, values), colour in zip(found["bert"].items(), _PALETTE, strict=False):
        panel.scatter(values, found["oscar"][size], s=16, color=colour, label=figure_text(size), linewidths=0)
    panel.set_xlabel("BERT", fontsize=9, color=_INK)
    panel.set_ylabel("Oscar", fontsize=9, color=_INK)
    panel.legend(fontsize=8, frameon=False)
    panel.set_title(f"cosine with large − small; ρ = {statistics.spearman(x, y).rho:.2f}", fontsize=9.5, loc="left", color=_INK)
    save(figure, path)


def _lines(release: Release, path: Path, first: tuple[str, bool, str], second: tuple[str, bool, str]) -> None:
    """ρ of each relation's first ten test subjects under two conditions (model, tuned, how it is called), a line a subject."""
    found = release.by_subject()
    relations = ("color", "shape", "material", "cooccur")
    figure, panels = canvas(len(relations), 3.4 * len(relations), 3.8)
    for panel, relation in zip(panels, relations, strict=True):
        a, b = (found[model, relation, tuned] for model, tuned, _ in (first, second))
        both = [s for s in a if s in b]
        for subject in both[:10]:
            better = b[subject] >= a[subject]
            panel.plot([0, 1], [a[subject], b[subject]], "-o", color=_PALETTE[0] if better else _PALETTE[4], linewidth=1.2, markersize=4)
        ends = sorted((b[s], s) for s in both[:10])
        heights = _apart([v for v, _ in ends], 0.055 * np.ptp([a[s] for s in both[:10]] + [b[s] for s in both[:10]]))
        for height, (_, subject) in zip(heights, ends, strict=True):
            panel.annotate(figure_text(subject), (1.04, height), va="center", fontsize=7, color="#666666", annotation_clip=False)
        change = np.sign([b[s] - a[s] for s in both])
        panel.set_xticks([0, 1], [first[2], second[2]])
        panel.set_xlim(-0.15, 1.75)
        panel.set_title(
            f"{relation}; of {len(both)}, {(change > 0).mean():.0%} rise, {(change < 0).mean():.0%} fall",
            fontsize=9.5,
            loc="left",
            color=_INK,
        )
    panels[0].set_ylabel("Spearman ρ", fontsize=9, color=_INK)
    save(figure, path)


def _apart(values: Sequence[float], least: float) -> list[float]:
    """Ascending values moved until each is at least so far above the one before; those that touch stay around their mean."""
    clusters: list[list[float]] = []
    for value in values:
        clusters.append([value])
        while len(clusters) > 1 and np.mean(clusters[-1]) - np.mean(clusters[-2]) < least * (len(clusters[-1]) + len(clusters[-2])) / 2:
            clusters[-2:] = [clusters[-2] + clusters[-1]]
    return [float(np.mean(c)) + (i - (len(c) - 1) / 2) * least for c in clusters for i in range(len(c))]


def figure6(release: Release, path: Path) -> None:
    """Oscar base before and after tuning, subject by subject."""
    _lines(release, path, ("oscar-base", False, "untuned"), ("oscar-base", True, "tuned"))


def figure7(release: Release, path: Path) -> None:
    """BERT base and Oscar base after tuning, subject by subject."""
    _lines(release, path, ("bert-base", True, "BERT"), ("oscar-base", True, "Oscar"))


def _against_coda(release: Release, source: str, name: str, path: Path) -> None:
    """The three subjects with the lowest and highest ρ between a source's colours and CoDa's."""
    from simtown.probes.visual.tables import against_coda

    found = against_coda(release, *release.counts(source))
    order = np.argsort(found.rho, kind="stable")
    figure, panels = canvas(6, 16.0, 2.9)
    for panel, i in zip(panels, [*order[:3], *order[::-1][:3]], strict=True):
        colors = np.argsort(-found.coda[i], kind="stable")
        for shift, shares, label, colour in ((-0.2, found.coda[i], "CoDa", _GREY), (0.2, found.shares[i], name, _PALETTE[0])):
            panel.bar(np.arange(len(colors)) + shift, shares[colors], 0.4, color=colour, label=label)
        panel.set_xticks(range(len(colors)), [CODA_CLASSES[c] for c in colors], rotation=90, fontsize=7.5)
        panel.set_title(f"{figure_text(found.subjects[i])}; ρ = {found.rho[i]:.2f}", fontsize=9, loc="left", color=_INK)
    panels[0].legend(fontsize=7.5, frameon=False)
    panels[0].set_ylabel("share", fontsize=9, color=_INK)
    save(figure, path)


def figure8(release: Release, path: Path) -> None:
    """Visual Genome and CoDa."""
    _against_coda(release, "color", "VG", path)


def figure9(release: Release, path: Path) -> None:
    """Wikipedia and CoDa."""
    _against_coda(release, "wiki-color", "Wikipedia", path)


#: Figures that the released results alone decide; Figure 4 is the right half of every COLOR, SHAPE, MATERIAL picture of a study.
FIGURES: dict[int, Callable[[Release, Path], None]] = {2: figure2, 3: figure3, 5: figure5, 6: figure6, 7: figure7, 8: figure8, 9: figure9}
