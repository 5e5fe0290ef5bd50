"""WebDataset tar shards, read with the webdataset library."""

import numpy as np
import pytest

from simtown.datasets.export import export, webdataset
from simtown.datasets.export.portion import Format
from simtown.datasets.settings import SPLITS

wds = pytest.importorskip("webdataset", reason="needs webdataset: pip install '.[dev]'")


@pytest.mark.parametrize("split", SPLITS)
def test_samples_in_order(split, exported):
    out, data = exported("webdataset")
    samples = list(wds.WebDataset(str(out / f"{split}-000000.tar"), shardshuffle=False).decode("rgb8"))
    assert len(samples) == len(data[split])
    for number, (sample, example) in enumerate(zip(samples, data[split], strict=True)):
        assert sample["__key__"] == f"{split}{number:09d}"
        assert np.array_equal(sample["png"], example.image)
        assert np.array_equal(sample["mask.png"][..., 0], example.mask)
        assert sample["cls"] == example.answer
        assert sample["json"]["question"] == example.question
        assert sample["json"]["index"] == number


def test_a_loader_over_several_shards(exported, monkeypatch, tmp_path):
    monkeypatch.setattr(webdataset, "SAMPLES", 7)
    monkeypatch.setattr(webdataset, "FORMAT", Format(webdataset.write, multiple=7))
    data = exported("webdataset", "plain")[1]
    export(data, "webdataset", [], tmp_path / "w")
    assert len(list(tmp_path.glob("w/train-*.tar"))) == 3
    shards = str(tmp_path / "w" / "train-{000000..000002}.tar")
    batches = list(
        wds.WebDataset(shards, shardshuffle=False).decode("torchrgb8").to_tuple("png", "cls").batched(5)
    )
    assert [tuple(pictures.shape) for pictures, _ in batches] == [(5, 3, 48, 48)] * 4
    assert (
        np.concatenate([answers for _, answers in batches]).tolist() == data.train.column("answer").tolist()
    )
