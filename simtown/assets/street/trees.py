"""Trees, bushes and hedges, centred at the origin; each leafy kind has a "bare" form for winter."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin

from simtown.assets.mesh import *
from simtown.assets.street.shapes import *

Lump = tuple[Point, Point, str]  # its middle, its radii and its material

_TURN = 2.4  # radians from a branch to the next: the golden angle, so that none hides another


def _trunk(height: float, radius: float, paint: str = "bark", lean: float = 0.0) -> Mesh:
    """A stem with a flared foot."""
    tip = (height, 0.75 * radius, 0.75 * radius, lean, 0.0)
    return lathe([(0.0, 1.6 * radius), (0.35, radius), tip], paint)


def _stem(height: float, radius: float, paint: str = "bark") -> Mesh:
    """A bare tree's stem, tapering to its tip."""
    return lathe([(0.0, 1.6 * radius), (0.35, radius), (0.55 * height, 0.75 * radius), (height, 0.0)], paint)


def _crown(*lumps: Lump, sides: int = 7) -> Mesh:
    """Foliage."""
    return join(blob(radius, at, paint, sides, 3) for at, radius, paint in lumps)


def _branches(
    low: float, high: float, reach: float, rise: float, count: int = 8, thick: float = 0.09
) -> Mesh:
    """Boughs winding up a stem from `low` to `high`, each with two twigs; they shorten upwards."""
    parts = []
    for i in range(count):
        t, angle = i / max(count - 1, 1), _TURN * i
        length, z = reach * (1 - 0.55 * t), low + (high - low) * t
        tip = (length * cos(angle), length * sin(angle), z + rise * (0.7 + 0.5 * t))
        x, y, h = 0.5 * tip[0], 0.5 * tip[1], (z + tip[2]) / 2
        parts.append(limb((0.0, 0.0, z), tip, thick * (1 - 0.4 * t), "bark", 0.02, 3))
        for turn in (angle + 0.7, angle - 0.7):
            twig = (x + 0.55 * length * cos(turn), y + 0.55 * length * sin(turn), h + 0.75 * rise)
            parts.append(limb((x, y, h), twig, 0.4 * thick, "bark", 0.0, 3))
    return join(parts)


def _tier(z: float, radius: float, height: float, turn: float, droop: float) -> Mesh:
    """A skirt of needles whose hem hangs in seven points."""
    hem: list[Point] = []
    for i in range(14):
        r, angle = radius * (1.0 if i % 2 == 0 else 0.76), pi * i / 7 + turn
        hem.append((r * cos(angle), r * sin(angle), -droop if i % 2 == 0 else 0.0))
    return loft([[(0.0, 0.0, 0.1)] * 14, hem, [(0.0, 0.0, height)] * 14], "needle", caps=False).at(z=z)


def _fork(*tips: Point, end: float) -> Mesh:
    """Stout boughs from the trunk, 1.2 m up, to some tips."""
    return join(limb((0.0, 0.0, 1.2), tip, 0.24, "bark", end) for tip in tips)


def round_tree() -> Mesh:
    """The tree a child draws."""
    low = ((0.15, 0.2, 2.95), (1.45, 1.35, 1.15), "leaf dark")
    left, top = ((-0.55, -0.3, 3.3), (1.1, 1.0, 1.0), "leaf"), ((0.5, -0.25, 3.9), (1.05, 1.0, 0.95), "leaf")
    return _trunk(2.6, 0.2) + _crown(low, left, top)


def poplar() -> Mesh:
    """A tall flame."""
    flame = blob((0.95, 0.95, 3.0), (0.0, 0.0, 4.1), "leaf dark", 8, 4)
    return join(_trunk(1.6, 0.17), flame, blob((0.7, 0.6, 2.1), (-0.25, -0.4, 4.6), "leaf"))


def _bands() -> Mesh:
    """The dark bands of a birch's stem."""
    return join(lathe([(z, 0.16), (z + 0.13, 0.16)], "charcoal", (0.04, 0.0, 0.0)) for z in (0.6, 1.2, 1.75))


