"""One shard: consecutive examples of a split in one HDF5 file (docs/data-format.md).

Each image is a chunk of its own and compressed alone, so that it is read without its neighbours. A shard is
written under a temporary name, and renamed when it is whole.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import FileIO
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import cramjam
import h5py
import numpy as np

from simtown.core.files import replacing
from simtown.core.stopping import delayed
from simtown.core.untrusted import open_regular
from simtown.datasets.making import summaries
from simtown.datasets.making.summaries import Summary
from simtown.datasets.names import names
from simtown.datasets.question_source import Tried
from simtown.datasets.settings import SCHEMA, Settings
from simtown.datasets.source import source_of
from simtown.language.meaning import programs
from simtown.language.words.questions import LENGTH
from simtown.render.frames import Renderer
from simtown.scenes.street import SLOTS

if TYPE_CHECKING:
    from simtown.language.asking.question import Questions

#: Stages that are timed apart: sampling examples, wording their questions, drawing, encoding and writing.
STAGES = ("sample", "question", "render", "encode", "write")
#: A file with an array of HDF5's registered filter LZ4, by its number and name. The filter's plug-in is not
#: needed, since chunks are packed here. HDF5 writes the name where it is loaded, or of a file.
_TEMPLATE = zlib.decompress(base64.b85decode(
    'c-rgqaB<`1lHy|K;9!7(|4^`>5yCfsipN|0`{M8662!z%!6byN5C*uI7=T*Xco={bW65Tic^(W@15v!QXMvpnw182Bfq'
    '{t;2%vH>nwf`zQ2@^8U|<EhikX|cf`O5Vk)<{Z<TeJNuT2$ls!SBpGIL5&i>wujQ&SZ(N=gcft@QQNGfOf`lk}4FbM=A'
    'h+>7!{3-mKm(oEwEa!S)P^NRJ8a`Kb(a}$e!I`vcXlZ*9(Qqwa*ywnsouz3Lxg?hOu5I4v$Ft9K&Av+c&pc#zF35y?vp'
    '|1f}XjVG'
))  # fmt: skip
#: Shards in a folder, if a split has more than this.
FOLDER = 1_000
#: Least bytes of an example in a shard: with pictures of 32 x 32 pixels it has some 500.
LEAST_BYTES = 100
#: Rows in a chunk of every array that holds no pictures.
ROWS = 512


@dataclass(frozen=True)
class ShardTask:
    """The examples of a shard: its number in the split, the first of them, and how many shards there are."""

    split: str
    number: int
    start: int
    count: int
    shards: int = 1

    @property
    def name(self) -> str:
        """Its file: train-00012.h5, or train/00012/train-12345.h5 if the split has many shards."""
        folder = f"{self.split}/{self.number // FOLDER:05d}/" if self.shards > FOLDER else ""
        return f"{folder}{self.split}-{self.number:05d}.h5"


def tasks(settings: Settings) -> list[ShardTask]:
    """All shards of a data set, in order."""
    size = settings.shard_size
    return [
        ShardTask(split, number, number * size, min(size, count - number * size), -(-count // size))
        for split, count in settings.counts().items()
        for number in range(-(-count // size))
    ]


@dataclass
class Clock:
    """Counts the seconds of each stage."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = perf_counter()
        yield
        self.seconds[name] += perf_counter() - start


#: Arrays of a shard of n examples, v vehicle slots and p prop slots: their dtype, and their shape without n.
#: A question has t tokens.
LAYOUT: dict[str, str] = {
    "images": "u1 h w 3",
    "masks": "u1 h w",
    "depth": "<f4 h w",
    "index": "<i8",
    "question": "S96",
    "tokens": "u1 t",
    "answer": "?",
    "subject": "<i2",
    "relation": "u1",
    "object": "<i2",
    "subject_slot": "u1",
    "object_slot": "u1",
    "phrasing": "u1",
    "margin": "<f4",
    "boxes": "<f4 v 4",
    "visible": "<f4 v",
    "scene/entity": "<i2 v",
    "scene/pose": "<f4 v 3",
    "scene/paint": "i1 v",
    "scene/prop": "<i2 p",
    "scene/prop_pose": "<f4 p 5",
    "scene/prop_style": "<u2 p",
    "scene/weather": "u1",
    "scene/intensity": "<f4",
    "scene/sun": "<f4 2",
    "scene/fall_seed": "<u4",
    "scene/camera": "<f4 7",
}
#: The large arrays, which have a chunk for each example, and the frames that they hold.
PICTURES = ("images", "masks", "depth")
FRAMES = {"images": "rgb", "masks": "ids", "depth": "depth"}


