"""Reading the release, whole and damaged."""

import shutil

import numpy as np
import pytest

from simtown.core.files import DamagedError
from simtown.probes.physical import datasets
from tests.probes.physical.world import OBJECTS, PROPERTIES, TRUTH, VERBS


def test_what_was_written_is_read(release):
    assert tuple(release.objects) == OBJECTS
    assert tuple(release.properties) == tuple(PROPERTIES)
    assert release.verbs == VERBS
    assert len(release.instances) == 2 * len(OBJECTS)
    for one in release.instances:
        assert [p for p, v in zip(PROPERTIES, one.properties, strict=True) if v] == [
            p for p in PROPERTIES if p in TRUTH[one.object][0]
        ]
        assert not set(one.yes) & set(one.no)
    assert [len(a) for a in release.answers.values()] == [3, 3, 3, 3]
    assert release.abstract["accordion"][-1] == -2


@pytest.mark.parametrize("inside", ["data", "."])
def test_a_clone_or_its_folder(small, tmp_path, inside):
    shutil.copytree(small, tmp_path / "clone" / inside, dirs_exist_ok=True)
    assert len(datasets.read(tmp_path / "clone").objects) == 12


def test_a_clone_has_a_python_package_of_the_name_too(small, tmp_path, cli):
    """The repository keeps its programs in pc/, beside the data in data/pc/."""
    clone = tmp_path / "clone"
    shutil.copytree(small, clone / "data")
    (clone / "pc").mkdir()
    (clone / "pc/data.py").touch()
    assert len(datasets.read(clone).objects) == 12
    cli("probe", "reproduce", "forbes-table1", "--data", clone).succeeds()
    out = tmp_path / "out"
    cli("probe", "physical", "--data", clone, "--model", "majority", "--task", "OA", "--out", out).succeeds()


DAMAGES = [
    ("pc/abstract.csv", "carrot,0,1", "carrot,7,1", ("row 5", "column a_tool", "'7'")),
    ("pc/abstract.csv", "carrot,0,1", "karotte,0,1", ("row 5", "objectUID", "karotte")),
    ("pc/abstract.csv", "carrot,0,1", "carrot,0", ("row 5", "6 columns instead of 7")),
    ("pc/abstract.csv", "objectUID,a_tool", "objectUID,a_toool", ("no column a_tool",)),
    (
        "pc/situated-properties.csv",
        "100,1000,accordion,0",
        "100,1000,accordion,x",
        ("row 2", "column squishy", "'x'"),
    ),
    ("pc/situated-affordances-sampled.csv", ",1003,", ",9999,", ("row 5", "cocoAnnID", "9999")),
    ("pc/situated-affordances-sampled.csv", '"eat,peel,wash"', '"eat,,wash"', ("row 5", "affordancesYes")),
    ("pc/properties.tsv", "perceptual", "musical", ("row 7", "categorization", "musical")),
    ("pc/abstract-test-object-uids.txt", "lemon", "lemming", ("row 2", "lemming")),
    (
        "human/situated-OA-round1-annotations-first50.csv",
        "lemon/ride,0",
        "lemon ride,0",
        ("row 3", "no pair"),
    ),
    (
        "human/situated-OA-round1-annotations-first50.csv",
        "lemon/ride,0",
        "lemon/ride,maybe",
        ("row 3", "maybe"),
    ),
    ("human/situated-OA-round1-gold.txt", "1\n0\n", "1\nno\n", ("row 2",)),
    ("nl/aff-freqs-nl.csv", "carry,", "carry,often", ("row 2", "column freq")),
    ("nl/prop-freqs-nl.csv", "peel,", "appeal,", ("row 5", "column word")),
]


@pytest.mark.parametrize(("name", "old", "new", "words"), DAMAGES)
def test_damage_is_named_by_row_and_column(files, name, old, new, words):
    text = (files / name).read_text()
    assert old in text
    (files / name).write_text(text.replace(old, new, 1))
    with pytest.raises(DamagedError) as error:
        datasets.read(files)
    assert name.rpartition("/")[2] in str(error.value)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    "name", ["pc/objects.tsv", "pc/situated-test-object-uids.txt", "human/abstract-OP-round1-gold.txt", "pc"]
)
def test_what_is_missing_can_be_had(files, name):
    shutil.rmtree(files / name) if name == "pc" else (files / name).unlink()
    with pytest.raises(FileNotFoundError, match=r"github\.com/mbforbes/physical-commonsense"):
        datasets.read(files)


def test_bytes_that_are_no_text(files):
    (files / "pc/abstract.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DamagedError, match=r"abstract\.csv"):
        datasets.read(files)


def test_the_real_sizes(reference):
    release = datasets.read(reference)
    labels = np.array(list(release.abstract.values()))
    assert labels.shape == (514, 50)
    assert [int((labels == v).sum()) for v in (1, 0, -1, -2)] == [4242, 19829, 15, 1614]
    assert len(release.instances) == 1040
    assert len(release.verbs) == 504
    assert {len(a) for a in release.answers.values()} == {50}
