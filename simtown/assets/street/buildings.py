"""Buildings along the road: houses, shops, flats and the town's public ones.

The front stands at y = 0 and faces -y; there are no backs and no floors. "wall" and "roof" are tinted per
instance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import cos, pi, sin

from simtown.assets.mesh import *
from simtown.assets.street.shapes import *

STOREY = 2.7


def _window(
    x: float, z: float, w: float = 1.0, h: float = 1.3, y: float = 0.0, frame: str = "trim", bars: bool = True
) -> Mesh:
    """A framed window; `bars` add a cross and a sill. 4 or 12 triangles."""
    parts = [
        patch((x - w / 2 - 0.12, x + w / 2 + 0.12), (z - 0.12, z + h + 0.12), frame, y, 0.02),
        patch((x - w / 2, x + w / 2), (z, z + h), "window", y, 0.04),
    ]
    if bars:
        parts.append(patch((x - 0.05, x + 0.05), (z, z + h), frame, y, 0.06))
        parts.append(patch((x - w / 2, x + w / 2), (z + 0.58 * h, z + 0.58 * h + 0.09), frame, y, 0.06))
        parts.append(
            mass((x - w / 2 - 0.22, x + w / 2 + 0.22), (z - 0.24, z - 0.1), frame, (y - 0.2, y), ends=False)
        )
    return join(parts)


def _windows(
    xs: Sequence[float],
    zs: Sequence[float],
    w: float = 1.0,
    h: float = 1.3,
    frame: str = "trim",
    bars: bool = False,
) -> Mesh:
    """A grid of windows on the front."""
    return join(_window(x, z, w, h, 0.0, frame, bars) for z in zs for x in xs)


def _flank_windows(
    half: float, zs: Sequence[float], y: float = 2.0, w: float = 1.0, h: float = 1.3, frame: str = "trim"
) -> Mesh:
    """A column of windows on either end wall (at x = ±half)."""
    column = _windows([0.0], zs, w, h, frame)
    return column.turned(90).at(half, y) + column.turned(-90).at(-half, y)


def _shutters(xs: Sequence[float], zs: Sequence[float], paint: str, w: float = 1.0, h: float = 1.3) -> Mesh:
    """A shutter either side of each window of a grid."""
    places = [(x + s * (w / 2 + 0.34), z) for x in xs for z in zs for s in (-1, 1)]
    return join(patch((x - 0.22, x + 0.22), (z - 0.12, z + h + 0.12), paint, 0.0, 0.05) for x, z in places)


def _flowers(
    xs: Sequence[float],
    z: float,
    paints: Sequence[str] = ("red", "yellow", "pink"),
    w: float = 1.2,
    y: float = 0.0,
) -> Mesh:
    """Flower boxes under windows at z."""
    parts = []
    for x in xs:
        parts.append(mass((x - w / 2, x + w / 2), (z - 0.3, z), "wood", (y - 0.3, y), lid=False))
        parts.append(
            mass((x - w / 2 + 0.05, x + w / 2 - 0.05), (z, z + 0.14), "leaf dark", (y - 0.28, y), ends=False)
        )
        for i, paint in enumerate(paints):
            spot = x + w * ((i + 0.5) / len(paints) - 0.5)
            parts.append(disc(spot, z + 0.14, 0.15, paint, y - 0.28, sides=5))
    return join(parts)


def _door(
    x: float, paint: str, z: float = 0.2, w: float = 1.1, h: float = 2.1, frame: str = "trim", y: float = 0.0
) -> Mesh:
    """A front door with a light, a knob and a step."""
    return join(
        patch((x - w / 2 - 0.15, x + w / 2 + 0.15), (z, z + h + 0.15), frame, y, 0.02),
        patch((x - w / 2, x + w / 2), (z, z + h), paint, y, 0.04),
        patch((x - 0.3 * w, x + 0.3 * w), (z + 0.62 * h, z + 0.9 * h), "window", y, 0.06),
        patch((x + 0.3 * w, x + 0.4 * w), (z + 0.42 * h, z + 0.48 * h), "gold", y, 0.06),
        mass((x - w / 2 - 0.3, x + w / 2 + 0.3), (0.0, z), "stone", (y - 0.5, y)),
    )


def _porch(x: float, z: float, w: float = 2.0, out: float = 1.0, rise: float = 0.7) -> Mesh:
    """A little gabled roof on two posts over a door."""
    posts = [
        mass(
            (x + s * (w / 2 - 0.1) - 0.09, x + s * (w / 2 - 0.1) + 0.09),
            (0.0, z),
            "trim",
            (-out, -out + 0.18),
            lid=False,
        )
        for s in (-1, 1)
    ]
    return join(posts, _gable_front((x - w / 2, x + w / 2), z, out, rise, 0.15, y=-out, wall="trim"))


def _gable(x: Span, z: float, depth: float = 5.0, rise: float = 2.2, over: float = 0.35, wall: str = "wall",
           paint: str = "roof") -> Mesh:  # fmt: skip
    """A roof whose ridge runs along the street, with end gables, a fascia and barge boards."""
    slope, middle = rise / (depth / 2), depth / 2
    (a, b), eave, crown = (x[0] - over, x[1] + over), z - slope * over, z + rise
    parts = [
        face(paint, (a, -over, eave), (b, -over, eave), (b, middle, crown), (a, middle, crown)),
        patch((a, b), (eave - 0.22, eave), "trim", -over, 0.0),
    ]
    for end, board in ((x[0], a), (x[1], b)):
        gable = [(end, 0.0, z), (end, depth, z), (end, middle, crown)]
        rakes = [[(board, -over, eave - 0.22), (board, middle, crown - 0.22), (board, middle, crown),
                  (board, -over, eave)],
                 [(board, middle, crown - 0.22), (board, depth + over, eave - 0.22),
                  (board, depth + over, eave), (board, middle, crown)]]  # fmt: skip
        soffit = [
            (end, middle, crown - 0.02),
            (end, depth + over, eave - 0.02),
            (board, depth + over, eave - 0.02),
            (board, middle, crown - 0.02),
        ]
        for paint_, points in ((wall, gable), ("trim", rakes[0]), ("trim", rakes[1]), ("trim", soffit)):
            parts.append(face(paint_, *(points if end == x[1] else points[::-1])))
    return join(parts)


def _gable_front(x: Span, z: float, depth: float = 5.0, rise: float = 2.4, over: float = 0.35, y: float = 0.0,
                 wall: str = "wall", paint: str = "roof", board: float = 0.22) -> Mesh:  # fmt: skip
    """A roof whose gable faces the street."""
    middle, slope = (x[0] + x[1]) / 2, rise / ((x[1] - x[0]) / 2)
    a, b = x[0] - over, x[1] + over
    eave, crown, fore = z - slope * over, z + rise, y - over
    back = y + depth
    return join(face(wall, (x[0], y, z), (x[1], y, z), (middle, y, crown)),
                 face(paint, (b, fore, eave), (b, back, eave), (middle, back, crown), (middle, fore, crown)),
                 face(paint, (middle, fore, crown), (middle, back, crown), (a, back, eave), (a, fore, eave)),
                 face("trim", (a, fore, eave - board), (middle, fore, crown - board), (middle, fore, crown),
                      (a, fore, eave)),
                 face("trim", (middle, fore, crown - board), (b, fore, eave - board), (b, fore, eave),
                      (middle, fore, crown)))  # fmt: skip


def _hip(
    x: Span,
    z: float,
    depth: float = 5.0,
    rise: float = 2.0,
    inset: float = 2.5,
    over: float = 0.35,
    paint: str = "roof",
    y: float = 0.0,
) -> Mesh:
    """A roof that slopes on all sides; a small `inset` leaves a flat top (a mansard). Its fascia is trim."""
    (a, b), fore, back, run = (x[0] - over, x[1] + over), y - over, y + depth + over, inset + over
    (u, v), near, far, crown = (a + run, b - run), fore + run, max(back - run, fore + run), z + rise
    roof = [
        face(paint, (a, fore, z), (b, fore, z), (v, near, crown), (u, near, crown)),
        face(paint, (b, fore, z), (b, back, z), (v, far, crown)),
        face(paint, (a, back, z), (a, fore, z), (u, near, crown)),
    ]
    lid = (
        []
        if far < near + 0.01
        else [
            face(paint, (b, fore, z), (v, far, crown), (v, near, crown)),
            face(paint, (a, back, z), (u, near, crown), (u, far, crown)),
            face(paint, (u, near, crown), (v, near, crown), (v, far, crown), (u, far, crown)),
        ]
    )
    return join(roof, lid, mass((a, b), (z - 0.25, z), "trim", (fore, back), lid=False, floor=True))


def _spire(x: Span, z: float, rise: float, y: Span, paint: str = "roof", over: float = 0.25) -> Mesh:
    """A pyramid on a tower, with a gold ball."""
    a, b = x[0] - over, x[1] + over
    c, d = y[0] - over, y[1] + over
    tip = ((x[0] + x[1]) / 2, (y[0] + y[1]) / 2, z + rise)
    slopes = [
        face(paint, (a, c, z), (b, c, z), tip),
        face(paint, (b, c, z), (b, d, z), tip),
        face(paint, (a, d, z), (a, c, z), tip),
    ]
    return join(
        slopes,
        mass((a, b), (z - 0.2, z), "trim", (c, d), lid=False, floor=True),
        blob(0.22, tip, "gold", 5, 2),
    )


def _dormer(x: float, y: float, z: float, w: float = 1.4, h: float = 1.1, depth: float = 2.0) -> Mesh:
    """A window with a gable of its own, standing out of a roof at height z."""
    sides = (x - w / 2, x + w / 2)
    walls = mass(sides, (z, z + h), "wall", (y, y + depth), lid=False)
    return join(
        walls,
        _gable_front(sides, z + h, depth, 0.6, 0.15, y, board=0.13),
        _window(x, z + 0.15, w - 0.55, h - 0.25, y, bars=False),
    )


def _chimney(x: float, y: float, z: Span, paint: str = "brick") -> Mesh:
    """A stack with a cap."""
    stack = mass((x - 0.32, x + 0.32), z, paint, (y, y + 0.6), lid=False)
    return stack + mass((x - 0.42, x + 0.42), (z[1], z[1] + 0.2), "stone", (y - 0.1, y + 0.7))


def _awning(
    x: Span, z: float, paints: tuple[str, str], out: float = 1.1, drop: float = 0.75, stripes: int = 7
) -> Mesh:
    """A striped awning with a hanging scalloped edge, its top at z."""
    step, low, parts = (x[1] - x[0]) / stripes, z - drop, []
    for i in range(stripes):
        a, b, paint = x[0] + i * step, x[0] + (i + 1) * step, paints[i % 2]
        parts.append(face(paint, (a, -out, low), (b, -out, low), (b, -0.03, z), (a, -0.03, z)))
        parts.append(
            shape(
                [(a, low), (a + 0.25 * step, low - 0.28), (b - 0.25 * step, low - 0.28), (b, low)],
                paint,
                -out,
                0.0,
            )
        )
    ends = [
        face(paints[0], (x[1], -out, low), (x[1], 0.0, low), (x[1], 0.0, z)),
        face(paints[0], (x[0], 0.0, low), (x[0], -out, low), (x[0], 0.0, z)),
    ]
    return join(parts + ends)


def _cornice(
    x: Span, z: float, h: float = 0.35, out: float = 0.25, paint: str = "trim", depth: float = 5.0
) -> Mesh:
    """A ledge round the front and ends."""
    return mass((x[0] - out, x[1] + out), (z, z + h), paint, (-out, depth), floor=True)


def _storeys(half: float, count: int, xs: Sequence[float], first: int = 1, w: float = 1.0, h: float = 1.4,
             storey: float = STOREY, frame: str = "trim", wall: str = "wall", bars: bool = False,
             flank: bool = True) -> Mesh:  # fmt: skip
    """The walls of `count` storeys; from `first` up each has a window at each x and one on either end."""
    zs = [storey * i + 0.85 for i in range(first, count)]
    ends = [_flank_windows(half, zs, 1.8, w, h, frame)] if flank and zs else []
    return join(mass((-half, half), (0.0, storey * count), wall), _windows(xs, zs, w, h, frame, bars), ends)


def _shopfront(half: float, paint: str, goods: Sequence[str], door: float, z: float = 2.75) -> Mesh:
    """A ground floor of painted timber and display windows, with goods on show and a door at x = `door`."""
    side = -1.0 if door > 0 else 1.0
    lo, hi = sorted((side * (half - 0.35), door + side * 0.85))
    shelf = [lo + (hi - lo) * (i + 0.5) / 6 for i in range(6)]
    return join(
        patch((-half, half), (0.0, z), paint, 0.0, 0.03),
        patch((lo, hi), (0.75, z - 0.35), "window", 0.0, 0.05),
        bunting(shelf, (0.78, 1.3), goods, 0.0, 0.07),
        patch(((lo + hi) / 2 - 0.06, (lo + hi) / 2 + 0.06), (0.75, z - 0.35), paint, 0.0, 0.09),
        mass((lo - 0.1, hi + 0.1), (0.6, 0.75), "trim", (-0.16, 0.0), ends=False),
        patch((door - 0.55, door + 0.55), (0.12, z - 0.35), "trim", 0.0, 0.05),
        patch((door - 0.42, door + 0.42), (0.75, z - 0.5), "window", 0.0, 0.07),
        mass((door - 0.7, door + 0.7), (0.0, 0.12), "stone", (-0.35, 0.0)),
    )


def _sign(text: str, half: float, z: float, paint: str, ink: str = "white", height: float = 0.5) -> Mesh:
    """A fascia with block capitals on it."""
    board = mass((-half, half), (z, z + height + 0.3), paint, (-0.18, 0.0))
    return board + letters(text, 0.0, z + 0.15, height, ink, -0.18)


def _clock(x: float, z: float, radius: float, y: float = 0.0) -> Mesh:
    """A white face with a gold rim; it is ten past ten."""
    rim, dial = disc(x, z, radius * 1.15, "gold", y, 0.03, 10), disc(x, z, radius, "white", y, 0.05, 10)
    hour = shape([(x, z - 0.08), (x + 0.08, z), (x - 0.5 * radius, z + 0.4 * radius)], "black", y, 0.07)
    minute = shape([(x - 0.08, z), (x, z - 0.08), (x + 0.72 * radius, z + 0.45 * radius)], "black", y, 0.07)
    return join(rim, dial, hour, minute)


def _roller(x: float, w: float, h: float, paint: str, stripe: str = "white") -> Mesh:
    """A roller door with ribs and a row of lights."""
    ribs = [patch((x - w / 2, x + w / 2), (h * t, h * t + 0.07), stripe, 0.0, 0.07) for t in (0.2, 0.4, 0.92)]
    lights = [
        patch(
            (x + w * (i - 1.5) / 4 - 0.2 * w / 2, x + w * (i - 1.5) / 4 + 0.2 * w / 2),
            (0.58 * h, 0.8 * h),
            "window",
            0.0,
            0.07,
        )
        for i in range(4)
    ]
    return join(
        patch((x - w / 2 - 0.15, x + w / 2 + 0.15), (0.0, h + 0.15), "trim", 0.0, 0.03),
        patch((x - w / 2, x + w / 2), (0.0, h), paint, 0.0, 0.05),
        ribs,
        lights,
    )


def _flag(x: float, y: float, z: float, paint: str) -> Mesh:
    """A flag on a pole standing on a roof."""
    pole = mass((x - 0.05, x + 0.05), (z, z + 2.2), "steel", (y, y + 0.1), lid=False)
    cloth = [(x + 0.05, y, z + 1.3), (x + 1.2, y, z + 1.15), (x + 1.2, y, z + 1.95), (x + 0.05, y, z + 2.15)]
    return join(pole, face(paint, *cloth), face(paint, *cloth[::-1]))


def _star(x: float, z: float, radius: float, paint: str, y: float = 0.0) -> Mesh:
    """Five points."""
    tips = [
        (x + radius * cos(pi / 2 + pi * i / 5) * k, z + radius * sin(pi / 2 + pi * i / 5) * k)
        for i, k in enumerate((1.0, 0.42) * 5)
    ]
    rays = [shape([tips[i - 1], tips[i], tips[(i + 1) % 10]], paint, y, 0.03) for i in range(0, 10, 2)]
    return join(rays, shape(tips[1::2], paint, y, 0.03))


def cottage() -> Mesh:
    """One storey under a big roof: shutters, flower boxes, a dormer, a chimney."""
    xs = [-1.95, 1.95]
    return join(
        mass((-3.2, 3.2), (0.0, 2.6), "wall", lid=False),
        _gable((-3.2, 3.2), 2.6, 5.0, 2.6),
        _door(0.0, "red"),
        _windows(xs, [0.95], bars=True),
        _shutters(xs, [0.95], "green"),
        _flowers(xs, 0.8),
        _dormer(-1.0, 0.5, 3.0),
        _flank_windows(3.2, [0.95]),
        _chimney(2.1, 1.8, (3.6, 5.9)),
        blob((0.6, 0.35, 0.5), (-2.9, -0.4, 0.5), "leaf", 6, 2),
    )


def gabled_house() -> Mesh:
    """Two storeys with the gable to the street and a porch."""
    return join(
        _storeys(2.6, 2, [-1.3, 1.3], bars=True),
        _gable_front((-2.6, 2.6), 5.4, 5.0, 2.6),
        _door(1.3, "navy"),
        _porch(1.3, 2.45),
        _window(-1.2, 0.9, 1.5, 1.4),
        _flowers([-1.2], 0.75, w=1.8),
        disc(0.0, 6.5, 0.55, "trim"),
        disc(0.0, 6.5, 0.4, "window", 0.0, 0.04),
        _flank_windows(2.6, [0.9], 1.8),
        _chimney(-1.3, 2.5, (6.4, 8.4)),
    )


def bungalow() -> Mesh:
    """Low and wide under a hip roof, with a bay window and a carport door."""
    bay = mass((-2.9, -0.9), (0.0, 2.5), "trim", (-0.7, 0.0)) + _window(-1.9, 0.8, 1.5, 1.3, -0.7)
    return join(mass((-4.2, 4.2), (0.0, 2.6), "wall", lid=False),
                 _hip((-4.2, 4.2), 2.75, 5.0, 1.9, over=0.5), bay, _door(0.1, "teal"),
                 _roller(2.6, 2.1, 2.0, "white", "silver"), _flank_windows(4.2, [0.9]),
                 _chimney(-2.2, 1.6, (3.6, 5.4)), _flowers([-1.9], 0.7, w=1.8, y=-0.7))  # fmt: skip


def villa() -> Mesh:
    """Two storeys, a hip roof with a dormer, corner stones and a pillared porch with a balcony."""
    xs = [-2.6, 2.6]
    quoins = [
        patch((s * 3.75 - 0.25, s * 3.75 + 0.25), (0.9 * i, 0.9 * i + 0.55), "trim")
        for s in (-1, 1)
        for i in range(6)
    ]
    deck = mass((-1.5, 1.5), (2.5, 2.75), "trim", (-1.2, 0.0)) + mass(
        (-1.5, 1.5), (3.35, 3.45), "trim", (-1.2, -1.1)
    )
    posts = [mass((x - 0.08, x + 0.08), (0.0, 3.4), "trim", (-1.2, -1.04), lid=False) for x in (-1.4, 1.4)]
    rails = [patch((x - 0.05, x + 0.05), (2.75, 3.4), "trim", -1.1) for x in (-0.9, -0.45, 0.0, 0.45, 0.9)]
    return join(_storeys(4.0, 2, xs, bars=True), _hip((-4.0, 4.0), 5.5, 5.0, 2.2), _dormer(0.0, 0.3, 5.9),
                 _door(0.0, "forest", w=1.3), deck, posts, rails, quoins,
                 _window(0.0, 3.2, 1.2, 1.6, bars=False), _windows(xs, [0.85], 1.0, 1.4, bars=True),
                 _chimney(2.6, 1.8, (6.3, 8.2)))  # fmt: skip


def timbered_house() -> Mesh:
    """Dark timbers on a pale upper storey that juts over the lower one; a steep gable."""

    def beam(x0: float, z0: float, x1: float, z1: float, t: float = 0.11) -> Mesh:
        if x0 == x1:
            return patch((x0 - t, x0 + t), (z0, z1), "brown", -0.4)
        return shape(
            [(x0, z0 - 1.2 * t), (x1, z1 - 1.2 * t), (x1, z1 + 1.2 * t), (x0, z0 + 1.2 * t)], "brown", -0.4
        )

    beams = [beam(x, 2.6, x, 5.2) for x in (-2.7, -0.9, 0.9, 2.7)] + [
        beam(-2.8, z, 2.8, z) for z in (2.7, 5.2)
    ]
    beams += [
        beam(-1.6, 6.4, 1.6, 6.4),
        beam(-2.6, 2.8, -1.0, 5.1),
        beam(1.0, 5.1, 2.6, 2.8),
        beam(0.0, 6.4, 0.0, 8.0),
    ]
    return join(
        mass((-2.6, 2.6), (0.0, 2.6), "brick"),
        mass((-2.8, 2.8), (2.6, 5.2), "cream", (-0.4, 5.0), lid=False),
        _gable_front((-2.8, 2.8), 5.2, 5.0, 3.2, 0.3, -0.4, wall="cream"),
        beams,
        _window(0.0, 3.3, 1.1, 1.3, -0.4, "brown"),
        _window(0.0, 5.5, 0.8, 0.7, -0.4, "brown", bars=False),
        _door(-1.5, "forest"),
        _window(1.0, 0.8, 1.6, 1.3),
        _flowers([0.0], 3.1, y=-0.4),
        _chimney(1.6, 2.5, (6.6, 8.4)),
    )


def canal_house() -> Mesh:
    """Tall and narrow under a stepped gable, like a merchant's house on a canal."""
    steps = [
        mass((-x, x), (z, z + 0.7), "wall", (0.0, 0.6))
        + mass((-x - 0.1, x + 0.1), (z + 0.7, z + 0.85), "trim", (-0.1, 0.7))
        for x, z in ((2.1, 8.1), (1.45, 8.8), (0.8, 9.5))
    ]
    zs = [3.5, 6.2]
    return join(
        mass((-2.1, 2.1), (0.0, 8.1), "wall"),
        steps,
        _windows([-1.2, 0.0, 1.2], zs, 0.75, 1.5, bars=True),
        _door(-1.2, "crimson", z=0.45),
        _window(0.6, 0.9, 1.7, 1.3),
        arch((-0.4, 0.4), (8.3, 9.6), "trim"),
        arch((-0.28, 0.28), (8.4, 9.48), "window", 0.0, 0.04, 4),
        _cornice((-2.1, 2.1), 2.75, 0.2, 0.12),
        _flank_windows(2.1, zs, 1.8, 0.8, 1.5),
    )


