"""What a head sees of each pair: vectors of two words, of two words in a sentence, or of a sentence (section
"Models").
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

import numpy as np

from simtown.probes.physical.decisions import DecisionRows, Kind, PhysicalTask
from simtown.probes.physical.physical_release import PhysicalRelease
from simtown.probes.physical.sentences import English, sentence
from simtown.probes.scorers.base import Pooling, Scorer, UnableError

StandIn = Literal["zeros", "random"]


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

    def standardised(self, counts: np.ndarray) -> Inputs:
        """Every coordinate with mean 0 and standard deviation 1 over the training rows, of which each pair
        has (u,) `counts`; constant ones become 0.
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

    def counted(self, rows: DecisionRows, pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(u,) float64 how many of some rows each pair has, and how many of them are yes; `pair` is that of
        each row.
        """
        counts = np.bincount(pair, minlength=len(self.right)).astype(np.float64)
        return counts, np.bincount(pair, weights=rows.label, minlength=len(self.right))


def of_words(task: PhysicalTask, scorer: Scorer, stand_in: StandIn) -> tuple[Inputs, dict[str, Any]]:
    """Static vectors of both words; and which words are unknown, by kind ("object", "property",
    "affordance").

    "zeros", as released, makes all unknown words one. "random" gives each a vector of its own, as long as the
    known ones, that says nothing but which word it is.

    Raises:
        ValueError: the scorer knows none of the words.
        UnableError: the scorer has no vectors of single words.
    """
    if "word_vector" not in scorer.abilities:
        raise UnableError(f"{scorer.name} has no vectors of single words: give glove:PATH, or another `use`")
    sides = [
        [word_of(task.release, kind, name) for name in names]
        for kind, names in zip(task.kinds, (task.lefts, task.rights), strict=True)
    ]
    vectors = {word: scorer.word_vector(word) for side in sides for word in side}
    known = [vector for vector in vectors.values() if vector is not None]
    if not known:
        raise ValueError(f"{scorer.name} knows none of the {len(vectors)} words of {task.title}")
    scale = float(np.std(known)) if stand_in == "random" else 0.0
    unknown = {word for word, vector in vectors.items() if vector is None}
    for word in vectors:
        if word in unknown:  # the same for a word in every task and run
            seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
            vectors[word] = scale * np.random.default_rng(seed).standard_normal(len(known[0]))
    tables = tuple(np.array([vectors[word] for word in side], dtype=np.float32) for side in sides)
    pairs = task.pairs
    return Inputs(tables, (pairs.left, pairs.right), pairs.right, separate=True), {
        kind: {"of": len(side), "words": [word for word in dict.fromkeys(side) if word in unknown]}
        for kind, side in zip(task.kinds, sides, strict=True)
    }


def word_of(release: PhysicalRelease, kind: Kind, name: str) -> str:
    """The one word that stands for an object (of "baseball bat", "bat"), a property ("is used for eating",
    "eat") or a verb.
    """
    if kind == "object":
        return release.objects[name].word
    return release.properties[name].word if kind == "property" else name


def of_tokens(task: PhysicalTask, scorer: Scorer, english: English) -> Inputs:
    """The last layer at the two words of each pair's sentence, a word of several tokens as their mean."""
    sentences = [sentence(task, pair, english) for pair in task.named_pairs]
    spans = [s.left for s in sentences] + [s.right for s in sentences]
    # in one request, so that each text is read once
    embedded = _embedded(scorer, 2 * [s.text for s in sentences], spans, "mean")
    every = np.arange(len(sentences))
    return Inputs(tuple(np.split(embedded, 2)), (every, every), task.pairs.right, separate=False)


def of_sentences(task: PhysicalTask, scorer: Scorer, english: English, pooling: Pooling) -> Inputs:
    """One vector of each pair's sentence: the last layer's mean over tokens, or its first token."""
    texts = [sentence(task, pair, english).text for pair in task.named_pairs]
    embedded = _embedded(scorer, texts, None, pooling)
    return Inputs((embedded,), (np.arange(len(texts)),), task.pairs.right, separate=False)


def _embedded(
    scorer: Scorer, texts: list[str], spans: list[tuple[int, int]] | None, pooling: Pooling
) -> np.ndarray:
    if "embed" not in scorer.abilities:
        raise UnableError(
            f"{scorer.name} gives no vectors of text: give hf:, lstm: or sentence:, or another `use`"
        )
    return np.asarray(scorer.embed(texts, spans, pooling=pooling), dtype=np.float32)
