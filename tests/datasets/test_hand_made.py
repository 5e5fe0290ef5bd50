"""Scenes that somebody made as a data set: what reads one reads them, and verify proves what it can."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import simtown
from simtown.core.files import ForeignDirectoryError
from simtown.datasets.making import hand_made, manifests
from simtown.datasets.making.hand_made import HandMadeError
from simtown.datasets.making.shards import write_shard
from simtown.datasets.proving.verify import verify
from simtown.datasets.settings import SettingsError
from simtown.render.raster import Raster
from simtown.town import Town, TownError

SIZE = (64, 64)
QUESTIONS = {
    "is the fire truck right of the mail van": "yes",
    "What colour is the fire truck?": "red",
    "How many vehicles are there?": "4",
    "Is the mail van left of the scooter?": "no",
    "Which way does the fire truck face?": "right",
    "From the mail van's driver's view, is the fire truck ahead?": "no",
    "Is it snowing?": "yes",
    "How far is the fire truck from the mail van?": None,
}


@pytest.fixture(scope="module")
def examples():
    """A few about one town, and some about an empty street and one from above."""
    town = Town.random(seed=3, weather="snow")
    town.place("fire truck", x=6.5)
    town.place("tram", x=200.0)  # outside of every picture
    made = [town.example(question, SIZE) for question in QUESTIONS]
    empty = Town(1)
    made.append(empty.example("Is there a bus?", SIZE))
    empty.camera = "bird"
    empty.place("bus", x=0.0, paint=None)
    return [*made, empty.example("Is there a bus?", SIZE)]


@pytest.fixture(scope="module")
def written(examples, tmp_path_factory):
    path = tmp_path_factory.mktemp("hand") / "data"
    simtown.write_dataset(examples, path, val=examples[:3], test=examples[3:6])
    return path


def test_examples_come_back_as_they_were_made(written, examples):
    data = simtown.open_dataset(written)
    assert (len(data.train), len(data.val), len(data.test)) == (10, 3, 3)
    for example, again in zip(examples, data.train, strict=True):
        assert (example.question, example.reply, example.program) == (
            again.question, again.reply, again.program,
        )  # fmt: skip
        assert np.array_equal(example.image, again.image)
        assert np.array_equal(example.depth, again.depth)
        assert again.scene.vehicles == example.scene.vehicles
    expected = [*QUESTIONS.values(), "no", "yes"]
    assert all(e.reply == reply for e, reply in zip(data.train, expected, strict=True) if reply)
    assert data.train[0].question == "Is the fire truck right of the mail van"


def test_verify_derives_the_answers_and_says_what_it_cannot_prove(written):
    report = verify(written, Raster(), None)
    assert report.problems == []
    assert "the answers of 16 examples follow from their words and scenes; all 16 pictures" in report.summary
    assert "how they were chosen cannot be proven" in report.summary


def test_only_the_manifest_says_that_scenes_are_made_by_hand(written, tmp_path):
    with pytest.raises(TypeError, match="hand_made"):
        simtown.Settings(hand_made=True)
    own = simtown.open_dataset(written).settings
    assert own.hand_made
    with pytest.raises(SettingsError, match="made by hand"):
        simtown.generate(replace(own, n=4, val=0, test=0), tmp_path / "sampled")
    assert not (tmp_path / "sampled").exists()


def test_verify_reads_the_words_again(examples, tmp_path, monkeypatch):
    """A program that means something else than its words is found, though its answer is right."""
    wrong = hand_made.read_question(examples[1].scene, "What colour is the mail van?")
    monkeypatch.setattr(hand_made, "read_question", lambda scene, text: wrong)
    simtown.write_dataset([examples[1]], tmp_path / "data")
    report = verify(tmp_path / "data", Raster(), None)
    assert len(report.problems) == 1
    assert "wrong program" in report.problems[0]


@pytest.mark.parametrize("column", ["value", "answer", "scene/pose", "program", "margin", "images"])
def test_verify_finds_what_was_changed(column, examples, tmp_path, monkeypatch):
    """Even if the checksums are those of the changed files."""

    def changed(directory, own, task, *rest, **given):
        write_shard(directory, own, task, *rest, **given)

        with h5py.File(directory / task.name, "r+") as file:
            rows = file[column][:]
            changes = {"value": rows[1], "program": rows[1], "images": rows[-1], "answer": not rows[0].any()}
            rows[0] = changes.get(column, rows[0] + 1)
            file[column][...] = rows

    monkeypatch.setattr(hand_made, "write_shard", changed)
    simtown.write_dataset(examples, tmp_path / "data")
    report = verify(tmp_path / "data", Raster(), None)
    assert len(report.problems) >= 1
    assert all("\n" not in line for line in report.problems)


def test_commands_read_it(written, tmp_path, cli):
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install '.[parquet]'")
    for n, arguments in enumerate([
        ("info", written), ("info", f"{written}/train:2"), ("audit", written), ("preview", written),
        ("gallery", written), ("export", written, "--to", "coco"), ("export", written, "--to", "parquet"),
        ("export", written, "--to", "lmms-eval"),
    ]):  # fmt: skip
        out = () if arguments[0] in ("info", "audit") else ("--out", tmp_path / f"{n}.png")
        result = cli(*arguments, *out)
        assert result.code == 0, result.err
    assert "made by hand" in cli("info", written).out


def test_a_data_set_may_be_made_of_others(plain, written, tmp_path):
    """The paper's examples of a data set, chosen by hand."""
    source = simtown.open_dataset(plain)
    chosen = [example for example in source.train if example.answer][:5]
    simtown.write_dataset(chosen, tmp_path / "data")
    again = simtown.open_dataset(tmp_path / "data").train
    assert [e.reply for e in again] == ["yes"] * 5
    assert np.array_equal(again[4].image, chosen[4].image)
    assert verify(tmp_path / "data", Raster(), None).problems == []


