"""The engines that the benchmark compares, and the scenes that they draw."""

from collections.abc import Callable, Iterator

import numpy as np

from simtown.assets.frequencies import frequencies
from simtown.language.asking.paper import Recipe, sample
from simtown.render.cuda.engine import CardFrames, Cuda
from simtown.render.frames import LARGEST_ON_CARD, CardError
from simtown.render.raster import Raster
from simtown.scenes.scene import SceneBatch

#: The most different scenes; larger batches repeat them.
DISTINCT = 4096
#: The most pixels of pictures that are kept on the card at once; more are drawn over them.
KEPT = 8192 * 128 * 128
#: Draws colour, depth and ids of all scenes, and returns when they are finished.
Engine = Callable[[SceneBatch], object]


def the_scenes(n: int) -> SceneBatch:
    """n scenes of the default world, with pairs among 60 kinds of vehicles; the first DISTINCT differ."""
    subject, obj = frequencies("vg", 60)
    scenes = sample(Recipe(0, "train", subject, obj), np.arange(min(n, DISTINCT))).scene
    return scenes[np.arange(n) % len(scenes)]


def _raster(size: int) -> Engine:
    """The rasteriser on one processor, as many scenes at once as a data set's writer draws."""
    raster, most = Raster(), max(1, 8_000_000 // size**2)
    return lambda scenes: [raster.render(part, size, size) for part in _parts(scenes, most)]


def _cuda(size: int, back: bool = False) -> Engine:
    """The rasteriser on a card, its pictures left there or read back."""
    if size > LARGEST_ON_CARD:
        raise CardError(f"a card draws pictures of up to {LARGEST_ON_CARD} pixels each side")
    cuda = Cuda()
    blank: dict[int, CardFrames] = {}  # by how many pictures

    def draw(scenes: SceneBatch) -> None:
        for part in _parts(scenes, max(1, KEPT // size**2)):
            if back:
                cuda.render(part, size, size)
                continue
            if len(part) not in blank:
                blank[len(part)] = cuda.empty(len(part), size, size)
            frames = blank[len(part)]
            cuda.draw_into(part, frames.rgb, frames.depth, frames.ids)
        cuda.finish()

    return draw


def _opengl(size: int) -> Engine:
    """simtown's second renderer: pyrender on OpenGL."""
    from simtown.render.opengl import OpenGL

    renderer = OpenGL()
    return lambda scenes: renderer.render(scenes, size, size)


#: What makes each engine for a picture size; raises one of :data:`ABSENT` if the engine cannot be used.
ENGINES: dict[str, Callable[[int], Engine]] = {
    "raster cpu": _raster,
    "raster cuda": _cuda,
    "raster cuda, read back": lambda size: _cuda(size, back=True),
    "opengl": _opengl,
}
#: The errors of an engine that is not installed or finds no card.
ABSENT = (ImportError, CardError)


def engines_of(device: str) -> dict[str, Callable[[int], Engine]]:
    """The engines that draw on "cpu" or "cuda", or, for "auto", all of them."""
    return {e: make for e, make in ENGINES.items() if device in ("auto", "cuda" if "cuda" in e else "cpu")}


def _parts(scenes: SceneBatch, most: int) -> Iterator[SceneBatch]:
    return (scenes[start : start + most] for start in range(0, len(scenes), most))
