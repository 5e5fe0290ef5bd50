"""Scores by item and the bootstrap over objects, against plain loops."""

import numpy as np
import pytest

from simtown.probes import measures
from simtown.probes.physical import TASKS, scores
from simtown.probes.physical.decisions import DecisionRows


def _said(task, seed=0):
    return task.test.label ^ (np.random.default_rng(seed).random(len(task.test)) < 0.3)


@pytest.mark.parametrize("title", TASKS)
def test_a_replicate_is_the_score_of_the_drawn_rows(tasks, title, monkeypatch):
    monkeypatch.setattr(scores, "REPLICATES", 40)
    task = tasks[title]
    said = _said(task)
    found = scores.replicator(task.test, task.kinds[0] == "object")(said)
    present = np.unique(task.test.group)
    for i, draw in enumerate(measures.group_draws(len(present), 40, seed=0)):
        rows = np.concatenate(
            [
                np.flatnonzero(task.test.group == g)
                for g, n in zip(present, draw, strict=True)
                for _ in range(n)
            ]
        )
        copy = np.concatenate(
            [
                np.full((task.test.group == g).sum(), k)
                for g, n in zip(present, draw, strict=True)
                for k in range(n)
            ]
        )
        drawn = task.test.where(rows)
        left = (
            drawn.left * 100 + copy if task.kinds[0] == "object" else drawn.left
        )  # a copy of an object is an object
        scored = scores.scores(DecisionRows(left, drawn.right, drawn.label, drawn.group), said[rows])
        assert (found["left"][i], found["right"][i], found["micro"][i]) == pytest.approx(
            (scored.left, scored.right, scored.micro)
        )


def test_perfect_and_opposite(tasks):
    task = tasks["situated-OP"]
    perfect, opposite = (scores.scores(task.test, said) for said in (task.test.label, ~task.test.label))
    assert (perfect.left, perfect.right, perfect.micro, perfect.left_mean, perfect.accuracy) == (
        1,
        1,
        1,
        1,
        1,
    )
    assert (opposite.left, opposite.right, opposite.micro, opposite.accuracy) == (0, 0, 0, 0)


def test_by_item(tasks):
    task = tasks["situated-OP"]
    said, rows = _said(task), task.test
    f1 = scores.f1_by_item(rows.right, rows.label, said, task.rights)
    accuracy = scores.accuracy_by_item(rows.right, rows.label, said, task.rights)
    for i, name in enumerate(task.rights):
        y, z = rows.label[rows.right == i], said[rows.right == i]
        assert accuracy[name] == pytest.approx((y == z).mean())
        assert (name in f1) is bool(y.any())
        if y.any():
            assert f1[name] == pytest.approx(2 * (y & z).sum() / (y.sum() + z.sum()))