@settings(max_examples=15)
@given(st.integers(0, 5), st.floats(-6, 6), st.floats(-6, 6))
def test_the_answer_is_the_towns(seed, x, other):
    town = Town(seed)
    town.place("taxi", x=x)
    town.place("ambulance", x=other, lane="far")
    question = "Is the taxi left of the ambulance?"
    answer = town.ask(question, everywhere=True)
    assume(answer.truth is not None and {"taxi", "ambulance"} <= town.seen())
    example = town.example(question)
    assert example.reply == ("yes" if answer else "no")
    assert example.margin == pytest.approx(abs(answer.margin), abs=1e-4)


REFUSED = [("What is left of the taxi?", "data sets do not ask"), ("Is the taxi near the bus?", "do not ask")]
REFUSED += [("Is the taxi left of the ambulance?", "too close to say"), ("Is it?", "not understood")]
REFUSED += [(f"Is the taxi {'very ' * 99} red?", "TownError")]


@pytest.mark.parametrize(("question", "why"), REFUSED)
def test_what_no_data_set_asks_is_refused_in_one_line(question, why):
    town = Town()
    town.place("taxi", x=0.0, lane="near")
    town.place("ambulance", x=0.1, lane="far")
    town.place("school bus", x=9.0)
    with pytest.raises(TownError) as refused:
        town.example(question)
    assert why == "TownError" or why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_cannot_be_written_is_refused(examples, written, tmp_path):
    larger = Town(1).example("Is there a bus?", (96, 64))
    with pytest.raises(HandMadeError, match="64x64 and 96x64"):
        simtown.write_dataset([*examples, larger], tmp_path / "data")
    with pytest.raises(HandMadeError, match="not none"):
        simtown.write_dataset([], tmp_path / "data")
    with pytest.raises(ForeignDirectoryError):
        simtown.write_dataset(examples, written)
    town = Town()
    for i in range(9):
        town.place("bicycle", x=3.0 * (i // 2) - 6, lane=("near", "far")[i % 2])
    with pytest.raises(TownError, match="9 vehicles"):
        town.example("Is there a bus?")
    assert not (tmp_path / "data").exists()
    assert manifests.load(written)["settings"]["hand_made"]
