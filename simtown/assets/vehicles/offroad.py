"""Pickups and cars for fields, sand and lawns."""

from __future__ import annotations

from simtown.assets.mesh import *
from simtown.assets.vehicles.cars import doors, driver, eyes, flames, hull, shell, windscreen, wing


def _spare(x: float, z: float, cover: str) -> Mesh:
    """A spare wheel upright on a tail at x."""
    tyre = cylinder(0.36, 0.2, (x - 0.2, 0, z), "tyre", "x", 16)
    return tyre + cylinder(0.23, 0.03, (x - 0.23, 0, z), cover, "x", 12)


def _hoop(x: Span, half: Span, z: Span, radius: float, paint: str) -> Mesh:
    """A bent tube over the seats: up from the feet (first x, half width and z) and across."""
    post = rod((x[0], half[0], z[0]), (x[1], half[1], z[1]), radius, paint).both_sides()
    return post + rod((x[1], -half[1], z[1]), (x[1], half[1], z[1]), radius, paint)


def _bed(x: Span, half: float, z: Span, paint: str, floor: str = "dark") -> Mesh:
    """The open box of a pickup: two walls, a tailgate and a floor."""
    length, height, mid = x[1] - x[0], z[1] - z[0], (x[0] + x[1]) / 2
    walls = box((length, 0.12, height), (mid, half - 0.06, z[0]), paint).both_sides()
    gate = box((0.12, 2 * half - 0.24, height), (x[0] + 0.06, 0, z[0]), paint)
    return walls + gate + top((x[0] + 0.12, x[1]), (0.12 - half, half - 0.12), z[0] + 0.05, floor)


def _pickup(paint: str, cab: Span, lift: float, radius: float, hub: str, floor: str) -> Mesh:
    """A pickup with its cab between two x (`cab`), raised by `lift`."""
    low, (split, nose) = 0.28 + lift, cab
    bed = [(-1.95, 0.84, low, 0.74 + lift), (split, 0.84, low, 0.74 + lift)]
    middle = [(split, 0.84, low, 1.0 + lift), (nose, 0.84, low, 1.02 + lift)]
    bonnet = [(1.8, 0.84, low, 0.92 + lift), (1.95, 0.8, low + 0.08, 0.82 + lift)]
    car = shell(bed + middle + bonnet, paint, [-1.2, 1.22], radius, hub, "silver")
    roof = (split + 0.12, nose - 0.4)
    car += cabin((split + 0.02, nose), roof, (0.96 + lift, 1.68 + lift), (1.56, 1.3), paint, pillars=())
    return car + _bed((-1.95, split), 0.84, (0.72 + lift, 1.04 + lift), paint, floor)


def pickup() -> Mesh:
    """Orange, a short cab and a long open bed with a blue and a teal barrel, a white stripe."""
    car = _pickup("orange", (-0.3, 0.85), 0.0, 0.38, "white", "dark")
    band = side((-0.7, 0.72), (0.42, 0.6), 0.84, "white", lift=0.02)
    seams = doors((-0.26, 0.66), (0.3, 0.92), 0.85, (0.68, 1.02), "white")
    barrels = cylinder(0.26, 0.66, (-1.4, 0.3, 0.76), "blue")
    barrels += cylinder(0.26, 0.66, (-0.82, -0.3, 0.76), "teal")
    return car + band + seams + barrels


def red_pickup() -> Mesh:
    """An old farm pickup: round wings, wooden rails and bales of hay."""
    nose = body([(0.55, 0.6, 0.35, 1.1), (1.2, 0.56, 0.35, 1.08), (1.6, 0.4, 0.4, 0.92)], "red", 0.2)
    bed = [(-1.7, 0.66, 0.35, 0.75), (-0.35, 0.66, 0.35, 0.75)]
    middle = [(-0.35, 0.72, 0.35, 1.12), (0.6, 0.72, 0.35, 1.12)]
    tub = body(bed + middle, "red")
    house = cabin((-0.35, 0.6), (-0.25, 0.3), (1.08, 1.66), (1.4, 1.16), "red", pillars=())
    house += frustum((0.55, 1.16, 0.1), (0.3, 0.8), (0.03, 0, 1.65), "red")
    rails = join(box((1.35, 0.06, 0.12), (-1.03, 0.68, z), "tan").both_sides() for z in (0.78, 0.98))
    bales = box((0.6, 1.2, 0.6), (-0.75, 0, 0.75), "hay") + box((0.55, 1.2, 0.45), (-1.36, 0, 0.75), "hay")
    wings = join(wing(x, 0.74, 0.42, 0.32, "red", 0.36) for x in (1.1, -1.05))
    wings += box((1.4, 0.24, 0.1), (0, 0.74, 0.3), "dark").both_sides()
    ends = eyes((1.52, 0.6, 0.88), 0.17)
    ends += box((0.06, 0.16, 0.18), (-1.72, 0.56, 0.5), "taillamp").both_sides()
    ends += box((0.12, 1.5, 0.12), (1.7, 0, 0.34), "white")
    ends += front((-0.34, 0.34), (0.46, 0.84), 1.6, "silver")
    tyres = wheels([-1.05, 1.1], 1.84, 0.36, hub="white")
    return nose + tub + house + rails + bales + wings + ends + tyres


