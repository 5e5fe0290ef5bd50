"""How often 95 % intervals of a share and of a paired difference hold the truth: exactly, by adding up the
probabilities of all outcomes.

Shares: Wilson's, Agresti and Coull's, Jeffreys', and that of mid-P. Paired differences: Tango's score; the
same against mid-P of all outcomes, at the likeliest share of answers that differ (up to 50 answers); the
likelihood ratio, alone and with a quarter of an answer added to each outcome; Bonett and Price's; Agresti and
Min's. Of each: the coverage at the accuracies of benchmarks/evaluation_intervals.py, the lowest of a grid of
truths, and the parts of the grid below 92 % and above 98 %.

    python benchmarks/exact_intervals.py --out benchmarks/results/exact_intervals.csv
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from machine import Rows, machine, options
from scipy import optimize, sparse, special, stats

ACCURACIES, ANSWERS = (0.05, 0.5, 0.8, 0.98), (20, 50, 100, 200)
#: The accuracy of the other model, and how often it shares the luck of the first one.
OTHER, SHARED = 0.5, 0.8
#: Shares of intervals between which a cell passes.
LEAST, MOST = 0.92, 0.98
_Z = float(stats.norm.ppf(0.975))

#: Of counts of successes and n: the ends.
Ends = Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]
#: Of counts of questions gained and lost, n and a difference: whether the interval holds it.
Holds = Callable[[np.ndarray, np.ndarray, int, float], np.ndarray]


def wilson(k: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    mean = k / n
    middle = (mean + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z * np.sqrt(mean * (1 - mean) / n + (_Z / (2 * n)) ** 2) / (1 + _Z**2 / n)
    return np.where(k == 0, 0, middle - half), np.where(k == n, 1, middle + half)


def agresti_coull(k: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    size = n + _Z**2
    mean = (k + _Z**2 / 2) / size
    half = _Z * np.sqrt(mean * (1 - mean) / size)
    return mean - half, mean + half


def jeffreys(k: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    low, high = (special.betaincinv(k + 0.5, n - k + 0.5, end) for end in (0.025, 0.975))
    return np.where(k == 0, 0, low), np.where(k == n, 1, high)


def mid_p(k: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    def excess(p: float, count: int, sign: int) -> float:
        beyond = stats.binom.sf(count, n, p) if sign > 0 else stats.binom.cdf(count - 1, n, p)
        return float(beyond + 0.5 * stats.binom.pmf(count, n, p) - 0.025)

    low = [optimize.brentq(excess, 0, 1, (int(c), 1)) if c else 0.0 for c in k]
    high = [optimize.brentq(excess, 0, 1, (int(c), -1)) if c < n else 1.0 for c in k]
    return np.array(low), np.array(high)


def lost_share(gained: np.ndarray, lost: np.ndarray, n: float, difference: float) -> np.ndarray:
    """The most likely probability that a question is lost, if gained ones are more likely by `difference`."""
    b = (2 * n - gained + lost) * difference - gained - lost
    root = np.sqrt(np.maximum(b**2 + 8 * n * lost * difference * (1 - difference), 0))
    return np.clip((root - b) / (4 * n), max(0, -difference), (1 - difference) / 2)


def tango(gained: np.ndarray, lost: np.ndarray, n: int, difference: float) -> np.ndarray:
    variance = n * (2 * lost_share(gained, lost, n, difference) + difference * (1 - difference))
    return (gained - lost - n * difference) ** 2 <= _Z**2 * variance + 1e-12


def tango_mid_p(gained: np.ndarray, lost: np.ndarray, n: int, difference: float) -> np.ndarray:
    share = lost_share(gained, lost, n, difference)
    variance = np.maximum(n * (2 * share + difference * (1 - difference)), 1e-12)
    score = np.round(np.abs(gained - lost - n * difference) / np.sqrt(variance), 9)
    shares, group = np.unique(np.round(share, 9), return_inverse=True)
    chances = [probability(gained, lost, n, max(p + difference, 0), p) for p in shares]
    p = [chances[g] @ ((score > s) + 0.5 * (score == s)) for g, s in zip(group, score, strict=True)]
    return np.array(p) > 0.05


def likelihood(
    gained: np.ndarray, lost: np.ndarray, n: int, difference: float, added: float = 0
) -> np.ndarray:
    gained, lost, size = gained + added, lost + added, n + 3 * added
    fewer = lost_share(gained, lost, size, difference)
    ratio = np.zeros(len(gained))
    for count, p in (
        (gained, fewer + difference),
        (lost, fewer),
        (size - gained - lost, 1 - 2 * fewer - difference),
    ):
        ratio += 2 * special.xlogy(count, count / size) - 2 * special.xlogy(count, np.maximum(p, 1e-300))
    return ratio <= _Z**2


def wald(
    gained: np.ndarray, lost: np.ndarray, n: int, difference: float, added: float, more: int
) -> np.ndarray:
    """Wald's interval after `added` answers to gained and to lost ones, and `more` in all."""
    up, down = (gained + added) / (n + more), (lost + added) / (n + more)
    error = np.sqrt((up + down - (up - down) ** 2) / (n + more))
    return np.abs(up - down - difference) <= _Z * error


