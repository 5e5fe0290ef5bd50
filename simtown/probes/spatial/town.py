"""The bridge: captions of the town, where the geometry behind every relation is known, and what a model of them makes of its relations.

A caption tells one true relation from each of two vehicles' sides: "a bus is behind a taxi and the taxi is to the left of the bus". Nothing
but text reaches the model; whether its P-vectors mirror space is compared with the relations' spatial templates, measured in the scenes as
Logan and Sadler (1996) measured people's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.language.questions import with_article
from simtown.language.relations import LATERAL, RADIAL, RELATION_NAMES, RELATIONS, margins, separations, truths
from simtown.language.sampler import Recipe, sample
from simtown.probes.scorers.base import Scorer
from simtown.probes.spatial import perplexity
from simtown.probes.spatial.sharing import sharing
from simtown.probes.spatial.suites import substitute
from simtown.probes.spatial.tables import Table
from simtown.probes.spatial.vectors import cosine, p_vectors
from simtown.streams import Stream
from simtown.visualgenome.frequencies import frequencies

#: How the town's relations are worded, in the order of RELATIONS.
WORDED: tuple[str, ...] = tuple({"left of": "to the left of", "right of": "to the right of"}.get(name, name) for name in RELATION_NAMES)
#: Cells of a template to each side, their number as Logan and Sadler's.
CELLS = 7
#: Scenes sampled together.
BLOCK = 1000


@dataclass(frozen=True)
class Captions:
    """n captions, each cut around its first relation.

    Attributes:
        before, after: n texts around it. relation: (n,) int64, its number. true: (n, 4) bool, every one of the first to the other.
        separation: (n, 2) float64 metres from the second vehicle to the first, to the right and away from the viewer.
    """

    before: list[str]
    after: list[str]
    relation: np.ndarray
    separation: np.ndarray
    true: np.ndarray

    def texts(self) -> list[str]:
        """The captions whole."""
        return [substitute((b, a), WORDED[r]) for b, r, a in zip(self.before, self.relation.tolist(), self.after, strict=True)]


def captions(n: int, seed: int, split: str = "train", entities: int = 20, done: Callable[[int], None] = lambda scenes: None) -> Captions:
    """Captions of n generated scenes with two vehicles each; caption i depends on the seed, the split and i alone.

    done: told how many more scenes are made.

    Raises ValueError for fewer than 1 caption or 2 entities.
    """
    if n < 1 or not 2 <= entities <= len(ENTITIES):
        raise ValueError(f"captions need at least 1 scene and 2 to {len(ENTITIES)} entities, not {n} and {entities}")
    subject, obj = frequencies("uniform", entities)
    recipe = Recipe(seed, split, subject, obj, relations=RELATION_NAMES)
    parts = []
    for begin in range(0, n, BLOCK):
        parts.append(_block(recipe, np.arange(begin, min(begin + BLOCK, n))))
        done(len(parts[-1].before))
    before, after = ([text for part in parts for text in getattr(part, side)] for side in ("before", "after"))
    return Captions(
        before, after, *(np.concatenate([getattr(part, name) for part in parts]) for name in ("relation", "separation", "true"))
    )


def _block(recipe: Recipe, index: np.ndarray) -> Captions:
    scene = sample(recipe, index).scene
    n, every = len(index), np.arange(len(RELATIONS))
    apart = separations(scene.pose, scene.camera)
    u = Stream(recipe.seed, recipe.split, "caption").uniform(index, 3)
    first = (u[:, 0] < 0.5).astype(np.int64)
    true = []
    for one, other in ((first, 1 - first), (1 - first, first)):
        each = [truths(margins(apart, np.full(n, r), one, other), np.full(n, r)) == 1 for r in every]
        true.append(np.stack(each, axis=1))
    relation, back = (_choose(t, x) for t, x in zip(true, u[:, 1:].T, strict=True))
    names = np.array(ENTITIES)[scene.entity]
    before, after = [], []
    for i in range(n):
        a, b = str(names[i, first[i]]), str(names[i, 1 - first[i]])
        before.append(f"{with_article(a)} is")
        after.append(f"{with_article(b)} and the {b} is {WORDED[back[i]]} the {a}")
    return Captions(before, after, relation, apart[np.arange(n), :, first, 1 - first][:, [LATERAL, RADIAL]], true[0])


def _choose(allowed: np.ndarray, u: np.ndarray) -> np.ndarray:
    """(n,) one of the allowed columns of (n, m) each, by (n,) numbers in [0, 1)."""
    ranks = allowed.cumsum(axis=1)
    wanted = np.floor(u * ranks[:, -1]).astype(np.int64) + 1
    return (ranks >= wanted[:, None]).argmax(axis=1)


def templates(told: Captions) -> np.ndarray:
    """(4, CELLS, CELLS) float64: the share of scenes in which each relation holds, by where the first vehicle stands; NaN where none does.

    Rows go from far to near, columns from left to right; the grid reaches as far as 98 % of the scenes do.
    """
    edges = [np.linspace(-1, 1, CELLS + 1) * np.quantile(np.abs(side), 0.98) for side in told.separation.T]
    column, row = (np.clip(np.digitize(side, edge) - 1, 0, CELLS - 1) for side, edge in zip(told.separation.T, edges, strict=True))
    cell = (CELLS - 1 - row) * CELLS + column
    seen = np.bincount(cell, minlength=CELLS**2)
    found = [np.bincount(cell, true, CELLS**2) for true in told.true.T]
    share = np.divide(found, seen, out=np.full((len(found), CELLS**2), np.nan), where=seen > 0)
    return share.reshape(-1, CELLS, CELLS)


@dataclass(frozen=True)
class Bridge:
    """What a model makes of the town's relations.

    Attributes:
        perplexities: the relations in each other's captions. words: (4, 4) cosines of P-vectors. space: (4, 4) correlations of templates,
        which are (4, CELLS, CELLS). correlation: Pearson's, of words and space over the 6 pairs. opposite, across: mean cosine of the
        two pairs of opposites, and of the four pairs of different axes.
    """

    perplexities: Table
    words: np.ndarray
    templates: np.ndarray
    space: np.ndarray
    correlation: float
    opposite: float
    across: float


def bridge(scorer: Scorer, told: Captions) -> Bridge:
    """Put every relation into every caption, and compare the P-vectors with the templates."""
    texts = [substitute((b, a), relation) for relation in WORDED for b, a in zip(told.before, told.after, strict=True)]
    found = [one.logprobs for one in sharing(scorer).sequence_logprobs(texts)]
    n = len(told.before)
    cells = np.array([[perplexity.of_sentences([found[i * n + k] for k in np.flatnonzero(told.relation == j)]) for j in range(len(WORDED))]
                      for i in range(len(WORDED))])  # fmt: skip
    grids = templates(told)
    flat = grids.reshape(len(WORDED), -1)
    space = np.corrcoef(flat[:, np.isfinite(flat).all(axis=0)])
    words = cosine(p_vectors(cells))
    pairs = list(combinations(range(len(WORDED)), 2))
    same_axis = np.array([RELATIONS[a].axis == RELATIONS[b].axis for a, b in pairs])
    alike, true = (np.array([table[p] for p in pairs]) for table in (words, space))
    means = (float(alike[chosen].mean()) for chosen in (same_axis, ~same_axis))
    return Bridge(Table(WORDED, WORDED, cells), words, grids, space, float(np.corrcoef(alike, true)[0, 1]), *means)
