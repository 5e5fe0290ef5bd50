"""All rows of a data set, numbered in one sequence: training, then validation, then test; and by where they
lie, so that those that lie near each other meet in memory, a neighbourhood at a time.

Space is cut along its first directions. A row lies in a neighbourhood, its home, and is a guest in those that
are less than `reach` away. So whatever is nearer to a row than that, in every direction, is in the row's
home.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import accumulate, product
from math import prod
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from simtown.datasets.reading.reader import Dataset


class DatasetRows:
    """The rows of a data set: the length of each split, and the number of its first row."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.lengths = {name: len(dataset[name]) for name in dataset.splits}
        self.starts = dict(zip(dataset.splits, accumulate(self.lengths.values(), initial=0), strict=False))

    def __len__(self) -> int:
        return sum(self.lengths.values())

    def by_split(self, numbers: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """For each split of some of the (n,) rows: its name, places in `numbers`, and rows in the split."""
        for name, length in self.lengths.items():
            own = numbers - self.starts[name]
            places = np.flatnonzero((own >= 0) & (own < length))
            if len(places):
                yield name, places, own[places]

    def columns(self, names: Sequence[str], numbers: np.ndarray) -> dict[str, np.ndarray]:
        """Columns of (n,) rows, n > 0, by name."""
        parts = list(self.by_split(numbers))
        order = np.argsort(np.concatenate([places for _, places, _ in parts]))
        read = [self.dataset[name].rows(names, own) for name, _, own in parts]
        return {name: np.concatenate([columns[name] for columns in read])[order] for name in names}

    def spread(self, count: int, places: int) -> np.ndarray:
        """Numbers of about `count` rows, in runs that begin at `places` equal distances; or all."""
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


class Neighbourhoods(Sequence[tuple[int, np.ndarray]]):
    """Records of rows by where they lie, in a temporary file without a name.

    Direction i of space is cut into parts[i] parts that hold as many of the (n, d) `learned` places each, or
    into fewer where they would be narrower than `reach`. Each neighbourhood is its number, and its records in
    the order of their field "row"; the field "home" says whether it is their home.
    """

    def __init__(self, learned: np.ndarray, parts: Sequence[int], reach: float, dtype: np.dtype[Any]) -> None:
        self._edges: list[np.ndarray] = []
        for i, count in enumerate(parts):
            kept: list[float] = []
            for edge in np.quantile(learned[:, i], np.arange(1, count) / count).tolist():
                if not kept or edge > kept[-1] + reach:
                    kept.append(edge)
            self._edges.append(np.array(kept))
        self._reach, self._dtype, self._file = reach, dtype, TemporaryFile()  # noqa: SIM115  (closed by close)
        self._runs: list[list[tuple[int, int]]] = [[] for _ in range(prod(len(e) + 1 for e in self._edges))]

    def add(self, records: np.ndarray, places: np.ndarray) -> None:
        """Add (n,) records to their homes, and wherever they are guests, by their (n, d) places."""
        home = self._numbers(places, np.zeros(len(self._edges)))
        members = [np.arange(len(records)) * len(self) + home]
        for shift in product((-self._reach, 0.0, self._reach), repeat=len(self._edges)):
            number = self._numbers(places, np.array(shift))
            away = np.flatnonzero(number != home)
            members.append(away * len(self) + number[away])
        row, number = np.divmod(np.unique(np.concatenate(members)), len(self))
        records = records[row]
        records["home"] = number == home[row]
        for own_number in np.unique(number).tolist():
            own = records[number == own_number]
            self._runs[own_number].append((self._file.seek(0, 2), len(own)))
            self._file.write(own.tobytes())

    def _numbers(self, places: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """(n,) int64: the neighbourhood of each place, moved by `shift`."""
        number = np.zeros(len(places), dtype=np.int64)
        for i, edges in enumerate(self._edges):
            number = number * (len(edges) + 1) + np.searchsorted(edges, places[:, i] + shift[i], side="right")
        return number

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, number: Any) -> Any:
        parts = [np.zeros(0, dtype=self._dtype)]
        for begin, count in self._runs[number]:  # IndexError beyond the last one, which ends an iteration
            self._file.seek(begin)
            parts.append(np.frombuffer(self._file.read(count * self._dtype.itemsize), dtype=self._dtype))
        records = np.concatenate(parts)
        return number, records[np.argsort(records["row"], kind="stable")]

    def close(self) -> None:
        """Remove the temporary file."""
        self._file.close()
