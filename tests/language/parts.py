"""Parts of the sampling procedure, each for many examples: what the tests compare the sampler with."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.core.exact import kernel
from simtown.core.streams import Stream, fill
from simtown.language import rejection
from simtown.language.rejection import ENTITY, LOOPS
from simtown.language.relations import LATERAL, RADIAL
from simtown.language.sampler import ImpossibleError, Recipe, _why, plan_of
from simtown.scenes.paint import may_change, paint_of
from simtown.scenes.placement import half_sizes, pair_lanes, place, place_beside


@kernel
def _all_kinds(plan, index, out, tried):
    all_found = True
    for n in range(len(index)):
        all_found = all_found and rejection.draw_kinds(plan, index[n], 0, out[n], tried)
    return all_found


@kernel
def _all_cameras(plan, index, out):
    for n in range(len(index)):
        rejection.draw_camera(plan, index[n], out[n])


@kernel
def _all_answers(key, index, out):
    for n in range(len(index)):
        out[n] = rejection.fair_answer(key, index[n])


@kernel
def _all_mirrored(pose, camera, mirror):
    for n in range(len(pose)):
        rejection.mirror_camera(camera[n], mirror)
        for j in range(pose.shape[1]):
            pose[n, j, 0], pose[n, j, 1], pose[n, j, 2] = rejection.mirrored(
                pose[n, j, 0], pose[n, j, 1], pose[n, j, 2], mirror
            )


@kernel
def _all_unchanged(entity, pose, camera, subject, obj, relation, out):
    for n in range(len(entity)):
        out[n] = rejection.unchanged(entity[n], pose[n], camera[n], subject[n], obj[n], relation[n])


def draw_entities(recipe: Recipe, index: np.ndarray, tried: dict[str, tuple[int, int]]) -> np.ndarray:
    """Entities of each scene, all different: (n, 2 or 3) int64; the first two by equation 4, then the
    distractor.

    The distractor follows the mean of the subject and the object marginal. Raises ImpossibleError if there
    are no such entities.
    """
    plan, counts = plan_of(recipe), np.zeros((LOOPS, 2), dtype=np.int64)
    out = np.zeros((len(index), len(plan.sums)), dtype=np.int64)
    if not _all_kinds(plan, np.ascontiguousarray(index, dtype=np.int64), out, counts):
        raise ImpossibleError(_why(recipe, len(plan.sums), ENTITY))
    tried["entity"] = (int(counts[ENTITY, 0]), int(counts[ENTITY, 1]))
    return out


def draw_cameras(recipe: Recipe, index: np.ndarray) -> np.ndarray:
    """(n, 7) float32 camera rows: the paper's fixed one, or one moved by up to `jitter` metres."""
    out = np.zeros((len(index), 7), dtype=np.float32)
    _all_cameras(plan_of(recipe), np.ascontiguousarray(index, dtype=np.int64), out)
    return out


def answers(seed: int, split: str, index: np.ndarray) -> np.ndarray:
    """(n,) bool, fair and in pairs: of examples 2j and 2j + 1 exactly one is true, so every even prefix is
    balanced.
    """
    out = np.zeros(len(index), dtype=bool)
    _all_answers(Stream(seed, split, "answer").key, np.ascontiguousarray(index, dtype=np.int64), out)
    return out


def mirrored(pose: np.ndarray, camera: np.ndarray, axes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Scenes with left and right exchanged (LATERAL: the camera with them) or with near and far exchanged
    (RADIAL).

    Outlines on the ground are mirrored, whatever the yaw; a vehicle heads so that one which keeps to its lane
    keeps to a lane.
    """
    pose, camera = pose.copy(), camera.copy()
    _all_mirrored(pose, camera, np.array([LATERAL in axes, RADIAL in axes]))
    return pose, camera


def unchanged(
    entity: np.ndarray,
    pose: np.ndarray,
    camera: np.ndarray,
    subject: np.ndarray,
    obj: np.ndarray,
    relation: np.ndarray,
) -> np.ndarray:
    """Whether the third vehicle leaves the truth of a question, and of its opposite, as the first two make
    it: (n,) bool.
    """
    out = np.zeros(len(entity), dtype=bool)
    _all_unchanged(entity, pose, camera, subject, obj, relation, out)
    return out


@kernel
def _draw_pairs(u, entity, half, camera, exchangeable, out):
    for n in range(len(entity)):
        lanes = pair_lanes(u[n, 0, 0], entity[n, 0], entity[n, 1], half, camera[n], exchangeable)
        for j in range(2):
            e = entity[n, j]
            out[n, j, 0], out[n, j, 1], out[n, j, 2] = place(
                lanes[j], u[n, j, 1], u[n, j, 2], half[e, 0], half[e, 1], camera[n], exchangeable
            )


@kernel
def _draw_beside(u, entity, pose, half, camera, out):
    taken, pieces = np.zeros((2, 2, entity.shape[1])), np.zeros((2, 2 * entity.shape[1]))
    for n in range(len(entity)):
        out[n, 0], out[n, 1], out[n, 2] = place_beside(
            u[n, 0], u[n, 1], entity[n], pose[n], half, camera[n], taken, pieces
        )


def draw_pairs(
    u: np.ndarray, entity: np.ndarray, camera: np.ndarray, exchangeable: bool = False
) -> np.ndarray:
    """As :func:`draw_poses` for two vehicles a scene, which share a lane only if it has room for both.

    All possible choices of lanes are equally likely. Choices in which the two could not stand apart are left
    out, which does not change the scenes that can be accepted.
    """
    out = np.zeros((*entity.shape, 3), dtype=np.float32)
    _draw_pairs(
        np.ascontiguousarray(u),
        entity.astype(np.int64),
        half_sizes(),
        camera.astype(np.float64),
        exchangeable,
        out,
    )
    return out


def draw_beside(u: np.ndarray, entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Poses of the last vehicle of every scene, in either lane, where it is framed and apart from the others.

    Args:
        u: (n, 2) uniform numbers.
        entity: (n, v).
        pose: (n, v, 3); the last vehicle's are not used.
        camera: (n, 7) rows.

    Returns:
        (n, 3) float32 x, y (metres), yaw (radians); where there is no free place, one that is not free.
    """
    out = np.zeros((len(entity), 3), dtype=np.float32)
    _draw_beside(
        np.ascontiguousarray(u),
        entity.astype(np.int64),
        pose.astype(np.float64),
        half_sizes(),
        camera.astype(np.float64),
        out,
    )
    return out


@kernel
def _draw_paints(key, index, entity, sums, may_change, out):
    bits = np.zeros(entity.shape[1], dtype=np.uint64)
    for n in range(len(index)):
        fill(key, index[n], 0, bits)
        for j in range(len(bits)):
            out[n, j] = paint_of(bits[j], entity[n, j], sums, may_change)


def draw_paints(stream: Stream, index: np.ndarray, entity: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Paints of the vehicles of scenes: (n, v) int8 indices of PAINTS, -1 where a kind keeps its own.

    Args:
        stream: of the component "paint".
        index: (n,) example numbers.
        entity: (n, v) indices of ENTITIES.
        frequencies: as :func:`paint_frequencies` gives them; empty paints nothing.
    """
    out = np.zeros(entity.shape, dtype=np.int8)
    _draw_paints(
        stream.key, index.astype(np.int64), entity.astype(np.int64), np.cumsum(frequencies), may_change(), out
    )
    return out
