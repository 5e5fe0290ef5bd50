"""Trucks of the town's services: fire brigade, streets, rescue, army, bank."""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, radians, sin

from simtown.assets.mesh import *
from simtown.assets.vehicles.trucks import bed, cab, canopy, chassis, crate, disc, lid, truck

AMBER = ("beacon amber", "beacon amber")


def fire_truck() -> Mesh:
    """A big white ladder rising over a red truck with a white band."""
    load = crate((-2.5, 0.95), (0.7, 1.75), "red", 1.92) + side((-2.4, 0.85), (1.05, 1.38), 0.96, "white")
    load += side((1.0, 2.1), (1.0, 1.22), 0.9, "white")
    mount = cylinder(0.6, 0.4, (-1.7, 0.0, 1.7), "charcoal")
    lifted = ladder((-2.35, 0.0, 2.1), (2.55, 0.0, 3.3), 0.86, "white", 9, 0.13)
    lifted += rod((-2.35, 0.43, 2.5), (1.2, 0.43, 3.3), 0.09, "silver").both_sides()
    feet = [(x, 2.1 + 0.245 * (x + 2.35), 2.5 + 0.225 * (x + 2.35)) for x in (-2.2, -1.1, 0.0)]
    posts = join(rod((x, 0.43, low), (x, 0.43, high), 0.07, "silver") for x, low, high in feet)
    bare = truck(-2.5, 2.5, [-1.5, 1.6], "red", depth=1.5, roof=2.05, radius=0.44)
    return bare + load + mount + lifted + posts.both_sides() + beacon(1.9, 2.1, width=1.2)


def fire_engine() -> Mesh:
    """A tall red box with a white roof, silver shutters, a yellow hose reel and no ladder."""
    load = crate((-2.3, 0.9), (0.65, 2.05), "red", bevel=0.05) + crate((-2.3, 0.9), (2.05, 2.4), "white")
    spans = ((-2.15, -1.1), (-0.1, 0.78))
    load += join(side(x, (0.98, 1.95), 0.98, "silver") for x in spans)
    lines = [side(x, (z, z + 0.06), 0.98, "steel", lift=0.03) for x in spans for z in (1.2, 1.45, 1.7)]
    reel = disc(-0.6, 1.47, 0.96, 0.46, "yellow", 0.1) + disc(-0.6, 1.47, 1.0, 0.2, "crimson", 0.1)
    light = beacon(1.7, 2.2, ("beacon blue", "beacon blue"), 1.2)
    hoses = cylinder(0.16, 2.2, (-1.8, 0.5, 2.5), "charcoal", "x", 8).both_sides()
    stripe = side((-2.25, 0.85), (0.66, 0.9), 0.98, "yellow") + side((0.95, 2.05), (1.0, 1.2), 0.9, "yellow")
    bare = truck(-2.3, 2.3, [-1.4, 1.5], "red", depth=1.4, roof=2.12, radius=0.44)
    return join(bare, load, lines, reel, light, hoses, stripe)


def garbage_truck() -> Mesh:
    """A forest-green rounded body with a lime hopper hung behind and a bin at it."""
    face, roof = [(-1.6, 0.75), (0.95, 0.75), (0.95, 2.25)], [(0.85, 2.45), (0.55, 2.6), (-1.1, 2.6)]
    load = profile([*face, *roof, (-1.45, 2.52), (-1.6, 2.4)], 1.98, "forest")
    load += join(side((x, x + 0.24), (1.1, 2.35), 0.99, "lime") for x in (-1.2, -0.35, 0.5))
    load += side((-1.55, 0.92), (0.8, 1.02), 0.99, "white")
    hopper = profile([(-2.5, 0.65), (-1.6, 0.5), (-1.6, 2.4), (-2.0, 2.3), (-2.6, 1.4)], 2.0, "lime")
    hopper += back((-0.8, 0.8), (1.45, 2.2), -2.57, "dark", -2.05)
    bins = frustum((0.4, 0.5, 0.65), (0.55, 0.6), (-2.62, 0.0, 0.4), "orange")
    bins += box((0.6, 0.64, 0.1), (-2.62, 0.0, 1.05), "charcoal")
    bare = truck(-2.4, 2.4, [-1.2, -0.3, 1.55], "forest")
    return centred(bare, load, hopper, bins, beacon(1.7, 2.1, AMBER, 0.7))


