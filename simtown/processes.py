"""Worker processes that heed their parent alone and do not outlive it; memory that stays with a process."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass


class WorkerError(RuntimeError):
    """A worker process died; what is written is kept."""


@dataclass(frozen=True)
class Outcome:
    """How many cells, each a process's work, ended: cells done before and now, and the failed ones with the reason."""

    before: int
    now: int
    failed: dict[str, str]


def default_workers() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Processes started here ignore Ctrl-C, from their first moment: their parent decides."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def bind_to(parent: int) -> bool:
    """Called first in a worker: ignore Ctrl-C, die with the process `parent`; False if that has died already."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    return os.getppid() == parent


def keep_memory() -> None:
    """From now on this process keeps the memory it frees, for its next step; does nothing where the C library is not GNU's.

    A training step on a processor frees hundreds of megabytes that the next one wants back: handing them to the kernel and having them
    cleared again takes up to 44 % of its time (benchmarks/training.py).
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            libc = ctypes.CDLL(None)
            libc.mallopt(-4, 0)  # M_MMAP_MAX: no block gets a mapping of its own
            libc.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD: bytes free at the heap's end before it shrinks
