"""Trucks: the common cab and chassis, and the bodies that haul and build.

For those of the town's services see service.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi, sin

from simtown.assets.mesh import *


def chassis(tail: float, nose: float, axles: Sequence[float], radius: float = 0.4) -> Mesh:
    """A frame between two x with bumpers, lamps and wheels at `axles`, the rear ones first."""
    frame = box((nose - tail - 0.1, 1.1, 0.35), ((nose + tail) / 2, 0.0, 0.4), "dark")
    frame += box((0.2, 1.84, 0.24), (nose - 0.03, 0.0, 0.3), "silver")
    frame += box((0.12, 1.7, 0.26), (tail + 0.08, 0.0, 0.47), "dark")
    frame += lamps(nose + 0.01, tail, 0.62, 0.6, 0.2, 0.5)
    return frame + wheels(axles, 1.94, radius, 0.32) + arches(axles[-1:], 0.9, radius + 0.1, z=radius)


def lid(x: Span, z: Span, width: float, paint: str) -> Mesh:
    """A roof between two x and two z, rounded over its edges in two steps. 20 triangles."""
    (x0, x1), (low, high), half = x, z, width / 2
    loops = []
    for c, h in ((0.0, low), (0.02, low + 0.5 * (high - low)), (0.16, high)):
        corners = [(x0 + c, c - half), (x1 - c, c - half), (x1 - c, half - c), (x0 + c, half - c)]
        loops.append([(x, y, h) for x, y in corners])
    return loft(loops, paint)


def cab(nose: float, paint: str, bonnet: float = 0.0, depth: float = 1.25, roof: float = 2.1) -> Mesh:
    """A driver's cab with its face at x = nose, or behind `bonnet` metres of engine."""
    face = nose - bonnet
    rear = face - depth
    flank = [(rear, 0.9, 0.45, 1.25), (face - 0.3, 0.9, 0.45, 1.25)]
    shell = body([*flank, (face - 0.07, 0.86, 0.45, 1.22), (face, 0.74, 0.48, 1.16)], paint)
    if bonnet:
        hood = [(face - 0.05, 0.82, 0.45, 1.26), (nose - 0.3, 0.78, 0.45, 1.18)]
        tip = [(nose - 0.08, 0.74, 0.45, 1.06), (nose, 0.6, 0.5, 0.94)]
        shell += body(hood + tip, paint, 0.14)
    base, crest = (rear, face - 0.03), (rear + 0.04, face - 0.26)
    house = cabin(base, crest, (1.2, roof - 0.1), (1.76, 1.6), paint, pillars=())
    crown = lid((rear - 0.02, face - 0.16), (roof - 0.12, roof + 0.06), 1.68, paint)
    return shell + house + crown + front((-0.42, 0.42), (0.56, 0.9), nose, "dark")


def truck(
    tail: float,
    nose: float,
    axles: Sequence[float],
    paint: str,
    bonnet: float = 0.0,
    depth: float = 1.25,
    roof: float = 2.1,
    radius: float = 0.4,
) -> Mesh:
    """A chassis with a cab and no load."""
    return chassis(tail, nose, axles, radius) + cab(nose, paint, bonnet, depth, roof)


def crate(x: Span, z: Span, paint: str, width: float = 1.96, bevel: float = 0.12) -> Mesh:
    """A box body with softened edges between two x and two z."""
    return block((x[1] - x[0], width, z[1] - z[0]), ((x[0] + x[1]) / 2, 0.0, z[0]), paint, bevel)


def canopy(x: Span, z: Span, paint: str, width: float = 1.92) -> Mesh:
    """An arched cover across the truck, upright to two thirds of its height."""
    (low, high), half = z, width / 2
    knee = low + 0.66 * (high - low)
    arch = [(-half * cos(pi * i / 8), knee + (high - knee) * sin(pi * i / 8)) for i in range(9)]
    return loft([[(end, a, b) for a, b in [(-half, low), *arch, (half, low)]] for end in x], paint)


def slant(x: Span, z: Span, shift: float, y: float, paint: str) -> Mesh:
    """A leaning stripe on both flanks at ±y, its upper end moved forward by `shift`."""
    return side(x, z, y, paint, x_top=(x[0] + shift, x[1] + shift))


def disc(x: float, z: float, y: float, radius: float, paint: str, proud: float = 0.04) -> Mesh:
    """A round badge on both flanks at ±y."""
    return cylinder(radius, proud, (x, y, z), paint, "y").both_sides()


