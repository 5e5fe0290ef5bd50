"""The pictures of a shard, read past HDF5: it says once where they lie, then each is one read and one unpacking into its place.

HDF5's own way to a picture takes ten times as long, for looking its chunk up and for the plugin that unpacks it, and holds a lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import cramjam
import h5py
import numpy as np

#: HDF5's registered number of the LZ4 filter.
LZ4 = 32004
#: Bytes that its framing adds to a chunk: the total size, the size of a block, and the size of the first block.
_FRAME = 16


class ChunkError(ValueError):
    """A chunk is not what an array of its kind holds."""


@dataclass(frozen=True)
class Chunks:
    """Where the rows of an array lie in its file, a chunk a row, each packed with LZ4 alone.

    Attributes:
        offsets: (n,) int64 bytes from the file's beginning.
        sizes: (n,) int32 bytes, packed.
        shape: of a row. `dtype`: of its values.
    """

    offsets: np.ndarray
    sizes: np.ndarray
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of memory that this takes."""
        return self.offsets.nbytes + self.sizes.nbytes

    def read(self, file: FileIO, rows: np.ndarray, out: np.ndarray, places: Iterable[int]) -> None:
        """Unpack some rows ((k,) numbers) into the `places` of `out` ((m, *shape), C-contiguous).

        Raises:
            ChunkError: a chunk is cut short, or holds another number of bytes than a row has.
        """
        handle = file.fileno()
        for place, offset, size in zip(places, self.offsets[rows].tolist(), self.sizes[rows].tolist(), strict=True):
            _unpack(os.pread(handle, size, offset), out[place])


def find(array: h5py.Dataset) -> Chunks | None:
    """Where the rows of an array lie; None if they do not lie a chunk a row, each packed with LZ4 and nothing else.

    Raises:
        ChunkError: a row is not stored, or not packed.
    """
    filters = array.id.get_create_plist()
    alone = array.chunks == (1, *array.shape[1:]) and filters.get_nfilters() == 1 and filters.get_filter(0)[0] == LZ4
    if not alone:
        return None
    count, row = len(array), int(np.prod(array.shape[1:])) * array.dtype.itemsize
    offsets, sizes = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=np.int32)
    masks: set[int] = set()

    def note(chunk: Any) -> None:
        offsets[chunk.chunk_offset[0]], sizes[chunk.chunk_offset[0]] = chunk.byte_offset, min(chunk.size, 2**31 - 1)
        masks.add(chunk.filter_mask)

    array.id.chunk_iter(note)
    if count and (offsets.min() < 0 or masks != {0} or sizes.max() > 2 * row + _FRAME):
        raise ChunkError(f"rows of its array '{array.name}' are missing, not packed, or too large")
    return Chunks(offsets, sizes, array.shape[1:], array.dtype)


def _unpack(chunk: bytes, row: np.ndarray) -> None:
    """Unpack a chunk as the LZ4 filter writes it: total size and block size (8 and 4 bytes, big-endian), then each block and its size."""
    total, block, place = int.from_bytes(chunk[:8], "big"), int.from_bytes(chunk[8:12], "big"), 12
    target = row.reshape(-1).view(np.uint8).data
    if len(chunk) <= _FRAME:
        raise ChunkError("a chunk is cut short")
    if total != len(target) or not block:
        raise ChunkError(f"a chunk holds {total} bytes where a row has {len(target)}")
    view = memoryview(chunk)
    for begin in range(0, total, block):
        part = target[begin : begin + block]
        size = int.from_bytes(chunk[place : place + 4], "big")
        packed = view[place + 4 : place + 4 + size]
        place += 4 + size
        if len(packed) != size:
            raise ChunkError("a chunk is cut short")
        if size == len(part):  # it could not be packed
            part[:] = packed
            continue
        try:
            done = cramjam.lz4.decompress_block_into(packed, part, output_len=len(part))
        except cramjam.DecompressionError as error:
            raise ChunkError(f"a chunk cannot be unpacked ({error})") from None
        if done != len(part):
            raise ChunkError(f"a chunk holds {done} bytes where {len(part)} belong")


def open_file(path: Path) -> FileIO:
    """A shard's file, for :meth:`Chunks.read`."""
    return FileIO(path, "r")
