"""CLEVR's layout and field names (Johnson et al., 2017): pictures, scene graphs, questions with programs."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES
from simtown.core.exact import cos, sin
from simtown.datasets.export.clevr_programs import InexpressibleError, category_of, clevr_program
from simtown.datasets.export.portion import ExportBatch, Format, Portion, joined, plain, write_listing
from simtown.datasets.reading.reader import Dataset
from simtown.language.meaning.answers import CANNOT_TELL
from simtown.language.meaning.limits import NEARER
from simtown.language.meaning.nouns import NOUNS, OWN_NOUNS, VEHICLE_NOUNS
from simtown.language.meaning.programs import COLOURS, DIRECTIONS, LANES, decode, fill
from simtown.language.meaning.relations import DRIVER_RELATIONS, RELATIONS, own_separations, separations
from simtown.language.meaning.views import Views, body_colours, view_scenes
from simtown.scenes.camera import views
from simtown.scenes.footprints import depths, outline, placed
from simtown.scenes.scene import SceneBatch

#: Vehicles at least so long, in metres, are "large".
LARGE = 5.0
#: Numbers of question families for each family of ours; its templates count on.
_TEMPLATES = 100


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
            graphs = _graphs(batch, s.width, s.height, relations, s.has_families)
            for row, number, name in batch.write_pictures(folder, pattern):
                about = {"split": split, "image_index": number, "image_filename": name}
                add_scene({**about, **graphs[row]})
                for own, entry in enumerate(batch.records(row), row):
                    asked = {name: entry[name] for name in ("question", "answer")}
                    if s.has_families:
                        asked |= _asked(batch, own, entry)
                    else:
                        asked |= _of_paper(batch, own, entry, relations)
                    add_question({**about, "question_index": entry["index"], **asked})


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """scenes/CLEVR_SPLIT_scenes.json and questions/CLEVR_SPLIT_questions.json."""
    for split in splits:
        head = {"info": {"split": split, "version": data.manifest["simtown"], "license": "", "date": ""}}
        for what in ("scenes", "questions"):
            path = directory / what / f"CLEVR_{split}_{what}.json"
            write_listing(path, head, {what: joined(directory, split, what)})


def _of_paper(batch: ExportBatch, row: int, entry: dict[str, Any], relations: int) -> dict[str, Any]:
    """A question of the paper's: is a SUBJECT among what is left of the one OBJECT?"""
    relation, phrasing = (int(batch.columns[name][row]) for name in ("relation", "phrasing"))
    program = "holds(the(all({subject})), related({relation}, the(all({object}))))".format_map(entry)
    family = phrasing * relations + relation
    return {"question_family_index": family, "program": clevr_program(fill(program, ()))}


def _asked(batch: ExportBatch, row: int, entry: dict[str, Any]) -> dict[str, Any]:
    """Any other question; its program is empty if CLEVR's functions cannot ask it."""
    family, template = (int(batch.columns[name][row]) for name in ("family", "template"))
    program: list[dict[str, Any]] = []
    if entry["answer"] != CANNOT_TELL:
        with suppress(InexpressibleError):
            program = clevr_program(decode(batch.columns["program"][row]))
    return {
        "question_family_index": _TEMPLATES * family + template,
        "program": program,
        "family": entry["family"],
        "form": entry["program"],
        **({"group": entry["group"], "edit": entry["edit"]} if "group" in entry else {}),
    }


def _project(
    scenes: SceneBatch, points: np.ndarray, width: int, height: int
) -> tuple[np.ndarray, np.ndarray]:
    """(n, v, 2) pixels and (n, v, 1) depths, metres, of (n, v, 3) points."""
    view = views(scenes.camera, width, height).astype(np.float64)
    eye, axes = view[:, None, :3], view[:, 3:12].reshape(len(view), 3, 3)
    focal, centre = view[:, 12], view[:, None, 13:15]
    right_up_forward = np.einsum("nij,nvj->nvi", axes, points - eye)
    depth = right_up_forward[..., 2:]
    pixels = centre + focal[:, None, None] * np.array([1, -1]) * right_up_forward[..., :2] / depth
    return pixels, depth


