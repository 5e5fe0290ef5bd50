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
        assert np.array_equal(sample["png"], example.image)
        assert np.array_equal(sample["mask.png"][..., 0], example.mask)
        assert (sample["__key__"], sample["cls"]) == (f"{split}{number:09d}", example.answer)
        assert (sample["json"]["question"], sample["json"]["index"]) == (example.question, number)


def test_a_loader_over_several_shards(exported, monkeypatch, tmp_path):
    monkeypatch.setattr(webdataset, "SAMPLES", 7)
    monkeypatch.setattr(webdataset, "FORMAT", Format(webdataset.write, multiple=7))
    data = exported("webdataset", "plain")[1]
    export(data, "webdataset", [], tmp_path / "w")
    assert len(list(tmp_path.glob("w/train-*.tar"))) == 3
    shards = str(tmp_path / "w" / "train-{000000..000002}.tar")
    samples = wds.WebDataset(shards, shardshuffle=False).decode("torchrgb8")
    pictures, answers = zip(*samples.to_tuple("png", "cls").batched(5), strict=True)
    assert [tuple(batch.shape) for batch in pictures] == [(5, 3, 48, 48)] * 4
    assert np.concatenate(answers).tolist() == data.train.column("answer").tolist()
