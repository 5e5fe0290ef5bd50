"""One example in words: `info` takes the addresses that `render` takes."""

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import pytest

from simtown.datasets.locate import find, is_address
from simtown.datasets.reader import open_dataset


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
    cli("info", f"{rich}/nothing:0").refuses("there is no shard", "data/train:7")
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
    assert find(f"{town}/val:2").row == 2
