"""A table, written as CSV, Markdown or LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
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
