"""Draw accuracy and threshold of several models against the size of the world, and their table.

    python benchmarks/over_figure.py FIGURE.png PBN=over-pbn/over.csv CNN-LSTM=over-cnn-lstm/over.csv ...

Each CSV is what `simtown evaluate MODEL --over entities=...` wrote. Writes benchmarks/results/over.csv, too.
"""

import csv
import sys
from pathlib import Path

from machine import RESULTS

from simtown.complexity.model_looks import MARKERS, looks_of
from simtown.core import plots

_NUMBERS = ("accuracy", "low", "high", "threshold", "threshold low", "threshold high")


def main() -> None:
    out, *given = sys.argv[1:]
    tables = {}
    for argument in given:
        name, _, place = argument.partition("=")
        with open(place, encoding="utf-8") as file:
            tables[name] = list(csv.DictReader(file))
    axis = next(name for name in ("entities", "size", "vehicles") if name in tables[next(iter(tables))][0])
    with open(RESULTS / "over.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["model", *tables[next(iter(tables))][0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows({"model": name, **row} for name, rows in tables.items() for row in rows)
    figure = plots.new_figure(8.4, 3.6)
    above, below = figure.subplots(1, 2)
    looks, every = looks_of(list(tables)), sorted({int(row[axis]) for t in tables.values() for row in t})
    handles = {}
    for place, (name, rows) in enumerate(tables.items()):
        look, shift = looks[name], 1.02 ** (place - (len(tables) - 1) / 2)
        x = [shift * int(row[axis]) for row in rows]
        of = {column: [float(row[column] or "nan") for row in rows] for column in _NUMBERS}
        for axes, kind in ((above, "accuracy"), (below, "threshold")):
            low, high = ("low", "high") if axes is above else ("threshold low", "threshold high")
            error = [
                [value - max(end, 0.3) for value, end in zip(of[kind], of[low], strict=True)],
                [end - value for value, end in zip(of[kind], of[high], strict=True)],
            ]
            style = {"color": look.colour, "marker": MARKERS[place], "markersize": 5, "linewidth": 1.5}
            handles[look.name] = axes.errorbar(x, of[kind], error, elinewidth=1, **style)
        bounds = [at for at, row in zip(x, rows, strict=True) if row["why"].startswith("always")]
        below.plot(bounds, [0.5] * len(bounds), "v", color=look.colour, markersize=7, markerfacecolor="white")
    for axes, title in ((above, "accuracy"), (below, "threshold: metres of margin")):
        axes.set_xscale("log")
        plots.set_log_ticks(axes.xaxis, every, plots.short_number)
        plots.style_axes(axes)
        axes.set_xlabel("kinds of vehicles in the world" if axis == "entities" else axis, color=plots.INK)
        axes.set_title(title, fontsize=10, color=plots.INK, loc="left")
    above.set_ylim(0.45, 1.02)
    plots.draw_chance(above)
    below.set(yscale="log", ylim=(0.3, 8))
    plots.set_log_ticks(below.yaxis, [0.5, 1, 2, 5], plots.short_number)
    figure.legend(handles.values(), handles, fontsize=9, frameon=False, loc="outside upper left", ncols=4)
    plots.add_footnote(
        figure, "95 % intervals. A triangle: above the threshold at every margin that occurs, 0.5 m and more."
    )
    plots.save_figure(figure, Path(out))


if __name__ == "__main__":
    main()