def town_house(door: str = "teal", shutters: str = "teal") -> Mesh:
    """Three storeys and a mansard with dormers; shutters and balconies."""
    xs, half = [-1.45, 1.45], 2.7
    bars = [
        mass((x - 0.75, x + 0.75), (3.15, 3.3), "dark", (-0.4, 0.0))
        + patch((x - 0.75, x + 0.75), (3.75, 3.83), "dark", -0.4)
        for x in xs
    ]
    rails = [
        patch((x + d - 0.03, x + d + 0.03), (3.3, 3.75), "dark", -0.4)
        for x in xs
        for d in (-0.7, -0.35, 0.0, 0.35, 0.7)
    ]
    return join(_storeys(half, 3, xs, w=0.95, h=1.5), _shutters(xs, [3.55, 6.25], shutters, 0.95, 1.5),
                 bars, rails, _hip((-half, half), 8.3, 5.0, 1.8, 0.7, 0.2),
                 _dormer(-1.4, 0.1, 8.4, depth=1.2), _dormer(1.4, 0.1, 8.4, depth=1.2),
                 _door(1.45, door, w=1.2), _window(-1.0, 0.9, 1.9, 1.4),
                 _cornice((-half, half), 2.8, 0.2, 0.12))  # fmt: skip


def terrace() -> Mesh:
    """Three small brick houses in a row, with a coloured door each."""
    parts = [
        mass((-4.35, 4.35), (0.0, 5.2), "wall", lid=False),
        _gable((-4.35, 4.35), 5.2, 5.0, 2.0, 0.25),
        patch((-4.35, 4.35), (0.0, 0.4), "stone", lift=0.01),
    ]
    for x, paint in ((-2.9, "red"), (0.0, "blue"), (2.9, "amber")):
        parts += [
            _door(x - 0.75, paint, w=0.95, h=2.0),
            mass((x - 1.5, x), (2.45, 2.6), "trim", (-0.5, 0.0)),
            _window(x + 0.7, 0.95, 1.0, 1.25),
            _windows([x - 0.7, x + 0.7], [3.45], 0.85, 1.2),
            _chimney(x + 1.45 - (0.5 if x > 1 else 0.0), 1.9, (6.3, 7.9), "stone"),
        ]
        if x < 1:
            parts.append(patch((x + 1.38, x + 1.52), (0.4, 4.8), "trim"))
    return join(parts)


