"""People, about 1.7 m tall with big heads, centred at the origin.

Every kind stands, walks, and does a third thing of its own. They face -y (the viewer), but for
:data:`SIDEWAYS`, who look along +x with their faces turned a little to the viewer. Their main garment is
"cloth" (tinted per instance).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from simtown.assets.mesh import Mesh, Point, box, join
from simtown.assets.street.shapes import blob, disc, lathe, limb, patch, shape

Make = Callable[[], Mesh]
Hands = tuple[Point, Point]

_ASIDE = 62.0  # degrees by which who looks along +x is turned from -y
_HANG = (0.33, -0.04, 0.68)  # a hand that hangs down, on the left (+x)
_SEAT = 0.46  # height of a bench, metres


@dataclass(frozen=True)
class _Pose:
    """How a body stands. Points are (x, y, z) metres; of a pair the right one (-x) comes first.

    Attributes:
        ankles: of both legs.
        knees: of both legs, or None for straight legs.
        hands: of both arms.
        hips: their height.
        nod: degrees the head is bent forwards.
    """

    ankles: tuple[Point, Point] = ((-0.12, 0.0, 0.06), (0.12, 0.0, 0.06))
    knees: tuple[Point, Point] | None = None
    hands: Hands = ((-0.33, -0.04, 0.68), _HANG)
    hips: float = 0.7
    nod: float = 0.0


_STAND = _Pose()
_WALK = _Pose(
    ankles=((-0.11, -0.33, 0.08), (0.11, 0.36, 0.16)),
    knees=((-0.11, -0.19, 0.4), (0.11, 0.08, 0.36)),
    hands=((-0.34, 0.24, 0.76), (0.34, -0.26, 0.78)),
    hips=0.68,
)
_RUN = _Pose(
    ankles=((-0.11, -0.44, 0.08), (0.11, 0.48, 0.42)),
    knees=((-0.11, -0.32, 0.44), (0.11, 0.12, 0.38)),
    hands=((-0.3, 0.26, 0.92), (0.28, -0.34, 1.06)),
)
_SIT = _Pose(
    ankles=((-0.13, -0.42, 0.06), (0.13, -0.42, 0.06)),
    knees=((-0.14, -0.4, _SEAT + 0.06), (0.14, -0.4, _SEAT + 0.06)),
    hands=((-0.22, -0.32, 0.84), (0.22, -0.32, 0.84)),
    hips=_SEAT + 0.1,
)


def _bent(mesh: Mesh, degrees: float, z: float) -> Mesh:
    """Bent forwards about a level line at height z."""
    return mesh.at(0.0, 0.0, -z).turned(degrees, "x").at(0.0, 0.0, z)


def _head(skin: str, hair: str, style: str, z: float = 1.42) -> Mesh:
    """A big head with two eyes; hair short, long, in a bun or thin (a ring round a bald crown)."""
    eye = patch((-0.03, 0.03), (z - 0.03, z + 0.07), "black", -0.245, 0.0)
    parts = [
        blob((0.28, 0.27, 0.29), (0.0, 0.0, z), skin, 8, 3 if style == "thin" else 2),
        eye.turned(24),
        eye.turned(-24),
    ]
    if style == "thin":
        return join(parts,
                     lathe([(z - 0.15, 0.24, 0.2), (z + 0.08, 0.3, 0.24), (z + 0.14, 0.2, 0.15)], hair,
                           (0.0, 0.12, 0.0), 7))  # fmt: skip
    parts.append(lathe([(z - 0.06, 0.31, 0.24), (z + 0.17, 0.33, 0.29, 0.0, -0.02), (z + 0.34, 0.2, 0.18),
                        (z + 0.34, 0.0, 0.0)], hair, (0.0, 0.1, 0.0), 7))  # fmt: skip
    if style == "long":
        parts.append(blob((0.38, 0.17, 0.42), (0.0, 0.14, z - 0.12), hair, 6, 1))
    if style == "bun":
        parts.append(blob(0.15, (0.0, 0.14, z + 0.38), hair, 5, 2))
    return join(parts)


def _arm(side: int, hand: Point, sleeve: str, skin: str, drop: float) -> Mesh:
    """An arm from the shoulder on one side (-1, 1) to a hand."""
    shoulder = (side * 0.22, 0.0, 1.12 - drop)
    tip = tuple(h + 0.22 * (h - s) for h, s in zip(hand, shoulder, strict=True))
    return limb(shoulder, hand, 0.1, sleeve, 0.08) + limb(hand, (tip[0], tip[1], tip[2]), 0.085, skin, 0.0)


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
    hips = [(-0.12, 0.0, pose.hips), (0.12, 0.0, pose.hips)]
    parts = [
        _leg(h, k, a, thigh, calf)
        for h, k, a in zip(hips, pose.knees or (None, None), pose.ankles, strict=True)
    ]
    parts += [
        lathe([(0.0, 0.15, 0.27), (0.12, 0.11, 0.2), (0.16, 0.0, 0.0)], shoes, (x, y - 0.06, z - 0.06), 4)
        for x, y, z in pose.ankles
    ]
    trunk = [
        lathe([(0.84 if skirt else 0.6, 0.235, 0.18), (1.15, 0.28, 0.19), (1.24, 0.1, 0.1)], top, sides=6)
    ]
    if skirt and pose.hips > 0.6:
        parts.append(lathe([(0.36, 0.38, 0.32), (0.86, 0.23, 0.18)], skirt, sides=6).at(z=-drop))
    elif skirt:  # sits: a lap instead of a bell
        trunk.append(lathe([(0.58, 0.3, 0.22), (0.86, 0.23, 0.18)], skirt, sides=6))
    head = _head(skin, hair, style) if hat is None else _head(skin, hair, style) + hat
    above = join(trunk, _bent(head, pose.nod, 1.2)).at(z=-drop)
    arms = [
        _arm(side, hand, sleeve or top, skin, drop) for side, hand in zip((-1, 1), pose.hands, strict=True)
    ]
    return join(parts, above, arms)


def _bench() -> Mesh:
    """What somebody sits on: slats, a rest and two legs."""
    seat = [box((1.35, 0.19, 0.06), (0.0, y, _SEAT - 0.06), "wood") for y in (-0.16, 0.07)]
    rest = box((1.35, 0.06, 0.22), (0.0, 0.24, 0.72), "wood")
    legs = [
        box((0.08, 0.42, _SEAT - 0.06), (x, -0.03, 0.0), "dark")
        + box((0.08, 0.06, 0.55), (x, 0.21, 0.38), "dark")
        for x in (-0.52, 0.52)
    ]
    return join(seat, rest, legs)


def _phone(hand: Point) -> Mesh:
    """A telephone held up before the face."""
    x, y, z = hand
    return _bent(
        box((0.13, 0.03, 0.22), (0.0, 0.0, -0.05), "black")
        + patch((-0.05, 0.05), (-0.02, 0.14), "sky", 0.015).turned(180),
        -30,
        0.0,
    ).at(x, y - 0.06, z + 0.05)


_READ = replace(_STAND, hands=((-0.33, -0.04, 0.68), (0.13, -0.34, 1.02)), nod=16.0)
_WAVE = replace(_STAND, hands=((-0.54, -0.08, 1.56), _HANG))


def _woman(pose: _Pose, skin: str, hair: str) -> Mesh:
    """In a dress, with long hair."""
    return _person(pose, skin, hair, "long", skirt="cloth", shoes="crimson")


def _handbag(hand: Point = _HANG) -> Mesh:
    return box((0.1, 0.26, 0.22), (hand[0] + 0.09, hand[1] + 0.02, hand[2] - 0.26), "crimson")


def woman(skin: str = "skin", hair: str = "brown") -> Mesh:
    """With a handbag."""
    return _woman(_STAND, skin, hair) + _handbag()


def woman_walking(skin: str = "skin", hair: str = "brown") -> Mesh:
    """Her handbag swings."""
    return _woman(_WALK, skin, hair) + _handbag(_WALK.hands[1])


def woman_waving(skin: str = "skin", hair: str = "brown") -> Mesh:
    """Her right hand is up."""
    return _woman(_WAVE, skin, hair) + _handbag()


def woman_reading(skin: str = "skin", hair: str = "brown") -> Mesh:
    """Looks at her telephone."""
    return _woman(_READ, skin, hair) + _phone(_READ.hands[1]) + _handbag((-0.33, -0.04, 0.68)).at(-0.18)


def _man(pose: _Pose, skin: str, hair: str) -> Mesh:
    """In a jacket over a white shirt and tie."""
    shirt = shape([(0.0, 0.85), (0.1, 1.2), (-0.1, 1.2)], "white", -0.185, 0.01)
    shirt += shape([(0.0, 0.88), (0.035, 1.1), (0.0, 1.18), (-0.035, 1.1)], "red", -0.185, 0.03)
    return _person(pose, skin, hair, legs="charcoal") + shirt.at(z=pose.hips - 0.7)


def man(skin: str = "skin", hair: str = "brown") -> Mesh:
    """Waits."""
    return _man(_STAND, skin, hair)


def man_walking(skin: str = "skin", hair: str = "brown") -> Mesh:
    """With a briefcase."""
    x, y, z = _WALK.hands[1]
    return _man(_WALK, skin, hair) + box((0.1, 0.42, 0.3), (x + 0.04, y - 0.05, z - 0.42), "brown")


def man_reading(skin: str = "skin", hair: str = "brown") -> Mesh:
    """Looks at his telephone."""
    return _man(_READ, skin, hair) + _phone(_READ.hands[1])


def man_sitting(skin: str = "skin", hair: str = "brown") -> Mesh:
    """On a bench with a newspaper."""
    sheet = patch((-0.34, 0.34), (0.72, 1.12), "white", -0.46, 0.0)
    lines = [
        patch((x, x + 0.22), (z, z + 0.06), "grey", -0.46, 0.015) for x in (-0.28, 0.06) for z in (0.8, 0.98)
    ]
    back = patch((-0.34, 0.34), (0.72, 1.12), "cream").turned(180).at(0.0, -0.46)
    return join(
        _man(replace(_SIT, hands=((-0.3, -0.38, 0.86), (0.3, -0.38, 0.86)), nod=6.0), skin, hair),
        sheet,
        back,
        lines,
        _bench(),
    )


def _child(pose: _Pose, skin: str, hair: str, string: Point) -> Mesh:
    """Small, in shorts, with a balloon over the hand that holds its string."""
    x, y, z = string
    balloon = blob((0.26, 0.26, 0.31), (x + 0.05, y + 0.02, z + 1.3), "red", 6, 2)
    balloon += limb(string, (x + 0.05, y + 0.02, z + 1.05), 0.015, "white", sides=3)
    small = _person(pose, skin, hair, legs=skin, shoes="white").scaled(0.72, 0.72, 0.66)
    shorts = lathe([(0.3, 0.19, 0.17), (0.48, 0.17, 0.13)], "blue", sides=6)
    return join(small, shorts, balloon.scaled(0.75, 0.72, 0.7))


def child(skin: str = "skin", hair: str = "amber") -> Mesh:
    """Holds a balloon."""
    hand = (0.4, -0.12, 1.2)
    return _child(replace(_STAND, hands=((-0.33, -0.04, 0.68), hand)), skin, hair, hand)


def child_walking(skin: str = "skin", hair: str = "amber") -> Mesh:
    """Skips along."""
    hand = (0.38, -0.2, 1.15)
    return _child(replace(_WALK, hands=((-0.36, 0.28, 0.82), hand)), skin, hair, hand)


def child_jumping(skin: str = "skin", hair: str = "amber") -> Mesh:
    """Stretches both arms up, feet apart."""
    hand = (0.52, -0.08, 1.48)
    apart = ((-0.3, 0.0, 0.06), (0.3, 0.0, 0.06))
    return _child(replace(_STAND, ankles=apart, hands=((-0.52, -0.08, 1.48), hand)), skin, hair, hand)


def _elder(pose: _Pose, skin: str, cane: Point) -> Mesh:
    """Bald but for a white rim, with a moustache and a cane, which stands at a point under his right hand."""
    x, y, z = pose.hands[0]
    stick = limb(cane, (x, y, z - 0.02), 0.03, "wood") + box(
        (0.05, 0.2, 0.05), (x, y + 0.05, z - 0.04), "wood"
    )
    moustache = shape([(-0.13, 1.28), (0.13, 1.28), (0.0, 1.37)], "white", -0.265, 0.01).at(z=pose.hips - 0.7)
    return join(_person(pose, skin, "white", "thin", legs="brown"), stick, moustache).scaled(1.0, 1.0, 0.95)


def elder(skin: str = "skin") -> Mesh:
    """Leans on his cane."""
    return _elder(replace(_STAND, hands=((-0.36, -0.22, 0.82), _HANG)), skin, (-0.36, -0.3, 0.0))


def elder_walking(skin: str = "skin") -> Mesh:
    """Small steps, the cane put forwards."""
    steps = replace(
        _WALK,
        ankles=((-0.11, 0.24, 0.1), (0.11, -0.24, 0.06)),
        knees=((-0.11, 0.06, 0.36), (0.11, -0.14, 0.38)),
        hands=((-0.36, -0.34, 0.84), (0.34, 0.16, 0.72)),
    )
    return _elder(steps, skin, (-0.36, -0.46, 0.0))


def elder_sitting(skin: str = "skin") -> Mesh:
    """Rests on a bench, both hands on the cane."""
    return (
        _elder(replace(_SIT, hands=((-0.05, -0.5, 0.74), (0.08, -0.5, 0.74))), skin, (-0.05, -0.56, 0.0))
        + _bench()
    )


def _grandmother(pose: _Pose, skin: str, basket: Point) -> Mesh:
    """A bun, a lilac skirt, and a shopping basket whose floor is at a point."""
    x, y, z = basket
    wicker = lathe([(z, 0.12), (z + 0.18, 0.2)], "tan", (x, y, 0.0), 6) + blob(
        (0.15, 0.15, 0.1), (x, y, z + 0.2), "lime", 5, 1
    )
    return join(_person(pose, skin, "silver", "bun", skirt="lilac", shoes="brown"), wicker).scaled(
        1.0, 1.0, 0.95
    )


def grandmother(skin: str = "skin") -> Mesh:
    """With her shopping."""
    return _grandmother(_STAND, skin, (0.42, -0.1, 0.4))


def grandmother_walking(skin: str = "skin") -> Mesh:
    """Carries it home."""
    return _grandmother(_WALK, skin, (0.43, -0.3, 0.46))


def grandmother_sitting(skin: str = "skin") -> Mesh:
    """Rests on a bench, her basket beside her, knitting."""
    wool = blob(0.13, (0.0, -0.4, 0.78), "coral", 5, 2)
    needles = limb((-0.2, -0.44, 0.74), (0.14, -0.42, 0.98), 0.02, "white", sides=3)
    needles += limb((0.2, -0.44, 0.74), (-0.14, -0.42, 0.98), 0.02, "white", sides=3)
    return join(
        _grandmother(replace(_SIT, nod=10.0), skin, (0.5, 0.0, _SEAT * 1.05)), wool, needles, _bench()
    )


def _jogger(pose: _Pose, skin: str, hair: str) -> Mesh:
    """In shorts with a headband, looking along +x."""
    band = lathe([(1.56, 0.335, 0.31), (1.65, 0.335, 0.31)], "lime", (0.0, 0.06, 0.0), 7)
    shorts = lathe([(0.5, 0.25, 0.24), (0.72, 0.23, 0.18)], "black", sides=6)
    return (_person(pose, skin, hair, legs=skin, shoes="lime", sleeve=skin, hat=band) + shorts).turned(_ASIDE)


def jogger(skin: str = "skin dark", hair: str = "black") -> Mesh:
    """Catches his breath, hands on his hips."""
    return _jogger(replace(_STAND, hands=((-0.4, 0.02, 0.84), (0.4, 0.02, 0.84))), skin, hair)


def jogger_running(skin: str = "skin dark", hair: str = "black") -> Mesh:
    """At full speed."""
    return _jogger(_RUN, skin, hair)


def jogger_stretching(skin: str = "skin dark", hair: str = "black") -> Mesh:
    """A long step and both arms up."""
    lunge = _Pose(
        ankles=((-0.11, -0.4, 0.06), (0.11, 0.52, 0.1)),
        knees=((-0.11, -0.36, 0.44), (0.11, 0.2, 0.34)),
        hands=((-0.4, 0.06, 1.56), (0.4, 0.06, 1.56)),
        hips=0.68,
    )
    return _jogger(lunge, skin, hair)


def _dog(sits: bool = False, paint: str = "tan", ears: str = "brown") -> Mesh:
    """A terrier looking along +x."""
    parts = [
        box((0.26, 0.26, 0.26), (0.32, 0.0, 0.42), paint),
        box((0.14, 0.16, 0.13), (0.5, 0.0, 0.43), ears),
    ]
    parts += [box((0.08, 0.06, 0.14), (0.26, s * 0.14, 0.58), ears) for s in (-1, 1)]
    if sits:
        parts += [
            limb((-0.12, 0.0, 0.12), (0.22, 0.0, 0.5), 0.18, paint, 0.13),
            box((0.32, 0.3, 0.14), (-0.05, 0.0, 0.0), paint),
        ]
        parts += [limb((0.24, y, 0.3), (0.26, y, 0.0), 0.06, paint, 0.05, 3) for y in (-0.08, 0.08)]
        return join(parts, limb((-0.2, 0.0, 0.06), (-0.42, 0.0, 0.14), 0.05, ears, 0.0, 3))
    parts += [
        box((0.55, 0.26, 0.26), (0.0, 0.0, 0.22), paint),
        limb((-0.26, 0.0, 0.42), (-0.38, 0.0, 0.66), 0.05, ears, 0.0, 3),
    ]
    return join(
        parts,
        [limb((x, y, 0.25), (x, y, 0.0), 0.06, paint, 0.05, 3) for x in (-0.2, 0.2) for y in (-0.08, 0.08)],
    )


def _dog_owner(pose: _Pose, hand: Point, sits: bool) -> Mesh:
    """Somebody with a terrier on a red lead, which runs to the dog from a point beside the right hand."""
    lead = limb(hand, (0.7, -0.2, 0.55), 0.02, "red", sides=3)
    owner = _person(pose, "skin", "rust", legs="olive").turned(_ASIDE)
    return join(owner.at(-0.4), _dog(sits).turned(-12).at(0.55, -0.2), lead)


def dog_owner(hand: Point = (-0.3, -0.25, 0.85)) -> Mesh:
    """The dog sits and waits."""
    return _dog_owner(replace(_STAND, hands=(hand, (0.33, -0.04, 0.68))), (-0.25, -0.38, 0.85), True)


def dog_walker(hand: Point = (-0.3, -0.25, 0.85)) -> Mesh:
    """The dog walks ahead."""
    return _dog_owner(replace(_WALK, hands=(hand, (0.32, 0.2, 0.75))), (-0.25, -0.38, 0.85), False)


def dog_owner_playing() -> Mesh:
    """Holds up a biscuit; the dog stands on its hind legs for it."""
    hand = (-0.16, -0.62, 1.3)
    owner = (
        _person(replace(_STAND, hands=(hand, (0.4, 0.0, 0.84)), nod=10.0), "skin", "rust", legs="olive")
        .turned(_ASIDE)
        .at(-0.4)
    )
    upright = _dog().at(0.2, 0.0, 0.0).turned(-62, "y").at(0.3, -0.25, 0.06)
    return join(owner, upright, box((0.12, 0.06, 0.06), (0.23, -0.5, 1.32), "tan"))


def _umbrella_person(pose: _Pose, hand: Point, lean: float = 0.0) -> Mesh:
    """In yellow boots under a big umbrella, which leans by so many degrees to the side of its hand."""
    x, y, z = hand
    canopy = lathe([(1.75, 0.95), (1.95, 0.75), (2.2, 0.0)], "cloth", (x, -0.1, 0.0), 8)
    canopy += lathe([(2.0, 0.0), (1.76, 0.93)], "cloth", (x, -0.1, 0.0), 8)
    umbrella = canopy + limb((x, y, z - 0.03), (x, -0.1, 2.3), 0.03, "charcoal", sides=3)
    umbrella = umbrella.at(-x, -y, -z).turned(lean, "y").at(x, y, z)
    return _person(pose, "skin", "black", "short", legs="charcoal", top="amber", shoes="yellow") + umbrella


def umbrella_person() -> Mesh:
    """Waits for the rain to stop."""
    hand = (0.25, -0.25, 0.98)
    return _umbrella_person(replace(_STAND, hands=((-0.33, -0.04, 0.68), hand)), hand).turned(20)


def umbrella_walker() -> Mesh:
    """Strides through it."""
    hand = (0.25, -0.25, 0.98)
    return _umbrella_person(replace(_WALK, hands=((-0.34, 0.22, 0.76), hand)), hand)


def umbrella_person_waving() -> Mesh:
    """Leans it on a shoulder and waves."""
    hand = (0.25, -0.25, 0.98)
    pose = replace(_STAND, hands=((-0.54, -0.08, 1.56), hand))
    return _umbrella_person(pose, hand, lean=28.0).turned(20).at(-0.3)


def _pram() -> Mesh:
    """A navy pram with its hood towards +x."""
    tub = lathe([(0.45, 0.28, 0.16), (0.85, 0.48, 0.27), (0.85, 0.0, 0.0)], "navy", (0.6, -0.1, 0.0), 6)
    tub += blob((0.3, 0.28, 0.3), (0.84, -0.1, 0.9), "navy", 6, 2)
    bed = blob((0.24, 0.22, 0.1), (0.45, -0.1, 0.86), "white", 5, 1)
    bed += limb((0.25, -0.1, 0.85), (-0.05, -0.1, 1.02), 0.03, "steel", sides=3)
    wheel = disc(0.0, 0.2, 0.2, "tyre", -0.24, 0.0, 7) + disc(0.0, 0.2, 0.11, "hub", -0.24, 0.02, 5)
    wheels = [wheel.turned(turn).at(x, -0.1) for x in (0.35, 0.85) for turn in (0, 180)]
    legs = [limb((x, -0.3, 0.2), (0.6, -0.2, 0.6), 0.025, "steel", sides=3) for x in (0.35, 0.85)]
    return join(tub, bed, wheels, legs)


def _pram_parent(pose: _Pose) -> Mesh:
    return _person(pose, "skin dark", "black", "bun", legs="blue")


def pram_parent() -> Mesh:
    """Stands behind the pram, both hands on its handle."""
    return (
        _pram_parent(replace(_STAND, hands=((-0.18, -0.36, 1.0), (0.18, -0.36, 1.0))))
        .turned(75)
        .at(-0.45, -0.05)
        + _pram()
    )


def pram_pusher() -> Mesh:
    """Pushes it along."""
    return (
        _pram_parent(replace(_WALK, hands=((-0.18, -0.36, 1.0), (0.18, -0.36, 1.0))))
        .turned(75)
        .at(-0.45, -0.05)
        + _pram()
    )


def pram_parent_sitting() -> Mesh:
    """Rests on a bench, the pram beside it."""
    pose = replace(_SIT, hands=((-0.2, -0.3, 0.84), (0.42, -0.22, 1.0)))
    return ((_pram_parent(pose) + _bench()).at(-0.5, 0.1) + _pram().at(0.2, -0.1)).turned(_ASIDE)


def _postman(pose: _Pose, letter: Point, bag: Point = (0.34, 0.0, 0.5)) -> Mesh:
    """In a blue uniform and cap, with a satchel and a letter; their lower middles are at two points."""
    cap = lathe(
        [(1.55, 0.3, 0.3, 0.0, 0.02), (1.76, 0.26, 0.25, 0.0, 0.04), (1.78, 0.0, 0.0)], "navy", sides=7
    )
    cap += lathe([(1.55, 0.2, 0.14, 0.0, -0.26), (1.58, 0.18, 0.12, 0.0, -0.22)], "black", caps=True)
    satchel = box((0.16, 0.36, 0.32), bag, "tan") + patch((-0.14, 0.14), (0.1, 0.2), "brown").turned(90).at(
        bag[0] + 0.08, *bag[1:]
    )
    strap = shape([(0.2, 0.7), (0.28, 0.72), (-0.1, 1.22), (-0.18, 1.2)], "tan", -0.2)
    envelope = patch((-0.14, 0.14), (0.0, 0.2), "white", 0.0, 0.0)
    envelope += shape([(-0.14, 0.2), (0.0, 0.09), (0.14, 0.2)], "red", 0.0, 0.02)
    envelope += patch((-0.14, 0.14), (0.0, 0.2), "white", 0.0, 0.0).turned(180)
    return join(
        _person(pose, "skin", "brown", top="blue", legs="navy", hat=cap), satchel, strap, envelope.at(*letter)
    )


def postman() -> Mesh:
    """Reads an address."""
    return _postman(
        replace(_STAND, hands=((-0.38, -0.38, 1.0), (0.36, -0.05, 0.75)), nod=8.0), (-0.41, -0.46, 0.95)
    )


def postman_walking() -> Mesh:
    """On his round, a letter ready."""
    return _postman(
        replace(_WALK, hands=((-0.34, -0.34, 0.94), (0.34, 0.2, 0.76))),
        (-0.36, -0.43, 0.9),
        (0.36, 0.06, 0.48),
    )


def postman_waving() -> Mesh:
    """Has a letter for somebody and holds it up."""
    return _postman(replace(_STAND, hands=((-0.46, -0.1, 1.5), (0.36, -0.05, 0.75))), (-0.53, -0.14, 1.58))


def _gardener(pose: _Pose, can: Mesh) -> Mesh:
    """In dungarees and a straw hat, with a watering can."""
    hat = lathe([(1.58, 0.48, 0.46), (1.63, 0.28, 0.27), (1.84, 0.2, 0.2), (1.84, 0.0, 0.0)], "hay", sides=8)
    bib = patch((-0.14, 0.14), (0.75, 1.05), "blue", -0.19, 0.01)
    return join(_person(pose, "skin dark", "black", legs="blue", shoes="green", hat=hat), bib, can)


def _watering_can() -> Mesh:
    """Its floor about the origin, its spout towards -y."""
    can = lathe([(0.0, 0.18), (0.3, 0.15), (0.3, 0.0)], "green", sides=6)
    return can + limb((0.0, -0.12, 0.07), (0.0, -0.44, 0.38), 0.04, "green", 0.06, 3)


def gardener() -> Mesh:
    """The can is full."""
    return _gardener(_STAND, _watering_can().at(-0.4, -0.06, 0.35))


def gardener_walking() -> Mesh:
    """Off to the roses."""
    return _gardener(_WALK, _watering_can().at(0.4, -0.28, 0.42))


def gardener_watering() -> Mesh:
    """Waters a pot of tulips."""
    pot = lathe([(0.0, 0.14), (0.3, 0.22), (0.3, 0.0)], "brick", (-0.26, -0.86, 0.0), 6)
    pot += join(
        blob(0.11, (-0.26 + x, -0.86 + y, z), "red", 4, 1)
        for x, y, z in ((-0.1, 0.0, 0.55), (0.1, 0.03, 0.6), (0.0, -0.08, 0.5))
    )
    pot += blob((0.18, 0.18, 0.12), (-0.26, -0.86, 0.36), "leaf", 5, 1)
    can = _bent(_watering_can().at(0.0, 0.0, -0.3), 40, 0.0).at(-0.26, -0.36, 0.92)
    drops = limb((-0.26, -0.8, 0.86), (-0.26, -0.88, 0.5), 0.03, "sky", 0.06, 3)
    return (
        _gardener(replace(_STAND, hands=((-0.28, -0.36, 0.94), (0.1, -0.36, 0.94)), nod=12.0), can)
        + pot
        + drops
    )


def _each(poses: tuple[Callable[..., Mesh], ...], *looks: str) -> tuple[Make, Make, Make]:
    """The three poses of a kind that shares them with another, in its own colours."""
    standing, walking, third = (partial(pose, *looks) for pose in poses)
    return standing, walking, third


#: Of every kind of person: standing, walking, and something else.
POSES: dict[str, tuple[Make, Make, Make]] = {
    "woman": (woman, woman_walking, woman_waving),
    "woman with black hair": _each((woman, woman_walking, woman_reading), "skin dark", "black"),
    "man": (man, man_walking, man_reading),
    "man with black hair": _each((man, man_walking, man_sitting), "skin dark", "black"),
    "child": (child, child_walking, child_jumping),
    "elder with cane": (elder, elder_walking, elder_sitting),
    "grandmother": (grandmother, grandmother_walking, grandmother_sitting),
    "jogger": (jogger, jogger_running, jogger_stretching),
    "person with dog": (dog_owner, dog_walker, dog_owner_playing),
    "person with umbrella": (umbrella_person, umbrella_walker, umbrella_person_waving),
    "person with pram": (pram_parent, pram_pusher, pram_parent_sitting),
    "postman": (postman, postman_walking, postman_waving),
    "gardener": (gardener, gardener_walking, gardener_watering),
}
KINDS: dict[str, Make] = {name: poses[0] for name, poses in POSES.items()}
#: Kinds that look along +x; the others look towards -y.
SIDEWAYS: tuple[str, ...] = ("jogger", "person with dog", "person with pram")
