"""Numbers that a paper prints, beside those that come out here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

import numpy as np


@dataclass(frozen=True)
class PrintedNumber:
    """A number as the paper prints it and as it comes out here; "" where there is none.

    Attributes:
        paper: as printed.
        here: ours.
        spread: standard deviation of a number that is drawn; None for any other.
    """

    paper: str = ""
    here: str = ""
    spread: float | None = None

    @property
    def same(self) -> bool | None:
        """Whether the two agree; None where nothing can be compared.

        A drawn number agrees within two standard deviations and rounding.
        """
        if not self.paper or not self.here:
            return None
        if self.spread is None:
            return self.paper == self.here
        return abs(float(self.paper) - float(self.here)) <= 2 * self.spread + 0.005


@dataclass
class PrintedTable:
    """A table of numbers with named rows.

    Attributes:
        title: above the table.
        columns: heads of the columns but the first.
        rows: name and cells.
        notes: lines below the table.
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
        self.rows.append(
            (name, [cell if isinstance(cell, PrintedNumber) else PrintedNumber(here=cell) for cell in cells])
        )

    @property
    def numbers(self) -> list[PrintedNumber]:
        """All cells."""
        return [cell for _, cells in self.rows for cell in cells]

    @property
    def printed(self) -> bool:
        """Whether the paper has numbers for it."""
        return any(cell.paper for cell in self.numbers)

    def verdict(self) -> str:
        """How many cells agree, and what that says; "" where nothing can be compared."""
        text = verdict(self.numbers)
        return (
            f"{text}: copied from the release's {self.copied}, not computed here"
            if text and self.copied
            else text
        )

    def texts(self) -> list[list[str]]:
        """The rows as texts: "paper / here" where the paper has a number, "!" where they differ."""
        return [[name, *(self._text(cell) for cell in cells)] for name, cells in self.rows]

    def _text(self, cell: PrintedNumber) -> str:
        here = cell.here if cell.spread is None else f"{cell.here}±{cell.spread:.3f}"
        paper = cell.paper or ("-" if here and self.printed and not self._is_text(here) else "")
        return " / ".join(text for text in (paper, here) if text) + (" !" if cell.same is False else "")

    @staticmethod
    def _is_text(text: str) -> bool:
        return not any(letter.isdigit() for letter in text)


def verdict(numbers: Sequence[PrintedNumber]) -> str:
    """How many numbers agree; "" where nothing can be compared.

    Numbers that the data decides are counted apart from drawn ones, which nearly any coin would fit.
    """
    decided = [n.same for n in numbers if n.same is not None and n.spread is None]
    drawn = [n.same for n in numbers if n.same is not None and n.spread is not None]
    text = f"{sum(decided)} of {len(decided)} cells are as printed" if decided else ""
    if not drawn:
        return text
    return f"{text}; {sum(drawn)} of {len(drawn)} cells of coin tosses are within two standard deviations"


def percent(value: float, digits: int = 1) -> str:
    """A share times 100, rounded half up as papers print it; "" for NaN."""
    if not np.isfinite(value):
        return ""
    return str(Decimal(f"{100 * value:.{digits + 3}f}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
