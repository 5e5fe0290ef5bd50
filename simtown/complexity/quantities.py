"""Estimates: samples needed, exponents, ratios and additional data, and how each reads in words.

All fields that several of these have mean the same: `distractor`, whether scenes have a third vehicle;
`target`, the accuracy to reach; `rule`, by which needs are read off a curve; `low` and `high`, the interval;
`interval_over`, what varied among the runs (:func:`simtown.complexity.bootstrap.interval_over`), for a
comparison the narrower of the two; `at_least` and `at_most`, what censored needs leave open, equal if none is
censored; `verdict`, of a difference: "decided" if the interval excludes 0, on the same side under every
treatment of censored worlds, and holds more than the luck of one data set, else "undecided". Ends may be
infinite.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simtown.complexity.bootstrap import BootstrapCurve, marked
from simtown.complexity.curves import ABOVE, BELOW

#: What follows a target in the name of the column of its smallest sets.
SMALLEST = ", smallest set"


@dataclass(frozen=True)
class Need:
    """N* of one model in one world for one target by one rule; `samples` and ends may be BELOW or ABOVE.

    Attributes:
        low: end of the interval. If the curve `jumps`, the ends are trained sizes.
        seeds_reached: seeds that reach the target.
        seeds_fewest: seeds of the size that has fewest.
        items: test items of a run.
        smallest: size that was trained; so `largest`.
        jumps: whether N* lies between two sizes and nothing says where.
        stuck: runs that never learned; an isotonic N* is of the others.
        falls: whether the curve falls; an isotonic N* is then the size from which the target holds.
        next_size: worth training next; None if more seeds are worth more.
    """

    model: str
    entities: int
    distractor: bool
    target: float
    rule: str
    samples: float
    low: float
    high: float
    interval_over: str
    seeds_reached: int
    seeds: int
    seeds_fewest: int
    items: int
    smallest: int
    largest: int
    jumps: bool = False
    stuck: int = 0
    falls: bool = False
    next_size: int | None = None

    def text(self, n: float) -> str:
        """An N* in words: `3,140`, `≤ 250`, `> 60,000`."""
        if n == BELOW:
            return f"≤ {self.smallest:,}"
        return f"> {self.largest:,}" if n == ABOVE else f"{n:,.0f}"

    def __str__(self) -> str:
        """N* with its interval: `3,140 (2,900 to 3,400)`, `> 60,000 (41,000 to > 60,000)`.

        Without a known place between two sizes: `between 2,000 and 4,000`, `at most 4,000`, `at least 2,000`.
        """
        point, low, high = (self.text(n) for n in (self.samples, self.low, self.high))
        if self.jumps:
            if self.low == BELOW:
                return "unknown" if self.high == ABOVE else f"at most {high}"
            return f"at least {low}" if self.high == ABOVE else f"between {low} and {high}"
        return point if point == low == high else f"{point} ({low} to {high})"


@dataclass(frozen=True)
class Exponent:
    """The exponent with which N* grows: N* ~ entities^value.

    Attributes:
        model: or "cnn-lstm - pbn", the difference.
        value: the exponent; NaN if it is not identifiable.
        worlds: their number; `uncensored`, of those whose need is known.
        identified: share of the replicates in which it is identifiable.
        reason: why there is no value; empty if there is one.
        least: smallest value over the treatments of censored worlds
            (:meth:`simtown.complexity.growth.WorldNeeds.treatments`); `most`, the largest.
    """

    model: str
    distractor: bool
    target: float
    rule: str
    value: float
    low: float
    high: float
    worlds: int
    uncensored: int
    identified: float
    reason: str
    interval_over: str
    least: float = float("nan")
    most: float = float("nan")
    verdict: str = ""

    @property
    def known(self) -> bool:
        return not self.reason

    def __str__(self) -> str:
        """`0.62 (0.48 to 0.79)`, or why there is none."""
        if self.reason:
            return self.reason
        ends = _range(self.low, self.high, "{:.2f}".format)
        unknown = f" (interval unknown: identifiable in {self.identified:.0%} of the replicates)"
        return f"{self.value:.2f}" + (ends or unknown)

    @property
    def sensitivity(self) -> str:
        """`0.41 to 0.80`, the range over the treatments of censored worlds; empty if no world is censored."""
        if self.uncensored == self.worlds or not np.isfinite(self.least):
            return ""
        return f"{self.least:.2f} to {self.most:.2f}"


@dataclass(frozen=True)
class Ratio:
    """N* of one model over that of another."""

    upper: str
    lower: str
    entities: int
    distractor: bool
    target: float
    rule: str
    at_least: float
    at_most: float
    low: float
    high: float
    interval_over: str

    @property
    def known(self) -> bool:
        return self.at_least > 0 or self.at_most < np.inf

    def __str__(self) -> str:
        """`4.2 (3.0 to 6.1)`, or a bound: `> 3.1 (from 2.5)`."""
        text = factor_text(self.at_least, self.at_most, self.low, self.high)
        return text if "(" in text or self.at_least < self.at_most else f"{text} (interval unknown)"


@dataclass(frozen=True)
class Addition:
    """By how many examples N* grows from a world of `few` entities to one of `many`.

    `model` may be "cnn-lstm - pbn", the difference.
    """

    model: str
    distractor: bool
    target: float
    rule: str
    few: int
    many: int
    at_least: float
    at_most: float
    low: float
    high: float
    interval_over: str
    verdict: str = ""

    @property
    def known(self) -> bool:
        """Whether it is bounded on both sides, or by a bound that decides its sign."""
        bounded = np.isfinite(self.at_least) and np.isfinite(self.at_most)
        return bool(bounded or self.at_least > 0 or self.at_most < 0)

    def __str__(self) -> str:
        """`28,198 (24,100 to 33,700)`, `1,575 to 1,825 (1,390 to 2,090)`, or `> 34,240 (from 33,600)`."""
        if not self.known:
            return "unknown"
        text = "{:,.0f}".format
        return _point(self.at_least, self.at_most, text) + _range(self.low, self.high, text)


@dataclass(frozen=True)
class BothReach:
    """The sets, as (entities, size), on which two models were trained and both reach the target.

    The paper compares on these.
    """

    upper: str
    lower: str
    distractor: bool
    target: float
    sets: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Accuracies:
    """A cell's accuracy by several measures, each the mean over its seeds; NaN where it was not measured.

    Attributes:
        size: training examples.
        validation: on examples drawn as the training examples are.
        reweighted: the same, weighted by equation 1.
        test: on the uniform test set.
        held_out: on compositions that training never shows; `seen`, on test questions without them, with
            families as frequent.
    """

    model: str
    entities: int
    distractor: bool
    size: int
    seeds: int
    validation: float
    reweighted: float
    test: float
    held_out: float = float("nan")
    seen: float = float("nan")


def factor_text(at_least: float, at_most: float, low: float, high: float) -> str:
    """A factor with its interval: `11 (8.0 to 15)`, or a bound: `> 11 (from 8.0)`."""
    least, low = (end if end > 0 else -np.inf for end in (at_least, low))
    return _point(least, at_most, _number) + _range(low, high, _number)


def _number(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def _point(at_least: float, at_most: float, text: Callable[[float], str]) -> str:
    """A value, or what censoring leaves open: `> 3.1`, `1,575 to 1,825`."""
    if at_least == at_most:
        return text(at_least)
    if at_most == np.inf:
        return f"> {text(at_least)}" if at_least > -np.inf else "unknown"
    return f"< {text(at_most)}" if at_least == -np.inf else f"{text(at_least)} to {text(at_most)}"


def _range(low: float, high: float, text: Callable[[float], str]) -> str:
    """An interval in brackets, or its known end; empty if neither is known."""
    if np.isfinite(low) and np.isfinite(high):
        return f" ({text(low)} to {text(high)})"
    if np.isfinite(low):
        return f" (at least {text(low)})"
    return f" (at most {text(high)})" if np.isfinite(high) else ""


@dataclass(frozen=True)
class Findings:
    """Everything the runs say; :meth:`table` for people, the other fields for programs.

    Attributes:
        seed: of the bootstrap.
        runs: their number; `skipped`, of those left out, by status.
        notes: sentences about what the reader should know.
        world: what the size of a world counts ("entities"); empty if there is one world without a size.
    """

    targets: tuple[float, ...]
    replicates: int
    seed: int
    runs: int
    skipped: dict[str, int]
    curves: list[BootstrapCurve]
    rows: list[Need]
    exponents: list[Exponent]
    ratios: list[Ratio]
    notes: list[str]
    additions: list[Addition]
    both_reach: list[BothReach]
    accuracies: list[Accuracies]
    world: str

    def head(self, model: str, entities: int, distractor: bool) -> dict[str, str]:
        """The first cells of a line about a model in a world."""
        world = {self.world: str(entities)} if self.world else {}
        town = {"distractor": yes(distractor)} if self.world == "entities" else {}
        return {"model": model} | world | town

    def table(self) -> list[dict[str, str]]:
        """A row for each model and world, two columns for each target.

        They are the need by the isotonic rule with an interval, and the paper's: the smallest set.
        """
        lines: dict[tuple[str, int, bool], dict[str, str]] = {}
        for row in self.rows:
            world = row.model, row.entities, row.distractor
            target = f"{row.target:.4g}"
            line = lines.setdefault(world, self.head(*world))
            line.setdefault(target, "")
            line.setdefault(target + SMALLEST, "")
            if row.rule == "isotonic":
                line[target] = str(row)
            else:
                line[target + SMALLEST] = row.text(row.samples)
        for row in self.rows:
            seeds = str(row.seeds) if row.seeds_fewest == row.seeds else f"{row.seeds_fewest}–{row.seeds}"
            line = lines[row.model, row.entities, row.distractor]
            line |= {"seeds": seeds, "interval over": marked(row.interval_over)}
        return list(lines.values())


def yes(distractor: bool) -> str:
    return "yes" if distractor else "no"
