"""Two- and three-wheelers, each with its rider: bicycles, motorcycles, scooters and their relations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, hypot, radians, sin, sqrt

from simtown.assets.mesh import Mesh, ball, block, box, cylinder, frustum, join, loft, profile, rod, side, wheels

Spot = tuple[float, float]  # (x, z) in the middle plane of a cycle


def rider(
    hip: Spot,
    hand: Spot,
    feet: Sequence[Spot],
    shirt: str,
    trousers: str = "navy",
    helmet: str = "white",
    lean: float = 12.0,
    size: float = 1.0,
    stance: float = 0.17,
    skin: str = "skin",
    visor: bool = False,
) -> Mesh:
    """A sitting or standing person: `feet` are one spot for both, or the right one's and the left one's.

    `lean` tilts the back forward (degrees), `stance` is how far each foot is from the middle; a `visor` closes the helmet.
    """
    tilt = radians(lean)
    neck = (hip[0] + 0.56 * size * sin(tilt), hip[1] + 0.56 * size * cos(tilt))
    head = (neck[0] + 0.07 * size, 0.0, neck[1] + 0.2 * size)
    trunk = rod((hip[0], 0.0, hip[1] - 0.06 * size), (neck[0], 0.0, neck[1]), 0.19 * size, shirt, sides=6, end=0.22 * size).scaled(
        1.0, 1.25
    )
    if visor:
        skull = ball(0.28 * size, head, helmet, sides=8) + ball(
            (0.2 * size, 0.23 * size, 0.12 * size), (head[0] + 0.11 * size, 0.0, head[2] - 0.03), "glass", rings=3
        )
    else:
        skull = ball(0.2 * size, head, skin, sides=8) + ball(
            0.26 * size, (head[0] - 0.02, 0.0, head[2] + 0.03), helmet, sides=8, rings=2, low=-0.08
        )
    arm = rod((neck[0], 0.22 * size, neck[1] - 0.1 * size), (hand[0], 0.26, hand[1]), 0.095 * size, shirt, end=0.075 * size)
    parts = [trunk, skull, arm.both_sides()]
    for foot, y in zip((feet[0], feet[-1]), (-stance, stance), strict=True):
        reach = hypot(foot[0] - hip[0], foot[1] - hip[1])
        bend = sqrt(max((0.46 * size) ** 2 - (reach / 2) ** 2, 0.0)) / reach
        knee = ((hip[0] + foot[0]) / 2 - bend * (foot[1] - hip[1]), y * 1.15, (hip[1] + foot[1]) / 2 + bend * (foot[0] - hip[0]))
        thigh = rod((hip[0], y * 0.7, hip[1]), knee, 0.12 * size, trousers)
        shin = rod(knee, (foot[0], y, foot[1] + 0.06), 0.11 * size, trousers, end=0.08 * size)
        parts += [thigh, shin, box((0.26 * size, 0.13 * size, 0.1), (foot[0] + 0.04, y, foot[1]), "dark")]
    return join(parts)


def centred(*parts: Mesh) -> Mesh:
    """The parts as one mesh, moved so that its bounds are symmetric about x = y = 0."""
    mesh = join(parts)
    middle = mesh.bounds.mean(axis=0)
    return mesh.at(-float(middle[0]), -float(middle[1]))


def _tube(start: Spot, stop: Spot, paint: str, radius: float = 0.055, y: float = 0.0) -> Mesh:
    """A bar of a frame in the plane at y."""
    return rod((start[0], y, start[1]), (stop[0], y, stop[1]), radius, paint)


def _plate(outline: Sequence[Spot], width: float, paint: str, width_top: float | None = None) -> Mesh:
    """A convex side outline made `width` wide in the middle of a cycle: a tank, a fairing, a seat."""
    return profile(outline, width, (0.0, 0.0, 0.0), paint, width_top)


def _bar(x: float, z: float, paint: str = "dark", half: float = 0.34) -> Mesh:
    """Handlebars."""
    return rod((x, -half, z), (x, half, z), 0.045, paint)


def _tyre(x: float, radius: float = 0.36, width: float = 0.2, hub: str = "hub", y: float = 0.0) -> Mesh:
    """A motorcycle's wheel: a solid tyre with a hub that shows on both faces."""
    tread = cylinder(radius, width, (x, y - width / 2, radius), "tyre", axis="y", sides=12)
    return tread + cylinder(radius * 0.55, width + 0.05, (x, y - width / 2 - 0.025, radius), hub, axis="y", sides=7)


