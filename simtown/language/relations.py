"""Spatial relations as logical forms over the latent scene.

The viewer's frame: "left of" and "right of" as the viewer sees it, "in front of" is less far ahead of the
camera, "behind" farther. Each relation is a signed distance in metres; within :attr:`Relation.margin` of zero
its truth is undefined and never asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simtown.core.exact import inlined_kernel, kernel, sincos

LATERAL, RADIAL = 0, 1


@dataclass(frozen=True)
class Relation:
    """A relation between two vehicles: it holds where `sign` times their separation along `axis` is positive.

    Attributes:
        name: in questions.
        axis: LATERAL or RADIAL.
        sign: 1 or -1.
        margin: metres; where the separation is closer to zero, the truth is undefined and never asked.
        caption: in captions, after "is".
        direction: CLEVR's word for it.
    """

    name: str
    axis: int
    sign: int
    margin: float
    caption: str
    direction: str


#: Every relation; a stored question holds an index into this tuple (append, do not reorder).
RELATIONS: tuple[Relation, ...] = (
    Relation("left of", LATERAL, -1, 0.5, caption="to the left of", direction="left"),
    Relation("right of", LATERAL, 1, 0.5, caption="to the right of", direction="right"),
    Relation("in front of", RADIAL, -1, 1.5, caption="in front of", direction="front"),
    Relation("behind", RADIAL, 1, 1.5, caption="behind", direction="behind"),
)
RELATION_NAMES: tuple[str, ...] = tuple(r.name for r in RELATIONS)
#: What the paper asks about.
DEFAULT_RELATIONS: tuple[str, ...] = ("left of", "right of")


def relation_numbers(names: tuple[str, ...]) -> np.ndarray:
    """Indices of relations by name, int64.

    Raises ValueError if one is unknown or repeated, or if there is none.
    """
    choice = f"choose among: {', '.join(RELATION_NAMES)}"
    unknown = [n for n in names if n not in RELATION_NAMES]
    if unknown:
        raise ValueError(f"unknown relation '{', '.join(unknown)}'; {choice}")
    if not names:
        raise ValueError(f"no relation to ask about; {choice}")
    if len(set(names)) < len(names):
        raise ValueError(f"a relation is named twice in '{', '.join(names)}'; {choice}")
    return np.array([RELATION_NAMES.index(n) for n in names])


_AXIS, _SIGN, _LEAST = (
    np.array([getattr(r, name) for r in RELATIONS]) for name in ("axis", "sign", "margin")
)


@inlined_kernel
def stands(x, y, camera):  # type: ignore[no-untyped-def]
    """A place as the viewer sees it: (slope to the right, metres ahead), float64; see :func:`separations`."""
    s, c = sincos(np.float64(camera[3]))
    dx, dy = np.float64(x) - np.float64(camera[0]), np.float64(y) - np.float64(camera[1])
    ahead = dy * c - dx * s
    return (dx * c + dy * s) / ahead, ahead


@inlined_kernel
def separation(axis, a, b):  # type: ignore[no-untyped-def]
    """How a stands to b along an axis, both as :func:`stands` gives them, metres: an entry of
    :func:`separations`.
    """
    (slope_a, far_a), (slope_b, far_b) = a, b
    return (slope_a - slope_b) * (0.5 * (far_a + far_b)) if axis == LATERAL else far_a - far_b


@inlined_kernel
def margin(relation, subject, obj):  # type: ignore[no-untyped-def]
    """Signed distance (metres) by which a relation holds between two vehicles, both as :func:`stands` gives
    them.
    """
    return _SIGN[relation] * separation(_AXIS[relation], subject, obj)


@inlined_kernel
def truth(distance, relation):  # type: ignore[no-untyped-def]
    """1 where a relation of this signed margin holds, -1 where it does not, 0 where it is undefined."""
    return 1 if distance > _LEAST[relation] else -1 if distance < -_LEAST[relation] else 0


@kernel
def _separations(pose, camera, out):  # type: ignore[no-untyped-def]
    count = pose.shape[1]
    for n in range(len(pose)):
        for i in range(count):
            place = stands(pose[n, i, 0], pose[n, i, 1], camera[n])
            for j in range(count):
                other_place = stands(pose[n, j, 0], pose[n, j, 1], camera[n])
                out[n, LATERAL, i, j], out[n, RADIAL, i, j] = (
                    separation(LATERAL, place, other_place),
                    separation(RADIAL, place, other_place),
                )


@kernel
def _truths(distance, relation, out):  # type: ignore[no-untyped-def]
    for n in range(len(distance)):
        out[n] = truth(distance[n], relation[n])


def separations(pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """How vehicle j stands to vehicle i, in the viewer's frame.

    Args:
        pose: (n, v, 3) x, y (metres), yaw.
        camera: (n, 7) rows.

    Returns:
        (n, 2, v, v) float64 metres, [:, axis, i, j] positive where i is right of / farther than j. The radial
        separation is the difference of distances ahead of the camera, along the ground in the direction of
        its yaw. The lateral separation is the difference of slopes (metres to the right by metres ahead of
        the camera) times the mean of both distances ahead.
    """
    pose, camera = (np.ascontiguousarray(each, dtype=np.float64) for each in (pose, camera))
    out = np.zeros((len(pose), 2, pose.shape[1], pose.shape[1]))
    _separations(pose, camera, out)
    return out


def margins(separation: np.ndarray, relation: np.ndarray, subject: np.ndarray, obj: np.ndarray) -> np.ndarray:
    """Signed distance (metres) by which relations hold: (n,) float64, for :func:`separations` and (n,)
    numbers and slots.
    """
    result: np.ndarray = _SIGN[relation] * separation[np.arange(len(relation)), _AXIS[relation], subject, obj]
    return result


def truths(margin: np.ndarray, relation: np.ndarray) -> np.ndarray:
    """1 where relations of these signed margins hold, -1 where they do not, 0 where they are undefined: (n,)
    int8, for (n,) arrays.
    """
    out = np.zeros(len(margin), dtype=np.int8)
    _truths(
        np.ascontiguousarray(margin, dtype=np.float64), np.ascontiguousarray(relation, dtype=np.int64), out
    )
    return out
