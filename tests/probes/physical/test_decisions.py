"""Reading the release, whole and damaged; and the rows of the tasks, against the small world's truth."""

import shutil

import numpy as np
import pytest

from simtown.core.files import DamagedError
from simtown.probes.physical import TASKS, physical_release
from simtown.probes.physical.inputs import Inputs
from simtown.probes.physical.physical_study import majority
from tests.probes.physical.world import OBJECTS, PROPERTIES, TEST, TRUTH, VERBS


def test_what_was_written_is_read(release):
    assert tuple(release.objects) == OBJECTS
    assert tuple(release.properties) == tuple(PROPERTIES)
    assert release.verbs == VERBS
    assert len(release.instances) == 2 * len(OBJECTS)
    for instance in release.instances:
        said = [p for p, v in zip(PROPERTIES, instance.properties, strict=True) if v]
        assert said == [p for p in PROPERTIES if p in TRUTH[instance.object][0]]
        assert not set(instance.yes) & set(instance.no)
    assert [len(a) for a in release.answers.values()] == [3, 3, 3, 3]
    assert release.abstract["accordion"][-1] == -2


@pytest.mark.parametrize("inside", ["data", "."])
def test_a_clone_or_its_folder(small, tmp_path, inside):
    """The repository keeps its programs in pc/, beside the data in data/pc/."""
    shutil.copytree(small, tmp_path / "clone" / inside, dirs_exist_ok=True)
    (tmp_path / "clone" / "pc").mkdir(exist_ok=True)
    (tmp_path / "clone" / "pc" / "data.py").touch()
    assert len(physical_release.read(tmp_path / "clone").objects) == 12


ASKED = "human/situated-OA-round1-annotations-first50.csv"
DAMAGES = [
    ("pc/abstract.csv", "carrot,0,1", "carrot,7,1"),
    ("pc/abstract.csv", "carrot,0,1", "karotte,0,1"),
    ("pc/abstract.csv", "carrot,0,1", "carrot,0"),
    ("pc/abstract.csv", "objectUID,a_tool", "objectUID,a_toool"),
    ("pc/situated-properties.csv", "100,1000,accordion,0", "100,1000,accordion,x"),
    ("pc/situated-affordances-sampled.csv", ",1003,", ",9999,"),
    ("pc/properties.tsv", "perceptual", "musical"),
    ("pc/abstract-test-object-uids.txt", "lemon", "lemming"),
    (ASKED, "lemon/ride,0", "lemon ride,0"),
    (ASKED, "lemon/ride,0", "lemon/ride,maybe"),
    ("nl/aff-freqs-nl.csv", "carry,", "carry,often"),
    ("nl/prop-freqs-nl.csv", "peel,", "appeal,"),
]


@pytest.mark.parametrize(("name", "old", "new"), DAMAGES)
def test_a_damaged_file_is_named(files, name, old, new):
    text = (files / name).read_text()
    assert old in text
    (files / name).write_text(text.replace(old, new, 1))
    with pytest.raises(DamagedError) as error:
        physical_release.read(files)
    assert name.rpartition("/")[2] in str(error.value)


def test_a_missing_file_can_be_had(files):
    (files / "pc/objects.tsv").unlink()
    with pytest.raises(FileNotFoundError, match=r"github\.com/mbforbes/physical-commonsense"):
        physical_release.read(files)


def test_the_real_sizes(reference):
    release = physical_release.read(reference)
    labels = np.array(list(release.abstract.values()))
    assert labels.shape == (514, 50)
    assert [int((labels == v).sum()) for v in (1, 0, -1, -2)] == [4242, 19829, 15, 1614]
    assert len(release.instances) == 1040
    assert len(release.verbs) == 504
    assert {len(a) for a in release.answers.values()} == {50}


@pytest.mark.parametrize("title", TASKS)
def test_labels_are_the_truth_and_parts_share_no_object(tasks, title):
    task = tasks[title]
    for rows, is_test in ((task.train, False), (task.test, True)):
        for i, j, label, g in zip(rows.left, rows.right, rows.label, rows.group, strict=True):
            left, right, group = task.lefts[i], task.rights[j], task.groups[g]
            assert (group in TEST) is is_test
            properties, verbs = TRUTH[group]
            if task.name == "OA":
                assert (left, label) == (group, right in verbs)
            else:
                assert label == (right in properties)
                assert left == group if task.name == "OP" else left in verbs


def test_sizes(tasks):
    p, train = len(PROPERTIES), len(OBJECTS) - len(TEST)
    assert {title: (len(task.train), len(task.test)) for title, task in tasks.items()} == {
        "abstract-OP": (train * p, 3 * p),
        "situated-OP": (2 * train * p, 6 * p),
        "situated-OA": (2 * train * 6, 36),
        "situated-AP": (2 * train * 3 * p, 18 * p),
    }


@pytest.mark.parametrize("title", TASKS)
def test_pairs_add_up_to_the_rows(tasks, title):
    task, pairs = tasks[title], tasks[title].pairs
    assert len(set(zip(pairs.left, pairs.right, strict=True))) == len(pairs.left)
    for rows, pair in ((task.train, pairs.train), (task.test, pairs.test)):
        assert np.array_equal(pairs.left[pair], rows.left)
        assert np.array_equal(pairs.right[pair], rows.right)
    counts, positives = Inputs((), (), pairs.right, False).counted(task.train, pairs.train)
    assert (counts.sum(), positives.sum()) == (len(task.train), task.train.label.sum())


def test_standardised_inputs_are_scikit_learns(tasks):
    preprocessing = pytest.importorskip("sklearn.preprocessing", reason="needs '.[probes]'")
    task, pairs = tasks["situated-AP"], tasks["situated-AP"].pairs
    random = np.random.default_rng(0)
    tables = tuple(random.normal(3, 2, (len(n), 5)).astype(np.float32) for n in (task.lefts, task.rights))
    tables[0][:, 2] = 1.5
    inputs = Inputs(tables, (pairs.left, pairs.right), pairs.right, separate=True)
    rows = inputs.matrix()[pairs.train].astype(np.float64)
    counts, _ = inputs.counted(task.train, pairs.train)
    ours = inputs.standardised(counts).matrix()[pairs.train]
    assert ours == pytest.approx(preprocessing.StandardScaler().fit_transform(rows), abs=1e-4)


@pytest.mark.parametrize("title", TASKS)
def test_majority_is_a_loop(tasks, title):
    task = tasks[title]
    expected = []
    for right in task.test.right:
        seen = [bool(x) for x in task.train.label[task.train.right == right]]
        yes = sum(seen)
        expected.append(True if not seen else seen[0] if 2 * yes == len(seen) else 2 * yes > len(seen))
    assert majority(task).said.tolist() == expected
