"""A split is known by its examples: whatever shards they lie in, and however many follow them."""

from dataclasses import replace

import h5py
import pytest

from simtown.datasets.generate import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings

TOWN = Settings(entities=3, n=12, val=4, test=4, width=32, height=32, shard=4)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """made(n=20): the data set of TOWN with other choices, opened."""

    def town(**changes):
        directory = tmp_path_factory.mktemp("town") / "town"
        generate(replace(TOWN, **changes), directory, workers=1)
        return open_dataset(directory)

    return town


@pytest.fixture(scope="module")
def town(made):
    return made()


def test_the_first_examples_of_a_larger_set_are_the_smaller_set(town, made):
    small = town.train.digests([2, 6, 12])
    large = made(n=20, shard=10, masks=True, depth=True).train.digests([2, 6, 12, 20])
    assert small == {n: large[n] for n in small}
    assert len(set(large.values())) == 4


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"weathers": ("fog",)}, {"phrasing": "varied"}, {"width": 64}]
)
def test_other_examples_have_other_digests(town, made, change):
    other = made(**change)
    for split in ("train", "val", "test"):
        assert town[split].digests([4]) != other[split].digests([4])


@pytest.mark.parametrize("name", ["images", "answer", "scene/pose", "question"])
def test_a_changed_row_changes_the_digests_that_hold_it(name, made):
    dataset = made()
    before = dataset.train.digests([4, 5, 12])
    with h5py.File(dataset.path / "train-00001.h5", "r+") as file:  # examples 4 to 7
        rows = file[name][:]
        rows.reshape(-1).view("u1")[0] ^= 1
        file[name][:] = rows
    after = open_dataset(dataset.path).train.digests([4, 5, 12])
    assert {n for n in before if before[n] != after[n]} == {5, 12}
