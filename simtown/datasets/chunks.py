"""Reading the pictures of a shard without HDF5, which only says where they are.

Each picture takes one read and one unpacking into its place. HDF5 itself takes ten times as long, for looking
up the chunk and for the plugin that unpacks it, and it holds a lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from io import FileIO
from math import prod
from pathlib import Path
from typing import Any

import cramjam
import numpy as np

#: Bytes that the LZ4 filter adds to a chunk: the total size, the size of a block, and the size of the first
#: block.
_FRAME = 16


class ChunkError(ValueError):
    """A chunk does not hold a row of its array."""


@dataclass(frozen=True)
class Chunks:
    """Where the rows of an array are in its file. Each row is a chunk that is packed with LZ4 alone.

    Attributes:
        offsets: (n,) int64 bytes from the file's beginning.
        sizes: (n,) int64 bytes, packed.
        shape: of a row.
        dtype: of its values.

    Raises:
        ChunkError: a chunk is larger than any row.
    """

    offsets: np.ndarray
    sizes: np.ndarray
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        if len(self.sizes) and self.sizes.max() > 2 * prod(self.shape) * self.dtype.itemsize + _FRAME:
            raise ChunkError("a chunk is larger than any row")

    @property
    def nbytes(self) -> int:
        """Bytes of memory that this takes."""
        return self.offsets.nbytes + self.sizes.nbytes

    def read(self, handle: int, rows: np.ndarray, out: np.ndarray, places: Iterable[int]) -> None:
        """Unpack some rows into an array.

        Args:
            handle: of the open file.
            rows: (k,) numbers of the rows.
            out: (m, *shape), C-contiguous.
            places: k places in `out`.

        Raises:
            ChunkError: a chunk is cut short, or holds another number of bytes than a row has.
        """
        for place, offset, size in zip(
            places, self.offsets[rows].tolist(), self.sizes[rows].tolist(), strict=True
        ):
            _unpack(os.pread(handle, size, offset), out[place])


def _unpack(chunk: bytes, row: np.ndarray) -> None:
    """Unpack a chunk of the LZ4 filter.

    It begins with the total size and the block size (8 and 4 bytes, big-endian); then come the blocks, each
    behind its packed size.
    """
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
    """Open a shard's file for :meth:`Chunks.read`."""
    return FileIO(path, "r")
