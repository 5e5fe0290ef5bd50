"""Reading the release, whole and damaged, and the decisions of the tasks, against the small world's truth."""

import shutil

import numpy as np
import pytest

from simtown.core.files import DamagedError
from simtown.probes.physical import TASKS, physical_release
from simtown.probes.physical.inputs import Inputs
from tests.probes.physical.world import OBJECTS, PROPERTIES, TEST, TRUTH, VERBS


def test_what_was_written_is_read(release):
    assert tuple(release.objects) == OBJECTS
    assert tuple(release.properties) == tuple(PROPERTIES)
    assert tuple(release.frequencies["affordance"]) == VERBS
    assert [len(said) for _, said in release.answers.values()] == [3, 3, 3, 3]
    assert not release.decisions["abstract-OP"].label[len(PROPERTIES) - 1]  # too hard to tell


@pytest.mark.parametrize("inside", ["data", "."])
def test_a_clone_or_its_folder(small, tmp_path, inside):
    """The repository keeps its programs in pc/, beside the data in data/pc/."""
    shutil.copytree(small, tmp_path / "clone" / inside, dirs_exist_ok=True)
    (tmp_path / "clone" / "pc").mkdir(exist_ok=True)
    (tmp_path / "clone" / "pc" / "data.py").touch()
    assert len(physical_release.read(tmp_path / "clone").objects) == 12


ASKED = "human/situated-OA-round1-annotations-first50.csv"
DAMAGES = [("pc/abstract.csv", "carrot,0,1", new) for new in ("carrot,7,1", "karotte,0,1", "carrot,0")]
DAMAGES += [(ASKED, "lemon/ride,0", new) for new in ("lemon ride,0", "lemon/ride,maybe")]
DAMAGES += [
    ("pc/abstract.csv", "objectUID,a_tool", "objectUID,a_toool"),
    ("pc/situated-affordances-sampled.csv", ",1003,", ",9999,"),
    ("pc/properties.tsv", "perceptual", "musical"),
    ("pc/abstract-test-object-uids.txt", "lemon", "lemming"),
    ("nl/aff-freqs-nl.csv", "carry,", "carry,often"),
    ("nl/prop-freqs-nl.csv", "peel,", "appeal,"),
]


@pytest.mark.parametrize(("name", "old", "new"), DAMAGES)
def test_a_damaged_file_is_named(files, name, old, new):
    text = (files / name).read_text()
    assert old in text
    (files / name).write_text(text.replace(old, new, 1))
    with pytest.raises(DamagedError, match=name.rpartition("/")[2]):
        physical_release.read(files)


@pytest.mark.parametrize("title", TASKS)
def test_labels_are_the_truth_and_parts_share_no_object(tasks, title):
    task = tasks[title]
    for rows, is_test in ((task.train, False), (task.test, True)):
        for left, right, about, label in zip(*vars(rows).values(), strict=True):
            assert (about in TEST) is is_test
            properties, verbs = TRUTH[about]
            if task.kinds[1] == "affordance":
                assert (left, label) == (about, right in verbs)
            else:
                assert label == (right in properties)
                assert left == about if task.kinds[0] == "object" else left in verbs


@pytest.mark.parametrize("title", TASKS)
def test_pairs_add_up_to_the_rows(tasks, title):
    task, pairs = tasks[title], tasks[title].pairs
    assert len(set(pairs.names())) == len(pairs.left)
    for rows, pair in ((task.train, pairs.train), (task.test, pairs.test)):
        assert np.array_equal(pairs.left[pair], rows.left)
        assert np.array_equal(pairs.right[pair], rows.right)
    counts, positives = Inputs((), (pairs.left,)).counted(pairs.train, task.train.label)
    assert (counts.sum(), positives.sum()) == (len(task.train), task.train.label.sum())