def tow_truck() -> Mesh:
    """Magenta with a low deck, and a thick white boom leaning back with a big yellow hook on its rope."""
    deck = block((2.5, 1.9, 0.5), (-1.15, 0.0, 0.6), "magenta", 0.08)
    deck += box((0.4, 1.9, 0.75), (-0.05, 0.0, 1.05), "charcoal")
    boom = rod((-0.1, 0.0, 1.15), (-2.3, 0.0, 2.75), 0.21, "white", end=0.15)
    boom += rod((-0.9, 0.5, 1.0), (-1.6, 0.0, 2.2), 0.1, "white").both_sides()
    rope = rod((-2.3, 0.0, 2.75), (-2.5, 0.0, 1.7), 0.05, "dark")
    rope += box((0.3, 0.3, 0.2), (-2.5, 0.0, 1.55), "charcoal")
    bends = [(-2.5, 0.0, 1.65), (-2.5, 0.0, 1.2), (-2.72, 0.0, 0.98), (-2.95, 0.0, 1.08), (-2.98, 0.0, 1.38)]
    hook = join(rod(a, b, 0.11, "yellow") for a, b in pairwise(bends))
    lights = beacon(0.75, 2.14, AMBER, 1.1)
    stripe = side((0.3, 1.2), (0.94, 1.14), 0.9, "white") + side((-2.3, 0.0), (0.8, 1.0), 0.95, "white")
    bare = truck(-2.4, 2.2, [-1.4, 1.45], "magenta", 0.8, 1.15)
    return centred(bare, deck, boom, rope, hook, lights, stripe)


def bucket_truck() -> Mesh:
    """Lime with a bent orange arm that lifts a worker in a basket."""
    lockers = crate((-2.3, 0.85), (0.65, 1.3), "lime", 1.9)
    lockers += side((-2.1, 0.7), (0.84, 1.05), 0.95, "charcoal")
    arm = rod((-0.6, 0.0, 1.2), (-2.1, 0.0, 2.5), 0.22, "orange")
    arm += rod((-2.1, 0.0, 2.5), (0.4, 0.0, 2.75), 0.19, "orange")
    joints = cylinder(0.34, 0.4, (-0.6, 0.0, 1.2), "charcoal", sides=8)
    joints += cylinder(0.26, 0.5, (-2.1, -0.25, 2.5), "charcoal", "y", 8)
    basket = frustum((0.66, 0.76, 0.62), (0.82, 0.92), (0.75, 0.0, 2.38), "white")
    basket += side((0.42, 1.08), (2.54, 2.76), 0.4, "red", lift=0.06)
    worker = cylinder(0.24, 0.35, (0.75, 0.0, 2.95), "blue", sides=6)
    worker += ball(0.2, (0.75, 0.0, 3.4), "yellow", 6, 3)
    return truck(-2.3, 2.3, [-1.4, 1.5], "lime", 0.6, 1.1, 2.0) + lockers + arm + joints + basket + worker


def armoured_truck() -> Mesh:
    """A silver slab-sided safe on wheels: slits for windows, a navy stripe and a great gold coin."""
    gear = chassis(-2.33, 2.33, [-1.4, 1.55], radius=0.46) + arches([-1.4], 0.9, 0.56, z=0.46)
    face, roof = [(-2.3, 0.45), (1.5, 0.45), (1.5, 1.35)], [(1.2, 2.3), (1.0, 2.45), (-2.1, 2.45)]
    shell = profile([*face, *roof, (-2.3, 2.25)], 1.8, "silver")
    shell += profile([(1.4, 0.45), (2.3, 0.45), (2.3, 1.0), (1.5, 1.35), (1.4, 1.35)], 1.6, "silver")
    stripe = side((-2.25, 1.45), (0.98, 1.3), 0.9, "navy") + front((-0.5, 0.5), (0.6, 0.9), 2.3, "dark")
    slits = side((0.6, 1.15), (1.6, 2.0), 0.9, "glass")
    slits += front((-0.75, 0.75), (1.55, 2.05), 1.44, "glass", 1.28)
    badge = disc(-0.75, 1.62, 0.9, 0.62, "gold") + disc(-0.75, 1.62, 0.94, 0.42, "yellow")
    badge += back((-0.55, 0.55), (0.75, 2.0), -2.3, "navy")
    cover = lid((-2.22, 1.05), (2.38, 2.56), 1.84, "navy")
    hatch = cylinder(0.35, 0.2, (-0.6, 0.0, 2.52), "charcoal", sides=8)
    return gear + shell + stripe + slits + badge + cover + hatch


def _star(x: float, z: float, y: float, radius: float, paint: str) -> Mesh:
    """A five-pointed star on both flanks at ±y."""
    turn = [(radius * (0.42 if i % 2 else 1.0), radians(90 + 36 * i)) for i in range(-1, 10)]
    rim = [(x + r * cos(t), -y, z + r * sin(t)) for r, t in turn]
    return join(panel([(x, -y, z), *rim[i : i + 3]], paint) for i in range(0, 10, 2)).both_sides()


def _sagging(x: float, z: Span, hoops: int, step: float, paint: str) -> Mesh:
    """A canvas from x backwards over `hoops` hoops `step` metres apart, sagging between them."""
    loops = []
    for i in range(2 * hoops - 1):
        slack = 0.16 if i % 2 else 0.0
        half, high = 0.96 - 0.3 * slack, z[1] - slack
        arch = [(-half * cos(pi * k / 6), z[0] + (high - z[0]) * sin(pi * k / 6)) for k in range(7)]
        loops.append([(x - 0.5 * step * i, a, b) for a, b in [(-half, 0.95), *arch, (half, 0.95)]])
    return loft(loops, paint)


