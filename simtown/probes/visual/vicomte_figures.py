"""Figures 2 to 9, from the released results."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from simtown.core.plots import GREY, INK, PALETTE, save_figure
from simtown.core.untrusted import figure_text
from simtown.probes import measures
from simtown.probes.figures import boxes, canvas, titled
from simtown.probes.reproduce import printed_numbers
from simtown.probes.visual.release import CODA_CLASSES, VisualRelease
from simtown.probes.visual.sizes import PROJECTED
from simtown.probes.visual.vicomte_tables import COLUMNS, against_coda

#: A model, whether it is tuned, and its label.
Condition = tuple[str, bool, str]


def figure2(release: VisualRelease, path: Path) -> None:
    """ρ of models with CoDa, Visual Genome and Wikipedia colours, best template, as released: a heat map."""
    names = list(printed_numbers()["vicomte-table9"])
    rows = release.table("heatmap_data")[1 : len(names) + 1]
    table = np.array([[100 * float(x) for x in row[1:]] for row in rows])
    figure, (panel,) = canvas(1, 4.6, 4.4)
    panel.grid(False)
    panel.imshow(table, cmap="Blues", vmin=0, vmax=80, aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        colour = "white" if value > 50 else INK
        panel.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=9, color=colour)
    panel.set_xticks(range(3), ["CoDa", "VG", "Wikipedia"])
    panel.set_yticks(range(len(names)), names)
    titled(panel, "Spearman ρ × 100, color, best template")
    save_figure(figure, path)


def _projections(release: VisualRelease) -> dict[str, dict[str, list[float]]]:
    """{model: {size: projections}} as released."""
    projections: dict[str, dict[str, list[float]]] = {}
    for _, model, size, value in release.table("size_sims")[1:]:
        projections.setdefault(model, {}).setdefault(size, []).append(float(value))
    return projections


def figure3(release: VisualRelease, path: Path) -> None:
    """The paper's projections on "large" less "small", by size and model."""
    projections = _projections(release)
    figure, panels = canvas(len(projections), 4.4 * len(projections), 3.8)
    for panel, (model, groups) in zip(panels, projections.items(), strict=True):
        boxes(panel, groups)
        panel.set_ylabel(PROJECTED, fontsize=9, color=INK)
        sizes = np.repeat(np.arange(len(groups)), [len(v) for v in groups.values()])
        rho = measures.spearman(np.concatenate([np.array(v) for v in groups.values()]), sizes).rho
        titled(panel, f"{figure_text(model)}; ρ with size {rho:.2f}")
    save_figure(figure, path)


def figure5(release: VisualRelease, path: Path) -> None:
    """Projections of the same nouns by BERT and by Oscar."""
    projections = _projections(release)
    figure, (panel,) = canvas(1, 4.8, 4.4)
    x, y = (np.concatenate([np.array(v) for v in projections[model].values()]) for model in ("bert", "oscar"))
    for (size, values), colour in zip(projections["bert"].items(), PALETTE, strict=False):
        dots = {"s": 16, "color": colour, "label": figure_text(size), "linewidths": 0}
        panel.scatter(values, projections["oscar"][size], **dots)
    panel.set_xlabel("BERT", fontsize=9, color=INK)
    panel.set_ylabel("Oscar", fontsize=9, color=INK)
    panel.legend(fontsize=8, frameon=False)
    titled(panel, f"cosine with large − small; ρ = {measures.spearman(x, y).rho:.2f}")
    save_figure(figure, path)


