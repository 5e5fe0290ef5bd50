"""Working machines: earth movers, rollers, lifters and the small machines of rinks, lawns and airports."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi, sin

from simtown.assets.mesh import *
from simtown.assets.vehicles.cycles import rider


def _tracks(
    length: float, height: float, width: float, gauge: float, rollers: int = 4, hub: str = "hub"
) -> Mesh:
    """A pair of crawler tracks on the ground, outer faces `gauge` metres apart, with wheels inside them."""
    a, b = length / 2, height / 2
    ends = [(pi * (turn + i / 5 - 0.5), (1 - 2 * turn) * (a - b)) for turn in (0, 1) for i in range(6)]
    outline = [(x + b * cos(t), b + b * sin(t)) for t, x in ends]
    belt = profile(outline, width, "tyre", y=gauge / 2 - width / 2)
    xs = [b - a + (length - height) / (rollers - 1) * i for i in range(rollers)]
    return join(belt, [cylinder(b * 0.66, 0.05, (x, gauge / 2, b), hub, "y") for x in xs]).both_sides()


def _house(size: Point, at: Point, paint: str, roof: str = "") -> Mesh:
    """A driver's upright cab with glass all round, (length, width, height) `at` the middle of its floor."""
    (x, y, z), (u, v, w) = size, at
    base, crest = (u - x / 2, u + x / 2), (u - x / 2 + 0.06, u + x / 2 - 0.1)
    glass = cabin(base, crest, (w, w + z), (y, y * 0.9), paint).at(0.0, v)
    return glass + box((x, y, 0.1), (u - 0.02, v, w + z), roof or paint)


def _slab(line: Sequence[Span], thick: float, width: float, paint: str, y: float = 0.0) -> Mesh:
    """A bent plate: a blade, a bucket's back, an arm of a digger, following (x, z) spots."""
    parts = []
    for (x0, z0), (x1, z1) in pairwise(line):
        n = ((x1 - x0) ** 2 + (z1 - z0) ** 2) ** 0.5
        u, w = -(z1 - z0) / n * thick / 2, (x1 - x0) / n * thick / 2
        outline = [(x0 - u, z0 - w), (x1 - u, z1 - w), (x1 + u, z1 + w), (x0 + u, z0 + w)]
        parts.append(profile(outline, width, paint, y=y))
    return join(parts)


def _bucket(x: float, z: float, reach: float, height: float, width: float) -> Mesh:
    """A loader's shovel with its back at x, opening forward."""
    spine = [(x - 0.1 * reach, z + height * 0.5), (x + 0.1 * reach, z + height)]
    shell = _slab([(x + reach, z), (x, z), *spine], 0.1, width, "charcoal")
    cheek = [(x + reach, z), (x, z), (x, z + height), (x + reach * 0.2, z + height)]
    return shell + profile(cheek, 0.08, "charcoal", y=width / 2 - 0.04).both_sides()


def _work_lamps(x: float, y: float, z: float) -> Mesh:
    """A pair of lamps that shine forward, their faces at x, `y` metres either side of the middle."""
    return box((0.1, 0.22, 0.18), (x, y, z), "headlamp").both_sides()


def _flasher(x: float, z: float) -> Mesh:
    """An amber lamp on a roof."""
    return box((0.2, 0.2, 0.2), (x, 0.0, z), "beacon amber")


def bulldozer() -> Mesh:
    """Yellow on two crawler tracks, behind a steel blade as wide as itself."""
    hull = _tracks(2.7, 0.78, 0.42, 1.75) + box((2.2, 0.9, 0.5), (0.0, 0.0, 0.4), "charcoal")
    hull += block((1.5, 0.95, 0.75), (0.55, 0.0, 0.75), "yellow", 0.12)
    grille = front((-0.35, 0.35), (0.85, 1.35), 1.3, "dark") + side((0.1, 1.0), (0.95, 1.2), 0.475, "dark")
    cab = block((1.0, 1.25, 0.5), (-0.57, 0.0, 0.75), "yellow", 0.08)
    cab += _house((0.95, 1.2, 0.75), (-0.6, 0.0, 1.22), "yellow")
    pipe = cylinder(0.1, 0.75, (0.75, 0.25, 1.45), "dark", sides=6)
    blade = _slab([(2.02, 0.06), (1.76, 0.42), (1.8, 0.95), (2.05, 1.35)], 0.14, 2.15, "silver")
    blade += _slab([(2.05, 0.04), (1.97, 0.18)], 0.16, 2.17, "orange")
    arms = rod((0.2, 0.93, 0.45), (1.75, 0.85, 0.4), 0.1, "yellow").both_sides()
    ripper = box((0.5, 0.3, 0.2), (-1.3, 0.0, 0.5), "yellow")
    ripper += rod((-1.5, 0.0, 0.7), (-1.6, 0.0, 0.1), 0.09, "dark", end=0.04)
    return centred(hull, grille, cab, pipe, blade, arms, ripper, _work_lamps(-0.12, 0.42, 1.9))


