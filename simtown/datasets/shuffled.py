"""A split's batches in a shuffled order, for any number of processes and machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from simtown.datasets.order import BLOCK, POOL, BlockOrder
from simtown.datasets.reader import Split
from simtown.datasets.torch_view import read


class Shuffled(IterableDataset):
    """Batches of one epoch, in an order that needs no list of all examples
    (:class:`simtown.datasets.order.BlockOrder`).

    Give it to ``DataLoader(..., batch_size=None, num_workers=N)``. Each epoch is a function of (seed, epoch,
    batch_size): its batch b is the same whatever N is. Of several ranks, rank r gets batches r, r + ranks, r
    + 2 ranks, ..., as many as every other rank.

    Args:
        split: to read.
        batch_size: examples of a batch.
        seed: of the order.
        epoch: from 0 on.
        first: batches of this rank to leave out.
        rank: number of this process, from 0 on.
        ranks: number of processes.

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
        seed: int = 0,
        epoch: int = 0,
        first: int = 0,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        if batch_size < 1 or first < 0 or not 0 <= rank < ranks:
            raise ValueError(
                f"batch_size {batch_size}, first {first}, rank {rank} of {ranks}: a number is out of range"
            )
        self.split, self.batch_size, self.seed, self.rank, self.ranks = split, batch_size, seed, rank, ranks
        # in shared memory, where persistent workers see what is set later
        self._epoch_and_first = torch.tensor([epoch, first]).share_memory_()

    @property
    def epoch(self) -> int:
        """The epoch, from 0 on."""
        return int(self._epoch_and_first[0])

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._epoch_and_first[0] = epoch

    @property
    def first(self) -> int:
        """Batches of this rank to leave out."""
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
