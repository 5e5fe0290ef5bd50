"""Digests, and checksums of a small world: a change to one raises the world's version (CONTRIBUTING.md)."""

from dataclasses import replace
from hashlib import sha256

import h5py
import numpy as np
import pytest

from simtown.assets.entities import VERSION
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import sample
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.render.raster import Raster

#: Of 42 examples with everything that a data set may have, in version 2: what is stored of them, by array,
#: the first 16 digits of SHA-256.
_TEXT = """
    index 9eb9d21600526db7, question 70742ffaecd8a40c, tokens 47cf15cb0c36e247,
    answer f469f3a7df05f50b, subject 656705913ac91e26, relation e648f30a234e3aaa,
    object 00d42363577da6f7, subject_slot 061df5535d0886b3, object_slot 76e3db1679abf455,
    phrasing 2ded06483b3ce26d, margin 535dc8a015d84c49, boxes 9d8183c2fa83f632,
    visible c63a4a82e8136d8c, scene/entity b320619a8481bf73, scene/pose 7d6c583b5bfc26e2,
    scene/paint 336558552a1cf452, scene/prop 94a8ffe8c010aaf4, scene/prop_pose b16db68a8c05ac1e,
    scene/prop_style 1e2ca800e8ec0baf, scene/weather f231a42b6bace243, scene/intensity 979febacb0625811,
    scene/sun fff779358d38f045, scene/fall_seed 01afd5a7fd321574, scene/camera 8ba35f530421ee2f,
    images d92ad7db4e48aa05, masks 9443d882d15d43aa, depth 6c707f3dc1875dd5
"""
GOLDEN = dict(pair.split() for pair in _TEXT.split(","))
#: Of all pictures of 24 examples of sequences, by mode: pictures, instance ids and depth.
SEQUENCES = {
    "time": "eaa735efa55e7d73 5709dba8597b007b e46b4af07d7498f9",
    "views": "7cf5dcba6449d86e 1c8221db66c5b9e5 2adfcd2b65284ae9",
    "change": "271e2b5cb2c0321d f5ac6bfdda133178 a81046c81f92ec68",
}


def digest(array) -> str:
    array = np.ascontiguousarray(array)
    return sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()[:16]


def test_version_2_of_the_world_has_the_bytes_it_had():
    settings = Settings(
        entities=100, frequencies="uniform", relations=RELATION_NAMES, phrasing="varied", distractor=True,
        paint="natural", jitter=0.5, masks=True, depth=True, width=96, height=64,
    )  # fmt: skip
    index = np.arange(42)
    examples = sample(source_of(settings).recipe("train"), index)
    frames = Raster().render(examples.scene, settings.width, settings.height)
    found = {name: digest(array) for name, array in source_of(settings).columns(examples, index).items()}
    found |= {"images": digest(frames.rgb), "masks": digest(frames.ids), "depth": digest(frames.depth)}
    assert VERSION == 2
    assert found == GOLDEN


@pytest.mark.parametrize("mode", SEQUENCES)
def test_pictures_of_sequences_have_the_bytes_they_had(mode):
    source = source_of(Settings(sequence=mode, entities=40, width=96, height=64))
    frames = Raster().render(source.pictures(source.draw("train", np.arange(24))), 96, 64)
    assert " ".join(map(digest, (frames.rgb, frames.ids, frames.depth))) == SEQUENCES[mode]


TOWN = Settings(entities=3, n=12, val=4, test=4, width=32, height=32, shard=4)


@pytest.fixture
def made(dataset_of):
    """made(n=20): the data set of TOWN with other choices, opened."""
    return lambda **changes: open_dataset(dataset_of(replace(TOWN, **changes)))


@pytest.fixture
def town(made):
    return made()


def test_the_first_examples_of_a_larger_set_are_the_smaller_set(town, made):
    small = town.train.digests([2, 6, 12])
    large = made(n=20, shard=10, masks=True, depth=True).train.digests([2, 6, 12, 20])
    assert small == {n: large[n] for n in small}
    assert len(set(large.values())) == 4


@pytest.mark.parametrize("name", ["images", "answer", "scene/pose", "question"])
def test_a_changed_row_changes_the_digests_that_hold_it(name, town, copy):
    dataset = open_dataset(copy(town.path))
    before = dataset.train.digests([4, 5, 12])
    with h5py.File(dataset.path / "train-00001.h5", "r+") as file:  # examples 4 to 7
        rows = file[name][:]
        rows.reshape(-1).view("u1")[0] ^= 1
        file[name][:] = rows
    after = open_dataset(dataset.path).train.digests([4, 5, 12])
    assert {n for n in before if before[n] != after[n]} == {5, 12}
