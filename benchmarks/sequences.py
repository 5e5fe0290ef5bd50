"""Sequences: how much one picture tells, how fast questions are sampled, and who learns which way a vehicle
goes.

python benchmarks/sequences.py [--examples 10000] [--families goes,backs]

Samples questions of each family about 15 kinds, draws no picture, and lets small models choose between the
two answers of a pair by the latent state of one picture: chance is 50 %. The table is
results/sequences.csv.

python benchmarks/sequences.py --learn FOLDER [--models cnn-lstm,order-blind,one-picture] [--crowd 2]
    [--steps 2500]

Generates 11,000 training examples of the family "goes" (fewer than 10,000 sequences: a reversed pair is one)
of four 64 × 32 pictures, and trains models on one core. The table is results/sequences-learned.csv. FOLDER
keeps what is done.
"""

from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from machine import RESULTS, Rows, machine, options

from simtown.datasets.audit.floors import floors, shown
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.sequence_questions import ASKED_AT_ONCE, SequenceSource
from simtown.datasets.settings import Settings
from simtown.language.asking.families import sequence_families
from simtown.language.asking.sequences import REVERSED

WORLD: dict[str, Any] = {"entities": 15, "width": 64, "height": 32}


def measure(name: str, examples: int) -> dict[str, object]:
    """The row of a family."""
    mode = sequence_families()[name].sequence
    source = SequenceSource(Settings(**WORLD, n=examples, seed=7, sequence=mode, questions=(name,)))
    blocks, began = [], process_time()
    for index in np.split(np.arange(examples), range(ASKED_AT_ONCE, examples, ASKED_AT_ONCE)):
        blocks.append((source.draw("train", index), index))
    rate = examples / (process_time() - began)
    parts = []
    for drawn, index in blocks:
        columns = source.columns(drawn, index)
        parts.append((shown(columns), columns["value"], columns["shared"]))
    seen, value, shared = map(np.concatenate, zip(*parts, strict=True))
    alone, blind = floors(seen, value, shared)
    row: dict[str, object] = {"family": name, "examples": examples, "sampled a CPU second": round(rate)}
    row["reversed"] = f"{np.mean(shared == REVERSED):.2f}"
    row |= {"order-blind": f"{blind.right:.3f}", "its pairs": f"{blind.pairs:.3f}"} if blind else {
        "order-blind": "", "its pairs": ""
    }  # fmt: skip
    for place in range(4):
        own = alone[place] if place < len(alone) else None
        row[f"picture {place + 1}"] = f"{own.right:.3f}" if own else ""
    worst = max(alone)
    return row | {"plus or minus": f"{worst.half:.3f}", "pairs of the best": f"{worst.pairs:.3f}"}


def learn(folder: Path, model: str, crowd: str, steps: int) -> dict[str, object]:
    """The row of a model that was trained on which way a vehicle goes."""
    import torch

    from simtown.training.ask import right_answers
    from simtown.training.fit import fit
    from simtown.training.fit_settings import FitSettings

    torch.set_num_threads(1)
    data, run = folder / f"goes-{crowd}", folder / f"{model}-{crowd}-{steps}"
    world = {**WORLD, "n": 11_000, "val": 400, "test": 2_000, "seed": 1, "crowd": crowd}
    if not data.exists():
        generate(Settings(**world, sequence="time", questions=("goes",)), data, workers=1)
    dataset, began = open_dataset(data), process_time()
    fit(FitSettings(model, batch=64, max_steps=steps, device="cpu"), dataset, run)
    seconds = process_time() - began
    right = right_answers(run, dataset, torch.device("cpu"))
    back = right[dataset.test.column("shared") == REVERSED]
    pairs = back.reshape(-1, 2).all(axis=1)
    row: dict[str, object] = {"model, crowd": f"{model}, {crowd}", "steps": steps, "CPU s": round(seconds)}
    row["sequences"] = len(np.unique(dataset.train.column("sequence")))
    shares = {"right": right, "reversed": back, "reversed pairs": pairs}
    return row | {name: f"{share.mean():.3f}" for name, share in shares.items()}


def main() -> None:
    """Measure the families, or train the models."""
    models = ["cnn-lstm", "order-blind", "one-picture"]
    chosen = options(
        __doc__,
        examples=10_000,
        families=[*sequence_families()],
        learn="",
        models=models,
        crowd="2",
        steps=2_500,
    )
    if chosen.learn:
        rows = Rows(RESULTS / "sequences-learned.csv", machine("numpy", "torch"), "model, crowd")
        for model in chosen.models:
            rows.add(learn(Path(chosen.learn), model, chosen.crowd, chosen.steps))
        return
    rows = Rows(RESULTS / "sequences.csv", f"{machine('numpy', 'scikit-learn')}", "family")
    for name in chosen.families:
        rows.add(measure(name, chosen.examples))


if __name__ == "__main__":
    main()
