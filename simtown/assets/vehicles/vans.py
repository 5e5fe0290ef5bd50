"""Vans: a bonneted van and a step van, their working versions and liveries."""

from __future__ import annotations

from functools import partial

from simtown.assets.mesh import *
from simtown.assets.vehicles.cars import doors

_AXLES = (-1.2, 1.25)


def _gear(half: float = 0.9, radius: float = 0.38) -> Mesh:
    """Wheels, arches, lamps and bumpers common to all vans."""
    bumpers = box((0.14, 1.5, 0.18), (1.98, 0.0, 0.3), "charcoal") + box(
        (0.14, 1.5, 0.18), (-1.98, 0.0, 0.3), "charcoal"
    )
    return join(
        wheels(_AXLES, 2 * half + 0.1, radius, 0.24),
        arches(_AXLES, half + 0.02, radius + 0.09, z=radius),
        lamps(2.0, -2.0, 0.6, 0.68, 0.22),
        bumpers,
    )


def _shell(upper: str, lower: str, rear: float, height: float) -> Mesh:
    """A bonneted van's shell from `rear` to the nose, in two paints, with windscreen and door windows."""
    skirt = body(
        [
            (rear, 0.84, 0.3, 0.8),
            (rear + 0.12, 0.9, 0.26, 0.8),
            (1.88, 0.9, 0.26, 0.8),
            (2.0, 0.8, 0.34, 0.8),
        ],
        lower,
        0.0,
    )
    slope = (height - 1.28) / 0.55
    brow = height - 0.12
    load = [
        (rear, 0.82, 0.8, height - 0.14),
        (rear + 0.04, 0.87, 0.8, height - 0.05),
        (rear + 0.14, 0.9, 0.8, height),
    ]
    screen_top = [
        (0.52, 0.9, 0.8, height),
        (0.7, 0.9, 0.8, height - 0.04),
        (0.75 + 0.12 / slope, 0.9, 0.8, brow),
    ]
    bonnet = [(1.3, 0.9, 0.8, 1.28), (1.78, 0.87, 0.8, 1.1), (1.94, 0.82, 0.8, 1.02), (2.0, 0.74, 0.8, 0.92)]
    house = body([*load, *screen_top, *bonnet], upper, 0.14)
    screen = front(
        (-0.72, 0.72), (1.34, brow - 0.02), 1.3 - 0.06 / slope, "glass", 1.3 - (brow - 1.3) / slope
    )
    door = panel(
        [
            (0.15, -0.9, 1.12),
            (1.1, -0.9, 1.12),
            (1.3 - (height - 0.55) / slope, -0.9, height - 0.3),
            (0.15, -0.9, height - 0.3),
        ],
        "glass",
    )
    return join(skirt, house, screen, door.both_sides(), doors((0.11, 1.16), (0.34, 1.1), 0.9, (1.12, 1.18)))


def plain_van(paint: str, strip: str, lower: str | None = None) -> Mesh:
    """A closed van in one paint with a broad belt in another: tall box behind, short bonnet before."""
    rear = back((-0.7, -0.05), (1.2, 1.75), -2.0, "glass") + back((0.05, 0.7), (1.2, 1.75), -2.0, "glass")
    rail = side((-1.86, 1.78), (0.84, 1.02), 0.9, strip) + back((-0.8, 0.8), (0.84, 1.02), -2.0, strip)
    return _shell(paint, lower or paint, -2.0, 2.1) + rear + rail + _gear()


def _cross(x: float, z: float, y: float, size: float, paint: str) -> Mesh:
    """A cross on both flanks, on a white square, so that it stands out on any body paint."""
    a, b, c = size / 2, size / 6, 0.6 * size
    bars = [
        ((x - b, x + b), (z - a, z + a)),
        ((x - a, x - b), (z - b, z + b)),
        ((x + b, x + a), (z - b, z + b)),
    ]
    return join(
        side((x - c, x + c), (z - c, z + c), y, "trim"), [side(*bar, y, paint, lift=0.03) for bar in bars]
    )


