"""Trucks of the town's services: fire brigade, streets, rescue, army, bank."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import cos, radians, sin

from simtown.assets.mesh import (
    Mesh,
    arches,
    back,
    ball,
    beacon,
    box,
    cabin,
    cylinder,
    front,
    frustum,
    join,
    loft,
    panel,
    profile,
    rod,
    side,
)
from simtown.assets.vehicles.trucks import bed, cab, canopy, centred, chassis, crate, disc, lattice

AMBER = ("beacon amber", "beacon amber")


def fire_truck() -> Mesh:
    """A big white ladder rising over a red truck with a white band."""
    load = (
        crate((-2.5, 0.95), (0.7, 1.75), "red", 1.92)
        + side((-2.4, 0.9), (1.1, 1.38), 0.96, "white")
        + side((1.0, 2.3), (1.02, 1.22), 0.9, "white")
    )
    mount = cylinder(0.6, 0.4, (-1.7, 0.0, 1.7), "charcoal", sides=8)
    rungs = lattice((-2.3, 0.0, 1.95), (2.6, 0.0, 3.05), 0.8, 0.65, "white", 6, 0.11)
    return (
        chassis(-2.5, 2.5, [-1.5, 1.6], radius=0.44)
        + cab(2.5, "red", depth=1.5, roof=2.05)
        + load
        + mount
        + rungs
        + beacon(1.9, 2.05, width=1.2)
    )


def fire_engine() -> Mesh:
    """A tall red box with a white roof, silver shutters, a yellow hose reel and no ladder."""
    load = crate((-2.3, 0.9), (0.65, 2.05), "red", 1.96) + crate((-2.3, 0.9), (2.05, 2.35), "white", 1.96)
    shutters = side((-2.1, -1.05), (0.95, 1.95), 0.98, "silver") + side((-0.15, 0.75), (0.95, 1.95), 0.98, "silver")
    reel = disc(-0.6, 1.45, 0.96, 0.42, "yellow", 0.1) + disc(-0.6, 1.45, 1.0, 0.16, "red", 0.1)
    roof = box((1.1, 1.6, 0.14), (1.5, 0.0, 2.1), "white") + beacon(1.7, 2.24, ("beacon blue", "beacon blue"), 1.2)
    stripe = side((-2.25, 0.85), (0.68, 0.88), 0.98, "yellow") + side((0.95, 2.2), (1.02, 1.2), 0.9, "yellow")
    return chassis(-2.3, 2.3, [-1.4, 1.5], radius=0.44) + cab(2.3, "red", depth=1.4, roof=2.12) + load + shutters + reel + roof + stripe


def garbage_truck() -> Mesh:
    """A forest-green rounded body with a lime hopper hung behind and a bin at it."""
    load = profile([(-1.6, 0.75), (0.95, 0.75), (0.95, 2.35), (0.6, 2.6), (-1.2, 2.6), (-1.6, 2.4)], 1.98, (0.0, 0.0, 0.0), "forest")
    ribs = join([side((x, x + 0.2), (0.85, 2.3), 0.99, "lime") for x in (-1.1, -0.3, 0.5)])
    hopper = profile([(-2.5, 0.65), (-1.6, 0.5), (-1.6, 2.4), (-2.0, 2.3), (-2.6, 1.4)], 2.0, (0.0, 0.0, 0.0), "lime")
    mouth = back((-0.8, 0.8), (1.45, 2.2), -2.57, "dark", -2.05)
    bins = frustum((0.4, 0.5, 0.65), (0.55, 0.6), (-2.62, 0.0, 0.4), "orange") + box((0.6, 0.64, 0.1), (-2.62, 0.0, 1.05), "charcoal")
    return centred(
        chassis(-2.4, 2.4, [-1.2, -0.3, 1.55]) + cab(2.4, "forest") + load + ribs + hopper + mouth + bins + beacon(1.7, 2.1, AMBER, 0.7)
    )


def tow_truck() -> Mesh:
    """White with a brown rear deck, and a boom leaning back with a hook on its rope."""
    deck = box((2.5, 1.9, 0.5), (-1.15, 0.0, 0.6), "brown") + box((0.5, 1.9, 0.45), (-0.1, 0.0, 1.1), "brown")
    boom = (
        rod((-0.2, 0.0, 1.2), (-2.35, 0.0, 2.65), 0.16, "brown", end=0.12)
        + rod((-0.9, 0.5, 1.0), (-1.6, 0.0, 2.15), 0.09, "brown").both_sides()
    )
    rope = rod((-2.35, 0.0, 2.65), (-2.55, 0.0, 1.55), 0.045, "dark")
    bends = [(-2.55, 0.0, 1.65), (-2.55, 0.0, 1.2), (-2.8, 0.0, 1.05), (-2.9, 0.0, 1.4)]
    hook = join([rod(a, b, 0.1, "yellow") for a, b in pairwise(bends)])
    lights = beacon(0.75, 2.1, AMBER, 1.1) + side((0.3, 1.35), (0.97, 1.14), 0.9, "brown") + side((-2.3, 0.05), (0.84, 1.02), 0.95, "white")
    return centred(chassis(-2.4, 2.2, [-1.4, 1.45]) + cab(2.2, "white", 0.8, 1.15) + deck + boom + rope + hook + lights)


def bucket_truck() -> Mesh:
    """Lime with a bent orange arm that lifts a worker in a basket."""
    lockers = crate((-2.3, 0.85), (0.65, 1.3), "lime", 1.9) + side((-2.1, 0.7), (0.84, 1.05), 0.95, "charcoal")
    arm = rod((-0.6, 0.0, 1.2), (-2.2, 0.0, 2.5), 0.17, "orange") + rod((-2.2, 0.0, 2.5), (0.4, 0.0, 2.75), 0.15, "orange")
    joints = cylinder(0.3, 0.4, (-0.6, 0.0, 1.2), "charcoal", sides=8) + cylinder(0.2, 0.44, (-2.2, -0.22, 2.5), "charcoal", "y", 8)
    basket = frustum((0.6, 0.7, 0.6), (0.75, 0.85), (0.75, 0.0, 2.4), "white") + side((0.45, 1.05), (2.55, 2.75), 0.39, "red", lift=0.06)
    worker = cylinder(0.24, 0.35, (0.75, 0.0, 2.95), "blue", sides=6) + ball(0.2, (0.75, 0.0, 3.4), "yellow", 6, 3)
    return chassis(-2.3, 2.3, [-1.4, 1.5]) + cab(2.3, "lime", 0.6, 1.1, 2.0) + lockers + arm + joints + basket + worker


def armoured_truck() -> Mesh:
    """A silver slab-sided safe on wheels: slits for windows, a navy stripe and a great gold coin."""
    shell = profile(
        [(-2.3, 0.45), (1.5, 0.45), (1.5, 1.35), (1.2, 2.3), (1.0, 2.45), (-2.1, 2.45), (-2.3, 2.25)],
        1.8,
        (0.0, 0.0, 0.0),
        "silver",
    )
    nose = profile([(1.4, 0.45), (2.3, 0.45), (2.3, 1.0), (1.5, 1.35), (1.4, 1.35)], 1.6, (0.0, 0.0, 0.0), "silver")
    stripe = side((-2.25, 1.45), (1.05, 1.3), 0.9, "navy") + front((-0.5, 0.5), (0.6, 0.9), 2.3, "dark")
    slits = side((0.6, 1.15), (1.6, 2.0), 0.9, "glass") + front((-0.75, 0.75), (1.55, 2.05), 1.44, "glass", 1.28)
    badge = disc(-0.75, 1.62, 0.9, 0.55, "gold") + disc(-0.75, 1.62, 0.94, 0.36, "amber") + back((-0.55, 0.55), (0.75, 2.0), -2.3, "navy")
    hatch = cylinder(0.35, 0.2, (-0.6, 0.0, 2.45), "charcoal", sides=8)
    return (
        chassis(-2.33, 2.33, [-1.4, 1.55], radius=0.46) + arches([-1.4], 0.9, 0.56, z=0.46) + shell + nose + stripe + slits + badge + hatch
    )


def _star(x: float, z: float, y: float, radius: float, paint: str) -> Mesh:
    """A five-pointed star on both flanks at ±y."""
    turn = [(radius * (0.42 if i % 2 else 1.0), radians(90 + 36 * i)) for i in range(-1, 10)]
    rim = [(x + r * cos(t), -y, z + r * sin(t)) for r, t in turn]
    return join([panel([(x, -y, z), *rim[i : i + 3]], paint) for i in range(0, 10, 2)]).both_sides()


def military_truck() -> Mesh:
    """Olive all over, with an arched canvas that bears a white star."""
    cover = canopy((-2.4, 0.55), (0.85, 2.6), "olive")
    hoops = join([canopy((x - 0.07, x + 0.07), (0.83, 2.63), "forest", 1.98) for x in (-2.3, 0.45)])
    star = _star(-0.92, 1.4, 0.96, 0.5, "white")
    return (
        chassis(-2.4, 2.4, [-1.6, -0.65, 1.6]) + cab(2.4, "olive", 0.8, 1.1, 2.05) + bed((-2.4, 0.6), "olive", 0.72) + cover + hoops + star
    )


def street_sweeper() -> Mesh:
    """A short orange machine with a glassy cab, a white tank, and round blue brushes at its chin and belly."""
    base = box((2.6, 1.74, 0.45), (-0.7, 0.0, 0.6), "orange") + box((1.2, 1.6, 0.55), (1.15, 0.0, 0.38), "orange")
    tank = profile([(-2.0, 1.05), (0.55, 1.05), (0.55, 2.05), (-1.3, 2.15), (-2.0, 1.6)], 1.8, (0.0, 0.0, 0.0), "white", 1.6)
    face = cabin((0.6, 1.75), (0.65, 1.4), (0.95, 2.15), (1.6, 1.4), "orange", pillars=())
    brushes = cylinder(0.55, 0.4, (1.9, 0.52, 0.02), "blue", sides=10, end=0.25).both_sides()
    roller = cylinder(0.38, 1.84, (-0.25, -0.92, 0.38), "blue", "y", 10)
    bends = [(0.3, 0.0, 2.14), (-1.3, 0.0, 2.25), (-2.12, 0.0, 1.65), (-2.12, 0.0, 0.5)]
    hose = join([rod(a, b, 0.13, "charcoal", 6) for a, b in pairwise(bends)])
    machine = chassis(-1.95, 1.75, [-1.35, 0.8], radius=0.36) + base + tank + face + brushes + roller + hose
    return centred(machine + beacon(0.95, 2.15, AMBER, 0.6))


def snow_plough() -> Mesh:
    """Orange behind a huge yellow wedge of a blade, with a heap of snow."""
    spine = [(2.9, 0.03), (3.05, 0.03), (2.85, 0.6), (3.3, 1.4), (3.15, 1.4), (2.7, 0.6)]
    blade = loft([[(x + s, y, z) for x, z in spine] for s, y in ((0.0, 0.0), (-0.85, 1.1))], "yellow")
    hopper = frustum((2.4, 1.4, 0.9), (2.8, 1.96), (-0.8, 0.0, 0.75), "charcoal")
    snow = ball((1.35, 0.95, 0.65), (-0.8, 0.0, 1.5), "white", 10, 3, 0.0)
    arms = rod((1.9, 0.4, 0.5), (2.4, 0.4, 0.5), 0.1, "dark")
    truck = chassis(-2.2, 2.0, [-1.35, 1.0], radius=0.46) + cab(2.0, "orange", roof=2.2) + hopper + snow
    return centred(truck + (blade + arms).both_sides() + beacon(1.3, 2.2, AMBER, 1.2))


KINDS: dict[str, Callable[[], Mesh]] = {
    "fire truck": fire_truck,
    "fire engine": fire_engine,
    "garbage truck": garbage_truck,
    "tow truck": tow_truck,
    "bucket truck": bucket_truck,
    "armoured truck": armoured_truck,
    "military truck": military_truck,
    "street sweeper": street_sweeper,
    "snow plough": snow_plough,
}
