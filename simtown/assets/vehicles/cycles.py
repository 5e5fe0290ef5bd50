"""Two- and three-wheelers, each with its rider: bicycles, motorcycles, scooters and their relations."""

from __future__ import annotations

from math import cos, hypot, pi, radians, sin, sqrt

from simtown.assets.mesh import *


def rider(
    hip: Span,
    hand: Span,
    foot: Span,
    shirt: str,
    trousers: str,
    helmet: str,
    lean: float = 0.0,
    size: float = 1.0,
    stance: float = 0.17,
    left: Span | None = None,
    skin: str = "skin",
    visor: bool = False,
) -> Mesh:
    """A sitting or standing person: hip, hand and foot (or the right foot and the `left`) are (x, z) spots.

    `lean` tilts the back forward (degrees), `stance` is how far each foot is from the middle; a `visor`
    closes the helmet.
    """
    tilt = radians(lean)
    neck = (hip[0] + 0.56 * size * sin(tilt), hip[1] + 0.56 * size * cos(tilt))
    seat = (hip[0], 0.0, hip[1] - 0.06 * size)
    trunk = rod(seat, (neck[0], 0.0, neck[1]), 0.19 * size, shirt, sides=6, end=0.22 * size)
    x, z = neck[0] + 0.07 * size, neck[1] + 0.2 * size
    if visor:
        head, glass = ball(0.28 * size, (x, 0.0, z), helmet), (0.18 * size, 0.24 * size, 0.13 * size)
        head += ball(glass, (x + 0.14 * size, 0.0, z - 0.02), "glass", rings=3)
    else:
        head = ball(0.2 * size, (x, 0.0, z), skin)
        head += ball(0.26 * size, (x - 0.02, 0.0, z + 0.03), helmet, rings=2, low=-0.08)
    shoulder, grip = (neck[0], 0.22 * size, neck[1] - 0.1 * size), (hand[0], 0.26, hand[1])
    arm = rod(shoulder, grip, 0.095 * size, shirt, end=0.075 * size)
    parts = [trunk.scaled(1.0, 1.25), head, arm.both_sides()]
    for (x, z), y in ((foot, -stance), (left or foot, stance)):
        reach = hypot(x - hip[0], z - hip[1])
        bend = sqrt(max((0.46 * size) ** 2 - (reach / 2) ** 2, 0.0)) / reach
        knee = ((hip[0] + x) / 2 - bend * (z - hip[1]), y * 1.15, (hip[1] + z) / 2 + bend * (x - hip[0]))
        thigh = rod((hip[0], y * 0.7, hip[1]), knee, 0.12 * size, trousers)
        shin = rod(knee, (x, y, z + 0.06), 0.11 * size, trousers, end=0.08 * size)
        parts += [thigh, shin, box((0.26 * size, 0.13 * size, 0.1), (x + 0.04, y, z), "dark")]
    return somebody(parts)


def _tube(start: Span, stop: Span, paint: str, radius: float = 0.055, y: float = 0.0) -> Mesh:
    """A bar of a frame in the plane at y, between two (x, z) spots."""
    return rod((start[0], y, start[1]), (stop[0], y, stop[1]), radius, paint)


def _bar(x: float, z: float, paint: str = "dark", half: float = 0.34) -> Mesh:
    """Handlebars."""
    return rod((x, -half, z), (x, half, z), 0.045, paint)


def _tyre(x: float, radius: float = 0.36, width: float = 0.2, hub: str = "hub", y: float = 0.0) -> Mesh:
    """A motorcycle's wheel: a solid tyre with a hub on both faces."""
    tread = cylinder(radius, width, (0.0, -width / 2, 0.0), "tyre", "y", 16)
    return (tread + hub_face(radius, width / 2, hub).both_sides()).at(x, y, radius)


