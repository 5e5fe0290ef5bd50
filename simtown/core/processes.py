"""Worker processes that only their parent stops and that do not outlive it; memory that stays."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, TypeVar

from simtown.core import stopping, terminal

T = TypeVar("T")
#: Seconds a worker gets to remove its temporary files once it was asked to stop; then it is killed.
GRACE = 10.0
#: Signals that a terminal sends to all processes of a command. Workers leave them to their parent.
_OF_TERMINALS = (signal.SIGINT, signal.SIGHUP)


class WorkerError(RuntimeError):
    """A worker process died; what is written is kept."""


@dataclass(frozen=True)
class Outcome:
    """How the cells of a grid ended.

    Attributes:
        before: cells that were done already.
        now: cells that were done by this call.
        failed: the reasons of the others, by name.
    """

    before: int
    now: int
    failed: dict[str, str]


def default_workers() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def team(
    function: Callable[..., Any], pieces: Iterable[T], shared: tuple[Any, ...], workers: int
) -> Generator[tuple[T, Literal["report", "done", "died"], Any], None, None]:
    """Call function(piece, report, *shared) for every piece, in worker processes.

    The function must not raise. No worker outlives the iteration: a caller that may leave early wraps it in
    `contextlib.closing`. An iterator of pieces that had none left is asked again whenever a piece has ended,
    since that may have brought others.

    Yields:
        What happens, as it happens: a piece; "report", "done" or "died"; and the content of the report, the
        function's result, or words about how the process ended. Another process then takes the next piece.
    """
    waiting = iter(pieces)
    running: dict[Any, _Worker] = {}
    try:
        while True:
            while len(running) < workers and (piece := next(waiting, None)) is not None:
                with _starting():
                    worker = _Worker(function, shared)
                    running[worker.pipe] = worker
                worker.take(piece)
            if not running:
                return
            for pipe in wait(list(running)):
                worker = running[pipe]
                kind, content = worker.hear()
                if kind == "died":
                    del running[pipe]
                yield worker.piece, kind, content
                if kind == "done":
                    if (piece := next(waiting, None)) is not None:
                        worker.take(piece)
                    else:
                        running.pop(pipe).end()
    finally:
        for worker in running.values():
            worker.process.terminate()
        for worker in running.values():
            worker.process.join(GRACE)
            worker.process.kill()
            worker.process.join()


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    """Keep signals of terminals from processes that start in the block. This process gets them when it ends.

    A new process starts with a safe path: until it has received its parent's, it would import modules from
    the working directory.
    """
    with stopping.delayed(), environment(PYTHONSAFEPATH="1"):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
        try:
            resource_tracker.ensure_running()  # first of all: starting it unblocks SIGINT again
            signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


class _Worker:
    """A process that takes one piece after another, and the parent's end of the pipe to it."""

    piece: Any

    def __init__(self, function: Callable[..., Any], shared: tuple[Any, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(function, shared, theirs, os.getpid()), daemon=True
        )
        try:
            self.process.start()
        except BrokenPipeError:
            raise WorkerError(
                "a worker process ended while it was starting: run the same command again to continue"
            ) from None
        finally:
            theirs.close()

    def take(self, piece: Any) -> None:
        self.piece = piece
        with contextlib.suppress(OSError):  # it has died since: hear() will say so
            self.pipe.send(piece)

    def hear(self) -> tuple[Literal["report", "done", "died"], Any]:
        try:
            kind, content = self.pipe.recv()
            return kind, content
        except (EOFError, OSError):
            self.process.join()
            return "died", ending(self.process.exitcode or 0)

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.pipe.send(None)
        self.process.join()


def ending(code: int) -> str:
    """How a process ended: "ended with code 3", "was ended by SIGKILL (is there too little memory?)"."""
    if code >= 0:
        return f"ended with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was ended by {name}" + (" (is there too little memory?)" if -code == signal.SIGKILL else "")


def _serve(function: Callable[..., Any], shared: tuple[Any, ...], pipe: Connection, parent: int) -> None:
    """Run a worker process: take pieces until there are none, or until the parent is gone.

    SIGTERM ends it after it has tidied up.
    """

    def report(content: Any) -> None:
        if os.getppid() != parent:
            os._exit(1)
        pipe.send(("report", content))

    try:
        _bind_to(parent)
        while (piece := pipe.recv()) is not None:
            pipe.send(("done", function(piece, report, *shared)))
    except (EOFError, BrokenPipeError):
        os._exit(1)  # the parent is gone
    except stopping.Stopped:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        stopping.finish()


def _bind_to(parent: int) -> None:
    """Ignore what a terminal sends, which the process `parent` handles, and die with it. Called first."""
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_TERMINALS)
    stopping.catch_signals([signal.SIGTERM])
    terminal.guard()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # it has died already
        os._exit(1)


class Subprocesses:
    """Commands that threads of this process run, and that end when it asks for that."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, words: Sequence[str], cwd: str, env: Mapping[str, str]) -> tuple[int, str]:
        """Run a command to its end. It receives signals of terminals by itself.

        Returns:
            Its exit code, and what it wrote to stderr.
        """
        if self._stopped:
            return -signal.SIGTERM, ""
        with subprocess.Popen(
            words, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            self._running.add(process)
            if self._stopped:  # since the question above
                process.terminate()
            err = process.communicate()[1]
            self._running.discard(process)
        return process.returncode, err

    def stop(self) -> None:
        """End every command, and let no other begin; returns when all are gone."""
        self._stopped = True
        running = list(self._running)
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                process.kill()


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
