"""Buses: one stack of painted bands for the service buses, and the kinds with a shape of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from simtown.assets.mesh import *

#: A painted storey of a bus: its floor, its ceiling, its paint.
Band = tuple[float, float, str]


def _stack(length: float, bands: Sequence[Band], bevel: float = 0.2) -> Mesh:
    """An upright shell of painted bands, 2 m wide, with cut corners and a soft roof about the origin."""
    a, parts = length / 2, []
    for i, (low, high, paint) in enumerate(bands):
        corner = [(-a, 0.86, low, high), (-a + 0.14, 1.0, low, high)]
        stations = corner + [(-x, w, low, high) for x, w, low, high in reversed(corner)]
        parts.append(body(stations, paint, bevel if i == len(bands) - 1 else 0.0))
    return join(parts)


def _panes(x: Span, z: Span, count: int, y: float = 1.0, gap: float = 0.1) -> Mesh:
    """A row of `count` windows on both flanks (±y), lit at night."""
    step = (x[1] - x[0] + gap) / count
    return join(side((x[0] + i * step, x[0] + (i + 1) * step - gap), z, y, "window") for i in range(count))


def _running_gear(length: float, xs: Sequence[float]) -> Mesh:
    """Wheels, their arches, lamps and bumpers of a bus."""
    a = length / 2
    gear = wheels(xs, 2.1, 0.4, 0.26) + arches(xs, 1.02, 0.5, z=0.4) + lamps(a, -a, 0.62, 0.66, 0.24)
    bumpers = join(box((0.12, 1.6, 0.16), (x, 0.0, 0.3), "charcoal") for x in (-a - 0.01, a + 0.01))
    return gear + bumpers


def _sign(x: float, z: Span) -> Mesh:
    """A lit destination board above the windscreen."""
    middle, half = (z[0] + z[1]) / 2, 1.3 * 0.35
    text = front((-half, half), (middle - 0.06, middle + 0.06), x, "beacon amber", lift=0.03)
    return front((-0.65, 0.65), z, x, "black") + text


def city_bus() -> Mesh:
    """White above, blue below: the long town bus with two doors, tall windows and a box on its roof."""
    shell = _stack(5.8, [(0.28, 1.02, "blue"), (1.02, 1.24, "sky"), (1.24, 2.65, "white")])
    doors = join(side(x, (0.4, 2.2), 1.0, "glass") for x in ((2.05, 2.65), (-0.35, 0.35)))
    panes = _panes((0.47, 1.93), (1.34, 2.2), 2) + _panes((-2.65, -0.47), (1.34, 2.2), 3)
    ends = front((-0.8, 0.8), (1.0, 2.02), 2.9, "glass") + _sign(2.9, (2.08, 2.36))
    ends += back((-0.7, 0.7), (1.4, 2.2), -2.9, "glass")
    gear = _running_gear(5.8, [-1.75, 1.35])
    return shell + doors + panes + ends + gear + block((1.8, 1.3, 0.26), (-0.9, 0.0, 2.64), "silver", 0.08)


def coloured_bus(paint: str) -> Mesh:
    """A town bus in broad areas of one paint with cream lines, with one door and lit destination boards."""
    shell = _stack(5.5, [(0.28, 2.32, paint), (2.32, 2.46, "cream"), (2.46, 2.78, paint)])
    door = side((1.85, 2.5), (0.4, 2.2), 1.0, "glass")
    line = side((-2.59, 1.8), (1.24, 1.34), 1.0, "cream")
    panes = _panes((-2.5, 1.7), (1.44, 2.16), 5, gap=0.14)
    ends = front((-0.8, 0.8), (1.05, 2.02), 2.75, "glass") + _sign(2.75, (2.08, 2.34))
    ends += back((-0.7, 0.7), (1.4, 2.1), -2.75, "glass")
    board = side((0.55, 1.75), (2.22, 2.54), 1.0, "black", lift=0.03)
    board += side((0.65, 1.65), (2.38 - 0.07, 2.38 + 0.07), 1.0, "beacon amber", lift=0.05)
    return shell + door + line + panes + ends + board + _running_gear(5.5, [-1.7, 1.1])


def school_bus() -> Mesh:
    """Yellow with black rails, a bonnet before the windscreen and a red stop sign."""
    shell = _stack(4.5, [(0.36, 2.5, "yellow")], 0.34).at(-0.6)
    bonnet = [(1.6, 0.92, 0.36, 1.42), (2.4, 0.86, 0.36, 1.32)]
    nose = [(2.68, 0.82, 0.38, 1.16), (2.8, 0.68, 0.42, 0.98)]
    shell += body(bonnet + nose, "yellow", 0.18)
    grille = front((-0.38, 0.38), (0.5, 0.88), 2.8, "black")
    rails = join(side((-2.7, 1.5), z, 1.0, "black") for z in ((0.52, 0.66), (1.06, 1.24)))
    rails += side((1.66, 2.45), (0.62, 0.76), 0.9, "black")
    glass = _panes((-2.6, 0.75), (1.4, 2.05), 5) + side((0.9, 1.4), (0.72, 2.05), 1.0, "glass", lift=0.03)
    ends = front((-0.8, 0.8), (1.45, 2.1), 1.65, "glass") + back((-0.3, 0.3), (0.7, 2.0), -2.85, "glass")
    stop = cylinder(0.34, 0.06, (-0.2, 1.01, 1.12), "red", "y", 8)
    stop += side((-0.4, 0.0), (1.06, 1.18), 1.07, "white")
    spots = ((-0.55, "beacon red"), (0.55, "beacon red"), (-0.2, "beacon amber"), (0.2, "beacon amber"))
    flashers = join(box((0.14, 0.26, 0.2), (x, y, 2.44), p) for x in (-2.55, 1.35) for y, p in spots)
    gear = wheels([-1.8, 1.95], 2.1, 0.42, 0.26) + arches([-1.8], 1.02, 0.52, z=0.42)
    gear += lamps(2.8, -2.85, 0.56, 0.72, 0.24)
    return shell + grille + rails + glass + ends + stop.both_sides() + flashers + gear


def double_decker() -> Mesh:
    """Red and very tall: two rows of windows with a broad cream belt between them."""
    shell = _stack(5.2, [(0.28, 1.9, "red"), (1.9, 2.2, "cream"), (2.2, 3.5, "red")], 0.26)
    doors = join(side(x, (0.4, 1.82), 1.0, "glass") for x in ((-2.4, -1.95), (1.75, 2.3)))
    rows = _panes((-1.8, 1.6), (1.1, 1.76), 4) + _panes((-2.4, 2.4), (2.34, 3.06), 6)
    ends = front((-0.78, 0.78), (1.0, 1.75), 2.6, "glass") + _sign(2.6, (1.86, 2.2))
    ends += front((-0.78, 0.78), (2.35, 3.1), 2.6, "glass")
    ends += back((-0.72, 0.72), (2.35, 3.1), -2.6, "glass") + back((-0.72, 0.72), (1.05, 1.8), -2.6, "amber")
    return shell + doors + rows + ends + _running_gear(5.2, [-1.45, 1.15])


def minibus() -> Mesh:
    """Short and round in mint and cream, cases heaped on a roof rack."""
    rear = [(-2.1, 0.8, 0.4, 1.12), (-1.95, 0.9, 0.26, 1.12)]
    nose = [(1.85, 0.9, 0.26, 1.12), (2.1, 0.76, 0.4, 1.12)]
    lower = body(rear + nose, "mint", 0.0)
    roof = [(-2.1, 0.8, 1.12, 1.75), (-1.85, 0.9, 1.12, 2.0), (1.4, 0.9, 1.12, 2.0)]
    bonnet = [(1.85, 0.88, 1.12, 1.3), (2.1, 0.72, 1.12, 1.2)]
    house = body(roof + bonnet, "cream", 0.14)
    glass = _panes((-1.75, 0.75), (1.2, 1.72), 3, y=0.9)
    glass += side((0.87, 1.72), (1.2, 1.72), 0.9, "glass", x_top=(0.87, 1.42))
    ends = front((-0.7, 0.7), (1.38, 1.92), 1.8, "glass", 1.45)
    ends += back((-0.6, 0.6), (1.2, 1.58), -2.1, "glass") + front((-0.5, 0.5), (0.85, 1.08), 2.1, "cream")
    rack = join(rod((-1.7, y, 2.14), (0.9, y, 2.14), 0.045, "steel") for y in (-0.62, 0.62))
    rack += top((-1.7, 0.9), (-0.62, 0.62), 2.03, "wood")
    cases = block((0.8, 0.9, 0.34), (-1.15, 0.0, 2.04), "brown", 0.06)
    cases += block((0.6, 0.8, 0.46), (-0.3, 0.1, 2.04), "coral", 0.06)
    cases += block((0.55, 1.0, 0.28), (0.4, 0.0, 2.04), "navy", 0.06)
    gear = wheels([-1.3, 1.25], 1.9, 0.36) + arches([-1.3, 1.25], 0.92, 0.46, z=0.36)
    return lower + house + glass + ends + rack + cases + gear + lamps(2.1, -2.1, 0.58, 0.62, 0.26)


def coach() -> Mesh:
    """Sleek and purple: a raked nose, one band of dark glass, a gold swoosh, mirrors like horns."""
    rear = [(-2.9, 0.9, 0.4, 2.6), (-2.75, 1.0, 0.28, 2.85)]
    nose = [(1.9, 1.0, 0.28, 2.85), (2.25, 1.0, 0.28, 2.74), (2.5, 1.0, 0.28, 2.4)]
    bumper = [(2.8, 0.96, 0.28, 1.4), (2.9, 0.84, 0.36, 1.0)]
    shell = body(rear + nose + bumper, "purple", 0.2)
    band = side((-2.7, 1.98), (1.6, 2.4), 1.0, "window")
    corners = [(1.98, -1.0, 1.6), (2.66, -0.99, 1.6), (2.42, -1.0, 2.25), (1.98, -1.0, 2.4)]
    cheek = panel(corners, "glass").both_sides()
    swoosh = side((-1.2, -0.3), (0.38, 1.5), 1.0, "amber", x_top=(0.4, 1.6))
    swoosh += side((-0.1, 0.4), (0.38, 1.5), 1.0, "white", x_top=(1.8, 2.4))
    roof = side((-2.7, 1.95), (2.45, 2.6), 1.0, "white") + top((-2.6, 1.8), (-0.62, 0.62), 2.85, "lilac")
    ends = front((-0.75, 0.75), (1.48, 2.36), 2.775, "glass", 2.515)
    ends += back((-0.68, 0.68), (1.6, 2.35), -2.9, "glass") + back((-0.7, 0.7), (0.95, 1.15), -2.9, "amber")
    horn = rod((2.45, 0.75, 2.5), (2.8, 0.92, 2.35), 0.05, "dark")
    horn += box((0.12, 0.22, 0.5), (2.8, 0.95, 1.85), "dark")
    gear = wheels([-1.75, 1.6], 2.1, 0.42, 0.26) + arches([-1.75, 1.6], 1.02, 0.52, z=0.42)
    gear += lamps(2.88, -2.9, 0.6, 0.7, 0.22)
    return shell + band + cheek + swoosh + roof + ends + horn.both_sides() + gear


def _tram_half() -> Mesh:
    """The leading half of a tram: a rounded nose, three bands, glass all round."""
    plan = [(0.14, 0.94), (2.3, 0.94), (2.78, 0.74), (3.05, 0.4)]
    bands = ((0.2, 1.0, "teal", 0.0), (1.0, 2.42, "cream", 0.0), (2.42, 2.68, "teal", 0.12))
    parts = [body([(x, w, low, high) for x, w in plan], paint, bevel) for low, high, paint, bevel in bands]
    for (x, w), (u, v) in pairwise(plan[1:]):
        corners = [(x, -w, 1.25), (u, -v, 1.25), (u, -v, 2.2), (x, -w, 2.2)]
        parts.append(panel(corners, "glass", (0.06, 0.94)).both_sides())
    doors = side((1.62, 2.2), (0.3, 2.2), 0.94, "glass", lift=0.03)
    nose = front((-0.36, 0.36), (1.25, 2.2), 3.05, "glass")
    nose += cylinder(0.2, 0.08, (3.0, 0.0, 0.72), "headlamp", "x", 8)
    panes = _panes((0.25, 1.5), (1.3, 2.2), 2, y=0.94)
    line = side((0.2, 2.25), (0.8, 1.0), 0.94, "gold")
    return join(parts, doors, nose, panes, line, wheels([1.25], 1.6, 0.26, 0.2))


def tram() -> Mesh:
    """Two jointed teal and cream cars, rounded at both ends, under a pantograph; no tyres to see."""
    half = _tram_half()
    joint = box((0.4, 1.7, 2.15), (0.0, 0.0, 0.35), "charcoal")
    joint += box((0.9, 1.2, 0.14), (0.9, 0.0, 2.67), "silver")
    arm = rod((-0.95, 0.35, 2.7), (-0.25, 0.35, 3.1), 0.07, "dark")
    arm += rod((-0.25, 0.35, 3.1), (-0.95, 0.35, 3.5), 0.07, "dark")
    shoe = box((0.3, 1.5, 0.07), (-0.95, 0.0, 3.48), "dark")
    shoe += box((0.8, 1.1, 0.12), (-0.95, 0.0, 2.67), "silver")
    return half + half.turned(180).painted(headlamp="taillamp") + joint + arm.both_sides() + shoe


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
