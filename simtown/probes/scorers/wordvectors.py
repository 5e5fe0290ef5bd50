"""Static word vectors, as GloVe and word2vec are released.

A file is text (plain, .gz, with or without word2vec's first line), or .npy with its words beside it.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np

from simtown.core.files import DamagedError
from simtown.probes.bars import metered
from simtown.probes.scorers.base import Ability, Scorer

#: Vectors read before they are put together.
BLOCK = 10_000


class Vectors(Scorer):
    """Vectors of words without context.

    Args:
        words: in the rows' order; of a word that stands there twice the first counts.
        matrix: (n, d) floats.
    """

    abilities: frozenset[Ability] = frozenset({"word_vector"})
    limitation = "holds vectors of single words: for texts give a language model or an encoder"

    def __init__(self, name: str, words: Sequence[str], matrix: np.ndarray) -> None:
        self.name, self._matrix = name, matrix
        self._rows: dict[str, int] = {}
        for row, word in enumerate(words):
            self._rows.setdefault(word, row)

    @classmethod
    def read(cls, name: str, path: Path, *, progress: bool = False) -> Vectors:
        """Vectors of a file. A .npy file needs its words, one a line, in a file of the same name that ends in
        .vocab or .txt.

        Raises:
            FileNotFoundError: no such file, or no words beside the .npy.
            DamagedError: a line or a shape is wrong; the message names it.
        """
        if not path.is_file():
            raise FileNotFoundError(f"{path} is not there: give a file of word vectors")
        words, matrix = _read_npy(path) if path.suffix == ".npy" else _read_text(path, progress)
        return cls(name, words, matrix)

    def word_vector(self, word: str) -> np.ndarray | None:
        """The vector of the word as it is written, or else in lower case."""
        row = self._rows.get(word, self._rows.get(word.lower()))
        return None if row is None else np.array(self._matrix[row], dtype=np.float32)


def _read_npy(path: Path) -> tuple[list[str], np.ndarray]:
    beside = next((p for p in (path.with_suffix(".vocab"), path.with_suffix(".txt")) if p.is_file()), None)
    if beside is None:
        raise FileNotFoundError(
            f"{path} needs a file of its words beside it, one a line: {path.with_suffix('.vocab')}"
        )
    words = beside.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    if matrix.ndim != 2 or len(matrix) != len(words) or matrix.dtype.kind != "f":
        raise DamagedError(
            f"{path} must hold {len(words):,} rows of floats, as {beside} has words, not {matrix.shape} "
            f"{matrix.dtype}"
        )
    return words, matrix


def _read_text(path: Path, progress: bool) -> tuple[list[str], np.ndarray]:
    """A word and its numbers a line, separated by single spaces; GloVe-840B has words with spaces."""
    words: list[str] = []
    blocks: list[np.ndarray] = []
    rows: list[np.ndarray] = []
    dimension, reported = 0, 0
    kilobytes = path.stat().st_size // 1000
    with open(path, "rb") as disk, metered(f"{path.name}, kB", kilobytes, progress) as report:
        lines: IO[bytes] = disk
        if disk.read(2) == b"\x1f\x8b":
            lines = gzip.GzipFile(fileobj=disk)  # type: ignore[assignment]
        disk.seek(0)
        try:
            for number, line in enumerate(lines, start=1):
                if number == 1:
                    first = line.split()
                    dimension = len(first) - 1
                    if dimension == 1 and all(map(bytes.isdigit, first)):  # word2vec: words, numbers
                        dimension = int(first[1])
                        continue
                word, row = _parsed(line, dimension, f"{path} line {number}")
                words.append(word)
                rows.append(row)
                if len(rows) == BLOCK:
                    blocks.append(np.stack(rows))
                    rows.clear()
                    report(disk.tell() // 1000 - reported)
                    reported = disk.tell() // 1000
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DamagedError(f"{path} is damaged: unpacking fails ({error})") from error
    if not words:
        raise DamagedError(f"{path} holds no word vectors")
    return words, np.concatenate([*blocks, *([np.stack(rows)] if rows else [])])


def _parsed(line: bytes, dimension: int, place: str) -> tuple[str, np.ndarray]:
    try:
        word, *numbers = line.rstrip().rsplit(b" ", dimension)
        row = np.array(numbers, dtype=np.float32)
        if len(row) != dimension or not dimension or not np.isfinite(row).all():
            raise ValueError
        return word.decode(), row
    except ValueError:
        raise DamagedError(
            f"{place}: expected a word and {dimension or 'some'} numbers, not '{line[:40]!r}…'"
        ) from None
