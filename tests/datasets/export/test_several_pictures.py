"""Sequences in the formats that ask a model: all pictures of an example, in the order that it shows."""

import csv
import io
import json
import runpy
import sys
from base64 import b64decode

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from simtown.datasets.export import export
from simtown.datasets.formats import FORMATS, HARNESSES
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    out = tmp_path_factory.mktemp("sequences") / "town"
    size = {"n": 2, "val": 0, "test": 12, "width": 64, "height": 48, "entities": 20}
    generate(Settings(sequence="time", **size), out)
    return open_dataset(out)


def pixels(png):
    return np.array(Image.open(io.BytesIO(png)))


def of_chat(out):
    for line in (out / "test.jsonl").read_text().splitlines():
        parts = json.loads(line)["messages"][0]["content"]
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        yield [b64decode(url.partition(",")[2]) for url in urls]


def of_llava(out):
    for entry in json.loads((out / "test.json").read_text()):
        assert entry["conversations"][0]["value"].count("<image>") == len(entry["images"])
        yield [(out / path).read_bytes() for path in entry["images"]]


def of_inspect(out):
    for line in (out / "test.jsonl").read_text().splitlines():
        parts = json.loads(line)["input"][0]["content"]
        yield [(out / part["image"]).read_bytes() for part in parts if part["type"] == "image"]


def of_lmms_eval(out):
    for path in sorted((out / "data").glob("test*")):
        for row in pq.read_table(path).to_pylist():
            yield [image["bytes"] for image in row["images"]]


def of_vlmevalkit(out):
    csv.field_size_limit(sys.maxsize)
    with open(next(out.glob("*_test.tsv")), newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            images = json.loads(row["image"])
            assert len(json.loads(row["image_path"])) == len(images)
            yield [b64decode(image) for image in images]


READERS = {
    "chat": of_chat,
    "llava": of_llava,
    "inspect": of_inspect,
    "lmms-eval": of_lmms_eval,
    "vlmevalkit": of_vlmevalkit,
}


@pytest.mark.parametrize("name", HARNESSES)
def test_a_format_has_all_pictures_in_their_order(sequences, tmp_path, name):
    assert export(sequences, name, ["test"], tmp_path / "out")
    shown = list(READERS[name](tmp_path / "out"))
    assert len(shown) == len(sequences.test)
    for pngs, example in zip(shown, sequences.test, strict=True):
        assert np.array_equal(np.stack([pixels(png) for png in pngs]), example.image)


@pytest.mark.parametrize("name", sorted({*FORMATS} - {*HARNESSES}))
def test_formats_of_single_pictures_refuse_sequences(sequences, tmp_path, name):
    with pytest.raises(ValueError, match="single pictures"):
        export(sequences, name, ["test"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_frames_of_a_video_stand_behind_their_seconds(sequences, tmp_path, monkeypatch):
    out = tmp_path / "out"
    export(sequences, "lmms-eval", ["test"], out)
    assert (out / "town_test_video.yaml").exists()
    monkeypatch.setattr(sys, "path", [*sys.path])
    utils = runpy.run_path(str(out / "utils.py"))
    (table,) = (out / "data").glob("test*")
    for row, example in zip(pq.read_table(table).to_pylist(), sequences.test, strict=True):
        doc = row | {"images": [Image.open(io.BytesIO(image["bytes"])) for image in row["images"]]}
        (message,) = utils["video"](doc)
        *frames, question = message["content"]
        times = [float(part["text"][1:].split()[0]) for part in frames[::2]]
        assert times == pytest.approx(example.seconds, abs=1e-4)
        assert (np.stack([part["url"] for part in frames[1::2]]) == example.image).all()
        assert utils["video_question"](doc).endswith(question["text"])
