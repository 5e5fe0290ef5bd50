"""Drawing the cameras of sequences of views: a step aside, corners of the street, drivers' seats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simtown.language.asking.moving import Goal
from simtown.language.meaning.limits import LANE_EDGE
from simtown.language.meaning.moments import show
from simtown.scenes.camera import Camera
from simtown.scenes.placement import GAP, half_sizes
from simtown.scenes.scene import SceneBatch
from simtown.scenes.sequence import Sequence

#: Metres by which the camera of a picture may stand aside, back and up, and its steps along each axis: these
#: are short beside the room, so that a place says little about a step.
CAMERA_ROOM, CAMERA_STEPS = (4.5, 3.5, 3.0), ((1.1, 1.6), (1.1, 1.4), (1.1, 1.3))
#: Metres to either side of a camera at a corner, and back and up; it looks at a point of the middle of the
#: road or beyond.
CORNERS, _CORNER_ROOM, _LOOKS_AT = (3.0, 9.0), (1.0, 0.8), 3.0
#: The eye of a driver, without its place, and how far before or behind it the other seats are.
_EYE, _SEATS = Camera(z=1.4, bottom=-0.45), 1.0
#: Metres that a vehicle drives to another moment, and seconds that it takes.
_LATER, _SECONDS = (1.6, 4.0), 1.0
#: Uniform numbers for each camera.
CAMERA_DRAWS = 3


def draw_cameras(u: np.ndarray, base: np.ndarray, goal: Goal, shared: np.ndarray) -> np.ndarray:
    """(n, P, 7) float32 cameras, of which the last differs from the first by a step along one axis.

    Args:
        u: (n, P, CAMERA_DRAWS) uniform numbers.
        base: (n, 7) cameras around which all stand.
        goal: where the step leads, -1 if that is not asked for.
        shared: (n,) bool, whether the first camera is to be the same whatever the step.
    """
    cameras = np.repeat(base[:, None], u.shape[1], axis=1).astype(np.float64)
    cameras[..., :3] += np.array(CAMERA_ROOM) * (2 * u - 1)
    rows = np.flatnonzero(goal.answer >= 0)
    axis, aside = goal.answer[rows] // 2, shared[rows]
    low, high = np.array(CAMERA_STEPS)[axis].T
    sign = np.where((goal.answer[rows] % 2 == 0) == (axis > 0), 1.0, -1.0)
    step = (low + (high - low) * u[rows, -1, 0]) * sign
    cameras[rows, -1] = cameras[rows, 0]
    cameras[rows, 0, axis] -= np.where(aside, 0.0, 0.5 * step)
    cameras[rows, -1, axis] += np.where(aside, 1.0, 0.5) * step
    return cameras.astype(np.float32)


def draw_corners(u: np.ndarray, base: np.ndarray) -> np.ndarray:
    """(n, P, 7) float32 cameras on either side of the street, as :func:`draw_cameras` has them."""
    cameras = np.repeat(base[:, None], u.shape[1], axis=1).astype(np.float64)
    side, (low, high) = 2 * u[..., 0] - 1, CORNERS
    cameras[..., 0] += np.where(side < 0, -1, 1) * (low + (high - low) * np.abs(side))
    cameras[..., 1:3] += np.array(_CORNER_ROOM) * (2 * u[..., 1:] - 1)
    cameras[..., 3] = cameras[..., 0] / (_LOOKS_AT - cameras[..., 1])
    return cameras.astype(np.float32)


def places_agree(sequence: Sequence, goal: Goal) -> np.ndarray:
    """(n,) bool, whether the leftmost in the first picture of vehicles alike has its place in the last one,
    were nothing hidden.
    """
    street, count = sequence.street, sequence.seconds.shape[1]
    n, vehicles = street.entity.shape
    ends = np.tile([0, count - 1], (n, 1))
    first, last = (
        show(sequence, order, np.ones((n, 2, vehicles))).deeds["place"] for order in (ends[:, ::-1], ends)
    )
    alike = street.entity == street.entity[np.arange(n), goal.slot][:, None]
    return np.asarray((alike & (first == 0) & (last == goal.answer[:, None])).any(axis=1))


def draw_seats(u: np.ndarray, sequence: Sequence, goal: Goal) -> np.ndarray:
    """(n, P, 7) float32 cameras: the first is the sequence's own, one is at the seat of a vehicle, and the
    others are beside it, in the other lane or turned round, so that no driver sees the vehicle.

    Args:
        u: (n, P, CAMERA_DRAWS) uniform numbers.
        sequence: n sequences of P pictures.
        goal: of the vehicle, and in which picture its driver's view is.
    """
    n, count = u.shape[:2]
    rows = np.arange(n)
    own = sequence.street.pose[rows, goal.slot].astype(np.float64)
    seats = np.repeat(own[:, None], count, axis=1)
    kind = 1 + ((3 * u[:, :1, 0]).astype(int) + np.arange(count)) % 3
    seats[..., 0] += _SEATS * (2 * u[..., 1] - 1)
    seats[..., 1] *= np.where(kind == 1, 1, -1)
    ahead = (own[:, 2:] == 0) == (kind == 2)
    seats[rows, goal.answer], ahead[rows, goal.answer] = own, own[:, 2] == 0
    seats[..., 2] = np.where(ahead, 0, np.pi)
    cameras = np.tile(_EYE.row(), (n, count, 1)).astype(np.float64)
    cameras[..., :2], cameras[..., 3] = seats[..., :2], seats[..., 2] - np.pi / 2
    cameras[:, 0] = sequence.cameras[:, 0]
    return cameras.astype(np.float32)


def beside_free(street: SceneBatch, slot: np.ndarray, far: np.ndarray) -> np.ndarray:
    """(n,) bool, whether a vehicle, (n,) its slot, is in the near lane, or in the `far` one, (n,) bool, and
    could as well stand in the other.
    """
    rows = np.arange(len(slot))
    half, pose = half_sizes()[street.entity.astype(np.int64)], street.pose.astype(np.float64)
    ahead = np.abs(pose[..., 0] - pose[rows, slot, 0][:, None])
    near = ahead < half[..., 0] + half[rows, slot, 0][:, None] + _SEATS + GAP
    near &= (street.entity >= 0) & (np.abs(pose[..., 1]) < LANE_EDGE)
    near[rows, slot] = False
    y = pose[rows, slot, 1]
    return np.asarray(~near.any(axis=1) & (np.abs(y) < LANE_EDGE) & ((y > 0) == far))


def at_two_moments(u: np.ndarray, sequence: Sequence, one_moment: np.ndarray) -> Sequence:
    """Sequences in whose last picture a vehicle has driven on, unless they are of `one_moment`, (n,) bool;
    `u` is (n, CAMERA_DRAWS).
    """
    entity = sequence.street.entity
    count = (entity >= 0).sum(axis=1)
    slot = np.argsort(entity < 0, axis=1, kind="stable")[np.arange(len(u)), (u[:, 0] * count).astype(int)]
    metres = np.where(u[:, 1] < 0.5, -1, 1) * (_LATER[0] + (_LATER[1] - _LATER[0]) * u[:, 2])
    motion, seconds = sequence.motion.copy(), sequence.seconds.copy()
    motion[np.arange(len(u)), slot, :2] = metres[:, None] / _SECONDS
    seconds[:, -1] = np.where(one_moment, 0, _SECONDS)
    return replace(sequence, motion=motion, seconds=seconds)
