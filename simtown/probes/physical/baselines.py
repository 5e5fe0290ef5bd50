"""Rows of Table 2 that read no text: a coin and the training majority (section "Baselines")."""

from __future__ import annotations

import numpy as np

from simtown.probes.physical.tasks import PhysicalTask


def random(task: PhysicalTask, seed: int) -> np.ndarray:
    """(n,) bool: a fair coin for every test decision."""
    return np.random.default_rng(seed).random(len(task.test)) < 0.5


def majority(task: PhysicalTask) -> np.ndarray:
    """(n,) bool: the label that the right-hand item has most often in train; the one seen first in a tie, yes
    if never seen.
    """
    items = len(task.rights)
    train = task.train
    yes = np.bincount(train.right, weights=train.label, minlength=items)
    no = np.bincount(train.right, weights=~train.label, minlength=items)
    first = np.ones(items, dtype=bool)
    first[train.right[::-1]] = train.label[::-1]  # written from the back: the first label stays
    answer = np.where(yes == no, first, yes > no)
    return answer[task.test.right]
