"""Cars: the common bodies, their working versions and liveries, and the parts they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import cos, radians, sin

from simtown.assets.mesh import (
    Mesh,
    Point,
    arches,
    beacon,
    block,
    body,
    box,
    cabin,
    cylinder,
    frustum,
    join,
    lamps,
    loft,
    panel,
    rod,
    side,
    top,
    wheels,
)

Stations = Sequence[tuple[float, ...]]


def hull(length: float, half: float, tops: tuple[float, float, float, float, float], scuttle: float, low: float = 0.22) -> Stations:
    """Stations of a plain car `length` long and 2 `half` wide, for :func:`shell`.

    `tops` are the heights of tail, boot, scuttle (at x = `scuttle`, under the windscreen), bonnet end and nose.
    """
    x, ends = length / 2, low + 0.08
    return [(-x, half - 0.07, ends, tops[0]), (-x + 0.1, half, low, tops[1]), (scuttle, half, low, tops[2]),
            (x - 0.18, half, low, tops[3]), (x, half - 0.08, ends, tops[4])]  # fmt: skip


def shell(stations: Stations, paint: str, axles: Sequence[float], radius: float = 0.34, hub: str = "hub", bumper: str = "",
          bevel: float = 0.08) -> Mesh:  # fmt: skip
    """A lofted body on its wheels, with arches, lamps and (where `bumper` names a material) bumpers, set by its end stations."""
    wide = max(s[1] for s in stations)
    (tail, w_tail, low_tail, high_tail), (nose, w_nose, low, high) = stations[0][:4], stations[-1][:4]
    size = min(0.19, 0.6 * (high - low))
    parts = [
        body(stations, paint, bevel),
        wheels(axles, 2 * wide + 0.06, radius, hub=hub),
        arches(axles, wide, radius * 1.2, z=radius),
    ]
    parts += [lamps(nose, tail, min(w_nose, w_tail) - 0.16, (low + high - 0.4 * size) / 2, size, (low_tail + high_tail) / 2)]
    if bumper:
        parts += [box((0.16, 2 * w_nose + 0.08, 0.13), (nose, 0.0, low - 0.03), bumper)]
        parts += [box((0.16, 2 * w_tail + 0.08, 0.13), (tail, 0.0, low_tail - 0.03), bumper)]
    return join(parts)


def wing(x: float, y: float, radius: float, width: float, paint: str, z: float, sweep: tuple[int, int] = (0, 180)) -> Mesh:
    """Mudguards over the wheels at (x, ±y): arcs about height `z`, from `sweep` degrees (0 ahead, 180 behind)."""
    loops = []
    for i in range(6):
        a = radians(sweep[0] + (sweep[1] - sweep[0]) * i / 5)
        edges = [(radius, -1), (radius, 1), (radius + 0.07, 1), (radius + 0.07, -1)]
        loops.append([(x + r * cos(a), y + s * width / 2, z + r * sin(a)) for r, s in edges])
    return loft(loops, paint).both_sides()


def driver(at: Point, shirt: str, hat: str = "brown", skin: str = "skin") -> Mesh:
    """Someone seated: shoulders, a big head, hair or a cap. `at` is the middle of the seat."""
    x, y, z = at
    head = box((0.3, 0.3, 0.26), (x, y, z + 0.42), skin) + block((0.36, 0.36, 0.16), (x - 0.03, y, z + 0.64), hat, 0.07)
    return frustum((0.28, 0.48, 0.42), (0.2, 0.36), at, shirt) + head


def eyes(at: Point, radius: float = 0.15, rim: str = "silver") -> Mesh:
    """A pair of round standing head lamps at (x, ±y, z), facing forward."""
    pot = cylinder(radius, 0.14, (at[0] - 0.14, at[1], at[2]), rim, "x", 8)
    return (pot + cylinder(radius * 0.8, 0.03, at, "headlamp", "x", 8)).both_sides()


def windscreen(x: tuple[float, float], z: tuple[float, float], half: float, paint: str) -> Mesh:
    """An open car's framed pane, from the scuttle (first x and z) to its upper edge."""
    a, b, c, d = (x[0], -half, z[0]), (x[0], half, z[0]), (x[1], half, z[1]), (x[1], -half, z[1])
    panes = panel([a, b, c, d], "glass", lift=0.02) + panel([b, a, d, c], "glass", lift=0.02)
    return panes + rod(b, c, 0.045, paint).both_sides() + rod(d, c, 0.045, paint)


