"""Images per second of training, pictures in memory or on disk, against the plain PyTorch way.

    python benchmarks/training.py [--n 512] [--sizes 64x32,128x128] [--models pbn,cnn-lstm] [--rounds 2]
        [--device cpu] [--precision float32] [--together] [--out FILE]

All ways train the same network (same layers, same batches of 128 in the same order, Adam at 1e-3) for an
epoch:

plain     a DataLoader over the data set's torch view with 0 or 2 workers, pictures as (3, h, w) floats in
          default memory order, the label's embedding concatenated to the picture as channels for either
          slot, Adam as it comes.
simtown   pictures kept as bytes and picked by index, channels-last memory, the label's channels in their
          exact cheap form, fused Adam, on a processor memory that stays with the process (`keep_memory`).
simtown, from disk
          the same, but pictures and columns are read from the shards one batch ahead, as `simtown fit
          --no-cache` reads them.

Figures: `load` loads only (batches made, nothing learned), `step` learns only (one batch again and again),
`whole` is an epoch with both; `load share` is what loading adds to a step. Each way has a process of its own;
they take turns in rounds, so that a slow minute of the machine hits all alike. Medians are reported, and as
`ratio_to_cached` the median over rounds of a way's `whole` to that of pictures in memory. Writes
benchmarks/results/training.csv.

--together times several runs of a grid at once instead: worker processes of one thread against one of all
threads (on a card: 1, 4, 8 and 16 processes). Writes benchmarks/results/together.csv.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from machine import RESULTS, Rows, machine, options
from torch.utils.data import DataLoader, Subset

from simtown.core.processes import keep_memory
from simtown.datasets.generate import generate
from simtown.datasets.reader import Dataset, open_dataset
from simtown.datasets.settings import Settings
from simtown.training.fit import loss_of
from simtown.training.models import build
from simtown.training.models.pbn import LabelledConvolution
from simtown.training.sources import FromDisk, Resident, chunks
from simtown.training.world import Batch, World

SIZE = 128
#: Workers of DataLoader, or a source of ours.
WAYS: dict[str, int | type[Resident] | type[FromDisk]] = {
    "plain, 0 workers": 0,
    "plain, 2 workers": 2,
    "simtown": Resident,
    "simtown, from disk": FromDisk,
}
FIGURES = ("load", "step", "whole")
Batches = Callable[[], Iterator[Batch]]


def plain_batches(dataset: Dataset, workers: int, device: torch.device) -> Batches:
    """The way of the tutorials: a DataLoader, pictures turned into floats, boxes into middles and sizes."""
    view = Subset(dataset.train.torch(), range(len(dataset.train) // SIZE * SIZE))
    loader = DataLoader(view, SIZE, num_workers=workers, persistent_workers=workers > 0)

    def batches() -> Iterator[Batch]:
        for b in loader:
            low, high = b["boxes"].split(2, dim=-1)
            boxes = torch.cat([(low + high) / 2, high - low], dim=-1).float()
            image = b["image"].float() / 127.5 - 1
            columns = (image, b["tokens"], b["subject"], b["relation"], b["object"], boxes, b["answer"])
            yield Batch(*(c.to(device) for c in columns))

    return batches


class Way:
    """One way of training one model on one data set; each figure is a method that returns examples."""

    def __init__(self, name: str, path: str, model: str, device: str, precision: str) -> None:
        dataset, kind = open_dataset(path), WAYS[name]
        self.device, self.precision = torch.device(device), precision
        torch.manual_seed(0)
        self.model = build(model, World.of(dataset.settings), {}).to(self.device)
        ours = not isinstance(kind, int)
        if isinstance(kind, int):
            self.batches = plain_batches(dataset, kind, self.device)
            for part in self.model.modules():
                if isinstance(part, LabelledConvolution):  # in its plain form, which leaves nothing to add
                    part.forward = lambda *inputs, part=part: (part.plain(*inputs), None)  # type: ignore[method-assign]
        else:
            n = len(dataset.train) // SIZE * SIZE
            source = kind(dataset.train, n, dataset.settings, self.device)
            self.batches = lambda: source.batches(chunks(n, SIZE))
            self.model = self.model.to(memory_format=torch.channels_last)
            if device == "cpu":
                keep_memory()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=ours or None)
        self.one = next(self.batches())

    def learn(self, batch: Batch) -> int:
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.precision == "bf16"):
            loss, _ = loss_of(self.model, batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return len(batch)

    def rate(self, figure: str) -> float:
        """Examples a second."""
        begun, examples = perf_counter(), getattr(self, figure)()
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return examples / (perf_counter() - begun)

    def load(self) -> int:
        return sum(len(batch) for batch in self.batches())

    def step(self) -> int:
        return sum(self.learn(self.one) for _ in range(4))

    def whole(self) -> int:
        return sum(self.learn(batch) for batch in self.batches())


def serve(pipe: Connection, threads: int, *way: str) -> None:
    """A process of one way: asked for a figure, it answers images/s."""
    if threads:
        torch.set_num_threads(threads)
    made = Way(*way)
    while figure := pipe.recv():
        pipe.send(made.rate(figure))


def start(threads: int, *way: str) -> Connection:
    """Start a process of one way; it ends when it is sent None."""
    context = multiprocessing.get_context("spawn")
    pipe, other = context.Pipe()
    context.Process(target=serve, args=(other, threads, *way)).start()
    return pipe


def measure(path: Path, model: str, rounds: int, device: str, precision: str) -> Iterator[dict[str, object]]:
    """A row of medians for each way."""
    pipes = {name: start(0, name, str(path), model, device, precision) for name in WAYS}
    rates: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds + 1):  # the first warms up
        print(f"{model} {path.name}, round {turn} of {rounds}", file=sys.stderr)
        for name, pipe in pipes.items():
            for figure in FIGURES:
                pipe.send(figure)
                rate = pipe.recv()
                if turn:
                    rates.setdefault((name, figure), []).append(rate)
    for pipe in pipes.values():
        pipe.send(None)
    best = max(median(rates[name, "whole"]) for name, kind in WAYS.items() if isinstance(kind, int))
    for name in WAYS:
        load, step, whole = (median(rates[name, figure]) for figure in FIGURES)
        pairs = zip(rates[name, "whole"], rates["simtown", "whole"], strict=True)
        about = {"model": model, "size": path.name, "device": device, "precision": precision, "way": name}
        yield about | {
            "load": round(load),
            "step": round(step),
            "whole": round(whole),
            "load_share": round((1 / load) / (1 / load + 1 / step), 3),
            "ratio_to_best_plain": round(whole / best, 2),
            "ratio_to_cached": round(median(mine / cached for mine, cached in pairs), 3),
        }


def together(path: Path, model: str, device: str, precision: str) -> Iterator[dict[str, object]]:
    """A row for each number of processes that train models of one data set at once, an epoch each time."""
    cores = os.cpu_count() or 1
    cases = [(1, cores), (cores, 1)] if device == "cpu" else [(1, 1), (4, 1), (8, 1), (16, 1)]
    for count, threads in cases:
        pipes = [start(threads, "simtown", str(path), model, device, precision) for _ in range(count)]
        rates: list[float] = []
        for turn in range(6):
            for pipe in pipes:
                pipe.send("whole")
            answers = [pipe.recv() for pipe in pipes]
            rates += [sum(answers)] if turn else []  # the first warms up
        for pipe in pipes:
            pipe.send(None)
        way = f"{count} process{'es' * (count > 1)} of {threads} thread{'s' * (threads > 1)}"
        about = {"model": model, "size": path.name, "device": device, "precision": precision, "way": way}
        yield about | {"images_per_second": round(median(rates))}


def main() -> None:
    what = {"n": 512, "sizes": ["64x32", "128x128"], "models": ["pbn", "cnn-lstm"], "rounds": 2}
    args = options(__doc__, **what, device="cpu", precision="float32", together=False, out="")
    sizes = [tuple(map(int, size.split("x"))) for size in args.sizes]
    where = f"{machine('torch', 'numpy')}, {torch.get_num_threads()} threads"
    if args.device != "cpu":
        where = f"{torch.cuda.get_device_name(args.device)}, {where}"
    out = Path(args.out or RESULTS / f"{'together' if args.together else 'training'}.csv")
    with tempfile.TemporaryDirectory() as scratch, Rows(out, where) as rows:
        for width, height in sizes:
            path = Path(scratch) / f"{width}x{height}"
            generate(Settings(entities=31, n=args.n, val=0, test=0, width=width, height=height), path)
            for model in args.models:
                if args.together:
                    measured = together(path, model, args.device, args.precision)
                else:
                    measured = measure(path, model, args.rounds, args.device, args.precision)
                for row in measured:
                    rows.add(row)


if __name__ == "__main__":
    main()
