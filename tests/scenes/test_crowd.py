"""Busy streets: what is placed is apart, framed and visible, its mirror image too, and both are as likely."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.assets.catalogue import ENTITIES
from simtown.core.streams import Stream
from simtown.language.meaning.relations import LATERAL
from simtown.render.light import THICK, lights
from simtown.render.raster import Raster
from simtown.scenes.camera import NOMINAL, Camera
from simtown.scenes.crowd import acceptable, crowd_camera, place_crowds, thin_fog
from simtown.scenes.placement import LEAST_VISIBLE, MOST_VEHICLES, apart
from simtown.scenes.scene import empty_batch
from simtown.scenes.silhouette import framed, visibility
from simtown.scenes.weather import WEATHERS
from tests.language.parts import mirrored
from tests.scenes.cameras import moved_cameras

STREAM = Stream(3, "train", "crowd")
#: Between the near lane and the parking strip (y, metres).
KERB_SIDE = -3.0


def streets(n, vehicles, seed=0, kinds=60, camera=None):
    """(entities, cameras, poses, shares, placed) of n streets of different kinds."""
    rng = np.random.default_rng(seed)
    entity = rng.random((n, kinds)).argsort(axis=1)[:, :vehicles]
    cameras = np.tile((camera or crowd_camera(vehicles)).row(), (n, 1))
    return entity, cameras, *place_crowds(STREAM, np.arange(n), np.full(n, seed), entity, cameras)


@given(st.integers(2, MOST_VEHICLES), st.integers(0, 2**40), st.booleans(), st.booleans())
def test_what_is_placed_is_acceptable_and_so_is_its_mirror_image(vehicles, seed, moved, gaps):
    rng = np.random.default_rng(seed)
    entity = rng.integers(0, len(ENTITIES), (20, vehicles))
    if gaps:
        entity[rng.random(entity.shape) < 0.3] = -1
    camera = np.tile(crowd_camera(vehicles).row(), (20, 1))
    if moved:
        camera += moved_cameras(rng, 20) - Camera().row()
    pose, visible, placed = place_crowds(STREAM, np.arange(20), np.full(20, seed), entity, camera)
    assert (pose[~placed] == 0).all()
    assert (pose[entity < 0] == 0).all()
    entity, pose, visible, camera = (a[placed] for a in (entity, pose, visible, camera))
    assert np.array_equal(visible, visibility(entity, pose, camera))
    assert acceptable(entity, pose, camera).all()
    for street, eye in ((pose, camera), mirrored(pose, camera, {LATERAL})):
        assert apart(entity, street).all()
        assert framed(entity, street, eye).all()
        assert visibility(entity, street, eye)[entity >= 0].min(initial=1) >= LEAST_VISIBLE


@pytest.mark.parametrize("vehicles", range(2, MOST_VEHICLES + 1))
def test_nearly_every_street_is_placed(vehicles):
    *_, placed = streets(400, vehicles)
    assert placed.mean() >= 0.98


def test_visible_shares_are_those_of_the_pictures():
    """Of eight vehicles, parked and against their lanes: pixels of each, in the street over those alone."""
    entity, camera, pose, visible, placed = streets(40, 8)
    street = empty_batch(placed.sum(), 8, 1)
    street.entity[:], street.camera[:], street.pose[:] = entity[placed], camera[placed], pose[placed]
    ids, seen = Raster().render(street, *NOMINAL).ids, visible[placed]
    assert (seen < 0.9).mean() > 0.1
    for slot in range(8):
        alone = replace(street, entity=np.where(np.arange(8) == slot, street.entity, -1))
        pixels = [
            (drawn == 1 + slot).sum(axis=(1, 2)) for drawn in (ids, Raster().render(alone, *NOMINAL).ids)
        ]
        assert np.abs(pixels[0] / pixels[1] - seen[:, slot]).max() < 0.06


def test_a_street_depends_on_its_address_alone_and_counts_its_tries():
    entity, camera, pose, visible, placed = streets(60, 6)
    tried = np.array([5, 2])
    order = np.random.default_rng(1).permutation(60)[:25]
    again = place_crowds(STREAM, order, np.zeros(25, int), entity[order], camera[order])
    for ours, part in zip((pose, visible, placed), again, strict=True):
        assert np.array_equal(ours[order], part)
    other, *_ = place_crowds(STREAM, np.arange(60), np.ones(60, int), entity, camera, tried=tried)
    assert (other != pose).any(axis=(1, 2)).all()
    assert 6 * 60 == tried[1] - 2 < tried[0] - 5 < 40 * 60


def test_a_vehicle_can_be_placed_anew_among_others_that_stay():
    entity, camera, pose, _, placed = streets(200, 5)
    assert placed.all()
    kept, others, index = pose.copy(), np.arange(5) != 2, np.arange(200)
    kept[:, 2] = np.nan
    moved, visible, placed = place_crowds(STREAM, index, index, entity, camera, kept=kept)
    assert placed.mean() > 0.95
    assert np.array_equal(moved[:, others], pose[:, others])
    assert (moved[placed, 2] != pose[placed, 2]).any(axis=1).all()
    assert acceptable(entity, moved, camera)[placed].all()
    assert np.array_equal(visible[placed], visibility(entity, moved, camera)[placed])


def test_streets_that_are_not_placed_are_not_acceptable():
    entity, camera, pose, *_ = streets(300, 5)
    pose[..., 0] += np.random.default_rng(0).uniform(-2, 2, (300, 5)).astype(np.float32)
    expected = apart(entity, pose)
    for street, eye in ((pose, camera), mirrored(pose, camera, {LATERAL})):
        expected &= framed(entity, street, eye) & (
            visibility(entity, street, eye).min(axis=1) >= LEAST_VISIBLE
        )
    assert np.array_equal(acceptable(entity, pose, camera), expected)
    assert 0.1 < expected.mean() < 0.9


def test_left_and_right_are_as_likely():
    """For every row and way of facing, where vehicles stand; and which of two kinds stands farther left."""
    entity, _, pose, _, placed = streets(4000, 5)
    x, y, yaw = np.moveaxis(pose[placed], -1, 0)
    row, faces_left = np.where(y < KERB_SIDE, 2, y > 0), yaw > 1
    for group in range(6):
        chosen = np.sort(x[(row == group // 2) & (faces_left == group % 2)])
        assert len(chosen) > 400
        grid = np.linspace(0, 10, 200)
        right, left = (np.searchsorted(np.sort(side), grid) / len(chosen) for side in (chosen, -chosen))
        assert np.abs(right - left).max() < 1.95 / np.sqrt(len(chosen))  # 0.1 % of fair ones exceed this
    larger = entity[placed][:, 0] > entity[placed][:, 1]
    is_left = x[:, 0] < x[:, 1]
    share = (larger == is_left).mean()
    assert abs(share - 0.5) < 3.3 * 0.5 / np.sqrt(len(larger))


def test_vehicles_stand_in_both_lanes_and_parked_and_some_face_against_them():
    *_, pose, _, placed = streets(1000, 5)
    y, faces_left = pose[placed][..., 1].ravel(), pose[placed][..., 2].ravel() > 1
    near, far, parked = (y > KERB_SIDE) & (y < 0), y > 0, y < KERB_SIDE
    assert min(near.mean(), far.mean(), parked.mean()) > 0.2
    assert 0.2 < faces_left[near].mean() < 0.3
    assert 0.2 < 1 - faces_left[far].mean() < 0.3
    assert 0.3 < faces_left[parked].mean() < 0.5


def test_fog_hides_the_far_lane_no_more_than_from_the_nominal_camera():
    n, fog = 20, WEATHERS.index("fog")
    intensity, weather = np.linspace(0, 1, n, dtype=np.float32), np.full(n, fog)
    for most in (3, 5, 8):
        camera = np.tile(crowd_camera(most).row(), (n, 1))
        thinned = thin_fog(weather, intensity, camera)
        assert np.array_equal(thin_fog(weather * 0, intensity, camera), intensity)
        assert (np.diff(thinned) > 0).all()
        thick = lights(weather, thinned, np.zeros((n, 2)))[:, THICK] * (1.85 - camera[:, 1])
        assert thick.max() == pytest.approx(0.061 * (1.85 + 12.4), rel=1e-4)


def test_what_never_fits_is_not_placed():
    entity, camera = np.full((3, 8), ENTITIES.index("tram")), np.tile(Camera().row(), (3, 1))
    pose, visible, placed = place_crowds(STREAM, np.arange(3), np.zeros(3, int), entity, camera)
    assert not placed.any()
    assert not pose.any()
    assert not visible.any()
    for refused in (lambda: crowd_camera(9), lambda: streets(1, 9, camera=Camera())):
        with pytest.raises(ValueError, match="at most 8 vehicles"):
            refused()
