"""What a study may ask a language model, whatever the model: the protocol of every scorer.

A study hands over text and gets arrays; it never sees a tokenizer, a device or a framework. A scorer declares what it can do
(`Scorer.abilities`) and raises :class:`UnableError` for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

#: Where a context has its gap.
BLANK = "[BLANK]"

Ability = Literal["class_logprobs", "sequence_logprobs", "embed", "word_vector"]
Pooling = Literal["mean", "first", "last"]


class UnableError(ValueError):
    """A scorer was asked for what it cannot do; the message says which kinds can."""


@dataclass(frozen=True)
class TokenScores:
    """Log-probabilities (natural logarithm) of one text's tokens.

    Attributes:
        logprobs: (t,) float64.
        words: (t,) int64, the number of the whitespace-separated word that each token belongs to, from 0.
    """

    logprobs: np.ndarray
    words: np.ndarray


class Scorer(Protocol):
    """A language model behind one door. Batched answers equal one-by-one answers within 1e-5; the order of requests does not matter."""

    #: How reports call it: "glove:vectors.txt", "hf:bert-base-uncased".
    name: str
    abilities: frozenset[Ability]

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        """(n, c) float64 natural log-probability of each target at the gap (:data:`BLANK`) of each context.

        A target is a word, or several synonyms whose probabilities add up. Normalised over the model's whole vocabulary, not over the
        targets; NaN for a target that the policy for words of several sub-words leaves out, and for one with a word the model does not
        know. A masked model sees both sides of the gap, any other only what stands before it. Raises ValueError for a context without
        exactly one gap.
        """
        ...

    def sequence_logprobs(self, texts: Sequence[str]) -> list[TokenScores]:
        """Log-probabilities of every token of every text: conditional for causal models, pseudo-log-likelihood for masked ones."""
        ...

    def embed(self, texts: Sequence[str], spans: Sequence[tuple[int, int]] | None = None, layer: int = -1,
              pooling: Pooling = "mean") -> np.ndarray:  # fmt: skip
        """(n, d) float32: hidden states of a layer pooled over the tokens that touch a span of characters, or over the whole text."""
        ...

    def word_vector(self, word: str) -> np.ndarray | None:
        """(d,) float32 vector of a word without context, None if the scorer does not know the word."""
        ...
