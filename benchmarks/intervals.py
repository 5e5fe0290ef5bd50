"""How often the intervals of `simtown complexity` hold the truth, on simulated experiments whose truth is
known.

A run's accuracy follows a curve in log n from chance to a ceiling; weights, training data and the kinds of
the world each shift it along log n, and weights move its ceiling. Test items differ in how hard they are for
everyone, so that runs of one test set err together. The truth of a need is where the mean curve over all
weights, data and worlds reaches the target, those of ratios and exponents follow from it.

    python benchmarks/intervals.py --out benchmarks/results/coverage.csv

With `--shapes`, five shapes of curves instead, of which scores are known alone, at sizes that lie farther and
farther apart, at a random place on the curve:

    python benchmarks/intervals.py --shapes --experiments 1000 --replicates 200 \\
        --out benchmarks/results/coverage-shapes.csv

With `--beyond`, the need lies beyond the largest size, by up to twice, or two to four times:

    python benchmarks/intervals.py --beyond --out benchmarks/results/coverage-beyond.csv
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from machine import Rows, machine, options, read_rows
from scipy import optimize, special, stats

from simtown.complexity import needs
from simtown.complexity.bootstrap import curve_of_scores, interval, marked
from simtown.complexity.curves import ABOVE, BELOW, RULES
from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import Run
from simtown.complexity.quantities import Findings
from simtown.core.tables import Table

SEEDS = (1, 3, 5, 10)
TARGET = 0.9
ITEMS = 2_000
CHANCE, CEILING = 0.5, 0.98
#: The target, as a share of the way from chance to the ceiling.
REACH = (TARGET - CHANCE) / (CEILING - CHANCE)
#: Share of the luck of an answer that is the item's, not the run's.
DIFFICULTY = 0.4
LADDER = np.array([m * 10**e for e in range(1, 6) for m in (1, 1.4, 2, 3, 5, 7)]).round().astype(int)


@dataclass(frozen=True)
class Scenario:
    """What is true of a simulated experiment; spreads are standard deviations in log n."""

    name: str
    shape: str = "sigmoid"  # or "steep", "step", "power"
    #: Models, their needs with 5 entities, and exponents.
    needs: tuple[tuple[str, float, float], ...] = (("cnn-lstm", 4_000.0, 0.9), ("pbn", 500.0, 0.5))
    worlds: tuple[int, ...] = (5, 15, 31)  # entities
    #: Spreads of a curve by weights and order, training examples, and the kinds of the world; and of a run.
    weights: float = 0.12
    data: float = 0.09
    kinds: float = 0.0
    run: float = 0.03
    ceiling: float = 0.005  # spread of the ceiling by weights
    shared_data: bool = False  # by all seeds
    shared_world: bool = False
    #: Whether the smallest world's sets all lie above its need and the largest world's below.
    censored: bool = False

    def curve(self, x: np.ndarray) -> np.ndarray:
        """Share of the way from chance to the ceiling at log n - log need of the curve without luck."""
        if self.shape == "power":
            return np.maximum(1 - (1 - REACH) * np.exp(-0.7 * x), 0)
        steepness = {"sigmoid": 1.6, "steep": 5.0, "step": 80.0}[self.shape]
        return special.expit(steepness * x + special.logit(REACH))

    def mean_need(self) -> float:
        """Need of the mean curve over all luck, as a multiple of the need of the curve without luck."""
        spread = float(np.sqrt(self.weights**2 + self.data**2 + self.kinds**2 + self.run**2))
        shifts = spread * stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
        gap = optimize.brentq(lambda x: self.curve(x + shifts).mean() - REACH, -2, 2)
        return float(np.exp(gap))

    def sizes(self, need: float, world: int) -> list[int]:
        low, high = need / 4, need * 4
        if self.censored and world in (self.worlds[0], self.worlds[-1]):
            low, high = (need * 1.15, need * 6) if world == self.worlds[0] else (need / 6, need / 1.15)
        return [int(n) for n in LADDER if low < n < high]


EQUAL = Scenario(
    "equal slopes, a world for each seed", needs=(("cnn-lstm", 4_000.0, 0.8), ("pbn", 500.0, 0.8)), kinds=0.2
)
SCENARIOS = (
    Scenario("independent seeds"),
    Scenario("one data set for all seeds", shared_data=True, shared_world=True),
    Scenario("steep take-off", shape="steep"),
    Scenario("power law", shape="power"),
    Scenario("half of the worlds censored", worlds=(5, 15, 31, 60), censored=True),
    EQUAL,
    replace(EQUAL, name="equal slopes, one world for all seeds", shared_world=True),
)


def experiment(scenario: Scenario, seeds: int, number: int) -> list[Run]:
    """The runs of one simulated experiment."""
    rng = np.random.default_rng([number, seeds])
    runs = []
    for world in scenario.worlds:
        hard = rng.standard_normal((seeds, ITEMS), dtype=np.float32)
        if scenario.shared_world:
            hard[:] = hard[0]
        for model, first, exponent in scenario.needs:
            need = first * (world / scenario.worlds[0]) ** exponent
            shift = np.zeros(seeds)
            for spread, shared in (
                (scenario.data, scenario.shared_data),
                (scenario.kinds, scenario.shared_world),
                (scenario.weights, False),
            ):
                drawn = spread * rng.standard_normal(seeds)
                shift += drawn[0] if shared else drawn
            ceiling = np.minimum(CEILING + scenario.ceiling * rng.standard_normal(seeds), 1)
            for n in scenario.sizes(need * scenario.mean_need(), world):
                share = scenario.curve(np.log(n / need) + shift + scenario.run * rng.standard_normal(seeds))
                accuracy = CHANCE + (ceiling - CHANCE) * share
                own = rng.standard_normal((seeds, ITEMS), dtype=np.float32)
                luck = np.sqrt(DIFFICULTY) * hard + np.sqrt(1 - DIFFICULTY) * own
                for s, correct in enumerate(luck < stats.norm.ppf(accuracy)[:, None]):
                    data, kinds = 0 if scenario.shared_data else s, 0 if scenario.shared_world else s
                    runs.append(Run(model, world, False, n, s, f"test-{world}-{kinds}", correct, data, kinds))
    return runs


def truths(scenario: Scenario) -> dict[tuple[str, ...], float]:
    """By kind of quantity and its name."""
    result: dict[tuple[str, ...], float] = {}
    for model, first, exponent in scenario.needs:
        result["exponent", model] = exponent
        for world in scenario.worlds:
            need = first * (world / scenario.worlds[0]) ** exponent * scenario.mean_need()
            result["need", model, str(world)] = need
    for world in map(str, scenario.worlds):
        result["ratio", world] = result["need", "cnn-lstm", world] / result["need", "pbn", world]
    difference = result["exponent", "cnn-lstm"] - result["exponent", "pbn"]
    return result | {("difference of exponents",): difference}


def intervals(report: Findings) -> Iterator[tuple[tuple[str, ...], float, float]]:
    """Kind and name of every quantity by the isotonic rule, with the ends of its interval; a bound's interval
    is open.
    """
    for row in report.rows:
        if row.rule == "isotonic":
            low = row.largest if row.low == ABOVE else row.low
            yield ("need", row.model, str(row.entities)), low, row.smallest if row.high == BELOW else row.high
    for ratio in report.ratios:
        if ratio.rule == "isotonic":
            yield ("ratio", str(ratio.entities)), ratio.low, ratio.high
    for exponent in report.exponents:
        if exponent.rule == "isotonic" and exponent.known:
            name = ("difference of exponents",) if " - " in exponent.model else ("exponent", exponent.model)
            yield name, exponent.low, exponent.high


def measure(scenario: Scenario, seeds: int, experiments: int, replicates: int) -> Iterator[dict[str, object]]:
    """A line for each kind of quantity: the coverage of its intervals, and their median width."""
    truth = truths(scenario)
    hits: dict[str, list[bool]] = {}
    widths: dict[str, list[float]] = {}
    over = set()
    for number in range(experiments):
        runs = experiment(scenario, seeds, number)
        report = estimate(runs, targets=(TARGET,), replicates=replicates, seed=number)
        over |= {curve.interval_over for curve in report.curves}
        for name, low, high in intervals(report):
            hits.setdefault(name[0], []).append(low <= truth[name] <= high)
            factor = name[0] in ("need", "ratio")
            width = (high / low if low > 0 else np.inf) if factor else high - low
            widths.setdefault(name[0], []).append(width)
    for kind, held in hits.items():
        middle = float(np.median(widths[kind]))
        yield {
            "scenario": scenario.name,
            "seeds": seeds,
            "interval_over": ", ".join(sorted(over)),
            "quantity": kind,
            "intervals": len(held),
            "coverage": round(float(np.mean(held)), 3),
            "median_width": round(middle, 3) if np.isfinite(middle) else "",
            "width_is": "high / low" if kind in ("need", "ratio") else "high - low",
        }


@dataclass(frozen=True)
class Shape:
    """A learning curve from chance to the ceiling.

    Attributes:
        shape: as of a :class:`Scenario`.
        spread: of the seeds' curves along log n.
        stuck: probability with which a run stays at chance. The truth is then that of the others.
    """

    name: str
    shape: str
    spread: float = 0.15
    stuck: float = 0.0


SHAPES = (
    Shape("power law", "power"),
    Shape("gentle logistic", "sigmoid"),
    Shape("steep logistic", "steep"),
    Shape("step between two sizes", "step", spread=0.03),
    Shape("15 % of the runs stuck at chance", "sigmoid", stuck=0.15),
)
SPACINGS = (1.4, 2.0, 4.0, 10.0)
#: Sizes of an experiment, and the need of the curve without luck.
SIZES, MIDDLE = 6, 100_000


class Scored(NamedTuple):
    """An experiment of which the scores (S, K) at sizes (S,) are known, and its true need."""

    sizes: np.ndarray
    scores: np.ndarray
    truth: float


def true_curve(shape: Shape) -> Scenario:
    return Scenario(shape.name, shape.shape, weights=shape.spread, data=0)


def scored(
    shape: Shape, spacing: float, seeds: int, number: int, beyond: tuple[float, float] | None = None
) -> Scored:
    """The need lies in the middle of the sizes, or between two multiples of the largest one."""
    truth = true_curve(shape)
    rng = np.random.default_rng([number, seeds])
    place = rng.uniform()
    first = np.log(truth.mean_need()) - (place + SIZES // 2 - 1) * np.log(spacing)
    if beyond:
        least, most = np.log(beyond)
        last = np.log(truth.mean_need()) - least - place * (most - least)
        first = last - (SIZES - 1) * np.log(spacing)
    x = first + np.log(spacing) * np.arange(SIZES)
    shift = shape.spread * rng.standard_normal(seeds) + truth.run * rng.standard_normal((SIZES, seeds))
    ceiling = np.minimum(CEILING + truth.ceiling * rng.standard_normal(seeds), 1)
    accuracy = CHANCE + (ceiling - CHANCE) * truth.curve(x[:, None] + shift)
    accuracy = np.where(rng.uniform(size=accuracy.shape) < shape.stuck, CHANCE, accuracy)
    sizes = (np.exp(x) * MIDDLE).round().astype(int)
    return Scored(sizes, rng.binomial(ITEMS, accuracy) / ITEMS, truth.mean_need() * MIDDLE)


def measure_shape(
    shape: Shape, spacing: float, seeds: int, experiments: int, replicates: int
) -> dict[str, object]:
    """How often a place between two sizes is claimed, and how often the interval then holds the truth.

    Beside it, of all experiments: if the curve between two sizes were taken for known.
    """
    rows = []
    for number in range(experiments):
        sizes, scores, truth = scored(shape, spacing, seeds, number)
        curve = curve_of_scores(sizes, scores, [TARGET], replicates=replicates, seed=number)
        known = RULES["isotonic"](sizes, curve.means, np.ones(SIZES), np.array([TARGET]))[0]
        needs = curve.samples["isotonic"][0]
        row = [not curve.jumps[0] and BELOW < needs[0] < ABOVE, curve.falls, curve.stuck.any()]
        for low, high in (interval(needs[1:]), interval(known[1:])):
            row += [low <= truth <= high, high / max(low, 1) if low < ABOVE else ABOVE]
        rows.append(row)
    claimed, falls, stuck, held, width, held_if_known, width_if_known = np.array(rows, dtype=float).T
    chosen = claimed > 0
    return {
        "truth": shape.name,
        "spacing": spacing,
        "seeds": seeds,
        "experiments": experiments,
        "claimed": round(float(claimed.mean()), 3),
        "coverage": round(float(held[chosen].mean()), 3) if chosen.any() else "",
        "median_width": round(float(np.median(width[chosen])), 3) if chosen.any() else "",
        "coverage_of_refused": "" if chosen.all() else round(float(held[~chosen].mean()), 3),
        "coverage_if_known": round(float(held_if_known.mean()), 3),
        "median_width_if_known": round(float(np.median(width_if_known)), 3),
        "some_stuck": round(float(stuck.mean()), 3),
        "falls": round(float(falls.mean()), 3),
    }


#: By how many times the need exceeds the largest size, at the least and at the most.
BEYOND = ((1.0, 2.0), (2.0, 4.0))


def measure_beyond(
    shape: Shape, beyond: tuple[float, float], seeds: int, experiments: int
) -> dict[str, object]:
    """At doubled sizes: how often a need is claimed, and then held; and how often intervals of the score at
    twice the largest size hold it.
    """
    truth = true_curve(shape)
    spread = float(np.hypot(truth.weights, truth.run))
    shifts = spread * stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
    claimed, held, gains = [], [], []
    for number in range(experiments):
        sizes, scores, need = scored(shape, 2.0, seeds, number, beyond)
        found = needs.from_curve(sizes, scores, TARGET, random_state=number)
        low, high = found.interval_
        claimed.append(found.is_beyond_)
        held.append((low or 0) <= need <= (high or np.inf))
        if gain := found.gain_:
            x = np.log(gain.size / MIDDLE)
            score = CHANCE + (CEILING - CHANCE) * truth.curve(x + shifts).mean()
            gains.append(gain.low <= score <= gain.high)
    is_claimed, is_held = np.array(claimed), np.array(held)
    return {
        "truth": shape.name,
        "need beyond the largest": f"{beyond[0]:g} to {beyond[1]:g} times",
        "seeds": seeds,
        "experiments": experiments,
        "claimed": round(float(is_claimed.mean()), 3),
        "coverage": round(float(is_held[is_claimed].mean()), 3) if is_claimed.any() else "",
        "coverage_of_bounds": "" if is_claimed.all() else round(float(is_held[~is_claimed].mean()), 3),
        "coverage_of_gain": round(float(np.mean(gains)), 3) if gains else "",
    }


#: A cell is claimed if so many of its experiments claim a place.
MOST = 0.5


def shapes_table(lines: list[dict[str, str]]) -> str:
    """The second table of docs/reproduce/intervals.md: coverage and median width of the claimed cells.

    The page shows five seeds; the CSV file has the others.
    """
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for line in (line for line in lines if line["seeds"] == "5"):
        case = {"truth": line["truth"], "seeds": line["seeds"]}
        row = rows.setdefault(tuple(case.values()), case)
        share = float(line["claimed"])
        text = "refused"
        if share >= MOST:
            text = f"{100 * float(line['coverage']):.0f} % (× {float(line['median_width']):.2f})"
            if share < 0.995:
                text += f", {100 * (1 - share):.0f} % refused"
        row[f"× {float(line['spacing']):g}"] = f"{text}; {100 * float(line['coverage_if_known']):.0f} %"
    return Table.of_records(list(rows.values())).markdown()


def table(lines: list[dict[str, str]]) -> str:
    """The table of docs/reproduce/intervals.md: coverage, and in brackets the median width.

    The page shows five seeds; the CSV file has the others.
    """
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for line in (line for line in lines if line["seeds"] == "5"):
        width = f"{float(line['median_width']):.2f}" if line["median_width"] else "open"
        times = "× " * (line["width_is"] == "high / low" and width != "open")
        case = {"truth": line["scenario"], "seeds": line["seeds"]}
        row = rows.setdefault(tuple(case.values()), case | {"interval over": marked(line["interval_over"])})
        row[line["quantity"]] = f"{100 * float(line['coverage']):.0f} % ({times}{width})"
    return Table.of_records(list(rows.values())).markdown()


def main() -> None:
    args = options(__doc__, experiments=200, replicates=250, out="coverage.csv", shapes=False, beyond=False)
    where = f"{args.experiments} experiments of {args.replicates} replicates each"
    rows = Rows(Path(args.out), f"{where}; {machine('numpy', 'scipy')}")
    if args.shapes:
        for shape, seeds, spacing in product(SHAPES, SEEDS[1:], SPACINGS):
            rows.add(measure_shape(shape, spacing, seeds, args.experiments, args.replicates))
        print(shapes_table(read_rows(Path(args.out))))
        return
    if args.beyond:
        for shape, beyond, seeds in product(SHAPES[:3], BEYOND, SEEDS[1:]):
            rows.add(measure_beyond(shape, beyond, seeds, args.experiments))
        return
    for scenario, seeds in product(SCENARIOS, SEEDS):
        for line in measure(scenario, seeds, args.experiments, args.replicates):
            rows.add(line)
    print(table(read_rows(Path(args.out))))


if __name__ == "__main__":
    main()