def excavator() -> Mesh:
    """An orange house turning on tracks, its long bent boom and stick ending in a bucket."""
    deck = _tracks(2.7, 0.68, 0.46, 1.85).at(-0.2) + box((1.4, 1.0, 0.35), (-0.2, 0.0, 0.4), "charcoal")
    deck += cylinder(0.5, 0.15, (-0.2, 0.0, 0.72), "dark", sides=8)
    rear = [(-1.65, 0.6, 0.95, 1.5), (-1.4, 0.85, 0.85, 1.65)]
    nose = [(-0.4, 0.85, 0.85, 1.65), (0.6, 0.85, 0.85, 1.05)]
    house = body(rear + nose, "orange", 0.1)
    house += join(_house((1.0, 0.72, 0.95), (0.1, y, 1.05), "orange") for y in (0.46, -0.46))
    weight = box((0.1, 1.2, 0.5), (-1.68, 0.0, 1.0), "charcoal")
    weight += side((-1.3, -0.5), (1.1, 1.3), 0.85, "charcoal")
    boom = _slab([(0.3, 1.2), (0.95, 2.75), (2.0, 3.25)], 0.44, 0.36, "orange")
    boom += _slab([(1.85, 3.3), (2.75, 1.7)], 0.34, 0.3, "orange")
    rams = rod((0.75, 0.0, 1.5), (1.35, 0.0, 2.75), 0.07, "hub")
    rams += rod((1.2, 0.0, 3.15), (2.1, 0.0, 3.35), 0.07, "hub")
    scoop = [(2.9, 1.75), (3.0, 1.3), (2.75, 0.95), (2.3, 0.9)]
    shovel = _slab(scoop, 0.1, 0.75, "charcoal") + profile(scoop, 0.06, "charcoal", y=0.36).both_sides()
    lights = _work_lamps(0.6, 0.46, 1.06) + _flasher(-1.2, 1.62)
    return centred(deck, house, weight, boom, rams, shovel, lights)


def backhoe_loader() -> Mesh:
    """A yellow tractor with a low shovel in front, a folded digging arm behind and big rear wheels."""
    hull = block((1.7, 0.9, 0.6), (0.85, 0.0, 0.6), "yellow", 0.12)
    hull += box((1.2, 1.1, 0.75), (-0.55, 0.0, 0.45), "yellow")
    cab = _house((1.2, 1.25, 0.95), (-0.45, 0.0, 1.2), "black", "yellow")
    marks = side((0.2, 1.5), (0.75, 0.95), 0.45, "black") + front((-0.3, 0.3), (0.7, 1.05), 1.7, "dark")
    shovel = _slab([(0.35, 1.15), (1.5, 0.95), (2.0, 0.4)], 0.16, 0.14, "yellow", 0.56).both_sides()
    shovel += _bucket(2.1, 0.08, 0.6, 0.65, 1.8)
    arm = _slab([(-1.15, 0.7), (-1.7, 2.5)], 0.26, 0.24, "yellow")
    arm += _slab([(-1.6, 2.55), (-2.4, 1.15)], 0.22, 0.2, "yellow")
    arm += _slab([(-2.45, 1.2), (-2.6, 0.8), (-2.35, 0.5), (-1.95, 0.55)], 0.14, 0.6, "charcoal")
    foot = rod((-1.2, 0.35, 0.7), (-1.35, 0.8, 0.12), 0.08, "black")
    foot += box((0.3, 0.3, 0.08), (-1.35, 0.8, 0.05), "black")
    tyres = wheels([-0.6], 1.75, 0.58, 0.4, "cream") + wheels([1.15], 1.5, 0.38, 0.3, "cream")
    lights = _work_lamps(0.17, 0.45, 2.12)
    return centred(hull, cab, marks, shovel, arm, foot.both_sides(), tyres, lights)


