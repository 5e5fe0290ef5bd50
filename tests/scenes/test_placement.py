"""Footprints against brute force, places against the lanes, and what the camera frames."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES
from simtown.scenes.camera import NOMINAL
from simtown.scenes.placement import GAP, LANES, SWAY, apart, draw_poses, half_sizes, overlap
from simtown.scenes.silhouette import framed, unclipped_boxes
from tests.language.parts import draw_beside, draw_pairs
from tests.scenes.cameras import fixed_cameras, moved_cameras

exact = st.integers(-512, 512).map(lambda i: i / 64)  # sums of these are exact
yaws = st.floats(-7, 7)
poses = st.tuples(exact, exact, yaws).map(np.array)
halves = st.tuples(st.floats(0.2, 4), st.floats(0.2, 2)).map(np.array)


def random_rectangles(rng, n):
    """Pairs about as often apart as not."""
    pose = rng.uniform([-3.5, -3.5, -10], [3.5, 3.5, 10], (n, 2, 3))
    square = rng.random(n) < 0.3
    pose[square, :, 2] = np.round(pose[square, :, 2] / (np.pi / 2)) * (np.pi / 2)
    return pose, rng.uniform(0.3, 3.2, (n, 2, 2))


def by_brute_force(pose, half):
    """Distances of pairs of rectangles by their corners and edges; minus the depth where they overlap."""
    found = []
    for p, h in zip(pose, half, strict=True):
        c, s = np.cos(p[:, 2]), np.sin(p[:, 2])
        back = np.array([[c, s], [-s, c]]).transpose(2, 0, 1)
        corners = p[:, None, :2] + (h[:, None] * [[1, 1], [-1, 1], [-1, -1], [1, -1]]) @ back
        sides = (np.roll(corners, -1, axis=1) - corners)[:, None]
        edges = (corners[:, None] + np.linspace(0, 1, 400)[:, None, None] * sides).reshape(2, -1, 2)
        # how deep each one's edges lie in the other, by its own axes
        deep = [(h[k] - np.abs((edges[1 - k] - p[k, :2]) @ back[k].T)).min(axis=1).max() for k in (0, 1)]
        near = []
        for k in (0, 1):
            along = np.roll(corners[1 - k], -1, axis=0) - corners[1 - k]
            to = corners[k][:, None] - corners[1 - k]
            share = np.clip((to * along).sum(-1) / (along * along).sum(-1), 0, 1)
            near.append(np.linalg.norm(to - share[..., None] * along, axis=-1).min())
        found.append(-max(deep) if max(deep) > 0 else min(near))
    return np.array(found)


@pytest.fixture(scope="module")
def distances():
    """(poses, halves, signed distances) of 800 pairs: negative where they overlap."""
    pose, half = random_rectangles(np.random.default_rng(5), 800)
    return pose, half, by_brute_force(pose, half)


def test_overlap_agrees(distances):
    pose, half, distance = distances
    ours = overlap(pose[:, 0], half[:, 0], pose[:, 1], half[:, 1])
    clear = np.abs(distance) > 1e-3
    assert 200 < (distance[clear] < 0).sum() < 600
    assert np.array_equal(ours[clear], distance[clear] < 0)


@pytest.mark.parametrize("gap", [0.1, 0.25, 1.0])
def test_gap_agrees(distances, gap):
    """Nearer than the gap is an overlap; farther only where two corners face each other, up to √2 gaps."""
    pose, half, distance = distances
    ours = overlap(pose[:, 0], half[:, 0], pose[:, 1], half[:, 1], gap)
    assert ours[distance < gap - 1e-3].all()
    assert not ours[distance > np.sqrt(2) * gap + 1e-3].any()
    between = (distance > gap + 1e-3) & (distance < np.sqrt(2) * gap)
    assert (ours[distance > gap + 1e-3]).sum() <= between.sum()


def test_gap_is_exact_for_flanks_that_face_each_other():
    half = np.array([2.0, 1.0])
    for gap, expected in ((0.49, False), (0.51, True)):
        for turn in (0.0, np.pi / 2, np.pi, 0.4):
            c, s = np.cos(turn), np.sin(turn)
            a, b = np.array([1.0, 2.0, turn]), np.array([1.0 - 2.5 * s, 2.0 + 2.5 * c, turn + np.pi])
            assert overlap(a, half, b, half, gap) == expected


@given(poses, halves, poses, halves, st.floats(0, 1), exact, exact)
def test_overlap_depends_neither_on_the_order_nor_on_the_place(a, half_a, b, half_b, gap, x, y):
    move = np.array([x, y, 0.0])
    ours = overlap(a, half_a, b, half_b, gap)
    assert ours == overlap(b, half_b, a, half_a, gap) == overlap(a + move, half_a, b + move, half_b, gap)


@given(poses, halves, poses, halves, st.floats(0, 2), st.floats(0, 2))
def test_a_larger_gap_never_sets_apart(a, half_a, b, half_b, gap, more):
    assert overlap(a, half_a, b, half_b, gap + more) >= overlap(a, half_a, b, half_b, gap)


@given(poses, halves, st.tuples(st.floats(-0.99, 0.99), st.floats(-0.99, 0.99)), yaws, halves)
def test_a_shape_overlaps_whatever_stands_in_it(a, half_a, spot, yaw, half_b):
    c, s = np.cos(a[2]), np.sin(a[2])
    u, v = spot[0] * half_a[0], spot[1] * half_a[1]
    b = np.array([a[0] + c * u - s * v, a[1] + s * u + c * v, yaw])
    assert overlap(a, half_a, b, half_b)


def test_half_sizes_hold_every_vertex():
    for number, half in enumerate(half_sizes()):
        assert np.array_equal(half, np.abs(atlas().mesh(number).vertices[:, :2]).max(axis=0))
    assert len(half_sizes()) == len(ENTITIES)


@pytest.fixture(scope="module")
def drawn():
    """(entities, poses) of 3000 pairs as the sampler proposes them, at the extremes of the draws too."""
    rng = np.random.default_rng(2)
    u = rng.random((3000, 2, 3))
    u[:400] = np.round(u[:400]) * (1 - 2.0**-53)
    entity = rng.integers(0, len(ENTITIES), (3000, 2))
    return entity, draw_poses(u, entity)


def test_drawn_poses_keep_to_a_lane(drawn):
    _, pose = drawn
    lanes = np.array(LANES)
    lane = (pose[..., 1] > 0).astype(int)
    assert (np.abs(pose[..., 1] - lanes[lane, 0]) <= SWAY + 1e-6).all()
    assert np.array_equal(pose[..., 2], lanes[lane, 1].astype(np.float32))
    assert 0.45 < lane[400:].mean() < 0.55


def test_vehicles_keep_inside_their_half_of_the_road():
    widest = half_sizes()[:, 1].max()
    for middle, _ in LANES:
        assert abs(middle) - SWAY - widest > 0
        assert abs(middle) + SWAY + widest < 3.7


def fill_the_width(entity, pose, camera):
    """Whether vehicles stand between the sides of the picture and reach both."""
    box = unclipped_boxes(entity, pose, camera, *NOMINAL)
    left, right = box[..., 0].min(), box[..., 2].max()
    return 0 < left < 3 and NOMINAL[0] - 3 < right < NOMINAL[0]


def test_drawn_poses_use_the_frame_and_nearly_all_are_framed(drawn):
    """The reach is that of the footprint; only what is tall or high up may still leave the picture."""
    entity, pose = drawn
    camera = fixed_cameras(len(entity))
    assert fill_the_width(entity, pose, camera)
    assert framed(entity, pose, camera).mean() > 0.9


def test_framed_is_every_box_inside(drawn):
    entity, pose = drawn[0][:500], drawn[1][:500].copy()
    pose[..., 0] += np.random.default_rng(1).uniform(-4, 4, pose.shape[:2]).astype(np.float32)
    camera = fixed_cameras(len(entity))
    box = unclipped_boxes(entity, pose, camera, *NOMINAL)
    expected = ((box[..., :2] >= 0) & (box[..., 2:] <= NOMINAL)).all(axis=(1, 2))
    assert framed(entity, pose, camera).tolist() == expected.tolist()
    assert 0.2 < np.mean(expected) < 0.8


def test_apart_is_no_overlap_within_the_gap():
    rng = np.random.default_rng(8)
    entity = rng.integers(0, len(ENTITIES), (400, 3))
    pose = draw_poses(rng.random((400, 3, 3)), entity)
    rows = zip(pose, half_sizes()[entity], strict=True)
    pairs = list(permutations(range(3), 2))
    expected = [not any(overlap(p[i], h[i], p[j], h[j], GAP) for i, j in pairs) for p, h in rows]
    assert apart(entity, pose).tolist() == expected
    assert apart(np.array([[0, -1, -1], [0, -1, 0]]), np.zeros((2, 3, 3), np.float32)).tolist() == [
        True,
        False,
    ]
    assert 0.1 < np.mean(expected) < 0.9


def test_poses_are_drawn_where_the_camera_stands():
    """Whatever the camera, only what is tall may leave the picture, and both edges are reached."""
    rng = np.random.default_rng(6)
    entity, camera = rng.integers(0, len(ENTITIES), (2000, 2)), moved_cameras(rng, 2000)
    assert fill_the_width(entity, draw_poses(rng.random((2000, 2, 3)), entity, camera), camera)


@pytest.mark.parametrize("exchangeable", [False, True])
def test_pairs_come_into_one_lane_only_where_both_have_room(exchangeable):
    """What is left out could not stand apart: no draw of single vehicles fits there either."""
    rng = np.random.default_rng(7)
    for kind, full in (("tram", {(0, 0), (1, 1)} if exchangeable else {(0, 0)}), ("bicycle", set())):
        rooms = set(product((0, 1), repeat=2)) - full
        entity, camera = np.full((6000, 2), ENTITIES.index(kind)), fixed_cameras(6000)
        lane = (draw_pairs(rng.random((6000, 2, 3)), entity, camera, exchangeable)[..., 1] > 0).astype(int)
        ways, drawn = np.unique(lane, axis=0, return_counts=True)
        assert {tuple(way) for way in ways.tolist()} == rooms
        assert drawn.min() > 0.8 * drawn.max()
        plain = draw_poses(rng.random((6000, 2, 3)), entity, camera, exchangeable)
        fine = apart(entity, plain)
        assert {tuple(way) for way in (plain[fine, :, 1] > 0).astype(int).tolist()} <= rooms


def test_exchangeable_vehicles_keep_their_x_in_either_lane():
    """So that a draw with the lanes exchanged is as likely, and as well framed."""
    rng = np.random.default_rng(8)
    u, entity = rng.random((3000, 2, 3)), rng.integers(0, len(ENTITIES), (3000, 2))
    opposite = (1 - u) * [1, 1, 0] + u * [0, 0, 1]  # the other lane, at minus its y
    camera = moved_cameras(rng, 3000)
    one, other = (draw_poses(draws, entity, camera, exchangeable=True) for draws in (u, opposite))
    assert np.allclose(one[..., 0], other[..., 0], atol=1e-6)
    assert np.allclose(one[..., 1], -other[..., 1], atol=1e-6)
    assert (one[..., 2] != other[..., 2]).all()


def same_streets(n, kinds, near, far):
    """n times (entities, poses, cameras) of two vehicles in their lanes, and a third without a place."""
    entity = np.tile([ENTITIES.index(kind) for kind in kinds], (n, 1))
    poses = np.array([(*near, 0.0), (*far, np.pi), (0.0, 0.0, 0.0)], dtype=np.float32)
    return entity, np.tile(poses, (n, 1, 1)), fixed_cameras(n)


def test_a_vehicle_beside_others_is_drawn_over_all_that_is_free():
    """Against single draws of which those are kept that stand apart: the same places, as often."""
    rng = np.random.default_rng(9)
    entity, pose, camera = same_streets(8000, ("sedan", "bicycle", "box truck"), (0.7, -1.9), (-2.0, 1.7))
    ours, plain = pose.copy(), pose.copy()
    ours[:, 2] = draw_beside(rng.random((8000, 2)), entity, pose, camera)
    plain[:, 2:] = draw_poses(rng.random((8000, 1, 3)), entity[:, 2:], camera)
    assert apart(entity, ours).mean() > 0.999  # but for rounding
    kept = plain[apart(entity, plain)]
    for lane in (-1, 1):
        first, second = (np.sort(p[np.sign(p[:, 2, 1]) == lane, 2, 0]) for p in (ours, kept))
        assert (len(first) > 0) == (len(second) > 0)
        if len(first):
            shares = np.linspace(0.01, 0.99, 50)
            assert np.allclose(np.quantile(first, shares), np.quantile(second, shares), atol=0.15)


def test_without_a_free_place_a_vehicle_is_drawn_that_is_not_apart_or_not_framed():
    kinds, rng = ("tram", "semi-trailer truck", "car carrier"), np.random.default_rng(10)
    entity, pose, camera = same_streets(500, kinds, (0.0, -1.85), (0.0, 1.85))
    pose[:, 2] = draw_beside(rng.random((500, 2)), entity, pose, camera)
    assert not (apart(entity, pose) & framed(entity, pose, camera)).any()
