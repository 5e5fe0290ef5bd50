"""Comparing every row of a shard with the row that the settings make; some pictures are drawn again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import PAINTS
from simtown.datasets import summaries
from simtown.datasets.checks.consistency import inconsistent, stored_scenes
from simtown.datasets.checks.problems import Problem, examples
from simtown.datasets.settings import Settings, Tables
from simtown.datasets.shard_file import Shard
from simtown.datasets.shards import PICTURES, ShardTask, Tried, add_tried, batches, columns, layout
from simtown.datasets.summaries import Summary
from simtown.language.relations import RELATION_NAMES
from simtown.language.sampler import sample
from simtown.render.frames import Renderer
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS

#: What every array holds, in words.
HOLDS = {
    "images": "picture", "masks": "mask", "depth": "depth", "index": "number",
    "question": "words of the question", "tokens": "tokens of the question", "answer": "answer",
    "subject": "subject", "relation": "relation", "object": "object",
    "subject_slot": "vehicle asked about (subject_slot)", "object_slot": "vehicle asked about (object_slot)",
    "phrasing": "wording", "margin": "margin", "boxes": "boxes", "visible": "visible shares",
    "scene/entity": "vehicles", "scene/pose": "places of vehicles", "scene/paint": "paints of vehicles",
    "scene/prop": "things in the street", "scene/prop_pose": "places of things in the street",
    "scene/prop_style": "styles of things in the street", "scene/weather": "weather",
    "scene/intensity": "intensity of the weather", "scene/sun": "place of the sun",
    "scene/fall_seed": "seed of rain and snow", "scene/camera": "camera",
}  # fmt: skip
#: Numbers that stand for names.
_NAMES: dict[str, tuple[str, ...]] = {
    "answer": ("no", "yes"),
    "subject": ENTITIES,
    "object": ENTITIES,
    "relation": RELATION_NAMES,
    "scene/entity": ENTITIES,
    "scene/paint": PAINTS,
    "scene/prop": PROPS,
    "scene/weather": WEATHERS,
}
#: The kind of the problem that a shard of other examples has.
FOREIGN = "none of its examples is what these settings make"
#: Draws of its own of every example: where all of them differ, the whole example is another one.
_OWN = ("scene/pose", "scene/prop_pose", "scene/fall_seed", "scene/sun")


@dataclass
class ShardFindings:
    """What the comparison of one shard found.

    Attributes:
        problems: in words.
        tried: counts of the rejection loops as the settings make them; None if they were not made, or the
            shard is foreign.
        summary: of the examples as the settings make them, or of the stored rows if these were not made or
            the shard is foreign; None if it could not be counted.
        foreign: whether no row is what the settings make, though each agrees with itself.
        pictures: how many pictures were drawn again.
    """

    problems: list[Problem] = field(default_factory=list)
    tried: Tried | None = None
    summary: Summary | None = None
    foreign: bool = False
    pictures: int = 0


Progress = Callable[[int], None]


def _wrong_pictures(
    shard: Shard, scenes: SceneBatch, rows: np.ndarray, begin: int, settings: Settings, renderer: Renderer
) -> dict[str, np.ndarray]:
    """The rows whose pictures differ from those of their scenes, by array.

    `scenes` is a batch that begins at row `begin` of the shard.
    """
    frames = renderer.render(
        scenes[rows - begin], settings.width, settings.height, geometry=settings.masks or settings.depth
    )
    drawn = {"images": frames.rgb, "masks": frames.ids, "depth": frames.depth}
    return {
        name: rows[different(shard.read(name, rows), drawn[name])]
        for name in PICTURES
        if name in layout(settings)
    }


def different(stored: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(n,) bool, which rows of two arrays of one shape and type differ in a byte."""
    n = len(stored)
    stored_bytes, wanted_bytes = (
        np.ascontiguousarray(a).view(np.uint8).reshape(n, -1) for a in (stored, wanted)
    )
    result: np.ndarray = (stored_bytes != wanted_bytes).any(axis=1)
    return result


