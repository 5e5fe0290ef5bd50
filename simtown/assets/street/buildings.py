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

Arch = tuple[float, float, float]  # half its width, its sill and its crown


def _window(
    x: float, z: float, w: float = 1.0, h: float = 1.3, y: float = 0.0, frame: str = "trim", bars: bool = True
) -> Mesh:
    """A framed window; `bars` add a cross and a sill. 4 or 12 triangles."""
    pane, bar = about(x, w / 2), z + 0.58 * h
    parts = [patch(wider(pane, 0.12), (z - 0.12, z + h + 0.12), frame, y)]
    parts.append(patch(pane, (z, z + h), "window", y, 0.04))
    if bars:
        parts.append(patch(about(x, 0.05), (z, z + h), frame, y, 0.06))
        parts.append(patch(pane, (bar, bar + 0.09), frame, y, 0.06))
        parts.append(mass(wider(pane, 0.22), (z - 0.24, z - 0.1), frame, (y - 0.2, y), ends=False))
    return join(parts)


def _windows(xs: Places, zs: Places, w: float = 1.0, h: float = 1.3, bars: bool = False) -> Mesh:
    """A grid of windows on the front."""
    return join(_window(x, z, w, h, bars=bars) for z in zs for x in xs)


def _flank_windows(half: float, zs: Places, y: float = 2.0, w: float = 1.0, h: float = 1.3) -> Mesh:
    """A column of windows on either end wall (at x = ±half)."""
    column = _windows([0.0], zs, w, h)
    return column.turned(90).at(half, y) + column.turned(-90).at(-half, y)


def _archways(
    xs: Places,
    frame: Arch,
    inside: Arch,
    paint: str = "window",
    y: float = 0.0,
    steps: tuple[int, int] = (6, 6),
) -> Mesh:
    """A framed opening with a half-round head about each x."""
    parts = []
    for x in xs:
        parts.append(arch(about(x, frame[0]), frame[1:], "trim", y, 0.02, steps[0]))
        parts.append(arch(about(x, inside[0]), inside[1:], paint, y, 0.04, steps[1]))
    return join(parts)


def _shutters(xs: Places, zs: Places, paint: str, w: float = 1.0, h: float = 1.3) -> Mesh:
    """A shutter either side of each window of a grid."""
    places = [(x + s * (w / 2 + 0.34), z) for x in xs for z in zs for s in (-1, 1)]
    return join(patch(about(x, 0.22), (z - 0.12, z + h + 0.12), paint, 0.0, 0.05) for x, z in places)


def _flowers(
    xs: Places, z: float, paints: Sequence[str] = ("red", "yellow", "pink"), w: float = 1.2, y: float = 0.0
) -> Mesh:
    """Flower boxes under windows at z."""
    parts = []
    for x in xs:
        trough = about(x, w / 2)
        parts.append(mass(trough, (z - 0.3, z), "wood", (y - 0.3, y), lid=False))
        parts.append(mass(wider(trough, -0.05), (z, z + 0.14), "leaf dark", (y - 0.28, y), ends=False))
        for i, paint in enumerate(paints):
            spot = x + w * ((i + 0.5) / len(paints) - 0.5)
            parts.append(disc(spot, z + 0.14, 0.15, paint, y - 0.28, sides=5))
    return join(parts)


def _door(x: float, paint: str, z: float = 0.2, w: float = 1.1, h: float = 2.1, y: float = 0.0) -> Mesh:
    """A front door with a light, a knob and a step."""
    leaf = about(x, w / 2)
    return join(
        patch(wider(leaf, 0.15), (z, z + h + 0.15), "trim", y) + patch(leaf, (z, z + h), paint, y, 0.04),
        patch(about(x, 0.3 * w), (z + 0.62 * h, z + 0.9 * h), "window", y, 0.06),
        patch((x + 0.3 * w, x + 0.4 * w), (z + 0.42 * h, z + 0.48 * h), "gold", y, 0.06),
        mass(wider(leaf, 0.3), (0.0, z), "stone", (y - 0.5, y)),
    )


def _gable(x: Width, z: float, rise: float, over: float = 0.35, depth: float = 5.0) -> Mesh:
    """A roof whose ridge runs along the street, with end gables, a fascia and barge boards."""
    middle, far = depth / 2, depth + over
    (a, b), eave, crown = wider(x, over), z - rise / middle * over, z + rise
    roof = face("roof", (a, -over, eave), (b, -over, eave), (b, middle, crown), (a, middle, crown))
    parts = [roof, patch((a, b), (eave - 0.22, eave), "trim", -over, 0.0)]
    for end, board, way in zip(span(x), (a, b), (-1, 1), strict=True):
        ridge, keel = (board, middle, crown), (board, middle, crown - 0.22)
        gable = [(end, 0.0, z), (end, depth, z), (end, middle, crown)]
        front = [(board, -over, eave - 0.22), keel, ridge, (board, -over, eave)]
        back = [keel, (board, far, eave - 0.22), (board, far, eave), ridge]
        soffit = [(end, middle, crown - 0.02), (end, far, eave - 0.02)]
        soffit += [(board, far, eave - 0.02), (board, middle, crown - 0.02)]
        for paint, points in (("wall", gable), ("trim", front), ("trim", back), ("trim", soffit)):
            parts.append(face(paint, *points[::way]))
    return join(parts)


def _gable_front(
    x: Width, z: float, rise: float, y: Span = DEEP, over: float = 0.35, wall: str = "wall", lip: float = 0.22
) -> Mesh:
    """A roof whose gable faces the street."""
    (left, right), (a, b), fore = span(x), wider(x, over), y[0] - over
    middle, eave, crown = (left + right) / 2, z - rise / ((right - left) / 2) * over, z + rise
    ridge, back, keel = (middle, fore, crown), (middle, y[1], crown), (middle, fore, crown - lip)
    return join(
        face(wall, (left, y[0], z), (right, y[0], z), (middle, y[0], crown)),
        face("roof", (b, fore, eave), (b, y[1], eave), back, ridge),
        face("roof", ridge, back, (a, y[1], eave), (a, fore, eave)),
        face("trim", (a, fore, eave - lip), keel, ridge, (a, fore, eave)),
        face("trim", keel, (b, fore, eave - lip), (b, fore, eave), ridge),
    )


def _hip(x: Width, z: float, rise: float, inset: float = 2.5, over: float = 0.35) -> Mesh:
    """A roof that slopes on all sides; a small `inset` leaves a flat top (a mansard). Its fascia is trim."""
    (a, b), (fore, back) = wider(x, over), wider(DEEP, over)
    run, crown = inset + over, z + rise
    (u, v), near, far = (a + run, b - run), fore + run, max(back - run, fore + run)
    p, q, r, s = (a, fore, z), (b, fore, z), (b, back, z), (a, back, z)  # the eaves
    i, j, k, m = (u, near, crown), (v, near, crown), (v, far, crown), (u, far, crown)  # the crown above them
    slopes = [(p, q, j, i), (q, r, k), (s, p, i)]
    if far >= near + 0.01:
        slopes += [(q, k, j), (s, i, m), (i, j, k, m)]
    eaves = mass((a, b), (z - 0.25, z), "trim", (fore, back), lid=False, floor=True)
    return join([face("roof", *slope) for slope in slopes], eaves)


