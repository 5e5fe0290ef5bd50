"""Parquet as its users load it: Hugging Face datasets, pyarrow, and Croissant's own reader."""

import logging

import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.settings import SPLITS


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    datasets = pytest.importorskip("datasets", reason="needs datasets: pip install '.[dev]'")
    cache = str(tmp_path_factory.mktemp("cache"))
    return lambda *words, **more: datasets.load_dataset(*words, cache_dir=cache, **more)


@pytest.mark.parametrize("which", ["rich", "plain"])
def test_the_directory_loads_with_its_card(which, exported, load):
    out, data = exported("parquet", which)
    loaded = load(str(out))
    assert {name: len(split) for name, split in loaded.items()} == {name: len(data[name]) for name in SPLITS}
    for name in SPLITS:
        for number, (row, example) in enumerate(zip(loaded[name], data[name], strict=True)):
            assert np.array_equal(np.array(row["image"]), example.image)
            if which == "rich":
                assert np.array_equal(np.array(row["mask"]), example.mask)
            here = (row["index"], row["question"], row["answer"], row["margin"])
            assert here == (number, example.question, example.answer, example.margin)
            vehicles = row["vehicles"]
            kinds = [ENTITIES[v["entity"]] for v in vehicles]
            assert kinds == [v.entity for v in example.scene.vehicles]
            for role in ("subject", "object"):
                assert ENTITIES[row[role]] == getattr(example, role) == kinds[row[f"{role}_slot"]]
            assert np.array_equal(np.array([v["box"] for v in vehicles], dtype=np.float32), example.boxes)
            assert [np.float32(v["visible"]) for v in vehicles] == example.visible.tolist()
            assert vehicles[0]["x"] == example.scene.vehicles[0].x
    features, relations = loaded["train"].features, data.train.column("relation").tolist()
    assert features["relation"].int2str(relations) == [example.relation for example in data.train]
    assert features["weather"].int2str(0) == "clear"


def test_bare_files_keep_their_features(exported, load):
    """load_dataset("parquet") never sees the card: the features stand in the files' schema, too."""
    out, _ = exported("parquet")
    bare = load("parquet", data_files={"train": str(out / "data" / "train-*.parquet")})["train"]
    assert type(bare.features["image"]).__name__ == "Image"
    assert bare.features == load(str(out))["train"].features
    assert next(iter(load(str(out), split="test", streaming=True)))["image"].size == (64, 32)


def test_the_card_counts_what_is_there(exported):
    yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install '.[dev]'")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install '.[export]'")
    out, data = exported("parquet")
    header = yaml.safe_load((out / "README.md").read_text().split("---\n")[1])
    about, names = header["dataset_info"], pq.read_schema(out / "data" / "train-00000.parquet").names
    assert [split["num_examples"] for split in about["splits"]] == [len(data[name]) for name in SPLITS]
    assert about["download_size"] == sum(path.stat().st_size for path in out.glob("data/*"))
    assert [feature["name"] for feature in about["features"]] == names
    assert header["size_categories"] == ["n<1K"]


def test_a_shard_becomes_a_file(exported, load):
    out, _ = exported("parquet")
    names = sorted(path.name for path in out.glob("data/train-*"))
    assert names == [f"train-{i:05d}.parquet" for i in range(3)]  # of 10, 10 and 4
    assert load(str(out), split="train")["index"][:] == list(range(24))


def test_croissant_is_valid_and_gives_the_records(exported, caplog):
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs mlcroissant: pip install '.[dev]'")
    out, data = exported("parquet")
    with caplog.at_level(logging.WARNING):
        croissant = mlcroissant.Dataset(jsonld=str(out / "croissant.json"))
        rows = list(croissant.records("test"))
    assert not croissant.metadata.issues.errors
    assert "not standard" not in caplog.text
    assert len(rows) == len(data.test)
    for row, example in zip(rows, data.test, strict=True):
        assert np.array_equal(np.array(row["test/image"]), example.image)
        assert row["test/question"].decode() == example.question
        assert row["test/answer"] == example.answer