def bakery() -> Mesh:
    """A shop with a pink and white awning, bread in the window and a loaf on its gable."""
    half = 2.9
    loaf = [
        shape([(0.85 * cos(pi * i / 6), 6.15 + 0.4 * sin(pi * i / 6)) for i in range(12)], "tan", 0.0, 0.03)
    ]
    loaf += [
        shape([(x - 0.2, 5.95), (x - 0.06, 5.95), (x + 0.2, 6.38), (x + 0.06, 6.38)], "cream", 0.0, 0.05)
        for x in (-0.4, 0.0, 0.4)
    ]
    return join(
        _storeys(half, 2, [-1.6, 1.6], bars=True),
        _gable_front((-half, half), 5.4, 5.0, 2.3),
        loaf,
        _shopfront(half, "coral", ("tan", "gold", "brown", "sand"), 1.9),
        _sign("BAKERY", 2.4, 2.75, "brown", "cream", 0.42),
        _awning((-half + 0.1, half - 0.1), 2.7, ("pink", "white"), 1.1, 0.6, 9),
        _flowers([-1.6, 1.6], 3.9, w=1.3),
    )


def cafe() -> Mesh:
    """A green awning, a cup on its roof, tables outside."""
    half = 2.7
    cup = lathe([(5.95, 0.4), (6.75, 0.7)], "white", (0.0, 0.5, 0.0), 8)
    cup += lathe([(6.75, 0.7), (6.68, 0.0)], "brown", (0.0, 0.5, 0.0), 8)
    handle = [mass((0.45, 1.0), (z, z + 0.12), "white", (0.4, 0.6), floor=True) for z in (6.12, 6.52)]
    handle += [mass((0.88, 1.0), (6.12, 6.64), "white", (0.4, 0.6))]
    tables = [
        cylinder(0.45, 0.08, (x, -1.7, 0.75), "white", sides=8)
        + mass((x - 0.05, x + 0.05), (0.0, 0.75), "dark", (-1.75, -1.65), lid=False)
        for x in (-1.9, 0.0)
    ]
    stools = [
        lathe([(0.0, 0.14), (0.5, 0.22)], "red", (x, -1.7, 0.0), 5, caps=True) for x in (-2.6, -1.2, 0.7)
    ]
    return join(
        _storeys(half, 2, [-1.5, 0.0, 1.5], w=0.85),
        _cornice((-half, half), 5.4, 0.4),
        cup,
        handle,
        _shopfront(half, "forest", ("tan", "pink", "brown"), 1.7),
        _sign("CAFE", 1.6, 2.8, "forest", "amber", 0.42),
        _awning((-half + 0.1, half - 0.1), 2.7, ("green", "cream"), 1.0, 0.55),
        tables,
        stools,
    )


