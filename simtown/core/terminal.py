"""The one way to a terminal: what is printed is text, never commands for it.

Names, texts and errors may come from a stranger's folder, and a terminal obeys some characters: it moves its
cursor, renames its window, turns a text's order round. So every word that is printed passes :func:`plain`,
here or in :mod:`simtown.core.console`; a test looks for others.
"""

from __future__ import annotations

import io
import logging
import re
import sys
import unicodedata
import warnings

#: Unicode's categories that a terminal obeys instead of showing them: controls (C0, DEL, C1), formats (order
#: of writing, zero width), halves of surrogate pairs (of file names that are not UTF-8), and separators of
#: lines and paragraphs.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: Characters of a printed line at most: several times those of the longest of ours, which lists all kinds of
#: vehicles.
LONGEST_LINE = 10_000
#: Characters of the line that says why a command failed: it may quote a value that is as long as a file.
LONGEST_COMPLAINT = 1_000


#: User and password before the host of a URL, and what follows its path: there stand signatures and tokens.
_USER = re.compile(r"(\b[a-z][a-z0-9+.-]*:/{1,2})[^/?#\s]*@", re.IGNORECASE)
_QUERY = re.compile(r"(\b[a-z][a-z0-9+.-]*:/{1,2}[^\s?#'\"]+)[?#][^\s'\"]*", re.IGNORECASE)


def shown(text: str) -> str:
    """The text with all URLs in it as others may see them: without user and password, and without a query."""
    return _QUERY.sub(r"\1", _USER.sub(r"\1", text)) if ":/" in text else text


def plain(text: str, block: bool = False) -> str:
    """A text that may be printed: URLs as :func:`shown`, and escapes for characters that a terminal obeys.

    Such an escape is \\x1b.

    A block keeps its newlines and tabs.
    """
    text = shown(text)
    if text.isprintable():
        return text
    kept = "\n\t" if block else ""
    return "".join(
        c if c in kept or unicodedata.category(c) not in _HIDDEN else c.encode("unicode_escape").decode()
        for c in text
    )


def say(*lines: str) -> None:
    """Print lines on stdout."""
    for line in lines:
        sys.stdout.write(_line(line) + "\n")


def say_block(block: str) -> None:
    """Print a text of several lines on stdout."""
    sys.stdout.write(plain(block, block=True) + "\n")


def complain(*lines: str) -> None:
    """Print lines on stderr, at once."""
    for line in lines:
        sys.stderr.write(_line(line) + "\n")
        sys.stderr.flush()


def give_up(reason: str) -> None:
    """Print the one line that says why a command failed.

    A very long one is cut in the middle: its end says what to do.
    """
    line = plain("simtown: " + " ".join(reason.split()))
    if len(line) > LONGEST_COMPLAINT:
        line = f"{line[: LONGEST_COMPLAINT * 2 // 3]} ... {line[-LONGEST_COMPLAINT // 4 :]}"
    complain(line)


def _line(text: str) -> str:
    return plain(text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]} ...")


def guard() -> None:
    """Filter warnings and logs of libraries too, in a process that is ours.

    No character is too much for stdout's encoding.
    """
    warnings.formatwarning = _as_line
    logging.setLogRecordFactory(_Record)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


_FORMAT = warnings.formatwarning


def _as_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning of ours without the place in the code that gave it; those of others as ever."""
    ours = category.__name__ == "CardWarning"
    return (
        f"simtown: {plain(str(message))}\n"
        if ours
        else plain(_FORMAT(message, category, filename, lineno, line), block=True)
    )


class _Record(logging.LogRecord):
    def getMessage(self) -> str:  # noqa: N802  (logging's name for it)
        return plain(super().getMessage(), block=True)
