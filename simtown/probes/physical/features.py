"""Vectors of pairs from a scorer: of two words, of two words in a sentence, of a sentence (section "Models")."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simtown.probes.physical.datasets import Release
from simtown.probes.physical.pairs import Inputs, Pairs
from simtown.probes.physical.sentences import English, sentence
from simtown.probes.physical.tasks import Kind, Task
from simtown.probes.scorers.base import Pooling, Scorer, UnableError


@dataclass(frozen=True)
class Unknown:
    """Words of one side that a scorer has no vector for, among `of` different ones."""

    of: int
    words: tuple[str, ...] = field(default=())


def word_of(release: Release, kind: Kind, name: str) -> str:
    """The one word that stands for an object (of "baseball bat", "bat"), a property ("is used for eating", "eat") or a verb."""
    if kind == "object":
        return release.objects[name].word
    return release.properties[name].word if kind == "property" else name


def words(release: Release, task: Task, pairs: Pairs, scorer: Scorer) -> tuple[Inputs, dict[str, Unknown]]:
    """Static vectors of both words; unknown words are zeros, and reported by side ("object", "property", "affordance").

    Raises:
        ValueError: the scorer knows none of the words.
    """
    if "word_vector" not in scorer.abilities:
        raise UnableError(f"{scorer.name} has no vectors of single words: give glove:PATH, or another --as")
    found: list[dict[int, np.ndarray]] = []
    unknown = {}
    for kind, names in zip(task.kinds, (task.lefts, task.rights), strict=True):
        vectors, missing = {}, []
        for i, name in enumerate(names):
            word = word_of(release, kind, name)
            vector = scorer.word_vector(word)
            if vector is None:
                missing.append(word)
            else:
                vectors[i] = vector
        found.append(vectors)
        unknown[kind] = Unknown(len(names), tuple(dict.fromkeys(missing)))
    known = [v for side in found for v in side.values()]
    if not known:
        raise ValueError(f"{scorer.name} knows none of the {sum(u.of for u in unknown.values())} words of {task.title}")
    tables = []
    for names, vectors in zip((task.lefts, task.rights), found, strict=True):
        table = np.zeros((len(names), len(known[0])), dtype=np.float32)
        for i, vector in vectors.items():
            table[i] = vector
        tables.append(table)
    return Inputs(tuple(tables), (pairs.left, pairs.right), pairs.right, separate=True), unknown


def tokens(release: Release, task: Task, pairs: Pairs, scorer: Scorer, english: English) -> Inputs:
    """The last layer at the two words of each pair's sentence, a word of several tokens as their mean."""
    made = [sentence(release, task.name, task.lefts[i], task.rights[j], english) for i, j in zip(pairs.left, pairs.right, strict=True)]
    texts = [s.text for s in made]
    every = np.arange(len(texts))
    left, right = (_embedded(scorer, texts, [getattr(s, side) for s in made], "mean") for side in ("left", "right"))
    return Inputs((left, right), (every, every), pairs.right, separate=False)


def sentences(release: Release, task: Task, pairs: Pairs, scorer: Scorer, english: English, pooling: Pooling) -> Inputs:
    """One vector of each pair's sentence: the last layer's mean over tokens, or its first token."""
    texts = [sentence(release, task.name, task.lefts[i], task.rights[j], english).text for i, j in zip(pairs.left, pairs.right, strict=True)]
    return Inputs((_embedded(scorer, texts, None, pooling),), (np.arange(len(texts)),), pairs.right, separate=False)


def _embedded(scorer: Scorer, texts: list[str], spans: list[tuple[int, int]] | None, pooling: Pooling) -> np.ndarray:
    if "embed" not in scorer.abilities:
        raise UnableError(f"{scorer.name} gives no vectors of text: give hf:, lstm: or sentence:, or another --as")
    return np.asarray(scorer.embed(texts, spans, pooling=pooling), dtype=np.float32)
