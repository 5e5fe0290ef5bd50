"""How fast a training loop gets pictures in random order: simtown's views, and the loaders that people use.

    python benchmarks/reading.py [--n 6000] [--sizes 64x32,128,256] [--workers 0,2] [--repeats 3] [--out FILE]

One simtown data set of each size is made, and from it what the others read: PNG files (Pillow), Parquet with
PNG inside (datasets), tar files with PNG inside (webdataset, its shuffle buffer 1,000) and MDS files with raw
pixels (MosaicML's streaming, where it is installed). All feed PyTorch's DataLoader with batches of 128 of a
uint8 tensor of pictures and one of answers. "h5py" is simtown's file read a row at a time by h5py, as any
program can. A run is the second epoch of a DataLoader that keeps its workers, so processes and files are open
by then. Runs go in rounds over all loaders, so that a slow minute of the machine hits all alike. Cold: the
kernel was asked to forget all files before that epoch; warm: they were read once.
"""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import torch
from machine import RESULTS, Rows, machine, options
from PIL import Image
from torch.utils.data import DataLoader

from simtown.datasets.export import export
from simtown.datasets.generate import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.shuffled import Shuffled

BATCH = 128
#: Makes a DataLoader with so many workers.
Loader = Callable[[int], Any]


def _plain(dataset: Any, workers: int, shuffle: bool | None = True) -> DataLoader[Any]:
    return DataLoader(
        dataset, batch_size=BATCH, shuffle=shuffle, num_workers=workers, persistent_workers=workers > 0
    )


def _batched(batches: Any, workers: int) -> DataLoader[Any]:
    return DataLoader(batches, batch_size=None, num_workers=workers, persistent_workers=workers > 0)


class Png(torch.utils.data.Dataset[Any]):
    """A folder of PNG files and a list of answers."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted((folder / "images").rglob("*.png"))
        self.answers = np.load(folder / "answers.npy")

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        return torch.from_numpy(np.array(Image.open(self.paths[i]))), int(self.answers[i])


class H5py(torch.utils.data.Dataset[Any]):
    """simtown's shards read a row at a time by h5py."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.rglob("train-*.h5"))
        counts = []
        for path in self.paths:
            with h5py.File(path) as file:
                counts.append(len(file["answer"]))
        self.starts = np.cumsum([0, *counts])
        self.files: dict[int, Any] = {}

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __getitem__(self, i: int) -> tuple[torch.Tensor, bool]:
        number = int(np.searchsorted(self.starts, i, side="right")) - 1
        if number not in self.files:
            self.files[number] = h5py.File(self.paths[number])
        file, row = self.files[number], i - int(self.starts[number])
        return torch.from_numpy(file["images"][row]), bool(file["answer"][row])


def parquet(folder: Path) -> Any:
    from datasets import Features, Value, load_dataset
    from datasets import Image as Picture

    files = [str(path) for path in sorted((folder / "data").glob("train-*.parquet"))]
    loaded = load_dataset("parquet", data_files=files, split="train", cache_dir=str(folder / "cache"))
    kept = loaded.select_columns(["image", "answer"])
    return kept.cast(Features({"image": Picture(), "answer": Value("bool")})).with_format("torch")


def tars(folder: Path, workers: int) -> Any:
    import webdataset

    files = [str(path) for path in sorted(folder.glob("train-*.tar"))]
    examples = webdataset.WebDataset(files, shardshuffle=len(files), empty_check=False).shuffle(1000)
    batches = examples.decode("torchrgb8").to_tuple("png", "cls").batched(BATCH)
    return _batched(batches, min(workers, len(files)))


