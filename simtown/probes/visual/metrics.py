"""How well a ranking of classes fits what is true (section 3.5), and between which bounds that can lie."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata


def spearman_rows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) Spearman's ρ of each row of a with that of b, average ranks for ties; NaN where a row is constant. a, b: (n, c)."""
    ranks = []
    for x in (a, b):
        r = rankdata(x, axis=1)
        ranks.append(r - r.mean(axis=1, keepdims=True))
    ra, rb = ranks
    norm = np.sqrt((ra**2).sum(axis=1) * (rb**2).sum(axis=1))
    return np.divide((ra * rb).sum(axis=1), norm, out=np.full(len(norm), np.nan), where=norm > 0)


def ceiling_rows(counts: np.ndarray) -> np.ndarray:
    """(n,) the ρ of a ranking without ties that agrees with the counts: all that a model can reach, since most counts are tied zeros."""
    return spearman_rows(np.argsort(np.argsort(counts, axis=1, kind="stable"), axis=1), counts)


def prior(counts: np.ndarray) -> np.ndarray:
    """(c,) mean of the rows' shares: what one says of a subject of which one knows nothing. counts: (n, c) of the train subjects."""
    shares: np.ndarray = counts / counts.sum(axis=1, keepdims=True)
    return shares.mean(axis=0)


def best_rows(scores: np.ndarray) -> np.ndarray:
    """(n,) int64 the class with the highest score, the first of equals. scores: (n, c)."""
    return scores.argmax(axis=1)