def _spoked(x: float, radius: float = 0.46, y: float = 0.0) -> Mesh:
    """A bicycle's wheel: a thin dark tyre about a bright rim, with bright spokes across."""
    turns = [2 * pi * (i + 0.5) / 16 for i in range(16)]

    def loop(r: float, h: float) -> list[Point]:
        return [(r * cos(t), h, r * sin(t)) for t in turns]

    edge, inner = radius - 0.075, radius - 0.14
    tread = [loop(edge, -0.04), loop(radius, -0.012), loop(radius, 0.012), loop(edge, 0.04)]
    rim = [loop(edge, 0.04), loop(inner, 0.0), loop(edge, -0.04)]
    ends = [(inner * cos(t), inner * sin(t)) for t in map(radians, (20, 65, 110, 155))]
    spokes = [rod((a, 0.0, b), (-a, 0.0, -b), 0.017, "hub", sides=3) for a, b in ends]
    return join(loft(tread, "tyre", caps=False), loft(rim, "trim", caps=False), spokes).at(x, y, radius)


def _mudguard(x: float, radius: float, paint: str, sweep: Span, width: float = 0.14) -> Mesh:
    """A painted arc over a wheel that stands at x, from `sweep` degrees (0 ahead, 180 behind)."""
    loops = []
    for i in range(6):
        t = radians(sweep[0] + (sweep[1] - sweep[0]) * i / 5)
        edges = [(radius + 0.02, -1), (radius + 0.02, 1), (radius + 0.09, 0.6), (radius + 0.09, -0.6)]
        loops.append([(x + r * cos(t), s * width / 2, radius + r * sin(t)) for r, s in edges])
    return loft(loops, paint)


def _saddle(x: float) -> Mesh:
    """A bicycle's saddle."""
    return box((0.32, 0.2, 0.08), (x, 0.0, 0.9), "dark")


def _frame(paint: str, half: float = 0.6, saddle: float = -0.28, crank: float = -0.08) -> Mesh:
    """A bicycle's wheels at x = ±half, tubes, mudguard, saddle and handlebars."""
    seat, head, low, hub = (saddle, 0.88), (half - 0.2, 0.94), (crank, 0.38), (-half, 0.46)
    bars = [(low, seat, 0.06), (low, head, 0.065), (seat, head, 0.065), (low, hub, 0.05), (seat, hub, 0.05)]
    tubes = join(_tube(a, b, paint, radius) for a, b, radius in bars)
    fork = _tube((half - 0.24, 1.08), (half, 0.46), paint, 0.06)
    guard = _mudguard(-half, 0.46, paint, (50, 170))
    disc = cylinder(0.13, 0.14, (crank, -0.07, 0.38), "gold", "y", 7)
    cycle = _spoked(-half) + _spoked(half) + tubes + fork + guard
    return cycle + _saddle(saddle) + disc + _bar(half - 0.24, 1.08)


def _cyclist(
    shirt: str, trousers: str, helmet: str, x: float = 0.0, hand: Span = (0.33, 1.1), skin: str = "skin"
) -> Mesh:
    """A rider pedalling about a crank at (x - 0.08, 0.38), hands on the bars."""
    hip, grip, foot, left = (x - 0.28, 1.0), (x + hand[0], hand[1]), (x + 0.05, 0.46), (x - 0.16, 0.2)
    return rider(hip, grip, foot, shirt, trousers, helmet, lean=26, left=left, skin=skin)


def bicycle() -> Mesh:
    """Two thin spoked wheels, a sky-blue frame and a rider in red."""
    return centred(_frame("sky"), _cyclist("red", "navy", "trim"))


def tandem() -> Mesh:
    """A long magenta bicycle with two riders dressed alike in yellow, one behind the other."""
    cycle = _frame("magenta", 1.12, saddle=-0.82, crank=-0.62)
    crank, seat, rear = (0.44, 0.38), (0.22, 0.88), (-0.62, 0.38)
    tubes = join(_tube(a, b, "magenta", 0.065) for a, b in ((crank, seat), (crank, rear), (rear, seat)))
    riders = _cyclist("yellow", "charcoal", "trim", -0.54, (0.3, 1.08))
    riders += _cyclist("yellow", "charcoal", "trim", 0.5, (0.38, 1.1))
    return centred(cycle, tubes, _saddle(0.22), _bar(-0.24, 1.06), riders)


