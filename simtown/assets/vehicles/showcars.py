"""Long, low, fast, old and tiny cars: those one turns to look at."""

from __future__ import annotations

from collections.abc import Callable

from simtown.assets.mesh import (
    Mesh,
    arches,
    back,
    block,
    body,
    box,
    cabin,
    cylinder,
    front,
    frustum,
    join,
    profile,
    rod,
    side,
    top,
    wheels,
)
from simtown.assets.vehicles.cars import eyes, flames, hull, shell, stripes, wing


def limousine() -> Mesh:
    """White and very long, a row of dark windows, a gold line."""
    house = cabin((-2.25, 1.7), (-1.85, 1.15), (0.88, 1.42), (1.56, 1.26), "white", pillars=(0.22, 0.41, 0.6, 0.78))
    house += side((-1.55, 1.55), (0.56, 0.64), 0.84, "gold") + box((0.3, 0.5, 0.1), (0.6, 0, 1.41), "charcoal")
    aerial = rod((-2.4, 0, 0.88), (-2.7, 0, 1.4), 0.04, "gold")
    stations = hull(5.7, 0.84, (0.84, 0.9, 0.92, 0.8, 0.68), 1.65, 0.2)
    return shell(stations, "white", [-2.0, 2.05], hub="gold", bumper="silver") + house + aerial


def hearse() -> Mesh:
    """Black and long, its tall rear windows hung with pale curtains, flowers on the roof."""
    house = cabin((-2.2, 1.1), (-2.08, 0.6), (0.96, 1.78), (1.6, 1.36), "black", pillars=(0.66,))
    swags = [side((x, x + 0.56), (1.08, 1.62), 0.79, "lilac", 0.705, lift=0.03) for x in (-1.98, -1.28, -0.58)]
    rail = side((-2.1, 1.9), (0.82, 0.89), 0.84, "silver") + box((0.1, 0.5, 0.5), (2.24, 0, 0.4), "silver")
    blooms = enumerate(("pink", "white", "magenta", "white", "pink"))
    wreath = [cylinder(0.24, 0.24, (-1.7 + 0.42 * i, 0.0, 1.87), p, sides=6, end=0.1) for i, p in blooms]
    bed = box((2.2, 0.7, 0.1), (-0.9, 0, 1.77), "forest")
    car = shell(hull(4.5, 0.84, (0.95, 1.0, 1.0, 0.9, 0.8), 1.05), "black", [-1.45, 1.45], 0.36, bumper="silver")
    return car + house + join(swags) + rail + join(wreath) + bed


def sports_car() -> Mesh:
    """A crimson wedge, very low, with a wing on its tail."""
    stations = [(-1.75, 0.84, 0.26, 0.74), (-1.6, 0.9, 0.16, 0.8), (-0.5, 0.9, 0.16, 0.78), (0.75, 0.9, 0.16, 0.73),
                (1.4, 0.9, 0.16, 0.63), (1.8, 0.84, 0.18, 0.34)]  # fmt: skip
    house = cabin((-1.1, 0.85), (-0.6, -0.15), (0.68, 1.1), (1.5, 1.05), "crimson", pillars=(0.4,))
    spoiler = box((0.4, 1.8, 0.07), (-1.62, 0, 1.06), "crimson") + box((0.2, 0.08, 0.32), (-1.6, 0.6, 0.76), "dark").both_sides()
    scoops = side((-0.62, -0.15), (0.34, 0.62), 0.9, "dark") + top((-1.55, -1.15), (-0.5, 0.5), 0.805, "dark", 0.795)
    pops = top((1.42, 1.62), (0.4, 0.74), 0.62, "headlamp", 0.475).both_sides()
    return shell(stations, "crimson", [-1.08, 1.1], 0.31, hub="gold", bevel=0.05) + house + spoiler + scoops + pops