def ambulance() -> Mesh:
    """A white box behind the cab, an orange belt, a big red cross and lights before and behind."""
    cab = _shell("white", "orange", 0.2, 1.95)
    ward = block((2.5, 1.96, 2.15), (-0.75, 0.0, 0.4), "white", 0.14)
    belt = side((-1.88, 0.38), (0.62, 0.92), 0.98, "orange") + back(
        (-0.85, 0.85), (0.62, 0.92), -2.0, "orange"
    )
    belt += join(
        side((-1.88 + 0.5 * i, -1.63 + 0.5 * i), (0.62, 0.77), 0.98, "yellow", lift=0.03) for i in range(5)
    )
    belt += join(
        side((-1.63 + 0.5 * i, -1.38 + 0.5 * i), (0.77, 0.92), 0.98, "yellow", lift=0.03) for i in range(4)
    )
    cross = _cross(-0.75, 1.66, 0.98, 1.2, "red")
    rear = back((-0.75, -0.05), (1.2, 2.0), -2.0, "glass") + back((0.05, 0.75), (1.2, 2.0), -2.0, "glass")
    lights = beacon(0.3, 2.55, width=1.5) + beacon(-1.75, 2.55, width=1.5)
    return cab + ward + belt + cross + rear + lights + _gear(0.98)


def police_van() -> Mesh:
    """White over a navy skirt, two rows of blue chequers and a light bar."""
    van = plain_van("white", "white", "navy")
    checks = join(
        side(
            (-1.86 + 0.45 * i, -1.41 + 0.45 * i),
            (0.82 + 0.27 * (i % 2), 1.09 + 0.27 * (i % 2)),
            0.9,
            "blue",
            lift=0.03,
        )
        for i in range(5)
    )
    windows = join(side((x, x + 0.7), (1.42, 1.84), 0.9, "glass") for x in (-1.75, -0.85))
    return join(
        van,
        checks,
        windows,
        beacon(0.45, 2.1, width=1.5),
        box((0.2, 0.2, 0.22), (-1.7, 0.0, 2.08), "beacon blue"),
    )


def news_van() -> Mesh:
    """Crimson over a white skirt, with a white panel; a huge white dish on a mast on its roof."""
    van = plain_van("crimson", "amber", "white")
    globe = side((-1.7, -0.1), (1.12, 1.68), 0.9, "white") + side(
        (-1.5, -0.3), (1.32, 1.48), 0.9, "crimson", lift=0.03
    )
    bowl = cylinder(0.25, 0.4, (0.0, 0.0, -0.4), "white", sides=12, end=0.95) + cylinder(
        0.82, 0.02, (0.0, 0.0, 0.0), "silver", sides=12
    )
    horn = rod((0.0, 0.0, 0.01), (0.0, 0.0, 0.6), 0.07, "dark") + ball(0.16, (0.0, 0.0, 0.6), "amber", 6, 3)
    aimed = (bowl + horn).turned(42, "y").at(-0.7, 0.0, 2.72)
    return join(
        van,
        globe,
        box((0.7, 0.7, 0.16), (-0.7, 0.0, 2.08), "charcoal"),
        rod((-0.7, 0.0, 2.1), (-0.7, 0.0, 2.7), 0.12, "steel", 6),
        aimed,
    )