def grocer() -> Mesh:
    """A broad shop with crates of fruit on the pavement and a lime awning."""
    half, crates = 3.3, []
    for i, fruit in enumerate(("red", "orange", "lime", "yellow", "purple")):
        x = -2.6 + 0.85 * i
        crates.append(mass((x - 0.38, x + 0.38), (0.35, 0.65), "wood", (-1.0, -0.3), lid=False))
        crates.append(face(fruit, (x - 0.36, -0.98, 0.68), (x + 0.36, -0.98, 0.68), (x + 0.36, -0.3, 0.95),
                           (x - 0.36, -0.3, 0.95)))  # fmt: skip
        crates += [blob(0.19, (x + d, -0.7 + d, 0.8), fruit, 5, 1) for d in (-0.17, 0.18)]
    stand = mass((-3.0, 1.2), (0.0, 0.35), "brown", (-0.95, -0.3))
    return join(_storeys(half, 2, [-2.1, 0.0, 2.1], bars=True), _cornice((-half, half), 5.4, 0.3),
                 mass((-half, half), (5.7, 6.3), "wall"), _cornice((-half, half), 6.3, 0.15),
                 _shopfront(half, "lime", ("orange", "red", "green", "yellow"), 2.2),
                 _awning((-half, half), 3.1, ("lime", "white"), 1.3, 0.7, 9), stand, crates,
                 _sign("FRUIT", 1.7, 5.6, "green", "white", 0.5))  # fmt: skip


def bookshop() -> Mesh:
    """A narrow navy shop with a bow of shelves and an open book for a sign."""
    half = 2.3
    book = [shape([(-0.72, 5.7), (0.0, 5.5), (0.72, 5.7), (0.72, 6.65), (-0.72, 6.65)], "red", 0.0, 0.03)]
    book += [
        shape([(0.0, 5.65), (0.6, 5.8), (0.6, 6.55), (0.0, 6.4)], "white", 0.0, 0.06),
        shape([(-0.6, 5.8), (0.0, 5.65), (0.0, 6.4), (-0.6, 6.55)], "cream", 0.0, 0.06),
    ]
    spines = bunting(
        [-1.75 + 0.28 * i for i in range(8)],
        (1.45, 1.95),
        ("red", "amber", "teal", "purple", "cream"),
        0.0,
        0.07,
    )
    return join(
        _storeys(half, 3, [-1.4, 1.4], w=0.8),
        book,
        _window(0.0, 3.55, 0.8, 1.4, bars=False),
        _hip((-half, half), 8.2, 5.0, 1.3, 0.9, 0.3),
        _shopfront(half, "navy", ("amber", "red", "teal", "lilac"), 1.45),
        spines,
        _sign("BOOKS", half, 2.75, "navy", "amber", 0.45),
        _flowers([-1.4, 1.4], 6.15, ("amber", "coral"), 0.9),
    )


def florist() -> Mesh:
    """A one-storey shop with a glass gable, a lilac awning and buckets of flowers."""
    half = 2.6
    pots = []
    for i, (flower, x) in enumerate(
        (("pink", -2.2), ("yellow", -1.55), ("red", -0.9), ("lilac", -0.25), ("magenta", 0.4))
    ):
        pots += [
            lathe([(0.0, 0.16), (0.45, 0.26)], "silver", (x, -0.9, 0.0), 5),
            blob((0.34, 0.3, 0.26), (x, -0.9, 0.65 + 0.08 * (i % 2)), flower, 5, 2),
        ]
    heart = [disc(s * 0.25, 4.3, 0.33, "magenta", 0.0, 0.05) for s in (-1, 1)]
    heart += [shape([(0.0, 3.6), (0.53, 4.15), (0.0, 4.4), (-0.53, 4.15)], "magenta", 0.0, 0.06)]
    return join(
        mass((-half, half), (0.0, 3.1), "wall", lid=False),
        _gable_front((-half, half), 3.1, 5.0, 2.3),
        heart,
        _shopfront(half, "lilac", ("pink", "leaf", "yellow"), 1.6),
        _awning((-half + 0.1, half - 0.1), 2.85, ("lilac", "white"), 1.0, 0.55),
        pots,
        _flank_windows(half, [0.9]),
    )


