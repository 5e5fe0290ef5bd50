"""Exports of data sets that ask questions of all families."""

import json
import os
from collections import Counter, defaultdict
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.export import export
from simtown.datasets.export.clevr_programs import InexpressibleError, clevr_program
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.programs import decode, parse
from tests.datasets.export.clevr_executor import in_words, run

#: Families of which CLEVR's functions can ask at least some questions.
KNOWN = (
    "relations",
    "exist",
    "count",
    "compare",
    "kind",
    "colour",
    "driver",
    "hops",
    "logic",
    "nearest",
    "same",
)


@pytest.fixture(scope="session")
def asked(tmp_path_factory):
    """A small data set of all families, of which two questions are about each picture."""
    directory = tmp_path_factory.mktemp("asked") / "asked"
    own = {"questions": ("all",), "questions_per_picture": 2}
    generate(Settings(**own, n=160, val=0, test=20, width=96, height=96), directory)
    return open_dataset(directory)


@pytest.fixture(scope="session")
def clevr(tmp_path_factory):
    """2,000 questions that CLEVR's functions can ask, each with its scene."""
    folder = tmp_path_factory.mktemp("clevr")
    own = {"questions": KNOWN, "questions_per_picture": 2}
    generate(Settings(**own, n=2_800, val=0, test=0, width=64, height=64), folder / "town")
    export(open_dataset(folder / "town"), "clevr", [], folder / "clevr")
    scenes, questions = (
        json.loads((folder / "clevr" / what / f"CLEVR_train_{what}.json").read_text())[what]
        for what in ("scenes", "questions")
    )
    pairs = [(question, scenes[question["image_index"]]) for question in questions if question["program"]]
    assert len(pairs) >= 2_000
    return pairs


@pytest.mark.slow
def test_programs_give_the_answers_in_every_family(clevr):
    answers = defaultdict(Counter)
    for question, scene in clevr:
        assert run(question["program"], scene) == question["answer"], question
        answers[question["family"]][question["answer"]] += 1
    assert set(answers) == set(KNOWN)
    assert min(map(len, answers.values())) > 1


def test_the_published_engine_gives_the_answers(clevr):
    """With CLEVR_DATASET_GEN, a checkout of github.com/facebookresearch/clevr-dataset-gen, as it is."""
    if not (checkout := os.environ.get("CLEVR_DATASET_GEN")):
        pytest.skip("set CLEVR_DATASET_GEN to a checkout of clevr-dataset-gen")
    spec = spec_from_file_location("engine", Path(checkout) / "question_generation" / "question_engine.py")
    engine = module_from_spec(spec)
    spec.loader.exec_module(engine)
    names = {
        "type": "function",
        "inputs": "inputs",
        "side_inputs": "value_inputs",
    }  # before and after a release
    for question, scene in clevr:
        nodes = [{name: step[released] for name, released in names.items()} for step in question["program"]]
        result = engine.answer_question({"nodes": nodes}, None, scene, cache_outputs=False)
        assert in_words(result) == question["answer"], question


def test_a_program_is_as_a_person_would_write_it():
    steps = clevr_program(parse("count(filter(all(bus), related(left of, the(all(taxi)))))"))
    assert [step["function"] for step in steps] == [
        "scene", "filter_shape", "unique", "relate", "filter_objectcategory", "count"
    ]  # fmt: skip
    assert [step["inputs"] for step in steps] == [[], [0], [1], [2], [3], [4]]
    assert clevr_program(parse("exist(all(tank))"))[1]["function"] == "filter_objectcategory"  # not tankers
    with pytest.raises(InexpressibleError, match="leftmost"):
        clevr_program(parse("query(kind, the(most(leftmost, all(vehicle))))"))
    with pytest.raises(InexpressibleError, match="tree"):  # no object of the scenes
        clevr_program(parse("count(all(tree))"))


def same(record, number, data):
    """Whether a record in words says what the data set has."""
    example, split, names = data.train[number], data.train, data.names
    assert (record["index"], record["question"]) == (number, split.column("question")[number].decode())
    assert record["answer"] == names["answers"][split.column("value")[number]]
    assert record["family"] == names["families"][split.column("family")[number]]
    assert parse(record["program"]) == decode(split.column("program")[number])
    assert [vehicle["entity"] for vehicle in record["vehicles"]] == [v.entity for v in example.scene.vehicles]
    boxes = example.boxes[split.column("scene/entity")[number] >= 0]
    for vehicle, box in zip(record["vehicles"], boxes, strict=True):
        assert vehicle["box"] == pytest.approx(box.tolist(), abs=1e-4)


