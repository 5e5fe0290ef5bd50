"""The street's parts: flat faces face the road, round ones are wound outwards."""

from itertools import pairwise
from math import pi, sin

import numpy as np
import pytest
import trimesh

from simtown.assets.palette import MATERIALS
from simtown.assets.street.shapes import *
from simtown.assets.street.shapes import _STROKES
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


@pytest.mark.parametrize("sides", [4, 6, 9])
def test_lathe_with_caps_is_a_stack_of_frustums(sides):
    rings = [(0.0, 0.5), (0.6, 0.3), (1.0, 0.4)]
    part = lathe(rings, "red", (1.0, 2.0, 3.0), sides, caps=True)
    frustums = [(h - g) / 3 * (r**2 + r * s + s**2) for (g, r), (h, s) in pairwise(rings)]
    expected = sides / 2 * sin(2 * pi / sides) * sum(frustums)
    assert solid(part).is_watertight
    assert solid(part).volume == pytest.approx(expected)
    assert np.allclose(part.bounds[:, 2], [3.0, 4.0])


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


@pytest.mark.parametrize("radius", [0.5, (0.6, 0.4, 0.9)])
def test_blob_is_a_closed_ellipsoid(radius):
    r = np.broadcast_to(np.array(radius), 3)
    part = blob(radius, (1.0, 2.0, 3.0), "leaf", 7, 3)
    used = part.vertices[np.unique(part.triangles)]
    assert len(part.triangles) == 2 * 7 * 3
    assert solid(part).is_watertight
    assert np.allclose((((used - [1.0, 2.0, 3.0]) / r) ** 2).sum(axis=1), 1)
    fine = solid(blob(radius, (1.0, 2.0, 3.0), "leaf", 48, 40)).volume
    assert 0 < solid(part).volume < fine
    assert fine == pytest.approx(4 / 3 * pi * r.prod(), rel=0.01)


@pytest.mark.parametrize("stop", [(0.0, 0.0, 1.0), (0.2, 0.1, -1.0), (1.0, 0.3, 0.1), (-1.0, 0.0, 0.0)])
@pytest.mark.parametrize("sides", [3, 4, 6])
def test_limb_runs_from_point_to_point_facing_outwards(stop, sides):
    start = np.array([0.3, 0.2, 1.5])
    part = limb(tuple(start), tuple(start + stop), 0.08, "skin", 0.05, sides)
    for end in (start, start + stop):
        ring = part.vertices[np.linalg.norm(part.vertices - end, axis=1) < 0.1]
        assert np.allclose(ring.mean(axis=0), end, atol=1e-9)
    along = np.array(stop) / np.linalg.norm(stop)
    middles = part.vertices[part.triangles].mean(axis=1) - start
    away = middles - (middles @ along)[:, None] * along
    assert (np.einsum("ij,ij->i", normals(part), away) > 0).all()


def test_letters_are_as_wide_as_they_are_many():
    one, four = letters("O", 0.0, 1.0, 0.8, "red"), letters("OOOO", 0.0, 1.0, 0.8, "red")
    assert four.bounds.mean(axis=0)[0] == pytest.approx(one.bounds.mean(axis=0)[0], abs=1e-9)
    assert np.ptp(four.vertices[:, 0]) - np.ptp(one.vertices[:, 0]) == pytest.approx(3 * 3.2 * 0.2)
    assert len(four.triangles) == 4 * len(one.triangles) == 8 * len(_STROKES["O"].split())
    assert {MATERIALS[m].name for m in four.materials} == {"red"}


def test_bunting_puts_one_thing_at_each_place():
    part = bunting([0.0, 1.0, 2.0, 3.0], (0.5, 1.0), ["red", "blue", "green"])
    assert [MATERIALS[m].name for m in part.materials[::2]] == ["red", "blue", "green", "red"]
    assert np.allclose(part.vertices[part.triangles[::2]].mean(axis=1)[:, 0], [0, 1, 2, 3], atol=0.2)


def test_roadside_keeps_what_the_road_sees():
    ball = blob(1.0, (0.0, 5.0, 1.0), "leaf", 8, 3)
    part = roadside([ball, mass((-1.0, 1.0), (0.0, 1.0), "red")])
    kept = normals(part)
    assert (kept[:, 1] < 0.5).all()
    assert len(part.triangles) == (normals(ball)[:, 1] < 0.5).sum() + 8
    assert len(np.unique(part.triangles)) == len(part.vertices) == part.triangles.max() + 1
