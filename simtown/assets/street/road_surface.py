"""The parts that never change: road, pavements, lawn and hills, and the clouds above them.

The road runs along x with two lanes: the near one (y < 0) heads right, the far one (y > 0) heads left. A
parking strip lies before them.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import sin

from simtown.assets.mesh import *
from simtown.assets.street.shapes import *

#: Half the width of the two lanes, which is also the far kerb, and the far edge of the far pavement, metres.
ROAD_EDGE, PAVEMENT_EDGE = 3.7, 6.6
#: The near kerb, at the outer side of the parking strip, and the outer edge of the pavement behind it (y,
#: metres).
NEAR_KERB, NEAR_PAVEMENT = -5.8, -7.4
#: How far the street reaches to either side, metres.
REACH = 220.0


def _ridge(y: float, base: float, swell: float, shift: float, paint: str, *bands: Span) -> Mesh:
    """A chain of round hills right across the view, from y on and leaning back.

    Its height is `base` metres, give or take `swell`, in waves that `shift` (radians) moves. `bands` are
    shares of the height and how far back each lies, as a share of the height too.
    """
    right = [*range(0, 81, 20), *range(120, int(REACH) + 1, 50)]  # finer where pictures of streets look
    xs = [-x for x in right[:0:-1]] + right
    waves = [0.6 * sin(x / 31.0 + shift) + 0.3 * sin(x / 13.7 + 2.0 * shift) + 0.1 * sin(x / 7.1) for x in xs]
    crest = [(x, base + swell * wave) for x, wave in zip(xs, waves, strict=True)]
    points = [(x, y + back * h, up * h) for up, back in ((0.0, 0.0), *bands) for x, h in crest]
    n = len(xs)
    lefts = [k * n + i for k in range(len(bands)) for i in range(n - 1)]
    return Mesh.of(points, [t for a in lefts for t in ((a, a + 1, a + n + 1), (a, a + n + 1, a + n))], paint)


def _manhole(x: float, y: float) -> Mesh:
    """An iron cover in its rim."""
    return pool(x, y, (0.44, 0.44), "iron", 0.004, 8) + pool(x, y, (0.34, 0.34), "parking", 0.008, 4)


def ground() -> Mesh:
    """The whole static set, lying at z = 0 and just below. About 300 triangles, most of them out of sight."""
    bay = (-ROAD_EDGE, -ROAD_EDGE + 0.12)
    edges = [-40.0, NEAR_PAVEMENT, NEAR_KERB - 0.22, NEAR_KERB, -ROAD_EDGE]
    edges += [ROAD_EDGE, ROAD_EDGE + 0.22, PAVEMENT_EDGE, 60.0]
    paints = ("grass", "pavement", "kerb", "parking", "asphalt", "kerb", "pavement", "lawn")
    parts = [level(REACH, y, paint) for y, paint in zip(pairwise(edges), paints, strict=True)]
    parts.append(level(REACH, (ROAD_EDGE - 0.37, ROAD_EDGE - 0.25), "marking", 0.004))
    for i in range(-10, 10):
        parts.append(level((3.0 * i + 0.6, 3.0 * i + 2.2), (-0.08, 0.08), "marking yellow", 0.004))
        for x in (3.0 * i + 0.6, 3.0 * i + 2.6) if i % 2 else ():
            parts.append(level((x, x + 1.2), bay, "marking", 0.004))
    for i in range(-5, 6):  # parking bays, 6 m long: a T where two of them meet
        x = 6.0 * i + 2.2
        parts.append(level(about(x, 0.06), (NEAR_KERB + 0.3, -ROAD_EDGE), "marking", 0.004))
        parts.append(level(about(x, 0.6), bay, "marking", 0.004))
    for i in range(-15, 16):
        parts.append(level(about(2.0 * i, 0.03), (ROAD_EDGE + 0.22, PAVEMENT_EDGE), "stone", 0.004))
    parts += [_manhole(x, y) for x, y in ((-17.2, -1.0), (-3.4, 0.95), (6.3, -1.5), (18.8, 1.2))]
    parts.append(_ridge(96.0, 8.5, 4.5, 0.4, "hill", (0.6, 0.22), (1.0, 0.44)))
    parts.append(_ridge(118.0, 19.0, 8.0, 2.2, "hill far", (1.0, 0.5)))
    return join(parts) + level(REACH, (60.0, 130.0), "lawn", -0.02)


def _cloud(*puffs: Point) -> Mesh:
    """Puffs of (x, z, radius)."""
    return join(ball((r * 1.25, r * 0.6, r * 0.8), (x, 0.0, z), "cloud", 8, 3, -0.35) for x, z, r in puffs)


_PUFFS: dict[str, tuple[Point, ...]] = {
    "small cloud": ((-2.4, 0.0, 1.8), (0.2, 0.7, 2.6), (2.8, 0.0, 1.7)),
    "long cloud": ((-5.2, 0.0, 1.6), (-2.6, 0.5, 2.3), (0.4, 1.0, 2.8), (3.2, 0.5, 2.2), (5.6, 0.0, 1.5)),
    "tall cloud": ((-2.6, 0.0, 2.2), (0.0, 1.4, 3.0), (2.6, 0.0, 2.4), (0.6, 3.2, 1.9)),
}
KINDS = {name: partial(_cloud, *puffs) for name, puffs in _PUFFS.items()}
