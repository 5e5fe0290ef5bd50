"""Every kind's body paint: what is exchanged when a vehicle is painted anew."""

import numpy as np

from simtown.assets.mesh import Mesh
from simtown.assets.palette import PAINTS, material
from simtown.assets.vehicles import cars, cycles, offroad, showcars, vans
from tests.every import for_every

MODULES = (cars, showcars, offroad, cycles, vans)
#: Where a kind's name says its colour.
NAMED = {f"{colour} {thing}": colour for colour in PAINTS for thing in ("car", "van", "pickup")}

EVERY_KIND = [(module, name) for module in MODULES for name in module.KINDS]


def seen_from(mesh: Mesh, side: int) -> np.ndarray:
    """(triangles,) float64 area, m², that a viewer far to the right (-1) or the left (1) sees of each."""
    p, q, r = mesh.vertices[mesh.triangles].transpose(1, 0, 2)
    return np.maximum(side * np.cross(q - p, r - p)[:, 1] / 2, 0)


@for_every(MODULES)
def test_every_kind_has_a_body_of_plain_paint(module):
    assert list(module.BODY) == list(module.KINDS)
    assert set(module.BODY.values()) <= set(PAINTS)


@for_every((*kind, side) for kind in EVERY_KIND for side in (-1, 1))
def test_the_body_is_at_least_a_fifth_of_the_paint_on_either_side(module, name, side):
    mesh = module.KINDS[name]()
    shown = seen_from(mesh, side)
    body = shown[mesh.materials == material(module.BODY[name])].sum()
    assert body >= 0.2 * shown[mesh.materials < len(PAINTS)].sum()


@for_every(EVERY_KIND)
def test_a_kind_named_by_a_colour_has_a_body_of_it(module, name):
    if name in NAMED:
        assert module.BODY[name] == NAMED[name]


def test_vans_of_a_colour_share_a_mesh():
    """They are told apart by colour alone, their belts' included."""
    white, black, blue = (vans.KINDS[f"{colour} van"]() for colour in ("white", "black", "blue"))
    for other in (black, blue):
        assert np.array_equal(white.vertices, other.vertices)
        assert np.array_equal(white.triangles, other.triangles)
        assert not np.array_equal(white.materials, other.materials)
