"""Reading a data set: random access to examples and columns, and a view for PyTorch's DataLoader."""

import re
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from hashlib import sha256
from io import FileIO
from operator import index
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.core.files import DamagedError
from simtown.core.notebook import OBJECT, SUBJECT, as_html, figure, marked
from simtown.core.pool import require_shared
from simtown.datasets.addresses import name_of, url_of
from simtown.datasets.making import summaries
from simtown.datasets.making.manifests import SEAL
from simtown.datasets.making.shards import PICTURES, layout, tasks
from simtown.datasets.reading.remote import AHEAD, DirectoryStore, Remote, ShardCache, store_of
from simtown.datasets.reading.shard_file import Arrays, FormError, PackedRows, Shard, reading
from simtown.datasets.reading.torch_view import TorchView
from simtown.datasets.resolved_settings import settings_from
from simtown.datasets.settings import SPLITS
from simtown.language.meaning.programs import decode
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.scenes.scene import Scene, SceneBatch, plausible
from simtown.scenes.sequence import seconds_shown, stored_pictures

#: The columns that hold a latent scene.
SCENE_COLUMNS: tuple[str, ...] = tuple(f"scene/{f.name}" for f in fields(SceneBatch))
_FIRST = np.zeros(1, dtype=np.int64)
#: Most files of a split that HDF5 has open, and most that pictures are read from: there are three splits, and
#: macOS allows 256 open files.
_OPEN = 16
#: Bytes of memory for the places of pictures (16 a picture), and for columns that are read row by row.
_PLACES, _TABLES = 1 << 27, 1 << 28


Key = TypeVar("Key")
Value = TypeVar("Value")


class LRUCache(Generic[Key, Value]):
    """Values by key, made on demand. It keeps the values used last, up to a limit.

    That is a limit of their number, or of their `nbytes` if `in_bytes`; a larger value is kept alone. A copy
    in another process is empty at first. Threads may share a cache.
    """

    def __init__(self, limit: int, in_bytes: bool = False) -> None:
        self._limit, self._in_bytes, self._weight = limit, in_bytes, 0
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> Any:
        return LRUCache, (self._limit, self._in_bytes)

    def _weigh(self, value: Any) -> int:
        return int(value.nbytes) if self._in_bytes else 1

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key; `make` makes it if the cache does not have it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._weight += self._weigh(value)
            while self._weight > self._limit and len(self._values) > 1:
                self._weight -= self._weigh(self._values.popitem(last=False)[1])
        return value

    def drop(self, key: Key) -> None:
        """Forget the value of a key, if there is one."""
        with self._lock:
            if key in self._values:
                self._weight -= self._weigh(self._values.pop(key))