def _spire(x: Width, z: float, rise: float, y: Span, over: float = 0.25) -> Mesh:
    """A pyramid on a tower, with a gold ball."""
    (left, right), (a, b), (c, d) = span(x), wider(x, over), wider(y, over)
    tip = ((left + right) / 2, (y[0] + y[1]) / 2, z + rise)
    eaves = (((a, c), (b, c)), ((b, c), (b, d)), ((a, d), (a, c)))
    slopes = [face("roof", (*start, z), (*stop, z), tip) for start, stop in eaves]
    fascia = mass((a, b), (z - 0.2, z), "trim", (c, d), lid=False, floor=True)
    return join(slopes, fascia, blob(0.22, tip, "gold", 5, 2))


def _dormer(x: float, y: float, z: float, depth: float = 2.0) -> Mesh:
    """A window with a gable of its own, standing out of a roof at height z."""
    w, h, sides = 1.4, 1.1, about(x, 0.7)
    walls = mass(sides, (z, z + h), "wall", (y, y + depth), lid=False)
    roof = _gable_front(sides, z + h, 0.6, (y, y + depth), 0.15, lip=0.13)
    return join(walls, roof, _window(x, z + 0.15, w - 0.55, h - 0.25, y, bars=False))


def _chimney(x: float, y: float, z: Span, paint: str = "brick") -> Mesh:
    """A stack with a cap."""
    stack = mass(about(x, 0.32), z, paint, (y, y + 0.6), lid=False)
    return stack + mass(about(x, 0.42), (z[1], z[1] + 0.2), "stone", (y - 0.1, y + 0.7))


def _awning(
    x: Width, z: float, paints: tuple[str, str], out: float = 1.1, drop: float = 0.75, stripes: int = 7
) -> Mesh:
    """A striped awning with a hanging scalloped edge, its top at z."""
    left, right = span(x)
    step, low, parts = (right - left) / stripes, z - drop, []
    for i in range(stripes):
        a, b, paint = left + i * step, left + (i + 1) * step, paints[i % 2]
        parts.append(face(paint, (a, -out, low), (b, -out, low), (b, -0.03, z), (a, -0.03, z)))
        hem = [(a, low), (a + 0.25 * step, low - 0.28), (b - 0.25 * step, low - 0.28), (b, low)]
        parts.append(shape(hem, paint, -out, 0.0))
    parts.append(face(paints[0], (right, -out, low), (right, 0.0, low), (right, 0.0, z)))
    parts.append(face(paints[0], (left, 0.0, low), (left, -out, low), (left, 0.0, z)))
    return join(parts)


def _cornice(
    x: Width, z: float, h: float = 0.35, out: float = 0.25, paint: str = "trim", depth: float = 5.0
) -> Mesh:
    """A ledge round the front and ends."""
    return mass(wider(x, out), (z, z + h), paint, (-out, depth), floor=True)


def _storeys(
    half: float, count: int, xs: Places, w: float = 1.0, h: float = 1.4, high: float = 2.7, bars: bool = False
) -> Mesh:
    """The walls of storeys so `high`; each but the lowest has a window at each x and one on either end."""
    zs = [high * i + 0.85 for i in range(1, count)]
    walls = mass(half, (0.0, high * count), "wall") + _windows(xs, zs, w, h, bars)
    return walls + _flank_windows(half, zs, 1.8, w, h)


def _shopfront(half: float, paint: str, goods: Sequence[str], door: float) -> Mesh:
    """A ground floor of painted timber and display windows, with goods on show and a door at x = `door`."""
    side, z = -1.0 if door > 0 else 1.0, 2.75
    lo, hi = sorted((side * (half - 0.35), door + side * 0.85))
    shelf = [lo + (hi - lo) * (i + 0.5) / 6 for i in range(6)]
    return join(
        patch(half, (0.0, z), paint, 0.0, 0.03) + patch((lo, hi), (0.75, z - 0.35), "window", 0.0, 0.05),
        bunting(shelf, (0.78, 1.3), goods, 0.0, 0.07),
        patch(about((lo + hi) / 2, 0.06), (0.75, z - 0.35), paint, 0.0, 0.09),
        mass(wider((lo, hi), 0.1), (0.6, 0.75), "trim", (-0.16, 0.0), ends=False),
        patch(about(door, 0.55), (0.12, z - 0.35), "trim", 0.0, 0.05),
        patch(about(door, 0.42), (0.75, z - 0.5), "window", 0.0, 0.07),
        mass(about(door, 0.7), (0.0, 0.12), "stone", (-0.35, 0.0)),
    )


def _sign(text: str, half: float, z: float, paint: str, ink: str = "white", height: float = 0.5) -> Mesh:
    """A fascia with block capitals on it."""
    board = mass(half, (z, z + height + 0.3), paint, (-0.18, 0.0))
    return board + letters(text, 0.0, z + 0.15, height, ink, -0.18)


def _clock(z: float, radius: float, y: float) -> Mesh:
    """A white face with a gold rim; it is ten past ten."""
    rim, dial = disc(0.0, z, radius * 1.15, "gold", y, 0.03, 10), disc(0.0, z, radius, "white", y, 0.05, 10)
    hour = shape([(0.0, z - 0.08), (0.08, z), (-0.5 * radius, z + 0.4 * radius)], "black", y, 0.07)
    minute = shape([(-0.08, z), (0.0, z - 0.08), (0.72 * radius, z + 0.45 * radius)], "black", y, 0.07)
    return join(rim, dial, hour, minute)


def _roller(x: float, w: float, h: float, paint: str, stripe: str = "white") -> Mesh:
    """A roller door with ribs and a row of lights."""
    leaf = about(x, w / 2)
    ribs = [patch(leaf, (h * t, h * t + 0.07), stripe, 0.0, 0.07) for t in (0.2, 0.4, 0.92)]
    spots = [x + w * (i - 1.5) / 4 for i in range(4)]
    lights = patches(spots, 0.2 * w / 2, (0.58 * h, 0.8 * h), "window", 0.0, 0.07)
    frame = patch(wider(leaf, 0.15), (0.0, h + 0.15), "trim", 0.0, 0.03)
    return join(frame, patch(leaf, (0.0, h), paint, 0.0, 0.05), ribs, lights)


def _star(z: float, radius: float, paint: str, y: float) -> Mesh:
    """Five points."""
    turn = [(pi / 2 + pi * i / 5, k) for i, k in enumerate((1.0, 0.42) * 5)]
    tips = [(radius * cos(t) * k, z + radius * sin(t) * k) for t, k in turn]
    rays = [shape([tips[i - 1], tips[i], tips[(i + 1) % 10]], paint, y, 0.03) for i in range(0, 10, 2)]
    return join(rays, shape(tips[1::2], paint, y, 0.03))


