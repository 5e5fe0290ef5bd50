"""Street furniture, centred at the origin, its front facing -y (the road)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import cos, pi, sin

from simtown.assets.mesh import *
from simtown.assets.street.shapes import *


def _pole(height: float, radius: float = 0.075, paint: str = "steel") -> Mesh:
    """A post on a wider foot."""
    rings = [(0.0, 2.0 * radius), (0.12, 1.6 * radius), (0.18, radius), (height, radius)]
    return lathe(rings, paint, sides=5)


def _plate(radius: float, z: float, rim: str, paint: str, sides: int) -> Mesh:
    """A round or angled sign: rim, face and grey back."""
    behind = face("steel", *[(-radius * c, -0.1 + 0.02, z + radius * s) for c, s in polygon(sides)])
    front = disc(0.0, z, radius, rim, -0.1, 0.0, sides)
    return join(front, disc(0.0, z, 0.84 * radius, paint, -0.1, 0.02, sides), behind)


def _pane(x: Width, z: Span, paint: str) -> Mesh:
    """The same patch on the front and both ends of a square pillar a metre wide."""
    flat = patch(x, z, paint, -0.5)
    return join(flat, flat.turned(90), flat.turned(-90))


def mailbox() -> Mesh:
    """Blue with a rounded top, four legs, a slot and a white envelope on its front."""
    curve = [(0.42 * cos(pi * i / 6), 1.05 + 0.4 * sin(pi * i / 6)) for i in range(7)]
    outline = [(-0.42, 0.22), (0.42, 0.22), *curve]
    return join(
        loft([[(x, y, z) for x, z in outline] for y in (-0.36, 0.36)], "blue"),
        [box((0.1, 0.1, 0.25), (x, y, 0.0), "navy") for x in (-0.34, 0.34) for y in (-0.28, 0.28)],
        patch(0.3, (1.04, 1.2), "navy", -0.36) + box((0.64, 0.08, 0.07), (0.0, -0.4, 0.98), "silver"),
        patch(0.28, (0.46, 0.84), "white", -0.36),
        shape([(-0.28, 0.84), (0.0, 0.6), (0.28, 0.84)], "sky", -0.36, 0.04),
    )


def pillar_box() -> Mesh:
    """A round red letter box with a black foot and a cap."""
    body = lathe([(0.0, 0.36), (0.2, 0.36), (0.22, 0.33), (1.4, 0.33)], "red", sides=8)
    foot = lathe([(0.0, 0.38), (0.22, 0.38), (0.22, 0.3)], "black", sides=8)
    cap = lathe([(1.4, 0.4), (1.5, 0.42), (1.6, 0.3), (1.66, 0.0)], "red", sides=8)
    slot = patch(0.18, (1.18, 1.27), "black", -0.31, 0.03)
    return join(body, foot, cap, slot, patch(0.13, (0.78, 1.08), "white", -0.31, 0.03))


def street_lamp() -> Mesh:
    """A lantern on a fluted post."""
    post = lathe([(0.0, 0.24), (0.35, 0.2), (0.45, 0.11), (3.35, 0.09)], "charcoal")
    arms = box((0.7, 0.06, 0.06), (0.0, 0.0, 3.0), "charcoal")
    lantern = frustum((0.32, 0.32, 0.55), (0.54, 0.54), (0.0, 0.0, 3.38), "lamp glow")
    collar = lathe([(3.3, 0.2), (3.38, 0.26)], "charcoal", sides=4)
    return join(
        post, arms, lantern, collar, lathe([(3.93, 0.46), (4.15, 0.1), (4.27, 0.0)], "charcoal", sides=4)
    )


def arm_lamp() -> Mesh:
    """A modern mast whose arm reaches out over the road."""
    mast = lathe([(0.0, 0.18), (0.3, 0.13), (4.0, 0.09)], "steel")
    arm = lathe([(4.0, 0.09), (4.35, 0.08, 0.08, 0.0, -0.25), (4.45, 0.07, 0.07, 0.0, -0.9)], "steel")
    head = box((0.3, 0.75, 0.1), (0.0, -1.15, 4.42), "charcoal")
    return join(mast, arm, head, box((0.22, 0.6, 0.08), (0.0, -1.15, 4.35), "lamp glow"))


def hydrant() -> Mesh:
    """Red and squat with yellow caps."""
    barrel = [(0.0, 0.27), (0.1, 0.27), (0.1, 0.18), (0.62, 0.18), (0.62, 0.24), (0.7, 0.24)]
    body = lathe([*barrel, (0.86, 0.12), (0.92, 0.0)], "red")
    caps = [cylinder(0.1, 0.12, (x, 0.0, 0.42), "amber", "x", 5) for x in (-0.17 - 0.12, 0.17)]
    return join(body, caps, cylinder(0.12, 0.12, (0.0, -0.3, 0.4), "amber", "y", 6))


def bench() -> Mesh:
    """Wooden slats on iron legs."""
    seat = [box((1.7, 0.16, 0.06), (0.0, y, 0.45), "wood") for y in (-0.25, -0.03)]
    rest = [box((1.7, 0.06, 0.15), (0.0, 0.16 + 0.03 * i, 0.6 + 0.22 * i), "wood") for i in range(2)]
    leg = box((0.08, 0.55, 0.45), ORIGIN, "dark") + box((0.08, 0.07, 0.6), (0.0, 0.22, 0.4), "dark")
    return join(seat, rest, leg.at(-0.65), leg.at(0.65))


def picket_fence() -> Mesh:
    """A two-metre section of white pickets."""
    pickets = []
    for x in (-0.86 + 0.287 * i for i in range(7)):
        a, b = about(x, 0.09)
        outline = [(a, 0.05), (b, 0.05), (b, 0.78), (x, 0.95), (a, 0.78)]
        pickets.append(shape(outline, "trim", -0.05, 0.0))
        for (p, q), (r, s) in ((outline[k], outline[k + 1]) for k in (2, 3, 1)):
            pickets.append(face("trim", (p, -0.05, q), (p, 0.0, q), (r, 0.0, s), (r, -0.05, s)))
        pickets.append(face("trim", (a, 0.0, 0.05), (a, -0.05, 0.05), (a, -0.05, 0.78), (a, 0.0, 0.78)))
    return join(pickets, [box((2.0, 0.05, 0.09), (0.0, 0.03, z), "trim") for z in (0.25, 0.6)])


def litter_bin() -> Mesh:
    """A green tub with a hood and a dark opening."""
    tub = lathe([(0.0, 0.26), (0.85, 0.33)], "forest", sides=8)
    hood = lathe([(0.85, 0.35), (1.12, 0.33), (1.2, 0.0)], "charcoal", sides=8)
    return join(tub, hood, patch(0.2, (0.9, 1.06), "black", -0.34), patch(0.12, (0.4, 0.64), "white", -0.3))


def phone_box() -> Mesh:
    """Red, glazed all round, with a white sign under a shallow dome."""
    return join(
        box((1.0, 1.0, 2.2), (0.0, 0.0, 0.05), "red"),
        frustum((1.1, 1.1, 0.2), (0.5, 0.5), (0.0, 0.0, 2.25), "red"),
        [_pane(about(x, 0.14), (z, z + 0.4), "window") for x in (-0.2, 0.2) for z in (0.45, 0.93, 1.41)],
        _pane(0.4, (1.95, 2.15), "white") + box((1.1, 1.1, 0.1), ORIGIN, "dark"),
    )


def bus_stop() -> Mesh:
    """A blue sign with a white bus, a timetable below."""
    return join(
        _pole(2.85, 0.06, "charcoal") + box((0.74, 0.08, 0.74), (0.0, -0.08, 2.1), "blue"),
        patch(0.24, (2.3, 2.62), "white", -0.12) + patch(0.19, (2.43, 2.56), "blue", -0.12, 0.04),
        [disc(x, 2.28, 0.07, "white", -0.12, sides=6) for x in (-0.13, 0.13)],
        box((0.4, 0.08, 0.5), (0.0, -0.08, 1.2), "amber") + patch(0.15, (1.26, 1.64), "white", -0.12),
    )


def stop_sign() -> Mesh:
    """A red octagon."""
    plate = _plate(0.5, 2.2, "white", "red", 8)
    return join(_pole(2.2), plate, letters("STOP", 0.0, 2.08, 0.24, "white", -0.12, 0.03))


def speed_sign() -> Mesh:
    """A white disc in a red ring: 30."""
    plate = _plate(0.46, 2.25, "red", "white", 10) + disc(0.0, 2.25, 0.32, "white", -0.1, 0.04, 10)
    return join(_pole(2.2), plate, letters("30", 0.0, 2.09, 0.32, "black", -0.12, 0.05))


def crossing_sign() -> Mesh:
    """A yellow diamond with a walker."""
    diamond = shape([(0.0, 1.7), (0.55, 2.25), (0.0, 2.8), (-0.55, 2.25)], "black", -0.1, 0.0)
    diamond += shape([(0.0, 1.78), (0.47, 2.25), (0.0, 2.72), (-0.47, 2.25)], "yellow", -0.1)
    behind = face("steel", (0.55, -0.08, 2.25), (0.0, -0.08, 1.7), (-0.55, -0.08, 2.25), (0.0, -0.08, 2.8))
    head, trunk = disc(0.0, 2.48, 0.08, "black", -0.12, sides=6), patch(0.07, (2.15, 2.38), "black", -0.12)
    legs = shape([(-0.2, 1.95), (-0.1, 1.95), (0.03, 2.17), (-0.07, 2.2)], "black", -0.12)
    legs += shape([(0.1, 1.95), (0.2, 1.95), (0.07, 2.2), (-0.03, 2.17)], "black", -0.12)
    return join(_pole(2.2), diamond, behind, head, trunk, legs)


def parking_meter() -> Mesh:
    """A grey head with a dial on a post."""
    head = block((0.34, 0.26, 0.5), (0.0, 0.0, 1.05), "charcoal", 0.1)
    dial = disc(0.0, 1.35, 0.12, "white", -0.13) + patch(0.09, (1.1, 1.17), "amber", -0.13)
    return join(_pole(1.1, 0.05), head, dial)


def planter(flowers: Sequence[str] = ("pink", "yellow", "red")) -> Mesh:
    """A stone trough full of flowers."""
    tub = frustum((1.3, 0.5, 0.5), (1.5, 0.62), ORIGIN, "stone")
    rim = box((1.6, 0.72, 0.1), (0.0, 0.0, 0.46), "concrete")
    lumps = [blob((0.28, 0.3, 0.24), (x, 0.0, 0.62), "leaf dark", 5, 1) for x in (-0.5, 0.0, 0.5)]
    spots = [(-0.6 + 0.24 * i, -0.16 + 0.14 * (i % 3), 0.78 + 0.1 * (i % 2)) for i in range(6)]
    return join(tub, rim, lumps, [blob(0.13, spot, flowers[i % 3], 4, 1) for i, spot in enumerate(spots)])


def bollard() -> Mesh:
    """A black post with a white band and a ball on top."""
    post = lathe([(0.0, 0.17), (0.1, 0.13), (0.75, 0.11)], "charcoal")
    return join(
        post, lathe([(0.5, 0.14), (0.64, 0.14)], "white"), blob(0.15, (0.0, 0.0, 0.85), "charcoal", 6, 2)
    )


def newspaper_stand() -> Mesh:
    """A red box with papers behind glass and more on top."""
    return join(
        box((0.6, 0.5, 0.75), (0.0, 0.0, 0.2), "crimson"),
        [box((0.1, 0.4, 0.2), (x, 0.0, 0.0), "dark") for x in (-0.2, 0.2)],
        patch(0.24, (0.36, 0.84), "white", -0.25) + patch(0.19, (0.7, 0.79), "black", -0.25, 0.04),
        patch((-0.19, 0.0), (0.42, 0.64), "sky", -0.25, 0.04),
        patch((0.05, 0.19), (0.42, 0.64), "silver", -0.25, 0.04),
        box((0.42, 0.34, 0.1), (0.0, 0.0, 0.95), "white") + patch(0.15, (0.97, 1.03), "black", -0.17),
    )


def news_kiosk() -> Mesh:
    """A green kiosk with a striped roof edge and rows of magazines."""
    xs, paints = [-0.75 + 0.3 * i for i in range(6)], ("lilac", "white", "coral", "lime")
    return join(
        box((2.0, 1.2, 2.1), ORIGIN, "forest"),
        lathe([(2.1, 1.6, 1.1), (2.75, 0.25, 0.2), (2.95, 0.0, 0.0)], "teal", sides=4),
        patch(0.85, (1.12, 1.75), "window", -0.6),
        bunting(xs, (0.25, 0.25 + 0.36), ("red", "sky", "amber"), -0.6, 0.03),
        bunting(xs, (0.68, 0.68 + 0.36), paints, -0.6, 0.03),
        patch(0.85, (1.82, 2.06), "cream", -0.6, 0.03) + letters("NEWS", 0.0, 1.86, 0.16, "crimson", -0.6),
    )


def cafe_table(paints: tuple[str, str] = ("red", "white")) -> Mesh:
    """A round table and two chairs under a striped parasol."""
    rim = [(1.15 * cos(pi * i / 4), 1.15 * sin(pi * i / 4)) for i in range(9)]
    shade, hem, chairs = [], [], []
    for i, (a, b) in enumerate(pairwise(rim)):
        shade.append(face(paints[i % 2], (*a, 2.05), (*b, 2.05), (0.0, 0.0, 2.6)))
        hem.append(face(paints[i % 2], (*a, 1.88), (*b, 1.88), (*b, 2.05), (*a, 2.05)))
    for x, back in ((-0.8, -0.98), (0.8, 0.98)):
        chairs.append(box((0.4, 0.4, 0.08), (x, 0.0, 0.42), "teal"))
        chairs.append(box((0.07, 0.4, 0.5), (back, 0.0, 0.5), "teal"))
        chairs.append(lathe([(0.0, 0.2), (0.42, 0.12)], "dark", (x, 0.0, 0.0), 4))
    mast = lathe([(0.0, 0.25), (0.1, 0.05), (2.6, 0.04)], "wood", sides=4)
    return join(shade, hem, mast, lathe([(0.7, 0.5), (0.78, 0.5), (0.78, 0.0)], "white", sides=8), chairs)


def traffic_light() -> Mesh:
    """A black head with three lenses, red on top."""
    lenses, hoods = [], []
    for i, paint in enumerate(("beacon red", "amber", "green")):
        lenses.append(disc(0.0, 2.98 - 0.36 * i, 0.14, paint, -0.2, 0.03))
        hoods.append(box((0.34, 0.16, 0.04), (0.0, -0.27, 3.12 - 0.36 * i), "black"))
    head = box((0.46, 0.36, 1.2), (0.0, -0.02, 2.05), "black")
    board = box((0.6, 0.04, 1.34), (0.0, 0.18, 1.98), "amber")
    return join(_pole(2.1, 0.08, "charcoal"), head, board, lenses, hoods)


def bus_shelter() -> Mesh:
    """A glazed shelter with a bench and an advertisement."""
    low, high = ([(1.44, 0.38, 0.55), (1.44, -0.38, 0.55)], [(1.44, -0.38, 1.85), (1.44, 0.38, 1.85)])
    return join(
        [box((0.08, 0.08, 2.3), (x, y, 0.0), "teal") for x in (-1.5, 1.5) for y in (-0.55, 0.55)],
        patch(1.45, (0.5, 2.1), "sky", 0.58, 0.0) + patch(1.45, (0.5, 0.58), "teal", 0.56),
        patch(0.04, (0.5, 2.1), "teal", 0.56),
        box((0.1, 0.9, 1.6), (1.5, 0.0, 0.4), "white") + face("coral", *low, *high),
        box((3.4, 1.5, 0.14), (0.0, 0.0, 2.3), "teal") + box((1.8, 0.35, 0.08), (-0.3, 0.35, 0.45), "wood"),
        patch((-1.6, -0.6), (2.32, 2.42), "white", -0.75),
    )


def street_clock() -> Mesh:
    """A green post with a lit clock."""
    return join(
        lathe([(0.0, 0.24), (0.5, 0.2), (0.6, 0.09), (2.8, 0.07)], "forest"),
        cylinder(0.5, 0.34, (0.0, -0.17, 3.2), "forest", "y"),
        disc(0.0, 3.2, 0.45, "gold", -0.16, 0.02, 10) + disc(0.0, 3.2, 0.38, "white", -0.16, 0.04, 10),
        shape([(-0.04, 3.2), (0.04, 3.2), (0.02, 3.5), (-0.02, 3.5)], "black", -0.16, 0.06),
        shape([(0.0, 3.16), (0.24, 3.02), (0.26, 3.06), (0.0, 3.24)], "black", -0.16, 0.06),
        blob(0.1, (0.0, 0.0, 3.78), "gold", 5, 1),
    )


def sandwich_board() -> Mesh:
    """A blackboard with a cup drawn on it."""
    sheet = patch(0.36, (0.0, 1.0), "wood", 0.0, 0.0) + patch(0.3, (0.1, 0.94), "charcoal")
    cup = patch((-0.13, 0.1), (0.5, 0.74), "white", lift=0.04)
    cup += patch((0.1, 0.18), (0.56, 0.68), "white", lift=0.04)
    lines = patch(0.2, (0.32, 0.38), "yellow", lift=0.04) + patch(0.16, (0.2, 0.26), "pink", lift=0.04)
    leaning = join(sheet, cup, lines).turned(-14, "x").at(0.0, -0.28)
    return leaning + leaning.turned(180)


def fountain() -> Mesh:
    """A round basin with two bowls and a jet."""
    basin = lathe([(0.0, 1.2), (0.45, 1.3), (0.45, 1.08), (0.36, 1.05)], "stone", sides=10)
    basin += lathe([(0.38, 1.1), (0.38, 0.0)], "sky", sides=10)
    bowl = lathe([(0.3, 0.2), (0.9, 0.14), (1.1, 0.6), (1.14, 0.55)], "stone", sides=8)
    bowl += lathe([(1.12, 0.56), (1.12, 0.0)], "sky", sides=8)
    return join(basin, bowl, lathe([(1.1, 0.1), (1.7, 0.2), (1.85, 0.0)], "white", sides=5))


KINDS: dict[str, Callable[[], Mesh]] = {
    **kinds(mailbox, pillar_box, street_lamp, arm_lamp, hydrant, bench, picket_fence),
    "bin": litter_bin,
    **kinds(phone_box, bus_stop, bus_shelter, stop_sign),
    "speed-limit sign": speed_sign,
    **kinds(crossing_sign, parking_meter, planter),
    "lilac planter": partial(planter, ("lilac", "white", "magenta")),
    **kinds(bollard, newspaper_stand, news_kiosk, cafe_table),
    "blue cafe table": partial(cafe_table, ("sky", "white")),
    **kinds(traffic_light, street_clock, sandwich_board, fountain),
}
