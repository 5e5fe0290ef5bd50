"""Small files that claim, or unpack to, far more than they are; each made once."""

from __future__ import annotations

import functools
import io
import pickle
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

#: Bytes that a bomb unpacks to: more than a command may take.
LARGE = 1_500_000_000
_BLOCK = bytes(10_000_000)


def _zeros(start: bytes, total: int) -> Iterator[bytes]:
    yield start
    left = total - len(start)
    while left > 0:
        yield _BLOCK[:left]
        left -= len(_BLOCK)


@functools.cache
def packed(start: bytes = b"", window: int = 31, total: int = LARGE, fill: bytes = b"\0") -> bytes:
    """gzip (window 31) or zlib (15) of `start` and then the same byte until `total`."""
    pack = zlib.compressobj(9 if total < LARGE else 1, wbits=window)
    blocks = (block if block is start else block.replace(b"\0", fill) for block in _zeros(start, total))
    return b"".join(pack.compress(block) for block in blocks) + pack.flush()


def _npy_header(shape: str, descr: str = "|u1") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1) + header.encode() + b"\n"


def npy(shape: str = f"({LARGE},)", descr: str = "|u1") -> bytes:
    """A .npy file that declares more than it holds."""
    return _npy_header(shape, descr) + bytes(64)


@functools.cache
def zipped(names: tuple[str, ...], start: bytes = b"") -> bytes:
    """A zip whose members all unpack to LARGE bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in names:
            with archive.open(name, "w", force_zip64=True) as member:
                for block in _zeros(start, LARGE):
                    member.write(block)
    return file.getvalue()


def npz(names: tuple[str, ...]) -> bytes:
    return zipped(tuple(f"{name}.npy" for name in names), _npy_header(f"({LARGE - 128},)"))


@functools.cache
def png(side: int = 30_000) -> bytes:
    """A PNG of side x side pixels of one bit each: its file is small, its pixels are not."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    row = bytes(1 + -(-side // 8))
    pixels = zlib.compress(row * side, 9)
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


@functools.cache
def parquet(names: tuple[str, ...]) -> bytes:
    """A Parquet file of 2 * 10^8 equal numbers a column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pa.table({name: pa.array([1], pa.int64()).take(pa.array([0] * 1_000_000)) for name in names})
    file = pa.BufferOutputStream()
    with pq.ParquetWriter(file, rows.schema, compression="zstd") as writer:
        for _ in range(200):
            writer.write_table(rows, row_group_size=1_000_000)
    return bytes(file.getvalue())


class _Evil:
    """Makes a directory when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        import os

        return os.mkdir, (str(self.mark),)


def pickled(mark: Path) -> bytes:
    """A pickle that makes the directory `mark` when it is read."""
    return pickle.dumps(_Evil(mark), protocol=2)


def npy_pickled(mark: Path) -> bytes:
    """The same as a .npy file of objects."""
    return _npy_header("()", "|O") + pickled(mark)


def pt_pickled(mark: Path) -> bytes:
    """The same as torch.save writes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickled(mark))
        archive.writestr("archive/version", "3\n")
        archive.writestr("archive/byteorder", "little")
    return file.getvalue()