def _graphs(
    batch: ExportBatch, width: int, height: int, relations: int, programs: bool
) -> list[dict[str, Any]]:
    """Objects, directions and relationships of scenes; pairs within a relation's margin are in no list.

    With `programs`, a colour is the word that questions use, and drivers' relationships are there, too.
    """
    scenes = batch.scenes
    n, seen, body = len(scenes), view_scenes(scenes), body_colours(scenes)
    bounds = atlas().bounds[scenes.entity]
    length, rise = bounds[:, :, 1, 0] - bounds[:, :, 0, 0], bounds[:, :, 1, 2] / 2
    middle = np.concatenate([scenes.pose[..., :2], rise[..., None]], axis=2).astype(np.float64)
    pixels, depth = _project(scenes, middle, width, height)
    colours = (*COLOURS, "other")  # the last, by -1, is of a body whose colour has no word
    holding = _holding(scenes, seen, relations, programs)
    turn = scenes.camera[:, 3].astype(np.float64)
    c, s = cos(turn), sin(turn)
    graphs = []
    for i in range(n):
        slots = np.flatnonzero(scenes.entity[i] >= 0).tolist()
        right, behind = [plain(c[i]), plain(s[i]), 0.0], [plain(-s[i]), plain(c[i]), 0.0]
        objects = [
            {
                "shape": ENTITIES[scenes.entity[i, slot]],
                "color": colours[body[i, slot]] if programs else batch.paint(i, slot),
                "material": "metal",
                "size": "large" if length[i, slot] >= LARGE else "small",
                "3d_coords": [plain(x) for x in middle[i, slot]],
                "pixel_coords": [plain(x) for x in (*pixels[i, slot], depth[i, slot, 0])],
                "rotation": plain(np.degrees(scenes.pose[i, slot, 2])),
                "objectcategory": _categories(seen, i, slot),
            }
            for slot in slots
        ]
        directions = {"right": right, "left": [-x for x in right], "behind": behind}
        directions |= {"front": [-x for x in behind], "above": [0.0, 0.0, 1.0], "below": [0.0, 0.0, -1.0]}
        relationships = {}
        for name, holds in holding.items():
            relationships[name] = [np.flatnonzero(holds[i, slots, slot]).tolist() for slot in slots]
        graphs.append({"objects": objects, "directions": directions, "relationships": relationships})
    return graphs


def _categories(seen: Views, i: int, slot: int) -> list[str]:
    """All nouns for a vehicle, then its lane and where it faces, if that is clear."""
    kind = ENTITIES[seen.kind[i, slot]]
    lane, direction = int(seen.lane[i, slot]), int(seen.direction[i, slot])
    nouns = [noun for noun in (*VEHICLE_NOUNS, *OWN_NOUNS) if kind in NOUNS[noun]]
    where = [category_of("lane", LANES[lane])] if lane >= 0 else []
    where += [category_of("direction", DIRECTIONS[direction])] if direction >= 0 else []
    return [kind, *nouns, *where]


def _holding(scenes: SceneBatch, seen: Views, relations: int, programs: bool) -> dict[str, np.ndarray]:
    """By direction, (n, v, v) bool: whether vehicle [:, i] stands so to vehicle [:, , j]."""
    with np.errstate(divide="ignore", invalid="ignore"):  # empty slots
        viewer = separations(scenes.pose, scenes.camera)
    holding = {r.direction: r.sign * viewer[:, r.axis] > r.margin for r in RELATIONS[:relations]}
    if programs:
        driver = own_separations(scenes.pose)
        holding |= {r.name: r.sign * driver[:, r.axis] > r.margin for r in DRIVER_RELATIONS}
        away = _away(scenes)
        farther = away[:, :, None] - away[:, None] > NEARER
        holding |= {"farther": farther, "nearer": farther.transpose(0, 2, 1)}
        for attribute, values in (("lane", seen.lane), ("direction", seen.direction)):
            alike = (values[:, :, None] == values[:, None]) & ~np.eye(values.shape[1], dtype=bool)
            holding[f"same {attribute}"] = alike & (values >= 0)[:, None]
    return holding


def _away(scenes: SceneBatch) -> np.ndarray:
    """(n, v) float64 metres from the viewer to the outline of each vehicle, 0 in empty slots."""
    away, pose, camera = (a.astype(np.float64) for a in (scenes.entity * 0, scenes.pose, scenes.camera))
    for row, slot in np.argwhere(scenes.entity >= 0).tolist():
        footprint = placed(outline(ENTITIES[scenes.entity[row, slot]]), *pose[row, slot])
        away[row, slot] = -depths(camera[row, None, :2], footprint)[0]
    return away


FORMAT = Format(write, finish, ("images/{split}", "scenes", "questions"))