def black_pickup() -> Mesh:
    """Black and high on big wheels, a chrome hoop over the bed, amber lamps and stripe."""
    bar = box((0.14, 1.1, 0.18), (0.3, 0, 1.9), "beacon amber")
    hoop = _hoop((-1.25, -0.6), (0.74, 0.62), (1.2, 1.86), 0.08, "silver")
    sill = box((1.3, 0.12, 0.14), (0, 0.9, 0.44), "silver").both_sides()
    grille = front((-0.5, 0.5), (0.68, 0.98), 1.95, "silver")
    line = side((-1.9, 1.75), (0.9, 1.02), 0.84, "amber", lift=0.03)
    return _pickup("black", (-0.42, 0.95), 0.24, 0.5, "silver", "silver") + bar + hoop + sill + grille + line


def suv() -> Mesh:
    """Sand under a white roof, tall and square: black cladding, big wheels, a roof rack, a spare wheel."""
    stations = hull(3.45, 0.88, (1.1, 1.16, 1.16, 1.08, 0.98), 0.85, 0.36)
    car = shell(stations, "sand", [-1.1, 1.12], 0.44, bumper="black")
    house = cabin((-1.66, 0.9), (-1.56, 0.5), (1.12, 1.88), (1.7, 1.46), "sand", pillars=(0.34, 0.66))
    clad = side((-0.62, 0.64), (0.36, 0.66), 0.88, "black", lift=0.02)
    clad += front((-0.7, 0.7), (0.45, 0.62), 1.725, "black")
    clad += box((0.1, 1.24, 0.08), (0.1, 0, 1.98), "black")
    seams = doors((-0.58, 0.06, 0.72), (0.66, 1.04), 0.88, (0.72, 1.2), "black")
    lid = block((1.94, 1.36, 0.12), (-0.53, 0, 1.86), "white", 0.06)
    rack = box((1.5, 0.07, 0.1), (-0.6, 0.58, 1.98), "black").both_sides()
    return car + house + clad + seams + lid + rack + _spare(-1.68, 0.95, "white")


def jeep() -> Mesh:
    """Olive and open: flat wings, a slotted flat nose, a roll hoop, a spare wheel."""
    tail = [(-1.45, 0.7, 0.42, 0.95), (0.3, 0.7, 0.42, 0.95)]
    nose = [(0.35, 0.56, 0.42, 1.02), (1.4, 0.5, 0.42, 0.98)]
    tub = body(tail + nose, "olive", 0.05)
    wings = box((0.9, 0.3, 0.08), (1.0, 0.7, 0.84), "olive")
    wings += box((0.75, 0.24, 0.08), (-0.95, 0.78, 0.82), "olive")
    slots = join(front((y, y + 0.1), (0.52, 0.9), 1.4, "dark") for y in (-0.31, -0.11, 0.09, 0.29))
    frame = windscreen((0.3, 0.18), (1.0, 1.5), 0.62, "olive")
    frame += _hoop((-0.75, -0.75), (0.62, 0.58), (0.9, 1.6), 0.06, "dark")
    star = cylinder(0.22, 0.012, (-0.32, 0.7, 0.7), "trim", "y", 5).both_sides()
    inside = top((-1.35, 0.2), (-0.6, 0.6), 0.95, "dark") + box((0.2, 1.1, 0.35), (-0.55, 0, 0.95), "tan")
    person = driver((-0.3, 0.3, 0.9), "sand")
    ends = lamps(1.4, -1.45, 0.4, 0.72, z_tail=0.6) + box((0.14, 1.4, 0.14), (1.5, 0, 0.42), "dark")
    ends += _spare(-1.42, 0.86, "sand")
    tyres = wheels([-0.95, 1.02], 1.72, 0.42, 0.26, "sand")
    return join(tub, wings.both_sides(), slots, frame, star, inside, person, ends, tyres)


def monster_truck() -> Mesh:
    """A small blue pickup high on four enormous wheels."""
    bed = [(-1.65, 0.78, 1.2, 1.56), (-0.4, 0.78, 1.15, 1.56)]
    middle = [(-0.4, 0.78, 1.15, 1.84), (0.75, 0.78, 1.15, 1.86)]
    bonnet = [(1.5, 0.78, 1.15, 1.76), (1.65, 0.74, 1.22, 1.66)]
    car = body(bed + middle + bonnet, "blue")
    house = cabin((-0.38, 0.7), (-0.25, 0.3), (1.8, 2.5), (1.46, 1.2), "blue", pillars=())
    house += box((0.14, 1.0, 0.18), (0.05, 0, 2.5), "beacon amber") + flames(1.5, 1.18, 0.78, 2.2, 0.5)
    tub = _bed((-1.65, -0.4), 0.78, (1.54, 1.88), "blue")
    frame = box((2.6, 0.5, 0.3), (0, 0, 0.85), "dark")
    frame += join(rod((x, -0.7, 0.72), (x, 0.7, 0.72), 0.1, "amber") for x in (-1.1, 1.1))
    shocks = [rod((x, 0.38, 0.72), (x * 0.6, 0.55, 1.25), 0.08, "amber") for x in (-1.1, 1.1)]
    frame += join(shock.both_sides() for shock in shocks) + lamps(1.65, -1.65, 0.5, 1.34, 0.2)
    return car + house + tub + frame + wheels([-1.1, 1.1], 2.08, 0.72, 0.52, "amber").at(z=-0.015)


