"""Summaries: what counting all rows gives, read instead of the rows; and one example in words."""

from dataclasses import replace

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.core.files import DamagedError
from simtown.datasets.addresses import is_address
from simtown.datasets.making import manifests, summaries
from simtown.datasets.making.generate import generate
from simtown.datasets.names import names
from simtown.datasets.reading.locate import find
from simtown.datasets.reading.reader import Split, open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import sample
from simtown.language.meaning.relations import RELATION_NAMES

SMALL = Settings(entities=6, n=20, val=4, test=0, width=32, height=32, shard=8)


@settings(max_examples=12)
@given(
    entities=st.integers(3, 102),
    seed=st.integers(0, 2**32),
    distractor=st.booleans(),
    phrasing=st.sampled_from(["paper", "varied"]),
    relations=st.sampled_from([("left of", "right of"), RELATION_NAMES]),
    cut=st.integers(0, 10),
)
def test_parts_of_a_run_of_examples_add_up_to_the_whole(cut, **choices):
    choices = Settings(**choices, frequencies="uniform")
    index, sizes = np.arange(20), summaries.lengths(names(choices))
    whole = source_of(choices).columns(sample(source_of(choices).recipe("train"), index), index)
    cuts = slice(2 * cut), slice(2 * cut, None)
    parts = [{name: rows[part] for name, rows in whole.items()} for part in cuts]
    total = summaries.total((summaries.count(part, sizes) for part in parts), sizes)
    assert total == summaries.count(whole, sizes)
    assert {key: len(counts) for key, counts in total.items()} == sizes
    vehicles = 20 * choices.vehicles
    sums = {key: sum(counts) for key, counts in total.items()}
    assert sums == {**dict.fromkeys(sizes, 20), "distractor": vehicles - 40, "paint": vehicles}
    assert total["answer"] == [10, 10]


def test_numbers_that_stand_for_nothing_are_not_counted():
    index, sizes = np.arange(4), summaries.lengths(names(SMALL))
    rows = source_of(SMALL).columns(sample(source_of(SMALL).recipe("train"), index), index)
    with pytest.raises(ValueError, match="weather"):
        summaries.count({**rows, "scene/weather": np.array([0, 1, 2, 200], dtype=np.uint8)}, sizes)


@pytest.mark.parametrize("margin", [[3.0], [0.25, 0.75], [1, 2, 3], [40, 50], np.linspace(0, 30, 1001)])
def test_the_median_of_margins_is_right_to_half_a_metre(margin):
    counts = np.bincount(np.minimum(np.array(margin) * 2, 63).astype(int), minlength=64).tolist()
    assert abs(summaries.median_margin({"margin": counts}) - min(np.median(margin), 32)) <= 0.51


def test_saying_what_a_set_holds_reads_no_rows(many, cli, monkeypatch, tmp_path):
    """info and its figures need the manifest alone: they say the same without a single shard's content."""
    monkeypatch.chdir(tmp_path)
    before = cli("info", many, "--plot").succeeds().out

    def forbidden(*arguments, **more):
        raise AssertionError("a row was read")

    for name in ("column", "stream", "images"):
        monkeypatch.setattr(Split, name, forbidden)
    monkeypatch.setattr(h5py, "File", forbidden)
    assert cli("info", many, "--plot").succeeds().out == before


def test_a_shard_that_was_not_written_down_and_has_another_summary_is_damaged(dataset_of, copy):
    town = copy(dataset_of(SMALL))
    manifests.save(town, manifests.fresh(SMALL))
    with h5py.File(town / "train-00001.h5", "r+") as file:
        file.attrs["summary"] = "{}"
    with pytest.raises(DamagedError, match=r"train-00001\.h5"):
        generate(SMALL, town, workers=1)


def test_a_split_without_examples_has_no_summary(dataset_of):
    dataset = open_dataset(dataset_of(replace(SMALL, val=0)))
    assert set(dataset.manifest["summary"]) == {"train"}
    assert sum(dataset.summary("val")["answer"]) == 0


@pytest.mark.parametrize("where", ["train:13", "train-00001.h5:3"])
def test_info_of_one_example_tells_what_is_asked_and_what_stands_where(where, rich, cli):
    example = open_dataset(rich).train[13]
    words = [example.question, f"answer {'yes' if example.answer else 'no'}", f"{example.margin:+.2f} m"]
    words.append(f"{example.subject}, {example.relation}, {example.object}")
    words.append(f"weather {example.scene.weather.kind}")
    words += [word for v in example.scene.vehicles for word in (v.entity, f"{v.x:.2f}")]
    words += [f"{x:.0f}" for x in example.boxes[0]]
    out = " ".join(cli("info", rich / where).succeeds().out.split())
    assert [word for word in words if word not in out] == []


def test_info_refuses_what_is_no_example(rich, copy, cli):
    cli("info", f"{rich}/test:6").refuses("holds examples 0 to 5", "no example 6")
    cli("info", f"{rich}/nothing:0").refuses("has no split nothing", "train, val, test")
    cli("info", f"{rich}/test:3", "--plot").refuses("--plot")
    town = copy(rich)
    with h5py.File(town / "train-00000.h5", "r+") as file:
        del file["margin"]
        file["scene/weather"][4] = 99
    cli("info", f"{town}/train:3").refuses("train-00000.h5", "simtown verify", code=1)
    cli("info", f"{town}/train:4").refuses("copy", "simtown verify", code=1)


def test_a_directory_may_have_a_name_like_an_address(rich, copy, cli):
    town = copy(rich, "town:7")
    assert not is_address(str(town))
    assert "Examples" in cli("info", town).succeeds().out
    assert find(f"{town}/val:2")[1] == 2
