"""The country comes to town: tractors, a combine, and carts drawn by a horse or pushed by hand."""

from __future__ import annotations

from math import cos, pi, sin

from simtown.assets.mesh import *


def _person(shirt: str, trousers: str, hat: str, seated: bool = False, reach: float = 0.45) -> Mesh:
    """A chunky person facing +x, hips over the origin, standing or seated on z = 0, arms `reach` forward."""
    hip = 0.0 if seated else 0.75
    trunk = frustum((0.36, 0.52, 0.62), (0.3, 0.46), (0.0, 0.0, hip), shirt)
    trunk += ball(0.21, (0.02, 0.0, hip + 0.82), "skin")
    trunk += cylinder(0.33, 0.06, (0.0, 0.0, hip + 0.88), hat, sides=8)
    trunk += cylinder(0.2, 0.16, (0.0, 0.0, hip + 0.93), hat, sides=8, end=0.15)
    hand = (reach, 0.2, hip + 0.3)
    arm = rod((0.0, 0.27, hip + 0.52), hand, 0.085, shirt, end=0.07) + ball(0.085, hand, "skin", 5, 2)
    if seated:
        limbs = arm + rod((0.0, 0.14, 0.08), (0.42, 0.16, 0.06), 0.12, trousers)
        limbs += rod((0.42, 0.16, 0.1), (0.46, 0.16, -0.36), 0.1, trousers)
        limbs += box((0.26, 0.16, 0.1), (0.52, 0.16, -0.42), "dark")
        return somebody(trunk, limbs.both_sides())
    legs = []
    for y, heel, toe in ((0.14, 0.22, 0.28), (-0.14, -0.2, -0.15)):
        legs.append(rod((0.0, y, 0.8), (heel, y, 0.06), 0.13, trousers, end=0.1))
        legs.append(box((0.28, 0.18, 0.1), (toe, y, 0.0), "dark"))
    return somebody(trunk, arm.both_sides(), legs)


def _tractor(paint: str, hub: str) -> Mesh:
    """Huge wheels behind, small ones before, a narrow bonnet with a chimney between; nobody drives it yet."""
    hood = body([(0.1, 0.42, 0.6, 1.3), (1.45, 0.38, 0.6, 1.2), (1.55, 0.3, 0.66, 1.1)], paint, 0.12)
    frame = box((2.4, 0.6, 0.4), (0.2, 0.0, 0.42), "charcoal")
    frame += front((-0.26, 0.26), (0.7, 1.06), 1.55, "charcoal")
    arc = [(-1.45, 1.1), (-1.2, 1.55), (-0.75, 1.7), (-0.3, 1.55), (-0.1, 1.1)]
    guards = join(profile(arc, 0.5, paint).at(y=y) for y in (-0.62, 0.62))
    pipe = rod((0.95, 0.28, 1.15), (0.95, 0.28, 2.0), 0.075, "dark", 6)
    tyres = wheel(-0.78, 0.68, 0.78, 0.44, hub).both_sides() + wheel(1.05, 0.6, 0.44, 0.3, hub).both_sides()
    lights = box((0.08, 0.2, 0.18), (1.55, 0.2, 1.0), "headlamp")
    lights += box((0.06, 0.16, 0.16), (-1.42, 0.62, 1.18), "taillamp")
    return hood + frame + guards + pipe + tyres + lights.both_sides()


def tractor() -> Mesh:
    """Green with yellow hubs: giant rear wheels, a glass cab under a green roof, an upright exhaust."""
    house = cabin((-1.15, 0.15), (-1.05, 0.0), (1.15, 2.1), (1.0, 0.9), "green", (0.55,))
    house += block((1.4, 1.2, 0.16), (-0.52, 0.0, 2.08), "green", 0.07)
    house += box((0.2, 0.2, 0.16), (-0.5, 0.0, 2.23), "beacon amber")
    return (_tractor("green", "yellow") + house).at(-0.05)


