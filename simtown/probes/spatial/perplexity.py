"""Perplexity in every form of the paper's appendix A: of a sequence of tokens, and of a collection of
sentences in its two readings.

Everything is a sum of logarithms, never a product: log-probabilities are natural ones, as the scorers give
them; entropies are in bits. A masked model gives pseudo-log-probabilities of tokens
(:mod:`simtown.probes.scorers.masked`), and what comes out is its pseudo-perplexity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from simtown.probes.scorers.base import Scorer

#: Over a collection: all tokens as one long sequence (equations 4 to 7), or every sentence alike, whatever
#: its length (equations 8 to 12).
Form = Literal["token", "sentence"]
FORMS: tuple[Form, ...] = get_args(Form)


def cross_entropy(logprobs: np.ndarray, p: np.ndarray | None = None) -> float:
    """H(p, q) of equation 3 in bits; of equation 5, and 9, where every outcome is equally likely.

    Args:
        logprobs: (n,) natural log-probabilities under the model q.
        p: (n,) probabilities of the outcomes; None: 1 / n each.

    Raises:
        ValueError: there is no log-probability, one is above 0 or NaN, or p is no distribution.
    """
    q = np.asarray(logprobs, dtype=np.float64)
    if not q.size:
        raise ValueError("perplexity needs at least one token with a probability")
    if not (q <= 1e-6).all():  # also where NaN
        raise ValueError("a log-probability must be a number of at most 0")
    if p is None:
        return float(-q.mean() / np.log(2))
    p = np.asarray(p, dtype=np.float64)
    if p.shape != q.shape or not (p >= 0).all() or abs(p.sum() - 1) > 1e-6:
        raise ValueError(
            "the outcomes' probabilities must be as many as the log-probabilities and add up to 1"
        )
    return float(
        -(p[p > 0] * q[p > 0]).sum() / np.log(2)
    )  # what never occurs costs nothing, even where the model holds it impossible


def perplexity(logprobs: np.ndarray, p: np.ndarray | None = None) -> float:
    """2 to the cross entropy (equations 2, 6, 7); infinite where the model holds what occurs impossible. See
    :func:`cross_entropy`.

    >>> round(perplexity(np.log([0.5, 0.125])), 6)
    4.0
    """
    with np.errstate(over="ignore"):
        return float(np.exp2(cross_entropy(logprobs, p)))


def of_sentences(sentences: Sequence[np.ndarray], form: Form = "token") -> float:
    """Perplexity of a collection of sentences.

    Args:
        sentences: for each the (t,) natural log-probabilities of its tokens.
        form: see :data:`Form`.

    Raises:
        ValueError: there are no sentences, one has no tokens, or a log-probability is not possible.
    """
    if not sentences or not all(len(s) for s in sentences):
        raise ValueError("perplexity needs sentences, and every sentence a token")
    if form == "token":
        return perplexity(np.concatenate(sentences))
    return perplexity(np.array([s.sum() for s in sentences]))


def of_texts(scorer: Scorer, texts: Sequence[str], form: Form = "token") -> float:
    """Perplexity of a model on texts.

    Raises:
        UnableError: the scorer has no probabilities of texts.
        ValueError: as :func:`of_sentences`.
    """
    return of_sentences([scores.logprobs for scores in scorer.sequence_logprobs(texts)], form)
