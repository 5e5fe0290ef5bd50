"""The different pairs of a task, what a head sees of each, and the training decisions added up by pair.

Labels repeat for every instance of an object, so a task has far fewer pairs than rows. A loss that is a mean
over rows is the same sum over pairs with their counts: full-batch training on pairs takes exactly the steps
that training on rows would take.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simtown.probes.physical.tasks import DecisionRows, PhysicalTask


@dataclass(frozen=True)
class Pairs:
    """The different pairs of train and test.

    Attributes:
        left: (u,) int64, each pair's left item.
        right: (u,) int64, each pair's right item.
        train: (n,) int64, the pair of each training row.
        test: (m,) int64, the pair of each test row.
    """

    left: np.ndarray
    right: np.ndarray
    train: np.ndarray
    test: np.ndarray

    @staticmethod
    def of(task: PhysicalTask) -> Pairs:
        left, right = (
            np.concatenate([getattr(part, side) for part in (task.train, task.test)])
            for side in ("left", "right")
        )
        codes, pair = np.unique(left * len(task.rights) + right, return_inverse=True)
        return Pairs(
            codes // len(task.rights),
            codes % len(task.rights),
            pair[: len(task.train)],
            pair[len(task.train) :],
        )


@dataclass(frozen=True)
class Inputs:
    """Vectors of pairs, in parts that stand side by side.

    Word vectors have two parts with a row a word; a sentence's vector is one part with a row a pair.

    Attributes:
        tables: of each part, (k, d) float32.
        index: of each part, (u,): part i of pair u is row ``index[i][u]`` of ``tables[i]``.
        right: (u,) number of the pair's right-hand item, for heads that are trained for each.
        separate: whether the last part tells nothing but that item.
    """

    tables: tuple[np.ndarray, ...]
    index: tuple[np.ndarray, ...]
    right: np.ndarray
    separate: bool

    @property
    def pairs(self) -> int:
        return len(self.right)

    def standardised(self, counts: np.ndarray) -> Inputs:
        """Every coordinate with mean 0 and standard deviation 1 over the training rows; constant ones become
        0.

        Args:
            counts: (u,) training rows of each pair.
        """
        tables = []
        for table, index in zip(self.tables, self.index, strict=True):
            weight = np.bincount(index, weights=counts, minlength=len(table)) / counts.sum()
            mean = weight @ table
            deviation = np.sqrt(weight @ (table - mean) ** 2)
            tables.append(((table - mean) / np.where(deviation > 1e-8, deviation, np.inf)).astype(np.float32))
        return Inputs(tuple(tables), self.index, self.right, self.separate)

    def matrix(self, parts: slice = slice(None)) -> np.ndarray:
        """(u, d) float32: the parts of every pair side by side."""
        return np.concatenate(
            [t[i] for t, i in zip(self.tables[parts], self.index[parts], strict=True)], axis=1
        )


@dataclass(frozen=True)
class Decisions:
    """Training rows by pair.

    Attributes:
        counts: (u,) float64, the rows of each pair.
        positives: (u,) float64, how many of them are yes.
    """

    counts: np.ndarray
    positives: np.ndarray

    @staticmethod
    def of(rows: DecisionRows, pair: np.ndarray, pairs: int) -> Decisions:
        return Decisions(
            np.bincount(pair, minlength=pairs).astype(np.float64),
            np.bincount(pair, weights=rows.label, minlength=pairs),
        )
