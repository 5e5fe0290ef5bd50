"""Training on a stream: what sampling, rendering and learning take of a step, and what all of it together
does.

    python benchmarks/fit_stream.py [--device cpu] [--size 128] [--batch 128] [--steps 50] [--models
        pbn,cnn-lstm] [--out FILE]

--device is where the model learns; pictures are drawn there too. Each part alone, the card waited for,
medians over the steps; then the whole as simtown fit --stream runs it, one batch ahead. `render_share` is
rendering over rendering and learning. Writes benchmarks/results/fit_stream.csv, or --out.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import torch
from machine import machine
from rich.console import Console
from rich.table import Table

from simtown.datasets.generate import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.language.sampler import sample
from simtown.render.renderers import make_renderer
from simtown.training.fit import loss_of
from simtown.training.models import build
from simtown.training.sources import FreshExamples
from simtown.training.world import Batch, World

RESULT = Path(__file__).parent / "results" / "fit_stream.csv"


def timed(work: Callable[[int], object], steps: int, device: torch.device) -> float:
    """Median seconds of work(step), after a fifth more to warm up."""
    took = []
    for step in range(-(steps // 5 + 1), steps):
        begun = perf_counter()
        work(step + steps)
        if device.type == "cuda":
            torch.cuda.synchronize()
        if step >= 0:
            took.append(perf_counter() - begun)
    return median(took)


def measure(
    model_name: str, settings: Settings, world: World, batch: int, steps: int, device: torch.device
) -> dict[str, object]:
    """One row."""
    stream = FreshExamples(settings, make_renderer(device.type), device)
    rows = [np.arange(i * batch, (i + 1) * batch) for i in range(3 * steps)]
    some = sample(stream.recipe, rows[0]).scene
    one = next(stream.batches(rows[0], batch))
    model = build(model_name, world, {}).to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    def learn(examples: Batch) -> None:
        loss, _ = loss_of(model, examples)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    sampling = timed(lambda step: sample(stream.recipe, rows[step]), steps, device)
    rendering = timed(lambda _: stream.pictures(some), steps, device)
    learning = timed(lambda _: learn(one), steps, device)
    fresh = stream.batches(np.arange(batch * (2 * steps + 10)), batch)
    whole = timed(lambda _: learn(next(fresh)), steps, device)
    return {
        "model": model_name,
        "size": settings.width,
        "batch": batch,
        "device": device.type,
        "sample_ms": round(1e3 * sampling, 3),
        "render_ms": round(1e3 * rendering, 3),
        "learn_ms": round(1e3 * learning, 3),
        "whole_ms": round(1e3 * whole, 3),
        "render_share": round(rendering / (rendering + learning), 3),
        "images_per_second": round(batch / whole),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--models", default="pbn,cnn-lstm")
    parser.add_argument("--out", type=Path, default=RESULT)
    args = parser.parse_args()
    settings, device = (
        Settings(n=4, val=2, test=2, width=args.size, height=args.size),
        torch.device(args.device),
    )
    with tempfile.TemporaryDirectory() as scratch:
        generate(settings, Path(scratch) / "town", 1)
        world = World.of(open_dataset(Path(scratch) / "town"))
    made = [measure(name, settings, world, args.batch, args.steps, device) for name in args.models.split(",")]
    where = machine("torch", "numpy", "numba") + (
        f", {torch.cuda.get_device_name(device)}" if device.type == "cuda" else ""
    )
    table = Table(*made[0], title=where)
    for row in made:
        table.add_row(*map(str, row.values()))
    Console(width=140).print(table)
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        file.write(f"# {where}\n")
        writer = csv.DictWriter(file, made[0])
        writer.writeheader()
        writer.writerows(made)


if __name__ == "__main__":
    main()
