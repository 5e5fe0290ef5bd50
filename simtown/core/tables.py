"""Tables: CSV files that are read, and tables that are written as CSV, Markdown or LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from simtown.core import untrusted


class TableRow(NamedTuple):
    """A row that was read: where it stands, such as "counts.csv, line 3", and its cells by column."""

    where: str
    cells: Mapping[str, str]


def read_rows(path: Path, columns: Sequence[str]) -> list[TableRow]:
    """The rows of a CSV file in UTF-8, whose first row names the columns, in any order.

    A line that begins with "#" and a blank is a comment. Blanks around cells and empty rows do not matter.

    Args:
        path: of the file.
        columns: those that it must have; it may have others.

    Raises:
        ValueError: it is not such a table; the message names the line.
        OSError: it cannot be read.
    """
    try:
        text = untrusted.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {number} is not UTF-8: save the table as UTF-8 text") from None

    def lines() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            is_comment = reader.line_num == begin and line.startswith("#") and not line[1:2].strip()
            yield "\n" if is_comment else line

    reader, begin = csv.reader(lines(), skipinitialspace=True, strict=True), 0
    records: list[tuple[str, list[str]]] = []
    try:
        for record in reader:
            cells = [cell.strip() for cell in record]
            if any(cells):
                records.append((f"{path}, line {begin + 1}", cells))
            begin = reader.line_num
    except csv.Error as error:
        problem = f"{path}, line {begin + 1} cannot be read as CSV ({error})"
        raise ValueError(f"{problem}: close every quotation mark") from None
    where, names = records[0] if records else (str(path), [])
    _without_trailing(names, 0)
    if wrong := [name for name in (*columns, *names) if names.count(name) != 1]:
        problem = f"has the column '{wrong[0]}' twice" if wrong[0] in names else f"has no column '{wrong[0]}'"
        remedy = f"name the columns {', '.join(columns)} in the first line, with commas between them"
        for mark, named in ((";", "semicolons"), ("\t", "tabs")):
            if any(mark in name for name in names):
                remedy += f" instead of {named}"
        raise ValueError(f"{where} {problem}: {remedy}")
    for where, cells in records[1:]:
        _without_trailing(cells, len(names))
        if len(cells) != len(names):
            remedy = 'quote a cell that holds a comma, leave none out, and begin a comment with "# "'
            raise ValueError(f"{where} has {len(cells)} cells for {len(names)} columns: {remedy}")
    return [TableRow(where, dict(zip(names, cells, strict=True))) for where, cells in records[1:]]


def parse_cells(text: str) -> list[list[str]]:
    """The cells of a table in our own sources: a row a line, with | between its cells."""
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]


@dataclass(frozen=True)
class Table:
    """Rows of values below the names of their columns.

    Attributes:
        columns: names.
        rows: texts and numbers, as many in each row as there are columns.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]

    @classmethod
    def of_records(cls, records: Sequence[Mapping[str, object]], columns: Sequence[str] = ()) -> Table:
        """A table with a row for each record; `columns` are its names if there is no record."""
        names = list(records[0]) if records else list(columns)
        return cls(names, [[record[name] for name in names] for record in records])

    def csv(self, header: bool = True) -> str:
        """The table as CSV. A text that a spreadsheet would take for a formula gets an apostrophe."""
        text = io.StringIO(newline="")
        lines = [self.columns, *self.rows] if header else self.rows
        csv.writer(text, lineterminator="\n").writerows(
            [untrusted.spreadsheet_cell(value) for value in row] for row in lines
        )
        return text.getvalue()

    def markdown(self, text_columns: int | None = None, digits: int = 3) -> str:
        """The table as Markdown.

        Args:
            text_columns: how many of the first columns are aligned left; the others, with numbers, right. By
                default all are aligned left.
            digits: decimals of floats.
        """
        left = len(self.columns) if text_columns is None else text_columns
        head = [untrusted.markdown(name) for name in self.columns]
        align = ["---"] * left + ["---:"] * (len(head) - left)
        body = [[untrusted.markdown(_text(value, digits)) for value in row] for row in self.rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, align, *body))

    def latex(self, align: str, groups: Sequence[tuple[str, int]] = ()) -> str:
        """The table as a LaTeX tabular.

        Args:
            align: a letter for each column, such as "lrr".
            groups: titles above the columns, each with the number of columns that it spans.
        """
        above = [
            rf"\multicolumn{{{span}}}{{c}}{{{untrusted.latex(title)}}}" if title else ""
            for title, span in groups
        ]
        rows = [[untrusted.latex(_text(value, 3)) for value in row] for row in (self.columns, *self.rows)]
        head, *body = [" & ".join(cells) + r" \\" for cells in rows]
        title = [" & ".join(above) + r" \\"] if above else []
        lines = [rf"\begin{{tabular}}{{{align}}}", r"\hline", *title, head, r"\hline"]
        return "\n".join([*lines, *body, r"\hline", r"\end{tabular}"]) + "\n"


def _without_trailing(cells: list[str], least: int) -> None:
    """Remove empty cells from the end of a row: spreadsheets write them."""
    while len(cells) > least and not cells[-1]:
        cells.pop()


def _text(value: object, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)