def drum(stations: Sequence[Span], paints: Sequence[str], sides: int = 16, lean: float = 0.0) -> Mesh:
    """A turned body along x through (x, radius) stations, a paint between each two, slanted by `lean`."""
    turn = [(cos(2 * pi * (i + 0.5) / sides), sin(2 * pi * (i + 0.5) / sides)) for i in range(sides)]
    parts = []
    for i, ((x0, r0), (x1, r1)) in enumerate(pairwise(stations)):
        loops = [[(x + lean * r * s, r * c, r * s) for c, s in turn] for x, r in ((0.0, r0), (x1 - x0, r1))]
        parts.append(loft(loops, paints[i % len(paints)], caps=i in (0, len(stations) - 2)).at(x0))
    return join(parts)


def _lattice(
    start: Span, stop: Span, width: float, depth: float, paint: str, bays: int, radius: float
) -> Mesh:
    """A crane's boom between two (x, z) spots: four rails, `depth` apart at the start, zigzags and rungs."""
    (x0, z0), (x1, z1), y, thin = start, stop, width / 2, radius * 0.8
    along = [(x0 + (x1 - x0) * i / bays, z0 + (z1 - z0) * i / bays) for i in range(bays + 1)]
    spots = [(x, z, depth * (1 - 0.5 * i / bays)) for i, (x, z) in enumerate(along)]
    (a, b, c), (p, q, r) = spots[0], spots[-1]
    parts = [rod((a, y, b), (p, y, q), radius, paint), rod((a, y, b + c), (p, y, q + r), radius, paint)]
    for i, ((u, v, h), (s, t, k)) in enumerate(pairwise(spots)):
        rise = (0.0, k) if i % 2 == 0 else (h, 0.0)
        parts.append(rod((u, y, v + rise[0]), (s, y, t + rise[1]), thin, paint))
    return join(parts).both_sides() + join(rod((s, -y, t), (s, y, t), thin, paint) for s, t, _ in spots)


def slats(x: Span, z: Span, paint: str, posts: str, height: float = 0.2) -> Mesh:
    """Open wooden sides: boards at two z on the flanks and both ends, on posts."""
    (x0, x1), mid = x, (x[0] + x[1]) / 2
    boards = join(box((x1 - x0, 0.07, height), (mid, 0.93, h), paint).both_sides() for h in z)
    ends = [box((0.07, 1.86, height), (end, 0.0, h), paint) for h in z for end in (x0 + 0.04, x1 - 0.04)]
    post = (0.12, 0.14, z[1] + height - z[0] + 0.08)
    stands = join(box(post, (s, 0.93, z[0] - 0.03), posts) for s in (x0 + 0.1, mid, x1 - 0.1))
    return join(boards, ends, stands.both_sides())


def bed(x: Span, paint: str, z: float = 0.75, wall: float = 0.0, y: float = 0.96) -> Mesh:
    """A load floor 12 cm thick, with drop sides `wall` metres high where asked."""
    (x0, x1), mid = x, (x[0] + x[1]) / 2
    load = box((x1 - x0, 2 * y, 0.12), (mid, 0.0, z), paint)
    if wall:
        load += box((x1 - x0, 0.08, wall), (mid, y - 0.04, z + 0.12), paint).both_sides()
        ends = (x0 + 0.04, x1 - 0.04)
        load += join(box((0.08, 2 * y - 0.16, wall), (end, 0.0, z + 0.12), paint) for end in ends)
    return load


def red_truck() -> Mesh:
    """Red all over: a flat-faced cab and a tall closed box, clean but for one broad white stripe."""
    load = crate((-2.4, 0.95), (0.72, 2.75), "red", 1.96, 0.16)
    load += side((-2.3, 0.85), (1.45, 1.85), 0.98, "white")
    load += back((-0.86, 0.86), (1.45, 1.85), -2.4, "white")
    return truck(-2.4, 2.4, [-1.4, 1.55], "red") + load


