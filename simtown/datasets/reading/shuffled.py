"""A split's batches in a shuffled order, for any number of processes and machines.

The order needs no list of all examples: blocks are shuffled, then the examples of some blocks at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from simtown.core.streams import Stream
from simtown.datasets.reading.reader import Split
from simtown.datasets.reading.torch_view import read

#: Examples of a block, which stay together until the second shuffle, and blocks of a pool, which that mixes.
BLOCK, POOL = 256, 64


@dataclass(frozen=True)
class BlockOrder:
    """A shuffled order of the numbers 0 to count - 1, a function of (seed, epoch) alone.

    Blocks of BLOCK neighbours are put into random order; then POOL of them at a time, 16,384 examples, are
    mixed completely. So two examples of a batch are of the same block with a probability of 1/POOL, and
    reading stays within POOL places of the disk at a time. Memory: 16 bytes a block and 8 bytes an example of
    one pool.
    """

    count: int
    seed: int
    epoch: int

    @cached_property
    def _stream(self) -> Stream:
        return Stream(self.seed, f"order {self.epoch}", "blocks")

    @cached_property
    def _blocks(self) -> np.ndarray:
        """The numbers of the blocks, in their order; a short last block stays last."""
        return _shuffled(self._stream, np.arange(self.count // BLOCK), 0)

    def rows(self, begin: int, end: int) -> np.ndarray:
        """(end - begin,) int64: the numbers at places `begin` to `end` - 1 of the order.

        Raises IndexError if the order does not have these places.
        """
        if not 0 <= begin <= end <= self.count:
            raise IndexError(f"places {begin} to {end} of an order of {self.count} examples")
        size = BLOCK * POOL
        pools = [self._pool(number) for number in range(begin // size, -(-end // size))]
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *pools])
        return rows[begin % size :][: end - begin]

    def members(self, pool: int) -> np.ndarray:
        """(k,) int64: the numbers of a pool in order, block by block; none beyond the last pool."""
        blocks = self._blocks[pool * POOL : (pool + 1) * POOL]
        inside = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        last = pool == len(self._blocks) // POOL
        return np.concatenate([inside, np.arange(len(self._blocks) * BLOCK, self.count)]) if last else inside

    def _pool(self, number: int) -> np.ndarray:
        """The examples of a pool, in their order; the last pool that was used is kept."""
        if self.__dict__.get("_kept", (None,))[0] != number:
            self.__dict__["_kept"] = number, _shuffled(self._stream, self.members(number), 1 + number)
        kept: np.ndarray = self.__dict__["_kept"][1]
        return kept


def _shuffled(stream: Stream, numbers: np.ndarray, attempt: int) -> np.ndarray:
    """The numbers in random order: each gets a random word, by which they are sorted."""
    result: np.ndarray = numbers[np.argsort(stream.bits(numbers, 1, attempt)[:, 0], kind="stable")]
    return result


class Shuffled(IterableDataset):
    """Batches of one epoch, in a :class:`BlockOrder`.

    Give it to ``DataLoader(..., batch_size=None, num_workers=N)``. Each epoch is a function of (seed, epoch,
    batch_size): its batch b is the same whatever N is. Of several ranks, rank r gets batches r, r + ranks, r
    + 2 ranks, ..., as many as every other rank.

    Attributes:
        epoch: set it before each epoch, also if workers are persistent.
        first: batches of this rank to leave out, to continue an epoch from a checkpoint. Set it to 0 for the
            next epoch.

    Raises:
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        split: Split,
        batch_size: int,
        *,
        seed: int = 0,
        epoch: int = 0,
        first: int = 0,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        if batch_size < 1 or first < 0 or not 0 <= rank < ranks:
            given = f"batch_size {batch_size}, first {first}, rank {rank} of {ranks}"
            raise ValueError(f"{given}: a number is out of range")
        self.split, self.batch_size, self.seed, self.rank, self.ranks = split, batch_size, seed, rank, ranks
        # in shared memory, where persistent workers see what is set later
        self._epoch_and_first = torch.tensor([epoch, first]).share_memory_()

    @property
    def epoch(self) -> int:
        return int(self._epoch_and_first[0])

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._epoch_and_first[0] = epoch

    @property
    def first(self) -> int:
        return int(self._epoch_and_first[1])

    @first.setter
    def first(self, first: int) -> None:
        self._epoch_and_first[1] = first

    def __len__(self) -> int:
        """Batches of this rank that are left of the epoch; every rank has as many."""
        batches = -(-len(self.split) // self.batch_size)
        return max(0, batches // self.ranks - self.first)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        own, workers = (worker.id, worker.num_workers) if worker else (0, 1)
        order, pools = BlockOrder(len(self.split), self.seed, self.epoch), -1
        for number in range(self.first + own, self.first + len(self), workers):
            begin = (number * self.ranks + self.rank) * self.batch_size
            pool = begin // (BLOCK * POOL)
            if pool > pools:  # of a data set behind a URL, fetch the shards of this pool and of the next one
                self.split.fetch_ahead(np.concatenate([order.members(pool), order.members(pool + 1)]))
                pools = pool
            yield read(self.split, order.rows(begin, min(begin + self.batch_size, len(self.split)))).tensors()
