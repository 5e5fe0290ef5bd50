"""Shuffled orders of a split that need no list of all examples.

First blocks are shuffled, then the examples of some blocks at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simtown.core.streams import Stream

#: Examples of a block, which stay together until the second shuffle, and blocks of a pool, which that mixes.
BLOCK, POOL = 256, 64


@dataclass(frozen=True)
class BlockOrder:
    """A shuffled order of the numbers 0 to count - 1, a function of (seed, epoch) alone.

    Blocks of BLOCK neighbours are put into random order; then POOL of them at a time, 16,384 examples, are
    mixed completely. So two examples of a batch are of the same block with a probability of 1/POOL, and
    reading stays within POOL places of the disk at a time. Memory: 16 bytes a block and 8 bytes an example of
    one pool.

    Attributes:
        count: examples of the split.
        seed: of the order.
        epoch: from 0 on.
    """

    count: int
    seed: int
    epoch: int

    @cached_property
    def _stream(self) -> Stream:
        return Stream(self.seed, f"order {self.epoch}", "blocks")

    @cached_property
    def _blocks(self) -> np.ndarray:
        """The numbers of the blocks, in their order.

        A short last block stays last, so that every pool begins at a multiple of its size.
        """
        return _shuffled(self._stream, np.arange(self.count // BLOCK), 0)

    def rows(self, begin: int, end: int) -> np.ndarray:
        """(end - begin,) int64: the numbers at places `begin` to `end` - 1 of the order.

        Raises IndexError if the order does not have these places.
        """
        if not 0 <= begin <= end <= self.count:
            raise IndexError(f"places {begin} to {end} of an order of {self.count} examples")
        size = BLOCK * POOL
        parts = [self._pool(number) for number in range(begin // size, -(-end // size))]
        first = begin // size * size
        result: np.ndarray = np.concatenate([np.zeros(0, dtype=np.int64), *parts])[
            begin - first : end - first
        ]
        return result

    def members(self, pool: int) -> np.ndarray:
        """(k,) int64: the numbers of a pool in order, block by block; none beyond the last pool."""
        blocks = self._blocks[pool * POOL : (pool + 1) * POOL]
        inside = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        last = pool == len(self._blocks) // POOL
        return np.concatenate([inside, np.arange(len(self._blocks) * BLOCK, self.count)]) if last else inside

    def _pool(self, number: int) -> np.ndarray:
        """The examples of a pool, in their order; the last pool that was used is kept."""
        kept: dict[int, np.ndarray] = self.__dict__.setdefault("_kept", {})
        if number not in kept:
            kept.clear()
            kept[number] = _shuffled(self._stream, self.members(number), 1 + number)
        return kept[number]


def _shuffled(stream: Stream, numbers: np.ndarray, attempt: int) -> np.ndarray:
    """The numbers in random order: each gets a random word, by which they are sorted."""
    result: np.ndarray = numbers[np.argsort(stream.bits(numbers, 1, attempt)[:, 0], kind="stable")]
    return result
