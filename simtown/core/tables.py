"""Tables as CSV, Markdown and LaTeX. Words of others in them stay words: see :mod:`simtown.core.quoting`."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from simtown.core.quoting import markdown
from simtown.core.terminal import plain

#: What a spreadsheet takes for the beginning of a formula, also in the wide forms of East Asian text.
_FORMULA = tuple("=+-@＝＋－＠")
#: A number with what may stand around it in a table: an error, an interval, a unit.
_NUMBER = re.compile(r"[+-]?[\d.,]+(e[+-]?\d+)?([ ±\d.,%;\[\]+-]|to)*", re.ASCII)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV, each a line.

    A text that a spreadsheet would take for a formula gets an apostrophe before it; numbers stay numbers.
    """
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([_csv_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _csv_cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = plain(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def markdown_table(rows: Sequence[Sequence[str]], words: int | None = None) -> str:
    """A Markdown table, the head first.

    Args:
        rows: cells, as many in each row.
        words: how many of the first columns hold words; the others hold numbers, aligned at the right. None:
            all columns hold words.
    """
    head, *body = [[markdown(cell) for cell in row] for row in rows]
    left = len(head) if words is None else words
    align = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, align, *body))


def latex_table(columns: str, *parts: Sequence[Sequence[str]]) -> str:
    """A LaTeX tabular.

    Args:
        columns: how columns are aligned, such as "lrr".
        parts: rows of cells between two lines. Cells are LaTeX: words in them pass
            :func:`simtown.core.quoting.latex`.
    """
    lines = [f"\\begin{{tabular}}{{{columns}}}", r"\hline"]
    for rows in parts:
        lines += [" & ".join(row) + r" \\" for row in rows] + [r"\hline"]
    return "\n".join([*lines, r"\end{tabular}"]) + "\n"
