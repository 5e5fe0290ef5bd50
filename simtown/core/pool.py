"""One function for many pieces of work: in this process, in worker processes, or on a Ray cluster.

Results do not depend on who works. A piece may be worked on again, anywhere, after a worker died: a function
that writes gives the same files each time.
"""

from __future__ import annotations

import errno
import os
import pickle
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from simtown.core.cluster import RETRIES, Cluster, ClusterError
from simtown.core.files import DamagedError
from simtown.core.processes import WorkerError, team

Piece = TypeVar("Piece")
#: Receives what a function reports of its piece while it works.
Report = Callable[[Any], None]
#: The errors that commands explain, which a worker hands on as they are.
_EXPLAINED = (ValueError, OSError, ImportError, MemoryError, DamagedError, WorkerError)


def ignore(content: Any) -> None:
    """Receives reports that nobody wants."""


class Pool(ABC):
    """Works on pieces: :class:`Processes` or :class:`OnCluster`."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many pieces are worked on at once at most."""

    @abstractmethod
    def outcomes(
        self,
        function: Callable[..., Any],
        pieces: Iterable[Piece],
        shared: tuple[Any, ...] = (),
        progress: Callable[[Piece, Any], object] = lambda piece, report: None,
        card: bool = False,
        retries: int = RETRIES,
    ) -> Generator[tuple[Piece, Any], None, None]:
        """Call function(piece, report, *shared) for every piece, each in another process.

        Yields each piece with its result, in the order in which they end. A piece that fails does not stop
        the others: its exception is its result.

        Args:
            function: one of a module, so that other processes find it. What it passes to report() arrives at
                `progress`: while it works, or from a cluster when the piece has ended.
            pieces: what can be pickled, as is what the function returns. An iterator that had no more is
                asked again whenever a piece has ended, since that may have brought others.
            shared: the further arguments, the same for all pieces; sent once to each process.
            progress: is called in this process, with the piece and the report.
            card: whether a piece needs a share of a graphics card.
            retries: how often a cluster works again on a piece whose machine died.
        """

    def map(
        self,
        function: Callable[..., Any],
        pieces: Sequence[Piece],
        shared: tuple[Any, ...] = (),
        progress: Report = ignore,
        card: bool = False,
    ) -> Generator[tuple[Piece, Any], None, None]:
        """As :meth:`outcomes`, but the first exception ends it. `progress` receives the reports alone.

        Raises:
            Exception: what the function raised; one that nobody foresaw is a WorkerError if another process
                raised it.
            WorkerError: a worker process died.
        """
        with closing(
            self.outcomes(function, pieces, shared, lambda piece, report: progress(report), card)
        ) as ended:
            for piece, result in ended:
                if isinstance(result, Exception):
                    raise result
                yield piece, result


class Processes(Pool):
    """Worker processes of this machine. :meth:`map` works in this process if there is a single worker."""

    workers = 1

    def __init__(self, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self.workers = workers

    def outcomes(
        self,
        function: Callable[..., Any],
        pieces: Iterable[Piece],
        shared: tuple[Any, ...] = (),
        progress: Callable[[Piece, Any], object] = lambda piece, report: None,
        card: bool = False,
        retries: int = RETRIES,
    ) -> Generator[tuple[Piece, Any], None, None]:
        """See :meth:`Pool.outcomes`."""
        with closing(team(_in_worker, pieces, (function, *shared), self.workers)) as events:
            for piece, kind, content in events:
                if kind == "report":
                    progress(piece, content)
                elif kind == "died":
                    yield piece, WorkerError(f"a worker process {content}: run the same command again")
                else:
                    yield piece, content

    def map(
        self,
        function: Callable[..., Any],
        pieces: Sequence[Piece],
        shared: tuple[Any, ...] = (),
        progress: Report = ignore,
        card: bool = False,
    ) -> Generator[tuple[Piece, Any], None, None]:
        """See :meth:`Pool.map`."""
        workers = min(self.workers, len(pieces))
        if workers > 1:
            yield from Pool.map(Processes(workers), function, pieces, shared, progress, card)
            return
        for piece in pieces:
            yield piece, function(piece, progress, *shared)


class OnCluster(Pool):
    """A Ray cluster: every piece is a task of one processor.

    A task works in the directory that this process is in, if the machine has it.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @property
    def workers(self) -> int:
        """See :attr:`Pool.workers`."""
        return self.cluster.size()

    def outcomes(
        self,
        function: Callable[..., Any],
        pieces: Iterable[Piece],
        shared: tuple[Any, ...] = (),
        progress: Callable[[Piece, Any], object] = lambda piece, report: None,
        card: bool = False,
        retries: int = RETRIES,
    ) -> Generator[tuple[Piece, Any], None, None]:
        """See :meth:`Pool.outcomes`."""
        with closing(
            self.cluster.map(_on_machine, pieces, (function, os.getcwd(), *shared), card, retries)
        ) as ended:
            for piece, result in ended:
                if isinstance(result, Exception):
                    yield piece, result
                    continue
                value, reports = result
                for report in reports:
                    progress(piece, report)
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
    """Called by a piece of work, maybe on another machine than the command.

    Raises:
        ClusterError: the directory is not there.
    """
    if not os.path.isdir(directory):
        raise ClusterError(
            f"{socket.gethostname()} has no directory {os.path.abspath(directory)}: on a cluster, give "
            "one that all machines share"
        )
