"""Asking a language model about items (Zhang et al. 2022, 4.1): by templates with a gap, or by a head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from simtown.probes.items import ItemAnswers, ItemSet
from simtown.probes.scorers.base import BLANK, Scorer, UnableError
from simtown.probes.scorers.gap import lead_of

#: Rules where paper, released code and good practice differ: see docs/reproduce/visual-commonsense.md.
Protocol = Literal["paper", "release", "corrected"]
Words = Sequence[tuple[str, ...]]
#: The head's inverse strength of the L2 penalty, and its most iterations (section 5.1).
C, ITERATIONS = 0.316, 2_000
#: Every so-many-th train subject is held out to choose a template by.
HELD_OUT = 5


def fill(template: str, subject: str, filler: str) -> str:
    """The sentence of a template, such as "[X] has color [Y] ."."""
    return template.replace("[X]", subject).replace("[Y]", filler)


def by_template(
    scorer: Scorer, templates: Sequence[str], subjects: Sequence[str], words: Words, protocol: Protocol
) -> np.ndarray:
    """(t, n, c) float64 log-probability of each class by template and subject; -inf for an unknown class.

    In a template whose subject stands behind the gap, a model that reads only forward would say the same of
    every subject. The corrected protocol takes the log-probability of the whole sentence with each word
    instead; by Bayes' rule it ranks classes as a gap would.
    """
    logprobs = np.empty((len(templates), len(subjects), len(words)))
    for i, template in enumerate(templates):
        contexts = [fill(template, subject, BLANK) for subject in subjects]
        if protocol == "corrected" and scorer.forward and _tells_behind(template):
            logprobs[i] = _sentences(scorer, template, subjects, words)
        else:
            logprobs[i] = scorer.class_logprobs(contexts, words)
    return np.where(np.isnan(logprobs), -np.inf, logprobs)


def _tells_behind(template: str) -> bool:
    """Whether the subject, or any word of a sentence without a subject, stands behind the gap."""
    behind = template.partition("[Y]")[2]
    return "[X]" in behind if "[X]" in template else any(letter.isalnum() for letter in behind)


def _sentences(scorer: Scorer, template: str, subjects: Sequence[str], words: Words) -> np.ndarray:
    """(n, c) log-probability of the sentences with each class, each spelling once; -inf if unknown."""
    lead = lead_of(template.partition("[Y]")[0])
    spelled = [{scorer.spelling(word, lead): word for word in synonyms}.values() for synonyms in words]
    flat = [word for synonyms in spelled for word in synonyms]
    texts = [fill(template, subject, word) for subject in subjects for word in flat]
    scores = scorer.sequence_logprobs(texts)
    totals = np.array([text.logprobs.sum() for text in scores]).reshape(len(subjects), len(flat))
    # A sentence has a probability whatever its words: that of the unknown word, for one that the model lacks.
    # Which words it lacks does not depend on the subject.
    at_gap = scorer.class_logprobs([fill(template, subject, BLANK) for subject in subjects[:1]], flat)
    totals[:, np.isnan(at_gap).any(axis=0)] = -np.inf
    starts = np.concatenate([[0], np.cumsum([len(synonyms) for synonyms in spelled])[:-1]])
    return np.logaddexp.reduceat(totals, starts, axis=1)


def averaged(logprobs: np.ndarray, protocol: Protocol) -> np.ndarray:
    """(n, c) log of the mean distribution of (t, n, c) templates, "average template".

    Paper and release take the mean over the whole vocabulary, so that a template counts by how much it says
    of classes at all; the corrected protocol lets each template distribute 1 over the classes first.
    """
    if protocol == "corrected":
        whole = np.logaddexp.reduce(logprobs, axis=2, keepdims=True)
        logprobs = logprobs - np.where(np.isfinite(whole), whole, 0.0)
    return np.logaddexp.reduce(logprobs, axis=0) - np.log(len(logprobs))


def single_token(scorer: Scorer, classes: Sequence[str]) -> np.ndarray:
    """(c,) bool: classes of one sub-word, if the scorer's policy is to drop the others."""
    return np.isfinite(scorer.class_logprobs([f"this is {BLANK} ."], list(classes))[0])


def by_head(
    scorer: Scorer,
    data: ItemSet,
    protocol: Protocol,
    seed: int,
    progress: Callable[[int], object] = lambda more: None,
) -> tuple[ItemAnswers, dict[str, str]]:
    """What logistic regression from a subject's vector to its class answers, by the chosen template; notes.

    The paper takes the template with the best accuracy on the test; the release takes the best ρ too, of
    whichever template. The corrected protocol takes the one whose head is best on a fifth of the train
    subjects that it did not learn from.

    Raises:
        ValueError: the train subjects are none, or all have one class.
    """
    templates = data.templates if "embed" in scorer.abilities and data.templates else ("[X][Y]",)
    train, test = np.flatnonzero(data.train), data.test
    if len(np.unique(data.gold[train])) < 2:
        needed = "items to learn from with two classes at least"
        raise ValueError(f"{data.relation} needs {needed}: mark some with train 1")
    held_out = train[::HELD_OUT]
    rest = np.setdiff1d(train, held_out)
    choosing = len(templates) > 1 and len(np.unique(data.gold[rest])) > 1
    candidates, merits = [], []
    for template in templates:
        x = head_inputs(scorer, template, data.subjects)
        candidates.append(ItemAnswers.of(data, test, _fit(x, data, train, test, seed), "head"))
        judged = candidates[-1]
        if protocol == "corrected" and choosing:
            judged = ItemAnswers.of(data, held_out, _fit(x, data, rest, held_out, seed), "head")
        merits.append(judged.right.mean() if protocol != "corrected" or choosing else 0.0)
        progress(1)
    best = int(np.argmax(merits))
    chosen, notes = candidates[best], {"template": templates[best]}
    if protocol == "release" and data.counts is not None:
        by_rho = int(np.argmax([np.nanmean(answers.rho) for answers in candidates]))
        notes["template_of_rho"] = templates[by_rho]
        chosen = replace(candidates[by_rho], right=chosen.right)
    return chosen, notes


def head_inputs(scorer: Scorer, template: str, subjects: Sequence[str]) -> np.ndarray:
    """(n, d) float32: the encoder's vector of the template with the subject in it and the gap left out,
    pooled as the encoder does.

    A model without contexts gives the mean of the vectors of the subject's words, zeros for words that it
    does not know.

    Raises:
        UnableError: the model has no vectors.
        ValueError: it knows none of the subjects' words.
    """
    if "embed" in scorer.abilities:
        return scorer.embed([" ".join(fill(template, subject, "").split()) for subject in subjects])
    if "word_vector" not in scorer.abilities:
        others = "give word vectors, an encoder or a neural language model"
        raise UnableError(f"{scorer.name} has no vectors for a head: {others}")
    words = {word for subject in subjects for word in subject.split()}
    vectors = {word: vector for word in words if (vector := scorer.word_vector(word)) is not None}
    if not vectors:
        raise ValueError(f"{scorer.name} knows none of the subjects' words")
    zero = np.zeros_like(next(iter(vectors.values())))
    each = ([vectors.get(word, zero) for word in subject.split()] for subject in subjects)
    return np.stack([np.mean(of_subject, axis=0) for of_subject in each])


def _fit(x: np.ndarray, data: ItemSet, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """(m, c) log-probabilities of the classes; -inf for those that no train subject has."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=C, max_iter=ITERATIONS, random_state=seed).fit(x[train], data.gold[train])
    scores = np.full((len(test), len(data.classes)), -np.inf)
    scores[:, model.classes_] = model.predict_log_proba(x[test])
    return scores
