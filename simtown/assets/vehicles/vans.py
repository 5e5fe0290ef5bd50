"""Vans: a bonneted van and a step van, their working versions and liveries."""

from __future__ import annotations

from functools import partial

from simtown.assets.mesh import *
from simtown.assets.vehicles.cars import doors


def _gear(half: float = 0.9) -> Mesh:
    """Wheels, arches, lamps and bumpers common to all vans."""
    axles = (-1.2, 1.25)
    gear = wheels(axles, 2 * half + 0.1, 0.38, 0.24) + arches(axles, half + 0.02, 0.47, z=0.38)
    gear += lamps(2.0, -2.0, 0.6, 0.68, 0.22)
    return gear + join(box((0.14, 1.5, 0.18), (x, 0.0, 0.3), "charcoal") for x in (1.98, -1.98))


def _shell(upper: str, lower: str, rear: float, height: float) -> Mesh:
    """A bonneted van's shell from `rear` to the nose, in two paints, with windscreen and door windows."""
    tail = [(rear, 0.84, 0.3, 0.8), (rear + 0.12, 0.9, 0.26, 0.8)]
    nose = [(1.88, 0.9, 0.26, 0.8), (2.0, 0.8, 0.34, 0.8)]
    van = body(tail + nose, lower, 0.0)
    slope, brow = (height - 1.28) / 0.55, height - 0.12
    tail = [(rear, 0.82, 0.8, height - 0.14), (rear + 0.04, 0.87, 0.8, height - 0.05)]
    roof = [(0.52, 0.9, 0.8, height), (0.7, 0.9, 0.8, height - 0.04), (0.75 + 0.12 / slope, 0.9, 0.8, brow)]
    bonnet = [(1.3, 0.9, 0.8, 1.28), (1.78, 0.87, 0.8, 1.1), (1.94, 0.82, 0.8, 1.02), (2.0, 0.74, 0.8, 0.92)]
    van += body([*tail, (rear + 0.14, 0.9, 0.8, height), *roof, *bonnet], upper, 0.14)
    foot, crest = 1.3 - 0.06 / slope, 1.3 - (brow - 1.3) / slope
    van += front((-0.72, 0.72), (1.34, brow - 0.02), foot, "glass", crest)
    above = (0.15, 1.3 - (height - 0.55) / slope)
    van += side((0.15, 1.1), (1.12, height - 0.3), 0.9, "glass", x_top=above)
    return van + doors((0.11, 1.16), (0.34, 1.1), 0.9, (1.12, 1.18))


def plain_van(paint: str, strip: str, lower: str | None = None) -> Mesh:
    """A closed van in one paint with a broad belt in another: tall box behind, short bonnet before."""
    rear = join(back(y, (1.2, 1.75), -2.0, "glass") for y in ((-0.7, -0.05), (0.05, 0.7)))
    rail = side((-1.86, 1.78), (0.84, 1.02), 0.9, strip) + back((-0.8, 0.8), (0.84, 1.02), -2.0, strip)
    return _shell(paint, lower or paint, -2.0, 2.1) + rear + rail + _gear()


def _cross(x: float, z: float, y: float, size: float, paint: str) -> Mesh:
    """A cross on both flanks, on a white square, so that it stands out on any body paint."""
    a, b, c = size / 2, size / 6, 0.6 * size
    bars = [(-b, b, a), (-a, -b, b), (b, a, b)]  # from and to along x, up and down
    square = side((x - c, x + c), (z - c, z + c), y, "trim")
    return join(square, [side((x + u, x + v), (z - h, z + h), y, paint, lift=0.03) for u, v, h in bars])


