"""People, about 1.7 m tall with big heads, centred at the origin.

Those who stand face -y (the viewer); those who walk go along +x, their faces turned a little to the viewer.
Their main garment is "cloth" (tinted per instance).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from simtown.assets.mesh import Mesh, Point, box, join
from simtown.assets.street.parts import blob, disc, lathe, limb, patch, shape

_WALK = 62.0  # degrees a walker is turned from -y towards +x


def _head(skin: str, hair: str, style: str, z: float = 1.42) -> Mesh:
    """A big head with two eyes; hair short, long, in a bun or thin (a ring round a bald crown)."""
    eye = patch((-0.03, 0.03), (z - 0.03, z + 0.07), "black", -0.245, 0.0)
    parts = [blob((0.28, 0.27, 0.29), (0.0, 0.0, z), skin, 8, 3 if style == "thin" else 2), eye.turned(24), eye.turned(-24)]
    if style == "thin":
        return join([*parts, lathe([(z - 0.15, 0.24, 0.2), (z + 0.08, 0.3, 0.24), (z + 0.14, 0.2, 0.15)], hair, (0.0, 0.12, 0.0),
                                   7)])  # fmt: skip
    parts.append(lathe([(z - 0.06, 0.31, 0.24), (z + 0.17, 0.33, 0.29, 0.0, -0.02), (z + 0.34, 0.2, 0.18), (z + 0.34, 0.0, 0.0)],
                       hair, (0.0, 0.1, 0.0), 7))  # fmt: skip
    if style == "long":
        parts.append(blob((0.38, 0.17, 0.42), (0.0, 0.14, z - 0.12), hair, 6, 1))
    if style == "bun":
        parts.append(blob(0.15, (0.0, 0.14, z + 0.38), hair, 5, 2))
    return join(parts)


def _arm(side: int, hand: Point, sleeve: str, skin: str) -> Mesh:
    """An arm from the shoulder on one side (-1, 1) to a hand."""
    shoulder = (side * 0.22, 0.0, 1.12)
    tip = tuple(h + 0.22 * (h - s) for h, s in zip(hand, shoulder, strict=True))
    return limb(shoulder, hand, 0.1, sleeve, 0.08) + limb(hand, (tip[0], tip[1], tip[2]), 0.085, skin, 0.0)


def _person(skin: str = "skin", hair: str = "brown", style: str = "short", legs: str = "navy", top: str = "cloth",
            shoes: str = "dark", stride: float = 0.0, hands: tuple[Point, Point] = ((-0.33, -0.04, 0.68), (0.33, -0.04, 0.68)),
            skirt: str = "", sleeve: str = "") -> Mesh:  # fmt: skip
    """One facing -y. `stride` parts the feet (metres), a `skirt` (material) hides the thighs, `hands` are right and left."""
    feet = [(-0.12, -stride), (0.12, stride)]
    calf = skin if skirt else legs
    parts = [limb((x, 0.0, 0.7), (x, y, 0.06), 0.12, calf, 0.085) for x, y in feet]
    parts += [lathe([(0.0, 0.15, 0.27), (0.12, 0.11, 0.2), (0.16, 0.0, 0.0)], shoes, (x, y - 0.06, 0.0), 4) for x, y in feet]
    if skirt:
        parts.append(lathe([(0.36, 0.38, 0.32), (0.86, 0.23, 0.18)], skirt, sides=6))
    parts.append(lathe([(0.84 if skirt else 0.6, 0.235, 0.18), (1.15, 0.28, 0.19), (1.24, 0.1, 0.1)], top, sides=6))
    parts += [_arm(side, hand, sleeve or top, skin) for side, hand in zip((-1, 1), hands, strict=True)]
    return join([*parts, _head(skin, hair, style)])


def woman(skin: str = "skin", hair: str = "brown") -> Mesh:
    """In a dress, with long hair and a handbag."""
    bag = box((0.1, 0.26, 0.22), (0.42, -0.02, 0.42), "crimson")
    return _person(skin, hair, "long", skirt="cloth", shoes="crimson") + bag


def man(skin: str = "skin", hair: str = "brown") -> Mesh:
    """In a jacket over a white shirt and tie."""
    shirt = shape([(0.0, 0.85), (0.1, 1.2), (-0.1, 1.2)], "white", -0.185, 0.01)
    shirt += shape([(0.0, 0.88), (0.035, 1.1), (0.0, 1.18), (-0.035, 1.1)], "red", -0.185, 0.03)
    return _person(skin, hair, legs="charcoal") + shirt


def child(skin: str = "skin", hair: str = "amber") -> Mesh:
    """Small, in shorts, holding a balloon."""
    balloon = blob((0.26, 0.26, 0.31), (0.45, -0.1, 2.5), "red", 6, 2)
    balloon += limb((0.4, -0.1, 1.2), (0.45, -0.1, 2.25), 0.015, "white", sides=3)
    hands = ((-0.33, -0.04, 0.68), (0.4, -0.12, 1.2))
    small = _person(skin, hair, legs=skin, hands=hands, shoes="white").scaled(0.72, 0.72, 0.66)
    shorts = lathe([(0.3, 0.19, 0.15), (0.48, 0.17, 0.13)], "blue", sides=6)
    return join([small, shorts, balloon.scaled(0.75)])


def elder(skin: str = "skin") -> Mesh:
    """Bald but for a white rim, with a moustache and a cane."""
    cane = limb((-0.36, -0.3, 0.0), (-0.36, -0.22, 0.8), 0.03, "wood") + box((0.05, 0.2, 0.05), (-0.36, -0.17, 0.78), "wood")
    moustache = shape([(-0.13, 1.28), (0.13, 1.28), (0.0, 1.37)], "white", -0.265, 0.01)
    return join([_person(skin, "white", "thin", legs="brown", hands=((-0.36, -0.22, 0.82), (0.33, -0.04, 0.68))), cane,
                 moustache]).scaled(1.0, 1.0, 0.95)  # fmt: skip


def grandmother(skin: str = "skin") -> Mesh:
    """A bun, a long skirt, a shopping basket."""
    basket = lathe([(0.4, 0.12), (0.58, 0.2)], "tan", (0.42, -0.1, 0.0), 6)
    basket += blob((0.15, 0.15, 0.1), (0.42, -0.1, 0.6), "lime", 5, 1)
    return join([_person(skin, "silver", "bun", skirt="lilac", shoes="brown"), basket]).scaled(1.0, 1.0, 0.95)


def jogger(skin: str = "skin dark", hair: str = "black") -> Mesh:
    """Running in shorts with a headband, arms bent."""
    body = _person(skin, hair, legs=skin, shoes="lime", stride=0.36, hands=((-0.3, 0.22, 0.9), (0.3, -0.3, 1.0)), sleeve=skin)
    shorts = lathe([(0.5, 0.25, 0.24), (0.72, 0.23, 0.18)], "black", sides=6)
    return join([body, shorts, lathe([(1.56, 0.335, 0.31), (1.65, 0.335, 0.31)], "lime", (0.0, 0.06, 0.0), 7)]).turned(_WALK)


def _dog(paint: str = "tan", ears: str = "brown") -> Mesh:
    """A terrier looking along +x."""
    parts = [box((0.55, 0.26, 0.26), (0.0, 0.0, 0.22), paint), box((0.26, 0.26, 0.26), (0.32, 0.0, 0.42), paint),
             box((0.14, 0.16, 0.13), (0.5, 0.0, 0.43), ears)]  # fmt: skip
    parts += [limb((x, y, 0.25), (x, y, 0.0), 0.06, paint, 0.05, 3) for x in (-0.2, 0.2) for y in (-0.08, 0.08)]
    return join([*parts, limb((-0.26, 0.0, 0.42), (-0.38, 0.0, 0.66), 0.05, ears, 0.0, 3),
                 *[box((0.08, 0.06, 0.14), (0.26, s * 0.14, 0.58), ears) for s in (-1, 1)]])  # fmt: skip


def dog_walker() -> Mesh:
    """Walking a terrier on a red lead."""
    lead = limb((-0.1, -0.25, 0.85), (0.85, -0.2, 0.55), 0.02, "red", sides=3)
    walker = _person("skin", "rust", legs="olive", stride=0.2, hands=((-0.3, -0.25, 0.85), (0.32, 0.15, 0.75))).turned(_WALK)
    return join([walker.at(-0.4), _dog().turned(-12).at(0.7, -0.2), lead])


def umbrella_person() -> Mesh:
    """Under a big umbrella."""
    canopy = [lathe([(1.75, 0.95), (1.95, 0.75), (2.2, 0.0)], "cloth", (0.25, -0.1, 0.0), 8)]
    pole = limb((0.25, -0.25, 0.95), (0.25, -0.1, 2.3), 0.03, "charcoal", sides=3)
    body = _person("skin", "black", "short", legs="charcoal", top="amber", shoes="yellow", stride=0.15,
                   hands=((-0.33, -0.04, 0.68), (0.25, -0.25, 0.98))).turned(20)  # fmt: skip
    return join([body, pole, *canopy])


def pram_pusher() -> Mesh:
    """A parent pushing a navy pram."""
    tub = lathe([(0.45, 0.28, 0.16), (0.85, 0.48, 0.27), (0.85, 0.0, 0.0)], "navy", (0.6, -0.1, 0.0), 6)
    tub += blob((0.3, 0.28, 0.3), (0.84, -0.1, 0.9), "navy", 6, 2)
    bed = blob((0.24, 0.22, 0.1), (0.45, -0.1, 0.86), "white", 5, 1)
    bed += limb((0.25, -0.1, 0.85), (-0.05, -0.1, 1.02), 0.03, "steel", sides=3)
    wheel = disc(0.0, 0.2, 0.2, "tyre", -0.24, 0.0, 7) + disc(0.0, 0.2, 0.11, "hub", -0.24, 0.02, 5)
    wheels = [wheel.turned(turn).at(x, -0.1) for x in (0.35, 0.85) for turn in (0, 180)]
    legs = [limb((x, -0.3, 0.2), (0.6, -0.2, 0.6), 0.025, "steel", sides=3) for x in (0.35, 0.85)]
    parent = _person("skin dark", "black", "bun", legs="blue", stride=0.18,
                     hands=((-0.18, -0.36, 1.0), (0.18, -0.36, 1.0))).turned(75)  # fmt: skip
    return join([parent.at(-0.45, -0.05), tub, bed, *wheels, *legs])


def postman() -> Mesh:
    """In a blue uniform and cap, with a satchel and a letter in hand."""
    cap = lathe([(1.55, 0.3, 0.3, 0.0, 0.02), (1.76, 0.26, 0.25, 0.0, 0.04), (1.78, 0.0, 0.0)], "navy", sides=7)
    cap += lathe([(1.55, 0.2, 0.14, 0.0, -0.26), (1.58, 0.18, 0.12, 0.0, -0.22)], "black", caps=True)
    bag = box((0.16, 0.36, 0.32), (0.34, 0.0, 0.5), "tan") + patch((-0.14, 0.14), (0.6, 0.7), "brown").turned(90).at(0.42)
    strap = shape([(0.2, 0.7), (0.28, 0.72), (-0.1, 1.22), (-0.18, 1.2)], "tan", -0.2)
    letter = patch((-0.55, -0.27), (0.93, 1.13), "white", -0.44)
    letter += shape([(-0.55, 1.13), (-0.41, 1.02), (-0.27, 1.13)], "red", -0.44, 0.04)
    return join([_person("skin", "brown", top="blue", legs="navy", hands=((-0.38, -0.38, 1.0), (0.36, -0.05, 0.75))), cap, bag,
                 strap, letter])  # fmt: skip


def gardener() -> Mesh:
    """In dungarees and a straw hat, with a watering can."""
    hat = lathe([(1.58, 0.48, 0.46), (1.63, 0.28, 0.27), (1.84, 0.2, 0.2), (1.84, 0.0, 0.0)], "hay", sides=8)
    can = lathe([(0.35, 0.18), (0.65, 0.15), (0.65, 0.0)], "green", (-0.4, -0.12, 0.0), 6)
    can += limb((-0.5, -0.2, 0.42), (-0.75, -0.35, 0.72), 0.04, "green", 0.06, 3)
    bib = patch((-0.14, 0.14), (0.75, 1.05), "blue", -0.19, 0.01)
    return join([_person("skin dark", "black", legs="blue", shoes="green"), hat, can, bib])


KINDS: dict[str, Callable[[], Mesh]] = {
    "woman": woman,
    "woman with black hair": partial(woman, "skin dark", "black"),
    "man": man,
    "man with black hair": partial(man, "skin dark", "black"),
    "child": child,
    "elder with cane": elder,
    "grandmother": grandmother,
    "jogger": jogger,
    "person with dog": dog_walker,
    "person with umbrella": umbrella_person,
    "person with pram": pram_pusher,
    "postman": postman,
    "gardener": gardener,
}  # fmt: skip
