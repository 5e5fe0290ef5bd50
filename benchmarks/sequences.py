"""Sequences: how fast they are made, and who can say which way a vehicle goes.

python benchmarks/sequences.py FOLDER [--steps 4000]

Generates questions of the family "goes" with 11,800 training examples (fewer than 10,000 sequences: a
reversed pair is one) of four 64 × 32 pictures and five kinds, then trains on one core the CNN-LSTM, the same
that is blind to the order, and the same that sees the first picture. FOLDER keeps what is done.
"""

import argparse
import csv
from pathlib import Path
from time import process_time

import numpy as np
import torch

from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.language.asking.sequences import REVERSED
from simtown.training.ask import right_answers
from simtown.training.fit import fit
from simtown.training.fit_settings import FitSettings

WORLD = Settings(5, n=11_800, val=600, test=2_000, width=64, height=32, seed=1, sequence="time")
MODELS = ("cnn-lstm", "order-blind", "one-picture")
TABLE = "sequences.csv"


def main() -> None:
    """Make the data set, train the models, write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=4_000)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    settings = Settings(**{**vars(WORLD), "questions": ("goes",)})
    began = process_time()
    generate(settings, chosen.folder / "goes", workers=1)
    made = (settings.n + settings.val + settings.test) / (process_time() - began)
    dataset = open_dataset(chosen.folder / "goes")
    sequences = len(np.unique(dataset.train.column("sequence")))
    back = dataset.test.column("shared") == REVERSED
    rows = []
    for model in MODELS:
        run, began = chosen.folder / model, process_time()
        fit(FitSettings(model, batch=64, max_steps=chosen.steps, device="cpu"), dataset, run)
        seconds = process_time() - began
        right = right_answers(run, dataset, torch.device("cpu"))
        pairs = right[back].reshape(-1, 2).all(axis=1)
        row = {"model": model, "sequences": sequences, "steps": chosen.steps, "cpu seconds": round(seconds)}
        row |= {"right": right.mean(), "reversed right": right[back].mean(), "reversed pairs": pairs.mean()}
        rows.append(row | {"examples made a CPU second": round(made)})
    with open(TABLE, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
