"""Images per second of training, pictures in memory or on disk, against the plain PyTorch way.

    python benchmarks/training.py [--n 512] [--batch 128] [--sizes 64x32,128x128] [--models pbn,cnn-lstm]
        [--rounds 2] [--device cpu] [--precision float32] [--stream | --together] [--out FILE]

All ways train the same network (same layers, same batches in the same order, Adam at 1e-3) for an epoch:

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

--stream trains on new examples, as `simtown fit --stream` does, drawn where the model learns: milliseconds of
a batch for sampling, rendering and learning alone, and for all of it, one batch ahead. `render_share` is
rendering over rendering and learning, `step_ratio` all of it over learning alone. Writes
benchmarks/results/fit_stream.csv; give many batches (--n 8192), since the first of each epoch is waited for.

--together times several runs of a grid at once instead: worker processes of one thread against one of all
threads (on a card: 1, 4, 8 and 16 processes). Writes benchmarks/results/together.csv.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from machine import RESULTS, Apart, Rows, machine, options
from torch.utils.data import DataLoader, Subset

from simtown.core.processes import keep_memory
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import Dataset, open_dataset
from simtown.datasets.settings import Settings
from simtown.language.asking.paper import sample
from simtown.training.fit import FitSettings, autocast, loss_of, new_model
from simtown.training.models import build
from simtown.training.models.pbn import LabelledConvolution
from simtown.training.sources import ExampleSource, FromDisk, Resident, chunks, open_stream
from simtown.training.world import Batch, World

#: Workers of DataLoader, or a source of ours.
WAYS: dict[str, int | type[Resident] | type[FromDisk]] = {
    "plain, 0 workers": 0,
    "plain, 2 workers": 2,
    "simtown": Resident,
    "simtown, from disk": FromDisk,
}
Batches = Callable[[], Iterator[Batch]]


def plain_batches(dataset: Dataset, size: int, workers: int, device: torch.device) -> Batches:
    """The way of the tutorials: a DataLoader, pictures turned into floats, boxes into middles and sizes."""
    view = Subset(dataset.train.torch(), range(len(dataset.train) // size * size))
    loader = DataLoader(view, size, num_workers=workers, persistent_workers=workers > 0)

    def batches() -> Iterator[Batch]:
        for b in loader:
            low, high = b["boxes"].split(2, dim=-1)
            boxes = torch.cat([(low + high) / 2, high - low], dim=-1).float()
            image = b["image"].float() / 127.5 - 1
            asked = (b["tokens"], b["subject"], b["relation"], b["object"], boxes, b["answer"])
            family = torch.zeros(len(image), dtype=torch.int64)
            yield Batch(*(c.to(device) for c in (image, *asked, family)))

    return batches


def concatenated(
    part: LabelledConvolution, image: torch.Tensor, labels: torch.Tensor
) -> tuple[torch.Tensor, None]:
    """As the paper draws it: constant channels, concatenated, convolved."""
    channels = labels.flatten(0, 1)[:, :, None, None].expand(-1, -1, *image.shape[2:])
    return part.conv(torch.cat([image.repeat(len(labels), 1, 1, 1), channels], dim=1)), None


class Way:
    """One way of training one model on one data set; each figure is a method that returns examples."""

    def __init__(self, name: str, path: Path, settings: FitSettings, threads: int = 0) -> None:
        if threads:
            torch.set_num_threads(threads)
        dataset, self.settings, self.device = open_dataset(path), settings, torch.device(settings.device)
        n = len(dataset.train) // settings.batch * settings.batch
        kind = WAYS.get(name)
        if isinstance(kind, int):
            self.batches = plain_batches(dataset, settings.batch, kind, self.device)
            torch.manual_seed(0)
            self.model = build(settings.model, World.of(dataset.settings), {}).to(self.device)
            for part in self.model.modules():
                if isinstance(part, LabelledConvolution):  # in its plain form, which leaves nothing to add
                    part.forward = partial(concatenated, part)  # type: ignore[method-assign]
            self.optimizer: torch.optim.Optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        else:
            self.numbers = list(chunks(n, settings.batch))
            if kind:
                source: ExampleSource = kind(dataset.train, n, dataset.settings, self.device)
            else:
                source = self.stream = open_stream(dataset, n, self.device)
                self.scenes = sample(self.stream.source.recipe("train"), self.numbers[0]).scene
            self.batches = lambda: source.batches(self.numbers)
            self.model, self.optimizer = new_model(settings, dataset.settings)
            if settings.device == "cpu":
                keep_memory()
        self.one = next(self.batches())

    def learn(self, batch: Batch) -> int:
        with autocast(self.settings):
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

    def sample(self) -> int:
        return sum(len(sample(self.stream.source.recipe("train"), rows).scene) for rows in self.numbers)

    def render(self) -> int:
        return sum(len(self.stream.pictures(self.scenes)) for _ in range(4))


def rates(
    names: list[str], figures: list[str], path: Path, settings: FitSettings, rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Examples a second by way and figure, one in each round; the ways take turns."""
    ways = {name: Apart(Way, name, path, settings) for name in names}
    measured: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in names}
    for turn, (name, way), figure in product(range(rounds + 1), ways.items(), figures):
        rate = way.call("rate", figure)
        if turn:  # the first warms up
            measured[name][figure].append(rate)
    for way in ways.values():
        way.end()
    return measured


