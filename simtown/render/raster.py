"""The default renderer: a batch rasteriser in numba.

No OpenGL, no display, no driver; the same pixels on every machine.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from simtown.assets.atlas import Atlas, atlas
from simtown.assets.palette import MATERIALS
from simtown.render import kernels
from simtown.render.fill import MOST_TRIANGLES, RECORD, TAG_BITS
from simtown.render.frames import Frames, check_size
from simtown.render.ground import BITS
from simtown.render.instances import instances
from simtown.render.lanes import LANES
from simtown.render.light import lights
from simtown.render.mesh_tables import bases, girths, tables
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch, check_scenes

#: Pixels of a strip times rows of samples: what is wider is drawn in several strips, so that memory stays
#: bounded (8 bytes each).
STRIP = 1024 * 2049


#: The atlas as numba reads it.
_Meshes = namedtuple(
    "_Meshes",
    "columns vertex_start triangles triangle_start normals materials parts body hull hull_start lamps "
    "lamp_start radius bases girths",
)
#: Working memory of one thread: for the samples of a strip, and for the light and dark on its ground.
_Scratch = namedtuple(
    "_Scratch",
    "samples polygons spots facing records colours means drawn owners planes packed plain flat starts "
    "following active evens odds sums rest cover bottoms mirrored shares wet_blocks",
)
_Dark = namedtuple(
    "_Dark",
    "shadow_rows edges corners grid order outline slopes contact_rows rects pool_rows pools shade "
    "keep levels dark_blocks light_blocks glow",
)


def _scratch(width: int, height: int, most_vertices: int, most_faces: int, most_ground: int) -> _Scratch:
    high, most, stride, pairs = 2 * height + 1, 1 << TAG_BITS, _stride(width), _pairs(width)
    return _Scratch(
        samples=np.zeros((high, stride), dtype=np.uint32),
        polygons=np.zeros((2, 9, 3), dtype=np.float32),
        spots=np.zeros((4, most_vertices), dtype=np.float32),
        facing=np.zeros(most_faces + LANES, dtype=np.int32),
        records=np.zeros(RECORD * LANES, dtype=np.uint32),
        colours=np.zeros((most + LANES, 4), dtype=np.float32),
        means=np.zeros(most + LANES, dtype=np.float32),
        drawn=np.zeros(most + LANES, dtype=np.int32),
        owners=np.zeros(most, dtype=np.uint8),
        planes=np.tile(np.array([0.0, 0.0, 1.0, np.inf], dtype=np.float32), (most, 1)),
        packed=np.zeros(most, dtype=np.uint64),
        plain=np.zeros((2, len(MATERIALS), 9), dtype=np.float32),
        flat=np.zeros((most_ground, 4), dtype=np.int32),
        starts=np.zeros(high, dtype=np.int32),
        following=np.zeros(most_ground, dtype=np.int32),
        active=np.zeros(most_ground, dtype=np.int32),
        evens=np.zeros(pairs, dtype=np.uint64),
        odds=np.zeros(pairs, dtype=np.uint64),
        sums=np.zeros(pairs, dtype=np.uint64),
        rest=np.zeros(3 * LANES, dtype=np.uint8),
        cover=np.zeros(stride, dtype=np.float32),
        bottoms=np.zeros(pairs, dtype=np.int32),
        mirrored=np.zeros(pairs, dtype=np.uint64),
        shares=np.zeros(pairs, dtype=np.int32),
        wet_blocks=np.zeros(pairs >> BITS, dtype=np.uint8),
    )


def _dark(width: int, slots: int, most_corners: int, most_lamps: int) -> _Dark:
    pairs = _pairs(width)
    lamps = 2 * slots * most_lamps + 1  # each with its light and its reflection
    return _Dark(
        shadow_rows=np.zeros((slots, 4), dtype=np.int32),
        edges=np.zeros((3, slots * most_corners + LANES), dtype=np.float32),
        corners=np.zeros((3, most_corners), dtype=np.float32),
        grid=np.zeros((2, most_corners), dtype=np.int64),
        order=np.zeros(most_corners, dtype=np.int64),
        outline=np.zeros(2 * most_corners + 2, dtype=np.int64),
        slopes=np.zeros((2, most_corners + LANES), dtype=np.float32),
        contact_rows=np.zeros((slots, 2), dtype=np.int32),
        rects=np.zeros((slots, 7), dtype=np.float32),
        pool_rows=np.zeros((lamps, 3), dtype=np.int32),
        pools=np.zeros((lamps, 9), dtype=np.float32),
        shade=np.zeros(pairs, dtype=np.float32),
        keep=np.ones(pairs, dtype=np.float32),
        levels=np.zeros(pairs, dtype=np.int32),
        dark_blocks=np.zeros(pairs >> BITS, dtype=np.uint8),
        light_blocks=np.zeros(pairs >> BITS, dtype=np.uint8),
        glow=np.zeros(pairs, dtype=np.uint64),
    )


def _stride(width: int) -> int:
    """Samples of a row of so many pixels, and room for the last of LANES to lie beyond it."""
    return -(-(2 * width + 1 + LANES) // 16) * 16


def _pairs(width: int) -> int:
    """Pairs of samples in a row of so many pixels, with room for a vector of LANES at the last of them."""
    return (width // LANES + 2) * LANES


def meshes_of(a: Atlas) -> _Meshes:
    own = ("bases", "girths")
    return _Meshes(
        **{name: getattr(a, name) for name in _Meshes._fields if name not in own},
        bases=bases(a),
        girths=girths(a),
    )


class TooManyTrianglesError(ValueError):
    """A scene of a batch faces the camera with more triangles than can be told apart."""

    def __init__(self, scene: int) -> None:
        super().__init__(
            f"scene {scene} of the batch shows more than {MOST_TRIANGLES} triangles: take things out of it"
        )


class Raster:
    """Draws batches of scenes with the processor.

    Several threads may call it at once. The pixels do not depend on the number of threads.

    Args:
        threads: that draw a batch.

    Raises:
        ValueError: from :meth:`render`, if the picture size is out of range, or a scene has more triangles
            than can be numbered.
    """

    def __init__(self, threads: int = 1) -> None:
        if threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        self.threads = threads
        self.strip = STRIP
        self._atlas = meshes_of(atlas())
        palette, kinds, tints, self._roles = tables()
        self._tables = (palette, kinds, tints)
        self._most_vertices = int(np.diff(self._atlas.vertex_start).max())
        self._most_faces = int(np.diff(self._atlas.triangle_start).max())
        self._most_corners = int(np.diff(self._atlas.hull_start).max())
        self._most_lamps = int(np.diff(self._atlas.lamp_start).max())
        self._most_ground = int(np.diff(self._atlas.triangle_start)[atlas().ground])

    def render(self, batch: SceneBatch, width: int, height: int, geometry: bool = True) -> Frames:
        """Pictures, and with `geometry` depth and instance ids, of every scene of a batch, at one size.

        Raises:
            TooManyTrianglesError: a scene has more triangles in sight than a sample can number.
            ValueError: the pictures are too small or too large, or a scene's numbers stand for nothing.
        """
        check_size(width, height)
        check_scenes(batch)
        n = len(batch)
        frames = Frames.blank(n, width, height, geometry)
        meshes, poses, styles, ids, paints = instances(batch)
        strip = self.strip_of(width, height)
        args = (strip, views(batch.camera, width, height), lights(batch.weather, batch.intensity, batch.sun),
                self._atlas, self._tables, self._roles, meshes, poses, styles, ids, paints,
                batch.fall_seed)  # fmt: skip

        def part(bounds: tuple[int, int]) -> int:
            scratch = _scratch(strip, height, self._most_vertices, self._most_faces, self._most_ground)
            dark = _dark(strip, meshes.shape[1], self._most_corners, self._most_lamps)
            nearness = np.zeros((height, width), dtype=np.uint16)
            return int(
                kernels.draw_scenes(
                    *bounds, *args, scratch, dark, nearness, frames.rgb, frames.depth, frames.ids
                )
            )

        if self.threads == 1 or n <= 1:
            failed = [part((0, n))]
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                failed = list(pool.map(part, _parts(n, self.threads)))
        if max(failed) >= 0:
            raise TooManyTrianglesError(max(failed))
        return frames

    def strip_of(self, width: int, height: int) -> int:
        """How many columns of a picture are drawn at a time: all of them, unless it is large."""
        return max(min(width, self.strip // (2 * height + 1)), 1)


def _parts(n: int, threads: int) -> Iterator[tuple[int, int]]:
    """Nearly equal ranges, a few for each thread, so that a slow one does not keep the others waiting."""
    count = min(n, 4 * threads)
    for i in range(count):
        yield n * i // count, n * (i + 1) // count
