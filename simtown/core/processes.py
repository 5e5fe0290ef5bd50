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
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

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
    """The ends of a grid's cells: done before, finished now, and the others' reasons by name."""

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
    """Calls function(piece, report, *shared) in worker processes; a process that dies ends one call alone."""

    def __init__(self, room: int, shared: tuple[Any, ...]) -> None:
        self.room, self._shared = room, shared
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[_Worker, Future[Any], Callable[[Any], object]]] = {}

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
        """See :meth:`concurrent.futures.Executor.submit`; the arguments are a piece, and what receives its
        reports. :meth:`work` ends the call.
        """
        piece, report = arguments
        if not self._idle:
            self._start()
        worker, future = self._idle.pop(), Future[Any]()
        self._busy[worker.pipe] = worker, future, report
        with contextlib.suppress(OSError):  # of a process that has died, as `work` will see
            worker.pipe.send((function, piece))
        return future

    def work(self) -> None:
        """Wait until processes send something: hand reports on, and let calls end."""
        for pipe in wait([*self._busy]):
            assert isinstance(pipe, Connection)
            worker, future, report = self._busy[pipe]
            try:
                has_ended, content = pipe.recv()
            except (EOFError, OSError):
                del self._busy[pipe]
                worker.stop()
                end = ending(worker.process.exitcode or 0)
                future.set_exception(WorkerError(f"a worker process {end}: run the same command again"))
                continue
            if not has_ended:
                report(content)
                continue
            del self._busy[pipe]
            self._idle.append(worker)
            if isinstance(content, Exception):
                future.set_exception(content)
            else:
                future.set_result(content)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes at once; those that work remove their temporary files first."""
        workers = [*self._idle, *(worker for worker, _, _ in self._busy.values())]
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.stop()

    def _start(self) -> None:
        """Start a process without the signals of terminals, which this one gets when it has started."""
        # with a safe path: it would import from the working directory until it has its parent's path
        context = multiprocessing.get_context("spawn")
        with stopping.delayed(), environment(PYTHONSAFEPATH="1"):
            before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
            try:
                resource_tracker.ensure_running()  # first of all: starting it unblocks SIGINT again
                signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
                pipe, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, self._shared))
                process.start()
                theirs.close()
                self._idle.append(_Worker(process, pipe))
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker(NamedTuple):
    """A worker process, and the pipe to it."""

    process: BaseProcess
    pipe: Connection

    def stop(self) -> None:
        """Wait for its end; it is killed if it takes long."""
        self.process.join(GRACE)
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(pipe: Connection, shared: tuple[Any, ...]) -> None:
    """Call what is received until the parent ends this process, which leaves terminals' signals to it."""
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_TERMINALS)
    terminal.guard()
    end_with(os.getppid())  # at once: the thread below lets the process work on for a moment
    threading.Thread(target=_join, args=(multiprocessing.parent_process(),), daemon=True).start()
    try:
        while True:
            function, piece = pipe.recv()
            stopping.catch_signals([signal.SIGTERM])
            try:
                content = function(piece, lambda report: pipe.send((False, report)), *shared)
            except Exception as error:
                content = portable(error)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            pipe.send((True, content))
    except stopping.Stopped:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
    except (EOFError, BrokenPipeError):
        """The parent has ended."""


def end_with(parent: int) -> None:
    """Let the kernel end this process when its parent ends, of this process ID. Only Linux can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def _join(parent: Any) -> None:
    parent.join()
    os._exit(1)


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
    """The end of a process in words: "ended with code 3", "was ended by SIGKILL (is there too little
    memory?)".
    """
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
