"""Vectors of relations: P-vectors from perplexities, embeddings, templates; and how alike the relations then
are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from simtown.probes.scorers.base import Scorer

#: (n, d) vectors to (n, n) similarities.
Measure = Callable[[np.ndarray], np.ndarray]


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
        """(n, d) float64.

        Raises:
            ValueError: a word has no vector.
        """
        missing = [w for w in words if w not in self.vectors]
        if missing:
            raise ValueError(f"{self.name} has no vector of '{missing[0]}'")
        return np.array([self.vectors[w] for w in words], dtype=np.float64)

    def has(self, words: Iterable[str]) -> bool:
        """Whether it has a vector of every word."""
        return all(w in self.vectors for w in words)


def p_vectors(perplexities: np.ndarray) -> np.ndarray:
    """(n, m) P-vectors of (n, m) perplexities of relations in contexts: columns divided by their sums, then
    rows by their lengths.

    Raises:
        ValueError: a perplexity is not a positive number.
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
    """Input embeddings of the words as the scorer has them; of several words the sum.

    Unknown words are left out.
    """
    vectors: dict[str, np.ndarray] = {}
    for word in words:
        parts = [scorer.word_vector(part) for part in word.split()]
        if parts and all(part is not None for part in parts):
            vectors[word] = np.asarray(np.sum(np.array(parts), axis=0, dtype=np.float64))
    return Space(scorer.name, vectors)


def random(words: Iterable[str], dimension: int, seed: int) -> Space:
    """Gaussian vectors: what a test gives to vectors that mean nothing."""
    generator = np.random.default_rng(seed)
    return Space("random", {word: generator.standard_normal(dimension) for word in words})
