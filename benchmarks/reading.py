"""How fast a training loop gets pictures in random order: simtown's views, and the loaders that people use.

    python benchmarks/reading.py [--n 6000] [--sizes 64x32,128,256] [--workers 0,2] [--repeats 3] [--cut]

A data set of each size is exported to what the others read: PNG files (Pillow; OpenCV in the threads of
SPDL), Parquet with PNG inside (datasets), tar files with PNG inside (webdataset, its shuffle buffer 1,000),
and raw pixels (LitData; grain with array-record). Those that are not installed are left out. All give batches
of 128 of uint8 pictures and of answers; SPDL has threads where the others have worker processes. A run is the
second epoch, of the same workers, so processes and files are open by then. Runs go in rounds over all
loaders, so that a slow minute of the machine hits all alike. Cold: the kernel was asked to forget all files
before that epoch; warm: they were read once (--files warm,cold). With --cut each picture is also cut to seven
eighths of its width and height at a random place and mirrored half the time, in rows of their own: simtown
cuts while it reads, and the loop mirrors the batch; the others do both to each picture as they decode it.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import cv2
import numpy as np
import torch
from machine import RESULTS, Rows, machine, options
from PIL import Image
from torch.utils.data import DataLoader

from simtown.datasets.export import export
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.reading.shuffled import Shuffled
from simtown.datasets.settings import Settings

BATCH = 128
#: Cuts and mirrors a picture (h, w, 3), or gives it back as it is.
Augment = Callable[[np.ndarray], np.ndarray]
#: Makes a DataLoader with so many workers.
Loader = Callable[[int], Any]


def _loader(dataset: Any, workers: int, batch: int | None = BATCH) -> Any:
    """A DataLoader that keeps its workers; a data set that makes whole batches has a `batch` of None."""
    kept, shuffle = workers > 0, True if batch else None
    return DataLoader(dataset, batch, shuffle, num_workers=workers, persistent_workers=kept)


def smaller(side: int) -> int:
    """The side of a picture after the cut."""
    return side * 7 // 8


def cut_and_mirror(picture: np.ndarray) -> np.ndarray:
    """A random window of a picture (h, w, 3), mirrored half the time."""
    height, width = map(smaller, picture.shape[:2])
    top = random.randint(0, picture.shape[0] - height)
    left = random.randint(0, picture.shape[1] - width)
    window = picture[top : top + height, left : left + width]
    return np.ascontiguousarray(window[:, ::-1] if random.random() < 0.5 else window)


class Mirrored:
    """Batches of a loader of simtown, with half of the pictures mirrored."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.loader:
            pictures = batch["image"]
            for i in (torch.rand(len(pictures)) < 0.5).nonzero()[:, 0].tolist():
                pictures[i] = pictures[i].flip(-1)
            yield batch


class Png(torch.utils.data.Dataset[Any]):
    """A folder of PNG files and a list of answers."""

    def __init__(self, folder: Path, answers: np.ndarray, augment: Augment) -> None:
        self.paths, self.answers = sorted(folder.rglob("*.png")), answers
        self.augment = augment

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        picture = self.augment(np.array(Image.open(self.paths[i])))
        return torch.from_numpy(picture), int(self.answers[i])


def parquet(folder: Path, augment: Augment) -> Any:
    from datasets import Features, Value, load_dataset
    from datasets import Image as Picture

    files = [str(path) for path in sorted((folder / "data").glob("train-*.parquet"))]
    loaded = load_dataset("parquet", data_files=files, split="train", cache_dir=str(folder / "cache"))
    kept = loaded.select_columns(["image", "answer"])
    typed = kept.cast(Features({"image": Picture(), "answer": Value("bool")}))
    if augment is not cut_and_mirror:
        return typed.with_format("torch")

    def decode(batch: dict[str, Any]) -> dict[str, Any]:
        pictures = [torch.from_numpy(augment(np.array(picture))) for picture in batch["image"]]
        return {"image": pictures, "answer": batch["answer"]}

    return typed.with_transform(decode)


