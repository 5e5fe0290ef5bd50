"""Long, low, fast, old and tiny cars: those one turns to look at."""

from __future__ import annotations

from math import cos, radians, sin

from simtown.assets.mesh import *
from simtown.assets.vehicles.cars import doors, eyes, flames, hull, shell, stripes, wing


def limousine() -> Mesh:
    """White and very long, a row of dark windows, a gold line, a gold aerial."""
    stations = hull(5.7, 0.84, (0.84, 0.9, 0.92, 0.8, 0.68), 1.65, 0.2)
    car = shell(stations, "white", [-2.0, 2.05], hub="gold", bumper="silver")
    pillars = (0.22, 0.41, 0.6, 0.78)
    house = cabin((-2.25, 1.7), (-1.85, 1.15), (0.88, 1.42), (1.56, 1.26), "white", pillars)
    line = side((-1.55, 1.6), (0.54, 0.64), 0.84, "gold") + box((0.5, 0.5, 0.08), (0.6, 0, 1.41), "charcoal")
    line += doors((-1.5, -0.75, 0.8, 1.5), (0.26, 0.8), 0.84, (1.45, 0.92), "gold")
    skirt = side((-1.55, 1.6), (0.2, 0.32), 0.84, "dark", lift=0.02)
    return car + house + line + skirt + rod((-2.4, 0, 0.88), (-2.7, 0, 1.4), 0.04, "gold")


def hearse() -> Mesh:
    """Black and long, a long flat roof, and a great pale rear window with a coffin among flowers in it."""
    stations = hull(4.5, 0.84, (0.95, 1.0, 1.0, 0.9, 0.78), 1.05)
    car = shell(stations, "black", [-1.45, 1.45], 0.36, hub="silver", bumper="silver")
    house = cabin((-2.24, 1.1), (-2.12, 0.6), (0.96, 1.8), (1.6, 1.38), "black", pillars=(0.66,))
    pane = side((-2.02, -0.3), (1.05, 1.7), 0.79, "cream", 0.71, lift=0.03)
    coffin = side((-1.86, -0.46), (1.08, 1.42), 0.79, "wood", 0.745, lift=0.045)
    coffin += side((-1.74, -0.58), (1.22, 1.28), 0.775, "gold", 0.765, lift=0.06)
    blooms = ((-1.82, "magenta"), (-1.42, "white"), (-1.02, "pink"), (-0.62, "crimson"))
    wreath = join(side((x, x + 0.26), (1.4, 1.58), 0.75, paint, 0.735, lift=0.045) for x, paint in blooms)
    rail = box((2.3, 0.06, 0.08), (-0.95, 0.56, 1.8), "silver").both_sides()
    rail += side((-2.1, 1.9), (0.8, 0.89), 0.84, "silver", lift=0.02)
    nose = box((0.1, 0.6, 0.5), (2.24, 0, 0.4), "silver")
    seams = doors((-0.2, 0.62), (0.3, 0.8), 0.84, (0.95, 1.0), "silver", "steel")
    return car + house + pane + coffin + wreath + rail + nose + seams


def sports_car() -> Mesh:
    """A crimson wedge, very low, a black wing high on its tail, a white roundel on its doors."""
    tail = [(-1.75, 0.84, 0.26, 0.7), (-1.72, 0.87, 0.2, 0.78), (-1.6, 0.9, 0.16, 0.8)]
    bonnet = [(0.75, 0.9, 0.16, 0.73), (1.35, 0.9, 0.16, 0.62)]
    nose = [(1.65, 0.88, 0.16, 0.48), (1.8, 0.84, 0.18, 0.32)]
    car = shell(
        [*tail, (-0.5, 0.9, 0.16, 0.78), *bonnet, *nose], "crimson", [-1.08, 1.1], 0.33, "gold", bevel=0.06
    )
    house = cabin((-1.15, 0.85), (-0.6, -0.15), (0.68, 1.1), (1.5, 1.05), "crimson", pillars=(0.4,))
    spoiler = box((0.46, 1.84, 0.08), (-1.62, 0, 1.14), "black")
    spoiler += box((0.22, 0.08, 0.4), (-1.6, 0.6, 0.76), "dark").both_sides()
    scoops = side((-0.66, -0.2), (0.3, 0.6), 0.9, "dark")
    scoops += top((-1.5, -1.18), (-0.5, 0.5), 0.805, "dark", 0.8)
    roundel = cylinder(0.24, 0.012, (0.28, 0.9, 0.44), "trim", "y", 12).both_sides()
    roundel += side((0.25, 0.31), (0.32, 0.56), 0.912, "black")
    strips = stripes(bonnet + nose, "trim", 0.14, 0.14) + box((0.2, 1.5, 0.08), (1.78, 0, 0.14), "dark")
    pops = top((1.4, 1.6), (0.42, 0.74), 0.62, "headlamp", 0.51).both_sides()
    return car + house + spoiler + scoops + roundel + strips + pops + doors((-0.12, 0.62), (0.24, 0.72), 0.9)


