"""The heat map of P-vectors (Figure 3), and the town's relations beside their templates."""

from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import pdist

from simtown.core.plots import FAINT, INK, PALETTE, new_figure, save_figure
from simtown.probes.spatial.spaces import NumberTable

#: What the colours of distances between the town's relations reach at least: smaller ones look as small as
#: they are.
LEAST = 1e-3
#: Rows and columns of an excerpt, whose names can be read on a page.
EXCERPT = 30


def ordered(vectors: np.ndarray) -> np.ndarray:
    """(n,) numbers of the rows so that like ones stand together: leaves of average-linkage clusters."""
    distances = np.clip(pdist(vectors, "cosine"), 0, None)
    return leaves_list(optimal_leaf_ordering(linkage(distances, "average"), distances))


def heat_map(table: NumberTable, title: str, path: Path) -> None:
    """Write P-vectors as path.png and path.svg: relations down, like ones together; contexts across.

    Dark is a small value: the relation fits the context. Of a larger table path-30 is an excerpt.
    """
    from matplotlib.colors import LogNorm

    rows = tuple(table.rows[i] for i in ordered(table.values))
    columns = tuple(sorted(table.columns, key=rows.index))
    values = table.block(rows, columns)
    figure = new_figure(3.0 + 0.165 * len(columns), 2.5 + 0.165 * len(rows), dpi=160)
    axes = figure.subplots()
    norm = LogNorm(*np.quantile(values, [0.005, 0.995]))
    image = axes.imshow(values, cmap="viridis", norm=norm, aspect="equal", interpolation="nearest")
    axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=8, color=INK)
    axes.set_yticks(range(len(rows)), rows, fontsize=8, color=INK)
    axes.tick_params(length=0, pad=2)
    axes.spines[:].set_visible(False)
    heading = f"How badly a relation (row) fits a context (column)\nP-vectors, {title}"
    axes.set_title(heading, fontsize=9, loc="left", color=INK)
    _style_bar(figure.colorbar(image, ax=axes, shrink=0.5, aspect=30, pad=0.02), "P-vector, logarithmic")
    _save(figure, path)
    if max(values.shape) > EXCERPT:
        some = rows[:EXCERPT], tuple(name for name in columns if name in rows[:EXCERPT])
        heat_map(NumberTable(*some, table.block(*some)), f"{title}; an excerpt", Path(f"{path}-{EXCERPT}"))


def town(words: NumberTable, grids: np.ndarray, model: str, path: Path) -> None:
    """Write path.png and path.svg: (n, r, c) templates above (n, n) distances, 1 less cosines (`words`)."""
    from matplotlib.colors import LinearSegmentedColormap

    n = len(words.rows)
    distances = np.abs(1 - words.values).round(12)  # of a relation from itself exactly 0
    shades = LinearSegmentedColormap.from_list("blue", ("#F1F4F8", PALETTE[0])).with_extremes(bad="white")
    figure = new_figure(1.9 * n, 6.2, dpi=160)
    first, second = (words.rows[i] for i in np.unravel_index(distances.argmax(), distances.shape))
    finding = f"“{first}” and “{second}” least alike" if distances.max() >= LEAST else "all relations alike"
    figure.suptitle(f"Text uses {finding} ({model})", fontsize=11, color=INK)
    upper, lower = cast(Any, figure.subfigures(2, 1, height_ratios=(1, 1.5)))
    where = "In scenes: where each relation holds (+: the landmark; far above, near below; white: nobody)"
    upper.suptitle(where, fontsize=9, color=INK)
    panels = upper.subplots(1, n)
    for panel, name, grid in zip(panels, words.rows, grids, strict=True):
        image = panel.imshow(grid, cmap=shades, vmin=0, vmax=1)
        panel.plot((grid.shape[1] - 1) / 2, (grid.shape[0] - 1) / 2, "+", color=INK)
        panel.set_title(name, fontsize=8, color=INK)
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_color(FAINT)
    _style_bar(upper.colorbar(image, ax=panels, shrink=0.7, aspect=12), "share of scenes")
    axes = lower.subplots()
    image = axes.imshow(distances, cmap=shades, vmin=0, vmax=max(LEAST, distances.max()))
    bar_axes = axes.inset_axes((1.06, 0.1, 0.06, 0.8))  # so that matrix and bar are centred together
    _style_bar(lower.colorbar(image, cax=bar_axes), "1 - cosine (0: used alike)")
    names = [name.replace(" the ", "\nthe ") for name in words.columns]
    axes.set_xticks(range(n), names, fontsize=8, color=INK)
    axes.set_yticks(range(n), words.rows, fontsize=8, color=INK)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    full = image.norm(distances) > 0.6
    for i, j in np.ndindex(n, n):
        colour = "white" if full[i, j] else INK
        axes.text(j, i, f"{distances[i, j]:.2g}", ha="center", va="center", fontsize=9, color=colour)
    axes.set_title("In text: distances of P-vectors", fontsize=9, color=INK)
    _save(figure, path)


def _style_bar(bar: Any, unit: str) -> None:
    bar.ax.tick_params(which="both", labelsize=7, colors=INK)  # minor ticks are labelled too
    bar.set_label(unit, fontsize=8, color=INK)
    bar.outline.set_visible(False)


def _save(figure: Any, path: Path) -> None:
    """As PNG and as SVG."""
    for kind in ("png", "svg"):
        save_figure(figure, path.with_suffix(f".{kind}"))