def wheel_loader() -> Mesh:
    """Amber and white on four tall wheels, its huge shovel of earth held high in front."""
    tail = [(-2.0, 0.6, 0.6, 1.3), (-1.8, 0.7, 0.55, 1.45)]
    nose = [(-0.7, 0.7, 0.55, 1.5), (0.1, 0.6, 0.55, 1.1)]
    rear = body(tail + nose, "amber", 0.12) + side((-1.7, -0.8), (1.0, 1.28), 0.7, "charcoal")
    rear += back((-0.4, 0.4), (0.8, 1.2), -2.0, "dark")
    cab = _house((0.95, 1.15, 0.95), (-0.3, 0.0, 1.45), "white", "amber")
    hinge = box((1.0, 0.8, 0.75), (0.7, 0.0, 0.5), "charcoal")
    arms = _slab([(0.55, 1.1), (1.3, 1.5), (1.95, 1.45)], 0.24, 0.18, "amber", 0.4).both_sides()
    arms += rod((0.7, 0.0, 0.9), (1.9, 0.0, 1.9), 0.1, "hub")
    shovel = _bucket(2.0, 1.2, 0.8, 0.85, 2.0)
    earth = ball((0.8 * 0.7, 0.92, 0.6375), (2.36, 0.0, 1.4975), "brown", 9, 3, 0.0)
    lights = _work_lamps(0.2, 0.4, 2.34) + _flasher(-0.5, 2.5)
    tyres = wheels([-1.2, 0.85], 1.85, 0.55, 0.45, "cream")
    return centred(rear, cab, hinge, arms, shovel, earth, lights, tyres)


def road_roller() -> Mesh:
    """Two broad bright steel drums, one before and one behind, under a yellow body with a white canopy."""
    drum = cylinder(0.66, 1.7, (0.0, -0.85, 0.66), "silver", "y", 16)
    drum += cylinder(0.24, 1.9, (0.0, -0.95, 0.66), "charcoal", "y", 8)
    yoke = rod((0.0, 0.93, 0.66), (-0.5, 0.75, 1.3), 0.1, "charcoal").both_sides()
    ends = (drum + yoke).at(1.2) + (drum + yoke.turned(180)).at(-1.2)
    hull = box((0.8, 1.1, 0.8), (0.0, 0.0, 0.4), "charcoal")
    hull += join(block((1.25, 1.5, 0.45), (x, 0.0, 1.32), "yellow", 0.12) for x in (1.05, -1.05))
    hull += box((1.0, 1.5, 0.3), (0.0, 0.0, 1.12), "yellow")
    roof = box((1.75, 1.5, 0.14), (0.0, 0.0, 2.5), "white")
    posts = [rod((x, 0.62, 1.4), (x, 0.62, 2.5), 0.05, "charcoal").both_sides() for x in (-0.7, 0.7)]
    hip, hand, foot = (-0.25, 1.56), (0.4, 1.8), (0.35, 1.42)
    driver = rider(hip, hand, foot, "blue", "navy", "orange", lean=2, size=0.8)
    return centred(ends, hull, roof, posts, driver, lamps(1.68, -1.68, 0.5, 1.5))


def forklift() -> Mesh:
    """A tall dark mast in front carries a crate on two forks; a stubby red body and driver behind it."""
    tail = [(-1.1, 0.5, 0.3, 0.85), (-0.95, 0.6, 0.2, 1.0), (-0.4, 0.6, 0.2, 1.0)]
    hull = body([*tail, (-0.3, 0.6, 0.2, 0.6), (0.6, 0.6, 0.2, 0.6)], "red", 0.1)
    posts = [rod((x, 0.5, 0.6), (u, 0.48, 1.95), 0.05, "charcoal") for x, u in ((-0.75, -0.65), (0.55, 0.4))]
    guard = join(post.both_sides() for post in posts) + box((1.25, 1.1, 0.08), (-0.12, 0.0, 1.93), "charcoal")
    mast = box((0.14, 0.14, 2.5), (0.75, 0.36, 0.1), "charcoal").both_sides()
    mast += join(box((0.12, 0.7, 0.12), (0.75, 0.0, z), "charcoal") for z in (0.3, 1.3, 2.45))
    forks = box((1.0, 0.14, 0.08), (1.32, 0.28, 0.78), "steel").both_sides()
    forks += box((0.08, 0.95, 0.5), (0.86, 0.0, 0.75), "steel")
    crate = box((0.85, 1.0, 0.7), (1.36, 0.0, 0.87), "tan") + side((0.95, 1.77), (1.12, 1.3), 0.5, "wood")
    crate += front((-0.5, 0.5), (1.12, 1.3), 1.785, "wood")
    driver = rider((-0.3, 1.08), (0.35, 1.2), (0.3, 0.62), "blue", "navy", "yellow", size=0.75)
    gear = wheels([0.5], 1.3, 0.34, 0.26) + wheels([-0.72], 1.25, 0.28, 0.24)
    gear += lamps(0.62, -1.1, 0.42, 0.45, 0.12)
    return centred(hull, guard, mast, forks, crate, driver, gear)


