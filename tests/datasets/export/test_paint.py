"""A painted data set tells its paints in every form that it takes."""

import io
import json
import tarfile
from dataclasses import replace

import numpy as np
import pytest
import trimesh

from simtown.assets.catalogue import BODIES
from simtown.assets.palette import MATERIALS, PAINTS, material
from simtown.datasets.export import export
from simtown.datasets.export_scene import glb
from simtown.datasets.generate import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.verify import verify
from simtown.render.raster import Raster


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    place = tmp_path_factory.mktemp("painted") / "town"
    generate(
        Settings(
            entities=90,
            n=12,
            val=2,
            test=2,
            width=64,
            height=32,
            frequencies="uniform",
            paint="uniform",
            masks=True,
        ),
        place,
        1,
    )
    return open_dataset(place)


def paints(example):
    return [vehicle.paint or BODIES[vehicle.entity] for vehicle in example.scene.vehicles]


@pytest.fixture
def exported(town, tmp_path):
    def make(form):
        export(town, form, ["train"], tmp_path / form)
        return tmp_path / form

    return make


def test_the_set_is_painted_and_proves_itself(town):
    assert sum(vehicle.paint is not None for example in town.train for vehicle in example.scene.vehicles) > 10
    assert len(town.manifest["settings"]["paint_frequencies"]) == len(PAINTS)
    assert town.settings.paint == "uniform"
    assert verify(town.path, Raster(), None).problems == []


def test_coco(town, exported):
    pytest.importorskip("pycocotools.mask", reason="needs pycocotools: pip install '.[dev]'")
    told = json.loads((exported("coco") / "annotations" / "instances_train.json").read_text())
    for i, example in enumerate(town.train):
        shown = [paint for slot, paint in enumerate(paints(example)) if (example.mask == slot + 1).any()]
        assert [a["attributes"]["paint"] for a in told["annotations"] if a["image_id"] == i] == shown


def test_clevr(town, exported):
    scenes = json.loads((exported("clevr") / "scenes" / "CLEVR_train_scenes.json").read_text())["scenes"]
    assert [[o["color"] for o in scene["objects"]] for scene in scenes] == [
        paints(example) for example in town.train
    ]


def test_parquet(town, exported):
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install '.[export]'")
    table = pq.read_table(exported("parquet") / "data" / "train-00000.parquet")
    rows = table.column("vehicles").to_pylist()
    assert [[PAINTS[v["paint"]] for v in row] for row in rows] == [paints(example) for example in town.train]
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["vehicles"][0]["paint"]["names"] == list(PAINTS)


def test_json_of_webdataset_and_png(town, exported):
    lines = (exported("png") / "questions.jsonl").read_text().splitlines()
    assert [[v["paint"] for v in json.loads(line)["vehicles"]] for line in lines] == [
        paints(example) for example in town.train
    ]
    with tarfile.open(next(exported("webdataset").glob("*.tar"))) as tar:
        told = [
            json.load(io.BytesIO(tar.extractfile(m).read()))
            for m in tar.getmembers()
            if m.name.endswith(".json")
        ]
    assert [[v["paint"] for v in sample["vehicles"]] for sample in told] == [
        paints(example) for example in town.train
    ]


def test_glb(town, tmp_path):
    """Faces of the exchanged colour are there, those of the body's own are gone; nothing else changes."""
    scene, shapes = town.train.scenes(slice(0, 1)), []
    for paint in (-1, PAINTS.index("magenta")):
        glb(replace(scene, paint=np.array([[paint, -1]], dtype=np.int8)), tmp_path / "scene.glb")
        shapes.append(trimesh.load(tmp_path / "scene.glb").geometry)
    before, after = shapes
    assert before.keys() == after.keys()
    for name in before:
        assert np.array_equal(before[name].vertices, after[name].vertices)
        same = np.array_equal(
            before[name].visual.vertex_attributes["color"], after[name].visual.vertex_attributes["color"]
        )
        assert same != name.startswith("01 ")
    vehicle = next(name for name in before if name.startswith("01 "))
    changed = (
        before[vehicle].visual.vertex_attributes["color"] != after[vehicle].visual.vertex_attributes["color"]
    ).any(axis=1)
    srgb = np.array(MATERIALS[material("magenta")].colour)
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    assert np.allclose(
        after[vehicle].visual.vertex_attributes["color"][changed][:, :3] / 255, linear, atol=1 / 255
    )


def test_one_example_in_words(town, cli):
    for i in range(3):
        out = " ".join(cli("info", f"{town.path}/train:{i}").succeeds().out.split())
        for vehicle in town.train[i].scene.vehicles:
            assert f"{vehicle.entity} {vehicle.paint or 'own'}" in out