def cargo_bike() -> Mesh:
    """A bicycle with a huge green box, piled with parcels, low before its rider."""
    cycle = _spoked(-1.05) + _spoked(1.2, 0.32) + _mudguard(-1.05, 0.46, "green", (50, 170))
    crank, seat, hub = (-0.52, 0.36), (-0.7, 0.88), (-1.05, 0.46)
    bars = [(crank, seat), (crank, hub), (seat, hub), (crank, (-0.14, 1.06)), ((-0.7, 0.8), (-0.24, 0.9))]
    cycle += join(_tube(a, b, "green") for a, b in bars)
    cycle += _tube(crank, (0.2, 0.3), "green", 0.07) + _tube((0.85, 0.8), (1.2, 0.32), "green", 0.07)
    crate = frustum((0.84, 0.78, 0.66), (1.14, 0.94), (0.42, 0.0, 0.28), "green", 0.04)
    crate += box((1.22, 1.0, 0.1), (0.46, 0.0, 0.92), "trim")
    load = box((0.5, 0.7, 0.42), (0.2, 0.05, 1.0), "amber")
    load += box((0.46, 0.6, 0.28), (0.72, -0.08, 1.0), "coral")
    load += box((0.12, 0.74, 0.44), (0.2, 0.05, 1.0), "crimson")
    person = _cyclist("orange", "charcoal", "cream", -0.46, (0.34, 1.12))
    return centred(cycle, crate, load, _bar(-0.14, 1.1), _saddle(-0.73), person)


def tricycle() -> Mesh:
    """A child's low three-wheeler: a huge front wheel, two small rear ones, a basket, a flag on a whip."""
    tyres = _tyre(0.52, 0.44, 0.16, "yellow") + _tyre(-0.52, 0.25, 0.14, "yellow", 0.38).both_sides()
    axle = rod((-0.52, -0.38, 0.25), (-0.52, 0.38, 0.25), 0.06, "steel")
    tubes = _tube((-0.52, 0.3), (0.3, 0.86), "purple", 0.09)
    tubes += _tube((0.28, 1.04), (0.52, 0.42), "purple", 0.08)
    tubes += _mudguard(0.52, 0.44, "purple", (30, 150), 0.22) + _bar(0.28, 1.04, "yellow")
    basket = frustum((0.4, 0.6, 0.36), (0.52, 0.78), (-0.62, 0.0, 0.46), "purple")
    basket += box((0.56, 0.82, 0.06), (-0.62, 0.0, 0.8), "trim")
    basket += ball(0.17, (-0.62, 0.1, 0.9), "brown", 6, 3)
    saddle = block((0.4, 0.36, 0.16), (-0.22, 0.0, 0.46), "purple", 0.05)
    whip = rod((-0.8, 0.0, 0.5), (-0.86, 0.0, 1.9), 0.03, "trim", 3)
    corners = [(-1.24, 0.0, 1.67), (-0.86, 0.0, 1.5), (-0.86, 0.0, 1.88), (-1.24, 0.0, 1.71)]
    flag = panel(corners, "orange", lift=0.0).both_sides()
    hip, hand, foot, left = (-0.22, 0.68), (0.3, 1.02), (0.5, 0.5), (0.42, 0.24)
    child = rider(hip, hand, foot, "pink", "teal", "yellow", lean=4, size=0.82, stance=0.2, left=left)
    return centred(tyres, axle, tubes, basket, saddle, whip, flag, child)


def rickshaw() -> Mesh:
    """A cyclist pulling a hooded bench for a passenger between two tall wheels."""
    crank, head = (0.52, 0.38), (0.97, 0.92)
    cycle = _spoked(1.15) + _tube(crank, (0.32, 0.88), "gold") + _tube(crank, head, "gold")
    cycle += _tube((0.93, 1.08), (1.15, 0.42), "gold") + _tube(crank, (-0.4, 0.42), "gold", 0.07)
    cycle += _tube((0.32, 0.85), head, "gold") + _bar(0.93, 1.08)
    bench = block((0.95, 1.05, 0.4), (-0.62, 0.0, 0.45), "teal", 0.08)
    bench += box((0.2, 1.0, 0.55), (-0.98, 0.0, 0.8), "gold")
    bench += box((0.99, 1.09, 0.1), (-0.62, 0.0, 0.62), "gold")
    arc = [radians(a) for a in (190, 160, 130, 100, 68)]
    outer, inner = ([(-0.55 + r * cos(a), 1.15 + r * sin(a)) for a in arc] for r in (0.75, 0.67))
    hood = [profile([outer[i], outer[i + 1], inner[i + 1], inner[i]], 1.16, "crimson") for i in range(4)]
    cheek = profile([(-0.55, 1.15), *inner], 0.05, "crimson", y=0.55).both_sides()
    guest = rider((-0.6, 0.92), (-0.25, 0.96), (-0.1, 0.5), "lilac", "lilac", "brown", size=0.78)
    tall = _spoked(-0.6, 0.5, 0.64).both_sides()
    puller = _cyclist("orange", "white", "tan", 0.6, skin="skin dark")
    return centred(cycle, bench, hood, cheek, guest, tall, puller)


