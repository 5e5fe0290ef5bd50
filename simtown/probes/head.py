"""A classification head on a frozen encoder (section 4.1): logistic regression from a subject's vector to its
best class.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simtown.probes.elicit import Protocol, fill
from simtown.probes.items import ItemSet
from simtown.probes.judging import PromptResult, judged
from simtown.probes.scorers.base import Scorer, UnableError

#: Inverse strength of the L2 penalty, and most iterations (section 5.1).
C, ITERATIONS = 0.316, 2_000
#: Every so-many-th train subject is held out to choose a template by.
HELD_OUT = 5


def features(scorer: Scorer, template: str, subjects: tuple[str, ...]) -> np.ndarray:
    """(n, d) float32: the encoder's vector of the template with the subject in it and the gap left out,
    pooled as the encoder does.

    A model without contexts gives the mean of the vectors of the subject's words, zeros for words that it
    does not know.

    Args:
        scorer: the frozen model.
        template: a sentence with [X] and [Y].
        subjects: what replaces [X].

    Raises:
        UnableError: the model has no vectors.
        ValueError: it knows none of the subjects' words.
    """
    if "embed" in scorer.abilities:
        return scorer.embed([" ".join(fill(template, subject, "").split()) for subject in subjects])
    if "word_vector" not in scorer.abilities:
        raise UnableError(
            f"{scorer.name} has no vectors for a head: give word vectors, an encoder or a neural language "
            "model"
        )
    words = {word for subject in subjects for word in subject.split()}
    vectors = {word: vector for word in words if (vector := scorer.word_vector(word)) is not None}
    if not vectors:
        raise ValueError(f"{scorer.name} knows none of the subjects' words")
    zero = np.zeros_like(next(iter(vectors.values())))
    return np.stack(
        [np.mean([vectors.get(word, zero) for word in subject.split()], axis=0) for subject in subjects]
    )


def probe(
    scorer: Scorer,
    data: ItemSet,
    protocol: Protocol,
    seed: int,
    progress: Callable[[int], object] = lambda more: None,
) -> tuple[PromptResult, dict[str, str]]:
    """A head for every template, and what the chosen one says of the test subjects; notes on the choice.

    The paper takes the template with the best accuracy on the test; the release takes the best ρ too, of
    whichever template. The corrected protocol takes the one whose head is best on a fifth of the train
    subjects that it did not learn from.

    Args:
        scorer: the frozen model.
        data: the items.
        protocol: how the template is chosen.
        seed: of the solver.
        progress: takes the number of newly finished templates.

    Raises:
        ValueError: the train subjects are none, or all have one class.
    """
    templates = data.templates if "embed" in scorer.abilities and data.templates else ("[X][Y]",)
    train, test = np.flatnonzero(data.train), data.test
    if not len(train):
        raise ValueError(
            f"{data.relation} has no items to learn from, which a head needs: mark some with train 1"
        )
    if len(np.unique(data.gold[train])) < 2:
        raise ValueError(
            f"{data.relation}: the train subjects all have the class {data.classes[data.gold[train[0]]]}: "
            "nothing to learn"
        )
    held_out = train[::HELD_OUT]
    rest = np.setdiff1d(train, held_out)
    candidates: list[tuple[PromptResult, float]] = []
    for template in templates:
        x = features(scorer, template, data.subjects)
        result = judged(data, test, _fit(x, data, train, test, seed), "head")
        merit = float(result.right.mean())
        if protocol == "corrected":
            choosing = len(templates) > 1 and len(np.unique(data.gold[rest])) > 1
            merit = (
                float(judged(data, held_out, _fit(x, data, rest, held_out, seed), "head").right.mean())
                if choosing
                else 0.0
            )
        candidates.append((result, merit))
        progress(1)
    best = int(np.argmax([merit for _, merit in candidates]))
    chosen, notes = candidates[best][0], {"template": templates[best]}
    if protocol == "release" and data.counts is not None:
        by_rho = int(np.argmax([np.nanmean(result.rho) for result, _ in candidates]))
        notes["template_of_rho"] = templates[by_rho]
        chosen = PromptResult(
            "head", test, candidates[by_rho][0].scores, candidates[by_rho][0].rho, chosen.right
        )
    return chosen, notes


def _fit(x: np.ndarray, data: ItemSet, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """(m, c) log-probabilities of the classes; -inf for those that no train subject has."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=C, max_iter=ITERATIONS, random_state=seed).fit(x[train], data.gold[train])
    scores = np.full((len(test), len(data.classes)), -np.inf)
    scores[:, model.classes_] = model.predict_log_proba(x[test])
    return scores