def test_png_and_coco_say_family_program_and_answer(asked, tmp_path):
    for form in ("png", "coco"):
        export(asked, form, [], tmp_path / form)
    lines = [json.loads(line) for line in (tmp_path / "png" / "questions.jsonl").read_text().splitlines()]
    for number, line in enumerate(lines[: len(asked.train)]):
        same(line, number, asked)
        if line["family"] == "distance":
            assert line["answer"] == f"{line['number']:.0f} m"
            assert line["tolerance"] >= 0.5
        if line["family"] == "where":
            x0, _, x1, _ = line["answer_box"]
            assert line["answer_box"] in [vehicle["box"] for vehicle in line["vehicles"]]
            assert line["answer"] == f"{('left', 'middle', 'right')[int((x0 + x1) / 2 / 32)]} third"
    coco = json.loads((tmp_path / "coco" / "annotations" / "instances_train.json").read_text())
    kept = ("question", "answer", "family", "program", "margin", "weather")
    assert [{key: one[key] for key in kept} for image in coco["images"] for one in image["questions"]] == [
        {key: line[key] for key in kept} for line in lines if line["split"] == "train"
    ]
    assert [line["image"] for line in lines[:3]] == [f"train/00000{number}.png" for number in (0, 0, 1)]
    assert len(coco["images"]) == len(list((tmp_path / "coco" / "train").iterdir())) == len(asked.train) / 2
    assert len({line["family"] for line in lines}) > 12


def test_parquet_has_features_for_what_is_asked(asked, tmp_path):
    datasets = pytest.importorskip("datasets", reason="needs datasets: pip install '.[dev]'")
    export(asked, "parquet", [], tmp_path / "p")
    loaded = datasets.load_dataset(str(tmp_path / "p"), cache_dir=str(tmp_path / "cache"))["train"]
    for number, (row, example) in enumerate(zip(loaded, asked.train, strict=True)):
        assert np.array_equal(np.array(row["image"]), example.image)
        named = {name: loaded.features[name].int2str(row[name]) for name in ("answer", "family")}
        vehicles = [{**vehicle, "entity": ENTITIES[vehicle["entity"]]} for vehicle in row["vehicles"]]
        same({**row, **named, "vehicles": vehicles}, number, asked)
        assert np.isfinite(row["number"]) == np.isfinite(row["tolerance"]) == (named["family"] == "distance")
        assert (row["answer_box"] is not None) == (named["family"] == "where")
    fields = json.loads((tmp_path / "p" / "croissant.json").read_text())["recordSet"][0]["field"]
    assert {"train/family", "train/program"} <= {field["@id"] for field in fields}
    assert "half the answers" not in (tmp_path / "p" / "README.md").read_text()


def test_the_held_out_split_has_a_name_that_hugging_face_takes(tmp_path):
    datasets = pytest.importorskip("datasets", reason="needs datasets: pip install '.[dev]'")
    own = {"questions": ("relations",), "hold_out": ("kind-kind:0.2",), "width": 64, "height": 64}
    generate(Settings(**own, n=8, val=0, test=4), tmp_path / "town")
    export(open_dataset(tmp_path / "town"), "parquet", [], tmp_path / "p")
    loaded = datasets.load_dataset(str(tmp_path / "p"), cache_dir=str(tmp_path / "cache"))
    assert {name: len(split) for name, split in loaded.items()} == {
        "train": 8,
        "test": 4,
        "test_composition": 4,
    }


def test_twins_have_a_group_and_what_was_edited(tmp_path):
    own = {"questions": ("relations", "count"), "twins": True, "width": 64, "height": 64}
    generate(Settings(**own, n=8, val=0, test=0), tmp_path / "town")
    export(open_dataset(tmp_path / "town"), "png", [], tmp_path / "png")
    lines = [json.loads(line) for line in (tmp_path / "png" / "questions.jsonl").read_text().splitlines()]
    for one, other in zip(lines[::2], lines[1::2], strict=True):
        assert (one["group"], one["question"], one["edit"]) == (
            other["group"],
            other["question"],
            other["edit"],
        )
        assert one["answer"] != other["answer"]
        assert one["edit"]


def test_webdataset_has_the_number_of_the_answer(asked, tmp_path):
    wds = pytest.importorskip("webdataset", reason="needs webdataset: pip install '.[dev]'")
    export(asked, "webdataset", [], tmp_path / "w")
    answers = (tmp_path / "w" / "answers.txt").read_text().splitlines()
    assert set(answers) <= {answer for of_type in ANSWERS.values() for answer in of_type}
    for sample in wds.WebDataset(str(tmp_path / "w" / "train-000000.tar"), shardshuffle=False).decode("rgb8"):
        assert answers[sample["cls"]] == sample["json"]["answer"]
