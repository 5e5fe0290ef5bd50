"""Batches of requests: each distinct one once, those of like length together, within a budget of tokens.

Rows that begin alike can be one tree, whose nodes are their tokens: a model reads what they share once.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T", bound=Hashable)
#: A tree has at most so many nodes, or twice those of its first row.
NODES = 64
#: The end of a node that has none yet.
OPEN = 1 << 40


@dataclass(frozen=True)
class Tree:
    """Rows of tokens as nodes in depth-first order.

    Attributes:
        ids: the token of every node.
        depths: of every node; the first of a row has 0.
        ends: of every node the first node behind it that does not go on from it: a node `j` goes on from a
            node `i`, or is it, where `i <= j < ends[i]`.
    """

    ids: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @property
    def branches(self) -> bool:
        """Whether it is more than one row."""
        return min(self.ends) < OPEN


def shared(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many entries two sequences begin with alike."""
    return next((i for i, x, y in zip(count(), a, b) if x != y), min(len(a), len(b)))


def grow(rows: Sequence[Sequence[int]], most: int) -> tuple[list[Tree], list[tuple[int, list[int]]]]:
    """Trees of all rows; of every row the number of its tree, and its nodes there.

    Short rows that begin differently are branches of one tree too, so that hardly anything is padding.

    Args:
        rows: none empty.
        most: nodes of a tree of several rows; 0 if trees may not branch, so that only a row that another one
            begins with shares its tree.
    """
    trees: list[Tree] = []
    places: list[tuple[int, list[int]]] = [(0, [])] * len(rows)
    before: Sequence[int] = ()
    path: list[int] = []
    for number in sorted(range(len(rows)), key=lambda number: tuple(rows[number]), reverse=True):
        row = rows[number]
        known = shared(row, before)
        new = len(row) - known
        size = NODES if 4 * known < len(row) else max(NODES, 2 * len(row))
        room = min(most, size) - new
        if not trees or (new and len(trees[-1].ids) > room):
            trees.append(Tree())
            path, known, new = [], 0, len(row)
        tree, begin = trees[-1], len(trees[-1].ids)
        if new:
            for node in path[known:]:
                tree.ends[node] = begin
            path = [*path[:known], *range(begin, begin + new)]
            tree.ids.extend(row[known:])
            tree.depths.extend(range(known, len(row)))
            tree.ends.extend([OPEN] * new)
            before = row
        places[number] = len(trees) - 1, path[: len(row)]
    return trees, places


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
