"""Frames a second of every engine that is installed, by picture size and by how many scenes are drawn at once.

A figure is the median over repeats after a warm-up; an engine has finished when its clock is read (a card is waited for). Engines
take turns within a size, so that a slow minute of the machine hits all alike.
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
from simtown.bench.engines import ABSENT, Engine, makers
from simtown.files import replacing, save_text
from simtown.language.sampler import Recipe, sample
from simtown.quoting import csv_text
from simtown.render.instances import instances
from simtown.scenes.scene import SceneBatch
from simtown.visualgenome.frequencies import frequencies

#: Different scenes at most; larger batches hold them several times.
DISTINCT = 4096
#: Seconds that one drawing of a batch may take: larger batches are left out for that engine.
PATIENCE = 20.0


@dataclass(frozen=True)
class Row:
    """One engine at one size with one batch.

    Attributes:
        engine: its name.
        size: pixels, both ways.
        scenes: drawn at once.
        fps, fps_low, fps_high: median, least and most frames/s.
        triangles_per_second: of the scenes, whether they face the camera or not.
        milliseconds: a frame.
        stages: share of each stage.
        megabytes: of memory in use (of the card for an engine on it).
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


def the_scenes(n: int, seed: int = 0) -> SceneBatch:
    """n scenes of the default world: pairs among 60 vehicles, all weathers; the first DISTINCT differ."""
    subject, obj = frequencies("vg", 60)
    some = sample(Recipe(seed, "train", subject, obj), np.arange(min(n, DISTINCT))).scene
    return some[np.arange(n) % len(some)]


def measure(
    device: str, sizes: list[int], counts: list[int], repeats: int, absent: Callable[[str], None], stepped: Callable[[], None]
) -> Iterator[list[Row]]:
    """The rows of every size. `absent` is told, once each, of engines that are not here; `stepped` is called after every batch."""
    whole = the_scenes(max(counts))
    missing: set[str] = set()
    for size in sizes:
        engines: list[Engine] = []
        for name, make in makers(device):
            try:
                engines.append(make(size))
            except ABSENT as error:
                if name not in missing:
                    absent(f"without {name}: {' '.join(str(error).split())[:160]}")
                missing.add(name)
        rows = []
        slow: dict[str, float] = {}
        for count in sorted(counts):
            here = [e for e in engines if slow.get(e.name, 0.0) * count < PATIENCE]
            rows += _rows(here, whole[np.arange(count)], size, repeats, slow)
            stepped()
        yield rows


def _rows(engines: list[Engine], scenes: SceneBatch, size: int, repeats: int, slow: dict[str, float]) -> list[Row]:
    """A row for each engine on one batch; `slow` is told its seconds a frame."""
    n, triangles = len(scenes), np.append(np.diff(atlas().triangle_start), 0)[instances(scenes)[0]].sum() / len(scenes)
    seconds: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for turn in range(repeats + 1):  # the first warms up
        for engine in engines:
            if turn == 1:
                engine.stages.clear()
            took = engine.draw(scenes)
            if turn:
                seconds[engine.name].append(took)
    rows = []
    for engine in engines:
        times = sorted(seconds[engine.name])
        fps = n / median(times)
        slow[engine.name] = 1 / fps
        rows.append(Row(engine.name, size, n, round(fps, 1), round(n / times[-1], 1), round(n / times[0], 1), round(fps * triangles),
                        round(1e3 / fps, 5), _shares(engine.stages), engine.memory() >> 20))  # fmt: skip
    return rows


def _shares(stages: dict[str, float]) -> str:
    """ "draw 80% copy back 20%"."""
    total = sum(stages.values())
    return " ".join(f"{name} {seconds / total:.0%}" for name, seconds in stages.items()) if total else ""


def machine(device: str) -> str:
    """Processor, card if one may be used, and versions, in one line."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    told = [f"{cpu}, {os.cpu_count()} cores", f"{platform.system()}, Python {platform.python_version()}"]
    if device != "cpu":
        from simtown.render.cuda.card import CudaCard

        told.insert(0, CudaCard().name)
    for name in ("simtown", "numpy", "numba", "cuda-core", "pyrender", "pybullet"):
        try:
            told.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(told)


def save(rows: list[Row], where: str, path: Path) -> None:
    """A CSV file, whole or not at all, whose first line is a comment that names the machine."""
    save_text(path, f"# {where}\n{csv_text([[f.name for f in fields(Row)], *(astuple(row) for row in rows)])}")


def plot(rows: list[Row], where: str, path: Path) -> None:
    """Frames/s against the picture's size, with the largest batch of each engine, and against the batch, at the first size."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
    first = rows[0].size
    for name in dict.fromkeys(row.engine for row in rows):
        own = [row for row in rows if row.engine == name]
        most = {size: max((r for r in own if r.size == size), key=lambda r: r.scenes) for size in sorted({r.size for r in own})}
        batches = sorted((r for r in own if r.size == first), key=lambda r: r.scenes)
        for axes, points, at in ((left, list(most.values()), "size"), (right, batches, "scenes")):
            middle = [r.fps for r in points]
            spread = [
                [m - r.fps_low for m, r in zip(middle, points, strict=True)],
                [r.fps_high - m for m, r in zip(middle, points, strict=True)],
            ]
            axes.errorbar([getattr(r, at) for r in points], middle, yerr=spread, marker="o", markersize=4, capsize=2, label=name)
    for axes, label, ticks in ((left, "picture, pixels each way", sorted({r.size for r in rows})),
                               (right, f"scenes drawn at once, at {first} x {first}", sorted({r.scenes for r in rows}))):  # fmt: skip
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
