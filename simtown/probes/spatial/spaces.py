"""Tables and vectors of relations: P-vectors from perplexities, embeddings; how alike vectors are, and
whether people find the same words alike (appendix D).

Pairs that share a word are not independent, so that words are drawn, not pairs: for intervals with
replacement (two copies of a word make no pair), for p-values by exchanging words (Mantel's test).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from simtown.core.files import save_text
from simtown.probes import measures
from simtown.probes.release_files import parsing, read_text
from simtown.probes.scorers.base import Scorer

#: {word: (d,) float64}.
Vectors = Mapping[str, np.ndarray]
#: Bootstrap replicates of an interval, and permutations of a test.
REPLICATES = 2000


class NumberTable(NamedTuple):
    """A table of (n, m) float64 values with named rows and columns."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: np.ndarray

    def block(self, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
        """(len(rows), len(columns)) values. Raises ValueError if the table has no row or column of a name."""
        numbers = [self.rows.index(row) for row in rows], [self.columns.index(name) for name in columns]
        return self.values[np.ix_(*numbers)]

    def vectors(self) -> dict[str, np.ndarray]:
        """{row: its values}."""
        return dict(zip(self.rows, self.values, strict=True))


def read_table(path: Path, *, head: bool = True) -> NumberTable:
    """A tab-separated table, plain or .gz: names in the first column and, with a head, the first row."""
    lines = [line.split("\t") for line in read_text(path).splitlines()]
    with parsing(path):
        columns = lines[0][1:] if head else range(len(lines[0]) - 1)
        rows = {name: [float(cell) for cell in cells] for name, *cells in lines[head:]}
        values = np.array(list(rows.values()), dtype=np.float64).reshape(len(rows), len(columns))
        if not rows or not np.isfinite(values).all():
            raise ValueError("it holds no numbers, or infinite ones")
    return NumberTable(tuple(rows), tuple(map(str, columns)), values)


def write_table(path: Path, table: NumberTable) -> None:
    """Write a table that :func:`read_table` gives back, to 10 digits."""
    lines = ["\t".join(("row", *table.columns))]
    for row, values in zip(table.rows, table.values, strict=True):
        lines.append("\t".join((row, *(f"{x:.10g}" for x in values))))
    save_text(path, "\n".join(lines) + "\n")


def matrix(vectors: Vectors, words: Sequence[str]) -> np.ndarray:
    """(n, d) float64 vectors of the words. Raises ValueError if a word has none."""
    missing = [word for word in words if word not in vectors]
    if missing:
        raise ValueError(f"there is no vector of '{missing[0]}'")
    return np.array([vectors[word] for word in words], dtype=np.float64)


def p_vectors(perplexities: np.ndarray) -> np.ndarray:
    """(n, m) P-vectors of (n, m) perplexities of relations in contexts.

    Columns are divided by their sums, then rows by their lengths.
    """
    if not (np.isfinite(perplexities).all() and (perplexities > 0).all()):
        raise ValueError("P-vectors need perplexities that are positive numbers")
    return unit(perplexities / perplexities.sum(axis=0))


def embedded(scorer: Scorer, words: Iterable[str]) -> dict[str, np.ndarray]:
    """Input embeddings of the words that the scorer knows; of several words the sum."""
    vectors: dict[str, np.ndarray] = {}
    for word in words:
        parts = [scorer.word_vector(part) for part in word.split()]
        if all(part is not None for part in parts):
            vectors[word] = np.asarray(np.sum(np.array(parts), axis=0, dtype=np.float64))
    return vectors


def random_vectors(words: Iterable[str], dimension: int, seed: int) -> dict[str, np.ndarray]:
    """Gaussian vectors: what a test gives to vectors that mean nothing."""
    generator = np.random.default_rng(seed)
    return {word: generator.standard_normal(dimension) for word in words}


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


#: (n, d) vectors to (n, n) similarities.
Measure = Callable[[np.ndarray], np.ndarray]
MEASURES: dict[str, Measure] = {"cosine": cosine, "rank": rank}


class MatrixAgreement(NamedTuple):
    """Spearman's correlation of two matrices over pairs; a 95 % interval over words; Mantel's two-sided p."""

    pairs: int
    rho: float
    low: float
    high: float
    p: float


def agreement(a: np.ndarray, b: np.ndarray, seed: int = 0) -> MatrixAgreement:
    """Do two (n, n) symmetric matrices order the pairs of words alike?"""
    upper = np.triu_indices(len(a), 1)
    once = np.ones((1, len(upper[0])))
    rho = float(weighted_spearman(a[upper], b[upper], once)[0])
    if np.isnan(rho):
        return MatrixAgreement(len(upper[0]), rho, rho, rho, rho)
    low, high = measures.interval(weighted_spearman(a[upper], b[upper], _draws_of_pairs(len(a), seed)))
    ranks = np.zeros(a.shape)
    ranks[upper] = stats.rankdata(a[upper])
    ranks += ranks.T
    generator = np.random.default_rng(seed)
    orders = np.array([generator.permutation(len(a)) for _ in range(REPLICATES)])
    exchanged = ranks[orders[:, upper[0]], orders[:, upper[1]]]
    rhos = _weighted_pearson(exchanged, stats.rankdata(b[upper])[None], once)
    p = (1 + (np.abs(rhos) >= abs(rho) - 1e-12).sum()) / (1 + REPLICATES)
    return MatrixAgreement(len(upper[0]), rho, low, high, float(p))


def difference(a: np.ndarray, b: np.ndarray, people: np.ndarray, seed: int = 0) -> tuple[float, float, float]:
    """How much better a agrees with people than b: the difference of correlations, and its 95 % interval."""
    upper = np.triu_indices(len(people), 1)
    weights = np.vstack([np.ones(len(upper[0])), _draws_of_pairs(len(people), seed)])
    of_a, of_b = (weighted_spearman(side[upper], people[upper], weights) for side in (a, b))
    whole, *replicates = of_a - of_b
    return float(whole), *measures.interval(np.array(replicates))


def _draws_of_pairs(words: int, seed: int) -> np.ndarray:
    """(REPLICATES, pairs): how often each pair is in each replicate, words being drawn with replacement."""
    times = measures.group_draws(words, REPLICATES, seed).astype(np.float64)
    i, j = np.triu_indices(words, 1)
    return times[:, i] * times[:, j]


def weighted_spearman(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(r,) Spearman's correlations of (p,) pairs, each as often as (r, p) weights say; NaN if constant."""

    def ranks(side: np.ndarray) -> np.ndarray:
        return weights @ ((side[None] < side[:, None]) + 0.5 * (side[None] == side[:, None])).T

    return _weighted_pearson(ranks(x), ranks(y), weights)


def _weighted_pearson(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(r,) correlations along the rows."""
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1)
    x, y = (side - (side * weights).sum(axis=1, keepdims=True) / total for side in (x, y))
    square = np.sqrt((weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1))
    covariance = (weights * x * y).sum(axis=1)
    return np.divide(covariance, square, out=np.full(len(square), np.nan), where=square > 1e-12)
