"""Verifying one shard: its bytes, its layout, and every row against the row that should be there.

That is the row that the settings make, or, if `quick`, the row that belongs to the stored scene. The first
difference is reported: the example, the column and both values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import PAINTS
from simtown.core.pool import Report, require_shared
from simtown.core.untrusted import cause
from simtown.datasets.making import summaries
from simtown.datasets.making.shards import (
    FRAMES,
    ShardTask,
    add_tried,
    attributes,
    batches,
    checksum,
    layout,
)
from simtown.datasets.making.summaries import Summary
from simtown.datasets.names import names
from simtown.datasets.proving.twin_groups import pair_rows
from simtown.datasets.question_source import Columns, Tried, as_stored
from simtown.datasets.reading.remote import DirectoryStore, Remote
from simtown.datasets.reading.shard_file import FormError, Shard, open_array
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import ImpossibleError
from simtown.language.asking.sequences import REVERSED
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.render.frames import Renderer
from simtown.scenes.placement import LEAST_VISIBLE, apart
from simtown.scenes.scene import SceneBatch, plausible
from simtown.scenes.silhouette import visibility
from simtown.scenes.weather import WEATHERS

#: Columns that each example draws for itself: where all of them differ, the whole example is another one.
_OWN = ("scene/pose", "scene/prop_pose", "scene/fall_seed", "scene/sun")
#: Names of the numbers in a column.
_NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("subject", "object", "scene/entity"), ENTITIES),
    "answer": ("no", "yes"),
    "relation": RELATION_NAMES,
    "scene/paint": PAINTS,
    "scene/prop": PROPS,
    "scene/weather": WEATHERS,
}
#: Rows that are read at once.
_BLOCK = 4_096
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
    """A shard to check: its file's size and manifest entry, if any, and rows to draw again, (k,) int64."""

    task: ShardTask
    size: int | None
    entry: Mapping[str, Any] | None
    drawn: np.ndarray


@dataclass(frozen=True)
class Expected:
    """The data that shards are compared with: their own scenes if `quick`; without a renderer nothing is
    drawn.
    """

    store: DirectoryStore | Remote
    settings: Settings
    quick: bool
    renderer: Renderer | None


@dataclass
class ShardCheck:
    """A shard's problem, counts of its rejection loops and examples, if made, and pictures drawn again."""

    problem: Problem | None = None
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
        if piece.size is None:
            raise FormError("it is missing: run the same simtown generate again, which makes it")
        if piece.entry is None:
            raise FormError("the manifest does not list it: run the same simtown generate again")
        if piece.size != piece.entry["bytes"]:
            sizes = f": it has {piece.size:,} bytes, the manifest says {piece.entry['bytes']:,}"
            raise FormError("it was cut short or written over", sizes)
        with expected.store.reading(task.name) as path:
            return _check_file(path, piece, expected, progress)
    except FormError as error:
        return ShardCheck(Problem(task.name, *error.args))
    except ImpossibleError as error:
        return ShardCheck(Problem(task.name, f"its settings make no such examples: {error}"))
    except (OSError, LookupError, ValueError, TypeError, RuntimeError) as error:
        return ShardCheck(Problem(task.name, "it cannot be read", f": {cause(error)}"))
    finally:
        report(task.count - done)


def _check_file(path: Path, piece: ShardPiece, expected: Expected, progress: Report) -> ShardCheck:
    """Check the bytes, the layout, the rows and the attributes of a shard. Raises FormError."""
    task, entry = piece.task, piece.entry or {}
    if checksum(path) != entry["sha256"]:
        raise FormError("it does not match its checksum: a byte of it was changed")
    arrays, each = layout(expected.settings), expected.settings.questions_per_picture
    with closing(Shard(path, arrays, task.count, each)) as shard:
        _require_layout(shard.file, path, expected.settings, task, shard.picture_count)
        check = _check_rows(shard, piece, expected, progress)
        for name, value in attributes(task, check.tried or entry["tried"], check.summary or {}).items():
            stored = shard.file.attrs[name]
            unknown = name == "summary" and check.summary is None
            if not unknown and (type(stored) not in (str, np.int64) or stored != value):
                detail = f" is {brief(stored)}, these settings make {brief(value)}"
                check.problem = check.problem or Problem(task.name, f"its attribute '{name}'", detail)
    return check


