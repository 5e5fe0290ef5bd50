"""Scores by item and the bootstrap over objects, against plain loops."""

import numpy as np
import pytest

from simtown.probes import measures
from simtown.probes.physical import TASKS, scores
from simtown.probes.physical.physical_release import Decisions


def _said(task):
    return task.test.label ^ (np.random.default_rng(0).random(len(task.test)) < 0.3)


@pytest.mark.parametrize("title", TASKS)
def test_a_replicate_is_the_score_of_the_drawn_rows(tasks, title, monkeypatch):
    monkeypatch.setattr(scores, "REPLICATES", 40)
    task, rows = tasks[title], tasks[title].test
    said, objects = _said(task), task.kinds[0] == "object"
    replicates = scores.replicates(rows, said)
    present = np.unique(rows.object)
    for i, draw in enumerate(measures.group_draws(len(present), 40, seed=0)):
        copies = [(name, copy) for name, times in zip(present, draw, strict=True) for copy in range(times)]
        drawn = np.concatenate([np.flatnonzero(rows.object == name) for name, _ in copies])
        chosen = rows.where(drawn)
        left = chosen.left
        if objects:  # a copy of an object is an object
            left = np.concatenate([[f"{name} {copy}"] * (rows.object == name).sum() for name, copy in copies])
        expected = scores.scores(Decisions(left, chosen.right, chosen.object, chosen.label), said[drawn])
        for part in ("left", "right", "micro"):
            assert replicates[part][i] == pytest.approx(expected[part])


def test_perfect_and_opposite(tasks):
    rows = tasks["situated-OP"].test
    assert set(scores.scores(rows, rows.label).values()) == {1}
    assert set(scores.scores(rows, ~rows.label).values()) == {0}


def test_by_item(tasks):
    task = tasks["situated-OP"]
    said, rows = _said(task), task.test
    summary = scores.describe(task, rows, said)
    for name in task.release.properties:
        y, z = rows.label[rows.right == name], said[rows.right == name]
        assert summary["accuracy"][name] == pytest.approx((y == z).mean())
        assert (name in summary["f1"]["property"]) is bool(y.any())
        if y.any():
            expected = 2 * (y & z).sum() / (y.sum() + z.sum())
            assert summary["f1"]["property"][name] == pytest.approx(expected)
