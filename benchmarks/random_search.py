"""Random search over what the paper leaves open, as its section 6.5 does: the best validation accuracy on one data set wins.

    simtown generate --entities 31 --n 20000 --size 64x32 --out /tmp/search/data
    OMP_NUM_THREADS=1 python benchmarks/random_search.py pbn /tmp/search/data --trials 10 --steps 700

Writes benchmarks/results/random_search_MODEL.csv, one line a trial, best first. Runs that were done are not done again.
"""

import argparse
import csv
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np
import torch

from simtown.datasets.reader import open_dataset
from simtown.training import run as runs
from simtown.training.fit import FitSettings, fit
from simtown.training.models import options

SPACE = {
    "pbn": {
        "embedding": [16, 32, 64],
        "dropout": [0.0, 0.1, 0.2],
        "hidden": [32, 64, 128],
        "box_weight": [3, 10, 30, 100],
        "init": ["default", "orthogonal"],
    },
    "cnn-lstm": {"embedding": [32, 64, 128], "dropout": [0.0, 0.1, 0.2], "init": ["default", "orthogonal"]},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=list(SPACE))
    parser.add_argument("data", type=Path)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--train-size", type=int, default=20_000)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dataset, rows = open_dataset(arguments.data), []
    space = SPACE[arguments.model]
    grid = [dict(zip(space, map(str, values), strict=True)) for values in product(*space.values())]
    order = np.random.default_rng(0).permutation(len(grid))
    for trial, number in enumerate(order[: arguments.trials]):
        choice = grid[number]
        settings = FitSettings(
            arguments.model,
            arguments.train_size,
            options=options(arguments.model, choice),
            max_steps=arguments.steps,
            min_steps=arguments.steps,
        )
        name = sha256(repr(settings).encode()).hexdigest()[:8]
        directory = arguments.data.parent / f"{arguments.model}-{name}"
        run = fit(settings, dataset, directory)
        metrics = runs.read_metrics(directory)
        off = next((row["step"] for row in metrics if row["val_accuracy"] > 0.6), "")
        best = run["best"]["val_accuracy"]
        rows.append({**choice, "val_accuracy": best, "steps_to_0.6": off, "test_accuracy": run["test"]["accuracy"], "steps": run["steps"],
                     "seconds": round(run["seconds"])})  # fmt: skip
        print(f"{trial + 1} of {arguments.trials}: {rows[-1]}", flush=True)
        rows.sort(key=lambda row: -row["val_accuracy"])
        path = Path(__file__).parent / "results" / f"random_search_{arguments.model.replace('-', '_')}.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[-1].keys())
            writer.writeheader()
            writer.writerows(sorted(rows, key=lambda row: -row["val_accuracy"]))


if __name__ == "__main__":
    main()
