"""Random search over what section 6.5 of the paper searched: learning rate, size of the convolutional
network, size of the LSTM.

    simtown generate --entities 31 --n 20000 --size 64x32 --out search/data
    OMP_NUM_THREADS=1 python benchmarks/search.py pbn search/data
    OMP_NUM_THREADS=1 python benchmarks/search.py cnn-lstm search/data

**Budget.** The same for every model: TRIALS trials of STEPS steps each on one data set: 31 entities, 20,000
training examples, no distractor. (The first ten trials ended with their epoch, at 3,140 steps: a run could
not stop within one yet. The column `steps` tells them.) Trial 0 has the default choices, the others
are drawn at random from a fixed seed: the learning rate log-uniformly between 0.0003 and 0.003, the other
choices from the lists in SPACE. All else stays at its default.

**Rule**, written down before the first trial: the default choices stay, unless the best other trial beats
trial 0 by more than MARGIN of validation accuracy, and does so again with a second seed (other weights, other
order of the examples, the same data). A trial's accuracy is its best on the 1,000 validation examples; the
test set has no say. If the second seed is called for, the program trains it.

Every trial is a line of benchmarks/results/search/MODEL.csv, and none is ever taken out. Its run lies beside
the data set: stopped and called again, the program takes finished runs as they are and goes on.
"""

import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from simtown.core.files import save_text
from simtown.core.tables import Table
from simtown.datasets.reading.reader import Dataset, open_dataset
from simtown.training.fit import fit
from simtown.training.fit_settings import FitSettings
from simtown.training.models import options

TRIALS, STEPS, TRAIN_SIZE = 6, 3_000, 20_000
#: By how much validation accuracy a trial must beat the default choices.
MARGIN = 0.02
#: The smallest and the largest learning rate.
LEARNING_RATES = (3e-4, 3e-3)
_WIDTH = [0.5, 1.0, 1.5]
_READER: dict[str, list[Any]] = {"width": _WIDTH, "hidden": [64, 128, 256]}
_TRANSFORMER: dict[str, list[Any]] = {"width": _WIDTH, "layers": [2, 3, 4]}
#: By model: what is searched besides the learning rate. A Place-Binder Network reads no words, so its label
#: embedding stands for the LSTM. `pbn-no-boxes` and `cnn-lstm-boxes` are not searched: each takes the choices
#: of the model that it is compared with, so that the two differ in boxes alone.
SPACE: dict[str, dict[str, list[Any]]] = {
    "pbn": {"width": _WIDTH, "embedding": [8, 16, 32]},
    "cnn-lstm": _READER,
    "film": _READER,
    "relation-network": _READER,
    "vit": _TRANSFORMER,
    "true-boxes": _TRANSFORMER,
}
RESULTS = Path(__file__).parent / "results" / "search"


class Trial(NamedTuple):
    """The learning rate and the other choices of a training."""

    learning_rate: float
    choices: dict[str, Any]


def trial(model: str, number: int) -> Trial:
    """Trial `number` of a model; it depends on the model and the number alone."""
    defaults = options(model, {})
    if number == 0:
        return Trial(FitSettings.learning_rate, {name: defaults[name] for name in SPACE[model]})
    draw = np.random.default_rng([0, number])
    low, high = np.log(LEARNING_RATES)
    rate = float(f"{np.exp(draw.uniform(low, high)):.2g}")
    return Trial(rate, {name: values[draw.integers(len(values))] for name, values in SPACE[model].items()})


def train(model: str, dataset: Dataset, number: int, seed: int) -> dict[str, Any]:
    """The row of a trial, which is trained unless its run is finished."""
    rate, choices = trial(model, number)
    how = {"learning_rate": rate, "min_steps": STEPS, "max_steps": STEPS, "precision": "bf16"}
    settings = FitSettings(model, TRAIN_SIZE, seed, options(model, {}) | choices, **how)
    run = fit(settings, dataset, dataset.path.parent / f"{model}-{STEPS}-trial{number}-seed{seed}")
    examples = run["data"]["examples"]
    return {
        "trial": number,
        "seed": seed,
        "learning_rate": rate,
        **choices,
        "val_accuracy": run["best"]["val_accuracy"],
        "best_step": run["best"]["step"],
        "steps": run["steps"],
        "restarts": run["restarts"],
        "parameters": run["parameters"],
        "seconds": round(run["seconds"]),
        "budget": STEPS,
        "train_size": TRAIN_SIZE,
        "data": sha256((examples["train"] + examples["val"]).encode()).hexdigest()[:16],
    }


def challenger(rows: list[dict[str, Any]], seed: int) -> int | None:
    """The best trial of this seed, if it beats the default choices by more than MARGIN."""
    accuracy = {int(row["trial"]): float(row["val_accuracy"]) for row in rows if int(row["seed"]) == seed}
    best = max(accuracy, key=lambda number: accuracy[number])
    return best if accuracy[best] - accuracy[0] > MARGIN + 1e-9 else None


def main(model: str, data: Path) -> None:
    torch.set_num_threads(1)
    dataset, rows = open_dataset(data), []

    def run(number: int, seed: int) -> None:
        rows.append(train(model, dataset, number, seed))
        save_text(RESULTS / f"{model}.csv", Table.of_records(rows).csv())
        print(rows[-1], flush=True)

    for number in range(TRIALS):
        run(number, 0)
    best = challenger(rows, 0)
    if best is not None:
        for number in (0, best):
            run(number, 1)
        best = challenger(rows, 1)
    print("the default choices stay" if best is None else f"trial {best} replaces the default choices")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