def layout(settings: Settings) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Arrays of every shard of a data set by name: the shape without the example axis, and the dtype."""
    sizes = {"h": settings.height, "w": settings.width, "v": settings.vehicles, "k": settings.shots}
    stored = {"masks": settings.masks, "depth": settings.depth}
    forms = array_forms(source_of(settings).arrays, sizes)
    return {name: form for name, form in forms.items() if stored.get(name, True)}


def array_forms(
    own: dict[str, str], sizes: Mapping[str, int]
) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """The shapes of all arrays without the example axis, and their dtypes.

    Args:
        own: the `arrays` of a :class:`~simtown.datasets.question_source.QuestionSource`.
        sizes: the numbers that letters of LAYOUT stand for.
    """
    sizes = {"p": SLOTS, "t": LENGTH, "m": programs.LENGTH, **sizes}
    forms = {}
    for name, form in (LAYOUT | own).items():
        kind, *shape = form.split()
        forms[name] = tuple(int(sizes.get(n, n)) for n in shape), np.dtype(kind)
    return forms


class _Target(FileIO):
    """A file to which every write seems to succeed; :meth:`check` raises the error.

    HDF5 crashes when it closes a file on a full disk, so it must not know of the error. It also calls from
    places where a KeyboardInterrupt would be lost.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+")
        self._error: BaseException | None = None

    def write(self, data: Any) -> int:
        view, done = memoryview(data).cast("B"), 0
        try:
            while done < len(view) and self._error is None:
                done += super().write(view[done:])
        except (OSError, KeyboardInterrupt) as error:
            self._error = error
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except (OSError, KeyboardInterrupt) as error:
            self._error = error
            return size or 0

    def check(self) -> None:
        """Raises the first error of a write so far."""
        if self._error is not None:
            raise self._error


