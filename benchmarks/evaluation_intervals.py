"""How often the 95 % intervals of an evaluation hold the truth, on simulated answers about pictures.

A model of a known accuracy answers 1, 5 or 10 questions about each picture. With dependence 1 all answers
about a picture are right or wrong together, with 0 each falls by itself, and in between each falls with the
picture's with the root of the dependence as probability. A second model has each picture's luck of the first
with a probability of 0.8, else its own ("paired"), or answers about other pictures ("unpaired").

Where a picture has one luck, the coverage is also computed exactly, from all outcomes (`exact`), and decides.
Where a paired interval holds the truth too often, `least` is the lowest coverage that any interval can have
there (benchmarks/exact_intervals.py).

    python benchmarks/evaluation_intervals.py --out benchmarks/results/evaluation_intervals.csv
"""

from itertools import product
from pathlib import Path

import numpy as np
from exact_intervals import (
    ACCURACIES,
    LEAST,
    MOST,
    OTHER,
    SHARED,
    cell,
    least_coverage,
    outcomes,
    probability,
)
from machine import Rows, machine, options
from scipy import stats

from simtown.complexity.intervals import difference, paired_difference, share

PICTURES = (20, 50, 100, 200, 400)
#: Questions about a picture, and their dependence.
CASES = ((1, 0.0), (5, 1.0), (10, 1.0), (5, 0.3), (10, 0.3), (10, 0.0))
#: Outcomes that are less likely are left out.
RARE = 1e-8


def answers(
    accuracy: float, rng: np.random.Generator, pictures: int, questions: int, dependence: float
) -> np.ndarray:
    """(pictures, questions) bool, which answers are right."""
    together = rng.random((pictures, 1)) < accuracy
    alone = rng.random((pictures, questions)) < accuracy
    return np.where(rng.random((pictures, questions)) < dependence**0.5, together, alone)


def exact_coverage(accuracy: float, pictures: int, questions: int) -> dict[str, float]:
    """The coverage of each interval if all answers about a picture are right or wrong together."""
    cluster = np.repeat(np.arange(pictures), questions)
    right = np.arange(pictures + 1)
    shares = [share(cluster < count, cluster) for count in right]
    own, apart = (stats.binom.pmf(right, pictures, p) for p in (accuracy, OTHER))
    held = {"share": own @ [_holds(found, accuracy) for found in shares], "paired": 0.0, "unpaired": 0.0}
    for one, other in np.argwhere(own[:, None] * apart > RARE):
        _, low, high = difference(shares[one], shares[other])
        held["unpaired"] += own[one] * apart[other] * (low <= accuracy - OTHER <= high)

    gained, lost = outcomes(pictures)
    chances = probability(gained, lost, pictures, *cell(accuracy))
    likely = chances > RARE
    for up, down, chance in zip(gained[likely], lost[likely], chances[likely], strict=True):
        pair = paired_difference(cluster < up, cluster >= pictures - down, cluster)
        held["paired"] += chance * _holds(pair, (1 - SHARED) * (accuracy - OTHER))
    return held


def _holds(interval: dict[str, float], truth: float) -> bool:
    return interval["low"] <= truth <= interval["high"]


def judge(coverage: float, least: float) -> str:
    if coverage > MOST:
        return "no interval can" if least > MOST else "high"
    return "low" if coverage < LEAST else "holds"


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
            held["share"].append(_holds(own, accuracy))
            held["paired"].append(_holds(pair, (1 - SHARED) * (accuracy - OTHER)))
            held["unpaired"].append(low <= accuracy - OTHER <= high)
        is_exact = questions == 1 or dependence == 1
        exact = exact_coverage(accuracy, pictures, questions) if is_exact else {}
        for quantity, each in held.items():
            coverage, least = float(np.mean(each)), 0.0
            decisive = exact.get(quantity, coverage)
            if exact and quantity == "paired" and decisive > MOST:
                least = round(least_coverage(pictures, *cell(accuracy)), 4)
            row = {"quantity": quantity, "questions": questions, "dependence": dependence}
            row |= {"pictures": pictures, "accuracy": accuracy, "coverage": coverage}
            row |= {"exact": round(decisive, 4) if exact else "", "least": least or ""}
            rows.add(row | {"is": judge(decisive, least)})


if __name__ == "__main__":
    main()