def cottage() -> Mesh:
    """One storey under a big roof: shutters, flower boxes, a dormer, a chimney."""
    xs = [-1.95, 1.95]
    walls = join(mass(3.2, (0.0, 2.6), "wall", lid=False), _gable(3.2, 2.6, 2.6), _door(0.0, "red"))
    windows = join(_windows(xs, [0.95], bars=True), _shutters(xs, [0.95], "green"), _flowers(xs, 0.8))
    ends = _dormer(-1.0, 0.5, 3.0) + _flank_windows(3.2, [0.95]) + _chimney(2.1, 1.8, (3.6, 5.9))
    return join(walls, windows, ends, blob((0.6, 0.35, 0.5), (-2.9, -0.4, 0.5), "leaf", 6, 2))


def gabled_house() -> Mesh:
    """Two storeys with the gable to the street and a porch."""
    walls = _storeys(2.6, 2, [-1.3, 1.3], bars=True) + _gable_front(2.6, 5.4, 2.6)
    porch = posts((0.4, 2.2), 0.09, (0.0, 2.45), "trim", (-1.0, 0.18 - 1.0))
    porch += _gable_front(about(1.3, 1.0), 2.45, 0.7, (-1.0, 0.0), 0.15, "trim")
    window = _window(-1.2, 0.9, 1.5, 1.4) + _flowers([-1.2], 0.75, w=1.8)
    oculus = disc(0.0, 6.5, 0.55, "trim") + disc(0.0, 6.5, 0.4, "window", 0.0, 0.04)
    ends = _flank_windows(2.6, [0.9], 1.8) + _chimney(-1.3, 2.5, (6.4, 8.4))
    return join(walls, _door(1.3, "navy"), porch, window, oculus, ends)


def bungalow() -> Mesh:
    """Low and wide under a hip roof, with a bay window and a carport door."""
    walls = mass(4.2, (0.0, 2.6), "wall", lid=False) + _hip(4.2, 2.75, 1.9, over=0.5)
    bay = mass((-2.9, -0.9), (0.0, 2.5), "trim", (-0.7, 0.0)) + _window(-1.9, 0.8, 1.5, 1.3, -0.7)
    doors = _door(0.1, "teal") + _roller(2.6, 2.1, 2.0, "white", "silver")
    ends = _flank_windows(4.2, [0.9]) + _chimney(-2.2, 1.6, (3.6, 5.4))
    return join(walls, bay, doors, ends, _flowers([-1.9], 0.7, w=1.8, y=-0.7))


def villa() -> Mesh:
    """Two storeys, a hip roof with a dormer, corner stones and a pillared porch with a balcony."""
    xs = [-2.6, 2.6]
    walls = _storeys(4.0, 2, xs, bars=True) + _hip(4.0, 5.5, 2.2) + _dormer(0.0, 0.3, 5.9)
    deck = mass(1.5, (2.5, 2.75), "trim", (-1.2, 0.0)) + mass(1.5, (3.35, 3.45), "trim", (-1.2, -1.1))
    props = posts((-1.4, 1.4), 0.08, (0.0, 3.4), "trim", (-1.2, -1.04))
    rails = patches((-0.9, -0.45, 0.0, 0.45, 0.9), 0.05, (2.75, 3.4), "trim", -1.1)
    spots = [(x, 0.9 * i) for x in (-3.75, 3.75) for i in range(6)]
    quoins = [patch(about(x, 0.25), (z, z + 0.55), "trim") for x, z in spots]
    panes = _window(0.0, 3.2, 1.2, 1.6, bars=False) + _windows(xs, [0.85], 1.0, 1.4, bars=True)
    door, chimney = _door(0.0, "forest", w=1.3), _chimney(2.6, 1.8, (6.3, 8.2))
    return join(walls, door, deck, props, rails, quoins, panes, chimney)


def timbered_house() -> Mesh:
    """Dark timbers on a pale upper storey that juts over the lower one; a steep gable."""
    t = 1.2 * 0.11
    ends = [(-2.8, 2.7, 2.8, 2.7), (-2.8, 5.2, 2.8, 5.2), (-1.6, 6.4, 1.6, 6.4)]
    ends += [(-2.6, 2.8, -1.0, 5.1), (1.0, 5.1, 2.6, 2.8)]
    beams = [shape([(a, p - t), (b, q - t), (b, q + t), (a, p + t)], "brown", -0.4) for a, p, b, q in ends]
    uprights = patches((-2.7, -0.9, 0.9, 2.7), 0.11, (2.6, 5.2), "brown", -0.4)
    return join(
        mass(2.6, (0.0, 2.6), "brick") + mass(2.8, (2.6, 5.2), "cream", (-0.4, 5.0), lid=False),
        _gable_front(2.8, 5.2, 3.2, (-0.4, 4.6), 0.3, "cream"),
        join(uprights, beams, patch(0.11, (6.4, 8.0), "brown", -0.4)),
        _window(0.0, 3.3, 1.1, 1.3, -0.4, "brown") + _window(0.0, 5.5, 0.8, 0.7, -0.4, "brown", bars=False),
        _door(-1.5, "forest") + _window(1.0, 0.8, 1.6, 1.3) + _flowers([0.0], 3.1, y=-0.4),
        _chimney(1.6, 2.5, (6.6, 8.4)),
    )


def canal_house() -> Mesh:
    """Tall and narrow under a stepped gable, like a merchant's house on a canal."""
    zs, parts = [3.5, 6.2], [mass(2.1, (0.0, 8.1), "wall")]
    for x, z in ((2.1, 8.1), (1.45, 8.8), (0.8, 9.5)):
        parts.append(mass(x, (z, z + 0.7), "wall", (0.0, 0.6)))
        parts.append(mass(wider(x, 0.1), (z + 0.7, z + 0.85), "trim", (-0.1, 0.7)))
    windows = _windows([-1.2, 0.0, 1.2], zs, 0.75, 1.5, bars=True)
    below = _door(-1.2, "crimson", z=0.45) + _window(0.6, 0.9, 1.7, 1.3)
    hatch = _archways([0.0], (0.4, 8.3, 9.6), (0.28, 8.4, 9.48), steps=(6, 4))
    ends = _cornice(2.1, 2.75, 0.2, 0.12) + _flank_windows(2.1, zs, 1.8, 0.8, 1.5)
    return join(parts, windows, below, hatch, ends)


def town_house(door: str = "teal", shutters: str = "teal") -> Mesh:
    """Three storeys and a mansard with dormers; shutters and balconies."""
    xs, half, parts = [-1.45, 1.45], 2.7, []
    for x in xs:
        parts.append(mass(about(x, 0.75), (3.15, 3.3), "dark", (-0.4, 0.0)))
        parts.append(patch(about(x, 0.75), (3.75, 3.83), "dark", -0.4))
    bars = [x + d for x in xs for d in (-0.7, -0.35, 0.0, 0.35, 0.7)]
    return join(
        _storeys(half, 3, xs, w=0.95, h=1.5) + _shutters(xs, [3.55, 6.25], shutters, 0.95, 1.5),
        join(parts, patches(bars, 0.03, (3.3, 3.75), "dark", -0.4), _hip(half, 8.3, 1.8, 0.7, 0.2)),
        [_dormer(x, 0.1, 8.4, 1.2) for x in (-1.4, 1.4)],
        _door(1.45, door, w=1.2) + _window(-1.0, 0.9, 1.9, 1.4) + _cornice(half, 2.8, 0.2, 0.12),
    )


