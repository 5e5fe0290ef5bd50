"""The default engine: a batch rasteriser in numba. No OpenGL, no display, no driver; the same pixels on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from simtown.assets.atlas import Atlas, atlas
from simtown.assets.catalogue import ENTITIES, PROPS, STREET
from simtown.assets.palette import CLOTH_TINTS, MATERIALS, ROOF_TINTS, WALL_TINTS, rgb_table
from simtown.render import kernels
from simtown.render.fill import MOST_TRIANGLES
from simtown.render.frames import Frames, check_size
from simtown.render.instances import instances
from simtown.render.lanes import LANES
from simtown.render.light import lights
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch


class _Meshes(NamedTuple):
    """The atlas as numba reads it."""

    columns: np.ndarray
    vertex_start: np.ndarray
    triangles: np.ndarray
    triangle_start: np.ndarray
    normals: np.ndarray
    materials: np.ndarray
    parts: np.ndarray
    body: np.ndarray
    hull: np.ndarray
    hull_start: np.ndarray
    lamps: np.ndarray
    lamp_start: np.ndarray
    radius: np.ndarray


class _Scratch(NamedTuple):
    """Working memory of one thread, for one picture size."""

    samples: np.ndarray
    shadow: np.ndarray
    pool: np.ndarray
    spots: np.ndarray
    facing: np.ndarray
    colours: np.ndarray
    owners: np.ndarray
    planes: np.ndarray
    flags: np.ndarray
    packed: np.ndarray
    plain: np.ndarray
    ends: np.ndarray
    flat: np.ndarray
    line: np.ndarray
    lines: np.ndarray

    @classmethod
    def sized(cls, width: int, height: int, most_vertices: int, most_faces: int, most_ground: int) -> _Scratch:
        wide, high, most = 2 * width + 1, 2 * height + 1, MOST_TRIANGLES + 1
        stride = -(-(wide + 1 + LANES) // 16) * 16  # one column more tells which rows of a mask are touched
        return cls(
            samples=np.zeros((high, stride), dtype=np.uint32),
            shadow=np.zeros((high, stride), dtype=np.uint8),
            pool=np.zeros((high, stride), dtype=np.uint8),
            spots=np.zeros((4, most_vertices), dtype=np.float32),
            facing=np.zeros(most_faces + 1, dtype=np.int32),
            colours=np.zeros((most, 3), dtype=np.float32),
            owners=np.zeros(most, dtype=np.int32),
            planes=np.tile(np.array([0.0, 0.0, 1.0, np.inf], dtype=np.float32), (most, 1)),
            flags=np.zeros(most, dtype=np.uint8),
            packed=np.zeros(most, dtype=np.uint64),
            plain=np.zeros((len(MATERIALS), 9), dtype=np.float32),
            ends=np.zeros((high, 2), dtype=np.float32),
            flat=np.zeros((most_ground, 3), dtype=np.int32),
            line=np.zeros(stride, dtype=np.uint64),
            lines=np.zeros((3, width), dtype=np.uint64),
        )


def _meshes(a: Atlas) -> _Meshes:
    return _Meshes(*(getattr(a, name) for name in _Meshes._fields))


def tables() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Colour (c, 3) float32 and kind (c,) uint8 of materials, tints (3, TINTS, 3) float32, which meshes cast a shadow (m,) uint8."""
    palette = np.array([m.colour for m in MATERIALS], dtype=np.float32)
    kinds = np.array([m.kind for m in MATERIALS], dtype=np.uint8)
    tints = np.stack([rgb_table(t) for t in (WALL_TINTS, ROOF_TINTS, CLOTH_TINTS)])
    no_shadow = {*STREET["building"], *STREET["cloud"]}
    casts = np.array([1] * len(ENTITIES) + [0 if p in no_shadow else 1 for p in PROPS] + [0], dtype=np.uint8)
    return palette, kinds, tints, casts


class Raster:
    """Draws batches of scenes on `threads` threads. Safe to call from several threads at once; the pixels never differ.

    Raises:
        ValueError: from :meth:`render`, for a picture size out of range or a scene of more triangles than can be told apart.
    """

    def __init__(self, threads: int = 1) -> None:
        if threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        self.threads = threads
        self._atlas = _meshes(atlas())
        palette, kinds, tints, self._casts = tables()
        self._tables = (palette, kinds, tints)
        self._most_vertices = int(np.diff(self._atlas.vertex_start).max())
        self._most_faces = int(np.diff(self._atlas.triangle_start).max())
        self._most_ground = int(np.diff(self._atlas.triangle_start)[atlas().ground])

    def render(self, batch: SceneBatch, width: int, height: int, geometry: bool = True) -> Frames:
        """Pictures, and with `geometry` depth and instance ids, of every scene of a batch, at one size."""
        check_size(width, height)
        n = len(batch)
        frames = Frames.blank(n, width, height, geometry)
        meshes, poses, styles, ids, paints = instances(batch)
        args = (views(batch.camera, width, height), lights(batch.weather, batch.intensity, batch.sun), self._atlas, self._tables,
                self._casts, meshes, poses, styles, ids, paints, batch.fall_seed)  # fmt: skip

        def part(bounds: tuple[int, int]) -> int:
            scratch = _Scratch.sized(width, height, self._most_vertices, self._most_faces, self._most_ground)
            return int(kernels.draw_scenes(*bounds, *args, scratch, frames.rgb, frames.depth, frames.ids))

        if self.threads == 1 or n <= 1:
            failed = [part((0, n))]
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                failed = list(pool.map(part, _parts(n, self.threads)))
        if max(failed) >= 0:
            raise ValueError(f"scene {max(failed)} of the batch shows more than {MOST_TRIANGLES} triangles: take things out of it")
        return frames


def _parts(n: int, threads: int) -> Iterator[tuple[int, int]]:
    """Nearly equal ranges, a few for each thread, so that a slow one does not keep the others waiting."""
    count = min(n, 4 * threads)
    for i in range(count):
        yield n * i // count, n * (i + 1) // count
