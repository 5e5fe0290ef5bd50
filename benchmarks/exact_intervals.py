"""How often 95 % intervals of a paired difference hold the truth, exactly: summed over all outcomes.

Tango's score; the same against mid-P of all outcomes, at the likeliest share of answers that differ; the
likelihood ratio; and simtown's, which is between score and ratio. Of each the coverage for the pairs of
models of benchmarks/evaluation_intervals.py, and the lowest of a grid of truths.

    python benchmarks/exact_intervals.py --out benchmarks/results/exact_intervals.csv
"""

from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from machine import Rows, machine, options
from scipy import linalg, optimize, special, stats

from simtown.complexity.intervals import paired_difference

ACCURACIES = (0.05, 0.5, 0.8, 0.98)
#: The accuracy of the other model, and how often it shares the luck of the first one.
OTHER, SHARED = 0.5, 0.8
#: Shares of intervals between which a cell passes.
LEAST, MOST = 0.92, 0.98
_Z = float(stats.norm.ppf(0.975))


def lost_share(gained: np.ndarray, lost: np.ndarray, n: int, difference: float) -> np.ndarray:
    """The most likely probability that an answer is lost, if gained ones are more likely by `difference`."""
    b = (2 * n - gained + lost) * difference - gained - lost
    root = np.sqrt(np.maximum(b**2 + 8 * n * lost * difference * (1 - difference), 0))
    return np.clip((root - b) / (4 * n), max(0, -difference), (1 - difference) / 2)


def score(gained: np.ndarray, lost: np.ndarray, n: int, difference: float) -> np.ndarray:
    variance = n * (2 * lost_share(gained, lost, n, difference) + difference * (1 - difference))
    return np.abs(gained - lost - n * difference) / np.sqrt(np.maximum(variance, 1e-12))


def tango_mid_p(gained: np.ndarray, lost: np.ndarray, n: int, difference: float) -> np.ndarray:
    far = np.round(score(gained, lost, n, difference), 9)
    shares = lost_share(gained, lost, n, difference)
    p = [
        probability(gained, lost, n, max(share + difference, 0), share) @ ((far > own) + 0.5 * (far == own))
        for share, own in zip(shares, far, strict=True)
    ]
    return np.array(p) > 0.05


def likelihood_ratio(gained: np.ndarray, lost: np.ndarray, n: int, difference: float) -> np.ndarray:
    """Twice by how much the likeliest shares are likelier than those with this difference."""
    share = lost_share(gained, lost, n, difference)
    shares = np.stack([share + difference, share, 1 - difference - 2 * share])
    counts = np.stack([gained, lost, n - gained - lost])
    return 2 * (special.xlogy(counts, counts / n) - special.xlogy(counts, np.maximum(shares, 1e-12))).sum(0)


@cache
def ends(n: int) -> np.ndarray:
    """Ends (2, outcomes) of our intervals of all outcomes of n."""
    place = np.arange(n)
    found = [paired_difference(place < up, place >= n - down) for up, down in zip(*outcomes(n), strict=True)]
    return np.array([[it["low"], it["high"]] for it in found]).T


def ours(gained: np.ndarray, lost: np.ndarray, n: int, difference: float) -> np.ndarray:
    low, high = ends(n)
    return (low <= difference) & (difference <= high)


METHODS: dict[str, Callable[..., np.ndarray]] = {
    "Tango": lambda *outcome: score(*outcome) <= _Z,
    "Tango, mid-P": tango_mid_p,
    "likelihood ratio": lambda *outcome: likelihood_ratio(*outcome) <= _Z**2,
    "simtown": ours,
}
#: Truths: shares of answers that differ, and shares of these that are gained.
GRID = tuple(product(np.linspace(0.02, 0.8, 14), np.linspace(0.5, 1, 6)))


def outcomes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of gained and of lost answers of all outcomes of n."""
    gained, lost = np.divmod(np.arange((n + 1) ** 2), n + 1)
    possible = gained + lost <= n
    return gained[possible], lost[possible]


def probability(gained: np.ndarray, lost: np.ndarray, n: int, up: float, down: float) -> np.ndarray:
    """Of outcomes of n answers, of which each is gained with the probability `up` and lost with `down`."""
    counts = np.stack([gained, lost, n - gained - lost], axis=1)
    return stats.multinomial.pmf(counts, n, [up, down, max(1 - up - down, 0)])


def cell(accuracy: float) -> tuple[float, float]:
    """Probabilities that an answer is gained and lost by the simulated pair of models."""
    return (1 - SHARED) * accuracy * (1 - OTHER), (1 - SHARED) * (1 - accuracy) * OTHER


def least_coverage(n: int, up: float, down: float) -> float:
    """The lowest coverage that any interval of a paired difference can have at this truth.

    It must hold the truth in at least 92 % wherever the difference is the same, however many answers differ.
    It holds what it saw; an outcome that lies farther off than one that leaves the difference out leaves it
    out, too; and at no difference both models are treated alike. An integer program finds these outcomes.
    """
    gained, lost = outcomes(n)
    difference, count = up - down, len(gained)
    place = np.full((n + 2, n + 2), -1)
    place[gained, lost] = np.arange(count)
    # unknowns: which outcomes lie too far above the difference, and which too far below
    one = np.eye(count)
    higher = [place[gained + 1, lost], place[gained, lost - 1]]
    steps = np.concatenate([(one - one[above])[above >= 0] for above in higher])
    constraint = optimize.LinearConstraint
    shares = np.linspace(max(0, -difference), (1 - difference) / 2, 60)
    missed = np.array([probability(gained, lost, n, share + difference, share) for share in shares])
    rules = [
        constraint(linalg.block_diag(steps, -steps), -np.inf, 0),
        constraint(np.tile(missed, 2), -np.inf, 1 - LEAST),
    ]
    if up == down:
        rules.append(constraint(np.hstack([one, -one[place[lost, gained]]]), 0, 0))
    seen = (gained - lost) / n - difference
    bounds = optimize.Bounds(0, np.append(seen > 1e-9, seen < -1e-9).astype(float))
    here = np.tile(probability(gained, lost, n, up, down), 2)
    return 1 + float(optimize.milp(-here, constraints=rules, integrality=1, bounds=bounds).fun)


def main() -> None:
    args = options(__doc__, out="exact_intervals.csv")
    rows = Rows(Path(args.out), machine("numpy", "scipy"))
    truths = [*map(cell, ACCURACIES), *((share * part, share * (1 - part)) for share, part in GRID)]
    for n, (name, holds) in product((20, 25, 30, 40, 50), METHODS.items()):
        gained, lost = outcomes(n)
        coverage = [
            round(float(probability(gained, lost, n, up, down) @ holds(gained, lost, n, up - down)), 4)
            for up, down in truths
        ]
        cells = dict(zip(map(str, ACCURACIES), coverage, strict=False))
        rows.add({"method": name, "answers": n} | cells | {"lowest": min(coverage[len(cells) :])})


if __name__ == "__main__":
    main()
