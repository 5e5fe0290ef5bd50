"""Tables and vectors of relations: P-vectors from perplexities, embeddings, templates; how alike they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from simtown.core.files import DamagedError, save_text
from simtown.probes.release_files import read_text
from simtown.probes.scorers.base import Scorer

#: (n, d) vectors to (n, n) similarities.
Measure = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class NumberTable:
    """A table with named rows and columns.

    Attributes:
        rows: (n) names.
        columns: (m) names.
        values: (n, m) float64.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: np.ndarray

    def block(self, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
        """(len(rows), len(columns)) values. Raises ValueError if the table has no row or column of a name."""
        return self.values[
            np.ix_([self.rows.index(r) for r in rows], [self.columns.index(c) for c in columns])
        ]

    def space(self, name: str) -> Space:
        """The rows as vectors."""
        return Space(name, dict(zip(self.rows, self.values, strict=True)))


def read_table(path: Path, *, head: bool = True) -> NumberTable:
    """A tab-separated table, plain or .gz: names in the first column and, with a head, the first row.

    Raises:
        DamagedError: a line is not a name and as many numbers as the others; the message names it.
        RefusedError: the file is a link.
    """
    columns: list[str] = []
    rows: dict[str, list[float]] = {}
    number = 1
    try:
        for number, line in enumerate(read_text(path).splitlines(), start=1):
            name, *cells = line.split("\t")
            columns = columns or (cells if head else [str(i) for i in range(len(cells))])
            if number > head:
                rows[name] = [float(cell) for cell in cells]
        values = np.array(list(rows.values()), dtype=np.float64).reshape(len(rows), len(columns))
        if not len(rows) or not np.isfinite(values).all():
            raise ValueError("it holds no numbers, or impossible ones")
    except ValueError as error:
        raise DamagedError(f"{path} line {number} is damaged ({error}): fetch the file again") from error
    return NumberTable(tuple(rows), tuple(columns), values)


def write_table(path: Path, table: NumberTable) -> None:
    """Write a table that :func:`read_table` gives back, to 10 digits."""
    lines = ["\t".join(("row", *table.columns))]
    for row, values in zip(table.rows, table.values, strict=True):
        lines.append("\t".join((row, *(f"{x:.10g}" for x in values))))
    save_text(path, "\n".join(lines) + "\n")


@dataclass(frozen=True)
class Space:
    """A vector for each of some words.

    Attributes:
        name: as tables call it.
        vectors: {word: (d,) float64}.
    """

    name: str
    vectors: Mapping[str, np.ndarray]

    def matrix(self, words: Sequence[str]) -> np.ndarray:
        """(n, d) float64. Raises ValueError if a word has no vector."""
        missing = [word for word in words if word not in self.vectors]
        if missing:
            raise ValueError(f"{self.name} has no vector of '{missing[0]}'")
        return np.array([self.vectors[word] for word in words], dtype=np.float64)

    def has(self, words: Iterable[str]) -> bool:
        """Whether it has a vector of every word."""
        return all(word in self.vectors for word in words)

    def table(self) -> NumberTable:
        """The vectors as a table with numbered columns."""
        values = np.array(list(self.vectors.values())).reshape(len(self.vectors), -1)
        return NumberTable(tuple(self.vectors), tuple(map(str, range(values.shape[1]))), values)


def p_vectors(perplexities: np.ndarray) -> np.ndarray:
    """(n, m) P-vectors of (n, m) perplexities of relations in contexts.

    Columns are divided by their sums, then rows by their lengths.
    """
    if not (np.isfinite(perplexities).all() and (perplexities > 0).all()):
        raise ValueError("P-vectors need perplexities that are positive numbers")
    return unit(perplexities / perplexities.sum(axis=0))


def unit(vectors: np.ndarray) -> np.ndarray:
    """The rows at length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors, dtype=np.float64), where=lengths > 0)


def cosine(vectors: np.ndarray) -> np.ndarray:
    """(n, n) cosines between the rows."""
    units = unit(vectors)
    return units @ units.T


def rank(vectors: np.ndarray) -> np.ndarray:
    """(n, n) absolute Spearman correlations between the rows."""
    ranks = stats.rankdata(vectors, axis=1)
    return np.abs(cosine(ranks - ranks.mean(axis=1, keepdims=True)))


MEASURES: dict[str, Measure] = {"cosine": cosine, "rank": rank}


def embedded(scorer: Scorer, words: Iterable[str]) -> Space:
    """Input embeddings of the words that the scorer knows; of several words the sum."""
    vectors: dict[str, np.ndarray] = {}
    for word in words:
        parts = [scorer.word_vector(part) for part in word.split()]
        if all(part is not None for part in parts):
            vectors[word] = np.asarray(np.sum(np.array(parts), axis=0, dtype=np.float64))
    return Space(scorer.name, vectors)


def random_space(words: Iterable[str], dimension: int, seed: int) -> Space:
    """Gaussian vectors: what a test gives to vectors that mean nothing."""
    generator = np.random.default_rng(seed)
    return Space("random", {word: generator.standard_normal(dimension) for word in words})