def compare(
    shard: Shard,
    settings: Settings,
    tables: Tables,
    task: ShardTask,
    sizes: Mapping[str, int],
    renderer: Renderer | None,
    rows: np.ndarray,
    progress: Progress,
) -> ShardFindings:
    """Sample every example of a shard again and compare it with the stored one; draw some pictures again.

    Args:
        shard: has the right form (:func:`simtown.datasets.checks.form.wrong_arrays`).
        settings: of the data set.
        tables: subject and object frequencies of train and val.
        task: the shard's examples.
        sizes: how many counts each list of a summary has.
        renderer: None draws nothing.
        rows: (k,) int64 whose pictures are drawn again, in ascending order.
        progress: called with the number of examples of every batch.

    Raises:
        ImpossibleError: the settings make no such examples.
    """
    recipe = settings.recipe(task.split, tables)
    comparison, findings = _Comparison(shard, task), ShardFindings()
    wrong_pictures: dict[str, list[np.ndarray]] = {}
    tried: list[Tried] = []
    counted: list[Summary] = []
    for begin, end in batches(settings, task.count):
        index = np.arange(task.start + begin, task.start + end)
        sampled = sample(recipe, index)
        wanted = columns(sampled, index, settings)
        comparison.add(begin, end, wanted)
        tried.append(sampled.tried)
        counted.append(summaries.count(wanted, sizes))
        chosen = rows[(rows >= begin) & (rows < end)]
        if renderer is not None and len(chosen):
            for name, wrong in _wrong_pictures(
                shard, sampled.scene, chosen, begin, settings, renderer
            ).items():
                wrong_pictures.setdefault(name, []).append(wrong)
            findings.pictures += len(chosen)
        progress(end - begin)
    findings.problems = list(comparison.problems())
    findings.foreign = comparison.foreign
    if findings.foreign:
        disagreeing = [
            p
            for begin, end in batches(settings, task.count)
            for p in inconsistent(shard, settings, task, begin, end)
        ]
        findings.problems += disagreeing
        findings.foreign = not disagreeing
        if findings.foreign:
            stored = (
                _stored_summary(shard, begin, end, sizes) for begin, end in batches(settings, task.count)
            )
            findings.summary = summaries.total(stored, sizes)
        return findings
    edited = {
        name: [rows[~comparison.other[rows]] for rows in parts] for name, parts in wrong_pictures.items()
    }
    findings.problems += _picture_problems(task, edited)
    findings.tried, findings.summary = add_tried(tried), summaries.total(counted, sizes)
    return findings


def _stored_summary(shard: Shard, begin: int, end: int, sizes: Mapping[str, int]) -> Summary:
    """The summary of stored rows that agree with themselves."""
    rows = slice(begin, end)
    return summaries.count({name: shard.read(name, rows) for name in summaries.COLUMNS}, sizes)


def check_itself(
    shard: Shard,
    settings: Settings,
    task: ShardTask,
    sizes: Mapping[str, int],
    renderer: Renderer | None,
    rows: np.ndarray,
    progress: Progress,
) -> ShardFindings:
    """Check whether a shard agrees with itself, and the pictures of some `rows` with their stored scenes.

    Arguments as for :func:`compare`.
    """
    findings = ShardFindings()
    wrong_pictures: dict[str, list[np.ndarray]] = {}
    counted: list[Summary] = []
    for begin, end in batches(settings, task.count):
        wrong = list(inconsistent(shard, settings, task, begin, end))
        findings.problems += wrong
        if not findings.problems:
            counted.append(_stored_summary(shard, begin, end, sizes))
        chosen = rows[(rows >= begin) & (rows < end)]
        if renderer is not None and len(chosen) and not wrong:
            for name, differing in _wrong_pictures(
                shard, stored_scenes(shard, begin, end), chosen, begin, settings, renderer
            ).items():
                wrong_pictures.setdefault(name, []).append(differing)
            findings.pictures += len(chosen)
        progress(end - begin)
    if not findings.problems:
        findings.summary = summaries.total(counted, sizes)
    findings.problems += _picture_problems(task, wrong_pictures)
    return findings


def _picture_problems(task: ShardTask, wrong: dict[str, list[np.ndarray]]) -> Iterator[Problem]:
    """A problem for every array of pictures that has `wrong` rows."""
    for name, parts in wrong.items():
        rows = np.concatenate(parts)
        if len(rows):
            yield Problem(
                task.name,
                f"wrong {HOLDS[name]}",
                f" in {examples(task, rows)}: drawn again, it is another one",
            )


