"""Which codec pictures are kept in: frames a second written and read back, and bytes a frame, of raw bytes,
LZ4, Zstd and Blosc2.

    python benchmarks/encode.py [--n 2000] [--sizes 128,256] [--repeats 3]

Real frames of the default world, one chunk a picture as in a shard, to a file in memory's cache and back;
every codec in turn, in rounds. h5py lets one thread at a time into HDF5, so threads can only work inside a
codec: Blosc2 is timed with one and two of them. More frames than one process writes are written by more
processes, as `simtown generate` does. Writes benchmarks/results/encode.csv.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import h5py
import hdf5plugin
import numpy as np
from machine import RESULTS, Rows, machine, options

from simtown.datasets.settings import Settings
from simtown.language.sampler import sample
from simtown.render.raster import Raster

#: Name, filter, threads inside it.
CODECS: tuple[tuple[str, Any, int], ...] = (
    ("raw", {}, 1),
    ("LZ4", hdf5plugin.LZ4(), 1),
    ("Bitshuffle LZ4", hdf5plugin.Bitshuffle(cname="lz4"), 1),
    ("Zstd 1", hdf5plugin.Zstd(clevel=1), 1),
    ("Zstd 3", hdf5plugin.Zstd(clevel=3), 1),
    ("Zstd 9", hdf5plugin.Zstd(clevel=9), 1),
    ("Blosc2 LZ4", hdf5plugin.Blosc2(cname="lz4", clevel=5, filters=hdf5plugin.Blosc2.NOFILTER), 1),
    ("Blosc2 LZ4", hdf5plugin.Blosc2(cname="lz4", clevel=5, filters=hdf5plugin.Blosc2.NOFILTER), 2),
    ("Blosc2 Zstd 1", hdf5plugin.Blosc2(cname="zstd", clevel=1, filters=hdf5plugin.Blosc2.NOFILTER), 1),
    ("Blosc2 Zstd 1", hdf5plugin.Blosc2(cname="zstd", clevel=1, filters=hdf5plugin.Blosc2.NOFILTER), 2),
)


def frames(n: int, size: int) -> np.ndarray:
    """(n, size, size, 3) uint8: the first training pictures of the default world."""
    settings, raster = Settings(n=n, width=size, height=size), Raster()
    parts = [np.arange(i, min(i + 256, n)) for i in range(0, n, 256)]
    return np.concatenate(
        [
            raster.render(sample(settings.recipe("train"), part).scene, size, size, geometry=False).rgb
            for part in parts
        ]
    )


def once(pictures: np.ndarray, codec: Any, order: np.ndarray) -> tuple[float, float, float]:
    """Frames/s written, frames/s read in a shuffled order, and bytes a frame."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "pictures.h5"
        begun = perf_counter()
        with h5py.File(path, "w", libver="v110") as file:
            kept = file.create_dataset(
                "images", pictures.shape, "u1", chunks=(1, *pictures.shape[1:]), **codec
            )
            for i in range(0, len(pictures), 256):
                kept[i : i + 256] = pictures[i : i + 256]
        written = perf_counter() - begun
        size = path.stat().st_size
        begun = perf_counter()
        with h5py.File(path) as file:
            kept = file["images"]
            for row in order.tolist():
                picture = kept[row]
        read = perf_counter() - begun
    assert np.array_equal(picture, pictures[row])
    return len(pictures) / written, len(pictures) / read, size / len(pictures)


def main() -> None:
    args = options(__doc__, n=2000, sizes=[128, 256], repeats=3)
    where = f"{machine('numpy', 'h5py', 'hdf5plugin')}; {args.n} frames, {args.repeats} rounds, medians"
    with Rows(RESULTS / "encode.csv", where) as rows:
        for size in args.sizes:
            pictures, order = frames(args.n, size), np.random.default_rng(0).permutation(args.n)
            measured: list[list[tuple[float, float, float]]] = [[] for _ in CODECS]
            for _ in range(args.repeats):
                for number, (_, codec, threads) in enumerate(CODECS):
                    os.environ["BLOSC_NTHREADS"] = str(threads)
                    measured[number].append(once(pictures, codec, order))
            for (name, _, threads), figures in zip(CODECS, measured, strict=True):
                written, read, held = (round(median(column)) for column in zip(*figures, strict=True))
                case = {"size": size, "codec": name, "threads": threads}
                rows.add(case | {"written": written, "read": read, "bytes": held})


if __name__ == "__main__":
    main()
