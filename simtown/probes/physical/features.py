"""Vectors of pairs from a scorer: of words, of words in a sentence, of a sentence (section "Models")."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np

from simtown.probes.physical.datasets import PhysicalRelease
from simtown.probes.physical.pairs import Inputs, Pairs
from simtown.probes.physical.sentences import English, sentence
from simtown.probes.physical.tasks import Kind, PhysicalTask
from simtown.probes.scorers.base import Pooling, Scorer, UnableError

StandIn = Literal["zeros", "random"]


@dataclass(frozen=True)
class Unknown:
    """Words of one side that a scorer has no vector for.

    Attributes:
        of: different words of that side.
        words: those without a vector.
    """

    of: int
    words: tuple[str, ...]


def word_of(release: PhysicalRelease, kind: Kind, name: str) -> str:
    """The one word that stands for an object (of "baseball bat", "bat"), a property ("is used for eating",
    "eat") or a verb.
    """
    if kind == "object":
        return release.objects[name].word
    return release.properties[name].word if kind == "property" else name


def words(
    release: PhysicalRelease, task: PhysicalTask, pairs: Pairs, scorer: Scorer, stand_in: StandIn
) -> tuple[Inputs, dict[str, Unknown]]:
    """Static vectors of both words. Unknown ones are reported by kind ("object", "property", "affordance");
    something stands in for them.

    "zeros", as released, makes all unknown words one. "random" gives each a vector of its own, as long as the
    known ones, that says nothing but which word it is.

    Raises:
        ValueError: the scorer knows none of the words.
        UnableError: the scorer has no vectors of single words.
    """
    if "word_vector" not in scorer.abilities:
        raise UnableError(f"{scorer.name} has no vectors of single words: give glove:PATH, or another `use`")
    words_by_side = [
        [word_of(release, kind, name) for name in names]
        for kind, names in zip(task.kinds, (task.lefts, task.rights), strict=True)
    ]
    vectors = {word: scorer.word_vector(word) for side in words_by_side for word in side}
    known_vectors = [v for v in vectors.values() if v is not None]
    if not known_vectors:
        raise ValueError(f"{scorer.name} knows none of the {len(vectors)} words of {task.title}")
    scale = float(np.std(known_vectors)) if stand_in == "random" else 0.0

    def vector(word: str) -> np.ndarray:
        known = vectors[word]
        if known is not None:
            return known
        seed = int.from_bytes(
            blake2b(word.encode(), digest_size=8).digest(), "little"
        )  # the same for a word in every task and run
        return scale * np.random.default_rng(seed).standard_normal(len(known_vectors[0]))

    tables = [np.array([vector(word) for word in side], dtype=np.float32) for side in words_by_side]
    unknown: dict[str, Unknown] = {
        kind: Unknown(len(side), tuple(dict.fromkeys(w for w in side if vectors[w] is None)))
        for kind, side in zip(task.kinds, words_by_side, strict=True)
    }
    return Inputs(tuple(tables), (pairs.left, pairs.right), pairs.right, separate=True), unknown


def tokens(
    release: PhysicalRelease, task: PhysicalTask, pairs: Pairs, scorer: Scorer, english: English
) -> Inputs:
    """The last layer at the two words of each pair's sentence, a word of several tokens as their mean."""
    pair_sentences = [
        sentence(release, task.name, task.lefts[i], task.rights[j], english)
        for i, j in zip(pairs.left, pairs.right, strict=True)
    ]
    spans = [s.left for s in pair_sentences] + [s.right for s in pair_sentences]
    # in one request, so that each text is read once
    embedded = _embedded(scorer, 2 * [s.text for s in pair_sentences], spans, "mean")
    count = len(pair_sentences)
    every = np.arange(count)
    return Inputs((embedded[:count], embedded[count:]), (every, every), pairs.right, separate=False)


def sentences(
    release: PhysicalRelease,
    task: PhysicalTask,
    pairs: Pairs,
    scorer: Scorer,
    english: English,
    pooling: Pooling,
) -> Inputs:
    """One vector of each pair's sentence: the last layer's mean over tokens, or its first token."""
    texts = [
        sentence(release, task.name, task.lefts[i], task.rights[j], english).text
        for i, j in zip(pairs.left, pairs.right, strict=True)
    ]
    return Inputs(
        (_embedded(scorer, texts, None, pooling),), (np.arange(len(texts)),), pairs.right, separate=False
    )


def _embedded(
    scorer: Scorer, texts: list[str], spans: list[tuple[int, int]] | None, pooling: Pooling
) -> np.ndarray:
    if "embed" not in scorer.abilities:
        raise UnableError(
            f"{scorer.name} gives no vectors of text: give hf:, lstm: or sentence:, or another `use`"
        )
    return np.asarray(scorer.embed(texts, spans, pooling=pooling), dtype=np.float32)