def racing_car() -> Mesh:
    """Lime and white: a needle between four open wheels, wings at both ends, a helmet."""
    tub = body([(-1.75, 0.3, 0.25, 0.62), (-0.9, 0.42, 0.14, 0.86), (-0.45, 0.42, 0.14, 0.66), (0.3, 0.36, 0.14, 0.62),
                (1.9, 0.12, 0.2, 0.4)], "lime")  # fmt: skip
    pods = body([(-1.1, 0.62, 0.14, 0.5), (-0.6, 0.74, 0.14, 0.56), (0.35, 0.74, 0.14, 0.52), (0.45, 0.66, 0.18, 0.4)], "white")
    pods += side((-0.55, 0.3), (0.2, 0.42), 0.74, "lime") + frustum((0.6, 0.4, 0.4), (0.2, 0.3), (-0.95, 0, 0.8), "lime", 0.15)
    tail = box((0.45, 1.6, 0.08), (-1.8, 0, 1.05), "white") + box((0.6, 0.06, 0.55), (-1.8, 0.83, 0.65), "lime").both_sides()
    tail += box((0.2, 0.2, 0.5), (-1.75, 0, 0.58), "dark")
    nose = box((0.4, 1.7, 0.07), (1.8, 0, 0.16), "white") + box((0.5, 0.06, 0.22), (1.8, 0.88, 0.12), "lime").both_sides()
    axles = [rod((x, -0.8, z), (x, 0.8, z), 0.05, "dark") for x, z in ((-1.3, 0.38), (1.2, 0.33))]
    pilot = block((0.42, 0.38, 0.42), (-0.4, 0, 0.62), "orange", 0.12) + box((0.06, 0.28, 0.12), (-0.18, 0, 0.78), "dark")
    tyres = wheels([-1.3], 1.9, 0.38, 0.4, "lime") + wheels([1.2], 1.8, 0.33, 0.32, "lime")
    return tub + pods + tail + nose + join(axles) + pilot + tyres


def muscle_car() -> Mesh:
    """Forest green: a very long bonnet with a scoop, fat rear tyres, white stripes."""
    stations = hull(3.7, 0.84, (0.84, 0.98, 0.94, 0.84, 0.76), -0.2)
    house = cabin((-1.5, 0.1), (-0.75, -0.35), (0.92, 1.42), (1.5, 1.14), "forest", pillars=(0.45,))
    lines = stripes(stations[2:], "white", 0.24) + side((-0.62, 0.72), (0.44, 0.62), 0.84, "white")
    lines += top((-0.73, -0.37), (-0.35, -0.13), 1.42, "white").both_sides() + front((-0.7, 0.7), (0.46, 0.7), 1.85, "dark")
    scoop = frustum((0.6, 0.4, 0.2), (0.4, 0.3), (0.75, 0, 0.86), "black", 0.08) + box((0.2, 1.6, 0.12), (-1.72, 0, 0.97), "forest")
    fat = wheels([-1.1], 1.82, 0.4, 0.3, "white") + arches([-1.1], 0.84, 0.46, z=0.4)
    return shell(stations, "forest", [1.2], hub="white", bevel=0.06) + house + lines + scoop + fat


def hot_rod() -> Mesh:
    """Purple with flames: a bare chrome engine in front, a chopped cab, huge rear tyres."""
    tub = body([(-1.6, 0.5, 0.4, 0.8), (-1.35, 0.62, 0.32, 0.98), (0.2, 0.62, 0.32, 0.98), (0.5, 0.5, 0.32, 0.9)], "purple")
    house = cabin((-1.15, 0.15), (-1.0, -0.1), (0.94, 1.36), (1.16, 0.98), "purple", pillars=())
    nose = box((1.3, 0.5, 0.14), (1.0, 0, 0.34), "dark") + box((0.16, 0.6, 0.62), (1.55, 0, 0.34), "purple")
    nose += front((-0.22, 0.22), (0.42, 0.88), 1.63, "silver") + rod((1.3, -0.75, 0.32), (1.3, 0.75, 0.32), 0.05, "hub")
    engine = box((0.8, 0.46, 0.4), (0.98, 0, 0.46), "silver") + box((0.5, 0.34, 0.24), (0.98, 0, 0.86), "red")
    engine += box((0.34, 0.5, 0.16), (0.98, 0, 1.1), "silver") + rod((1.2, 0.5, 0.46), (-0.5, 0.72, 0.4), 0.07, "hub").both_sides()
    pipes = [rod((x, 0.22, 0.75), (x - 0.15, 0.5, 0.5), 0.06, "hub").both_sides() for x in (0.75, 0.97, 1.19)]
    ends = eyes((1.52, 0.46, 0.72)) + box((0.06, 0.14, 0.14), (-1.58, 0.34, 0.52), "taillamp").both_sides()
    tyres = wheels([-1.05], 2.0, 0.5, 0.42) + wheels([1.3], 1.62, 0.32, 0.2)
    return tub + house + nose + engine + join(pipes) + ends + flames(0.2, 0.36, 0.62, 1.05, 0.52) + tyres


