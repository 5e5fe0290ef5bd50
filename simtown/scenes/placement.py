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
#: Least visible share of every vehicle's silhouette.
LEAST_VISIBLE = 0.4


@lru_cache(maxsize=1)
def half_sizes() -> np.ndarray:
    """(entities, 2) float64: half the length and half the width of every entity's footprint, metres, about its origin."""
    bounds = atlas().bounds[: len(ENTITIES)].astype(np.float64)
    return np.abs(bounds[:, :, :2]).max(axis=1)


def draw_poses(u: np.ndarray, entity: np.ndarray) -> np.ndarray:
    """Poses from (n, v, 3) uniform numbers for (n, v) entities: a lane each, x over all that the nominal camera frames.

    Returns:
        (n, v, 3) float32 x, y (metres), yaw (radians).
    """
    lanes = np.array(LANES)
    lane = (u[..., 0] < 0.5).astype(np.int64)
    half = half_sizes()[entity]
    y = lanes[lane, 0] + SWAY * (2 * u[..., 1] - 1)
    camera = Camera()
    reach = (y - half[..., 1] - camera.y) / (2 * camera.focal) - half[..., 0] - 0.05
    x = np.maximum(reach, 0.0) * (2 * u[..., 2] - 1)
    return np.stack([x, y, lanes[lane, 1]], axis=-1).astype(np.float32)


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
    """Whether no two vehicles of a scene overlap: (n,) bool, for (n, v) entities and (n, v, 3) poses."""
    half = half_sizes()[entity]
    fine = np.ones(len(entity), dtype=bool)
    for i in range(entity.shape[1]):
        for j in range(i):
            fine &= ~overlap(pose[:, i], half[:, i], pose[:, j], half[:, j], GAP)
    return fine


def framed(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Whether every vehicle lies wholly inside the nominal picture: (n,) bool."""
    return within(unclipped_boxes(entity, pose, camera, *NOMINAL))


def within(box: np.ndarray) -> np.ndarray:
    """Whether all (n, v, 4) boxes of a scene lie wholly inside the nominal picture: (n,) bool."""
    inside = (box[..., 0] >= 0) & (box[..., 1] >= 0) & (box[..., 2] <= NOMINAL[0]) & (box[..., 3] <= NOMINAL[1])
    return np.all(inside, axis=1, out=np.zeros(len(inside), dtype=bool))