def flames(x: float, z: float, y: float, length: float, height: float) -> Mesh:
    """Three amber tongues licking back along both flanks (at ±y) from x, upwards of z."""
    parts = []
    for i, part in enumerate((0.7, 1.0, 0.8)):
        low, high, tip = z + height * i / 3, z + height * (i + 1) / 3, x - length * part
        mid = (low + high) / 2 + 0.04
        parts.append(panel([(tip, -y, mid), (x, -y, low), (x, -y, high), (tip, -y, mid + 0.03)], "amber").both_sides())
    return join(parts)


def stripes(stations: Stations, paint: str, y: float = 0.2, width: float = 0.22) -> Mesh:
    """Two stripes over the top of a shell, from the first of some stations to the last."""
    strips = [top((a[0], b[0]), (y - width / 2, y + width / 2), a[3], paint, b[3]) for a, b in pairwise(stations)]
    return join(strips).both_sides()


def sedan(paint: str = "blue", roof: str = "", bumper: str = "silver") -> Mesh:
    """Three boxes: bonnet, cabin, boot."""
    house = cabin((-1.15, 0.8), (-0.75, 0.25), (0.88, 1.45), (1.52, 1.2), roof or paint)
    return shell(hull(3.6, 0.82, (0.82, 0.9, 0.94, 0.78, 0.66), 0.75), paint, [-1.1, 1.1], bumper=bumper) + house


def boxy(paint: str, grille: str) -> Mesh:
    """An upright, square-cut saloon with a flat bonnet and boot and a line of chrome."""
    stations = [(-1.75, 0.78, 0.3, 0.9), (-1.68, 0.82, 0.22, 0.95), (1.62, 0.82, 0.22, 0.95), (1.75, 0.78, 0.3, 0.88)]
    house = cabin((-1.0, 0.6), (-0.82, 0.35), (0.92, 1.58), (1.54, 1.34), paint)
    nose = box((0.08, 0.7, 0.42), (1.75, 0.0, 0.42), grille) + side((-1.66, 1.6), (0.77, 0.86), 0.82, "silver")
    return shell(stations, paint, [-1.08, 1.1], bumper="silver", bevel=0.05) + house + nose


def fastback(paint: str) -> Mesh:
    """A roof that runs in one slope from the windscreen to a dark lip at the tail."""
    house = cabin((-1.72, 0.65), (-0.45, 0.1), (0.8, 1.36), (1.5, 1.12), paint, pillars=(0.42, 0.68))
    house += box((0.14, 1.3, 0.1), (-1.75, 0, 0.8), "dark")
    return shell(hull(3.6, 0.82, (0.74, 0.82, 0.9, 0.7, 0.56), 0.6), paint, [-1.1, 1.1], hub="silver", bumper="dark") + house


def arched(paint: str) -> Mesh:
    """A smooth saloon: the roof one long bow from bonnet to boot."""
    stations = [(-1.75, 0.66, 0.3, 0.78), (-1.55, 0.8, 0.22, 0.9), (-0.6, 0.82, 0.22, 0.96), (0.8, 0.82, 0.22, 0.94),
                (1.5, 0.8, 0.22, 0.8), (1.75, 0.64, 0.3, 0.58)]  # fmt: skip
    house = cabin((-1.5, 1.05), (-0.75, 0.25), (0.86, 1.4), (1.5, 1.2), paint, pillars=(0.32, 0.6))
    house += frustum((1.0, 1.2, 0.1), (0.5, 0.8), (-0.25, 0, 1.39), paint)
    return shell(stations, paint, [-1.08, 1.08], hub="silver") + house


