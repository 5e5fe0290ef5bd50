"""What lies beside the page, against the data set it is of."""

import base64
import json
import re

import cv2
import numpy as np
import pytest

from simtown.assets.catalogue import BODIES
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import SPLITS, Settings
from simtown.datasets.showing.gallery import INDEX, SAMPLE, SHEET, THUMB, gallery_sample, thumb_size

CALL = re.compile(r"simtown\.(begin|detail)\((.*)\)\n", re.DOTALL)


def called(path):
    """The values of the one call that a script holds."""
    return json.loads(f"[{CALL.fullmatch(path.read_text())[2]}]")


def test_the_index_is_the_data_set(rich_gallery):
    out, data = rich_gallery
    (about,) = called(out / "data" / "index.js")
    stored = {name: base64.b64decode(about["columns"][name]) for name in INDEX}
    columns = {name: np.frombuffer(stored[name], dtype=kind) for name, kind in INDEX.items()}
    start = 0
    for split, name in zip(about["splits"], SPLITS, strict=True):
        examples = data[name]
        here = {key: column[start : start + split["count"]] for key, column in columns.items()}
        start += split["count"]
        assert (split["name"], split["count"]) == (name, len(examples))
        for role in ("subject", "object"):
            assert sum(split["target"][role]) == pytest.approx(1, abs=1e-5)
            assert [about["entities"][e] for e in here[role]] == [getattr(e, role) for e in examples]
        third = [{v.entity for v in e.scene.vehicles} - {e.subject, e.object} for e in examples]
        assert [{about["entities"][e]} for e in here["other"]] == third
        assert [a == 1 for a in here["answer"]] == [e.answer for e in examples]
        assert [about["relations"][r]["name"] for r in here["relation"]] == [e.relation for e in examples]
        assert [about["weathers"][w] for w in here["weather"]] == [e.scene.weather.kind for e in examples]
        assert here["margin"] / 100 == pytest.approx([e.margin for e in examples], abs=0.006)
    assert start == len(columns["answer"])


def test_details_sheets_and_masks_are_the_examples(rich_gallery):
    coco = pytest.importorskip("pycocotools.mask", reason="needs pycocotools: pip install '.[dev]'")
    out, data = rich_gallery
    for name in SPLITS:
        split, number, rows = called(out / "data" / f"{name}-00000.js")
        assert (split, number, len(rows)) == (name, 0, len(data[name]))
        sheet = cv2.imread(str(out / "data" / f"{name}-00000.jpg"))[..., ::-1].astype(int)
        assert sheet.shape == (SHEET * 32, SHEET * 64, 3)
        for i, (row, example) in enumerate(zip(rows, data[name], strict=True)):
            question, subject, obj, margin, _, _, vehicles = row
            assert (question, subject, obj) == (example.question, example.subject_slot, example.object_slot)
            assert margin == pytest.approx(example.margin, abs=1e-4)
            for slot, vehicle in enumerate(vehicles):
                there = example.scene.vehicles[slot]
                assert vehicle[1:4] == pytest.approx([there.x, there.y, there.yaw], abs=1e-4)
                assert vehicle[10] == (there.paint or BODIES[there.entity])
                assert vehicle[4:8] == pytest.approx(example.boxes[slot].tolist(), abs=0.06)
                mask = example.mask == slot + 1
                runs = {"size": mask.shape, "counts": vehicle[9].encode()}
                assert np.array_equal(coco.decode(runs) if vehicle[9] else mask * 0, mask)
            y, x = i // SHEET * 32, i % SHEET * 64
            assert np.abs(sheet[y : y + 32, x : x + 64] - example.image).mean() < 8


def test_large_pictures_get_smaller_thumbnails(cli, dataset_of, tmp_path):
    assert thumb_size(128, 64) == (128, 64)
    assert thumb_size(1024, 512) == (THUMB, THUMB // 2)
    town = dataset_of(Settings(entities=5, n=4, val=0, test=0, width=400, height=200))
    cli("gallery", town, "--out", tmp_path / "page").succeeds()
    data = open_dataset(town)
    sheet = cv2.imread(str(tmp_path / "page" / "data" / "train-00000.jpg"))[..., ::-1].astype(int)
    assert sheet.shape == (SHEET * THUMB // 2, SHEET * THUMB, 3)
    small = cv2.resize(data.train[1].image, (THUMB, THUMB // 2), interpolation=cv2.INTER_AREA)
    assert np.abs(sheet[: THUMB // 2, THUMB : 2 * THUMB] - small).mean() < 8


@pytest.mark.parametrize("count", [1, 1_999, 2_000, 2_001, 60_000, 100_000_000])
def test_a_sample_is_spread_evenly(count):
    sample = gallery_sample(count)
    numbers = np.concatenate(sample)
    assert len(numbers) == min(count, SAMPLE)
    assert (np.diff(numbers) > 0).all()
    assert numbers[0] == 0
    assert numbers[-1] < count
    if count > 60_000:
        part = np.bincount(numbers * 10 // count)
        assert part.tolist() == [SAMPLE // 10] * 10
    assert gallery_sample(count, everything=True) == [range(count)]


def test_a_sample_is_of_the_examples_that_it_names(sampled_gallery):
    out, data = sampled_gallery
    (about,) = called(out / "data" / "index.js")
    answers, start = np.frombuffer(base64.b64decode(about["columns"]["answer"]), dtype="u1"), 0
    for split, shown in zip(about["splits"], (120, 100, 120), strict=True):
        whole = data[split["name"]]
        assert split["count"] == len(whole)
        numbers = np.concatenate([first + np.arange(split["stretch"]) for first in split["starts"]])
        assert len(numbers) == shown
        assert answers[start : start + shown].tolist() == whole.column("answer")[numbers].tolist()
        start += shown
        rows = called(out / "data" / f"{split['name']}-00000.js")[2]
        assert [row[0].encode() for row in rows] == whole.column("question")[numbers].tolist()
        sheet = cv2.imread(str(out / "data" / f"{split['name']}-00001.jpg"))[..., ::-1].astype(int)
        assert np.abs(sheet[:32, 32:64] - whole.images([numbers[SHEET**2 + 1]])[0]).mean() < 8
    assert start == len(answers)


def test_the_same_bytes_and_never_over_anything(rich_gallery, contents, cli, tmp_path, rich):
    done = cli("gallery", rich, "--out", tmp_path / "again").succeeds()
    assert "index.html" in done.out
    assert contents(tmp_path / "again") == contents(rich_gallery[0])
    cli("gallery", tmp_path, "--out", tmp_path / "other").refuses("holds no simtown data set")
    assert not (tmp_path / "other").exists()
