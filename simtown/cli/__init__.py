"""The command line: a command parses, calls one function of the package, and prints."""

import atexit
import contextlib
import gc
import os
import signal
import sys
from typing import NoReturn

from simtown.core import stopping, terminal

__all__ = ["main"]

#: The last line of a command that was stopped. The same command continues, or begins again.
STOPPED = "stopped; no file is half written, and the same command finishes the work"

#: Typer's exit code for Ctrl-C.
_INTERRUPTED = 130


def main() -> NoReturn:
    """Run the program: every failure is one clear line on stderr and an exit code, never a traceback.

    Ctrl-C, SIGTERM and SIGHUP are caught before anything that takes time is imported. A command that one of
    them stopped ends with 128 plus the signal's number, whatever else it raised on its way out.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as in simtown.training, for what else trains
    gc.set_threshold(100_000)  # modules hold no garbage: searching them takes a tenth of a start
    stopping.catch_signals()
    terminal.guard()
    atexit.register(_end_resource_tracker)  # registered first, so that it runs last
    line, code, interrupted, explain = "", 0, False, _missing
    try:
        from simtown.cli import program

        explain = program.explain
        code = program.program()(prog_name="simtown", standalone_mode=False) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    except KeyboardInterrupt:
        interrupted = True
    except BaseException as error:
        if not stopping.requested():
            with contextlib.suppress(BrokenPipeError):  # of the reader of the help
                line, code = explain(error)
    if code == _INTERRUPTED:
        interrupted = True
    number = stopping.finish() or (signal.SIGINT if interrupted else 0)
    if number:
        line, code = STOPPED, 128 + number
    _flush_stdout()
    if line:
        with contextlib.suppress(OSError):  # after a SIGHUP there may be no terminal
            terminal.give_up(line)
    gc.freeze()  # Python searches all modules for garbage once more as it ends: a second after torch
    sys.exit(code)


def _missing(error: BaseException) -> tuple[str, int]:
    """The program cannot be imported."""
    return f"{error}: install simtown again, which installs what it needs", 2


def _flush_stdout() -> None:
    """Write what is still buffered, unless the reader has gone: head had enough, or Ctrl-C ended it too."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end_resource_tracker() -> None:
    """End the helper process of multiprocessing, which would outlive this one for a moment."""
    tracker = getattr(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None)
    stop = getattr(tracker, "_stop", None)  # not public; newer Pythons call it themselves, at about this time
    if stop is not None:
        with contextlib.suppress(OSError):
            stop()
