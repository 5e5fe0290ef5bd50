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
    the bottom. The paper's text wants the n larger ones on top: what is perfect comes out below chance. (The numbers that the paper prints
    are made in a third way: :func:`released_limits`.)

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


def released_limits(table: Mapping[str, Sequence[str]], subjects: Sequence[Sequence[str]]) -> dict[str, tuple[float, float]]:
    """{"chance", "perfect", "reversed"}: bounds of the metric that the released program computes, which Table 4 prints.

    It is not the one that the paper describes. For the subject of each test pair it ranks the n larger and m smaller nouns alone,
    without those of :data:`UNREAD`. Behind "larger than" it wants the n larger ones first, behind "smaller than" the m smaller ones; the
    score is the share of the n + m nouns that stand in their part. What fits the sentence is the reverse. So "perfect", all nouns in the
    order of their sizes, scores |n - m| / (n + m); "reversed" scores 1; and "chance" is expected to score (n² + m²) / (n + m)².

    Args:
        table: {size: nouns}, from the smallest.
        subjects: those of the test pairs of "larger", with repeats, and those of "smaller".

    Raises ValueError for a subject that is none of the nouns.
    """
    size_of = {noun: i for i, nouns in enumerate(table.values()) for noun in nouns}
    read = np.array([0 if size in UNREAD else len(nouns) for size, nouns in table.items()])
    bounds: dict[str, list[float]] = {"chance": [], "perfect": [], "reversed": []}
    for each in subjects:
        unknown = [subject for subject in each if subject not in size_of]
        if unknown:
            raise ValueError(f"'{unknown[0]}', the subject of a test pair, is in none of the lists of nouns by size")
        larger = np.array([read[size_of[subject] + 1 :].sum() for subject in each])
        smaller = np.array([read[: size_of[subject]].sum() for subject in each])
        both = larger + smaller
        bounds["chance"].append(float(((larger**2 + smaller**2) / both**2).mean()))
        bounds["perfect"].append(float((abs(larger - smaller) / both).mean()))
        bounds["reversed"].append(1.0)
    return {name: (values[0], values[1]) for name, values in bounds.items()}


#: Sizes whose nouns the released program does not read: it looks for them in a file of another name.
UNREAD = ("huge",)
#: A perfect ranking of [Y]: the smallest first behind "larger than", the largest first behind "smaller than".
_WAYS = (("larger", -1.0), ("smaller", 1.0))


def projection(vectors: np.ndarray, small: np.ndarray, large: np.ndarray) -> np.ndarray:
    """(c,) cosine of each noun's vector with large - small (van Paridon et al. 2021). vectors: (c, d); small, large: (d,)."""
    scale = (large - small).astype(np.float64)
    norm = np.linalg.norm(vectors, axis=1) * np.linalg.norm(scale)
    return np.divide(vectors @ scale, norm, out=np.full(len(vectors), np.nan), where=norm > 0)
