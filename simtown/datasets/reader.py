"""Reading a data set: random access to examples and columns, and a view that PyTorch's DataLoader takes as it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.datasets import summary as summaries
from simtown.datasets.names import names_of
from simtown.datasets.numbers import Numbers
from simtown.datasets.settings import SCHEMA, SPLITS, Settings
from simtown.datasets.shards import LAYOUT, PICTURES, layout, tasks
from simtown.datasets.stored import Arrays, Shard, read_rows
from simtown.datasets.stores import Directory, Mirror, Remote, name_of, store_of
from simtown.files import DamagedError, RefusedError
from simtown.language.relations import RELATION_NAMES
from simtown.scenes.scene import Scene, SceneBatch, plausible

#: The columns that hold a latent scene.
SCENE_COLUMNS: tuple[str, ...] = tuple(f"scene/{f.name}" for f in fields(SceneBatch))
#: Files of a split that are open at once at most.
_OPEN = 256
_NOTHING = "that stand for nothing in the town: run simtown verify on its data set"
#: Rows that are read at once to count them.
_COUNTED = 4096


@dataclass(frozen=True)
class Example:
    """One example, by name.

    Attributes:
        image: (h, w, 3) uint8.
        question: text.
        tokens: (16,) uint8.
        answer: the truth.
        subject, relation, object: their names.
        boxes: (v, 4) float32 x0, y0, x1, y1 in pixels.
        visible: (v,) float32 shares.
        subject_slot, object_slot: rows of boxes asked about.
        margin: metres.
        scene: the complete latent state.
        mask: (h, w) uint8 instance ids, or None.
        depth: (h, w) float32 metres, or None.
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


