"""Trees, bushes and hedges, centred at the origin; each leafy kind has a "bare" form for winter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, pi, sin

from simtown.assets.mesh import *
from simtown.assets.street.shapes import *

Lump = tuple[Point, Point | float, str]

_TURN = 2.4  # radians from a branch to the next: the golden angle, so that none hides another


def _trunk(height: float, radius: float, paint: str = "bark", lean: float = 0.0) -> Mesh:
    """A stem with a flared foot."""
    return lathe(
        [(0.0, 1.6 * radius), (0.35, radius), (height, 0.75 * radius, 0.75 * radius, lean, 0.0)], paint
    )


def _stem(height: float, radius: float, paint: str = "bark") -> Mesh:
    """A bare tree's stem, tapering to its tip."""
    return lathe([(0.0, 1.6 * radius), (0.35, radius), (0.55 * height, 0.75 * radius), (height, 0.0)], paint)


def _crown(lumps: Sequence[Lump], sides: int = 7, rings: int = 3) -> Mesh:
    """Foliage: lumps of (middle, radius, material)."""
    return join(blob(radius, at, paint, sides, rings) for at, radius, paint in lumps)


def _branches(low: float, high: float, reach: float, rise: float, count: int = 8, paint: str = "bark",
              thick: float = 0.09) -> Mesh:  # fmt: skip
    """Boughs winding up a stem from `low` to `high`, each with two twigs; they shorten upwards."""
    parts = []
    for i in range(count):
        t, angle = i / max(count - 1, 1), _TURN * i
        length, z = reach * (1 - 0.55 * t), low + (high - low) * t
        tip = (length * cos(angle), length * sin(angle), z + rise * (0.7 + 0.5 * t))
        half = (0.5 * tip[0], 0.5 * tip[1], (z + tip[2]) / 2)
        parts.append(limb((0.0, 0.0, z), tip, thick * (1 - 0.4 * t), paint, 0.02, 3))
        for turn in (0.7, -0.7):
            twig = 0.55 * length
            parts.append(limb(half, (half[0] + twig * cos(angle + turn), half[1] + twig * sin(angle + turn),
                                     half[2] + 0.75 * rise), 0.4 * thick, paint, 0.0, 3))  # fmt: skip
    return join(parts)


def _tier(z: float, radius: float, height: float, paint: str = "needle", points: int = 8, turn: float = 0.0,
          droop: float = 0.25) -> Mesh:  # fmt: skip
    """A skirt of needles whose hem hangs in points."""
    hem: list[Point] = []
    for i in range(2 * points):
        r, angle = radius * (1.0 if i % 2 == 0 else 0.76), pi * i / points + turn
        hem.append((r * cos(angle), r * sin(angle), -droop if i % 2 == 0 else 0.0))
    inner, tip = [(0.0, 0.0, 0.1)] * (2 * points), [(0.0, 0.0, height)] * (2 * points)
    return loft([inner, hem, tip], paint, caps=False).at(0.0, 0.0, z)


def round_tree() -> Mesh:
    """The tree a child draws."""
    crown = _crown(
        [
            ((0.15, 0.2, 2.95), (1.45, 1.35, 1.15), "leaf dark"),
            ((-0.55, -0.3, 3.3), (1.1, 1.0, 1.0), "leaf"),
            ((0.5, -0.25, 3.9), (1.05, 1.0, 0.95), "leaf"),
        ]
    )
    return _trunk(2.6, 0.2) + crown


def poplar() -> Mesh:
    """A tall flame."""
    return join(
        _trunk(1.6, 0.17),
        blob((0.95, 0.95, 3.0), (0.0, 0.0, 4.1), "leaf dark", 8, 4),
        blob((0.7, 0.6, 2.1), (-0.25, -0.4, 4.6), "leaf", 7, 3),
    )


def birch() -> Mesh:
    """A slim white stem with dark bands and light, hanging foliage."""
    bands = [lathe([(z, 0.16), (z + 0.13, 0.16)], "charcoal", (0.04, 0.0, 0.0)) for z in (0.6, 1.2, 1.75)]
    crown = _crown(
        [
            ((0.5, 0.1, 2.95), (0.95, 0.85, 0.95), "leaf dark"),
            ((-0.45, -0.15, 3.35), (1.0, 0.85, 1.1), "leaf"),
            ((0.25, 0.0, 4.4), (0.95, 0.85, 1.2), "leaf"),
        ],
        6,
    )
    return join(_trunk(4.0, 0.14, "white", 0.2), bands, crown)