SHARES: dict[str, Ends] = {
    "Wilson": wilson,
    "Agresti and Coull": agresti_coull,
    "Jeffreys": jeffreys,
    "mid-P": mid_p,
}
PAIRED: dict[str, Holds] = {
    "Tango": tango,
    "Tango, mid-P": tango_mid_p,
    "likelihood ratio": likelihood,
    "likelihood ratio, a quarter added": partial(likelihood, added=0.25),
    "Bonett and Price": partial(wald, added=1, more=2),
    "Agresti and Min": partial(wald, added=0.5, more=2),
}
MOST_OF_MID_P = 50
#: Truths of a share; and of a paired difference: how many answers differ, and how many of these are gained.
GRID = np.linspace(0.01, 0.99, 197)
DIFFERING, GAINED = (
    (0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8),
    (0.5, 0.6, 0.7, 0.8, 0.9, 1),
)


def outcomes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of gained and of lost questions of all outcomes of n."""
    gained, lost = np.divmod(np.arange((n + 1) ** 2), n + 1)
    possible = gained + lost <= n
    return gained[possible], lost[possible]


def probability(gained: np.ndarray, lost: np.ndarray, n: int, up: float, down: float) -> np.ndarray:
    """Of outcomes of n questions, of which each is gained with the probability `up` and lost with `down`."""
    same = n - gained - lost
    ways = special.gammaln(n + 1) - sum(special.gammaln(count + 1) for count in (gained, lost, same))
    logs = special.xlogy(gained, up) + special.xlogy(lost, down) + special.xlogy(same, 1 - up - down)
    return np.exp(ways + logs)


def cell(accuracy: float) -> tuple[float, float]:
    """Probabilities that a question is gained and lost by the simulated pair of models."""
    return (1 - SHARED) * accuracy * (1 - OTHER), (1 - SHARED) * (1 - accuracy) * OTHER


def least_coverage(n: int, up: float, down: float) -> float:
    """The lowest coverage that any interval of a paired difference can have at this truth.

    It must hold the truth in at least 92 % wherever the difference is the same, however many answers differ.
    It holds what it saw; an outcome that lies farther off than one that leaves the difference out leaves it
    out, too; and at no difference both models are treated alike. An integer program finds these outcomes.
    """
    gained, lost = outcomes(n)
    difference, count = up - down, len(gained)
    place = np.full((n + 2, n + 2), -1)  # also place[.., -1]
    place[gained, lost] = np.arange(count)
    # columns: the outcome lies too far above the difference; too far below
    pairs = []
    for start, sign in ((0, 1), (count, -1)):
        for more, fewer in ((1, 0), (0, 1)):
            farther = place[gained + sign * more, lost - sign * fewer]
            pairs.append(start + np.stack([np.arange(count), farther], axis=1)[farther >= 0])
    nearer, farther = np.concatenate(pairs).T
    row = np.arange(len(nearer))
    order = sparse.csr_array(
        (np.repeat((1, -1), len(row)), (np.append(row, row), np.append(nearer, farther))),
        shape=(len(row), 2 * count),
    )
    shares = np.linspace(max(0, -difference), (1 - difference) / 2, 60)
    missed = np.array([probability(gained, lost, n, share + difference, share) for share in shares])
    rules = [
        optimize.LinearConstraint(order, -np.inf, 0),
        optimize.LinearConstraint(np.tile(missed, 2), -np.inf, 1 - LEAST),
    ]
    if abs(difference) < 1e-12:
        turned = sparse.eye_array(count, format="csr")[place[lost, gained]]
        rules.append(optimize.LinearConstraint(sparse.hstack([sparse.eye_array(count), -turned]), 0, 0))
    seen = (gained - lost) / n - difference
    bounds = optimize.Bounds(0, np.append(seen > 1e-9, seen < -1e-9).astype(float))
    here = np.tile(probability(gained, lost, n, up, down), 2)
    found = optimize.milp(-here, constraints=rules, integrality=np.ones(2 * count), bounds=bounds)
    return 1 + float(found.fun)


def summarize(name: str, n: int, at: dict[str, float], coverage: np.ndarray) -> dict[str, object]:
    row: dict[str, object] = {
        "method": name,
        "answers": n,
        **{key: round(value, 4) for key, value in at.items()},
    }
    row |= {"lowest": round(float(coverage.min()), 4)}
    return row | {
        "below_92": round(float((coverage < LEAST).mean()), 3),
        "above_98": round(float((coverage > MOST).mean()), 3),
    }


def main() -> None:
    args = options(__doc__, out="exact_intervals.csv")
    rows = Rows(Path(args.out), machine("numpy", "scipy"))
    for n, (name, ends) in product(ANSWERS, SHARES.items()):
        k = np.arange(n + 1)
        low, high = ends(k, n)

        def of_share(p: float) -> float:
            return float(stats.binom.pmf(k, n, p) @ ((low <= p) & (p <= high)))  # noqa: B023

        at = {f"at_{accuracy}": of_share(accuracy) for accuracy in ACCURACIES}
        rows.add({"quantity": "share"} | summarize(name, n, at, np.array([of_share(p) for p in GRID])))
    for n, (name, holds) in product(ANSWERS, PAIRED.items()):
        if holds is tango_mid_p and n > MOST_OF_MID_P:
            continue
        gained, lost = outcomes(n)

        def of_pair(up: float, down: float) -> float:
            return float(probability(gained, lost, n, up, down) @ holds(gained, lost, n, up - down))  # noqa: B023

        at = {f"at_{accuracy}": of_pair(*cell(accuracy)) for accuracy in ACCURACIES}
        grid = [of_pair(share * part, share * (1 - part)) for share, part in product(DIFFERING, GAINED)]
        rows.add({"quantity": "paired"} | summarize(name, n, at, np.array(grid)))


if __name__ == "__main__":
    main()
