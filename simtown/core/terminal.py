"""Everything that commands print, as printable text; a test looks for other ways to print."""

import codecs
import io
import logging
import os
import shlex
import sys
import warnings

from simtown.core.untrusted import printable

#: Characters of the line that says why a command failed: it may quote a value that is as long as a file.
LONGEST_COMPLAINT = 1_000
_FORMAT = warnings.formatwarning
#: How our signs are written where an encoding, as that of the locale C, lacks them; others become escapes.
_SPELLED = {"█": "#", "…": "...", "°": " deg", "–": "-", "−": "-", "≤": "<=", "±": "+-", "×": "x", "→": "->"}
_SPELLED |= {"µ": "u", "μ": "mu", "α": "alpha", "ρ": "rho", "χ²": "chi2"}


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


def shell_words(*words: object) -> str:
    """Words of a command as a shell reads them, quoted where need be."""
    return shlex.join(map(str, words))


def guard() -> None:
    """Make warnings and logs of libraries printable too, and let stdout and stderr encode every character.

    Streams that are closed (``>&-``) lead to the null device: no other file gets their descriptors.
    """
    while (null := os.open(os.devnull, os.O_RDWR)) <= 2:  # the system gives the lowest that is free
        os.set_inheritable(null, True)
    os.close(null)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))
    warnings.formatwarning = _format_warning
    logging.setLogRecordFactory(_Record)
    codecs.register_error("spelled", _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spelled")


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """Replacement for characters that a stream cannot encode, and where to go on."""
    assert isinstance(error, UnicodeEncodeError)
    escaped = error.object[error.start : error.end]
    for sign, spelled in _SPELLED.items():
        escaped = escaped.replace(sign, spelled)
    return escaped.encode("ascii", "backslashreplace").decode(), error.end


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
