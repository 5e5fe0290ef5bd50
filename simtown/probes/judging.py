"""How good a model's answers about items are: ρ, accuracy, prior, ceiling, intervals, groups, classes
(section 3.5 of Zhang et al. 2022).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from simtown.probes import statistics
from simtown.probes.items import GROUPS, ItemSet

#: Ways of asking, in the order of tables.
MODES = ("best", "average", "head", "tuned")


def spearman_rows(a: np.ndarray, b: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """(n,) Spearman's ρ of each row of a with that of b, average ranks for ties; NaN where a row is constant.

    Args:
        a: (n, c).
        b: (n, c).
        among: (n, c) bool, the columns that are ranked in each row; None: all.
    """
    ranked = np.ones(a.shape, dtype=bool) if among is None else among
    ranks = []
    for x in (a, b):
        r = rankdata(np.where(ranked, x, np.nan), axis=1, nan_policy="omit")
        ranks.append(np.where(ranked, r - r.mean(axis=1, keepdims=True, where=ranked), 0.0))
    ra, rb = ranks
    norm = np.sqrt((ra**2).sum(axis=1) * (rb**2).sum(axis=1))
    return np.divide((ra * rb).sum(axis=1), norm, out=np.full(len(norm), np.nan), where=norm > 0)


def ceiling_rows(counts: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """(n,) the ρ of a ranking without ties that agrees with the counts: all that a model can reach, since
    most counts are tied zeros. See :func:`spearman_rows` for `among`.
    """
    ranking = np.argsort(np.argsort(counts, axis=1, kind="stable"), axis=1)
    return spearman_rows(ranking, counts, among)


def share_right(scores: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """(n,) float64: 1 where the best class has the highest score, 1/k where it shares that score with k - 1
    others, 0 elsewhere and where no score is finite. scores: (n, c); gold: (n,) int64.
    """
    highest = scores.max(axis=1, keepdims=True)
    top = (scores == highest) & np.isfinite(highest)
    share: np.ndarray = top[np.arange(len(gold)), gold] / top.sum(axis=1).clip(1)
    return share


def prior(counts: np.ndarray) -> np.ndarray:
    """(c,) mean of the rows' shares: what one says of a subject of which one knows nothing. counts: (n, c) of
    the train subjects.
    """
    mean: np.ndarray = _shares(counts).mean(axis=0)
    return mean


def _shares(counts: np.ndarray) -> np.ndarray:
    """(n, c) each row's shares."""
    shares: np.ndarray = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _others(shares: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """(n, c) for each row the sum of the other rows without an average row of every other class.

    Without the row alone, its own class alone would be rarer: of as many "yes" as "no", every guess would be
    wrong.

    Args:
        shares: (n, c).
        gold: (n,) int64, each row's class.
    """
    _, class_of, sizes = np.unique(gold, return_inverse=True, return_counts=True)
    means = np.zeros((len(sizes), shares.shape[1]))
    np.add.at(means, class_of, shares)
    means /= sizes[:, None]
    left = shares.sum(axis=0) - means.sum(axis=0)  # all rows but one of each class
    return np.round(left + means[class_of] - shares, 12)  # so that rounding breaks no tie


@dataclass(frozen=True)
class PromptResult:
    """One way of asking.

    Attributes:
        mode: "best", "average", "head", "tuned".
        items: (m,) int64 numbers of subjects.
        scores: (m, c) float64, higher fits better; -inf for classes that are unknown or no choice.
        rho: (m,) with the counts, NaN where there are none.
        right: (m,) float64, see :func:`share_right`.
    """

    mode: str
    items: np.ndarray
    scores: np.ndarray
    rho: np.ndarray
    right: np.ndarray

    @property
    def answered(self) -> np.ndarray:
        """(m,) bool: items of which the model knows a class."""
        known: np.ndarray = np.isfinite(self.scores).any(axis=1)
        return known


def judged(data: ItemSet, items: np.ndarray, scores: np.ndarray, mode: str) -> PromptResult:
    """One score a class; those of classes that are no choice of an item do not count."""
    choices = None if data.choices is None else data.choices[items]
    scores = scores if choices is None else np.where(choices, scores, -np.inf)
    rho = np.full(len(items), np.nan)
    if data.counts is not None:
        rho = spearman_rows(scores, data.counts[items], choices)
    return PromptResult(mode, items, scores, rho, share_right(scores, data.gold[items]))


def best_template(data: ItemSet, items: np.ndarray, logprobs: np.ndarray) -> PromptResult:
    """ "Best template" (4.1): of every subject the highest ρ over the templates; right where any template is.
    logprobs: (t, m, c).

    Which template is best is chosen by looking at the answer: this flatters. The scores kept are those of the
    template with the best ρ, or, where there is no ρ, of one that is right or at least has an answer.
    """
    results = [judged(data, items, scores, "best") for scores in logprobs]
    rho, right, answered = (
        np.stack([getattr(result, name) for result in results]) for name in ("rho", "right", "answered")
    )
    best = np.where(np.isnan(rho), right + answered - 3, rho).argmax(axis=0)
    at = np.arange(len(items))
    scores = np.stack([result.scores for result in results])
    return PromptResult("best", items, scores[best, at], rho[best, at], right.max(axis=0))


def bounds(data: ItemSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every subject the prior's ρ (n,), its share of right answers (n,), and the ceiling (n,); ρ is NaN
    without counts.

    The prior of an item is made of the items to learn from. Where there are none, it is made of all items but
    one of each class, see :func:`_others`.
    """
    n = len(data.subjects)
    shares = np.eye(len(data.classes))[data.gold] if data.counts is None else _shares(data.counts)
    if data.train.any():
        guesses = np.tile(shares[data.train].mean(axis=0), (n, 1))
    else:
        guesses = _others(shares, data.gold)
    allowed = guesses if data.choices is None else np.where(data.choices, guesses, -np.inf)
    prior_right = share_right(allowed, data.gold)
    if data.counts is None:
        unknown = np.full(n, np.nan)
        return unknown, prior_right, unknown
    return (
        spearman_rows(guesses, data.counts, data.choices),
        prior_right,
        ceiling_rows(data.counts, data.choices),
    )


def attainable(data: ItemSet, items: np.ndarray) -> float:
    """The highest accuracy on some items of one who gives every question one answer.

    Items with the same subject, template and choices are one question.
    """
    answers: dict[tuple[str, str, bytes], Counter[int]] = {}
    for i in items.tolist():
        own = data.own_templates[i] if data.own_templates else ""
        choices = b"" if data.choices is None else data.choices[i].tobytes()
        answers.setdefault((data.subjects[i], own, choices), Counter())[int(data.gold[i])] += 1
    return sum(max(counter.values()) for counter in answers.values()) / len(items)


def describe(data: ItemSet, result: PromptResult) -> dict[str, Any]:
    """{"groups": {group: numbers}, "classes": {class: numbers}}; every mean has its 95 % bootstrap interval
    over subjects.
    """
    prior_rho, prior_right, ceiling = (x[result.items] for x in bounds(data))
    member = data.group_of()[result.items]
    wanted = {"all": np.ones(len(result.items), dtype=bool)} | {g: member == g for g in data.group_names()}
    summary: dict[str, Any] = {"groups": {}, "classes": {}}
    preferred = _against_other(data, result)
    for group, kept in wanted.items():
        if not kept.any():
            continue
        numbers: dict[str, Any] = {
            "n": int(kept.sum()),
            "unanswered": int((~result.answered[kept]).sum()),
            "accuracy": _mean(result.right[kept]),
            "prior_accuracy": float(prior_right[kept].mean()),
        }
        if data.choices is not None:
            if result.mode != "best":  # it may answer a question differently, by template
                numbers["ceiling_accuracy"] = attainable(data, result.items[kept])
            numbers["chance_accuracy"] = float((1 / data.choices[result.items][kept].sum(axis=1)).mean())
        numbers["choice"] = _mean(preferred[kept])
        if data.counts is not None:
            numbers["rho"] = _mean(result.rho[kept])
            numbers["prior_rho"] = _finite_mean(prior_rho[kept])
            numbers["ceiling_rho"] = _finite_mean(ceiling[kept])
            above = statistics.difference(result.rho[kept], prior_rho[kept])
            numbers["above_prior"] = {"mean": above.mean, "paired_p": above.paired, "welch_p": above.welch}
        summary["groups"][group] = numbers
    if data.counts is not None:
        for c, name in enumerate(data.classes):
            kept = data.gold[result.items] == c
            if kept.any():
                summary["classes"][name] = {
                    "n": int(kept.sum()),
                    "rho": _mean(result.rho[kept]),
                    "accuracy": _mean(result.right[kept]),
                    "prior_rho": _finite_mean(prior_rho[kept]),
                }
        order = np.argsort(-np.where(np.isnan(result.rho), -2, result.rho), kind="stable")
        named = [data.subjects[i] for i in result.items[order]]
        summary["highest"], summary["lowest"] = named[:3], named[::-1][:3]
    return summary


def in_order(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A task's summary with its modes and groups in the order of tables; JSON sorts them."""

    def ordered(names: Iterable[str], first: Sequence[str]) -> list[str]:
        return sorted(names, key=lambda name: (first.index(name) if name in first else len(first), name))

    modes = {}
    for mode in ordered(summary["modes"], MODES):
        mode_summary = summary["modes"][mode]
        names = ordered(mode_summary["groups"], ("all", *GROUPS))
        modes[mode] = {**mode_summary, "groups": {name: mode_summary["groups"][name] for name in names}}
    return {**summary, "modes": modes}


def _against_other(data: ItemSet, result: PromptResult) -> np.ndarray:
    """(m,) 1 where the best class scores above the one to choose against, ½ where they are equal, NaN where
    there is none.
    """
    other = data.other[result.items]
    at = np.arange(len(result.items))
    best, wrong = result.scores[at, data.gold[result.items]], result.scores[at, other]
    return np.where(other < 0, np.nan, np.where(best == wrong, 0.5, (best > wrong).astype(float)))


def _finite_mean(values: np.ndarray) -> float:
    """NaN where no value is finite."""
    kept = values[np.isfinite(values)]
    return float(kept.mean()) if len(kept) else float("nan")


def _mean(values: np.ndarray) -> dict[str, float]:
    kept = np.asarray(values, dtype=float)
    kept = kept[np.isfinite(kept)]
    low, high = statistics.mean_interval(kept)
    if not len(kept):
        return {"mean": float("nan"), "sd": float("nan"), "low": low, "high": high}
    return {"mean": float(kept.mean()), "sd": float(kept.std()), "low": low, "high": high}