def _spoked(x: float, radius: float = 0.42, y: float = 0.0, rim: str = "tyre") -> Mesh:
    """A bicycle's wheel: an open ring with three bright spokes across."""
    inner = radius - 0.1
    turns = [radians(30 * i + 15) for i in range(12)]
    loops = [[(r * cos(t), h, r * sin(t)) for t in turns] for r, h in ((radius, -0.05), (inner, -0.05), (inner, 0.05), (radius, 0.05))]
    ring = loft([*loops, loops[0]], rim, caps=False)
    spokes = [
        rod((inner * cos(t), 0.0, inner * sin(t)), (-inner * cos(t), 0.0, -inner * sin(t)), 0.022, "hub")
        for t in map(radians, (30, 90, 150))
    ]
    return join([ring, *spokes]).at(x, y, radius)


def _frame(paint: str, rear: float = -0.55, front: float = 0.55, radius: float = 0.42, saddle: float = -0.28, crank: float = -0.08) -> Mesh:
    """A bicycle's wheels, diamond of tubes, saddle and handlebars; the saddle may stand anywhere between the wheels."""
    seat, head, low = (saddle, 0.88), (front - 0.18, 0.92), (crank, 0.38)
    tubes = [
        _tube(low, seat, paint),
        _tube(low, head, paint),
        _tube(seat, head, paint),
        _tube(low, (rear, radius), paint),
        _tube(seat, (rear, radius), paint),
        _tube((front - 0.22, 1.08), (front, radius), paint),
    ]
    pad = box((0.32, 0.2, 0.08), (saddle, 0.0, 0.9), "dark")
    disc = cylinder(0.13, 0.14, (crank, -0.07, 0.38), "gold", axis="y", sides=7)
    return join([_spoked(rear, radius), _spoked(front, radius), *tubes, pad, disc, _bar(front - 0.22, 1.08)])


def _cyclist(shirt: str, trousers: str, helmet: str, x: float = 0.0, hand: Spot = (0.33, 1.1), skin: str = "skin") -> Mesh:
    """A rider pedalling about a crank at (x - 0.08, 0.38), hands on the bars."""
    feet = ((x + 0.05, 0.46), (x - 0.16, 0.2))
    return rider((x - 0.28, 1.0), (x + hand[0], hand[1]), feet, shirt, trousers, helmet, lean=26, skin=skin)


def bicycle() -> Mesh:
    """Two thin spoked wheels and a rider in red."""
    return centred(_frame("white") + _cyclist("red", "navy", "red"))


def tandem() -> Mesh:
    """A long bicycle with two riders in yellow and sky blue, one behind the other."""
    stoker = _frame("magenta", rear=-0.98, front=0.98, saddle=-0.68, crank=-0.48)
    pilot = [
        _tube((0.3, 0.38), (0.12, 0.88), "magenta"),
        _tube((0.3, 0.38), (-0.48, 0.38), "magenta"),
        _tube((-0.48, 0.38), (0.12, 0.88), "magenta"),
        box((0.32, 0.2, 0.08), (0.12, 0.0, 0.9), "dark"),
        _bar(-0.18, 1.06),
    ]
    return centred(stoker, *pilot, _cyclist("sky", "charcoal", "white", -0.4, (0.24, 1.08)), _cyclist("yellow", "charcoal", "white", 0.4))


