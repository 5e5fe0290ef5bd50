"""What a model said of a relation's test subjects, and how good that is: ρ, accuracy, prior, ceiling, intervals, groups, classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simtown.probes import statistics
from simtown.probes.visual import metrics
from simtown.probes.visual.dataset import GROUPS, Dataset, grouped


@dataclass(frozen=True)
class Judged:
    """One way of asking.

    Attributes:
        mode: "best", "average", "head", "tuned".
        items: (m,) int64 numbers of subjects.
        scores: (m, c) float64, higher fits better.
        rho: (m,) with the counts, NaN where there are none.
        right: (m,) bool, whether the best class came first.
    """

    mode: str
    items: np.ndarray
    scores: np.ndarray
    rho: np.ndarray
    right: np.ndarray


def judged(data: Dataset, items: np.ndarray, scores: np.ndarray, mode: str) -> Judged:
    """One score a class."""
    rho = np.full(len(items), np.nan) if data.counts is None else metrics.spearman_rows(scores, data.counts[items])
    return Judged(mode, items, scores, rho, scores.argmax(axis=1) == data.gold[items])


def best_template(data: Dataset, items: np.ndarray, logprobs: np.ndarray) -> Judged:
    """ "Best template" (4.1): of every subject the highest ρ over the templates; right where any template is. logprobs: (t, m, c).

    Which template is best is chosen by looking at the answer: this flatters. The scores kept are those of the template with the best ρ.
    """
    each = [judged(data, items, scores, "best") for scores in logprobs]
    rho = np.stack([one.rho for one in each])
    best = np.where(np.isnan(rho), -np.inf, rho).argmax(axis=0)
    at = np.arange(len(items))
    return Judged("best", items, logprobs[best, at], rho[best, at], np.any([one.right for one in each], axis=0))


def bounds(data: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every subject the prior's ρ (n,), whether the prior is right (n,) bool, and the ceiling (n,); ρ is NaN without counts."""
    if data.counts is None:
        common = np.bincount(data.gold[data.train], minlength=len(data.classes)).argmax()
        nothing = np.full(len(data.subjects), np.nan)
        return nothing, data.gold == common, nothing
    guess = metrics.prior(data.counts[data.train])
    return (metrics.spearman_rows(np.tile(guess, (len(data.subjects), 1)), data.counts), data.gold == guess.argmax(),
            metrics.ceiling_rows(data.counts))  # fmt: skip


def groups(data: Dataset) -> np.ndarray:
    """(n,) str: single, multi or any by the released thresholds; "" without counts."""
    return np.full(len(data.subjects), "") if data.counts is None else grouped(data.counts, "release")


def describe(data: Dataset, one: Judged) -> dict[str, Any]:
    """{"groups": {group: numbers}, "classes": {class: numbers}}; every mean has its 95 % bootstrap interval over subjects."""
    prior_rho, prior_right, ceiling = (x[one.items] for x in bounds(data))
    member = groups(data)[one.items]
    wanted = {"all": np.ones(len(one.items), dtype=bool)} | {g: member == g for g in GROUPS}
    found: dict[str, Any] = {"groups": {}, "classes": {}}
    chosen = _against_other(data, one)
    for group, kept in wanted.items():
        if not kept.any():
            continue
        numbers: dict[str, Any] = {
            "n": int(kept.sum()),
            "accuracy": _mean(one.right[kept]),
            "prior_accuracy": float(prior_right[kept].mean()),
        }
        numbers["choice"] = _mean(chosen[kept])
        if data.counts is not None:
            numbers["rho"] = _mean(one.rho[kept])
            numbers["prior_rho"] = float(np.nanmean(prior_rho[kept]))
            numbers["ceiling_rho"] = float(np.nanmean(ceiling[kept]))
            told = statistics.difference(one.rho[kept], prior_rho[kept])
            numbers["above_prior"] = {"mean": told.mean, "paired_p": told.paired, "welch_p": told.welch}
        found["groups"][group] = numbers
    if data.counts is not None:
        for c, name in enumerate(data.classes):
            kept = data.gold[one.items] == c
            if kept.any():
                found["classes"][name] = {"n": int(kept.sum()), "rho": _mean(one.rho[kept]), "accuracy": _mean(one.right[kept]),
                                          "prior_rho": float(np.nanmean(prior_rho[kept]))}  # fmt: skip
        order = np.argsort(-np.where(np.isnan(one.rho), -2, one.rho), kind="stable")
        named = [data.subjects[i] for i in one.items[order]]
        found["highest"], found["lowest"] = named[:3], named[::-1][:3]
    return found


def _against_other(data: Dataset, one: Judged) -> np.ndarray:
    """(m,) 1 where the best class scores above the one to choose against, ½ where they are equal, NaN where there is none."""
    other = data.other[one.items]
    at = np.arange(len(one.items))
    best, wrong = one.scores[at, data.gold[one.items]], one.scores[at, other]
    return np.where(other < 0, np.nan, np.where(best == wrong, 0.5, (best > wrong).astype(float)))


def _mean(values: np.ndarray) -> dict[str, float]:
    kept = np.asarray(values, dtype=float)
    kept = kept[np.isfinite(kept)]
    low, high = statistics.mean_interval(kept)
    if not len(kept):
        return {"mean": float("nan"), "sd": float("nan"), "low": low, "high": high}
    return {"mean": float(kept.mean()), "sd": float(kept.std()), "low": low, "high": high}
