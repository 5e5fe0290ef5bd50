"""CLEVR's layout and field names (Johnson et al., 2017): pictures, scene graphs, questions with programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES
from simtown.core.exact import cos, sin
from simtown.datasets.export.portion import (
    ANSWERS,
    ExportBatch,
    Format,
    Portion,
    joined,
    plain,
    write_listing,
)
from simtown.datasets.reader import Dataset
from simtown.language.relations import RELATIONS, margins, separations, truths
from simtown.scenes.camera import views

#: Vehicles at least so long, in metres, are "large".
LARGE = 5.0


def write(portion: Portion, directory: Path) -> None:
    """images/SPLIT/CLEVR_SPLIT_000000.png ..., and the portion's scenes and questions."""
    split, s = portion.name, portion.data.settings
    folder, pattern = directory / "images" / split, f"CLEVR_{split}_{{:06d}}.png"
    relations = len(portion.data.names["relations"])
    with (
        portion.part(directory, "scenes") as add_scene,
        portion.part(directory, "questions") as add_question,
    ):
        for batch in portion.batches():
            graphs = _graphs(batch, s.width, s.height, relations)
            for row, number, name in batch.write_pictures(folder, pattern):
                about = {"split": split, "image_index": number, "image_filename": name}
                add_scene({**about, **graphs[row]})
                add_question({**about, "question_index": number, **_question(batch, row, relations)})


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """scenes/CLEVR_SPLIT_scenes.json and questions/CLEVR_SPLIT_questions.json."""
    for split in splits:
        head = {"info": {"split": split, "version": data.manifest["simtown"], "license": "", "date": ""}}
        for what in ("scenes", "questions"):
            path = directory / what / f"CLEVR_{split}_{what}.json"
            write_listing(path, head, {what: joined(directory, split, what)})


def _question(batch: ExportBatch, row: int, relations: int) -> dict[str, Any]:
    """Is a SUBJECT among what is left of the one OBJECT? The question as CLEVR's functions."""
    c = batch.columns
    relation, phrasing = int(c["relation"][row]), int(c["phrasing"][row])
    subject, obj = ([ENTITIES[c[role][row]]] for role in ("subject", "object"))
    side = [RELATIONS[relation].direction]
    functions = ("scene", "filter_shape", "unique", "relate", "filter_shape", "exist")
    steps = enumerate(zip(functions, ([], obj, [], side, subject, []), strict=True))
    return {
        "question": c["question"][row].decode(),
        "answer": ANSWERS[int(c["answer"][row])],
        "question_family_index": phrasing * relations + relation,
        "program": [
            {"function": name, "inputs": [i - 1] if i else [], "value_inputs": values}
            for i, (name, values) in steps
        ],
    }


def _graphs(batch: ExportBatch, width: int, height: int, relations: int) -> list[dict[str, Any]]:
    """Objects, directions and relationships of scenes; pairs within a relation's margin are in no list."""
    scenes = batch.scenes
    n, v = scenes.entity.shape
    bounds = atlas().bounds[scenes.entity]
    length, rise = bounds[:, :, 1, 0] - bounds[:, :, 0, 0], bounds[:, :, 1, 2] / 2
    middle = np.concatenate([scenes.pose[..., :2], rise[..., None]], axis=2).astype(np.float64)
    view = views(scenes.camera, width, height).astype(np.float64)
    eye, axes = view[:, None, :3], view[:, 3:12].reshape(n, 3, 3)
    focal, centre = view[:, 12], view[:, None, 13:15]
    right_up_forward = np.einsum("nij,nvj->nvi", axes, middle - eye)
    depth = right_up_forward[..., 2:]
    pixels = centre + focal[:, None, None] * np.array([1, -1]) * right_up_forward[..., :2] / depth
    holding = _holding(scenes.pose, scenes.camera, relations)
    turn = scenes.camera[:, 3].astype(np.float64)
    c, s = cos(turn), sin(turn)
    graphs = []
    for i in range(n):
        right, behind = [plain(c[i]), plain(s[i]), 0.0], [plain(-s[i]), plain(c[i]), 0.0]
        objects = [
            {
                "shape": ENTITIES[entity],
                "color": batch.paint(i, slot),
                "material": "metal",
                "size": "large" if length[i, slot] >= LARGE else "small",
                "3d_coords": [plain(x) for x in middle[i, slot]],
                "pixel_coords": [plain(x) for x in (*pixels[i, slot], depth[i, slot, 0])],
                "rotation": plain(np.degrees(scenes.pose[i, slot, 2])),
            }
            for slot, entity in enumerate(scenes.entity[i])
        ]
        directions = {"right": right, "left": [-x for x in right], "behind": behind}
        directions |= {"front": [-x for x in behind], "above": [0.0, 0.0, 1.0], "below": [0.0, 0.0, -1.0]}
        relationships = {}
        for name, holds in holding.items():
            relationships[name] = [np.flatnonzero(holds[i, :, slot]).tolist() for slot in range(v)]
        graphs.append({"objects": objects, "directions": directions, "relationships": relationships})
    return graphs


def _holding(pose: np.ndarray, camera: np.ndarray, relations: int) -> dict[str, np.ndarray]:
    """By direction, (n, v, v) bool: whether vehicle [:, i] stands so to vehicle [:, , j]."""
    n, v = pose.shape[:2]
    separation, holding = separations(pose, camera), {}
    for r, relation in enumerate(RELATIONS[:relations]):
        number, holds = np.full(n, r), np.zeros((n, v, v), dtype=bool)
        for i, j in np.ndindex(v, v):
            margin = margins(separation, number, np.full(n, i), np.full(n, j))
            holds[:, i, j] = truths(margin, number) > 0
        holding[relation.direction] = holds
    return holding


FORMAT = Format(write, finish, ("images/{split}", "scenes", "questions"))
