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
    has_area = (face_normals(vertices[triangles]) != 0).any(axis=1)
    triangles, materials = triangles[has_area], materials[has_area]
    *_, edge = _edges(triangles)
    way = np.bincount(edge.ravel(), np.sign(np.roll(triangles, -1, axis=1) - triangles).ravel())
    surface = _surfaces(edge)
    is_open = np.bincount(surface, (way[edge] != 0).any(axis=1)) > 0
    volume = np.bincount(surface, dots(vertices[triangles[:, 0]], face_normals(vertices[triangles])))
    turned = ((volume < 0) & ~is_open)[surface]
    triangles = np.where(turned[:, None], triangles[:, ::-1], triangles)
    second = is_open[surface]
    whole = np.concatenate([triangles, triangles[second, ::-1]])
    return Mesh(vertices, whole, np.concatenate([materials, materials[second]]))


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


def simplified(mesh: Mesh) -> Mesh:
    """The mesh with as few faces as it may have: edges shrink to a point where that changes the shape least.

    The change is the squared distance from the planes of the faces around, times their area (Garland and
    Heckbert, 1997). The edges of open surfaces and of materials count as upright planes. In each round many
    edges shrink that do not touch. Sums run in a fixed order, so the result is the same on every processor.
    """
    vertices, triangles, materials = mesh.vertices.copy(), mesh.triangles, mesh.materials
    planes, refused = _planes(mesh), np.zeros(len(vertices))
    for _ in range(MOST_ROUNDS):
        if len(triangles) <= MOST_FACES:
            break
        i, j, _ = _edges(triangles)
        ends, whole, each = (vertices[i], vertices[j]), planes[:, i] + planes[:, j], np.arange(len(i))
        spots = np.stack([*ends, (ends[0] + ends[1]) / 2])
        errors = np.stack([_error(whole, spot) for spot in spots])
        best = errors.argmin(axis=0)
        cost = np.maximum(errors[best, each], 0) + 1e-9 * lengths(ends[1] - ends[0]) ** 2
        rank = np.empty(len(i), dtype=np.int64)
        rank[np.argsort(cost * 4.0 ** (refused[i] + refused[j]), kind="stable")] = each
        first = np.full(len(vertices), len(i))
        np.minimum.at(first, np.concatenate([i, j]), np.concatenate([rank, rank]))
        ring = first.copy()  # the first among all edges of the triangles around a vertex
        np.minimum.at(ring, triangles.reshape(-1), np.repeat(first[triangles].min(axis=1), 3))
        chosen = np.flatnonzero((rank == ring[i]) & (rank == ring[j]) & (rank <= len(i) // 6))
        for _ in range(2):  # once more without those that turn a triangle over
            moved, goal = vertices.copy(), np.arange(len(vertices))
            moved[i[chosen]] = spots[best[chosen], chosen]
            goal[j[chosen]] = i[chosen]
            shrunk = goal[triangles]
            left = (shrunk != np.roll(shrunk, -1, axis=1)).all(axis=1)
            before, after = face_normals(vertices[triangles[left]]), face_normals(moved[shrunk[left]])
            over = dots(before, after) <= 0.2 * lengths(before) * lengths(after)
            wrong = np.zeros(len(vertices), dtype=bool)
            wrong[shrunk[left][over]] = True
            wrong = wrong[i[chosen]]
            refused[i[chosen[wrong]]] += 1
            chosen = chosen[~wrong]
        if not left.any():  # copies at one place
            break
        planes[:, i[chosen]] = whole[:, chosen]
        vertices, triangles, materials = moved, shrunk[left], materials[left]
    used, index = np.unique(triangles, return_inverse=True)
    return Mesh(vertices[used], index.reshape(-1, 3), materials)


def _edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The two vertices (e,) of every edge, the lower number first, and (t, 3) the edges of triangles."""
    start, end = triangles, np.roll(triangles, -1, axis=1)
    span = triangles.max(initial=0) + 1
    pairs, edge = np.unique(np.minimum(start, end) * span + np.maximum(start, end), return_inverse=True)
    return pairs // span, pairs % span, edge.reshape(-1, 3)


def _planes(mesh: Mesh) -> np.ndarray:
    """(10, v) the sums over the planes around each vertex that :func:`_error` needs."""
    corner, normal = mesh.vertices[mesh.triangles[:, 0]], face_normals(mesh.vertices[mesh.triangles])
    area = lengths(normal)
    unit = normal / area[:, None]
    i, j, edge = _edges(mesh.triangles)
    flat, owner = edge.reshape(-1), np.repeat(np.arange(len(edge)), 3)
    last = np.zeros(len(i), dtype=np.int64)
    last[flat] = mesh.materials[owner]
    is_mixed = np.bincount(flat, mesh.materials[owner] != last[flat]) > 0
    turned = np.stack([np.bincount(flat, unit[owner, k]) for k in range(3)], axis=1)
    is_rim = (np.bincount(flat) == 2) & (lengths(turned) < 1e-3)  # of a surface with two sides
    held = (is_rim | is_mixed)[flat]
    along = mesh.vertices[j[flat[held]]] - mesh.vertices[i[flat[held]]]
    upright = np.cross(along, unit[owner[held]])
    weight = lengths(upright)
    rows = [(unit, area, corner, mesh.triangles[:, k]) for k in range(3)]
    sides = upright / np.maximum(weight, 1e-12)[:, None], weight**2, mesh.vertices[i[flat[held]]]
    rows += [(*sides, end[flat[held]]) for end in (i, j)]
    total = np.zeros((10, len(mesh.vertices)))
    for direction, size, point, vertex in rows:
        terms = [*direction.T, -dots(direction, point)]
        pairs = combinations_with_replacement(terms, 2)
        total += [np.bincount(vertex, a * b * size, len(mesh.vertices)) for a, b in pairs]
    return total


def _error(planes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(e,) the change of shape of a vertex at (e, 3) points, by (10, e) sums of planes."""
    pairs = combinations_with_replacement([*points.T, np.ones(len(points))], 2)
    terms = [a * b * row * (1 if a is b else 2) for (a, b), row in zip(pairs, planes, strict=True)]
    return sum(terms[1:], terms[0])
