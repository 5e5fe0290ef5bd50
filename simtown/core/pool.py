"""One function for many pieces of work: in this process, in worker processes, or on a Ray cluster.

Results do not depend on who works. A piece may be worked on again, anywhere, after a worker died: a function
that writes gives the same files each time.
"""

import os
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from simtown.core.processes import LocalExecutor

Piece = TypeVar("Piece")
#: Receives what a function reports of its piece while it works.
Report = Callable[[Any], None]
#: How often a cluster works again on a piece whose machine died.
RETRIES = 16


def ignore(content: Any) -> None:
    """Receives reports that nobody wants."""


class ClusterError(ValueError):
    """There is no cluster to work on; the message says why and what to do."""


class Pool(ABC):
    """Works on pieces: :class:`Processes`, or a :class:`simtown.core.cluster.Cluster`.

    Attributes:
        workers: how many pieces are worked on at once at most.
        local: whether :meth:`map` works in this process where a single worker is enough.
    """

    workers: int
    local = False

    @abstractmethod
    def _executor(self, shared: tuple[Any, ...], card: bool, retries: int) -> Any:
        """A :class:`concurrent.futures.Executor` as :class:`simtown.core.processes.LocalExecutor` is one."""

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
        the others: its exception is its result. No call outlives the iteration: a caller that may leave early
        wraps it in `contextlib.closing`.

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
        waiting = iter(pieces)
        running: dict[Future[Any], Piece] = {}
        with self._executor(shared, card, retries) as executor:
            while True:
                while len(running) < executor.room and (piece := next(waiting, None)) is not None:
                    running[executor.submit(function, piece, partial(progress, piece))] = piece
                if not running:
                    return
                executor.work()
                for future in [future for future in running if future.done()]:
                    yield running.pop(future), future.exception() or future.result()

    def map(
        self,
        function: Callable[..., Any],
        pieces: Sequence[Piece],
        shared: tuple[Any, ...] = (),
        progress: Report = ignore,
        card: bool = False,
    ) -> Generator[tuple[Piece, Any], None, None]:
        """:meth:`outcomes`, but the first exception ends it. `progress` receives the reports alone.

        Raises what the function raised; WorkerError if its process died, or for an error that nobody foresaw.
        """
        if self.local and min(self.workers, len(pieces)) <= 1:
            for piece in pieces:
                yield piece, function(piece, progress, *shared)
            return
        outcomes = self.outcomes(function, pieces, shared, lambda piece, report: progress(report), card)
        with closing(outcomes) as ended:
            for piece, result in ended:
                if isinstance(result, Exception):
                    raise result
                yield piece, result


class Processes(Pool):
    """Worker processes of this machine."""

    local = True

    def __init__(self, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self.workers = workers

    def _executor(self, shared: tuple[Any, ...], card: bool, retries: int) -> LocalExecutor:
        return LocalExecutor(self.workers, shared)


def require_shared(directory: str | Path) -> None:
    """Raises ClusterError if the machine of a piece of work does not have this directory."""
    if not os.path.isdir(directory):
        missing = f"{socket.gethostname()} has no directory {os.path.abspath(directory)}"
        raise ClusterError(f"{missing}: on a cluster, give one that all machines share")
