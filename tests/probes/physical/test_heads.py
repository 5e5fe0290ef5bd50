"""What is trained on pairs is what would be trained on rows."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[probes]'")

from simtown.probes.physical.heads import K, Logistic, Perceptron, folds, tune  # noqa: E402
from simtown.probes.physical.inputs import Inputs  # noqa: E402


def _silent(more):
    pass


def _case(task, separate=True):
    pairs = task.pairs
    random = np.random.default_rng(3)
    if separate:
        tables = tuple(
            random.normal(size=(len(names), 6)).astype(np.float32) for names in (task.lefts, task.rights)
        )
        inputs = Inputs(tables, (pairs.left, pairs.right), pairs.right, separate=True)
    else:
        inputs = Inputs(
            (random.normal(size=(len(pairs.left), 9)).astype(np.float32),),
            (np.arange(len(pairs.left)),),
            pairs.right,
            False,
        )
    return pairs, inputs, inputs.counted(task.train, pairs.train)


@pytest.mark.parametrize(("name", "separate"), [("OP", True), ("AP", True), ("OA", False)])
def test_the_perceptron_is_plain_gradient_descent_on_the_rows(tasks, name, separate):
    """Against a network of two torch layers that sees every row, with the same first weights."""
    task = tasks[f"situated-{name}"]
    pairs, inputs, train = _case(task, separate)
    head = Perceptron(hidden=16, epochs=70, learning_rate=0.1)
    ours = head.fit(inputs, *train, 5, _silent)
    X = inputs.matrix()[pairs.train].astype(np.float64)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    x, every = (torch.from_numpy(((m - mean) / deviation).astype(np.float32)) for m in (X, inputs.matrix()))
    random = torch.Generator().manual_seed(5)
    first, second = torch.nn.Linear(x.shape[1], 16), torch.nn.Linear(16, 1)
    with torch.no_grad():
        first.weight.copy_(
            torch.cat([torch.randn(t.shape[1], 16, generator=random) for t in inputs.tables]).T
        )
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


def test_seeds_decide(tasks):
    _, inputs, train = _case(tasks["situated-OP"])
    head = Perceptron(epochs=5)
    a, b, c = (head.fit(inputs, *train, seed, _silent) for seed in (0, 0, 1))
    assert np.array_equal(a, b)
    assert not np.allclose(a, c)


def test_logistic_regression_on_counts_is_on_rows(tasks):
    linear_model = pytest.importorskip(
        "sklearn.linear_model", reason="needs scikit-learn: pip install '.[probes]'"
    )
    task = tasks["situated-AP"]
    pairs, inputs, train = _case(task, separate=False)
    rows = inputs.standardised(train[0]).matrix()
    model = linear_model.LogisticRegression(max_iter=1000).fit(rows[pairs.train], task.train.label)
    assert Logistic().fit(inputs, *train, 0, _silent) == pytest.approx(
        model.predict_proba(rows)[:, 1], abs=1e-3
    )


def test_one_regression_an_item_sees_only_the_left_word(tasks):
    task = tasks["abstract-OP"]
    pairs, inputs, train = _case(task)
    said = Logistic().fit(inputs, *train, 0, _silent)
    turned = Inputs((inputs.tables[0], -inputs.tables[1]), inputs.index, inputs.right, separate=True)
    assert np.array_equal(said, Logistic().fit(turned, *train, 0, _silent))
    assert set(pairs.right) == set(range(len(task.rights)))


@pytest.mark.parametrize("kind", ["rows", "objects"])
def test_folds_hold_every_row_out_once(tasks, kind):
    task = tasks["situated-AP"]
    held = folds(task.train, kind, seed=1)
    assert (np.sum(held, axis=0) == 1).all()
    shared = [set(task.train.group[h]) & set(task.train.group[~h]) for h in held]
    assert not any(shared) if kind == "objects" else any(shared)


def test_more_folds_than_objects(tasks):
    with pytest.raises(ValueError, match="20 folds need at least 20 objects"):
        folds(tasks["abstract-OP"].train, "objects", seed=0, k=20)


def test_tuning_finds_the_head_that_learns(tasks):
    """The label in the vector: without iterations, or held at zero, nothing is learned."""
    task = tasks["situated-OP"]
    pairs, inputs, _ = _case(task, separate=False)
    label = np.zeros(len(inputs.right))
    label[pairs.train] = task.train.label
    inputs = Inputs((label[:, None].astype(np.float32),), inputs.index, inputs.right, False)
    progress = []
    tried = tune(
        [Logistic(C=1e-9), Logistic(C=1.0)],
        inputs,
        task.train,
        pairs.train,
        "objects",
        0,
        progress.append,
    )
    assert tried[0] == (1.0, Logistic(C=1.0))
    assert tried[1][0] < 1
    assert sum(progress) == 2 * K
