"""Where vehicles stand: random places in either lane, wholly in frame, apart from each other, and not hidden."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES
from simtown.exact import cos, sin
from simtown.scenes.camera import NOMINAL, Camera
from simtown.scenes.silhouette import unclipped_boxes

#: Middles of the near and the far lane (y, metres) and the headings along them (yaw, radians).
LANES = ((-1.85, 0.0), (1.85, np.pi))
#: How far a vehicle may stand from its lane's middle, and the least gap between two, metres.
SWAY, GAP = 0.25, 0.25
#: What is left free at the picture's edges where a place is drawn, metres.
SLACK = 0.05
#: Vehicles in a scene of a data set, at most.
MOST_VEHICLES = 8
#: Least visible share of every vehicle's silhouette.
LEAST_VISIBLE = 0.4


@lru_cache(maxsize=1)
def half_sizes() -> np.ndarray:
    """(entities, 2) float64: half the length and half the width of every entity's footprint, metres, about its origin."""
    bounds = atlas().bounds[: len(ENTITIES)].astype(np.float64)
    return np.abs(bounds[:, :, :2]).max(axis=1)


def draw_poses(u: np.ndarray, entity: np.ndarray, camera: np.ndarray | None = None, exchangeable: bool = False) -> np.ndarray:
    """Poses from (n, v, 3) uniform numbers for (n, v) entities: a lane each, x over all that the camera frames there.

    Args:
        camera: (n, 7) rows; by default the nominal camera.
        exchangeable: x only over what the near lane frames, in either lane: two vehicles that exchange their lanes and keep their x are
            then drawn as often, and none is drawn that could not stand in the other lane too.

    Returns:
        (n, v, 3) float32 x, y (metres), yaw (radians).
    """
    return _in_lanes((u[..., 0] < 0.5).astype(np.int64), u, entity, camera, exchangeable)


def draw_pairs(u: np.ndarray, entity: np.ndarray, camera: np.ndarray, exchangeable: bool = False) -> np.ndarray:
    """As :func:`draw_poses` for two vehicles a scene, which come into one lane only if it has room for both.

    All ways to choose the lanes are as likely; those in which the two could not stand apart are left out, which changes nothing
    about the scenes that can be accepted.
    """
    half = half_sizes()[entity]
    ways = [np.ones(len(entity), dtype=bool)] * 2
    for lane in (0, 0 if exchangeable else 1):
        y = np.full(entity.shape, LANES[lane][0] + SWAY)  # where the camera frames most of the lane
        left, right = _range(y, half, camera, exchangeable)
        most = np.maximum(right[:, 0] - left[:, 1], right[:, 1] - left[:, 0])
        ways.append(most >= half[:, 0, 0] + half[:, 1, 0] + GAP)
    possible = np.stack(ways, axis=1)
    choice = np.floor(u[:, 0, 0] * possible.sum(axis=1))
    way = (possible & (np.cumsum(possible, axis=1) == choice[:, None] + 1)).argmax(axis=1)
    return _in_lanes(np.array([[0, 1], [1, 0], [0, 0], [1, 1]])[way], u, entity, camera, exchangeable)