def oak() -> Mesh:
    """Broad, on a stout trunk that forks."""
    forks = limb((0.0, 0.0, 1.2), (-1.1, 0.0, 2.6), 0.24, "bark", 0.12)
    forks += limb((0.0, 0.0, 1.2), (1.1, 0.0, 2.7), 0.24, "bark", 0.12)
    crown = _crown(
        [
            ((-1.2, 0.1, 3.05), (1.4, 1.2, 1.1), "leaf dark"),
            ((1.25, 0.1, 3.15), (1.4, 1.2, 1.1), "leaf dark"),
            ((-0.2, -0.6, 3.55), (1.3, 1.0, 1.05), "leaf"),
            ((0.2, 0.2, 4.25), (1.5, 1.3, 1.1), "leaf"),
        ],
        6,
        3,
    )
    return join(_trunk(1.6, 0.36), forks, crown)


def apple_tree() -> Mesh:
    """Low and round, with red apples."""
    spots = [
        (-0.95, -0.75, 2.3),
        (-0.35, -1.15, 2.75),
        (0.35, -1.15, 2.25),
        (0.95, -0.8, 2.8),
        (0.1, -0.95, 3.35),
        (-0.85, -0.6, 3.1),
        (0.85, -0.85, 2.05),
    ]
    apples = [blob(0.17, p, "red", 4, 1) for p in spots]
    return join(_trunk(2.0, 0.2),
                 _crown([((-0.4, 0.0, 2.55), (1.15, 1.1, 0.95), "leaf"),
                         ((0.5, 0.05, 2.6), (1.1, 1.1, 0.95), "leaf dark")]),
                 blob((1.0, 0.9, 0.8), (0.0, 0.0, 3.2), "leaf", 7, 2), apples)  # fmt: skip


def willow() -> Mesh:
    """A mop whose strands hang nearly to the ground."""
    strands = []
    for i in range(7):
        angle, low = 2 * pi * i / 7 - 0.3, 0.75 + 0.3 * (i % 2)
        x, y = 1.25 * cos(angle), 1.1 * sin(angle)
        strands.append(lathe([(low, 0.12, 0.12, 1.12 * x, 1.12 * y), (2.2, 0.52, 0.45, x, y),
                              (3.5, 0.3, 0.3, 0.7 * x, 0.7 * y)], "leaf" if i % 2 else "leaf dark",
                             sides=5))  # fmt: skip
    return join(_trunk(3.0, 0.26), blob((1.5, 1.35, 0.95), (0.0, 0.0, 3.35), "leaf", 7, 3), strands)


def conifer() -> Mesh:
    """Three plump cones."""
    cones = [
        _tier(z, r, h, "needle", 7, 0.4 * i, 0.12)
        for i, (z, r, h) in enumerate(((0.95, 1.35, 2.0), (2.1, 1.1, 1.9), (3.2, 0.8, 1.7)))
    ]
    return join(_trunk(1.2, 0.2), cones)


def spruce() -> Mesh:
    """Tall, five tiers with shelves that snow can lie on."""
    tiers = [
        _tier(0.85 + 1.05 * i, 1.5 - 0.27 * i, 1.35 + 0.08 * i, "needle", 7, 0.5 * i, 0.3) for i in range(5)
    ]
    return join(_trunk(1.1, 0.18), tiers)


def pine() -> Mesh:
    """A bare red stem with flat clumps of needles on top."""
    boughs = limb((0.1, 0.0, 3.0), (1.1, 0.0, 3.8), 0.09, "rust", 0.05)
    boughs += limb((0.05, 0.0, 2.4), (-1.0, -0.1, 3.2), 0.09, "rust", 0.05)
    crown = _crown(
        [
            ((-1.0, -0.1, 3.35), (1.05, 0.85, 0.5), "needle"),
            ((1.1, 0.0, 3.95), (1.1, 0.9, 0.52), "needle"),
            ((0.15, 0.0, 4.75), (1.35, 1.1, 0.7), "needle"),
        ],
        6,
        3,
    )
    return join(_trunk(4.4, 0.19, "rust", 0.15), boughs, crown)


def bush() -> Mesh:
    """Two lumps and a few pink blossoms."""
    spots = [(-0.55, -0.5, 0.75), (-0.1, -0.62, 0.5), (0.4, -0.55, 0.8), (0.05, -0.3, 1.08)]
    lumps = _crown(
        [((-0.3, 0.0, 0.5), (0.65, 0.55, 0.6), "leaf"), ((0.4, 0.05, 0.5), (0.6, 0.5, 0.55), "leaf dark")]
    )
    return join(lumps.at(0.0, 0.0, 0.1), [blob(0.11, p, "pink", 4, 1) for p in spots])


