"""Places between the houses, each a plot in the row of buildings: a square, a park and a petrol station.

As buildings do, they begin at y = 0, face -y, and have no backs: faces that nobody can see from the road are
left out.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, sin

from simtown.assets.mesh import *
from simtown.assets.street.shapes import *


def _topiary(x: float, y: float) -> Mesh:
    """An evergreen ball on a stem in a white tub."""
    tub = mass(about(x, 0.4), (0.03, 0.65), "trim", about(y, 0.4))
    return join(tub, limb((x, y, 0.6), (x, y, 1.4), 0.09, "bark"), blob(0.75, (x, y, 1.95), "needle", 6, 2))


def _fir(x: float, y: float, height: float) -> Mesh:
    """Three cones, one above the other, on a stem."""
    k, sizes = height / 5.0, ((0.8, 1.45, 2.1), (1.9, 1.2, 2.0), (3.1, 0.9, 1.9))
    cones = [lathe([(z * k, r * k), ((z + h) * k, 0.0)], "needle", (x, y, 0.0)) for z, r, h in sizes]
    return join(limb((x, y, 0.0), (x, y, k), 0.2 * k, "bark"), cones)


def _bench(x: float, y: float) -> Mesh:
    """Facing the road."""
    seat = mass(about(x, 0.85), (0.42, 0.5), "wood", about(y, 0.25))
    rest = mass(about(x, 0.85), (0.62, 0.97), "wood", (y + 0.23, y + 0.3))
    return join(seat, rest, patches((x - 0.65, x + 0.65), 0.05, (0.0, 0.45), "dark", y - 0.2))


def _pennants(start: Point, stop: Point) -> Mesh:
    """Six triangular flags on a line that sags between two points."""

    def at(t: float) -> Point:
        x, y, z = (a + (b - a) * t for a, b in zip(start, stop, strict=True))
        return x, y, z - 2.4 * t * (1.0 - t)

    flags = []
    for i, paint in enumerate(("red", "yellow", "sky", "lime", "red", "yellow")):
        a, b = sorted((at((i + 0.1) / 6), at((i + 0.9) / 6)))  # from left to right
        x, y, z = ((p + q) / 2 for p, q in zip(a, b, strict=True))
        flags.append(face(paint, (x, y, z - 0.6), b, a))
    return join(flags)


def square() -> Mesh:
    """A gilded statue on a column in a fountain, flags, benches, clipped trees in tubs and a balustrade."""
    y, at, pots = 3.4, (0.0, 3.4, 0.0), []
    tiles = [-5.0 + 0.1 + 1.98 * i for i in range(5)]
    column = [(0.4, 0.75), (1.3, 0.62), (1.3, 0.4), (4.4, 0.32), (4.6, 0.62), (4.6, 0.0)]
    jets = ((-0.5, -1.3), (0.5, 1.3))
    for x, paint in ((-1.5, "coral"), (1.5, "yellow")):
        pots.append(lathe([(0.03, 0.3), (0.5, 0.42), (0.5, 0.0)], "brick", (x, 0.7, 0.0)))
        pots.append(blob((0.48, 0.42, 0.34), (x, 0.7, 0.72), paint, 6, 2))
    return roadside(
        level(5.0, (0.0, 7.0), "sand", 0.03),
        [level((left, left + 0.95), (0.1, 6.4), "concrete", 0.045) for left in tiles],
        lathe([(0.0, 1.9), (0.55, 2.0), (0.55, 1.65)], "stone", at, 9),
        pool(0.0, y, (1.75, 1.75), "water", 0.45) + lathe(column, "trim", at, 7),
        [limb((a, y - 0.3, 1.1), (b, y - 0.8, 0.45), 0.1, "white", 0.18, 3) for a, b in jets],
        lathe([(4.6, 0.34), (5.9, 0.36), (6.15, 0.1)], "gold", at, 5)
        + blob(0.27, (0.0, y, 6.35), "gold", 5, 2),
        limb((0.2, y, 5.85), (0.75, y, 6.75), 0.12, "gold", 0.08)
        + blob(0.19, (0.78, y, 6.9), "lamp glow", 5, 1),
        [limb((x, 5.6, 0.0), (x, 5.6, 4.1), 0.08, "charcoal", sides=3) for x in (-4.7, 4.7)],
        [_pennants((0.0, y - 0.4, 4.6), (x, 5.6, 4.1)) for x in (-4.7, 4.7)],
        mass(5.0, (0.0, 0.3), "stone", (6.6, 7.0)) + mass(5.0, (0.95, 1.15), "stone", (6.6, 7.0)),
        patches((-4.8, -3.6, -2.4, -1.2, 0.0, 1.2, 2.4, 3.6, 4.8), 0.18, (0.3, 0.95), "trim", 6.7),
        join(pots, _topiary(-4.1, 1.6), _topiary(4.1, 1.6), _bench(-3.0, 2.6), _bench(3.0, 2.6)),
    )


def _bandstand(x: float, y: float) -> Mesh:
    """A round stage under a pointed roof on slim posts."""
    feet = [(x + 1.75 * cos(t), y + 1.75 * sin(t)) for t in (pi * (0.125 + 0.25 * i) for i in range(8))]
    at = (x, y, 0.0)
    return join(
        lathe([(0.0, 2.1), (0.5, 2.0), (0.5, 0.0)], "stone", at, 8),
        [limb((*foot, 0.5), (*foot, 2.9), 0.08, "trim", sides=3) for foot in feet],
        lathe([(1.15, 1.78), (1.27, 1.78)], "trim", at, 8),
        lathe([(2.75, 1.95), (2.95, 2.25), (4.2, 0.5), (4.2, 0.42)], "crimson", at, 8),
        lathe([(4.15, 0.42), (4.5, 0.42), (5.0, 0.0)], "trim", at, 8),
        blob(0.16, (x, y, 5.05), "gold", 4, 1),
        mass(about(x, 0.6), (0.0, 0.25), "stone", (y - 2.5, y - 1.9)),
    )


def _duck(x: float, y: float, z: float) -> Mesh:
    trunk = blob((0.3, 0.2, 0.18), (x, y, z + 0.1), "white", 5, 1)
    head = blob(0.13, (x + 0.25, y, z + 0.38), "white", 5, 1)
    return join(trunk, head, limb((x + 0.33, y, z + 0.36), (x + 0.5, y, z + 0.34), 0.05, "orange", 0.03, 3))


def park() -> Mesh:
    """A lawn with a bandstand, a pond with ducks, a winding path, firs, roses and a bench."""
    path, beds, roses = [], [], []
    bends = ((-0.3, 0.9, 0.0), (0.2, 1.4, 1.3), (1.1, 2.3, 2.6), (1.5, 2.7, 4.2))  # left, right and y
    for (a, b, y), (c, d, farther) in pairwise(bends):
        path.append(face("sand", (a, y, 0.05), (b, y, 0.05), (d, farther, 0.05), (c, farther, 0.05)))
    for x, y, paint in ((3.9, 0.9, "red"), (-0.9, 4.6, "pink")):
        beds.append(lathe([(0.03, 1.1, 0.5), (0.3, 0.9, 0.36), (0.42, 0.0)], "leaf dark", (x, y, 0.0), 7))
        spots = [(x + dx, y - 0.25 + 0.15 * (i % 2), 0.56) for i, dx in enumerate((-0.6, 0.0, 0.6))]
        roses += [blob(0.17, spot, paint, 4, 1) for spot in spots]
    return roadside(
        join(level(6.0, (0.0, 7.5), "grass", 0.03), path, pool(-3.0, 2.2, (2.2, 1.5), "stone", 0.06, 12)),
        pool(-3.0, 2.2, (1.95, 1.3), "water", 0.08, 12) + _duck(-3.6, 2.1, 0.06) + _duck(-2.3, 2.6, 0.06),
        join(_bandstand(2.0, 5.2), beds, roses, _bench(-3.2, 5.0)),
        _fir(-4.9, 6.2, 5.6) + _fir(5.0, 6.0, 6.4) + _fir(-2.1, 6.9, 4.4),
    )


def _pump(x: float, y: float, paint: str) -> Mesh:
    """A petrol pump: a body with a dial, a hose and a round lamp."""
    front = y - 0.275
    dial = patch(about(x, 0.28), (1.05, 1.5), "white", front)
    dial += patch(about(x, 0.2), (1.25, 1.42), "black", front, 0.04)
    hose = limb((x + 0.45, y - 0.1, 0.5), (x + 0.45, y - 0.1, 1.35), 0.05, "black", sides=3)
    lamp = disc(x, 1.95, 0.3, "lamp glow", y - 0.1, 0.0)
    plate = patch(about(x, 0.28), (0.35, 0.85), "trim", front)
    return join(box((0.75, 0.55, 1.5), (x, y, 0.15), paint), dial, plate, hose, lamp)


def petrol_station() -> Mesh:
    """Two pumps under a broad canopy, a small shop beside it and a tall sign with the prices."""
    half, low, high = 6.2, 4.0, 4.75
    prices, fruit = (("155", 4.35), ("139", 3.7), ("170", 3.05)), ((3.6, "orange"), (4.25, "lime"))
    return roadside(
        level(half, (0.0, 7.0), "concrete", 0.03),
        [level((x, x + 0.12), (0.3, 5.0), "white", 0.05) for x in (-4.3, 2.3)],
        mass((-4.4, 2.6), (low, high), "white", (-0.4, 4.6), floor=True),
        patch((-4.4, 2.6), (low + 0.12, low + 0.6), "red", -0.4),
        letters("FUEL", -0.9, low + 0.17, 0.38, "white", -0.4, 0.05),
        posts((-3.1, 1.3), 0.17, (0.0, low), "steel", (2.0, 2.34)),
        [patch((x, x + 2.9), (low + 0.64, high - 0.03), "amber", -0.4, 0.03) for x in (-4.2, -0.5)],
        mass((-3.6, 1.8), (0.03, 0.17), "concrete", (1.6, 2.8)),
        _pump(-2.2, 2.2, "red") + _pump(0.4, 2.2, "teal"),
        mass((2.9, half), (0.0, 3.1), "wall", (3.2, 7.0))
        + patch((3.15, 4.9), (0.5, 2.3), "window", 3.2, 0.04),
        patch((5.15, 5.95), (0.05, 2.3), "trim", 3.2, 0.03)
        + patch((5.25, 5.85), (0.15, 2.2), "window", 3.2, 0.05),
        mass((2.8, half), (2.55, 3.25), "red", (3.0, 3.2)) + letters("SHOP", 4.55, 2.68, 0.4, "white", 3.0),
        mass((3.3, 4.6), (0.03, 0.75), "wood", (2.7, 3.15)),
        [blob((0.28, 0.22, 0.2), (x, 2.9, 0.85), paint, 5, 1) for x, paint in fruit],
        mass((-5.95, -4.95), (0.0, 6.4), "steel", (0.5, 0.8)),
        patch((-5.85, -5.05), (5.2, 6.2), "red", 0.5, 0.03) + disc(-5.45, 5.7, 0.34, "amber", 0.5, 0.05),
        patch((-5.85, -5.05), (2.9, 5.0), "navy", 0.5, 0.03),
        [letters(text, -5.45, z, 0.42, "amber", 0.5, 0.06) for text, z in prices],
    )


#: Those that came with the second version of the world; see :data:`simtown.assets.street.buildings.NEWER`.
KINDS = kinds(square, park, petrol_station)
