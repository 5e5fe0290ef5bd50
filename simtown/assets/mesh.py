"""Triangle meshes with a material per triangle, and the small vocabulary of parts the town is built from.

Object frame: metres, right-handed, z up, x forward, y to the left; wheels stand on z = 0. Every part is a
:class:`Mesh`; ``a + b`` joins two, ``mesh.at(...)`` and ``mesh.turned(...)`` move one. A new kind is a sum of
parts. Modules of vehicles and of the street import this vocabulary whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import cos, pi, radians, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from simtown.assets.palette import MATERIALS, material

Point = tuple[float, float, float]
#: From one coordinate to another; also two coordinates of a point in a plane.
Span = tuple[float, float]

ORIGIN: Point = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Mesh:
    """Triangles with outward (counter-clockwise) winding.

    Attributes:
        vertices: (n, 3) float64, metres.
        triangles: (m, 3) int64 indices of vertices.
        materials: (m,) int64 indices of :data:`simtown.assets.palette.MATERIALS`.
        people: (m,) bool, or one for all: which triangles are of people on a vehicle.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    materials: np.ndarray
    people: np.ndarray | bool = False

    @classmethod
    def of(cls, vertices: ArrayLike, triangles: ArrayLike, paint: str) -> Mesh:
        """A mesh of one material."""
        faces = np.asarray(triangles)
        return cls(np.asarray(vertices, dtype=np.float64), faces, np.full(len(faces), material(paint)))

    def __add__(self, other: Mesh) -> Mesh:
        return join(self, other)

    def at(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Mesh:
        """Moved by (x, y, z) metres."""
        return replace(self, vertices=self.vertices + np.array([x, y, z]))

    def turned(self, degrees: float, axis: str = "z") -> Mesh:
        """Turned about the x, y or z axis through the origin, counter-clockwise seen from its tip."""
        c, s = cos(radians(degrees)), sin(radians(degrees))
        a, b = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        v, (p, q) = self.vertices.copy(), self.vertices[:, [a, b]].T
        v[:, a], v[:, b] = c * p - s * q, s * p + c * q
        return replace(self, vertices=v)

    def scaled(self, x: float, y: float | None = None, z: float | None = None) -> Mesh:
        """Scaled about the origin; one number scales all axes."""
        factors = np.array([x, x if y is None else y, x if z is None else z])
        return replace(self, vertices=self.vertices * factors)

    def mirrored(self) -> Mesh:
        """Reflected in the plane y = 0 (left to right)."""
        return replace(self, vertices=self.vertices * [1.0, -1.0, 1.0], triangles=self.triangles[:, ::-1])

    def both_sides(self) -> Mesh:
        """This part and its mirror image in y = 0."""
        return self + self.mirrored()

    def painted(self, **swaps: str) -> Mesh:
        """With materials exchanged: ``mesh.painted(red="green")`` makes red triangles green."""
        table = np.arange(len(MATERIALS))
        for old, new in swaps.items():
            table[material(old.replace("_", " "))] = material(new)
        return replace(self, materials=table[self.materials])

    @property
    def bounds(self) -> np.ndarray:
        """(2, 3) smallest and largest corner, metres."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])


def somebody(*parts: Mesh | Iterable[Mesh]) -> Mesh:
    """The parts of somebody on a vehicle, whose clothes are not the vehicle's paint."""
    return replace(join(*parts), people=True)


class VehicleKind(NamedTuple):
    """A kind of vehicle: its mesh, and the plain paint of its body, which a scene may replace.

    A kind of one's own (docs/own-kinds.md) may also say its plural, and a noun for it and other kinds.
    """

    make: Callable[[], Mesh]
    body: str
    plural: str = ""
    group: str = "vehicle"


def face_normals(corners: np.ndarray) -> np.ndarray:
    """(t, 3) outward normals of triangles of (t, 3, 3) corners, twice as long as their areas."""
    p, q, r = corners.swapaxes(0, 1)
    return np.cross(q - p, r - p)


def dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of rows of three, summed in one order on every processor."""
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def lengths(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(dots(vectors, vectors))


def join(*parts: Mesh | Iterable[Mesh]) -> Mesh:
    """One mesh of several, and of several in a list."""
    meshes = [mesh for part in parts for mesh in ([part] if isinstance(part, Mesh) else part)]
    offsets = np.cumsum([0] + [len(m.vertices) for m in meshes])
    return Mesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate([m.triangles + o for m, o in zip(meshes, offsets, strict=False)]),
        np.concatenate([m.materials for m in meshes]),
        np.concatenate([np.broadcast_to(m.people, len(m.triangles)) for m in meshes]),
    )


def loft(sections: Sequence[Sequence[Point]] | np.ndarray, paint: str, caps: bool = True) -> Mesh:
    """A convex-ended solid through closed loops of equally many points, one after the other.

    Winding is fixed by the sign of the volume, so loops may run either way round.
    """
    loops = np.asarray(sections, dtype=np.float64)
    n, k = loops.shape[:2]
    i, j = np.meshgrid(np.arange(n - 1), np.arange(k), indexing="ij")
    a, b = i * k + j, i * k + (j + 1) % k
    c, d = a + k, b + k
    faces = [np.stack([a, b, d], -1).reshape(-1, 3), np.stack([a, d, c], -1).reshape(-1, 3)]
    if caps:
        fan = np.stack([np.zeros(k - 2, int), np.arange(1, k - 1), np.arange(2, k)], -1)
        faces += [fan[:, ::-1], fan + (n - 1) * k]
    vertices, triangles = loops.reshape(-1, 3), np.concatenate(faces)
    normals = face_normals(vertices[triangles])
    if (vertices[triangles[:, 0]] * normals).sum() < 0:
        triangles, normals = triangles[:, ::-1], -normals
    triangles = triangles[np.abs(normals).max(axis=1) > 2e-5]  # where loops close to a point or a line
    return Mesh.of(vertices, triangles, paint)


def _level(x: Span, y: float, z: float) -> list[Point]:
    """The corners of a level rectangle between two x and ±y."""
    return [(x[0], -y, z), (x[1], -y, z), (x[1], y, z), (x[0], y, z)]


def box(size: Point, at: Point, paint: str) -> Mesh:
    """A box of `size` (length, width, height); the middle of its floor is `at` a point. 12 triangles."""
    return frustum(size, size[:2], at, paint)


def frustum(size: Point, top: Span, at: Point, paint: str, shift: float = 0.0) -> Mesh:
    """A :func:`box` with a top of another (length, width), moved forward by `shift`: a roof, a hopper."""
    x, u = size[0] / 2, top[0] / 2
    lower, upper = _level((-x, x), size[1] / 2, 0.0), _level((shift - u, shift + u), top[1] / 2, size[2])
    return loft([lower, upper], paint).at(*at)


#: From this bevel on, metres, an edge is rounded in two steps: a smaller one's silhouette is the same.
ROUND = 0.08


def _fillet(bevel: float) -> list[Span]:
    """(inwards, upwards) metres from the beginning of a bend to its end: an arc of one or two steps."""
    bend = [(0.3 * bevel, 0.7 * bevel)] if bevel >= ROUND else []
    return [(0.0, 0.0), *bend, (bevel, bevel)]


def block(size: Point, at: Point, paint: str, bevel: float = 0.1) -> Mesh:
    """A soft, toy-like box: its upper edges are rounded by `bevel` metres, its upright ones cut.

    60 triangles, or 44 if it is small.
    """
    (x, y, z), c = (size[0] / 2, size[1] / 2, size[2]), bevel

    def ring(inset: float, height: float) -> list[Point]:
        a, b = x - inset, y - inset
        front = [(-a + c, -b), (a - c, -b), (a, -b + c), (a, b - c)]
        return [(s * u, s * v, height) for s in (1, -1) for u, v in front]

    return loft([ring(0.0, 0.0), *[ring(inwards, z - c + up) for inwards, up in _fillet(c)]], paint).at(*at)


def body(stations: Sequence[tuple[float, ...]], paint: str, bevel: float = 0.08) -> Mesh:
    """A vehicle's shell lofted along x through stations (x, half width, bottom, top).

    The shoulder is rounded by `bevel`. List stations from tail to nose.
    """
    steps = [(i / bevel, up / bevel) for i, up in _fillet(bevel)] if bevel else [(0.0, 0.0)]
    loops = []
    for x, w, low, high in stations:
        c = min(bevel, 0.45 * (high - low), 0.45 * w)
        inner = w - c
        left = [(x, w + (inner - w) * i, high - c + c * up) for i, up in steps]
        loops.append([(x, -w, low), (x, w, low), *left, *[(x, -y, z) for x, y, z in reversed(left)]])
    return loft(loops, paint)


def profile(
    outline: Sequence[Span], width: float, paint: str, width_top: float | None = None, y: float = 0.0
) -> Mesh:
    """A convex side outline of (x, z) points, `width` wide about y and `width_top` at its top."""
    low, high = min(z for _, z in outline), max(z for _, z in outline)

    def half(z: float) -> float:
        t = (z - low) / (high - low)
        return (width * (1 - t) + (width if width_top is None else width_top) * t) / 2

    return loft([[(x, s * half(z), z) for x, z in outline] for s in (-1, 1)], paint).at(y=y)


def polygon(sides: int) -> list[Span]:
    """The corners of a regular polygon about the origin, at distance 1, counter-clockwise."""
    turn = [2 * pi * (i + 0.5) / sides for i in range(sides)]
    return [(cos(t), sin(t)) for t in turn]


def cylinder(
    radius: float,
    length: float,
    at: Point,
    paint: str,
    axis: str = "z",
    sides: int = 10,
    end: float | None = None,
) -> Mesh:
    """A cylinder from `at` along an axis; a cone or frustum if its `end` has another radius (0 for a tip)."""
    ends = [(0.0, radius), (length, radius if end is None else max(end, 1e-6))]
    order = {"x": (2, 0, 1), "y": (1, 2, 0), "z": (0, 1, 2)}[axis]
    loops = np.array([[(r * c, r * s, h) for c, s in polygon(sides)] for h, r in ends])[:, :, order]
    return loft(loops, paint).at(*at)


def rod(
    start: Point, stop: Point, radius: float, paint: str, sides: int = 4, end: float | None = None
) -> Mesh:
    """A thin bar between two points, a taper if `end` is another radius: frames, rails, cranes, branches."""
    a, b = np.array(start, dtype=np.float64), np.array(stop, dtype=np.float64)
    along = (b - a) / np.sqrt(((b - a) ** 2).sum())
    u = np.cross(along, [0.0, 0.0, 1.0] if abs(along[2]) < 0.9 else [1.0, 0.0, 0.0])
    u /= np.sqrt((u**2).sum())
    v = np.cross(along, u)
    ends = ((a, radius), (b, radius if end is None else max(end, 1e-6)))
    return loft(np.array([[p + r * (c * u + s * v) for c, s in polygon(sides)] for p, r in ends]), paint)


def ball(
    radius: float | Point, at: Point, paint: str, sides: int = 8, rings: int = 4, low: float = -1.0
) -> Mesh:
    """A faceted ellipsoid about `at`, of one radius or (x, y, z); `low` in [-1, 1) cuts it off below."""
    rx, ry, rz = radius if isinstance(radius, tuple) else (radius, radius, radius)
    loops = []
    for i in range(rings + 1):
        angle = pi / 2 * (low + (1 - low) * i / rings)
        flat, height = max(cos(angle), 1e-6), sin(angle)
        # half a step a ring, along the quads' diagonals
        turn = [2 * pi * (j - 0.5 * i) / sides for j in range(sides)]
        loops.append([(rx * flat * cos(t), ry * flat * sin(t), rz * height) for t in turn])
    return loft(loops, paint).at(*at)


def panel(
    corners: Sequence[Point], paint: str, u: Span = (0.0, 1.0), v: Span = (0.0, 1.0), lift: float = 0.015
) -> Mesh:
    """A flat decal (2 triangles) on a quad: window, stripe, sign.

    `corners` run counter-clockwise seen from outside, from lower left: (left, bottom), (right, bottom),
    (right, top), (left, top). The decal covers the part `u` (left to right) by `v` (bottom to top) and stands
    `lift` metres proud.
    """
    a, b, c, d = (np.array(p, dtype=np.float64) for p in corners)
    normal = np.cross(c - a, d - b)
    normal /= np.sqrt((normal**2).sum())

    def spot(s: float, t: float) -> np.ndarray:
        return (a * (1 - s) + b * s) * (1 - t) + (d * (1 - s) + c * s) * t + lift * normal

    vertices = np.stack([spot(u[0], v[0]), spot(u[1], v[0]), spot(u[1], v[1]), spot(u[0], v[1])])
    return Mesh.of(vertices, [[0, 1, 2], [0, 2, 3]], paint)


def side(
    x: Span,
    z: Span,
    y: float,
    paint: str,
    y_top: float | None = None,
    lift: float = 0.015,
    x_top: Span | None = None,
) -> Mesh:
    """The same decal on both flanks at ±y (`y_top` above), between two x (`x_top` above) and two z."""
    (a, b), (c, d), t = x, x_top or x, y if y_top is None else y_top
    corners = [(a, -y, z[0]), (b, -y, z[0]), (d, -t, z[1]), (c, -t, z[1])]
    return panel(corners, paint, lift=lift).both_sides()


def front(y: Span, z: Span, x: float, paint: str, x_top: float | None = None, lift: float = 0.015) -> Mesh:
    """A decal on a nose at x (x_top above), between two y and two z. For a tail, see :func:`back`."""
    t = x if x_top is None else x_top
    return panel([(x, y[0], z[0]), (x, y[1], z[0]), (t, y[1], z[1]), (t, y[0], z[1])], paint, lift=lift)


def back(y: Span, z: Span, x: float, paint: str, x_top: float | None = None, lift: float = 0.015) -> Mesh:
    """A decal on a tail at x (x_top above), between two y and two z."""
    return front((y[1], y[0]), z, x, paint, x_top, lift)


def top(x: Span, y: Span, z: float, paint: str, z_end: float | None = None, lift: float = 0.015) -> Mesh:
    """A decal on a roof or bonnet at height z (z_end at the second x)."""
    e = z if z_end is None else z_end
    return panel([(x[0], y[0], z), (x[1], y[0], e), (x[1], y[1], e), (x[0], y[1], z)], paint, lift=lift)


def face(paint: str, *points: Point) -> Mesh:
    """A flat convex polygon, its corners counter-clockwise seen from outside."""
    return Mesh.of(points, [(0, i, i + 1) for i in range(1, len(points) - 1)], paint)


#: A wheel smaller than this radius, metres, is plain: ten sides and no spokes.
SMALL_WHEEL = 0.24


def hub_face(radius: float, y: float, paint: str) -> Mesh:
    """The outer face of a wheel about the origin, towards +y at `y`: a rim, five openings, a pointed cap.

    21 triangles; a small wheel has no openings, and 12.
    """
    small = radius < SMALL_WHEEL

    def ring(distance: float, lift: float, corners: int) -> list[Point]:
        turns = [2 * pi * i / corners for i in range(corners)]
        return [(distance * sin(t), y + lift, distance * cos(t)) for t in turns]

    outer, inner = ring(radius * 0.5, 0.025, 25), ring(radius * 0.22, 0.025, 5)
    openings = [face("dark", inner[i], outer[5 * i - 1], outer[5 * i + 1]) for i in range(0 if small else 5)]
    rim = face(paint, *ring(radius * 0.64, 0.012, 8 if small else 12))
    tip = (0.0, y + 0.05, 0.0)
    cap = Mesh.of([*ring(radius * 0.2, 0.025, 6), tip], [(i, (i + 1) % 6, 6) for i in range(6)], paint)
    return join(rim, openings, cap)


def wheel(
    x: float,
    y: float,
    radius: float = 0.32,
    width: float = 0.22,
    hub: str = "hub",
    tyre: str = "tyre",
    sides: int = 0,
) -> Mesh:
    """A wheel standing on the ground at (x, y), its hub on the outer face (the side away from y = 0).

    `sides` are 16 (10 of a small wheel) if not given. 81 triangles with 16.
    """
    sides = sides or (10 if radius < SMALL_WHEEL else 16)
    roll = cylinder(radius, width, (0.0, -width / 2, 0.0), tyre, axis="y", sides=sides)
    whole = roll + hub_face(radius, width / 2, hub)
    return (whole if y >= 0 else whole.mirrored()).at(x, y, radius)


def wheels(
    xs: Sequence[float], track: float, radius: float = 0.32, width: float = 0.22, hub: str = "hub"
) -> Mesh:
    """Pairs of wheels at each x, outer faces `track` metres apart."""
    return join(wheel(x, track / 2 - width / 2, radius, width, hub).both_sides() for x in xs)


def arches(xs: Sequence[float], y: float, radius: float = 0.38, paint: str = "dark", z: float = 0.32) -> Mesh:
    """Dark half-discs on both flanks (at ±y) behind the wheels, so that wheels read at a distance."""
    parts = []
    for x in xs:
        turn = [(x + radius * cos(pi * i / 8), z + radius * sin(pi * i / 8)) for i in range(9)]
        parts.append(face(paint, *[(p, -y - 0.012, q) for p, q in turn]).both_sides())
    return join(parts)


def lamps(
    nose: float, tail: float, y: float, z: float, size: float = 0.16, z_tail: float | None = None
) -> Mesh:
    """Head lamps at x = nose and tail lamps at x = tail, `y` metres either side of the middle, `z` high."""
    t = z if z_tail is None else z_tail
    head = box((0.06, size * 1.3, size), (nose, y, z), "headlamp")
    rear = box((0.06, size * 1.3, size), (tail, y, t), "taillamp")
    return (head + rear).both_sides()


def ladder(
    start: Point, stop: Point, width: float, paint: str = "steel", rungs: int = 8, radius: float = 0.04
) -> Mesh:
    """Two rails and their rungs from one point to another, `width` metres wide in y."""
    a, b = np.array(start), np.array(stop)
    off = np.array([0.0, width / 2, 0.0])
    parts = [rod(tuple(a + s * off), tuple(b + s * off), radius, paint) for s in (-1, 1)]
    for i in range(rungs):
        p = a + (b - a) * (i + 0.5) / rungs
        parts.append(rod(tuple(p - off), tuple(p + off), radius * 0.8, paint))
    return join(parts)


def cabin(
    base: Span, roof: Span, z: Span, width: Span, paint: str, pillars: Sequence[float] = (0.5,)
) -> Mesh:
    """A glasshouse: sloping windscreens and side windows under a painted roof.

    `base` and `roof` are (rear x, front x) at the belt line and at the roof, `z` their heights, `width` their
    widths; `pillars` are the places (0 rear to 1 front) of the painted posts between side windows.
    """
    (x0, x3), (x1, x2), (z0, z1), (w0, w1) = base, roof, z, (width[0] / 2, width[1] / 2)

    def ring(t: float, inset: float) -> list[Point]:
        """The outline at the share t of the height, drawn in by `inset` metres."""
        rear = x0 + (x1 - x0) * t + inset
        nose = x3 + (x2 - x3) * t - inset
        return _level((rear, nose), w0 + (w1 - w0) * t - inset, z0 + (z1 - z0) * t)

    # Windows end at 0.88 of the height; above them the roof's edge is rounded in two steps.
    edge = min(0.16 * (z1 - z0), 0.3 * (x2 - x1))
    shell = loft([ring(0.0, 0.0), ring(0.89, 0.0), ring(0.96, 0.35 * edge), ring(1.0, 1.25 * edge)], paint)
    flank = [(x0, -w0, z0), (x3, -w0, z0), (x2, -w1, z1), (x1, -w1, z1)]
    edges = pairwise([0.04, *pillars, 0.96])
    panes = [panel(flank, "glass", (a + 0.025, b - 0.025), (0.1, 0.85)) for a, b in edges]
    nose = [(x3, -w0, z0), (x3, w0, z0), (x2, w1, z1), (x2, -w1, z1)]
    tail = [(x0, w0, z0), (x0, -w0, z0), (x1, -w1, z1), (x1, w1, z1)]
    ends = [panel(corners, "glass", (0.06, 0.94), (0.08, 0.88)) for corners in (nose, tail)]
    return join(shell, ends, [p.both_sides() for p in panes])


def centred(*parts: Mesh | Iterable[Mesh]) -> Mesh:
    """The parts as one mesh, moved so that its bounds are symmetric about x = y = 0."""
    mesh = join(*parts)
    x, y, _ = mesh.bounds.mean(axis=0)
    return mesh.at(-float(x), -float(y))


def beacon(
    x: float, z: float, colours: tuple[str, str] = ("beacon red", "beacon blue"), width: float = 1.0
) -> Mesh:
    """A bar of two coloured lights across a roof."""
    bar = box((0.24, width, 0.06), (x, 0.0, z), "dark")
    size, aside = (0.2, width * 0.4, 0.16), width * 0.26
    return join(bar, *(box(size, (x, y, z + 0.06), c) for y, c in zip((aside, -aside), colours, strict=True)))