def tank() -> Mesh:
    """A green hull low between long tracks, a round turret with a long gun."""
    rear = [(-1.9, 0.7, 0.45, 0.95), (-1.7, 0.85, 0.35, 1.05)]
    nose = [(1.1, 0.85, 0.35, 1.05), (1.95, 0.8, 0.55, 0.76)]
    hull = _tracks(3.9, 0.85, 0.5, 2.1, 5, "forest") + body(rear + nose, "olive", 0.08)
    hull += box((3.5, 0.5, 0.12), (-0.05, 0.8, 0.86), "forest").both_sides()
    patch = top((-1.6, -0.9), (-0.9, 0.2), 1.05, "forest") + side((-1.2, -0.2), (0.87, 0.97), 1.05, "olive")
    turret = cylinder(0.9, 0.58, (-0.2, 0.0, 1.05), "olive", sides=14, end=0.68).scaled(1.15, 0.95, 1.0)
    turret += cylinder(0.3, 0.16, (-0.45, 0.25, 1.6), "forest", sides=8)
    gun = cylinder(0.24, 0.5, (0.4, 0.0, 1.32), "forest", "x", 8)
    gun += cylinder(0.14, 1.7, (0.9, 0.0, 1.32), "olive", "x", 8)
    gun += cylinder(0.2, 0.3, (2.45, 0.0, 1.32), "forest", "x", 8)
    soldier = ball(0.2, (-0.45, 0.25, 1.95), "skin", 7) + ball(0.24, (-0.45, 0.25, 1.97), "forest", 7, 2, 0.0)
    soldier += box((0.3, 0.4, 0.2), (-0.45, 0.25, 1.7), "forest")
    aerial = rod((-0.95, -0.4, 1.5), (-1.2, -0.4, 2.5), 0.03, "dark")
    return centred(hull, patch, turret, gun, somebody(soldier), aerial, _work_lamps(1.78, 0.62, 0.88))


def ice_resurfacer() -> Mesh:
    """A tall white snow box that slopes to the nose, its driver behind it, a sledge on the ice."""
    tub = profile([(-1.2, 0.35), (1.75, 0.35), (1.75, 0.75), (-1.2, 0.75)], 1.6, "navy")
    tub += profile([(-0.35, 0.75), (1.75, 0.75), (1.65, 1.15), (0.75, 1.75), (-0.35, 1.75)], 1.6, "sky", 1.5)
    snow = ball((0.52, 0.68, 0.42), (0.2, 0.0, 1.74), "white", 9, 3, 0.0)
    wave = side((-0.35, 1.7), (0.78, 1.02), 0.8, "white", 0.785)
    wave += front((-0.75, 0.75), (0.78, 1.02), 1.75, "white", 1.68)
    seat = box((0.9, 1.4, 0.35), (-0.85, 0.0, 0.75), "navy")
    seat += box((0.14, 0.6, 0.6), (-1.15, 0.0, 1.1), "white")
    driver = rider((-0.82, 1.3), (-0.35, 1.6), (-0.42, 1.1), "red", "charcoal", "red")
    sledge = frustum((0.6, 1.9, 0.5), (0.4, 1.6), (-1.6, 0.0, 0.06), "charcoal", 0.1)
    sledge += box((0.62, 1.94, 0.1), (-1.6, 0.0, 0.02), "amber")
    gear = wheels([-0.7, 1.15], 1.7, 0.36, 0.26) + lamps(1.75, -1.25, 0.6, 0.45)
    return centred(tub, snow, wave, seat, driver, sledge, gear)