def birch() -> Mesh:
    """A slim white stem with dark bands and light, hanging foliage."""
    crown = _crown(
        ((0.5, 0.1, 2.95), (0.95, 0.85, 0.95), "leaf dark"),
        ((-0.45, -0.15, 3.35), (1.0, 0.85, 1.1), "leaf"),
        ((0.25, 0.0, 4.4), (0.95, 0.85, 1.2), "leaf"),
        sides=6,
    )
    return join(_trunk(4.0, 0.14, "white", 0.2), _bands(), crown)


def oak() -> Mesh:
    """Broad, on a stout trunk that forks."""
    crown = _crown(
        ((-1.2, 0.1, 3.05), (1.4, 1.2, 1.1), "leaf dark"),
        ((1.25, 0.1, 3.15), (1.4, 1.2, 1.1), "leaf dark"),
        ((-0.2, -0.6, 3.55), (1.3, 1.0, 1.05), "leaf"),
        ((0.2, 0.2, 4.25), (1.5, 1.3, 1.1), "leaf"),
        sides=6,
    )
    return join(_trunk(1.6, 0.36), _fork((-1.1, 0.0, 2.6), (1.1, 0.0, 2.7), end=0.12), crown)


def apple_tree() -> Mesh:
    """Low and round, with red apples."""
    spots = [(-0.95, -0.75, 2.3), (-0.35, -1.15, 2.75), (0.35, -1.15, 2.25), (0.95, -0.8, 2.8)]
    spots += [(0.1, -0.95, 3.35), (-0.85, -0.6, 3.1), (0.85, -0.85, 2.05)]
    left, right = (-0.4, 0.0, 2.55), (0.5, 0.05, 2.6)
    crown = _crown((left, (1.15, 1.1, 0.95), "leaf"), (right, (1.1, 1.1, 0.95), "leaf dark"))
    top = blob((1.0, 0.9, 0.8), (0.0, 0.0, 3.2), "leaf", 7, 2)
    return join(_trunk(2.0, 0.2), crown, top, [blob(0.17, spot, "red", 4, 1) for spot in spots])


def willow() -> Mesh:
    """A mop whose strands hang nearly to the ground."""
    strands = []
    for i in range(7):
        angle, low = 2 * pi * i / 7 - 0.3, 0.75 + 0.3 * (i % 2)
        x, y = 1.25 * cos(angle), 1.1 * sin(angle)
        rings = [
            (low, 0.12, 0.12, 1.12 * x, 1.12 * y),
            (2.2, 0.52, 0.45, x, y),
            (3.5, 0.3, 0.3, 0.7 * x, 0.7 * y),
        ]
        strands.append(lathe(rings, "leaf" if i % 2 else "leaf dark", sides=5))
    return join(_trunk(3.0, 0.26), blob((1.5, 1.35, 0.95), (0.0, 0.0, 3.35), "leaf"), strands)


def conifer() -> Mesh:
    """Three plump cones."""
    sizes = ((0.95, 1.35, 2.0), (2.1, 1.1, 1.9), (3.2, 0.8, 1.7))
    return join(_trunk(1.2, 0.2), [_tier(*size, 0.4 * i, 0.12) for i, size in enumerate(sizes)])


def spruce() -> Mesh:
    """Tall, five tiers with shelves that snow can lie on."""
    sizes = [(0.85 + 1.05 * i, 1.5 - 0.27 * i, 1.35 + 0.08 * i) for i in range(5)]
    return join(_trunk(1.1, 0.18), [_tier(*size, 0.5 * i, 0.3) for i, size in enumerate(sizes)])


def pine() -> Mesh:
    """A bare red stem with flat clumps of needles on top."""
    boughs = limb((0.1, 0.0, 3.0), (1.1, 0.0, 3.8), 0.09, "rust", 0.05)
    boughs += limb((0.05, 0.0, 2.4), (-1.0, -0.1, 3.2), 0.09, "rust", 0.05)
    crown = _crown(
        ((-1.0, -0.1, 3.35), (1.05, 0.85, 0.5), "needle"),
        ((1.1, 0.0, 3.95), (1.1, 0.9, 0.52), "needle"),
        ((0.15, 0.0, 4.75), (1.35, 1.1, 0.7), "needle"),
        sides=6,
    )
    return join(_trunk(4.4, 0.19, "rust", 0.15), boughs, crown)


