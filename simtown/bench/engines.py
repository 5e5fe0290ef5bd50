"""Engines as the benchmark drives them: all that is installed, each with its own clock for the stages of its work."""

from __future__ import annotations

import resource
from collections.abc import Callable
from time import perf_counter
from typing import Protocol

import numpy as np

from simtown.bench.tiny import Tiny
from simtown.render.engines import CardError
from simtown.render.frames import Frames
from simtown.render.instances import instances
from simtown.render.light import lights
from simtown.render.raster import Raster
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch

#: Pictures that are kept on the card at once, at most; more are drawn over them.
KEPT = 8192


class Engine(Protocol):
    """Something that draws scenes at one size and is done when it returns.

    Attributes:
        name: as the table tells it.
        stages: seconds of each stage, added up since they were last cleared.
    """

    name: str
    stages: dict[str, float]

    def draw(self, scenes: SceneBatch) -> float:
        """Draw all scenes: colour, depth and ids. Seconds it took."""
        ...

    def memory(self) -> int:
        """Bytes in use: of the card for an engine on it, of the process otherwise."""
        ...


class _OnProcessor:
    """What engines share whose memory is the process's, and that tell no stages."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}

    def memory(self) -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class RasterEngine(_OnProcessor):
    """The rasteriser on one processor."""

    name = "raster cpu"

    def __init__(self, size: int) -> None:
        super().__init__()
        self._raster, self._size = Raster(), size

    def draw(self, scenes: SceneBatch) -> float:
        parts = _pieces(scenes, max(1, 8_000_000 // self._size**2))  # as a data set's writer asks for them
        begun = perf_counter()
        for part in parts:
            self._raster.render(part, self._size, self._size)
        whole = perf_counter() - begun
        begun = perf_counter()
        for part in parts:  # once more, apart: what comes before the kernels
            views(part.camera, self._size, self._size), lights(part.weather, part.intensity, part.sun), instances(part)
        prepared = min(perf_counter() - begun, whole)
        _add(self.stages, {"prepare": prepared, "draw": whole - prepared})
        return whole


class CudaEngine:
    """The rasteriser on a card, its pictures left there or read back."""

    def __init__(self, size: int, back: bool) -> None:
        from numba import cuda

        from simtown.render.cuda.engine import Cuda

        self.name = "raster cuda, read back" if back else "raster cuda"
        self.stages: dict[str, float] = {}
        self._cuda, self._size, self._back, self._kept = Cuda(), size, back, KEPT
        self._there: list[np.ndarray] = []
        self._module = cuda

    def draw(self, scenes: SceneBatch) -> float:
        self._cuda.events = []
        begun = perf_counter()
        for part in _pieces(scenes, self._kept):
            if self._back:
                self._cuda.render(part, self._size, self._size)
            else:
                self._cuda.draw_into(part, *(a[: len(part)] for a in self._room(len(part))))
        whole = perf_counter() - begun
        told: dict[str, float] = {}
        for stage, before, after in self._cuda.events:
            _add(told, {stage: before.elapsed_time(after) / 1e3})
        _add(self.stages, {**told, "host alone": max(whole - sum(told.values()), 0.0)})
        return whole

    def _room(self, n: int) -> list[np.ndarray]:
        """Arrays on the card for at least n pictures."""
        if not self._there or len(self._there[0]) < n:
            self._there = []
            blank = Frames.blank(0, self._size, self._size)
            whole = ((n, *a.shape[1:]) for a in (blank.rgb, blank.depth, blank.ids))
            self._there = [
                self._module.device_array(shape, a.dtype) for shape, a in zip(whole, (blank.rgb, blank.depth, blank.ids), strict=True)
            ]
        return self._there

    def memory(self) -> int:
        return self._cuda.memory() + sum(a.size * a.dtype.itemsize for a in self._there)


class OpenGLEngine(_OnProcessor):
    """simtown's second renderer: pyrender on OpenGL."""

    name = "opengl"

    def __init__(self, size: int) -> None:
        super().__init__()
        from simtown.render.opengl import OpenGL

        self._renderer, self._size = OpenGL(), size

    def draw(self, scenes: SceneBatch) -> float:
        begun = perf_counter()
        self._renderer.render(scenes, self._size, self._size)
        return perf_counter() - begun


class TinyEngine(_OnProcessor):
    """pybullet's TinyRenderer: one sample a pixel and a shadow, no weather. Only the first 48 scenes, again and again."""

    name = "pybullet"

    def __init__(self, size: int) -> None:
        super().__init__()
        import pybullet  # noqa: F401  (is it there?)

        self._size = size
        self._tiny: Tiny | None = None

    def draw(self, scenes: SceneBatch) -> float:
        if self._tiny is None:
            self._tiny = Tiny(scenes, self._size)
        begun = perf_counter()
        self._tiny.draw(0, len(scenes))
        return perf_counter() - begun


def makers(device: str) -> list[tuple[str, Callable[[int], Engine]]]:
    """Every engine of "cpu", "cuda" or, for "auto", both: its name and what makes it for a picture size."""
    on_card: list[tuple[str, Callable[[int], Engine]]] = [
        ("raster cuda", lambda size: CudaEngine(size, back=False)),
        ("raster cuda, read back", lambda size: CudaEngine(size, back=True)),
    ]
    here: list[tuple[str, Callable[[int], Engine]]] = [("raster cpu", RasterEngine), ("opengl", OpenGLEngine), ("pybullet", TinyEngine)]
    return {"cpu": here, "cuda": on_card, "auto": here[:1] + on_card + here[1:]}[device]


#: What an engine that is not installed or finds no card raises.
ABSENT = (ImportError, CardError)


def _pieces(scenes: SceneBatch, most: int) -> list[SceneBatch]:
    return [scenes[start : start + most] for start in range(0, len(scenes), most)] if len(scenes) > most else [scenes]


def _add(total: dict[str, float], more: dict[str, float]) -> None:
    for name, seconds in more.items():
        total[name] = total.get(name, 0.0) + seconds
