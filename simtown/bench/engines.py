"""Engines as the benchmark drives them: all that is installed, each with its own clock for the stages of its work."""

from __future__ import annotations

import resource
from collections.abc import Callable
from time import perf_counter
from typing import Protocol

from simtown.bench.tiny import Tiny
from simtown.render.cuda.engine import CardFrames, Cuda
from simtown.render.engines import CardError
from simtown.render.frames import LARGEST_ON_CARD
from simtown.render.instances import instances
from simtown.render.light import lights
from simtown.render.raster import Raster
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch

#: Pixels of the pictures that are kept on the card at once, at most; more are drawn over them.
KEPT = 8192 * 128 * 128


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
        if size > LARGEST_ON_CARD:
            raise CardError(f"a card draws pictures of up to {LARGEST_ON_CARD} pixels each side")
        self.name = "raster cuda, read back" if back else "raster cuda"
        self.stages: dict[str, float] = {}
        self._cuda, self._size, self._back = Cuda(), size, back
        self._frames: dict[int, CardFrames] = {}  # by how many pictures

    def draw(self, scenes: SceneBatch) -> float:
        parts = _pieces(scenes, max(1, KEPT // self._size**2))
        begun = perf_counter()
        for part in parts:
            self._draw(part)
        self._cuda.finish()
        whole = perf_counter() - begun
        with self._cuda.timing() as told:  # once more, apart: events between the stages take time of their own
            self._draw(parts[0])
        _add(self.stages, told)
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
        return self._cuda.memory() + sum(array.nbytes for frames in self._frames.values() for array in vars(frames).values())


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
    """Every engine of "cpu", "cuda" or, for "auto", both: its name and what makes it for a picture size. Raises ABSENT."""
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