def corner_shop() -> Mesh:
    """Its corner is cut off for the door; a red awning, a turret above."""
    walls = [
        face("wall", (-3.2, 0.0, 0.0), (1.6, 0.0, 0.0), (1.6, 0.0, 5.6), (-3.2, 0.0, 5.6)),
        face("wall", (1.6, 0.0, 0.0), (3.0, 1.4, 0.0), (3.0, 1.4, 5.6), (1.6, 0.0, 5.6)),
        face("wall", (3.0, 1.4, 0.0), (3.0, 5.0, 0.0), (3.0, 5.0, 5.6), (3.0, 1.4, 5.6)),
        face("wall", (-3.2, 5.0, 0.0), (-3.2, 0.0, 0.0), (-3.2, 0.0, 5.6), (-3.2, 5.0, 5.6)),
        face("roof", (-3.2, 0.0, 5.6), (1.6, 0.0, 5.6), (3.0, 1.4, 5.6), (3.0, 5.0, 5.6), (-3.2, 5.0, 5.6)),
    ]
    cut = join(_door(0.0, "red", w=1.2), _window(0.0, 3.5, 0.9, 1.4)).turned(45).at(2.3, 0.7)
    turret = lathe([(5.2, 1.25), (6.5, 1.25)], "wall", (2.2, 1.3, 0.0), 8)
    turret += lathe([(6.4, 1.5), (8.2, 0.0)], "roof", (2.2, 1.3, 0.0), 8)
    shop = _plain_front((-2.9, 1.3), "red")
    return join(
        walls,
        cut,
        turret,
        blob(0.18, (2.2, 1.3, 8.2), "gold", 5, 2),
        shop,
        _awning((-3.1, 1.5), 2.75, ("red", "cream"), 1.0, 0.55, 7),
        _windows([-2.2, -0.2], [3.5], 1.0, 1.4, bars=True),
        mass((-3.3, 1.6), (5.35, 5.6), "trim", (-0.12, 0.0)),
        _flowers([-2.2, -0.2], 3.3),
    )


def _plain_front(x: Span, paint: str) -> Mesh:
    """A display window in painted timber, without a door."""
    third = (x[1] - x[0]) / 3
    panes = [
        patch((x[0] + third * i + 0.12, x[0] + third * (i + 1) - 0.12), (0.75, 2.35), "window", 0.0, 0.05)
        for i in range(3)
    ]
    shelf = bunting(
        [x[0] + (i + 0.5) * third / 2 for i in range(6)],
        (0.78, 1.25),
        ("yellow", "sky", "lime", "orange"),
        0.0,
        0.07,
    )
    return join(patch((x[0] - 0.2, x[1] + 0.2), (0.0, 2.75), paint, 0.0, 0.03), panes, shelf)


def apartments(storeys: int = 4, rail: str = "coral", wings: bool = True) -> Mesh:
    """A block of flats with a balcony a storey in each wing, or one in the middle, and a flat roof."""
    half, top = 4.0, 2.6 * storeys
    balconies, plain = ([-2.5, 2.5], [0.0]) if wings else ([0.0], [-2.6, 2.6])
    parts = [
        _storeys(half, storeys, plain, storey=2.6, w=1.2 if not wings else 0.9),
        _cornice((-half, half), top, 0.4, 0.2),
        patch((-half, half), (0.0, 2.45), "stone", 0.0, 0.01),
        _door(0.0, "wood", w=1.5),
        mass((-1.3, 1.3), (2.45, 2.62), rail, (-1.0, 0.0)),
        _windows([-2.5, 2.5], [0.8], 1.3, 1.3),
        mass((0.6, 2.2), (top, top + 1.3), "wall", (1.5, 3.0)),
    ]
    for i in range(1, storeys):
        for x in balconies:
            z = 2.6 * i
            parts += [
                _window(x, z + 0.25, 1.5, 1.9, bars=False),
                mass((x - 1.1, x + 1.1), (z - 0.02, z + 0.14), "trim", (-0.9, 0.0), floor=True),
                mass((x - 1.1, x + 1.1), (z + 0.14, z + 0.8), rail, (-0.9, -0.05), lid=False),
                blob((0.3, 0.2, 0.2), (x + 0.7 - 0.5 * (i % 3), -0.8, z + 0.9), "leaf", 5, 1),
            ]
    return join(parts)


def mansion_flats() -> Mesh:
    """Five storeys of brick with two bays, bands of stone and a mansard roof."""
    half, xs = 4.0, [-2.4, 0.0, 2.4]
    bays = [mass((s * 2.4 - 1.0, s * 2.4 + 1.0), (2.6, 10.4), "wall", (-0.55, 0.0)) for s in (-1, 1)]
    panes = [
        _window(x, 2.6 * i + 0.75, 1.2, 1.4, 0.0 if x == 0.0 else -0.55, bars=False)
        for x in xs
        for i in range(1, 4)
    ]
    bands = [
        mass((s * 2.4 - 1.1, s * 2.4 + 1.1), (2.6 * i - 0.1, 2.6 * i + 0.12), "trim", (-0.67, 0.0))
        for s in (-1, 1)
        for i in range(1, 5)
    ]
    return join(mass((-half, half), (0.0, 10.4), "wall"), bays, panes, bands,
                 patch((-half, half), (0.0, 2.5), "stone", lift=0.01), _windows([-2.4, 2.4], [0.8], 1.3, 1.2),
                 _door(0.0, "navy", w=1.4), arch((-0.7, 0.7), (2.0, 3.0), "trim", 0.0, 0.03),
                 _hip((-half, half), 10.6, 5.0, 1.9, 0.8, 0.2),
                 [_dormer(x, 0.1, 10.7, depth=1.2) for x in (-2.2, 0.0, 2.2)])  # fmt: skip


def office_tower(storeys: int = 8) -> Mesh:
    """A tall slab of window bands between white piers; a glazed lobby and plant on the roof."""
    half, top = 3.3, 1.9 * storeys
    bands = [
        patch((-half + 0.25, half - 0.25), (1.9 * i + 0.6, 1.9 * i + 1.6), "window", 0.0, 0.03)
        for i in range(2, storeys)
    ]
    ends = [
        patch((-2.2, 2.2), (1.9 * i + 0.6, 1.9 * i + 1.6), "window", 0.0, 0.03) for i in range(2, storeys)
    ]
    flank = join(ends).turned(90).at(half, 2.5) + join(ends).turned(-90).at(-half, 2.5)
    piers = [
        mass((x - 0.14, x + 0.14), (0.0, top + 0.3), "trim", (-0.22, 0.0))
        for x in (-3.2, -1.6, 0.0, 1.6, 3.2)
    ]
    lobby = [patch((x + 0.2, x + 1.4), (0.2, 2.9), "window", 0.0, 0.03) for x in (-3.2, -1.6, 0.0, 1.6)]
    return join(mass((-half, half), (0.0, top), "wall"), bands, flank, piers, lobby,
                 mass((-1.8, 1.8), (2.9, 3.15), "teal", (-1.3, 0.0)),
                 mass((-half, half), (top, top + 0.3), "trim"),
                 mass((-1.5, 1.5), (top + 0.3, top + 1.4), "silver", (1.0, 3.0)))  # fmt: skip


def hotel() -> Mesh:
    """Four storeys with an awning over each window and an upright sign."""
    half, xs, zs = 3.6, [-2.4, -0.8, 0.8], [3.5, 6.1, 8.7]
    hoods = [
        face(
            "crimson",
            *((x - 0.65, -0.5, z + 1.15), (x + 0.65, -0.5, z + 1.15)),
            *((x + 0.65, -0.04, z + 1.6), (x - 0.65, -0.04, z + 1.6)),
        )
        for x in xs
        for z in zs
    ]
    board = mass((2.15, 3.05), (3.3, 9.6), "crimson", (-0.35, 0.0))
    spelled = [letters(c, 2.6, 8.5 - 1.15 * i, 0.75, "cream", -0.35) for i, c in enumerate("HOTEL")]
    canopy = mass((-1.4, 1.4), (2.5, 2.75), "crimson", (-1.6, 0.0)) + mass(
        (-1.4, 1.4), (2.75, 2.85), "gold", (-1.65, 0.0)
    )
    posts = [mass((x - 0.06, x + 0.06), (0.0, 2.5), "gold", (-1.6, -1.48), lid=False) for x in (-1.3, 1.3)]
    return join(_storeys(half, 4, xs, storey=2.6, w=0.95, h=1.35), hoods, board, spelled, canopy, posts,
                 _door(0.0, "wood", w=1.6), _windows([-2.4, 2.4], [0.8], 1.4, 1.4),
                 _cornice((-half, half), 10.4, 0.45),
                 patch((-half, half), (2.45, 2.7), "trim"))  # fmt: skip


