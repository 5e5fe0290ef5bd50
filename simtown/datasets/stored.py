"""Opening and reading shards. Only this module opens them, and it trusts nothing in them.

HDF5 can do far more than a shard needs: arrays in other files, plug-ins that are loaded for a filter,
compressed bytes that claim to unpack to any size. So an array is read only if it is a plain array of the
layout, all of its chunks are in this file, and every chunk declares the size that the layout says. The first
array or chunk that differs is an error; `verify` names all of them.
"""

from __future__ import annotations

import json
import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from io import FileIO
from math import prod
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5s, h5t

from simtown.core.untrusted import open_regular
from simtown.datasets.chunks import Chunks
from simtown.datasets.settings import SCHEMA
from simtown.datasets.shards import LAYOUT, LEAST_BYTES, PICTURES, Tried
from simtown.datasets.summaries import Summary
from simtown.scenes.placement import MOST_VEHICLES
from simtown.scenes.street import SLOTS

#: Bytes of the largest chunk of an array without pictures: 512 rows have at most 400,000, and h5py chooses at
#: most a MiB.
_LARGEST_CHUNK = 1 << 20
#: Bytes of the longest text of an attribute: those of a world of 150 kinds have 2,500.
_LONGEST_TEXT = 100_000
#: An HDF5 file begins with these bytes and the version of its superblock; at these places are the addresses
#: of its beginning and its end.
_SIGNATURE, _BASE, END = b"\x89HDF\r\n\x1a\n", slice(12, 20), slice(28, 36)
#: Registered numbers of the filters.
_LZ4, _BITSHUFFLE, _ZSTD = 32004, 32008, 32015
_FILTERS = {"images": _LZ4, "masks": _LZ4, "depth": _BITSHUFFLE}
#: Pictures that :mod:`simtown.datasets.chunks` unpacks; HDF5 unpacks all other arrays.
UNPACKED_HERE = ("images", "masks")
#: Parameters of bitshuffle behind the version of the plug-in: bytes of a number, default block size, LZ4.
_BITSHUFFLE_SET = (4, 0, 2)

#: Of every array: what follows n in its shape, and its dtype (:func:`simtown.datasets.shards.layout`).
Arrays = Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]


class FormError(ValueError):
    """A file does not have the form of a shard; the message does not name the file."""


def head_of(handle: int) -> bytes:
    """The bytes that an open HDF5 file begins with.

    Raises FormError if there is something else before the data.
    """
    head = os.pread(handle, END.stop, 0)
    if len(head) < END.stop or not head.startswith(_SIGNATURE) or head[8] not in (2, 3) or any(head[_BASE]):
        raise FormError("bytes that do not belong there stand before the data")
    return head