def hay_wagon() -> Mesh:
    """A small red tractor, its driver in blue, towing a wagon heaped with hay bales."""
    farmer = _person("blue", "navy", "sand", seated=True).at(-0.75, 0.0, 1.3)
    mule = (_tractor("red", "cream") + farmer).scaled(0.8).at(1.75)
    bed = box((2.9, 1.7, 0.42), (-1.5, 0.0, 0.6), "red") + side((-2.9, -0.1), (0.76, 0.86), 0.85, "cream")
    pole = rod((-0.1, 0.0, 0.6), (0.75, 0.0, 0.5), 0.07, "dark")
    ends = ((-2.88, -0.12), (-0.12, 0.12))
    racks = join(rod((x, y, 0.8), (x + d, y, 1.95), 0.07, "red") for x, d in ends for y in (-0.75, 0.75))
    rails = join(box((0.1, 1.6, 0.12), (x, 0.0, z), "red") for x in (-2.95, -0.05) for z in (1.35, 1.8))
    lower, upper, seams = (-2.38, -1.5, -0.62), (-1.95, -1.07), (-2.58, -2.18, -1.7, -1.3, -0.82, -0.42)
    bales = join(block((0.84, 1.66, 0.62), (x, 0.0, 0.92), "hay", 0.08) for x in lower)
    bales += join(block((0.84, 1.5, 0.6), (x, 0.0, 1.54), "hay", 0.08) for x in upper)
    bands = join(side((x - 0.05, x + 0.05), (0.94, 1.44), 0.83, "rust") for x in seams)
    heap = block((0.84, 1.2, 0.5), (-1.5, 0.0, 2.14), "hay", 0.12)
    tyres = join(wheel(x, 0.72, 0.38, 0.22, "cream", sides=12).both_sides() for x in (-2.4, -0.6))
    return mule + bed + pole + racks + rails + bales + bands + heap + tyres


def combine_harvester() -> Mesh:
    """Lime and tall: a wide red reel, a glass cab above it, a heaped tank and a spout over the tail."""
    rear = [(-2.2, 0.66, 1.0, 1.7), (-1.6, 0.74, 0.75, 2.2)]
    nose = [(1.1, 0.74, 0.75, 2.2), (1.2, 0.7, 0.8, 2.1)]
    hull = body(rear + nose, "lime", 0.1)
    belt = side((-1.5, 1.05), (1.5, 1.72), 0.74, "white") + side((-1.5, 1.05), (0.95, 1.2), 0.74, "charcoal")
    tank = frustum((1.6, 1.2, 0.45), (2.0, 1.7), (-0.55, 0.0, 2.15), "lime")
    tank += ball((0.9, 0.72, 0.35), (-0.55, 0.0, 2.56), "hay", 8, 2, 0.0)
    cab = cabin((0.6, 1.6), (0.65, 1.5), (1.45, 2.7), (1.36, 1.3), "lime", ())
    cab += block((1.15, 1.5, 0.16), (1.08, 0.0, 2.68), "white", 0.06)
    spout = rod((-0.2, 0.72, 2.3), (-2.1, 0.72, 2.9), 0.13, "lime", 6)
    spout += rod((-2.1, 0.72, 2.9), (-2.35, 0.72, 2.7), 0.15, "dark", 6)
    feed = profile([(1.1, 0.75), (1.1, 1.3), (2.1, 0.75), (2.1, 0.35)], 0.9, "charcoal")
    header = profile([(1.95, 0.14), (1.95, 1.0), (2.1, 1.0), (2.75, 0.14)], 2.16, "lime")
    turns = [pi * (i + 0.5) / 3 for i in range(6)]
    spin = [(2.45 + 0.5 * cos(t), 0.85 + 0.5 * sin(t)) for t in turns]
    bars = join(rod((x, -1.0, z), (x, 1.0, z), 0.07, "red") for x, z in spin)
    bars += rod((2.45, -1.0, 0.85), (2.45, 1.0, 0.85), 0.1, "red", 6)
    spokes = [((x, y, z), (2.9 - (x - 2.0), y, 1.7 - z)) for x, z in spin[:3] for y in (-1.0, 0.0, 1.0)]
    stars = join(rod(start, stop, 0.05, "red") for start, stop in spokes)
    tyres = wheel(0.75, 0.82, 0.68, 0.42, "red").both_sides()
    tyres += wheel(-1.6, 0.74, 0.46, 0.28, "red").both_sides()
    lights = box((0.06, 0.2, 0.14), (1.65, 0.5, 2.72), "headlamp")
    lights += box((0.06, 0.2, 0.16), (-2.2, 0.45, 1.4), "taillamp")
    machine = hull + belt + tank + cab + spout + feed + header + bars + stars + tyres + lights.both_sides()
    return machine.at(-0.3)