def cargo_bike() -> Mesh:
    """A bicycle with a big wooden box of parcels low before its rider."""
    cycle = _spoked(-1.0) + _spoked(1.05, 0.3) + _tube((-0.52, 0.36), (-0.7, 0.88), "forest") + _tube((-0.52, 0.36), (-1.0, 0.42), "forest")
    tubes = (
        _tube((-0.7, 0.88), (-1.0, 0.42), "forest")
        + _tube((-0.52, 0.36), (-0.1, 1.06), "forest")
        + _tube((-0.7, 0.8), (-0.2, 0.9), "forest")
    )
    beam = _tube((-0.52, 0.36), (0.2, 0.28), "forest", 0.07) + _tube((0.75, 0.8), (1.05, 0.3), "forest") + _bar(-0.1, 1.1)
    crate = (
        frustum((0.85, 0.72, 0.62), (1.08, 0.9), (0.38, 0.0, 0.32), "tan")
        + box((1.14, 0.96, 0.1), (0.38, 0.0, 0.92), "wood")
        + side((0.0, 0.76), (0.5, 0.62), 0.41, "wood", 0.43)
    )
    load = box((0.4, 0.6, 0.34), (0.12, 0.05, 1.0), "amber") + box((0.4, 0.5, 0.22), (0.6, -0.08, 1.0), "coral")
    saddle = box((0.32, 0.2, 0.08), (-0.73, 0.0, 0.9), "dark")
    return centred(cycle, tubes, beam, crate, load, saddle, _cyclist("teal", "charcoal", "yellow", -0.44, (0.36, 1.12)))


def tricycle() -> Mesh:
    """A child's low three-wheeler: big front wheel, two small rear ones, a basket behind."""
    rear = (_tyre(-0.5, 0.25, 0.14, "yellow", 0.36)).both_sides() + rod((-0.5, -0.36, 0.25), (-0.5, 0.36, 0.25), 0.06, "steel")
    tubes = _tube((-0.5, 0.27), (0.3, 0.82), "purple", 0.07) + _tube((0.28, 1.0), (0.52, 0.38), "purple", 0.07) + _bar(0.28, 1.0, "yellow")
    basket = frustum((0.4, 0.6, 0.4), (0.5, 0.76), (-0.62, 0.0, 0.48), "tan") + ball(0.17, (-0.62, 0.1, 0.92), "brown", sides=6, rings=3)
    saddle = box((0.3, 0.3, 0.1), (-0.22, 0.0, 0.5), "yellow")
    child = rider((-0.22, 0.68), (0.3, 0.98), ((0.5, 0.46), (0.42, 0.2)), "pink", "purple", "yellow", lean=4, size=0.82, stance=0.2)
    return centred(_tyre(0.52, 0.38, 0.14, "yellow"), rear, tubes, basket, saddle, child)


def rickshaw() -> Mesh:
    """A cyclist pulling a hooded bench for a passenger between two tall wheels."""
    cycle = (
        _spoked(1.15)
        + _tube((0.52, 0.38), (0.32, 0.88), "gold")
        + _tube((0.52, 0.38), (0.97, 0.92), "gold")
        + _tube((0.93, 1.08), (1.15, 0.42), "gold")
    )
    pole = _tube((0.52, 0.38), (-0.4, 0.42), "gold", 0.07) + _tube((0.32, 0.85), (0.97, 0.92), "gold") + _bar(0.93, 1.08)
    bench = block((0.95, 1.05, 0.4), (-0.62, 0.0, 0.45), "teal", 0.08) + box((0.2, 1.0, 0.55), (-0.98, 0.0, 0.8), "gold")
    arc = [radians(a) for a in (190, 160, 130, 100, 68)]
    outer, inner = ([(-0.55 + r * cos(a), 1.15 + r * sin(a)) for a in arc] for r in (0.75, 0.67))
    hood = [_plate([outer[i], outer[i + 1], inner[i + 1], inner[i]], 1.16, "crimson") for i in range(4)]
    cheek = profile([(-0.55, 1.15), *inner], 0.05, (0.0, 0.55, 0.0), "crimson").both_sides()
    guest = rider((-0.6, 0.92), (-0.25, 0.96), ((-0.1, 0.5),), "lilac", "lilac", "brown", lean=0, size=0.78)
    tall = (_spoked(-0.6, 0.46, 0.64)).both_sides()
    return centred(cycle, pole, bench, *hood, cheek, guest, tall, _cyclist("orange", "white", "tan", 0.6, skin="skin dark"))