def hedge() -> Mesh:
    """A clipped block, 2.4 m long."""
    lumps = [blob((0.5, 0.36, 0.2), (0.75 * i, 0.0, 0.95), "leaf", 6, 2) for i in (-1, 0, 1)]
    return block((2.4, 0.7, 1.0), (0.0, 0.0, 0.0), "leaf dark", 0.14) + join(lumps)


def _bare_bush() -> Mesh:
    """Boughs from the ground up."""
    return join(
        _branches(0.0, 0.35, 0.8, 0.75, 7, thick=0.07),
        limb((0.0, 0.0, 0.0), (0.0, 0.0, 0.9), 0.08, "bark", 0.0, 3),
    )


def _bare_hedge() -> Mesh:
    """A lattice of twigs on three rails."""
    rails = [
        limb((-1.15, y, z), (1.15, y, z), 0.06, "bark", sides=3)
        for y, z in ((-0.15, 0.35), (0.1, 0.55), (-0.1, 0.8))
    ]
    twigs = []
    for i in range(32):
        x, lean = -1.15 + 0.074 * i, 0.22 * (i % 3 - 1)
        twigs.append(
            limb(
                (x, 0.2 * (i % 2 * 2 - 1), 0.0),
                (x + lean, 0.12 * (i % 4 - 1.5), 0.85 + 0.1 * (i % 3)),
                0.06,
                "bark",
                0.0,
                3,
            )
        )
    return join(rails, twigs)


def _bare_willow() -> Mesh:
    """A short stem, boughs all round and rods that hang from them."""
    around = [(cos(_TURN * i), sin(_TURN * i)) for i in range(10)]
    rods = [limb((1.2 * c, 1.1 * s, 3.2), (1.5 * c, 1.4 * s, 1.3), 0.03, "bark", 0.0, 3) for c, s in around]
    return join(_stem(4.2, 0.26), _branches(2.2, 3.2, 1.7, 0.7, 8, thick=0.12), rods)


def _bare_oak() -> Mesh:
    """The oak's trunk and forks with boughs on each."""
    forks = limb((0.0, 0.0, 1.2), (-0.8, 0.0, 2.4), 0.24, "bark", 0.14)
    forks += limb((0.0, 0.0, 1.2), (0.8, 0.0, 2.4), 0.24, "bark", 0.14)
    boughs = [_branches(0.0, 0.5, 1.5, 1.1, 4, thick=0.12).at(x, 0.0, 2.2) for x in (-0.7, 0.7)]
    boughs += [_branches(0.0, 0.6, 1.2, 1.2, 4, thick=0.1).at(0.0, 0.0, 2.6)]
    return join(_stem(4.4, 0.36), forks, boughs)


def _bare_birch() -> Mesh:
    """The birch's white stem with thin boughs."""
    bands = [lathe([(z, 0.16), (z + 0.13, 0.16)], "charcoal", (0.04, 0.0, 0.0)) for z in (0.6, 1.2, 1.75)]
    return join(
        _stem(5.6, 0.15, "white").at(0.04), bands, _branches(1.9, 4.4, 1.2, 0.9, 9, "bark", 0.06).at(0.04)
    )


KINDS: dict[str, Callable[[], Mesh]] = {
    "round tree": round_tree,
    "round tree bare": lambda: _stem(4.8, 0.2) + _branches(1.6, 3.6, 1.6, 1.2, 9, thick=0.11),
    "poplar": poplar,
    "poplar bare": lambda: _stem(7.2, 0.17) + _branches(1.2, 5.0, 0.85, 1.7, 10, thick=0.08),
    "birch": birch,
    "birch bare": _bare_birch,
    "oak": oak,
    "oak bare": _bare_oak,
    "apple tree": apple_tree,
    "apple tree bare": lambda: _stem(3.8, 0.2) + _branches(1.3, 2.7, 1.5, 0.9, 8, thick=0.11),
    "willow": willow,
    "willow bare": _bare_willow,
    "bush": bush,
    "bush bare": _bare_bush,
    "hedge": hedge,
    "hedge bare": _bare_hedge,
    "conifer": conifer,
    "spruce": spruce,
    "pine": pine,
}
