"""What never changes: road, pavements, lawn and hills, and the clouds above them.

The road runs along x with two lanes: the near one (y < 0) heads right, the far one (y > 0) heads left.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simtown.assets.mesh import Mesh, ball, join
from simtown.assets.palette import material

#: Half the road's width and the far edge of the far pavement, metres.
ROAD_EDGE, PAVEMENT_EDGE = 3.7, 6.6
#: How far the street reaches to either side, metres.
REACH = 220.0


def _strip(x: tuple[float, float], y: tuple[float, float], paint: str, z: float = 0.0) -> Mesh:
    """A flat rectangle at height z."""
    corners = np.array([(x[0], y[0], z), (x[1], y[0], z), (x[1], y[1], z), (x[0], y[1], z)])
    return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]), np.full(2, material(paint)))


def _hill(x: float, y: float, width: float, height: float, paint: str) -> Mesh:
    """A low hill far away, as a fan facing the viewer."""
    turn = [(-1.0, 0.0), (-0.8, 0.42), (-0.5, 0.78), (-0.15, 0.97), (0.2, 1.0), (0.55, 0.74), (0.82, 0.38), (1.0, 0.0)]
    rim = np.array([(x + width * a, y, height * b) for a, b in turn])
    return Mesh(rim, np.array([[0, i + 1, i] for i in range(1, 7)]), np.full(6, material(paint)))


def ground() -> Mesh:
    """The whole static set, lying at z = 0 and just below. About 130 triangles."""
    wide = (-REACH, REACH)
    parts = [
        _strip(wide, (-40.0, -ROAD_EDGE - 1.6), "grass"),
        _strip(wide, (-ROAD_EDGE - 1.6, -ROAD_EDGE - 0.22), "pavement"),
        _strip(wide, (-ROAD_EDGE - 0.22, -ROAD_EDGE), "kerb"),
        _strip(wide, (-ROAD_EDGE, ROAD_EDGE), "asphalt"),
        _strip(wide, (ROAD_EDGE, ROAD_EDGE + 0.22), "kerb"),
        _strip(wide, (ROAD_EDGE + 0.22, PAVEMENT_EDGE), "pavement"),
        _strip(wide, (PAVEMENT_EDGE, 60.0), "lawn"),
    ]
    for y in (-ROAD_EDGE + 0.25, ROAD_EDGE - 0.37):
        parts.append(_strip(wide, (y, y + 0.12), "marking", 0.004))
    for i in range(-14, 14):
        parts.append(_strip((3.0 * i + 0.6, 3.0 * i + 2.2), (-0.08, 0.08), "marking yellow", 0.004))
    for i in range(-15, 16):
        parts.append(_strip((2.0 * i - 0.03, 2.0 * i + 0.03), (ROAD_EDGE + 0.22, PAVEMENT_EDGE), "stone", 0.004))
    for x, y, w, h, paint in [(-75.0, 118.0, 62.0, 17.0, "forest"), (58.0, 125.0, 75.0, 21.0, "forest"), (5.0, 105.0, 48.0, 11.0, "green"),
                              (-150.0, 122.0, 60.0, 22.0, "green"), (150.0, 122.0, 60.0, 19.0, "green")]:  # fmt: skip
        parts.append(_hill(x, y, w, h, paint))
    return join(parts) + _strip(wide, (60.0, 130.0), "lawn", -0.02)


def _cloud(puffs: tuple[tuple[float, float, float], ...]) -> Mesh:
    return join([ball((r * 1.25, r * 0.6, r * 0.8), (x, 0.0, z), "cloud", sides=8, rings=3, low=-0.35) for x, z, r in puffs])


def small_cloud() -> Mesh:
    """Three puffs."""
    return _cloud(((-2.4, 0.0, 1.8), (0.2, 0.7, 2.6), (2.8, 0.0, 1.7)))


def long_cloud() -> Mesh:
    """Five puffs in a row."""
    return _cloud(((-5.2, 0.0, 1.6), (-2.6, 0.5, 2.3), (0.4, 1.0, 2.8), (3.2, 0.5, 2.2), (5.6, 0.0, 1.5)))


def tall_cloud() -> Mesh:
    """A heap of puffs."""
    return _cloud(((-2.6, 0.0, 2.2), (0.0, 1.4, 3.0), (2.6, 0.0, 2.4), (0.6, 3.2, 1.9)))


KINDS: dict[str, Callable[[], Mesh]] = {"small cloud": small_cloud, "long cloud": long_cloud, "tall cloud": tall_cloud}