def terrace() -> Mesh:
    """Three small brick houses in a row, with a coloured door each."""
    parts = [mass(4.35, (0.0, 5.2), "wall", lid=False), _gable(4.35, 5.2, 2.0, 0.25)]
    parts.append(patch(4.35, (0.0, 0.4), "stone", lift=0.01))
    for x, paint in ((-2.9, "red"), (0.0, "blue"), (2.9, "amber")):
        parts += [
            _door(x - 0.75, paint, w=0.95, h=2.0) + mass((x - 1.5, x), (2.45, 2.6), "trim", (-0.5, 0.0)),
            _window(x + 0.7, 0.95, 1.0, 1.25) + _windows(about(x, 0.7), [3.45], 0.85, 1.2),
            _chimney(x + 1.45 - (0.5 if x > 1 else 0.0), 1.9, (6.3, 7.9), "stone"),
        ]
        if x < 1:
            parts.append(patch((x + 1.38, x + 1.52), (0.4, 4.8), "trim"))
    return join(parts)


def bakery() -> Mesh:
    """A shop with a pink and white awning, bread in the window and a loaf on its gable."""
    half = 2.9
    loaf = [(0.85 * cos(pi * i / 6), 6.15 + 0.4 * sin(pi * i / 6)) for i in range(12)]
    cuts = [[(x - 0.2, 5.95), (x - 0.06, 5.95), (x + 0.2, 6.38), (x + 0.06, 6.38)] for x in (-0.4, 0.0, 0.4)]
    return join(
        _storeys(half, 2, [-1.6, 1.6], bars=True) + _gable_front(half, 5.4, 2.3),
        shape(loaf, "tan", 0.0, 0.03),
        [shape(cut, "cream", 0.0, 0.05) for cut in cuts],
        _shopfront(half, "coral", ("tan", "gold", "brown", "sand"), 1.9),
        _sign("BAKERY", 2.4, 2.75, "brown", "cream", 0.42),
        _awning(half - 0.1, 2.7, ("pink", "white"), 1.1, 0.6, 9) + _flowers([-1.6, 1.6], 3.9, w=1.3),
    )


def cafe() -> Mesh:
    """A green awning, a cup on its roof, tables outside."""
    half, stool = 2.7, lathe([(0.0, 0.14), (0.5, 0.22)], "red", sides=5, caps=True)
    cup = lathe([(5.95, 0.4), (6.75, 0.7)], "white", (0.0, 0.5, 0.0), 8)
    cup += lathe([(6.75, 0.7), (6.68, 0.0)], "brown", (0.0, 0.5, 0.0), 8)
    handle = [mass((0.45, 1.0), (z, z + 0.12), "white", (0.4, 0.6), floor=True) for z in (6.12, 6.52)]
    handle.append(mass((0.88, 1.0), (6.12, 6.64), "white", (0.4, 0.6)))
    seats = []
    for x in (-1.9, 0.0):
        seats.append(cylinder(0.45, 0.08, (x, -1.7, 0.75), "white", sides=8))
        seats.append(posts([x], 0.05, (0.0, 0.75), "dark", (-1.75, -1.65)))
    seats += [stool.at(x, -1.7) for x in (-2.6, -1.2, 0.7)]
    return join(
        join(_storeys(half, 2, [-1.5, 0.0, 1.5], w=0.85), _cornice(half, 5.4, 0.4), cup, handle),
        _shopfront(half, "forest", ("tan", "pink", "brown"), 1.7),
        _sign("CAFE", 1.6, 2.8, "forest", "amber", 0.42),
        _awning(half - 0.1, 2.7, ("green", "cream"), 1.0, 0.55),
        seats,
    )


def grocer() -> Mesh:
    """A broad shop with crates of fruit on the pavement and a lime awning."""
    half, crates = 3.3, []
    for i, fruit in enumerate(("red", "orange", "lime", "yellow", "purple")):
        x = -2.6 + 0.85 * i
        (a, b), low, high = about(x, 0.36), (-0.98, 0.68), (-0.3, 0.95)
        crates.append(mass(about(x, 0.38), (0.35, 0.65), "wood", (-1.0, -0.3), lid=False))
        crates.append(face(fruit, (a, *low), (b, *low), (b, *high), (a, *high)))
        crates += [blob(0.19, (x + d, -0.7 + d, 0.8), fruit, 5, 1) for d in (-0.17, 0.18)]
    return join(
        _storeys(half, 2, [-2.1, 0.0, 2.1], bars=True) + _cornice(half, 5.4, 0.3),
        mass(half, (5.7, 6.3), "wall") + _cornice(half, 6.3, 0.15),
        _shopfront(half, "lime", ("orange", "red", "green", "yellow"), 2.2),
        _awning(half, 3.1, ("lime", "white"), 1.3, 0.7, 9),
        mass((-3.0, 1.2), (0.0, 0.35), "brown", (-0.95, -0.3)),
        join(crates, _sign("FRUIT", 1.7, 5.6, "green")),
    )


def bookshop() -> Mesh:
    """A narrow navy shop with a bow of shelves and an open book for a sign."""
    half, shelf = 2.3, [-1.75 + 0.28 * i for i in range(8)]
    book = shape([(-0.72, 5.7), (0.0, 5.5), (0.72, 5.7), (0.72, 6.65), (-0.72, 6.65)], "red", 0.0, 0.03)
    book += shape([(0.0, 5.65), (0.6, 5.8), (0.6, 6.55), (0.0, 6.4)], "white", 0.0, 0.06)
    book += shape([(-0.6, 5.8), (0.0, 5.65), (0.0, 6.4), (-0.6, 6.55)], "cream", 0.0, 0.06)
    return join(
        _storeys(half, 3, [-1.4, 1.4], w=0.8) + book + _window(0.0, 3.55, 0.8, 1.4, bars=False),
        _hip(half, 8.2, 1.3, 0.9, 0.3),
        _shopfront(half, "navy", ("amber", "red", "teal", "lilac"), 1.45),
        bunting(shelf, (1.45, 1.95), ("red", "amber", "teal", "purple", "cream"), 0.0, 0.07),
        _sign("BOOKS", half, 2.75, "navy", "amber", 0.45),
        _flowers([-1.4, 1.4], 6.15, ("amber", "coral"), 0.9),
    )


def florist() -> Mesh:
    """A one-storey shop with a glass gable, a lilac awning and buckets of flowers."""
    half, pots = 2.6, []
    xs, flowers = (-2.2, -1.55, -0.9, -0.25, 0.4), ("pink", "yellow", "red", "lilac", "magenta")
    for i, (x, flower) in enumerate(zip(xs, flowers, strict=True)):
        pots.append(lathe([(0.0, 0.16), (0.45, 0.26)], "silver", (x, -0.9, 0.0), 5))
        pots.append(blob((0.34, 0.3, 0.26), (x, -0.9, 0.65 + 0.08 * (i % 2)), flower, 5, 2))
    heart = [disc(x, 4.3, 0.33, "magenta", 0.0, 0.05) for x in (-0.25, 0.25)]
    heart.append(shape([(0.0, 3.6), (0.53, 4.15), (0.0, 4.4), (-0.53, 4.15)], "magenta", 0.0, 0.06))
    return join(
        join(mass(half, (0.0, 3.1), "wall", lid=False), _gable_front(half, 3.1, 2.3), heart),
        _shopfront(half, "lilac", ("pink", "leaf", "yellow"), 1.6),
        _awning(half - 0.1, 2.85, ("lilac", "white"), 1.0, 0.55),
        join(pots, _flank_windows(half, [0.9])),
    )


