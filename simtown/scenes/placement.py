"""Where vehicles stand: random places in either lane, and whether they are apart from each other.

Kernels take one scene, functions many.
"""

# mypy: disable-error-code="no-untyped-def,operator"
from __future__ import annotations

from functools import lru_cache

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES
from simtown.core.exact import inlined_kernel, inner_kernel, kernel, sincos
from simtown.scenes.camera import Camera

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
    """(entities, 2) float64: half the length and half the width of every entity's footprint, metres, about
    its origin.
    """
    bounds = atlas().bounds[: len(ENTITIES)].astype(np.float64)
    return np.abs(bounds[:, :, :2]).max(axis=1)


@inner_kernel
def framed_lane(y, long, wide, camera, exchangeable):
    """Least and greatest x at which the camera frames the whole near flank of a vehicle along the road.

    They are equal if there is no such x. `long` and `wide` are the half length and half width of its
    footprint, metres, and y is its middle.
    """
    cx, cy = np.float64(camera[0]), np.float64(camera[1])
    s, c = sincos(np.float64(camera[3]))
    k = 0.5 / np.float64(camera[5])  # half the picture's width, over the focal length
    ahead = (-abs(y) if exchangeable else y) - wide - cy
    left = cx - ahead * (k * c + s) / (c - k * s) + long + SLACK
    right = cx + ahead * (k * c - s) / (c + k * s) - long - SLACK
    middle = 0.5 * (left + right)
    return min(left, middle), max(right, middle)


@inner_kernel
def place(lane, across, along, long, wide, camera, exchangeable):
    """A pose in a lane, from two uniform numbers: x, y (metres), yaw."""
    y = LANES[lane][0] + SWAY * (2 * across - 1)
    left, right = framed_lane(y, long, wide, camera, exchangeable)
    return left + (right - left) * along, y, LANES[lane][1]


@inner_kernel
def pair_lanes(u, a, b, half, camera, exchangeable):
    """Lanes of vehicles a and b from one uniform number.

    All ways in which they can stand apart are equally likely. Leaving out the other ways does not change the
    scenes that can be accepted.
    """
    near_has_room = _room(0, a, b, half, camera, exchangeable)
    far_has_room = _room(0 if exchangeable else 1, a, b, half, camera, exchangeable)
    choice = int(np.floor(u * (2 + near_has_room + far_has_room)))
    if choice < 2:
        return choice, 1 - choice
    lane = 0 if near_has_room and choice == 2 else 1
    return lane, lane


@inner_kernel
def _room(lane, a, b, half, camera, exchangeable):
    """Whether a lane has room for vehicles a and b."""
    y = LANES[lane][0] + SWAY  # where the camera frames most of the lane
    left_a, right_a = framed_lane(y, half[a, 0], half[a, 1], camera, exchangeable)
    left_b, right_b = framed_lane(y, half[b, 0], half[b, 1], camera, exchangeable)
    return max(right_a - left_b, right_b - left_a) >= half[a, 0] + half[b, 0] + GAP


@inner_kernel
def place_beside(u, v, entity, pose, half, camera, taken, pieces):
    """A pose of the last vehicle, in either lane, from two uniform numbers: x, y (metres), yaw.

    It is framed and apart from the others; if no place is free, it is one that is not.

    Works in `taken`, (2, 2, vehicles), and `pieces`, (2, 2 vehicles), float64: where what is taken, and what
    is free, begins and how far it goes.
    """
    last = len(entity) - 1
    own_long, own_wide = half[entity[last], 0], half[entity[last], 1]
    begin, end, start, free = taken[0], taken[1], pieces[0], pieces[1]
    for lane in range(2):
        y = LANES[lane][0] + SWAY * (2 * v - 1)
        left, right = framed_lane(y, own_long, own_wide, camera, False)
        for i in range(last):  # what each of the others takes of the lane, in order of where that begins
            s, c = sincos(np.float64(pose[i, 2]))
            s, c, long, wide = abs(s), abs(c), half[entity[i], 0], half[entity[i], 1]
            reach = c * long + s * wide + own_long + GAP
            beside = abs(y - pose[i, 1]) > s * long + c * wide + own_wide + GAP
            first, stop = (right, right) if beside else (pose[i, 0] - reach, pose[i, 0] + reach)
            at = i
            while at > 0 and begin[lane, at - 1] > first:
                begin[lane, at], end[lane, at] = begin[lane, at - 1], end[lane, at - 1]
                at -= 1
            begin[lane, at], end[lane, at] = first, stop
        for i in range(last + 1):  # the pieces between them
            piece = lane * (last + 1) + i
            start[piece] = left if i == 0 else max(start[piece - 1], end[lane, i - 1])
            free[piece] = max((min(begin[lane, i], right) if i < last else right) - start[piece], 0.0)
    total = 0.0
    for piece in range(len(free)):
        total += free[piece]
    along, before, piece = u * total, free[0], 0
    while before <= along and piece < len(free) - 1:
        piece += 1
        before += free[piece]
    lane = piece // (last + 1)
    return (
        start[piece] + (along - (before - free[piece])),
        LANES[lane][0] + SWAY * (2 * v - 1),
        LANES[lane][1],
    )