class _Comparison:
    """Compares rows of a shard with those that the settings make, batch by batch."""

    def __init__(self, shard: Shard, task: ShardTask) -> None:
        self.shard, self.task = shard, task
        self.rows: dict[str, np.ndarray] = {}
        self.first: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.stored_poses: list[np.ndarray] = []
        self.wanted_poses: list[np.ndarray] = []

    def add(self, begin: int, end: int, wanted: dict[str, np.ndarray]) -> None:
        """Compare the rows `begin` to `end` - 1 with the `wanted` ones."""
        stored = {name: self.shard.read(name, slice(begin, end)) for name in wanted}
        differs = {
            name: different(stored[name], values.astype(stored[name].dtype, copy=False))
            for name, values in wanted.items()
        }
        other = np.all([differs[name] for name in _OWN], axis=0)
        for name, rows in differs.items():
            self.rows.setdefault(name, np.zeros(self.task.count, dtype=bool))[begin:end] = rows
            edited = rows & ~other
            if edited.any() and name not in self.first:
                self.first[name] = stored[name][edited][0], wanted[name][edited][0]
        self.stored_poses.append(stored["scene/pose"])
        self.wanted_poses.append(wanted["scene/pose"])

    @property
    def other(self) -> np.ndarray:
        """(n,) bool, which rows are other examples altogether."""
        result: np.ndarray = np.all([self.rows[name] for name in _OWN], axis=0)
        return result

    @property
    def foreign(self) -> bool:
        """Whether no row of the shard is one that the settings make, in any order."""
        return bool(self.other.all()) and not self._places()

    def _places(self) -> dict[int, int]:
        """By row, the row that its example belongs to, of examples that are in the wrong place."""
        stored, wanted = (np.concatenate(part) for part in (self.stored_poses, self.wanted_poses))
        row_of = {pose.tobytes(): row for row, pose in enumerate(wanted)}
        return {
            int(row): row_of[stored[row].tobytes()]
            for row in np.flatnonzero(self.other)
            if stored[row].tobytes() in row_of
        }

    def problems(self) -> Iterator[Problem]:
        """In words: first the rows that hold other examples, then the others array by array."""
        name, start = self.task.name, self.task.start
        places, other = self._places(), np.flatnonzero(self.other)
        if places:
            row, place = min(places.items())
            more = f", and {len(places) - 1:,} more are out of place" if len(places) > 1 else ""
            yield Problem(
                name,
                "examples are out of place or there twice",
                f": example {start + row} is example {start + place}{more}",
            )
            other = np.array([row for row in other.tolist() if row not in places], dtype=np.int64)
        if len(other) == self.task.count:
            yield Problem(name, FOREIGN, f": all {len(other):,} are of another seed, split or place")
        elif len(other):
            yield Problem(name, "other examples than these settings make", f": {examples(self.task, other)}")
        for array, rows in self.rows.items():
            wrong = np.flatnonzero(rows & ~self.other)
            if len(wrong):
                stored, wanted = (_brief(array, value) for value in _unlike(*self.first[array]))
                values = f": {stored}, these settings make {wanted}"
                yield Problem(name, f"wrong {HOLDS[array]}", f" in {examples(self.task, wrong)}{values}")


def _unlike(stored: np.ndarray, wanted: np.ndarray) -> tuple[Any, Any]:
    """The first values of two rows that differ in a byte."""
    stored_values, wanted_values = np.atleast_1d(stored).reshape(-1), np.atleast_1d(wanted).reshape(-1)
    place = np.flatnonzero(different(stored_values, wanted_values.astype(stored_values.dtype, copy=False)))[0]
    return stored_values[place], wanted_values[place]


def _brief(array: str, value: Any) -> str:
    """A value, by its name if it has one."""
    if isinstance(value, bytes):
        return f"'{value.decode(errors='replace')}'"
    names = _NAMES.get(array)
    if names is None:
        return str(value)
    if value == -1:
        return "the kind's own" if array == "scene/paint" else "nothing"
    return names[int(value)] if 0 <= int(value) < len(names) else f"number {value}, which is none"