def ambulance() -> Mesh:
    """A white box behind the cab, an orange belt, a big red cross and lights before and behind."""
    cab = _shell("white", "orange", 0.2, 1.95)
    ward = block((2.5, 1.96, 2.15), (-0.75, 0.0, 0.4), "white", 0.14)
    belt = side((-1.88, 0.38), (0.62, 0.92), 0.98, "orange")
    belt += back((-0.85, 0.85), (0.62, 0.92), -2.0, "orange")
    for x, z, count in ((-1.88, (0.62, 0.77), 5), (-1.63, (0.77, 0.92), 4)):
        checks = [(x + 0.5 * i, x + 0.25 + 0.5 * i) for i in range(count)]
        belt += join(side(check, z, 0.98, "yellow", lift=0.03) for check in checks)
    cross = _cross(-0.75, 1.66, 0.98, 1.2, "red")
    rear = join(back(y, (1.2, 2.0), -2.0, "glass") for y in ((-0.75, -0.05), (0.05, 0.75)))
    lights = beacon(0.3, 2.55, width=1.5) + beacon(-1.75, 2.55, width=1.5)
    return cab + ward + belt + cross + rear + lights + _gear(0.98)


def police_van() -> Mesh:
    """White over a navy skirt, two rows of blue chequers and a light bar."""
    spots = [(-1.86 + 0.45 * i, -1.41 + 0.45 * i, 0.27 * (i % 2)) for i in range(5)]
    checks = join(side((a, b), (0.82 + z, 1.09 + z), 0.9, "blue", lift=0.03) for a, b, z in spots)
    windows = join(side((x, x + 0.7), (1.42, 1.84), 0.9, "glass") for x in (-1.75, -0.85))
    lights = beacon(0.45, 2.1, width=1.5) + box((0.2, 0.2, 0.22), (-1.7, 0.0, 2.08), "beacon blue")
    return plain_van("white", "white", "navy") + checks + windows + lights


def news_van() -> Mesh:
    """Crimson over a white skirt, with a white panel; a huge white dish on a mast on its roof."""
    globe = side((-1.7, -0.1), (1.12, 1.68), 0.9, "white")
    globe += side((-1.5, -0.3), (1.32, 1.48), 0.9, "crimson", lift=0.03)
    foot = box((0.7, 0.7, 0.16), (-0.7, 0.0, 2.08), "charcoal")
    mast = rod((-0.7, 0.0, 2.1), (-0.7, 0.0, 2.7), 0.12, "steel", 6)
    dish = cylinder(0.25, 0.4, (0.0, 0.0, -0.4), "white", sides=12, end=0.95)
    dish += cylinder(0.82, 0.02, (0.0, 0.0, 0.0), "silver", sides=12)
    dish += rod((0.0, 0.0, 0.01), (0.0, 0.0, 0.6), 0.07, "dark") + ball(0.16, (0.0, 0.0, 0.6), "amber", 6, 3)
    aimed = dish.turned(42, "y").at(-0.7, 0.0, 2.72)
    return plain_van("crimson", "amber", "white") + globe + foot + mast + aimed


def _awning(x: Span, z: float, y: float, paints: tuple[str, str], stripes: int, out: float) -> Mesh:
    """A striped sloping awning on both flanks (seen from above and from below)."""
    (x0, x1), step, low, edge = x, (x[1] - x[0]) / stripes, z - 0.32, -y - out
    parts = []
    for i in range(stripes):
        a, b = x0 + i * step, x0 + (i + 1) * step
        parts.append(panel([(a, edge, low), (b, edge, low), (b, -y, z), (a, -y, z)], paints[i % 2]))
    under = [(x1, edge, low), (x0, edge, low), (x0, -y, z), (x1, -y, z)]
    return join(parts, panel(under, paints[0], lift=0.0)).both_sides()


