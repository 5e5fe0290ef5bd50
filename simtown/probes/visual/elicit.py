"""Asking a language model without training anything: templates filled with a subject, the gap's log-probabilities of the classes (4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from simtown.probes.scorers.base import BLANK, Scorer

#: Where paper, released code and sense part: see docs/reproduce/visual-commonsense.md.
Protocol = Literal["paper", "release", "corrected"]
PROTOCOLS: tuple[Protocol, ...] = ("paper", "release", "corrected")
Words = Sequence[tuple[str, ...]]


def fill(template: str, subject: str, filler: str) -> str:
    """The sentence of a template, such as "[X] has color [Y] ."."""
    return template.replace("[X]", subject).replace("[Y]", filler)


def is_blind(scorer: Scorer) -> bool:
    """Whether a model does not see what stands behind a gap, as causal ones do not."""
    found = scorer.class_logprobs([f"a {BLANK} car .", f"a {BLANK} house ."], ["red", "green"])
    return bool(np.array_equal(found[0], found[1], equal_nan=True))


def by_template(scorer: Scorer, templates: Sequence[str], subjects: Sequence[str], words: Words, protocol: Protocol) -> np.ndarray:
    """(t, n, c) float64 log-probability of each class in each template for each subject; -inf for a class that the model cannot say.

    In a template whose subject stands behind the gap, a model that reads only forward would say the same of every subject. The corrected
    protocol takes the log-probability of the whole sentence with each word instead; by Bayes' rule it ranks classes as a gap would.
    """
    found = np.empty((len(templates), len(subjects), len(words)))
    backward = protocol == "corrected" and any(t.index("[X]") > t.index("[Y]") for t in templates) and is_blind(scorer)
    for i, template in enumerate(templates):
        if backward and template.index("[X]") > template.index("[Y]"):
            found[i] = _sentences(scorer, template, subjects, words)
        else:
            found[i] = scorer.class_logprobs([fill(template, s, BLANK) for s in subjects], words)
    return np.where(np.isnan(found), -np.inf, found)


def _sentences(scorer: Scorer, template: str, subjects: Sequence[str], words: Words) -> np.ndarray:
    """(n, c) log-probability of the sentences with each class, summed over its words."""
    flat = [word for synonyms in words for word in synonyms]
    told = scorer.sequence_logprobs([fill(template, subject, word) for subject in subjects for word in flat])
    totals = np.array([one.logprobs.sum() for one in told]).reshape(len(subjects), len(flat))
    starts = np.concatenate([[0], np.cumsum([len(synonyms) for synonyms in words])[:-1]])
    result: np.ndarray = np.logaddexp.reduceat(totals, starts, axis=1)
    return result


def averaged(logprobs: np.ndarray, protocol: Protocol) -> np.ndarray:
    """(n, c) log of the templates' mean distribution, "average template". logprobs: (t, n, c).

    Paper and release take the mean over the whole vocabulary, so that a template counts by how much it says of classes at all; the
    corrected protocol lets each template distribute 1 over the classes first.
    """
    if protocol == "corrected":
        whole = np.logaddexp.reduce(logprobs, axis=2, keepdims=True)
        logprobs = logprobs - np.where(np.isfinite(whole), whole, 0.0)
    result: np.ndarray = np.logaddexp.reduce(logprobs, axis=0) - np.log(len(logprobs))
    return result


def single_token(scorer: Scorer, classes: Sequence[str]) -> np.ndarray:
    """(c,) bool: classes that are one sub-word. scorer: opened with the policy that drops the others."""
    return np.isfinite(scorer.class_logprobs([f"this is {BLANK} ."], list(classes))[0])
