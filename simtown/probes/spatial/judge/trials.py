"""What one worker is asked: all pairs of words in random order, with catch trials between them; and which
workers are to be believed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from scipy import stats

#: A pair of relations, a relation with itself, or a relation with "green".
Kind = Literal["pair", "self", "green"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: What is compared, as the paper's figure of the ratings has it.
WORDS: tuple[str, ...] = (
    "below",
    "under",
    "above",
    "over",
    "far from",
    "away from",
    "near to",
    "next to",
    "left",
    "right",
    "in",
    "on",
)
GREEN = "green"
#: Catch trials of each of the two sorts that a worker meets.
CATCHES = 3
#: The cleaning rule: everything of a worker goes who rates a catch with "green" above, or one with itself
#: below.
GREEN_MOST, SELF_LEAST = 60, 90


@dataclass(frozen=True)
class Trial:
    """Two words to compare.

    Attributes:
        kind: a pair of relations, or one of two sorts of catch trials.
        first: stands above on the page.
        second: stands below.
    """

    kind: Kind
    first: str
    second: str


@dataclass(frozen=True)
class Rating:
    """A worker's answer.

    Attributes:
        worker: the worker's name.
        number: of the trial, from 0.
        trial: what was asked.
        rating: 0 (dissimilar) to 100 (similar).
        seconds: that the answer took.
    """

    worker: str
    number: int
    trial: Trial
    rating: int
    seconds: float


@lru_cache(maxsize=64)
def trials_of(worker: str) -> tuple[Trial, ...]:
    """72 trials in an order that depends on the worker's name alone, so that whoever comes back goes on with
    the same ones.
    """
    generator = np.random.default_rng(int.from_bytes(blake2b(worker.encode(), digest_size=8).digest()))
    trials = [
        Trial("pair", *(pair if generator.random() < 0.5 else pair[::-1])) for pair in combinations(WORDS, 2)
    ]
    same, green = (generator.choice(WORDS, CATCHES, replace=False).tolist() for _ in range(2))
    trials += [Trial("self", word, word) for word in same]
    trials += [
        Trial("green", *((GREEN, word) if generator.random() < 0.5 else (word, GREEN))) for word in green
    ]
    return tuple(trials[i] for i in generator.permutation(len(trials)))


def disbelieved(answers: Iterable[Rating]) -> set[str]:
    """Workers whom the cleaning rule takes out."""
    return {
        a.worker
        for a in answers
        if (a.trial.kind == "green" and a.rating > GREEN_MOST)
        or (a.trial.kind == "self" and a.rating < SELF_LEAST)
    }


@dataclass(frozen=True)
class RaterAgreement:
    """How far workers agree about pairs, after cleaning.

    Attributes:
        workers: who answered anything.
        removed: the workers whose answers the rule takes out.
        ratings: of pairs that are kept.
        alpha: Krippendorff's for interval data: 1 perfect, 0 chance, NaN where no pair has two ratings.
        one_out: mean over workers of Spearman's correlation with the mean of the others, NaN where it cannot
            be had.
        means: (12, 12) float64 mean rating of :data:`WORDS`, symmetric, NaN where nobody rated.
    """

    workers: int
    removed: tuple[str, ...]
    ratings: int
    alpha: float
    one_out: float
    means: np.ndarray


def agreement(answers: Iterable[Rating]) -> RaterAgreement:
    """Clean the answers and compare them."""
    answers = list(answers)
    out = disbelieved(answers)
    workers = sorted({a.worker for a in answers})
    kept = [w for w in workers if w not in out]
    pairs = {frozenset(pair): i for i, pair in enumerate(combinations(WORDS, 2))}
    places = {worker: i for i, worker in enumerate(kept)}
    table = np.full((len(kept), len(pairs)), np.nan)
    for a in answers:
        if a.worker not in out and a.trial.kind == "pair":
            table[places[a.worker], pairs[frozenset((a.trial.first, a.trial.second))]] = a.rating
    means = np.full((len(WORDS), len(WORDS)), np.nan)
    rated = np.isfinite(table)
    sums = np.where(rated, table, 0).sum(axis=0)
    mean = np.divide(sums, rated.sum(axis=0), out=np.full(len(pairs), np.nan), where=rated.any(axis=0))
    i, j = np.triu_indices(len(WORDS), 1)
    means[i, j] = means[j, i] = mean
    return RaterAgreement(
        len(workers), tuple(sorted(out)), int(rated.sum()), krippendorff(table), _one_out(table), means
    )


def krippendorff(table: np.ndarray) -> float:
    """Krippendorff's alpha for interval data of (workers, items) ratings, NaN where one is missing.

    1 - observed / expected disagreement; items with one rating count for nothing.
    """
    columns = [column[np.isfinite(column)] for column in table.T]
    columns = [c for c in columns if len(c) > 1]
    values = np.concatenate(columns) if columns else np.empty(0)
    if len(values) < 2 or np.ptp(values) == 0:
        return float("nan")
    # The sum of squared differences over ordered pairs of m numbers is 2 m² times their variance.
    observed = sum(2 * len(c) ** 2 * c.var() / (len(c) - 1) for c in columns) / len(values)
    expected = 2 * len(values) * values.var() / (len(values) - 1)
    return float(1 - observed / expected)


def _one_out(table: np.ndarray) -> float:
    correlations = []
    for i in range(len(table)):
        others = np.delete(table, i, axis=0)
        rated = np.isfinite(table[i]) & np.isfinite(others).any(axis=0)
        if rated.sum() > 2:
            mean = np.nanmean(others[:, rated], axis=0)
            if np.ptp(mean) and np.ptp(table[i][rated]):
                correlations.append(float(stats.spearmanr(table[i][rated], mean).statistic))
    return float(np.mean(correlations)) if correlations else float("nan")
