"""The floor of sequences: accuracy of one picture alone, and of all pictures without their order.

A small model chooses between the two answers of a pair, of which it sees what one picture shows, by the true
boxes; so chance is one half in every family, and no training of eyes is needed. The order of pictures is
hidden by sorting each number over them: two examples that show the same pictures in another order are the
same to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from simtown.datasets.audit.findings import Finding
from simtown.datasets.audit.small_models import trees
from simtown.datasets.family_questions import families_of
from simtown.datasets.reading.reader import SCENE_COLUMNS, Dataset
from simtown.datasets.sequence_questions import SEQUENCE_COLUMNS
from simtown.language.asking.sequences import REVERSED
from simtown.language.meaning.programs import ENTITY
from simtown.scenes.sequence import stored_pictures

#: Examples that are read at most, and at once; fewer of a family than LEAST teach nothing.
MOST, LEAST, _BLOCK = 60_000, 400, 4_096
#: How often one picture may tell which of two answers is right.
HIGHEST = 0.6
_COLUMNS = ("family", "value", "shared", "program", "boxes", "visible", *SCENE_COLUMNS, *SEQUENCE_COLUMNS)
#: In the place of a number of a vehicle that a picture does not show, and of its rank if it is not named.
_ABSENT, _UNNAMED = -99.0, 1000
_ADVICE = (
    f"A model that sees a single picture chooses the right answer more often than {HIGHEST:.0%}, or one that "
    "does not know the order solves pairs of reversed pictures: find what gives the answer away."
)


class Floor(NamedTuple):
    """How well a part of the pictures chooses between the answers of pairs.

    Attributes:
        right: share of examples.
        half: half the 95 % interval of `right`; a pair counts once.
        pairs: share of pairs of which both are right.
    """

    right: float
    half: float
    pairs: float


def floor_findings(dataset: Dataset, name: str) -> Iterator[Finding]:
    """A finding for each family of a split."""
    from threadpoolctl import threadpool_limits

    split = dataset[name]
    blocks = []
    count = min(len(split), MOST) // 2 * 2
    for rows in np.split(np.arange(count), range(_BLOCK, count, _BLOCK)):
        columns = split.rows(_COLUMNS, rows)
        blocks.append([columns[key] for key in ("family", "value", "shared")] + [shown(columns)])
    of_family, value, shared, seen = map(np.concatenate, zip(*blocks, strict=True))
    for place, family in enumerate(families_of(dataset.settings)):
        rows, check = np.flatnonzero(of_family == place), f"one picture by {family.name}"
        if 0 < len(rows) < LEAST:
            few = f"not tested: {len(rows):,} examples, {LEAST} are needed"
            yield Finding(check, name, few, status="note")
        elif len(rows):
            with threadpool_limits(1):
                alone, blind = floors(seen[rows], value[rows], shared[rows])
            yield _finding(check, name, alone, blind)


def shown(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """(n, P, k) float64: what each picture shows of every vehicle, those that are asked about first, and
    where its camera stands.

    Of each vehicle: its box, its visible share, its kind, whether it heads right, its lane, its paint, and
    whether its kind is asked for.
    """
    n, count, vehicles = columns["visible"].shape
    scenes, box = stored_pictures(columns), columns["boxes"]
    entity, paint = (own.reshape(n, count, vehicles) for own in (scenes.entity, scenes.paint))
    pose = scenes.pose.reshape(n, count, vehicles, 3)
    # the box of a vehicle beyond an edge says which edge, but nothing of it is shown
    there = (box[..., 2:] > box[..., :2]).all(axis=3) & (entity >= 0)
    named = columns["program"][:, None, None] == (ENTITY + entity.astype(np.int64))[..., None]
    asked = named.any(axis=3) & there
    about = [columns["visible"], entity, np.cos(pose[..., 2]) > 0, pose[..., 1], paint, asked]
    parts = np.concatenate([box, np.stack(about, axis=3)], axis=3).astype(np.float64)
    parts = np.where(there[..., None], parts, _ABSENT)
    # those that are not named stand from left to right
    rank = np.where(asked, named.argmax(axis=3), _UNNAMED + np.where(there, box[..., 0], _UNNAMED))
    order = np.argsort(rank, axis=2, kind="stable")
    parts = np.take_along_axis(parts, order[..., None], axis=2).reshape(n, count, -1)
    return np.concatenate([parts, scenes.camera[:, 1:4].reshape(n, count, -1)], axis=2)


def floors(seen: np.ndarray, value: np.ndarray, shared: np.ndarray) -> tuple[list[Floor], Floor | None]:
    """The floors of each picture alone; and of all without their order, in reversed pairs, if there are some.

    Args:
        seen: (n, P, k) of :func:`shown`, of pairs.
        value: (n,) answers.
        shared: (n,) as `SequenceQuestions` has it.
    """
    alone = [_floor(seen[:, picture], value) for picture in range(seen.shape[1])]
    back = np.flatnonzero(shared == REVERSED)
    if len(back) < LEAST:
        return alone, None
    return alone, _floor(np.sort(seen[back], axis=1).reshape(len(back), -1), value[back])


def _floor(seen: np.ndarray, value: np.ndarray) -> Floor:
    """The floor of (n, k) numbers: the last pairs are asked what the first ones teach."""
    answers = np.repeat(np.sort(value.reshape(-1, 2), axis=1), 2, axis=0)
    second = value == answers[:, 1]
    known = np.column_stack([seen, answers])
    cut = len(value) * 3 // 10 * 2
    model = trees().set_params(max_iter=150, max_leaf_nodes=12)
    model.fit(known[:cut], second[:cut])
    right = (model.predict(known[cut:]) == second[cut:]).reshape(-1, 2)
    share = right.mean(axis=1)
    half = 1.96 * float(share.std()) / np.sqrt(len(share))
    return Floor(float(share.mean()), half, float(right.all(axis=1).mean()))


def _finding(check: str, where: str, alone: list[Floor], blind: Floor | None) -> Finding:
    worst = max(alone)
    each = ", ".join(f"{floor.right:.1%}" for floor in alone)
    figure = (
        f"of two answers pictures 1 to {len(alone)} alone choose the right one in {each} (± "
        f"{max(floor.half for floor in alone):.1%}), in both of a pair in {worst.pairs:.1%}"
    )
    if blind:
        figure += f"; order-blind {blind.right:.1%}, {blind.pairs:.1%} of reversed pairs"
    told = worst.right - worst.half > HIGHEST or (blind is not None and blind.pairs > 0)
    details = {"alone": [floor._asdict() for floor in alone], "order_blind": blind and blind._asdict()}
    return Finding(check, where, figure, _ADVICE, status="warn" if told else "note", details=details)
