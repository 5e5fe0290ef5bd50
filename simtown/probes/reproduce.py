"""Numbers that a paper prints, beside those that come out here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simtown.core.untrusted import parse_toml
from simtown.probes import measures


@cache
def printed_numbers() -> dict[str, dict[str, Any]]:
    """The numbers that papers print, as texts: {table: {row: cells}}."""
    return parse_toml(Path(__file__).with_name("printed.toml").read_text(encoding="utf-8"))


class PrintedNumber(NamedTuple):
    """A number in the paper and here; "" without one.

    Attributes:
        spread: the standard deviation of a number that is drawn.
        within: how far apart two numbers agree that are printed with different precision.
    """

    paper: str = ""
    here: str = ""
    spread: float | None = None
    within: float = 0.0

    @property
    def same(self) -> bool | None:
        """Whether the two agree; None where nothing can be compared.

        A drawn number agrees within two standard deviations and rounding.
        """
        if not self.paper or not self.here:
            return None
        within = self.within if self.spread is None else 2 * self.spread + 0.005
        if not within:
            return self.paper == self.here
        return abs(float(self.paper) - float(self.here)) <= within


@dataclass
class PrintedTable:
    """A table of numbers with named rows.

    Attributes:
        columns: heads of the columns but the first.
        copied: the release's file of summaries that the paper's numbers stand beside; "" where ours are
            computed.
        words: how many columns, from the left, hold words and not numbers; the names are the first.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, list[PrintedNumber]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    copied: str = ""
    words: int = 1

    def add(self, name: str, *cells: str | PrintedNumber) -> None:
        """Add a row; a text stands for a number that the paper does not have."""
        numbers = [cell if isinstance(cell, PrintedNumber) else PrintedNumber(here=cell) for cell in cells]
        self.rows.append((name, numbers))

    def add_beside(self, name: str, printed: Sequence[str], here: Sequence[str]) -> None:
        """Add a row of printed numbers beside ours; either may have fewer."""
        self.add(name, *(PrintedNumber(*pair) for pair in zip_longest(printed, here, fillvalue="")))

    def verdict(self) -> str:
        """How many cells agree; "" where nothing can be compared.

        Numbers that the data decides are counted apart from drawn ones, which nearly any coin would fit.
        """
        cells = [cell for _, row in self.rows for cell in row if cell.same is not None]
        decided = [bool(cell.same) for cell in cells if cell.spread is None]
        drawn = [bool(cell.same) for cell in cells if cell.spread is not None]
        parts = [f"{sum(decided)} of {len(decided)} cells are as printed"] if decided else []
        if drawn:
            parts.append(f"{sum(drawn)} of {len(drawn)} drawn cells are within two standard deviations")
        if parts and self.copied:
            parts[-1] += f": copied from the release's {self.copied}, not computed here"
        return "; ".join(parts)

    def texts(self) -> list[list[str]]:
        """The rows as texts: "paper / here" in columns where the paper has numbers, "!" if they differ."""
        columns = zip_longest(*(row for _, row in self.rows), fillvalue=PrintedNumber())
        printed = [any(cell.paper for cell in column) for column in columns]
        return [[name, *map(_text, row, printed)] for name, row in self.rows]


def _text(cell: PrintedNumber, printed: bool) -> str:
    here = cell.here if cell.spread is None else f"{cell.here}±{cell.spread:.3f}"
    number = any(letter.isdigit() for letter in here)
    paper = cell.paper or ("-" if printed and number else "")
    return " / ".join(filter(None, (paper, here))) + (" !" if cell.same is False else "")


def p_value(p: float | None) -> str:
    """A p-value as tables print it; "" where there is none."""
    return "" if p is None or np.isnan(p) else f"{p:.2g}"


def percent(value: float, digits: int = 1) -> str:
    """A share times 100, rounded half up as papers print it; "" for NaN."""
    if not np.isfinite(value):
        return ""
    return str(Decimal(f"{100 * value:.{digits + 3}f}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def bracket(values: np.ndarray) -> str:
    """The 95 % interval of the mean of (n,) shares, times 100; "" without any."""
    low, high = measures.mean_interval(values)
    return f"[{percent(low)}, {percent(high)}]" if np.isfinite(low) else ""


def some(names: Sequence[str]) -> str:
    """The first five of some names."""
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
