"""PNG files and COCO, by the readers their users have: Pillow and pycocotools."""

import json

import numpy as np
import pytest
from PIL import Image

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.export.coco import SKY
from simtown.datasets.settings import SPLITS
from simtown.render.raster import Raster
from simtown.scenes.scene import Scene, SceneBatch


def test_png_and_its_questions(exported):
    out, data = exported("png")
    lines = [json.loads(line) for line in (out / "questions.jsonl").read_text().splitlines()]
    assert [line["split"] for line in lines] == [split for split in SPLITS for _ in range(len(data[split]))]
    for line in lines:
        example = data[line["split"]][line["index"]]
        assert np.array_equal(np.array(Image.open(out / line["image"])), example.image)
        assert np.array_equal(np.array(Image.open(out / line["mask"])), example.mask)
        assert line["answer"] == ("yes" if example.answer else "no")
        for name in ("question", "subject", "relation", "object"):
            assert line[name] == getattr(example, name)
        for role in ("subject", "object"):
            assert line["vehicles"][line[f"{role}_slot"]]["entity"] == line[role]
        assert line["margin"] == pytest.approx(example.margin, abs=1e-4)
        assert line["weather"] == example.scene.weather.kind
        for slot, vehicle in enumerate(line["vehicles"]):
            assert vehicle["box"] == pytest.approx(example.boxes[slot].tolist(), abs=1e-4)
            assert vehicle["x"] == pytest.approx(example.scene.vehicles[slot].x, abs=1e-4)


@pytest.mark.parametrize("which", ["rich", "plain"])
def test_coco_in_pycocotools(which, exported):
    """Masks decode to those stored, or, where none are, to what the renderer draws from the scene."""
    coco = pytest.importorskip("pycocotools.coco", reason="needs pycocotools: pip install '.[dev]'")
    out, data = exported("coco", which)
    for split in SPLITS:
        if not len(data[split]):
            continue
        reader = coco.COCO(out / "annotations" / f"instances_{split}.json")
        assert sorted(reader.getImgIds()) == list(range(len(data[split])))
        names = {c["id"]: c["name"] for c in reader.loadCats(reader.getCatIds())}
        assert list(names.values()) == [ENTITIES[kind] for kind in sorted(data.settings.kinds)]
        ids = Raster().render(data[split].scenes(), data.settings.width, data.settings.height).ids
        for number, example in enumerate(data[split]):
            image = reader.imgs[number]
            assert np.array_equal(np.array(Image.open(out / split / image["file_name"])), example.image)
            assert image["question"] == example.question
            if example.mask is not None:
                assert np.array_equal(ids[number], example.mask)
            found = reader.imgToAnns[number]
            assert len(found) == len(np.intersect1d(ids[number], 1 + np.arange(len(example.boxes))))
            for annotation in found:
                slot = [v.entity for v in example.scene.vehicles].index(names[annotation["category_id"]])
                mask = reader.annToMask(annotation)
                assert np.array_equal(mask, ids[number] == slot + 1)
                assert annotation["area"] == mask.sum()
                x, y, w, h = annotation["bbox"]
                assert mask[y : y + h, x : x + w].sum() == mask.sum()
                assert all(edge.any() for edge in (mask[y], mask[y + h - 1], mask[:, x], mask[:, x + w - 1]))


def test_amodal_masks_are_those_of_the_vehicle_alone_in_the_street(exported):
    coco = pytest.importorskip("pycocotools.coco", reason="needs pycocotools: pip install '.[dev]'")
    out, data = exported("coco")
    reader = coco.COCO(out / "annotations" / "instances_train.json")
    for annotation in reader.anns.values():
        scene = data.train[annotation["image_id"]].scene
        own = {v.entity: v for v in scene.vehicles}[reader.cats[annotation["category_id"]]["name"]]
        alone = SceneBatch.of([Scene(vehicles=[own], camera=scene.camera)])
        mask = Raster().render(alone, data.settings.width, data.settings.height).ids[0] == 1
        full = reader.annToMask({**annotation, "segmentation": annotation["amodal_segmentation"]})
        assert np.array_equal(full, mask)
        assert annotation["visible"] == pytest.approx(
            annotation["area"] / annotation["amodal_area"], abs=1e-4
        )
        assert annotation["amodal_area"] == full.sum()
        assert not (reader.annToMask(annotation) > full).any()
        (x, y, w, h), (rows, columns) = annotation["amodal_bbox"], np.nonzero(full)
        seen = [min(columns), min(rows), np.ptp(columns) + 1, np.ptp(rows) + 1]
        assert seen == pytest.approx([x, y, w, h], abs=3)
    assert min(annotation["visible"] for annotation in reader.anns.values()) < 1


@pytest.mark.parametrize("which", ["rich", "plain"])
def test_panoptic_segments_follow_the_published_format(which, exported):
    """By https://cocodataset.org/#format-data: what panopticapi checks before it evaluates."""
    out, data = exported("coco", which)
    panoptic = json.loads((out / "annotations" / "panoptic_train.json").read_text())
    instances = json.loads((out / "annotations" / "instances_train.json").read_text())
    categories = {category["id"]: category for category in panoptic["categories"]}
    assert len(categories) == len(panoptic["categories"])
    assert instances["categories"][0].items() <= categories[instances["categories"][0]["id"]].items()
    assert {c["name"] for c in categories.values() if not c["isthing"]} == {"ground", "sky"}
    assert [image["id"] for image in panoptic["images"]] == list(range(len(data.train)))
    drawn = Raster().render(data.train.scenes(), data.settings.width, data.settings.height)
    for annotation, image in zip(panoptic["annotations"], panoptic["images"], strict=True):
        example = data.train[annotation["image_id"]]
        assert annotation["image_id"] == image["id"]
        path = out / "annotations" / "panoptic_train" / annotation["file_name"]
        ids = np.array(Image.open(path)).astype(int) @ [1, 256, 256**2]
        assert ids.shape == (image["height"], image["width"])
        assert {segment["id"] for segment in annotation["segments_info"]} == set(ids.flat)
        kinds = {}
        for segment in annotation["segments_info"]:
            rows, columns = np.nonzero(ids == segment["id"])
            x, y, w, h = segment["bbox"]
            assert (segment["area"], segment["iscrowd"]) == (len(rows), 0)
            assert (x, y, w, h) == (min(columns), min(rows), np.ptp(columns) + 1, np.ptp(rows) + 1)
            kinds[segment["id"]] = categories[segment["category_id"]]["name"]
        depth, numbers = (getattr(drawn, name)[image["id"]] for name in ("depth", "ids"))
        assert np.array_equal(ids == SKY, np.isinf(depth))
        assert np.array_equal(np.where(numbers, ids, 0), numbers)
        assert all(kinds.get(1 + slot, v.entity) == v.entity for slot, v in enumerate(example.scene.vehicles))
