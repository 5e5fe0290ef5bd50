"""Batches of requests: each distinct one once, those of like length together, within a budget of tokens."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T", bound=Hashable)


def distinct(items: Iterable[T]) -> tuple[list[T], list[int]]:
    """The distinct items in the order in which they come, and for every item its place among them.

    >>> distinct(["b", "a", "b"])
    (['b', 'a'], [0, 1, 0])
    """
    places: dict[T, int] = {}
    where = [places.setdefault(item, len(places)) for item in items]
    return list(places), where


def buckets(rows: Sequence[Sequence[int]], budget: int, *, equal: bool = False) -> Iterator[list[int]]:
    """Numbers of the rows, in batches of at most `budget` tokens with padding; a longer row is alone.

    The longest come first, so that too little memory shows at once; rows of one length that begin alike stand
    together. equal: only rows of one length in a batch.
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


def together(lengths: np.ndarray, *, equal: bool) -> list[np.ndarray]:
    """Numbers of the rows that go through a model at once: all, or with `equal` those of each length.

    >>> together(np.array([3, 2, 3]), equal=True)
    [array([1]), array([0, 2])]
    """
    if not equal:
        return [np.arange(len(lengths))]
    return [np.flatnonzero(lengths == length) for length in np.unique(lengths)]
