"""Stopping a command: signals raise :class:`Stopped`, so that every open block tidies up.

The command line and worker processes ask for this with :func:`catch_signals`. Without it, signals stay as
they are.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds for tidying up, in which further signals are ignored. Later ones raise again: the command may hang.
PATIENCE = 10.0


class Stopped(KeyboardInterrupt):
    """A signal asks this process to stop."""


class _State:
    """The state of the handler."""

    number = 0  # of the first signal that came
    since: float | None = None  # when it came
    blocks = 0  # of `delayed` that are open
    waiting = False  # whether a signal waits for them to end


def catch_signals(numbers: Iterable[signal.Signals] = SIGNALS) -> None:
    """Let these signals raise Stopped in the main thread; one that is ignored stays so, as nohup asks."""
    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's business
        return
    _State.number, _State.since, _State.blocks, _State.waiting = 0, None, 0, False
    sys.unraisablehook, sys.excepthook = _unraisable, _uncaught
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle)


def requested() -> int:
    """The number of the signal that asked this process to stop, 0 if none did."""
    return _State.number


def finish() -> int:
    """Ignore signals: the process is about to end. Returns the number of the signal that came, or 0."""
    _State.since = monotonic()
    if _State.number:
        for number in SIGNALS:
            if signal.getsignal(number) is _handle:  # Python would remove the handler before it ends
                signal.signal(number, signal.SIG_IGN)
    return _State.number


@contextmanager
def restored() -> Iterator[None]:
    """Catch the same signals after the block as before it, whatever handlers a library installs in it."""
    ours = [number for number in SIGNALS if signal.getsignal(number) is _handle]
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, _handle)


@contextmanager
def delayed() -> Iterator[None]:
    """Let signals wait until the block ends; Stopped is raised then, instead of whatever the block raises."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _State.blocks += 1
    try:
        yield
    finally:
        _State.blocks -= 1
        if _State.waiting and not _State.blocks:
            _State.waiting = False
            raise Stopped


def _handle(number: int, frame: FrameType | None) -> None:
    if _State.since is not None and monotonic() - _State.since < PATIENCE:
        return
    _State.number, _State.since = _State.number or number, monotonic()
    if _State.blocks:
        _State.waiting = True
    else:
        raise Stopped


def _unraisable(event: Any) -> None:
    """Raise Stopped again soon if a destructor or a callback from C lost it; print no errors that follow."""
    if not _State.number:
        sys.__unraisablehook__(event)
    elif issubclass(event.exc_type, Stopped):
        again = threading.Timer(0.01, _raise_again)
        again.daemon = True
        again.start()


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print nothing while a command stops: Cython gives this hook the errors of the hook above again."""
    if not _State.number:
        sys.__excepthook__(kind, error, trace)


def _raise_again() -> None:
    _State.since = None
    os.kill(os.getpid(), _State.number)
