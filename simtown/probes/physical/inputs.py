"""What a head sees of each pair: vectors of two words, of two words in a sentence, or of a sentence (section
"Models").
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

import numpy as np

from simtown.probes.physical.physical_release import Kind, PhysicalRelease, PhysicalTask, numbered
from simtown.probes.physical.sentences import Sentence
from simtown.probes.scorers.base import Pooling, Scorer, UnableError

StandIn = Literal["zeros", "random"]


@dataclass(frozen=True)
class Inputs:
    """Vectors of pairs, in parts that stand side by side.

    Attributes:
        tables: of each part, (k, d) float32.
        index: of each part, (u,): part i of pair u is row ``index[i][u]`` of ``tables[i]``.
        words: whether the two parts are vectors of words, a row a word, so that the last part says nothing
            but which word stands right. If not, each part has a row a pair.
    """

    tables: tuple[np.ndarray, ...]
    index: tuple[np.ndarray, ...]
    words: bool = False

    def standardised(self, counts: np.ndarray) -> "Inputs":
        """Every coordinate with mean 0 and deviation 1 over the training rows, (u,) `counts` a pair."""
        tables = []
        for table, index in zip(self.tables, self.index, strict=True):
            weight = np.bincount(index, weights=counts, minlength=len(table)) / counts.sum()
            mean = weight @ table
            deviation = np.sqrt(weight @ (table - mean) ** 2)
            tables.append(((table - mean) / np.where(deviation > 1e-8, deviation, np.inf)).astype(np.float32))
        return Inputs(tuple(tables), self.index, self.words)

    def matrix(self) -> np.ndarray:
        """(u, d) float32: the parts of every pair side by side."""
        return np.concatenate([t[i] for t, i in zip(self.tables, self.index, strict=True)], axis=1)

    def counted(self, pair: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(u,) float64 how many rows each pair has, and how many are yes, given each row's pair and label."""
        count = len(self.index[0])
        rows = np.bincount(pair, minlength=count).astype(np.float64)
        return rows, np.bincount(pair, weights=label, minlength=count)


def of_words(task: PhysicalTask, scorer: Scorer, stand_in: StandIn) -> tuple[Inputs, dict[str, Any]]:
    """Static vectors of both words; and which words are unknown, by kind ("object", "property", …).

    "zeros", as released, makes all unknown words one. "random" gives each a vector of its own, as long as the
    known ones, that says nothing but which word it is. Raises ValueError if the scorer knows none of the
    words, UnableError if it has no vectors of single words.
    """
    if "word_vector" not in scorer.abilities:
        raise UnableError(f"{scorer.name} has no vectors of single words: give glove:PATH, or another `use`")
    sides = [numbered(task.pairs.left), numbered(task.pairs.right)]
    words = {
        kind: [word_of(task.release, kind, name) for name in names.tolist()]
        for kind, (names, _) in zip(task.kinds, sides, strict=True)
    }
    vectors = {word: scorer.word_vector(word) for side in words.values() for word in side}
    known = [vector for vector in vectors.values() if vector is not None]
    if not known:
        raise ValueError(f"{scorer.name} knows none of the {len(vectors)} words of {task.title}")
    scale = float(np.std(known)) if stand_in == "random" else 0.0
    unknown = {word for word, vector in vectors.items() if vector is None}
    for word in unknown:  # the same for a word in every task and run
        seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
        vectors[word] = scale * np.random.default_rng(seed).standard_normal(len(known[0]))
    tables = tuple(np.array([vectors[word] for word in side], dtype=np.float32) for side in words.values())
    return Inputs(tables, tuple(index for _, index in sides), words=True), {
        kind: {"of": len(side), "words": [word for word in dict.fromkeys(side) if word in unknown]}
        for kind, side in words.items()
    }


def word_of(release: PhysicalRelease, kind: Kind, name: str) -> str:
    """The one word for an object (of "baseball bat", "bat"), a property ("used to eat", "eat") or a verb."""
    if kind == "object":
        return release.objects[name].word
    return release.properties[name].word if kind == "property" else name


def of_sentences(scorer: Scorer, sentences: list[Sentence], pooling: Pooling | None) -> Inputs:
    """The last layer of each pair's sentence, pooled; with no pooling at the two words, means of tokens."""
    if "embed" not in scorer.abilities:
        raise UnableError(f"{scorer.name} gives no vectors of text: give hf:, lstm: or sentence:")
    texts, every = [s.text for s in sentences], np.arange(len(sentences))
    if pooling is not None:
        return Inputs((np.asarray(scorer.embed(texts, pooling=pooling), dtype=np.float32),), (every,))
    spans = [s.left for s in sentences] + [s.right for s in sentences]
    vectors = scorer.embed(2 * texts, spans)  # in one request, so that each text is read once
    return Inputs(tuple(np.split(np.asarray(vectors, dtype=np.float32), 2)), (every, every))
