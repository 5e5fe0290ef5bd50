"""How a command is stopped: Ctrl-C, SIGTERM and SIGHUP raise :class:`Stopped`, so that every block on the way out tidies up.

The command line and worker processes ask for this with :func:`catch_signals`. The library alone leaves signals as they are.
"""

from __future__ import annotations

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
#: Seconds for tidying up, in which further signals change nothing. Later ones raise again, for a command that hangs.
PATIENCE = 10.0


class Stopped(KeyboardInterrupt):
    """A signal asks this process to stop."""


class _State:
    """What the handler knows: the first signal that came (0: none), when, and whether one waits for a block of `held` to end."""

    number = 0
    since: float | None = None
    blocks = 0
    waiting = False


def catch_signals(numbers: Iterable[signal.Signals] = SIGNALS) -> None:
    """From now on these signals raise Stopped in the main thread. One that is ignored so far stays ignored: nohup asks for that."""
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


def resume() -> None:
    """Called where Stopped was caught, to go on after a Ctrl-C that ends a part of the command alone. Raises it again for other signals."""
    if _State.number not in (0, signal.SIGINT):
        raise Stopped
    _State.number, _State.since = 0, None


def finish() -> int:
    """The work is over and the process is about to end: signals change nothing any more. Returns the number of the one that came, or 0."""
    _State.since = monotonic()
    if _State.number:
        for number in SIGNALS:
            if signal.getsignal(number) is _handle:  # which Python would put aside before its own end
                signal.signal(number, signal.SIG_IGN)
    return _State.number


@contextmanager
def kept() -> Iterator[None]:
    """Signals that are caught before the block are caught after it, whatever a library that is called in it makes of them."""
    ours = [number for number in SIGNALS if signal.getsignal(number) is _handle]
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, _handle)


@contextmanager
def held() -> Iterator[None]:
    """Signals wait until the block has ended, for a step that must not be cut in two; whatever the block raises, they come first."""
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
    """Where Stopped was raised in a place that cannot pass it on, such as a destructor or a callback from C, it is raised again soon.

    Whatever else comes up in such places while a command stops is a consequence of that, and not worth a word.
    """
    if not _State.number:
        sys.__unraisablehook__(event)
    elif issubclass(event.exc_type, Stopped):
        again = threading.Timer(0.01, _raise_again)
        again.daemon = True
        again.start()


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Cython prints what it cannot pass on here, and hands it to the hook above as well."""
    if not _State.number:
        sys.__excepthook__(kind, error, trace)


def _raise_again() -> None:
    _State.since = None
    os.kill(os.getpid(), _State.number)
