"""Reading one shard: columns through HDF5, pictures straight from the file.

A picture takes one read and one unpacking into its place. HDF5 itself takes ten times as long, for looking up
the chunk and for the plugin that unpacks it, and it holds a lock.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from pathlib import Path
from typing import Any

import cramjam
import h5py
import numpy as np
from h5py import h5t

from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError, array_in, cause, open_hdf5, parse_json
from simtown.datasets.making.shards import LEAST_BYTES, PICTURES, ROWS, ShardTask, array_forms, checksum
from simtown.datasets.question_source import FAMILY_ARRAYS, SEQUENCE_ARRAYS, TWIN_ARRAYS
from simtown.datasets.settings import SCHEMA
from simtown.scenes.placement import MOST_VEHICLES
from simtown.scenes.sequence import picture_rows

#: Of every array: what follows n in its shape, and its dtype (:func:`simtown.datasets.making.shards.layout`).
Arrays = Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]
#: HDF5's number of the filter, which this module unpacks.
_LZ4 = 32004
#: Bytes that the LZ4 filter adds to a chunk: the sizes of all, of a block, and of the first block packed.
_FRAME = 16
#: A shard as the manifest lists it, with its summary.
Entry = dict[str, Any]


class FormError(ValueError):
    """A file does not have the form of a shard; the message does not name the file."""


@contextmanager
def reading(path: Path, remedy: str) -> Iterator[None]:
    """Turn every error of reading a shard into a DamagedError that names it and says what to do."""
    try:
        yield
    except (DamagedError, RefusedError):
        raise
    except PermissionError as error:
        raise PermissionError(error.errno, "may not be read", str(path)) from error
    except (OSError, LookupError, RuntimeError, ValueError, TypeError) as error:
        raise DamagedError(f"{path} is damaged ({cause(error)}): {remedy}") from error


@dataclass(frozen=True)
class PackedRows:
    """Places of an array's rows in its file, each a chunk that is packed with LZ4 alone: (n,) int64 bytes.

    Raises FormError if a chunk is larger than any row.
    """

    offsets: np.ndarray
    sizes: np.ndarray
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        if len(self.sizes) and self.sizes.max() > 2 * prod(self.shape) * self.dtype.itemsize + _FRAME:
            raise FormError("a chunk is larger than any row")

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.sizes.nbytes

    def read(self, handle: int, rows: np.ndarray, out: np.ndarray, places: np.ndarray) -> None:
        """Unpack (k,) rows of an open file into (k,) places of an array (m, *shape), C-contiguous.

        Raises FormError if a chunk is cut short, or holds another number of bytes than a row has.
        """
        chunks = zip(places.tolist(), self.offsets[rows].tolist(), self.sizes[rows].tolist(), strict=True)
        for place, offset, size in chunks:
            _unpack(os.pread(handle, size, offset), out[place])


def _unpack(chunk: bytes, row: np.ndarray) -> None:
    """Unpack a chunk of the LZ4 filter: total size, block size, and blocks, each behind its packed size."""
    total, block, place = int.from_bytes(chunk[:8], "big"), int.from_bytes(chunk[8:12], "big"), 12
    target = row.reshape(-1).view(np.uint8).data
    if total != len(target) or not block or len(chunk) <= _FRAME:
        raise FormError(f"a chunk holds {total} bytes where a row has {len(target)}")
    view = memoryview(chunk)
    for begin in range(0, total, block):
        part = target[begin : begin + block]
        size = int.from_bytes(chunk[place : place + 4], "big")
        packed = view[place + 4 : place + 4 + size]
        place += 4 + size
        if len(packed) != size:
            raise FormError("a chunk is cut short")
        if size == len(part):  # it could not be packed
            part[:] = packed
            continue
        try:
            done = cramjam.lz4.decompress_block_into(packed, part, output_len=len(part))
        except cramjam.DecompressionError as error:
            raise FormError(f"a chunk cannot be unpacked ({error})") from None
        if done != len(part):
            raise FormError(f"a chunk holds {done} bytes where {len(part)} belong")


def open_array(file: h5py.File, name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> h5py.Dataset:
    """An array of a shard. Raises FormError if it is missing or does not have the layout's form."""
    try:
        array = h5py.Dataset(array_in(file, name))
    except RefusedError as error:
        raise FormError(str(error)) from None
    if array.shape != shape or array.id.get_type() != _stored_type(kind):
        raise FormError(f"the array '{name}' does not hold {kind} {shape}")
    properties = array.id.get_create_plist()
    filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
    if filters != [_LZ4]:
        raise FormError(f"the array '{name}' is packed with other filters than a shard's")
    chunks = (1 if name in PICTURES else min(shape[0], ROWS), *shape[1:])
    if array.chunks != chunks:
        raise FormError(f"the array '{name}' has chunks of {array.chunks}, not of {chunks}")
    return array


@lru_cache(maxsize=256)
def _stored_type(kind: np.dtype[Any]) -> h5t.TypeID:
    return h5t.py_create(kind, logical=True)


def attribute(file: h5py.File, name: str, kind: type[int] | type[str]) -> Any:
    """An attribute of a shard: a whole number or a text. Raises FormError if there is no such attribute."""
    value = file.attrs.get(name)
    stored = int if isinstance(value, np.int64) else type(value)
    if stored is not kind:
        raise FormError(f"its attribute '{name}' is not a {'whole number' if kind is int else 'text'}")
    return kind(value)