def bush() -> Mesh:
    """Two lumps and a few pink blossoms."""
    spots = [(-0.55, -0.5, 0.75), (-0.1, -0.62, 0.5), (0.4, -0.55, 0.8), (0.05, -0.3, 1.08)]
    left, right = (-0.3, 0.0, 0.5), (0.4, 0.05, 0.5)
    lumps = _crown((left, (0.65, 0.55, 0.6), "leaf"), (right, (0.6, 0.5, 0.55), "leaf dark"))
    return join(lumps.at(z=0.1), [blob(0.11, spot, "pink", 4, 1) for spot in spots])


def hedge() -> Mesh:
    """A clipped block, 2.4 m long."""
    lumps = [blob((0.5, 0.36, 0.2), (0.75 * i, 0.0, 0.95), "leaf", 6, 2) for i in (-1, 0, 1)]
    return join(block((2.4, 0.7, 1.0), ORIGIN, "leaf dark", 0.14), lumps)


def bush_bare() -> Mesh:
    """Boughs from the ground up."""
    return _branches(0.0, 0.35, 0.8, 0.75, 7, 0.07) + limb(ORIGIN, (0.0, 0.0, 0.9), 0.08, "bark", 0.0, 3)


def hedge_bare() -> Mesh:
    """A lattice of twigs on three rails."""
    ends = ((-0.15, 0.35), (0.1, 0.55), (-0.1, 0.8))
    parts = [limb((-1.15, y, z), (1.15, y, z), 0.06, "bark", sides=3) for y, z in ends]
    for i in range(32):
        x, lean = -1.15 + 0.074 * i, 0.22 * (i % 3 - 1)
        foot, tip = (x, 0.2 * (i % 2 * 2 - 1), 0.0), (x + lean, 0.12 * (i % 4 - 1.5), 0.85 + 0.1 * (i % 3))
        parts.append(limb(foot, tip, 0.06, "bark", 0.0, 3))
    return join(parts)


def willow_bare() -> Mesh:
    """A short stem, boughs all round and rods that hang from them."""
    around = [(cos(_TURN * i), sin(_TURN * i)) for i in range(10)]
    rods = [limb((1.2 * c, 1.1 * s, 3.2), (1.5 * c, 1.4 * s, 1.3), 0.03, "bark", 0.0, 3) for c, s in around]
    return join(_stem(4.2, 0.26), _branches(2.2, 3.2, 1.7, 0.7, thick=0.12), rods)


def oak_bare() -> Mesh:
    """The oak's trunk and forks with boughs on each."""
    forks = _fork((-0.8, 0.0, 2.4), (0.8, 0.0, 2.4), end=0.14)
    boughs = [_branches(0.0, 0.5, 1.5, 1.1, 4, 0.12).at(x, 0.0, 2.2) for x in (-0.7, 0.7)]
    return join(_stem(4.4, 0.36), forks, boughs, _branches(0.0, 0.6, 1.2, 1.2, 4, 0.1).at(z=2.6))


def birch_bare() -> Mesh:
    """The birch's white stem with thin boughs."""
    return join(_stem(5.6, 0.15, "white").at(0.04), _bands(), _branches(1.9, 4.4, 1.2, 0.9, 9, 0.06).at(0.04))


KINDS: dict[str, Callable[[], Mesh]] = {
    **kinds(round_tree),
    "round tree bare": lambda: _stem(4.8, 0.2) + _branches(1.6, 3.6, 1.6, 1.2, 9, 0.11),
    **kinds(poplar),
    "poplar bare": lambda: _stem(7.2, 0.17) + _branches(1.2, 5.0, 0.85, 1.7, 10, 0.08),
    **kinds(birch, birch_bare, oak, oak_bare, apple_tree),
    "apple tree bare": lambda: _stem(3.8, 0.2) + _branches(1.3, 2.7, 1.5, 0.9, 8, 0.11),
    **kinds(willow, willow_bare, bush, bush_bare, hedge, hedge_bare, conifer, spruce, pine),
}
