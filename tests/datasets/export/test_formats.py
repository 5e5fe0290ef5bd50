"""CLEVR, Parquet, WebDataset and YOLO, read as their users load them."""

import json
import logging
import re

import numpy as np
import pytest
from PIL import Image

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.export import export, webdataset
from simtown.datasets.export.portion import Format
from simtown.datasets.making.generate import generate
from simtown.datasets.making.ready_worlds import ready, worlds
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import SPLITS
from simtown.render.raster import Raster
from tests.datasets.export.clevr_executor import run


@pytest.fixture(params=SPLITS)
def split(request, exported):
    out, data = exported("clevr")
    name = request.param
    paths = (out / what / f"CLEVR_{name}_{what}.json" for what in ("scenes", "questions"))
    scenes, questions = (json.loads(path.read_text()) for path in paths)
    assert scenes["info"]["split"] == questions["info"]["split"] == name
    return out / "images" / name, scenes["scenes"], questions["questions"], data[name]


def test_fields_are_those_of_the_release(split):
    _, scenes, questions, _ = split
    about = {"split", "image_index", "image_filename"}
    assert set(scenes[0]) == about | {"objects", "directions", "relationships"}
    thing = {"color", "size", "rotation", "shape", "3d_coords", "material", "pixel_coords"}
    assert set(scenes[0]["objects"][0]) == thing | {"objectcategory"}
    assert set(scenes[0]["directions"]) == {"right", "behind", "above", "below", "left", "front"}
    assert set(scenes[0]["relationships"]) == {"right", "behind", "front", "left"}
    question = {"question_index", "question_family_index", "question", "answer", "program"}
    assert set(questions[0]) == about | question
    assert set(questions[0]["program"][0]) == {"inputs", "function", "value_inputs"}


def test_programs_give_the_answers(split):
    pictures, scenes, questions, data = split
    for number, (scene, question, example) in enumerate(zip(scenes, questions, data, strict=True)):
        assert (question["image_index"], scene["image_index"]) == (number, number)
        assert run(question["program"], scene) == question["answer"] == ("yes" if example.answer else "no")
        assert question["question"] == example.question
        assert np.array_equal(np.array(Image.open(pictures / question["image_filename"])), example.image)


def test_relationships_are_opposite_and_follow_the_directions(split):
    _, scenes, _, _ = split
    for scene in scenes:
        related, places = scene["relationships"], np.array([o["3d_coords"] for o in scene["objects"]])
        for name, opposite in (("left", "right"), ("front", "behind")):
            pairs = {(i, j) for i, found in enumerate(related[name]) for j in found}
            assert pairs == {(j, i) for i, found in enumerate(related[opposite]) for j in found}
        for i, found in enumerate(related["behind"]):
            assert all((places[j] - places[i]) @ scene["directions"]["behind"] > 1.49 for j in found)
        for i, found in enumerate(related["right"]):
            x = [o["pixel_coords"][0] for o in scene["objects"]]
            assert all(x[j] > x[i] for j in found)


def test_pixel_coordinates_lie_in_the_boxes(split):
    _, scenes, _, data = split
    for scene, example in zip(scenes, data, strict=True):
        for thing, (x0, y0, x1, y1) in zip(scene["objects"], example.boxes, strict=True):
            x, y, depth = thing["pixel_coords"]
            assert (x, y) == (np.clip(x, x0, x1), np.clip(y, y0, y1))
            assert example.depth[np.isfinite(example.depth)].min() < depth < 40


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


def test_the_card_of_a_ready_world_proves_its_first_examples(tmp_path):
    pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install '.[export]'")
    generate(ready("simtown-60", n=4, val=4, test=2), tmp_path / "world", 1)
    export(open_dataset(tmp_path / "world"), "parquet", [], tmp_path / "out")
    rows = re.findall(r"^\| (\w+) \| (\d) \| `(\w{64})` \|$", (tmp_path / "out/README.md").read_text(), re.M)
    assert [(split, int(count)) for split, count, _ in rows] == [("train", 4), ("val", 4), ("test", 2)]
    known = worlds()["simtown-60"].sha256
    for split, _, digest in rows[:2]:
        assert digest.startswith(known[split])


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


@pytest.mark.parametrize("split", SPLITS)
def test_samples_in_order(split, exported):
    wds = pytest.importorskip("webdataset", reason="needs webdataset: pip install '.[dev]'")
    out, data = exported("webdataset")
    samples = list(wds.WebDataset(str(out / f"{split}-000000.tar"), shardshuffle=False).decode("rgb8"))
    assert len(samples) == len(data[split])
    for number, (sample, example) in enumerate(zip(samples, data[split], strict=True)):
        assert np.array_equal(sample["png"], example.image)
        assert np.array_equal(sample["mask.png"][..., 0], example.mask)
        assert (sample["__key__"], sample["cls"]) == (f"{split}{number:09d}", example.answer)
        assert (sample["json"]["question"], sample["json"]["index"]) == (example.question, number)


def test_a_loader_over_several_shards(exported, monkeypatch, tmp_path):
    wds = pytest.importorskip("webdataset", reason="needs webdataset: pip install '.[dev]'")
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


@pytest.mark.parametrize("which", ["rich", "plain"])
@pytest.mark.parametrize("split", SPLITS)
def test_boxes_are_those_of_what_is_seen(which, split, exported):
    supervision = pytest.importorskip("supervision", reason="needs supervision: pip install '.[dev]'")
    out, data = exported("yolo", which)
    places = (out / "images" / split, out / "labels" / split, out / "data.yaml")
    loaded = supervision.DetectionDataset.from_yolo(*map(str, places))
    assert loaded.classes == list(ENTITIES[: max(data.settings.kinds) + 1])
    assert len(loaded) == len(data[split])
    ids = Raster().render(data[split].scenes(), data.settings.width, data.settings.height).ids
    for number, (_, image, found) in enumerate(sorted(loaded, key=lambda item: item[0])):
        example = data[split][number]
        assert np.array_equal(image[..., ::-1], example.image)
        entities = [v.entity for v in example.scene.vehicles]
        for box, name in zip(found.xyxy, found.class_id, strict=True):
            y, x = np.nonzero(ids[number] == 1 + entities.index(loaded.classes[name]))
            assert box == pytest.approx([x.min(), y.min(), x.max() + 1, y.max() + 1], abs=0.01)
        hidden = sum(not (ids[number] == 1 + slot).any() for slot in range(len(entities)))
        assert len(found) == len(set(entities)) - hidden


def test_the_settings_name_every_split(exported, cli, rich, tmp_path):
    yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install '.[dev]'")
    out, data = exported("yolo")
    told = yaml.safe_load((out / "data.yaml").read_text())
    assert (told["train"], told["val"], told["test"]) == ("images/train", "images/val", "images/test")
    assert told["names"] == dict(enumerate(ENTITIES[: max(data.settings.kinds) + 1]))
    outcome = cli("export", rich, "--to", "yolo", "--split", "train", "--out", tmp_path / "y").succeeds()
    assert "val is not exported" in outcome.out
    assert "# val is not exported" in (tmp_path / "y" / "data.yaml").read_text()
    told = yaml.safe_load((tmp_path / "y" / "data.yaml").read_text())
    assert (told["train"], told["val"]) == ("images/train", "images/train")
