"""Animals, larger than life, centred at the origin.

They look along +x, but for :data:`LEFTWARDS`, who look along -x, all with their faces turned a little to the
viewer.
"""

from __future__ import annotations

from collections.abc import Iterable

from simtown.assets.mesh import *
from simtown.assets.street.people import terrier
from simtown.assets.street.shapes import *
from simtown.assets.vehicles.farm import draught_horse

_ASIDE = 24.0  # degrees by which they are turned to the viewer


def _rightwards(*parts: Mesh | Iterable[Mesh]) -> Mesh:
    """Parts that look along +x, as one animal that does."""
    return centred(*parts).turned(-_ASIDE)


def _leftwards(*parts: Mesh | Iterable[Mesh]) -> Mesh:
    """Parts that look along +x, as one animal that looks along -x."""
    return centred(*parts).turned(180.0 + _ASIDE)


def _eyes(x: float, y: float, z: float, size: float = 0.07, paint: str = "black") -> Mesh:
    """Two eyes on either side of a head."""
    return box((size, 0.03, 1.2 * size), (x, y, z), paint).both_sides()


def _legs(xs: Places, y: float, z: float, radius: float, paint: str, hoof: str) -> Mesh:
    """A pair of legs at each x, from z down to their hooves."""
    leg = [limb((x, y, z), (x, y, 0.1), radius, paint, 0.75 * radius) for x in xs]
    feet = [
        frustum((1.9 * radius, 1.7 * radius, 0.12), (1.6 * radius, 1.5 * radius), (x, y, 0.0), hoof)
        for x in xs
    ]
    return join(leg, feet).both_sides()


def dog() -> Mesh:
    """A tan terrier with brown ears and a red collar."""
    collar = box((0.16, 0.29, 0.08), (0.22, 0.0, 0.38), "red")
    nose = box((0.06, 0.1, 0.06), (0.58, 0.0, 0.51), "black")
    return _rightwards((terrier() + collar + nose + _eyes(0.4, 0.13, 0.56, 0.05)).scaled(1.35))


def cat() -> Mesh:
    """A ginger cat with dark stripes, green eyes and a white chest, which sits and looks at the viewer."""
    trunk = lathe(
        [(0.0, 0.3, 0.25, -0.08), (0.3, 0.27, 0.22, -0.04), (0.64, 0.17, 0.16, 0.08)], "orange", sides=7
    )
    trunk += lathe([(0.18, 0.295, 0.245, -0.06), (0.25, 0.295, 0.245, -0.06)], "rust", sides=7)
    trunk += lathe([(0.42, 0.25, 0.215), (0.49, 0.25, 0.215)], "rust", sides=7)
    chest = blob((0.14, 0.13, 0.24), (0.17, 0.0, 0.42), "white", 6, 2)
    leg = limb((0.2, 0.09, 0.4), (0.27, 0.09, 0.0), 0.08, "orange", 0.07)
    head = blob((0.25, 0.3, 0.24), (0.14, 0.0, 0.82), "orange", 8, 3)
    cheek = blob((0.08, 0.1, 0.07), (0.36, 0.06, 0.73), "white", 6, 1)
    nose = box((0.06, 0.08, 0.05), (0.4, 0.0, 0.77), "pink")
    ear = cylinder(0.13, 0.22, (0.1, 0.18, 0.95), "orange", sides=4, end=0.0)
    eye = box((0.04, 0.11, 0.1), (0.355, 0.13, 0.83), "lime")
    eye += box((0.05, 0.04, 0.1), (0.36, 0.13, 0.83), "black")
    tail = limb((-0.3, 0.0, 0.08), (-0.5, 0.0, 0.2), 0.08, "orange")
    tail += limb((-0.48, 0.0, 0.16), (-0.58, 0.0, 0.6), 0.08, "orange", 0.07)
    tail += limb((-0.58, 0.0, 0.6), (-0.42, 0.0, 0.86), 0.07, "rust", 0.04)
    return _leftwards(trunk, chest, head, nose, tail, join(leg, cheek, ear, eye).both_sides()).turned(30)


def pigeon() -> Mesh:
    """Grey, with two black bars on each wing and a green neck."""
    trunk = blob((0.42, 0.26, 0.25), (0.0, 0.0, 0.0), "grey", 8, 3).turned(-22, "y").at(z=0.4)
    wing = blob((0.36, 0.08, 0.18), (-0.1, 0.22, 0.42), "silver", 6, 2).turned(-14, "y")
    wing += join(box((0.06, 0.06, 0.24), (x, 0.27, 0.26), "black") for x in (-0.3, -0.16))
    tail = frustum((0.42, 0.26, 0.06), (0.3, 0.2), (-0.5, 0.0, 0.2), "charcoal")
    neck = limb((0.24, 0.0, 0.5), (0.32, 0.0, 0.76), 0.16, "teal", 0.12, 6)
    head = blob((0.15, 0.13, 0.13), (0.36, 0.0, 0.84), "grey", 7, 2) + _eyes(0.4, 0.11, 0.84, 0.045)
    beak = cylinder(0.045, 0.14, (0.48, 0.0, 0.82), "black", "x", 4, 0.0)
    leg = limb((0.02, 0.1, 0.2), (0.06, 0.1, 0.0), 0.035, "coral", sides=3)
    leg += box((0.18, 0.1, 0.03), (0.12, 0.1, 0.0), "coral")
    return _rightwards(trunk, tail, neck, head, beak, (wing + leg).both_sides()).scaled(1.15)


