"""The street's parts: flat faces face the road, round ones are wound outwards."""

from math import pi, sin

import numpy as np
import pytest
import trimesh

from simtown.assets.street.shapes import *
from tests.assets.geometry import normals, solid

FLAT = {
    "shape": (shape([(0, 0), (1, 0), (0.5, 1)], "red", 2.0, 0.05), 0.5, 1.95),
    "patch": (patch((-0.5, 1.0), (0.2, 0.6), "red", 2.0, 0.05), 1.5 * 0.4, 1.95),
    "disc": (disc(0.3, 0.4, 0.5, "red", 2.0, 0.05, 7), 7 / 2 * 0.25 * sin(2 * pi / 7), 1.95),
    "arch": (arch((-0.5, 0.5), (0.0, 2.0), "red", 2.0, 0.05, 12), 1.5 + 6 * 0.25 * sin(pi / 12), 1.95),
    "bunting": (bunting([0.0, 1.0, 2.0], (0.0, 1.0), ["red", "blue"], 2.0, 0.05), None, 1.95),
    "letters": (letters("BAKERY", 0.0, 2.0, 0.5, "red", 2.0, 0.05), None, 1.95),
}


@pytest.mark.parametrize(("part", "area", "y"), FLAT.values(), ids=FLAT)
def test_flat_parts_face_the_road(part, area, y):
    assert np.allclose(normals(part), [0, -1, 0])
    assert np.allclose(part.vertices[:, 1], y)
    if area is not None:
        assert solid(part).area == pytest.approx(area)


def test_face_is_a_fan():
    part = face("red", (0, 0, 0), (2, 0, 0), (2, 1, 0), (1, 2, 0), (0, 1, 0))
    assert len(part.triangles) == 3
    assert solid(part).area == pytest.approx(3.0)
    assert np.allclose(normals(part), [0, 0, 1])


def test_mass_is_a_box_without_a_back():
    part = mass((-1.0, 2.0), (0.5, 1.5), "red", (0.2, 4.2), floor=True)
    closed = trimesh.creation.box(bounds=[[-1.0, 0.2, 0.5], [2.0, 4.2, 1.5]])
    assert np.allclose(part.bounds, closed.bounds)
    assert solid(part).area == pytest.approx(closed.area - 3.0)
    assert solid(part).is_winding_consistent
    outwards = part.vertices[part.triangles].mean(axis=1) - [0.5, 2.2, 1.0]
    assert (np.einsum("ij,ij->i", normals(part), outwards) > 0).all()
    options = ({}, {"lid": False}, {"ends": False}, {"floor": True})
    assert [len(mass((0, 1), (0, 1), "red", **k).triangles) for k in options] == [8, 6, 4, 10]


OUTLINES = [[(0.0, 0.5), (1.0, 0.0)], [(0.0, 0.5), (0.5, 0.5)], [(0.0, 0.3, 0.1, 0.5, 0.2), (2.0, 0.2)]]


@pytest.mark.parametrize("rings", OUTLINES)
def test_the_outer_side_of_a_lathe_is_right_of_its_outline(rings):
    """Upwards is the outside of a tube, downwards its inside."""
    for outline, sign in ((rings, 1), (rings[::-1], -1)):
        part = lathe(outline, "red", (3.0, -2.0, 1.0), 8)
        middles = part.vertices[part.triangles].mean(axis=1)
        inside = part.vertices.mean(axis=0)
        assert (sign * np.einsum("ij,ij->i", normals(part)[:, :2], middles[:, :2] - inside[:2]) > 0).all()


def test_a_lathe_that_ends_at_its_axis_has_a_lid():
    part = lathe([(0.0, 0.5), (1.0, 0.5), (1.0, 0.0)], "red", sides=6)
    lid = part.vertices[part.triangles][:, :, 2].min(axis=1) == 1.0
    assert lid.sum() == 6
    assert np.allclose(normals(part)[lid], [0, 0, 1])
    assert len(part.triangles) == 6 * 3


def test_roadside_keeps_what_the_road_sees():
    ball = blob(1.0, (0.0, 5.0, 1.0), "leaf", 8, 3)
    part = roadside([ball, mass((-1.0, 1.0), (0.0, 1.0), "red")])
    kept = normals(part)
    assert (kept[:, 1] < 0.5).all()
    assert len(part.triangles) == (normals(ball)[:, 1] < 0.5).sum() + 8
    assert len(np.unique(part.triangles)) == len(part.vertices) == part.triangles.max() + 1