def _require_layout(file: h5py.File, path: Path, settings: Settings, task: ShardTask, pictures: int) -> None:
    """Raises FormError if a shard lacks something, or holds what does not belong there."""
    with open(path, "rb") as raw:
        head = raw.read(_END.stop)
    end = int.from_bytes(head[_END], "little")
    if not head.startswith(_SIGNATURE) or any(head[_BASE]) or end != path.stat().st_size:
        raise FormError("bytes that do not belong there stand before or after its data")
    links: dict[str, object] = {}
    file.visititems_links(links.__setitem__)
    arrays, named = layout(settings), attributes(task, {}, {})
    for name in links:
        if name not in arrays and not any(array.startswith(f"{name}/") for array in arrays):
            raise FormError(f"it holds '{name}', which does not belong there")
    for name, (shape, kind) in arrays.items():
        rows = pictures if name in FRAMES else task.count
        open_array(file, name, (rows, *shape), kind)
    for name in ("/", *links):
        for attribute in file[name].attrs:
            if name != "/" or attribute not in named:
                raise FormError(f"'{name}' has an attribute '{attribute}', which does not belong there")
    for attribute in named.keys() - file.attrs.keys():
        raise FormError(f"it lacks the attribute '{attribute}'")


def _check_rows(shard: Shard, piece: ShardPiece, expected: Expected, progress: Report) -> ShardCheck:
    """Compare all columns, and some pictures. Raises FormError for rows that no settings make."""
    task, drawn = piece.task, piece.drawn
    settings, check, difference = expected.settings, ShardCheck(), _Difference(task)
    sizes = summaries.lengths(names(settings))
    source = source_of(settings)
    named = [name for name in layout(settings) if name not in FRAMES]
    tried: list[Tried] = []
    counted: list[Summary] = []
    first, last, block = 0, 0, dict[str, np.ndarray]()
    for begin, end in batches(settings, task.count):
        index = np.arange(task.start + begin, task.start + end)
        if end > last:
            first, last = begin, max(end, begin + _BLOCK)
            block = {name: shard.read(name, slice(first, last)) for name in named}
        stored = {name: column[begin - first : end - first] for name, column in block.items()}
        for sentence, wrong in source.problems(stored, task.split, expected.quick):
            _refuse(index, sentence, wrong)
        examples = implied(stored, index, settings) if expected.quick else source.draw(task.split, index)
        for sentence, wrong in source.faults(examples, task.split):
            _refuse(index, sentence, wrong)
        wanted = source.columns(examples, index)
        difference.add(index, stored, wanted)
        tried.append(source.tried(examples))
        counted.append(summaries.count(wanted, sizes))
        if expected.renderer is not None:
            most = settings.at_once(512)
            of_batch = drawn[(drawn >= begin) & (drawn < end)]
            pairs = pair_rows(end - begin if settings.twins else 0, settings.questions_per_picture) + begin
            for rows in np.split(of_batch, range(most, len(of_batch), most)):
                if len(rows):
                    scenes = source.shown(examples, rows - begin)
                    _check_pictures(shard, expected, rows, scenes, difference, twins=pairs.tolist())
                    if settings.sequence:
                        _check_shared(shard, task, rows, stored["shared"][rows - begin])
            check.drawn += len(of_batch)
        progress(end - begin)
    if difference.others == task.count:
        reason = ": they are of another seed, place or version of simtown"
        raise FormError("none of its examples is what these settings make", reason)
    check.problem = difference.problem()
    check.summary = summaries.total(counted, sizes)
    check.tried = None if expected.quick else add_tried(tried)
    return check


def _check_pictures(
    shard: Shard,
    expected: Expected,
    rows: np.ndarray,
    scenes: SceneBatch,
    difference: _Difference,
    *,
    twins: Iterable[Sequence[int]],
) -> None:
    """Draw the pictures of some rows of a shard again. Raises FormError if twins show one picture.

    `twins` are the pairs of rows that are twins, if the data set has any.
    """
    assert expected.renderer is not None
    settings = expected.settings
    arrays = [name for name in FRAMES if name in shard.arrays]
    frames = expected.renderer.render(scenes, settings.width, settings.height, geometry=len(arrays) > 1)
    stored = {name: shard.read(name, rows) for name in arrays}
    drawn = {name: getattr(frames, FRAMES[name]).reshape(stored[name].shape) for name in arrays}
    index = difference.task.start + rows
    difference.add(index, stored, drawn)
    if not settings.twins:
        return
    place = {row: number for number, row in enumerate(rows.tolist())}
    both = [(place[a], place[b]) for a, b in twins if a in place and b in place]
    equal = [np.array_equal(stored["images"][a], stored["images"][b]) for a, b in both]
    first = index[np.array([a for a, _ in both], dtype=np.int64)]
    _refuse(first, "twins show one picture", np.array(equal, dtype=bool))