def duck() -> Mesh:
    """A white duck with an orange bill and orange feet."""
    trunk = blob((0.5, 0.32, 0.28), (0.0, 0.0, 0.42), "white", 8, 3)
    tail = limb((-0.36, 0.0, 0.5), (-0.58, 0.0, 0.72), 0.16, "white", 0.0, 5)
    wing = blob((0.3, 0.07, 0.16), (-0.1, 0.3, 0.48), "cream", 6, 2).both_sides()
    neck = limb((0.34, 0.0, 0.5), (0.42, 0.0, 0.86), 0.15, "white", 0.12, 6)
    head = blob((0.2, 0.18, 0.18), (0.45, 0.0, 0.96), "white", 7, 3)
    bill = frustum((0.28, 0.24, 0.09), (0.24, 0.18), (0.72, 0.0, 0.86), "orange")
    legs = limb((0.04, 0.14, 0.24), (0.08, 0.14, 0.0), 0.05, "orange", sides=4)
    legs += frustum((0.3, 0.22, 0.05), (0.16, 0.1), (0.16, 0.14, 0.0), "orange")
    return _leftwards(trunk, tail, wing, neck, head, bill, legs.both_sides(), _eyes(0.54, 0.15, 0.98, 0.05))


def horse() -> Mesh:
    """A chestnut with a cream mane."""
    return _rightwards((draught_horse("rust", "cream") + _eyes(1.1, 0.19, 1.94)).scaled(0.92))


def cow() -> Mesh:
    """White with black patches and a black face, a pink muzzle and horns."""
    rear, chest = (
        [(-0.9, 0.26, 0.74, 1.3), (-0.72, 0.38, 0.58, 1.42)],
        [(0.5, 0.4, 0.56, 1.42), (0.72, 0.26, 0.74, 1.34)],
    )
    trunk = body(rear + chest, "white", 0.16) + top((-0.5, -0.1), (-0.26, 0.26), 1.42, "black")
    trunk += side((-0.62, -0.1), (0.8, 1.25), 0.4, "black", lift=0.02, x_top=(-0.5, -0.2))
    trunk += side((0.16, 0.5), (0.66, 1.1), 0.41, "black", lift=0.02, x_top=(0.2, 0.44))
    neck = rod((0.5, 0.0, 1.1), (0.9, 0.0, 1.36), 0.26, "white", 6, 0.2)
    head = rod((0.78, 0.0, 1.5), (1.12, 0.0, 1.2), 0.22, "black", 6, 0.18)
    head += rod((1.06, 0.0, 1.25), (1.22, 0.0, 1.11), 0.2, "pink", 6, 0.17)
    horn = rod((0.8, 0.12, 1.62), (0.84, 0.3, 1.84), 0.06, "cream", 4, 0.0)
    ear = rod((0.78, 0.16, 1.5), (0.74, 0.42, 1.5), 0.07, "black", 4, 0.02)
    udder = blob((0.18, 0.16, 0.12), (-0.42, 0.0, 0.56), "pink", 6, 2)
    tail = limb((-0.9, 0.0, 1.28), (-0.98, 0.0, 0.66), 0.04, "white", 0.05)
    tail += blob((0.08, 0.08, 0.14), (-0.98, 0.0, 0.6), "black", 5, 1)
    legs = _legs((-0.62, 0.46), 0.24, 0.8, 0.13, "white", "black")
    face = (horn + ear).both_sides() + _eyes(0.92, 0.2, 1.42, 0.08, "white")
    return _leftwards(trunk, neck, head, face, udder, tail, legs)


def sheep() -> Mesh:
    """Thick white wool, a black face and black legs."""
    wool = blob((0.56, 0.4, 0.36), (0.0, 0.0, 0.72), "white", 9, 4)
    tufts = ((-0.34, 0.86), (0.0, 0.93), (0.3, 0.9))
    wool += join(blob((0.3, 0.28, 0.22), (x, 0.0, z), "white", 7, 3) for x, z in tufts)
    tail = blob(0.13, (-0.56, 0.0, 0.7), "white", 5, 1)
    head = rod((0.5, 0.0, 1.0), (0.82, 0.0, 0.8), 0.17, "black", 6, 0.13)
    head += blob((0.2, 0.19, 0.14), (0.5, 0.0, 1.14), "white", 6, 2) + _eyes(0.62, 0.16, 0.94, 0.07, "white")
    head += rod((0.54, 0.14, 1.02), (0.5, 0.36, 0.94), 0.06, "black", 4, 0.02).both_sides()
    return _rightwards(wool, tail, head, _legs((-0.3, 0.3), 0.2, 0.6, 0.09, "black", "black"))


def pig() -> Mesh:
    """Pink, with a broad snout, pointed ears and a curly tail."""
    trunk = blob((0.66, 0.4, 0.38), (0.0, 0.0, 0.58), "pink", 9, 4)
    head = blob((0.32, 0.3, 0.3), (0.58, 0.0, 0.68), "pink", 8, 3) + _eyes(0.78, 0.22, 0.76)
    snout = cylinder(0.15, 0.16, (0.8, 0.0, 0.62), "coral", "x", 7)
    snout += box((0.02, 0.05, 0.08), (0.965, 0.06, 0.58), "crimson").both_sides()
    ears = rod((0.52, 0.18, 0.94), (0.7, 0.26, 0.84), 0.13, "coral", 4, 0.02).both_sides()
    tail = limb((-0.62, 0.0, 0.64), (-0.76, 0.1, 0.74), 0.05, "coral")
    tail += limb((-0.76, 0.1, 0.72), (-0.7, -0.06, 0.88), 0.05, "coral", 0.02)
    return _leftwards(trunk, head, snout, ears, tail, _legs((-0.36, 0.36), 0.22, 0.4, 0.12, "pink", "coral"))


KINDS = kinds(dog, cat, pigeon, duck, horse, cow, sheep, pig)
#: Kinds that look along -x.
LEFTWARDS: tuple[str, ...] = ("cat", "duck", "cow", "pig")
