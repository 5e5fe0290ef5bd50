"""Asking a trained model: questions read as they were written, other data sets, pictures of any size."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from simtown.assets.catalogue import ENTITIES
from simtown.core.notebook import OBJECT, SUBJECT
from simtown.core.untrusted import open_picture
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings, SettingsError
from simtown.datasets.source import source_of
from simtown.language.asking.paper import sample
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.language.words import grammar
from simtown.language.words.questions import PHRASINGS, text
from simtown.render.renderers import make_renderer
from simtown.training import run_scores
from simtown.training.ask import ModelAnswer, draw, evaluate, framed, open_run, predict, triple
from simtown.training.fit import fit
from simtown.training.sources import Resident
from tests.training import towns
from tests.training.towns import HERE, small, snapshot

entity = st.integers(0, len(ENTITIES) - 1)


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    """Runs by model, made once."""
    made = {}

    def directory(model):
        if model not in made:
            made[model] = tmp_path_factory.mktemp("runs") / model
            fit(small(model, max_steps=8), data, made[model])
        return made[model]

    return directory


@pytest.fixture
def picture(data, tmp_path):
    """The first test picture as a file, and its question."""
    example = open_dataset(data).test[0]
    Image.fromarray(example.image).save(tmp_path / "street.png")
    return tmp_path / "street.png", example.question


@given(entity, st.integers(0, len(RELATION_NAMES) - 1), entity, st.integers(0, len(PHRASINGS) - 1))
def test_a_question_is_read_as_it_was_written(subject, relation, obj, phrasing):
    question = text(ENTITIES[subject], RELATION_NAMES[relation], ENTITIES[obj], phrasing)
    world = Settings(entities=len(ENTITIES), relations=RELATION_NAMES)
    for spelt in (question, question.upper()):
        assert triple(grammar.parse(ENTITIES, spelt)[0], world) == (subject, relation, obj)


def test_a_prediction_is_what_the_test_said(run, data, tmp_path):
    examples = open_dataset(data).test
    for model in ("pbn", "pbn-no-boxes", "cnn-lstm", "cnn-lstm-boxes", "question-only"):
        with np.load(run(model) / "test.npz") as test:
            wanted = 1 / (1 + np.exp(-test["logit"][:4]))
        assert np.ptp(wanted) > 1e-3  # examples differ by more than rounding
        for i in range(4):
            Image.fromarray(examples[i].image).save(tmp_path / "street.png")
            answer = predict(run(model), tmp_path / "street.png", examples[i].question)
            assert answer.yes == pytest.approx(wanted[i], abs=1e-4)
            assert (answer.boxes is not None) == (model in ("pbn", "cnn-lstm-boxes"))


def test_found_boxes_are_corners_in_pixels_of_the_picture_that_was_given(run, data, tmp_path):
    dataset = open_dataset(data)
    example, found = dataset.test[0], {}
    for size in (32, 128):
        path = tmp_path / f"{size}.png"
        Image.fromarray(example.image).resize((size, size), Image.Resampling.NEAREST).save(path)
        found[size] = predict(run("pbn"), path, example.question)
    assert found[128].yes == pytest.approx(found[32].yes, abs=1e-4)
    np.testing.assert_allclose(found[128].boxes, found[32].boxes * 4, atol=0.01)
    (batch,) = Resident(dataset.test, 1, dataset.settings, torch.device("cpu")).batches([np.arange(1)])
    with torch.no_grad():
        x, y, w, h = open_run(run("pbn"))[0].boxes(batch)[:, 0].numpy().T * 32
    w, h = np.maximum(w, 0), np.maximum(h, 0)
    corners = np.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], 1)
    np.testing.assert_allclose(found[32].boxes, corners, atol=0.01)


MORE_SKY = [((256, 256), (64, 36)), ((256, 400), (32, 32)), ((251, 133), (64, 36))]
MORE_STREET = [((640, 256), (64, 36)), ((640, 256), (80, 32))]


@pytest.mark.parametrize(("shape", "run_shape"), MORE_SKY + MORE_STREET)
def test_a_picture_of_another_shape_is_framed_as_the_runs(shape, run_shape):
    """What is cut out of a picture is what the camera shows in the run's size."""
    scene = sample(source_of(towns.TOWN).recipe("test"), np.arange(1)).scene

    def drawn(width, height):
        return Image.fromarray(make_renderer().render(scene, width, height, geometry=False).rgb[0])

    frame = framed(shape, towns.world(width=run_shape[0], height=run_shape[1]))
    large = drawn(run_shape[0] * 8, run_shape[1] * 8)
    cut = np.asarray(drawn(*shape).resize(run_shape, Image.Resampling.BOX, box=frame), float)
    whole = np.asarray(large.resize(run_shape, Image.Resampling.BOX), float)
    shifted = np.roll(whole, 2, axis=1)
    assert np.abs(cut - whole).mean() < np.abs(cut - shifted).mean() / 3


@pytest.mark.parametrize(
    ("shape", "run_shape", "word"),
    [((256, 128), (32, 32), "sky"), ((256, 256), (96, 32), "street")],
)
def test_a_picture_that_shows_less_cannot_be_framed(shape, run_shape, word):
    with pytest.raises(SettingsError, match=word):
        framed(shape, towns.world(width=run_shape[0], height=run_shape[1]))


@pytest.mark.parametrize(
    ("boxes", "word"),
    [
        ([[10, 10, 50, 50], [12, 10, 52, 50]], "both"),
        ([[10, 10, 50, 50], [200, 10, 250, 50]], ""),
        ([[10, 10, 10, 50], [200, 10, 250, 50]], "subject"),
        ([[10, 10, 50, 50], [-90, 10, -20, 50]], "object"),
    ],
)
def test_boxes_that_cannot_hold_two_vehicles_are_doubted(boxes, word):
    doubts = ModelAnswer(0.5, np.array(boxes, float), (0, 0, 300, 100)).doubts()
    assert word in " ".join(doubts)
    assert bool(doubts) == bool(word)


