"""Tables of numbers with named rows and columns, as tab-separated text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.core.files import DamagedError, save_text
from simtown.probes.release_files import read_text


@dataclass(frozen=True)
class NumberTable:
    """A table with named rows and columns.

    Attributes:
        rows: (n) names.
        columns: (m) names.
        values: (n, m) float64.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: np.ndarray

    def block(self, rows: tuple[str, ...], columns: tuple[str, ...]) -> np.ndarray:
        """(len(rows), len(columns)) values.

        Raises:
            ValueError: the table has no row or column of that name.
        """
        missing = [r for r in rows if r not in self.rows] + [c for c in columns if c not in self.columns]
        if missing:
            raise ValueError(f"the table has no '{missing[0]}'")
        return self.values[
            np.ix_([self.rows.index(r) for r in rows], [self.columns.index(c) for c in columns])
        ]


def read_table(path: Path, *, head: bool = True) -> NumberTable:
    """A tab-separated table, plain or .gz: names in the first column and, with a head, the first row.

    Args:
        path: of the file.
        head: whether the first line names the columns.

    Raises:
        FileNotFoundError: no such file.
        DamagedError: a line is not a name and as many numbers as the others; the message names it.
        RefusedError: the file is a link, or larger than a file of a release can be.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there")
    columns: tuple[str, ...] | None = None
    rows: dict[str, list[float]] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        name, *cells = line.split("\t")
        if head and number == 1:
            columns = tuple(cells)
            continue
        columns = columns or tuple(str(i) for i in range(len(cells)))
        try:
            rows[name] = [float(cell) for cell in cells]
            if len(cells) != len(columns) or not np.isfinite(rows[name]).all():
                raise ValueError
        except ValueError:
            raise DamagedError(
                f"{path} line {number}: expected a name and {len(columns)} numbers, not "
                f"'{line.strip()[:40]}…'"
            ) from None
    if not rows or not columns:
        raise DamagedError(f"{path} holds no table")
    return NumberTable(tuple(rows), columns, np.array(list(rows.values())))


def write_table(path: Path, table: NumberTable) -> None:
    """Write a table that :func:`read_table` gives back, to 10 digits."""
    lines = ["\t".join(("row", *table.columns))]
    lines += [
        "\t".join((row, *(f"{x:.10g}" for x in values)))
        for row, values in zip(table.rows, table.values, strict=True)
    ]
    save_text(path, "\n".join(lines) + "\n")
