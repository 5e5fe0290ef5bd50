"""Cars: the common bodies, their working versions and liveries, and the parts they share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import cos, radians, sin

from simtown.assets.mesh import *

Stations = Sequence[tuple[float, float, float, float]]


def hull(length: float, half: float, tops: Sequence[float], scuttle: float, low: float = 0.22) -> Stations:
    """Stations of a plain car `length` long and 2 `half` wide, for :func:`shell`.

    `tops` are the heights of tail, boot, scuttle (at x = `scuttle`, under the windscreen), bonnet end and
    nose.
    """
    x, ends, mid = length / 2, low + 0.08, low + 0.03
    tail, nose = 0.3 * tops[0] + 0.7 * tops[1], 0.7 * tops[3] + 0.3 * tops[4]
    return [
        (-x, half - 0.09, ends, tops[0]),
        (-x + 0.03, half - 0.04, mid, tail),
        (-x + 0.12, half, low, tops[1]),
        (scuttle, half, low, tops[2]),
        (x - 0.28, half, low, 0.1 * tops[2] + 0.9 * tops[3]),
        (x - 0.08, half - 0.04, mid, nose),
        (x, half - 0.1, ends, tops[4]),
    ]


def shell(
    stations: Stations,
    paint: str,
    axles: Sequence[float],
    radius: float = 0.34,
    hub: str = "hub",
    bumper: str = "",
    bevel: float = 0.08,
) -> Mesh:
    """A lofted body on its wheels, with arches, lamps and, if `bumper` names a material, bumpers."""
    wide = max(half for _, half, _, _ in stations)
    (tail, w_tail, low_tail, high_tail), (nose, w_nose, low, high) = stations[0], stations[-1]
    size = min(0.19, 0.6 * (high - low))
    z, z_tail = (low + high - 0.4 * size) / 2, (low_tail + high_tail) / 2
    car = body(stations, paint, bevel) + wheels(axles, 2 * wide + 0.06, radius, hub=hub)
    car += arches(axles, wide, radius * 1.2, z=radius)
    car += lamps(nose, tail, min(w_nose, w_tail) - 0.16, z, size, z_tail)
    car += front((-0.34, 0.34), (low + 0.08, 0.35 * low + 0.65 * high), nose, "dark")
    car += back((-0.22, 0.22), (low_tail + 0.1, low_tail + 0.24), tail, "trim")
    if bumper:
        car += box((0.16, 2 * w_nose + 0.08, 0.13), (nose, 0.0, low - 0.03), bumper)
        car += box((0.16, 2 * w_tail + 0.08, 0.13), (tail, 0.0, low_tail - 0.03), bumper)
    return car


def doors(
    x: Sequence[float], z: Span, y: float, mirror: Span | None = None, paint: str = "dark", seam: str = "dark"
) -> Mesh:
    """Seams between two heights on both flanks (±y) at each x, handles, and mirrors at `mirror` (x, z)."""
    parts = [side((at - 0.014, at + 0.014), z, y, seam) for at in x]
    parts += [side((at + 0.07, at + 0.2), (z[1] - 0.13, z[1] - 0.08), y, seam) for at in x[:-1]]
    if mirror:
        parts += [box((0.1, 0.16, 0.12), (mirror[0], y + 0.02, mirror[1]), paint).both_sides()]
    return join(parts)


def wing(
    x: float, y: float, radius: float, width: float, paint: str, z: float, sweep: Span = (0, 180)
) -> Mesh:
    """Mudguards over the wheels at (x, ±y): arcs about height `z`, from `sweep` degrees (0 is ahead)."""
    loops = []
    for i in range(8):
        a = radians(sweep[0] + (sweep[1] - sweep[0]) * i / 7)
        edges = [(radius, -1), (radius, 1), (radius + 0.07, 1), (radius + 0.07, -1)]
        loops.append([(x + r * cos(a), y + s * width / 2, z + r * sin(a)) for r, s in edges])
    return loft(loops, paint).both_sides()


def driver(at: Point, shirt: str, hat: str = "brown", skin: str = "skin") -> Mesh:
    """Someone seated: shoulders, a big head, hair or a cap. `at` is the middle of the seat."""
    x, y, z = at
    trunk = frustum((0.28, 0.48, 0.42), (0.2, 0.36), at, shirt)
    head = box((0.3, 0.3, 0.26), (x, y, z + 0.42), skin)
    return somebody(trunk, head, block((0.36, 0.36, 0.16), (x - 0.03, y, z + 0.64), hat, 0.07))


def eyes(at: Point, radius: float = 0.15, rim: str = "silver") -> Mesh:
    """A pair of round standing head lamps at (x, ±y, z), facing forward."""
    pot = cylinder(radius, 0.14, (at[0] - 0.14, at[1], at[2]), rim, "x", 8)
    return (pot + cylinder(radius * 0.8, 0.03, at, "headlamp", "x", 8)).both_sides()


def windscreen(x: Span, z: Span, half: float, paint: str) -> Mesh:
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
        tongue = [(tip, -y, mid), (x, -y, low), (x, -y, high), (tip, -y, mid + 0.03)]
        parts.append(panel(tongue, "amber").both_sides())
    return join(parts)


def stripes(stations: Stations, paint: str, y: float = 0.2, width: float = 0.22) -> Mesh:
    """Two stripes over the top of a shell, from the first of some stations to the last."""
    across = (y - width / 2, y + width / 2)
    return join(top((a[0], b[0]), across, a[3], paint, b[3]) for a, b in pairwise(stations)).both_sides()


def sedan(paint: str = "blue", roof: str = "", bumper: str = "silver") -> Mesh:
    """Three boxes: bonnet, cabin, boot."""
    stations = hull(3.6, 0.82, (0.8, 0.91, 0.94, 0.78, 0.62), 0.75)
    house = cabin((-1.15, 0.8), (-0.75, 0.25), (0.88, 1.46), (1.52, 1.2), roof or paint)
    house += doors((-0.62, 0.0, 0.66), (0.28, 0.82), 0.82, (0.62, 0.9), paint)
    return shell(stations, paint, [-1.1, 1.1], bumper=bumper) + house


def canoe_car() -> Mesh:
    """A square-cut green saloon with a flat bonnet and boot, a long amber canoe upside down on its roof."""
    boot = [(-1.75, 0.78, 0.3, 0.9), (-1.68, 0.82, 0.22, 0.95)]
    bonnet = [(1.62, 0.82, 0.22, 0.95), (1.75, 0.78, 0.3, 0.88)]
    car = shell([*boot, *bonnet], "green", [-1.08, 1.1], bumper="silver", bevel=0.06)
    house = cabin((-1.0, 0.6), (-0.82, 0.35), (0.92, 1.56), (1.54, 1.34), "green")
    house += doors((-0.6, -0.02, 0.58), (0.26, 0.86), 0.82, (0.5, 0.96))
    house += side((-1.66, 1.6), (0.76, 0.86), 0.82, "silver", lift=0.02)
    stern = [(-1.35, 0.04, 0.26, 0.16), (-1.0, 0.2, 0.0, 0.3), (-0.4, 0.3, 0.0, 0.4)]
    bow = [(0.5, 0.3, 0.0, 0.4), (1.1, 0.2, 0.0, 0.3), (1.45, 0.04, 0.26, 0.16)]
    loops = [[(x, -w, a), (x, w, a), (x, 0.7 * w, b), (x, -0.7 * w, b)] for x, w, a, b in stern + bow]
    canoe = loft(loops, "amber").at(-0.2, 0.0, 1.61)
    rack = join(box((0.09, 1.34, 0.09), (x, 0.0, 1.54), "dark") for x in (-0.66, 0.14))
    straps = join(box((0.07, 0.56, 0.03), (x, 0.0, 2.01), "dark") for x in (-0.4, 0.5))
    return car + house + canoe + rack + straps


def state_car() -> Mesh:
    """A stately black saloon, tall behind: a long bonnet, much chrome, white-walled wheels, two flags."""
    boot = [(-1.86, 0.7, 0.3, 0.86), (-1.8, 0.76, 0.25, 0.98), (-1.6, 0.8, 0.22, 1.04)]
    bonnet = [(0.3, 0.8, 0.22, 1.06), (1.6, 0.76, 0.22, 0.98), (1.78, 0.7, 0.25, 0.9), (1.84, 0.6, 0.3, 0.8)]
    car = shell([*boot, *bonnet], "black", [-1.15, 1.15], 0.37, hub="trim", bumper="silver")
    house = cabin((-1.62, 0.35), (-1.44, 0.1), (1.0, 1.68), (1.5, 1.32), "black", pillars=(0.34, 0.68))
    house += doors((-0.72, -0.1, 0.5), (0.26, 0.94), 0.8, (0.4, 1.08), "silver", "silver")
    flag = rod((1.5, 0.66, 0.9), (1.5, 0.66, 1.44), 0.025, "silver", 3)
    flag += box((0.36, 0.03, 0.22), (1.32, 0.66, 1.22), "red")
    chrome = side((-1.66, 1.62), (0.84, 0.92), 0.8, "silver", lift=0.02)
    sill = side((-0.66, 0.72), (0.26, 0.4), 0.8, "trim", lift=0.02)
    grille = box((0.08, 0.5, 0.52), (1.86, 0.0, 0.42), "silver")
    return car + house + flag.both_sides() + chrome + sill + grille


def fastback(paint: str) -> Mesh:
    """A roof in one slope from the windscreen to a dark lip at the tail, a white flash along its flank."""
    stations = hull(3.6, 0.82, (0.72, 0.83, 0.9, 0.7, 0.54), 0.6)
    house = cabin((-1.72, 0.65), (-0.45, 0.1), (0.8, 1.36), (1.5, 1.12), paint, pillars=(0.42, 0.68))
    lip = box((0.16, 1.3, 0.1), (-1.75, 0, 0.82), "dark")
    seams = doors((-0.35, 0.6), (0.28, 0.78), 0.82, (0.5, 0.88), paint)
    flash = side((-1.0, 1.0), (0.5, 0.58), 0.82, "trim", lift=0.02)
    return shell(stations, paint, [-1.1, 1.1], hub="silver", bumper="dark") + house + lip + seams + flash


def arched(paint: str) -> Mesh:
    """A smooth saloon: its roof is one long bow, its pillars are black, its skirt and hubs dark."""
    boot = [(-1.75, 0.66, 0.3, 0.72), (-1.7, 0.74, 0.25, 0.82), (-1.5, 0.8, 0.22, 0.92)]
    belt = [(-0.6, 0.82, 0.22, 0.97), (0.8, 0.82, 0.22, 0.95)]
    bonnet = [(1.45, 0.8, 0.22, 0.82), (1.68, 0.74, 0.25, 0.7), (1.76, 0.64, 0.3, 0.56)]
    house = cabin((-1.55, 1.1), (-0.75, 0.25), (0.86, 1.42), (1.5, 1.2), "black", pillars=(0.32, 0.6))
    house += block((1.24, 1.22, 0.1), (-0.25, 0, 1.37), paint, 0.08)
    house += doors((-0.62, 0.02, 0.64), (0.34, 0.84), 0.82, (0.62, 0.92))
    skirt = side((-0.66, 0.68), (0.22, 0.36), 0.82, "dark", lift=0.03)
    bumpers = join(box((0.1, 1.4, 0.14), (x, 0, 0.3), "dark") for x in (1.74, -1.74))
    return shell([*boot, *belt, *bonnet], paint, [-1.08, 1.08], hub="steel") + house + skirt + bumpers


def beetle(paint: str) -> Mesh:
    """Round all over: domed roof, round bonnet, standing wings and round lamps, white-walled wheels."""
    tail = [(-1.6, 0.3, 0.3, 0.52), (-1.52, 0.42, 0.26, 0.72), (-1.35, 0.54, 0.24, 0.88)]
    belt = [(-0.95, 0.66, 0.22, 1.0), (0.65, 0.66, 0.22, 1.0)]
    bonnet = [(1.1, 0.56, 0.24, 0.94), (1.4, 0.44, 0.26, 0.76), (1.55, 0.3, 0.3, 0.54)]
    car = body([*tail, *belt, *bonnet], paint, 0.2)
    car += cabin((-1.35, 0.72), (-0.75, 0.3), (0.88, 1.42), (1.32, 1.02), paint)
    car += frustum((1.02, 0.98, 0.16), (0.5, 0.5), (-0.22, 0, 1.4), paint)
    trim = side((-0.52, 0.5), (0.72, 0.8), 0.66, "trim")
    wings = join(wing(x, 0.62, 0.42, 0.42, paint, 0.34) for x in (-1.0, 1.0))
    head_lamps = eyes((1.4, 0.58, 0.7), 0.18, "trim")
    tail_lamps = box((0.08, 0.16, 0.2), (-1.42, 0.6, 0.5), "taillamp").both_sides()
    bumpers = join(box((0.12, 1.4, 0.12), (x, 0, 0.28), "silver") for x in (1.6, -1.62))
    board = box((1.3, 0.3, 0.1), (0, 0.66, 0.24), "dark").both_sides()
    tyres = wheels([-1.0, 1.0], 1.6, 0.34, hub="white")
    return join(car, trim, wings, head_lamps, tail_lamps, bumpers, board, tyres)


def mini(paint: str, roof: str) -> Mesh:
    """A tiny square car with a white roof, white bonnet stripes and a black belt."""
    stations = hull(2.7, 0.76, (0.85, 0.92, 0.92, 0.84, 0.74), 0.7)
    car = shell(stations, paint, [-0.88, 0.88], hub=roof, bumper=roof)
    house = cabin((-1.22, 0.72), (-1.0, 0.4), (0.88, 1.42), (1.42, 1.26), paint)
    lid = frustum((1.44, 1.26, 0.12), (1.2, 1.02), (-0.3, 0, 1.4), roof)
    belt = side((-0.46, 0.46), (0.22, 0.34), 0.76, "black", lift=0.02)
    seams = doors((-0.42, 0.48), (0.34, 0.84), 0.76, (0.5, 0.9), roof)
    return car + house + lid + belt + seams + stripes(stations[3:], roof)


def hatchback() -> Mesh:
    """Teal, short and tall, with a steep tail under a big lip, a dark roof and dark mouldings."""
    stations = hull(3.0, 0.8, (0.86, 0.98, 0.96, 0.8, 0.64), 0.8)
    car = shell(stations, "teal", [-0.95, 0.95], bumper="dark")
    house = cabin((-1.46, 0.8), (-1.06, 0.25), (0.92, 1.6), (1.52, 1.24), "teal", pillars=(0.34, 0.62))
    lip = box((0.42, 1.2, 0.08), (-1.2, 0, 1.55), "dark")
    roof = frustum((1.1, 1.1, 0.05), (1.0, 1.0), (-0.4, 0, 1.59), "dark")
    moulding = side((-0.52, 0.52), (0.24, 0.44), 0.8, "dark", lift=0.02)
    return car + house + lip + roof + moulding + doors((-0.48, 0.0, 0.56), (0.44, 0.86), 0.8, (0.62, 0.94))


def estate() -> Mesh:
    """Mint, a long flat roof down to the tail, wooden flanks, cases on the roof."""
    stations = hull(3.8, 0.82, (0.85, 0.9, 0.92, 0.8, 0.68), 0.8)
    car = shell(stations, "mint", [-1.15, 1.2], bumper="silver")
    house = cabin((-1.84, 0.8), (-1.68, 0.3), (0.88, 1.48), (1.54, 1.3), "mint", pillars=(0.33, 0.64))
    planks = side((-0.68, 0.75), (0.3, 0.82), 0.82, "tan") + side((-1.8, -1.62), (0.4, 0.8), 0.82, "tan")
    planks += doors((-0.64, 0.06, 0.72), (0.3, 0.82), 0.84, (0.62, 0.9), "mint", "wood")
    cases = box((0.7, 0.6, 0.3), (-1.16, 0.2, 1.54), "wood")
    cases += box((0.62, 0.9, 0.2), (-0.32, 0, 1.54), "coral")
    straps = box((0.12, 0.62, 0.31), (-1.16, 0.2, 1.54), "gold")
    straps += box((0.1, 0.92, 0.21), (-0.32, 0, 1.54), "trim")
    rack = box((1.7, 0.06, 0.08), (-0.7, 0.55, 1.47), "silver").both_sides()
    return car + house + planks + cases + straps + rack


def coupe() -> Mesh:
    """Two doors, low, in two tones: a short cream cabin far back, fins and bonnet purple, flanks cream."""
    stations = hull(3.5, 0.82, (0.72, 0.86, 0.88, 0.78, 0.6), 0.25, 0.2)
    car = shell(stations, "purple", [-1.08, 1.08], hub="white", bumper="silver")
    house = cabin((-1.2, 0.25), (-0.72, -0.25), (0.84, 1.28), (1.46, 1.1), "cream", pillars=())
    outside = [(-1.74, -0.78, 0.84), (-0.95, -0.78, 0.86), (-0.98, -0.78, 0.9), (-1.8, -0.74, 1.1)]
    inside = [(-0.95, -0.72, 0.86), (-1.74, -0.72, 0.84), (-1.8, -0.74, 1.1), (-0.98, -0.72, 0.9)]
    fin = join(panel(face, "purple", lift=0.0) for face in (outside, inside))
    spans = ((-1.62, -1.46), (-0.7, 0.7), (1.44, 1.5))
    flanks = join(side(x, (0.2, 0.56), 0.82, "cream", lift=0.02) for x in spans)
    seams = doors((-0.45, 0.5), (0.24, 0.76), 0.83, (0.2, 0.9), "silver")
    return car + house + fin.both_sides() + flanks + seams


def taxi() -> Mesh:
    """Yellow, a band of black checks, a big lit sign on the roof."""
    spots = [(-0.66 + 0.22 * i, 0.46 + 0.17 * (i % 2)) for i in range(6)]
    checks = join(side((x, x + 0.22), (z, z + 0.17), 0.82, "black", lift=0.02) for x, z in spots)
    foot = box((0.56, 0.9, 0.1), (-0.25, 0, 1.45), "black")
    sign = frustum((0.5, 0.84, 0.34), (0.32, 0.66), (-0.25, 0, 1.54), "lamp glow")
    return sedan("yellow", bumper="black") + checks + foot + sign


def police_car() -> Mesh:
    """Navy with white doors and roof, a wide red and blue bar."""
    plates = side((-0.66, 0.66), (0.24, 0.84), 0.82, "white", lift=0.02)
    plates += side((-0.13, 0.13), (0.4, 0.68), 0.82, "gold", lift=0.035)
    ram = box((0.1, 0.9, 0.4), (1.84, 0, 0.3), "dark")
    lid = top((-1.66, -1.2), (-0.6, 0.6), 0.915, "white", 0.92, lift=0.02)
    return sedan("navy", "white", "dark") + plates + ram + lid + beacon(-0.25, 1.45, width=1.25)


def fire_chief() -> Mesh:
    """A red high-roofed estate with a white roof and bonnet, a white band with a gold badge, a red beacon."""
    stations = hull(3.6, 0.84, (0.95, 1.04, 1.04, 0.94, 0.82), 0.8, 0.28)
    car = shell(stations, "red", [-1.12, 1.12], 0.38, bumper="white")
    house = cabin((-1.72, 0.85), (-1.5, 0.35), (1.0, 1.7), (1.6, 1.34), "red", pillars=(0.34, 0.66))
    house += frustum((1.86, 1.32, 0.09), (1.7, 1.14), (-0.58, 0, 1.69), "white")
    bonnet = top((0.95, 1.5), (-0.6, 0.6), 1.03, "white", 0.95)
    band = side((-0.64, 0.64), (0.5, 0.78), 0.84, "white")
    badge = side((-0.14, 0.14), (0.44, 0.84), 0.84, "gold", lift=0.03)
    light = cylinder(0.2, 0.3, (-0.2, 0, 1.78), "beacon red", sides=8)
    foot = box((0.3, 0.8, 0.08), (-0.2, 0, 1.76), "dark")
    aerial = rod((-1.3, 0.4, 1.76), (-1.42, 0.4, 2.2), 0.025, "dark", 3)
    seams = doors((-0.66, 0.0, 0.68), (0.3, 0.92), 0.84, (0.7, 1.0), "white")
    return car + house + bonnet + band + badge + light + foot + aerial + seams


def convertible() -> Mesh:
    """Coral and open: a driver and a passenger, cream seats, the hood folded behind."""
    stations = hull(3.5, 0.82, (0.76, 0.88, 0.9, 0.76, 0.6), 0.55)
    car = shell(stations, "coral", [-1.08, 1.08], hub="white", bumper="white")
    well = top((-0.95, 0.4), (-0.66, 0.66), 0.91, "dark") + box((0.2, 1.24, 0.42), (-0.85, 0, 0.85), "cream")
    hood = frustum((0.5, 1.5, 0.26), (0.3, 1.3), (-1.2, 0, 0.85), "cream")
    people = driver((-0.55, 0.33, 0.85), "sky", "brown") + driver((-0.55, -0.33, 0.85), "yellow", "purple")
    pane = windscreen((0.5, 0.2), (0.88, 1.3), 0.64, "white")
    flash = side((-0.6, 0.62), (0.5, 0.58), 0.82, "white")
    seams = doors((-0.5, 0.5), (0.28, 0.78), 0.83, (0.45, 0.9), "white")
    return car + well + hood + people + pane + flash + seams


KINDS: dict[str, VehicleKind] = {
    "sedan": VehicleKind(sedan, body="blue"),
    "taxi": VehicleKind(taxi, body="yellow"),
    "green car": VehicleKind(canoe_car, body="green"),
    "police car": VehicleKind(police_car, body="navy"),
    "hatchback": VehicleKind(hatchback, body="teal"),
    "estate car": VehicleKind(estate, body="mint"),
    "coupe": VehicleKind(coupe, body="purple"),
    "convertible": VehicleKind(convertible, body="coral"),
    "fire chief car": VehicleKind(fire_chief, body="red"),
    "red car": VehicleKind(partial(fastback, "red"), body="red"),
    "white car": VehicleKind(partial(arched, "white"), body="white"),
    "black car": VehicleKind(state_car, body="black"),
    "pink car": VehicleKind(partial(beetle, "pink"), body="pink"),
    "orange car": VehicleKind(partial(mini, "orange", "white"), body="orange"),
}
