"""How often the 95 % intervals of an evaluation hold the truth, on simulated answers about pictures.

A model of a known accuracy answers 1, 5 or 10 questions about each picture. With dependence 1 all answers
about a picture are right or wrong together, with 0 each falls by itself, and in between each falls with the
picture's with the root of the dependence as probability. A second model has each picture's luck of the first
with a probability of 0.8, else its own ("paired"), or answers about other pictures ("unpaired").

    python benchmarks/evaluation_intervals.py --out benchmarks/results/evaluation_intervals.csv
"""

from itertools import product
from pathlib import Path

import numpy as np
from machine import Rows, machine, options

from simtown.complexity.intervals import difference, paired_difference, share

ACCURACIES, PICTURES = (0.05, 0.5, 0.8, 0.98), (20, 50, 100, 200, 400)
#: Questions about a picture, and their dependence.
CASES = ((1, 0.0), (5, 1.0), (10, 1.0), (5, 0.3), (10, 0.3), (10, 0.0))
#: The accuracy of the other model, and how often it shares the luck of the first one.
OTHER, SHARED = 0.5, 0.8
#: Shares of intervals between which a cell passes.
LEAST, MOST = 0.92, 0.98


def answers(
    accuracy: float, rng: np.random.Generator, pictures: int, questions: int, dependence: float
) -> np.ndarray:
    """(pictures, questions) bool, which answers are right."""
    together = rng.random((pictures, 1)) < accuracy
    alone = rng.random((pictures, questions)) < accuracy
    return np.where(rng.random((pictures, questions)) < dependence**0.5, together, alone)


def main() -> None:
    args = options(__doc__, repeats=400, out="evaluation_intervals.csv")
    rows = Rows(Path(args.out), f"{args.repeats} repeats a cell; {machine('numpy', 'scipy')}")
    rng = np.random.default_rng(0)
    for (questions, dependence), pictures, accuracy in product(CASES, PICTURES, ACCURACIES):
        how = rng, pictures, questions, dependence
        cluster = np.repeat(np.arange(pictures), questions)

        held: dict[str, list[bool]] = {"share": [], "paired": [], "unpaired": []}
        for _ in range(args.repeats):
            one, other = answers(accuracy, *how), answers(OTHER, *how)
            mixed = np.where(rng.random((pictures, 1)) < SHARED, one, other)
            own, apart = share(one.ravel(), cluster), share(other.ravel(), cluster)
            pair = paired_difference(one.ravel(), mixed.ravel(), cluster)
            _, low, high = difference(own, apart)
            held["share"].append(own["low"] <= accuracy <= own["high"])
            held["paired"].append(pair["low"] <= (1 - SHARED) * (accuracy - OTHER) <= pair["high"])
            held["unpaired"].append(low <= accuracy - OTHER <= high)
        for quantity, each in held.items():
            coverage = float(np.mean(each))
            verdict = "low" if coverage < LEAST else "high" if coverage > MOST else "holds"
            cell = {"quantity": quantity, "questions": questions, "dependence": dependence}
            rows.add(cell | {"pictures": pictures, "accuracy": accuracy, "coverage": coverage, "is": verdict})


if __name__ == "__main__":
    main()
