"""Relations against a pinhole camera: what the viewer sees to the left is left."""

from itertools import product

import numpy as np
import pytest

from simtown.language.meaning import relations
from simtown.language.meaning.relations import RELATION_NAMES, RELATIONS, margins, truths
from simtown.scenes.camera import Camera

LEFT, RIGHT, FRONT, BEHIND = range(4)


@pytest.fixture(scope="module")
def scenes():
    """Poses (n, 3, 3) and camera rows of random vehicles, and their places as seen (n, 3, 2)."""
    rng = np.random.default_rng(6)
    n = 3000
    pose = rng.uniform([-9, -2.3, -4], [9, 2.3, 4], (n, 3, 3)).astype(np.float32)
    camera = np.tile(Camera().row(), (n, 1))
    camera[:, :4] += (rng.uniform(-1, 1, (n, 4)) * [1.5, 1.5, 1, 0.15]).astype(np.float32)
    seen = np.zeros((n, 3, 2))
    for i, yaw in enumerate(camera[:, 3].astype(float)):
        right, forward = [np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]
        seen[i] = (pose[i, :, :2].astype(np.float64) - camera[i, :2]) @ np.array([right, forward]).T
    return pose, camera, seen


def test_separations_by_brute_force(scenes):
    pose, camera, seen = scenes
    got = relations.separations(pose, camera)
    assert got.shape == (len(pose), 2, 3, 3)
    assert got.dtype == np.float64
    for n in range(0, len(pose), 10):
        for i, j in product(range(3), repeat=2):
            (side_i, far_i), (side_j, far_j) = seen[n, i], seen[n, j]
            lateral = (side_i / far_i - side_j / far_j) * (far_i + far_j) / 2
            assert got[n, :, i, j] == pytest.approx([lateral, far_i - far_j], abs=1e-9)


def test_truth_is_what_the_picture_shows(scenes):
    """Left and right by the order of image columns, in front and behind by depth."""
    pose, camera, seen = scenes
    n = len(pose)
    separation = relations.separations(pose, camera)
    column, depth = seen[..., 0] / seen[..., 1], seen[..., 1]
    kinds = ((column, np.less), (column, np.greater), (depth, np.less), (depth, np.greater))
    for number, (key, holds) in enumerate(kinds):
        relation, subject, obj = np.full(n, number), np.zeros(n, dtype=int), np.full(n, 2)
        truth = truths(margins(separation, relation, subject, obj), relation)
        defined = truth != 0
        assert 0.4 < defined.mean() < 1
        assert np.array_equal((truth == 1)[defined], holds(key[:, 0], key[:, 2])[defined])


@pytest.mark.parametrize(("number", "least"), [(LEFT, 0.5), (RIGHT, 0.5), (FRONT, 1.5), (BEHIND, 1.5)])
def test_truth_is_undefined_within_the_margin(number, least):
    assert RELATIONS[number].margin == least
    above, below = np.nextafter(least, 9), np.nextafter(-least, -9)
    margin = np.array([0.0, least, -least, above, below, 0.9 * least, 7.0, -7.0])
    truth = truths(margin, np.full(len(margin), number))
    assert truth.dtype == np.int8
    assert truth.tolist() == [0, 0, 0, 1, -1, 0, 1, -1]


def test_relations_keep_their_numbers():
    """Stored questions hold them."""
    assert RELATION_NAMES[:4] == ("left of", "right of", "in front of", "behind")
    assert relations.DEFAULT_RELATIONS == ("left of", "right of")
    for one, other in zip(RELATIONS[::2], RELATIONS[1::2], strict=True):  # opposites stand in pairs
        assert (one.axis, one.sign, one.margin) == (other.axis, -other.sign, other.margin)