def military_truck() -> Mesh:
    """Olive with a bonnet, high on big wheels; a khaki canvas sags between hoops and bears a white star."""
    gear = chassis(-2.45, 2.45, [-1.75, -0.7, 1.65], radius=0.48)
    gear += box((0.1, 1.5, 0.1), (2.48, 0.0, 0.98), "forest") + cab(2.4, "olive", 0.8, 1.05, 2.1)
    load = bed((-2.45, 0.58), "olive", 0.72, 0.3, 0.98)
    load += join(side((x, x + 0.1), (0.76, 1.12), 0.98, "forest") for x in (-1.9, -0.95, 0.0))
    canvas = _sagging(0.5, (2.1, 2.75), 4, 0.96, "tan")
    hoops = join(canopy((x - 0.06, x + 0.06), (0.95, 2.8), "brown", 1.98) for x in (-2.38, -1.42, -0.46, 0.5))
    star = disc(-0.94, 1.6, 0.93, 0.6, "forest") + _star(-0.94, 1.57, 0.985, 0.54, "white")
    star += back((-0.72, 0.72), (1.05, 2.3), -2.44, "dark")
    cans = box((0.3, 0.3, 0.42), (0.78, 0.8, 0.5), "tan").both_sides()
    return gear + load + canvas + hoops + star + cans


def street_sweeper() -> Mesh:
    """A short orange machine with a glassy cab, a white tank, and round blue brushes at chin and belly."""
    base = box((2.6, 1.74, 0.45), (-0.7, 0.0, 0.6), "orange")
    base += box((1.2, 1.6, 0.55), (1.15, 0.0, 0.38), "orange")
    tank = profile([(-2.0, 1.05), (0.55, 1.05), (0.55, 2.05), (-1.3, 2.15), (-2.0, 1.6)], 1.8, "white", 1.6)
    face = cabin((0.6, 1.75), (0.65, 1.4), (0.95, 2.15), (1.6, 1.4), "orange", pillars=())
    brushes = cylinder(0.55, 0.4, (1.9, 0.52, 0.02), "blue", end=0.25).both_sides()
    brushes += cylinder(0.38, 1.84, (-0.25, -0.92, 0.38), "blue", "y")
    bends = [(0.3, 0.0, 2.14), (-1.3, 0.0, 2.25), (-2.12, 0.0, 1.65), (-2.12, 0.0, 0.5)]
    hose = join(rod(a, b, 0.13, "charcoal", 6) for a, b in pairwise(bends))
    gear = chassis(-1.95, 1.75, [-1.35, 0.8], radius=0.36)
    return centred(gear, base, tank, face, brushes, hose, beacon(0.95, 2.15, AMBER, 0.6))


def snow_plough() -> Mesh:
    """Orange behind a huge yellow wedge of a blade, with a heap of snow."""
    bare = truck(-2.2, 2.0, [-1.35, 1.0], "orange", roof=2.2, radius=0.46)
    hopper = frustum((2.4, 1.4, 0.9), (2.8, 1.96), (-0.8, 0.0, 0.75), "orange")
    hopper += side((-2.1, 0.5), (1.36, 1.6), 0.92, "charcoal", 0.98)
    snow = ball((1.35, 0.95, 0.65), (-0.8, 0.0, 1.5), "white", 10, 3, 0.0)
    spine = [(2.9, 0.03), (3.05, 0.03), (2.85, 0.6), (3.3, 1.4), (3.15, 1.4), (2.7, 0.6)]
    blade = loft([[(x + s, y, z) for x, z in spine] for s, y in ((0.0, 0.0), (-0.85, 1.1))], "yellow")
    blade += rod((1.9, 0.4, 0.5), (2.4, 0.4, 0.5), 0.1, "dark")
    blade = blade.both_sides().at(y=0.0)  # 0.0 in the middle, not -0.0
    return centred(bare, hopper, snow, blade, beacon(1.3, 2.2, AMBER, 1.2))


KINDS: dict[str, VehicleKind] = {
    "fire truck": VehicleKind(fire_truck, body="red"),
    "fire engine": VehicleKind(fire_engine, body="red"),
    "garbage truck": VehicleKind(garbage_truck, body="forest"),
    "tow truck": VehicleKind(tow_truck, body="magenta"),
    "bucket truck": VehicleKind(bucket_truck, body="lime"),
    "armoured truck": VehicleKind(armoured_truck, body="silver"),
    "military truck": VehicleKind(military_truck, body="olive"),
    "street sweeper": VehicleKind(street_sweeper, body="orange"),
    "snow plough": VehicleKind(snow_plough, body="orange"),
}