def bank() -> Mesh:
    """Four columns under a pediment."""
    half = 3.6
    columns = [
        lathe([(0.55, 0.34), (4.4, 0.28)], "trim", (x, -0.7, 0.0), 6) for x in (-2.7, -0.95, 0.95, 2.7)
    ]
    return join(
        mass((-half, half), (0.0, 5.0), "wall"),
        mass((-half, half), (0.0, 0.28), "stone", (-1.6, 0.0)),
        mass((-half + 0.2, half - 0.2), (0.28, 0.55), "stone", (-1.2, 0.0)),
        columns,
        mass((-half + 0.1, half - 0.1), (4.4, 5.2), "trim", (-1.1, 5.0)),
        letters("BANK", 0.0, 4.55, 0.5, "navy", -1.1),
        _gable_front((-half + 0.2, half - 0.2), 5.2, 6.0, 1.5, 0.25, -1.05),
        _door(0.0, "wood", z=0.55, w=1.5, h=2.4),
        _windows([-1.85, 1.85], [1.5], 0.9, 2.2),
        disc(0.0, 5.75, 0.42, "gold", -1.05, 0.04),
        _flank_windows(half, [1.5], 2.0, 1.0, 2.0),
    )


def garage() -> Mesh:
    """A workshop with two roller doors, tyres outside and a spanner sign."""
    half = 4.0
    tyres = [
        lathe([(0.0, 0.38), (0.25, 0.38)], "tyre", (3.55, -0.55, 0.26 * i), 8, caps=True) for i in range(3)
    ]
    spanner = [
        patch((-0.7, 0.7), (3.75, 3.95), "white", -0.18, 0.04),
        disc(-0.8, 3.85, 0.32, "white", -0.18, 0.05, 6),
        disc(0.8, 3.85, 0.32, "white", -0.18, 0.05, 6),
        disc(-0.95, 3.85, 0.15, "blue", -0.18, 0.07, 6),
        disc(0.95, 3.85, 0.15, "blue", -0.18, 0.07, 6),
    ]
    return join(
        mass((-half, half), (0.0, 4.3), "wall"),
        _roller(-2.2, 2.9, 2.7, "blue"),
        _roller(1.1, 2.9, 2.7, "blue"),
        _door(3.2, "amber", 0.1, 0.9),
        mass((-half, half), (3.35, 4.4), "blue", (-0.18, 0.0)),
        spanner,
        _cornice((-half, half), 4.4, 0.2, 0.2, "concrete"),
        tyres,
        _flank_windows(half, [1.2]),
    )


def fire_station() -> Mesh:
    """Two great red doors, a hose tower with a bell roof and a golden emblem."""
    tower = mass((2.4, 4.4), (0.0, 8.2), "wall", (-0.1, 2.2)) + _spire((2.4, 4.4), 8.4, 1.6, (-0.1, 2.2))
    slots = [_window(3.4, z, 0.7, 1.2, -0.1, bars=False) for z in (2.9, 4.7, 6.5)]
    return join(
        mass((-4.4, 2.4), (0.0, 4.6), "wall"),
        tower,
        slots,
        _roller(-2.7, 2.7, 3.0, "red"),
        _roller(0.7, 2.7, 3.0, "red"),
        _door(3.4, "red", 0.12, 1.0, y=-0.1),
        mass((-4.4, 2.4), (3.3, 4.15), "red", (-0.15, 0.0)),
        letters("FIRE", -1.0, 3.48, 0.5, "white", -0.15),
        _cornice((-4.4, 2.4), 4.6, 0.3, 0.15),
        shape([(-2.2, 4.9), (0.2, 4.9), (0.0, 5.5), (-0.6, 5.9), (-1.4, 5.9), (-2.0, 5.5)], "wall", 0.0, 0.0),
        disc(-1.0, 5.35, 0.42, "gold", 0.0, 0.03),
        disc(-1.0, 5.35, 0.22, "red", 0.0, 0.05),
    )


def church() -> Mesh:
    """A nave with a gable and, before it, a tower with a steep spire."""
    aisles = [
        arch((s * 2.55 - 0.4, s * 2.55 + 0.4), (1.0, 2.9), "trim")
        + arch((s * 2.55 - 0.28, s * 2.55 + 0.28), (1.1, 2.78), "window", 0.0, 0.04)
        for s in (-1, 1)
    ]
    bell = [
        arch((-0.65, 0.65), (5.7, 7.2), "trim", -0.8),
        arch((-0.5, 0.5), (5.8, 7.05), "dark", -0.8, 0.04),
        lathe([(6.0, 0.3), (6.55, 0.12)], "gold", (0.0, -0.95, 0.0), 6),
    ]
    porch = [
        arch((-0.85, 0.85), (0.2, 2.8), "trim", -0.8),
        arch((-0.65, 0.65), (0.2, 2.6), "wood", -0.8, 0.04),
        patch((-0.04, 0.04), (0.2, 2.6), "brown", -0.8, 0.06),
    ]
    cross = [
        patch((-0.07, 0.07), (12.1, 13.1), "gold", 0.55, 0.0),
        patch((-0.3, 0.3), (12.6, 12.74), "gold", 0.55, 0.0),
    ]
    return join(
        mass((-3.5, 3.5), (0.0, 3.6), "wall", (0.0, 6.0), lid=False),
        _gable_front((-3.5, 3.5), 3.6, 6.0, 3.0),
        aisles,
        mass((-1.35, 1.35), (0.0, 7.6), "wall", (-0.8, 1.9), lid=False),
        _spire((-1.35, 1.35), 7.8, 4.3, (-0.8, 1.9)),
        cross,
        bell,
        porch,
        disc(0.0, 4.1, 0.62, "trim", -0.8),
        disc(0.0, 4.1, 0.46, "window", -0.8, 0.04),
        mass((-1.1, 1.1), (0.0, 0.2), "stone", (-1.4, -0.8)),
        _flank_windows(3.5, [1.2], 2.2, 0.8, 1.5),
    )


def town_hall() -> Mesh:
    """Two storeys of tall arched windows, steps, flags and a clock tower in the middle."""
    half, xs = 4.4, [-3.4, -2.0, 2.0, 3.4]
    panes = [
        arch((x - 0.5, x + 0.5), (3.6, 5.3), "trim", 0.0, 0.02, 4)
        + arch((x - 0.38, x + 0.38), (3.7, 5.18), "window", 0.0, 0.04, 4)
        for x in xs
    ]
    tower = [
        mass((-1.3, 1.3), (0.0, 9.2), "wall", (-0.4, 2.2), lid=False),
        _cornice((-1.3, 1.3), 6.4, 0.25, 0.55, depth=2.2),
        _spire((-1.3, 1.3), 9.4, 2.2, (-0.4, 2.2), over=0.35),
    ]
    return join(
        mass((-half, half), (0.0, 5.8), "wall", lid=False),
        _hip((-half, half), 6.0, 5.0, 1.6, 1.6, 0.3),
        panes,
        _windows(xs, [1.0], 0.85, 1.4),
        tower,
        _clock(0.0, 7.9, 0.85, -0.4),
        patch((-1.0, 1.0), (0.5, 2.9), "trim", -0.4),
        patch((-0.8, 0.8), (0.5, 2.75), "wood", -0.4, 0.04),
        patch((-0.04, 0.04), (0.5, 2.75), "brown", -0.4, 0.06),
        _window(0.0, 3.7, 1.3, 1.7, -0.4),
        mass((-1.7, 1.7), (0.0, 0.25), "stone", (-1.5, -0.4)),
        mass((-1.4, 1.4), (0.25, 0.5), "stone", (-1.0, -0.4)),
        patch((-half, half), (2.75, 3.0), "trim", 0.0, 0.03),
    )


