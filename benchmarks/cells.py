"""What a cell of the experiment's grid costs here against another checkout of simtown, and what accuracy it
reaches, in pairs.

    python benchmarks/cells.py OTHER [--precision bf16] [--jobs 1]

OTHER is the root of a checkout, which trains in float32; this one trains in --precision. A cell is a whole
run of `fit`, from the first weights to the test, on one thread: five seeds of the Place-Binder Network with
15 entities and 700 examples, five of the CNN-LSTM with 5 entities and 5,000. The two runs of a cell take
place one after the other, in changing order. Processor time of the whole process is counted, so that what
else the machine does weighs little; start-up and the reading of the data are in it. The number of steps
depends on luck (runs stop 10 validations after their best), so the cost of a step counts too. Rows go to
benchmarks/results/cells.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import geometric_mean, mean, stdev
from typing import Any

from machine import machine

HERE = Path(__file__).parents[1]
RESULT = HERE / "benchmarks" / "results" / "cells.csv"
#: Trains one run and prints the processor seconds that the process has used.
FIT = """
import json, resource, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from simtown.training.fit import FitSettings, fit
from simtown.training.models import options
model, size, seed, precision, data, out = sys.argv[1:]
settings = FitSettings(model, int(size), int(seed), options(model, {}), min_steps=1500, precision=precision)
fit(settings, Path(data), Path(out))
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"seconds": used.ru_utime + used.ru_stime}))
"""


@dataclass(frozen=True)
class Cell:
    """A model, the entities of its world, its training examples, and a seed."""

    model: str
    entities: int
    size: int
    seed: int


CELLS = [Cell(*kind, seed) for seed in range(5) for kind in (("pbn", 15, 700), ("cnn-lstm", 5, 5_000))]


def train(checkout: Path, precision: str, cell: Cell, data: Path, out: Path) -> dict[str, Any]:
    """Processor seconds, steps and test accuracy of a run."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout),
        "OMP_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
    }
    words = [
        sys.executable,
        "-c",
        FIT,
        cell.model,
        str(cell.size),
        str(cell.seed),
        precision,
        str(data),
        str(out),
    ]
    ended = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=checkout)
    if ended.returncode:
        raise SystemExit(f"a run of {checkout} failed: {ended.stderr.strip().splitlines()[-1]}")
    run = json.loads((out / "run.json").read_text(encoding="utf-8"))
    shutil.rmtree(out)
    return {
        **json.loads(ended.stdout.splitlines()[-1]),
        "steps": run["steps"],
        "accuracy": run["test"]["accuracy"],
    }


def pair(number: int, cell: Cell, other: Path, precision: str, scratch: Path) -> dict[str, Any]:
    """A row: a cell by both checkouts."""
    sides = [("other", other, "float32"), ("here", HERE, precision)]
    row: dict[str, Any] = dict(cell.__dict__)
    for name, checkout, chosen in sides if number % 2 else sides[::-1]:
        found = train(checkout, chosen, cell, scratch / f"{cell.entities}", scratch / f"{name}-{number}")
        row |= {f"{name}_{what}": value for what, value in found.items()}
    row["cost_ratio"] = round(row["here_seconds"] / row["other_seconds"], 3)
    row["step_ratio"] = round(row["cost_ratio"] * row["other_steps"] / row["here_steps"], 3)
    print(
        f"{cell}: {row['other_seconds']:.0f} s there, {row['here_seconds']:.0f} s here; "
        f"a step costs {row['step_ratio']} times as much; "
        f"accuracy {row['other_accuracy']:.3f} there, {row['here_accuracy']:.3f} here",
        flush=True,
    )
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, help="the root of another checkout")
    parser.add_argument("--precision", default="bf16", help="as simtown fit has it, here")
    parser.add_argument("--jobs", type=int, default=1, help="cells at once")
    args = parser.parse_args()
    if not (args.other / "simtown" / "training").is_dir() or args.jobs < 1:
        parser.error(
            f"{args.other} is no checkout of simtown" if args.jobs > 0 else "--jobs must be at least 1"
        )
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as team:
        scratch = Path(folder)
        for entities in sorted({cell.entities for cell in CELLS}):
            largest = max(cell.size for cell in CELLS if cell.entities == entities)
            words = [
                "generate",
                "--entities",
                str(entities),
                "--n",
                str(largest),
                "--size",
                "64x32",
                "--out",
                str(scratch / f"{entities}"),
            ]
            subprocess.run(
                [sys.executable, "-m", "simtown", *words], check=True, capture_output=True, cwd=HERE
            )
        ended = [
            team.submit(pair, number, cell, args.other.resolve(), args.precision, scratch)
            for number, cell in enumerate(CELLS)
        ]
        try:
            rows = [one.result() for one in ended]
        except BaseException:
            team.shutdown(wait=False, cancel_futures=True)
            raise
    with RESULT.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {machine('torch')}, precision {args.precision} here, float32 there\n")
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for model in dict.fromkeys(cell.model for cell in CELLS):
        own = [row for row in rows if row["model"] == model]
        gain = [row["here_accuracy"] - row["other_accuracy"] for row in own]
        print(
            f"{model}: a cell costs {geometric_mean(row['cost_ratio'] for row in own):.2f} times as much "
            f"here, a step {geometric_mean(row['step_ratio'] for row in own):.2f}; "
            f"accuracy differs by {mean(gain):+.3f} "
            f"(standard error {stdev(gain) / sqrt(len(gain)):.3f})"
        )


if __name__ == "__main__":
    main()
