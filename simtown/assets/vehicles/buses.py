"""Buses: one stack of painted bands for the service buses, and the kinds with a shape of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from simtown.assets.mesh import *

#: A painted storey of a bus: its floor, its ceiling, its paint.
Band = tuple[float, float, str]


def _stack(length: float, half: float, bands: Sequence[Band], bevel: float = 0.2) -> Mesh:
    """An upright shell of painted bands with cut corners and a soft roof; its nose is at length / 2."""
    a, parts = length / 2, []
    for i, (low, high, paint) in enumerate(bands):
        corner = [(-a, half - 0.14, low, high), (-a + 0.14, half, low, high)]
        stations = corner + [(-x, w, low, high) for x, w, low, high in reversed(corner)]
        parts.append(body(stations, paint, bevel if i == len(bands) - 1 else 0.0))
    return join(parts)


def _panes(x: Span, z: Span, y: float, count: int, gap: float = 0.1, glass: str = "window") -> Mesh:
    """A row of `count` windows on both flanks; those of "window" are lit at night."""
    step = (x[1] - x[0] + gap) / count
    return join(side((x[0] + i * step, x[0] + (i + 1) * step - gap), z, y, glass) for i in range(count))


def _running_gear(length: float, xs: Sequence[float], half: float = 1.0, radius: float = 0.4) -> Mesh:
    """Wheels, their arches, lamps and bumpers of a bus."""
    a = length / 2
    bumpers = join(box((0.12, 1.6, 0.16), (s * (a + 0.01), 0.0, 0.3), "charcoal") for s in (-1, 1))
    return join(
        wheels(xs, 2 * half + 0.1, radius, 0.26),
        arches(xs, half + 0.02, radius + 0.1, z=radius),
        lamps(a, -a, 0.62, 0.66, 0.24),
        bumpers,
    )


def _sign(x: float, z: Span, width: float = 1.3) -> Mesh:
    """A lit destination board above the windscreen."""
    middle = (z[0] + z[1]) / 2
    return front((-width / 2, width / 2), z, x, "black") + front(
        (-width * 0.35, width * 0.35), (middle - 0.06, middle + 0.06), x, "beacon amber", lift=0.03
    )


def _side_sign(x: Span, z: Span, y: float) -> Mesh:
    """A lit destination board on both flanks at ±y."""
    middle = (z[0] + z[1]) / 2
    return side(x, z, y, "black", lift=0.03) + side(
        (x[0] + 0.1, x[1] - 0.1), (middle - 0.07, middle + 0.07), y, "beacon amber", lift=0.05
    )


def city_bus() -> Mesh:
    """White above, blue below: the long town bus with two doors, tall windows and a box on its roof."""
    a = 2.9
    shell = _stack(2 * a, 1.0, [(0.28, 1.02, "blue"), (1.02, 1.24, "sky"), (1.24, 2.65, "white")])
    doors = side((a - 0.85, a - 0.25), (0.4, 2.2), 1.0, "glass") + side(
        (-0.35, 0.35), (0.4, 2.2), 1.0, "glass"
    )
    panes = _panes((0.47, a - 0.97), (1.34, 2.2), 1.0, 2) + _panes((-a + 0.25, -0.47), (1.34, 2.2), 1.0, 3)
    ends = (
        front((-0.8, 0.8), (1.0, 2.02), a, "glass")
        + _sign(a, (2.08, 2.36))
        + back((-0.7, 0.7), (1.4, 2.2), -a, "glass")
    )
    gear = _running_gear(2 * a, [-1.75, 1.35])
    return shell + doors + panes + ends + gear + block((1.8, 1.3, 0.26), (-0.9, 0.0, 2.64), "silver", 0.08)


def coloured_bus(paint: str) -> Mesh:
    """A town bus in broad areas of one paint with cream lines, with one door and lit destination boards."""
    a = 2.75
    shell = _stack(2 * a, 1.0, [(0.28, 2.32, paint), (2.32, 2.46, "cream"), (2.46, 2.78, paint)], 0.2)
    door = side((a - 0.9, a - 0.25), (0.4, 2.2), 1.0, "glass")
    line = side((-a + 0.16, a - 0.95), (1.24, 1.34), 1.0, "cream")
    panes = _panes((-a + 0.25, a - 1.05), (1.44, 2.16), 1.0, 5, 0.14)
    ends = (
        front((-0.8, 0.8), (1.05, 2.02), a, "glass")
        + _sign(a, (2.08, 2.34))
        + back((-0.7, 0.7), (1.4, 2.1), -a, "glass")
    )
    return join(
        shell,
        door,
        line,
        panes,
        ends,
        _side_sign((0.55, 1.75), (2.22, 2.54), 1.0),
        _running_gear(2 * a, [-1.7, 1.1]),
    )


def school_bus() -> Mesh:
    """Yellow with black rails, a bonnet before the windscreen and a red stop sign."""
    shell = _stack(4.5, 1.0, [(0.36, 2.5, "yellow")], 0.34).at(-0.6)
    nose = body(
        [(1.6, 0.92, 0.36, 1.42), (2.4, 0.86, 0.36, 1.32), (2.68, 0.82, 0.38, 1.16), (2.8, 0.68, 0.42, 0.98)],
        "yellow",
        0.18,
    )
    grille = front((-0.38, 0.38), (0.5, 0.88), 2.8, "black")
    rails = join(side((-2.7, 1.5), z, 1.0, "black") for z in ((0.52, 0.66), (1.06, 1.24))) + side(
        (1.66, 2.45), (0.62, 0.76), 0.9, "black", 0.9
    )
    glass = _panes((-2.6, 0.75), (1.4, 2.05), 1.0, 5) + side(
        (0.9, 1.4), (0.72, 2.05), 1.0, "glass", lift=0.03
    )
    ends = front((-0.8, 0.8), (1.45, 2.1), 1.65, "glass") + back((-0.3, 0.3), (0.7, 2.0), -2.85, "glass")
    stop = (
        cylinder(0.34, 0.06, (-0.2, 1.01, 1.12), "red", "y", 8)
        + side((-0.4, 0.0), (1.06, 1.18), 1.07, "white")
    ).both_sides()
    flashers = join(
        box((0.14, 0.26, 0.2), (x, y, 2.44), p)
        for x in (-2.55, 1.35)
        for y, p in (
            (-0.55, "beacon red"),
            (0.55, "beacon red"),
            (-0.2, "beacon amber"),
            (0.2, "beacon amber"),
        )
    )
    gear = (
        wheels([-1.8, 1.95], 2.1, 0.42, 0.26)
        + arches([-1.8], 1.02, 0.52, z=0.42)
        + lamps(2.8, -2.85, 0.56, 0.72, 0.24)
    )
    return shell + nose + grille + rails + glass + ends + stop + flashers + gear


def double_decker() -> Mesh:
    """Red and very tall: two rows of windows with a broad cream belt between them."""
    shell = _stack(5.2, 1.0, [(0.28, 1.9, "red"), (1.9, 2.2, "cream"), (2.2, 3.5, "red")], 0.26)
    doors = side((-2.4, -1.95), (0.4, 1.82), 1.0, "glass") + side((1.75, 2.3), (0.4, 1.82), 1.0, "glass")
    rows = _panes((-1.8, 1.6), (1.1, 1.76), 1.0, 4) + _panes((-2.4, 2.4), (2.34, 3.06), 1.0, 6)
    ends = (
        front((-0.78, 0.78), (1.0, 1.75), 2.6, "glass")
        + _sign(2.6, (1.86, 2.2))
        + front((-0.78, 0.78), (2.35, 3.1), 2.6, "glass")
    )
    tail = back((-0.72, 0.72), (2.35, 3.1), -2.6, "glass") + back((-0.72, 0.72), (1.05, 1.8), -2.6, "amber")
    return shell + doors + rows + ends + tail + _running_gear(5.2, [-1.45, 1.15])


def minibus() -> Mesh:
    """Short and round in mint and cream, cases heaped on a roof rack."""
    lower = body(
        [(-2.1, 0.8, 0.4, 1.12), (-1.95, 0.9, 0.26, 1.12), (1.85, 0.9, 0.26, 1.12), (2.1, 0.76, 0.4, 1.12)],
        "mint",
        0.0,
    )
    house = body(
        [
            (-2.1, 0.8, 1.12, 1.75),
            (-1.85, 0.9, 1.12, 2.0),
            (1.4, 0.9, 1.12, 2.0),
            (1.85, 0.88, 1.12, 1.3),
            (2.1, 0.72, 1.12, 1.2),
        ],
        "cream",
        0.14,
    )
    glass = _panes((-1.75, 0.75), (1.2, 1.72), 0.9, 3)
    quarter = panel(
        [(0.87, -0.9, 1.2), (1.72, -0.9, 1.2), (1.42, -0.9, 1.72), (0.87, -0.9, 1.72)], "glass"
    ).both_sides()
    ends = (
        front((-0.7, 0.7), (1.38, 1.92), 1.8, "glass", 1.45)
        + back((-0.6, 0.6), (1.2, 1.58), -2.1, "glass")
        + front((-0.5, 0.5), (0.85, 1.08), 2.1, "cream")
    )
    rack = join(rod((-1.7, y, 2.14), (0.9, y, 2.14), 0.045, "steel") for y in (-0.62, 0.62)) + top(
        (-1.7, 0.9), (-0.62, 0.62), 2.03, "wood"
    )
    cases = (
        block((0.8, 0.9, 0.34), (-1.15, 0.0, 2.04), "brown", 0.06)
        + block((0.6, 0.8, 0.46), (-0.3, 0.1, 2.04), "coral", 0.06)
        + block((0.55, 1.0, 0.28), (0.4, 0.0, 2.04), "navy", 0.06)
    )
    return join(
        lower,
        house,
        glass,
        quarter,
        ends,
        rack,
        cases,
        wheels([-1.3, 1.25], 1.9, 0.36),
        arches([-1.3, 1.25], 0.92, 0.46, z=0.36),
        lamps(2.1, -2.1, 0.58, 0.62, 0.26),
    )


def coach() -> Mesh:
    """Sleek and purple: a raked nose, one band of dark glass, a gold swoosh, mirrors like horns."""
    shell = body(
        [
            (-2.9, 0.9, 0.4, 2.6),
            (-2.75, 1.0, 0.28, 2.85),
            (1.9, 1.0, 0.28, 2.85),
            (2.25, 1.0, 0.28, 2.74),
            (2.5, 1.0, 0.28, 2.4),
            (2.8, 0.96, 0.28, 1.4),
            (2.9, 0.84, 0.36, 1.0),
        ],
        "purple",
        0.2,
    )
    band = side((-2.7, 1.98), (1.6, 2.4), 1.0, "window")
    cheek = panel(
        [(1.98, -1.0, 1.6), (2.66, -0.99, 1.6), (2.42, -1.0, 2.25), (1.98, -1.0, 2.4)], "glass"
    ).both_sides()
    swoosh = panel(
        [(-1.2, -1.0, 0.38), (-0.3, -1.0, 0.38), (1.6, -1.0, 1.5), (0.4, -1.0, 1.5)], "amber"
    ).both_sides()
    second = panel(
        [(-0.1, -1.0, 0.38), (0.4, -1.0, 0.38), (2.4, -1.0, 1.5), (1.8, -1.0, 1.5)], "white"
    ).both_sides()
    ends = (
        front((-0.75, 0.75), (1.48, 2.36), 2.775, "glass", 2.515)
        + back((-0.68, 0.68), (1.6, 2.35), -2.9, "glass")
        + back((-0.7, 0.7), (0.95, 1.15), -2.9, "amber")
    )
    horns = (
        rod((2.45, 0.75, 2.5), (2.8, 0.92, 2.35), 0.05, "dark")
        + box((0.12, 0.22, 0.5), (2.8, 0.95, 1.85), "dark")
    ).both_sides()
    return join(
        shell,
        band,
        cheek,
        swoosh,
        second,
        side((-2.7, 1.95), (2.45, 2.6), 1.0, "white"),
        top((-2.6, 1.8), (-0.62, 0.62), 2.85, "lilac"),
        ends,
        horns,
        wheels([-1.75, 1.6], 2.1, 0.42, 0.26),
        arches([-1.75, 1.6], 1.02, 0.52, z=0.42),
        lamps(2.88, -2.9, 0.6, 0.7, 0.22),
    )


def _tram_half() -> Mesh:
    """The leading half of a tram: a rounded nose, three bands, glass all round."""
    plan = [(0.14, 0.94), (2.3, 0.94), (2.78, 0.74), (3.05, 0.4)]
    bands = ((0.2, 1.0, "teal"), (1.0, 2.42, "cream"), (2.42, 2.68, "teal"))
    shell = join(
        body([(x, w, low, high) for x, w in plan], p, 0.12 if p == "teal" and low > 1 else 0.0)
        for low, high, p in bands
    )
    bends = join(
        panel([(x, -w, 1.25), (u, -v, 1.25), (u, -v, 2.2), (x, -w, 2.2)], "glass", (0.06, 0.94)).both_sides()
        for (x, w), (u, v) in pairwise(plan[1:])
    )
    doors = side((1.62, 2.2), (0.3, 2.2), 0.94, "glass", lift=0.03)
    nose = front((-0.36, 0.36), (1.25, 2.2), 3.05, "glass") + cylinder(
        0.2, 0.08, (3.0, 0.0, 0.72), "headlamp", "x", 8
    )
    return join(
        shell,
        bends,
        doors,
        nose,
        _panes((0.25, 1.5), (1.3, 2.2), 0.94, 2),
        side((0.2, 2.25), (0.8, 1.0), 0.94, "gold"),
        wheels([1.25], 1.6, 0.26, 0.2),
    )


def tram() -> Mesh:
    """Two jointed teal and cream cars, rounded at both ends, under a pantograph; no tyres to see."""
    half = _tram_half()
    joint = box((0.4, 1.7, 2.15), (0.0, 0.0, 0.35), "charcoal") + box(
        (0.9, 1.2, 0.14), (0.9, 0.0, 2.67), "silver"
    )
    arms = (
        rod((-0.95, 0.35, 2.7), (-0.25, 0.35, 3.1), 0.07, "dark")
        + rod((-0.25, 0.35, 3.1), (-0.95, 0.35, 3.5), 0.07, "dark")
    ).both_sides()
    shoe = box((0.3, 1.5, 0.07), (-0.95, 0.0, 3.48), "dark") + box(
        (0.8, 1.1, 0.12), (-0.95, 0.0, 2.67), "silver"
    )
    return half + half.turned(180).painted(headlamp="taillamp") + joint + arms + shoe


KINDS: dict[str, VehicleKind] = {
    "school bus": VehicleKind(school_bus, body="yellow"),
    "city bus": VehicleKind(city_bus, body="blue"),
    "double-decker bus": VehicleKind(double_decker, body="red"),
    "minibus": VehicleKind(minibus, body="mint"),
    "coach": VehicleKind(coach, body="purple"),
    "tram": VehicleKind(tram, body="teal"),
    "red bus": VehicleKind(partial(coloured_bus, "red"), body="red"),
    "green bus": VehicleKind(partial(coloured_bus, "green"), body="green"),
}
