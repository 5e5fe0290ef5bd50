"""Encoders of whole texts: sentence-transformers' layout, and CLIP's text tower."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simtown.probes.scorers.base import Pooling, Spans
from simtown.probes.scorers.huggingface import Transformer


class Encoder(Transformer):
    """A tower that was trained to give a text one vector.

    A text that is too long for it is cut, as its own library does.

    Args:
        model: as :class:`simtown.probes.scorers.huggingface.Transformer` takes it: name, model, tokenizer,
            settings.
        pooling: how it makes the vector: "mean" over all tokens, "first", "last", or "projection" where the
            model has its own (CLIP).
        normalise: whether to length 1.
    """

    def __init__(self, *model: Any, pooling: str, normalise: bool) -> None:
        super().__init__(*model, truncate=True)
        self._pooling, self._normalise, self.projects = pooling, normalise, pooling == "projection"

    def embed(
        self, texts: Sequence[str], spans: Spans | None = None, layer: int = -1, pooling: Pooling = "mean"
    ) -> np.ndarray:
        """A whole text at the last layer is pooled as the encoder was trained; else as of any transformer."""
        if spans is not None or layer != -1 or not texts:
            return super().embed(texts, spans, layer, pooling)
        vectors = super().embed(texts, None, -1, self._pooling)  # type: ignore[arg-type]
        if self._normalise:
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
        return vectors

    def word_vector(self, word: str) -> np.ndarray | None:
        """The tower's vector of the word as a text."""
        return None if self.spelling(word) is None else self.embed([word])[0]
