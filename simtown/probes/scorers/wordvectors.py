"""Static word vectors, as GloVe and word2vec are released.

A file is text (plain or packed, with or without word2vec's first line), or .npy with its words beside it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from simtown.core.files import DamagedError
from simtown.core.packed import PackedFile
from simtown.core.progress import progress_of
from simtown.core.untrusted import load_array
from simtown.probes.release_files import parsing
from simtown.probes.scorers.base import Ability, Scorer

#: Words, and numbers of each, in the first line of word2vec's text.
_COUNT = re.compile(r"\d{1,18}", re.ASCII)
#: Most numbers of a word.
_MOST = 100_000


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
            self._rows.setdefault(unicodedata.normalize("NFC", word), row)

    @classmethod
    def read(cls, name: str, path: Path, *, progress: bool = False) -> "Vectors":
        """Vectors of a file. A .npy file needs its words, one a line, in a file of the same name that ends in
        .vocab or .txt.

        Raises:
            FileNotFoundError: no such file, or no words beside the .npy.
            DamagedError: a line or a shape is wrong; the message names it.
            ValueError: the file is not text.
        """
        if not path.is_file():
            raise FileNotFoundError(f"{path} is not there: give a file of word vectors")
        words, matrix = _read_npy(path) if path.suffix == ".npy" else _read_text(path, progress)
        return cls(name, words, matrix)

    def word_vector(self, word: str) -> np.ndarray | None:
        """The vector of the word as it is written, or else in lower case."""
        word = unicodedata.normalize("NFC", word)
        row = self._rows.get(word, self._rows.get(word.lower()))
        return None if row is None else np.array(self._matrix[row], dtype=np.float32)


def _read_npy(path: Path) -> tuple[list[str], np.ndarray]:
    beside = next((p for p in (path.with_suffix(".vocab"), path.with_suffix(".txt")) if p.is_file()), None)
    if beside is None:
        words_file = path.with_suffix(".vocab")
        raise FileNotFoundError(f"{path} needs a file of its words beside it, one a line: {words_file}")
    with PackedFile(beside) as file:
        words = list(file.lines())
    with parsing(path):
        matrix = load_array(path, mmap_mode="r")
    if matrix.ndim != 2 or len(matrix) != len(words) or matrix.dtype.kind != "f":
        expected = f"{len(words):,} rows of floats, as {beside} has words"
        raise DamagedError(f"{path} must hold {expected}, not {matrix.shape} {matrix.dtype}")
    return words, matrix


def _read_text(path: Path, progress: bool) -> tuple[list[str], np.ndarray]:
    """A word and its numbers a line, separated by single spaces; GloVe-840B has words with spaces."""
    words: list[str] = []
    with PackedFile(path) as file, progress_of(f"{path.name}, kB", file.size // 1000, progress) as report:
        if b"\0" in file.read(1 << 16):
            remedy = "save the vectors as text, such as by gensim's save_word2vec_format with binary=False"
            raise ValueError(f"{path} is binary, as word2vec's .bin is: {remedy}")
        file.restart()
        first = next(file.lines(), "").split()
        dimension = len(first) - 1
        skipped = int(dimension == 1 and all(map(_COUNT.fullmatch, first)))  # word2vec: words, numbers
        if skipped:
            dimension = min(int(first[1]), _MOST)
        file.restart()

        def rows() -> Iterator[np.ndarray]:
            reported = 0
            for number, line in enumerate(file.lines(), start=1):
                if number <= skipped:
                    continue
                word, *numbers = line.rstrip().rsplit(" ", max(dimension, 1))
                try:
                    row = np.array(numbers, dtype=np.float32)
                except ValueError:
                    row = np.empty(0, dtype=np.float32)
                if len(row) != dimension or not dimension or not np.isfinite(row).all():
                    expected = f"expected a word and {dimension or 'some'} numbers"
                    raise DamagedError(f"{path} line {number}: {expected}, not '{line[:40]}…'")
                words.append(word.strip(" \t") or word)
                yield row
                report(file.position // 1000 - reported)
                reported = file.position // 1000

        matrix = np.fromiter(rows(), dtype=(np.float32, max(dimension, 1)))
    if not words:
        raise DamagedError(f"{path} holds no word vectors")
    return words, matrix