def corner_shop() -> Mesh:
    """Its corner is cut off for the door; a red awning, a turret above."""
    plan = [(-3.2, 5.0), (-3.2, 0.0), (1.6, 0.0), (3.0, 1.4), (3.0, 5.0)]
    low, high = ([(x, y, z) for x, y in plan] for z in (0.0, 5.6))
    walls = [face("wall", low[i], low[i + 1], high[i + 1], high[i]) for i in (1, 2, 3, 0)]
    walls.append(face("roof", *high[1:], high[0]))
    cut = join(_door(0.0, "red", w=1.2), _window(0.0, 3.5, 0.9, 1.4)).turned(45).at(2.3, 0.7)
    turret = lathe([(5.2, 1.25), (6.5, 1.25)], "wall", (2.2, 1.3, 0.0), 8)
    turret += lathe([(6.4, 1.5), (8.2, 0.0)], "roof", (2.2, 1.3, 0.0), 8)
    turret += blob(0.18, (2.2, 1.3, 8.2), "gold", 5, 2)
    left, third = -2.9, (1.3 + 2.9) / 3
    panes = [(left + third * i + 0.12, left + third * (i + 1) - 0.12) for i in range(3)]
    shelf = [left + (i + 0.5) * third / 2 for i in range(6)]
    return join(
        join(walls, cut, turret, patch((left - 0.2, 1.3 + 0.2), (0.0, 2.75), "red", 0.0, 0.03)),
        [patch(pane, (0.75, 2.35), "window", 0.0, 0.05) for pane in panes],
        bunting(shelf, (0.78, 1.25), ("yellow", "sky", "lime", "orange"), 0.0, 0.07),
        _awning((-3.1, 1.5), 2.75, ("red", "cream"), 1.0, 0.55),
        _windows([-2.2, -0.2], [3.5], 1.0, 1.4, bars=True),
        mass((-3.3, 1.6), (5.35, 5.6), "trim", (-0.12, 0.0)) + _flowers([-2.2, -0.2], 3.3),
    )


def apartments(storeys: int = 4, rail: str = "coral", wings: bool = True) -> Mesh:
    """A block of flats with a balcony a storey in each wing, or one in the middle, and a flat roof."""
    half, top = 4.0, 2.6 * storeys
    balconies, plain = ([-2.5, 2.5], [0.0]) if wings else ([0.0], [-2.6, 2.6])
    parts = [
        _storeys(half, storeys, plain, high=2.6, w=0.9 if wings else 1.2) + _cornice(half, top, 0.4, 0.2),
        patch(half, (0.0, 2.45), "stone", 0.0, 0.01) + _door(0.0, "wood", w=1.5),
        mass(1.3, (2.45, 2.62), rail, (-1.0, 0.0)) + _windows([-2.5, 2.5], [0.8], 1.3, 1.3),
        mass((0.6, 2.2), (top, top + 1.3), "wall", (1.5, 3.0)),
    ]
    for i, z in enumerate((2.6 * i for i in range(1, storeys)), 1):
        for x in balconies:
            deck = about(x, 1.1)
            parts += [
                _window(x, z + 0.25, 1.5, 1.9, bars=False),
                mass(deck, (z - 0.02, z + 0.14), "trim", (-0.9, 0.0), floor=True),
                mass(deck, (z + 0.14, z + 0.8), rail, (-0.9, -0.05), lid=False),
                blob((0.3, 0.2, 0.2), (x + 0.7 - 0.5 * (i % 3), -0.8, z + 0.9), "leaf", 5, 1),
            ]
    return join(parts)


def mansion_flats() -> Mesh:
    """Five storeys of brick with two bays, bands of stone and a mansard roof."""
    half, sides = 4.0, (-2.4, 2.4)
    bays = [mass(about(x, 1.0), (2.6, 10.4), "wall", (-0.55, 0.0)) for x in sides]
    spots = [(x, 2.6 * i + 0.75, 0.0 if x == 0.0 else -0.55) for x in (-2.4, 0.0, 2.4) for i in range(1, 4)]
    panes = [_window(x, z, 1.2, 1.4, y, bars=False) for x, z, y in spots]
    ledges = [(x, 2.6 * i) for x in sides for i in range(1, 5)]
    bands = [mass(about(x, 1.1), (z - 0.1, z + 0.12), "trim", (-0.67, 0.0)) for x, z in ledges]
    return join(
        join(mass(half, (0.0, 10.4), "wall"), bays, panes, bands),
        patch(half, (0.0, 2.5), "stone", lift=0.01) + _windows(sides, [0.8], 1.3, 1.2),
        _door(0.0, "navy", w=1.4) + arch(0.7, (2.0, 3.0), "trim", 0.0, 0.03),
        _hip(half, 10.6, 1.9, 0.8, 0.2),
        [_dormer(x, 0.1, 10.7, 1.2) for x in (-2.2, 0.0, 2.2)],
    )


def office_tower(storeys: int = 8) -> Mesh:
    """A tall slab of window bands between white piers; a glazed lobby and plant on the roof."""
    half, top = 3.3, 1.9 * storeys
    rows = [(1.9 * i + 0.6, 1.9 * i + 1.6) for i in range(2, storeys)]
    bands, ends = (join(patch(x, z, "window", 0.0, 0.03) for z in rows) for x in (half - 0.25, 2.2))
    flank = ends.turned(90).at(half, 2.5) + ends.turned(-90).at(-half, 2.5)
    xs = (-3.2, -1.6, 0.0, 1.6, 3.2)
    piers = [mass(about(x, 0.14), (0.0, top + 0.3), "trim", (-0.22, 0.0)) for x in xs]
    lobby = [patch((x + 0.2, x + 1.4), (0.2, 2.9), "window", 0.0, 0.03) for x in xs[:4]]
    roof = mass(half, (top, top + 0.3), "trim") + mass(1.5, (top + 0.3, top + 1.4), "silver", (1.0, 3.0))
    canopy = mass(1.8, (2.9, 3.15), "teal", (-1.3, 0.0))
    return join(mass(half, (0.0, top), "wall"), bands, flank, piers, lobby, canopy, roof)