def ice_cream_van() -> Mesh:
    """Pink over a cream skirt, with a giant cone on its roof and a striped awning over the hatch."""
    van = _shell("pink", "cream", -2.0, 2.0) + back((-0.6, 0.6), (1.2, 1.75), -2.0, "glass")
    hatch = side((-1.5, -0.1), (1.1, 1.62), 0.9, "dark")
    hatch += side((-1.65, 0.05), (0.98, 1.1), 0.9, "trim", lift=0.06)
    awning = _awning((-1.6, 0.0), 1.84, 0.9, ("magenta", "white"), 7, 0.17)
    cone = cylinder(0.1, 0.75, (0.0, 0.0, 0.0), "tan", sides=8, end=0.46)
    cone += cylinder(0.5, 0.12, (0.0, 0.0, 0.72), "gold", sides=8)
    cone += ball((0.52, 0.52, 0.4), (0.0, 0.0, 0.95), "magenta", 8, 3, -0.2)
    cone += ball((0.36, 0.36, 0.34), (0.0, 0.0, 1.28), "white", 8, 3, -0.2)
    cone += ball(0.13, (0.0, 0.0, 1.66), "red", 6, 3)
    return van + hatch + awning + cone.scaled(1.3, 1.3, 0.9).at(-0.6, 0.0, 1.97) + _gear()


def _step_van(paint: str, roof: str, height: float = 2.3) -> Mesh:
    """A tall upright box with a stub nose and a big flat windscreen."""
    eave = height - 0.15
    tail = [(-2.0, 0.9, 0.34, eave), (-1.88, 0.96, 0.28, eave)]
    nose = [(1.3, 0.96, 0.28, eave), (1.45, 0.9, 0.28, eave)]
    van = body(tail + nose, paint, 0.0)
    edge = ((-2.0, 0.9), (-1.88, 0.96), (1.35, 0.96), (1.55, 0.9))
    van += body([(x, half, eave, height) for x, half in edge], roof, 0.1)
    van += body([(1.4, 0.9, 0.28, 1.15), (1.8, 0.86, 0.28, 1.08), (2.0, 0.74, 0.34, 0.92)], paint, 0.12)
    van += front((-0.78, 0.78), (1.2, height - 0.25), 1.45, "glass")
    van += side((0.75, 1.25), (0.6, height - 0.3), 0.96, "glass")
    van += front((-0.4, 0.4), (0.5, 0.8), 2.0, "silver")
    return van + doors((0.68, 1.3), (0.36, height - 0.25), 0.96, (1.4, 1.3)) + _gear(0.96)


def mail_van() -> Mesh:
    """Navy under a white roof; a big white envelope with a red seal on each flank and behind."""
    letter = side((-1.75, 0.45), (0.76, 1.92), 0.96, "white")
    letter += back((-0.65, 0.65), (0.95, 1.75), -2.0, "white")
    flap = side((-0.72, -0.58), (1.2, 1.86), 0.96, "sky", lift=0.03, x_top=(-1.68, 0.38))
    corners = [(-2.0, 0.05, 1.3), (-2.0, -0.05, 1.3), (-2.0, -0.6, 1.7), (-2.0, 0.6, 1.7)]
    flap += panel(corners, "sky", lift=0.03)
    seal = cylinder(0.2, 0.04, (-0.65, 0.97, 1.25), "red", "y", 8).both_sides()
    return _step_van("navy", "white", 2.2) + letter + flap + seal


def delivery_van() -> Mesh:
    """A brown step van with a parcel painted on each flank."""
    parcel = side((-1.3, -0.1), (0.75, 1.75), 0.96, "sand")
    parcel += side((-0.84, -0.56), (0.75, 1.75), 0.96, "amber", lift=0.03)
    stripe = side((-1.85, 0.65), (1.95, 2.12), 0.96, "amber")
    rear = back((-0.75, 0.75), (0.6, 1.8), -2.0, "sand")
    rear += back((-0.12, 0.12), (0.6, 1.8), -2.0, "amber", lift=0.03)
    return _step_van("brown", "brown", 2.4) + parcel + stripe + rear


