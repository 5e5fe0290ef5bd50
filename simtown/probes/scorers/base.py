"""What a study may ask a language model, whatever the model: the base of every scorer.

A study hands over text and gets arrays; it never sees a tokenizer, a device or a framework. A scorer declares
what it can do (`Scorer.abilities`) and raises :class:`UnableError` for the rest.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from simtown.core.options import option
from simtown.probes.scorers.spelling import POLICIES, Policy

#: Of texts the characters (from, to) to look at.
Spans = Sequence[tuple[int, int]]
Ability = Literal["class_logprobs", "sequence_logprobs", "embed", "word_vector"]
Pooling = Literal["mean", "first", "last"]
Variant = Literal["original", "within_word_l2r", "whole_word"]


class UnableError(ValueError):
    """A scorer was asked for what it cannot do; the message says which kinds can."""


@dataclass(frozen=True)
class ScorerSettings:
    """How a model is run and read; logits are normalised in float32 whatever `dtype` is."""

    device: str = option("auto", "auto, cpu, cuda, or another of PyTorch's names.")
    dtype: str = option("float32", "Of the weights.", choices=("float32", "bfloat16", "float16"))
    policy: Policy = option("left-to-right", "For words of several sub-words.", choices=POLICIES)
    variant: Variant = option("original", "Of pseudo-log-likelihood.", choices=get_args(Variant))
    chat: bool = option(False, "Whether a causal model is asked through its chat template.")
    revision: str | None = option(None, "Of a model of the hub.")
    tokens: int = option(
        1024, "Of a batch at most, with padding; 1,024 suits a CPU, a GPU takes more.", low=1
    )
    progress: bool = option(False, "Whether work of seconds draws a bar on stderr.")


class TokenScores(NamedTuple):
    """Log-probabilities (natural logarithm) of one text's tokens.

    Attributes:
        logprobs: (t,) float64.
        words: (t,) int64, the number of the whitespace-separated word that each token belongs to, from 0.
    """

    logprobs: np.ndarray
    words: np.ndarray


class Scorer:
    """The interface to a language model. A subclass overrides what it can do, and says so in `abilities`: the
    other methods raise UnableError.

    Batched answers equal one-by-one answers within 1e-5; the order of requests does not matter.

    Attributes:
        name: how reports call it: "glove:vectors.txt", "hf:bert-base-uncased".
        abilities: the methods that answer.
        forward: whether it fills a gap by what stands before it alone, as causal models do.
        limitation: what it cannot do, and which models can; for the message of UnableError.
    """

    name: str = ""
    abilities: frozenset[Ability] = frozenset()
    forward: bool = False
    limitation: str = "cannot do this: give another model"

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        """(n, c) float64 natural log-probability of each target at the gap (:data:`BLANK`) of each context.

        Probabilities are normalised over the model's whole vocabulary, not over the targets. A target is NaN
        if the policy for words of several sub-words leaves it out, or if the model does not know a word of
        it. A masked model sees both sides of the gap, any other only what stands before it.

        Args:
            contexts: (n) texts with one gap each.
            targets: (c) words; or several synonyms, whose probabilities add up.
        """
        raise UnableError(f"{self.name} {self.limitation}")

    def sequence_logprobs(
        self, texts: Sequence[str], begins: Sequence[int] | None = None
    ) -> list[TokenScores]:
        """Of every text's tokens: conditional ones of causal models, pseudo-likelihoods of masked ones.

        Args:
            texts: (n) texts.
            begins: of each text the character from which on tokens are scored; None: 0. What stands before
                is a context.
        """
        raise UnableError(f"{self.name} {self.limitation}")

    def embed(
        self, texts: Sequence[str], spans: Spans | None = None, layer: int = -1, pooling: Pooling = "mean"
    ) -> np.ndarray:
        """(n, d) float32: hidden states of a layer, pooled over tokens.

        Args:
            texts: (n) texts.
            spans: (n) characters (from, to), to pool over the tokens that touch them; None: the whole texts.
            layer: its number, from the last for negative ones.
            pooling: the mean, or the first or the last of the tokens.
        """
        raise UnableError(f"{self.name} {self.limitation}")

    def word_vector(self, word: str) -> np.ndarray | None:
        """(d,) float32 vector of a word without context, None if the scorer does not know the word."""
        raise UnableError(f"{self.name} {self.limitation}")

    def spelling(self, word: str, lead: str = " ") -> Hashable | None:
        """What the model reads a word as, the same for words that it cannot tell apart; None for a word that
        it does not know. `lead` is the end of the text before it, see
        :func:`simtown.probes.scorers.spelling.lead_of`.
        """
        return word

    def uncached(self) -> "Scorer":
        """The model itself, without a cache of answers before it."""
        return self
