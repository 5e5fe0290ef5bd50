"""Asking a language model without training it: templates filled with a subject, and the gap's
log-probabilities of the classes (section 4.1 of Zhang et al. 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from simtown.probes.items import ItemSet
from simtown.probes.scorers.base import BLANK, Scorer
from simtown.probes.scorers.batching import distinct
from simtown.probes.scorers.gap import lead_of, split_at_blank

#: Where paper, released code and sense part: see docs/reproduce/visual-commonsense.md.
Protocol = Literal["paper", "release", "corrected"]
PROTOCOLS: tuple[Protocol, ...] = ("paper", "release", "corrected")
Words = Sequence[tuple[str, ...]]


def fill(template: str, subject: str, filler: str) -> str:
    """The sentence of a template, such as "[X] has color [Y] ."."""
    return template.replace("[X]", subject).replace("[Y]", filler)


def is_blind(scorer: Scorer, contexts: Sequence[str], words: Words) -> bool:
    """Whether a model does not see what stands behind a gap, as causal ones do not.

    Where the scorer does not tell, its answers do: to contexts that differ behind the gap alone they are the
    same.

    Args:
        scorer: the language model.
        contexts: (n) with a gap.
        words: of each class.
    """
    if scorer.forward is not None:
        return scorer.forward
    unique, _ = distinct(contexts)
    _, beginning = distinct(split_at_blank(context)[0] for context in unique)
    logprobs = scorer.class_logprobs(unique, words)
    first = logprobs[[beginning.index(place) for place in beginning]]
    comparable = len(set(beginning)) < len(unique) and np.isfinite(logprobs).any()
    return bool(comparable and np.array_equal(logprobs, first, equal_nan=True))


def of_items(scorer: Scorer, data: ItemSet, items: np.ndarray, protocol: Protocol) -> np.ndarray:
    """(t, m, c) float64 log-probability of each class for the items; -inf for a class that is no choice.

    t is the number of shared templates, or 1 where every item has its own. See :func:`by_template`.
    """
    subjects = [data.subjects[i] for i in items]
    if data.own_templates:
        logprobs = np.empty((1, len(items), len(data.classes)))
        own = np.array([data.own_templates[i] for i in items])
        for template in dict.fromkeys(own.tolist()):
            rows = np.flatnonzero(own == template)
            logprobs[0, rows] = by_template(
                scorer, [template], [subjects[r] for r in rows], data.words, protocol
            )[0]
    else:
        logprobs = by_template(scorer, data.templates, subjects, data.words, protocol)
    return logprobs if data.choices is None else np.where(data.choices[items], logprobs, -np.inf)


def by_template(
    scorer: Scorer, templates: Sequence[str], subjects: Sequence[str], words: Words, protocol: Protocol
) -> np.ndarray:
    """(t, n, c) float64 log-probability of each class in each template for each subject; -inf for a class
    that the model cannot say.

    In a template whose subject stands behind the gap, a model that reads only forward would say the same of
    every subject. The corrected protocol takes the log-probability of the whole sentence with each word
    instead; by Bayes' rule it ranks classes as a gap would.
    """
    logprobs = np.empty((len(templates), len(subjects), len(words)))
    for i, template in enumerate(templates):
        contexts = [fill(template, subject, BLANK) for subject in subjects]
        if protocol == "corrected" and _tells_behind(template) and is_blind(scorer, contexts, words):
            logprobs[i] = _sentences(scorer, template, subjects, words)
        else:
            logprobs[i] = scorer.class_logprobs(contexts, words)
    return np.where(np.isnan(logprobs), -np.inf, logprobs)


def _tells_behind(template: str) -> bool:
    """Whether the subject, or any word of a sentence without a subject, stands behind the gap."""
    behind = template.partition("[Y]")[2]
    return "[X]" in behind if "[X]" in template else any(letter.isalnum() for letter in behind)


def _sentences(scorer: Scorer, template: str, subjects: Sequence[str], words: Words) -> np.ndarray:
    """(n, c) log-probability of the sentences with each class, summed over its words, each spelling once;
    -inf for a class without a word that the model can say.
    """
    lead = lead_of(template.partition("[Y]")[0])
    spelled = [{scorer.spelling(word, lead): word for word in synonyms}.values() for synonyms in words]
    flat = [word for synonyms in spelled for word in synonyms]
    scores = scorer.sequence_logprobs(
        [fill(template, subject, word) for subject in subjects for word in flat]
    )
    totals = np.array([text.logprobs.sum() for text in scores]).reshape(len(subjects), len(flat))
    # A sentence has a probability whatever its words: that of the unknown word, for one that the model lacks.
    # Which words it lacks does not depend on the subject.
    at_gap = scorer.class_logprobs([fill(template, subject, BLANK) for subject in subjects[:1]], flat)
    totals[:, np.isnan(at_gap).any(axis=0)] = -np.inf
    starts = np.concatenate([[0], np.cumsum([len(synonyms) for synonyms in spelled])[:-1]])
    result: np.ndarray = np.logaddexp.reduceat(totals, starts, axis=1)
    return result


def averaged(logprobs: np.ndarray, protocol: Protocol) -> np.ndarray:
    """(n, c) log of the templates' mean distribution, "average template". logprobs: (t, n, c).

    Paper and release take the mean over the whole vocabulary, so that a template counts by how much it says
    of classes at all; the corrected protocol lets each template distribute 1 over the classes first.
    """
    if protocol == "corrected":
        whole = np.logaddexp.reduce(logprobs, axis=2, keepdims=True)
        logprobs = logprobs - np.where(np.isfinite(whole), whole, 0.0)
    result: np.ndarray = np.logaddexp.reduce(logprobs, axis=0) - np.log(len(logprobs))
    return result


def single_token(scorer: Scorer, classes: Sequence[str]) -> np.ndarray:
    """(c,) bool: classes that are one sub-word. scorer: opened with the policy that drops the others."""
    return np.isfinite(scorer.class_logprobs([f"this is {BLANK} ."], list(classes))[0])