def beetle(paint: str) -> Mesh:
    """Round all over: domed roof, round bonnet, standing wings and round lamps."""
    stations = [(-1.6, 0.3, 0.3, 0.55), (-1.42, 0.5, 0.25, 0.82), (-0.95, 0.66, 0.22, 1.0), (0.65, 0.66, 0.22, 1.0),
                (1.2, 0.5, 0.25, 0.9), (1.55, 0.3, 0.3, 0.58)]  # fmt: skip
    house = cabin((-1.3, 0.7), (-0.75, 0.3), (0.9, 1.42), (1.3, 1.0), paint)
    house += frustum((1.05, 1.0, 0.16), (0.5, 0.5), (-0.22, 0, 1.41), paint)
    wings = wing(-1.0, 0.62, 0.4, 0.42, paint, 0.34) + wing(1.0, 0.62, 0.4, 0.42, paint, 0.34)
    ends = eyes((1.4, 0.58, 0.68), 0.17, paint) + box((0.08, 0.16, 0.2), (-1.42, 0.6, 0.5), "taillamp").both_sides()
    bumpers = box((0.12, 1.4, 0.12), (1.6, 0, 0.28), "silver") + box((0.12, 1.4, 0.12), (-1.62, 0, 0.28), "silver")
    board = box((1.3, 0.3, 0.1), (0, 0.66, 0.24), "dark").both_sides()
    return body(stations, paint, 0.2) + house + wings + ends + bumpers + board + wheels([-1.0, 1.0], 1.6, 0.34, hub="white")


def mini(paint: str, roof: str) -> Mesh:
    """A tiny square car with a white roof and white bonnet stripes."""
    stations = hull(2.7, 0.76, (0.85, 0.92, 0.92, 0.84, 0.78), 0.7)
    house = cabin((-1.22, 0.72), (-1.0, 0.4), (0.88, 1.42), (1.42, 1.26), paint)
    cap = frustum((1.48, 1.3, 0.1), (1.3, 1.1), (-0.3, 0, 1.42), roof)
    return shell(stations, paint, [-0.88, 0.88], hub=roof, bumper=roof) + house + cap + stripes(stations[2:], roof)


def hatchback() -> Mesh:
    """Teal, short and tall, with a steep tail under a small lip."""
    house = cabin((-1.46, 0.8), (-1.0, 0.25), (0.92, 1.56), (1.52, 1.24), "teal", pillars=(0.34, 0.62))
    house += box((0.34, 1.24, 0.07), (-1.1, 0, 1.54), "teal")
    return shell(hull(3.0, 0.8, (0.88, 0.98, 0.96, 0.8, 0.66), 0.8), "teal", [-0.95, 0.95], bumper="dark") + house


def estate() -> Mesh:
    """A long flat roof down to the tail, wooden flanks, cases on the roof."""
    house = cabin((-1.84, 0.8), (-1.66, 0.3), (0.88, 1.48), (1.54, 1.3), "brick", pillars=(0.33, 0.64))
    planks = side((-0.68, 0.75), (0.3, 0.82), 0.82, "tan") + side((-1.8, -1.62), (0.4, 0.8), 0.82, "tan")
    cases = box((0.7, 0.6, 0.26), (-1.1, 0.2, 1.54), "wood") + box((0.6, 0.9, 0.18), (-0.3, 0, 1.54), "mint")
    rack = box((1.7, 0.06, 0.08), (-0.7, 0.55, 1.47), "silver").both_sides()
    car = shell(hull(3.8, 0.82, (0.85, 0.9, 0.92, 0.8, 0.7), 0.8), "brick", [-1.15, 1.2], bumper="silver")
    return car + house + planks + cases + rack


