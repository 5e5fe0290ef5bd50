"""The camera's view of vehicles, computed from the scene alone: picture boxes and visible shares.

This module does not use the renderers, so that each is tested against the other. What the camera sees of a
mesh is found by simtown/kernels/processor/silhouette.hpp.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from simtown import kernels
from simtown.assets.atlas import GRID, Atlas, atlas
from simtown.assets.catalogue import ENTITIES
from simtown.assets.kept import kept
from simtown.scenes.camera import NOMINAL
from simtown.scenes.scene import SceneBatch

#: With these factors a kind and a place on the grid are one integer.
_PACKED = np.array([2**54, 2**36, 2**18, 1])


#: The meshes of vehicles, as :func:`shapes_of` names them.
Shapes = dict[str, np.ndarray]


def shapes_of(town: Atlas, kinds: int = len(ENTITIES)) -> Shapes:
    """The first `kinds` meshes of an atlas, by default those of its vehicles, for silhouettes.

    Returns:
        columns: (3, v) float32 vertices, as the atlas has them.
        vertex_start: (m + 1,) int64 first vertex of each mesh.
        points: (3, p) float32 distinct places of corners.
        point_start: (kinds + 1,) int64 first point of each vehicle.
        planes: (4, f) float32 unit outward normals of the faces, and their distances from the origin, metres.
            Triangles of one plane are one face. The first face of every vehicle never faces the camera.
        plane_start: (kinds + 1,) int64 first face of each vehicle.
        edges: (4, e) uint16, from a point to another, with the faces to its left and its right as seen from
            outside; counted from the vehicle's first point and face.
        edge_start: (kinds + 1,) int64 first edge of each vehicle.
        shape_half: (kinds, 2) float32 half the length and half the width of a footprint, metres, about the
            origin.
    """
    triangles = town.triangle_start[: kinds + 1]
    kind = np.repeat(np.arange(kinds), np.diff(triangles))
    corners = np.rint(town.vertices[town.triangles[: triangles[-1]]] * GRID).astype(np.int64)
    points, number = np.unique(
        np.column_stack([np.repeat(kind, 3), corners.reshape(-1, 3)]) @ _PACKED, return_inverse=True
    )
    point_start = np.searchsorted(points, np.arange(kinds + 1) * _PACKED[0] - _PACKED[0] // 2)
    coordinates = np.zeros((len(points), 3), dtype=np.float32)
    coordinates[number.reshape(-1)] = corners.reshape(-1, 3) / GRID

    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normals = np.cross(b - a, c - a)
    normals //= np.gcd.reduce(normals, axis=1, keepdims=True)
    offset = (normals * a).sum(axis=1)
    # a plane that comes first among a kind's planes
    first = np.column_stack([np.arange(kinds), np.full((kinds, 4), -(2**62))])
    planes, face = np.unique(
        np.concatenate([first, np.column_stack([kind, normals, offset])]), axis=0, return_inverse=True
    )
    plane_start = np.searchsorted(planes[:, 0], np.arange(kinds + 1))
    length = np.sqrt((planes[:, 1:4].astype(np.float64) ** 2).sum(axis=1))
    edges, edge_start = _edges(
        kind, number.reshape(-1, 3) - point_start[kind, None], face.reshape(-1)[kinds:] - plane_start[kind]
    )
    lengths = np.column_stack([length, length, length, length * GRID])
    return {
        "columns": town.columns,
        "vertex_start": town.vertex_start,
        "points": np.ascontiguousarray(coordinates.T),
        "point_start": point_start,
        "planes": np.ascontiguousarray((planes[:, 1:] / lengths).T, dtype=np.float32),
        "plane_start": plane_start,
        "edges": np.ascontiguousarray(edges.T, dtype=np.uint16),
        "edge_start": edge_start,
        "shape_half": np.abs(town.bounds[:kinds, :, :2]).max(axis=1),
    }


def _edges(kind: np.ndarray, corners: np.ndarray, face: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(e, 4) edges as :func:`shapes_of` has them and where each kind's begin, from (t, 3) corners and (t,)
    faces of triangles.

    Where more than two triangles meet, any that pass an edge in opposite ways are a pair: all pairs together
    count the same.
    """
    start, end = corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1)
    left, kind = np.repeat(face, 3), np.repeat(kind, 3)
    onward = start < end
    line = (kind << 32) + (np.minimum(start, end) << 16) + np.maximum(start, end)
    order = np.lexsort((left, onward, line))
    start, end, left, kind, onward, line = (each[order] for each in (start, end, left, kind, onward, line))
    way = line * 2 + onward
    # the first, second ... triangle that passes a line this way
    line = line * 2**10 + np.arange(len(way)) - np.searchsorted(way, way)
    onwards, backwards = np.flatnonzero(onward), np.flatnonzero(~onward)
    _, i, j = np.intersect1d(line[onwards], line[backwards], assume_unique=True, return_indices=True)
    onwards, backwards = onwards[i], backwards[j]
    right, drawn = np.zeros_like(left), np.ones(len(left), dtype=bool)
    right[onwards] = left[backwards]
    drawn[backwards] = False
    drawn[onwards] = left[onwards] != right[onwards]  # an edge within a face is never on the outline
    chosen = np.flatnonzero(drawn)
    chosen = chosen[np.argsort(kind[chosen], kind="stable")]
    return np.column_stack([start, end, left, right])[chosen], np.searchsorted(
        kind[chosen], np.arange(kind[-1] + 2)
    )


