"""A stranger's words in tables, pages and figures stay words: no formula, no markup, no command, no mathematics.

What is printed on a terminal passes :mod:`simtown.terminal` instead.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from simtown.terminal import plain

#: What a spreadsheet takes for the beginning of a formula, also in the wide forms of East Asian text.
_FORMULA = tuple("=+-@＝＋－＠")
#: A number with what may stand around it in a table: an error, an interval, a unit.
_NUMBER = re.compile(r"[+-]?[\d.,]+(e[+-]?\d+)?([ ±\d.,%;\[\]+-]|to)*", re.ASCII)
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip
#: The digest of a path behind the name of a model.
_PATH = re.compile(r" \(path [0-9a-f]{6}\)$")
#: Characters of a name in a figure at most: more than stand beside each other on a page.
LONGEST_LABEL = 120


def without_folders(model: str) -> str:
    """A model such as hf:/home/ann/lm/final as others may know it: "hf:lm/final (path 3f2a61)". All but a path from the root stays."""
    kind, colon, place = model.partition(":")
    if not place.startswith(("/", "~")):
        return model
    return f"{kind}{colon}{'/'.join(Path(place).parts[1:][-2:])} (path {sha256(place.encode(errors='replace')).hexdigest()[:6]})"


def title_of(model: str) -> str:
    """A model in a title: :func:`without_folders`, without the digest."""
    return _PATH.sub("", without_folders(model))


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV, each a line. A text that a spreadsheet would take for a formula gets an apostrophe before it; numbers stay numbers."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = plain(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def markdown(text: str) -> str:
    """A text as it is in Markdown: without HTML, links, columns or lines of its own."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", plain(text).replace("](", "]\\(").replace("|", "&#124;"))


def markdown_table(rows: Sequence[Sequence[str]], align: Sequence[str] = ()) -> str:
    """A Markdown table, the head first; `align`: "---" or "---:" for every column, by default the first."""
    head, *body = [[markdown(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, align or ["---"] * len(head), *body))


def latex(text: str) -> str:
    """A text as it is in LaTeX."""
    return "".join(_LATEX.get(c, c) for c in plain(text))


def figure_text(text: str) -> str:
    """A text as it is in a figure, with its newlines.

    matplotlib sets what stands between dollar signs as mathematics, and leaves labels out of a legend that begin with an underscore.
    """
    cut = text if len(text) <= LONGEST_LABEL else f"{text[:LONGEST_LABEL]}…"
    words = plain(cut, block=True).replace("$", r"\$")
    return f" {words}" if words.startswith("_") or not words else words