def tuk_tuk() -> Mesh:
    """A three-wheeled open cab, green below a yellow roof, its driver behind a tall windscreen."""
    tub = _plate([(-1.2, 0.28), (0.7, 0.28), (0.7, 0.48), (-1.2, 0.48)], 1.3, "green")
    nose = frustum((0.7, 1.1, 0.75), (0.3, 0.95), (0.78, 0.0, 0.3), "green", shift=-0.15) + box(
        (0.4, 0.3, 0.3), (1.08, 0.0, 0.35), "yellow"
    )
    tail = _plate([(-1.25, 0.4), (-0.45, 0.4), (-0.55, 0.95), (-1.15, 1.05)], 1.3, "green") + side(
        (-1.15, -0.55), (0.58, 0.74), 0.65, "yellow"
    )
    roof = _plate([(-1.3, 1.62), (0.72, 1.62), (0.6, 1.82), (0.2, 1.9), (-1.1, 1.88)], 1.36, "yellow", 1.2)
    posts = (_tube((-1.15, 0.95), (-1.2, 1.65), "green", 0.07, 0.58) + _tube((0.72, 1.0), (0.58, 1.65), "green", 0.06, 0.5)).both_sides()
    screen = _plate([(0.74, 1.05), (0.78, 1.05), (0.62, 1.63), (0.58, 1.63)], 0.95, "glass")
    driver = rider((0.05, 0.72), (0.55, 0.95), ((0.42, 0.48),), "white", "charcoal", "black", lean=6, size=0.85)
    guest = rider((-0.7, 0.86), (-0.4, 0.92), ((-0.3, 0.48),), "magenta", "magenta", "brown", lean=0, size=0.72)
    lights = (
        box((0.06, 0.2, 0.2), (1.05, 0.3, 0.7), "headlamp").both_sides()
        + box((0.05, 0.2, 0.14), (-1.25, 0.45, 0.62), "taillamp").both_sides()
    )
    axles = wheels([-0.8], 1.4, 0.3, 0.2) + _tyre(1.1, 0.3, 0.18)
    return centred(tub, nose, tail, roof, posts, screen, driver, guest, lights, axles)


def kick_scooter() -> Mesh:
    """A rider standing on a low deck with a tall stem and tiny wheels."""
    deck = box((1.0, 0.24, 0.1), (-0.05, 0.0, 0.2), "lime") + _tube((0.45, 0.22), (0.4, 1.22), "lime", 0.06) + _bar(0.4, 1.22)
    tyres = _tyre(-0.55, 0.17, 0.14) + _tyre(0.5, 0.17, 0.14)
    lights = box((0.08, 0.14, 0.12), (0.48, 0.0, 1.0), "headlamp") + box((0.06, 0.14, 0.1), (-0.72, 0.0, 0.3), "taillamp")
    return centred(deck, tyres, lights, rider((-0.12, 1.08), (0.36, 1.24), ((0.1, 0.3), (-0.3, 0.3)), "purple", "sand", "yellow", lean=8))


