"""Parts of the sampling procedure in plain NumPy, each for many examples: the oracle of the sampler."""

from dataclasses import fields

import numpy as np

from simtown.core.exact import sincos
from simtown.core.streams import Stream, choose
from simtown.language.asking.paper import CAP, Examples, ImpossibleError
from simtown.language.meaning.relations import LATERAL, RADIAL, margins, separations, truths
from simtown.scenes.placement import GAP, LANES, SLACK, SWAY, half_sizes
from simtown.scenes.scene import SceneBatch


def arrays(examples):
    """All of Examples but its counters, by name."""
    columns = {f"scene.{f.name}": getattr(examples.scene, f.name) for f in fields(SceneBatch)}
    names = [f.name for f in fields(Examples) if f.name not in ("scene", "tried")]
    return columns | {name: getattr(examples, name) for name in names}


def draw_entities(recipe, index, tried):
    """Entities of each scene, all different: (n, 2 or 3) int64.

    The first two follow equation 4, the distractor the mean of the subject and the object marginal.
    """
    chances = [recipe.subject, recipe.object] + [(recipe.subject + recipe.object) / 2] * recipe.distractor
    sums = [np.cumsum(p) / np.cumsum(p)[-1] for p in chances]
    stream = Stream(recipe.seed, recipe.split, "entity")
    out = np.zeros((len(index), len(sums)), dtype=np.int64)
    open_rows, proposed = np.arange(len(index)), 0
    for attempt in range(CAP):
        u = stream.uniform(index[open_rows], len(sums), attempt)
        out[open_rows] = np.stack([choose(u[:, slot], total) for slot, total in enumerate(sums)], axis=1)
        proposed += len(open_rows)
        alike = (np.diff(np.sort(out[open_rows], axis=1), axis=1) == 0).any(axis=1)
        open_rows = open_rows[alike]
        if not len(open_rows):
            tried["entity"] = proposed, len(index)
            return out
    raise ImpossibleError("no different entities")


def answers(seed, split, index):
    """(n,) bool, fair and in pairs: of examples 2j and 2j + 1 exactly one is true."""
    fair = Stream(seed, split, "answer").uniform(index // 2, 1)[:, 0] < 0.5
    return fair != (index % 2 == 1)


def mirrored(pose, camera, axes):
    """Scenes with left and right exchanged (LATERAL: the camera with them), or near and far (RADIAL).

    Outlines on the ground are mirrored, whatever the yaw; a vehicle heads so that one which keeps to its lane
    keeps to a lane.
    """
    pose, camera = pose.copy(), camera.copy()
    if LATERAL in axes:
        pose[..., [0, 2]] *= -1
        camera[:, [0, 3]] *= -1
    if RADIAL in axes:
        pose[..., 1] *= -1
        pose[..., 2] = np.float32(np.pi) - pose[..., 2]
    return pose, camera


def unchanged(entity, pose, camera, subject, obj, relation):
    """Whether the third vehicle changes the truth of neither a question nor its opposite: (n,) bool."""
    apart, rows, third = separations(pose, camera), np.arange(len(entity)), np.full(len(entity), 2)

    def truth(s, o):
        return truths(margins(apart, relation, s, o), relation)

    alone = truth(subject, obj)
    as_subject = (entity[:, 2] != entity[rows, subject]) | (truth(third, obj) == alone)
    return as_subject & ((entity[:, 2] != entity[rows, obj]) | (truth(subject, third) == alone))


def framed_lane(y, half, camera, exchangeable=False):
    """Least and greatest x (n,) at which cameras frame the whole near flank of vehicles along the road."""
    cx, cy, yaw, focal = camera.astype(np.float64)[:, [0, 1, 3, 5]].T
    s, c = sincos(yaw)
    k, ahead = 0.5 / focal, (-np.abs(y) if exchangeable else y) - half[:, 1] - cy
    left = cx - ahead * (k * c + s) / (c - k * s) + half[:, 0] + SLACK
    right = cx + ahead * (k * c - s) / (c + k * s) - half[:, 0] - SLACK
    middle = 0.5 * (left + right)
    return np.minimum(left, middle), np.maximum(right, middle)


def draw_pairs(u, entity, camera, exchangeable=False):
    """(n, 2, 3) float32 poses of two vehicles a scene, which share a lane only if it has room for both.

    All possible choices of lanes are equally likely.
    """
    half = half_sizes()[entity]

    def has_room(lane):
        y = np.full(len(entity), LANES[lane][0] + SWAY)
        ends = (framed_lane(y, half[:, i], camera, exchangeable) for i in (0, 1))
        (left_a, right_a), (left_b, right_b) = ends
        return np.maximum(right_a - left_b, right_b - left_a) >= half[:, 0, 0] + half[:, 1, 0] + GAP

    near, far = has_room(0), has_room(0 if exchangeable else 1)
    choice = np.floor(u[:, 0, 0] * (2 + near.astype(int) + far)).astype(int)
    both = np.where(near & (choice == 2), 0, 1)
    lanes = np.where(choice < 2, choice, both), np.where(choice < 2, 1 - choice, both)
    poses = []
    for i, lane in enumerate(lanes):
        y, yaw = np.array(LANES)[lane].T
        y = y + SWAY * (2 * u[:, i, 1] - 1)
        left, right = framed_lane(y, half[:, i], camera, exchangeable)
        poses.append(np.stack([left + (right - left) * u[:, i, 2], y, yaw], axis=1))
    return np.stack(poses, axis=1).astype(np.float32)


def draw_beside(u, entity, pose, camera):
    """(n, 3) float32 poses of the last vehicle of every scene: in a lane, framed, apart from the others.

    Where no place is free, it is one that is not.
    """
    rows = zip(u, entity, pose.astype(float), camera, strict=True)
    return np.array([_beside(*row) for row in rows], dtype=np.float32)


def _beside(u, entity, pose, camera):
    *others, own = half_sizes()[entity]
    pieces = []
    for middle, yaw in LANES:
        y = middle + SWAY * (2 * u[1] - 1)
        (left,), (right,) = framed_lane(np.array([y]), own[None], camera[None])
        taken = []
        for (x, other_y, other_yaw), (long, wide) in zip(pose[:-1], others, strict=True):
            s, c = (abs(float(v)) for v in sincos(other_yaw))
            reach = c * long + s * wide + own[0] + GAP
            beside = abs(y - other_y) > s * long + c * wide + own[1] + GAP
            taken.append((right, right) if beside else (x - reach, x + reach))
        start = left
        for begin, end in [*sorted(taken, key=lambda span: span[0]), (np.inf, np.inf)]:
            pieces.append((start, max(min(begin, right) - start, 0.0), y, yaw))
            start = max(start, end)
    total = 0.0
    for _, free, *_ in pieces:
        total += free
    along, before = u[0] * total, 0.0
    for k, (start, free, y, yaw) in enumerate(pieces):
        before += free
        if before > along or k == len(pieces) - 1:
            return start + (along - (before - free)), y, yaw
    raise AssertionError