def hotel() -> Mesh:
    """Four storeys with an awning over each window and an upright sign."""
    half, xs, hoods = 3.6, [-2.4, -0.8, 0.8], []
    for (a, b), z in ((about(x, 0.65), z) for x in xs for z in (3.5, 6.1, 8.7)):
        rim, wall = (-0.5, z + 1.15), (-0.04, z + 1.6)
        hoods.append(face("crimson", (a, *rim), (b, *rim), (b, *wall), (a, *wall)))
    return join(
        join(_storeys(half, 4, xs, high=2.6, w=0.95, h=1.35), hoods),
        mass((2.15, 3.05), (3.3, 9.6), "crimson", (-0.35, 0.0)),
        [letters(c, 2.6, 8.5 - 1.15 * i, 0.75, "cream", -0.35) for i, c in enumerate("HOTEL")],
        mass(1.4, (2.5, 2.75), "crimson", (-1.6, 0.0)) + mass(1.4, (2.75, 2.85), "gold", (-1.65, 0.0)),
        posts((-1.3, 1.3), 0.06, (0.0, 2.5), "gold", (-1.6, -1.48)),
        _door(0.0, "wood", w=1.6) + _windows([-2.4, 2.4], [0.8], 1.4, 1.4),
        _cornice(half, 10.4, 0.45) + patch(half, (2.45, 2.7), "trim"),
    )


def bank() -> Mesh:
    """Four columns under a pediment."""
    half, column = 3.6, lathe([(0.55, 0.34), (4.4, 0.28)], "trim")
    return join(
        mass(half, (0.0, 5.0), "wall") + mass(half, (0.0, 0.28), "stone", (-1.6, 0.0)),
        mass(half - 0.2, (0.28, 0.55), "stone", (-1.2, 0.0)),
        [column.at(x, -0.7) for x in (-2.7, -0.95, 0.95, 2.7)],
        mass(half - 0.1, (4.4, 5.2), "trim", (-1.1, 5.0)) + letters("BANK", 0.0, 4.55, 0.5, "navy", -1.1),
        _gable_front(half - 0.2, 5.2, 1.5, (-1.05, 4.95), 0.25) + _door(0.0, "wood", z=0.55, w=1.5, h=2.4),
        _windows([-1.85, 1.85], [1.5], 0.9, 2.2) + disc(0.0, 5.75, 0.42, "gold", -1.05, 0.04),
        _flank_windows(half, [1.5], 2.0, 1.0, 2.0),
    )


def garage() -> Mesh:
    """A workshop with two roller doors, tyres outside and a spanner sign."""
    half, tyre = 4.0, lathe([(0.0, 0.38), (0.25, 0.38)], "tyre", sides=8, caps=True)
    jaws = ((0.8, 0.32, "white", 0.05), (0.95, 0.15, "blue", 0.07))
    spanner = [disc(s * x, 3.85, r, paint, -0.18, lift, 6) for x, r, paint, lift in jaws for s in (-1, 1)]
    return join(
        mass(half, (0.0, 4.3), "wall") + _roller(-2.2, 2.9, 2.7, "blue") + _roller(1.1, 2.9, 2.7, "blue"),
        _door(3.2, "amber", 0.1, 0.9) + mass(half, (3.35, 4.4), "blue", (-0.18, 0.0)),
        join(patch(0.7, (3.75, 3.95), "white", -0.18, 0.04), spanner),
        _cornice(half, 4.4, 0.2, 0.2, "concrete"),
        join([tyre.at(3.55, -0.55, 0.26 * i) for i in range(3)], _flank_windows(half, [1.2])),
    )


def fire_station() -> Mesh:
    """Two great red doors, a hose tower with a bell roof and a golden emblem."""
    hall, tower, y = (-4.4, 2.4), (2.4, 4.4), (-0.1, 2.2)
    shield = [(-2.2, 4.9), (0.2, 4.9), (0.0, 5.5), (-0.6, 5.9), (-1.4, 5.9), (-2.0, 5.5)]
    return join(
        mass(hall, (0.0, 4.6), "wall") + mass(tower, (0.0, 8.2), "wall", y) + _spire(tower, 8.4, 1.6, y),
        [_window(3.4, z, 0.7, 1.2, -0.1, bars=False) for z in (2.9, 4.7, 6.5)],
        _roller(-2.7, 2.7, 3.0, "red") + _roller(0.7, 2.7, 3.0, "red") + _door(3.4, "red", 0.12, 1.0, y=-0.1),
        mass(hall, (3.3, 4.15), "red", (-0.15, 0.0)) + letters("FIRE", -1.0, 3.48, 0.5, "white", -0.15),
        _cornice(hall, 4.6, 0.3, 0.15) + shape(shield, "wall", 0.0, 0.0),
        disc(-1.0, 5.35, 0.42, "gold", 0.0, 0.03) + disc(-1.0, 5.35, 0.22, "red", 0.0, 0.05),
    )


def church() -> Mesh:
    """A nave with a gable and, before it, a tower with a steep spire."""
    y = -0.8
    return join(
        mass(3.5, (0.0, 3.6), "wall", (0.0, 6.0), lid=False) + _gable_front(3.5, 3.6, 3.0, (0.0, 6.0)),
        _archways((-2.55, 2.55), (0.4, 1.0, 2.9), (0.28, 1.1, 2.78)),
        mass(1.35, (0.0, 7.6), "wall", (y, 1.9), lid=False) + _spire(1.35, 7.8, 4.3, (y, 1.9)),
        patch(0.07, (12.1, 13.1), "gold", 0.55, 0.0) + patch(0.3, (12.6, 12.74), "gold", 0.55, 0.0),
        _archways([0.0], (0.65, 5.7, 7.2), (0.5, 5.8, 7.05), "dark", y),
        lathe([(6.0, 0.3), (6.55, 0.12)], "gold", (0.0, -0.95, 0.0)),
        _archways([0.0], (0.85, 0.2, 2.8), (0.65, 0.2, 2.6), "wood", y),
        patch(0.04, (0.2, 2.6), "brown", y, 0.06),
        disc(0.0, 4.1, 0.62, "trim", y) + disc(0.0, 4.1, 0.46, "window", y, 0.04),
        mass(1.1, (0.0, 0.2), "stone", (-1.4, y)) + _flank_windows(3.5, [1.2], 2.2, 0.8, 1.5),
    )


def town_hall() -> Mesh:
    """Two storeys of tall arched windows, steps, flags and a clock tower in the middle."""
    half, xs, y = 4.4, [-3.4, -2.0, 2.0, 3.4], -0.4
    return join(
        mass(half, (0.0, 5.8), "wall", lid=False) + _hip(half, 6.0, 1.6, 1.6, 0.3),
        _archways(xs, (0.5, 3.6, 5.3), (0.38, 3.7, 5.18), steps=(4, 4)) + _windows(xs, [1.0], 0.85, 1.4),
        mass(1.3, (0.0, 9.2), "wall", (y, 2.2), lid=False) + _cornice(1.3, 6.4, 0.25, 0.55, depth=2.2),
        _spire(1.3, 9.4, 2.2, (y, 2.2), over=0.35) + _clock(7.9, 0.85, y),
        patch(1.0, (0.5, 2.9), "trim", y) + patch(0.8, (0.5, 2.75), "wood", y, 0.04),
        patch(0.04, (0.5, 2.75), "brown", y, 0.06) + _window(0.0, 3.7, 1.3, 1.7, y),
        mass(1.7, (0.0, 0.25), "stone", (-1.5, y)) + mass(1.4, (0.25, 0.5), "stone", (-1.0, y)),
        patch(half, (2.75, 3.0), "trim", 0.0, 0.03),
    )


