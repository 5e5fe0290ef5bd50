"""What the kernels read and write: the town, a batch of scenes, and working memory, as arrays on the card.

Rows of working memory belong to scenes one after the other: scene n owns rows `first[n]` to `first[n + 1]` - 1 of the triangle
arrays (a row for the sky, then one for every triangle that may face the camera) and twice as many pieces, since what crosses the
near plane is cut into two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simtown.assets.atlas import Atlas

#: Corners of a shadow's or a pool's outline at most.
CORNERS = 16
#: Outlines of a thing's shadow and of a lamp's pool: nested steps of a soft edge.
SHADOW_RINGS, POOL_RINGS = 3, 4
#: Numbers kept of every placed mesh: object to camera (12), eye (3) and sun (3) seen from the object.
PLACE = 18
#: Numbers kept of every halo: x, y and radius (pixels), depth, material, whether it is in sight.
HALO = 6


class Town(NamedTuple):
    """What never changes: the atlas and its colours."""

    vertices: Any  # (v, 3) float32
    triangles: Any  # (t, 3) int32
    triangle_start: Any  # (m + 1,) int64
    normals: Any  # (t, 4) float32
    materials: Any  # (t,) uint8
    parts: Any  # (t,) uint8
    hull: Any  # (h, 3) float32
    hull_start: Any  # (m + 1,) int64
    lamps: Any  # (l, 5) float32
    lamp_start: Any  # (m + 1,) int64
    radius: Any  # (m,) float32
    palette: Any  # (c, 3) float32
    kinds: Any  # (c,) uint8
    tints: Any  # (3, tints, 3) float32
    casts: Any  # (m,) uint8


class Scenes(NamedTuple):
    """A batch of n scenes of i slots."""

    views: Any  # (n, 15) float32
    lights: Any  # (n, 29) float32
    meshes: Any  # (n, i) int32
    poses: Any  # (n, i, 6) float32
    styles: Any  # (n, i) uint16
    fall_seeds: Any  # (n,) uint32
    first: Any  # (n + 1,) int32 first row of every scene
    lamp_first: Any  # (n i + 1,) int32 first lamp of every slot


class Work(NamedTuple):
    """Working memory for n scenes, t triangle rows and l lamps."""

    places: Any  # (n, i, PLACE) float32
    counts: Any  # (n, 2) int32 triangles that face the camera, pieces
    faces: Any  # (t,) int32 rows of the town's triangles
    owners: Any  # (t,) uint8 slots
    paints: Any  # (t, 4) float32 colour, and 1 for what lies flat on the ground
    planes: Any  # (t, 4) float32 depth planes
    boxes: Any  # (4, 2 t) int16 left, right, top, bottom (samples, behind the last)
    corners: Any  # (6, 2 t) float32 x0 to y2, 1/256 sample
    ramps: Any  # (3, 2 t) uint32 depth at the box's corner, steps right and down
    tags: Any  # (2 t,) uint16
    rims: Any  # (3 n i + 4 l, CORNERS, 2) float32 outlines of shadows, then of pools (samples)
    spans: Any  # (3 n i + 4 l, 3) int16 corners of an outline, first and last + 1 row
    halos: Any  # (l, HALO) float32
    failed: Any  # (1,) int32 the largest number of a scene of too many triangles, or -1


def work_layout(scenes: int, slots: int, rows: int, lamps: int) -> dict[str, tuple[tuple[int, ...], type]]:
    """Shape and dtype of every array of a :class:`Work`."""
    outlines = SHADOW_RINGS * scenes * slots + POOL_RINGS * lamps
    return {
        "places": ((scenes, slots, PLACE), np.float32),
        "counts": ((scenes, 2), np.int32),
        "faces": ((rows,), np.int32),
        "owners": ((rows,), np.uint8),
        "paints": ((rows, 4), np.float32),
        "planes": ((rows, 4), np.float32),
        "boxes": ((4, 2 * rows), np.int16),
        "corners": ((6, 2 * rows), np.float32),
        "ramps": ((3, 2 * rows), np.uint32),
        "tags": ((2 * rows,), np.uint16),
        "rims": ((outlines, CORNERS, 2), np.float32),
        "spans": ((outlines, 3), np.int16),
        "halos": ((max(lamps, 1), HALO), np.float32),
        "failed": ((1,), np.int32),
    }


def sizes(atlas: Atlas, meshes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and lamps that scenes need, from their meshes (n, i): `first` (n + 1,) and `lamp_first` (n i + 1,), both int32."""
    triangles = np.append(np.diff(atlas.triangle_start), 0)[meshes].sum(axis=1)
    lamps = np.append(np.diff(atlas.lamp_start), 0)[meshes].ravel()
    return np.append(0, np.cumsum(triangles + 1)).astype(np.int32), np.append(0, np.cumsum(lamps)).astype(np.int32)
