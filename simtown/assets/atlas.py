"""Every mesh of the town in a few flat arrays, as the batch code wants them.

Meshes are numbered: entities first (mesh i is entity i), then the street's
(:data:`simtown.assets.catalogue.STREET_MESHES`: kind i of PROPS, then people's other poses), then the ground.
Coordinates are rounded to 1/4096 m, so that they are the same on every processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simtown.assets.catalogue import BODIES, ENTITIES, STREET_MESHES, entity_mesh, prop_mesh
from simtown.assets.mesh import Mesh
from simtown.assets.palette import GLOW, HEADLAMP, MATERIALS, TAILLAMP, WINDOW, material
from simtown.assets.street.road_surface import ground

GRID = 4096.0
#: `own_paint` of a mesh without a body.
NO_PAINT = 255
#: The number of every window of a vehicle, whose style is 0: one that is lit, so that all of a bus's windows
#: are.
SALOON = 1
#: Directions whose extreme vertices stand for a mesh when its shadow is cast: the faces and corners of a
#: cube.
_DIRECTIONS = np.array(
    [
        (x, y, z)
        for x in (-1, 0, 1)
        for y in (-1, 0, 1)
        for z in (-1, 0, 1)
        if abs(x) + abs(y) + abs(z) in (1, 3)
    ],
    dtype=np.float64,
)


@dataclass(frozen=True)
class Atlas:
    """All meshes, concatenated; mesh m owns rows ``start[m]:start[m + 1]`` of each kind of array.

    Attributes:
        vertices: (v, 3) float32, metres, object frame.
        columns: (3, v) the same, a row a coordinate.
        vertex_start: (m + 1,) int64.
        triangles: (t, 3) int32 rows of `vertices`.
        triangle_start: (m + 1,) int64.
        normals: (t, 4) float32 unit outward normal and the plane's distance from the origin, metres.
        materials: (t,) uint8, indices of the palette.
        parts: (t,) uint8 number of a window, so that both its halves light; all windows of a vehicle are
            SALOON.
        body: (t,) bool, which triangles are of an entity's body, whose paint a scene may exchange.
        own_paint: (m,) uint8 the material of an entity's body; NO_PAINT for other meshes.
        hull: (h, 3) float32 vertices that are extreme in one of 14 directions.
        hull_start: (m + 1,) int64.
        lamps: (l, 5) float32 x, y, z of a lamp's middle, its material and its facing (x component of its
            normal).
        lamp_start: (m + 1,) int64.
        bounds: (m, 2, 3) float32 smallest and largest corner.
        radius: (m,) float32 about the object's origin.
    """

    vertices: np.ndarray
    columns: np.ndarray
    vertex_start: np.ndarray
    triangles: np.ndarray
    triangle_start: np.ndarray
    normals: np.ndarray
    materials: np.ndarray
    parts: np.ndarray
    body: np.ndarray
    own_paint: np.ndarray
    hull: np.ndarray
    hull_start: np.ndarray
    lamps: np.ndarray
    lamp_start: np.ndarray
    bounds: np.ndarray
    radius: np.ndarray

    @property
    def ground(self) -> int:
        """Number of the ground's mesh."""
        return len(self.radius) - 1

    def mesh(self, number: int) -> Mesh:
        """Mesh `number`, as the renderers see it."""
        v = slice(*self.vertex_start[number : number + 2])
        t = slice(*self.triangle_start[number : number + 2])
        triangles = self.triangles[t].astype(np.int64) - self.vertex_start[number]
        return Mesh(self.vertices[v].astype(np.float64), triangles, self.materials[t].astype(np.int64))


def _normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    p, q, r = (vertices[triangles[:, k]] for k in range(3))
    a, b = q - p, r - p
    cross = np.stack(
        [
            a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1],
            a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
            a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0],
        ],
        -1,
    )
    length = np.sqrt(cross[:, 0] * cross[:, 0] + cross[:, 1] * cross[:, 1] + cross[:, 2] * cross[:, 2])
    unit = cross / np.where(length > 0, length, np.nan)[:, None]
    offset = unit[:, 0] * p[:, 0] + unit[:, 1] * p[:, 1] + unit[:, 2] * p[:, 2]
    return np.concatenate([unit, offset[:, None]], axis=1)


