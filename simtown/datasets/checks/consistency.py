"""Whether a shard agrees with itself: question, answer, boxes and visible shares with the stored scene.

This proves less than sampling again (:mod:`simtown.datasets.checks.rows`), since a row of another seed agrees
with itself too. It is used by `verify --quick`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from simtown.datasets.checks.problems import Problem, examples
from simtown.datasets.settings import Settings
from simtown.datasets.shard_file import Shard
from simtown.datasets.shards import PICTURES, ShardTask, layout
from simtown.language.questions import PHRASINGS, ask
from simtown.language.relations import RELATIONS, margins, separations, truths
from simtown.scenes.placement import LEAST_VISIBLE, apart
from simtown.scenes.scene import SceneBatch, plausible
from simtown.scenes.silhouette import boxes, visibility

#: How much measures may differ from those of the stored scene, since they are computed from rounded numbers.
_TOLERANCE = 1e-6


def stored_scenes(shard: Shard, begin: int, end: int) -> SceneBatch:
    """The scenes of rows of a shard."""
    return SceneBatch(
        **{f.name: shard.read(f"scene/{f.name}", slice(begin, end)) for f in fields(SceneBatch)}
    )


def inconsistent(
    shard: Shard, settings: Settings, task: ShardTask, begin: int, end: int
) -> Iterator[Problem]:
    """Contradictions in the rows `begin` to `end` - 1 (both even) of a shard that has the right form."""
    names = [name for name in layout(settings) if name not in PICTURES and not name.startswith("scene/")]
    c = {name: shard.read(name, slice(begin, end)) for name in names}
    scene, rows = stored_scenes(shard, begin, end), np.arange(end - begin)

    def wrong(where: np.ndarray, kind: str) -> Iterator[Problem]:
        if where.any():
            yield Problem(task.name, kind, f" ({examples(task, begin + np.flatnonzero(where))})")

    yield from wrong(c["index"] != task.start + begin + rows, "the numbers of its examples are not in order")
    strange = ~np.isin(scene.entity, settings.kinds).all(axis=1)
    strange |= ~np.isin(np.stack([c["subject"], c["object"]], axis=1), settings.kinds).all(axis=1)
    strange |= ~plausible(scene) | (c["phrasing"] >= len(PHRASINGS))
    strange |= c["relation"] >= len(RELATIONS)
    strange |= (np.maximum(c["subject_slot"], c["object_slot"]) >= 2) | (
        c["subject_slot"] == c["object_slot"]
    )
    if strange.any():  # these numbers would be indices out of range
        yield from wrong(
            strange,
            "a number stands for a vehicle, a thing in the street, a weather or a wording that does not "
            "exist",
        )
        return
    subject, obj = (scene.entity[rows, c[f"{role}_slot"]] for role in ("subject", "object"))
    margin = margins(
        separations(scene.pose, scene.camera), c["relation"], c["subject_slot"], c["object_slot"]
    )
    yield from wrong(
        (subject != c["subject"]) | (obj != c["object"]),
        "the vehicles asked about are not those of the scene",
    )
    yield from wrong(
        truths(margin, c["relation"]) != np.where(c["answer"], 1, -1), "the answer contradicts the scene"
    )
    yield from wrong(~(np.abs(margin - c["margin"]) <= _TOLERANCE), "the margin is not the scene's")
    pairs = np.add.reduceat(c["answer"].astype(int), np.arange(0, len(rows), 2)).repeat(2)
    yield from wrong(pairs != 1, "of two examples not exactly one is answered with yes")
    question, tokens = ask(c["subject"], c["relation"], c["object"], c["phrasing"])
    yield from wrong(
        (question != c["question"]) | (tokens != c["tokens"]).any(axis=1),
        "the words are not those of the question",
    )
    yield from wrong(
        (boxes(scene, settings.width, settings.height) != c["boxes"]).any(axis=(1, 2)),
        "the boxes are not the scene's",
    )
    yield from wrong(~apart(scene.entity.astype(np.int64), scene.pose), "vehicles overlap")
    shares = visibility(scene.entity, scene.pose, scene.camera)
    hidden = ~(np.abs(shares - c["visible"]) <= _TOLERANCE).all(axis=1) | (shares < LEAST_VISIBLE).any(axis=1)
    yield from wrong(hidden, "the visible shares are not the scene's")