def motorcycle(paint: str = "crimson", jacket: str = "black", helmet: str = "crimson", trousers: str = "charcoal") -> Mesh:
    """A low, long machine with fat wheels, a round tank and a helmeted rider."""
    tyres = _tyre(-0.68, width=0.24) + _tyre(0.7, width=0.22)
    engine = block((0.62, 0.34, 0.4), (0.02, 0.0, 0.22), "steel", 0.08) + _tube((-0.1, 0.26), (-0.95, 0.36), "hub", 0.075, 0.2).both_sides()
    tank = _plate([(-0.2, 0.62), (0.45, 0.72), (0.5, 0.92), (0.2, 1.0), (-0.2, 0.84)], 0.4, paint, 0.26)
    tail = _plate([(-0.25, 0.6), (-0.2, 0.84), (-0.6, 0.84), (-1.05, 0.98), (-1.0, 0.76)], 0.34, paint)
    guard = _plate([(0.38, 0.66), (1.0, 0.62), (0.82, 0.8), (0.58, 0.8)], 0.26, paint)
    fork = _tube((0.44, 1.06), (0.7, 0.36), "hub", 0.05, 0.15).both_sides() + _bar(0.42, 1.08, half=0.38)
    lights = cylinder(0.15, 0.14, (0.5, 0.0, 0.92), "headlamp", axis="x", sides=8) + box((0.05, 0.2, 0.1), (-1.05, 0.0, 0.84), "taillamp")
    person = rider((-0.32, 0.92), (0.36, 1.08), ((0.02, 0.24),), jacket, trousers, helmet, lean=20, stance=0.25, visor=True)
    return centred(tyres, engine, tank, tail, guard, fork, lights, person)


def police_motorcycle() -> Mesh:
    """A white motorcycle with a windscreen, panniers and flashing lights, its officer in navy and yellow."""
    machine = motorcycle("white", "navy", "white", "navy")
    cowl = frustum((0.3, 0.6, 0.36), (0.2, 0.5), (0.5, 0.0, 0.78), "white") + frustum(
        (0.08, 0.5, 0.34), (0.06, 0.36), (0.5, 0.0, 1.14), "sky", -0.12
    )
    cases = (block((0.6, 0.22, 0.44), (-0.72, 0.27, 0.5), "white", 0.06)).both_sides() + side((-0.98, -0.46), (0.6, 0.76), 0.38, "blue")
    lights = (
        box((0.16, 0.2, 0.2), (0.62, 0.22, 1.1), "beacon blue").both_sides()
        + _tube((-0.9, 0.9), (-0.9, 1.5), "dark")
        + cylinder(0.13, 0.24, (-0.9, 0.0, 1.48), "beacon blue", sides=8)
    )
    return join([machine, cowl, cases, lights])


def sidecar_motorcycle() -> Mesh:
    """A motorcycle with a bullet-nosed passenger's car, wheel and windscreen of its own, at its right."""
    ends = [(-0.85, 0.2), (-0.6, 0.36), (-0.2, 0.4), (0.65, 0.4), (1.0, 0.3), (1.35, 0.06)]
    car = loft([[(x, r * cos(t), 0.56 + r * sin(t)) for t in (radians(45 * i + 22.5) for i in range(8))] for x, r in ends], "yellow")
    screen = frustum((0.08, 0.7, 0.42), (0.06, 0.5), (0.86, 0.0, 0.84), "sky", -0.14) + side((-0.2, 0.65), (0.5, 0.62), 0.37, "red")
    guest = rider((0.34, 0.76), (0.66, 0.96), ((0.6, 0.4),), "green", "green", "sky", lean=2, size=0.9, stance=0.1)
    wheel = (
        _tyre(-0.15, 0.3, 0.16, "hub", -0.46)
        + box((0.6, 0.2, 0.06), (-0.15, -0.46, 0.62), "yellow")
        + rod((0.0, 0.0, 0.4), (0.0, 0.9, 0.4), 0.06, "dark")
    )
    return centred(motorcycle("red", "brown", "cream", "charcoal") + (car + screen + guest + wheel).at(0.0, -0.82))


