"""Places between the houses, each a plot in the row of buildings: a square, a park and a petrol station.

As buildings do, they begin at y = 0, face -y, and have no backs: faces that nobody can see from the road are
left out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import cos, pi, sin

from simtown.assets.mesh import *
from simtown.assets.street.shapes import *


def _flat(x: Span, y: Span, paint: str, z: float = 0.03) -> Mesh:
    """A level rectangle."""
    return face(paint, (x[0], y[0], z), (x[1], y[0], z), (x[1], y[1], z), (x[0], y[1], z))


def _round(x: float, y: float, radius: Span, paint: str, z: float, sides: int = 10) -> Mesh:
    """A level ellipse."""
    turn = [2 * pi * (i + 0.5) / sides for i in range(sides)]
    return face(paint, *[(x + radius[0] * cos(t), y + radius[1] * sin(t), z) for t in turn])


def _topiary(x: float, y: float, size: float = 1.0) -> Mesh:
    """An evergreen ball on a stem in a white tub."""
    return join(mass((x - 0.4 * size, x + 0.4 * size), (0.03, 0.65 * size), "trim",
                      (y - 0.4 * size, y + 0.4 * size)),
                 limb((x, y, 0.6 * size), (x, y, 1.4 * size), 0.09, "bark", sides=4),
                 blob(0.75 * size, (x, y, 1.95 * size), "needle", 6, 2))  # fmt: skip


def _fir(x: float, y: float, height: float) -> Mesh:
    """Three cones, one above the other, on a stem."""
    k = height / 5.0
    cones = [
        lathe([(z * k, r * k), ((z + h) * k, 0.0)], "needle", (x, y, 0.0), 6)
        for z, r, h in ((0.8, 1.45, 2.1), (1.9, 1.2, 2.0), (3.1, 0.9, 1.9))
    ]
    return join(limb((x, y, 0.0), (x, y, k), 0.2 * k, "bark", sides=4), cones)


def _bench(x: float, y: float) -> Mesh:
    """Facing the road."""
    return join(
        mass((x - 0.85, x + 0.85), (0.42, 0.5), "wood", (y - 0.25, y + 0.25)),
        mass((x - 0.85, x + 0.85), (0.62, 0.97), "wood", (y + 0.23, y + 0.3)),
        [patch((x + d - 0.05, x + d + 0.05), (0.0, 0.45), "dark", y - 0.2) for d in (-0.65, 0.65)],
    )


def _pennants(start: Point, stop: Point, count: int) -> Mesh:
    """Triangular flags on a line that sags between two points."""

    def at(t: float) -> Point:
        x, y, z = (a + (b - a) * t for a, b in zip(start, stop, strict=True))
        return x, y, z - 2.4 * t * (1.0 - t)

    paints, flags = ("red", "yellow", "sky", "lime"), []
    for i in range(count):
        a, b = sorted((at((i + 0.1) / count), at((i + 0.9) / count)))  # from left to right
        tip = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2 - 0.6)
        flags.append(face(paints[i % 4], tip, b, a))
    return join(flags)


def square() -> Mesh:
    """A gilded statue on a column in a fountain, flags, benches, clipped trees in tubs and a balustrade."""
    half, y = 5.0, 3.4
    tiles = [
        _flat((-half + 0.1 + 1.98 * i, -half + 0.1 + 1.98 * i + 0.95), (0.1, 6.4), "concrete", 0.045)
        for i in range(5)
    ]
    basin = lathe([(0.0, 1.9), (0.55, 2.0), (0.55, 1.65)], "stone", (0.0, y, 0.0), 9)
    column = lathe(
        [(0.4, 0.75), (1.3, 0.62), (1.3, 0.4), (4.4, 0.32), (4.6, 0.62), (4.6, 0.0)], "trim", (0.0, y, 0.0), 7
    )
    jets = [limb((s * 0.5, y - 0.3, 1.1), (s * 1.3, y - 0.8, 0.45), 0.1, "white", 0.18, 3) for s in (-1, 1)]
    statue = [
        lathe([(4.6, 0.34), (5.9, 0.36), (6.15, 0.1)], "gold", (0.0, y, 0.0), 5),
        blob(0.27, (0.0, y, 6.35), "gold", 5, 2),
        limb((0.2, y, 5.85), (0.75, y, 6.75), 0.12, "gold", 0.08),
        blob(0.19, (0.78, y, 6.9), "lamp glow", 5, 1),
    ]
    masts = [limb((x, 5.6, 0.0), (x, 5.6, 4.1), 0.08, "charcoal", sides=3) for x in (-4.7, 4.7)]
    flags = [_pennants((0.0, y - 0.4, 4.6), (x, 5.6, 4.1), 6) for x in (-4.7, 4.7)]
    wall = [
        mass((-half, half), (0.0, 0.3), "stone", (6.6, 7.0)),
        mass((-half, half), (0.95, 1.15), "stone", (6.6, 7.0)),
        *[
            patch((x - 0.18, x + 0.18), (0.3, 0.95), "trim", 6.7)
            for x in (-4.8, -3.6, -2.4, -1.2, 0.0, 1.2, 2.4, 3.6, 4.8)
        ],
    ]
    pots = [
        lathe([(0.03, 0.3), (0.5, 0.42), (0.5, 0.0)], "brick", (x, 0.7, 0.0), 6)
        + blob((0.48, 0.42, 0.34), (x, 0.7, 0.72), paint, 6, 2)
        for x, paint in ((-1.5, "coral"), (1.5, "yellow"))
    ]
    trees = [_topiary(x, 1.6) for x in (-4.1, 4.1)]
    return roadside([_flat((-half, half), (0.0, 7.0), "sand"), *tiles, basin,
                     _round(0.0, y, (1.75, 1.75), "water", 0.45), column, *jets, *statue, *masts, *flags,
                     *wall, *pots, *trees, *[_bench(x, 2.6) for x in (-3.0, 3.0)]])  # fmt: skip


def _bandstand(x: float, y: float) -> Mesh:
    """A round stage under a pointed roof on slim posts."""
    posts = [
        limb(
            (x + 1.75 * cos(t), y + 1.75 * sin(t), 0.5),
            (x + 1.75 * cos(t), y + 1.75 * sin(t), 2.9),
            0.08,
            "trim",
            sides=3,
        )
        for t in (pi * (0.125 + 0.25 * i) for i in range(8))
    ]
    rail = lathe([(1.15, 1.78), (1.27, 1.78)], "trim", (x, y, 0.0), 8)
    roof = lathe([(2.75, 1.95), (2.95, 2.25), (4.2, 0.5), (4.2, 0.42)], "crimson", (x, y, 0.0), 8)
    crown = lathe([(4.15, 0.42), (4.5, 0.42), (5.0, 0.0)], "trim", (x, y, 0.0), 8)
    return join(
        lathe([(0.0, 2.1), (0.5, 2.0), (0.5, 0.0)], "stone", (x, y, 0.0), 8),
        posts,
        rail,
        roof,
        crown,
        blob(0.16, (x, y, 5.05), "gold", 4, 1),
        mass((x - 0.6, x + 0.6), (0.0, 0.25), "stone", (y - 2.5, y - 1.9)),
    )


def _duck(x: float, y: float, z: float) -> Mesh:
    return join(
        blob((0.3, 0.2, 0.18), (x, y, z + 0.1), "white", 5, 1),
        blob(0.13, (x + 0.25, y, z + 0.38), "white", 5, 1),
        limb((x + 0.33, y, z + 0.36), (x + 0.5, y, z + 0.34), 0.05, "orange", 0.03, 3),
    )


def park() -> Mesh:
    """A lawn with a bandstand, a pond with ducks, a winding path, firs, roses and a bench."""
    half = 6.0
    way = [(-0.3, 0.9, 0.0), (0.2, 1.4, 1.3), (1.1, 2.3, 2.6), (1.5, 2.7, 4.2)]
    path = [
        face("sand", (a[0], a[2], 0.05), (a[1], a[2], 0.05), (b[1], b[2], 0.05), (b[0], b[2], 0.05))
        for a, b in pairwise(way)
    ]
    pond = _round(-3.0, 2.2, (2.2, 1.5), "stone", 0.06, 12) + _round(
        -3.0, 2.2, (1.95, 1.3), "water", 0.08, 12
    )
    beds = [
        lathe([(0.03, 1.1, 0.5), (0.3, 0.9, 0.36), (0.42, 0.0)], "leaf dark", (x, y, 0.0), 7)
        for x, y in ((3.9, 0.9), (-0.9, 4.6))
    ]
    roses = [
        blob(0.17, (x + dx, y - 0.25 + 0.15 * (i % 2), 0.56), paint, 4, 1)
        for x, y, paint in ((3.9, 0.9, "red"), (-0.9, 4.6, "pink"))
        for i, dx in enumerate((-0.6, 0.0, 0.6))
    ]
    return roadside([_flat((-half, half), (0.0, 7.5), "grass"), *path, pond, _duck(-3.6, 2.1, 0.06),
                     _duck(-2.3, 2.6, 0.06), _bandstand(2.0, 5.2), *beds, *roses, _bench(-3.2, 5.0),
                     _fir(-4.9, 6.2, 5.6), _fir(5.0, 6.0, 6.4), _fir(-2.1, 6.9, 4.4)])  # fmt: skip


def _pump(x: float, y: float, paint: str) -> Mesh:
    """A petrol pump: a body with a dial, a hose and a round lamp."""
    return join(
        box((0.75, 0.55, 1.5), (x, y, 0.15), paint),
        patch((x - 0.28, x + 0.28), (1.05, 1.5), "white", y - 0.275),
        patch((x - 0.2, x + 0.2), (1.25, 1.42), "black", y - 0.275, 0.04),
        patch((x - 0.28, x + 0.28), (0.35, 0.85), "trim", y - 0.275),
        limb((x + 0.45, y - 0.1, 0.5), (x + 0.45, y - 0.1, 1.35), 0.05, "black", sides=3),
        disc(x, 1.95, 0.3, "lamp glow", y - 0.1, 0.0, 8),
    )


def petrol_station() -> Mesh:
    """Two pumps under a broad canopy, a small shop beside it and a tall sign with the prices."""
    half, low, high = 6.2, 4.0, 4.75
    canopy = [
        mass((-4.4, 2.6), (low, high), "white", (-0.4, 4.6), floor=True),
        patch((-4.4, 2.6), (low + 0.12, low + 0.6), "red", -0.4),
        letters("FUEL", -0.9, low + 0.17, 0.38, "white", -0.4, 0.05),
    ]
    posts = [mass((x - 0.17, x + 0.17), (0.0, low), "steel", (2.0, 2.34), lid=False) for x in (-3.1, 1.3)]
    stripe = [patch((x, x + 2.9), (low + 0.64, high - 0.03), "amber", -0.4, 0.03) for x in (-4.2, -0.5)]
    island = mass((-3.6, 1.8), (0.03, 0.17), "concrete", (1.6, 2.8))
    shop = [
        mass((2.9, half), (0.0, 3.1), "wall", (3.2, 7.0)),
        patch((3.15, 4.9), (0.5, 2.3), "window", 3.2, 0.04),
        patch((5.15, 5.95), (0.05, 2.3), "trim", 3.2, 0.03),
        patch((5.25, 5.85), (0.15, 2.2), "window", 3.2, 0.05),
        mass((2.8, half), (2.55, 3.25), "red", (3.0, 3.2)),
        letters("SHOP", 4.55, 2.68, 0.4, "white", 3.0),
        mass((3.3, 4.6), (0.03, 0.75), "wood", (2.7, 3.15)),
        *[blob((0.28, 0.22, 0.2), (x, 2.9, 0.85), p, 5, 1) for x, p in ((3.6, "orange"), (4.25, "lime"))],
    ]
    pylon = [
        mass((-5.95, -4.95), (0.0, 6.4), "steel", (0.5, 0.8)),
        patch((-5.85, -5.05), (5.2, 6.2), "red", 0.5, 0.03),
        disc(-5.45, 5.7, 0.34, "amber", 0.5, 0.05, 8),
        patch((-5.85, -5.05), (2.9, 5.0), "navy", 0.5, 0.03),
    ]
    prices = [
        letters(text, -5.45, z, 0.42, "amber", 0.5, 0.06)
        for text, z in (("155", 4.35), ("139", 3.7), ("170", 3.05))
    ]
    lanes = [_flat((x, x + 0.12), (0.3, 5.0), "white", 0.05) for x in (-4.3, 2.3)]
    return roadside([_flat((-half, half), (0.0, 7.0), "concrete"), *lanes, *canopy, *posts, *stripe, island,
                     _pump(-2.2, 2.2, "red"), _pump(0.4, 2.2, "teal"), *shop, *pylon, *prices])  # fmt: skip


#: Those that came with the second version of the world; see :data:`simtown.assets.street.buildings.NEWER`.
KINDS: dict[str, Callable[[], Mesh]] = {"square": square, "park": park, "petrol station": petrol_station}