def coupe() -> Mesh:
    """Two doors: a short, low, dark cabin set between a long lilac bonnet and boot."""
    house = cabin((-1.1, 0.35), (-0.6, -0.2), (0.82, 1.3), (1.46, 1.1), "charcoal", pillars=())
    car = shell(hull(3.4, 0.82, (0.72, 0.84, 0.86, 0.76, 0.62), 0.3, 0.2), "lilac", [-1.05, 1.05], hub="white", bumper="white")
    return car + house + side((-0.6, 0.6), (0.3, 0.38), 0.82, "white")


def taxi() -> Mesh:
    """Yellow, a band of black checks, a lit sign on the roof."""
    spots = [(-0.66 + 0.22 * i, 0.5 + 0.16 * (i % 2)) for i in range(6)]
    checks = [side((x, x + 0.22), (z, z + 0.16), 0.82, "black") for x, z in spots]
    sign = frustum((0.3, 0.76, 0.26), (0.16, 0.6), (-0.25, 0, 1.52), "lamp glow")
    return sedan("yellow", bumper="black") + join(checks) + box((0.34, 0.8, 0.08), (-0.25, 0, 1.44), "black") + sign


def police_car() -> Mesh:
    """Navy with white doors and roof, a wide red and blue bar."""
    doors = side((-0.66, 0.66), (0.24, 0.84), 0.82, "white") + side((-0.13, 0.13), (0.42, 0.68), 0.82, "gold", lift=0.03)
    ram = box((0.1, 0.9, 0.4), (1.84, 0, 0.3), "dark")
    return sedan("navy", "white", "dark") + doors + ram + beacon(-0.25, 1.44, width=1.25)


def fire_chief() -> Mesh:
    """A red high-roofed estate with a white roof and bonnet, a white band with a gold badge, a red beacon."""
    house = cabin((-1.72, 0.85), (-1.5, 0.35), (1.0, 1.7), (1.6, 1.34), "red", pillars=(0.34, 0.66))
    roof = frustum((1.9, 1.38, 0.09), (1.75, 1.2), (-0.58, 0, 1.7), "white") + top((0.95, 1.6), (-0.6, 0.6), 1.03, "white", 0.945)
    band = side((-0.64, 0.64), (0.5, 0.78), 0.84, "white") + side((-0.14, 0.14), (0.44, 0.84), 0.84, "gold", lift=0.03)
    light = cylinder(0.18, 0.28, (-0.2, 0, 1.78), "beacon red", sides=8) + box((0.3, 0.8, 0.08), (-0.2, 0, 1.76), "dark")
    car = shell(hull(3.6, 0.84, (0.95, 1.04, 1.04, 0.94, 0.84), 0.8, 0.28), "red", [-1.12, 1.12], 0.38, bumper="white")
    return car + house + roof + band + light


def convertible() -> Mesh:
    """Coral and open: a driver and a passenger, cream seats, the hood folded behind."""
    well = top((-0.95, 0.4), (-0.66, 0.66), 0.91, "dark") + box((0.2, 1.24, 0.42), (-0.85, 0, 0.85), "cream")
    hood = frustum((0.5, 1.5, 0.26), (0.3, 1.3), (-1.2, 0, 0.85), "cream")
    people = driver((-0.55, 0.33, 0.85), "sky", "brown") + driver((-0.55, -0.33, 0.85), "yellow", "amber")
    car = shell(hull(3.5, 0.82, (0.76, 0.88, 0.9, 0.76, 0.62), 0.55), "coral", [-1.08, 1.08], hub="white", bumper="white")
    return car + well + hood + people + windscreen((0.5, 0.2), (0.88, 1.28), 0.64, "white")


KINDS: dict[str, Callable[[], Mesh]] = {
    "sedan": sedan,
    "taxi": taxi,
    "green car": partial(boxy, "green", "dark"),
    "police car": police_car,
    "hatchback": hatchback,
    "estate car": estate,
    "coupe": coupe,
    "convertible": convertible,
    "fire chief car": fire_chief,
    "red car": partial(fastback, "red"),
    "white car": partial(arched, "white"),
    "black car": partial(boxy, "black", "silver"),
    "pink car": partial(beetle, "pink"),
    "orange car": partial(mini, "orange", "white"),
}
