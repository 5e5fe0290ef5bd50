"""Images per second of training, pictures in memory or on disk, against the plain PyTorch way, in the same
run on the same examples.

    python benchmarks/training.py [--n 512] [--sizes 64x32,128x128] [--models pbn,cnn-lstm] [--rounds 2]
        [--device cpu] [--precision float32] [--together] [--out FILE]

All ways train the same network (same layers, same batches of 128 in the same order, Adam at 1e-3) for an
epoch:

plain     a DataLoader over the data set's torch view with 0 or 2 workers, pictures as (3, h, w) floats in
          default memory order,
          the label's embedding concatenated to the picture as channels for either slot, Adam as it comes.
simtown   pictures kept as bytes and picked by index, channels-last memory, the label's channels in their
          exact cheap form, fused Adam,
          on a processor memory that stays with the process (`keep_memory`).
simtown, from disk
          the same, but pictures and columns are read from the shards one batch ahead, as `simtown fit
          --no-cache` reads them.

Figures: `load` loads only (batches made, nothing learned), `step` learns only (one batch again and again),
`whole` is an epoch with both; `load share` is what loading adds to a step. They take turns in rounds, so that
a slow minute of the machine hits all alike; medians are reported, and as `ratio_to_cached` the median over
rounds of a way's `whole` to that of pictures in memory. Writes benchmarks/results/training.csv.

--together times several runs of a grid at once instead: worker processes of one thread against one of all
threads (on a card: 1, 4, 8 and 16 processes), and Place-Binder Networks stacked by torch.func.vmap against
one after the other. Writes benchmarks/results/together.csv.

Rows are written as soon as they are measured.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch
from machine import Rows, machine
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.utils.data import DataLoader, Subset

from simtown.core.processes import keep_memory
from simtown.datasets.generate import generate
from simtown.datasets.reader import Dataset, open_dataset
from simtown.datasets.settings import Settings
from simtown.training.fit import loss_of
from simtown.training.models import MODELS, build
from simtown.training.models.pbn import LabelledConvolution
from simtown.training.sources import FromDisk, Resident
from simtown.training.world import Batch, World

RESULTS = Path(__file__).parent / "results"
SIZE = 128


def plain_batches(dataset: Dataset, workers: int, device: torch.device) -> Callable[[], Iterator[Batch]]:
    """The way of the tutorials: a DataLoader that collates, pictures turned into floats, boxes into middles
    and sizes.
    """
    n = len(dataset.train) // SIZE * SIZE
    loader = DataLoader(
        Subset(dataset.train.torch(), range(n)), SIZE, num_workers=workers, persistent_workers=workers > 0
    )

    def batches() -> Iterator[Batch]:
        for b in loader:
            low, high = b["boxes"].split(2, dim=-1)
            boxes = torch.cat([(low + high) / 2, high - low], dim=-1).float()
            image = b["image"].float() / 127.5 - 1
            columns = (image, b["tokens"], b["subject"], b["relation"], b["object"], boxes, b["answer"])
            yield Batch(*(c.to(device) for c in columns))

    return batches


def our_batches(
    dataset: Dataset, device: torch.device, kind: type[Resident] | type[FromDisk] = Resident
) -> Callable[[], Iterator[Batch]]:
    """simtown's own source."""
    n = len(dataset.train) // SIZE * SIZE
    source = kind(dataset.train, n, dataset.settings, device)
    return lambda: source.batches(np.arange(n), SIZE)


