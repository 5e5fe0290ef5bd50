"""The matrix: how perplexed a model is by every relation in every context (appendix A of the paper).

Log-probabilities are taken frame by frame, each with all relations in turn, and kept in one file as they
come; where it is there, only what is missing is asked for. The matrix is then a weighted sum: a frame counts
in each context as often as it was seen there. Everything is a sum of logarithms, never a product. A masked
model gives pseudo-log-probabilities of tokens, and what comes out is its pseudo-perplexity.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from simtown.core.files import DamagedError, replacing
from simtown.core.untrusted import RefusedError, cause, load_array
from simtown.probes.scorers.base import Scorer
from simtown.probes.spatial.suites import Suites, substitute

#: Over a collection: all tokens as one long sequence (equations 4 to 7), or every sentence alike, whatever
#: its length (equations 8 to 12).
Form = Literal["token", "sentence"]
#: Texts of one request to the scorer.
TEXTS = 4096


def score(
    scorer: Scorer, suites: Suites, relations: Sequence[str], path: Path, progress: Callable[[int], object]
) -> np.ndarray:
    """(f, n, 2) float64: natural log-probability of every frame with every relation, and its tokens.

    They are kept in a .npy file; what it holds already is not asked again. `progress` takes the number of
    newly scored texts. Raises DamagedError if the file is not of these suites and relations, RefusedError if
    it is a link.
    """
    shape = (len(suites.frames), len(relations), 2)
    if not os.path.lexists(path):
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.save(file, np.full(shape, np.nan))
    try:
        table = load_array(path, follow=False, mmap_mode="r+")
        if table.shape != shape or table.dtype != np.float64:
            raise ValueError("it holds other phrases or relations")
    except RefusedError:
        raise
    except ValueError as error:
        problem = f"{path} is not usable ({cause(error)})"
        raise DamagedError(f"{problem}: delete it and run the command again") from error
    missing = np.flatnonzero(np.isnan(table).any(axis=(1, 2)))
    progress((len(suites.frames) - len(missing)) * len(relations))
    each = max(1, TEXTS // len(relations))
    for begin in range(0, len(missing), each):
        rows = missing[begin : begin + each]
        texts = [substitute(suites.frames[row], relation) for row in rows.tolist() for relation in relations]
        logprobs = [scores.logprobs for scores in scorer.uncached().sequence_logprobs(texts)]
        sums = [(tokens.sum(), len(tokens)) for tokens in logprobs]
        table[rows] = np.array(sums, dtype=np.float64).reshape(len(rows), len(relations), 2)
        table.flush()  # type: ignore[attr-defined]
        progress(len(texts))
    return np.array(table)


def perplexities(scores: np.ndarray, counts: np.ndarray, form: Form = "token") -> np.ndarray:
    """(n, m) perplexity of every relation in every context (equations 7 and 12).

    It is made of (f, n, 2) of :func:`score`, and (m, f) counts of the frames in the contexts.
    """
    totals = np.einsum("mf,fnk->nmk", counts.astype(np.float64), scores)
    whole = totals[..., 1] if form == "token" else counts.sum(axis=1, dtype=np.float64)
    with np.errstate(over="ignore"):
        return np.exp(-totals[..., 0] / whole)
