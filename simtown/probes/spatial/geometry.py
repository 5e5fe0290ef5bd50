"""The bridge: what a model of the town's captions makes of relations whose geometry is known.

Nothing but text reached the model; whether its P-vectors mirror space is compared with the relations' spatial
templates, measured in scenes that it read nothing of, as Logan and Sadler (1996) measured people's.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from simtown.language.meaning.relations import RELATIONS
from simtown.language.words.captions import WORDED, Related
from simtown.probes.scorers.base import Scorer
from simtown.probes.spatial.spaces import NumberTable, cosine, p_vectors
from simtown.probes.spatial.suites import substitute

#: Cells of a template to each side, their number as Logan and Sadler's.
CELLS = 7


def templates(captions: Related) -> np.ndarray:
    """(4, CELLS, CELLS) float64: the share of scenes in which each relation holds, by where the first one is.

    NaN where none stands. Rows go from far to near, columns from left to right; the grid reaches as far as 98
    % of the scenes do.
    """
    sides = captions.separation.T
    edges = [np.linspace(-1, 1, CELLS + 1) * np.quantile(np.abs(side), 0.98) for side in sides]
    cells = (np.digitize(side, edge) - 1 for side, edge in zip(sides, edges, strict=True))
    column, row = (np.clip(cell, 0, CELLS - 1) for cell in cells)
    cell = (CELLS - 1 - row) * CELLS + column
    seen = np.bincount(cell, minlength=CELLS**2)
    true_by_cell = [np.bincount(cell, true, CELLS**2) for true in captions.true.T]
    share = np.divide(true_by_cell, seen, out=np.full((len(true_by_cell), CELLS**2), np.nan), where=seen > 0)
    return share.reshape(-1, CELLS, CELLS)


class GeometryBridge(NamedTuple):
    """What a model makes of the town's relations.

    Attributes:
        perplexities: the relations in each other's captions.
        words: (4, 4) cosines of P-vectors.
        templates: (4, CELLS, CELLS) of :func:`templates`.
        correlation: Pearson's, of `words` and the templates' correlations over the 6 pairs.
        opposite: mean cosine of the two pairs of opposites.
        across: mean cosine of the four pairs of different axes.
    """

    perplexities: NumberTable
    words: np.ndarray
    templates: np.ndarray
    correlation: float
    opposite: float
    across: float


def geometry_bridge(scorer: Scorer, captions: Related) -> GeometryBridge:
    """Put every relation into every caption, and compare the P-vectors with the templates.

    Raises ValueError if the model does not know a relation, UnableError if it gives texts no probabilities.
    """
    unknown = [relation for relation in WORDED if scorer.spelling(relation) is None]
    if unknown:
        raise ValueError(f"{scorer.name} does not know '{unknown[0]}': train it on simtown's captions")
    frames = list(zip(captions.before, captions.after, strict=True))
    perplexities = np.empty((len(WORDED), len(WORDED)))
    for i, relation in enumerate(WORDED):
        texts = [substitute(frame, relation) for frame in frames]
        logprobs = [scores.logprobs for scores in scorer.uncached().sequence_logprobs(texts)]
        for j in range(len(WORDED)):
            tokens = np.concatenate([logprobs[k] for k in np.flatnonzero(captions.relation == j)])
            perplexities[i, j] = np.exp(-tokens.mean())
    grids = templates(captions)
    flat = grids.reshape(len(WORDED), -1)
    space = np.corrcoef(flat[:, np.isfinite(flat).all(axis=0)])
    words = cosine(p_vectors(perplexities))
    pairs = list(combinations(range(len(WORDED)), 2))
    same_axis = np.array([RELATIONS[a].axis == RELATIONS[b].axis for a, b in pairs])
    alike, true = (np.array([similarities[pair] for pair in pairs]) for similarities in (words, space))
    correlation = float(np.corrcoef(alike, true)[0, 1])
    opposite, across = (float(alike[kept].mean()) for kept in (same_axis, ~same_axis))
    table = NumberTable(WORDED, WORDED, perplexities)
    return GeometryBridge(table, words, grids, correlation, opposite, across)
