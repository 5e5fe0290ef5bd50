"""The default renderer: a batch rasteriser in C++ (simtown/kernels/processor/raster.hpp).

No OpenGL, no display, no driver; the same pixels on every machine.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from simtown import kernels
from simtown.assets.atlas import atlas
from simtown.render.frames import Frames, check_size
from simtown.render.instances import instances
from simtown.render.light import lights
from simtown.render.mesh_tables import town
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch, check_scenes

#: Bits of a sample that hold the number of a triangle, and levels of cloud, which have the last numbers.
TAG_BITS, SKY_LEVELS = 14, 32
#: Triangles facing the camera that one scene may hold.
MOST_TRIANGLES = (1 << TAG_BITS) - 1 - SKY_LEVELS
#: Pixels of a strip times rows of samples: what is wider is drawn in several strips, so that memory stays
#: bounded (8 bytes each).
STRIP = 1024 * 2049


@lru_cache(maxsize=1)
def _most() -> dict[str, int]:
    """For how much of a mesh a thread needs memory."""
    a = atlas()
    starts = {"vertices": a.vertex_start, "faces": a.triangle_start}
    starts |= {"corners": a.hull_start, "lamps": a.lamp_start}
    most = {f"most_{name}": int(np.diff(start).max()) for name, start in starts.items()}
    return most | {"most_ground": int(np.diff(a.triangle_start)[a.ground])}


def scenes_of(batch: SceneBatch, width: int, height: int) -> dict[str, Any]:
    """The scenes of a batch as the kernels take them."""
    meshes, poses, styles, ids, paints = instances(batch)
    things = {"meshes": meshes, "poses": poses, "styles": styles, "ids": ids, "paints": paints}
    light = lights(batch.weather, batch.intensity, batch.sun)
    fall_seeds = np.ascontiguousarray(batch.fall_seed, dtype=np.uint32)
    seen = {"views": views(batch.camera, width, height), "lights": light, "fall_seeds": fall_seeds}
    return seen | things


class TooManyTrianglesError(ValueError):
    """A scene of a batch faces the camera with more triangles than can be told apart."""

    def __init__(self, scene: int) -> None:
        limit = f"shows more than {MOST_TRIANGLES} triangles"
        super().__init__(f"scene {scene} of the batch {limit}: take things out of it")


class Raster:
    """Draws batches of scenes with the processor; several threads may call it at once."""

    def render(self, batch: SceneBatch, width: int, height: int, geometry: bool = True) -> Frames:
        """Pictures, and with `geometry` depth and instance ids, of every scene of a batch, at one size.

        Raises:
            TooManyTrianglesError: a scene has more triangles in sight than a sample can number.
            ValueError: the pictures are too small or too large, or a scene's numbers stand for nothing.
        """
        check_size(width, height)
        check_scenes(batch)
        frames = Frames.empty(len(batch), width, height, geometry)
        drawn = {"rgb": frames.rgb, "depth": frames.depth, "ids_out": frames.ids}
        part = {"first": 0, "last": len(batch), "strip": max(min(width, STRIP // (2 * height + 1)), 1)}
        scenes = scenes_of(batch, width, height)
        failed = kernels.call("draw", **town(), **_most(), **scenes, **drawn, **part)
        if failed >= 0:
            raise TooManyTrianglesError(failed)
        return frames
