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


def spearman_rows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) Spearman's ρ of each row of a with that of b, average ranks for ties; NaN where a row is constant.
    a, b: (n, c).
    """
    ranks = []
    for x in (a, b):
        r = rankdata(x, axis=1)
        ranks.append(r - r.mean(axis=1, keepdims=True))
    ra, rb = ranks
    norm = np.sqrt((ra**2).sum(axis=1) * (rb**2).sum(axis=1))
    return np.divide((ra * rb).sum(axis=1), norm, out=np.full(len(norm), np.nan), where=norm > 0)


def ceiling_rows(counts: np.ndarray) -> np.ndarray:
    """(n,) the ρ of a ranking without ties that agrees with the counts: all that a model can reach, since
    most counts are tied zeros.
    """
    return spearman_rows(np.argsort(np.argsort(counts, axis=1, kind="stable"), axis=1), counts)


def prior(counts: np.ndarray) -> np.ndarray:
    """(c,) mean of the rows' shares: what one says of a subject of which one knows nothing. counts: (n, c) of
    the train subjects.
    """
    shares: np.ndarray = counts / counts.sum(axis=1, keepdims=True)
    return shares.mean(axis=0)


@dataclass(frozen=True)
class PromptResult:
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


def judged(data: ItemSet, items: np.ndarray, scores: np.ndarray, mode: str) -> PromptResult:
    """One score a class."""
    rho = np.full(len(items), np.nan) if data.counts is None else spearman_rows(scores, data.counts[items])
    return PromptResult(mode, items, scores, rho, scores.argmax(axis=1) == data.gold[items])


def best_template(data: ItemSet, items: np.ndarray, logprobs: np.ndarray) -> PromptResult:
    """ "Best template" (4.1): of every subject the highest ρ over the templates; right where any template is.
    logprobs: (t, m, c).

    Which template is best is chosen by looking at the answer: this flatters. The scores kept are those of the
    template with the best ρ.
    """
    results = [judged(data, items, scores, "best") for scores in logprobs]
    rho = np.stack([result.rho for result in results])
    best = np.where(np.isnan(rho), -np.inf, rho).argmax(axis=0)
    at = np.arange(len(items))
    correct = np.any([result.right for result in results], axis=0)
    return PromptResult("best", items, logprobs[best, at], rho[best, at], correct)


def bounds(data: ItemSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every subject the prior's ρ (n,), whether the prior is right (n,) bool, and the ceiling (n,); ρ is
    NaN without counts.
    """
    allowed = np.ones((len(data.gold), 1), dtype=bool) if data.choices is None else data.choices
    if data.counts is None:
        frequencies = np.bincount(data.gold[data.known], minlength=len(data.classes))
        unknown = np.full(len(data.subjects), np.nan)
        return unknown, data.gold == np.where(allowed, frequencies, -1).argmax(axis=1), unknown
    guesses = np.where(allowed, prior(data.counts[data.known]), -1.0)
    return (
        spearman_rows(guesses, data.counts),
        data.gold == guesses.argmax(axis=1),
        ceiling_rows(data.counts),
    )


def attainable(data: ItemSet) -> np.ndarray:
    """(n,) bool: items that are right if every question gets its commonest right answer.

    Items with the same subject, template and choices are one question.
    """
    own = data.own_templates or ("",) * len(data.subjects)
    choices = [b""] * len(own) if data.choices is None else [row.tobytes() for row in data.choices]
    questions = list(zip(data.subjects, own, choices, strict=True))
    answers: dict[tuple[str, str, bytes], Counter[int]] = {}
    for question, gold in zip(questions, data.gold.tolist(), strict=True):
        answers.setdefault(question, Counter())[gold] += 1
    common = {question: counter.most_common(1)[0][0] for question, counter in answers.items()}
    return np.array([common[q] == gold for q, gold in zip(questions, data.gold.tolist(), strict=True)])


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
            "accuracy": _mean(result.right[kept]),
            "prior_accuracy": float(prior_right[kept].mean()),
        }
        if data.choices is not None:
            numbers["ceiling_accuracy"] = float(attainable(data)[result.items][kept].mean())
            numbers["chance_accuracy"] = float((1 / data.choices[result.items][kept].sum(axis=1)).mean())
        numbers["choice"] = _mean(preferred[kept])
        if data.counts is not None:
            numbers["rho"] = _mean(result.rho[kept])
            numbers["prior_rho"] = float(np.nanmean(prior_rho[kept]))
            numbers["ceiling_rho"] = float(np.nanmean(ceiling[kept]))
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
                    "prior_rho": float(np.nanmean(prior_rho[kept])),
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


def _mean(values: np.ndarray) -> dict[str, float]:
    kept = np.asarray(values, dtype=float)
    kept = kept[np.isfinite(kept)]
    low, high = statistics.mean_interval(kept)
    if not len(kept):
        return {"mean": float("nan"), "sd": float("nan"), "low": low, "high": high}
    return {"mean": float(kept.mean()), "sd": float(kept.std()), "low": low, "high": high}
