"""What else the vectors and perplexities of relations say: clusters, and what perplexity depends on.

A relation's perplexity is here its geometric mean over the contexts of other relations: how little it fits
where another one stood.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from simtown.probes.measures import Correlation, spearman
from simtown.probes.spatial.lexicon import FUNCTIONAL, GEOMETRIC, simple
from simtown.probes.spatial.spaces import NumberTable

#: The paper's number of clusters, and how often k-means starts again.
PAPER, STARTS = 30, 20
#: Seeds of the range of silhouettes.
SEEDS = 10


class Clusters(NamedTuple):
    """A partition.

    Attributes:
        groups: relations of each cluster, larger clusters first.
        silhouette: mean over the relations, of cosine distances.
        seeds: the lowest and the highest silhouette of :data:`SEEDS` seeds; () of one.
        rand: adjusted Rand index against the families of variants ("back", "on the back of", ...): 1 the
            same, about 0 by chance.
    """

    groups: tuple[tuple[str, ...], ...]
    silhouette: float
    rand: float
    seeds: tuple[float, ...] = ()


def cluster(relations: Sequence[str], vectors: np.ndarray, k: int, seed: int = 0) -> Clusters:
    """k-means of (n, d) vectors of length 1, of which at least k must differ."""
    labels = KMeans(k, n_init=STARTS, random_state=seed).fit_predict(vectors)
    groups = [tuple(r for r, label in zip(relations, labels, strict=True) if label == c) for c in range(k)]
    silhouette = float(silhouette_score(vectors, labels, metric="cosine"))
    rand = float(adjusted_rand_score(list(map(simple, relations)), labels))
    return Clusters(tuple(sorted(groups, key=lambda group: (-len(group), group))), silhouette, rand)


def partitions(relations: Sequence[str], vectors: np.ndarray, seed: int = 0) -> dict[str, Clusters]:
    """The paper's number of clusters, or fewer; and that up to two thirds with the largest silhouette."""
    most = min(len(np.unique(vectors.round(9), axis=0)), len(vectors) - 1)
    largest = max(2, min(most, 2 * len(relations) // 3))
    tried = [cluster(relations, vectors, k, seed) for k in range(2, largest + 1)]
    draws = [cluster(relations, vectors, min(PAPER, most), seed + more) for more in range(SEEDS)]
    silhouettes = [clusters.silhouette for clusters in draws]
    return {
        "paper": draws[0]._replace(seeds=(min(silhouettes), max(silhouettes))),
        "silhouette": max(tried, key=lambda clusters: clusters.silhouette),
    }


def elsewhere(perplexities: NumberTable) -> dict[str, float]:
    """{relation: mean log2 perplexity over the contexts of others}."""
    logs = np.log2(perplexities.values)
    other = np.array([[r != c for c in perplexities.columns] for r in perplexities.rows])
    return {r: float(logs[i, other[i]].mean()) for i, r in enumerate(perplexities.rows)}


def frequency(perplexities: NumberTable, seen: Mapping[str, int]) -> Correlation:
    """Spearman's correlation of how often a relation was seen, if ever, with its perplexity elsewhere."""
    means = elsewhere(perplexities)
    words = [r for r in perplexities.rows if seen.get(r)]
    return spearman(np.array([seen[w] for w in words]), np.array([means[w] for w in words]))


def kinds(perplexities: NumberTable) -> dict[str, float]:
    """The mean log2 perplexity elsewhere of functional relations (at, in, on, over, under) and of geometric
    ones (above, below, ...), and p of the exact Mann-Whitney test between them.
    """
    means = elsewhere(perplexities)
    groups = [np.array([means[r] for r in names if r in means]) for names in (FUNCTIONAL, GEOMETRIC)]
    functional, geometric = (float(group.mean()) for group in groups)
    p = float(stats.mannwhitneyu(*groups, method="exact").pvalue)
    return {"functional": functional, "geometric": geometric, "p": p}
