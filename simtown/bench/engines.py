"""The engines that the benchmark compares, each with its own clock, and the scenes that they draw."""

from __future__ import annotations

import resource
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Protocol

import numpy as np

from simtown.assets.frequencies import frequencies
from simtown.bench.tiny import Tiny
from simtown.language.sampler import Recipe, sample
from simtown.render.cuda.engine import CardFrames, Cuda
from simtown.render.frames import LARGEST_ON_CARD, CardError
from simtown.render.instances import instances
from simtown.render.light import lights
from simtown.render.raster import Raster
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch

#: The most different scenes; larger batches repeat them.
DISTINCT = 4096
#: The most pixels of pictures that are kept on the card at once; more are drawn over them.
KEPT = 8192 * 128 * 128


def the_scenes(n: int, seed: int = 0) -> SceneBatch:
    """n scenes of the default world, with pairs among 60 kinds of vehicles; the first DISTINCT differ."""
    subject, obj = frequencies("vg", 60)
    scenes = sample(Recipe(seed, "train", subject, obj), np.arange(min(n, DISTINCT))).scene
    return scenes[np.arange(n) % len(scenes)]


class Engine(Protocol):
    """Draws scenes at one picture size.

    Attributes:
        name: in the table of results.
        stages: seconds of each stage, summed since they were last cleared.
    """

    name: str
    stages: dict[str, float]

    def draw(self, scenes: SceneBatch) -> float:
        """Draw colour, depth and ids of all scenes; returns the seconds until they are finished."""
        ...

    def memory(self) -> int:
        """Bytes in use, of the card for an engine on it, otherwise of the process."""
        ...


class ProcessorEngine:
    """An engine without a card, which uses the process's memory and measures no stages.

    Args:
        name: in the table of results.
        draw: draws all scenes.
    """

    def __init__(self, name: str, draw: Callable[[SceneBatch], object]) -> None:
        self.name, self._draw = name, draw
        self.stages: dict[str, float] = {}

    def draw(self, scenes: SceneBatch) -> float:
        start = perf_counter()
        self._draw(scenes)
        return perf_counter() - start

    def memory(self) -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class RasterEngine(ProcessorEngine):
    """The rasteriser on one processor."""

    def __init__(self, size: int) -> None:
        raster = Raster()
        most = max(1, 8_000_000 // size**2)  # as many scenes as a data set's writer draws at once
        self._parts = partial(_pieces, most=most)
        self._size = size
        super().__init__(
            "raster cpu",
            lambda scenes: [raster.render(part, size, size) for part in self._parts(scenes)],
        )

    def draw(self, scenes: SceneBatch) -> float:
        whole = super().draw(scenes)
        start = perf_counter()
        for part in self._parts(scenes):  # what comes before the kernels, once more by itself
            views(part.camera, self._size, self._size)
            lights(part.weather, part.intensity, part.sun)
            instances(part)
        prepared = min(perf_counter() - start, whole)
        _add(self.stages, {"prepare": prepared, "draw": whole - prepared})
        return whole


class CudaEngine:
    """The rasteriser on a card, its pictures left there or read back."""

    def __init__(self, size: int, back: bool) -> None:
        if size > LARGEST_ON_CARD:
            raise CardError(f"a card draws pictures of up to {LARGEST_ON_CARD} pixels each side")
        self.name = "raster cuda, read back" if back else "raster cuda"
        self.stages: dict[str, float] = {}
        self._cuda, self._size, self._back = Cuda(), size, back
        self._frames: dict[int, CardFrames] = {}  # by how many pictures

    def draw(self, scenes: SceneBatch) -> float:
        parts = _pieces(scenes, max(1, KEPT // self._size**2))
        start = perf_counter()
        for part in parts:
            self._draw(part)
        self._cuda.finish()
        whole = perf_counter() - start
        with self._cuda.timing() as seconds:  # once more, because events between stages take time themselves
            self._draw(parts[0])
        _add(self.stages, seconds)
        return whole

    def _draw(self, scenes: SceneBatch) -> None:
        if self._back:
            self._cuda.render(scenes, self._size, self._size)
            return
        if len(scenes) not in self._frames:
            self._frames[len(scenes)] = self._cuda.blank(len(scenes), self._size, self._size)
        frames = self._frames[len(scenes)]
        self._cuda.draw_into(scenes, frames.rgb, frames.depth, frames.ids)

    def memory(self) -> int:
        arrays = (array for frames in self._frames.values() for array in vars(frames).values())
        return self._cuda.memory() + sum(array.nbytes for array in arrays)


def _opengl(size: int) -> Engine:
    """simtown's second renderer: pyrender on OpenGL."""
    from simtown.render.opengl import OpenGL

    renderer = OpenGL()
    return ProcessorEngine("opengl", lambda scenes: renderer.render(scenes, size, size))


def _pybullet(size: int) -> Engine:
    """pybullet's TinyRenderer: one sample a pixel, a shadow, no weather; 48 scenes again and again."""
    tiny = Tiny(the_scenes(48), size)
    return ProcessorEngine("pybullet", lambda scenes: tiny.draw(0, len(scenes)))


#: What makes each engine for a picture size; raises one of :data:`ABSENT` if the engine cannot be used.
ENGINES: dict[str, Callable[[int], Engine]] = {
    "raster cpu": RasterEngine,
    "raster cuda": lambda size: CudaEngine(size, back=False),
    "raster cuda, read back": lambda size: CudaEngine(size, back=True),
    "opengl": _opengl,
    "pybullet": _pybullet,
}
#: The errors of an engine that is not installed or finds no card.
ABSENT = (ImportError, CardError)


def engines_of(device: str) -> dict[str, Callable[[int], Engine]]:
    """The engines that draw on "cpu" or "cuda", or, for "auto", all of them."""
    return {
        name: make
        for name, make in ENGINES.items()
        if device == "auto" or name.startswith("raster cuda") == (device == "cuda")
    }


def _pieces(scenes: SceneBatch, most: int) -> list[SceneBatch]:
    return [scenes[start : start + most] for start in range(0, len(scenes), most)]


def _add(total: dict[str, float], more: dict[str, float]) -> None:
    for name, seconds in more.items():
        total[name] = total.get(name, 0.0) + seconds
