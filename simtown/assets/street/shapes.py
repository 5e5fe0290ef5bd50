"""Parts that the street's things share: flat faces, open boxes without a back, turned shapes and lettering.

Street frame: the front faces -y (the road and the viewer), x runs to the right, ground at z = 0. Where a part
takes a `Width`, it is the span from its left to its right, or half of it if it stands in the middle (x = 0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import cos, pi, sin

import numpy as np

from simtown.assets.mesh import ORIGIN, Mesh, Point, Span, face, join, loft, polygon

Width = Span | float
#: The x of several alike parts.
Places = Sequence[float]

#: From a building's front to its back (y, metres).
DEEP = (0.0, 5.0)

#: Faces turned away from the road by more than this (y of their unit normal) cannot be seen from it.
_AWAY = 0.5

#: Strokes of letters on a grid 2 wide and 4 high, each stroke as the four digits x z x z.
_STROKES = {
    "A": "0004 2024 0424 0222", "B": "0004 0424 0222 0020 2024", "C": "0004 0424 0020",
    "E": "0004 0424 0212 0020", "F": "0004 0424 0212", "H": "0004 2024 0222", "I": "1014",
    "K": "0004 0224 0220", "L": "0004 0020", "M": "0004 2024 0412 1224", "N": "0004 2024 0420",
    "O": "0004 2024 0424 0020", "P": "0004 0424 2422 0222", "R": "0004 0424 2422 0222 1220",
    "S": "0424 0402 0222 2220 0020", "T": "0424 1014", "U": "0004 2024 0020", "W": "0004 0012 1220 2024",
    "Y": "0412 2412 1210", "0": "0004 2024 0424 0020", "1": "1014", "3": "2024 0424 0222 0020",
    "5": "0424 0204 0222 2022 0020", "7": "2024 0424", "9": "2024 0424 0222 0204 0020",
}  # fmt: skip


def about(x: float, half: float) -> Span:
    """From `half` to the left of x to `half` to its right."""
    return x - half, x + half


def span(x: Width) -> Span:
    """From left to right."""
    return x if isinstance(x, tuple) else (-x, x)


def wider(x: Width, by: float) -> Span:
    """A span that reaches so much farther on either side."""
    left, right = span(x)
    return left - by, right + by


def kinds(*makers: Callable[[], Mesh]) -> dict[str, Callable[[], Mesh]]:
    """Kinds by name, which is that of the function that makes one."""
    return {make.__name__.replace("_", " "): make for make in makers}


def shape(points: Sequence[Span], paint: str, y: float = 0.0, lift: float = 0.02) -> Mesh:
    """A convex polygon of (x, z) points, counter-clockwise, on a front at y and `lift` metres proud of it."""
    return face(paint, *[(x, y - lift, z) for x, z in points])


def patch(x: Width, z: Span, paint: str, y: float = 0.0, lift: float = 0.02) -> Mesh:
    """A rectangle on a front. 2 triangles."""
    (left, right), (low, high) = span(x), z
    return shape([(left, low), (right, low), (right, high), (left, high)], paint, y, lift)


def patches(xs: Places, half: float, z: Span, paint: str, y: float = 0.0, lift: float = 0.02) -> Mesh:
    """The same rectangle about each x: bars, panes, stripes."""
    return join(patch(about(x, half), z, paint, y, lift) for x in xs)


def disc(
    x: float, z: float, radius: float, paint: str, y: float = 0.0, lift: float = 0.02, sides: int = 8
) -> Mesh:
    """A regular polygon on a front."""
    return shape([(x + radius * c, z + radius * s) for c, s in polygon(sides)], paint, y, lift)


def level(x: Width, y: Span, paint: str, z: float = 0.0) -> Mesh:
    """A level rectangle."""
    (left, right), (near, far) = span(x), y
    return face(paint, (left, near, z), (right, near, z), (right, far, z), (left, far, z))


def pool(x: float, y: float, radius: Span, paint: str, z: float, sides: int = 10) -> Mesh:
    """A level ellipse."""
    return face(paint, *[(x + radius[0] * c, y + radius[1] * s, z) for c, s in polygon(sides)])


def arch(x: Width, z: Span, paint: str, y: float = 0.0, lift: float = 0.02, steps: int = 6) -> Mesh:
    """An opening on a front with a half-round head; `z` is the sill and the crown."""
    left, right = span(x)
    middle, radius = (left + right) / 2, (right - left) / 2
    spring, turn = z[1] - radius, [pi * i / steps for i in range(steps + 1)]
    curve = [(middle + radius * cos(t), spring + radius * sin(t)) for t in turn]
    return shape([(left, z[0]), (right, z[0]), *curve], paint, y, lift)


def mass(
    x: Width, z: Span, paint: str, y: Span = DEEP, lid: bool = True, ends: bool = True, floor: bool = False
) -> Mesh:
    """A box without a back: front, both ends, lid, and the floor if it juts out overhead. 8 triangles."""
    (left, right), (near, far) = span(x), y
    plan = ((left, near), (right, near), (right, far), (left, far))
    (a, b, c, d), (e, f, g, h) = ([(p, q, height) for p, q in plan] for height in z)
    quads = [(a, b, f, e)]
    if ends:
        quads += [(b, c, g, f), (d, a, e, h)]
    if lid:
        quads.append((e, f, g, h))
    if floor:
        quads.append((d, c, b, a))
    return join(face(paint, *quad) for quad in quads)


def posts(xs: Places, half: float, z: Span, paint: str, y: Span) -> Mesh:
    """A square post about each x, without a lid."""
    return join(mass(about(x, half), z, paint, y, lid=False) for x in xs)


def lathe(
    rings: Sequence[tuple[float, ...]], paint: str, at: Point = ORIGIN, sides: int = 6, caps: bool = False
) -> Mesh:
    """Level rings (z, radius[, radius in y[, x, y of the middle]]) joined one to the next; radius 0 is a tip.

    List them as the outline runs, up the outside and over the rim: its outer side is to the right of its way.
    """
    points, n = [], len(rings)
    for z, r, *rest in rings:
        ry, cx, cy = [*rest, *[r, 0.0, 0.0][len(rest) :]]
        points += [(cx + r * c, cy + ry * s, z) for c, s in polygon(sides)]
    faces = []
    for i in range(n - 1):
        for j in range(sides):
            a, b = i * sides + j, i * sides + (j + 1) % sides
            faces += [(a, b, b + sides)] if rings[i][1] > 0 else []
            faces += [(a, b + sides, a + sides)] if rings[i + 1][1] > 0 else []
    if caps:
        last = (n - 1) * sides
        faces += [(0, j + 1, j) for j in range(1, sides - 1)]
        faces += [(last, last + j, last + j + 1) for j in range(1, sides - 1)]
    return Mesh.of(points, faces, paint).at(*at)


def blob(radius: float | Point, at: Point, paint: str, sides: int = 7, rings: int = 3) -> Mesh:
    """A faceted ellipsoid without slivers: 2 * sides * rings triangles. Foliage and heads."""
    rx, ry, rz = radius if isinstance(radius, tuple) else (radius, radius, radius)
    loops: list[list[Point]] = [[(0.0, 0.0, -rz)] * sides]
    for i in range(1, rings + 1):
        angle = -pi / 2 + pi * i / (rings + 1)
        # half a step back each ring: even triangles
        turn = [2 * pi * (j - 0.5 * i) / sides for j in range(sides)]
        loops.append([(rx * cos(angle) * cos(t), ry * cos(angle) * sin(t), rz * sin(angle)) for t in turn])
    return loft([*loops, [(0.0, 0.0, rz)] * sides], paint, caps=False).at(*at)


def limb(
    start: Point, stop: Point, radius: float, paint: str, end: float | None = None, sides: int = 4
) -> Mesh:
    """An open tapering tube from one point to another: arms, legs, branches (a tip where `end` is 0)."""
    tip = radius if end is None else end
    if abs(stop[2] - start[2]) > 0.35 * abs(stop[0] - start[0]) + 0.35 * abs(stop[1] - start[1]):
        rings = [(z, r, r, x, y) for (x, y, z), r in ((start, radius), (stop, tip))]
        return lathe(sorted(rings), paint, sides=sides)
    a, b = np.array(start), np.array(stop)  # too level for level rings: a strut with upright rings instead
    along = (b - a) / np.sqrt(((b - a) ** 2).sum())
    u = np.array([-along[1], along[0], 0.0]) / np.hypot(along[0], along[1])
    v = np.cross(along, u)
    ends = ((-(b - a) / 2, radius), ((b - a) / 2, tip))
    loops = np.array([[p + r * (c * u + s * v) for c, s in polygon(sides)] for p, r in ends])
    return loft(loops, paint, caps=False).at(*((a + b) / 2))


def letters(
    text: str, x: float, z: float, height: float, paint: str, y: float = 0.0, lift: float = 0.04
) -> Mesh:
    """Block capitals centred on x, standing on z, on a front at y."""
    unit, half = height / 4, height * 0.08
    left = x - unit * (3.2 * len(text) - 1.2) / 2
    parts = []
    for i, letter in enumerate(text):
        for stroke in _STROKES.get(letter, "").split():
            x0, z0, x1, z1 = (float(c) * unit for c in stroke)
            length = float(np.hypot(x1 - x0, z1 - z0))
            dx, dz = half * (x1 - x0) / length, half * (z1 - z0) / length
            corners = [(x0 - dx + dz, z0 - dz - dx), (x1 + dx + dz, z1 + dz - dx)]
            corners += [(x1 + dx - dz, z1 + dz + dx), (x0 - dx - dz, z0 - dz + dx)]
            offset = left + 3.2 * unit * i
            parts.append(shape([(offset + a, z + b) for a, b in corners], paint, y, lift))
    return join(parts)


def bunting(xs: Places, z: Span, paints: Sequence[str], y: float = 0.0, lift: float = 0.05) -> Mesh:
    """Things on show side by side on a front, one a place: loaves, books, fruit, posters."""
    step = xs[1] - xs[0]
    tall = [z[1] - (i * 7 % 3) * 0.12 * (z[1] - z[0]) for i in range(len(xs))]
    return join(
        patch((a - 0.38 * step, a + 0.38 * step), (z[0], t), paints[i % len(paints)], y, lift)
        for i, (a, t) in enumerate(zip(xs, tall, strict=True))
    )


def roadside(*parts: Mesh | Iterable[Mesh]) -> Mesh:
    """One mesh of those faces of the parts that can be seen from the road."""
    mesh = join(*parts)
    a, b, c = mesh.vertices[mesh.triangles].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    kept = normal[:, 1] < _AWAY * np.sqrt((normal**2).sum(axis=1))
    corners, triangles = np.unique(mesh.triangles[kept], return_inverse=True)
    return Mesh(mesh.vertices[corners], triangles.reshape(-1, 3), mesh.materials[kept])
