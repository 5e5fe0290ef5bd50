"""Uniform numbers that become choices, one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

#: Kinds by catalogue number, and the cumulative sums of their chances.
Choices: TypeAlias = tuple[list[int], list[float]]


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