def blue_truck() -> Mesh:
    """Blue with a long bonnet and low open stakes, pale sacks heaped between them."""
    load = bed((-2.35, 0.35), "blue") + slats((-2.35, 0.35), (0.95, 1.3), "blue", "navy")
    spots = [(x, y, 1.22) for x in (-1.8, -1.0, -0.2) for y in (-0.42, 0.42)]
    sacks = [ball((0.44, 0.5, 0.5), at, "cream", 7, 3, -0.6) for at in spots]
    heap = [ball((0.44, 0.5, 0.4), (x, 0.0, 1.68), "sand", 7, 3, -0.4) for x in (-1.4, -0.6)]
    return join(truck(-2.4, 2.4, [-1.4, 1.6], "blue", 0.8, 1.15), load, sacks, heap)


def green_truck() -> Mesh:
    """Green with an arched green cover and white hoops."""
    load = bed((-2.4, 0.9), "green") + canopy((-2.35, 0.85), (0.85, 2.6), "green")
    hoops = join(canopy((x - 0.11, x + 0.11), (0.83, 2.64), "white", 1.97) for x in (-2.2, -0.75, 0.7))
    return truck(-2.4, 2.4, [-1.4, 1.55], "green", roof=2.0) + load + hoops


def yellow_truck() -> Mesh:
    """Yellow with low drop sides and a load of blue barrels, each with a white band."""
    spots = [(x, y) for x in (-1.85, -1.0, -0.15) for y in (-0.45, 0.45)]
    barrels = [cylinder(0.38, 1.05, (x, y, 0.87), "blue") for x, y in spots]
    bands = [cylinder(0.395, 0.2, (x, y, 1.42), "white") for x, y in spots]
    load = bed((-2.4, 0.9), "yellow", wall=0.4)
    return join(truck(-2.4, 2.4, [-1.4, 1.55], "yellow"), load, barrels, bands)


def box_truck() -> Mesh:
    """A tall white box with a big orange arrow behind a blue cab."""
    load = crate((-2.4, 1.0), (0.75, 2.8), "white", 2.0) + side((-2.3, 0.9), (0.75, 1.0), 1.0, "blue")
    arrow = side((-1.9, -0.2), (1.65, 2.0), 1.0, "orange")
    arrow += slant((-0.6, 0.0), (1.825, 2.45), -0.35, 1.0, "orange")
    arrow += slant((-0.95, -0.35), (1.2, 1.825), 0.35, 1.0, "orange")
    return truck(-2.4, 2.5, [-1.4, 1.65], "blue") + load + arrow


def semi_trailer_truck() -> Mesh:
    """A tall tractor with sleeper, wind deflector and chimneys, and behind a gap a high trailer."""
    tractor = box((3.1, 1.0, 0.32), (1.48, 0.0, 0.42), "dark")
    tractor += box((0.22, 1.84, 0.34), (2.99, 0.0, 0.28), "hub") + cab(3.06, "orange", 0.8, 0.75, 2.3)
    tractor += body([(0.98, 0.86, 0.5, 2.3), (1.62, 0.86, 0.5, 2.3)], "orange", 0.12)
    shield = [(0.98, 2.25), (1.95, 2.25), (1.75, 2.6), (1.3, 3.03), (0.98, 3.1)]
    tractor += profile(shield, 1.66, "orange", 1.4)
    tractor += side((1.02, 2.25), (0.98, 1.22), 0.9, "white", lift=0.02)
    tractor += front((-0.5, 0.5), (0.5, 0.94), 3.06, "hub", lift=0.02)
    pipe = rod((1.12, 0.92, 0.75), (1.12, 0.92, 3.4), 0.11, "hub", 6)
    pipe += rod((1.12, 0.92, 3.3), (1.0, 0.92, 3.55), 0.11, "dark", 6)
    fuel = cylinder(0.28, 0.8, (1.05, 0.74, 0.5), "hub", "x", 8)
    plate = cylinder(0.5, 0.16, (0.25, 0.0, 0.74), "steel", sides=8)
    plate += cylinder(0.16, 0.2, (0.25, 0.0, 0.86), "dark", sides=6)
    trailer = crate((-3.05, 0.5), (1.02, 3.2), "white", 1.98, 0.14)
    trailer += box((3.4, 0.9, 0.12), (-1.3, 0.0, 0.9), "charcoal")
    trailer += box((1.5, 1.0, 0.4), (-2.28, 0.0, 0.52), "dark")
    trailer += box((0.1, 1.7, 0.22), (-3.0, 0.0, 0.48), "dark")
    leg = rod((-0.6, 0.7, 0.95), (-0.6, 0.7, 0.3), 0.07, "silver")
    leg += box((0.24, 0.24, 0.06), (-0.6, 0.7, 0.26), "silver")
    stripe = side((-2.99, 0.44), (1.02, 1.5), 0.99, "orange")
    stripe += slant((-2.2, -1.2), (1.5, 3.0), 0.9, 0.99, "navy")
    gear = wheels([-2.62, -1.82, 0.25, 2.42], 1.94, 0.42, 0.32) + arches([2.42], 0.9, 0.52, z=0.42)
    gear += lamps(3.06, -3.06, 0.62, 0.66, 0.2, 0.62)
    return tractor + (pipe + fuel).both_sides() + plate + trailer + leg.both_sides() + stripe + gear


