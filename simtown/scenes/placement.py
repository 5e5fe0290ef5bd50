"""Random places for vehicles in either lane, and the test that they do not touch.

Functions take many scenes; simtown/kernels/processor/placement.hpp has the same for one scene of the sampler.
"""

from functools import lru_cache

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES
from simtown.core.exact import sincos
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
    rows = np.tile(Camera().row(), (len(entity), 1)) if camera is None else camera
    lane = np.where(u[..., 0] < 0.5, 1, 0)
    y, heading = (np.array(LANES)[lane, i] for i in range(2))
    y = y + SWAY * (2 * u[..., 1] - 1)
    left, right = framed_road(entity, -np.abs(y) if exchangeable else y, rows)
    return np.stack([left + (right - left) * u[..., 2], y, heading], axis=-1).astype(np.float32)


def framed_road(entity: np.ndarray, y: np.ndarray, camera: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest x, (n, v) metres each, at which a camera frames vehicles; equal if there are
    none.

    Args:
        entity: (n, v).
        y: (n, v) metres.
        camera: (n, 7) rows.
    """
    cx, cy, yaw, focal = camera.astype(np.float64)[:, None, [0, 1, 3, 5]].transpose(2, 0, 1)
    long, wide = half_sizes()[entity, 0], half_sizes()[entity, 1]
    # where the camera frames the whole near flank
    s, c = sincos(yaw)
    k = 0.5 / focal  # half the picture's width, over the focal length
    ahead = y - wide - cy
    left = cx - ahead * (k * c + s) / (c - k * s) + long + SLACK
    right = cx + ahead * (k * c - s) / (c + k * s) - long - SLACK
    middle = 0.5 * (left + right)
    return np.minimum(left, middle), np.maximum(right, middle)


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
    (xa, ya, yaw_a), (xb, yb, yaw_b) = (np.moveaxis(p.astype(np.float64), -1, 0) for p in (pose_a, pose_b))
    (long_a, wide_a), (long_b, wide_b) = (np.moveaxis(h.astype(np.float64), -1, 0) for h in (half_a, half_b))
    (sa, ca), (sb, cb) = sincos(yaw_a), sincos(yaw_b)
    dx, dy = xb - xa, yb - ya
    c, s = np.abs(ca * cb + sa * sb), np.abs(sb * ca - cb * sa)  # of the angle between the two
    result: np.ndarray = (
        (np.abs(dx * ca + dy * sa) <= long_a + long_b * c + wide_b * s + gap)
        & (np.abs(dy * ca - dx * sa) <= wide_a + long_b * s + wide_b * c + gap)
        & (np.abs(dx * cb + dy * sb) <= long_b + long_a * c + wide_a * s + gap)
        & (np.abs(dy * cb - dx * sb) <= wide_b + long_a * s + wide_a * c + gap)
    )
    return result


def apart(entity: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Whether no two vehicles of a scene overlap: (n,) bool, for (n, v) entities, -1 for an empty slot, and
    (n, v, 3) poses.
    """
    i, j = np.triu_indices(entity.shape[1], 1)
    half = half_sizes()[entity]
    close = overlap(pose[:, i], half[:, i], pose[:, j], half[:, j], GAP)
    return np.asarray(~(close & (entity[:, i] >= 0) & (entity[:, j] >= 0)).any(axis=1))