def compared(path: Path, settings: FitSettings, rounds: int) -> Iterator[dict[str, object]]:
    """A row of medians for each way."""
    measured = rates(list(WAYS), ["load", "step", "whole"], path, settings, rounds)
    best = max(median(measured[name]["whole"]) for name, kind in WAYS.items() if isinstance(kind, int))
    for name, by_figure in measured.items():
        load, step, whole = map(median, by_figure.values())
        pairs = zip(by_figure["whole"], measured["simtown"]["whole"], strict=True)
        yield {
            "way": name,
            "load": round(load),
            "step": round(step),
            "whole": round(whole),
            "load_share": round((1 / load) / (1 / load + 1 / step), 3),
            "ratio_to_best_plain": round(whole / best, 2),
            "ratio_to_cached": round(median(mine / cached for mine, cached in pairs), 3),
        }


def streamed(path: Path, settings: FitSettings, rounds: int) -> Iterator[dict[str, object]]:
    """One row: what the parts of a step take, and all of it."""
    figures = ["sample", "render", "step", "whole"]
    by_figure = rates(["stream"], figures, path, settings, rounds)["stream"]
    sampling, rendering, learning, whole = (1e3 * settings.batch / median(by_figure[f]) for f in figures)
    yield {
        "batch": settings.batch,
        "sample_ms": round(sampling, 3),
        "render_ms": round(rendering, 3),
        "learn_ms": round(learning, 3),
        "whole_ms": round(whole, 3),
        "render_share": round(rendering / (rendering + learning), 3),
        "step_ratio": round(whole / learning, 3),
        "images_per_second": round(1e3 * settings.batch / whole),
    }


def together(path: Path, settings: FitSettings, rounds: int) -> Iterator[dict[str, object]]:
    """A row for each number of processes that train models of one data set at once, an epoch each time."""
    cores = os.cpu_count() or 1
    cases = [(1, cores), (cores, 1)] if settings.device == "cpu" else [(1, 1), (4, 1), (8, 1), (16, 1)]
    for count, threads in cases:
        runs = [Apart(Way, "simtown", path, settings, threads) for _ in range(count)]
        sums = []
        for _ in range(6):  # the first warms up
            answers = [run.submit("rate", "whole") for run in runs]
            sums.append(sum(answer.result() for answer in answers))
        for run in runs:
            run.end()
        way = f"{count} process{'es' * (count > 1)} of {threads} thread{'s' * (threads > 1)}"
        yield {"way": way, "images_per_second": round(median(sums[1:]))}


def main() -> None:
    what = {"n": 512, "batch": 128, "sizes": ["64x32", "128x128"], "models": ["pbn", "cnn-lstm"], "rounds": 2}
    how = {"device": "cpu", "precision": "float32", "stream": False, "together": False}
    args = options(__doc__, **what, **how, out="")
    where = f"{machine('torch', 'numpy')}, {torch.get_num_threads()} threads"
    if args.device != "cpu":
        where = f"{torch.cuda.get_device_name(args.device)}, {where}"
    name, measure = "training.csv", compared
    if args.stream:
        name, measure = "fit_stream.csv", streamed
    if args.together:
        name, measure = "together.csv", together
    rows = Rows(Path(args.out or RESULTS / name), where)
    for size in args.sizes:
        width, height = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / size
            generate(Settings(entities=31, n=args.n, val=0, test=0, width=width, height=height), path)
            for model in args.models:
                fit = FitSettings(model, batch=args.batch, device=args.device, precision=args.precision)
                about = {"model": model, "size": size, "device": args.device, "precision": args.precision}
                for row in measure(path, fit, args.rounds):
                    rows.add(about | row)


if __name__ == "__main__":
    main()
