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

python benchmarks/sequences.py --need FOLDER

Searches for the number of examples from which the CNN-LSTM has 80 % right: which way a vehicle goes, in four
pictures, and in which lane it is, in one. Each question is asked in worlds of 4, 15 and 60 kinds, with two
vehicles and three seeds, each of which has its own kinds and examples. The search doubles or halves the size
until the need lies between two, and has three at least. The table is results/sequences-need.csv, a line for
each run, which the same command continues; the figure is docs/sequences-need.png.
"""

from collections import defaultdict
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from machine import RESULTS, Rows, machine, options, read_rows

from simtown.complexity.csv_results import read_csv
from simtown.complexity.estimate import estimate
from simtown.complexity.needs_figure import samples
from simtown.complexity.size_search import crossing, first_size, nearest, need
from simtown.datasets.audit.floors import floors, shown
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.sequence_questions import ASKED_AT_ONCE, SequenceSource
from simtown.datasets.settings import Settings
from simtown.language.asking.families import sequence_families
from simtown.language.asking.sequences import REVERSED

WORLD: dict[str, Any] = {"entities": 15, "width": 64, "height": 32}
#: Of the search for needs: the questions by the name of their line, worlds in their order, seeds, the
#: accuracy to reach, sizes that it may train, and the training.
QUESTIONS = {"goes, 4 pictures": ("goes", "time"), "lane, 1 picture": ("lane", "")}
KINDS, SEEDS, TARGET, SIZES = (15, 4, 60), (0, 1, 2), 0.8, (125, 250, 500, 1_000, 2_000, 4_000, 8_000)
TEST = 2_000
TRAINING: dict[str, Any] = {"batch": 32, "min_steps": 400, "patience": 8, "max_steps": 800, "device": "cpu"}


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


def search(folder: Path, path: Path) -> None:
    """Train at the sizes around every need."""
    settings = ", ".join(f"{name} {value}" for name, value in TRAINING.items())
    rows = Rows(path, f"cnn-lstm, {settings}; {machine('numpy', 'torch')}", "group", "world", "size", "seed")
    for sizes, kinds, group in product((2, 3), KINDS, QUESTIONS):
        while size := size_to_train(known_scores(path, group), kinds, sizes):
            for seed in SEEDS:
                if seed in known_scores(path, group)[kinds][size]:
                    continue
                right = train(folder, group, kinds, size, seed)
                row = {"group": group, "world": kinds, "size": size, "seed": seed}
                rows.add(row | {"correct": round(right * TEST), "total": TEST})


def size_to_train(known: dict[int, dict[int, dict[int, float]]], kinds: int, sizes: int) -> int | None:
    """The next size of a world; None if its need lies between two of so many sizes, or beyond all."""
    means: dict[int, dict[int, float]] = {}
    for world, scores in known.items():
        complete = {size: own for size, own in scores.items() if len(own) == len(SEEDS)}
        means[world] = {size: sum(own.values()) / len(SEEDS) for size, own in complete.items()}
    own = means.get(kinds)
    if not own:
        needs = {(world, False): n for world, other in means.items() if (n := need(other, TARGET))}
        return nearest(SIZES, first_size(kinds, False, needs))
    low, high = crossing(own, TARGET)
    if low and high and len(own) >= sizes:
        return None
    is_near_high = low and high and own[high] - TARGET < TARGET - own[low]
    size = 2 * max(own) if is_near_high or not high else min(own) // 2
    return size if size in SIZES else None


def known_scores(path: Path, group: str) -> dict[int, dict[int, dict[int, float]]]:
    """Accuracies of a question by world, size and seed."""
    scores: dict[int, Any] = defaultdict(lambda: defaultdict(dict))
    for row in read_rows(path):
        if row["group"] == group:
            score = int(row["correct"]) / int(row["total"])
            scores[int(row["world"])][int(row["size"])][int(row["seed"])] = score
    return scores


def train(folder: Path, group: str, kinds: int, size: int, seed: int) -> float:
    """Test accuracy of the CNN-LSTM in a world of its own."""
    import torch

    from simtown.training.fit import fit
    from simtown.training.fit_settings import FitSettings

    torch.set_num_threads(1)
    question, mode = QUESTIONS[group]
    data = folder / f"{question}-{kinds}-{seed}"
    if not data.exists():
        world = {**WORLD, "entities": kinds, "seed": seed, "world_seed": seed, "crowd": "2"}
        world |= {"n": max(SIZES), "val": 200, "test": TEST, "sequence": mode}
        generate(Settings(**world, questions=(question,)), data, workers=1)
    run = folder / f"run-{question}-{kinds}-{size}-{seed}"
    return float(fit(FitSettings("cnn-lstm", size, seed, **TRAINING), data, run)["test"]["accuracy"])


def draw(path: Path, figure: Path) -> None:
    """The figure of docs/sequences.md, and the needs in words."""
    runs, reference, _ = read_csv(path)
    found = estimate(runs, targets=[TARGET], reference=reference, world="world")
    samples(found, figure, "Needs")
    for row in found.table():
        print(*row.values(), sep=", ")


def main() -> None:
    """Measure the families, train the models, or search for needs."""
    models = ["cnn-lstm", "order-blind", "one-picture"]
    chosen = options(
        __doc__,
        examples=10_000,
        families=[*sequence_families()],
        learn="",
        models=models,
        crowd="2",
        steps=2_500,
        need="",
    )
    if chosen.need:
        path = RESULTS / "sequences-need.csv"
        search(Path(chosen.need), path)
        return draw(path, Path(__file__).parents[1] / "docs" / "sequences-need.png")
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