def school() -> Mesh:
    """Long and low with a gabled middle, a bell on the roof and a flag."""
    half, y = 4.5, -0.4
    cloth = [(-3.4 + dx, 0.8, 5.3 + dz) for dx, dz in ((0.05, 1.3), (1.2, 1.15), (1.2, 1.95), (0.05, 2.15))]
    return join(
        mass(half, (0.0, 4.9), "wall", lid=False) + _gable(half, 4.9, 1.7),
        mass(1.6, (0.0, 5.0), "wall", (y, 2.0), lid=False) + _gable_front(1.6, 5.0, 1.6, (y, 2.6), 0.3),
        _windows([-3.6, -2.3, 2.3, 3.6], [0.85, 3.15], 0.95, 1.35) + _clock(5.45, 0.42, y),
        posts([-3.4], 0.05, (5.3, 7.5), "steel", (0.8, 0.9)),
        face("amber", *cloth) + face("amber", *cloth[::-1]),
        posts((-0.55, 0.55), 0.1, (5.8, 7.8), "trim", (1.4, 1.6)),
        mass(0.75, (5.8, 6.7), "trim", (1.3, 2.7)),
        _spire(0.65, 7.9, 0.9, (1.3, 2.6)) + lathe([(7.0, 0.32), (7.6, 0.12)], "gold", (0.0, 1.8, 0.0)),
        _sign("SCHOOL", 1.45, 2.75, "blue", "white", 0.36).at(0.0, y),
        patch(0.85, (0.2, 2.5), "trim", y) + patch(0.7, (0.2, 2.4), "red", y, 0.04),
        patch(0.5, (1.4, 2.2), "window", y, 0.06) + patch(0.04, (0.2, 2.4), "trim", y, 0.08),
        mass(1.3, (0.0, 0.2), "stone", (-1.0, y)) + _windows([0.0], [3.75], 1.4, 0.9).at(0.0, y),
        patch(half, (2.55, 2.8), "brick"),
    )


def cinema() -> Mesh:
    """A lit marquee under a stepped front, with posters either side of the doors."""
    half, shows, doors = 3.8, [], []
    fins = mass(2.4, (5.2, 6.6), "wall", (-0.05, 3.0)) + mass(1.0, (5.2, 7.8), "crimson", (-0.35, 3.0))
    for x, paint, sun in ((-2.9, "teal", "coral"), (2.9, "purple", "yellow")):
        shows.append(patch(about(x, 0.55), (0.7, 2.3), "gold", 0.0, 0.03))
        shows.append(patch(about(x, 0.45), (0.8, 2.2), paint, 0.0, 0.05) + disc(x, 1.6, 0.28, sun, 0.0, 0.07))
    for x in (-1.2, 0.0, 1.2):
        doors.append(patch(about(x, 0.5), (0.1, 2.4), "crimson", 0.0, 0.03))
        doors.append(patch(about(x, 0.36), (0.5, 2.2), "window", 0.0, 0.05))
    return join(
        mass(half, (0.0, 5.3), "wall") + fins,
        patches((-2.0, -1.5, 1.5, 2.0), 0.08, (4.5, 6.4), "gold", -0.05, 0.03),
        _star(6.95, 0.72, "lamp glow", -0.35) + mass(half - 0.6, (2.85, 3.2), "crimson", (-1.4, 0.0)),
        mass(half - 0.6, (3.2, 4.1), "white", (-1.4, 0.0)),
        mass(half - 0.5, (4.1, 4.3), "crimson", (-1.5, 0.0)),
        letters("CINEMA", 0.0, 3.35, 0.6, "crimson", -1.4),
        [disc(-2.8 + 0.8 * i, 3.02, 0.12, "lamp glow", -1.4, 0.04, 6) for i in range(8)],
        join(shows, doors, _cornice(half, 5.3, 0.2, 0.1)),
    )


def market_hall() -> Mesh:
    """A great barn with open arches and stalls within."""
    half, xs, stalls = 4.5, (-2.9, 0.0, 2.9), []
    for x, paint in zip(xs, ("red", "amber", "blue"), strict=True):
        spots = [x - 0.65 + 0.32 * i for i in range(5)]
        stalls.append(_awning(about(x, 0.95), 2.0, (paint, "white"), 0.7, 0.3, 5))
        stalls.append(bunting(spots, (0.85, 1.1), ("orange", "lime", "red", "yellow"), -0.3, 0.04))
        stalls.append(mass(about(x, 0.85), (0.0, 0.85), "wood", (-0.3, 0.0)))
    return join(
        mass(half, (0.0, 3.6), "wall", lid=False) + _archways(xs, (1.15, 0.0, 2.9), (1.0, 0.0, 2.75), "dark"),
        join(stalls, _hip(half, 3.6, 2.4, 2.0, 0.5)),
        mass(1.0, (5.9, 6.7), "trim", (1.9, 3.5), lid=False) + _spire(1.0, 6.8, 0.9, (1.9, 3.5)),
        patches((-0.6, 0.0, 0.6), 0.28, (6.05, 6.55), "window", 1.9),
    )


def windmill() -> Mesh:
    """A round white tower with four sails, a gallery, and a mill shop leaning on it."""
    at, bars = (-0.6, 2.7, 0.0), ((-3.1, 1.6), (-1.65, 0.15), (0.45, 0.15), (1.9, 1.6))
    arm = patch(0.07, (0.2, 3.5), "wood", 0.0, 0.0) + patch((0.12, 0.95), (0.9, 3.45), "cream")
    arm += join(patch((0.07, 1.0), (z, z + 0.08), "wood", 0.0, 0.05) for z in (0.9, 1.75, 2.6, 3.4))
    return roadside(
        lathe([(0.0, 2.5), (6.6, 1.6)], "trim", at, 8),
        lathe([(2.95, 2.25), (2.95, 2.8), (3.1, 2.8), (3.1, 2.0)], "wood", at, 8),
        lathe([(6.5, 1.85), (7.6, 1.6), (8.6, 0.0)], "roof", at, 8),
        lathe([(3.75, 2.75), (3.87, 2.75)], "wood", at, 8),
        [posts([x], 0.05, (3.05, 3.8), "wood", (y, y + 0.1)) for x, y in bars],
        _window(-0.6, 4.1, 0.8, 1.0, 0.9, "wood", bars=False),
        _window(-0.6, 1.75, 0.7, 0.8, 0.6, "wood", bars=False),
        _window(-2.0, 0.9, 0.7, 0.9, 0.62, "wood", bars=False).turned(-8),
        mass((0.6, 3.6), (0.0, 2.5), "wall", (0.3, 4.0), lid=False),
        _gable((0.6, 3.6), 2.5, 1.7, 0.3, 4.0).at(0.0, 0.3),
        _door(1.5, "teal", y=0.3) + _window(2.75, 0.95, 1.0, 1.1, 0.3),
        [blob((0.28, 0.22, 0.4), (x, 0.05, 0.36), "sand", 5, 2) for x in (-1.5, -0.95)],
        join(arm.turned(turn, "y") for turn in (20, 110, 200, 290)).at(-0.6, 0.55, 6.9),
        lathe([(6.9 - 0.3, 0.0), (6.9, 0.3), (6.9 + 0.3, 0.0)], "brown", (-0.6, 0.6, 0.0)),
    ).at(0.35)


