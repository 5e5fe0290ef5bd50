"""Asking a language model about items (Zhang et al. 2022, 4.1): by templates with a gap, or by a head."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import compress
from typing import Literal

import numpy as np

from simtown.probes.items import ItemAnswers, ItemSet
from simtown.probes.scorers.base import Scorer, UnableError
from simtown.probes.scorers.spelling import BLANK, lead_of

#: Rules where paper, released code and good practice differ: see docs/reproduce/visual-commonsense.md.
Protocol = Literal["paper", "release", "corrected"]
Words = Sequence[tuple[str, ...]]
#: The head's inverse strength of the L2 penalty, and its most iterations (section 5.1).
C, ITERATIONS = 0.316, 2_000
#: Every so-many-th train subject is held out to choose a template by.
HELD_OUT = 5


def fill(template: str, subject: str, filler: str) -> str:
    """The sentence of a template, such as "[X] has color [Y] ."."""
    return filler.join(part.replace("[X]", subject) for part in template.split("[Y]"))


def by_template(
    scorer: Scorer,
    templates: Sequence[str | Sequence[str]],
    subjects: Sequence[str],
    words: Words,
    protocol: Protocol,
    choices: np.ndarray | None = None,
) -> np.ndarray:
    """(t, n, c) float64 log-probability of each class by template and subject; -inf for an unknown class.

    A model that reads only forward does not see the words behind the gap, and where no word stands around it
    the class is the sentence itself. The corrected protocol then takes the log-probability of the whole
    sentence with each class instead (a masked model's is its pseudo-log-likelihood); by Bayes' rule it ranks
    classes as a gap would.

    Args:
        templates: (t) sentences, or (n) of them, one for each subject.
        subjects: (n) nouns.
        words: (c) words that count for each class.
        choices: (n, c) bool, the classes that each subject is asked about, the others are -inf; None: all.
    """
    n = len(subjects)
    choices = np.ones((n, len(words)), dtype=bool) if choices is None else choices
    able = protocol == "corrected" and "sequence_logprobs" in scorer.abilities
    logprobs = np.full((len(templates), *choices.shape), -np.inf)
    for scores, template in zip(logprobs, templates, strict=True):
        own = [template] * n if isinstance(template, str) else template
        contexts = [fill(sentence, subject, BLANK) for sentence, subject in zip(own, subjects, strict=True)]
        whole = np.array([able and _needs_whole(scorer, sentence) for sentence in own])
        if whole.any():
            scores[whole] = _sentences(scorer, list(compress(contexts, whole)), words, choices[whole])
        for rows in _alike((choices[row].tobytes(), row) for row in np.flatnonzero(~whole).tolist()):
            among = np.flatnonzero(choices[rows[0]]).tolist()
            asked = [contexts[row] for row in rows], [words[c] for c in among]
            scores[np.array(rows)[:, None], among] = scorer.class_logprobs(*asked)
    return np.where(np.isnan(logprobs), -np.inf, logprobs)


def _needs_whole(scorer: Scorer, template: str) -> bool:
    """Whether what the model says at the gap leaves out words of the sentence, or sees none."""
    before, _, behind = (any(map(str.isalnum, part)) for part in template.partition("[Y]"))
    return behind if scorer.forward else not before and not behind


def _alike(items: Iterable[tuple[Hashable, int]]) -> Iterable[list[int]]:
    """The numbers of items, each a pair of key and number, that have the same key."""
    numbers: dict[Hashable, list[int]] = {}
    for key, number in items:
        numbers.setdefault(key, []).append(number)
    return numbers.values()


def _sentences(scorer: Scorer, contexts: Sequence[str], words: Words, choices: np.ndarray) -> np.ndarray:
    """(n, c) log-probability of the sentences with each class, each spelling once; -inf if unknown."""
    leads = [lead_of(context.partition(BLANK)[0]) for context in contexts]
    texts, places = [], []
    for rows in _alike(zip(leads, range(len(leads)), strict=True)):
        among = np.flatnonzero(choices[rows].any(axis=0)).tolist()
        known = _known_words(scorer, leads[rows[0]], [words[c] for c in among])
        known_of = dict(zip(among, known, strict=True))
        for row in rows:
            for c in np.flatnonzero(choices[row]).tolist():
                texts += [contexts[row].replace(BLANK, word) for word in known_of[c]]
                places += [(row, c)] * len(known_of[c])
    totals = np.full(choices.shape, -np.inf)
    for place, text in zip(places, scorer.sequence_logprobs(texts) if texts else (), strict=True):
        totals[place] = np.logaddexp(totals[place], text.logprobs.sum())
    return totals


def _known_words(scorer: Scorer, lead: str, words: Words) -> list[list[str]]:
    """Of each class the words that the model can say behind `lead`, each spelling once.

    A sentence has a probability whatever its words: that of the unknown word, for one that the model lacks.
    """
    spelled = [{scorer.spelling(word, lead): word for word in synonyms} for synonyms in words]
    known = [[word for tokens, word in one.items() if tokens is not None] for one in spelled]
    flat = [word for synonyms in known for word in synonyms]
    if not scorer.forward or not flat:
        return known
    at_gap = scorer.class_logprobs([lead + BLANK], flat)[0]  # its policy may leave out words
    said = dict(zip(flat, ~np.isnan(at_gap), strict=True))
    return [[word for word in synonyms if said[word]] for synonyms in known]


def averaged(logprobs: np.ndarray, protocol: Protocol) -> np.ndarray:
    """(n, c) log of the mean distribution of (t, n, c) templates, "average template".

    Paper and release take the mean over the whole vocabulary, so that a template counts by how much it says
    of classes at all; the corrected protocol lets each template distribute 1 over the classes first.
    """
    if protocol == "corrected":
        whole = np.logaddexp.reduce(logprobs, axis=2, keepdims=True)
        logprobs = logprobs - np.where(np.isfinite(whole), whole, 0.0)
    return np.logaddexp.reduce(logprobs, axis=0) - np.log(len(logprobs))


def by_head(
    scorer: Scorer, data: ItemSet, protocol: Protocol, seed: int, progress: Callable[[int], object]
) -> tuple[ItemAnswers, dict[str, str]]:
    """What logistic regression from a subject's vector to its class answers, by the chosen template; notes.

    The paper takes the template with the best accuracy on the test; the release takes the best ρ too, of
    whichever template. The corrected protocol takes the one whose head is best on a fifth of the train
    subjects that it did not learn from. Raises ValueError if the train subjects have fewer than two classes.
    """
    templates = data.templates if "embed" in scorer.abilities and data.templates else ("[X][Y]",)
    train, test = np.flatnonzero(data.train), data.test
    if data.right[train].any(axis=0).sum() < 2:
        needed = "items to learn from with two classes at least"
        raise ValueError(f"{data.relation} needs {needed}: mark some with train 1")
    held_out = train[::HELD_OUT]
    rest = np.setdiff1d(train, held_out)
    choosing = len(templates) > 1 and data.right[rest].any(axis=0).sum() > 1
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
    does not know. Raises UnableError if it has no vectors, ValueError if it knows none of the words.
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

    right = data.right[train]
    rows, classes = np.nonzero(right)  # an item with k right classes is 1/k of an item of each
    model = LogisticRegression(C=C, max_iter=ITERATIONS, random_state=seed)
    model.fit(x[train[rows]], classes, sample_weight=(1 / right.sum(axis=1))[rows])
    scores = np.full((len(test), len(data.classes)), -np.inf)
    scores[:, model.classes_] = model.predict_log_proba(x[test])
    return scores