def racing_car() -> Mesh:
    """Lime and white: a needle between four open wheels, wings at both ends, a helmet."""
    engine = [(-1.75, 0.3, 0.25, 0.62), (-0.9, 0.42, 0.14, 0.86), (-0.45, 0.42, 0.14, 0.66)]
    needle = [(0.3, 0.36, 0.14, 0.62), (1.4, 0.2, 0.18, 0.48), (1.9, 0.1, 0.22, 0.36)]
    tub = body(engine + needle, "lime")
    rear = [(-1.1, 0.62, 0.14, 0.5), (-0.6, 0.74, 0.14, 0.56)]
    ahead = [(0.35, 0.74, 0.14, 0.52), (0.45, 0.66, 0.18, 0.4)]
    pods = body(rear + ahead, "white") + side((-0.55, 0.3), (0.2, 0.42), 0.74, "lime")
    pods += frustum((0.6, 0.4, 0.4), (0.2, 0.3), (-0.95, 0, 0.8), "lime", 0.15)
    pods += side((-0.2, -0.06), (0.22, 0.4), 0.75, "black", lift=0.02)
    tail = box((0.5, 1.6, 0.09), (-1.8, 0, 1.05), "white")
    tail += box((0.66, 0.06, 0.6), (-1.8, 0.83, 0.62), "lime").both_sides()
    tail += box((0.2, 0.2, 0.5), (-1.75, 0, 0.58), "dark")
    nose = box((0.4, 1.7, 0.07), (1.8, 0, 0.16), "white")
    nose += box((0.5, 0.06, 0.22), (1.8, 0.88, 0.12), "lime").both_sides()
    axles = join(rod((x, -0.8, z), (x, 0.8, z), 0.05, "dark") for x, z in ((-1.3, 0.4), (1.2, 0.34)))
    pilot = ball(0.25, (-0.4, 0, 0.84), "orange") + box((0.06, 0.3, 0.12), (-0.18, 0, 0.8), "dark")
    hoop = rod((-0.1, 0.3, 0.66), (-0.02, 0.0, 0.94), 0.035, "dark").both_sides()
    hoop += rod((-0.02, 0.0, 0.94), (0.26, 0.0, 0.64), 0.035, "dark")
    tyres = wheels([-1.3], 1.9, 0.4, 0.42, "white") + wheels([1.2], 1.8, 0.34, 0.32, "white")
    return tub + pods + tail + nose + axles + pilot + hoop + tyres


def muscle_car() -> Mesh:
    """Forest green: a very long bonnet with a blower, fat rear tyres, white stripes."""
    stations = hull(3.7, 0.84, (0.84, 0.98, 0.94, 0.84, 0.74), -0.2)
    car = shell(stations, "forest", [1.2], hub="white", bumper="silver", bevel=0.06)
    house = cabin((-1.5, 0.1), (-0.75, -0.35), (0.92, 1.42), (1.5, 1.14), "forest", pillars=(0.45,))
    lines = stripes(stations[3:], "white", 0.24) + side((-0.6, 0.74), (0.44, 0.64), 0.84, "white", lift=0.02)
    lines += top((-0.71, -0.39), (-0.35, -0.13), 1.42, "white").both_sides()
    seams = doors((-0.55, 0.4), (0.28, 0.84), 0.85, (0.05, 0.98))
    blower = box((0.6, 0.42, 0.16), (0.72, 0, 0.86), "dark")
    blower += box((0.44, 0.34, 0.2), (0.72, 0, 1.02), "silver")
    blower += frustum((0.4, 0.5, 0.14), (0.34, 0.44), (0.74, 0, 1.2), "amber")
    lip = box((0.24, 1.6, 0.14), (-1.72, 0, 0.97), "forest")
    pipes = rod((0.7, 0.88, 0.28), (-0.62, 0.88, 0.28), 0.06, "silver").both_sides()
    fat = wheels([-1.1], 1.84, 0.42, 0.32, "white") + arches([-1.1], 0.84, 0.48, z=0.42)
    return car + house + lines + seams + blower + lip + pipes + fat