def draught_horse(coat: str, hair: str) -> Mesh:
    """A sturdy horse at a walk, its middle over the origin, facing +x; 2.2 m long."""
    croup = [(-0.85, 0.2, 1.05, 1.42), (-0.7, 0.33, 0.85, 1.56)]
    chest = [(0.0, 0.33, 0.82, 1.46), (0.55, 0.34, 0.82, 1.58), (0.78, 0.2, 1.0, 1.5)]
    trunk = body(croup + chest, coat, 0.2)
    neck = rod((0.5, 0.0, 1.25), (1.02, 0.0, 1.98), 0.33, coat, 6, 0.2)
    head = rod((0.92, 0.0, 2.05), (1.42, 0.0, 1.72), 0.21, coat, 6, 0.14)
    head += rod((1.36, 0.0, 1.75), (1.5, 0.0, 1.67), 0.16, "tan", 6, 0.12)
    ears = rod((0.95, 0.1, 2.15), (0.97, 0.13, 2.4), 0.08, coat, end=0.0).both_sides()
    outline = ((0.3, 1.5), (0.45, 1.45), (1.05, 2.2), (0.85, 2.3))
    mane = loft([[(x, y, z) for x, z in outline] for y in (-0.09, 0.09)], hair)
    tail = rod((-0.82, 0.0, 1.42), (-1.08, 0.0, 1.1), 0.1, hair, 5, 0.14)
    tail += rod((-1.08, 0.0, 1.1), (-1.1, 0.0, 0.6), 0.14, hair, 5, 0.04)
    parts = [trunk, neck, head, ears, mane, tail]
    for x, y, stride in ((-0.62, 0.2, -0.22), (-0.62, -0.2, 0.24), (0.55, 0.2, 0.26), (0.55, -0.2, -0.2)):
        knee, hoof = x + stride / 2, x + stride
        thigh = rod((x, y, 1.05), (knee, y, 0.5), 0.19, coat, 5, 0.12)
        shin = rod((knee, y, 0.52), (hoof, y, 0.14), 0.11, coat, 5, 0.1)
        parts += [thigh, shin, frustum((0.3, 0.26, 0.16), (0.2, 0.2), (hoof + 0.02, y, 0.0), "black")]
    return join(parts)


def horse_cart() -> Mesh:
    """A brown horse in red harness before a green cart of pumpkins; its driver wears a straw hat."""
    horse = draught_horse("wood", "black")
    collar = cylinder(0.42, 0.16, (0.0, 0.0, 0.0), "red", "x", 8).turned(-35, "y").at(0.52, 0.0, 1.32)
    harness = collar + box((0.14, 0.72, 0.62), (-0.15, 0.0, 0.95), "red")
    shafts = rod((0.6, 0.42, 1.12), (-1.9, 0.5, 0.85), 0.07, "green").both_sides()
    cart = box((1.9, 1.3, 0.2), (-2.5, 0.0, 0.74), "green")
    cart += box((0.1, 1.3, 0.86), (-3.42, 0.0, 0.94), "green")
    cart += box((1.95, 0.1, 0.86), (-2.5, 0.66, 0.94), "green").both_sides()
    cart += side((-3.45, -1.55), (1.66, 1.8), 0.71, "cream")
    seat = box((0.4, 1.2, 0.62), (-1.75, 0.0, 0.9), "green")
    heap = [(x, y, 1.76) for x in (-3.05, -2.4) for y in (0.32, -0.32)]
    load = join(ball((0.38, 0.36, 0.32), at, "orange", 7, 3) for at in [*heap, (-2.72, 0.0, 2.1)])
    driver = _person("blue", "charcoal", "sand", seated=True, reach=0.5).at(-1.75, 0.0, 1.42)
    lantern = rod((-3.3, 0.66, 1.3), (-3.3, 0.8, 1.42), 0.04, "dark")
    lantern += box((0.18, 0.18, 0.28), (-3.3, 0.82, 1.12), "lamp glow")
    reins = rod((-1.25, 0.2, 1.72), (0.95, 0.16, 1.85), 0.03, "black").both_sides()
    tyres = wheel(-2.6, 0.84, 0.58, 0.16, "cream", "brown").both_sides()
    whole = horse + harness + shafts + cart + seat + load + driver + lantern.both_sides() + reins + tyres
    return whole.at(1.0)