def _change_figure(first: Condition, second: Condition, release: VisualRelease, path: Path) -> None:
    """ρ of each relation's first ten test subjects under two conditions, a line a subject."""
    rho_of = release.by_subject()
    figure, panels = canvas(len(COLUMNS), 3.4 * len(COLUMNS), 3.8)
    for panel, relation in zip(panels, COLUMNS, strict=True):
        a, b = (rho_of[model, relation, tuned] for model, tuned, _ in (first, second))
        subjects = [s for s in a if s in b]
        drawn = subjects[:10]
        for subject in drawn:
            ends = [a[subject], b[subject]]
            colour = PALETTE[0] if ends[1] >= ends[0] else PALETTE[4]
            panel.plot([0, 1], ends, "-o", color=colour, linewidth=1.2, markersize=4)
        drawn.sort(key=lambda subject: (b[subject], subject))
        room = 0.055 * np.ptp([rho[s] for rho in (a, b) for s in drawn])
        heights = np.array(apart([b[s] for s in drawn], room))
        heights -= max(0.0, heights[-1] - panel.get_ylim()[1])  # not into the title
        for height, subject in zip(heights, drawn, strict=True):
            style = {"va": "center", "fontsize": 7, "color": "#666666", "annotation_clip": False}
            panel.annotate(figure_text(subject), (1.04, height), **style)
        change = np.sign([b[s] - a[s] for s in subjects])
        rise, fall = (change > 0).mean(), (change < 0).mean()
        panel.set_xticks([0, 1], [first[2], second[2]])
        panel.set_xlim(-0.15, 1.75)
        titled(panel, f"{relation}; of {len(subjects)}, {rise:.0%} rise, {fall:.0%} fall")
    panels[0].set_ylabel("Spearman ρ", fontsize=9, color=INK)
    save_figure(figure, path)


def apart(values: Sequence[float], least: float) -> list[float]:
    """Ascending values moved until each is `least` above the one before; those that touch keep their mean."""
    clusters: list[list[float]] = []
    for value in values:
        last = [value]
        while clusters and np.mean(last) - np.mean(below := clusters[-1]) < least * len(below + last) / 2:
            last = clusters.pop() + last
        clusters.append(last)
    return [float(np.mean(c)) + (i - (len(c) - 1) / 2) * least for c in clusters for i in range(len(c))]


def _coda_figure(source: str, name: str, release: VisualRelease, path: Path) -> None:
    """The three subjects with the lowest and highest ρ between a source's colours and CoDa's."""
    colours = against_coda(release, *release.counts(source))
    rho, shares = colours.rho, measures.shares(colours.counts)
    order = np.argsort(rho, kind="stable")
    figure, panels = canvas(6, 16.0, 2.9)
    for panel, i in zip(panels, [*order[:3], *order[::-1][:3]], strict=True):
        by_share = np.argsort(-colours.coda[i], kind="stable")
        at = np.arange(len(by_share))
        panel.bar(at - 0.2, colours.coda[i, by_share], 0.4, color=GREY, label="CoDa")
        panel.bar(at + 0.2, shares[i, by_share], 0.4, color=PALETTE[0], label=name)
        panel.set_xticks(at, [CODA_CLASSES[c] for c in by_share], rotation=90, fontsize=7.5)
        title = f"{figure_text(colours.subjects[i])}; ρ = {rho[i]:.2f}"
        panel.set_title(title, fontsize=9, loc="left", color=INK)
    panels[0].legend(fontsize=7.5, frameon=False)
    panels[0].set_ylabel("share", fontsize=9, color=INK)
    save_figure(figure, path)


#: Figures that the released results alone decide; Figure 4 is the right half of every COLOR, SHAPE, MATERIAL
#: picture of a study. 6: Oscar base before and after tuning; 7: BERT base and Oscar base after it; 8: Visual
#: Genome and CoDa; 9: Wikipedia and CoDa.
FIGURES: dict[int, Callable[[VisualRelease, Path], None]] = {
    2: figure2,
    3: figure3,
    5: figure5,
    6: partial(_change_figure, ("oscar-base", False, "untuned"), ("oscar-base", True, "tuned")),
    7: partial(_change_figure, ("bert-base", True, "BERT"), ("oscar-base", True, "Oscar")),
    8: partial(_coda_figure, "color", "VG"),
    9: partial(_coda_figure, "wiki-color", "Wikipedia"),
}
