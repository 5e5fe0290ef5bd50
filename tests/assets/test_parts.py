"""The vocabulary of parts against trimesh's solids and closed formulas."""

import numpy as np
import pytest
import trimesh

from simtown.assets.mesh import *
from simtown.assets.palette import MATERIALS, material
from tests.assets.geometry import areas, corners, normals, solid

SQUARE = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)]


def names(mesh):
    return {MATERIALS[m].name for m in mesh.materials}


def faces(mesh):
    """Its triangles as a set, whatever their order and first corner."""
    rounded = np.round(mesh.vertices[mesh.triangles], 9) + 0.0
    turned = np.stack([np.roll(rounded, k, axis=1) for k in range(3)], axis=1).tolist()
    return {(int(m), str(min(triangles))) for triangles, m in zip(turned, mesh.materials, strict=True)}


CONVEX = {
    "box": box((2.0, 1.0, 0.5), (1.0, 2.0, 3.0), "red"),
    "block": block((2.0, 1.4, 0.9), (1.0, -2.0, 0.3), "red", 0.15),
    "frustum": frustum((2.0, 1.4, 0.9), (1.2, 0.8), (0.0, 1.0, 0.3), "red"),
    **{f"cylinder {axis}": cylinder(0.4, 1.5, (0.3, 0.2, 0.1), "red", axis, 9) for axis in "xyz"},
    "cone": cylinder(0.4, 1.5, (0.3, 0.2, 0.1), "red", "z", 8, 0.0),
    "cone upside down": cylinder(0.02, 1.5, (0.3, 0.2, 0.1), "red", "y", 8, 0.6),
    "tapered cylinder": cylinder(0.4, 1.5, (0.3, 0.2, 0.1), "red", "x", 8, 0.2),
    "rod": rod((0.1, 0.2, 0.3), (1.0, -0.5, 1.2), 0.08, "red"),
    "upright rod": rod((0.1, 0.2, 0.3), (0.1, 0.2, 1.3), 0.08, "red", 6),
    "falling rod": rod((0.1, 0.2, 1.3), (0.1, 0.2, 0.3), 0.08, "red", 5),
    "tapered rod": rod((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 0.1, "red", 6, 0.02),
    "profile": profile([(-1.0, 0.0), (1.0, 0.0), (0.6, 0.9), (-0.8, 0.7)], 1.2, "red", 0.8, y=0.5),
    "body": body([(-1.0, 0.7, 0.3, 1.0), (1.0, 0.7, 0.3, 1.0)], "red"),
    "ball": ball(0.5, (1.0, 2.0, 3.0), "red"),
    "dome": ball(0.5, (1.0, 2.0, 3.0), "red", low=0.0),
}


@pytest.mark.parametrize("part", CONVEX.values(), ids=CONVEX)
def test_convex_parts_are_closed_wound_outwards_and_equal_their_hull(part):
    shape = solid(part)
    hull = trimesh.convex.convex_hull(part.vertices)
    assert shape.is_watertight
    assert shape.is_winding_consistent
    assert shape.volume == pytest.approx(hull.volume, rel=2e-3)
    assert shape.area == pytest.approx(hull.area, rel=2e-3)
    outwards = corners(part)[:, 0] - part.vertices.mean(axis=0)
    assert (np.einsum("ij,ij->i", normals(part), outwards) > 0).all()


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("mirrored", [False, True])
def test_loft_is_wound_outwards_whichever_way_its_loops_run(backwards, mirrored):
    low, high = [(*p[:2], 0.0) for p in SQUARE], [(0.5 * p[0], 0.5 * p[1], 2.0) for p in SQUARE]
    loops = [high, low] if backwards else [low, high]
    part = loft([loop[::-1] for loop in loops] if mirrored else loops, "red")
    assert solid(part).volume == pytest.approx(2 / 6 * (4 + 4 * 2.25 + 1))
    assert solid(part).is_watertight
    assert len(loft(loops, "red", caps=False).triangles) == 8


def test_loft_closes_to_a_line_without_degenerate_triangles():
    ridge = [(-1.0, 0.0, 1.0), (1.0, 0.0, 1.0), (1.0, 0.0, 1.0), (-1.0, 0.0, 1.0)]
    roof = loft([SQUARE, ridge], "red")
    assert (areas(roof) > 5e-4).all()
    assert solid(roof).is_watertight
    assert solid(roof).volume == pytest.approx(2.0)


# moving


@pytest.fixture
def lump():
    return box((2.0, 1.0, 0.5), (0.3, 0.4, 0.1), "red") + cylinder(0.3, 1.0, (1.0, -0.5, 0.2), "green")


@pytest.mark.parametrize(("axis", "direction"), [("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))])
@pytest.mark.parametrize("degrees", [0, 30, 90, -45, 180, 400])
def test_turned_is_a_right_handed_rotation(lump, axis, direction, degrees):
    matrix = trimesh.transformations.rotation_matrix(np.radians(degrees), direction)
    expected = trimesh.transformations.transform_points(lump.vertices, matrix)
    turned = lump.turned(degrees, axis)
    assert np.allclose(turned.vertices, expected, atol=1e-12)
    assert turned.triangles is lump.triangles
    assert solid(turned).volume == pytest.approx(solid(lump).volume)


def test_moved_and_scaled(lump):
    assert np.allclose(lump.at(1.0, z=-2.0).vertices - lump.vertices, [1.0, 0.0, -2.0])
    for factors, expected in (((2.0, 3.0, 4.0), [2, 3, 4]), ((2.0, 3.0), [2, 3, 2]), ((2.0,), [2, 2, 2])):
        assert np.allclose(lump.scaled(*factors).vertices, lump.vertices * expected)


def test_mirrored_keeps_faces_outward(lump):
    mirror = lump.mirrored()
    assert np.allclose(mirror.vertices, lump.vertices * [1, -1, 1])
    assert solid(mirror).volume == pytest.approx(solid(lump).volume)
    assert solid(lump).volume > 0
    assert faces(mirror.mirrored()) == faces(lump)
    assert faces(mirror) != faces(lump)


def test_both_sides_is_symmetric(lump):
    pair = lump.both_sides()
    assert len(pair.triangles) == 2 * len(lump.triangles)
    assert faces(pair) == faces(pair.mirrored()) == faces(lump) | faces(lump.mirrored())
    assert solid(pair).volume == pytest.approx(2 * solid(lump).volume)


def test_painted_swaps_materials_only(lump):
    green, red = material("green"), material("red")
    repainted = lump.painted(red="blue")
    assert names(repainted) == {"blue", "green"}
    assert repainted.vertices is lump.vertices
    assert repainted.triangles is lump.triangles
    swapped = lump.painted(red="green", green="red")
    assert np.array_equal(swapped.materials, np.where(lump.materials == red, green, red))
    assert names(box((1, 1, 1), (0, 0, 0), "skin dark").painted(skin_dark="beacon red")) == {"beacon red"}
    assert np.array_equal(lump.painted(yellow="pink").materials, lump.materials)
    with pytest.raises(KeyError):
        lump.painted(red="tartan")


def test_join_is_the_sum():
    parts = [box((1, 1, 1), (3.0 * i, 0, 0), paint) for i, paint in enumerate(("red", "green", "blue"))]
    whole = join(parts)
    assert faces(whole) == faces(parts[0] + parts[1] + parts[2]) == set().union(*map(faces, parts))
    assert solid(whole).volume == pytest.approx(3)
    assert [MATERIALS[m].name for m in whole.materials] == ["red"] * 12 + ["green"] * 12 + ["blue"] * 12


# decals


ACROSS, UP, FLANK = (-0.5, 0.3), (0.2, 0.8), [(0, -1, 0), (2, -1, 0), (2, -1, 1), (0, -1, 1)]
#: A decal, where it faces, its smallest and largest corner.
DECALS = {
    "front": (front(ACROSS, UP, 1.5, "glass"), (1, 0, 0), [[1.515, -0.5, 0.2], [1.515, 0.3, 0.8]]),
    "back": (back(ACROSS, UP, -1.5, "glass"), (-1, 0, 0), [[-1.515, -0.5, 0.2], [-1.515, 0.3, 0.8]]),
    "top": (top(ACROSS, UP, 1.5, "glass"), (0, 0, 1), [[-0.5, 0.2, 1.515], [0.3, 0.8, 1.515]]),
}
PANEL = panel(FLANK, "glass", (0.25, 0.75), (0, 0.5))
DECALS["panel"] = (PANEL, (0, -1, 0), [[0.5, -1.015, 0], [1.5, -1.015, 0.5]])


@pytest.mark.parametrize(("decal", "direction", "extent"), DECALS.values(), ids=DECALS)
def test_decals_face_outwards_and_stand_proud(decal, direction, extent):
    assert np.allclose(normals(decal), direction)
    assert np.allclose(decal.bounds, extent)
    assert len(decal.triangles) == 2
    assert areas(decal).sum() == pytest.approx(np.prod([d for d in np.ptp(extent, axis=0) if d > 0]))


def test_side_is_on_both_flanks():
    decal = side((-0.5, 0.7), (0.2, 0.8), 0.9, "glass", lift=0.02)
    outward = np.sign(decal.vertices[decal.triangles][:, :, 1].mean(axis=1))
    assert np.allclose(normals(decal), np.stack([0 * outward, outward, 0 * outward], axis=1))
    assert np.allclose(np.abs(decal.vertices[:, 1]), 0.92)
    assert areas(decal).sum() == pytest.approx(2 * 1.2 * 0.6)
    sloping = side((-0.5, 0.7), (0.2, 0.8), 0.9, "glass", y_top=0.5)
    assert (normals(sloping)[:, 2] > 0).all()
    leaning = side((-0.5, 0.7), (0.2, 0.8), 0.9, "glass", x_top=(0.5, 1.0))
    assert areas(leaning).sum() == pytest.approx(2 * 0.6 * (1.2 + 0.5) / 2)
    assert np.allclose(leaning.bounds[:, 0], [-0.5, 1.0])


# assemblies


@pytest.mark.parametrize("y", [0.7, -0.7])
@pytest.mark.parametrize("radius", [0.35, 0.2])
def test_wheel_stands_on_the_road_with_its_hub_outside(y, radius):
    part = wheel(1.2, y, radius, 0.2)
    hub = part.vertices[part.triangles[part.materials == material("hub")]].reshape(-1, 3)
    tyre = part.vertices[part.triangles[part.materials == material("tyre")]].reshape(-1, 3)
    assert 0 <= part.bounds[0, 2] < 0.02
    assert part.bounds[1, 2] < 2 * radius + 1e-9
    assert np.abs(hub[:, 1]).max() > np.abs(tyre[:, 1]).max()
    assert np.sign(hub[:, 1]).tolist() == [np.sign(y)] * len(hub)
    assert part.bounds[:, 0].mean() == pytest.approx(1.2, abs=0.01)
    assert solid(part).volume > 0
    rim = part.triangles[part.materials != material("tyre")]
    assert (normals(Mesh(part.vertices, rim, part.materials))[:, 1] * np.sign(y) > 0.5).all()
