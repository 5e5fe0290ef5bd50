"""Sizes (section 4.3): does a model put smaller nouns before larger ones, in sentences and along an adjective scale?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

Direction = Literal["paper", "corrected"]
#: Sizes whose nouns are subjects: the others have nothing smaller, or nothing larger.
SUBJECTS = ("small", "medium", "large")


class Sizes:
    """Nouns with their sizes. nouns: (c,) str; size: (c,) int64 from 0, the smallest; subjects: (s,) int64 numbers of nouns."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self.names = tuple(table)
        self.nouns = tuple(noun for nouns in table.values() for noun in nouns)
        self.size = np.repeat(np.arange(len(table)), [len(nouns) for nouns in table.values()])
        self.subjects = np.flatnonzero(np.isin(np.array(self.names)[self.size], SUBJECTS))


def rank_partition(sizes: Sizes, scores: np.ndarray, relation: Literal["larger", "smaller"], direction: Direction) -> np.ndarray:
    """(s,) share of nouns that stand where they should, for every subject [X] of "[X] is larger (smaller) than [Y]".

    With n nouns larger than X and m smaller: the mean of two overlaps, of the ranking's top with one set and of its bottom with the other.
    What fits behind "larger than" is *smaller* than X, so the corrected direction wants the m smaller nouns on top and the n larger ones at
    the bottom. The paper's wants the n larger ones on top: what is perfect comes out below chance.

    Args:
        scores: (s, c), row i of how well each noun fits as [Y] of subject i. Equal scores stand in the nouns' order.
    """
    found = np.empty(len(sizes.subjects))
    top_is_larger = (relation == "larger") == (direction == "paper")
    for i, (subject, row) in enumerate(zip(sizes.subjects, scores, strict=True)):
        larger, smaller = sizes.size > sizes.size[subject], sizes.size < sizes.size[subject]
        top, bottom = (larger, smaller) if top_is_larger else (smaller, larger)
        order = np.argsort(-row, kind="stable")
        found[i] = (top[order[: top.sum()]].mean() + bottom[order[len(order) - bottom.sum() :]].mean()) / 2
    return found


def limits(table: Mapping[str, Sequence[str]], direction: Direction) -> dict[str, tuple[float, float]]:
    """{"chance", "perfect"}: (larger, smaller) rank partition of a random order (its expectation), and of one that knows all sizes."""
    sizes = Sizes(table)
    chance = []
    for subject in sizes.subjects:
        larger, smaller = (sizes.size > sizes.size[subject]).mean(), (sizes.size < sizes.size[subject]).mean()
        chance.append((larger + smaller) / 2)
    by_size = np.tile(sizes.size.astype(float), (len(sizes.subjects), 1))
    perfect = tuple(float(rank_partition(sizes, sign * by_size, relation, direction).mean()) for relation, sign in _WAYS)  # type: ignore[arg-type]
    return {"chance": (float(np.mean(chance)),) * 2, "perfect": (perfect[0], perfect[1])}


#: A perfect ranking of [Y]: the smallest first behind "larger than", the largest first behind "smaller than".
_WAYS = (("larger", -1.0), ("smaller", 1.0))


def projection(vectors: np.ndarray, small: np.ndarray, large: np.ndarray) -> np.ndarray:
    """(c,) cosine of each noun's vector with large - small (van Paridon et al. 2021). vectors: (c, d); small, large: (d,)."""
    scale = (large - small).astype(np.float64)
    norm = np.linalg.norm(vectors, axis=1) * np.linalg.norm(scale)
    return np.divide(vectors @ scale, norm, out=np.full(len(vectors), np.nan), where=norm > 0)