def tuk_tuk() -> Mesh:
    """A three-wheeled open cab, green below a yellow roof, its driver behind a tall windscreen."""
    tub = profile([(-1.2, 0.28), (0.7, 0.28), (0.7, 0.48), (-1.2, 0.48)], 1.3, "green")
    nose = frustum((0.7, 1.1, 0.75), (0.3, 0.95), (0.78, 0.0, 0.3), "green", shift=-0.15)
    nose += box((0.4, 0.3, 0.3), (1.08, 0.0, 0.35), "yellow")
    tail = profile([(-1.25, 0.4), (-0.45, 0.4), (-0.55, 0.95), (-1.15, 1.05)], 1.3, "green")
    tail += side((-1.15, -0.55), (0.58, 0.74), 0.65, "yellow")
    roof = profile([(-1.3, 1.62), (0.72, 1.62), (0.6, 1.82), (0.2, 1.9), (-1.1, 1.88)], 1.36, "yellow", 1.2)
    post = _tube((-1.15, 0.95), (-1.2, 1.65), "green", 0.07, 0.58)
    post += _tube((0.72, 1.0), (0.58, 1.65), "green", 0.06, 0.5)
    screen = profile([(0.74, 1.05), (0.78, 1.05), (0.62, 1.63), (0.58, 1.63)], 0.95, "glass")
    people = rider((0.05, 0.72), (0.55, 0.95), (0.42, 0.48), "white", "charcoal", "black", lean=6, size=0.85)
    people += rider((-0.7, 0.86), (-0.4, 0.92), (-0.3, 0.48), "magenta", "magenta", "brown", size=0.72)
    lights = box((0.06, 0.2, 0.2), (1.05, 0.3, 0.7), "headlamp").both_sides()
    lights += box((0.05, 0.2, 0.14), (-1.25, 0.45, 0.62), "taillamp").both_sides()
    axles = wheels([-0.8], 1.4, 0.3, 0.2) + _tyre(1.1, 0.3, 0.18)
    return centred(tub, nose, tail, roof, post.both_sides(), screen, people, lights, axles)


def kick_scooter() -> Mesh:
    """A rider standing tall on a low lime deck with a lime stem, a number plate and tiny wheels."""
    deck = block((1.06, 0.3, 0.14), (-0.05, 0.0, 0.18), "lime", 0.05)
    stem = _tube((0.5, 0.22), (0.42, 1.24), "lime", 0.09) + _bar(0.41, 1.26)
    plate = box((0.08, 0.4, 0.34), (0.5, 0.0, 0.84), "lime")
    plate += front((-0.12, 0.12), (0.9, 1.12), 0.54, "black")
    guards = _mudguard(-0.56, 0.19, "lime", (20, 170)) + _mudguard(0.52, 0.19, "lime", (10, 160))
    tyres = _tyre(-0.56, 0.19, 0.14) + _tyre(0.52, 0.19, 0.14)
    lights = box((0.08, 0.14, 0.12), (0.5, 0.0, 1.2), "headlamp")
    lights += box((0.06, 0.14, 0.1), (-0.76, 0.0, 0.3), "taillamp")
    hip, hand, foot, left = (-0.14, 1.1), (0.36, 1.28), (0.14, 0.32), (-0.34, 0.32)
    person = rider(hip, hand, foot, "purple", "sand", "yellow", lean=5, left=left)
    return centred(deck, stem, plate, guards, tyres, lights, person)


