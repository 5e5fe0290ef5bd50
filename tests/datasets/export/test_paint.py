"""A painted data set tells its paints in every form that it takes."""

import json
from dataclasses import replace

import numpy as np
import pytest
import trimesh

from simtown.assets.catalogue import BODIES
from simtown.assets.palette import MATERIALS, PAINTS, material
from simtown.datasets.export import export
from simtown.datasets.making.generate import generate
from simtown.datasets.proving.verify import verify
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.showing.export_scene import glb
from simtown.render.raster import Raster


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    place = tmp_path_factory.mktemp("painted") / "town"
    world = {"entities": 90, "frequencies": "uniform", "paint": "uniform", "masks": True}
    generate(Settings(n=12, val=2, test=2, width=64, height=32, **world), place, 1)
    return open_dataset(place)


def paints(example):
    return [vehicle.paint or BODIES[vehicle.entity] for vehicle in example.scene.vehicles]


def of_coco(out):
    images = {}
    for thing in json.loads((out / "annotations" / "instances_train.json").read_text())["annotations"]:
        images.setdefault(thing["image_id"], []).append(thing["attributes"]["paint"])
    return [images[i] for i in sorted(images)]


def of_clevr(out):
    scenes = json.loads((out / "scenes" / "CLEVR_train_scenes.json").read_text())["scenes"]
    return [[thing["color"] for thing in scene["objects"]] for scene in scenes]


def of_parquet(out):
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install '.[export]'")
    table = pq.read_table(out / "data" / "train-00000.parquet")
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    names = features["vehicles"][0]["paint"]["names"]
    return [[names[v["paint"]] for v in row] for row in table.column("vehicles").to_pylist()]


def of_png(out):
    lines = (out / "questions.jsonl").read_text().splitlines()
    return [[v["paint"] for v in json.loads(line)["vehicles"]] for line in lines]


@pytest.mark.parametrize("read", [of_coco, of_clevr, of_parquet, of_png])
def test_paints_are_exported(read, town, tmp_path):
    form = read.__name__.removeprefix("of_")
    export(town, form, ["train"], tmp_path / form)
    expected = [paints(example) for example in town.train]
    if form == "coco":  # only of vehicles with a visible pixel
        for number, example in enumerate(town.train):
            expected[number] = [p for i, p in enumerate(expected[number], 1) if (example.mask == i).any()]
    assert read(tmp_path / form) == expected


def test_the_set_proves_itself(town):
    assert sum(vehicle.paint is not None for example in town.train for vehicle in example.scene.vehicles) > 10
    assert verify(town.path, Raster(), None).problems == []


def test_glb(town, tmp_path):
    """Faces of the exchanged colour are there, those of the body's own are gone; nothing else changes."""
    scene, shapes = town.train.scenes(slice(0, 1)), []
    for paint in (-1, PAINTS.index("magenta")):
        painted = replace(scene, paint=np.array([[paint, -1]], dtype=np.int8))
        (tmp_path / "scene.glb").write_bytes(glb(painted))
        shapes.append(trimesh.load(tmp_path / "scene.glb").geometry)
    before, after = shapes
    assert before.keys() == after.keys()
    srgb = np.array(MATERIALS[material("magenta")].colour)
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    for name in before:
        assert np.array_equal(before[name].vertices, after[name].vertices)
        old, new = (shape[name].visual.vertex_attributes["color"] for shape in shapes)
        changed = (old != new).any(axis=1)
        assert changed.any() == name.startswith("01 ")
        assert np.allclose(new[changed][:, :3] / 255, linear, atol=1 / 255)


def test_one_example_in_words(town, cli):
    for i in range(3):
        out = " ".join(cli("info", f"{town.path}/train:{i}").succeeds().out.split())
        for vehicle in town.train[i].scene.vehicles:
            assert f"{vehicle.entity} {vehicle.paint or 'own'}" in out
