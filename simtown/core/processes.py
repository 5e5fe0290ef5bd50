"""Worker processes that only their parent stops and that do not outlive it."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from simtown.core import stopping, terminal
from simtown.core.files import DamagedError

#: Seconds a worker gets to remove its temporary files once it was asked to stop; then it is killed.
GRACE = 10.0
#: Signals that a terminal sends to all processes of a command. Workers leave them to their parent.
_OF_TERMINALS = (signal.SIGINT, signal.SIGHUP)


class WorkerError(RuntimeError):
    """A worker process died; what is written is kept."""


#: The errors that commands explain, which a worker hands on as they are.
_EXPLAINED = (ValueError, OSError, ImportError, MemoryError, DamagedError, WorkerError)


@dataclass(frozen=True)
class Outcome:
    """How the cells of a grid ended.

    Attributes:
        before: cells that were done already.
        now: cells that this call finished.
        failed: the reasons of the others, by name.
    """

    before: int
    now: int
    failed: dict[str, str]


def default_workers() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def environment(**values: str) -> Iterator[None]:
    """Processes that start in the block have these variables in their environment."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class LocalExecutor(Executor):
    """Calls function(piece, report, *shared) in worker processes.

    Args:
        workers: processes at most. Each is an executor of its own, so that a death ends one piece alone.
        shared: the further arguments, sent once to each process.
    """

    def __init__(self, workers: int, shared: tuple[Any, ...]) -> None:
        self._most, self._shared = workers, shared
        self._workers: dict[Future[Any], _Worker] = {}
        self._idle: list[_Worker] = []

    def room(self) -> int:
        """Pieces in work at once at most."""
        return self._most

    def submit(self, function: Callable[..., Any], /, *pieces: Any, **_: Any) -> Future[Any]:
        """See :meth:`concurrent.futures.Executor.submit`; there is one piece."""
        worker = self._idle.pop() if self._idle else _Worker(self._shared)
        future = worker.submit(function, *pieces)
        self._workers[future] = worker
        return future

    def reports(self, future: Future[Any]) -> Iterator[Any]:
        """What the function has reported since the last call."""
        with contextlib.suppress(EOFError, OSError):
            while self._workers[future].pipe.poll():
                yield self._workers[future].pipe.recv()

    def outcome(self, future: Future[Any]) -> Any:
        """The result of a finished call, or its exception."""
        worker = self._workers.pop(future)
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            worker.stop()
            return WorkerError(f"a worker process {ending(worker.exit_code())}: run the same command again")
        self._idle.append(worker)
        return error or future.result()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all workers at once; those that work remove their temporary files first."""
        workers = [*self._idle, *self._workers.values()]
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.stop()


class _Worker:
    """A worker process: an executor with one process, and a pipe for its reports."""

    def __init__(self, shared: tuple[Any, ...]) -> None:
        with _starting():
            context = multiprocessing.get_context("spawn")
            self.pipe, self._theirs = context.Pipe(duplex=False)
            self._executor = ProcessPoolExecutor(
                1, mp_context=context, initializer=_begin, initargs=(self._theirs, shared)
            )
        self._process: Any = None

    def submit(self, function: Callable[..., Any], piece: Any) -> Future[Any]:
        if self._process:
            return self._executor.submit(_work, function, piece)
        with _starting():
            try:
                future = self._executor.submit(_work, function, piece)
            except BrokenPipeError:
                raise WorkerError(
                    "a worker process ended while it was starting: run the same command again to continue"
                ) from None
        (self._process,) = self._executor._processes.values()
        self._theirs.close()
        return future

    def terminate(self) -> None:
        if self._process:
            self._process.terminate()

    def exit_code(self) -> int:
        return self._process.exitcode or 0

    def stop(self) -> None:
        if self._process:
            self._process.join(GRACE)
            self._process.kill()
        self._executor.shutdown()
        self.pipe.close()


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    """Keep signals of terminals from processes that start in the block. This process gets them when it ends.

    A new process starts with a safe path: it would import modules from the working directory otherwise, until
    it has received its parent's path.
    """
    with stopping.delayed(), environment(PYTHONSAFEPATH="1"):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
        try:
            resource_tracker.ensure_running()  # first of all: starting it unblocks SIGINT again
            signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In a worker process

_pipe: Connection
_shared: tuple[Any, ...]


def _begin(pipe: Connection, shared: tuple[Any, ...]) -> None:
    """Ignore the signals of terminals, which the parent handles, and end with the parent."""
    global _pipe, _shared
    _pipe, _shared = pipe, shared
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_TERMINALS)
    terminal.guard()
    if sys.platform == "linux":  # at once: the thread below lets the process work on for a moment
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    threading.Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _work(function: Callable[..., Any], piece: Any) -> Any:
    """Call the function. SIGTERM ends the process after the function has tidied up."""
    stopping.catch_signals([signal.SIGTERM])
    try:
        return function(piece, _pipe.send, *_shared)
    except stopping.Stopped:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
    except Exception as error:
        raise portable(error) from None
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def portable(error: Exception) -> Exception:
    """An exception that can be sent to another process and says there what it says here."""
    if isinstance(error, _EXPLAINED):
        with contextlib.suppress(Exception):
            received = pickle.loads(pickle.dumps(error))
            if type(received) is type(error) and str(received) == str(error):
                return error
    if isinstance(error, OSError):
        return OSError(error.errno or errno.EIO, str(error))
    return WorkerError(f"{type(error).__name__}: {error}")


def ending(code: int) -> str:
    """How a process ended: "ended with code 3", "was ended by SIGKILL (is there too little memory?)"."""
    if code >= 0:
        return f"ended with code {code}"
    reason = " (is there too little memory?)" if -code == signal.SIGKILL else ""
    return f"was ended by {signal.Signals(-code).name}{reason}"


def keep_memory() -> None:
    """Let this process keep the memory that it frees, for its next step. Only GNU's C library can.

    A training step on a processor frees hundreds of megabytes that the next one needs again. Returning them
    to the kernel, which clears them, takes up to 44 % of its time (benchmarks/training.py).
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            libc = ctypes.CDLL(None)
            libc.mallopt(-4, 0)  # M_MMAP_MAX: no block gets a mapping of its own
            libc.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD: bytes free at the heap's end before it shrinks
