"""Heads trained on pairs are those trained on rows; scores and the bootstrap, against plain loops."""

import numpy as np
import pytest
import torch
from sklearn import linear_model, preprocessing

from simtown.probes import measures
from simtown.probes.physical import TASKS, scores
from simtown.probes.physical.heads import K, Logistic, Perceptron, cross_validate, folds
from simtown.probes.physical.inputs import Inputs
from simtown.probes.physical.physical_release import Decisions, numbered


def silent(more):
    pass


def vectors(task, words=True):
    """Random vectors of a task's words, or of its sentences."""
    pairs, random = task.pairs, np.random.default_rng(3)
    if words:
        (lefts, left), (rights, right) = numbered(pairs.left), numbered(pairs.right)
        tables = (random.normal(size=(len(names), 6)).astype(np.float32) for names in (lefts, rights))
        return Inputs(tuple(tables), (left, right), words=True)
    every = np.arange(len(pairs.left))
    return Inputs((random.normal(size=(len(every), 9)).astype(np.float32),), (every,))


def test_standardised_inputs_are_scikit_learns(tasks):
    task = tasks["situated-AP"]
    inputs, pair = vectors(task), task.pairs.train
    inputs.tables[0][:, 2] = 1.5
    rows = inputs.matrix()[pair].astype(np.float64)
    counts, _ = inputs.counted(pair, task.train.label)
    ours = inputs.standardised(counts).matrix()[pair]
    assert ours == pytest.approx(preprocessing.StandardScaler().fit_transform(rows), abs=1e-4)


@pytest.mark.parametrize(("name", "words"), [("OP", True), ("AP", True), ("OA", False)])
def test_the_perceptron_is_plain_gradient_descent_on_the_rows(tasks, name, words):
    """Against a network of two torch layers that sees every row, with the same first weights."""
    task = tasks[f"situated-{name}"]
    inputs, pair = vectors(task, words), task.pairs.train
    head = Perceptron(hidden=16, epochs=70, learning_rate=0.1)
    ours = head.fit(inputs, pair, task.train.label, 5, silent)
    X = inputs.matrix()[pair].astype(np.float64)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    x, every = (torch.from_numpy(((m - mean) / deviation).astype(np.float32)) for m in (X, inputs.matrix()))
    random = torch.Generator().manual_seed(5)
    first, second = torch.nn.Linear(x.shape[1], 16), torch.nn.Linear(16, 1)
    drawn = [torch.randn(table.shape[1], 16, generator=random) for table in inputs.tables]
    with torch.no_grad():
        first.weight.copy_(torch.cat(drawn).T)
        second.weight.copy_(torch.randn(16, generator=random)[None])
        first.bias.fill_(0.01)
        second.bias.fill_(0.01)
    model = torch.nn.Sequential(first, torch.nn.ReLU(), second, torch.nn.Sigmoid())
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
    y = torch.from_numpy(task.train.label.astype(np.float32))
    for epoch in range(70):
        for group in optimiser.param_groups:
            group["lr"] = 0.1 * 0.8 ** (epoch // 30)
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(model(x)[:, 0], y).backward()
        optimiser.step()
    assert ours == pytest.approx(model(every)[:, 0].detach().double().numpy(), abs=2e-3)


def test_logistic_regression_on_counts_is_on_rows(tasks):
    task = tasks["situated-AP"]
    inputs, pair, label = vectors(task, words=False), task.pairs.train, task.train.label
    rows = inputs.standardised(inputs.counted(pair, label)[0]).matrix()
    model = linear_model.LogisticRegression(max_iter=1000).fit(rows[pair], label)
    ours = Logistic().fit(inputs, pair, label, 0, silent)
    assert ours == pytest.approx(model.predict_proba(rows)[:, 1], abs=1e-3)


def test_one_regression_an_item_sees_only_the_left_word(tasks):
    task = tasks["abstract-OP"]
    inputs = vectors(task)
    turned = Inputs((inputs.tables[0], -inputs.tables[1]), inputs.index, words=True)
    pair, label = task.pairs.train, task.train.label
    said, again = (Logistic().fit(each, pair, label, 0, silent) for each in (inputs, turned))
    assert np.array_equal(said, again)


@pytest.mark.parametrize("kind", ["rows", "objects"])
def test_folds_hold_every_row_out_once(tasks, kind):
    task = tasks["situated-AP"]
    held = folds(task.train, kind, seed=1)
    assert (np.sum(held, axis=0) == 1).all()
    shared = [set(task.train.object[h]) & set(task.train.object[~h]) for h in held]
    assert not any(shared) if kind == "objects" else any(shared)


def test_more_folds_than_objects(tasks):
    with pytest.raises(ValueError, match="20 folds"):
        folds(tasks["abstract-OP"].train, "objects", seed=0, k=20)


def test_tuning_finds_the_head_that_learns(tasks):
    """The label in the vector: without strength, nothing is learned."""
    task = tasks["situated-OP"]
    pair, label = task.pairs.train, np.zeros(len(task.pairs.left), dtype=np.float32)
    label[pair] = task.train.label
    inputs = Inputs((label[:, None],), (np.arange(len(label)),))
    steps, how = [], (inputs, task.train, pair, "objects", 0)
    weak, strong = (cross_validate(Logistic(C=c), *how, progress=steps.append) for c in (1e-9, 1.0))
    assert (strong, sum(steps)) == (1, 2 * K)
    assert weak < 1


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
