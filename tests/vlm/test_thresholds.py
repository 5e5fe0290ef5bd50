"""Thresholds of models whose threshold is known, from questions of the town; worlds of several sizes."""

import hashlib
import json

import numpy as np
import pytest

from simtown import generate, open_dataset
from simtown.core.options import SettingsError
from simtown.core.tables import read_rows
from simtown.datasets.settings import Settings
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.vlm import thresholds, world_sizes
from simtown.vlm.thresholds import AnsweredQuestions
from simtown.vlm.vlm_run import evaluate_model
from simtown.vlm.vlm_settings import VlmSettings
from tests.complexity.observers import Observer

#: A model that sees its own pictures from a margin of 2 m on: it says what the test wrote down.
SEER = """\
import json, hashlib, pathlib
said = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text())
def look(prompt, picture, choices):
    return said[hashlib.sha256(picture.tobytes()).hexdigest()]
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data set with margins on both sides of 2 m."""
    path = tmp_path_factory.mktemp("thresholds") / "town"
    small = {"n": 2, "val": 0, "width": 32, "height": 32, "frequencies": "uniform"}
    generate(Settings(entities=5, test=600, **small), path, workers=1)
    return open_dataset(path)


def observed(data, observer, name="seer"):
    """What an observer answers to the test questions."""
    split = data.test
    margin, yes = np.abs(split.column("margin")), np.where(split.column("answer"), 1, -1)
    right = np.random.default_rng(1).random(len(split)) < observer.accuracy(margin, yes)
    relation = np.array(RELATION_NAMES)[split.column("relation")]
    rows = {name: np.arange(len(split)) for name in ("example", "cluster")}
    rows |= {"margin": margin, "relation": relation, "right": right}
    rows |= {"gold": np.where(yes > 0, "yes", "no")}
    rows |= {name: np.full(len(split), value) for name, value in (("family", "paper"), ("type", "truth"))}
    return AnsweredQuestions(name, "data", rows)


def test_thresholds_in_words_and_compared(data, tmp_path):
    models = [observed(data, Observer(2.5)), observed(data, Observer(1e-3), "clear")]
    found = thresholds.find(models, thresholds.QUANTITIES[:1])
    assert found[0].curve.low <= 2.5 <= found[0].curve.high
    assert found[0].sentence().startswith("tells left from right from 2")
    assert found[0].sentence().endswith(") on")
    lines = thresholds.write(found, tmp_path)
    assert "always above" in lines[1]
    assert found[1].curve.problem
    (tmp_path / "none").mkdir()
    thresholds.write(found[1:], tmp_path / "none")
    better = [*found, *thresholds.find([observed(data, Observer(1.2), "keen")], thresholds.QUANTITIES[:1])]
    assert any("less that of keen is" in line for line in thresholds.comparisons(better))
    for place in (tmp_path, tmp_path / "none"):
        assert (place / "thresholds.png").stat().st_size > 10_000
    assert len(read_rows(tmp_path / "thresholds.csv", ["threshold"])) == 2


def test_a_directory_of_results_has_thresholds(data, tmp_path, cli, monkeypatch):
    right = observed(data, Observer(2.5)).rows["right"]
    answers = {
        hashlib.sha256(example.image.tobytes()).hexdigest(): "yes" if example.answer == own else "no"
        for example, own in zip(data.test, right.tolist(), strict=True)
    }
    (tmp_path / "seer.py").write_text(SEER)
    (tmp_path / "seer.json").write_text(json.dumps(answers))
    monkeypatch.chdir(tmp_path)
    allowed = {"settings": VlmSettings(controls=0), "allow_model": ["seer:look"]}
    results = evaluate_model("python:seer:look", data, out=tmp_path / "results", **allowed)
    assert "tells left from right from 2" in (results.path / "summary.md").read_text()
    known = AnsweredQuestions.of_results(results)
    assert known.rows["right"].tolist() == right.tolist()
    shown = cli("thresholds", results.path, "--out", tmp_path / "t").succeeds().out
    assert "tells left from right from 2" in shown


def test_the_size_of_the_world_is_an_axis(tmp_path):
    base = Settings(entities=60, width=32, height=32, frequencies="uniform")
    axis = world_sizes.Axis.of("entities=12,3")

    def answer(data, name):
        assert (len(data.test), name) == (300, f"entities-{data.settings.entities}")
        return observed(data, Observer(0.4 * data.settings.entities))

    (line,) = world_sizes.evaluate_over(axis, base, 300, tmp_path, answer)
    rows = [row.cells for row in read_rows(tmp_path / "over.csv", ["entities"])]
    assert [row["entities"] for row in rows] == ["3", "12"]
    assert float(rows[0]["accuracy"]) > float(rows[1]["high"])
    assert "12: 4" in line or "12: 5" in line
    assert (tmp_path / "over.png").is_file()


@pytest.mark.parametrize("text", ["kinds=3", "entities", "entities=3,x", "entities=1"])
def test_an_axis_that_cannot_be_is_refused(text, tmp_path):
    with pytest.raises(SettingsError):
        world_sizes.evaluate_over(world_sizes.Axis.of(text), Settings(), 100, tmp_path, None)
    assert not any(tmp_path.iterdir())


def test_a_refused_run_over_worlds_leaves_nothing(tmp_path, cli):
    words = ["evaluate", "python:json:loads", "--over", "entities=3,5", "--examples", 20, "--out"]
    cli(*words, tmp_path / "out").refuses("--allow-model must be given json:loads")
    assert not any(tmp_path.iterdir())
