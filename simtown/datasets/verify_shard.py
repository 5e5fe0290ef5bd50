"""Verifying one shard: its bytes, its layout, and every row against the row that the settings make.

The first difference is reported: the example, the column and both values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import PAINTS
from simtown.core.pool import Report, require_shared
from simtown.datasets import summaries
from simtown.datasets.consistency import contradictions, stored_scenes
from simtown.datasets.remote import DirectoryStore, Remote
from simtown.datasets.settings import Settings, Tables
from simtown.datasets.shard_file import FormError, Shard, open_array
from simtown.datasets.shards import (
    FRAMES,
    ShardTask,
    Tried,
    add_tried,
    attributes,
    batches,
    checksum,
    columns,
    layout,
)
from simtown.datasets.summaries import Summary
from simtown.language.relations import RELATION_NAMES
from simtown.language.sampler import ImpossibleError, sample
from simtown.render.frames import Renderer
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS

#: Columns that each example draws for itself: where all of them differ, the whole example is another one.
_OWN = ("scene/pose", "scene/prop_pose", "scene/fall_seed", "scene/sun")
_FOREIGN = "none of its examples is what these settings make"
#: Names of the numbers in a column.
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
#: An HDF5 file begins with these bytes. Its superblock says where its data begin and end.
_SIGNATURE, _BASE, _END = b"\x89HDF\r\n\x1a\n", slice(12, 20), slice(28, 36)


@dataclass(frozen=True)
class Problem:
    """A problem of a file: its kind, which other files may share, and what is particular to this file."""

    file: str
    kind: str
    detail: str = ""


@dataclass(frozen=True)
class ShardPiece:
    """A shard to check.

    Attributes:
        task: its examples.
        size: bytes of its file, None if there is none.
        entry: its entry in the manifest, None if there is none.
        drawn: (k,) int64 rows whose pictures are drawn again, None for all.
    """

    task: ShardTask
    size: int | None
    entry: Mapping[str, Any] | None
    drawn: np.ndarray | None


@dataclass(frozen=True)
class Expected:
    """What all shards of a data set are compared with.

    Attributes:
        store: where the shards are.
        settings: of the data set.
        tables: frequencies of train and val.
        counts: how many counts each list of a summary has.
        quick: whether rows are only compared with themselves.
        renderer: draws pictures again; None draws none.
    """

    store: DirectoryStore | Remote
    settings: Settings
    tables: Tables
    counts: Mapping[str, int]
    quick: bool
    renderer: Renderer | None


@dataclass
class ShardCheck:
    """The result of checking a shard.

    Attributes:
        problems: of the shard.
        tried: counts of the rejection loops as the settings make them; None if they were not made.
        summary: of the examples; None if they were not counted.
        drawn: how many pictures were drawn again.
    """

    problems: list[Problem] = field(default_factory=list)
    tried: Tried | None = None
    summary: Summary | None = None
    drawn: int = 0


def check_shard(piece: ShardPiece, report: Report, expected: Expected) -> ShardCheck:
    """Check a shard; reports as many examples as the shard has, in pieces."""
    task, done = piece.task, 0
    if isinstance(expected.store, DirectoryStore):
        require_shared(expected.store.path)

    def progress(n: int) -> None:
        nonlocal done
        done += n
        report(n)

    try:
        problem = _file_problem(piece)
        if problem is None:
            with expected.store.reading(task.name) as path:
                return _check_file(path, piece, expected, progress)
    except FormError as error:
        problem = Problem(task.name, str(error))
    except ImpossibleError as error:
        problem = Problem(task.name, f"its settings make no such examples: {error}")
    except (OSError, LookupError, ValueError, TypeError, RuntimeError) as error:
        problem = Problem(task.name, "it cannot be read", f": {error}")
    finally:
        report(task.count - done)
    return ShardCheck([problem])


def _file_problem(piece: ShardPiece) -> Problem | None:
    if piece.size is None:
        return Problem(piece.task.name, "it is missing: run the same simtown generate again, which makes it")
    if piece.entry is None:
        remedy = "the manifest does not list it: run the same simtown generate again, which enters it"
        return Problem(piece.task.name, remedy)
    if piece.size != piece.entry["bytes"]:
        sizes = f": it has {piece.size:,} bytes, the manifest says {piece.entry['bytes']:,}"
        return Problem(piece.task.name, "it was cut short or written over", sizes)
    return None


def _check_file(
    path: Path, piece: ShardPiece, expected: Expected, progress: Callable[[int], None]
) -> ShardCheck:
    """Check the bytes, the layout, the rows and the attributes of a shard. Raises FormError."""
    task, settings = piece.task, expected.settings
    assert piece.entry is not None  # or the shard is not checked
    if checksum(path) != piece.entry["sha256"]:
        return ShardCheck([Problem(task.name, "it does not match its checksum: a byte of it was changed")])
    with closing(Shard(path, layout(settings), task.count)) as shard:
        _require_layout(shard.file, path, settings, task)
        check = _check_rows(shard, piece, expected, progress)
        for name, value in attributes(task, check.tried or piece.entry["tried"], check.summary or {}).items():
            stored = shard.file.attrs[name]
            unknown = name == "summary" and check.summary is None
            if not unknown and (type(stored) not in (str, np.int64) or stored != value):
                detail = f" is {brief(stored)}, these settings make {brief(value)}"
                check.problems.append(Problem(task.name, f"its attribute '{name}'", detail))
    return check


def _require_layout(file: h5py.File, path: Path, settings: Settings, task: ShardTask) -> None:
    """Raises FormError if a shard lacks something, or holds what does not belong there."""
    with open(path, "rb") as raw:
        head = raw.read(_END.stop)
    end = int.from_bytes(head[_END], "little")
    if not head.startswith(_SIGNATURE) or any(head[_BASE]) or end != path.stat().st_size:
        raise FormError("bytes that do not belong there stand before or after its data")
    links: dict[str, object] = {}
    file.visititems_links(links.__setitem__)
    arrays = layout(settings)
    for name in links:
        if name not in arrays and not any(array.startswith(f"{name}/") for array in arrays):
            raise FormError(f"it holds '{name}', which does not belong there")
    for name, (shape, kind) in arrays.items():
        open_array(file, name, (task.count, *shape), kind)
    for name in ("/", *links):
        for attribute in file[name].attrs:
            if name != "/" or attribute not in attributes(task, {}, {}):
                raise FormError(f"'{name}' has an attribute '{attribute}', which does not belong there")
    for attribute in attributes(task, {}, {}):
        if attribute not in file.attrs:
            raise FormError(f"it lacks the attribute '{attribute}'")


def _check_rows(
    shard: Shard, piece: ShardPiece, expected: Expected, progress: Callable[[int], None]
) -> ShardCheck:
    """Compare rows with those sampled again (if `quick`, with themselves), and draw some pictures again."""
    task, settings, check = piece.task, expected.settings, ShardCheck()
    difference = _Difference(task)
    contradiction: Problem | None = None
    tried: list[Tried] = []
    counted: list[Summary] = []
    recipe = settings.recipe(task.split, expected.tables)
    drawn = np.arange(task.count) if piece.drawn is None else piece.drawn
    for begin, end in batches(settings, task.count):
        if expected.quick:
            contradiction = contradiction or _contradiction(shard, settings, task, begin, end)
            if contradiction:
                break
            scenes = stored_scenes(shard, begin, end)
            wanted = {name: shard.read(name, slice(begin, end)) for name in summaries.COLUMNS}
        else:
            index = np.arange(task.start + begin, task.start + end)
            examples = sample(recipe, index)
            scenes, wanted = examples.scene, columns(examples, index, settings)
            difference.add(begin, {name: shard.read(name, slice(begin, end)) for name in wanted}, wanted)
            tried.append(examples.tried)
        counted.append(summaries.count(wanted, expected.counts))
        rows = drawn[(drawn >= begin) & (drawn < end)]
        if expected.renderer is not None and len(rows):
            stored, pictures = _pictures(shard, scenes, rows, begin, settings, expected.renderer)
            difference.add_pictures(rows, stored, pictures)
            check.drawn += len(rows)
        progress(end - begin)
    problem = contradiction or difference.problem()
    check.problems = [problem] if problem else []
    if not contradiction and not difference.all_other:
        check.summary = summaries.total(counted, expected.counts)
        check.tried = add_tried(tried) if tried else None
    return check


def _contradiction(shard: Shard, settings: Settings, task: ShardTask, begin: int, end: int) -> Problem | None:
    """The first contradiction in some rows."""
    for sentence, numbers in contradictions(shard, settings, task, begin, end):
        more = f" and {len(numbers) - 1:,} more" if len(numbers) > 1 else ""
        return Problem(task.name, sentence, f" (example {numbers[0]}{more})")
    return None


def _pictures(
    shard: Shard, scenes: SceneBatch, rows: np.ndarray, begin: int, settings: Settings, renderer: Renderer
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Pictures, masks and depth of rows of a shard: as they are stored, and drawn again."""
    names = [name for name in FRAMES if name in layout(settings)]
    frames = renderer.render(scenes[rows - begin], settings.width, settings.height, geometry=len(names) > 1)
    stored = {name: shard.read(name, rows) for name in names}
    return stored, {name: getattr(frames, FRAMES[name]) for name in names}


