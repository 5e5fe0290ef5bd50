"""Batches of requests: each distinct one once, those of like length together, so many that their tokens fit a budget."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from simtown.progress import Progress

T = TypeVar("T", bound=Hashable)

#: Seconds before a bar is drawn.
PATIENCE = 2.0


def distinct(items: Iterable[T]) -> tuple[list[T], list[int]]:
    """The distinct items in the order in which they come, and for every item its place among them.

    >>> distinct(["b", "a", "b"])
    (['b', 'a'], [0, 1, 0])
    """
    places: dict[T, int] = {}
    where = [places.setdefault(item, len(places)) for item in items]
    return list(places), where


def buckets(rows: Sequence[Sequence[int]], budget: int, *, equal: bool = False) -> Iterator[list[int]]:
    """Numbers of the rows, in batches of at most `budget` tokens with padding, a single row being let through whatever its length.

    The longest come first, so that memory that does not suffice is told at once; rows of one length that begin alike stand together.
    equal: only rows of one length in a batch.
    """
    order = sorted(range(len(rows)), key=lambda i: (-len(rows[i]), rows[i]))
    batch: list[int] = []
    for i in order:
        longest = len(rows[batch[0]]) if batch else 0
        if batch and ((len(batch) + 1) * longest > budget or (equal and len(rows[i]) != longest)):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def shared(rows: Sequence[tuple[int, ...]]) -> int:
    """How many tokens all rows begin with."""
    low, high = min(rows), max(rows)
    n = min(len(low), len(high))
    return next((i for i in range(n) if low[i] != high[i]), n)


class Meter:
    """A bar on stderr for work that takes longer than :data:`PATIENCE`; silent where nobody asked for one."""

    def __init__(self, title: str, total: int) -> None:
        self._bar, self._total, self._done = Progress(title), total, 0
        self._begun, self._drawn = monotonic(), False

    def advanced(self, more: int) -> None:
        """So much more is done."""
        self._done += more
        if self._drawn:
            self._bar.advanced(more, {})
        elif monotonic() - self._begun > PATIENCE:
            self._bar.started(self._total, 0)
            self._bar.advanced(self._done, {})
            self._drawn = True


@contextmanager
def metered(title: str, total: int, shown: bool) -> Iterator[Meter | None]:
    """A :class:`Meter` for the duration, None where it is not to be shown."""
    if not shown:
        yield None
        return
    meter = Meter(title, total)
    with meter._bar:
        yield meter