def hot_rod() -> Mesh:
    """Purple with flames: a bare chrome engine in front, a chopped cab, huge rear tyres."""
    tail = [(-1.6, 0.5, 0.4, 0.76), (-1.52, 0.56, 0.36, 0.9), (-1.35, 0.62, 0.32, 0.98)]
    tub = body([*tail, (0.2, 0.62, 0.32, 0.98), (0.5, 0.5, 0.32, 0.9)], "purple")
    house = cabin((-1.15, 0.15), (-1.0, -0.1), (0.94, 1.36), (1.16, 0.98), "purple", pillars=())
    nose = box((1.3, 0.5, 0.14), (1.0, 0, 0.34), "dark") + box((0.16, 0.6, 0.62), (1.55, 0, 0.34), "purple")
    nose += front((-0.22, 0.22), (0.42, 0.88), 1.63, "silver")
    nose += rod((1.3, -0.75, 0.32), (1.3, 0.75, 0.32), 0.05, "hub")
    engine = box((0.8, 0.46, 0.4), (0.98, 0, 0.46), "silver") + box((0.5, 0.34, 0.24), (0.98, 0, 0.86), "red")
    engine += box((0.34, 0.5, 0.16), (0.98, 0, 1.1), "silver")
    engine += rod((1.2, 0.5, 0.46), (-0.5, 0.72, 0.4), 0.07, "hub").both_sides()
    pipes = [rod((x, 0.22, 0.75), (x - 0.15, 0.5, 0.5), 0.06, "hub").both_sides() for x in (0.75, 0.97, 1.19)]
    ends = eyes((1.52, 0.46, 0.72)) + box((0.06, 0.14, 0.14), (-1.58, 0.34, 0.52), "taillamp").both_sides()
    tyres = wheels([-1.05], 2.0, 0.52, 0.42, "trim") + wheels([1.3], 1.62, 0.32, 0.2, "trim")
    return join(tub, house, nose, engine, pipes, ends, flames(0.2, 0.36, 0.62, 1.05, 0.52), tyres)


def vintage_car() -> Mesh:
    """A hundred years old: upright cream cab, narrow bonnet, sweeping brown wings, big gold wheels."""
    bonnet = body([(0.1, 0.48, 0.4, 1.08), (1.35, 0.36, 0.4, 1.0)], "cream", 0.14)
    bonnet += box((0.08, 0.6, 0.62), (1.38, 0, 0.42), "gold")
    tub = body([(-1.3, 0.5, 0.5, 0.95), (-1.15, 0.6, 0.4, 1.08), (0.15, 0.6, 0.4, 1.1)], "cream")
    house = cabin((-1.2, 0.12), (-1.12, 0.06), (1.06, 1.68), (1.16, 1.1), "cream")
    house += frustum((1.4, 1.24, 0.14), (1.2, 1.0), (-0.5, 0, 1.68), "brown")
    wings = wing(1.05, 0.68, 0.44, 0.3, "brown", 0.42, (0, 160))
    wings += wing(-1.05, 0.68, 0.44, 0.3, "brown", 0.42, (10, 180))
    wings += box((1.35, 0.34, 0.08), (0, 0.68, 0.36), "brown").both_sides()
    lights = eyes((1.36, 0.42, 0.98), 0.18, "gold")
    spare = cylinder(0.36, 0.16, (-1.5, 0, 0.85), "tyre", "x")
    spare += cylinder(0.2, 0.04, (-1.53, 0, 0.85), "gold", "x", 8)
    bumper = box((0.1, 1.3, 0.1), (1.6, 0, 0.4), "gold")
    bumper += rod((1.3, 0.3, 0.45), (1.6, 0.3, 0.45), 0.04, "gold").both_sides()
    rear = box((0.06, 0.14, 0.14), (-1.32, 0.5, 0.6), "taillamp").both_sides()
    tyres = wheels([-1.05, 1.05], 1.66, 0.42, 0.16, "gold")
    return bonnet + tub + house + wings + lights + spare + bumper + rear + tyres


