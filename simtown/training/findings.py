"""What a report says: samples needed, exponents and ratios, and how each reads in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simtown.training.bootstrap import Curve
from simtown.training.curves import ABOVE, BELOW, MISFIT


@dataclass(frozen=True)
class Row:
    """N* of one model in one world for one target by one rule; `samples`, `low`, `high` and `median` may be BELOW, ABOVE or NaN."""

    model: str
    entities: int
    distractor: bool
    target: float
    rule: str
    samples: float
    low: float
    high: float
    interval_over: str  #: "seeds and items", or "items only"
    median: float  #: Kaplan-Meier, over seeds
    seeds_reached: int
    seeds: int
    seeds_fewest: int  #: of the size that has fewest
    items: int
    smallest: int
    largest: int
    misfit: float  #: of the power law, in accuracy; NaN for the other rules

    def text(self, n: float) -> str:
        """An N* in words: `3,140`, `≤ 250`, `> 60,000`."""
        if np.isnan(n):
            return "–"
        if n == BELOW:
            return f"≤ {self.smallest:,}"
        return f"> {self.largest:,}" if n == ABOVE else f"{n:,.0f}"

    def __str__(self) -> str:
        """N* with its interval: `3,140 (2,900 to 3,400)`, `> 60,000 (41,000 to > 60,000)`."""
        point, low, high = (self.text(n) for n in (self.samples, self.low, self.high))
        return point if point == low == high else f"{point} ({low} to {high})"


@dataclass(frozen=True)
class Exponent:
    """N* grows as entities^value. NaN where it is not identifiable; `reason` says why. Ends of the interval may be infinite."""

    model: str  #: or "cnn-lstm - pbn", the difference
    distractor: bool
    target: float
    rule: str
    value: float
    low: float
    high: float
    worlds: int
    uncensored: int
    identified: float  #: share of the replicates in which it is identifiable
    reason: str
    misfit: float  #: the worst of its worlds' power laws; NaN for the other rules

    @property
    def telling(self) -> bool:
        """Whether there is a value to believe."""
        return not self.reason and not self.misfit > MISFIT

    def __str__(self) -> str:
        """`0.62 (0.48 to 0.79)`, or why there is none."""
        if self.reason:
            return self.reason
        known = _range(self.low, self.high, "{:.2f}".format)
        return f"{self.value:.2f}" + (known or f" (interval unknown: identifiable in {self.identified:.0%} of the replicates)")


@dataclass(frozen=True)
class Ratio:
    """N* of one model over that of another: between `at_least` and `at_most` as far as is known; equal where neither is censored."""

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
    misfit: float  #: the worse of the two power laws; NaN for the other rules

    @property
    def telling(self) -> bool:
        """Whether anything is known of it, by a rule to believe."""
        return (self.at_least > 0 or self.at_most < np.inf) and not self.misfit > MISFIT

    def __str__(self) -> str:
        """`4.2 (3.0 to 6.1)`, or a bound: `> 3.1 (from 2.5)`."""
        if self.at_least == self.at_most:
            point = _number(self.at_least)
        elif self.at_most == np.inf and self.at_least > 0:
            point = f"> {_number(self.at_least)}"
        elif self.at_least == 0 and self.at_most < np.inf:
            point = f"< {_number(self.at_most)}"
        else:
            point = "unknown"
        return f"{point}{_range(self.low if self.low > 0 else -np.inf, self.high, _number)}"


def _number(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def _range(low: float, high: float, words: Callable[[float], str]) -> str:
    """An interval in brackets, or its known end; empty if neither is known."""
    if np.isfinite(low) and np.isfinite(high):
        return f" ({words(low)} to {words(high)})"
    if np.isfinite(low):
        return f" (from {words(low)})"
    return f" (up to {words(high)})" if np.isfinite(high) else ""


@dataclass(frozen=True)
class Report:
    """Everything the runs say; :meth:`table` for people, the other fields for programs."""

    targets: tuple[float, ...]
    replicates: int
    seed: int
    runs: int
    skipped: dict[str, int]  #: runs left out, by status
    curves: list[Curve]
    rows: list[Row]
    exponents: list[Exponent]
    ratios: list[Ratio]
    notes: list[str]

    def table(self, rule: str = "isotonic") -> list[dict[str, str]]:
        """A row a model and world, a column a target; every row has the same columns."""
        lines: dict[tuple[Any, ...], dict[str, str]] = {}
        for row in self.rows:
            if row.rule == rule:
                head = {"model": row.model, "entities": str(row.entities), "distractor": yes(row.distractor)}
                line = lines.setdefault((row.model, row.entities, row.distractor), head)
                line[f"{row.target:.4g}"] = str(row)
        for row in self.rows:
            seeds = str(row.seeds) if row.seeds_fewest == row.seeds else f"{row.seeds_fewest}–{row.seeds}"
            lines[row.model, row.entities, row.distractor] |= {"seeds": seeds, "interval over": row.interval_over}
        return list(lines.values())


def yes(distractor: bool) -> str:
    return "yes" if distractor else "no"