class _Difference:
    """The first difference between the rows of a shard and those that the settings make.

    Attributes:
        wrong: (n,) bool, rows that differ.
        other: (n,) bool, rows that are other examples altogether.
    """

    def __init__(self, task: ShardTask) -> None:
        self.task = task
        self.wrong, self.other = np.zeros(task.count, dtype=bool), np.zeros(task.count, dtype=bool)
        self._first: tuple[int, str, str] | None = None

    @property
    def all_other(self) -> bool:
        """Whether no row is what the settings make."""
        return bool(self.other.all())

    def add(self, begin: int, stored: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> None:
        """Compare the columns of the rows from `begin` on."""
        differs = {name: _differing(stored[name], wanted[name]) for name in wanted}
        rows = begin + np.arange(len(stored["index"]))
        self.other[rows] = np.all([differs[name] for name in _OWN], axis=0)
        self._note(rows, differs, stored, wanted)

    def add_pictures(
        self, rows: np.ndarray, stored: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]
    ) -> None:
        """Compare the pictures of some rows."""
        self._note(rows, {name: _differing(stored[name], wanted[name]) for name in wanted}, {}, {})

    def _note(
        self,
        rows: np.ndarray,
        differs: Mapping[str, np.ndarray],
        stored: Mapping[str, np.ndarray],
        wanted: Mapping[str, np.ndarray],
    ) -> None:
        wrong = np.any(list(differs.values()), axis=0)
        self.wrong[rows] |= wrong
        if self._first is None and wrong.any():
            i = int(wrong.argmax())
            name = next(name for name, column in differs.items() if column[i])
            values = "is not the one that is drawn again"
            if name in stored:
                pair = _unlike(name, stored[name][i], wanted[name][i])
                values = f"is {pair[0]}, these settings make {pair[1]}"
            self._first = int(rows[i]), name, values

    def problem(self) -> Problem | None:
        """What to report."""
        if self.all_other:
            return Problem(
                self.task.name, _FOREIGN, ": they are of another seed, place or version of simtown"
            )
        if self._first is None:
            return None
        row, name, values = self._first
        number, more = self.task.start + row, int(self.wrong.sum()) - 1
        others = f"; {more:,} more examples differ" if more else ""
        return Problem(self.task.name, f"wrong {name}", f" of example {number}: it {values}{others}")


def _differing(stored: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(n,) bool, which rows of two arrays differ in a byte."""
    values = [np.ascontiguousarray(array, dtype=stored.dtype) for array in (stored, wanted)]
    left, right = (array.view(np.uint8).reshape(len(stored), -1) for array in values)
    return np.asarray((left != right).any(axis=1))


def _unlike(name: str, stored: np.ndarray, wanted: np.ndarray) -> list[str]:
    """The first two values of a row of a column that differ, by their names if they have any."""
    flat = [np.atleast_1d(row).reshape(-1).astype(stored.dtype) for row in (stored, wanted)]
    place = int(_differing(*flat).argmax())
    names = _NAMES.get(name, ())
    pair = [values[place].item() for values in flat]
    return [names[value] if names and 0 <= value < len(names) else repr(value) for value in pair]


def brief(value: Any) -> str:
    """A value of which a message shows the beginning."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