def write_shard(
    directory: Path,
    settings: Settings,
    task: ShardTask,
    renderer: Renderer,
    clock: Clock,
    *,
    progress: Callable[[int], object] = lambda examples: None,
    given: Callable[[np.ndarray], Questions] | None = None,
) -> None:
    """Sample, draw and write one shard, or write the examples of the numbers that `given` takes.

    Signals wait while HDF5 writes, since a signal in between could leave a file that looks whole.
    `progress` is called with the number of examples of every batch.

    Raises OSError if the shard cannot be written; no file is left.
    """
    source, sizes = source_of(settings), summaries.lengths(names(settings))
    forms = {name: form for name, form in layout(settings).items() if name in PICTURES}
    each, size = settings.questions_per_picture, (settings.width, settings.height)
    parts: list[dict[str, np.ndarray]] = []
    pictures: dict[str, Any] = {}
    tried: Tried = {}
    written = 0
    with replacing(directory / task.name) as temporary, _Target(temporary) as target:
        with _open_for_writing(target, clock) as file:
            with delayed():
                for name, (shape, kind) in forms.items():
                    # a pair of examples has one sequence or two
                    longest = (None, *shape) if settings.sequence else None
                    whole = (task.count * settings.shots // each, *shape)
                    pictures[name] = _create(file, name, whole, kind, (1, *shape), longest)
            for begin, end in batches(settings, task.count):
                index = np.arange(task.start + begin, task.start + end)
                with clock.stage("sample"):
                    examples = given(index) if given else source.draw(task.split, index)
                with clock.stage("question"):
                    parts.append(source.columns(examples, index))
                scenes, most = source.pictures(examples), settings.at_once(512)
                drawn = np.arange(len(scenes))
                if settings.twins and each == 1:  # a second question is about the pictures of the first
                    drawn -= 2 * (parts[-1]["group"] < index // 2)
                for first in range(0, len(scenes), most):
                    with clock.stage("render"):
                        some = slice(first, first + most)
                        rows, places = np.unique(drawn[some], return_inverse=True)
                        frames = renderer.render(scenes[rows], *size, geometry=len(pictures) > 1)
                    with clock.stage("encode"), delayed():
                        at = written + first
                        for name, array in pictures.items():
                            frame = getattr(frames, FRAMES[name])
                            shown = frame[places] if settings.twins else frame
                            for row, picture in enumerate(shown, at):
                                array.id.write_direct_chunk((row, *[0] * picture.ndim), _pack(picture))
                written += len(scenes)
                tried = add_tried([tried, source.tried(examples)])
                target.check()
                progress(end - begin)
            with clock.stage("encode"), delayed():
                _cut(pictures if settings.sequence else {}, written)
                for name in parts[0]:
                    rows = np.concatenate([part[name] for part in parts])
                    _write_column(file, name, rows)
                summary = summaries.total((summaries.count(part, sizes) for part in parts), sizes)
                file.attrs.update(attributes(task, tried, summary))
                del array
                pictures.clear()  # HDF5 writes what it has kept of them
        target.check()
        with clock.stage("write"):
            os.fsync(target.fileno())


@cache
def _packed() -> h5py.h5p.PropDCID:
    """How arrays are created that LZ4 packs."""
    with h5py.File(io.BytesIO(_TEMPLATE)) as file:
        return file["t"].id.get_create_plist()


def _create(
    file: h5py.File,
    name: str,
    shape: tuple[int, ...],
    kind: Any,
    chunks: tuple[int, ...],
    longest: tuple[int | None, ...] | None = None,
) -> h5py.Dataset:
    """A new array, whose chunks are written as :func:`_pack` packs them."""
    form = _packed().copy()
    return file.create_dataset(name, shape, kind, chunks=chunks, maxshape=longest, dcpl=form)


def _write_column(file: h5py.File, name: str, rows: np.ndarray) -> None:
    """Write an array that holds no pictures, in chunks of as many rows; the last one ends with zeros."""
    each = min(len(rows), ROWS)
    array = _create(file, name, rows.shape, rows.dtype, (each, *rows.shape[1:]))
    for start in range(0, len(rows), each):
        chunk = np.zeros((each, *rows.shape[1:]), rows.dtype)
        own = rows[start : start + each]
        chunk[: len(own)] = own
        array.id.write_direct_chunk((start, *[0] * (rows.ndim - 1)), _pack(chunk))


def _pack(array: np.ndarray) -> bytes:
    """A chunk of the LZ4 filter: how many bytes it has, those of the only block, and the block packed."""
    raw = array.tobytes()
    packed = bytes(cramjam.lz4.compress_block(raw, store_size=False))
    block = packed if len(packed) < len(raw) else raw
    return struct.pack(">QII", len(raw), len(raw), len(block)) + block


def _cut(pictures: dict[str, Any], rows: int) -> None:
    """Give arrays of pictures so many rows."""
    for array in pictures.values():
        array.resize(rows, axis=0)


@contextmanager
def _open_for_writing(target: _Target, clock: Clock) -> Iterator[h5py.File]:
    """A new HDF5 file, closed in any case."""
    with delayed():
        file = h5py.File(target, "w", libver="v110")
    try:
        yield file
    finally:
        with clock.stage("write"), delayed():
            file.close()


def attributes(task: ShardTask, tried: Tried, summary: Summary) -> dict[str, int | str]:
    """The attributes of a shard's file."""
    counts = {"tried": json.dumps(tried, sort_keys=True), "summary": json.dumps(summary, sort_keys=True)}
    return {"schema": SCHEMA, "split": task.split, "start": task.start, "count": task.count, **counts}


def batches(settings: Settings, count: int) -> Iterator[tuple[int, int]]:
    """(begin, end) of the rows of each batch of a shard: they are sampled at once."""
    size = source_of(settings).batch
    return ((begin, min(begin + size, count)) for begin in range(0, count, size))


def add_tried(parts: Iterable[Tried]) -> Tried:
    """The sums of (proposed, accepted) counts of rejection loops, by name."""
    total: Tried = {}
    for part in parts:
        for loop, (proposed, accepted) in part.items():
            before = total.get(loop, (0, 0))
            total[loop] = (before[0] + proposed, before[1] + accepted)
    return total


def checksum(path: Path) -> str:
    """SHA-256 of a regular file, in hexadecimal. Raises RefusedError or OSError."""
    with open_regular(path, follow=False) as file:
        return hashlib.file_digest(cast(FileIO, file), "sha256").hexdigest()
