"""The scenes of sequences: paths, edits and orders against plain sums, and the geometry of two views."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simtown.render.raster import Raster
from simtown.scenes.camera import Camera
from simtown.scenes.scene import Scene, SceneBatch, Vehicle
from simtown.scenes.sequence import UNEDITED, Sequence, picture_rows, pictures, travel

SECONDS = st.floats(-4, 4, width=32)
SPEEDS = st.floats(-9, 9, width=32)


def street(*vehicles):
    return SceneBatch.of([Scene(vehicles=list(vehicles))])


def driving(motion, seconds, *vehicles):
    """A sequence of vehicles with the motions given, at some seconds."""
    sequence = Sequence.still(street(*vehicles), len(seconds))
    sequence.motion[0], sequence.seconds[0] = motion, seconds
    return sequence


def walked(first, then, change, second):
    """Metres from second 0, by small steps whose speeds are known."""
    moments = sorted({0.0, second, *([change] if min(0, second) < change < max(0, second) else [])})
    metres = sum(
        (later - earlier) * (first if (earlier + later) / 2 < change else then)
        for earlier, later in pairwise(moments)
    )
    return metres if second >= 0 else -metres


@given(SPEEDS, SPEEDS, SECONDS, SECONDS)
def test_a_path_is_the_sum_of_its_pieces(first, then, change, second):
    metres = travel(np.array([[[first, then, change]]], np.float32), np.array([[second]], np.float32))
    assert abs(float(metres[0, 0, 0]) - walked(first, then, change, second)) < 1e-9


@given(st.permutations(range(4)), SPEEDS)
def test_an_order_shows_the_same_pictures_by_number(order, speed):
    sequence = driving((speed, speed, 0), [-1, 0, 1, 2], Vehicle("taxi", 1.0, -1.85))
    plain, shown = pictures(sequence), pictures(sequence, np.array([order]))
    for name, column in shown.columns().items():
        assert (column == plain.columns()[name][list(order)]).all()
    assert (plain.pose[1] == sequence.street.pose[0]).all()  # the anchor moment


def test_an_edit_holds_from_the_second_picture_on():
    sequence = Sequence.still(street(Vehicle("taxi", 1.0, -1.85), Vehicle("city bus", -6.0, 1.85, np.pi)), 3)
    assert sequence.edited[0] == UNEDITED
    sequence.edited[0] = 0
    entity = pictures(sequence).entity
    assert entity[0, 0] >= 0 > entity[1, 0] == entity[2, 0]
    assert (entity[:, 1] == entity[0, 1]).all()


def test_examples_find_the_pictures_that_they_show():
    rows = picture_rows(
        np.array([4, 4, 6, 7]), np.array([[0, 1, 2], [2, 1, 0], [0, 1, 2], [0, 1, 2]], np.uint8)
    )
    assert rows.tolist() == [[0, 1, 2], [2, 1, 0], [3, 4, 5], [6, 7, 8]]


def test_disparity_is_focal_length_times_baseline_over_depth():
    sequence = Sequence.still(street(Vehicle("city bus", 0.0, -1.85), Vehicle("sedan", 3.0, 1.85, np.pi)), 2)
    baseline, size = 0.75, (512, 288)
    sequence.cameras[0, 1, 0] += baseline
    frames = Raster().render(pictures(sequence), *size)
    focal = Camera().focal * size[0]
    depth, ids = frames.depth, frames.ids
    flat = np.zeros(ids[0].shape, dtype=bool)  # flanks that face the camera
    flat[:, 2:-2] = (np.abs(depth[0, :, 4:] - depth[0, :, :-4]) < 1e-5) & (ids[0, :, 2:-2] > 0)
    row, column = np.nonzero(flat & (ids[0] <= 2))
    there = column - focal * baseline / depth[0, row, column]
    inside = (there > 1) & (there < size[0] - 1)
    row, there, metres = (
        row[inside],
        np.rint(there[inside]).astype(int),
        depth[0, row[inside], column[inside]],
    )
    seen = ids[1, row, there] == ids[0, row, column[inside]]  # and neither at an edge, nor hidden there
    off = np.abs(depth[1, row, there] - metres)[seen]
    assert len(off) > 500
    assert np.quantile(off, 0.9) < 1e-3
