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

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from math import sqrt
from pathlib import Path
from statistics import geometric_mean, mean, stdev
from typing import Any, NamedTuple

from machine import RESULTS, Rows, machine, options

HERE = Path(__file__).parents[1]
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
print(used.ru_utime + used.ru_stime)
"""


class Cell(NamedTuple):
    """A model, the entities of its world, its training examples, and a seed."""

    model: str
    entities: int
    size: int
    seed: int


CELLS = [Cell(*kind, seed) for seed in range(5) for kind in (("pbn", 15, 700), ("cnn-lstm", 5, 5_000))]


def train(checkout: Path, precision: str, cell: Cell, data: Path) -> tuple[float, int, float]:
    """Processor seconds, steps and test accuracy of a run."""
    threads = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    environment = {**os.environ, **threads, "PYTHONPATH": str(checkout)}
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/run"
        command = [
            sys.executable,
            "-c",
            FIT,
            cell.model,
            str(cell.size),
            str(cell.seed),
            precision,
            str(data),
            out,
        ]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
        run = json.loads(Path(out, "run.json").read_text(encoding="utf-8"))
    return float(ended.stdout.splitlines()[-1]), run["steps"], run["test"]["accuracy"]


def pair(number: int, other: Path, precision: str, data: Path) -> dict[str, Any]:
    """A row: a cell by both checkouts."""
    cell = CELLS[number]
    sides = [("other", other, "float32"), ("here", HERE, precision)]
    row: dict[str, Any] = cell._asdict()
    for name, checkout, chosen in sides if number % 2 else sides[::-1]:
        measured = train(checkout, chosen, cell, data / str(cell.entities))
        row |= dict(zip((f"{name}_seconds", f"{name}_steps", f"{name}_accuracy"), measured, strict=True))
    row["cost_ratio"] = round(row["here_seconds"] / row["other_seconds"], 3)
    row["step_ratio"] = round(row["cost_ratio"] * row["other_steps"] / row["here_steps"], 3)
    return row


def main() -> None:
    args = options(__doc__, "other", precision="bf16", jobs=1)
    where = f"{machine('torch')}, precision {args.precision} here, float32 there"
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        for entities, size in ((15, 700), (5, 5_000)):
            world = ["--entities", str(entities), "--n", str(size), "--size", "64x32"]
            command = [sys.executable, "-m", "simtown", "generate", *world, "--out", f"{folder}/{entities}"]
            subprocess.run(command, check=True, cwd=HERE)
        measured = []
        with Rows(RESULTS / "cells.csv", where) as rows:
            others = repeat(args.other.resolve()), repeat(args.precision), repeat(Path(folder))
            for row in pool.map(pair, range(len(CELLS)), *others):
                rows.add(row)
                measured.append(row)
    for model in ("pbn", "cnn-lstm"):
        own = [row for row in measured if row["model"] == model]
        cost, step = (geometric_mean(row[name] for row in own) for name in ("cost_ratio", "step_ratio"))
        gain = [row["here_accuracy"] - row["other_accuracy"] for row in own]
        error = stdev(gain) / sqrt(len(gain))
        print(f"{model}: a cell costs {cost:.2f} times as much here, a step {step:.2f}; ", end="")
        print(f"accuracy differs by {mean(gain):+.3f} (standard error {error:.3f})")


if __name__ == "__main__":
    main()