def school() -> Mesh:
    """Long and low with a gabled middle, a bell on the roof and a flag."""
    half, xs = 4.5, [-3.6, -2.3, 2.3, 3.6]
    belfry = [mass((x - 0.1, x + 0.1), (5.8, 7.8), "trim", (1.4, 1.6), lid=False) for x in (-0.55, 0.55)]
    belfry += [
        mass((-0.75, 0.75), (5.8, 6.7), "trim", (1.3, 2.7)),
        _spire((-0.65, 0.65), 7.9, 0.9, (1.3, 2.6)),
        lathe([(7.0, 0.32), (7.6, 0.12)], "gold", (0.0, 1.8, 0.0), 6),
    ]
    return join(
        mass((-half, half), (0.0, 4.9), "wall", lid=False),
        _gable((-half, half), 4.9, 5.0, 1.7),
        mass((-1.6, 1.6), (0.0, 5.0), "wall", (-0.4, 2.0), lid=False),
        _gable_front((-1.6, 1.6), 5.0, 3.0, 1.6, 0.3, -0.4),
        _windows(xs, [0.85, 3.15], 0.95, 1.35),
        _clock(0.0, 5.45, 0.42, -0.4),
        _flag(-3.4, 0.8, 5.3, "amber"),
        belfry,
        _sign("SCHOOL", 1.45, 2.75, "blue", "white", 0.36).at(0.0, -0.4),
        patch((-0.85, 0.85), (0.2, 2.5), "trim", -0.4),
        patch((-0.7, 0.7), (0.2, 2.4), "red", -0.4, 0.04),
        patch((-0.5, 0.5), (1.4, 2.2), "window", -0.4, 0.06),
        patch((-0.04, 0.04), (0.2, 2.4), "trim", -0.4, 0.08),
        mass((-1.3, 1.3), (0.0, 0.2), "stone", (-1.0, -0.4)),
        _windows([0.0], [3.75], 1.4, 0.9).at(0.0, -0.4),
        patch((-half, half), (2.55, 2.8), "brick"),
    )


def cinema() -> Mesh:
    """A lit marquee under a stepped front, with posters either side of the doors."""
    half = 3.8
    fins = [
        mass((-x, x), (5.2, z), p, (-y, 3.0))
        for x, z, p, y in ((2.4, 6.6, "wall", 0.05), (1.0, 7.8, "crimson", 0.35))
    ]
    bulbs = [disc(-2.8 + 0.8 * i, 3.02, 0.12, "lamp glow", -1.4, 0.04, 6) for i in range(8)]
    posters = [
        patch((x - 0.55, x + 0.55), (0.7, 2.3), "gold", 0.0, 0.03)
        + patch((x - 0.45, x + 0.45), (0.8, 2.2), p, 0.0, 0.05)
        + disc(x, 1.6, 0.28, q, 0.0, 0.07)
        for x, p, q in ((-2.9, "teal", "coral"), (2.9, "purple", "yellow"))
    ]
    doors = [
        patch((x - 0.5, x + 0.5), (0.1, 2.4), "crimson", 0.0, 0.03)
        + patch((x - 0.36, x + 0.36), (0.5, 2.2), "window", 0.0, 0.05)
        for x in (-1.2, 0.0, 1.2)
    ]
    ribs = [patch((x - 0.08, x + 0.08), (4.5, 6.4), "gold", -0.05, 0.03) for x in (-2.0, -1.5, 1.5, 2.0)]
    star = _star(0.0, 6.95, 0.72, "lamp glow", -0.35)
    return join(mass((-half, half), (0.0, 5.3), "wall"), fins, ribs, star,
                 mass((-half + 0.6, half - 0.6), (2.85, 3.2), "crimson", (-1.4, 0.0)),
                 mass((-half + 0.6, half - 0.6), (3.2, 4.1), "white", (-1.4, 0.0)),
                 mass((-half + 0.5, half - 0.5), (4.1, 4.3), "crimson", (-1.5, 0.0)),
                 letters("CINEMA", 0.0, 3.35, 0.6, "crimson", -1.4), bulbs, posters, doors,
                 _cornice((-half, half), 5.3, 0.2, 0.1))  # fmt: skip


def market_hall() -> Mesh:
    """A great barn with open arches and stalls within."""
    half = 4.5
    arches = [
        arch((x - 1.15, x + 1.15), (0.0, 2.9), "trim", 0.0, 0.02)
        + arch((x - 1.0, x + 1.0), (0.0, 2.75), "dark", 0.0, 0.04)
        for x in (-2.9, 0.0, 2.9)
    ]
    stalls = []
    for x, paints in ((-2.9, ("red", "white")), (0.0, ("amber", "white")), (2.9, ("blue", "white"))):
        stalls += [
            _awning((x - 0.95, x + 0.95), 2.0, paints, 0.7, 0.3, 5),
            bunting(
                [x - 0.65 + 0.32 * i for i in range(5)],
                (0.85, 1.1),
                ("orange", "lime", "red", "yellow"),
                -0.3,
                0.04,
            ),
            mass((x - 0.85, x + 0.85), (0.0, 0.85), "wood", (-0.3, 0.0)),
        ]
    lantern = mass((-1.0, 1.0), (5.9, 6.7), "trim", (1.9, 3.5), lid=False) + _spire(
        (-1.0, 1.0), 6.8, 0.9, (1.9, 3.5)
    )
    panes = [patch((x - 0.28, x + 0.28), (6.05, 6.55), "window", 1.9) for x in (-0.6, 0.0, 0.6)]
    return join(mass((-half, half), (0.0, 3.6), "wall", lid=False), arches, stalls,
                 _hip((-half, half), 3.6, 5.0, 2.4, 2.0, 0.5), lantern, panes)  # fmt: skip


def windmill() -> Mesh:
    """A round white tower with four sails, a gallery, and a mill shop leaning on it."""
    y, arms = 2.7, []
    for turn in (20, 110, 200, 290):
        bars = [
            patch((-0.07, 0.07), (0.2, 3.5), "wood", 0.0, 0.0),
            patch((0.12, 0.95), (0.9, 3.45), "cream", 0.0, 0.02),
        ]
        bars += [patch((0.07, 1.0), (z, z + 0.08), "wood", 0.0, 0.05) for z in (0.9, 1.75, 2.6, 3.4)]
        arms.append(join(bars).turned(turn, "y"))
    sails = join(arms).at(-0.6, 0.55, 6.9)
    rail = lathe([(3.75, 2.75), (3.87, 2.75)], "wood", (-0.6, y, 0.0), 8)
    posts = [
        mass((x - 0.05, x + 0.05), (3.05, 3.8), "wood", (d, d + 0.1), lid=False)
        for x, d in ((-3.1, 1.6), (-1.65, 0.15), (0.45, 0.15), (1.9, 1.6))
    ]
    tower = [
        lathe([(0.0, 2.5), (6.6, 1.6)], "trim", (-0.6, y, 0.0), 8),
        lathe([(2.95, 2.25), (2.95, 2.8), (3.1, 2.8), (3.1, 2.0)], "wood", (-0.6, y, 0.0), 8),
        lathe([(6.5, 1.85), (7.6, 1.6), (8.6, 0.0)], "roof", (-0.6, y, 0.0), 8),
    ]
    panes = [
        _window(-0.6, 4.1, 0.8, 1.0, 0.9, "wood", bars=False),
        _window(-0.6, 1.75, 0.7, 0.8, 0.6, "wood", bars=False),
        _window(-2.0, 0.9, 0.7, 0.9, 0.62, "wood", bars=False).turned(-8),
    ]
    shop = [
        mass((0.6, 3.6), (0.0, 2.5), "wall", (0.3, 4.0), lid=False),
        _gable((0.6, 3.6), 2.5, 4.0, 1.7, 0.3).at(0.0, 0.3),
        _door(1.5, "teal", y=0.3),
        _window(2.75, 0.95, 1.0, 1.1, 0.3),
    ]
    sacks = [blob((0.28, 0.22, 0.4), (x, 0.05, 0.36), "sand", 5, 2) for x in (-1.5, -0.95)]
    hub = lathe([(6.9 - 0.3, 0.0), (6.9, 0.3), (6.9 + 0.3, 0.0)], "brown", (-0.6, 0.6, 0.0), 6)
    return roadside([*tower, rail, *posts, *panes, *shop, *sacks, sails, hub]).at(0.35)