def food_truck() -> Mesh:
    """Magenta with a lit hatch under a yellow and white awning, and a giant hot dog on the roof."""
    van = _step_van("magenta", "yellow", 2.3) + back((-0.5, 0.5), (0.5, 1.9), -2.0, "yellow")
    hatch = side((-1.6, 0.4), (1.15, 1.7), 0.96, "lamp glow")
    hatch += side((-1.7, 0.5), (1.02, 1.15), 0.96, "white", lift=0.08)
    keeper = side((-0.9, -0.5), (1.15, 1.4), 0.96, "white", lift=0.03)
    keeper += side((-0.8, -0.6), (1.4, 1.6), 0.96, "skin", lift=0.03)
    awning = _awning((-1.75, 0.55), 2.05, 0.96, ("white", "yellow"), 8, 0.11)
    dog = ball((1.15, 0.42, 0.3), (0.0, 0.0, 0.28), "tan", low=-0.7)
    dog += cylinder(0.2, 2.2, (-1.1, 0.0, 0.55), "red", "x", 8)
    dog += ball(0.2, (1.1, 0.0, 0.55), "red") + ball(0.2, (-1.1, 0.0, 0.55), "red")
    for i, y in enumerate((0.12, -0.12, 0.12, -0.12)):  # mustard
        dog += rod((-0.8 + 0.4 * i, y, 0.75), (-0.4 + 0.4 * i, -y, 0.75), 0.06, "yellow")
    return van + hatch + somebody(keeper) + awning + dog.at(-0.4, 0.0, 2.27)


def camper_van() -> Mesh:
    """A cream house on a lime cab, with a sleeping nook that juts out over the windscreen."""
    cab = _shell("lime", "lime", 0.2, 1.8)
    home = block((2.5, 1.96, 2.05), (-0.75, 0.0, 0.42), "cream", 0.14)
    home += body([(0.4, 0.96, 1.72, 2.46), (1.1, 0.96, 1.78, 2.42), (1.4, 0.86, 1.95, 2.25)], "cream", 0.14)
    waves = side((-1.85, 0.35), (0.62, 1.06), 0.98, "lime") + side((-1.85, 0.36), (2.08, 2.2), 0.98, "lime")
    waves += side((0.5, 1.08), (2.08, 2.2), 0.96, "lime") + back((-0.84, 0.84), (0.62, 1.06), -2.0, "lime")
    door = side((-0.2, 0.3), (0.55, 1.95), 0.98, "white", lift=0.03)
    door += side((-0.1, 0.2), (1.35, 1.8), 0.98, "glass", lift=0.05)
    window = side((-1.6, -0.5), (1.25, 1.85), 0.98, "glass")
    window += join(side(x, (1.25, 1.85), 0.98, "coral", lift=0.03) for x in ((-1.6, -1.4), (-0.7, -0.5)))
    window += back((-0.6, 0.6), (1.3, 1.9), -2.0, "glass")
    hatch = box((0.6, 0.6, 0.14), (-0.9, 0.0, 2.46), "white")
    slit = side((0.55, 0.95), (1.86, 2.02), 0.96, "glass")
    return cab + home + waves + door + window + hatch + slit + _gear(0.98)


KINDS: dict[str, VehicleKind] = {
    "ambulance": VehicleKind(ambulance, body="white"),
    "ice-cream van": VehicleKind(ice_cream_van, body="pink"),
    "mail van": VehicleKind(mail_van, body="navy"),
    "delivery van": VehicleKind(delivery_van, body="brown"),
    "white van": VehicleKind(partial(plain_van, "white", "black"), body="white"),
    "black van": VehicleKind(partial(plain_van, "black", "trim"), body="black"),
    "blue van": VehicleKind(partial(plain_van, "blue", "yellow"), body="blue"),
    "police van": VehicleKind(police_van, body="white"),
    "news van": VehicleKind(news_van, body="crimson"),
    "food truck": VehicleKind(food_truck, body="magenta"),
    "camper van": VehicleKind(camper_van, body="cream"),
}
