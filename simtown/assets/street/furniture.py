"""Street furniture, centred at the origin, its front facing -y (the road)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import cos, pi, sin

from simtown.assets.mesh import *
from simtown.assets.street.shapes import *


def _pole(height: float, radius: float = 0.075, paint: str = "steel", sides: int = 5) -> Mesh:
    """A post on a wider foot."""
    return lathe(
        [(0.0, 2.0 * radius), (0.12, 1.6 * radius), (0.18, radius), (height, radius)], paint, sides=sides
    )


def _plate(radius: float, z: float, rim: str, paint: str, sides: int, y: float = -0.1) -> Mesh:
    """A round or angled sign: rim, face and grey back."""
    turn = [2 * pi * (i + 0.5) / sides for i in range(sides)]
    behind = face("steel", *[(-radius * cos(t), y + 0.02, z + radius * sin(t)) for t in turn])
    return (
        disc(0.0, z, radius, rim, y, 0.0, sides) + disc(0.0, z, 0.84 * radius, paint, y, 0.02, sides) + behind
    )


def _pane(x: tuple[float, float], z: tuple[float, float], half: float, paint: str) -> Mesh:
    """The same patch on the front and both ends of a square pillar of half width `half`."""
    flat = patch(x, z, paint, -half)
    return join(flat, flat.turned(90), flat.turned(-90))


def mailbox() -> Mesh:
    """Blue with a rounded top, four legs, a slot and a white envelope on its front."""
    curve = [(0.42 * cos(pi * i / 6), 1.05 + 0.4 * sin(pi * i / 6)) for i in range(7)]
    outline = [(-0.42, 0.22), (0.42, 0.22), *curve]
    shell = loft([[(x, y, z) for x, z in outline] for y in (-0.36, 0.36)], "blue")
    legs = [box((0.1, 0.1, 0.25), (x, y, 0.0), "navy") for x in (-0.34, 0.34) for y in (-0.28, 0.28)]
    slot = [
        patch((-0.3, 0.3), (1.04, 1.2), "navy", -0.36),
        box((0.64, 0.08, 0.07), (0.0, -0.4, 0.98), "silver"),
    ]
    letter = [
        patch((-0.28, 0.28), (0.46, 0.84), "white", -0.36),
        shape([(-0.28, 0.84), (0.0, 0.6), (0.28, 0.84)], "sky", -0.36, 0.04),
    ]
    return join(shell, legs, slot, letter)


def pillar_box() -> Mesh:
    """A round red letter box with a black foot and a cap."""
    body = lathe([(0.0, 0.36), (0.2, 0.36), (0.22, 0.33), (1.4, 0.33)], "red", sides=8)
    foot = lathe([(0.0, 0.38), (0.22, 0.38), (0.22, 0.3)], "black", sides=8)
    cap = lathe([(1.4, 0.4), (1.5, 0.42), (1.6, 0.3), (1.66, 0.0)], "red", sides=8)
    return join(body, foot, cap, patch((-0.18, 0.18), (1.18, 1.27), "black", -0.31, 0.03),
                 patch((-0.13, 0.13), (0.78, 1.08), "white", -0.31, 0.03))  # fmt: skip


def street_lamp() -> Mesh:
    """A lantern on a fluted post."""
    post = lathe([(0.0, 0.24), (0.35, 0.2), (0.45, 0.11), (3.35, 0.09)], "charcoal")
    arms = box((0.7, 0.06, 0.06), (0.0, 0.0, 3.0), "charcoal")
    lantern = frustum((0.32, 0.32, 0.55), (0.54, 0.54), (0.0, 0.0, 3.38), "lamp glow")
    return join(post, arms, lantern, lathe([(3.3, 0.2), (3.38, 0.26)], "charcoal", sides=4),
                 lathe([(3.93, 0.46), (4.15, 0.1), (4.27, 0.0)], "charcoal", sides=4))  # fmt: skip


def arm_lamp() -> Mesh:
    """A modern mast whose arm reaches out over the road."""
    mast = lathe([(0.0, 0.18), (0.3, 0.13), (4.0, 0.09)], "steel")
    arm = lathe([(4.0, 0.09), (4.35, 0.08, 0.08, 0.0, -0.25), (4.45, 0.07, 0.07, 0.0, -0.9)], "steel")
    head = box((0.3, 0.75, 0.1), (0.0, -1.15, 4.42), "charcoal") + box(
        (0.22, 0.6, 0.08), (0.0, -1.15, 4.35), "lamp glow"
    )
    return join(mast, arm, head)


def hydrant() -> Mesh:
    """Red and squat with yellow caps."""
    body = lathe([(0.0, 0.27), (0.1, 0.27), (0.1, 0.18), (0.62, 0.18), (0.62, 0.24), (0.7, 0.24),
                  (0.86, 0.12), (0.92, 0.0)], "red")  # fmt: skip
    caps = [
        cylinder(0.1, 0.12, (s * 0.17 - (0.12 if s < 0 else 0.0), 0.0, 0.42), "amber", "x", 5)
        for s in (-1, 1)
    ]
    return join(body, caps, cylinder(0.12, 0.12, (0.0, -0.3, 0.4), "amber", "y", 6))


def bench() -> Mesh:
    """Wooden slats on iron legs."""
    seat = [box((1.7, 0.16, 0.06), (0.0, y, 0.45), "wood") for y in (-0.25, -0.03)]
    rest = [box((1.7, 0.06, 0.15), (0.0, 0.16 + 0.03 * i, 0.6 + 0.22 * i), "wood") for i in range(2)]
    legs = [
        box((0.08, 0.55, 0.45), (x, 0.0, 0.0), "dark") + box((0.08, 0.07, 0.6), (x, 0.22, 0.4), "dark")
        for x in (-0.65, 0.65)
    ]
    return join(seat, rest, legs)


def picket_fence() -> Mesh:
    """A two-metre section of white pickets."""

    def picket(x: float) -> Mesh:
        a, b, shoulder = x - 0.09, x + 0.09, 0.78
        roof = [
            face("trim", (b, -0.05, shoulder), (b, 0.0, shoulder), (x, 0.0, 0.95), (x, -0.05, 0.95)),
            face("trim", (x, -0.05, 0.95), (x, 0.0, 0.95), (a, 0.0, shoulder), (a, -0.05, shoulder)),
        ]
        ends = [
            face("trim", (b, -0.05, 0.05), (b, 0.0, 0.05), (b, 0.0, shoulder), (b, -0.05, shoulder)),
            face("trim", (a, 0.0, 0.05), (a, -0.05, 0.05), (a, -0.05, shoulder), (a, 0.0, shoulder)),
        ]
        return join(
            shape([(a, 0.05), (b, 0.05), (b, shoulder), (x, 0.95), (a, shoulder)], "trim", -0.05, 0.0),
            roof,
            ends,
        )

    rails = [box((2.0, 0.05, 0.09), (0.0, 0.03, z), "trim") for z in (0.25, 0.6)]
    return join([picket(-0.86 + 0.287 * i) for i in range(7)], rails)


def litter_bin() -> Mesh:
    """A green tub with a hood and a dark opening."""
    tub = lathe([(0.0, 0.26), (0.85, 0.33)], "forest", sides=8)
    tub += lathe([(0.85, 0.35), (1.12, 0.33), (1.2, 0.0)], "charcoal", sides=8)
    return join(
        tub,
        patch((-0.2, 0.2), (0.9, 1.06), "black", -0.34),
        patch((-0.12, 0.12), (0.4, 0.64), "white", -0.3, 0.02),
    )


def phone_box() -> Mesh:
    """Red, glazed all round, with a white sign under a shallow dome."""
    body = box((1.0, 1.0, 2.2), (0.0, 0.0, 0.05), "red") + frustum(
        (1.1, 1.1, 0.2), (0.5, 0.5), (0.0, 0.0, 2.25), "red"
    )
    panes = [
        _pane((x - 0.14, x + 0.14), (z, z + 0.4), 0.5, "window")
        for x in (-0.2, 0.2)
        for z in (0.45, 0.93, 1.41)
    ]
    return join(
        body,
        panes,
        _pane((-0.4, 0.4), (1.95, 2.15), 0.5, "white"),
        box((1.1, 1.1, 0.1), (0.0, 0.0, 0.0), "dark"),
    )


def bus_stop() -> Mesh:
    """A blue sign with a white bus, a timetable below."""
    bus = [
        patch((-0.24, 0.24), (2.3, 2.62), "white", -0.12, 0.02),
        patch((-0.19, 0.19), (2.43, 2.56), "blue", -0.12, 0.04),
        disc(-0.13, 2.28, 0.07, "white", -0.12, 0.02, 6),
        disc(0.13, 2.28, 0.07, "white", -0.12, 0.02, 6),
    ]
    return join(
        _pole(2.85, 0.06, "charcoal"),
        box((0.74, 0.08, 0.74), (0.0, -0.08, 2.1), "blue"),
        bus,
        box((0.4, 0.08, 0.5), (0.0, -0.08, 1.2), "amber"),
        patch((-0.15, 0.15), (1.26, 1.64), "white", -0.12),
    )


def stop_sign() -> Mesh:
    """A red octagon."""
    return join(
        _pole(2.2),
        _plate(0.5, 2.2, "white", "red", 8),
        letters("STOP", 0.0, 2.08, 0.24, "white", -0.12, 0.03),
    )


def speed_sign() -> Mesh:
    """A white disc in a red ring: 30."""
    return join(
        _pole(2.2),
        _plate(0.46, 2.25, "red", "white", 10),
        disc(0.0, 2.25, 0.32, "white", -0.1, 0.04, 10),
        letters("30", 0.0, 2.09, 0.32, "black", -0.12, 0.05),
    )


def crossing_sign() -> Mesh:
    """A yellow diamond with a walker."""
    diamond = shape([(0.0, 1.7), (0.55, 2.25), (0.0, 2.8), (-0.55, 2.25)], "black", -0.1, 0.0)
    diamond += shape([(0.0, 1.78), (0.47, 2.25), (0.0, 2.72), (-0.47, 2.25)], "yellow", -0.1, 0.02)
    behind = face("steel", (0.55, -0.08, 2.25), (0.0, -0.08, 1.7), (-0.55, -0.08, 2.25), (0.0, -0.08, 2.8))
    walker = [
        disc(0.0, 2.48, 0.08, "black", -0.12, 0.02, 6),
        shape([(-0.07, 2.15), (0.07, 2.15), (0.07, 2.38), (-0.07, 2.38)], "black", -0.12),
        shape([(-0.2, 1.95), (-0.1, 1.95), (0.03, 2.17), (-0.07, 2.2)], "black", -0.12),
        shape([(0.1, 1.95), (0.2, 1.95), (0.07, 2.2), (-0.03, 2.17)], "black", -0.12),
    ]
    return join(_pole(2.2), diamond, behind, walker)


def parking_meter() -> Mesh:
    """A grey head with a dial on a post."""
    head = block((0.34, 0.26, 0.5), (0.0, 0.0, 1.05), "charcoal", 0.1)
    return join(
        _pole(1.1, 0.05),
        head,
        disc(0.0, 1.35, 0.12, "white", -0.13, 0.02, 8),
        patch((-0.09, 0.09), (1.1, 1.17), "amber", -0.13),
    )


def planter(flowers: Sequence[str] = ("pink", "yellow", "red")) -> Mesh:
    """A stone trough full of flowers."""
    tub = frustum((1.3, 0.5, 0.5), (1.5, 0.62), (0.0, 0.0, 0.0), "stone") + box(
        (1.6, 0.72, 0.1), (0.0, 0.0, 0.46), "concrete"
    )
    lumps = [blob((0.28, 0.3, 0.24), (x, 0.0, 0.62), "leaf dark", 5, 1) for x in (-0.5, 0.0, 0.5)]
    blooms = [
        blob(
            0.13,
            (-0.6 + 0.24 * i, -0.16 + 0.14 * (i % 3), 0.78 + 0.1 * (i % 2)),
            flowers[i % len(flowers)],
            4,
            1,
        )
        for i in range(6)
    ]
    return join(tub, lumps, blooms)


def bollard() -> Mesh:
    """A black post with a white band and a ball on top."""
    return join(
        lathe([(0.0, 0.17), (0.1, 0.13), (0.75, 0.11)], "charcoal"),
        lathe([(0.5, 0.14), (0.64, 0.14)], "white"),
        blob(0.15, (0.0, 0.0, 0.85), "charcoal", 6, 2),
    )


def newspaper_stand() -> Mesh:
    """A red box with papers behind glass and more on top."""
    body = box((0.6, 0.5, 0.75), (0.0, 0.0, 0.2), "crimson") + box((0.1, 0.4, 0.2), (-0.2, 0.0, 0.0), "dark")
    body += box((0.1, 0.4, 0.2), (0.2, 0.0, 0.0), "dark")
    sheet = [
        patch((-0.24, 0.24), (0.36, 0.84), "white", -0.25),
        patch((-0.19, 0.19), (0.7, 0.79), "black", -0.25, 0.04),
        patch((-0.19, 0.0), (0.42, 0.64), "sky", -0.25, 0.04),
        patch((0.05, 0.19), (0.42, 0.64), "silver", -0.25, 0.04),
    ]
    return join(
        body,
        sheet,
        box((0.42, 0.34, 0.1), (0.0, 0.0, 0.95), "white"),
        patch((-0.15, 0.15), (0.97, 1.03), "black", -0.17),
    )


def news_kiosk() -> Mesh:
    """A green kiosk with a striped roof edge and rows of magazines."""
    body = box((2.0, 1.2, 2.1), (0.0, 0.0, 0.0), "forest")
    body += lathe([(2.1, 1.6, 1.1), (2.75, 0.25, 0.2), (2.95, 0.0, 0.0)], "teal", sides=4)
    rows = [
        bunting([-0.75 + 0.3 * i for i in range(6)], (z, z + 0.36), paints, -0.6, 0.03)
        for z, paints in ((0.25, ("red", "sky", "amber")), (0.68, ("lilac", "white", "coral", "lime")))
    ]
    return join(
        body,
        patch((-0.85, 0.85), (1.12, 1.75), "window", -0.6),
        rows,
        patch((-0.85, 0.85), (1.82, 2.06), "cream", -0.6, 0.03),
        letters("NEWS", 0.0, 1.86, 0.16, "crimson", -0.6),
    )


def cafe_table(paints: tuple[str, str] = ("red", "white")) -> Mesh:
    """A round table and two chairs under a striped parasol."""
    rim = [(1.15 * cos(pi * i / 4), 1.15 * sin(pi * i / 4), 2.05) for i in range(9)]
    shade = [face(paints[i % 2], rim[i], rim[i + 1], (0.0, 0.0, 2.6)) for i in range(8)]
    hem = [
        face(
            paints[i % 2],
            (rim[i][0], rim[i][1], 1.88),
            (rim[i + 1][0], rim[i + 1][1], 1.88),
            rim[i + 1],
            rim[i],
        )
        for i in range(8)
    ]
    chairs = [
        join(
            box((0.4, 0.4, 0.08), (s * 0.8, 0.0, 0.42), "teal"),
            box((0.07, 0.4, 0.5), (s * 0.98, 0.0, 0.5), "teal"),
            lathe([(0.0, 0.2), (0.42, 0.12)], "dark", (s * 0.8, 0.0, 0.0), 4),
        )
        for s in (-1, 1)
    ]
    return join(shade, hem, lathe([(0.0, 0.25), (0.1, 0.05), (2.6, 0.04)], "wood", sides=4),
                 lathe([(0.7, 0.5), (0.78, 0.5), (0.78, 0.0)], "white", sides=8), chairs)  # fmt: skip


def traffic_light(lit: int = 0) -> Mesh:
    """A black head with three lenses, red on top."""
    lenses = [
        disc(0.0, 2.98 - 0.36 * i, 0.14, p, -0.2, 0.03, 8)
        for i, p in enumerate(("beacon red", "amber", "green"))
    ]
    hoods = [box((0.34, 0.16, 0.04), (0.0, -0.27, 3.12 - 0.36 * i), "black") for i in range(3)]
    return join(_pole(2.1, 0.08, "charcoal"), box((0.46, 0.36, 1.2), (0.0, -0.02, 2.05), "black"),
                 box((0.6, 0.04, 1.34), (0.0, 0.18, 1.98), "amber"), lenses, hoods)  # fmt: skip


def bus_shelter() -> Mesh:
    """A glazed shelter with a bench and an advertisement."""
    posts = [box((0.08, 0.08, 2.3), (x, y, 0.0), "teal") for x in (-1.5, 1.5) for y in (-0.55, 0.55)]
    glazing = [
        patch((-1.45, 1.45), (0.5, 2.1), "sky", 0.58, 0.0),
        patch((-1.45, 1.45), (0.5, 0.58), "teal", 0.56),
        patch((-0.04, 0.04), (0.5, 2.1), "teal", 0.56),
    ]
    poster = box((0.1, 0.9, 1.6), (1.5, 0.0, 0.4), "white")
    poster += face("coral", (1.44, 0.38, 0.55), (1.44, -0.38, 0.55), (1.44, -0.38, 1.85), (1.44, 0.38, 1.85))
    return join(posts, glazing, poster, box((3.4, 1.5, 0.14), (0.0, 0.0, 2.3), "teal"),
                 box((1.8, 0.35, 0.08), (-0.3, 0.35, 0.45), "wood"),
                 patch((-1.6, -0.6), (2.32, 2.42), "white", -0.75))  # fmt: skip


def street_clock() -> Mesh:
    """A green post with a lit clock."""
    faces = disc(0.0, 3.2, 0.45, "gold", -0.16, 0.02, 10) + disc(0.0, 3.2, 0.38, "white", -0.16, 0.04, 10)
    hands = shape([(-0.04, 3.2), (0.04, 3.2), (0.02, 3.5), (-0.02, 3.5)], "black", -0.16, 0.06)
    hands += shape([(0.0, 3.16), (0.24, 3.02), (0.26, 3.06), (0.0, 3.24)], "black", -0.16, 0.06)
    return join(
        lathe([(0.0, 0.24), (0.5, 0.2), (0.6, 0.09), (2.8, 0.07)], "forest"),
        cylinder(0.5, 0.34, (0.0, -0.17, 3.2), "forest", "y", 10),
        faces,
        hands,
        blob(0.1, (0.0, 0.0, 3.78), "gold", 5, 1),
    )


def sandwich_board() -> Mesh:
    """A blackboard with a cup drawn on it."""
    sheet = join(
        patch((-0.36, 0.36), (0.0, 1.0), "wood", 0.0, 0.0),
        patch((-0.3, 0.3), (0.1, 0.94), "charcoal"),
        patch((-0.13, 0.1), (0.5, 0.74), "white", lift=0.04),
        patch((0.1, 0.18), (0.56, 0.68), "white", lift=0.04),
        patch((-0.2, 0.2), (0.32, 0.38), "yellow", lift=0.04),
        patch((-0.16, 0.16), (0.2, 0.26), "pink", lift=0.04),
    )
    return join(sheet.turned(-14, "x").at(0.0, -0.28), sheet.turned(-14, "x").at(0.0, -0.28).turned(180))


def fountain() -> Mesh:
    """A round basin with two bowls and a jet."""
    basin = lathe([(0.0, 1.2), (0.45, 1.3), (0.45, 1.08), (0.36, 1.05)], "stone", sides=10)
    basin += lathe([(0.38, 1.1), (0.38, 0.0)], "sky", sides=10)
    bowl = lathe([(0.3, 0.2), (0.9, 0.14), (1.1, 0.6), (1.14, 0.55)], "stone", sides=8)
    bowl += lathe([(1.12, 0.56), (1.12, 0.0)], "sky", sides=8)
    jet = lathe([(1.1, 0.1), (1.7, 0.2), (1.85, 0.0)], "white", sides=5)
    return join(basin, bowl, jet)


KINDS: dict[str, Callable[[], Mesh]] = {
    "mailbox": mailbox,
    "pillar box": pillar_box,
    "street lamp": street_lamp,
    "arm lamp": arm_lamp,
    "hydrant": hydrant,
    "bench": bench,
    "picket fence": picket_fence,
    "bin": litter_bin,
    "phone box": phone_box,
    "bus stop": bus_stop,
    "bus shelter": bus_shelter,
    "stop sign": stop_sign,
    "speed-limit sign": speed_sign,
    "crossing sign": crossing_sign,
    "parking meter": parking_meter,
    "planter": planter,
    "lilac planter": partial(planter, ("lilac", "white", "magenta")),
    "bollard": bollard,
    "newspaper stand": newspaper_stand,
    "news kiosk": news_kiosk,
    "cafe table": cafe_table,
    "blue cafe table": partial(cafe_table, ("sky", "white")),
    "traffic light": traffic_light,
    "street clock": street_clock,
    "sandwich board": sandwich_board,
    "fountain": fountain,
}