def _machine(paint: str, lamp: float = 0.5) -> Mesh:
    """A motorcycle for the road: fat wheels, engine, round tank, seat, fork, and a headlamp at x = `lamp`."""
    tyres = _tyre(-0.7, 0.38, 0.24) + _tyre(0.72, 0.38, 0.22)
    engine = block((0.62, 0.34, 0.4), (0.02, 0.0, 0.22), "steel", 0.07)
    engine += _tube((-0.1, 0.26), (-0.95, 0.36), "hub", 0.075, 0.2).both_sides()
    knees, crown = [(-0.2, 0.62), (0.45, 0.72), (0.5, 0.92)], [(0.36, 1.0), (0.1, 1.0), (-0.2, 0.84)]
    tank = profile(knees + crown, 0.4, paint, 0.26)
    tail = profile([(-0.25, 0.6), (-0.2, 0.84), (-0.6, 0.84), (-1.05, 0.98), (-1.0, 0.76)], 0.34, paint)
    guard = _mudguard(0.72, 0.38, paint, (20, 150), 0.26)
    fork = _tube((0.44, 1.06), (0.72, 0.38), "hub", 0.05, 0.15).both_sides() + _bar(0.42, 1.08, half=0.38)
    lights = cylinder(0.15, 0.14, (lamp, 0.0, 0.92), "headlamp", "x", 8)
    lights += box((0.05, 0.2, 0.1), (-1.05, 0.0, 0.84), "taillamp")
    return join(tyres, engine, tank, tail, guard, fork, lights)


def _motorcyclist(jacket: str, trousers: str, helmet: str) -> Mesh:
    """The rider of :func:`_machine`."""
    hip, hand, foot = (-0.32, 0.92), (0.36, 1.08), (0.02, 0.24)
    return rider(hip, hand, foot, jacket, trousers, helmet, lean=20, stance=0.25, visor=True)


def motorcycle() -> Mesh:
    """A long crimson chopper: stretched fork, high handlebars, much chrome, a rider who lies back."""
    tyres = _tyre(-0.76, 0.4, 0.3) + _tyre(1.06, 0.37, 0.16)
    engine = block((0.6, 0.36, 0.34), (-0.02, 0.0, 0.24), "silver", 0.07)
    engine += _tube((0.08, 0.44), (0.2, 0.72), "silver", 0.13)
    engine += _tube((-0.08, 0.44), (-0.2, 0.7), "silver", 0.13)
    pipes = _tube((0.16, 0.3), (-1.2, 0.3), "hub", 0.08, 0.24).both_sides()
    rest = _tube((-0.74, 0.74), (-0.94, 1.36), "hub", 0.05, 0.1).both_sides()
    rest += rod((-0.94, -0.1, 1.36), (-0.94, 0.1, 1.36), 0.05, "hub")
    knees, crown = [(-0.3, 0.68), (0.3, 0.8), (0.48, 0.94)], [(0.36, 1.06), (0.1, 1.04), (-0.3, 0.82)]
    tank = profile(knees + crown, 0.44, "crimson", 0.26)
    seat = profile([(-0.96, 0.62), (-0.3, 0.6), (-0.28, 0.72), (-0.6, 0.7), (-0.9, 0.84)], 0.34, "brown")
    guards = _mudguard(-0.76, 0.4, "crimson", (15, 175), 0.36)
    guards += _mudguard(1.06, 0.37, "crimson", (40, 150), 0.24)
    frame = _tube((0.5, 0.98), (0.34, 0.26), "crimson", 0.07)
    frame += _tube((0.34, 0.26), (-0.76, 0.4), "crimson", 0.07)
    fork = _tube((0.46, 1.1), (1.06, 0.37), "hub", 0.05, 0.13).both_sides()
    fork += _tube((0.46, 1.1), (0.3, 1.36), "hub", 0.04, 0.3).both_sides() + _bar(0.3, 1.36, half=0.38)
    lights = cylinder(0.16, 0.14, (0.56, 0.0, 1.0), "headlamp", "x", 8)
    lights += box((0.05, 0.2, 0.12), (-1.18, 0.0, 0.72), "taillamp")
    hip, hand, foot = (-0.5, 0.86), (0.28, 1.34), (0.5, 0.34)
    person = rider(hip, hand, foot, "black", "charcoal", "amber", lean=-6, stance=0.26, visor=True)
    return centred(tyres, engine, pipes, rest, tank, seat, guards, frame, fork, lights, person)