def buggy() -> Mesh:
    """A bare magenta tube cage on fat tyres, an amber tub, a tall flag."""
    tail = [(-1.3, 0.35, 0.35, 0.7), (-0.9, 0.55, 0.3, 0.72)]
    nose = [(0.3, 0.55, 0.3, 0.72), (1.3, 0.28, 0.4, 0.62)]
    tub = body(tail + nose, "amber")
    engine = box((0.5, 0.6, 0.35), (-1.15, 0, 0.65), "steel")
    engine += rod((-1.2, 0.3, 0.8), (-1.5, 0.35, 1.1), 0.07, "hub").both_sides()
    cage = _hoop((0.45, 0.0), (0.5, 0.42), (0.7, 1.5), 0.06, "magenta")
    cage += _hoop((-0.7, -0.75), (0.52, 0.42), (0.7, 1.5), 0.06, "magenta")
    bar = rod((0.0, 0.42, 1.5), (-0.75, 0.42, 1.5), 0.06, "magenta")
    bar += rod((-0.75, 0.42, 1.5), (-1.35, 0.3, 0.7), 0.06, "magenta")
    axles = join(rod((x, -0.8, z), (x, 0.8, z), 0.06, "dark") for x, z in ((-1.05, 0.46), (1.05, 0.36)))
    flag = rod((-1.05, 0, 0.8), (-1.15, 0, 2.2), 0.035, "dark")
    flag += box((0.5, 0.04, 0.3), (-1.37, 0, 1.9), "magenta")
    ends = eyes((1.1, 0.28, 0.78), 0.14) + box((0.06, 0.14, 0.12), (-1.42, 0.2, 0.7), "taillamp").both_sides()
    tyres = wheels([-1.05], 1.96, 0.46, 0.42, "amber") + wheels([1.05], 1.8, 0.36, 0.3, "amber")
    pilot = driver((-0.4, 0, 0.65), "white", "magenta")
    return join(tub, engine, cage, bar.both_sides(), axles, flag, ends, tyres, pilot)


def golf_cart() -> Mesh:
    """A white canopy on four posts over two players, bags of clubs behind."""
    rear = [(-1.1, 0.55, 0.26, 0.5), (-1.0, 0.6, 0.22, 0.42), (0.6, 0.6, 0.22, 0.4)]
    nose = [(0.7, 0.6, 0.22, 0.88), (0.95, 0.57, 0.24, 0.8), (1.1, 0.5, 0.3, 0.62)]
    floor = body(rear + nose, "mint")
    bench = box((0.55, 1.1, 0.3), (-0.35, 0, 0.4), "mint")
    bench += box((0.5, 1.06, 0.08), (-0.35, 0, 0.69), "cream")
    bench += box((0.16, 1.1, 0.5), (-0.62, 0, 0.72), "cream")
    post = rod((0.75, 0.52, 0.8), (0.5, 0.55, 1.8), 0.045, "white")
    post += rod((-0.85, 0.52, 0.45), (-0.8, 0.55, 1.8), 0.045, "white")
    roof = frustum((1.9, 1.36, 0.14), (1.7, 1.16), (-0.15, 0, 1.78), "white")
    players = driver((-0.35, 0.28, 0.76), "coral", "white")
    players += driver((-0.35, -0.28, 0.76), "blue", "white", "skin dark")
    bags = cylinder(0.2, 0.75, (-0.95, 0.25, 0.42), "red", sides=8)
    bags += cylinder(0.2, 0.75, (-0.95, -0.25, 0.42), "navy", sides=8)
    clubs = join(rod((-0.95, y, 1.1), (-1.0, y * 1.2, 1.55), 0.05, "silver") for y in (0.2, -0.25))
    gear = lamps(1.06, -1.1, 0.34, 0.46, 0.14, 0.34) + wheels([-0.72, 0.75], 1.26, 0.25, 0.2)
    return floor + bench + post.both_sides() + roof + players + bags + clubs + gear


KINDS: dict[str, VehicleKind] = {
    "pickup": VehicleKind(pickup, body="orange"),
    "red pickup": VehicleKind(red_pickup, body="red"),
    "black pickup": VehicleKind(black_pickup, body="black"),
    "SUV": VehicleKind(suv, body="sand"),
    "jeep": VehicleKind(jeep, body="olive"),
    "monster truck": VehicleKind(monster_truck, body="blue"),
    "buggy": VehicleKind(buggy, body="amber"),
    "golf cart": VehicleKind(golf_cart, body="mint"),
}