def _check_shared(shard: Shard, task: ShardTask, rows: np.ndarray, shared: np.ndarray) -> None:
    """Compare the pictures of some rows of sequences with their partners': one is shared, or the pair is
    reversed. Raises FormError.
    """
    own, partners = shard.read("images", rows), shard.read("images", rows ^ 1)
    back = shared == REVERSED
    wrong = (own != partners[:, ::-1]).reshape(len(rows), -1).any(axis=1)
    _refuse(task.start + rows, "a reversed pair does not show the same pictures", wrong & back)
    at = np.where(back, 0, shared)
    differs = (own[np.arange(len(rows)), at] != partners[np.arange(len(rows)), at]).reshape(len(rows), -1)
    _refuse(task.start + rows, "a pair shares no picture", differs.any(axis=1) & ~back)


def implied(stored: Columns, index: np.ndarray, settings: Settings) -> Any:
    """The examples that belong to stored scenes and their questions; measures that are rounded as stored.

    Raises FormError for what no settings make: unknown kinds, vehicles that overlap or that are hidden.
    """
    scene, source = SceneBatch.of_columns(stored), source_of(settings)
    absent = ~plausible(scene) | ~np.isin(scene.entity, [*settings.kinds, -1]).all(axis=1)
    absent |= source.unknown_numbers(stored)
    _refuse(index, "a number stands for something that does not exist", absent)
    filled = (scene.pose != 0).any(axis=2) | (scene.paint != -1)
    _refuse(index, "an empty slot holds numbers", ((scene.entity < 0) & filled).any(axis=1))
    if settings.sequence:
        return source.implied(stored, stored["visible"])
    if not settings.hand_made:  # a town keeps no gap between vehicles
        _refuse(index, "vehicles overlap", ~apart(scene.entity.astype(np.int64), scene.pose))
    visible = visibility(scene.entity, scene.pose, scene.camera)
    least = np.finfo(np.float32).tiny if settings.hand_made else LEAST_VISIBLE
    _refuse(index, "a vehicle is hidden", ((visible < least) & (scene.entity >= 0)).any(axis=1))
    return source.implied(stored, as_stored(stored["visible"], visible))


def _refuse(index: np.ndarray, sentence: str, wrong: Any) -> None:
    """Raises FormError, which names the first of the `wrong` examples."""
    if wrong.any():
        more = f" and {wrong.sum() - 1:,} more" if wrong.sum() > 1 else ""
        raise FormError(sentence, f" (example {index[wrong][0]}{more})")


class _Difference:
    """Differences of a shard's rows from those that should be there; `others` are other examples
    altogether.
    """

    def __init__(self, task: ShardTask) -> None:
        self.task, self.others = task, 0
        self._wrong = np.zeros(task.count, dtype=bool)
        self._first = ("", "")

    def add(self, numbers: np.ndarray, stored: Columns, wanted: Columns) -> None:
        """Compare columns or pictures of the examples with these numbers."""
        differs = {name: _differing(stored[name], wanted[name]) for name in wanted}
        if differs.keys() >= set(_OWN):
            self.others += int(np.all([differs[name] for name in _OWN], axis=0).sum())
        wrong = np.any(list(differs.values()), axis=0)
        if wrong.any() and not self._wrong.any():
            i = int(wrong.argmax())
            name = next(name for name, column in differs.items() if column[i])
            values = "is not the one that is drawn again"
            if name not in FRAMES:
                own, other = _unlike(name, stored[name][i], wanted[name][i])
                values = f"is {own}, these settings make {other}"
            self._first = f"wrong {name}", f" of example {numbers[i]}: it {values}"
        self._wrong[numbers - self.task.start] |= wrong

    def problem(self) -> Problem | None:
        """The first difference, with the number of examples that differ."""
        count = int(self._wrong.sum())
        if not count:
            return None
        kind, detail = self._first
        more = f"; {count - 1:,} more examples differ" if count > 1 else ""
        return Problem(self.task.name, kind, detail + more)


def _differing(stored: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(n,) bool, which rows of two arrays differ in a byte."""
    if stored is wanted:  # the scenes of the quick check
        return np.zeros(len(stored), dtype=bool)
    values = [np.ascontiguousarray(array, dtype=stored.dtype) for array in (stored, wanted)]
    left, right = (array.view(np.uint8).reshape(len(stored), -1) for array in values)
    return np.asarray((left != right).any(axis=1))


def _unlike(name: str, stored: np.ndarray, wanted: np.ndarray) -> list[str]:
    """The first two values of a row of a column that differ, by their names if they have any."""
    flat = [np.atleast_1d(row).reshape(-1).astype(stored.dtype) for row in (stored, wanted)]
    place = int(_differing(*flat).argmax())
    named = _NAMES.get(name, ())
    pair = [values[place].item() for values in flat]
    return [named[value] if named and 0 <= value < len(named) else repr(value) for value in pair]


def brief(value: Any) -> str:
    """A value of which a message shows the beginning."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
