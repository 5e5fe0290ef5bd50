"""``simtown evaluate MODEL --over entities=5,15,31``: accuracy and threshold against the size of the world.

The data sets are made from their address where the results are: the same settings, of which one changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simtown.complexity.intervals import difference, share
from simtown.complexity.model_looks import looks_of
from simtown.core import plots
from simtown.core.files import save_text
from simtown.core.options import SettingsError
from simtown.core.tables import Table
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import Dataset, open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.source import check_settings
from simtown.vlm.thresholds import QUANTITIES, AnsweredQuestions, find

#: What may change, and how an axis calls it.
AXES = {
    "entities": "kinds of vehicles in the world",
    "size": "side of a picture, pixels",
    "vehicles": "vehicles in a scene",
}
#: Test examples of each data set, and the pictures of a model that was not trained here.
EXAMPLES, SIDE = 500, 224
#: Metres of margin that the axis of thresholds shows.
_METRES = (0.3, 20.0)
#: Columns of over.csv about the threshold.
_THRESHOLD = ("threshold", "threshold low", "threshold high", "why")


class Axis(NamedTuple):
    """The setting that changes from data set to data set, and its values."""

    name: str
    values: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Axis:
        """The axis of "entities=5,15,31". Raises SettingsError if it cannot be read."""
        name, _, values = text.partition("=")
        numbers = values.split(",")
        if name not in AXES or not all(number.isdecimal() for number in numbers):
            form = f"write entities=5,15,31 ({', '.join(AXES)} can change)"
            raise SettingsError(f"{text} cannot be read: {form}", "over")
        return cls(name, tuple(sorted(set(map(int, numbers)))))

    def settings(self, base: Settings, value: int, examples: int) -> Settings:
        """The settings of a data set that is only tested on."""
        changes = {"entities": {"entities": value}, "size": {"width": value, "height": value}}
        changed = changes.get(self.name, {"crowd": str(value)})
        return replace(base, n=base.block, val=0, test=examples, shard=None, **changed)


def evaluate_over(
    axis: Axis,
    base: Settings,
    examples: int,
    directory: Path,
    answer: Callable[[Dataset, str], AnsweredQuestions],
) -> list[str]:
    """Make the data sets that `directory` lacks, ask about each, and write over.csv and over.png.

    Args:
        axis: what changes.
        base: all other settings.
        examples: questions about each world.
        directory: of the results, with the data sets in data/.
        answer: asks a model about a data set; it also receives its name, such as "entities-5".

    Returns:
        A sentence for each part of the questions.
    """
    examples += -examples % base.block
    every = {value: axis.settings(base, value, examples) for value in axis.values}
    for settings in every.values():
        check_settings(settings)
    rows: dict[str, list[dict[str, Any]]] = {}
    steps: dict[str, list[str]] = {}
    is_new = not directory.exists()
    for value, settings in every.items():
        name = f"{axis.name}-{value}"
        generate(settings, directory / "data" / name)
        try:
            answered = answer(open_dataset(directory / "data" / name), name)
        except Exception:
            if is_new and set(directory.iterdir()) == {directory / "data"}:  # refused before any answer
                shutil.rmtree(directory)
            raise
        thresholds = {own.part: own for own in find([answered], QUANTITIES[:1])}
        for part, which in answered.parts().items():
            right = share(answered.rows["right"][which], answered.rows["cluster"][which]) or {}
            row = {"questions": part, axis.name: value, **right, **dict.fromkeys(_THRESHOLD, "")}
            if own := thresholds.get(part):
                curve = own.curve
                ends = ("", "", "") if curve.problem else (curve.threshold, curve.low, curve.high)
                row |= dict(zip(_THRESHOLD, (*ends, curve.problem), strict=True))
                steps.setdefault(part, []).append(f"{value}: {curve.problem or own.threshold()}")
            rows.setdefault(part, []).append(row)
    rows = {part: rows[part] for part in sorted(rows)}
    save_text(directory / "over.csv", Table.of_records([row for own in rows.values() for row in own]).csv())
    draw(rows, axis.name, directory / "over.png")
    return [_sentence(axis.name, own, steps.get(part, ())) for part, own in rows.items()]


def _sentence(axis: str, rows: Sequence[Mapping[str, Any]], steps: Sequence[str]) -> str:
    """The change of accuracy and threshold from the smallest value to the largest."""
    few, many = rows[0], rows[-1]
    change, low, high = difference(many, few)
    ends = ", ".join(f"{row['accuracy']:.3f} at {axis}={row[axis]}" for row in (few, many))
    return (
        f"{few['questions']}: {ends}; change {change:+.3f} ({low:+.3f} to {high:+.3f}). "
        f"Threshold of the margin at {'; '.join(steps)}"
    )


def draw(lines: Mapping[str, Sequence[Mapping[str, Any]]], axis: str, path: Path) -> None:
    """Accuracy and threshold against the axis, a line for each model or part of the questions.

    Args:
        lines: rows of over.csv by the name of the line; their numbers may be texts.
        axis: the column of x.
        path: of the figure.
    """
    looks = looks_of(list(lines))
    values = sorted({int(row[axis]) for rows in lines.values() for row in rows})
    figure = plots.new_figure(8.4, 3.6)
    above, below = figure.subplots(1, 2)
    panels = (above, ("accuracy", "low", "high"), (0.0, 1.0)), (below, _THRESHOLD[:3], _METRES)
    handles = {}
    for place, (name, rows) in enumerate(lines.items()):
        look, shift = looks[name], 1.02 ** (place - (len(lines) - 1) / 2)
        x = [shift * int(row[axis]) for row in rows]
        for axes, columns, limits in panels:
            y, *ends = np.array([[float(row[key] or "nan") for row in rows] for key in columns])
            error = np.abs(np.clip(ends, *limits) - y)
            style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "markersize": 5}
            handles[look.name] = axes.errorbar(x, y, error, elinewidth=1, **style)
        for why, marker, height in (("always", "v", 0.03), ("never", "^", 0.97)):
            at = [value for value, row in zip(x, rows, strict=True) if row["why"].startswith(why)]
            style = {"color": look.colour, "markersize": 7, "markerfacecolor": "white"}
            axes.plot(at, [height] * len(at), marker, transform=axes.get_xaxis_transform(), **style)
    for axes, title in ((above, "accuracy"), (below, "threshold: metres of margin")):
        axes.set(xscale="log", xlim=(values[0] / 1.2, values[-1] * 1.2))
        plots.set_log_ticks(axes.xaxis, values, plots.short_number)
        plots.style_axes(axes)
        axes.set_xlabel(AXES[axis], color=plots.INK)
        axes.set_title(title, fontsize=10, color=plots.INK, loc="left")
    above.set_ylim(min(above.get_ylim()[0], 0.45), 1.02)
    plots.draw_chance(above)
    below.set(yscale="log", ylim=_METRES)
    plots.set_log_ticks(below.yaxis, [0.5, 1, 2, 5, 10], plots.short_number)
    figure.legend(handles.values(), handles, fontsize=9, frameon=False, loc="outside upper left", ncols=4)
    bounds = "Triangles: the threshold lies below (down) or above (up) all margins that occur."
    plots.add_footnote(figure, f"95 % intervals. {bounds} Other answers hold none: see over.csv.")
    plots.save_figure(figure, path)