class Way:
    """One way of training one model on one data set."""

    def __init__(
        self,
        name: str,
        model: str,
        world: World,
        batches: Callable[[], Iterator[Batch]],
        device: torch.device,
        precision: str,
    ) -> None:
        self.name, self.batches, self.device, self.precision = name, batches, device, precision
        torch.manual_seed(0)
        ours = name.startswith("simtown")
        self.model = build(model, world, {}).to(
            device, memory_format=torch.channels_last if ours else torch.contiguous_format
        )
        if not ours:
            for part in self.model.modules():
                if isinstance(part, LabelledConvolution):
                    part.forward = self._plainly(part)  # type: ignore[method-assign]
        self.optimizer = (
            torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True)
            if ours
            else torch.optim.Adam(self.model.parameters())
        )
        self.one = next(batches())

    @staticmethod
    def _plainly(part: LabelledConvolution) -> Callable[[torch.Tensor, torch.Tensor], Any]:
        """The convolution in its plain form, which leaves nothing to be added."""
        return lambda image, labels: (part.plain(image, labels), None)

    def learn(self, batch: Batch) -> None:
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.precision == "bf16"):
            loss, _ = loss_of(self.model, batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()

    def rate(self, work: Callable[[], int]) -> float:
        begun = perf_counter()
        examples = work()
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return examples / (perf_counter() - begun)

    def load(self) -> int:
        return sum(len(batch) for batch in self.batches())

    def step(self) -> int:
        for _ in range(4):
            self.learn(self.one)
        return 4 * SIZE

    def whole(self) -> int:
        examples = 0
        for batch in self.batches():
            self.learn(batch)
            examples += len(batch)
        return examples


#: Workers of DataLoader, or a source of ours.
WAYS: dict[str, int | type[Resident] | type[FromDisk]] = {
    "plain, 0 workers": 0,
    "plain, 2 workers": 2,
    "simtown": Resident,
    "simtown, from disk": FromDisk,
}
FIGURES = ("load", "step", "whole")


def serve(name: str, path: str, model: str, device_name: str, precision: str, pipe: Connection) -> None:
    """A process of one way: asked for a figure, it answers images/s."""
    dataset, device, kind = open_dataset(path), torch.device(device_name), WAYS[name]
    if not isinstance(kind, int) and device.type == "cpu":
        keep_memory()
    batches = (
        plain_batches(dataset, kind, device) if isinstance(kind, int) else our_batches(dataset, device, kind)
    )
    way = Way(name, model, World.of(dataset), batches, device, precision)
    while figure := pipe.recv():
        pipe.send(way.rate(getattr(way, figure)))


def measure(path: Path, model: str, rounds: int, device: str, precision: str) -> list[dict[str, object]]:
    """A row of medians for each way.

    Each has a process of its own, since how memory is kept is a process's matter; they take turns.
    """
    context, size = multiprocessing.get_context("spawn"), path.name
    pipes, team = {}, []
    for name in WAYS:
        pipes[name], other = context.Pipe()
        team.append(context.Process(target=serve, args=(name, str(path), model, device, precision, other)))
        team[-1].start()
    rates: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds + 1):  # the first warms up
        print(f"{model} {size}, round {turn} of {rounds}", file=sys.stderr)
        for name, pipe in pipes.items():
            for figure in FIGURES:
                pipe.send(figure)
                rate = pipe.recv()
                if turn:
                    rates.setdefault((name, figure), []).append(rate)
    for pipe in pipes.values():
        pipe.send(None)
    for member in team:
        member.join()
    rows = []
    best = max(median(rates[name, "whole"]) for name, kind in WAYS.items() if isinstance(kind, int))
    for name in WAYS:
        load, step, whole = (median(rates[name, figure]) for figure in FIGURES)
        to_cached = median(
            mine / cached
            for mine, cached in zip(rates[name, "whole"], rates["simtown", "whole"], strict=True)
        )
        rows.append(
            {
                "model": model,
                "size": size,
                "device": device,
                "precision": precision,
                "way": name,
                "load": round(load),
                "step": round(step),
                "whole": round(whole),
                "load_share": round((1 / load) / (1 / load + 1 / step), 3),
                "ratio_to_best_plain": round(whole / best, 2),
                "ratio_to_cached": round(to_cached, 3),
            }
        )
    return rows


def _alone(
    path: str, model: str, device_name: str, precision: str, threads: int, seconds: float, told: object
) -> None:
    torch.set_num_threads(threads)
    if device_name == "cpu":
        keep_memory()
    dataset, device = open_dataset(path), torch.device(device_name)
    way = Way("simtown", model, World.of(dataset), our_batches(dataset, device), device, precision)
    way.whole()
    examples, begun = 0, perf_counter()
    while perf_counter() - begun < seconds:
        examples += way.whole()
    if device.type == "cuda":
        torch.cuda.synchronize()
    told.put(examples / (perf_counter() - begun))  # type: ignore[attr-defined]