def draw_beside(u: np.ndarray, entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Poses of the last vehicle of every scene, in either lane, over all that is framed there and free of the others.

    Args:
        u: (n, 2) uniform numbers.
        entity: (n, v).
        pose: (n, v, 3), of which the last vehicle's are not looked at.
        camera: (n, 7) rows.

    Returns:
        (n, 3) float32 x, y (metres), yaw (radians); where there is no free place, one that is not free.
    """
    half, lanes = half_sizes()[entity], np.array(LANES)
    own, others, where = half[:, -1:], half[:, :-1], pose[:, :-1].astype(np.float64)
    y = lanes[:, 0] + SWAY * (2 * u[:, 1:] - 1)
    left, right = _range(y, own, camera, False)
    # what the others take of each lane: (n, 2, v - 1) first and last x, nothing of a lane in which they do not stand
    c, s = np.abs(cos(where[..., 2])), np.abs(sin(where[..., 2]))
    reach = (c * others[..., 0] + s * others[..., 1] + own[..., 0] + GAP)[:, None]
    beside = np.abs(y[..., None] - where[:, None, :, 1]) > (s * others[..., 0] + c * others[..., 1] + own[..., 1] + GAP)[:, None]
    begin = np.where(beside, right[..., None], where[:, None, :, 0] - reach)
    end = np.where(beside, right[..., None], where[:, None, :, 0] + reach)
    order = begin.argsort(axis=-1, kind="stable")
    begin, end = np.take_along_axis(begin, order, -1), np.take_along_axis(end, order, -1)
    starts = np.maximum.accumulate(np.concatenate([left[..., None], end], axis=-1), axis=-1)
    stops = np.minimum(np.concatenate([begin, right[..., None]], axis=-1), right[..., None])
    free = np.maximum(stops - starts, 0.0).reshape(len(u), -1)  # pieces of the near lane, then of the far one
    sums = np.cumsum(free, axis=1)
    along = u[:, :1] * sums[:, -1:]
    piece = np.minimum((sums <= along).sum(axis=1), free.shape[1] - 1)
    rows = np.arange(len(u))
    x = starts.reshape(len(u), -1)[rows, piece] + (along[:, 0] - (sums - free)[rows, piece])
    lane = piece // starts.shape[-1]
    return np.stack([x, y[rows, lane], lanes[lane, 1]], axis=-1).astype(np.float32)


def _in_lanes(lane: np.ndarray, u: np.ndarray, entity: np.ndarray, camera: np.ndarray | None, exchangeable: bool) -> np.ndarray:
    lanes = np.array(LANES)
    y = lanes[lane, 0] + SWAY * (2 * u[..., 1] - 1)
    left, right = _range(y, half_sizes()[entity], camera, exchangeable)
    x = left + (right - left) * u[..., 2]
    return np.stack([x, y, lanes[lane, 1]], axis=-1).astype(np.float32)


def _range(y: np.ndarray, half: np.ndarray, camera: np.ndarray | None, exchangeable: bool) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest x, each (n, v), at which the camera frames the whole near flank of vehicles along the road; alike if nowhere."""
    rows = (Camera().row()[None] if camera is None else camera).astype(np.float64)[:, None]
    ahead = (-np.abs(y) if exchangeable else y) - half[..., 1] - rows[..., 1]
    s, c, k = sin(rows[..., 3]), cos(rows[..., 3]), 0.5 / rows[..., 5]  # k: half the picture's width, over the focal length
    left = rows[..., 0] - ahead * (k * c + s) / (c - k * s) + half[..., 0] + SLACK
    right = rows[..., 0] + ahead * (k * c - s) / (c + k * s) - half[..., 0] - SLACK
    middle = 0.5 * (left + right)
    return np.minimum(left, middle), np.maximum(right, middle)


def overlap(pose_a: np.ndarray, half_a: np.ndarray, pose_b: np.ndarray, half_b: np.ndarray, gap: float = 0.0) -> np.ndarray:
    """Whether oriented footprints come closer than `gap` metres along some separating axis: the separating-axis test, batched.

    Args:
        pose_a, pose_b: (..., 3) x, y (metres), yaw (radians).
        half_a, half_b: (..., 2) half length and half width, metres.

    Returns:
        (...) bool.
    """
    turn_a, turn_b = pose_a[..., 2].astype(np.float64), pose_b[..., 2].astype(np.float64)
    ca, sa, cb, sb = cos(turn_a), sin(turn_a), cos(turn_b), sin(turn_b)
    dx = pose_b[..., 0].astype(np.float64) - pose_a[..., 0]
    dy = pose_b[..., 1].astype(np.float64) - pose_a[..., 1]
    c, s = np.abs(ca * cb + sa * sb), np.abs(sb * ca - cb * sa)  # of the angle between the two
    along_a = np.abs(dx * ca + dy * sa) <= half_a[..., 0] + half_b[..., 0] * c + half_b[..., 1] * s + gap
    across_a = np.abs(dy * ca - dx * sa) <= half_a[..., 1] + half_b[..., 0] * s + half_b[..., 1] * c + gap
    along_b = np.abs(dx * cb + dy * sb) <= half_b[..., 0] + half_a[..., 0] * c + half_a[..., 1] * s + gap
    across_b = np.abs(dy * cb - dx * sb) <= half_b[..., 1] + half_a[..., 0] * s + half_a[..., 1] * c + gap
    result: np.ndarray = along_a & across_a & along_b & across_b
    return result


def apart(entity: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Whether no two vehicles of a scene overlap: (n,) bool, for (n, v) entities, -1 for an empty slot, and (n, v, 3) poses."""
    half = half_sizes()[entity]
    fine = np.ones(len(entity), dtype=bool)
    for i in range(entity.shape[1]):
        for j in range(i):
            there = (entity[:, i] >= 0) & (entity[:, j] >= 0)
            fine &= ~(there & overlap(pose[:, i], half[:, i], pose[:, j], half[:, j], GAP))
    return fine


def framed(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Whether every vehicle lies wholly inside the nominal picture, however it is turned: (n,) bool."""
    return within(unclipped_boxes(entity, pose, camera, *NOMINAL))


def within(box: np.ndarray) -> np.ndarray:
    """Whether all (n, v, 4) boxes of a scene lie wholly inside the nominal picture: (n,) bool."""
    inside = (box[..., 0] >= 0) & (box[..., 1] >= 0) & (box[..., 2] <= NOMINAL[0]) & (box[..., 3] <= NOMINAL[1])
    return np.all(inside, axis=1, out=np.zeros(len(inside), dtype=bool))