def wrong_array(file: h5py.File, name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> str:
    """What is wrong with an array of a shard.

    Returns "" if it is a plain array in this file and has the layout's form. No link is followed.
    """
    try:
        if "/" in name:
            _linked(file.id, name.rpartition("/")[0], h5g)
        array = _linked(file.id, name, h5d)
        chunk = _check_form(array, name, shape, kind)
        _chunks(array, name, shape, chunk, os.fstat(file.id.get_vfd_handle()).st_size)
    except FormError as error:
        return str(error)
    return ""


def _linked(file: h5f.FileID, name: str, kind: Any) -> Any:
    """The array (of the module h5d) or the group (h5g) of this name; its own group has been checked.

    Raises FormError if it is missing or somewhere else.
    """
    path, word = name.encode(), "group" if kind is h5g else "array"
    try:
        link = file.links.get_info(path).type
    except (KeyError, RuntimeError):
        raise FormError(f"the {word} '{name}' is missing") from None
    if link != h5l.TYPE_HARD:
        raise FormError(f"the {word} '{name}' is a link to elsewhere: it must lie in this file")
    try:
        return kind.open(file, path)
    except (KeyError, RuntimeError, ValueError, TypeError) as error:
        raise FormError(f"'{name}' is no {word} ({error})") from None


@lru_cache(maxsize=256)
def _stored_type(kind: np.dtype[Any]) -> h5t.TypeID:
    return h5t.py_create(kind, logical=True)


def _check_form(
    array: h5d.DatasetID, name: str, shape: tuple[int, ...], kind: np.dtype[Any]
) -> tuple[int, ...]:
    """The shape of the array's chunks. Raises FormError if the array does not have the layout's form."""
    properties = array.get_create_plist()
    form = properties.get_layout()
    # Check this first: to read its shape would open the other file.
    if form == h5d.VIRTUAL or properties.get_external_count():
        raise FormError(f"the array '{name}' lies in another file: it must lie in this one")
    if array.get_type() != _stored_type(kind) or array.shape != shape:
        raise FormError(f"the array '{name}' is {_type_name(array)} {array.shape}, not {kind} {shape}")
    chunk: tuple[int, ...] = properties.get_chunk() if form == h5d.CHUNKED else ()
    if name in PICTURES:
        usual = chunk == (1, *shape[1:])
    else:
        small = bool(chunk) and prod(chunk) * kind.itemsize <= _LARGEST_CHUNK
        usual = small and all(side <= whole for side, whole in zip(chunk, shape, strict=True))
    if not usual:
        raise FormError(f"the array '{name}' lies in chunks of {chunk}, as no shard's does")
    number = _FILTERS.get(name, _ZSTD)
    filters = [properties.get_filter(i) for i in range(properties.get_nfilters())]
    if [code for code, *_ in filters] != [number] or (
        number == _BITSHUFFLE and filters[0][2][2:] != _BITSHUFFLE_SET
    ):
        raise FormError(f"the array '{name}' is packed with other filters than a shard's")
    return chunk


def _chunks(
    array: h5d.DatasetID, name: str, shape: tuple[int, ...], chunk: tuple[int, ...], file_bytes: int
) -> np.ndarray:
    """(k, 3) uint64: first row, place and size in the file of every chunk, in order.

    Raises FormError if a chunk is missing, not packed, or outside the file.
    """
    infos: list[Any] = []
    array.chunk_iter(infos.append)
    infos.sort(key=lambda info: info.chunk_offset)
    wanted = prod(-(-whole // side) for whole, side in zip(shape, chunk, strict=True))
    if (
        len(infos) != wanted
        or len({info.chunk_offset for info in infos}) != wanted
        or any(info.filter_mask for info in infos)
    ):
        raise FormError(f"the array '{name}' is not stored whole")
    chunks = np.array(
        [(info.chunk_offset[0], info.byte_offset, info.size) for info in infos], dtype=np.uint64
    )
    ends = chunks[:, 1:].sum(axis=1)
    if max(int(chunks[:, 1:].max()), int(ends.max()), int(chunks[:, 2].sum())) > file_bytes:
        raise FormError(f"the array '{name}' claims bytes that the file does not have")
    return chunks


def _type_name(array: h5d.DatasetID) -> str:
    try:
        return str(array.dtype)
    except TypeError:
        return "of a strange type"


def attribute(file: h5py.File, name: str, kind: type[int] | type[str]) -> Any:
    """An attribute of a shard: a whole number or a text. Raises FormError if there is no such attribute."""
    if not h5a.exists(file.id, name.encode()):
        raise FormError(f"its attribute '{name}' is missing")
    stored = h5a.open(file.id, name.encode())
    wanted = h5t.py_create(np.dtype("<i8") if kind is int else h5py.string_dtype(), logical=True)
    if stored.shape != () or stored.get_type() != wanted:
        raise FormError(f"its attribute '{name}' is no {'whole number' if kind is int else 'text'}")
    value = file.attrs[name]
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        raise FormError(f"its attribute '{name}' has {len(value):,} characters, more than a shard's ever has")
    return kind(value)


def read_counts(file: h5py.File) -> tuple[Tried, Summary]:
    """(proposed, accepted) counts of a shard's rejection loops, and its summary.

    Raises FormError if the shard does not hold them.
    """
    tried = {loop: tuple(numbers) for loop, numbers in _counts(file, "tried").items()}
    if any(len(numbers) != 2 for numbers in tried.values()):
        raise FormError("its attribute 'tried' does not hold two counts of each loop")
    return tried, _counts(file, "summary")  # type: ignore[return-value]


def _counts(file: h5py.File, name: str) -> dict[str, list[int]]:
    """The lists of counts, by name, that an attribute holds as JSON. Raises FormError if it holds none."""
    try:
        lists = json.loads(attribute(file, name, str))
    except ValueError as error:
        raise FormError(f"its attribute '{name}' is no JSON ({error})") from None
    if not isinstance(lists, dict) or not all(
        isinstance(numbers, list) and all(type(n) is int and 0 <= n < 1 << 53 for n in numbers)
        for numbers in lists.values()
    ):
        raise FormError(f"its attribute '{name}' holds no lists of counts")
    return lists


@dataclass(frozen=True)
class _Chunks:
    """Chunks of an array that has the right form.

    Attributes:
        rows: of a chunk.
        bytes: of a chunk, unpacked.
        table: (k, 3) uint64, as :func:`_chunks` returns it.
        sound: numbers of the chunks that have been checked.
    """

    rows: int
    bytes: int
    table: np.ndarray
    sound: set[int] = field(default_factory=set)


class Shard:
    """An open shard. Chunks are checked before HDF5 unpacks them.

    Args:
        path: its file.
        arrays: that the shard must have.
        count: its examples.
        follow: whether the path may be a symbolic link, such as one that the user named.
        lock: an open file that keeps the shard in its mirror.

    Raises:
        FormError: it does not have the form of a shard.
        RefusedError: it is not a plain file.
        OSError: HDF5 cannot open it.
    """

    def __init__(
        self, path: Path, arrays: Arrays, count: int, follow: bool = False, lock: FileIO | None = None
    ) -> None:
        self._lock = lock
        self.file = open_file(path, follow)
        self.arrays, self.count = arrays, count
        self._handle: int = self.file.id.get_vfd_handle()
        self._bytes = os.fstat(self._handle).st_size
        self._groups: set[str] = set()
        self._chunks: dict[str, _Chunks] = {}
        # No other array stays open: the more are open, the longer HDF5 takes to close a file.
        self._pictures: dict[str, h5d.DatasetID] = {}
        self._places: dict[str, Chunks] = {}
        if self._bytes < count * LEAST_BYTES:
            self.close()
            raise FormError(f"it has {self._bytes:,} bytes, too few for {count:,} examples")

    def close(self) -> None:
        """Close the file."""
        self._pictures.clear()
        self.file.close()

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def read(self, name: str, rows: slice | np.ndarray = slice(None)) -> np.ndarray:
        """Rows of an array as they are stored; `rows` is a slice without steps, or an array of numbers.

        Raises FormError, OSError or KeyError if the array is missing or damaged.
        """
        shape, kind = self.arrays[name]
        if isinstance(rows, np.ndarray):
            out = np.zeros((len(rows), *shape), dtype=kind)
            for place, row in enumerate(rows.tolist()):
                self.read_into(out[place : place + 1], name, row)
            return out
        begin, end, _ = rows.indices(self.count)
        out = np.zeros((max(end - begin, 0), *shape), dtype=kind)
        self.read_into(out, name, begin)
        return out

    def read_into(self, out: np.ndarray, name: str, begin: int) -> None:
        """Read rows from `begin` on into `out`, as many as it has; `out` is contiguous in memory."""
        shape, kind = self.arrays[name]
        if not len(out):
            return
        if not 0 <= begin <= self.count - len(out):
            raise IndexError(f"it has no rows {begin} to {begin + len(out) - 1}")
        if name in UNPACKED_HERE:
            self.places(name).read(self._handle, np.arange(begin, begin + len(out)), out, range(len(out)))
            return
        array = self._array(name)
        self._check_chunks(name, begin, begin + len(out))
        stored, memory = h5s.ALL, h5s.ALL
        if len(out) < self.count:
            stored, memory = array.get_space(), h5s.create_simple(out.shape)
            stored.select_hyperslab((begin, *(0 for _ in shape)), out.shape)
        array.read(memory, stored, out, _stored_type(kind))

    def places(self, name: str) -> Chunks:
        """The places of the rows of an array of :data:`UNPACKED_HERE`.

        Raises FormError, ChunkError or OSError if the array is missing or damaged.
        """
        if name not in self._places:
            self._array(name)
            _, offsets, sizes = self._chunks[name].table.astype(np.int64).T
            self._places[name] = Chunks(
                np.ascontiguousarray(offsets), np.ascontiguousarray(sizes), *self.arrays[name]
            )
        return self._places[name]

    def _array(self, name: str) -> h5d.DatasetID:
        if name in self._pictures:
            return self._pictures[name]
        group, _, _ = name.rpartition("/")
        if group and group not in self._groups:
            _linked(self.file.id, group, h5g)
            self._groups.add(group)
        array = _linked(self.file.id, name, h5d)
        if name not in self._chunks:
            shape, kind = self.arrays[name]
            chunk = _check_form(array, name, (self.count, *shape), kind)
            table = _chunks(array, name, (self.count, *shape), chunk, self._bytes)
            self._chunks[name] = _Chunks(chunk[0], prod(chunk) * kind.itemsize, table)
        if name in PICTURES:
            self._pictures[name] = array
        return array

    def _check_chunks(self, name: str, begin: int, end: int) -> None:
        """Check the chunks of the rows `begin` to `end` - 1.

        Raises FormError if one of them declares another unpacked size than the layout's.
        """
        chunks, unpacks_to = self._chunks[name], _PACKED_CHECKS[_FILTERS.get(name, _ZSTD)]
        bounds = np.array([begin // chunks.rows * chunks.rows, end], dtype=np.uint64)
        for number in range(*np.searchsorted(chunks.table[:, 0], bounds).tolist()):
            if number not in chunks.sound:
                row, place, size = chunks.table[number].tolist()
                if not unpacks_to(self._handle, place, size, chunks.bytes):
                    raise FormError(
                        f"the array '{name}' has bytes that do not unpack to its rows from {row} on"
                    )
                chunks.sound.add(number)


def open_file(path: Path, follow: bool = False) -> h5py.File:
    """Open a plain HDF5 file for reading; its content is not checked.

    HDF5 opens the path itself: it reads half as fast from a file that Python opened.

    Raises FormError, RefusedError or OSError if it is not an HDF5 file, not a plain file, or cannot be read.
    """
    if not stat.S_ISREG(os.stat(path, follow_symlinks=follow).st_mode):
        open_regular(path, follow).close()  # raises an error that says what it is
    file = h5py.File(path, "r", rdcc_nbytes=0)  # no chunk is kept: 256 files of 26 arrays would keep 6 GB
    try:
        head_of(file.id.get_vfd_handle())
    except FormError:
        file.close()
        raise
    return file


def open_alone(path: Path) -> Shard:
    """Open a shard without its data set, with its arrays besides pictures.

    The path may be a symbolic link. Raises FormError, RefusedError or OSError as :class:`Shard` does.
    """
    with open_file(path, follow=True) as file:
        schema, count = attribute(file, "schema", int), attribute(file, "count", int)
        if schema != SCHEMA or count < 1:
            raise FormError(f"it says of itself that it has layout version {schema} and {count} examples")
        kind = np.dtype(LAYOUT["scene/entity"][1])
        slots = (
            v for v in range(2, MOST_VEHICLES) if not wrong_array(file, "scene/entity", (count, v), kind)
        )
        vehicles = next(slots, MOST_VEHICLES)
    sizes = {"v": vehicles, "p": SLOTS}
    names = [name for name in LAYOUT if name not in PICTURES]
    forms = {
        name: (
            tuple(sizes[n] if isinstance(n, str) else n for n in LAYOUT[name][0]),
            np.dtype(LAYOUT[name][1]),
        )
        for name in names
    }
    return Shard(path, forms, count, follow=True)


def _sound_zstd(handle: int, place: int, size: int, wanted: int) -> bool:
    """Whether a Zstandard frame (RFC 8878, section 3.1.1.1) declares that it unpacks to `wanted` bytes."""
    head = os.pread(handle, min(size, 18), place)
    if len(head) < 6 or not head.startswith(b"\x28\xb5\x2f\xfd"):
        return False
    descriptor = head[4]
    single, dictionary = descriptor >> 5 & 1, descriptor & 3
    length = (single, 2, 4, 8)[descriptor >> 6]
    begin = 5 + (1 - single)
    if not length or dictionary or len(head) < begin + length:
        return False
    return int.from_bytes(head[begin : begin + length], "little") + (256 if length == 2 else 0) == wanted


def _sound_bitshuffle(handle: int, place: int, size: int, wanted: int) -> bool:
    """Whether there are LZ4 blocks for `wanted` bytes, each behind its packed size, and the unpacked rest."""
    content = os.pread(handle, size, place)
    if len(content) < 12:
        return False
    unpacked, block = struct.unpack_from(">QI", content)
    unit = 8 * _BITSHUFFLE_SET[0]  # numbers whose bits are shuffled together
    if unpacked != wanted or not block or block % unit:
        return False
    blocks = wanted // block + (wanted % block >= unit)
    begin = 12
    for _ in range(blocks):
        if len(content) < begin + 4:
            return False
        begin += 4 + struct.unpack_from(">I", content, begin)[0]
    return begin + wanted % unit == len(content)


_PACKED_CHECKS = {_ZSTD: _sound_zstd, _BITSHUFFLE: _sound_bitshuffle}
