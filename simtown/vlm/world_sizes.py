"""``simtown evaluate MODEL --over entities=5,15,31``: accuracy and threshold against the size of the world.

The data sets are made from their address where the results are: the same settings, of which one changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simtown.complexity.model_looks import ModelLook, looks_of
from simtown.core import plots
from simtown.core.files import save_text
from simtown.core.options import SettingsError
from simtown.core.tables import Table
from simtown.datasets.generate import generate
from simtown.datasets.reader import Dataset, open_dataset
from simtown.datasets.settings import Settings
from simtown.training.shares import share
from simtown.vlm.thresholds import QUANTITIES, AnsweredQuestions, FoundThreshold, draw_shares, find

#: What may change, and how an axis calls it.
AXES = {
    "entities": "kinds of vehicles in the world",
    "size": "side of a picture, pixels",
    "vehicles": "vehicles in a scene",
}
#: Test examples of each data set, and the pictures of a model that was not trained here.
EXAMPLES, SIDE = 500, 224


#: Right answers and the curve against the margin, by part of the questions and value of the axis.
Found = dict[tuple[str, int], tuple[np.ndarray, FoundThreshold | None]]


class Axis(NamedTuple):
    """What changes from data set to data set, and its values."""

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
        settings.check()
    found: Found = {}
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
        margins = {own.part: own for own in find([answered], QUANTITIES[:1])}
        for part, which in answered.parts().items():
            found[part, value] = answered.rows["right"][which], margins.get(part)
    save_text(directory / "over.csv", _table(axis, found).csv())
    _draw(axis, found, directory / "over.png")
    return [_sentence(axis, part, found) for part in _parts(found)]


def _parts(found: Found) -> list[str]:
    return sorted({part for part, _ in found})


def _table(axis: Axis, found: Found) -> Table:
    """A row for each part and value."""
    columns = ["questions", axis.name, "accuracy", "low", "high", "n"]
    columns += ["threshold", "threshold low", "threshold high", "why"]
    rows: list[list[object]] = []
    for (part, value), (right, own) in sorted(found.items()):
        curve = own.curve if own else None
        ends = (curve.threshold, curve.low, curve.high) if curve and not curve.problem else ("", "", "")
        rows.append([part, value, *(share(right) or {}).values(), *ends, curve.problem if curve else ""])
    return Table(columns, rows)


def _sentence(axis: Axis, part: str, found: Found) -> str:
    """How accuracy and threshold change from the smallest value to the largest."""
    values = [value for own, value in found if own == part]
    few, many = (found[part, value][0] for value in (values[0], values[-1]))
    change = many.mean() - few.mean()
    half = 1.96 * float(np.hypot(few.std() / np.sqrt(len(few)), many.std() / np.sqrt(len(many))))
    ends = [f"{right.mean():.3f} at {axis.name}={v}" for v, right in ((values[0], few), (values[-1], many))]
    steps = [
        f"{value}: {own.curve.problem or own.threshold()}"
        for value in values
        if (own := found[part, value][1])
    ]
    return (
        f"{part}: {', '.join(ends)}; change {change:+.3f} ({change - half:+.3f} to {change + half:+.3f}). "
        f"Threshold of the margin at {'; '.join(steps)}"
    )


def _draw(axis: Axis, found: Found, path: Path) -> None:
    """Accuracy and threshold against the axis, a line for each part of the questions."""
    parts, values = _parts(found), list(axis.values)
    looks = looks_of(parts)
    figure = plots.new_figure(8.4, 3.6)
    above, below = figure.subplots(1, 2)
    handles = {}
    for part in parts:
        own = [value for value in values if (part, value) in found]
        look = looks[part]
        right = [found[part, value][0] for value in own]
        handles[part] = draw_shares(above, own, right, look)
        above.plot(own, [each.mean() for each in right], color=look.colour, linewidth=1.5)
        for value in own:
            if threshold := found[part, value][1]:
                _draw_threshold(below, value, threshold, look)
    for axes, title in ((above, "accuracy"), (below, "threshold: metres of margin")):
        axes.set_xscale("log")
        axes.set_xlim(values[0] / 1.2, values[-1] * 1.2)
        plots.set_log_ticks(axes.xaxis, values, plots.short_number)
        plots.style_axes(axes)
        axes.set_xlabel(AXES[axis.name], color=plots.INK)
        axes.set_title(title, fontsize=10, color=plots.INK, loc="left")
    above.set_ylim(top=1.02)
    above.set_ylim(bottom=min(above.get_ylim()[0], 0.45))
    plots.draw_chance(above)
    margins = [end for _, own in found.values() if own for end in (own.answers.x.min(), own.answers.x.max())]
    below.set(yscale="log", ylim=(min(margins, default=0.5) / 1.15, max(margins, default=8) * 1.15))
    plots.set_log_ticks(below.yaxis, [0.2, 0.5, 1, 2, 5, 10, 20], plots.short_number)
    figure.legend(handles.values(), handles, fontsize=9, frameon=False, loc="outside upper left", ncols=3)
    bounds = "Triangles are bounds: the threshold lies below (down) or above (up) the margins that occur."
    plots.add_footnote(figure, f"95 % intervals. {bounds} Other answers hold none: see over.csv.")
    plots.save_figure(figure, path)


def _draw_threshold(axes: Any, value: int, own: FoundThreshold, look: ModelLook) -> None:
    """Draw a threshold with its interval; or a triangle at the least or greatest margin that bounds it."""
    curve, x = own.curve, own.answers.x
    if not curve.problem:
        y, ends = curve.threshold, np.clip([curve.low, curve.high], x.min(), x.max())
        error = [[y - ends[0]], [ends[1] - y]]
        axes.errorbar([value], [y], error, fmt=look.marker, color=look.colour, markersize=6)
    elif curve.problem.startswith(("always", "never")):
        bound, marker = (x.min(), "v") if curve.problem.startswith("always") else (x.max(), "^")
        axes.plot([value], [bound], marker, color=look.colour, markersize=7, markerfacecolor="white")
