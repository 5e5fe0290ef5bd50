"""People, about 1.7 m tall with big heads, centred at the origin.

Every kind stands, walks, and does a third thing of its own. They face -y (the viewer), but for
:data:`SIDEWAYS`, who look along +x with their faces turned a little to the viewer. Their main garment is
"cloth" (tinted per instance).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from simtown.assets.mesh import *
from simtown.assets.street.shapes import *

Make = Callable[[], Mesh]

_ASIDE = 62.0  # degrees by which who looks along +x is turned from -y
_SEAT = 0.46  # height of a bench, metres


@dataclass(frozen=True)
class _Pose:
    """A body's posture. Points are (x, y, z) metres; of a pair the right one (-x) comes first.

    Attributes:
        ankles: of both legs.
        knees: of both legs, or None for straight legs.
        hands: of both arms.
        hips: their height.
        nod: degrees the head is bent forwards.
    """

    ankles: tuple[Point, Point] = ((-0.12, 0.0, 0.06), (0.12, 0.0, 0.06))
    knees: tuple[Point, Point] | None = None
    hands: tuple[Point, Point] = ((-0.33, -0.04, 0.68), (0.33, -0.04, 0.68))
    hips: float = 0.7
    nod: float = 0.0

    @property
    def sits(self) -> bool:
        return self.hips < 0.6

    def reaching(self, right: Point | None = None, left: Point | None = None, nod: float = 0.0) -> _Pose:
        """With a hand or both elsewhere."""
        return replace(self, hands=(right or self.hands[0], left or self.hands[1]), nod=nod)


_STAND = _Pose()
_WALK = _Pose(
    ankles=((-0.11, -0.33, 0.08), (0.11, 0.36, 0.16)),
    knees=((-0.11, -0.19, 0.4), (0.11, 0.08, 0.36)),
    hands=((-0.34, 0.24, 0.76), (0.34, -0.26, 0.78)),
    hips=0.68,
)
_SIT = _Pose(
    ankles=((-0.13, -0.42, 0.06), (0.13, -0.42, 0.06)),
    knees=((-0.14, -0.4, _SEAT + 0.06), (0.14, -0.4, _SEAT + 0.06)),
    hands=((-0.22, -0.32, 0.84), (0.22, -0.32, 0.84)),
    hips=_SEAT + 0.1,
)
_READ = _STAND.reaching(left=(0.13, -0.34, 1.02), nod=16.0)
_WAVE = _STAND.reaching((-0.54, -0.08, 1.56))


def _bent(mesh: Mesh, degrees: float, z: float = 0.0) -> Mesh:
    """Bent forwards about a level line at height z."""
    return mesh.at(z=-z).turned(degrees, "x").at(z=z)


def _head(skin: str, hair: str, style: str, z: float = 1.42) -> Mesh:
    """A big head with two eyes; hair short, long, in a bun or thin (a ring round a bald crown)."""
    eye = patch(0.03, (z - 0.03, z + 0.07), "black", -0.245, 0.0)
    face = blob((0.28, 0.27, 0.29), (0.0, 0.0, z), skin, 8, 3 if style == "thin" else 2)
    parts = [face, eye.turned(24), eye.turned(-24)]
    if style == "thin":
        rim = [(z - 0.15, 0.24, 0.2), (z + 0.08, 0.3, 0.24), (z + 0.14, 0.2, 0.15)]
        return join(parts, lathe(rim, hair, (0.0, 0.12, 0.0), 7))
    cap = [(z - 0.06, 0.31, 0.24), (z + 0.17, 0.33, 0.29, 0.0, -0.02), (z + 0.34, 0.2, 0.18), (z + 0.34, 0.0)]
    parts.append(lathe(cap, hair, (0.0, 0.1, 0.0), 7))
    if style == "long":
        parts.append(blob((0.38, 0.17, 0.42), (0.0, 0.14, z - 0.12), hair, 6, 1))
    if style == "bun":
        parts.append(blob(0.15, (0.0, 0.14, z + 0.38), hair, 5, 2))
    return join(parts)


def _arm(shoulder: Point, hand: Point, sleeve: str, skin: str) -> Mesh:
    x, y, z = (h + 0.22 * (h - s) for h, s in zip(hand, shoulder, strict=True))
    return limb(shoulder, hand, 0.1, sleeve, 0.08) + limb(hand, (x, y, z), 0.085, skin, 0.0)


def _leg(hip: Point, knee: Point | None, ankle: Point, thigh: str, calf: str) -> Mesh:
    """A leg in one piece, or bent at a knee."""
    if knee is None:
        return limb(hip, ankle, 0.12, calf, 0.085)
    return limb(hip, knee, 0.13, thigh, 0.11) + limb(knee, ankle, 0.11, calf, 0.085)


def _person(
    pose: _Pose,
    skin: str = "skin",
    hair: str = "brown",
    style: str = "short",
    legs: str = "navy",
    top: str = "cloth",
    shoes: str = "dark",
    skirt: str = "",
    sleeve: str = "",
    hat: Mesh | None = None,
) -> Mesh:
    """Somebody who faces -y; a `skirt` (material) hides the thighs, and a `hat` is worn."""
    calf, thigh, drop = skin if skirt else legs, skirt or legs, 0.7 - pose.hips
    joints = zip((-0.12, 0.12), pose.knees or (None, None), pose.ankles, strict=True)
    parts = [_leg((x, 0.0, pose.hips), knee, ankle, thigh, calf) for x, knee, ankle in joints]
    shoe = lathe([(0.0, 0.15, 0.27), (0.12, 0.11, 0.2), (0.16, 0.0, 0.0)], shoes, sides=4)
    parts += [shoe.at(x, y - 0.06, z - 0.06) for x, y, z in pose.ankles]
    trunk = [lathe([(0.84 if skirt else 0.6, 0.235, 0.18), (1.15, 0.28, 0.19), (1.24, 0.1, 0.1)], top)]
    if skirt and pose.sits:  # a lap instead of a bell
        trunk.append(lathe([(0.58, 0.3, 0.22), (0.86, 0.23, 0.18)], skirt))
    elif skirt:
        parts.append(lathe([(0.36, 0.38, 0.32), (0.86, 0.23, 0.18)], skirt).at(z=-drop))
    head = join(_head(skin, hair, style), [hat] if hat else [])
    above = join(trunk, _bent(head, pose.nod, 1.2)).at(z=-drop)
    shoulders = [(x, 0.0, 1.12 - drop) for x in (-0.22, 0.22)]
    arms = [_arm(s, hand, sleeve or top, skin) for s, hand in zip(shoulders, pose.hands, strict=True)]
    return join(parts, above, arms)


def _bench() -> Mesh:
    """A bench: slats, a rest and two legs."""
    seat = [box((1.35, 0.19, 0.06), (0.0, y, _SEAT - 0.06), "wood") for y in (-0.16, 0.07)]
    rest = box((1.35, 0.06, 0.22), (0.0, 0.24, 0.72), "wood")
    leg = box((0.08, 0.42, _SEAT - 0.06), (0.0, -0.03, 0.0), "dark")
    leg += box((0.08, 0.06, 0.55), (0.0, 0.21, 0.38), "dark")
    return join(seat, rest, leg.at(-0.52), leg.at(0.52))


def _phone(hand: Point) -> Mesh:
    """A telephone held up before the face."""
    x, y, z = hand
    screen = patch(0.05, (-0.02, 0.14), "sky", 0.015).turned(180)
    return _bent(box((0.13, 0.03, 0.22), (0.0, 0.0, -0.05), "black") + screen, -30).at(x, y - 0.06, z + 0.05)


def _woman(pose: _Pose, skin: str = "skin", hair: str = "brown") -> Mesh:
    """In a dress, with long hair and a handbag; the other hand may hold a telephone."""
    reads = pose is _READ
    x, y, z = pose.hands[0 if reads else 1]
    bag = box((0.1, 0.26, 0.22), (x + 0.09, y + 0.02, z - 0.26), "crimson").at(-0.18 if reads else 0.0)
    person = _person(pose, skin, hair, "long", skirt="cloth", shoes="crimson")
    return join(person, [_phone(pose.hands[1])] if reads else [], bag)


def _man(pose: _Pose, skin: str = "skin", hair: str = "brown") -> Mesh:
    """In a jacket over a white shirt and tie; he walks with a briefcase and stands with a telephone."""
    shirt = shape([(0.0, 0.85), (0.1, 1.2), (-0.1, 1.2)], "white", -0.185, 0.01)
    shirt += shape([(0.0, 0.88), (0.035, 1.1), (0.0, 1.18), (-0.035, 1.1)], "red", -0.185, 0.03)
    person = _person(pose, skin, hair, legs="charcoal") + shirt.at(z=pose.hips - 0.7)
    x, y, z = pose.hands[1]
    if pose is _READ:
        return person + _phone(pose.hands[1])
    if pose is _WALK:
        return person + box((0.1, 0.42, 0.3), (x + 0.04, y - 0.05, z - 0.42), "brown")
    return person


def _newspaper_reader() -> Mesh:
    """The man with black hair on a bench."""
    spots = [(x, z) for x in (-0.28, 0.06) for z in (0.8, 0.98)]
    lines = [patch((x, x + 0.22), (z, z + 0.06), "grey", -0.46, 0.015) for x, z in spots]
    front = patch(0.34, (0.72, 1.12), "white", -0.46, 0.0)
    back = patch(0.34, (0.72, 1.12), "cream").turned(180).at(0.0, -0.46)
    pose = _SIT.reaching((-0.3, -0.38, 0.86), (0.3, -0.38, 0.86), 6.0)
    return join(_man(pose, *_DARK), front, back, lines, _bench())


def _child(pose: _Pose) -> Mesh:
    """Small, in shorts, with a balloon over the left hand that holds its string."""
    x, y, z = pose.hands[1]
    balloon = blob((0.26, 0.26, 0.31), (x + 0.05, y + 0.02, z + 1.3), "red", 6, 2)
    balloon += limb((x, y, z), (x + 0.05, y + 0.02, z + 1.05), 0.015, "white", sides=3)
    small = _person(pose, "skin", "amber", legs="skin", shoes="white").scaled(0.72, 0.72, 0.66)
    shorts = lathe([(0.3, 0.19, 0.17), (0.48, 0.17, 0.13)], "blue")
    return join(small, shorts, balloon.scaled(0.75, 0.72, 0.7))


def _elder(pose: _Pose, cane: float) -> Mesh:
    """Bald but for a white rim, with a moustache; `cane` is the y at which his cane meets the ground."""
    x, y, z = pose.hands[0]
    handle = box((0.05, 0.2, 0.05), (x, y + 0.05, z - 0.04), "wood")
    stick = limb((x, cane, 0.0), (x, y, z - 0.02), 0.03, "wood") + handle
    moustache = shape([(-0.13, 1.28), (0.13, 1.28), (0.0, 1.37)], "white", -0.265, 0.01).at(z=pose.hips - 0.7)
    person = join(_person(pose, "skin", "white", "thin", legs="brown"), stick, moustache)
    return join(person.scaled(1.0, 1.0, 0.95), [_bench()] if pose.sits else [])


def _grandmother(pose: _Pose, basket: Point) -> Mesh:
    """A bun, a lilac skirt, and a shopping basket whose floor is at a point. Where she sits, she knits."""
    x, y, z = basket
    wicker = lathe([(z, 0.12), (z + 0.18, 0.2)], "tan", (x, y, 0.0))
    wicker += blob((0.15, 0.15, 0.1), (x, y, z + 0.2), "lime", 5, 1)
    person = _person(pose, "skin", "silver", "bun", skirt="lilac", shoes="brown") + wicker
    wool = blob(0.13, (0.0, -0.4, 0.78), "coral", 5, 2)
    ends = ((-0.2, 0.14), (0.2, -0.14))
    needles = [limb((a, -0.44, 0.74), (b, -0.42, 0.98), 0.02, "white", sides=3) for a, b in ends]
    return join(person.scaled(1.0, 1.0, 0.95), [wool, *needles, _bench()] if pose.sits else [])


def _jogger(pose: _Pose) -> Mesh:
    """In shorts with a headband, looking along +x."""
    band = lathe([(1.56, 0.335, 0.31), (1.65, 0.335, 0.31)], "lime", (0.0, 0.06, 0.0), 7)
    shorts = lathe([(0.5, 0.25, 0.24), (0.72, 0.23, 0.18)], "black")
    person = _person(pose, *_DARK, legs="skin dark", shoes="lime", sleeve="skin dark", hat=band)
    return (person + shorts).turned(_ASIDE)


def terrier(sits: bool = False) -> Mesh:
    """A terrier looking along +x."""
    parts = [
        box((0.26, 0.26, 0.26), (0.32, 0.0, 0.42), "tan"),
        box((0.14, 0.16, 0.13), (0.5, 0.0, 0.43), "brown"),
    ]
    parts += [box((0.08, 0.06, 0.14), (0.26, y, 0.58), "brown") for y in (-0.14, 0.14)]
    if sits:
        rump = box((0.32, 0.3, 0.14), (-0.05, 0.0, 0.0), "tan")
        parts += [limb((-0.12, 0.0, 0.12), (0.22, 0.0, 0.5), 0.18, "tan", 0.13), rump]
        parts += [limb((0.24, y, 0.3), (0.26, y, 0.0), 0.06, "tan", 0.05, 3) for y in (-0.08, 0.08)]
        return join(parts, limb((-0.2, 0.0, 0.06), (-0.42, 0.0, 0.14), 0.05, "brown", 0.0, 3))
    trunk = box((0.55, 0.26, 0.26), (0.0, 0.0, 0.22), "tan")
    tail = limb((-0.26, 0.0, 0.42), (-0.38, 0.0, 0.66), 0.05, "brown", 0.0, 3)
    legs = [limb((x, y, 0.25), (x, y, 0.0), 0.06, "tan", 0.05, 3) for x in (-0.2, 0.2) for y in (-0.08, 0.08)]
    return join(parts, trunk, tail, legs)


def _dog_owner(pose: _Pose, dog: str) -> Mesh:
    """Somebody with a terrier that sits or walks on a red lead, or begs for a biscuit on its hind legs."""
    owner = _person(pose, "skin", "rust", legs="olive").turned(_ASIDE).at(-0.4)
    if dog == "begs":
        upright = terrier().at(0.2).turned(-62, "y").at(0.3, -0.25, 0.06)
        return join(owner, upright, box((0.12, 0.06, 0.06), (0.23, -0.5, 1.32), "tan"))
    lead = limb((-0.25, -0.38, 0.85), (0.7, -0.2, 0.55), 0.02, "red", sides=3)
    return join(owner, terrier(dog == "sits").turned(-12).at(0.55, -0.2), lead)


def _umbrella_person(pose: _Pose, lean: float = 0.0) -> Mesh:
    """In yellow boots under a big umbrella, which leans by so many degrees to the side of its hand."""
    x, y, z = pose.hands[1]
    canopy = lathe([(1.75, 0.95), (1.95, 0.75), (2.2, 0.0)], "cloth", (x, -0.1, 0.0), 8)
    canopy += lathe([(2.0, 0.0), (1.76, 0.93)], "cloth", (x, -0.1, 0.0), 8)
    umbrella = canopy + limb((x, y, z - 0.03), (x, -0.1, 2.3), 0.03, "charcoal", sides=3)
    umbrella = umbrella.at(-x, -y, -z).turned(lean, "y").at(x, y, z)
    person = _person(pose, "skin", "black", legs="charcoal", top="amber", shoes="yellow") + umbrella
    return person if pose.knees else person.turned(20).at(-0.3 if lean else 0.0)  # unless walking


def _pram() -> Mesh:
    """A navy pram with its hood towards +x."""
    tub = lathe([(0.45, 0.28, 0.16), (0.85, 0.48, 0.27), (0.85, 0.0, 0.0)], "navy", (0.6, -0.1, 0.0))
    tub += blob((0.3, 0.28, 0.3), (0.84, -0.1, 0.9), "navy", 6, 2)
    bed = blob((0.24, 0.22, 0.1), (0.45, -0.1, 0.86), "white", 5, 1)
    bed += limb((0.25, -0.1, 0.85), (-0.05, -0.1, 1.02), 0.03, "steel", sides=3)
    wheel = disc(0.0, 0.2, 0.2, "tyre", -0.24, 0.0, 7) + disc(0.0, 0.2, 0.11, "hub", -0.24, 0.02, 5)
    wheels = [wheel.turned(turn).at(x, -0.1) for x in (0.35, 0.85) for turn in (0, 180)]
    legs = [limb((x, -0.3, 0.2), (0.6, -0.2, 0.6), 0.025, "steel", sides=3) for x in (0.35, 0.85)]
    return join(tub, bed, wheels, legs)


def _pram_parent(pose: _Pose) -> Mesh:
    """Behind the pram, both hands on its handle, or on a bench beside it."""
    parent = _person(pose, *_DARK, "bun", legs="blue")
    if pose.sits:
        return ((parent + _bench()).at(-0.5, 0.1) + _pram().at(0.2, -0.1)).turned(_ASIDE)
    return parent.turned(75).at(-0.45, -0.05) + _pram()


def _postman(pose: _Pose, letter: Point, bag: Point = (0.34, 0.0, 0.5)) -> Mesh:
    """In a blue uniform and cap, with a satchel and a letter; their lower middles are at two points."""
    crown = [(1.55, 0.3, 0.3, 0.0, 0.02), (1.76, 0.26, 0.25, 0.0, 0.04), (1.78, 0.0, 0.0)]
    cap = lathe(crown, "navy", sides=7)
    cap += lathe([(1.55, 0.2, 0.14, 0.0, -0.26), (1.58, 0.18, 0.12, 0.0, -0.22)], "black", caps=True)
    buckle = patch(0.14, (0.1, 0.2), "brown").turned(90).at(bag[0] + 0.08, *bag[1:])
    strap = shape([(0.2, 0.7), (0.28, 0.72), (-0.1, 1.22), (-0.18, 1.2)], "tan", -0.2)
    sheet = patch(0.14, (0.0, 0.2), "white", 0.0, 0.0)
    envelope = join(sheet, shape([(-0.14, 0.2), (0.0, 0.09), (0.14, 0.2)], "red"), sheet.turned(180))
    person = _person(pose, "skin", "brown", top="blue", legs="navy", hat=cap)
    return join(person, box((0.16, 0.36, 0.32), bag, "tan"), buckle, strap, envelope.at(*letter))


def _watering_can() -> Mesh:
    """Its floor about the origin, its spout towards -y."""
    can = lathe([(0.0, 0.18), (0.3, 0.15), (0.3, 0.0)], "green")
    return can + limb((0.0, -0.12, 0.07), (0.0, -0.44, 0.38), 0.04, "green", 0.06, 3)


def _gardener(pose: _Pose, can: Mesh) -> Mesh:
    """In dungarees and a straw hat, with a watering can."""
    hat = lathe([(1.58, 0.48, 0.46), (1.63, 0.28, 0.27), (1.84, 0.2, 0.2), (1.84, 0.0, 0.0)], "hay", sides=8)
    bib = patch(0.14, (0.75, 1.05), "blue", -0.19, 0.01)
    return join(_person(pose, *_DARK, legs="blue", shoes="green", hat=hat), bib, can)


def _gardener_watering() -> Mesh:
    """Waters a pot of tulips."""
    x, y = -0.26, -0.86
    pot = lathe([(0.0, 0.14), (0.3, 0.22), (0.3, 0.0)], "brick", (x, y, 0.0))
    blooms = ((-0.1, 0.0, 0.55), (0.1, 0.03, 0.6), (0.0, -0.08, 0.5))
    pot += join(blob(0.11, (x + dx, y + dy, z), "red", 4, 1) for dx, dy, z in blooms)
    pot += blob((0.18, 0.18, 0.12), (x, y, 0.36), "leaf", 5, 1)
    can = _bent(_watering_can().at(z=-0.3), 40).at(x, -0.36, 0.92)
    drops = limb((x, -0.8, 0.86), (x, -0.88, 0.5), 0.03, "sky", 0.06, 3)
    pose = _STAND.reaching((-0.28, -0.36, 0.94), (0.1, -0.36, 0.94), 12.0)
    return join(_gardener(pose, can), pot, drops)


def _each(make: Callable[..., Mesh], *poses: _Pose | tuple[Any, ...]) -> tuple[Make, ...]:
    """A kind in some poses, each with what else the kind takes."""
    return tuple(partial(make, *(pose if isinstance(pose, tuple) else (pose,))) for pose in poses)


_DARK = ("skin dark", "black")
_HOLD_STRING = _STAND.reaching(left=(0.4, -0.12, 1.2))
_SKIP = _WALK.reaching((-0.36, 0.28, 0.82), (0.38, -0.2, 1.15))
_ARMS_UP = _STAND.reaching((-0.52, -0.08, 1.48), (0.52, -0.08, 1.48))
_JUMP = replace(_ARMS_UP, ankles=((-0.3, 0.0, 0.06), (0.3, 0.0, 0.06)))
_LEAN = _STAND.reaching((-0.36, -0.22, 0.82))
_SMALL_STEPS = _Pose(
    ankles=((-0.11, 0.24, 0.1), (0.11, -0.24, 0.06)),
    knees=((-0.11, 0.06, 0.36), (0.11, -0.14, 0.38)),
    hands=((-0.36, -0.34, 0.84), (0.34, 0.16, 0.72)),
    hips=0.68,
)
_HANDS_ON_CANE = _SIT.reaching((-0.05, -0.5, 0.74), (0.08, -0.5, 0.74))
_KNIT = _SIT.reaching(nod=10.0)
_BREATHE = _STAND.reaching((-0.4, 0.02, 0.84), (0.4, 0.02, 0.84))
_RUN = _Pose(
    ankles=((-0.11, -0.44, 0.08), (0.11, 0.48, 0.42)),
    knees=((-0.11, -0.32, 0.44), (0.11, 0.12, 0.38)),
    hands=((-0.3, 0.26, 0.92), (0.28, -0.34, 1.06)),
)
_STRETCH = _Pose(
    ankles=((-0.11, -0.4, 0.06), (0.11, 0.52, 0.1)),
    knees=((-0.11, -0.36, 0.44), (0.11, 0.2, 0.34)),
    hands=((-0.4, 0.06, 1.56), (0.4, 0.06, 1.56)),
    hips=0.68,
)
_HOLD_LEAD = _STAND.reaching((-0.3, -0.25, 0.85))
_FOLLOW_DOG = _WALK.reaching((-0.3, -0.25, 0.85), (0.32, 0.2, 0.75))
_HOLD_BISCUIT = _STAND.reaching((-0.16, -0.62, 1.3), (0.4, 0.0, 0.84), 10.0)
_UMBRELLA = (0.25, -0.25, 0.98)
_UNDER_UMBRELLA = _STAND.reaching(left=_UMBRELLA), _WALK.reaching((-0.34, 0.22, 0.76), _UMBRELLA)
_HANDLE = ((-0.18, -0.36, 1.0), (0.18, -0.36, 1.0))
_PUSH_PRAM = _STAND.reaching(*_HANDLE), _WALK.reaching(*_HANDLE)
_BESIDE_PRAM = _SIT.reaching((-0.2, -0.3, 0.84), (0.42, -0.22, 1.0))
_READ_ADDRESS = _STAND.reaching((-0.38, -0.38, 1.0), (0.36, -0.05, 0.75), 8.0), (-0.41, -0.46, 0.95)
_DELIVER = _WALK.reaching((-0.34, -0.34, 0.94), (0.34, 0.2, 0.76)), (-0.36, -0.43, 0.9), (0.36, 0.06, 0.48)
_LETTER_UP = _STAND.reaching((-0.46, -0.1, 1.5), (0.36, -0.05, 0.75)), (-0.53, -0.14, 1.58)
_GRANDMOTHER = (_STAND, (0.42, -0.1, 0.4)), (_WALK, (0.43, -0.3, 0.46)), (_KNIT, (0.5, 0.0, _SEAT * 1.05))
_DOG_OWNER = (_HOLD_LEAD, "sits"), (_FOLLOW_DOG, "walks"), (_HOLD_BISCUIT, "begs")
_CANS = _watering_can().at(-0.4, -0.06, 0.35), _watering_can().at(0.4, -0.28, 0.42)

#: Of every kind of person: standing, walking, and something else.
POSES: dict[str, tuple[Make, ...]] = {
    "woman": _each(_woman, _STAND, _WALK, _WAVE),
    "woman with black hair": _each(_woman, (_STAND, *_DARK), (_WALK, *_DARK), (_READ, *_DARK)),
    "man": _each(_man, _STAND, _WALK, _READ),
    "man with black hair": (*_each(_man, (_STAND, *_DARK), (_WALK, *_DARK)), _newspaper_reader),
    "child": _each(_child, _HOLD_STRING, _SKIP, _JUMP),
    "elder with cane": _each(_elder, (_LEAN, -0.3), (_SMALL_STEPS, -0.46), (_HANDS_ON_CANE, -0.56)),
    "grandmother": _each(_grandmother, *_GRANDMOTHER),
    "jogger": _each(_jogger, _BREATHE, _RUN, _STRETCH),
    "person with dog": _each(_dog_owner, *_DOG_OWNER),
    "person with umbrella": _each(_umbrella_person, *_UNDER_UMBRELLA, (_WAVE.reaching(left=_UMBRELLA), 28.0)),
    "person with pram": _each(_pram_parent, *_PUSH_PRAM, _BESIDE_PRAM),
    "postman": _each(_postman, _READ_ADDRESS, _DELIVER, _LETTER_UP),
    "gardener": (*_each(_gardener, (_STAND, _CANS[0]), (_WALK, _CANS[1])), _gardener_watering),
}
KINDS: dict[str, Make] = {name: poses[0] for name, poses in POSES.items()}
#: Kinds that look along +x; the others look towards -y.
SIDEWAYS: tuple[str, ...] = ("jogger", "person with dog", "person with pram")
