"""What else decides perplexity: how often a relation is written, and whether it is functional or geometric.

A relation's perplexity is here its geometric mean over the contexts of other relations: how little it fits
where another one stood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from simtown.probes.spatial.relations import FUNCTIONAL, GEOMETRIC
from simtown.probes.spatial.tables import NumberTable
from simtown.probes.statistics import Correlation, spearman


@dataclass(frozen=True)
class RelationKinds:
    """Functional against geometric relations in other relations' contexts.

    Attributes:
        functional: mean log2 perplexity of functional relations.
        geometric: mean log2 perplexity of geometric relations.
        p: Mann and Whitney's exact.
    """

    functional: float
    geometric: float
    p: float


def elsewhere(perplexities: NumberTable) -> dict[str, float]:
    """{relation: mean log2 perplexity over the contexts of others}."""
    logs = np.log2(perplexities.values)
    other = np.array([[r != c for c in perplexities.columns] for r in perplexities.rows])
    return {r: float(logs[i, other[i]].mean()) for i, r in enumerate(perplexities.rows)}


def frequency(perplexities: NumberTable, seen: Mapping[str, int]) -> Correlation:
    """Spearman's correlation of how often a relation was seen with its perplexity elsewhere; relations never
    seen are left out.
    """
    means = elsewhere(perplexities)
    words = [r for r in perplexities.rows if seen.get(r)]
    return spearman(np.array([seen[w] for w in words]), np.array([means[w] for w in words]))


def kinds(perplexities: NumberTable) -> RelationKinds:
    """Are functional relations (at, in, on, over, under) more readily put for others than geometric ones
    (above, below, ...)?
    """
    means = elsewhere(perplexities)
    groups = [np.array([means[r] for r in names if r in means]) for names in (FUNCTIONAL, GEOMETRIC)]
    test = stats.mannwhitneyu(*groups, method="exact")
    return RelationKinds(float(groups[0].mean()), float(groups[1].mean()), float(test.pvalue))