def _begins(triangles: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(t,) bool: which of the chosen triangles begin a pane, as they share no corner with the one before."""
    out = np.zeros(len(triangles), dtype=bool)
    rows = np.flatnonzero(chosen)
    shared = (triangles[rows[1:], :, None] == triangles[rows[:-1], None, :]).any(axis=(1, 2))
    out[rows[:1]] = True
    out[rows[1:]] = ~shared
    return out


def _lamps(
    vertices: np.ndarray, triangles: np.ndarray, materials: np.ndarray, normals: np.ndarray, kinds: np.ndarray
) -> np.ndarray:
    """One row a lamp: triangles of one lamp material whose middles lie within half a metre are one lamp."""
    rows: list[np.ndarray] = []
    for m in np.unique(materials):
        if kinds[m] not in (HEADLAMP, TAILLAMP, GLOW):
            continue
        own = np.flatnonzero(materials == m)
        middles = (vertices[triangles[own]].min(axis=1) + vertices[triangles[own]].max(axis=1)) / 2
        left = np.ones(len(own), dtype=bool)
        while left.any():
            seed = middles[np.flatnonzero(left)[0]]
            close = left & (np.abs(middles - seed).max(axis=1) < 0.5)
            left &= ~close
            spot = (middles[close].min(axis=0) + middles[close].max(axis=0)) / 2
            facing = {HEADLAMP: 1.0, TAILLAMP: -1.0}.get(int(kinds[m]), 0.0)
            rows.append(np.array([*spot, m, facing]))
    return np.array(rows).reshape(-1, 5)


@lru_cache(maxsize=1)
def atlas() -> Atlas:
    """The town's atlas, built once a process (about half a second)."""
    kinds = np.array([m.kind for m in MATERIALS])
    own_paint = [material(BODIES[n]) for n in ENTITIES] + [NO_PAINT] * (len(STREET_MESHES) + 1)
    meshes = [entity_mesh(n) for n in ENTITIES] + [prop_mesh(*each) for each in STREET_MESHES] + [ground()]
    vertices, triangles, normals, materials, parts, body, hulls, lamps, bounds, radius = (
        [] for _ in range(10)
    )
    offset = 0
    for mesh, paint in zip(meshes, own_paint, strict=True):
        v = np.floor(mesh.vertices * GRID + 0.5) / GRID
        n = _normals(v, mesh.triangles)
        solid = np.isfinite(n[:, 0])  # slivers that rounding has closed have no normal
        tri, mat, n = mesh.triangles[solid], mesh.materials[solid], n[solid]
        is_window = kinds[mat] == WINDOW
        extreme = (
            v[:, 0, None] * _DIRECTIONS[:, 0]
            + v[:, 1, None] * _DIRECTIONS[:, 1]
            + v[:, 2, None] * _DIRECTIONS[:, 2]
        )
        vertices.append(v)
        triangles.append(tri + offset)
        normals.append(n)
        materials.append(mat)
        parts.append(
            np.where(is_window, SALOON if paint != NO_PAINT else np.cumsum(_begins(tri, is_window)) % 256, 0)
        )
        body.append(mat == paint)
        hulls.append(v[np.unique(extreme.argmax(axis=0))])
        lamps.append(_lamps(v, tri, mat, n, kinds))
        bounds.append(np.stack([v.min(axis=0), v.max(axis=0)]))
        radius.append(np.sqrt((v[:, 0] * v[:, 0] + v[:, 1] * v[:, 1] + v[:, 2] * v[:, 2]).max()))
        offset += len(v)

    def starts(groups: list[np.ndarray]) -> np.ndarray:
        return np.cumsum([0] + [len(g) for g in groups]).astype(np.int64)

    return Atlas(
        vertices=np.concatenate(vertices).astype(np.float32),
        columns=np.ascontiguousarray(np.concatenate(vertices).T, dtype=np.float32),
        vertex_start=starts(vertices),
        triangles=np.concatenate(triangles).astype(np.int32),
        triangle_start=starts(triangles),
        normals=np.concatenate(normals).astype(np.float32),
        materials=np.concatenate(materials).astype(np.uint8),
        parts=np.concatenate(parts).astype(np.uint8),
        body=np.concatenate(body),
        own_paint=np.array(own_paint, dtype=np.uint8),
        hull=np.concatenate(hulls).astype(np.float32),
        hull_start=starts(hulls),
        lamps=np.concatenate(lamps).astype(np.float32),
        lamp_start=starts(lamps),
        bounds=np.stack(bounds).astype(np.float32),
        radius=np.array(radius, dtype=np.float32),
    )