def library() -> Mesh:
    """A copper dome over stone wings; two piles of great books stand beside the steps."""
    half = 4.3
    panes = [
        arch((x - 0.55, x + 0.55), (1.0, 3.7), "trim")
        + arch((x - 0.42, x + 0.42), (1.1, 3.58), "window", 0.0, 0.04, 4)
        for x in (-3.4, -2.0, 2.0, 3.4)
    ]
    dome = lathe([(4.7, 2.15), (6.0, 2.15)], "wall", (0.0, 2.2, 0.0), 8)
    dome += lathe(
        [(6.0, 2.4), (6.25, 2.4), (7.4, 1.95), (8.25, 1.25), (8.7, 0.4)], "mint", (0.0, 2.2, 0.0), 8
    )
    dome += lathe([(8.65, 0.42), (9.3, 0.36), (9.9, 0.0)], "trim", (0.0, 2.2, 0.0), 5)
    slots = [_window(x, 4.95, 0.5, 0.75, 0.14, bars=False) for x in (-0.4, 0.4)]
    books = [
        mass((x - w, x + w), (0.42 * i, 0.42 * (i + 1) - 0.04), paint, (-1.25 + 0.06 * i, -0.35))
        for x in (-2.05, 2.05)
        for i, (w, paint) in enumerate(((0.55, "crimson"), (0.48, "navy"), (0.5, "amber")))
    ]
    pages = [
        patch((x - 0.48, x + 0.48), (0.42 * i + 0.1, 0.42 * i + 0.27), "cream", -1.25 + 0.06 * i)
        for x in (-2.05, 2.05)
        for i in range(3)
    ]
    door = [
        arch((-0.95, 0.95), (0.5, 3.5), "trim", -0.5),
        arch((-0.75, 0.75), (0.5, 3.3), "wood", -0.5, 0.04),
        patch((-0.04, 0.04), (0.5, 3.3), "brown", -0.5, 0.06),
    ]
    return roadside([mass((-half, half), (0.0, 4.6), "wall", lid=False),
                     _hip((-half, half), 4.8, 5.0, 0.9, 1.8, 0.3), dome, *slots, *panes,
                     mass((-1.45, 1.45), (0.0, 5.2), "trim", (-0.5, 1.0)), *door,
                     mass((-1.4, 1.4), (0.0, 0.25), "stone", (-1.5, -0.5)),
                     mass((-1.2, 1.2), (0.25, 0.5), "stone", (-1.1, -0.5)),
                     letters("LIBRARY", 0.0, 4.2, 0.42, "navy", -0.5), *books, *pages,
                     patch((-half, half), (0.0, 0.5), "stone", lift=0.01)])  # fmt: skip


def toy_shop() -> Mesh:
    """Battlements in four colours between two crayons, a rainbow over the door, letter blocks on the roof."""
    half, paints = 3.3, ("red", "amber", "green", "blue")
    teeth = [
        mass((x - 0.4, x + 0.4), (5.2, 6.0), paint, (-0.1, 0.5))
        for x, paint in zip((-2.6, -1.7, 1.7, 2.6), paints, strict=True)
    ]
    crayons = []
    for x, paint in ((-half, "red"), (half, "blue")):
        crayons += [
            lathe([(0.0, 0.42), (5.6, 0.42), (5.6, 0.3), (6.5, 0.0)], paint, (x, -0.05, 0.0), 6),
            *[lathe([(z, 0.45), (z + 0.3, 0.45)], "charcoal", (x, -0.05, 0.0), 6) for z in (0.5, 4.9)],
        ]
    bows = [
        arch((-r, r), (0.1, 2.0 + r), p, 0.0, 0.02 + 0.02 * i, 6)
        for i, (r, p) in enumerate(((1.3, "red"), (1.1, "amber"), (0.9, "green"), (0.7, "sky")))
    ]
    door = [
        patch((-0.55, 0.55), (0.1, 2.1), "purple", 0.0, 0.11),
        patch((-0.35, 0.35), (1.0, 1.8), "window", 0.0, 0.13),
    ]
    shows = []
    for x in (-2.1, 2.1):
        shows += [
            patch((x - 0.8, x + 0.8), (0.6, 2.4), "trim", 0.0, 0.03),
            patch((x - 0.68, x + 0.68), (0.72, 2.28), "window", 0.0, 0.05),
            bunting([x - 0.45, x, x + 0.45], (0.74, 1.3), ("coral", "lime", "lilac", "amber"), 0.0, 0.07),
        ]
    blocks = []
    for x, z, paint, ink, text in (
        (-0.7, 5.2, "green", "white", "A"),
        (0.7, 5.2, "coral", "white", "B"),
        (0.0, 6.5, "amber", "red", "C"),
    ):
        blocks += [
            mass((x - 0.65, x + 0.65), (z, z + 1.25), paint, (0.1, 1.4)),
            letters(text, x, z + 0.22, 0.8, ink, 0.1),
        ]
    return roadside([mass((-half, half), (0.0, 5.2), "wall"), *teeth, *crayons, *bows, *door, *shows, *blocks,
                     _sign("TOYS", 1.7, 3.55, "purple", "yellow", 0.55),
                     _windows([-2.1, 2.1], [3.2], 0.9, 1.2)])  # fmt: skip


def ice_cream_parlour() -> Mesh:
    """Pink and white under a scalloped awning; a cone as tall as a house stands on its roof."""
    half, x, y = 3.1, 0.0, 1.6
    cone = lathe([(3.7, 0.25), (5.9, 1.05), (6.15, 1.15), (6.15, 0.8)], "tan", (x, y, 0.0), 7)
    bands = [
        lathe([(z, r + 0.04), (z + 0.12, r + 0.08)], "wood", (x, y, 0.0), 7)
        for z, r in ((4.3, 0.47), (5.0, 0.72))
    ]
    scoops = [
        blob((1.05, 1.0, 0.9), (x - 0.5, y, 6.75), "pink", 7, 2),
        blob((1.0, 1.0, 0.9), (x + 0.6, y, 6.85), "brown", 7, 2),
        blob((0.95, 0.95, 0.9), (x + 0.02, y - 0.1, 7.75), "cream", 7, 2),
        blob(0.24, (x, y - 0.1, 8.7), "red", 5, 1),
    ]
    counter = [
        patch((-2.7, 0.9), (1.0, 2.35), "window", 0.0, 0.04),
        mass((-2.8, 1.0), (0.85, 1.0), "trim", (-0.4, 0.0), floor=True),
        *[
            blob((0.17, 0.17, 0.2), (-2.3 + 0.7 * i, -0.2, 1.2), p, 4, 1)
            for i, p in enumerate(("mint", "coral", "yellow", "lilac"))
        ],
    ]
    stripes = [
        patch((-half + 0.88 * i, -half + 0.88 * i + 0.44), (0.0, 0.85), "pink", 0.0, 0.02) for i in range(7)
    ]
    return roadside([mass((-half, half), (0.0, 3.4), "trim"), *stripes, *counter, _door(2.0, "magenta", 0.12),
                     _awning((-half + 0.05, half - 0.05), 3.0, ("pink", "white"), 1.1, 0.5, 7),
                     _cornice((-half, half), 3.4, 0.3, 0.12, "mint"),
                     _sign("ICES", 1.7, 3.7, "magenta", "white", 0.55), cone, *bands, *scoops,
                     _flank_windows(half, [0.95], 2.0)])  # fmt: skip


KINDS: dict[str, Callable[[], Mesh]] = {
    "cottage": cottage,
    "gabled house": gabled_house,
    "bungalow": bungalow,
    "villa": villa,
    "timbered house": timbered_house,
    "canal house": canal_house,
    "town house": town_house,
    "blue town house": partial(town_house, "amber", "navy"),
    "terrace": terrace,
    "bakery": bakery,
    "cafe": cafe,
    "grocer": grocer,
    "bookshop": bookshop,
    "florist": florist,
    "corner shop": corner_shop,
    "apartments": apartments,
    "tall apartments": partial(apartments, 5, "teal", False),
    "mansion flats": mansion_flats,
    "office tower": office_tower,
    "hotel": hotel,
    "bank": bank,
    "garage": garage,
    "fire station": fire_station,
    "church": church,
    "town hall": town_hall,
    "school": school,
    "cinema": cinema,
    "market hall": market_hall,
}
#: Those that came with the second version of the world; they stand after everything else in the order of
#: kinds.
NEWER: dict[str, Callable[[], Mesh]] = {
    "windmill": windmill,
    "library": library,
    "toy shop": toy_shop,
    "ice-cream parlour": ice_cream_parlour,
}