def microcar() -> Mesh:
    """A sky-blue egg under a great glass bubble: one door, round eyes and a smile in front, tiny wheels."""
    tail = [(-1.1, 0.36, 0.34, 0.6), (-1.02, 0.5, 0.28, 0.76), (-0.8, 0.66, 0.22, 0.88)]
    belt = [(-0.2, 0.74, 0.2, 0.94), (0.5, 0.74, 0.2, 0.94)]
    nose = [(0.88, 0.66, 0.22, 0.86), (1.06, 0.52, 0.28, 0.72), (1.12, 0.4, 0.34, 0.58)]
    egg = body(tail + belt + nose, "sky", 0.18)
    # height, half length, half width
    rings = [(0.0, 0.92, 0.7), (0.28, 0.88, 0.68), (0.46, 0.74, 0.58), (0.58, 0.54, 0.44), (0.66, 0.2, 0.16)]
    turns = [radians(30 * i + 15) for i in range(12)]
    outline = [[(a * cos(t), b * sin(t), z) for t in turns] for z, a, b in rings]
    bubble = (loft(outline[:3], "glass") + loft(outline[2:], "white")).at(0.06, 0, 0.86)
    posts = rod((-0.3, 0.68, 0.9), (-0.26, 0.56, 1.32), 0.08, "sky").both_sides()
    posts += rod((0.95, 0, 0.9), (0.78, 0, 1.32), 0.06, "sky")
    band = side((-0.36, 0.44), (0.2, 0.4), 0.74, "white", lift=0.02)
    seams = doors((-0.3, 0.42), (0.4, 0.86), 0.74, (0.6, 1.0), "white")
    face = eyes((1.08, 0.42, 0.66), 0.17, "white") + box((0.06, 0.5, 0.07), (1.12, 0, 0.36), "white")
    face += box((0.06, 0.07, 0.16), (1.1, 0.27, 0.38), "white").both_sides()
    rear = box((0.06, 0.16, 0.12), (-1.06, 0.3, 0.5), "taillamp").both_sides()
    tyres = wheels([-0.72, 0.72], 1.44, 0.23, 0.18, "white")
    return egg + bubble + posts + band + seams + face + rear + tyres


def caravan() -> Mesh:
    """A big white caravan with a teal band and coral curtains, towed by a little mint car."""
    stations = hull(2.2, 0.72, (0.78, 0.84, 0.84, 0.7, 0.58), 0.45, 0.22)
    car = shell(stations, "mint", [-0.68, 0.68], 0.29, bumper="silver")
    car += cabin((-1.02, 0.5), (-0.88, 0.1), (0.8, 1.34), (1.36, 1.16), "mint")
    nose = [(-1.72, 0.42), (1.3, 0.42), (1.62, 0.8), (1.68, 1.4), (1.56, 1.9), (1.2, 2.32)]
    tail = [(0.9, 2.42), (-1.2, 2.42), (-1.5, 2.3), (-1.72, 1.9)]
    home = profile(nose + tail, 1.9, "white") + box((0.7, 0.7, 0.14), (-0.3, 0, 2.42), "silver")
    home += side((-1.7, 1.6), (0.84, 1.1), 0.95, "teal") + side((-1.7, 1.36), (0.42, 0.52), 0.95, "dark")
    home += join(side(x, (1.3, 1.95), 0.95, "glass") for x in ((0.25, 1.3), (-0.5, 0.0)))
    home += join(side(x, (1.3, 1.95), 0.95, "coral", lift=0.03) for x in ((0.25, 0.42), (1.13, 1.3)))
    home += side((-1.35, -0.7), (0.5, 2.08), 0.95, "teal", lift=0.03)
    home += side((-1.22, -0.83), (1.35, 1.9), 0.95, "glass", lift=0.045)
    home += back((-0.65, 0.65), (1.2, 1.8), -1.72, "glass")
    home += box((0.06, 0.2, 0.24), (-1.72, 0.74, 0.55), "taillamp").both_sides()
    home += wheels([-0.1], 2.0, 0.38) + arches([-0.1], 0.955, 0.46, z=0.38)
    hitch = rod((-0.1, 0, 0.5), (0.6, 0, 0.45), 0.06, "dark")
    hitch += cylinder(0.1, 0.35, (0.34, 0, 0.02), "dark", sides=6)
    return car.at(1.83) + home.at(-1.27) + hitch


KINDS: dict[str, VehicleKind] = {
    "limousine": VehicleKind(limousine, body="white"),
    "hearse": VehicleKind(hearse, body="black"),
    "sports car": VehicleKind(sports_car, body="crimson"),
    "racing car": VehicleKind(racing_car, body="lime"),
    "hot rod": VehicleKind(hot_rod, body="purple"),
    "muscle car": VehicleKind(muscle_car, body="forest"),
    "vintage car": VehicleKind(vintage_car, body="cream"),
    "microcar": VehicleKind(microcar, body="sky"),
    "caravan": VehicleKind(caravan, body="white"),
}