# not compared by value: arrays have no single truth
@dataclass(frozen=True, eq=False)
class Example:
    """One example, by name.

    Attributes:
        image: (h, w, 3) uint8; of a sequence (P, h, w, 3), and so are `mask`, `depth`, `boxes` and `visible`.
        question: text.
        tokens: (16,) uint8.
        answer: the truth; False for questions whose answer is not yes or no.
        subject: its name; "" in questions of families, and so are `relation` and `object`.
        relation: its name.
        object: its name.
        subject_slot: row of `boxes` of the subject.
        object_slot: row of `boxes` of the object.
        boxes: (v, 4) float32 x0, y0, x1, y1 in pixels.
        visible: (v,) float32 shares.
        margin: metres by which the relation holds; negative if it does not.
        scene: the complete latent state.
        mask: (h, w) uint8 instance ids, or None.
        depth: (h, w) float32 metres, or None.
        vehicle_ids: the number in `mask` of each of `scene.vehicles`.
        prop_ids: the number in `mask` of each of `scene.props`; numbers of empty slots are left out.
        reply: the answer as text: "yes", "3", "taxi", "4 m".
        family: of the question, "paper" for the paper's.
        program: the question's program as text, "" for the paper's.
        number: metres of a distance, else None.
        tolerance: metres within which a distance is right, else None.
        scenes: of a sequence the scenes of its pictures, in the order in which they are shown; `scene` is
            that of the anchor moment.
        seconds: of a sequence those of its pictures, from the first one that is shown.
        find_twin: finds the example with the same question about the twin picture; None without twins.
    """

    image: np.ndarray
    question: str
    tokens: np.ndarray
    answer: bool
    subject: str
    relation: str
    object: str
    subject_slot: int
    object_slot: int
    boxes: np.ndarray
    visible: np.ndarray
    margin: float
    scene: Scene
    mask: np.ndarray | None
    depth: np.ndarray | None
    vehicle_ids: list[int]
    prop_ids: list[int]
    reply: str
    family: str
    program: str
    number: float | None
    tolerance: float | None
    scenes: tuple[Scene, ...] = ()
    seconds: tuple[float, ...] = ()
    find_twin: Callable[[], "Example"] | None = field(default=None, repr=False)

    @property
    def twin(self) -> "Example | None":
        """The example that asks the same question of the twin picture, with another answer; None without
        twins.
        """
        return self.find_twin() if self.find_twin else None

    def __repr__(self) -> str:
        height, width, _ = self.image.shape[-3:]
        by = f", by {abs(self.margin):.2f} m" if self.margin == self.margin else ""
        return f"<Example: {self.question} {self.reply}{by}; {width}x{height}, {self.scene.weather.kind}>"

    def _repr_html_(self, width: int = 384) -> str:
        if not self.subject:
            words = f"{as_html(self.question)} <b>{as_html(self.reply)}</b> <i>({as_html(self.family)})</i>"
            return figure(self.image, words, width, [])
        colours = {self.subject: SUBJECT, self.object: OBJECT}
        names = "|".join(re.escape(name) for name in sorted(colours, key=len, reverse=True))
        question = re.sub(names, lambda name: marked(name[0], colours[name[0]]), as_html(self.question))
        answer = f"<b>{self.reply}</b>, by {abs(self.margin):.2f} m"
        boxes = [(self.boxes[self.subject_slot], SUBJECT), (self.boxes[self.object_slot], OBJECT)]
        return figure(self.image, f"{question} {answer}", width, boxes)