def ice_cream_van() -> Mesh:
    """Pink over a cream skirt, with a giant cone on its roof and a striped awning over the hatch."""
    van = _shell("pink", "cream", -2.0, 2.0) + back((-0.6, 0.6), (1.2, 1.75), -2.0, "glass")
    hatch = side((-1.5, -0.1), (1.1, 1.62), 0.9, "dark") + side(
        (-1.65, 0.05), (0.98, 1.1), 0.9, "trim", lift=0.06
    )
    awning = _awning(-1.6, 0.0, 1.84, 0.9, ("magenta", "white"), 7, 0.17)
    cone = cylinder(0.1, 0.75, (0.0, 0.0, 0.0), "tan", sides=8, end=0.46) + cylinder(
        0.5, 0.12, (0.0, 0.0, 0.72), "gold", sides=8
    )
    scoops = (
        ball((0.52, 0.52, 0.4), (0.0, 0.0, 0.95), "magenta", 8, 3, -0.2)
        + ball((0.36, 0.36, 0.34), (0.0, 0.0, 1.28), "white", 8, 3, -0.2)
        + ball(0.13, (0.0, 0.0, 1.66), "red", 6, 3)
    )
    return van + hatch + awning + (cone + scoops).scaled(1.3, 1.3, 0.9).at(-0.6, 0.0, 1.97) + _gear()


def _awning(
    x0: float, x1: float, z: float, y: float, paints: tuple[str, str], stripes: int, out: float
) -> Mesh:
    """A striped sloping awning on both flanks (seen from above and from below)."""
    parts, step = [], (x1 - x0) / stripes
    for i in range(stripes):
        a, b = x0 + i * step, x0 + (i + 1) * step
        parts.append(
            panel([(a, -y - out, z - 0.32), (b, -y - out, z - 0.32), (b, -y, z), (a, -y, z)], paints[i % 2])
        )
    under = panel(
        [(x1, -y - out, z - 0.32), (x0, -y - out, z - 0.32), (x0, -y, z), (x1, -y, z)], paints[0], lift=0.0
    )
    return join(parts, under).both_sides()


def _step_van(paint: str, roof: str, height: float = 2.3) -> Mesh:
    """A tall upright box with a stub nose and a big flat windscreen."""
    hull = body(
        [
            (-2.0, 0.9, 0.34, height - 0.15),
            (-1.88, 0.96, 0.28, height - 0.15),
            (1.3, 0.96, 0.28, height - 0.15),
            (1.45, 0.9, 0.28, height - 0.15),
        ],
        paint,
        0.0,
    )
    lid = body(
        [
            (-2.0, 0.9, height - 0.15, height),
            (-1.88, 0.96, height - 0.15, height),
            (1.35, 0.96, height - 0.15, height),
            (1.55, 0.9, height - 0.15, height),
        ],
        roof,
        0.1,
    )
    nose = body([(1.4, 0.9, 0.28, 1.15), (1.8, 0.86, 0.28, 1.08), (2.0, 0.74, 0.34, 0.92)], paint, 0.12)
    glass = front((-0.78, 0.78), (1.2, height - 0.25), 1.45, "glass") + side(
        (0.75, 1.25), (0.6, height - 0.3), 0.96, "glass"
    )
    grille = front((-0.4, 0.4), (0.5, 0.8), 2.0, "silver") + doors(
        (0.68, 1.3), (0.36, height - 0.25), 0.96, (1.4, 1.3)
    )
    return hull + lid + nose + glass + grille + _gear(0.96)


def mail_van() -> Mesh:
    """Navy under a white roof; a big white envelope with a red seal on each flank and behind."""
    van = _step_van("navy", "white", 2.2)
    letter = side((-1.75, 0.45), (0.76, 1.92), 0.96, "white") + back(
        (-0.65, 0.65), (0.95, 1.75), -2.0, "white"
    )
    flap = panel(
        [(-0.72, -0.96, 1.2), (-0.58, -0.96, 1.2), (0.38, -0.96, 1.86), (-1.68, -0.96, 1.86)],
        "sky",
        lift=0.03,
    ).both_sides()
    rear = panel(
        [(-2.0, 0.05, 1.3), (-2.0, -0.05, 1.3), (-2.0, -0.6, 1.7), (-2.0, 0.6, 1.7)], "sky", lift=0.03
    )
    seal = cylinder(0.2, 0.04, (-0.65, 0.97, 1.25), "red", "y", 8).both_sides()
    return van + letter + flap + rear + seal


