"""A scorer whose answers are given: for tests, and for controls whose truth is known."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.files import DamagedError
from simtown.core.untrusted import cause, read_json
from simtown.probes.scorers.base import Ability, Pooling, Scorer, Spans, TokenScores, UnableError
from simtown.probes.scorers.spelling import add_synonyms, split_at_blank

#: The abilities that a table gives.
_ABILITIES: dict[str, tuple[Ability, ...]] = {
    "classes": ("class_logprobs",),
    "texts": ("sequence_logprobs",),
    "vectors": ("embed", "word_vector"),
}


class Oracle(Scorer):
    """Answers from tables: any of `classes` {context: {word: probability}}, where a word that is not there
    has none (NaN); `texts` {text: probabilities of its whitespace-separated words}; `vectors` {word or text:
    numbers}.
    """

    def __init__(self, name: str = "oracle", **tables: Mapping[str, Any]) -> None:
        self.name, self._tables = name, tables
        self.abilities: frozenset[Ability] = frozenset(a for kind in tables for a in _ABILITIES[kind])

    @classmethod
    def read(cls, name: str, path: Path) -> "Oracle":
        """Tables of a JSON file: an object with any of "classes", "texts" and "vectors"."""
        try:
            return cls(name, **read_json(path, follow=True))
        except (ValueError, TypeError, KeyError) as error:
            needed = "a JSON object with nothing but classes, texts or vectors"
            raise DamagedError(f"{path} must be {needed} ({cause(error)})") from error

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        rows = []
        for context in contexts:
            split_at_blank(context)
            with np.errstate(divide="ignore"):
                known = {word: np.log(p) for word, p in self._row("classes", context).items()}
            rows.append(add_synonyms(known, targets))
        return np.array(rows).reshape(len(contexts), len(targets))

    def sequence_logprobs(
        self, texts: Sequence[str], begins: Sequence[int] | None = None
    ) -> list[TokenScores]:
        """A token a word. Raises ValueError if the table has not one probability a word."""
        scores = []
        for text, begin in zip(texts, begins or [0] * len(texts), strict=True):
            row = np.array(self._row("texts", text), dtype=np.float64)
            if len(row) != len(text.split()):
                raise ValueError(f"{self.name} has {len(row)} probabilities for the words of '{text}'")
            with np.errstate(divide="ignore"):
                words = np.arange(len(text[:begin].split()), len(row))
                scores.append(TokenScores(np.log(row[words]), words))
        return scores

    def embed(
        self, texts: Sequence[str], spans: Spans | None = None, layer: int = -1, pooling: Pooling = "mean"
    ) -> np.ndarray:
        """(n, d) float32 vectors of the texts, or of the spans in them, whatever the layer and pooling."""
        if spans is not None:
            texts = [text[a:b] for text, (a, b) in zip(texts, spans, strict=True)]
        return np.array([self._row("vectors", text) for text in texts], dtype=np.float32)

    def word_vector(self, word: str) -> np.ndarray | None:
        if "vectors" not in self._tables:
            raise UnableError(f"{self.name} has no table of vectors")
        vector = self._tables["vectors"].get(word)
        return None if vector is None else np.array(vector, dtype=np.float32)

    def _row(self, kind: str, key: str) -> Any:
        if kind not in self._tables:
            raise UnableError(f"{self.name} has no table of {kind}")
        if key not in self._tables[kind]:
            raise ValueError(f"{self.name} has no answer for '{key}': add it to the file")
        return self._tables[kind][key]