class Split(Sequence[Example]):
    """Examples of one split: ``split[i]``, ``len(split)``, columns, batches of images, and :meth:`torch`.

    Whatever reads a shard raises DamagedError if it cannot be read. Rows are given as numbers of examples, in
    any order, or as a bool for each example of the split.

    Attributes:
        columns: names of all columns.
        names: what numbers in columns stand for (:func:`simtown.datasets.names.names`).
        shots: pictures of an example: more than 1 of sequences.
    """

    def __init__(
        self,
        paths: list[Path],
        counts: list[int],
        arrays: Arrays,
        cache: ShardCache | None = None,
        names: Mapping[str, list[str]] | None = None,
        each: int = 1,
    ) -> None:
        self.columns, self.names = tuple(name for name in arrays if name not in PICTURES), names or {}
        self._paths, self._cache, self._arrays, self._each = paths, cache, arrays, each
        self.shots = arrays["order"][0][0] if "order" in arrays else 1
        self._starts = np.cumsum([0, *counts], dtype=np.int64)
        # A file that is dropped is closed when its last reader has finished.
        self._files: LRUCache[int, Shard] = LRUCache(_OPEN)
        self._handles: LRUCache[int, FileIO] = LRUCache(_OPEN)
        self._places: LRUCache[tuple[int, str], PackedRows] = LRUCache(_PLACES, in_bytes=True)
        self._shown: LRUCache[int, Any] = LRUCache(_PLACES, in_bytes=True)
        self._tables: LRUCache[tuple[int, tuple[str, ...]], np.ndarray] = LRUCache(_TABLES, in_bytes=True)
        self._columns: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def clusters(self) -> np.ndarray:
        """(n,) int64, equal for examples about one picture, those of a group, or a pair of sequences."""
        each = 2 if self.shots > 1 else self._each
        return self.column("group") if "group" in self.columns else np.arange(len(self)) // each

    def __repr__(self) -> str:
        height, width, _ = self.form("images")[0][-3:]
        several = f"{self.shots} pictures of " if self.shots > 1 else ""
        return f"<Split: {len(self):,} examples, {several}{width}x{height}>"

    def _repr_html_(self) -> str:
        figures = "".join(example._repr_html_(width=208) for example in self[:8])
        return f"<p>{len(self):,} examples; the first:</p>{figures}"

    # Shards

    def _number(self, rows: Any) -> Any:
        """The shards of some rows, by number."""
        return np.searchsorted(self._starts, rows, side="right") - 1

    def _row_numbers(self, rows: Any) -> np.ndarray:
        """(k,) int64 numbers of examples. Raises IndexError if there is no such example."""
        numbers = np.asarray(rows)
        if numbers.dtype == bool:
            numbers = np.arange(len(self))[numbers]
        numbers = numbers.astype(np.int64, casting="same_kind" if numbers.size else "unsafe")
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(self):
            wrong = numbers.min() if numbers.min() < 0 else numbers.max()
            raise IndexError(f"there is no example {wrong}: the split holds {len(self)}, numbered from 0")
        return numbers

    def _by_shard(self, rows: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Group examples by shard: its number, their places in `rows`, and their rows in the shard."""
        numbers = self._number(rows)
        order = np.argsort(numbers, kind="stable")
        for places in np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(rows) else ():
            number = int(numbers[places[0]])
            yield number, places, rows[places] - self._starts[number]

    def _open(self, number: int, opener: Callable[[Path], Any]) -> Any:
        """Open a shard's file, which is fetched first if it is behind a URL."""
        path = self._paths[number]
        while self._cache is not None:
            self._cache.fetch(path)
            with suppress(FileNotFoundError):  # another process removed it in between, to make room
                return opener(path)
        return opener(path)

    def _file(self, number: int) -> Shard:
        count = int(self._starts[number + 1] - self._starts[number])
        opener = partial(Shard, arrays=self._arrays, count=count, each=self._each)
        return self._files.get(number, lambda: self._open(number, opener))

    def _reading(self, number: int) -> AbstractContextManager[None]:
        return reading(self._paths[number], "run simtown verify on its data set")

    def _read(self, number: int, name: str, rows: slice) -> np.ndarray:
        with self._reading(number):
            column = self._file(number).read(name, rows)
            self._require_known(name, column)
        return column

    def _require_known(self, name: str, column: np.ndarray) -> None:
        """Raises ValueError if a number of a column stands for no name, or its text is not UTF-8."""
        tables: dict[str, Sequence[Any]]
        if self.families:
            tables = {key: self.names[table] for key, table in (("value", "answers"), ("family", "families"))}
        else:
            tables = {"relation": RELATION_NAMES, "subject": ENTITIES, "object": ENTITIES}
            tables |= dict.fromkeys(("subject_slot", "object_slot"), range(self._arrays["boxes"][0][0]))
        if name in tables and not ((column >= 0) & (column < len(tables[name]))).all():
            raise FormError(f"the array '{name}' has numbers that stand for nothing")
        if name == "question":
            b"\n".join(column.tolist()).decode()

    def _read_pictures(
        self, number: int, name: str, rows: np.ndarray, out: np.ndarray, places: np.ndarray
    ) -> None:
        """Read pictures of a shard into places of `out`."""
        with self._reading(number):
            rows = rows // self._each
            if self.shots > 1:
                shown = self._shown.get(number, lambda: self._file(number).shown)
                rows, out = shown[rows].reshape(-1), out.reshape(-1, *out.shape[2:])
                places = (places[:, None] * self.shots + np.arange(self.shots)).reshape(-1)
            packed = self._places.get((number, name), lambda: self._file(number).places(name))
            file = self._handles.get(number, lambda: self._open(number, FileIO))
            packed.read(file.fileno(), rows, out, places)

    def _table(self, number: int, names: tuple[str, ...]) -> np.ndarray:
        """Columns of a shard side by side, so that a row is one piece of memory."""

        def make() -> np.ndarray:
            parts = {name: self._read(number, name, slice(None)) for name in names}
            table = np.empty(self._starts[number + 1] - self._starts[number], dtype=self._row_type(names))
            for name, part in parts.items():
                table[name] = part
            return table

        return self._tables.get((number, names), make)

    def _row_type(self, names: Iterable[str]) -> np.dtype[Any]:
        return np.dtype([(name, self._arrays[name][1], self._arrays[name][0]) for name in names])

    def address(self, i: int) -> tuple[Path, int]:
        """The file of example i (from 0 on), and its row there; a remote file is fetched."""
        number = int(self._number(i))
        if self._cache:
            self._cache.fetch(self._paths[number])
        return self._paths[number], i - int(self._starts[number])

    def shards(self, begin: int, end: int) -> list[Path]:
        """The files of the shards whose first row is one of `begin` to `end` - 1; remote ones are fetched."""
        return [self.address(row)[0] for row in self._starts[:-1].tolist() if begin <= row < end]

    def fetch_ahead(self, rows: np.ndarray) -> None:
        """Fetch the shards of some rows in the background, in their order, if they are behind a URL."""
        if self._cache:
            numbers = dict.fromkeys(self._number(rows).tolist())
            self._cache.fetch_ahead([self._paths[number] for number in numbers])

    # Columns

    def column(self, name: str) -> np.ndarray:
        """A whole column such as "answer", "tokens" or "scene/pose", the example first; kept in memory.

        It is read-only: the next call gives the same array. Raises KeyError if there is no such column.
        """
        self._require_columns([name])
        if name not in self._columns:
            parts = [self._read(number, name, slice(None)) for number in range(len(self._paths))]
            column = np.concatenate(parts) if parts else np.zeros(0)
            column.setflags(write=False)
            self._columns[name] = column
        return self._columns[name]

    def _require_columns(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.columns:
                raise KeyError(f"there is no column '{name}': one of {', '.join(self.columns)}")

    def rows(self, names: Sequence[str], rows: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
        """Some rows of some columns, the example first. Memory does not grow with the split.

        Raises IndexError if there is no such example, KeyError if there is no such column.
        """
        self._require_columns(names)
        rows = self._row_numbers(rows)
        out = np.empty(len(rows), dtype=self._row_type(names))
        for number, places, own in self._by_shard(rows):
            _bytes_of(out)[places] = _bytes_of(self._table(number, tuple(names)))[own]
        return {name: np.ascontiguousarray(out[name]) for name in names}

    def stream(
        self, names: Sequence[str], size: int, begin: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Rows in order, a block at a time. Blocks are read on demand and not kept in memory.

        While a shard of a data set behind a URL is read, the next ones are fetched.

        Args:
            names: columns or pictures.
            size: most rows of a block.
            begin: the first row.
            end: the row after the last one; None reads to the end of the split.

        Yields:
            The number of the first row of a block, and the columns or pictures of the block by name.
        """
        end = len(self) if end is None else min(end, len(self))
        for number in range(self._number(begin), self._number(end - 1) + 1) if begin < end else ():
            if self._cache:
                self._cache.fetch_ahead(self._paths[number + 1 : number + 1 + AHEAD])
            start, after = self._starts[number : number + 2].tolist()
            last = min(end, after) - start
            for first in range(max(begin - start, 0), last, size):
                rows = slice(first, min(first + size, last))
                yield start + first, {name: self._read(number, name, rows) for name in names}
            self._files.drop(number)

    def digests(
        self, sizes: Iterable[int], progress: Callable[[int], object] = lambda examples: None
    ) -> dict[int, str]:
        """A digest that identifies the first n examples, for every n of `sizes`: SHA-256 in hexadecimal.

        It does not depend on the shards of the examples, nor on the examples that follow. Every column is
        hashed alone, then all hashes together. Masks and depth are left out, since the same examples may be
        stored without them. The split is read once, and `progress` counts the examples.

        Raises IndexError if the split has fewer examples.
        """
        ends = sorted(set(sizes))
        if ends and not 0 <= ends[0] <= ends[-1] <= len(self):
            raise IndexError(f"the first {ends} examples of a split of {len(self)}")
        hashes = {name: sha256() for name in (*self.columns, "images")}
        result, begin = {}, 0
        for end in ends:
            for names, size in ((self.columns, 4096), (("images",), 32)):
                for _, block in self.stream(names, size, begin, end):
                    for name in names:
                        hashes[name].update(block[name].tobytes())
                    progress(len(block["images"]) if "images" in block else 0)
            lines = "\n".join(column_hash.hexdigest() for column_hash in hashes.values())
            result[end], begin = sha256(lines.encode()).hexdigest(), end
        return result

    def scenes(self, rows: slice | np.ndarray = slice(None)) -> SceneBatch:
        """Latent scenes of some rows, ready for a renderer."""
        numbers = np.arange(len(self))[rows] if isinstance(rows, slice) else rows
        return self.scenes_of(self.rows(SCENE_COLUMNS, numbers))

    def scenes_of(self, columns: Mapping[str, np.ndarray]) -> SceneBatch:
        """The scenes of some rows of SCENE_COLUMNS.

        Raises DamagedError if a number stands for nothing.
        """
        scenes = SceneBatch.of_columns(columns)
        if not plausible(scenes).all():
            wrong = f"a shard of {self._paths[0].parent} has scenes that stand for nothing in the town"
            raise DamagedError(f"{wrong}: run simtown verify on its data set")
        return scenes

    # Pictures and examples

    def form(self, name: str) -> tuple[tuple[int, ...], Any]:
        """Shape and type of an example's pictures, masks or depth maps: of sequences with P in front.

        Raises DamagedError if they are not stored.
        """
        if name not in self._arrays:
            remedy = f"make it again with simtown generate --{name}"
            raise DamagedError(f"the data set of {self._paths[0]} has no {name}: {remedy}")
        shape, kind = self._arrays[name]
        return ((self.shots, *shape) if self.shots > 1 else shape), kind

    def images(
        self, rows: Sequence[int] | np.ndarray, name: str = "images", out: np.ndarray | None = None
    ) -> np.ndarray:
        """(len(rows), h, w, 3) uint8 pictures; or masks or depth maps, by `name`.

        Of sequences (len(rows), P, h, w, 3), in the order in which they are shown. If `out` is given, they
        are written there.
        """
        shape, kind = self.form(name)
        rows = self._row_numbers(rows)
        if out is None:
            out = np.empty((len(rows), *shape), dtype=kind)
        for number, places, own in self._by_shard(rows):
            self._read_pictures(number, name, own, out, places)
        return out

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        given = index(i)
        i = given + len(self) * (given < 0)
        if not 0 <= i < len(self):
            raise IndexError(f"there is no example {given}: the split holds {len(self)}, numbered from 0")
        number = int(self._number(i))
        own = np.array([i - self._starts[number]])
        columns = self._table(number, self.columns)[own]
        pictures = {}
        for name in self._arrays.keys() & PICTURES:
            pictures[name] = np.empty(*self.form(name))
            self._read_pictures(number, name, own, pictures[name][None], _FIRST)
        with self._reading(number):
            example = example_of(columns[0], pictures, self.scenes_of(columns), self.names)
        twin = self.twin_number(i)
        return example if twin is None else replace(example, find_twin=partial(self.__getitem__, twin))

    def twin_number(self, i: int) -> int | None:
        """The number of the example that asks the question of example i of the twin picture; None without
        twins.
        """
        if "group" not in self.columns:
            return None
        return i - self._each if i // self._each % 2 else i + self._each

    @property
    def families(self) -> bool:
        """Whether its questions are of families."""
        return "family" in self._arrays

    def __iter__(self) -> Iterator[Example]:
        return (self[i] for i in range(len(self)))

    def torch(self, crop: tuple[int, int] | None = None) -> TorchView:
        """A map-style data set for ``torch.utils.data.DataLoader``. PyTorch is imported when a batch is read.

        `crop` (width, height in pixels) cuts each picture out at a random place, and boxes follow. Answers
        stay those of the whole picture.

        For a shuffled order of many millions of examples, or on many machines, use
        :class:`simtown.datasets.reading.shuffled.Shuffled`.
        """
        return TorchView(self, crop)


def example_of(
    row: Any, pictures: Mapping[str, np.ndarray], batch: SceneBatch, names: Mapping[str, list[str]]
) -> Example:
    """The example of a row of columns, its pictures, a batch of its scene alone, and its data set's names."""
    vehicle_ids, prop_ids = batch.ids(0)
    return Example(
        image=pictures["images"],
        question=row["question"].decode(),
        tokens=row["tokens"],
        answer=bool(row["answer"]),
        **asked_of(row, names),
        subject_slot=int(row["subject_slot"]),
        object_slot=int(row["object_slot"]),
        boxes=row["boxes"],
        visible=row["visible"],
        margin=float(row["margin"]),
        scene=batch.scene(0),
        mask=pictures.get("masks"),
        depth=pictures.get("depth"),
        vehicle_ids=vehicle_ids,
        prop_ids=prop_ids,
        **(_sequence_of(row) if pictures["images"].ndim > 3 else {}),
    )


def _sequence_of(row: Any) -> dict[str, Any]:
    """The scenes and seconds of an example of sequences, by the names of :class:`Example`."""
    columns = {name: row[name][None] for name in row.dtype.names if name == "order" or "/" in name}
    shown = stored_pictures(columns)
    return {
        "scenes": tuple(map(shown.scene, range(len(shown)))),
        "seconds": tuple(seconds_shown(row["scene/seconds"], row["order"]).tolist()),
    }


def asked_of(row: Any, names: Mapping[str, list[str]]) -> dict[str, Any]:
    """An example's question and answer, by the names of :class:`Example`, from its columns and its set's
    names.
    """
    if "families" not in names:
        return {
            **{role: ENTITIES[row[role]] for role in ("subject", "object")},
            "relation": RELATION_NAMES[row["relation"]],
            "reply": "yes" if row["answer"] else "no",
            "family": "paper",
            "program": "",
            "number": None,
            "tolerance": None,
        }
    metres = not np.isnan(row["tolerance"])
    return {
        **dict.fromkeys(("subject", "relation", "object"), ""),
        "reply": names["answers"][row["value"]],
        "family": names["families"][row["family"]],
        "program": str(decode(row["program"])),
        **{name: float(row[name]) if metres else None for name in ("number", "tolerance")},
    }


def runs(count: int, most: int) -> list[tuple[int, int]]:
    """All rows of `count` in runs of at most `most`: the first row, and the row after the last one."""
    return [(begin, min(begin + most, count)) for begin in range(0, count, most)]


def _bytes_of(table: np.ndarray) -> np.ndarray:
    """(n, k) uint8: the bytes of each row of a table."""
    return table.view(np.uint8).reshape(len(table), table.dtype.itemsize)


class Dataset:
    """A data set on disk: ``dataset.train``, ``dataset.val``, ``dataset.test``, or ``dataset["train"]``.

    A copy in another process opens it there.

    Attributes:
        path: its directory, or the cache of a remote data set.
        place: its directory or its URL, for messages.
        source: its directory or its URL, with which another process opens it.
        name: the last part of its place.
        manifest: everything its manifest says.
        settings: its settings.
        vocabulary: token texts by id.
        names: what numbers in its columns stand for (:func:`simtown.datasets.names.names`).
    """

    def __init__(self, path: Path, manifest: dict[str, Any], cache: ShardCache | None = None) -> None:
        self.path, self.manifest = path, manifest
        self.place = str(cache.remote if cache else path)
        self.source = cache.remote.url if cache else str(path)
        self.name = name_of(self.place)
        self.settings = settings_from(manifest["settings"])
        self.vocabulary: list[str] = manifest["vocabulary"]
        self.names: dict[str, list[str]] = manifest["names"]
        arrays = layout(self.settings)
        listed = [task for task in tasks(self.settings) if task.name in manifest["shards"]]

        def of_name(split: str) -> Split:
            own = [task for task in listed if task.split == split]
            paths, counts = [path / task.name for task in own], [task.count for task in own]
            return Split(paths, counts, arrays, cache, self.names, self.settings.questions_per_picture)

        self._splits = {split: of_name(split) for split in self.settings.counts()}
        self.train, self.val, self.test = (self._splits[split] for split in SPLITS)

    def __reduce__(self) -> Any:
        return _open_once, (self.source, self.manifest[SEAL])

    def __getitem__(self, split: str) -> Split:
        """A split by name. Raises KeyError if there is no such split."""
        return self._splits[split]

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits: train, val, test, and with a hold-out test-composition."""
        return tuple(self._splits)

    def summary(self, split: str) -> summaries.Summary:
        """Counts of a split (:func:`simtown.datasets.making.summaries.count`)."""
        counts = [self.manifest["summary"][split]] if len(self[split]) else []
        return summaries.total(counts, summaries.lengths(self.names))

    def __repr__(self) -> str:
        sizes, s = ", ".join(f"{len(self[name])} {name}" for name in self.splits), self.settings
        return f"<simtown data set {self.path}: {sizes}, {s.entities} entities, {s.width}x{s.height}>"

    def _repr_html_(self) -> str:
        return f"<p>{as_html(repr(self)[1:-1])}</p>{self.train._repr_html_()}"


def open_dataset(place: str | Path) -> Dataset:
    """Open a data set for reading: a directory, or a URL that fsspec knows, such as s3://bucket/town.

    A shard behind a URL is fetched when it is first read, checked, and kept
    (:class:`simtown.datasets.reading.remote.ShardCache`).

    Raises:
        FileNotFoundError: there is no data set.
        DamagedError: the data set cannot be read, or is unfinished.
        ForeignDirectoryError: the directory holds something else.
        RefusedError: a shard is not a plain file but a link, a directory or a pipe.
        OSError: the URL cannot be read.

    >>> import simtown
    >>> manifest = simtown.generate(simtown.Settings(entities=5, n=8, val=2, test=2), "town")
    >>> dataset = simtown.open_dataset("town")
    >>> example = dataset.train[0]
    >>> example.question, example.answer, example.image.shape
    ('Is a sedan right of a taxi?', False, (128, 128, 3))
    """
    store = store_of(place)
    if isinstance(store, Remote):
        cache = ShardCache(store)
        data = Dataset(cache.path, cache.manifest, cache)
    else:
        data = Dataset(store.path, store.load_manifest())
    if not data.manifest["complete"]:
        raise DamagedError(f"{store} is unfinished: run the same simtown generate again, which continues")
    if isinstance(store, DirectoryStore):
        store.check(data.manifest["shards"])
    return data


@lru_cache(maxsize=1)
def _open_once(source: str, seal: str) -> Dataset:
    """A data set in another process, which keeps it. Raises DamagedError if another one lies there now."""
    if url_of(source) is None:
        require_shared(source)
    data = open_dataset(source)
    if data.manifest[SEAL] != seal:
        other = f"is another data set on {socket.gethostname()}"
        raise DamagedError(f"{data.place} has changed since the command began, or {other}")
    return data