def vintage_car() -> Mesh:
    """A hundred years old: upright cream cab, narrow bonnet, sweeping brown wings, big gold wheels."""
    bonnet = body([(0.1, 0.48, 0.4, 1.08), (1.35, 0.36, 0.4, 1.0)], "cream", 0.14) + box((0.08, 0.6, 0.62), (1.38, 0, 0.42), "gold")
    tub = body([(-1.3, 0.5, 0.5, 0.95), (-1.15, 0.6, 0.4, 1.08), (0.15, 0.6, 0.4, 1.1)], "cream")
    house = cabin((-1.2, 0.12), (-1.12, 0.06), (1.06, 1.68), (1.16, 1.1), "cream")
    house += frustum((1.4, 1.24, 0.14), (1.2, 1.0), (-0.5, 0, 1.68), "brown")
    wings = wing(1.05, 0.68, 0.44, 0.3, "brown", 0.42, (0, 160)) + wing(-1.05, 0.68, 0.44, 0.3, "brown", 0.42, (10, 180))
    wings += box((1.35, 0.34, 0.08), (0, 0.68, 0.36), "brown").both_sides() + eyes((1.36, 0.42, 0.98), 0.18, "gold")
    spare = cylinder(0.36, 0.16, (-1.5, 0, 0.85), "tyre", "x", 10) + cylinder(0.2, 0.04, (-1.53, 0, 0.85), "gold", "x", 8)
    bumper = box((0.1, 1.3, 0.1), (1.6, 0, 0.4), "gold") + rod((1.3, 0.3, 0.45), (1.6, 0.3, 0.45), 0.04, "gold").both_sides()
    rear = box((0.06, 0.14, 0.14), (-1.32, 0.5, 0.6), "taillamp").both_sides()
    return bonnet + tub + house + wings + spare + bumper + rear + wheels([-1.05, 1.05], 1.66, 0.42, 0.16, "gold")


def microcar() -> Mesh:
    """A sky-blue bubble hardly longer than it is tall."""
    stations = [(-1.1, 0.4, 0.3, 0.7), (-0.9, 0.66, 0.24, 0.88), (0.0, 0.74, 0.22, 0.92), (0.85, 0.7, 0.24, 0.88),
                (1.1, 0.46, 0.3, 0.65)]  # fmt: skip
    bubble = cylinder(0.68, 0.55, (0, 0, 0.86), "glass", sides=10, end=0.52)
    bubble += cylinder(0.56, 0.16, (0, 0, 1.4), "white", sides=10, end=0.3)
    posts = rod((-0.05, 0.68, 0.85), (-0.03, 0.52, 1.44), 0.07, "sky").both_sides()
    band = side((-0.4, 0.4), (0.52, 0.64), 0.74, "white")
    return shell(stations, "sky", [-0.7, 0.7], 0.26, hub="white", bevel=0.15) + bubble.scaled(1.3, 1, 1) + posts + band


def caravan() -> Mesh:
    """A little red car towing a tall white caravan with a teal band."""
    house = cabin((-1.22, 0.6), (-1.05, 0.15), (0.88, 1.45), (1.42, 1.2), "red")
    car = shell(hull(2.6, 0.76, (0.85, 0.92, 0.92, 0.76, 0.66), 0.55, 0.24), "red", [-0.82, 0.82], 0.31) + house
    outline = [(-1.45, 0.4), (1.25, 0.4), (1.5, 0.8), (1.45, 1.6), (1.05, 2.2), (-1.05, 2.2), (-1.45, 1.75)]
    home = profile(outline, 1.8, (0, 0, 0), "white") + box((0.6, 0.6, 0.12), (-0.2, 0, 2.2), "silver")
    home += side((-0.45, 1.45), (0.82, 1.04), 0.9, "teal") + side((-1.4, -1.1), (0.82, 1.04), 0.9, "teal")
    home += side((0.1, 1.05), (1.25, 1.8), 0.9, "glass") + side((-0.4, -0.05), (1.25, 1.8), 0.9, "glass")
    home += side((-1.05, -0.5), (0.5, 1.95), 0.9, "teal") + side((-0.95, -0.6), (1.3, 1.8), 0.9, "glass", lift=0.03)
    home += back((-0.6, 0.6), (1.1, 1.6), -1.45, "glass") + box((0.06, 0.2, 0.2), (-1.45, 0.7, 0.5), "taillamp").both_sides()
    home += wheels([0.0], 1.92, 0.36) + arches([0.0], 0.9, 0.44, z=0.36)
    hitch = rod((-0.1, 0, 0.5), (0.4, 0, 0.45), 0.06, "dark") + cylinder(0.1, 0.35, (0.12, 0, 0.02), "dark", sides=6)
    return car.at(1.58) + home.at(-1.42) + hitch


KINDS: dict[str, Callable[[], Mesh]] = {
    "limousine": limousine,
    "hearse": hearse,
    "sports car": sports_car,
    "racing car": racing_car,
    "hot rod": hot_rod,
    "muscle car": muscle_car,
    "vintage car": vintage_car,
    "microcar": microcar,
    "caravan": caravan,
}