def _parasol(radius: float, height: float, paints: tuple[str, str], sides: int = 10) -> Mesh:
    """A striped parasol's cloth, its rim at z = 0."""
    turns = [2 * pi * i / sides for i in range(sides + 1)]
    rim = [(radius * cos(t), radius * sin(t), 0.0) for t in turns]
    tip, under = (0.0, 0.0, height), (0.0, 0.0, height * 0.6)
    return join(loft([[rim[i], rim[i + 1], under], [tip, tip, tip]], paints[i % 2]) for i in range(sides))


def street_food_cart() -> Mesh:
    """A small red cart with pans under a striped parasol, pushed by a cook in white."""
    bench = block((1.5, 0.95, 0.72), (0.35, 0.0, 0.38), "red", 0.06)
    bench += box((1.7, 1.1, 0.09), (0.35, 0.0, 1.08), "silver")
    sign = side((-0.2, 0.9), (0.58, 0.92), 0.475, "cream")
    sign += side((0.0, 0.7), (0.68, 0.8), 0.475, "orange", lift=0.03)
    sign += front((-0.35, 0.35), (0.55, 0.92), 1.1, "cream")
    sign += back((-0.35, 0.35), (0.55, 0.92), -0.4, "cream")
    pans = cylinder(0.24, 0.26, (0.75, 0.0, 1.17), "charcoal", sides=8)
    pans += top((0.0, 0.45), (-0.4, 0.4), 1.17, "amber")
    pans += join(ball(0.13, (0.75 + x, y, 1.45), "orange", 6, 2) for x, y in ((0.08, 0.06), (-0.08, -0.05)))
    shade = rod((0.35, 0.0, 1.1), (0.35, 0.0, 2.5), 0.06, "trim", 6)
    shade += _parasol(1.1, 0.55, ("crimson", "cream")).at(0.35, 0.0, 2.25)
    handle = rod((-0.35, 0.36, 0.9), (-0.85, 0.36, 1.05), 0.05, "dark").both_sides()
    handle += rod((-0.85, -0.46, 1.05), (-0.85, 0.46, 1.05), 0.07, "wood")
    tyres = wheel(0.35, 0.56, 0.38, 0.12, "gold").both_sides()
    legs = rod((-0.2, 0.35, 0.4), (-0.2, 0.35, 0.1), 0.06, "dark").both_sides()
    lantern = box((0.2, 0.2, 0.3), (0.1, -0.3, 1.17), "lamp glow")
    lantern += box((0.12, 0.12, 0.08), (0.1, -0.3, 1.47), "dark")
    cook = _person("white", "navy", "white", reach=0.42).at(-1.28)
    return (bench + sign + pans + shade + handle + tyres + legs + lantern.both_sides() + cook).at(0.08)


KINDS: dict[str, VehicleKind] = {
    "tractor": VehicleKind(tractor, body="green"),
    "combine harvester": VehicleKind(combine_harvester, body="lime"),
    "hay wagon": VehicleKind(hay_wagon, body="red"),
    "horse cart": VehicleKind(horse_cart, body="green"),
    "street-food cart": VehicleKind(street_food_cart, body="red"),
}