def tars(folder: Path, workers: int, augment: Augment) -> Any:
    import webdataset

    files = [str(path) for path in sorted(folder.glob("train-*.tar"))]
    examples = webdataset.WebDataset(files, shardshuffle=len(files), empty_check=False).shuffle(1000)
    if augment is cut_and_mirror:
        pairs = examples.decode("rgb8").to_tuple("png", "cls").map_tuple(augment, int)
    else:
        pairs = examples.decode("torchrgb8").to_tuple("png", "cls")
    batches = pairs.batched(BATCH)
    return _loader(batches, min(workers, len(files)), None)


def raw_chunks(folder: Path, pictures: np.ndarray, answers: np.ndarray, augment: Augment) -> Loader:
    import litdata
    from litdata.streaming.writer import BinaryWriter

    folder.mkdir()
    writer = BinaryWriter(str(folder), chunk_bytes=1 << 26)
    for i, (picture, answer) in enumerate(zip(pictures, answers.tolist(), strict=True)):
        writer[i] = {"image": torch.from_numpy(picture), "answer": int(answer)}
    writer.done()
    writer.merge()

    def change(example: dict[str, Any]) -> dict[str, Any]:
        return {**example, "image": torch.from_numpy(augment(example["image"].numpy()))}

    own = {"transform": change} if augment is cut_and_mirror else {}
    examples = litdata.StreamingDataset(str(folder), shuffle=True, **own)
    return lambda workers: litdata.StreamingDataLoader(
        examples, batch_size=BATCH, num_workers=workers, persistent_workers=workers > 0
    )


def raw_records(path: Path, pictures: np.ndarray, answers: np.ndarray, augment: Augment) -> Loader:
    import grain.python as grain
    from array_record.python.array_record_module import ArrayRecordWriter

    writer, shape = ArrayRecordWriter(str(path), "group_size:1"), pictures.shape[1:]
    for picture, answer in zip(pictures, answers.tolist(), strict=True):
        writer.write(bytes([answer]) + picture.tobytes())
    writer.close()

    def parse(record: bytes) -> dict[str, Any]:
        picture = np.frombuffer(record, np.uint8, offset=1).reshape(shape)
        return {"answer": record[0], "image": augment(picture)}

    examples = grain.MapDataset.source(grain.ArrayRecordDataSource([str(path)])).shuffle(seed=0)
    batches = examples.map(parse).batch(BATCH)

    def load(workers: int) -> Any:
        read = batches.to_iter_dataset()
        return read.mp_prefetch(grain.MultiprocessingOptions(num_workers=workers)) if workers else read

    return load


