"""One function for many pieces of work: in this process, in worker processes of this machine, or on a Ray cluster.

Results do not depend on who works. A piece may be worked on again, anywhere, after a worker died: a function that writes gives the same
files each time.
"""

from __future__ import annotations

import errno
import os
import pickle
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from simtown.cluster import Cluster, ClusterError
from simtown.files import DamagedError
from simtown.processes import WorkerError, default_workers, team

Piece = TypeVar("Piece")
#: Receives what a function reports of its piece while it works.
Report = Callable[[Any], None]
#: The errors that commands explain, which a worker hands on as they are.
_EXPLAINED = (ValueError, OSError, ImportError, MemoryError, DamagedError, WorkerError)
#: Seconds of one core's work for which it is worth starting a process, which takes two.
WORTH_A_PROCESS = 4.0


def ignore(content: Any) -> None:
    """Receives reports that nobody wants."""


class Pool(Protocol):
    """Whoever works on pieces: :class:`Processes` or :class:`OnCluster`."""

    @property
    def workers(self) -> int:
        """How many pieces are worked on at once at most."""
        ...

    def map(
        self,
        function: Callable[..., Any],
        pieces: Sequence[Piece],
        shared: tuple[Any, ...] = (),
        progress: Report = ignore,
        card: bool = False,
    ) -> Generator[tuple[Piece, Any], None, None]:
        """Call function(piece, report, *shared) for every piece; yields each piece with its result, in the order in which they end.

        Args:
            function: one of a module, so that other processes find it. What it passes to report() arrives at `progress`: while it works,
                or from a cluster when the piece has ended.
            pieces: what can be pickled, as is what the function returns.
            shared: the further arguments, the same for all pieces; sent once to each process.
            progress: is called in this process.
            card: whether a piece needs a share of a graphics card.

        Raises:
            Exception: what the function raised; one that nobody foresaw is a WorkerError if another process raised it.
            WorkerError: a worker process died.
        """
        ...


class Processes:
    """Worker processes of this machine; a single worker is this process."""

    def __init__(self, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"--workers must be at least 1, not {workers}")
        self.workers = workers

    def map(
        self,
        function: Callable[..., Any],
        pieces: Sequence[Piece],
        shared: tuple[Any, ...] = (),
        progress: Report = ignore,
        card: bool = False,
    ) -> Generator[tuple[Piece, Any], None, None]:
        """See :class:`Pool`."""
        workers = min(self.workers, len(pieces))
        if workers <= 1:
            for piece in pieces:
                yield piece, function(piece, progress, *shared)
            return
        with closing(team(_in_worker, pieces, (function, *shared), workers)) as events:
            for piece, kind, content in events:
                if kind == "died":
                    raise WorkerError(f"a worker process {content}: run the same command again")
                if kind == "told":
                    progress(content)
                elif isinstance(content, Exception):
                    raise content
                else:
                    yield piece, content


def processes_for(seconds: float | None = None) -> Processes:
    """One process a processor; fewer for work of so few seconds that it would end before they have all begun."""
    most = default_workers()
    return Processes(most if seconds is None else max(1, min(most, int(seconds / WORTH_A_PROCESS))))


class OnCluster:
    """A Ray cluster: every piece is a task of one processor, in the directory that this process is in, where there is one."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @property
    def workers(self) -> int:
        """See :class:`Pool`."""
        return self.cluster.size()

    def map(
        self,
        function: Callable[..., Any],
        pieces: Sequence[Piece],
        shared: tuple[Any, ...] = (),
        progress: Report = ignore,
        card: bool = False,
    ) -> Generator[tuple[Piece, Any], None, None]:
        """See :class:`Pool`."""
        with closing(self.cluster.map(_on_machine, pieces, (function, os.getcwd(), *shared), card)) as results:
            for piece, result in results:
                if isinstance(result, Exception):
                    raise result
                value, reports = result
                for content in reports:
                    progress(content)
                yield piece, value


def _in_worker(piece: Any, report: Report, function: Callable[..., Any], *shared: Any) -> Any:
    """In a worker process: the function's result, or its exception."""
    try:
        return function(piece, report, *shared)
    except Exception as error:
        return portable(error)


def _on_machine(piece: Any, function: Callable[..., Any], home: str, *shared: Any) -> tuple[Any, list[Any]]:
    """On a machine of the cluster: the function's result, and all that it reported."""
    if os.path.isdir(home):
        os.chdir(home)  # relative paths mean what they mean to the person
    reports: list[Any] = []
    try:
        return function(piece, reports.append, *shared), reports
    except Exception as error:
        raise portable(error) from None


def portable(error: Exception) -> Exception:
    """An exception that another process can be sent and that says there what it says here."""
    if isinstance(error, _EXPLAINED):
        with suppress(Exception):
            received = pickle.loads(pickle.dumps(error))
            if type(received) is type(error) and str(received) == str(error):
                return error
    if isinstance(error, OSError):
        return OSError(error.errno or errno.EIO, str(error))
    return WorkerError(f"{type(error).__name__}: {error}")


def require_shared(directory: str | Path) -> None:
    """Raises ClusterError unless the directory is there: called by a piece of work, maybe on another machine than the command."""
    if not os.path.isdir(directory):
        raise ClusterError(
            f"{socket.gethostname()} has no directory {os.path.abspath(directory)}: with --engine ray give one that all machines share"
        )
