"""Frames a second of every installed engine, by picture size and by the number of scenes drawn at once.

A number is the median over repeats after a warm-up. The clock is read when an engine has finished; a card is
waited for. Engines take turns within a size, so that a slow minute of the machine affects all of them alike.
"""

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from simtown.assets.atlas import atlas
from simtown.bench.engines import ABSENT, Engine, engines_of, the_scenes
from simtown.core.files import save_text
from simtown.core.plots import PALETTE, add_footnote, new_figure, save_figure, set_log_ticks, style_axes
from simtown.core.tables import Table
from simtown.core.version import versions
from simtown.render.instances import instances
from simtown.scenes.scene import SceneBatch

#: Seconds that an engine may take for a batch; it draws no larger ones.
PATIENCE = 20.0


@dataclass(frozen=True)
class EngineTiming:
    """The speed of one engine at one picture size with one batch.

    Attributes:
        engine: its name.
        size: of the pictures, pixels each side.
        scenes: drawn at once.
        fps: median of frames/s.
        fps_low: least of frames/s.
        fps_high: most of frames/s.
        triangles_per_second: of the scenes, whether they face the camera or not.
        milliseconds: for a frame.
    """

    engine: str
    size: int
    scenes: int
    fps: float
    fps_low: float
    fps_high: float
    triangles_per_second: float
    milliseconds: float


def measure(
    device: str,
    sizes: list[int],
    counts: list[int],
    repeats: int,
    report: Callable[[str], None],
    progress: Callable[[int], object],
) -> Iterator[list[EngineTiming]]:
    """The timings of every picture size.

    Args:
        device: "cpu", "cuda" or "auto" for both.
        sizes: of the pictures, pixels each side.
        counts: scenes drawn at once.
        repeats: timed drawings of each batch.
        report: receives one line for every engine that cannot be used.
        progress: receives the number of newly finished batches.
    """
    scenes = the_scenes(max(counts))
    missing: set[str] = set()
    for size in sizes:
        engines: dict[str, Engine] = {}
        for name, make in engines_of(device).items():
            try:
                engines[name] = make(size)
            except ABSENT as error:
                if name not in missing:
                    report(f"without {name}: {' '.join(str(error).split())[:160]}")
                missing.add(name)
        rows: list[EngineTiming] = []
        for count in sorted(counts):
            slow = {row.engine for row in rows if row.milliseconds * count > 1e3 * PATIENCE}
            quick = {name: engine for name, engine in engines.items() if name not in slow}
            rows += _rows(quick, scenes[np.arange(count)], size, repeats)
            progress(1)
        yield rows


def _rows(engines: dict[str, Engine], scenes: SceneBatch, size: int, repeats: int) -> Iterator[EngineTiming]:
    """The timing of each engine on one batch."""
    n = len(scenes)
    triangles = np.append(np.diff(atlas().triangle_start), 0)[instances(scenes)[0]].sum() / n
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    for turn in range(repeats + 1):  # the first warms up
        for name, draw in engines.items():
            start = perf_counter()
            draw(scenes)
            if turn:
                seconds[name].append(perf_counter() - start)
    for name, times in seconds.items():
        middle = median(times)
        fps, low, high = (round(n / each, 1) for each in (middle, max(times), min(times)))
        rate, milliseconds = round(n / middle * triangles), round(1e3 * middle / n, 5)
        yield EngineTiming(name, size, n, fps, low, high, rate, milliseconds)


def machine(device: str) -> str:
    """Processor, card if one may be used, and versions, in one line."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    facts = [f"{(models or [platform.processor()])[0]}, {os.cpu_count()} cores", platform.system()]
    if device != "cpu":
        from simtown.render.cuda.card import Card

        facts.insert(0, Card().name)
    libraries = versions("simtown", "numpy", "cuda-core", "pyrender")
    known = [f"{name} {version}" for name, version in libraries.items() if version != "unknown"]
    return ", ".join([*facts, f"Python {platform.python_version()}", *known])


def save(rows: list[EngineTiming], where: str, path: Path) -> None:
    """A CSV file, whole or not at all, whose first line is a comment that names the machine."""
    table = Table([field.name for field in fields(EngineTiming)], [astuple(row) for row in rows])
    save_text(path, f"# {where}\n{table.csv()}")


def plot(rows: list[EngineTiming], where: str, path: Path) -> None:
    """A figure of frames/s by picture size, each with the largest batch, and by batch at the first size."""
    figure = new_figure(11, 4.6)
    left, right = figure.subplots(1, 2, sharey=True)
    first = rows[0].size
    for name, colour in zip(dict.fromkeys(row.engine for row in rows), cycle(PALETTE), strict=False):
        own = sorted((row for row in rows if row.engine == name), key=lambda row: row.scenes)
        most = {row.size: row for row in own}
        batches = [row for row in own if row.size == first]
        for axes, points, at in ((left, list(most.values()), "size"), (right, batches, "scenes")):
            points.sort(key=lambda row: getattr(row, at))
            spread = [[row.fps - row.fps_low for row in points], [row.fps_high - row.fps for row in points]]
            x, y = [getattr(row, at) for row in points], [row.fps for row in points]
            look = {"color": colour, "marker": "o", "markersize": 4, "capsize": 2, "label": name}
            axes.errorbar(x, y, yerr=spread, **look)
    at_once = f"scenes drawn at once, at {first} x {first}"
    kinds = (left, "picture, pixels each way", "size"), (right, at_once, "scenes")
    for axes, label, at in kinds:
        style_axes(axes)
        axes.set(xscale="log", yscale="log", xlabel=label)
        set_log_ticks(axes.xaxis, sorted({getattr(row, at) for row in rows}), lambda tick, _: f"{tick:,.0f}")
    left.set_ylabel("frames/s: colour, depth and ids")
    right.legend(frameon=False, loc="best")
    add_footnote(figure, where)
    save_figure(figure, path)
