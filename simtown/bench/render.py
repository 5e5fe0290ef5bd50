"""Frames a second of every installed engine, by picture size and by the number of scenes drawn at once.

A number is the median over repeats after a warm-up. The clock is read when an engine has finished; a card is
waited for. Engines take turns within a size, so that a slow minute of the machine affects all of them alike.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

import numpy as np

from simtown.assets.atlas import atlas
from simtown.bench.engines import ABSENT, Engine, engines_of, the_scenes
from simtown.core.files import replacing, save_text
from simtown.core.tables import Table
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
        stages: share of each stage, in words.
        megabytes: of memory in use, of the card for an engine on it.
    """

    engine: str
    size: int
    scenes: int
    fps: float
    fps_low: float
    fps_high: float
    triangles_per_second: float
    milliseconds: float
    stages: str
    megabytes: int


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
        engines: list[Engine] = []
        for name, make in engines_of(device).items():
            try:
                engines.append(make(size))
            except ABSENT as error:
                if name not in missing:
                    report(f"without {name}: {' '.join(str(error).split())[:160]}")
                missing.add(name)
        rows = []
        slow: dict[str, float] = {}
        for count in sorted(counts):
            quick_enough = [e for e in engines if slow.get(e.name, 0.0) * count < PATIENCE]
            rows += _rows(quick_enough, scenes[np.arange(count)], size, repeats, slow)
            progress(1)
        yield rows


def _rows(
    engines: list[Engine], scenes: SceneBatch, size: int, repeats: int, slow: dict[str, float]
) -> list[EngineTiming]:
    """The timing of each engine on one batch; `slow` receives each engine's seconds a frame."""
    n = len(scenes)
    triangles = np.append(np.diff(atlas().triangle_start), 0)[instances(scenes)[0]].sum() / n
    seconds: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for turn in range(repeats + 1):  # the first warms up
        for engine in engines:
            if turn == 1:
                engine.stages.clear()
            elapsed = engine.draw(scenes)
            if turn:
                seconds[engine.name].append(elapsed)
    rows = []
    for engine in engines:
        times = sorted(seconds[engine.name])
        middle = median(times)
        slow[engine.name] = middle / n
        row = EngineTiming(
            engine=engine.name,
            size=size,
            scenes=n,
            fps=round(n / middle, 1),
            fps_low=round(n / times[-1], 1),
            fps_high=round(n / times[0], 1),
            triangles_per_second=round(n / middle * triangles),
            milliseconds=round(1e3 * middle / n, 5),
            stages=_shares(engine.stages),
            megabytes=engine.memory() >> 20,
        )
        rows.append(row)
    return rows


def _shares(stages: dict[str, float]) -> str:
    """ "draw 80% copy back 20%"."""
    total = sum(stages.values())
    return " ".join(f"{name} {seconds / total:.0%}" for name, seconds in stages.items()) if total else ""


def machine(device: str) -> str:
    """Processor, card if one may be used, and versions, in one line."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    cpu = next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
    facts = [f"{cpu}, {os.cpu_count()} cores", f"{platform.system()}, Python {platform.python_version()}"]
    if device != "cpu":
        from simtown.render.cuda.card import Card

        facts.insert(0, Card().name)
    for name in ("simtown", "numpy", "numba", "cuda-core", "pyrender", "pybullet"):
        try:
            facts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(facts)


def save(rows: list[EngineTiming], where: str, path: Path) -> None:
    """A CSV file, whole or not at all, whose first line is a comment that names the machine."""
    table = Table([field.name for field in fields(EngineTiming)], [astuple(row) for row in rows])
    save_text(path, f"# {where}\n{table.csv()}")


def plot(rows: list[EngineTiming], where: str, path: Path) -> None:
    """A figure of frames/s by picture size, each with the largest batch, and by batch at the first size."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
    first = rows[0].size
    for name in dict.fromkeys(row.engine for row in rows):
        own = [row for row in rows if row.engine == name]
        most = {
            size: max((r for r in own if r.size == size), key=lambda r: r.scenes)
            for size in sorted({r.size for r in own})
        }
        batches = sorted((r for r in own if r.size == first), key=lambda r: r.scenes)
        for axes, points, at in ((left, list(most.values()), "size"), (right, batches, "scenes")):
            spread = [[r.fps - r.fps_low for r in points], [r.fps_high - r.fps for r in points]]
            style = {"marker": "o", "markersize": 4, "capsize": 2, "label": name}
            axes.errorbar([getattr(r, at) for r in points], [r.fps for r in points], yerr=spread, **style)
    for axes, label, ticks in (
        (left, "picture, pixels each way", sorted({r.size for r in rows})),
        (right, f"scenes drawn at once, at {first} x {first}", sorted({r.scenes for r in rows})),
    ):
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.grid(alpha=0.3)
    left.set_ylabel("frames/s: colour, depth and ids")
    right.legend(frameon=False, loc="best")
    figure.suptitle(where, fontsize=7)
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=130)
    pyplot.close(figure)
