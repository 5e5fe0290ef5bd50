"""The curve of one run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.plots import INK, draw_chance, new_figure, save_figure, style_axes
from simtown.core.untrusted import figure_text


def curve(metrics: Sequence[Mapping[str, Any]], title: str, path: Path, chance: float = 0.5) -> None:
    """Loss and accuracy of one run by epoch, a PNG; the epoch of best validation accuracy is marked."""

    def column(key: str) -> np.ndarray:
        return np.array([row[key] for row in metrics])

    epoch, training, validation = column("epoch"), column("train_accuracy"), column("val_accuracy")
    best = int(validation.argmax())
    figure = new_figure(9.5, 3.9)
    figure.suptitle(figure_text(title), fontsize=11.5, color=INK)
    loss, accuracy = figure.subplots(1, 2)
    for axes, kind in ((loss, "loss"), (accuracy, "accuracy")):
        style_axes(axes)
        for split, colour, words in (("train", "#8A8A8A", "training"), ("val", "#0072B2", "validation")):
            values = column(f"{split}_{kind}")
            axes.plot(epoch, values, "-o", color=colour, linewidth=1.6, markersize=2.5, label=words)
        axes.axvline(epoch[best], color="#D55E00", linewidth=1, linestyle=":", zorder=1)
        axes.set_title(kind, fontsize=11, color=INK, loc="left")
        axes.set_xlabel("epoch", color=INK)
        axes.set_xlim(epoch[0] - 0.5, epoch[-1] + 0.5)
        axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    accuracy.set_ylim(min(chance - 0.05, training.min() - 0.02, validation.min() - 0.02), 1.02)
    draw_chance(accuracy, chance)
    star: dict[str, Any] = {"color": "#D55E00", "markersize": 12, "zorder": 5, "markeredgecolor": "white"}
    label = f"best, epoch {epoch[best]:g}: {validation[best]:.3f}"
    accuracy.plot(epoch[best], validation[best], "*", label=label, **star)
    lines, labels = accuracy.get_legend_handles_labels()
    figure.legend(lines, labels, fontsize=8.5, frameon=False, loc="outside lower center", ncols=3)
    save_figure(figure, path)
