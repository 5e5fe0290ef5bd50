"""Asking a language model outright: the log-odds of "yes" over "no" after the pair as a question.

Not in the paper; nothing is trained.
"""

from __future__ import annotations

import numpy as np

from simtown.probes import statistics
from simtown.probes.physical.datasets import PhysicalRelease
from simtown.probes.physical.pairs import Pairs
from simtown.probes.physical.sentences import question
from simtown.probes.physical.tasks import PhysicalTask
from simtown.probes.scorers.base import BLANK, Scorer, UnableError


def log_odds(release: PhysicalRelease, task: PhysicalTask, pairs: Pairs, scorer: Scorer) -> np.ndarray:
    """(u,) float64: log P(yes) - log P(no) after "Question: Is an accordion squishy? Answer:".

    Raises:
        UnableError: the model fills no gap, or does not know the words yes and no.
    """
    if "class_logprobs" not in scorer.abilities:
        raise UnableError(
            f"{scorer.name} cannot fill a gap, so it answers no question: give a masked or causal language "
            "model"
        )
    contexts = [
        f"Question: {question(release, task.name, task.lefts[i], task.rights[j])} Answer: {BLANK}"
        for i, j in zip(pairs.left, pairs.right, strict=True)
    ]
    logprobs = scorer.class_logprobs(contexts, ["yes", "no"])
    if not np.isfinite(logprobs).all():
        raise UnableError(f"{scorer.name} gives no probability to yes or no: its vocabulary lacks the words")
    return logprobs[:, 0] - logprobs[:, 1]


def threshold(odds: np.ndarray, label: np.ndarray) -> float:
    """The cut with the best F1 on the training rows: yes is whatever lies above.

    Models lean towards one of the two words, so that 0 is rarely the place to cut.

    Args:
        odds: (n,) float64.
        label: (n,) bool.
    """
    order = np.argsort(-odds, kind="stable")
    sorted_odds, yes = odds[order], np.cumsum(label[order])
    positives = np.arange(1, len(odds) + 1)
    value = statistics.f1(yes, positives - yes, label.sum() - yes)
    possible = np.append(sorted_odds[:-1] != sorted_odds[1:], True)  # no cut between equals
    best = int(np.argmax(np.where(possible, value, -1.0)))
    return (
        float((sorted_odds[best] + sorted_odds[best + 1]) / 2)
        if best + 1 < len(odds)
        else float(np.nextafter(sorted_odds[-1], -np.inf))
    )
