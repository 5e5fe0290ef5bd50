"""What --world-seed and --test-seed change, and what they leave alone."""

from dataclasses import replace

import numpy as np
import pytest

from simtown.assets.entities import ENTITIES, SIZES, VERSION
from simtown.datasets.frequency_tables import tables_of
from simtown.datasets.making import manifests
from simtown.datasets.proving.marginals import goodness, marginals
from simtown.datasets.proving.verify import verify
from simtown.datasets.proving.verify_shard import implied
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.reading.shard_file import FormError
from simtown.datasets.resolved_settings import resolve
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.render.raster import Raster
from tests.language.parts import draw_entities

#: A small world of kinds from all over the catalogue.
ELSEWHERE = Settings(entities=6, n=60, val=10, test=40, width=32, height=32, seed=3, world_seed=3, shard=20)
NAMES = [ENTITIES[kind] for kind in ELSEWHERE.kinds]
SEEDS = (1, 2, 3, -1, 2**80)


@pytest.fixture(scope="module")
def elsewhere(dataset_of):
    return dataset_of(ELSEWHERE)


def test_every_other_seed_permutes_the_catalogue_and_its_worlds_are_nested():
    whole = [Settings(entities=len(ENTITIES), world_seed=seed).kinds for seed in SEEDS]
    assert all(sorted(kinds) == list(range(len(ENTITIES))) for kinds in whole)
    assert len({kinds[:5] for kinds in whole}) == len(SEEDS)
    for seed, kinds in zip(SEEDS, whole, strict=True):
        for k in range(2, len(ENTITIES)):
            assert Settings(entities=k, world_seed=seed, seed=8).kinds == kinds[:k]


def test_a_world_stays_what_it_is():
    """If the catalogue grew without a new version, the worlds of all seeds would change."""
    assert SIZES[VERSION] == len(ENTITIES), "a larger catalogue is another version of the world: see SIZES"
    assert VERSION == 2
    assert Settings(entities=6, world_seed=1).kinds == (90, 5, 57, 81, 7, 99)


@pytest.mark.parametrize("distractor", [False, True])
def test_each_kind_is_as_frequent_as_its_rank_says(distractor):
    settings = replace(ELSEWHERE, distractor=distractor)
    drawn = draw_entities(source_of(settings).recipe("train"), np.arange(20_000), {})
    subject, obj = tables_of(settings)[:2]
    joint = np.array([[p * q * (i != j) for j, q in enumerate(obj)] for i, p in enumerate(subject)])
    if distractor:  # the third is neither: it is drawn by the mean of both tables
        joint *= 1 - ((subject + obj) / 2)[:, None] - ((subject + obj) / 2)[None, :]
    assert set(np.unique(drawn)) == set(settings.kinds)
    for column, target in ((0, joint.sum(axis=1)), (1, joint.sum(axis=0))):
        counts = np.array([(drawn[:, column] == kind).sum() for kind in settings.kinds])
        assert goodness(counts, target / target.sum()).p > 1e-6
    assert goodness(counts, np.full(6, 1 / 6)).p < 1e-6, "the same test tells another table"


def test_only_kinds_of_the_world_are_stored_and_named(elsewhere):
    data = open_dataset(elsewhere)
    for split in (data.train, data.val, data.test):
        assert set(np.unique(split.column("scene/entity"))) <= set(ELSEWHERE.kinds)
        assert {example.subject for example in split} | {example.object for example in split} <= set(NAMES)
    assert [data.names["entities"][kind] for kind in ELSEWHERE.kinds] == NAMES
    assert data.manifest["settings"]["kinds"] == list(ELSEWHERE.kinds)
    assert data.settings == ELSEWHERE
    counted = marginals(data)["test"]
    first = [NAMES.index(example.subject) for example in data.test]
    assert counted.counts["subject"].tolist() == np.bincount(first, minlength=6).tolist()


def test_data_sets_of_two_seeds_with_one_test_seed_share_the_test_split_alone(elsewhere, dataset_of):
    shared = dataset_of(replace(ELSEWHERE, seed=8, test_seed=3, n=20, val=2))
    one, other = open_dataset(elsewhere), open_dataset(shared)
    assert one.test.digests([40]) == other.test.digests([40])
    assert np.array_equal(one.test.images(np.arange(40)), other.test.images(np.arange(40)))
    assert one.train.digests([20]) != other.train.digests([20])
    assert one.val.digests([2]) != other.val.digests([2])
    assert verify(shared, Raster()).problems == []


def test_a_test_seed_that_is_the_seed_makes_no_other_data_set():
    plain, named = resolve(Settings(seed=4)), resolve(Settings(seed=4, test_seed=4))
    assert plain == named
    assert not {"kinds", "world_seed", "test_seed"} & plain.keys()
    assert Settings(seed=4, test_seed=4).seeds == "seed 4"
    assert Settings(seed=4, test_seed=0, world_seed=-2).seeds == "seed 4, test seed 0, world seed -2"
    assert resolve(Settings(seed=4, test_seed=0)) != plain


TURNED = [*ELSEWHERE.kinds[1:], ELSEWHERE.kinds[0]]


@pytest.mark.parametrize("kinds", [None, list(range(6)), TURNED], ids=["none", "first", "turned"])
def test_a_manifest_of_other_kinds_than_its_seeds_is_found(kinds, elsewhere, copy):
    directory = copy(elsewhere)
    manifest = manifests.load(directory)
    manifest["settings"].pop("kinds")
    if kinds is not None:
        manifest["settings"]["kinds"] = kinds
    manifests.save(directory, manifest)
    assert any("kinds" in line for line in verify(directory).problems)


def test_a_vehicle_of_no_kind_of_the_world_is_found(elsewhere):
    train, index = open_dataset(elsewhere).train, np.arange(20)
    stored = train.rows(train.columns, range(20))
    implied(stored, index, ELSEWHERE)
    with pytest.raises(FormError, match="does not exist"):
        implied(stored, index, replace(ELSEWHERE, world_seed=4))
