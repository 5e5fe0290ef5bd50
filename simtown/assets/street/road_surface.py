"""What never changes: road, pavements, lawn and hills, and the clouds above them.

The road runs along x with two lanes: the near one (y < 0) heads right, the far one (y > 0) heads left. A
parking strip lies before them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin

import numpy as np

from simtown.assets.mesh import *
from simtown.assets.palette import material
from simtown.assets.street.shapes import *

#: Half the width of the two lanes, which is also the far kerb, and the far edge of the far pavement, metres.
ROAD_EDGE, PAVEMENT_EDGE = 3.7, 6.6
#: The near kerb, at the outer side of the parking strip, and the outer edge of the pavement behind it (y,
#: metres).
NEAR_KERB, NEAR_PAVEMENT = -5.8, -7.4
#: How far the street reaches to either side, metres.
REACH = 220.0


def _strip(x: tuple[float, float], y: tuple[float, float], paint: str, z: float = 0.0) -> Mesh:
    """A flat rectangle at height z."""
    corners = np.array([(x[0], y[0], z), (x[1], y[0], z), (x[1], y[1], z), (x[0], y[1], z)])
    return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]), np.full(2, material(paint)))


def _ridge(
    y: float, base: float, swell: float, shift: float, paint: str, bands: tuple[tuple[float, float], ...]
) -> Mesh:
    """A chain of round hills right across the view, from y on and leaning back.

    Its height is `base` metres, give or take `swell`, in waves that `shift` (radians) moves. `bands` are
    shares of the height and how far back each lies, as a share of the height too.
    """
    right = [*range(0, 81, 20), *range(120, int(REACH) + 1, 50)]  # finer where pictures of streets look
    xs = [-x for x in right[:0:-1]] + right
    crest = [
        base + swell * (0.6 * sin(x / 31.0 + shift) + 0.3 * sin(x / 13.7 + 2.0 * shift) + 0.1 * sin(x / 7.1))
        for x in xs
    ]
    rows = [
        [(x, y + back * h, up * h) for x, h in zip(xs, crest, strict=True)]
        for up, back in ((0.0, 0.0), *bands)
    ]
    n = len(xs)
    quads = [
        (k * n + i, k * n + i + 1, (k + 1) * n + i + 1, (k + 1) * n + i)
        for k in range(len(bands))
        for i in range(n - 1)
    ]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    return Mesh(
        np.array([p for row in rows for p in row]), triangles, np.full(len(triangles), material(paint))
    )


def _manhole(x: float, y: float) -> Mesh:
    """An iron cover in its rim."""

    def cover(radius: float, sides: int, paint: str, z: float) -> Mesh:
        turn = [2 * pi * (i + 0.5) / sides for i in range(sides)]
        return face(paint, *[(x + radius * cos(t), y + radius * sin(t), z) for t in turn])

    return cover(0.44, 8, "iron", 0.004) + cover(0.34, 4, "parking", 0.008)


def ground() -> Mesh:
    """The whole static set, lying at z = 0 and just below. About 300 triangles, most of them out of sight."""
    wide = (-REACH, REACH)
    parts = [
        _strip(wide, (-40.0, NEAR_PAVEMENT), "grass"),
        _strip(wide, (NEAR_PAVEMENT, NEAR_KERB - 0.22), "pavement"),
        _strip(wide, (NEAR_KERB - 0.22, NEAR_KERB), "kerb"),
        _strip(wide, (NEAR_KERB, -ROAD_EDGE), "parking"),
        _strip(wide, (-ROAD_EDGE, ROAD_EDGE), "asphalt"),
        _strip(wide, (ROAD_EDGE, ROAD_EDGE + 0.22), "kerb"),
        _strip(wide, (ROAD_EDGE + 0.22, PAVEMENT_EDGE), "pavement"),
        _strip(wide, (PAVEMENT_EDGE, 60.0), "lawn"),
        _strip(wide, (ROAD_EDGE - 0.37, ROAD_EDGE - 0.25), "marking", 0.004),
    ]
    for i in range(-10, 10):
        parts.append(_strip((3.0 * i + 0.6, 3.0 * i + 2.2), (-0.08, 0.08), "marking yellow", 0.004))
        if i % 2:
            parts += [
                _strip((x, x + 1.2), (-ROAD_EDGE, -ROAD_EDGE + 0.12), "marking", 0.004)
                for x in (3.0 * i + 0.6, 3.0 * i + 2.6)
            ]
    for i in range(-5, 6):  # parking bays, 6 m long: a T where two of them meet
        x = 6.0 * i + 2.2
        parts.append(_strip((x - 0.06, x + 0.06), (NEAR_KERB + 0.3, -ROAD_EDGE), "marking", 0.004))
        parts.append(_strip((x - 0.6, x + 0.6), (-ROAD_EDGE, -ROAD_EDGE + 0.12), "marking", 0.004))
    for i in range(-15, 16):
        parts.append(
            _strip((2.0 * i - 0.03, 2.0 * i + 0.03), (ROAD_EDGE + 0.22, PAVEMENT_EDGE), "stone", 0.004)
        )
    parts += [_manhole(x, y) for x, y in ((-17.2, -1.0), (-3.4, 0.95), (6.3, -1.5), (18.8, 1.2))]
    parts.append(_ridge(96.0, 8.5, 4.5, 0.4, "hill", ((0.6, 0.22), (1.0, 0.44))))
    parts.append(_ridge(118.0, 19.0, 8.0, 2.2, "hill far", ((1.0, 0.5),)))
    return join(parts) + _strip(wide, (60.0, 130.0), "lawn", -0.02)


def _cloud(puffs: tuple[tuple[float, float, float], ...]) -> Mesh:
    return join(
        ball((r * 1.25, r * 0.6, r * 0.8), (x, 0.0, z), "cloud", sides=8, rings=3, low=-0.35)
        for x, z, r in puffs
    )


def small_cloud() -> Mesh:
    """Three puffs."""
    return _cloud(((-2.4, 0.0, 1.8), (0.2, 0.7, 2.6), (2.8, 0.0, 1.7)))


def long_cloud() -> Mesh:
    """Five puffs in a row."""
    return _cloud(((-5.2, 0.0, 1.6), (-2.6, 0.5, 2.3), (0.4, 1.0, 2.8), (3.2, 0.5, 2.2), (5.6, 0.0, 1.5)))


def tall_cloud() -> Mesh:
    """A heap of puffs."""
    return _cloud(((-2.6, 0.0, 2.2), (0.0, 1.4, 3.0), (2.6, 0.0, 2.4), (0.6, 3.2, 1.9)))


KINDS: dict[str, Callable[[], Mesh]] = {
    "small cloud": small_cloud,
    "long cloud": long_cloud,
    "tall cloud": tall_cloud,
}