@inner_kernel
def overlapping(a, b, gap):
    """:func:`overlap` of one pair. A footprint is x, y, yaw, half length, half width."""
    xa, ya, yaw_a, long_a, wide_a = a[0], a[1], a[2], a[3], a[4]
    xb, yb, yaw_b, long_b, wide_b = b[0], b[1], b[2], b[3], b[4]
    (sa, ca), (sb, cb) = sincos(yaw_a), sincos(yaw_b)
    dx, dy = xb - xa, yb - ya
    c, s = abs(ca * cb + sa * sb), abs(sb * ca - cb * sa)  # of the angle between the two
    return (
        abs(dx * ca + dy * sa) <= long_a + long_b * c + wide_b * s + gap
        and abs(dy * ca - dx * sa) <= wide_a + long_b * s + wide_b * c + gap
        and abs(dx * cb + dy * sb) <= long_b + long_a * c + wide_a * s + gap
        and abs(dy * cb - dx * sb) <= wide_b + long_a * s + wide_a * c + gap
    )


@inlined_kernel
def _footprint(entity, pose, half, slot):
    """A vehicle's, as :func:`overlapping` has it."""
    x, y, yaw = np.float64(pose[slot, 0]), np.float64(pose[slot, 1]), np.float64(pose[slot, 2])
    return x, y, yaw, half[entity[slot], 0], half[entity[slot], 1]


@inlined_kernel
def too_close(entity, pose, half, i, j):
    """Whether vehicles i and j of a scene stand less than GAP apart."""
    return overlapping(_footprint(entity, pose, half, i), _footprint(entity, pose, half, j), GAP)


@kernel
def _overlaps(a, b, gap, out):
    for n in range(len(out)):
        out[n] = overlapping(a[n], b[n], gap)


@kernel
def _draw_poses(u, entity, half, camera, exchangeable, out):
    for n in range(len(entity)):
        for j in range(entity.shape[1]):
            e = entity[n, j]
            lane = 1 if u[n, j, 0] < 0.5 else 0
            out[n, j, 0], out[n, j, 1], out[n, j, 2] = place(
                lane, u[n, j, 1], u[n, j, 2], half[e, 0], half[e, 1], camera[n], exchangeable
            )


@kernel
def _apart(entity, pose, half, out):
    for n in range(len(entity)):
        out[n] = True
        for i in range(entity.shape[1]):
            for j in range(i):
                if entity[n, i] >= 0 and entity[n, j] >= 0 and too_close(entity[n], pose[n], half, i, j):
                    out[n] = False


def draw_poses(
    u: np.ndarray, entity: np.ndarray, camera: np.ndarray | None = None, exchangeable: bool = False
) -> np.ndarray:
    """Poses from uniform numbers: a random lane, and a random x over all that the camera frames there.

    Args:
        u: (n, v, 3) uniform numbers.
        entity: (n, v).
        camera: (n, 7) rows; by default the nominal camera.
        exchangeable: whether x is only drawn over what the near lane frames, in either lane. Two vehicles
            that exchange their lanes and keep their x are then drawn as often, and each could stand in the
            other lane.

    Returns:
        (n, v, 3) float32 x, y (metres), yaw (radians).
    """
    out = np.zeros((*entity.shape, 3), dtype=np.float32)
    rows = np.tile(Camera().row(), (len(entity), 1)) if camera is None else camera
    _draw_poses(
        np.ascontiguousarray(u),
        entity.astype(np.int64),
        half_sizes(),
        rows.astype(np.float64),
        exchangeable,
        out,
    )
    return out


def overlap(
    pose_a: np.ndarray, half_a: np.ndarray, pose_b: np.ndarray, half_b: np.ndarray, gap: float = 0.0
) -> np.ndarray:
    """Whether oriented footprints come closer than a gap along some axis: the separating-axis test, batched.

    Args:
        pose_a: (..., 3) x, y (metres), yaw (radians).
        half_a: (..., 2) half length and half width, metres.
        pose_b: as `pose_a`.
        half_b: as `half_a`.
        gap: metres.

    Returns:
        (...) bool.
    """
    shape = np.broadcast_shapes(*(array.shape[:-1] for array in (pose_a, half_a, pose_b, half_b)))
    a, b = (
        np.concatenate([np.broadcast_to(array, (*shape, array.shape[-1])) for array in pair], axis=-1)
        for pair in ((pose_a, half_a), (pose_b, half_b))
    )
    out = np.zeros(shape, dtype=bool)
    _overlaps(a.reshape(-1, 5).astype(np.float64), b.reshape(-1, 5).astype(np.float64), gap, out.reshape(-1))
    return out


def apart(entity: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Whether no two vehicles of a scene overlap: (n,) bool, for (n, v) entities, -1 for an empty slot, and
    (n, v, 3) poses.
    """
    out = np.zeros(len(entity), dtype=bool)
    _apart(entity.astype(np.int64), pose.astype(np.float64), half_sizes(), out)
    return out