def delivery_van() -> Mesh:
    """A brown step van with a parcel painted on each flank."""
    van = _step_van("brown", "brown", 2.4)
    parcel = side((-1.3, -0.1), (0.75, 1.75), 0.96, "sand") + side(
        (-0.84, -0.56), (0.75, 1.75), 0.96, "amber", lift=0.03
    )
    stripe = (
        side((-1.85, 0.65), (1.95, 2.12), 0.96, "amber")
        + back((-0.75, 0.75), (0.6, 1.8), -2.0, "sand")
        + back((-0.12, 0.12), (0.6, 1.8), -2.0, "amber", lift=0.03)
    )
    return van + parcel + stripe


def food_truck() -> Mesh:
    """Magenta with a lit hatch under a yellow and white awning, and a giant hot dog on the roof."""
    van = _step_van("magenta", "yellow", 2.3) + back((-0.5, 0.5), (0.5, 1.9), -2.0, "yellow")
    hatch = side((-1.6, 0.4), (1.15, 1.7), 0.96, "lamp glow") + side(
        (-1.7, 0.5), (1.02, 1.15), 0.96, "white", lift=0.08
    )
    keeper = side((-0.9, -0.5), (1.15, 1.4), 0.96, "white", lift=0.03) + side(
        (-0.8, -0.6), (1.4, 1.6), 0.96, "skin", lift=0.03
    )
    awning = _awning(-1.75, 0.55, 2.05, 0.96, ("white", "yellow"), 8, 0.11)
    bun = ball((1.15, 0.42, 0.3), (0.0, 0.0, 0.28), "tan", 8, 4, -0.7)
    dog = (
        cylinder(0.2, 2.2, (-1.1, 0.0, 0.55), "red", "x", 8)
        + ball(0.2, (1.1, 0.0, 0.55), "red", 8, 4)
        + ball(0.2, (-1.1, 0.0, 0.55), "red", 8, 4)
    )
    mustard = join(
        rod(
            (-0.8 + 0.4 * i, 0.12 * (-1) ** i, 0.75),
            (-0.4 + 0.4 * i, -0.12 * (-1) ** i, 0.75),
            0.06,
            "yellow",
        )
        for i in range(4)
    )
    return van + hatch + keeper + awning + (bun + dog + mustard).at(-0.4, 0.0, 2.27)


def camper_van() -> Mesh:
    """A cream house on a lime cab, with a sleeping nook that juts out over the windscreen."""
    cab = _shell("lime", "lime", 0.2, 1.8)
    home = block((2.5, 1.96, 2.05), (-0.75, 0.0, 0.42), "cream", 0.14)
    nook = body([(0.4, 0.96, 1.72, 2.46), (1.1, 0.96, 1.78, 2.42), (1.4, 0.86, 1.95, 2.25)], "cream", 0.14)
    waves = join(
        side((-1.85, 0.35), (0.62, 1.06), 0.98, "lime"),
        side((-1.85, 0.36), (2.08, 2.2), 0.98, "lime"),
        side((0.5, 1.08), (2.08, 2.2), 0.96, "lime"),
        back((-0.84, 0.84), (0.62, 1.06), -2.0, "lime"),
    )
    door = side((-0.2, 0.3), (0.55, 1.95), 0.98, "white", lift=0.03) + side(
        (-0.1, 0.2), (1.35, 1.8), 0.98, "glass", lift=0.05
    )
    window = side((-1.6, -0.5), (1.25, 1.85), 0.98, "glass") + join(
        side(x, (1.25, 1.85), 0.98, "coral", lift=0.03) for x in ((-1.6, -1.4), (-0.7, -0.5))
    )
    extras = (
        back((-0.6, 0.6), (1.3, 1.9), -2.0, "glass")
        + box((0.6, 0.6, 0.14), (-0.9, 0.0, 2.46), "white")
        + side((0.55, 0.95), (1.86, 2.02), 0.96, "glass")
    )
    return cab + home + nook + waves + door + window + extras + _gear(0.98)


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