def lawn_mower() -> Mesh:
    """A tiny orange seat over a broad yellow cutting deck, a huge bag of grass, a rider in a straw hat."""
    tail = [(0.1, 0.32, 0.4, 0.76), (0.4, 0.36, 0.38, 0.84)]
    nose = [(0.78, 0.33, 0.38, 0.76), (0.94, 0.24, 0.42, 0.62)]
    hood = body(tail + nose, "orange", 0.12)
    rear = block((0.9, 1.16, 0.2), (-0.48, 0.0, 0.66), "orange", 0.08)
    rear += box((0.7, 0.5, 0.3), (-0.45, 0.0, 0.38), "charcoal")
    rear += box((0.1, 0.5, 0.45), (-0.66, 0.0, 0.74), "black")
    deck = frustum((0.9, 1.4, 0.26), (0.64, 1.2), (0.16, 0.0, 0.1), "yellow")
    deck += box((0.4, 0.6, 0.4), (-0.1, 0.0, 0.2), "charcoal")
    bag = frustum((0.62, 0.94, 0.5), (0.73, 1.03), (-1.2, 0.0, 0.34), "orange", -0.05)
    bag += frustum((0.74, 1.05, 0.45), (0.86, 1.14), (-1.25, 0.0, 0.84), "white", -0.05)
    grass = ball((0.41, 0.55, 0.42), (-1.3, 0.0, 1.26), "lime", 9, 3, 0.0)
    pipe = rod((-0.1, -0.55, 0.3), (-0.85, -0.5, 1.0), 0.14, "charcoal", 6).both_sides()
    tiller = rod((0.2, 0.0, 0.78), (0.02, 0.0, 1.14), 0.05, "dark")
    tiller += cylinder(0.2, 0.05, (0.02, 0.0, 1.12), "dark", sides=8)
    hip, hand, foot = (-0.4, 0.96), (0.02, 1.18), (0.22, 0.52)
    gardener = rider(hip, hand, foot, "red", "blue", "hay", lean=4, stance=0.26)
    hat = cylinder(0.5, 0.05, (-0.31, 0.0, 1.74), "hay", sides=12)
    tyres = wheels([-0.5], 1.15, 0.36, 0.28, "cream") + wheels([0.72], 0.95, 0.24, 0.2, "cream")
    lights = lamps(0.92, -1.5, 0.15, 0.56, 0.1)
    return centred(hood, rear, deck, bag, grass, pipe, tiller, gardener, hat, tyres, lights)


def _luggage_cart(x: float, cases: Sequence[str]) -> Mesh:
    """An airport cart at x, its end walls and canopy yellow, piled with suitcases."""
    cart = box((1.6, 1.2, 0.2), (x, 0.0, 0.34), "yellow") + box((1.7, 1.28, 0.14), (x, 0.0, 1.6), "yellow")
    cart += join(box((0.08, 1.16, 1.1), (x + s * 0.76, 0.0, 0.52), "yellow") for s in (-1, 1))
    spots = [(-0.49, 0.54, 0.62), (0.01, 0.54, 0.45), (0.5, 0.54, 0.7), (0.0, 0.99, 0.4)]
    for (u, z, height), paint in zip(spots, cases, strict=True):
        cart += box((0.46, 1.06, height), (x + u, 0.0, z), paint)
    cart += wheels([x - 0.5, x + 0.5], 1.16, 0.23, 0.16)
    return cart + rod((x + 0.8, 0.0, 0.35), (x + 1.1, 0.0, 0.35), 0.05, "dark")


def luggage_tug() -> Mesh:
    """A little yellow airport tug towing two yellow-roofed carts of bright suitcases."""
    rear = [(1.35, 0.55, 0.25, 0.7), (1.45, 0.6, 0.2, 0.75), (2.05, 0.6, 0.2, 0.75)]
    nose = [(2.15, 0.6, 0.2, 0.95), (2.85, 0.58, 0.2, 0.88), (2.95, 0.5, 0.3, 0.75)]
    hull = body(rear + nose, "yellow", 0.08)
    stripe = side((2.2, 2.85), (0.5, 0.66), 0.6, "black") + side((1.5, 2.0), (0.5, 0.66), 0.6, "black")
    driver = rider((1.65, 0.85), (2.1, 1.1), (2.1, 0.72), "lime", "navy", "navy", size=0.85)
    tiller = rod((2.3, 0.0, 0.9), (2.1, 0.0, 1.15), 0.05, "dark")
    tyres = wheels([1.7, 2.55], 1.3, 0.28, 0.22, "cream")
    carts = _luggage_cart(0.1, ("red", "blue", "purple", "orange"))
    carts += _luggage_cart(-1.9, ("teal", "magenta", "brown", "amber"))
    return centred(hull, stripe, driver, tiller, tyres, carts, lamps(2.94, 1.36, 0.35, 0.55, 0.14))


KINDS: dict[str, VehicleKind] = {
    "excavator": VehicleKind(excavator, body="orange"),
    "bulldozer": VehicleKind(bulldozer, body="yellow"),
    "forklift": VehicleKind(forklift, body="red"),
    "road roller": VehicleKind(road_roller, body="yellow"),
    "tank": VehicleKind(tank, body="olive"),
    "wheel loader": VehicleKind(wheel_loader, body="amber"),
    "backhoe loader": VehicleKind(backhoe_loader, body="yellow"),
    "ice resurfacer": VehicleKind(ice_resurfacer, body="sky"),
    "lawn mower": VehicleKind(lawn_mower, body="orange"),
    "luggage tug": VehicleKind(luggage_tug, body="yellow"),
}
