"""Checking a data set: its files against their checksums, and every answer against its scene."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np

from simtown.datasets.settings import Settings
from simtown.datasets.shards import PICTURES, Task, checksum, layout, tasks
from simtown.datasets.stores import store_of
from simtown.language.questions import PHRASINGS, ask
from simtown.language.relations import RELATIONS, margins, separations, truths
from simtown.render.frames import Renderer
from simtown.scenes.placement import LEAST_VISIBLE, apart
from simtown.scenes.scene import SceneBatch, plausible
from simtown.scenes.silhouette import boxes, visibility


def verify(
    place: str | Path, renderer: Renderer | None = None, pictures: int = 8, progress: Callable[[int], None] = lambda n: None
) -> list[str]:
    """Every problem found, in words; empty if the data set is whole and true.

    Args:
        place: of the data set, a directory or a URL.
        renderer: if given, `pictures` a shard are drawn again and compared with what is stored.
        progress: told of the examples of every shard that was checked.

    Raises:
        FileNotFoundError, DamagedError, ForeignDirectoryError: as :func:`simtown.datasets.manifest.load`.
    """
    store = store_of(place)
    manifest, sizes = store.load_manifest(), store.sizes()
    settings = Settings.from_resolved(manifest["settings"])
    problems = [] if manifest["complete"] else [f"{store} is unfinished: run simtown generate again"]
    balance: dict[str, int] = {}
    for task in tasks(settings):
        entry = manifest["shards"].get(task.name)
        found = list(_check_listing(sizes.get(task.name), entry, task))
        if not found:
            try:
                with store.reading(task.name) as path:
                    if checksum(path) != entry["sha256"]:
                        found = [f"{task.name} does not match its checksum: a byte was changed"]
                    else:
                        with h5py.File(path, "r") as file:
                            found = list(_check_content(file, settings, task, renderer, pictures))
                            balance[task.split] = balance.get(task.split, 0) + int(file["answer"][:].sum())
            except (OSError, KeyError, ValueError, TypeError, RuntimeError, IndexError) as error:
                found = [f"{task.name} cannot be read: {error}"]
        problems += found
        progress(task.count)
    for split, true in balance.items():
        if not problems and 2 * true != settings.counts()[split]:
            problems.append(f"{split}: {true} of {settings.counts()[split]} answers are yes, not half")
    return problems


def _check_listing(size: int | None, entry: dict[str, object] | None, task: Task) -> Iterator[str]:
    if size is None:
        yield f"{task.name} is missing"
    elif entry is None:
        yield f"{task.name} is not in the manifest"
    elif size != entry["bytes"]:
        yield f"{task.name} has {size} bytes, not {entry['bytes']}: it was cut short or written over"


def _wrong_form(file: h5py.File, settings: Settings, task: Task) -> str:
    """What is wrong with the names, shapes and types of a shard's arrays; empty if nothing is."""
    for name, (shape, kind) in layout(settings).items():
        if name not in file:
            return f"the array '{name}' is missing"
        if file[name].shape != (task.count, *shape) or file[name].dtype != kind:
            return f"'{name}' is {file[name].dtype} {file[name].shape}, not {kind} {(task.count, *shape)}"
    return ""


def _check_content(file: h5py.File, settings: Settings, task: Task, renderer: Renderer | None, pictures: int) -> Iterator[str]:
    wrong_form = _wrong_form(file, settings, task)
    if wrong_form:
        yield f"{task.name}: {wrong_form}"
        return
    n, rows = task.count, np.arange(task.count)
    c = {name: file[name][:] for name in layout(settings) if name not in PICTURES and not name.startswith("scene/")}
    scene = SceneBatch(**{f.name: file[f"scene/{f.name}"][:] for f in fields(SceneBatch)})

    def complain(wrong: np.ndarray, what: str) -> Iterator[str]:
        if wrong.any():
            first = task.start + int(np.flatnonzero(wrong)[0])
            yield f"{task.name}: {what} of {int(wrong.sum())} examples, first of example {first}"

    strange = ~plausible(scene) | (scene.entity < 0).any(axis=1) | (scene.entity >= settings.entities).any(axis=1)
    strange |= (c["relation"] >= len(RELATIONS)) | (c["phrasing"] >= len(PHRASINGS))
    strange |= (np.maximum(c["subject_slot"], c["object_slot"]) >= 2) | (c["subject_slot"] == c["object_slot"])
    strange |= (np.minimum(c["subject"], c["object"]) < 0) | (np.maximum(c["subject"], c["object"]) >= settings.entities)
    if strange.any():
        yield from complain(strange, "numbers that name nothing there is are stored")
        return
    if not np.array_equal(c["index"], np.arange(task.start, task.start + n)):
        yield f"{task.name} does not hold examples {task.start} to {task.start + n - 1} in order"
    subject, obj = (scene.entity[rows, c[f"{role}_slot"]] for role in ("subject", "object"))
    margin = margins(separations(scene.pose, scene.camera), c["relation"], c["subject_slot"], c["object_slot"])
    yield from complain((subject != c["subject"]) | (obj != c["object"]), "the entities asked about are not in the scene")
    yield from complain(truths(margin, c["relation"]) != np.where(c["answer"], 1, -1), "the answer contradicts the scene")
    yield from complain(np.abs(margin - c["margin"]) > 1e-6, "the margin is not the scene's")
    question, tokens = ask(c["subject"], c["relation"], c["object"], c["phrasing"])
    yield from complain((question != c["question"]) | (tokens != c["tokens"]).any(axis=1), "the words are not the question")
    yield from complain(
        np.add.reduceat(c["answer"].astype(int), np.arange(0, n, 2)).repeat(2)[:n] != 1, "the pair of answers is not balanced"
    )
    yield from complain((boxes(scene, settings.width, settings.height) != c["boxes"]).any(axis=(1, 2)), "the boxes are not the scene's")
    entity = scene.entity.astype(np.int64)
    yield from complain(~apart(entity, scene.pose), "vehicles overlap")
    shares = visibility(scene.entity, scene.pose, scene.camera)
    yield from complain(
        (np.abs(shares - c["visible"]) > 1e-6).any(axis=1) | (shares < LEAST_VISIBLE).any(axis=1), "visible shares are wrong"
    )
    if renderer is not None:
        again = np.linspace(0, n - 1, min(pictures, n)).astype(int)
        frames = renderer.render(scene[again], settings.width, settings.height)
        wrong = np.zeros(n, dtype=bool)
        for place, row in enumerate(again):
            wrong[row] = (frames.rgb[place] != file["images"][row]).any()
            if "masks" in file:
                wrong[row] |= (frames.ids[place] != file["masks"][row]).any()
            if "depth" in file:
                wrong[row] |= (frames.depth[place] != file["depth"][row]).any()
        yield from complain(wrong, "the picture is not the scene's")
