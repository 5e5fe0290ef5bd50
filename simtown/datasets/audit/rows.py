"""All rows of a data set, numbered in one sequence: training, then validation, then test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from simtown.datasets.reader import Dataset
from simtown.datasets.settings import SPLITS


@dataclass(frozen=True)
class DatasetRows:
    """The rows of a data set.

    Attributes:
        lengths: of the splits by name, in the order of SPLITS.
    """

    lengths: Mapping[str, int]

    @classmethod
    def of(cls, dataset: Dataset) -> DatasetRows:
        """Those of a data set."""
        return cls({name: len(dataset[name]) for name in SPLITS})

    def __len__(self) -> int:
        return sum(self.lengths.values())

    def start(self, name: str) -> int:
        """The number of the first row of a split."""
        return sum(
            length for other, length in self.lengths.items() if SPLITS.index(other) < SPLITS.index(name)
        )

    def by_split(self, numbers: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """For each split that has some of the (n,) rows: its name, their places in `numbers`, and their
        numbers in the split.
        """
        for name, length in self.lengths.items():
            own = numbers - self.start(name)
            places = np.flatnonzero((own >= 0) & (own < length))
            if len(places):
                yield name, places, own[places]

    def columns(self, dataset: Dataset, names: Sequence[str], numbers: np.ndarray) -> dict[str, np.ndarray]:
        """Columns of (n,) rows, n > 0, by name."""
        parts = [(places, dataset[name].rows(names, own)) for name, places, own in self.by_split(numbers)]
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
    return np.frombuffer(
        b"".join(blake2b(row.tobytes(), digest_size=8).digest() for row in content), dtype="<u8"
    ).copy()