def tanker_truck() -> Mesh:
    """A fat silver cylinder on its side with a purple band; purple cab."""
    rear = [(-2.48, 0.5), (-2.4, 0.75), (-2.2, 0.9), (-1.2, 0.9)]
    ahead = [(-0.45, 0.9), (0.6, 0.9), (0.8, 0.72), (0.86, 0.5)]
    tank = drum(rear + ahead, ("silver", "silver", "silver", "purple", "silver", "silver", "silver"))
    hatches = join(cylinder(0.24, 0.18, (x, 0.0, 2.58), "charcoal", sides=8) for x in (-1.7, -0.82, 0.05))
    load = tank.scaled(1, 1.08, 1).at(z=1.74) + hatches + box((3.1, 1.7, 0.28), (-0.85, 0.0, 0.75), "purple")
    return truck(-2.45, 2.45, [-1.75, -0.85, 1.6], "purple") + load


def dump_truck() -> Mesh:
    """An amber tipper with its bed half up, full of earth, a lip over the cab."""
    tub = profile([(-0.3, 0.0), (2.5, 0.0), (2.75, 1.0), (-0.55, 1.0)], 1.8, "amber", 2.0)
    ribs = join(side((x, x + 0.16), (0.1, 0.9), 0.9, "charcoal", 1.0, 0.04) for x in (0.1, 0.9, 1.7))
    earth = ball((1.45, 0.92, 0.6), (1.1, 0.0, 0.98), "brown", 10, 3, 0.0)
    lip = box((0.9, 2.0, 0.12), (3.1, 0.0, 0.95), "amber")
    tipped = (tub + ribs + earth + lip).turned(-16, "y").at(-2.0, 0.0, 0.95)
    ram = rod((-0.3, 0.0, 0.7), (0.1, 0.0, 1.6), 0.16, "steel", 6)
    return centred(truck(-2.4, 2.4, [-1.65, -0.75, 1.6], "amber", 0.75, 1.1, 2.0), tipped, ram)


def concrete_mixer() -> Mesh:
    """A great egg of a drum with slanted orange and white bands, rising to the rear; teal cab."""
    deck = box((3.3, 1.84, 0.22), (-0.7, 0.0, 0.72), "teal")
    rear, ahead = [(-1.75, 0.42), (-1.2, 0.7), (-0.65, 0.96)], [(-0.1, 1.04), (0.45, 1.0), (1.0, 0.82)]
    egg = drum([*rear, *ahead, (1.35, 0.5)], ("white", "orange"), lean=0.25)
    egg = egg.turned(12, "y").at(-0.6, 0.0, 1.88)
    chute = rod((-2.2, 0.0, 1.9), (-2.5, 0.0, 0.95), 0.2, "steel")
    chute += frustum((0.5, 0.6, 0.3), (0.8, 0.9), (-2.1, 0.0, 2.4), "steel")
    stand = box((0.3, 1.0, 1.2), (-1.8, 0.0, 0.7), "charcoal")
    stand += box((0.3, 1.2, 0.6), (0.7, 0.0, 0.7), "charcoal")
    return truck(-2.45, 2.45, [-1.7, -0.8, 1.6], "teal", roof=2.0) + deck + egg + chute + stand