def scooter(paint: str = "mint", shirt: str = "coral", helmet: str = "cream") -> Mesh:
    """A step-through with a tall leg shield, a flat floor and small wheels, its rider upright."""
    tyres = _tyre(-0.62, 0.27, 0.2) + _tyre(0.68, 0.27, 0.2)
    floor = box((0.85, 0.36, 0.1), (0.1, 0.0, 0.24), paint)
    shield = _plate([(0.45, 0.24), (0.6, 0.24), (0.5, 1.0), (0.38, 1.0)], 0.56, paint, 0.36)
    tail = _plate([(-0.18, 0.24), (-0.1, 0.66), (-0.85, 0.72), (-0.98, 0.5), (-0.9, 0.36)], 0.48, paint, 0.38)
    nose = _plate([(0.5, 0.46), (0.98, 0.42), (0.85, 0.6), (0.55, 0.72)], 0.28, paint) + _bar(0.4, 1.06, half=0.36)
    saddle = block((0.72, 0.34, 0.12), (-0.46, 0.0, 0.7), "brown", 0.05)
    lights = cylinder(0.12, 0.12, (0.46, 0.0, 1.0), "headlamp", axis="x", sides=8) + box((0.05, 0.24, 0.12), (-0.96, 0.0, 0.5), "taillamp")
    person = rider((-0.32, 0.88), (0.36, 1.08), ((0.22, 0.34),), shirt, "navy", helmet, lean=4, stance=0.15)
    return centred(tyres, floor, shield, tail, nose, saddle, lights, person)


def delivery_scooter() -> Mesh:
    """A red scooter with a great square yellow box behind its rider."""
    chest = box((0.72, 0.76, 0.76), (-0.92, 0.0, 0.86), "yellow") + box((0.76, 0.8, 0.1), (-0.92, 0.0, 1.58), "red")
    badge = side((-1.14, -0.7), (1.0, 1.42), 0.38, "red")
    return centred(scooter("red", "red", "yellow") + chest + badge)


def quad_bike() -> Mesh:
    """Four fat tyres under lime mudguards, a rider astride."""
    tyres = wheels([-0.6, 0.6], 1.3, 0.34, 0.34, "lime")
    hull = _plate([(-0.85, 0.4), (0.85, 0.4), (0.95, 0.62), (0.5, 0.85), (-0.1, 0.72), (-0.9, 0.78)], 0.5, "lime")
    guard = profile([(-0.5, 0.68), (0.5, 0.68), (0.38, 0.8), (-0.38, 0.8)], 0.42, (0.0, 0.44, 0.0), "lime")
    guards = join([guard.at(x).both_sides() for x in (-0.6, 0.6)])
    racks = box((0.42, 0.7, 0.06), (-0.78, 0.0, 0.86), "dark") + box((0.34, 0.66, 0.06), (0.72, 0.0, 0.88), "dark")
    saddle = (
        block((0.7, 0.36, 0.14), (-0.3, 0.0, 0.74), "black", 0.06)
        + _tube((0.4, 0.8), (0.28, 1.1), "dark", 0.07)
        + _bar(0.28, 1.1, half=0.42)
    )
    lights = (
        box((0.06, 0.18, 0.14), (0.92, 0.16, 0.58), "headlamp").both_sides()
        + box((0.05, 0.18, 0.12), (-0.9, 0.14, 0.62), "taillamp").both_sides()
    )
    person = rider((-0.3, 0.96), (0.24, 1.12), ((0.12, 0.4),), "orange", "charcoal", "white", lean=10, stance=0.28, visor=True)
    return centred(tyres, hull, guards, racks, saddle, lights, person)


KINDS: dict[str, Callable[[], Mesh]] = {
    "motorcycle": motorcycle,
    "bicycle": bicycle,
    "scooter": scooter,
    "rickshaw": rickshaw,
    "quad bike": quad_bike,
    "tricycle": tricycle,
    "cargo bike": cargo_bike,
    "sidecar motorcycle": sidecar_motorcycle,
    "tuk-tuk": tuk_tuk,
    "police motorcycle": police_motorcycle,
    "delivery scooter": delivery_scooter,
    "tandem bicycle": tandem,
    "kick scooter": kick_scooter,
}