def police_motorcycle() -> Mesh:
    """A white touring machine with fairing, panniers and flashing lights; its officer is in bright yellow."""
    cowl = profile([(0.36, 0.62), (0.62, 0.5), (0.84, 0.86), (0.62, 1.2), (0.4, 1.06)], 0.62, "white", 0.5)
    cowl += frustum((0.08, 0.56, 0.36), (0.06, 0.42), (0.58, 0.0, 1.16), "sky", -0.14)
    cowl += side((0.4, 0.7), (0.74, 0.88), 0.32, "blue", lift=0.0)
    cases = block((0.66, 0.24, 0.5), (-0.74, 0.29, 0.44), "white", 0.06).both_sides()
    cases += side((-1.04, -0.44), (0.58, 0.76), 0.41, "blue")
    cases += block((0.42, 0.5, 0.34), (-0.92, 0.0, 0.94), "white", 0.06)
    lights = box((0.14, 0.4, 0.14), (0.72, 0.0, 1.14), "beacon red") + _tube((-1.0, 1.2), (-1.0, 1.6), "dark")
    lights += cylinder(0.14, 0.26, (-1.0, 0.0, 1.58), "beacon blue", sides=8)
    return centred(_machine("white", 0.7), _motorcyclist("yellow", "navy", "trim"), cowl, cases, lights)


def sidecar_motorcycle() -> Mesh:
    """A yellow motorcycle with a bullet-nosed passenger's car at its right, with a wheel and a windscreen."""
    ends = [(-0.85, 0.2), (-0.6, 0.36), (-0.2, 0.4), (0.65, 0.4), (1.0, 0.3), (1.35, 0.06)]
    turns = [radians(45 * i + 22.5) for i in range(8)]
    car = loft([[(x, r * cos(t), 0.56 + r * sin(t)) for t in turns] for x, r in ends], "yellow")
    car += frustum((0.08, 0.7, 0.42), (0.06, 0.5), (0.86, 0.0, 0.84), "sky", -0.14)
    car += side((-0.2, 0.65), (0.5, 0.64), 0.37, "crimson")
    hip, hand, foot = (0.34, 0.76), (0.66, 0.96), (0.6, 0.4)
    car += rider(hip, hand, foot, "green", "green", "sky", lean=2, size=0.9, stance=0.1)
    car += _tyre(-0.15, 0.3, 0.16, "hub", -0.46) + box((0.6, 0.2, 0.06), (-0.15, -0.46, 0.62), "crimson")
    car += rod((0.0, 0.0, 0.4), (0.0, 0.9, 0.4), 0.06, "dark")
    return centred(_machine("yellow"), _motorcyclist("brown", "charcoal", "cream"), car.at(0.0, -0.82))


def _step_through(paint: str, accent: str, shirt: str, trousers: str, helmet: str) -> Mesh:
    """A motor scooter: small wheels, a tall leg shield, a flat floor, a bulging tail, an upright rider."""
    tyres = _tyre(-0.64, 0.28, 0.2, "trim") + _tyre(0.74, 0.28, 0.2, "trim")
    floor = box((0.9, 0.4, 0.12), (0.1, 0.0, 0.22), paint)
    shield = profile([(0.46, 0.24), (0.66, 0.24), (0.58, 0.8), (0.46, 1.08), (0.34, 1.08)], 0.62, paint, 0.44)
    upper, lower = [(-0.14, 0.24), (-0.06, 0.68), (-0.84, 0.8)], [(-1.02, 0.66), (-1.02, 0.48), (-0.92, 0.36)]
    tail = profile(upper + lower, 0.54, paint, 0.38)
    nose = profile([(0.5, 0.46), (1.06, 0.4), (1.0, 0.58), (0.84, 0.68), (0.55, 0.78)], 0.3, paint)
    nose += _bar(0.38, 1.12, half=0.38)
    trims = side((-0.78, -0.3), (0.5, 0.6), 0.25, accent) + side((-0.3, 0.5), (0.24, 0.31), 0.2, accent)
    saddle = block((0.74, 0.38, 0.14), (-0.46, 0.0, 0.74), "brown", 0.05)
    lights = cylinder(0.13, 0.12, (0.46, 0.0, 1.06), "headlamp", "x", 8)
    lights += box((0.05, 0.24, 0.12), (-1.0, 0.0, 0.54), "taillamp")
    hip, hand, foot = (-0.32, 0.92), (0.34, 1.14), (0.24, 0.34)
    person = rider(hip, hand, foot, shirt, trousers, helmet, lean=2, stance=0.15)
    return join(tyres, floor, shield, tail, nose, trims, saddle, lights, person)