def cement_pumper() -> Mesh:
    """A sky-blue folding arm in a zigzag above a white truck, a hopper behind."""
    tower = box((0.9, 1.9, 0.55), (-0.1, 0.0, 0.75), "blue")
    tower += box((1.3, 1.8, 0.4), (-1.3, 0.0, 0.75), "white")
    knees = [(-0.1, 0.0, 1.3), (-2.2, 0.0, 3.05), (1.2, 0.0, 2.6), (1.9, 0.0, 3.45)]
    arm = join(rod(a, b, 0.26, "sky", end=0.2) for a, b in pairwise(knees))
    joints = join(cylinder(0.27, 0.56, (x, -0.28, z), "navy", "y", 8) for x, _, z in knees[1:3])
    hopper = frustum((0.6, 1.0, 0.6), (0.9, 1.7), (-2.15, 0.0, 0.7), "orange")
    hopper += top((-2.5, -1.8), (-0.7, 0.7), 1.3, "silver")
    hose = rod((1.9, 0.0, 3.45), (2.1, 0.0, 2.65), 0.1, "charcoal", 6)
    return truck(-2.5, 2.4, [-1.6, -0.7, 1.6], "white") + tower + arm + joints + hopper + hose


def crane_truck() -> Mesh:
    """A long yellow lattice boom pointing up over the cab, a red hook before it."""
    deck = bed((-2.45, 1.1), "charcoal", 0.8) + cylinder(0.65, 0.25, (-1.2, 0.0, 0.92), "dark", sides=8)
    house = block((1.5, 1.7, 0.95), (-1.3, 0.0, 1.15), "yellow", 0.16)
    house += side((-1.95, -1.3), (1.3, 1.9), 0.85, "charcoal")
    weight = box((0.4, 1.8, 0.8), (-2.15, 0.0, 1.2), "charcoal")
    boom = _lattice((-1.2, 1.75), (2.9, 3.28), 0.55, 0.56, "yellow", 6, 0.09)
    rope = rod((2.85, 0.0, 3.3), (2.85, 0.0, 1.95), 0.05, "dark")
    hook = block((0.36, 0.36, 0.6), (2.85, 0.0, 1.4), "red", 0.1)
    bare = truck(-2.5, 2.4, [-1.7, -0.8, 1.55], "yellow", roof=1.85)
    return centred(bare, deck, house, weight, boom, rope, hook)


def flatbed_truck() -> Mesh:
    """A sky-blue cab before a bare wooden deck with two crates."""
    load = bed((-2.5, 1.0), "brown", 0.82) + box((0.12, 1.9, 1.0), (0.94, 0.0, 0.94), "sky")
    load += side((-2.5, 1.0), (0.8, 0.96), 0.96, "sky")
    spots = ((0.25, -0.25, 1.0, 1.4, 1.1), (-0.95, -1.4, 0.9, 1.2, 0.75))  # middle, rear, then the size
    crates = [box((a, b, c), (x, 0.0, 0.94), "sand") for x, _, a, b, c in spots]
    braces = [slant((u, u + 0.24), (0.97, 0.9 + c), a - 0.24, b / 2, "wood") for _, u, a, b, c in spots]
    return join(truck(-2.5, 2.5, [-1.6, 1.65], "sky", roof=2.15), load, crates, braces)


def _toy_car(x: float, z: float, paint: str) -> Mesh:
    """A passenger of the car carrier, about half the size of a real car."""
    car = body([(-0.8, 0.6, 0.16, 0.5), (0.4, 0.62, 0.16, 0.56), (0.82, 0.58, 0.16, 0.42)], paint)
    car += frustum((0.98, 1.1, 0.26), (0.62, 0.9), (-0.12, 0.0, 0.52), "glass")
    car += box((0.62, 0.9, 0.06), (-0.12, 0.0, 0.78), paint)
    car += join(cylinder(0.19, 1.28, (a, -0.64, 0.19), "tyre", "y", 6) for a in (-0.48, 0.48))
    return car.at(x, 0.0, z)


def car_carrier() -> Mesh:
    """Two decks of small cars of many colours, the upper one over the cab."""
    decks = bed((-2.96, 1.3), "coral", 0.72, y=0.9) + side((-2.9, 1.2), (0.66, 0.96), 0.9, "coral", lift=0.03)
    decks += bed((-3.0, 2.95), "coral", 2.06, y=0.9)
    decks += side((-3.0, 2.95), (1.98, 2.26), 0.9, "coral", lift=0.03)
    feet = ((-2.95, -2.95), (-1.2, -1.2), (0.6, 1.2))
    posts = join(rod((x, 0.86, 0.8), (u, 0.86, 2.1), 0.07, "charcoal") for x, u in feet).both_sides()
    down = join(_toy_car(x, 0.84, p) for x, p in ((-2.1, "yellow"), (-0.25, "lime")))
    over = join(_toy_car(x, 2.18, p) for x, p in ((-2.1, "blue"), (-0.1, "white"), (1.9, "red")))
    bare = truck(-3.03, 3.03, [-2.3, -1.4, 2.2], "coral", depth=1.3, roof=1.94)
    return bare + decks + posts + down + over


