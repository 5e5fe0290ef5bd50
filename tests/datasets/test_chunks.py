"""Pictures read past HDF5 are those that HDF5 reads, and a chunk that is not what it should be is refused."""

from __future__ import annotations

import struct
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.datasets import chunks
from simtown.datasets.chunks import ChunkError, find, open_file


def _stored(path: Path, values: np.ndarray, **how: object) -> chunks.Chunks | None:
    with h5py.File(path, "w", libver="v110") as file:
        how = how or {**hdf5plugin.LZ4()}
        found = find(file.create_dataset("images", data=values, chunks=(1, *values.shape[1:]), **how))
    return found


def _read(path: Path, found: chunks.Chunks, rows: list[int]) -> np.ndarray:
    out = np.zeros((len(rows), *found.shape), dtype=found.dtype)
    with open_file(path) as file:
        found.read(file, np.array(rows, dtype=np.int64), out, range(len(rows)))
    return out


@given(
    st.integers(1, 5), st.integers(1, 9), st.integers(1, 9), st.sampled_from(["u1", "<f4"]), st.sampled_from([0, 4, 64]),
    st.integers(0, 256), st.randoms(use_true_random=False),
)  # fmt: skip
def test_what_hdf5_wrote_is_read(
    tmp_path_factory: pytest.TempPathFactory, count: int, height: int, width: int, kind: str, block: int, levels: int, random: object
) -> None:
    path = tmp_path_factory.getbasetemp() / "chunks.h5"
    generator = np.random.default_rng(random.randrange(2**32))  # type: ignore[attr-defined]
    values = generator.integers(0, levels + 1, (count, height, width)).astype(kind)
    found = _stored(path, values, **hdf5plugin.LZ4(nbytes=block))
    assert found is not None
    rows = generator.integers(0, count, 7).tolist()
    np.testing.assert_array_equal(_read(path, found, rows), values[rows])


def test_other_arrays_are_left_to_hdf5(tmp_path: Path) -> None:
    values = np.zeros((4, 8, 8), dtype=np.uint8)
    for how in ({"compression": "gzip"}, {"shuffle": True, **hdf5plugin.LZ4()}, {"compression": None}):
        assert _stored(tmp_path / "file.h5", values, **how) is None
    with h5py.File(tmp_path / "file.h5", "w") as file:
        assert find(file.create_dataset("images", data=values, chunks=(2, 8, 8), **hdf5plugin.LZ4())) is None


def test_rows_that_were_never_written_are_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "file.h5", "w", libver="v110") as file:
        array = file.create_dataset("images", (1000, 8, 8), "u1", chunks=(1, 8, 8), **hdf5plugin.LZ4())
        array[:999] = 1
        with pytest.raises(ChunkError, match="missing"):
            find(array)


@pytest.mark.parametrize(
    "chunk",
    [b"", b"\0" * 11, struct.pack(">QII", 64, 64, 1000) + b"x" * 10, struct.pack(">QII", 1 << 40, 64, 4), struct.pack(">QII", 64, 0, 4),
     struct.pack(">QII", 64, 64, 10) + b"\xff" * 10, struct.pack(">QII", 64, 64, 2) + b"\x10a", struct.pack(">QII", 63, 64, 2) + b"\x10a"],
)  # fmt: skip
def test_a_chunk_that_is_not_a_row_is_refused(tmp_path: Path, chunk: bytes) -> None:
    path = tmp_path / "file.h5"
    with h5py.File(path, "w", libver="v110") as file:
        array = file.create_dataset("images", (1, 8, 8), "u1", chunks=(1, 8, 8), **hdf5plugin.LZ4())
        array.id.write_direct_chunk((0, 0, 0), chunk or b"\0")
        found = find(array)
    assert found is not None
    with pytest.raises(ChunkError):
        _read(path, found, [0])


def test_a_chunk_larger_than_any_row_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "file.h5", "w", libver="v110") as file:
        array = file.create_dataset("images", (1, 8, 8), "u1", chunks=(1, 8, 8), **hdf5plugin.LZ4())
        array.id.write_direct_chunk((0, 0, 0), b"\0" * 10_000)
        with pytest.raises(ChunkError, match="too large"):
            find(array)


def test_a_file_that_was_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.h5"
    values = np.random.default_rng(0).integers(0, 256, (4, 8, 8), dtype=np.uint8)
    found = _stored(path, values)
    assert found is not None
    with open(path, "r+b") as file:
        file.truncate(int(found.offsets[-1]) + 10)
    with pytest.raises(ChunkError, match="cut short"):
        _read(path, found, [3])
