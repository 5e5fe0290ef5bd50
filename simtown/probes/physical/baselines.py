"""What reads no text (section "Baselines"): the majority, a coin, the expert."""

import numpy as np

from simtown.probes.physical.physical_release import Answers, PhysicalTask


def majority(task: PhysicalTask, seed: int) -> Answers:
    """The label that the right-hand item has most often in train; the one seen first in a tie, yes if never
    seen.
    """
    labels: dict[str, list[bool]] = {}
    for right, label in zip(task.train.right.tolist(), task.train.label.tolist(), strict=True):
        labels.setdefault(right, []).append(label)
    usual = {right: (2 * sum(seen), seen[0]) > (len(seen), False) for right, seen in labels.items()}
    return task.test, np.array([usual.get(right, True) for right in task.test.right.tolist()])


def random(task: PhysicalTask, seed: int) -> Answers:
    """A fair coin for every test decision."""
    return task.test, np.random.default_rng(seed).random(len(task.test)) < 0.5


def human(task: PhysicalTask, seed: int) -> Answers:
    """The expert's answers to some of the test."""
    return task.release.answers[task.title]


BASELINES = {"majority": majority, "random": random, "human": human}
