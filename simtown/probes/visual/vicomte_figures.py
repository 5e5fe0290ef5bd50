"""Figures 2 to 9, from the released results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from simtown.core.plots import GREY, INK, PALETTE, save_figure
from simtown.core.untrusted import figure_text
from simtown.probes import measures
from simtown.probes.figures import canvas, titled
from simtown.probes.visual.release import CODA_CLASSES, VisualRelease
from simtown.probes.visual.sizes import boxes
from simtown.probes.visual.vicomte_tables import against_coda


def figure2(release: VisualRelease, path: Path) -> None:
    """ρ of models with CoDa, Visual Genome and Wikipedia colours, best template, as released: a heat map."""
    names = ("BERT base", "Oscar base", "Distilled", "RoBERTa base", "ALBERT base", "Vokenization")
    table = np.array(
        [[100 * float(x) for x in row[1:]] for row in release.table("heatmap_data")[1 : len(names) + 1]]
    )
    figure, (panel,) = canvas(1, 4.6, 4.4)
    panel.grid(False)
    panel.imshow(table, cmap="Blues", vmin=0, vmax=80, aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        panel.text(
            j, i, f"{value:.1f}", ha="center", va="center", fontsize=9, color="white" if value > 50 else INK
        )
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
        panel.scatter(
            values, projections["oscar"][size], s=16, color=colour, label=figure_text(size), linewidths=0
        )
    panel.set_xlabel("BERT", fontsize=9, color=INK)
    panel.set_ylabel("Oscar", fontsize=9, color=INK)
    panel.legend(fontsize=8, frameon=False)
    titled(panel, f"cosine with large − small; ρ = {measures.spearman(x, y).rho:.2f}")
    save_figure(figure, path)


def _lines(
    release: VisualRelease, path: Path, first: tuple[str, bool, str], second: tuple[str, bool, str]
) -> None:
    """ρ of each relation's first ten test subjects under two conditions (model, tuned, how it is called), a
    line a subject.
    """
    rho_of = release.by_subject()
    relations = ("color", "shape", "material", "cooccur")
    figure, panels = canvas(len(relations), 3.4 * len(relations), 3.8)
    for panel, relation in zip(panels, relations, strict=True):
        a, b = (rho_of[model, relation, tuned] for model, tuned, _ in (first, second))
        subjects = [s for s in a if s in b]
        for subject in subjects[:10]:
            better = b[subject] >= a[subject]
            panel.plot(
                [0, 1],
                [a[subject], b[subject]],
                "-o",
                color=PALETTE[0] if better else PALETTE[4],
                linewidth=1.2,
                markersize=4,
            )
        ends = sorted((b[s], s) for s in subjects[:10])
        heights = _apart(
            [v for v, _ in ends],
            0.055 * np.ptp([a[s] for s in subjects[:10]] + [b[s] for s in subjects[:10]]),
        )
        for height, (_, subject) in zip(heights, ends, strict=True):
            panel.annotate(
                figure_text(subject),
                (1.04, height),
                va="center",
                fontsize=7,
                color="#666666",
                annotation_clip=False,
            )
        change = np.sign([b[s] - a[s] for s in subjects])
        panel.set_xticks([0, 1], [first[2], second[2]])
        panel.set_xlim(-0.15, 1.75)
        titled(
            panel,
            f"{relation}; of {len(subjects)}, {(change > 0).mean():.0%} rise, {(change < 0).mean():.0%} fall",
        )
    panels[0].set_ylabel("Spearman ρ", fontsize=9, color=INK)
    save_figure(figure, path)


def _apart(values: Sequence[float], least: float) -> list[float]:
    """Ascending values moved until each is at least so far above the one before; those that touch stay around
    their mean.
    """
    clusters: list[list[float]] = []
    for value in values:
        clusters.append([value])
        while (
            len(clusters) > 1
            and np.mean(clusters[-1]) - np.mean(clusters[-2])
            < least * (len(clusters[-1]) + len(clusters[-2])) / 2
        ):
            clusters[-2:] = [clusters[-2] + clusters[-1]]
    return [float(np.mean(c)) + (i - (len(c) - 1) / 2) * least for c in clusters for i in range(len(c))]


def figure6(release: VisualRelease, path: Path) -> None:
    """Oscar base before and after tuning, subject by subject."""
    _lines(release, path, ("oscar-base", False, "untuned"), ("oscar-base", True, "tuned"))


def figure7(release: VisualRelease, path: Path) -> None:
    """BERT base and Oscar base after tuning, subject by subject."""
    _lines(release, path, ("bert-base", True, "BERT"), ("oscar-base", True, "Oscar"))


def _against_coda(release: VisualRelease, source: str, name: str, path: Path) -> None:
    """The three subjects with the lowest and highest ρ between a source's colours and CoDa's."""
    colours = against_coda(release, *release.counts(source))
    order = np.argsort(colours.rho, kind="stable")
    figure, panels = canvas(6, 16.0, 2.9)
    for panel, i in zip(panels, [*order[:3], *order[::-1][:3]], strict=True):
        colors = np.argsort(-colours.coda[i], kind="stable")
        for shift, shares, label, colour in (
            (-0.2, colours.coda[i], "CoDa", GREY),
            (0.2, colours.shares[i], name, PALETTE[0]),
        ):
            panel.bar(np.arange(len(colors)) + shift, shares[colors], 0.4, color=colour, label=label)
        panel.set_xticks(range(len(colors)), [CODA_CLASSES[c] for c in colors], rotation=90, fontsize=7.5)
        panel.set_title(
            f"{figure_text(colours.subjects[i])}; ρ = {colours.rho[i]:.2f}", fontsize=9, loc="left", color=INK
        )
    panels[0].legend(fontsize=7.5, frameon=False)
    panels[0].set_ylabel("share", fontsize=9, color=INK)
    save_figure(figure, path)


def figure8(release: VisualRelease, path: Path) -> None:
    """Visual Genome and CoDa."""
    _against_coda(release, "color", "VG", path)


def figure9(release: VisualRelease, path: Path) -> None:
    """Wikipedia and CoDa."""
    _against_coda(release, "wiki-color", "Wikipedia", path)


#: Figures that the released results alone decide; Figure 4 is the right half of every COLOR, SHAPE, MATERIAL
#: picture of a study.
FIGURES: dict[int, Callable[[VisualRelease, Path], None]] = {
    2: figure2,
    3: figure3,
    5: figure5,
    6: figure6,
    7: figure7,
    8: figure8,
    9: figure9,
}