def make(folder: Path, width: int, height: int, n: int) -> dict[str, Loader]:
    """The same examples in every form; the loaders by name."""
    generate(Settings(n=n, val=0, test=0, width=width, height=height), folder / "simtown")
    data = open_dataset(folder / "simtown")
    (folder / "png" / "images").mkdir(parents=True)
    (folder / "tars").mkdir()
    answers = data.train.column("answer")
    np.save(folder / "png" / "answers.npy", answers)
    for number, first in enumerate(range(0, n, 1500)):
        rows = np.arange(first, min(first + 1500, n))
        with tarfile.open(folder / "tars" / f"train-{number:05d}.tar", "w") as tar:
            for i, picture in zip(rows, data.train.images(rows), strict=True):
                packed = io.BytesIO()
                Image.fromarray(picture).save(packed, format="PNG")
                (folder / "png" / "images" / f"{i:07d}.png").write_bytes(packed.getvalue())
                for ending, content in (("png", packed.getvalue()), ("cls", str(int(answers[i])).encode())):
                    entry = tarfile.TarInfo(f"{i:07d}.{ending}")
                    entry.size = len(content)
                    tar.addfile(entry, io.BytesIO(content))
    export(data, "parquet", ["train"], folder / "parquet")
    table = parquet(folder / "parquet")
    loaders: dict[str, Loader] = {
        "simtown": lambda workers: _plain(data.train.torch(), workers),
        "simtown, blocks": lambda workers: _batched(Shuffled(data.train, BATCH), workers),
        "h5py": lambda workers: _plain(H5py(folder / "simtown"), workers),
        "png": lambda workers: _plain(Png(folder / "png"), workers),
        "datasets": lambda workers: _plain(table, workers),
        "webdataset": lambda workers: tars(folder / "tars", workers),
    }
    try:
        from streaming import MDSWriter, StreamingDataset
    except ImportError as error:
        print(f"streaming is left out: {error}")
    else:
        columns = {"image": f"ndarray:uint8:{height},{width},3", "answer": "int"}
        with MDSWriter(out=str(folder / "mds"), columns=columns) as writer:
            for i in range(n):
                writer.write({"image": data.train.images([i])[0], "answer": int(answers[i])})
        loaders["streaming"] = lambda workers: _plain(
            StreamingDataset(local=str(folder / "mds"), batch_size=BATCH, shuffle=True), workers, None
        )
    return loaders


def forget(folder: Path) -> None:
    """Ask the kernel to drop what it keeps of the files."""
    for path in filter(Path.is_file, folder.rglob("*")):
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def recall(folder: Path) -> None:
    """Have the kernel keep all files in memory."""
    for path in filter(Path.is_file, folder.rglob("*")):
        path.read_bytes()


def one_run(loader: Any, between: Callable[[Path], None], folder: Path) -> tuple[float, float]:
    """Examples/s of the second epoch, and of this process's own processor time.

    `between` is called before it.
    """
    for _ in loader:
        pass
    between(folder)
    begun, used, count = perf_counter(), process_time(), 0
    for batch in loader:
        count += len(batch["answer"] if isinstance(batch, dict) else batch[1])
    return count / (perf_counter() - begun), count / max(process_time() - used, 1e-9)


def main() -> None:
    args = options(
        __doc__, n=6000, sizes=["64x32", "128", "256"], workers=[0, 2], repeats=3, out=RESULTS / "reading.csv"
    )
    torch.set_num_threads(1)
    libraries = ("torch", "numpy", "h5py", "hdf5plugin", "cramjam", "pillow", "datasets", "webdataset")
    where = f"{machine(*libraries)}; {args.n} examples, batches of {BATCH}, {args.repeats} rounds, medians"
    with Rows(args.out, where) as rows:
        for size in args.sizes:
            width, height = int(size.split("x")[0]), int(size.split("x")[-1])
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch)
                loaders = make(folder, width, height, args.n)
                cases = list(product(loaders, args.workers, ("warm", "cold")))
                runs: dict[Any, list[tuple[float, float]]] = {case: [] for case in cases}
                for number, case in product(range(args.repeats + 1), cases):
                    name, workers, state = case
                    speeds = one_run(loaders[name](workers), forget if state == "cold" else recall, folder)
                    if number:  # the first round only warms up
                        runs[case].append(speeds)
            for (name, workers, state), measured in runs.items():
                speeds, own = zip(*measured, strict=True)
                row = {"size": size, "loader": name, "workers": workers, "files": state}
                row |= {"examples_per_second": round(median(speeds))}
                row |= {"low": round(min(speeds)), "high": round(max(speeds))}
                rows.add(row | {"per_own_cpu_second": round(median(own)) if not workers else ""})


if __name__ == "__main__":
    main()