def library() -> Mesh:
    """A copper dome over stone wings; two piles of great books stand beside the steps."""
    half, at, books, pages = 4.3, (0.0, 2.2, 0.0), [], []
    for x in (-2.05, 2.05):
        for i, (w, paint) in enumerate(((0.55, "crimson"), (0.48, "navy"), (0.5, "amber"))):
            low, y = 0.42 * i, -1.25 + 0.06 * i
            books.append(mass(about(x, w), (low, 0.42 * (i + 1) - 0.04), paint, (y, -0.35)))
            pages.append(patch(about(x, 0.48), (low + 0.1, low + 0.27), "cream", y))
    return roadside(
        mass(half, (0.0, 4.6), "wall", lid=False) + _hip(half, 4.8, 0.9, 1.8, 0.3),
        lathe([(4.7, 2.15), (6.0, 2.15)], "wall", at, 8),
        lathe([(6.0, 2.4), (6.25, 2.4), (7.4, 1.95), (8.25, 1.25), (8.7, 0.4)], "mint", at, 8),
        lathe([(8.65, 0.42), (9.3, 0.36), (9.9, 0.0)], "trim", at, 5),
        [_window(x, 4.95, 0.5, 0.75, 0.14, bars=False) for x in (-0.4, 0.4)],
        _archways((-3.4, -2.0, 2.0, 3.4), (0.55, 1.0, 3.7), (0.42, 1.1, 3.58), steps=(6, 4)),
        mass(1.45, (0.0, 5.2), "trim", (-0.5, 1.0)),
        _archways([0.0], (0.95, 0.5, 3.5), (0.75, 0.5, 3.3), "wood", -0.5),
        patch(0.04, (0.5, 3.3), "brown", -0.5, 0.06),
        mass(1.4, (0.0, 0.25), "stone", (-1.5, -0.5)) + mass(1.2, (0.25, 0.5), "stone", (-1.1, -0.5)),
        letters("LIBRARY", 0.0, 4.2, 0.42, "navy", -0.5),
        join(books, pages, patch(half, (0.0, 0.5), "stone", lift=0.01)),
    )


def toy_shop() -> Mesh:
    """Battlements in four colours between two crayons, a rainbow over the door, letter blocks on the roof."""
    half, parts, toys = 3.3, [], ("coral", "lime", "lilac", "amber")
    for x, paint in zip((-2.6, -1.7, 1.7, 2.6), ("red", "amber", "green", "blue"), strict=True):
        parts.append(mass(about(x, 0.4), (5.2, 6.0), paint, (-0.1, 0.5)))
    for x, paint in ((-half, "red"), (half, "blue")):  # crayons
        parts.append(lathe([(0.0, 0.42), (5.6, 0.42), (5.6, 0.3), (6.5, 0.0)], paint, (x, -0.05, 0.0)))
        parts += [lathe([(z, 0.45), (z + 0.3, 0.45)], "charcoal", (x, -0.05, 0.0)) for z in (0.5, 4.9)]
    for i, (r, paint) in enumerate(((1.3, "red"), (1.1, "amber"), (0.9, "green"), (0.7, "sky"))):
        parts.append(arch(r, (0.1, 2.0 + r), paint, 0.0, 0.02 + 0.02 * i))
    parts.append(patch(0.55, (0.1, 2.1), "purple", 0.0, 0.11) + patch(0.35, (1.0, 1.8), "window", 0.0, 0.13))
    for x in (-2.1, 2.1):
        parts.append(patch(about(x, 0.8), (0.6, 2.4), "trim", 0.0, 0.03))
        parts.append(patch(about(x, 0.68), (0.72, 2.28), "window", 0.0, 0.05))
        parts.append(bunting([x - 0.45, x, x + 0.45], (0.74, 1.3), toys, 0.0, 0.07))
    blocks = ((-0.7, 5.2, "green", "white"), (0.7, 5.2, "coral", "white"), (0.0, 6.5, "amber", "red"))
    for letter, (x, z, paint, ink) in zip("ABC", blocks, strict=True):
        parts.append(mass(about(x, 0.65), (z, z + 1.25), paint, (0.1, 1.4)))
        parts.append(letters(letter, x, z + 0.22, 0.8, ink, 0.1))
    sign = _sign("TOYS", 1.7, 3.55, "purple", "yellow", 0.55)
    return roadside(mass(half, (0.0, 5.2), "wall"), parts, sign, _windows([-2.1, 2.1], [3.2], 0.9, 1.2))


def ice_cream_parlour() -> Mesh:
    """Pink and white under a scalloped awning; a cone as tall as a house stands on its roof."""
    half, at, tubs = 3.1, (0.0, 1.6, 0.0), ("mint", "coral", "yellow", "lilac")
    lefts = [-half + 0.88 * i for i in range(7)]
    return roadside(
        mass(half, (0.0, 3.4), "trim"),
        [patch((left, left + 0.44), (0.0, 0.85), "pink") for left in lefts],
        patch((-2.7, 0.9), (1.0, 2.35), "window", 0.0, 0.04),
        mass((-2.8, 1.0), (0.85, 1.0), "trim", (-0.4, 0.0), floor=True),
        [blob((0.17, 0.17, 0.2), (-2.3 + 0.7 * i, -0.2, 1.2), tub, 4, 1) for i, tub in enumerate(tubs)],
        _door(2.0, "magenta", 0.12) + _awning(half - 0.05, 3.0, ("pink", "white"), 1.1, 0.5),
        _cornice(half, 3.4, 0.3, 0.12, "mint") + _sign("ICES", 1.7, 3.7, "magenta", "white", 0.55),
        lathe([(3.7, 0.25), (5.9, 1.05), (6.15, 1.15), (6.15, 0.8)], "tan", at, 7),
        lathe([(4.3, 0.47 + 0.04), (4.3 + 0.12, 0.47 + 0.08)], "wood", at, 7),
        lathe([(5.0, 0.72 + 0.04), (5.0 + 0.12, 0.72 + 0.08)], "wood", at, 7),
        blob((1.05, 1.0, 0.9), (-0.5, 1.6, 6.75), "pink", 7, 2),
        blob((1.0, 1.0, 0.9), (0.6, 1.6, 6.85), "brown", 7, 2),
        blob((0.95, 0.95, 0.9), (0.02, 1.5, 7.75), "cream", 7, 2) + blob(0.24, (0.0, 1.5, 8.7), "red", 5, 1),
        _flank_windows(half, [0.95]),
    )


KINDS: dict[str, Callable[[], Mesh]] = {
    **kinds(cottage, gabled_house, bungalow, villa, timbered_house, canal_house, town_house),
    "blue town house": partial(town_house, "amber", "navy"),
    **kinds(terrace, bakery, cafe, grocer, bookshop, florist, corner_shop, apartments),
    "tall apartments": partial(apartments, 5, "teal", False),
    **kinds(mansion_flats, office_tower, hotel, bank, garage, fire_station, church, town_hall, school),
    **kinds(cinema, market_hall),
}
#: Those of the second version of the world; they stand after everything else in the order of kinds.
NEWER = kinds(windmill, library, toy_shop) | {"ice-cream parlour": ice_cream_parlour}