class Threads:
    """Batches of a folder of PNG files by the threads of SPDL."""

    def __init__(self, folder: Path, answers: np.ndarray, augment: Augment, threads: int) -> None:
        self.png, self.threads = Png(folder, answers, augment), threads

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        from spdl.pipeline import PipelineBuilder

        order = np.random.default_rng(0).permutation(len(self.png))
        batches = PipelineBuilder().add_source(np.split(order, range(BATCH, len(order), BATCH)))
        threads = max(self.threads, 1)
        built = batches.pipe(self._batch, concurrency=threads).add_sink(2).build(num_threads=threads)
        with built.auto_stop():
            yield from built

    def _batch(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pictures = [self.png.augment(cv2.imread(str(self.png.paths[row]))) for row in rows]
        return np.stack(pictures), self.png.answers[rows]


def make(folder: Path, width: int, height: int, n: int, cut: bool) -> dict[str, Loader]:
    """The same examples in every form; the loaders by name."""
    generate(Settings(n=n, val=0, test=0, width=width, height=height), folder / "simtown")
    data = open_dataset(folder / "simtown")
    for form in ("png", "webdataset", "parquet"):
        export(data, form, ["train"], folder / form)
    augment: Augment = cut_and_mirror if cut else np.asarray
    answers = data.train.column("answer")
    table = parquet(folder / "parquet", augment)
    loaders: dict[str, Loader] = {}
    raw = data.train.images(np.arange(n)), answers
    with suppress(ImportError):
        loaders["litdata"] = raw_chunks(folder / "litdata", *raw, augment)
    with suppress(ImportError):
        loaders["grain"] = raw_records(folder / "records.array_record", *raw, augment)
    if find_spec("spdl"):
        loaders["spdl"] = lambda workers: Threads(folder / "png", answers, augment, workers)
    if cut:
        view = data.train.torch((smaller(width), smaller(height)))
        loaders["simtown"] = lambda workers: Mirrored(_loader(view, workers))
    else:
        loaders["simtown"] = lambda workers: _loader(data.train.torch(), workers)
        loaders["simtown, blocks"] = lambda workers: _loader(Shuffled(data.train, BATCH), workers, None)
    return loaders | {
        "png": lambda workers: _loader(Png(folder / "png", answers, augment), workers),
        "datasets": lambda workers: _loader(table, workers),
        "webdataset": lambda workers: tars(folder / "webdataset", workers, augment),
    }


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


#: By the state of the files before an epoch.
STATES = {"warm": recall, "cold": forget}


def second_epoch(loader: Any, between: Callable[[Path], None], folder: Path) -> tuple[float, float]:
    """Examples/s of an epoch, and of this process's own processor time; `between` is called before it."""
    for _ in loader:
        pass
    between(folder)
    begun, used, count = perf_counter(), process_time(), 0
    for batch in loader:
        count += len(batch["answer"] if isinstance(batch, dict) else batch[1])
    return count / (perf_counter() - begun), count / max(process_time() - used, 1e-9)


def measure(
    size: str, n: int, counts: list[int], rounds: int, files: list[str], cut: bool
) -> Iterator[dict[str, object]]:
    """A row for each loader, number of workers, and state of the files."""
    width, height = (int(side) for side in (size.split("x") * 2)[:2])
    with tempfile.TemporaryDirectory() as scratch:
        folder, runs = Path(scratch), defaultdict(list)
        loaders = make(folder, width, height, n, cut)
        for _, name, workers, state in product(range(rounds + 1), loaders, counts, files):
            speeds = second_epoch(loaders[name](workers), STATES[state], folder)
            runs[name, workers, state].append(speeds)
    for (name, workers, state), measured in runs.items():
        speeds, own = zip(*measured[1:], strict=True)  # the first round only warms up
        yield {
            "size": size,
            "loader": name,
            "workers": workers,
            "files": state,
            "pictures": "cut and mirrored" if cut else "whole",
            "examples_per_second": round(median(speeds)),
            "low": round(min(speeds)),
            "high": round(max(speeds)),
            "per_own_cpu_second": "" if workers else round(median(own)),
        }


def main() -> None:
    what = {
        "n": 6000,
        "sizes": ["64x32", "128", "256"],
        "workers": [0, 2],
        "repeats": 3,
        "files": ["warm"],
        "cut": False,
    }
    args = options(__doc__, **what, out=RESULTS / "reading.csv")
    torch.set_num_threads(1)
    libraries = ("torch", "numpy", "h5py", "hdf5plugin", "cramjam", "pillow", "datasets", "webdataset")
    libraries += ("litdata", "grain", "array-record", "spdl")
    where = f"{machine(*libraries)}; {args.n} examples, batches of {BATCH}, {args.repeats} rounds, medians"
    rows = Rows(args.out, where)
    for size, cut in product(args.sizes, [False, True][: 1 + args.cut]):
        for row in measure(size, args.n, args.workers, args.repeats, args.files, cut):
            rows.add(row)


if __name__ == "__main__":
    main()
