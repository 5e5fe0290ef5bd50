"""Static word vectors, as GloVe and word2vec are released: text (plain, .gz, with or without word2vec's first
line), or .npy.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from simtown.core.arrays import map_npy
from simtown.core.files import DamagedError, RefusedError, open_plain, read_text
from simtown.probes.bars import metered
from simtown.probes.scorers.base import Ability, Scorer

#: Vectors read before they are put together.
BLOCK = 10_000
#: Bytes of the longest line, and numbers of the longest vector: a vector of 300 numbers takes 3,000 bytes,
#: one of a large language model, of 8,192 numbers, 100,000.
LONGEST_LINE, MOST_NUMBERS = 1 << 20, 1 << 15
#: Words of a file at most: word2vec's of Google News has 3 million.
MOST_WORDS = 10_000_000
#: How many times as large a packed file may become, beyond the first bytes: word vectors are packed to two
#: fifths.
MOST_UNPACKED, FREE = 20, 1 << 26
#: Bytes of the words beside a .npy file: those of GloVe 840B, 2.2 million, take 20 MB.
LARGEST_WORDS = 200_000_000


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

    def __len__(self) -> int:
        return len(self._rows)

    def word_vector(self, word: str) -> np.ndarray | None:
        """(d,) float32 of the word as it is written, or else in lower case; None if neither is there."""
        row = self._rows.get(word, self._rows.get(word.lower()))
        return None if row is None else np.array(self._matrix[row], dtype=np.float32)


def _read_npy(path: Path) -> tuple[list[str], np.ndarray]:
    beside = [p for p in (path.with_suffix(".vocab"), path.with_suffix(".txt")) if p.is_file()]
    if not beside:
        raise FileNotFoundError(
            f"{path} needs a file of its words beside it, one a line: {path.with_suffix('.vocab')}"
        )
    try:
        words = read_text(beside[0], LARGEST_WORDS, follow=False).split("\n")
    except UnicodeDecodeError as error:
        raise DamagedError(f"{beside[0]} must hold words as UTF-8 text, one a line ({error})") from error
    words = words[:-1] if words[-1] == "" else words
    try:
        matrix = map_npy(path)
    except ValueError as error:
        raise DamagedError(f"{path} is no .npy file of numbers ({error})") from error
    if matrix.ndim != 2 or len(matrix) != len(words) or matrix.dtype.kind != "f":
        raise DamagedError(
            f"{path} must hold {len(words):,} rows of floats, as {beside[0]} has words, not {matrix.shape} "
            f"{matrix.dtype}"
        )
    return words, matrix


def _read_text(path: Path, progress: bool) -> tuple[list[str], np.ndarray]:
    """A word and its numbers a line, separated by single spaces.

    Words may hold spaces: GloVe-840B has some.
    """
    words: dict[str, None] = {}
    blocks: list[np.ndarray] = []
    rows: list[np.ndarray] = []
    dimension = 0
    with open_plain(path) as disk:
        size = os.fstat(disk.fileno()).st_size
        with metered(f"{path.name}, kB", size // 1000, progress) as report, np.errstate(over="ignore"):
            packed = disk.read(2) == b"\x1f\x8b"
            disk.seek(0)
            reported = 0
            try:
                for number, line in enumerate(_lines(path, disk, size, packed), start=1):
                    if number == 1:
                        parts = line.split(maxsplit=MOST_NUMBERS + 1)
                        dimension = len(parts) - 1
                        if dimension == 1 and all(
                            part.isdigit() and len(part) < 19 for part in parts
                        ):  # word2vec: words, numbers
                            dimension = int(parts[1])
                        if dimension > MOST_NUMBERS:
                            raise DamagedError(
                                f"{path} line 1 declares vectors of more than {MOST_NUMBERS:,} numbers"
                            )
                        if dimension != len(parts) - 1:
                            continue
                    word, row = _parsed(line, dimension, path, number)
                    if word in words:
                        continue
                    words[word] = None
                    rows.append(row)
                    if len(words) > MOST_WORDS:
                        raise RefusedError(
                            f"{path} has vectors of more than {MOST_WORDS:,} words, which is more than is "
                            "read"
                        )
                    if len(rows) == BLOCK:
                        blocks.append(_together(rows, path))
                        rows.clear()
                        report(disk.tell() // 1000 - reported)
                        reported = disk.tell() // 1000
            except (EOFError, OSError, zlib.error) as error:
                if not packed:
                    raise
                raise DamagedError(f"{path} is damaged: unpacking fails ({error})") from error
    if rows:
        blocks.append(_together(rows, path))
    if not blocks:
        raise DamagedError(f"{path} holds no word vectors")
    return list(words), np.concatenate(blocks)


def _together(rows: list[np.ndarray], path: Path) -> np.ndarray:
    block = np.stack(rows)
    if not np.isfinite(block).all():
        raise DamagedError(f"{path} holds a number that is too large, or none")
    return block


def _lines(path: Path, disk: IO[bytes], size: int, packed: bool) -> Iterator[bytes]:
    """The lines of a file of `size` bytes.

    Raises:
        DamagedError: a line is too long.
        RefusedError: the file unpacks to too much.
    """
    source: IO[bytes] = gzip.GzipFile(fileobj=disk) if packed else disk  # type: ignore[assignment]
    unpacked = number = 0
    while line := source.readline(LONGEST_LINE + 1):
        number += 1
        unpacked += len(line)
        if len(line) > LONGEST_LINE:
            raise DamagedError(
                f"{path} line {number} has more than {LONGEST_LINE:,} bytes: it is no word with its numbers"
            )
        if packed and unpacked > FREE + MOST_UNPACKED * size:
            raise RefusedError(
                f"{path} unpacks to more than {MOST_UNPACKED} times its size: it is no file of word vectors"
            )
        yield line


def _parsed(line: bytes, dimension: int, path: Path, number: int) -> tuple[str, np.ndarray]:
    try:
        word, *numbers = line.rstrip().rsplit(b" ", dimension)
        row = np.array(numbers, dtype=np.float32)
        if len(row) != dimension or not dimension:
            raise ValueError
        return word.decode(), row
    except ValueError:
        raise DamagedError(
            f"{path} line {number}: expected a word and {dimension or 'some'} numbers, not '{line[:40]!r}…'"
        ) from None
