"""Vectors of pairs from a scorer: of two words, of two words in a sentence, of a sentence (section "Models")."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np

from simtown.probes.physical.datasets import Release
from simtown.probes.physical.pairs import Inputs, Pairs
from simtown.probes.physical.sentences import English, sentence
from simtown.probes.physical.tasks import Kind, Task
from simtown.probes.scorers.base import Pooling, Scorer, UnableError

StandIn = Literal["zeros", "random"]


@dataclass(frozen=True)
class Unknown:
    """Words of one side that a scorer has no vector for, among `of` different ones."""

    of: int
    words: tuple[str, ...]


def word_of(release: Release, kind: Kind, name: str) -> str:
    """The one word that stands for an object (of "baseball bat", "bat"), a property ("is used for eating", "eat") or a verb."""
    if kind == "object":
        return release.objects[name].word
    return release.properties[name].word if kind == "property" else name


def words(release: Release, task: Task, pairs: Pairs, scorer: Scorer, stand_in: StandIn) -> tuple[Inputs, dict[str, Unknown]]:
    """Static vectors of both words. Unknown ones are reported by kind ("object", "property", "affordance"); something stands in for them.

    "zeros", as released, makes all unknown words one. "random" gives each a vector of its own, as long as the known ones, that says nothing
    but which word it is.

    Raises:
        ValueError: the scorer knows none of the words.
    """
    if "word_vector" not in scorer.abilities:
        raise UnableError(f"{scorer.name} has no vectors of single words: give glove:PATH, or another --as")
    asked = [[word_of(release, kind, name) for name in names] for kind, names in zip(task.kinds, (task.lefts, task.rights), strict=True)]
    vectors = {word: scorer.word_vector(word) for side in asked for word in side}
    known = [v for v in vectors.values() if v is not None]
    if not known:
        raise ValueError(f"{scorer.name} knows none of the {len(vectors)} words of {task.title}")
    scale = float(np.std(known)) if stand_in == "random" else 0.0

    def vector(word: str) -> np.ndarray:
        if (found := vectors[word]) is not None:
            return found
        seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")  # the same for a word in every task and run
        return scale * np.random.default_rng(seed).standard_normal(len(known[0]))

    tables = [np.array([vector(word) for word in side], dtype=np.float32) for side in asked]
    unknown: dict[str, Unknown] = {kind: Unknown(len(side), tuple(dict.fromkeys(w for w in side if vectors[w] is None)))
               for kind, side in zip(task.kinds, asked, strict=True)}  # fmt: skip
    return Inputs(tuple(tables), (pairs.left, pairs.right), pairs.right, separate=True), unknown


def tokens(release: Release, task: Task, pairs: Pairs, scorer: Scorer, english: English) -> Inputs:
    """The last layer at the two words of each pair's sentence, a word of several tokens as their mean."""
    made = [sentence(release, task.name, task.lefts[i], task.rights[j], english) for i, j in zip(pairs.left, pairs.right, strict=True)]
    spans = [s.left for s in made] + [s.right for s in made]
    both = _embedded(scorer, 2 * [s.text for s in made], spans, "mean")  # in one request, so that each text is read once
    every = np.arange(len(made))
    return Inputs((both[: len(made)], both[len(made) :]), (every, every), pairs.right, separate=False)


def sentences(release: Release, task: Task, pairs: Pairs, scorer: Scorer, english: English, pooling: Pooling) -> Inputs:
    """One vector of each pair's sentence: the last layer's mean over tokens, or its first token."""
    texts = [
        sentence(release, task.name, task.lefts[i], task.rights[j], english).text for i, j in zip(pairs.left, pairs.right, strict=True)
    ]
    return Inputs((_embedded(scorer, texts, None, pooling),), (np.arange(len(texts)),), pairs.right, separate=False)


def _embedded(scorer: Scorer, texts: list[str], spans: list[tuple[int, int]] | None, pooling: Pooling) -> np.ndarray:
    if "embed" not in scorer.abilities:
        raise UnableError(f"{scorer.name} gives no vectors of text: give hf:, lstm: or sentence:, or another --as")
    return np.asarray(scorer.embed(texts, spans, pooling=pooling), dtype=np.float32)
