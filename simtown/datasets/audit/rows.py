"""All rows of a data set, numbered in one sequence: training, then validation, then test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import accumulate

import numpy as np

from simtown.datasets.reader import Dataset
from simtown.datasets.settings import SPLITS


class DatasetRows:
    """The rows of a data set.

    Attributes:
        dataset: the data set.
        lengths: of its splits by name, in the order of SPLITS.
        starts: likewise, the number of the split's first row.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.lengths = {name: len(dataset[name]) for name in SPLITS}
        self.starts = dict(zip(SPLITS, accumulate(self.lengths.values(), initial=0), strict=False))

    def __len__(self) -> int:
        return sum(self.lengths.values())

    def by_split(self, numbers: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """For each split that has some of the (n,) rows: its name, their places in `numbers`, and their
        numbers in the split.
        """
        for name, length in self.lengths.items():
            own = numbers - self.starts[name]
            places = np.flatnonzero((own >= 0) & (own < length))
            if len(places):
                yield name, places, own[places]

    def columns(self, names: Sequence[str], numbers: np.ndarray) -> dict[str, np.ndarray]:
        """Columns of (n,) rows, n > 0, by name."""
        parts = [
            (places, self.dataset[name].rows(names, own)) for name, places, own in self.by_split(numbers)
        ]
        order = np.argsort(np.concatenate([places for places, _ in parts]))
        return {name: np.concatenate([columns[name] for _, columns in parts])[order] for name in names}

    def spread(self, count: int, places: int) -> np.ndarray:
        """Numbers of about `count` rows, in runs that begin at `places` places at equal distances.

        All rows if there are fewer.
        """
        if len(self) <= count:
            return np.arange(len(self))
        begins = np.arange(places) * (len(self) - count // places) // (places - 1)
        return np.unique(begins[:, None] + np.arange(count // places))

    def address(self, row: int) -> str:
        """A row in words: "test 17"."""
        return next(f"{name} {own[0]}" for name, _, own in self.by_split(np.array([row])))


def hashes(rows: np.ndarray) -> np.ndarray:
    """(n,) uint64: a hash of the bytes of each of n rows."""
    content = np.ascontiguousarray(rows).reshape(len(rows), -1).view(np.uint8)
    digests = b"".join(blake2b(row.tobytes(), digest_size=8).digest() for row in content)
    return np.frombuffer(digests, dtype="<u8").copy()
