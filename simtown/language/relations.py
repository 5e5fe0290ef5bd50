"""Spatial relations as logical forms over the latent scene.

The viewer's frame: "left of" and "right of" as the viewer sees it, "in front of" is less far ahead of the camera, "behind" farther.
Each relation is a signed distance in metres; within :attr:`Relation.margin` of zero its truth is undefined and never asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simtown.exact import cos, sin

LATERAL, RADIAL = 0, 1


@dataclass(frozen=True)
class Relation:
    """A binary relation: `sign` times a separation along `axis` (LATERAL or RADIAL) is positive where it holds."""

    name: str
    axis: int
    sign: int
    margin: float


#: Every relation; a stored question holds an index into this tuple (append, do not reorder).
RELATIONS: tuple[Relation, ...] = (
    Relation("left of", LATERAL, -1, 0.5),
    Relation("right of", LATERAL, 1, 0.5),
    Relation("in front of", RADIAL, -1, 1.5),
    Relation("behind", RADIAL, 1, 1.5),
)
RELATION_NAMES: tuple[str, ...] = tuple(r.name for r in RELATIONS)
#: What the paper asks about.
DEFAULT_RELATIONS: tuple[str, ...] = ("left of", "right of")


def relation_numbers(names: tuple[str, ...]) -> np.ndarray:
    """Indices of relations by name, int64. Raises ValueError if one is unknown or repeated, or if there is none."""
    choice = f"choose among: {', '.join(RELATION_NAMES)}"
    unknown = [n for n in names if n not in RELATION_NAMES]
    if unknown:
        raise ValueError(f"unknown relation '{', '.join(unknown)}'; {choice}")
    if not names:
        raise ValueError(f"no relation to ask about; {choice}")
    if len(set(names)) < len(names):
        raise ValueError(f"a relation is named twice in '{', '.join(names)}'; {choice}")
    return np.array([RELATION_NAMES.index(n) for n in names])


def separations(pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """How vehicle j stands to vehicle i, in the viewer's frame.

    Args:
        pose: (n, v, 3) x, y (metres), yaw.
        camera: (n, 7) rows.

    Returns:
        (n, 2, v, v) float64 metres, [:, axis, i, j] positive where i is right of / farther than j. The radial separation is the difference
        of distances ahead of the camera, along the ground in the direction of its yaw. The lateral separation is the difference of slopes
        (metres to the right by metres ahead of the camera) times the mean of both distances ahead.
    """
    eye = camera[:, None, :].astype(np.float64)
    yaw = camera[:, 3].astype(np.float64)
    s, c = sin(yaw)[:, None], cos(yaw)[:, None]
    dx, dy = pose[..., 0].astype(np.float64) - eye[..., 0], pose[..., 1].astype(np.float64) - eye[..., 1]
    side, far = dx * c + dy * s, dy * c - dx * s
    slope = side / far
    lateral = (slope[:, :, None] - slope[:, None, :]) * (0.5 * (far[:, :, None] + far[:, None, :]))
    radial = far[:, :, None] - far[:, None, :]
    return np.stack([lateral, radial], axis=1)


def margins(separation: np.ndarray, relation: np.ndarray, subject: np.ndarray, obj: np.ndarray) -> np.ndarray:
    """Signed distance (metres) by which relations hold: (n,) float64, for :func:`separations` and (n,) numbers and slots."""
    axis = np.array([r.axis for r in RELATIONS])[relation]
    sign = np.array([r.sign for r in RELATIONS])[relation]
    result: np.ndarray = sign * separation[np.arange(len(relation)), axis, subject, obj]
    return result


def truths(margin: np.ndarray, relation: np.ndarray) -> np.ndarray:
    """1 where a relation of this signed `margin` holds, -1 where it does not, 0 where it is undefined: int8."""
    least = np.array([r.margin for r in RELATIONS])[relation]
    return np.where(margin > least, 1, np.where(margin < -least, -1, 0)).astype(np.int8)