def scooter() -> Mesh:
    """A round mint step-through with cream trims, its rider upright in coral."""
    return centred(_step_through("mint", "cream", "coral", "navy", "cream"))


def delivery_scooter() -> Mesh:
    """A red scooter with a huge square yellow box behind its rider."""
    chest = box((0.86, 0.94, 0.82), (-0.98, 0.0, 0.88), "yellow")
    chest += box((0.92, 1.0, 0.12), (-0.98, 0.0, 1.68), "crimson")
    chest += side((-1.24, -0.72), (1.06, 1.52), 0.47, "crimson")
    chest += side((-1.1, -0.86), (1.16, 1.42), 0.47, "trim", lift=0.03)
    return centred(_step_through("red", "yellow", "black", "charcoal", "yellow"), chest)


def quad_bike() -> Mesh:
    """Four fat tyres under high lime mudguards, a bull bar, a rider astride in white."""
    tyres = wheels([-0.62, 0.62], 1.36, 0.38, 0.36, "lime")
    belly, back_line = [(-0.85, 0.46), (0.85, 0.46), (0.98, 0.68), (0.92, 0.84)], [(0.5, 0.94), (-0.1, 0.78)]
    hull = profile([*belly, *back_line, (-0.9, 0.84)], 0.5, "lime")
    rise, fall = [(-0.52, 0.72), (0.52, 0.72), (0.42, 0.86)], [(0.2, 0.92), (-0.2, 0.92), (-0.42, 0.86)]
    guard = profile(rise + fall, 0.44, "lime", y=0.46)
    guards = join(guard.at(x).both_sides() for x in (-0.62, 0.62))
    racks = box((0.46, 0.74, 0.07), (-0.82, 0.0, 0.96), "dark")
    racks += box((0.36, 0.7, 0.07), (0.76, 0.0, 0.98), "dark")
    bars = join(rod((1.02, -0.34, z), (1.02, 0.34, z), 0.05, "silver") for z in (0.5, 0.8))
    saddle = block((0.7, 0.36, 0.14), (-0.3, 0.0, 0.78), "black", 0.06)
    stem = _tube((0.4, 0.84), (0.28, 1.16), "dark", 0.07) + _bar(0.28, 1.16, half=0.44)
    lights = box((0.06, 0.2, 0.16), (0.96, 0.16, 0.66), "headlamp").both_sides()
    lights += box((0.05, 0.18, 0.12), (-0.9, 0.14, 0.68), "taillamp").both_sides()
    hip, hand, foot = (-0.3, 1.0), (0.24, 1.18), (0.12, 0.46)
    person = rider(hip, hand, foot, "white", "charcoal", "magenta", lean=14, stance=0.28, visor=True)
    return centred(tyres, hull, guards, racks, bars, saddle, stem, lights, person)


KINDS: dict[str, VehicleKind] = {
    "motorcycle": VehicleKind(motorcycle, body="crimson"),
    "bicycle": VehicleKind(bicycle, body="sky"),
    "scooter": VehicleKind(scooter, body="mint"),
    "rickshaw": VehicleKind(rickshaw, body="crimson"),
    "quad bike": VehicleKind(quad_bike, body="lime"),
    "tricycle": VehicleKind(tricycle, body="purple"),
    "cargo bike": VehicleKind(cargo_bike, body="green"),
    "sidecar motorcycle": VehicleKind(sidecar_motorcycle, body="yellow"),
    "tuk-tuk": VehicleKind(tuk_tuk, body="green"),
    "police motorcycle": VehicleKind(police_motorcycle, body="white"),
    "delivery scooter": VehicleKind(delivery_scooter, body="red"),
    "tandem bicycle": VehicleKind(tandem, body="magenta"),
    "kick scooter": VehicleKind(kick_scooter, body="lime"),
}
