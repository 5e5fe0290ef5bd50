"""Outlines and distances on the ground, against SciPy, and points sampled on meshes."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import spatial

from simtown.assets.atlas import atlas
from simtown.scenes.footprints import GROUP, HEADROOM, depths, hull, number, outline, placed, separation, top

KINDS = sorted(GROUP)
kinds = st.sampled_from([k for k in KINDS if GROUP[k] != "cloud"])
poses = st.tuples(kinds, st.floats(-12, 12), st.floats(-6, 6), st.floats(-7, 7), st.floats(0.5, 2)).map(
    lambda p: placed(outline(p[0]), *p[1:])
)


def around(polygon, n=160):
    """Points on a polygon's edges."""
    t = np.linspace(0, 1, n, endpoint=False)[:, None]
    pairs = zip(polygon, np.roll(polygon, -1, axis=0), strict=True)
    return np.concatenate([a + t * (b - a) for a, b in pairs])


def within(points, polygon):
    return spatial.Delaunay(polygon).find_simplex(points) >= 0


@pytest.mark.parametrize("group", ["vehicle", "building", "tree", "furniture", "person"])
def test_outlines_are_the_hulls_of_what_is_in_the_way(group):
    for kind in [k for k in KINDS if GROUP[k] == group]:
        mine = outline(kind)
        mesh = atlas().mesh(number(kind))
        rng = np.random.default_rng(0)
        mix = rng.dirichlet(np.ones(3), len(mesh.triangles) * 8)
        corners = mesh.vertices[np.repeat(mesh.triangles, 8, axis=0)]
        points = (mix[:, :, None] * corners).sum(axis=1)
        low = points[points[:, 2] < HEADROOM.get(group, np.inf)][:, :2]
        assert (depths(low, mine) > -1e-6).all(), kind
        below = mesh.vertices[mesh.vertices[:, 2] <= HEADROOM.get(group, np.inf)][:, :2]
        if group in ("vehicle", "person"):
            theirs = spatial.ConvexHull(below)
            assert np.isclose(theirs.volume, spatial.ConvexHull(mine).volume, rtol=1e-9), kind


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=3, max_size=30))
def test_hull_is_scipys(points):
    points = np.array(points, dtype=float)
    assume(np.linalg.matrix_rank(points - points[0]) == 2)
    theirs = points[spatial.ConvexHull(points).vertices]
    mine = hull(points)
    assert {tuple(p) for p in mine} <= {tuple(p) for p in points}
    assert np.isclose(spatial.ConvexHull(mine).volume, spatial.ConvexHull(theirs).volume)


@given(poses, poses)
def test_separation_is_the_distance_of_sampled_edges(a, b):
    found = separation(a, b)
    brute = spatial.distance.cdist(around(a), around(b)).min()
    inside = within(around(a), b).any() or within(around(b), a).any()
    if found > 1e-6:
        assert found - 1e-9 <= brute <= found + 0.15
        assert not inside
    elif found < -0.05:
        assert inside
    assert separation(b, a) == pytest.approx(found, abs=1e-9)


@given(poses, st.lists(st.tuples(st.floats(-15, 15), st.floats(-10, 10)), min_size=1, max_size=20))
def test_depth_is_the_distance_from_the_edge(polygon, points):
    points = np.array(points)
    found = depths(points, polygon)
    brute = spatial.distance.cdist(points, around(polygon, 400)).min(axis=1)
    assert np.allclose(np.abs(found), brute, atol=0.05)
    clear = np.abs(found) > 1e-6
    assert np.array_equal((found > 0)[clear], within(points, polygon)[clear])


TOPS = ["fire truck", "flatbed truck", "bench", "cottage", "oak", "man"]


@pytest.mark.parametrize("kind", TOPS)
def test_top_is_the_highest_triangle_over_a_point(kind):
    """Of the triangles that hold the point, by the heights of their planes there."""
    mesh = atlas().mesh(number(kind))
    corners = mesh.vertices[mesh.triangles]
    sides = np.roll(corners, -1, axis=1) - corners
    normal = np.cross(sides[:, 0], sides[:, 1])
    low, high = mesh.bounds
    hits = 0
    for point in np.random.default_rng(1).uniform(low[:2] - 0.2, high[:2] + 0.2, (60, 2)):
        to = point - corners[:, :, :2]
        turns = sides[..., 0] * to[..., 1] - sides[..., 1] * to[..., 0]
        around = (turns > 0).all(axis=1) | (turns < 0).all(axis=1)
        heights = corners[around, 0, 2] - (to[around, 0] * normal[around, :2]).sum(axis=1) / normal[around, 2]
        hits += len(heights) > 0
        assert top(kind, *point) == pytest.approx(max(heights, default=np.nan), abs=1e-6, nan_ok=True)
    assert hits > 5
