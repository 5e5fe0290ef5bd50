"""Exact outlines of things on the ground, as convex polygons, and the distances between them.

The sampler uses boxes (:mod:`simtown.scenes.placement`), which are quick in batches. A single town uses
outlines, so that a bicycle can stand beside a tree. All lengths are metres; polygons are (k, 2) float64,
counter-clockwise.
"""

from functools import cache

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, STREET, mesh_in_pose, pose_of

#: What every kind belongs to: "vehicle", "building", "tree", "furniture", "person", "cloud" or "animal".
GROUP: dict[str, str] = dict.fromkeys(ENTITIES, "vehicle") | {
    kind: group for group, kinds in STREET.items() for kind in kinds
}
#: Only parts lower than this are obstacles: people walk under awnings and lamps, and crowns may meet.
HEADROOM = {"building": 2.2, "furniture": 2.2, "tree": 0.5}


def number(kind: str, style: int = 0) -> int:
    """The atlas number of a kind in the pose that a style picks.

    Raises ValueError if the catalogue does not have the kind.
    """
    return ENTITIES.index(kind) if kind in ENTITIES else len(ENTITIES) + mesh_in_pose(kind, pose_of(style))


def hull(points: np.ndarray) -> np.ndarray:
    """The convex hull of (n, 2) points, counter-clockwise, no three corners in line (Andrew's monotone
    chain).
    """
    ordered = np.unique(points, axis=0)

    def chain(rows: list[list[float]]) -> list[list[float]]:
        out: list[list[float]] = []
        for x, y in rows:
            while len(out) > 1:
                (x0, y0), (x1, y1) = out[-2:]
                if (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 1e-12:
                    break
                out.pop()
            out.append([x, y])
        return out[:-1]

    return np.array(chain(ordered.tolist()) + chain(ordered[::-1].tolist())) if len(ordered) > 2 else ordered


def outline(kind: str, style: int = 0) -> np.ndarray:
    """The footprint of a kind about its origin, not turned, at scale 1.

    It is the hull of all parts that are lower than the headroom of its group.
    """
    return _outline(number(kind, style), HEADROOM.get(GROUP[kind], np.inf))


@cache
def _outline(number: int, head: float) -> np.ndarray:
    mesh = atlas().mesh(number)
    v = mesh.vertices
    edges = np.concatenate([mesh.triangles[:, [0, 1]], mesh.triangles[:, [1, 2]], mesh.triangles[:, [2, 0]]])
    a, b = v[edges[:, 0]], v[edges[:, 1]]
    cut = (a[:, 2] < head) != (b[:, 2] < head)
    a, b = a[cut], b[cut]
    share = (head - a[:, 2:]) / (b[:, 2:] - a[:, 2:]) if len(a) else a[:, 2:]
    polygon = hull(np.concatenate([v[v[:, 2] <= head], a + share * (b - a)])[:, :2])
    polygon.setflags(write=False)
    return polygon


def heights(kind: str, style: int = 0) -> tuple[float, float]:
    """The lowest and the highest z of a kind's mesh at scale 1."""
    low, high = atlas().bounds[number(kind, style), :, 2]
    return float(low), float(high)


def extents(kind: str, style: int = 0) -> np.ndarray:
    """(3,) float64 metres of a kind's mesh along, across and up, at scale 1."""
    low, high = atlas().bounds[number(kind, style)].astype(np.float64)
    return high - low


def placed(polygon: np.ndarray, x: float, y: float, yaw: float, scale: float = 1.0) -> np.ndarray:
    """A polygon scaled, turned by `yaw` radians and moved."""
    c, s = np.cos(yaw), np.sin(yaw)
    return scale * polygon @ np.array([[c, s], [-s, c]]) + [x, y]


def top(kind: str, x: float, y: float, style: int = 0) -> float:
    """The greatest height of a kind's mesh above a point of its own frame; nan beside it."""
    mesh = atlas().mesh(number(kind, style))
    p = mesh.vertices[mesh.triangles]
    (ax, ay), (bx, by), (cx, cy) = (p[:, k, :2].T for k in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        v = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area
        w = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area
        z = p[:, 0, 2] + v * (p[:, 1, 2] - p[:, 0, 2]) + w * (p[:, 2, 2] - p[:, 0, 2])
        over = (v >= -1e-9) & (w >= -1e-9) & (v + w <= 1 + 1e-9)
    return float(z[over].max()) if over.any() else float("nan")


@cache
def foothold(kind: str, style: int = 0) -> tuple[float, float]:
    """The best place to stand on a kind, in the kind's own frame.

    It is the middle of the outline, or, if there is a hole, the face of the mesh that is deepest inside it.
    """
    polygon = outline(kind, style)
    following = np.roll(polygon, -1, axis=0)
    doubled = polygon[:, 0] * following[:, 1] - polygon[:, 1] * following[:, 0]
    x, y = ((polygon + following) * doubled[:, None]).sum(axis=0) / (3 * doubled.sum())
    if not np.isfinite(top(kind, x, y, style)):
        mesh = atlas().mesh(number(kind, style))
        corners = mesh.vertices[mesh.triangles][..., :2]
        a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        flat = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) > 1e-6
        middles = corners[flat].mean(axis=1)
        x, y = middles[depths(middles, polygon).argmax()]
    return float(x), float(y)


def depths(points: np.ndarray, polygon: np.ndarray) -> np.ndarray:
    """Depths of (n, 2) points inside a polygon: (n,) float64 from its nearest edge, negative outside."""
    a, edge = polygon, np.roll(polygon, -1, axis=0) - polygon
    to = points[:, None] - a
    along = np.clip((to * edge).sum(-1) / (edge * edge).sum(-1), 0.0, 1.0)
    nearest = np.sqrt(((to - along[..., None] * edge) ** 2).sum(-1)).min(axis=1)
    inside = (edge[:, 0] * to[..., 1] - edge[:, 1] * to[..., 0] >= 0).all(axis=1)
    return np.where(inside, nearest, -nearest)


def separation(a: np.ndarray, b: np.ndarray) -> float:
    """The distance of two polygons; if they overlap, minus the shortest move that separates them."""
    apart = max(_widest(a, b), _widest(b, a))
    return apart if apart <= 0 else float(min(-depths(a, b).max(), -depths(b, a).max()))


def _widest(a: np.ndarray, b: np.ndarray) -> float:
    """The widest gap between two polygons seen along an edge of the first (the separating-axis test)."""
    edge = np.roll(a, -1, axis=0) - a
    normal = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / np.sqrt((edge * edge).sum(axis=1))[:, None]
    return float(((normal @ b.T).min(axis=1) - (normal * a).sum(axis=1)).max())
