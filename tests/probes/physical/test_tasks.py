"""The rows of the tasks, against the small world's truth."""

import numpy as np
import pytest

from simtown.probes.physical import baselines, tasks
from simtown.probes.physical.pairs import Decisions, Inputs, Pairs
from tests.probes.physical.world import OBJECTS, PROPERTIES, TEST, TRUTH


def _triples(task, rows):
    for left, right, label, group in zip(rows.left, rows.right, rows.label, rows.group, strict=True):
        yield task.lefts[left], task.rights[right], bool(label), task.groups[group]


@pytest.mark.parametrize(("which", "name"), tasks.ALL)
def test_labels_are_the_truth_and_parts_share_no_object(release, which, name):
    task = tasks.build(release, which, name)
    for part, inside in ((task.train, False), (task.test, True)):
        for left, right, label, group in _triples(task, part):
            assert (group in TEST) is inside
            properties, verbs = TRUTH[group]
            if name == "OA":
                assert (left, label) == (group, right in verbs)
            else:
                assert label is (right in properties)
                assert left == group if name == "OP" else left in verbs


def test_sizes(release):
    sizes = {
        f"{s}-{n}": (len(t.train), len(t.test)) for s, n in tasks.ALL for t in [tasks.build(release, s, n)]
    }
    objects, p = len(OBJECTS), len(PROPERTIES)
    train = objects - len(TEST)
    assert sizes == {
        "abstract-OP": (train * p, 3 * p),
        "situated-OP": (2 * train * p, 6 * p),
        "situated-OA": (2 * train * 6, 36),
        "situated-AP": (2 * train * 3 * p, 18 * p),
    }


@pytest.mark.parametrize(("task", "which"), [("OA", "abstract"), ("PO", "all"), ("OP", "imagined")])
def test_tasks_that_there_are_not(task, which):
    with pytest.raises(ValueError, match=r"task"):
        tasks.chosen(task, which)


def test_everything_is_table_twos_order():
    assert tasks.chosen("all", "all") == tasks.ALL
    assert tasks.chosen("OP", "all") == (("abstract", "OP"), ("situated", "OP"))


@pytest.mark.parametrize(("which", "name"), tasks.ALL)
def test_pairs_add_up_to_the_rows(release, which, name):
    task = tasks.build(release, which, name)
    pairs = Pairs.of(task)
    assert len(set(zip(pairs.left, pairs.right, strict=True))) == len(pairs.left)
    for rows, pair in ((task.train, pairs.train), (task.test, pairs.test)):
        assert np.array_equal(pairs.left[pair], rows.left)
        assert np.array_equal(pairs.right[pair], rows.right)
    added = Decisions.of(task.train, pairs.train, len(pairs.left))
    assert added.counts.sum() == len(task.train)
    assert added.positives.sum() == task.train.label.sum()


def test_standardised_inputs_are_scikit_learns(release):
    preprocessing = pytest.importorskip(
        "sklearn.preprocessing", reason="needs scikit-learn: pip install '.[probes]'"
    )
    task = tasks.build(release, "situated", "AP")
    pairs = Pairs.of(task)
    random = np.random.default_rng(0)
    tables = tuple(
        random.normal(3, 2, (len(names), 5)).astype(np.float32) for names in (task.lefts, task.rights)
    )
    tables[0][:, 2] = 1.5
    inputs = Inputs(tables, (pairs.left, pairs.right), pairs.right, separate=True)
    rows = inputs.matrix()[pairs.train]
    ours = inputs.standardised(Decisions.of(task.train, pairs.train, inputs.pairs).counts).matrix()[
        pairs.train
    ]
    assert ours == pytest.approx(
        preprocessing.StandardScaler().fit_transform(rows.astype(np.float64)), abs=1e-4
    )


def test_majority_is_a_loop(release):
    for which, name in tasks.ALL:
        task = tasks.build(release, which, name)
        expected = []
        for right in task.test.right:
            seen = [bool(x) for x in task.train.label[task.train.right == right]]
            yes = sum(seen)
            expected.append(True if not seen else seen[0] if 2 * yes == len(seen) else 2 * yes > len(seen))
        assert baselines.majority(task).tolist() == expected
