"""Rows of Table 2 that read no text: a coin, the training majority, and the human expert (sections "Baselines", "Human performance")."""

from __future__ import annotations

import numpy as np

from simtown.probes.physical.datasets import Release
from simtown.probes.physical.metrics import Scores, scores
from simtown.probes.physical.tasks import Rows, Task


def random(task: Task, seed: int) -> np.ndarray:
    """(n,) bool: a fair coin for every test decision."""
    return np.random.default_rng(seed).random(len(task.test)) < 0.5


def majority(task: Task) -> np.ndarray:
    """(n,) bool: the label that the right-hand item has most often in train; the one seen first in a tie, yes if never seen."""
    items = len(task.rights)
    train = task.train
    yes = np.bincount(train.right, weights=train.label, minlength=items)
    no = np.bincount(train.right, weights=~train.label, minlength=items)
    first = np.ones(items, dtype=bool)
    first[train.right[::-1]] = train.label[::-1]  # written from the back: the first label stays
    answer = np.where(yes == no, first, yes > no)
    return answer[task.test.right]


def human(release: Release, title: str) -> tuple[Scores, int]:
    """Scores of the expert's answers to a task such as "situated-OA", and how many those are."""
    answers = release.answers[title]
    left, right = (np.unique([getattr(a, side) for a in answers], return_inverse=True)[1] for side in ("left", "right"))
    rows = Rows(left, right, np.array([a.label for a in answers]), left)
    return scores(rows, np.array([a.said for a in answers])), len(answers)
