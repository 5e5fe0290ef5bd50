"""Meshes as other programs make them, mended and simplified: surfaces face outwards, and faces are few."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from simtown.assets.mesh import Mesh, dots, face_normals, lengths

#: Most faces of a vehicle: eight fit the fullest street of a picture.
MOST_FACES = 2_500
#: Rounds of simplifying a mesh.
MOST_ROUNDS = 400
#: Vertices are rounded to this part of a metre, as the atlas has them; those that are then one are joined.
GRID = 4096.0


def solid(corners: np.ndarray, materials: np.ndarray) -> Mesh:
    """A mesh of (t, 3, 3) corners: vertices that are one are joined, closed surfaces turned outwards, and the
    others get a second side.

    A surface is closed if its faces pass every edge as often one way as the other.
    """
    points, index = np.unique(np.rint(corners.reshape(-1, 3) * GRID), axis=0, return_inverse=True)
    vertices, triangles = points / GRID, index.reshape(-1, 3)
    has_area = face_normals(vertices[triangles]).any(axis=1)
    triangles, materials = triangles[has_area], materials[has_area]
    _, edge = _edges(triangles)
    way = np.bincount(edge.ravel(), np.sign(np.roll(triangles, -1, axis=1) - triangles).ravel())
    surface = _surfaces(edge)
    is_open = (np.bincount(surface, way[edge].any(axis=1)) > 0)[surface]
    volume = np.bincount(surface, dots(vertices[triangles[:, 0]], face_normals(vertices[triangles])))
    inverted = (volume < 0)[surface] & ~is_open
    triangles[inverted] = triangles[inverted, ::-1]
    whole = np.concatenate([triangles, triangles[is_open, ::-1]])
    return Mesh(vertices, whole, np.concatenate([materials, materials[is_open]]))


def _surfaces(edge: np.ndarray) -> np.ndarray:
    """(t,) the first triangle of the surface of each: those that share one of their (t, 3) edges."""
    surface = np.arange(len(edge))
    while True:
        least = np.full(edge.max(initial=-1) + 1, len(edge))
        np.minimum.at(least, edge, surface[:, None])
        smaller = surface[least[edge].min(axis=1)]
        smaller = smaller[smaller]  # in few rounds, also along a fan or a strip
        if (smaller == surface).all():
            return surface
        surface = smaller


def simplified(mesh: Mesh) -> Mesh:  # noqa: PLR0914 - an algorithm in its own terms
    """The mesh with as few faces as it may have: edges shrink to a point where that changes the shape least.

    The change is the squared distance from the planes of the faces around, times their area (Garland and
    Heckbert, 1997). The edges of open surfaces and of materials count as upright planes. In each round many
    edges shrink that do not touch. Sums run in a fixed order, so the result is the same on every processor.
    """
    vertices, triangles, materials = mesh.vertices, mesh.triangles, mesh.materials
    planes, refused = _planes(mesh), np.zeros(len(vertices))
    for _ in range(MOST_ROUNDS):
        if len(triangles) <= MOST_FACES:
            break
        ends, _ = _edges(triangles)
        whole, places = planes[:, ends].sum(axis=1), vertices[ends]
        spots = np.stack([*places, places.mean(axis=0)])
        errors = _error(whole, spots)
        best, along = errors.argmin(axis=0), places[1] - places[0]
        cost = errors.min(axis=0).clip(0) + 1e-9 * dots(along, along)
        order = np.argsort(cost * 4.0 ** refused[ends].sum(axis=0), kind="stable")
        rank = np.argsort(order)
        first = np.full(len(vertices), len(rank))
        np.minimum.at(first, ends, np.stack([rank, rank]))  # NumPy 2.4 crashes if it has to repeat them
        ring = first.copy()  # the first among all edges of the triangles around a vertex
        np.minimum.at(ring, triangles, first[triangles].min(axis=1, keepdims=True))
        chosen = np.flatnonzero((rank == ring[ends]).all(axis=0) & (rank <= len(rank) // 6))
        for _ in range(2):  # once more without those that turn a triangle over
            moved, goal = vertices.copy(), np.arange(len(vertices))
            stays, goes = ends[:, chosen]
            moved[stays] = spots[best[chosen], chosen]
            goal[goes] = stays
            shrunk = goal[triangles]
            left = (shrunk != np.roll(shrunk, -1, axis=1)).all(axis=1)
            before, after = face_normals(vertices[triangles[left]]), face_normals(moved[shrunk[left]])
            over = dots(before, after) <= 0.2 * lengths(before) * lengths(after)
            is_wrong = np.isin(stays, shrunk[left][over])
            refused[stays[is_wrong]] += 1
            chosen = chosen[~is_wrong]
        if not left.any():  # copies at one place
            break
        planes[:, ends[0, chosen]] = whole[:, chosen]
        vertices, triangles, materials = moved, shrunk[left], materials[left]
    used, index = np.unique(triangles, return_inverse=True)
    return Mesh(vertices[used], index.reshape(-1, 3), materials)


def _edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(2, e) vertices of every edge, the lower number first, and (t, 3) the edges of triangles."""
    start, end = triangles, np.roll(triangles, -1, axis=1)
    span = triangles.max(initial=0) + 1
    pairs, edge = np.unique(np.minimum(start, end) * span + np.maximum(start, end), return_inverse=True)
    return np.stack(np.divmod(pairs, span)), edge.reshape(-1, 3)


def _planes(mesh: Mesh) -> np.ndarray:
    """(10, v) the sums over the planes around each vertex that :func:`_error` needs."""
    corner, normal = mesh.vertices[mesh.triangles[:, 0]], face_normals(mesh.vertices[mesh.triangles])
    area = lengths(normal)[:, None]
    ends, edge = _edges(mesh.triangles)
    flat, owner = edge.ravel(), np.repeat(np.arange(len(edge)), 3)
    of_faces = np.column_stack([normal / area, mesh.materials, mesh.materials**2.0])
    *turned, total, squares = (np.bincount(flat, column[owner]) for column in of_faces.T)
    count = np.bincount(flat)
    is_mixed = count * squares != total**2
    is_rim = (count == 2) & (lengths(np.stack(turned, axis=1)) < 1e-3)  # of a surface with two sides
    held = (is_rim | is_mixed)[flat]
    start, end = ends[:, flat[held]]
    upright = np.cross(mesh.vertices[end] - mesh.vertices[start], (normal / area)[owner[held]])
    rows = [(normal / np.sqrt(area), corner, vertex) for vertex in mesh.triangles.T]
    rows += [(upright, mesh.vertices[start], vertex) for vertex in (start, end)]
    sums = np.zeros((10, len(mesh.vertices)))
    for direction, point, vertex in rows:
        pairs = combinations_with_replacement([*direction.T, -dots(direction, point)], 2)
        sums += [np.bincount(vertex, a * b, len(mesh.vertices)) for a, b in pairs]
    return sums


def _error(planes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(..., e) the change of shape of a vertex at (..., e, 3) points, by (10, e) sums of planes."""
    pairs = combinations_with_replacement([*np.moveaxis(points, -1, 0), np.ones(points.shape[:-1])], 2)
    terms = [a * b * row * (1 if a is b else 2) for (a, b), row in zip(pairs, planes, strict=True)]
    return np.sum(terms, axis=0)