class Split(Sequence[Example]):
    """Examples of one split: ``split[i]``, ``len(split)``, whole columns, batches of images, and :meth:`torch`."""

    def __init__(
        self, paths: list[Path], counts: list[int], form: tuple[Arrays, Numbers, int], fetch: Callable[[Path], None] | None = None
    ) -> None:
        self._paths, self._starts, self._fetch = paths, [0], fetch
        self._arrays, self._numbers, self._schema = form
        for count in counts:
            self._starts.append(self._starts[-1] + count)
        self._files: dict[int, Shard] = {}
        self._columns: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return self._starts[-1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_files": {}}  # open files do not travel to worker processes

    def _file(self, number: int) -> Shard:
        if number not in self._files:
            if self._fetch is not None:
                self._fetch(self._paths[number])
            self._files[number] = Shard(self._paths[number], self._arrays, self._starts[number + 1] - self._starts[number])
            if len(self._files) > _OPEN:
                del self._files[next(iter(self._files))]  # it closes when nobody reads from it any more
        return self._files[number]

    def column(self, name: str) -> np.ndarray:
        """A whole column such as "answer", "tokens" or "scene/pose", the example first; kept in memory. KeyError for an unknown one."""
        if name not in LAYOUT or name in PICTURES:
            raise KeyError(f"there is no column '{name}': one of {', '.join(known for known in LAYOUT if known not in PICTURES)}")
        self._load([name])
        return self._columns[name]

    def _load(self, names: Iterable[str]) -> None:
        """Read the columns that are not in memory yet: all of one shard, then all of the next, since few files are open at once."""
        missing = [name for name in names if name not in self._columns]
        if not missing:
            return
        parts = [[self._read(number, name, slice(None), self._schema) for name in missing] for number in range(len(self._paths))]
        self._columns |= {name: np.concatenate(part) for name, part in zip(missing, zip(*parts, strict=True), strict=True)}
        self._columns |= {name: np.zeros(0) for name in missing if not parts}

    @contextmanager
    def _reading(self, number: int) -> Iterator[Shard]:
        """A shard; whatever is wrong in it is a DamagedError that names it."""
        try:
            yield self._file(number)
        except (DamagedError, RefusedError):
            raise
        except (OSError, KeyError, RuntimeError, ValueError, TypeError, IndexError) as error:
            raise DamagedError(f"{self._paths[number]} is damaged ({error}): run simtown verify on its data set") from error

    def _read(self, number: int, name: str, rows: slice, schema: int) -> np.ndarray:
        """Rows of an array of a shard. Raises DamagedError, also for numbers of things that do not exist."""
        with self._reading(number) as shard:
            part = read_rows(shard, name, rows, schema)
        if schema == self._schema and not self._numbers.fine(name, part):
            raise DamagedError(f"{self._paths[number]} has values of '{name}' {_NOTHING}")
        return part

    def stream(self, names: Sequence[str], size: int, as_stored: bool = False) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """All rows in order, at most `size` at a time, read when asked for and not kept.

        Yields the number of the first row and, by name, the columns or pictures `names`: of a data set of version 1 as today's has them,
        or `as_stored`. Raises DamagedError on the way.
        """
        schema = SCHEMA if as_stored else self._schema
        for number, count in enumerate(np.diff(self._starts).tolist()):
            for begin in range(0, count, size):
                part = {name: self._read(number, name, slice(begin, begin + size), schema) for name in names}
                yield self._starts[number] + begin, part
            if number in self._files:
                self._files.pop(number).close()

    def digests(self, sizes: Iterable[int], advanced: Callable[[int], None] = lambda examples: None) -> dict[int, str]:
        """What identifies the first n examples, for every n of `sizes`: a SHA-256 in hexadecimal.

        It does not depend on the shards that the examples lie in, nor on the examples that follow. Every column is hashed alone, then all
        hashes together; masks and depth are left out, since the same examples may be stored without them. The split is read once.

        Args:
            sizes: numbers of examples, from 0 to the split's length.
            advanced: called with the number of examples read since the last call.

        Raises:
            IndexError: the split has fewer examples. DamagedError: a shard cannot be read.
        """
        ends = sorted(set(sizes))
        for end in ends:
            if not 0 <= end <= len(self):
                raise IndexError(f"the first {end} examples of a split of {len(self)}")
        absent = {"scene/paint"} if self._schema == 1 else set()  # a split of version 1 keeps the digests that its runs know it by
        columns = self._hashed([name for name in LAYOUT if name not in {*PICTURES, *absent}], 4096, ends, lambda examples: None)
        images = self._hashed(["images"], 32, ends, advanced)
        return {end: sha256("\n".join(columns[end] + images[end]).encode()).hexdigest() for end in ends}

    def _hashed(self, names: Sequence[str], size: int, ends: list[int], advanced: Callable[[int], None]) -> dict[int, list[str]]:
        """By end (ascending): the SHA-256 of the first so many rows of each column, read `size` rows at a time."""
        hashes, done = [sha256() for _ in names], 0
        hexes = {end: [h.hexdigest() for h in hashes] for end in ends[:1] if end == 0}
        for first, block in self.stream(names, size, as_stored=True) if ends and ends[-1] else ():
            after = min(first + len(block[names[0]]), ends[-1])
            for stop in sorted({after, *(end for end in ends if first < end < after)}):
                for name, column_hash in zip(names, hashes, strict=True):
                    column_hash.update(block[name][done - first : stop - first].tobytes())
                advanced(stop - done)
                done = stop
                if stop in ends:
                    hexes[stop] = [column_hash.hexdigest() for column_hash in hashes]
            if done == ends[-1]:
                break
        return hexes

    def scenes(self, rows: slice | np.ndarray = slice(None)) -> SceneBatch:
        """Latent scenes of some rows, ready for a renderer."""
        self._load(SCENE_COLUMNS)
        return self.scenes_of({name: self._columns[name][rows] for name in SCENE_COLUMNS})

    def scenes_of(self, columns: dict[str, np.ndarray]) -> SceneBatch:
        """The scenes that some rows of SCENE_COLUMNS hold. Raises DamagedError for numbers of things that do not exist."""
        scenes = SceneBatch(**{name.removeprefix("scene/"): columns[name] for name in SCENE_COLUMNS})
        if not plausible(scenes).all():
            raise DamagedError(f"a shard of {self._paths[0].parent} has scenes {_NOTHING}")
        return scenes

    def address(self, i: int) -> tuple[Path, int]:
        """The shard's file that holds example i (from 0 on), and its row there; of a remote data set, the file is fetched."""
        number = bisect_right(self._starts, i) - 1
        if self._fetch is not None:
            self._fetch(self._paths[number])
        return self._paths[number], i - self._starts[number]

    def images(self, rows: Sequence[int] | np.ndarray, name: str = "images") -> np.ndarray:
        """(len(rows), h, w, 3) uint8 pictures, in any order; or the masks or the depth, by `name`."""
        if name not in PICTURES:
            raise KeyError(f"there are no pictures '{name}': one of {', '.join(PICTURES)}")
        if name not in self._arrays:
            raise DamagedError(f"the data set of {self._paths[0]} was made without {name}: make it again with --{name}")
        shape, kind = self._arrays[name]
        out = np.zeros((len(rows), *shape), dtype=kind)
        for place, row in enumerate(rows):
            if not 0 <= int(row) < len(self):
                raise IndexError(f"there is no example {row}: the split holds {len(self)}, numbered from 0")
            number = bisect_right(self._starts, int(row)) - 1
            with self._reading(number) as shard:
                shard.read_into(out[place : place + 1], name, int(row) - self._starts[number])
        return out

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        i = int(i) + len(self) * (i < 0)
        if not 0 <= i < len(self):
            raise IndexError(f"there is no example {i}: the split holds {len(self)}, numbered from 0")
        self._load([*_SMALL, *SCENE_COLUMNS])
        c = {name: self._columns[name][i] for name in _SMALL}
        return Example(
            image=self.images([i])[0],
            question=c["question"].decode(),
            tokens=c["tokens"],
            answer=bool(c["answer"]),
            subject=ENTITIES[c["subject"]],
            relation=RELATION_NAMES[c["relation"]],
            object=ENTITIES[c["object"]],
            subject_slot=int(c["subject_slot"]),
            object_slot=int(c["object_slot"]),
            boxes=c["boxes"],
            visible=c["visible"],
            margin=float(c["margin"]),
            scene=self.scenes(slice(i, i + 1)).scene(0),
            mask=self.images([i], "masks")[0] if "masks" in self._arrays else None,
            depth=self.images([i], "depth")[0] if "depth" in self._arrays else None,
        )

    def __iter__(self) -> Iterator[Example]:
        return (self[i] for i in range(len(self)))

    def torch(self) -> TorchView:
        """A map-style data set for ``torch.utils.data.DataLoader`` (PyTorch need not be installed to make it)."""
        return TorchView(self)


_SMALL = (
    "question",
    "tokens",
    "answer",
    "subject",
    "relation",
    "object",
    "subject_slot",
    "object_slot",
    "boxes",
    "visible",
    "margin",
)


class TorchView:
    """What a DataLoader collates: a dict of arrays an example.

    Keys: image (3, h, w) uint8; tokens (16,) int64; answer float32 0 or 1; subject, relation, object int64, the numbers that are stored
    (`dataset.settings.ranks[subject]` counts the kinds of the world from 0 on); boxes (2, 4) float32 of the subject and the object, x0, y0,
    x1, y1 as shares of the picture's width and height.
    """

    def __init__(self, split: Split) -> None:
        self.split = split

    def __len__(self) -> int:
        return len(self.split)

    def __getitem__(self, i: int) -> dict[str, Any]:
        if not -len(self) <= i < len(self):
            raise IndexError(f"there is no example {i}: the split holds {len(self)}, numbered from 0")
        i %= len(self)
        image, column = self.split.images([i])[0], self.split.column
        slots = [column("subject_slot")[i], column("object_slot")[i]]
        size = np.array(image.shape[1::-1] * 2, dtype=np.float32)
        return {
            "image": np.ascontiguousarray(image.transpose(2, 0, 1)),
            "tokens": column("tokens")[i].astype(np.int64),
            "answer": np.float32(column("answer")[i]),
            **{name: np.int64(column(name)[i]) for name in ("subject", "relation", "object")},
            "boxes": column("boxes")[i][slots] / size,
        }


class Dataset:
    """A data set on disk: ``dataset.train``, ``dataset.val``, ``dataset.test``, or ``dataset["train"]``.

    Attributes:
        path: its directory (of a remote one, its mirror).
        place: its directory or its URL, in words.
        name: the last part of its place.
        manifest: everything its manifest says.
        settings: its settings.
        vocabulary: token texts by id.
        names: what numbers in its columns stand for (:func:`simtown.datasets.names.names`).
    """

    def __init__(self, path: Path, manifest: dict[str, Any], fetch: Callable[[Path], None] | None = None, place: str = "") -> None:
        self.path, self.manifest = path, manifest
        self.place = place or str(path)
        self.name = name_of(self.place)
        self.settings = Settings.from_resolved(manifest["settings"])
        self.vocabulary: list[str] = manifest["vocabulary"]
        self.names = names_of(manifest)
        self._splits: dict[str, Split] = {}
        self._summaries: dict[str, summaries.Summary] = {}
        form = layout(self.settings), Numbers(self.settings, len(self.vocabulary)), self.settings.schema
        listed = [task for task in tasks(self.settings) if task.name in manifest["shards"]]
        for split in SPLITS:
            own = [task for task in listed if task.split == split]
            self._splits[split] = Split([path / task.name for task in own], [task.count for task in own], form, fetch)

    def __getitem__(self, split: str) -> Split:
        """A split by name. Raises KeyError for one there is not."""
        return self._splits[split]

    def summary(self, split: str) -> summaries.Summary:
        """What a split holds, counted (:func:`simtown.datasets.summary.count`). Only in a data set of version 1 are rows read for it."""
        sizes = summaries.lengths(self.names)
        if "summary" in self.manifest:
            return summaries.total([self.manifest["summary"][split]] if len(self[split]) else [], sizes)
        if split not in self._summaries:
            rows = self[split].stream(summaries.COLUMNS, _COUNTED)
            self._summaries[split] = summaries.total((summaries.count(columns, sizes) for _, columns in rows), sizes)
        return self._summaries[split]

    @property
    def train(self) -> Split:
        return self["train"]

    @property
    def val(self) -> Split:
        return self["val"]

    @property
    def test(self) -> Split:
        return self["test"]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(self[s])} {s}" for s in SPLITS)
        return f"<simtown data set {self.path}: {sizes}, {self.settings.entities} entities, {self.settings.width}x{self.settings.height}>"


def open_dataset(place: str | Path) -> Dataset:
    """Open a data set for reading: a directory, or a URL that fsspec knows, such as s3://bucket/town.

    A shard behind a URL is fetched when something of it is first read, checked, and kept (:class:`simtown.datasets.stores.Mirror`).

    Raises:
        FileNotFoundError: no data set there. DamagedError: unreadable or unfinished. ForeignDirectoryError: something else.
        RefusedError: a shard is no plain file but a link, a directory or a pipe.
        OSError: the URL cannot be read.
    """
    store = store_of(place)
    if isinstance(store, Remote):
        mirror = Mirror(store)
        _check_complete(store, mirror.manifest)
        return Dataset(mirror.path, mirror.manifest, mirror.fetch, str(store))
    manifest = store.load_manifest()
    _check_complete(store, manifest)
    store.check(manifest["shards"])
    return Dataset(store.path, manifest)


def _check_complete(store: Directory | Remote, manifest: dict[str, Any]) -> None:
    if not manifest["complete"]:
        raise DamagedError(f"{store} is unfinished: run the same simtown generate again, which continues")