def test_boxes_are_drawn_where_they_were_found(tmp_path):
    Image.new("RGB", (60, 40)).save(tmp_path / "black.png")
    answer = ModelAnswer(0.5, np.array([[5.0, 6, 20, 30], [30, 10, 50, 20]]), (0, 0, 60, 40))
    drawn = np.asarray(draw(open_picture(tmp_path / "black.png"), answer))
    assert drawn.shape == (9 * 40, 9 * 60, 3)
    for colour, (x0, y0, x1, y1) in ((SUBJECT, (5, 6, 20, 30)), (OBJECT, (30, 10, 50, 20))):
        x, y = 9 * (x0 + x1) // 2, 9 * (y0 + y1) // 2
        for place in ((y, 9 * x0), (y, 9 * x1), (9 * y0, x), (9 * y1, x)):
            assert tuple(drawn[place]) == colour
        assert not drawn[y, x].any()


def test_predict_answers_and_draws(cli, run, picture, tmp_path):
    street, question = picture
    done = cli("predict", run("pbn"), street, question, "--out", tmp_path / "found.png").succeeds()
    answer = predict(run("pbn"), street, question)
    said = "yes" if answer.yes > 0.5 else "no"
    assert done.out.startswith(f"{said} (p = {max(answer.yes, 1 - answer.yes):.3f}). This run scores ")
    assert re.search(r"subject, .*: x -?\d+ to -?\d+, y -?\d+ to -?\d+ pixels", done.out)
    assert "object, " in done.out
    with Image.open(tmp_path / "found.png") as found:
        assert (found.format, found.size) == ("PNG", (512, 512))
    cli("predict", run("cnn-lstm"), street, question, "--out", tmp_path / "found.png").refuses("--out")


def test_predict_refuses_in_one_line(cli, run, picture, tmp_path):
    street, question = picture
    (tmp_path / "letter.png").write_text("Dear all")
    (tmp_path / "cut.png").write_bytes(street.read_bytes()[:200])
    directory = run("pbn")
    before = snapshot(directory)
    for name in ("letter.png", "cut.png"):
        cli("predict", directory, tmp_path / name, question).refuses("cannot be read as a picture", name)
    cli("predict", directory, "absent.png", question).refuses("there is no file absent.png")
    for asked, words in (
        ("Is a zeppelin left of a car?", ["'zeppelin'", "ask like"]),
        ("car?", ["not understood"]),
        (text(ENTITIES[0], "left of", ENTITIES[40]), [ENTITIES[40], ENTITIES[2]]),
        (text(ENTITIES[0], "behind", ENTITIES[1]), ["left of", "behind"]),  # which it never learned
    ):
        cli("predict", directory, street, asked).refuses(*words)
    cli("predict", tmp_path, street, question).refuses("holds no run")
    cli("predict", run("true-boxes"), street, question).refuses("true-boxes", "true boxes")
    assert snapshot(directory) == before


def test_evaluation_repeats_the_test_of_the_run(cli, run, data, tmp_path):
    directory = run(f"{HERE}:Entities")  # without sums, so that no rounding decides an answer
    run_json, report = json.loads((directory / "run.json").read_text()), tmp_path / "report.json"
    allowed = ["--allow-model", f"{HERE}:Entities"]
    done = cli("evaluate", directory, data, "--json", report, *allowed).succeeds()
    again = json.loads(report.read_text())
    wanted = {k: v for k, v in run_json["test"].items() if k != "loss"}
    assert again == {**wanted, "references": run_json["references"]}
    assert f"test accuracy {again['accuracy']:.3f}" in done.out


def test_evaluation_on_another_data_set_reports_its_own_accuracy(run, dataset_of):
    fog = dataset_of(replace(towns.TOWN, seed=9, n=2, test=30, weathers=("fog",), phrasing="varied"))
    again = evaluate(run("cnn-lstm"), fog, torch.device("cpu"))
    model, _, _ = open_run(run("cnn-lstm"))
    dataset = open_dataset(fog)
    source = Resident(dataset.test, 30, dataset.settings, torch.device("cpu"))
    logits, _ = run_scores.logits_of(model, source, 30)
    assert again["accuracy"] == ((logits > 0) == dataset.test.column("answer")).mean()
    assert again["n"] == 30
    assert "seen" not in again  # its training examples are not the run's


def test_evaluation_on_a_grown_data_set_knows_the_examples_of_training(run, dataset_of):
    directory, grown = run(f"{HERE}:Entities"), dataset_of(replace(towns.TOWN, n=80, shard=50))
    report = evaluate(directory, grown, torch.device("cpu"), [f"{HERE}:Entities"])
    assert report["seen"] == json.loads((directory / "run.json").read_text())["test"]["seen"]


def test_evaluation_refuses_what_cannot_be_compared(cli, run, plain, many, dataset_of, tmp_path):
    directory = run("pbn")
    before = snapshot(directory)
    cli("evaluate", directory, plain).refuses("48x48", "32x32")
    cli("evaluate", directory, many).refuses("has not seen", "--entities 3")
    untested = dataset_of(replace(towns.TOWN, n=2, val=2, test=0))
    cli("evaluate", directory, untested).refuses("no test examples")
    cli("evaluate", tmp_path / "nothing", many).refuses("there is no folder")
    cli("evaluate", directory, tmp_path / "nothing").refuses("nothing")
    assert snapshot(directory) == before