@lru_cache(maxsize=1)
def kernel_shapes() -> dict[str, Any]:
    """The shapes of the town's vehicles as the kernels take them."""
    return with_most(kept("shapes", lambda: shapes_of(atlas())))


@lru_cache(maxsize=1)
def street_shapes() -> dict[str, Any]:
    """The shapes of all meshes but the ground, as the kernels take them, by number in the atlas.

    `shape_half` and `shape_middle`, (m, 2) float32 metres, are of the box around each.
    """
    least, most = np.moveaxis(atlas().bounds[:-1, :, :2], 1, 0)
    box = {"shape_half": (most - least) / 2, "shape_middle": (most + least) / 2}
    return with_most(kept("street", lambda: shapes_of(atlas(), len(atlas().bounds) - 1))) | box


def with_most(shapes: Shapes) -> dict[str, Any]:
    """Shapes, and the most vertices, faces and edges that one of them has."""
    starts = {"most_vertices": "vertex_start", "most_planes": "plane_start", "most_edges": "edge_start"}
    return shapes | {most: int(np.diff(shapes[start]).max()) for most, start in starts.items()}


def _silhouettes(
    entity: np.ndarray,
    pose: np.ndarray,
    camera: np.ndarray,
    size: tuple[int, int] = NOMINAL,
    shares: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes (n, v, 4) that run on beyond the picture, whether all are inside (n,), and `shares` (n, v)."""
    n, vehicles = entity.shape
    box, visible = np.zeros((n, vehicles, 4), np.float32), np.zeros((n, vehicles), np.float32)
    framed = np.zeros(n, bool)
    kernels.call(
        "silhouettes",
        **kernel_shapes(),
        entity=np.ascontiguousarray(entity, dtype=np.int64),
        pose=np.ascontiguousarray(pose, dtype=np.float32),
        camera=np.ascontiguousarray(camera, dtype=np.float32),
        width=size[0],
        height=size[1],
        shares=shares,
        box=box,
        framed=framed,
        visible=visible,
    )
    return box, framed, visible


def boxes(batch: SceneBatch, width: int, height: int) -> np.ndarray:
    """Full picture boxes of vehicles, hidden parts included: (n, v, 4) float32 x0, y0, x1, y1 in pixels,
    clipped to the picture.
    """
    out = _silhouettes(batch.entity, batch.pose, batch.camera, (width, height))[0]
    return np.clip(out, 0, np.array([width, height, width, height], dtype=np.float32))


def unclipped_boxes(
    entity: np.ndarray, pose: np.ndarray, camera: np.ndarray, width: int, height: int
) -> np.ndarray:
    """:func:`boxes` for (n, v) entities, (n, v, 3) poses and (n, 7) cameras, running on beyond the
    picture's edges.
    """
    return _silhouettes(entity, pose, camera, (width, height))[0]


def framed(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Whether every vehicle lies wholly inside the nominal picture, however it is turned: (n,) bool."""
    return _silhouettes(entity, pose, camera)[1]


def visibility(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Share of each vehicle's silhouette that no other vehicle hides, in the nominal picture: (n, v) float32
    in [0, 1].

    Footprints must not overlap; there may be any number of vehicles, turned in any way. Empty slots get 0.
    """
    return _silhouettes(entity, pose, camera, shares=True)[2]
