"""Everything that commands print, as printable text; a test looks for other ways to print."""

from __future__ import annotations

import io
import logging
import sys
import warnings

from simtown.core.untrusted import printable

#: Characters of the line that says why a command failed: it may quote a value that is as long as a file.
LONGEST_COMPLAINT = 1_000
_FORMAT = warnings.formatwarning


def say(*lines: str) -> None:
    """Print lines on stdout."""
    for line in lines:
        sys.stdout.write(printable(line) + "\n")


def say_block(block: str) -> None:
    """Print a text of several lines on stdout."""
    sys.stdout.write(printable(block, block=True) + "\n")


def complain(*lines: str) -> None:
    """Print lines on stderr, at once."""
    for line in lines:
        sys.stderr.write(printable(line) + "\n")
        sys.stderr.flush()


def give_up(reason: str) -> None:
    """Print the one line that says why a command failed; a very long one is cut in the middle."""
    line = printable("simtown: " + " ".join(reason.split()))
    if len(line) > LONGEST_COMPLAINT:
        line = f"{line[: LONGEST_COMPLAINT * 2 // 3]} ... {line[-LONGEST_COMPLAINT // 4 :]}"
    complain(line)


def guard() -> None:
    """Make warnings and logs of libraries printable too, and let stdout encode every character."""
    warnings.formatwarning = _format_warning
    logging.setLogRecordFactory(_Record)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Our own warnings as a line of ours, without a place in the code."""
    if category.__name__ == "CardWarning":
        return f"simtown: {printable(str(message))}\n"
    return printable(_FORMAT(message, category, filename, lineno, line), block=True)


class _Record(logging.LogRecord):
    def getMessage(self) -> str:  # noqa: N802  (logging's name for it)
        return printable(super().getMessage(), block=True)
