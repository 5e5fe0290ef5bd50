"""Tables of numbers with named rows and columns, as tab-separated text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.files import DamagedError, save_text
from simtown.probes.release_files import read_text


@dataclass(frozen=True)
class Table:
    """A table with named rows and columns; values (n, m) float64."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: np.ndarray

    def block(self, rows: tuple[str, ...], columns: tuple[str, ...]) -> np.ndarray:
        """(len(rows), len(columns)) values. Raises ValueError for a name that it has not."""
        missing = [r for r in rows if r not in self.rows] + [c for c in columns if c not in self.columns]
        if missing:
            raise ValueError(f"the table has no '{missing[0]}'")
        return self.values[np.ix_([self.rows.index(r) for r in rows], [self.columns.index(c) for c in columns])]


def read_table(path: Path, *, head: bool = True) -> Table:
    """A tab-separated table, plain or .gz: names in the first column and, with a head, the first row.

    Raises FileNotFoundError: no such file. DamagedError: a line that is not a name and as many numbers as the others; it is named.
    RefusedError: it is a link, or larger than a file of a release can be.
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
            raise DamagedError(f"{path} line {number}: expected a name and {len(columns)} numbers, not '{line.strip()[:40]}…'") from None
    if not rows or not columns:
        raise DamagedError(f"{path} holds no table")
    return Table(tuple(rows), columns, np.array(list(rows.values())))


def write_table(path: Path, table: Table) -> None:
    """Write a table that :func:`read_table` gives back, to 10 digits."""
    lines = ["\t".join(("row", *table.columns))]
    lines += ["\t".join((row, *(f"{x:.10g}" for x in values))) for row, values in zip(table.rows, table.values, strict=True)]
    save_text(path, "\n".join(lines) + "\n")
