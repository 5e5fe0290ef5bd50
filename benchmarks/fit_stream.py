"""Training on a stream: what sampling, rendering and learning take of a step, and what all of it takes.

    python benchmarks/fit_stream.py [--device cpu] [--size 128] [--batch 128] [--steps 50]
        [--models pbn,cnn-lstm] [--out FILE]

--device is where the model learns; pictures are drawn there too. Each part alone, the card waited for,
medians over the steps; then the whole as simtown fit --stream runs it, one batch ahead. `render_share` is
rendering over rendering and learning. Writes benchmarks/results/fit_stream.csv, or --out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from machine import RESULTS, Rows, machine, options

from simtown.datasets.generate import generate
from simtown.datasets.reader import Dataset, open_dataset
from simtown.datasets.settings import Settings
from simtown.language.sampler import sample
from simtown.render.renderers import make_renderer
from simtown.training.fit import FitSettings, loss_of, new_model
from simtown.training.sources import FreshExamples, chunks
from simtown.training.world import Batch


def timed(work: Callable[[], object], steps: int, device: torch.device) -> float:
    """Median seconds of a call, after a fifth more to warm up."""
    taken = []
    for _ in range(steps + steps // 5 + 1):
        begun = perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        taken.append(perf_counter() - begun)
    return median(taken[-steps:])


def measure(name: str, dataset: Dataset, batch: int, steps: int, device: torch.device) -> dict[str, object]:
    """One row."""
    stream = FreshExamples(dataset.settings, make_renderer(device.type), device)
    numbers = chunks(batch * 10 * steps, batch)
    some = sample(stream.recipe, next(numbers)).scene
    one = next(stream.batches([next(numbers)]))
    model, optimizer = new_model(FitSettings(name, device=device.type), dataset.settings)

    def learn(examples: Batch) -> None:
        loss, _ = loss_of(model, examples)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    sampling = timed(lambda: sample(stream.recipe, next(numbers)), steps, device)
    rendering = timed(lambda: stream.pictures(some), steps, device)
    learning = timed(lambda: learn(one), steps, device)
    fresh = stream.batches(numbers)
    whole = timed(lambda: learn(next(fresh)), steps, device)
    parts = {"sample": sampling, "render": rendering, "learn": learning, "whole": whole}
    about = {"model": name, "size": dataset.settings.width, "batch": batch, "device": device.type}
    return about | {
        **{f"{part}_ms": round(1e3 * seconds, 3) for part, seconds in parts.items()},
        "render_share": round(rendering / (rendering + learning), 3),
        "images_per_second": round(batch / whole),
    }


def main() -> None:
    out, models = RESULTS / "fit_stream.csv", ["pbn", "cnn-lstm"]
    args = options(__doc__, device="cpu", size=128, batch=128, steps=50, models=models, out=out)
    settings = Settings(n=4, val=2, test=2, width=args.size, height=args.size)
    device = torch.device(args.device)
    where = machine("torch", "numpy", "numba")
    if device.type == "cuda":
        where += f", {torch.cuda.get_device_name(device)}"
    with tempfile.TemporaryDirectory() as scratch, Rows(args.out, where) as rows:
        generate(settings, Path(scratch) / "town", 1)
        dataset = open_dataset(Path(scratch) / "town")
        for name in args.models:
            rows.add(measure(name, dataset, args.batch, args.steps, device))


if __name__ == "__main__":
    main()
