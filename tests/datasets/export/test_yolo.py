"""YOLO labels, read with supervision (which loads what Ultralytics trains on)."""

import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.settings import SPLITS
from simtown.render.raster import Raster


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
    cli("export", rich, "--to", "yolo", "--split", "train", "--out", tmp_path / "y").succeeds()
    told = yaml.safe_load((tmp_path / "y" / "data.yaml").read_text())
    assert (told["train"], told["val"]) == ("images/train", "images/train")
