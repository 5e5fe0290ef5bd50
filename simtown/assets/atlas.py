"""Every mesh of the town in a few flat arrays, as the batch code wants them.

Meshes are numbered: entities first (mesh i is entity i), then the street's
(:data:`simtown.assets.catalogue.STREET_MESHES`: kind i of PROPS, then people's other poses), then the ground.
Coordinates are rounded to 1/4096 m, so that they are the same on every processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from simtown.assets.catalogue import BODIES, STREET_MESHES, entity_mesh, prop_mesh
from simtown.assets.entities import CATALOGUE, OWN
from simtown.assets.kept import kept
from simtown.assets.mesh import Mesh, dots, face_normals, lengths
from simtown.assets.palette import GLOW, HEADLAMP, MATERIALS, TAILLAMP, WINDOW, material
from simtown.assets.street.road_surface import ground

GRID = 4096.0
#: `own_paint` of a mesh without a body.
NO_PAINT = 255
#: The number of every window of a vehicle, whose style is 0: one that is lit, so that all of a bus's are.
SALOON = 1
#: Directions whose extreme vertices stand for a mesh when its shadow is cast: a cube's faces and corners.
_DIRECTIONS = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if np.abs(d).sum() in (1, 3)])


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
        people: (t,) bool, which triangles are of people on a vehicle.
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
    people: np.ndarray
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
    """(t, 4) unit outward normals and distance of each plane; NaN for slivers that rounding has closed."""
    cross = face_normals(vertices[triangles])
    length = lengths(cross)
    unit = cross / np.where(length > 0, length, np.nan)[:, None]
    return np.concatenate([unit, dots(unit, vertices[triangles[:, 0]])[:, None]], axis=1)


def _begins(triangles: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(t,) bool: which of the chosen triangles begin a pane, as they share no corner with the one before."""
    out = np.zeros(len(triangles), dtype=bool)
    rows = np.flatnonzero(chosen)
    shared = (triangles[rows[1:], :, None] == triangles[rows[:-1], None, :]).any(axis=(1, 2))
    out[rows[:1]] = True
    out[rows[1:]] = ~shared
    return out


def _lamps(
    vertices: np.ndarray, triangles: np.ndarray, materials: np.ndarray, kinds: np.ndarray
) -> np.ndarray:
    """One row a lamp: triangles of one lamp material whose middles lie within half a metre are one lamp."""
    rows: list[np.ndarray] = []
    for m in np.unique(materials[np.isin(kinds[materials], (HEADLAMP, TAILLAMP, GLOW))]):
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
    """The town's atlas, built once a machine (about half a second)."""
    return Atlas(**kept("atlas", _arrays))


def _arrays() -> dict[str, np.ndarray]:
    kinds = np.array([m.kind for m in MATERIALS])
    vehicles = [(entity_mesh(n), BODIES[n]) for n in CATALOGUE] + [kind.read() for kind in OWN]
    own_paint = [material(body) for _, body in vehicles] + [NO_PAINT] * (len(STREET_MESHES) + 1)
    street = [prop_mesh(*each) for each in STREET_MESHES]
    meshes = [*(mesh for mesh, _ in vehicles), *street, ground()]
    rows: list[dict[str, np.ndarray]] = []
    offset = 0
    for mesh, paint in zip(meshes, own_paint, strict=True):
        v = np.floor(mesh.vertices * GRID + 0.5) / GRID
        normals = _normals(v, mesh.triangles)
        solid = np.isfinite(normals[:, 0])
        triangles, materials, normals = mesh.triangles[solid], mesh.materials[solid], normals[solid]
        window = kinds[materials] == WINDOW
        panes = np.cumsum(_begins(triangles, window)) % 256 if paint == NO_PAINT else SALOON
        row = {
            "vertices": v.astype(np.float32),
            "triangles": (triangles + offset).astype(np.int32),
            "normals": normals.astype(np.float32),
            "materials": materials.astype(np.uint8),
            "parts": np.where(window, panes, 0).astype(np.uint8),
            "body": materials == paint,
            "people": np.broadcast_to(mesh.people, len(solid))[solid],
            "own_paint": np.array([paint], dtype=np.uint8),
            "hull": v[np.unique(dots(v[:, None], _DIRECTIONS).argmax(axis=0))].astype(np.float32),
            "lamps": _lamps(v, triangles, materials, kinds).astype(np.float32),
            "bounds": np.array([[v.min(axis=0), v.max(axis=0)]], dtype=np.float32),
            "radius": np.sqrt(dots(v, v).max(keepdims=True)).astype(np.float32),
        }
        rows.append(row)
        offset += len(v)

    def starts(name: str) -> np.ndarray:
        return np.cumsum([0, *[len(row[name]) for row in rows]])

    whole = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
    whole |= {"columns": np.ascontiguousarray(whole["vertices"].T), "vertex_start": starts("vertices")}
    whole |= {"triangle_start": starts("triangles"), "hull_start": starts("hull")}
    return whole | {"lamp_start": starts("lamps")}
