"""Pictures read past HDF5 are those that HDF5 reads, and a chunk that is not what it should be is refused."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.datasets.chunks import ChunkError, Chunks, open_file


def _places(array: h5py.Dataset) -> Chunks:
    found: list[Any] = []
    array.id.chunk_iter(found.append)
    found.sort(key=lambda info: info.chunk_offset)
    offsets, sizes = np.array([(info.byte_offset, info.size) for info in found], dtype=np.int64).T
    return Chunks(offsets, sizes, array.shape[1:], array.dtype)


def _stored(path: Path, values: np.ndarray, block: int = 0) -> Chunks:
    with h5py.File(path, "w", libver="v110") as file:
        how = hdf5plugin.LZ4(nbytes=block)
        return _places(file.create_dataset("images", data=values, chunks=(1, *values.shape[1:]), **how))


def _read(path: Path, found: Chunks, rows: list[int]) -> np.ndarray:
    out = np.zeros((len(rows), *found.shape), dtype=found.dtype)
    with open_file(path) as file:
        found.read(file.fileno(), np.array(rows, dtype=np.int64), out, range(len(rows)))
    return out


@given(
    st.integers(1, 5),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(["u1", "<f4"]),
    st.sampled_from([0, 4, 64]),
    st.integers(0, 256),
    st.randoms(use_true_random=False),
)
def test_what_hdf5_wrote_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    count: int,
    height: int,
    width: int,
    kind: str,
    block: int,
    levels: int,
    random: object,
) -> None:
    path = tmp_path_factory.getbasetemp() / "chunks.h5"
    generator = np.random.default_rng(random.randrange(2**32))  # type: ignore[attr-defined]
    values = generator.integers(0, levels + 1, (count, height, width)).astype(kind)
    found = _stored(path, values, block)
    rows = generator.integers(0, count, 7).tolist()
    np.testing.assert_array_equal(_read(path, found, rows), values[rows])


@pytest.mark.parametrize(
    "chunk",
    [
        b"",
        b"\0" * 11,
        struct.pack(">QII", 64, 64, 1000) + b"x" * 10,
        struct.pack(">QII", 1 << 40, 64, 4),
        struct.pack(">QII", 64, 0, 4),
        struct.pack(">QII", 64, 64, 10) + b"\xff" * 10,
        struct.pack(">QII", 64, 64, 2) + b"\x10a",
        struct.pack(">QII", 63, 64, 2) + b"\x10a",
    ],
)
def test_a_chunk_that_is_not_a_row_is_refused(tmp_path: Path, chunk: bytes) -> None:
    path = tmp_path / "file.h5"
    with h5py.File(path, "w", libver="v110") as file:
        array = file.create_dataset("images", (1, 8, 8), "u1", chunks=(1, 8, 8), **hdf5plugin.LZ4())
        array.id.write_direct_chunk((0, 0, 0), chunk or b"\0")
        found = _places(array)
    with pytest.raises(ChunkError):
        _read(path, found, [0])


def test_a_chunk_larger_than_any_row_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "file.h5", "w", libver="v110") as file:
        array = file.create_dataset("images", (1, 8, 8), "u1", chunks=(1, 8, 8), **hdf5plugin.LZ4())
        array.id.write_direct_chunk((0, 0, 0), b"\0" * 10_000)
        with pytest.raises(ChunkError, match="larger than any row"):
            _places(array)


def test_a_file_that_was_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.h5"
    values = np.random.default_rng(0).integers(0, 256, (4, 8, 8), dtype=np.uint8)
    found = _stored(path, values)
    with open(path, "r+b") as file:
        file.truncate(int(found.offsets[-1]) + 10)
    with pytest.raises(ChunkError, match="cut short"):
        _read(path, found, [3])
