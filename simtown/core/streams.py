"""Randomness that is addressed, not consumed.

A draw's value depends on its address alone: (dataset seed, split, component name, example index, attempt,
draw). So any worker can make any example in any order, and a new component changes no draw of another. The
generator is Philox4x64-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), the same
function as ``numpy.random.Philox``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np

from simtown import kernels

#: Kinds by catalogue number, and the cumulative sums of their chances.
Choices: TypeAlias = tuple[list[int], list[float]]


class Stream:
    """The draws of one component of one split of one data set.

    Args:
        seed: the data set's seed, any integer (0 is a seed like any other).
        split: "train", "val", "test", or any other name.
        component: what the draws are for, such as "placement".
    """

    def __init__(self, seed: int, split: str, component: str) -> None:
        digest = blake2b(f"{seed}\0{split}\0{component}".encode(), digest_size=16).digest()
        self.key = np.frombuffer(digest, dtype="<u8").astype(np.uint64)

    def bits(self, index: np.ndarray, draws: int, attempt: int | np.ndarray = 0) -> np.ndarray:
        """(n, draws) uint64 for the n example numbers `index`, and their `attempt` numbers."""
        index = np.ascontiguousarray(index, dtype=np.int64)
        attempts = np.ascontiguousarray(np.broadcast_to(np.asarray(attempt, dtype=np.int64), index.shape))
        out = np.zeros((len(index), draws), dtype=np.uint64)
        kernels.call("draw_bits", key=self.key, index=index, attempt=attempts, out=out)
        return out

    def uniform(self, index: np.ndarray, draws: int, attempt: int | np.ndarray = 0) -> np.ndarray:
        """(n, draws) float64, uniform in [0, 1), multiples of 2^-53."""
        return (self.bits(index, draws, attempt) >> np.uint64(11)) * 2.0**-53


def choose(u: np.ndarray, cumulative: np.ndarray) -> np.ndarray:
    """Category of each uniform number `u` under a distribution with the `cumulative` sums (last one 1):
    int64, u's shape.
    """
    return np.minimum(np.searchsorted(cumulative, u, side="right"), len(cumulative) - 1)


def choices_of(chances: np.ndarray) -> Choices:
    """The kinds of some chances, as :meth:`Draws.pick` takes them."""
    kinds = np.flatnonzero(chances)
    return kinds.tolist(), np.cumsum(chances[kinds]).tolist()


class Draws:
    """Uniform numbers, taken one after the other."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self._next = iter(numbers)

    def below(self, limit: int) -> int:
        """A whole number from 0 to limit - 1."""
        return int(next(self._next) * limit)

    def choice(self, values: Sequence[Any]) -> Any:
        """One of some values."""
        return values[self.below(len(values))]

    def weighted(self, chances: np.ndarray) -> int:
        """A place in an array, by the chances that it holds."""
        return self.pick(*choices_of(chances))

    def pick(self, kinds: Sequence[Any], sums: list[float]) -> Any:
        """One of some kinds, by the cumulative sums of their chances."""
        return kinds[min(bisect_right(sums, next(self._next) * sums[-1]), len(kinds) - 1)]

    def often(self, chance: float) -> bool:
        """True with a chance."""
        return next(self._next) < chance
