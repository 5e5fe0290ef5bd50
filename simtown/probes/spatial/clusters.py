"""Clusters of relations by k-means over their vectors, with the paper's k and with the k that the silhouette
prefers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from simtown.probes.spatial.relations import simple

#: The paper's number of clusters.
PAPER = 30
#: Times that k-means starts anew.
STARTS = 20


@dataclass(frozen=True)
class Clusters:
    """A partition.

    Attributes:
        groups: relations of each cluster, larger clusters first.
        silhouette: mean over the relations, of cosine distances.
        rand: adjusted Rand index against the families of variants ("back", "on the back of", ...): 1 the
            same, about 0 by chance.
    """

    groups: tuple[tuple[str, ...], ...]
    silhouette: float
    rand: float


def cluster(relations: Sequence[str], vectors: np.ndarray, k: int, seed: int = 0) -> Clusters:
    """k-means of (n, d) vectors of length 1.

    Raises:
        ValueError: k is below 2, or above n - 1 or the number of different vectors.
    """
    if not 2 <= k <= _most(vectors):
        raise ValueError(f"{len(relations)} vectors can be put in 2 to {_most(vectors)} clusters, not in {k}")
    labels = KMeans(k, n_init=STARTS, random_state=seed).fit_predict(vectors)
    groups = [tuple(r for r, label in zip(relations, labels, strict=True) if label == c) for c in range(k)]
    families = {name: i for i, name in enumerate(dict.fromkeys(map(simple, relations)))}
    return Clusters(
        tuple(sorted(groups, key=lambda group: (-len(group), group))),
        float(silhouette_score(vectors, labels, metric="cosine")),
        float(adjusted_rand_score([families[simple(r)] for r in relations], labels)),
    )


def chosen(relations: Sequence[str], vectors: np.ndarray, seed: int = 0) -> Clusters:
    """The clusters of the k, from 2 to two thirds of the relations, with the largest silhouette."""
    most = min(_most(vectors), 2 * len(relations) // 3)
    return max(
        (cluster(relations, vectors, k, seed) for k in range(2, max(3, most + 1))), key=lambda c: c.silhouette
    )


def as_paper(relations: Sequence[str], vectors: np.ndarray, seed: int = 0) -> Clusters:
    """The paper's number of clusters, or as many as there are different vectors if these are fewer."""
    return cluster(relations, vectors, min(PAPER, _most(vectors)), seed)


def _most(vectors: np.ndarray) -> int:
    return min(len(np.unique(vectors.round(9), axis=0)), len(vectors) - 1)
