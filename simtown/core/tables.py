"""A table, written as CSV, Markdown or LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from simtown.core import untrusted


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


def _text(value: object, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


# What follows goes when its callers use Table.


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV, each a line.

    A text that a spreadsheet would take for a formula gets an apostrophe before it; numbers stay numbers.
    """
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(
        [untrusted.spreadsheet_cell(value) for value in row] for row in rows
    )
    return text.getvalue()


def markdown_table(rows: Sequence[Sequence[str]], words: int | None = None) -> str:
    """A Markdown table, the head first.

    Args:
        rows: cells, as many in each row.
        words: how many of the first columns hold words; the others hold numbers, aligned at the right. None:
            all columns hold words.
    """
    head, *body = [[untrusted.markdown(cell) for cell in row] for row in rows]
    left = len(head) if words is None else words
    align = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, align, *body))


def latex_table(columns: str, *parts: Sequence[Sequence[str]]) -> str:
    """A LaTeX tabular.

    Args:
        columns: how columns are aligned, such as "lrr".
        parts: rows of cells between two lines. Cells are LaTeX: words in them pass
            :func:`simtown.core.untrusted.latex`.
    """
    lines = [f"\\begin{{tabular}}{{{columns}}}", r"\hline"]
    for rows in parts:
        lines += [" & ".join(row) + r" \\" for row in rows] + [r"\hline"]
    return "\n".join([*lines, r"\end{tabular}"]) + "\n"
