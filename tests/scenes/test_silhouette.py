"""Picture boxes against brute force, and visible shares against the pictures themselves."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES
from simtown.render.raster import Raster
from simtown.scenes import silhouette
from simtown.scenes.camera import NOMINAL, Camera
from simtown.scenes.placement import GAP, MOST_VEHICLES, apart, draw_poses, half_sizes, overlap
from simtown.scenes.scene import empty_batch
from simtown.scenes.silhouette import boxes, framed, shapes_of, unclipped_boxes, visibility
from tests.scenes.cameras import fixed_cameras, seen_from


def random_cameras(rng, n):
    rows = np.tile(Camera().row().astype(np.float64), (n, 1))
    rows += rng.uniform(-1, 1, rows.shape) * [2, 1, 1, 0.1, 0.05, 0.1, 0.05]
    return rows.astype(np.float32)


def brute_box(entity, pose, camera, width, height):
    """Every vertex through a pinhole camera, in float64."""
    focal, bottom = camera[5:].astype(np.float64)
    side, far, high = seen_from(camera, atlas().mesh(entity).vertices, pose)
    f = focal * min(width, 16 / 9 * height)
    px, py = width / 2 + f * side / far, height + f * bottom - f * high / far
    return px.min(), py.min(), px.max(), py.max()


@pytest.mark.parametrize("size", [(256, 128), (96, 128), (300, 100)])
def test_boxes_are_the_extremes_of_all_vertices(size):
    rng = np.random.default_rng(size[0])
    n = 60
    entity = rng.integers(0, len(ENTITIES), (n, 2)).astype(np.int16)
    pose = draw_poses(rng.random((n, 2, 3)), entity)
    pose[..., 2] = rng.uniform(-4, 4, (n, 2))
    camera = random_cameras(rng, n)
    expected = np.zeros((n, 2, 4))
    for i, j in np.ndindex(n, 2):
        expected[i, j] = brute_box(entity[i, j], pose[i, j], camera[i], *size)
    assert np.allclose(unclipped_boxes(entity, pose, camera, *size), expected, atol=5e-3)
    batch = empty_batch(n, 2, 1)
    batch.entity[:], batch.pose[:], batch.camera[:] = entity, pose, camera
    clipped = boxes(batch, *size)
    assert clipped.dtype == np.float32
    assert np.allclose(clipped, np.clip(expected, 0, [*size, *size]), atol=5e-3)
    assert (clipped != unclipped_boxes(entity, pose, camera, *size)).any()


def test_empty_slots_have_no_box_and_nothing_visible():
    batch = empty_batch(2, 3, 1)
    batch.entity[:, 1] = 4
    batch.pose[:, 1] = 0.5, -1.8, 0.0
    assert (boxes(batch, 128, 64)[:, [0, 2]] == 0).all()
    assert (boxes(batch, 128, 64)[:, 1, 2] > 0).all()
    assert visibility(batch.entity, batch.pose, batch.camera).tolist() == [[0, 1, 0]] * 2


@pytest.fixture(scope="module")
def hiding():
    """(entities, poses, cameras, shares): 160 framed pairs of which one hides part of the other."""
    rng = np.random.default_rng(11)
    entity = rng.integers(0, len(ENTITIES), (4000, 2)).astype(np.int16)
    pose = draw_poses(rng.random((4000, 2, 3)), entity)
    camera = fixed_cameras(4000)
    camera[:, :2] += rng.uniform(-0.5, 0.5, (4000, 2)).astype(np.float32)
    camera[:, 3] = rng.uniform(-0.03, 0.03, 4000)
    fine = (entity[:, 0] != entity[:, 1]) & apart(entity, pose) & framed(entity, pose, camera)
    shares = np.ones((4000, 2), dtype=np.float32)
    shares[fine] = visibility(entity[fine], pose[fine], camera[fine])
    chosen = np.flatnonzero(fine & (shares.min(axis=1) < 1))[:160]
    assert len(chosen) == 160
    return entity[chosen], pose[chosen], camera[chosen], shares[chosen]


def counts(entity, pose, camera, vehicles):
    """Pixels of each vehicle slot when only `vehicles` are drawn."""
    slots = entity.shape[1]
    batch = empty_batch(len(entity), slots, 1)
    batch.pose[:], batch.camera[:] = pose, camera
    for slot in vehicles:
        batch.entity[:, slot] = entity[:, slot]
    ids = Raster().render(batch, *NOMINAL).ids
    return np.stack([(ids == 1 + slot).sum(axis=(1, 2)) for slot in range(slots)], axis=1)


def test_visible_shares_are_those_of_the_pictures(hiding):
    entity, pose, camera, shares = hiding
    alone = np.stack([counts(entity, pose, camera, [slot])[:, slot] for slot in range(2)], axis=1)
    together = counts(entity, pose, camera, [0, 1])
    assert (alone > 50).all()
    assert np.abs(together / alone - shares).max() < 0.03
    assert shares.min() < 0.3  # some are well hidden


def covered(entity, pose, camera):
    """Pixels whose middle lies in some triangle of a vehicle that faces the camera: (height, width) bool."""
    (width, height), mesh = NOMINAL, atlas().mesh(entity)
    focal, bottom = camera[5:].astype(np.float64)
    side, far, high = seen_from(camera, mesh.vertices, pose)
    scale = focal * width / far
    spots = np.stack([width / 2 + scale * side, height + focal * width * bottom - scale * high], axis=1)
    out = np.zeros((height, width), dtype=bool)
    for a, b, c in spots[mesh.triangles]:
        low = np.floor(np.min([a, b, c], axis=0)).astype(int)
        high = np.ceil(np.max([a, b, c], axis=0)).astype(int) + 1
        x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
        sides = [(q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]) for p, q in ((a, b), (b, c), (c, a))]
        out[low[1] : high[1], low[0] : high[0]] |= np.max(sides, axis=0) < 0  # y runs down
    return out


def test_visible_shares_are_those_of_the_triangles_that_face_the_camera(hiding):
    """To the pixel: against every triangle by itself, in float64, which may put an edge pixel elsewhere."""
    for entity, pose, camera, shares in zip(*(rows[:15] for rows in hiding), strict=True):
        masks = [covered(entity[slot], pose[slot], camera) for slot in range(2)]
        behind = int(shares.argmin())
        whole, left = masks[behind].sum(), (masks[behind] & ~masks[1 - behind]).sum()
        assert abs(shares[behind] * whole - left) <= 1.5


def crowds(rng, n):
    """(entities, poses, cameras) of n scenes of vehicles that stand apart, turned in any way."""
    entity = rng.integers(0, len(ENTITIES), (n, MOST_VEHICLES))
    spots = rng.uniform([-7, -5, -4], [7, 12, 4], (n, MOST_VEHICLES, 3))
    pose, half = spots.astype(np.float32), half_sizes()[entity]
    for slot in range(MOST_VEHICLES):
        close = overlap(pose[:, slot, None], half[:, slot, None], pose[:, :slot], half[:, :slot], GAP)
        entity[(close & (entity[:, :slot] >= 0)).any(axis=1), slot] = -1
    entity[np.arange(MOST_VEHICLES) >= rng.integers(1, MOST_VEHICLES + 1, (n, 1))] = -1
    return entity.astype(np.int16), pose, random_cameras(rng, n)


@settings(max_examples=12)
@given(st.integers(0, 2**32))
def test_visible_shares_of_crowds_turned_in_any_way_are_those_of_the_pictures(seed):
    """Against the renderer, which decides sample by sample, by depth."""
    entity, pose, camera = crowds(np.random.default_rng(seed), 6)
    assert apart(entity, pose).all()
    alone = np.stack([counts(entity, pose, camera, [slot])[:, slot] for slot in range(MOST_VEHICLES)], axis=1)
    together = counts(entity, pose, camera, range(MOST_VEHICLES))
    shares = visibility(entity, pose, camera)
    assert (shares[entity < 0] == 0).all()
    large = alone > 100
    assert np.abs(together[large] / alone[large] - shares[large]).max(initial=0) < 0.04


def test_crowds_hide_each_other_and_are_as_many_as_they_may_be():
    """What the test above says is said of something."""
    entity, pose, camera = crowds(np.random.default_rng(0), 300)
    vehicles = (entity >= 0).sum(axis=1)
    shares = visibility(entity, pose, camera)[entity >= 0]
    assert vehicles.min() == 1
    assert vehicles.max() >= 6
    assert (shares < 0.5).mean() > 0.03
    assert (shares < 1).mean() > 0.1


def test_visible_shares_do_not_depend_on_the_slot(hiding):
    entity, pose, camera, shares = hiding
    assert (shares.max(axis=1) == 1).all(), "the nearer of two is wholly visible"
    swapped = visibility(np.ascontiguousarray(entity[:, ::-1]), np.ascontiguousarray(pose[:, ::-1]), camera)
    assert np.array_equal(swapped[:, ::-1], shares)


def test_a_mesh_of_any_size_has_room(monkeypatch):
    """An entity of 20,000 vertices: boxes and shares are those of the same shape with few."""
    plain, number = atlas(), ENTITIES.index("sedan")
    start, stop = plain.vertex_start[number : number + 2]
    repeats = np.full(len(plain.vertices), 1)
    repeats[start:stop] = 20000 // (stop - start) + 1
    moved = np.cumsum(np.concatenate([[0], repeats]))  # where every vertex's first copy is
    last_copies = (moved[plain.triangles + 1] - 1).astype(np.int32)  # so that all room is used
    large = replace(
        plain,
        vertices=np.repeat(plain.vertices, repeats, axis=0),
        columns=np.ascontiguousarray(np.repeat(plain.columns, repeats, axis=1)),
        vertex_start=moved[plain.vertex_start],
        triangles=last_copies,
    )
    entity = np.array([[number, ENTITIES.index("bicycle")]], dtype=np.int16)
    scene = entity, np.array([[[0.0, 1.85, 0.3], [0.2, -1.85, 0.0]]], dtype=np.float32), fixed_cameras(1)
    shares, box = visibility(*scene), unclipped_boxes(*scene, *NOMINAL)
    monkeypatch.setattr(silhouette, "kept", lambda name, build: shapes_of(large))
    monkeypatch.setattr(silhouette, "kernel_shapes", silhouette.kernel_shapes.__wrapped__)
    assert np.array_equal(unclipped_boxes(*scene, *NOMINAL), box)
    assert np.array_equal(visibility(*scene), shares)
    assert 0 < shares.min() < 1