def processes(path: str, model: str, device: str, precision: str, count: int, threads: int) -> float:
    """Images/s of so many processes together."""
    seconds = 10.0 if device == "cpu" else 4.0
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    team = [
        context.Process(target=_alone, args=(path, model, device, precision, threads, seconds, told))
        for _ in range(count)
    ]
    for member in team:
        member.start()
    total = sum(told.get() for _ in team)
    for member in team:
        member.join()
    return total


def stacked(dataset: Dataset, count: int, device: torch.device) -> tuple[float, float]:
    """Images/s of `count` Place-Binder Networks' gradients: stacked by vmap, and one after the other.

    Without batch norm's statistics.
    """
    world = World.of(dataset)
    models = [build("pbn", world, {"dropout": 0.0}).to(device) for _ in range(count)]
    for model in models:
        for part in model.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.track_running_stats, part.running_mean, part.running_var, part.num_batches_tracked = (
                    False,
                    None,
                    None,
                    None,
                )
    parameters, buffers = stack_module_state(models)
    batch = next(our_batches(dataset, device)())

    def loss(p: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> torch.Tensor:
        logits = functional_call(models[0], (p, b), (batch,))
        return nn.functional.binary_cross_entropy_with_logits(logits, batch.answer)

    together = vmap(grad(loss))

    def rate(work: Callable[[], None]) -> float:
        work()
        times = []
        for _ in range(5):
            begun = perf_counter()
            work()
            if device.type == "cuda":
                torch.cuda.synchronize()
            times.append(perf_counter() - begun)
        return count * SIZE / median(times)

    def one_by_one() -> None:
        for model in models:
            nn.functional.binary_cross_entropy_with_logits(model(batch), batch.answer).backward()

    return rate(lambda: together(parameters, buffers)), rate(one_by_one)  # type: ignore[arg-type, return-value]


def together(path: Path, model: str, device_name: str, precision: str) -> Iterator[dict[str, object]]:
    """A row for each way to train several models of one data set."""
    device, cores = torch.device(device_name), multiprocessing.cpu_count()
    cases = [(1, cores), (cores, 1)] if device.type == "cpu" else [(1, 1), (4, 1), (8, 1), (16, 1)]
    told = {"model": model, "size": path.name, "device": device_name}
    for count, threads in cases:
        way = f"{count} process{'es' * (count > 1)} of {threads} thread{'s' * (threads > 1)}"
        rate = processes(str(path), model, device_name, precision, count, threads)
        yield {**told, "precision": precision, "way": way, "images_per_second": round(rate)}
    if model == "pbn":
        rates = stacked(open_dataset(path), 4, device)
        for way, rate in zip(("4 models stacked by vmap", "4 models in turns"), rates, strict=True):
            yield {**told, "precision": "float32", "way": way, "images_per_second": round(rate)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=512)
    parser.add_argument("--sizes", default="64x32,128x128")
    parser.add_argument("--models", default="pbn,cnn-lstm")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--precision", default="float32", choices=["float32", "bf16"])
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    # before the file of the last run is opened
    if unknown := set(args.models.split(",")) - MODELS.keys():
        parser.error(f"unknown model {min(unknown)!r} in --models: choose among {', '.join(MODELS)}")
    if not all(re.fullmatch(r"\d+x\d+", size) for size in args.sizes.split(",")):
        parser.error(
            f"--sizes {args.sizes} is no list of widths and heights: give 64x32,128x128, for example"
        )
    if args.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: PyTorch sees no CUDA device here")
    where = f"{machine('torch', 'numpy')}, {torch.get_num_threads()} threads"
    if args.device != "cpu":
        where = f"{torch.cuda.get_device_name(args.device)}, {where}"
    out = args.out or RESULTS / f"{'together' if args.together else 'training'}.csv"
    with tempfile.TemporaryDirectory() as scratch, Rows(out, where) as rows:
        for size in args.sizes.split(","):
            width, height = (int(part) for part in size.split("x"))
            path = Path(scratch) / size
            generate(Settings(entities=31, n=args.n, val=0, test=0, width=width, height=height), path)
            for model in args.models.split(","):
                measured = (
                    together(path, model, args.device, args.precision)
                    if args.together
                    else measure(path, model, args.rounds, args.device, args.precision)
                )
                for row in measured:
                    rows.add(row)


if __name__ == "__main__":
    main()