def logging_truck() -> Mesh:
    """A crimson cab with a bonnet; six thick logs with bright cut ends between tall yellow stakes."""
    lower = [(-0.62, 1.18, 0.0, "wood"), (0.0, 1.18, 0.2, "brown"), (0.62, 1.18, 0.1, "wood")]
    upper = [(-0.31, 1.76, 0.3, "brown"), (0.31, 1.76, 0.05, "brown"), (0.0, 2.32, 0.2, "wood")]
    pile = []
    for y, z, short, bark in lower + upper:
        tail, head = -3.0 + short, 0.5 - short
        rings = [(tail, 0.3), (tail + 0.2, 0.35), (head - 0.2, 0.35), (head, 0.3)]
        pile.append(drum(rings, ("cream", bark, "cream"), 10).at(0.0, y, z))
    spots = (-2.1, -0.95, 0.15)
    stakes = join(rod((x, 0.97, 0.7), (x, 0.97, 2.5), 0.085, "yellow") for x in spots).both_sides()
    bunks = box((3.1, 1.9, 0.18), (-1.0, 0.0, 0.66), "crimson")
    bunks += join(box((0.2, 2.0, 0.14), (x, 0.0, 0.72), "yellow") for x in spots)
    return centred(truck(-2.55, 2.5, [-1.75, -0.85, 1.7], "crimson", 0.75, 1.1), pile, stakes, bunks)


def _cow(x: float, z: float, paint: str, patch: str) -> Mesh:
    """A cow that looks over the rail."""
    cow = block((1.2, 1.1, 1.0), (x, 0.0, z), paint, 0.15)
    cow += side((x - 0.45, x + 0.15), (z + 0.1, z + 0.85), 0.55, patch)
    cow += top((x - 0.3, x + 0.2), (-0.4, 0.4), z + 1.0, patch)
    cow += block((0.62, 0.5, 0.52), (x + 0.6, 0.0, z + 1.08), paint, 0.08)
    cow += box((0.2, 0.52, 0.34), (x + 0.94, 0.0, z + 1.06), "pink")
    cow += rod((x + 0.3, 0.0, z + 0.7), (x + 0.5, 0.0, z + 1.25), 0.22, paint)
    return cow + box((0.2, 1.1, 0.16), (x + 0.42, 0.0, z + 1.42), patch)


def cattle_truck() -> Mesh:
    """Brown rails with black-and-white cows that look over them; a cream cab."""
    line = side((1.1, 2.1), (1.0, 1.15), 0.9, "brown")
    load = bed((-2.4, 0.95), "cream") + side((-2.4, 0.95), (0.66, 0.94), 0.97, "cream", lift=0.03)
    load += slats((-2.4, 0.95), (0.9, 1.45), "brown", "brown", 0.24)
    cows = join(_cow(x, 0.87, "white", "black") for x in (-1.75, -0.2))
    return truck(-2.4, 2.4, [-1.4, 1.55], "cream", roof=2.05) + line + load + cows


KINDS: dict[str, VehicleKind] = {
    "red truck": VehicleKind(red_truck, body="red"),
    "blue truck": VehicleKind(blue_truck, body="blue"),
    "green truck": VehicleKind(green_truck, body="green"),
    "yellow truck": VehicleKind(yellow_truck, body="yellow"),
    "box truck": VehicleKind(box_truck, body="blue"),
    "semi-trailer truck": VehicleKind(semi_trailer_truck, body="orange"),
    "tanker truck": VehicleKind(tanker_truck, body="purple"),
    "dump truck": VehicleKind(dump_truck, body="amber"),
    "concrete mixer": VehicleKind(concrete_mixer, body="teal"),
    "cement pumper": VehicleKind(cement_pumper, body="white"),
    "crane truck": VehicleKind(crane_truck, body="yellow"),
    "flatbed truck": VehicleKind(flatbed_truck, body="sky"),
    "car carrier": VehicleKind(car_carrier, body="coral"),
    "logging truck": VehicleKind(logging_truck, body="crimson"),
    "cattle truck": VehicleKind(cattle_truck, body="cream"),
}