def read_entry(path: Path, task: ShardTask) -> Entry:
    """The manifest's entry of a whole shard, with its summary.

    Raises:
        DamagedError: the file is not this shard.
        RefusedError: it is not a regular file.
    """
    with reading(path, "move it away and run the same command again"), open_hdf5(path) as file:
        for name, wanted in (("split", task.split), ("start", task.start), ("count", task.count)):
            if attribute(file, name, type(wanted)) != wanted:
                raise FormError(f"its attribute '{name}' is not {wanted}")
        tried, summary = (parse_json(attribute(file, name, str)) for name in ("tried", "summary"))
    about = {"sha256": checksum(path), "bytes": path.stat().st_size, "examples": task.count}
    return {**about, "tried": tried, "summary": summary}


class Shard:
    """An open shard, which must have these arrays of so many examples, `each` of which share a picture.

    Raises:
        FormError: the file is too small for so many examples.
        RefusedError: it is not a regular file.
        OSError: HDF5 cannot open it.
    """

    def __init__(self, path: Path, arrays: Arrays, count: int, each: int = 1) -> None:
        self.file = open_hdf5(path)
        self.arrays, self.count, self.each = arrays, count, each
        self._opened: dict[str, h5py.Dataset] = {}
        self._places: dict[str, PackedRows] = {}
        self._handle: int = self.file.id.get_vfd_handle()
        size = os.fstat(self._handle).st_size
        if size < count // each * LEAST_BYTES:
            self.close()
            raise FormError(f"it has {size:,} bytes, too few for {count:,} examples")

    def close(self) -> None:
        self._opened.clear()
        self.file.close()

    def read(self, name: str, rows: slice | np.ndarray = slice(None)) -> np.ndarray:
        """Rows of an array as they are stored; `rows` is a slice without steps, or an array of numbers.

        Raises FormError, OSError or KeyError if the array is missing or damaged.
        """
        shape, kind = self.arrays[name]
        numbers = np.arange(*rows.indices(self.count)) if isinstance(rows, slice) else rows
        if name in PICTURES:
            own = numbers // self.each if self.shown is None else self.shown[numbers]
            return self.read_pictures(name, own.reshape(-1)).reshape(*own.shape, *shape)
        out = np.zeros((len(numbers), *shape), dtype=kind)
        array = self._array(name, whole=len(out) == self.count)
        chunk = np.empty(array.chunks, dtype=kind)
        own, place = np.divmod(numbers, len(chunk))
        for number in np.unique(own).tolist():
            mask, packed = array.id.read_direct_chunk((number * len(chunk), *[0] * len(shape)))
            if mask:
                raise FormError(f"the array '{name}' is not packed")
            _unpack(packed, chunk)
            out[own == number] = chunk[place[own == number]]
        return out

    def read_pictures(self, name: str, rows: np.ndarray) -> np.ndarray:
        """Rows of pictures, masks or depth maps, by their number in the file."""
        shape, kind = self.arrays[name]
        out = np.zeros((len(rows), *shape), dtype=kind)
        self.places(name).read(self._handle, rows, out, np.arange(len(rows)))
        return out

    @cached_property
    def shown(self) -> np.ndarray | None:
        """(n, P) int64 rows of the pictures that each example of sequences shows; None of single pictures.

        Raises FormError if they do not stand in order.
        """
        if "order" not in self.arrays:
            return None
        sequence, order = self.read("sequence"), self.read("order")
        if (np.diff(sequence) < 0).any() or (np.sort(order, axis=1) != np.arange(order.shape[1])).any():
            raise FormError("its sequences do not stand in order")
        return picture_rows(sequence, order)

    @property
    def picture_count(self) -> int:
        """Pictures in the file."""
        return self.count // self.each if self.shown is None else int(self.shown.max()) + 1

    def places(self, name: str) -> PackedRows:
        """The places of the rows of an array of pictures.

        Raises FormError or OSError if the array is missing or damaged.
        """
        if name not in self._places:
            chunks: list[Any] = []
            self._array(name).id.chunk_iter(chunks.append)
            chunks.sort(key=lambda chunk: chunk.chunk_offset)
            rows = [chunk.chunk_offset[0] for chunk in chunks]
            if rows != list(range(self.picture_count)) or any(chunk.filter_mask for chunk in chunks):
                raise FormError(f"the array '{name}' is not stored whole")
            places = np.array([(chunk.byte_offset, chunk.size) for chunk in chunks], dtype=np.uint64)
            offsets, sizes = places.astype(np.int64).T
            self._places[name] = PackedRows(offsets, sizes, *self.arrays[name])
        return self._places[name]

    def _array(self, name: str, whole: bool = False) -> h5py.Dataset:
        if name in self._opened:
            return self._opened[name]
        shape, kind = self.arrays[name]
        rows = self.picture_count if name in PICTURES else self.count
        array = open_array(self.file, name, (rows, *shape), kind)
        if not whole:  # it will be read again; the more are open, the longer HDF5 takes to close a file
            self._opened[name] = array
        return array


def form_of(path: Path) -> tuple[Arrays, int]:
    """The arrays of a shard without its data set, except pictures, and the number of its examples.

    Raises FormError, RefusedError or OSError as :class:`Shard` does.
    """
    with open_hdf5(path) as file:
        schema, count = attribute(file, "schema", int), attribute(file, "count", int)
        vehicles = h5py.Dataset(array_in(file, "scene/entity")).shape[-1]
        own = (FAMILY_ARRAYS if "family" in file else {}) | (TWIN_ARRAYS if "group" in file else {})
        shots = 1
        if "order" in file:
            own |= SEQUENCE_ARRAYS
            shots = h5py.Dataset(array_in(file, "order")).shape[-1]
        forms = array_forms(own, {"v": vehicles, "h": 0, "w": 0, "k": shots})
    if schema != SCHEMA or count < 1 or not 2 <= vehicles <= MOST_VEHICLES:
        raise FormError(f"it has layout version {schema}, {count} examples of {vehicles} vehicles")
    return {name: form for name, form in forms.items() if name not in PICTURES}, count
