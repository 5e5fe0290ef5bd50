"""Judgements of how alike spatial relations are: the page that asks people, and what its answers say.

The page is one file that needs no server. It asks for all pairs of words in random order, with catch trials
between them (appendix D of Ghanimifard and Dobnik 2019), and downloads the answers as CSV.
"""

import json
from collections.abc import Sequence
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from simtown.core.tables import read_rows
from simtown.core.untrusted import page_policy

HEAD = ["worker", "number", "kind", "first", "second", "rating", "seconds"]
#: What is compared, as the paper's figure of the ratings has it.
_WORDS = "below, under, above, over, far from, away from, near to, next to, left, right, in, on"
WORDS: tuple[str, ...] = tuple(_WORDS.split(", "))
GREEN = "green"
#: Catch trials of each of the two sorts that a worker meets.
CATCHES = 3
#: The cleaning rule: everything of a worker goes who rates a catch with "green" above, or one with itself
#: below.
GREEN_MOST, SELF_LEAST = 60, 90


def page() -> str:
    """The page, in HTML."""
    trials = {"words": WORDS, "green": GREEN, "catches": CATCHES, "head": HEAD}
    template = files("simtown.probes.spatial").joinpath("judge.html").read_text(encoding="utf-8")
    html = template.replace("TRIALS", json.dumps(trials))
    return html.replace("POLICY", page_policy(html, img="data:"))


class Rating(NamedTuple):
    """A worker's answer about two words.

    Attributes:
        kind: "pair" of relations, or a catch trial: "self", a relation with itself, or "green".
        rating: 0 (dissimilar) to 100 (similar).
    """

    worker: str
    kind: str
    words: frozenset[str]
    rating: int


def read(path: Path) -> list[Rating]:
    """The answers of a file that the page made. Raises ValueError if it holds something else."""
    ratings: dict[tuple[str, str, frozenset[str]], Rating] = {}
    for where, cells in read_rows(path, HEAD):
        worker, kind, first, second, rating = (
            cells[name] for name in ("worker", "kind", "first", "second", "rating")
        )
        try:
            answer = Rating(worker, kind, frozenset((first, second)), int(rating))
            if kind != _kind(first, second) or not 0 <= answer.rating <= 100:
                raise ValueError
        except ValueError:
            text = ",".join(cells.values())[:60]
            raise ValueError(f"{where} is not a judgement: '{text}'") from None
        if ratings.setdefault((worker, kind, answer.words), answer) is not answer:
            raise ValueError(f"{where} judges a pair that {worker} has judged above")
    return list(ratings.values())


def _kind(first: str, second: str) -> str:
    """The kind of a trial with words that the page has."""
    if {first, second} - {*WORDS, GREEN} or first == second == GREEN:
        raise ValueError
    return "self" if first == second else "green" if GREEN in (first, second) else "pair"


def disbelieved(ratings: Sequence[Rating]) -> set[str]:
    """Workers whom the cleaning rule removes."""
    by_green = {r.worker for r in ratings if r.kind == "green" and r.rating > GREEN_MOST}
    return by_green | {r.worker for r in ratings if r.kind == "self" and r.rating < SELF_LEAST}


class RaterAgreement(NamedTuple):
    """How far workers agree about pairs, after cleaning.

    Attributes:
        removed: the workers whom the rule removes.
        ratings: of pairs that are kept.
        alpha: Krippendorff's for interval data: 1 perfect, 0 chance, NaN where no pair has two ratings.
        one_out: mean over workers of Spearman's correlation with the mean of the others, NaN without any.
        means: (12, 12) float64 mean rating of :data:`WORDS`, symmetric, NaN where nobody rated.
    """

    workers: int
    removed: tuple[str, ...]
    ratings: int
    alpha: float
    one_out: float
    means: np.ndarray


def rater_agreement(ratings: Sequence[Rating]) -> RaterAgreement:
    """Clean the answers and compare them."""
    removed = disbelieved(ratings)
    workers = sorted({r.worker for r in ratings})
    kept = [worker for worker in workers if worker not in removed]
    pairs = {frozenset(pair): i for i, pair in enumerate(combinations(WORDS, 2))}
    table = np.full((len(kept), len(pairs)), np.nan)
    for r in ratings:
        if r.worker in kept and r.kind == "pair":
            table[kept.index(r.worker), pairs[r.words]] = r.rating
    rated = np.isfinite(table).sum(axis=0)
    means = np.full((len(WORDS), len(WORDS)), np.nan)
    i, j = np.triu_indices(len(WORDS), 1)
    mean = np.divide(np.nansum(table, axis=0), rated, out=np.full(len(pairs), np.nan), where=rated > 0)
    means[i, j] = means[j, i] = mean
    alpha, one_out = krippendorff(table), _one_out(table)
    return RaterAgreement(len(workers), tuple(sorted(removed)), int(rated.sum()), alpha, one_out, means)


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
