"""Whether the rows of a shard agree with themselves: question, answer and measures with the stored scene.

`verify --quick` uses this. It proves less than sampling again: a row of another seed agrees with itself, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from simtown.datasets.settings import Settings
from simtown.datasets.shard_file import Shard
from simtown.datasets.shards import PICTURES, ShardTask, layout
from simtown.language.questions import PHRASINGS, ask
from simtown.language.relations import RELATIONS, margins, separations, truths
from simtown.scenes.placement import LEAST_VISIBLE, apart
from simtown.scenes.scene import SceneBatch, plausible
from simtown.scenes.silhouette import boxes, visibility

#: How much a measure may differ from that of the stored scene, whose numbers are rounded.
_TOLERANCE = 1e-6


def stored_scenes(shard: Shard, begin: int, end: int) -> SceneBatch:
    """The scenes of rows of a shard."""
    return SceneBatch(
        **{f.name: shard.read(f"scene/{f.name}", slice(begin, end)) for f in fields(SceneBatch)}
    )


def contradictions(
    shard: Shard, settings: Settings, task: ShardTask, begin: int, end: int
) -> Iterator[tuple[str, np.ndarray]]:
    """What contradicts itself in rows of a shard: a sentence, and the numbers of the examples.

    Args:
        shard: has the layout of the settings.
        settings: of the data set.
        task: the examples of the shard.
        begin: the first row, even.
        end: the row after the last, even.
    """
    names = [name for name in layout(settings) if name not in PICTURES and not name.startswith("scene/")]
    c = {name: shard.read(name, slice(begin, end)) for name in names}
    scene, rows = stored_scenes(shard, begin, end), np.arange(end - begin)
    index = task.start + begin + rows
    asked = np.stack([c["subject"], c["object"]], axis=1)
    slots = np.stack([c["subject_slot"], c["object_slot"]], axis=1)
    unknown = (
        ~np.isin(scene.entity, settings.kinds).all(axis=1)
        | ~np.isin(asked, settings.kinds).all(axis=1)
        | ~plausible(scene)
        | (c["phrasing"] >= len(PHRASINGS))
        | (c["relation"] >= len(RELATIONS))
        | (slots >= 2).any(axis=1)
        | (slots[:, 0] == slots[:, 1])
    )
    if unknown.any():  # these numbers would be indices out of range
        yield "a number stands for something that does not exist", index[unknown]
        return
    margin = margins(separations(scene.pose, scene.camera), c["relation"], *slots.T)
    answers = c["answer"].reshape(-1, 2)
    question, tokens = ask(c["subject"], c["relation"], c["object"], c["phrasing"])
    shares = visibility(scene.entity, scene.pose, scene.camera)
    wrong_vehicles = (scene.entity[rows[:, None], slots] != asked).any(axis=1)
    wrong_words = (question != c["question"]) | (tokens != c["tokens"]).any(axis=1)
    wrong_boxes = (boxes(scene, settings.width, settings.height) != c["boxes"]).any(axis=(1, 2))
    wrong_shares = (np.abs(shares - c["visible"]) > _TOLERANCE).any(axis=1)
    for sentence, wrong in (
        ("examples are not in order", c["index"] != index),
        ("the vehicles asked about are not the scene's", wrong_vehicles),
        ("the answer contradicts the scene", truths(margin, c["relation"]) != np.where(c["answer"], 1, -1)),
        ("the margin is not the scene's", ~(np.abs(margin - c["margin"]) <= _TOLERANCE)),
        ("two neighbours do not have opposite answers", (answers[:, 0] == answers[:, 1]).repeat(2)),
        ("the words are not the question's", wrong_words),
        ("the boxes are not the scene's", wrong_boxes),
        ("vehicles overlap", ~apart(scene.entity.astype(np.int64), scene.pose)),
        ("the visible shares are not the scene's", wrong_shares | (shares < LEAST_VISIBLE).any(axis=1)),
    ):
        if wrong.any():
            yield sentence, index[wrong]
