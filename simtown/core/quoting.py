"""A stranger's words in pages and figures stay words: no markup, no command, no mathematics.

What is printed on a terminal passes :mod:`simtown.core.terminal`, and tables :mod:`simtown.core.tables`.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from simtown.core.terminal import plain

_LATEX = {
    **{sign: f"\\{sign}" for sign in "{}&%$#_"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
#: The digest of a path behind the name of a model.
_PATH = re.compile(r" \(path [0-9a-f]{6}\)$")
#: Characters of a name in a figure at most: more than stand beside each other on a page.
LONGEST_LABEL = 120


def without_folders(model: str) -> str:
    """A model as others may know it: hf:/home/ann/lm/final becomes "hf:lm/final (path 3f2a61)".

    Only a path from the root is shortened.
    """
    kind, colon, place = model.partition(":")
    if not place.startswith(("/", "~")):
        return model
    digest = sha256(place.encode(errors="replace")).hexdigest()[:6]
    return f"{kind}{colon}{'/'.join(Path(place).parts[1:][-2:])} (path {digest})"


def title_of(model: str) -> str:
    """A model in a title: :func:`without_folders`, without the digest."""
    return _PATH.sub("", without_folders(model))


def markdown(text: str) -> str:
    """A text as it is in Markdown: without HTML, links, columns or lines of its own."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", plain(text).replace("](", "]\\(").replace("|", "&#124;"))


def latex(text: str) -> str:
    """A text as it is in LaTeX."""
    return "".join(_LATEX.get(c, c) for c in plain(text))


def figure_text(text: str) -> str:
    """A text as it is in a figure, with its newlines.

    matplotlib sets what stands between dollar signs as mathematics, and leaves labels out of a legend that
    begin with an underscore.
    """
    cut = text if len(text) <= LONGEST_LABEL else f"{text[:LONGEST_LABEL]}…"
    words = plain(cut, block=True).replace("$", r"\$")
    return f" {words}" if words.startswith("_") or not words else words
