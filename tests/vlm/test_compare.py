"""Comparing models: differences against formulas written anew, files, and what is refused in one line."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest

from simtown import generate, open_dataset
from simtown.datasets.settings import Settings
from simtown.vlm.vlm_run import evaluate_model
from simtown.vlm.vlm_settings import VlmSettings

#: Functions that answer: the first choice; and one by a digest of the picture and the question.
MODELS = """\
from zlib import crc32
def first(prompt, picture, choices): return choices[0]
def drawn(prompt, picture, choices):
    return choices[crc32(prompt.encode() + (b"" if picture is None else picture.tobytes())) % len(choices)]
"""


@pytest.fixture(scope="module")
def evaluations(tmp_path_factory, towns):
    """Two models' answers to questions of families, three about a picture; and one's to other questions."""
    place = tmp_path_factory.mktemp("compared")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        (place / "two_models.py").write_text(MODELS)
        small = {"entities": 15, "n": 6, "val": 0, "width": 48, "height": 48, "crowd": "3-5"}
        of_families = {"questions": ("exist", "relations", "count"), "questions_per_picture": 3}
        generate(Settings(test=90, **small, **of_families), place / "town", workers=1)
        data = open_dataset(place / "town")
        for name in ("first", "drawn"):
            model, how = f"python:two_models:{name}", VlmSettings(controls=12)
            evaluate_model(model, data, how, place / name, allow_model=[f"two_models:{name}"])
        few = VlmSettings(controls=12, examples=60)
        evaluate_model("python:two_models:first", data, few, place / "few", allow_model=["two_models:first"])
        other, alone = open_dataset(towns[0]), VlmSettings(controls=12)
        evaluate_model(
            "python:two_models:first", other, alone, place / "else", allow_model=["two_models:first"]
        )
    return place


def test_a_leaderboard_and_paired_differences(evaluations, tmp_path, cli):
    shown = cli("compare", evaluations / "first", evaluations / "drawn", "--out", tmp_path / "out").succeeds()
    assert "less python:two_models:drawn" in shown.out
    with open(tmp_path / "out" / "comparison.csv", newline="") as file:
        records = list(csv.DictReader(file))
    one, other = (pq.read_table(evaluations / name / "picture.parquet") for name in ("first", "drawn"))
    change = np.array(one["right"].to_numpy(), float) - np.array(other["right"].to_numpy(), float)
    pictures = np.arange(90) // 3
    sums = np.bincount(pictures, weights=change - change.mean())
    error = np.sqrt((sums**2).sum() * 30 / 29) / 90
    mine = records[0]
    assert (mine["condition"], mine["questions"]) == ("picture", "all")
    assert float(mine["difference"].lstrip("'")) == pytest.approx(change.mean())
    assert float(mine["se"]) == pytest.approx(error)
    assert int(mine["clusters"]) == 30
    assert "over fewer than 30 pictures" in shown.out  # the controls' rows
    assert (int(mine["one"]), int(mine["other"])) == ((change > 0).sum(), (change < 0).sum())
    assert {row["condition"] for row in records} >= {"picture", "no-picture", "exist"}
    for name in ("leaderboard.md", "leaderboard.csv", "leaderboard.tex"):
        assert "drawn" in (tmp_path / "out" / name).read_text()


def test_other_questions_are_refused_in_one_line(evaluations, tmp_path, together):
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in (evaluations / "drawn").iterdir():
        (damaged / file.name).write_bytes(file.read_bytes())
    (damaged / "picture.parquet").write_bytes(b"PAR1")
    first = evaluations / "first"
    cases = {
        "another data set": [first, evaluations / "else"],
        "other questions": [first, evaluations / "few"],
        "damaged": [first, damaged],
        "two or more": [first, first],
        "nowhere": [first, tmp_path / "nowhere"],
        "summary.json": [first, evaluations / "town"],
    }
    outcomes = together(*(["compare", *words, "--out", tmp_path / "out"] for words in cases.values()))
    for word, outcome in zip(cases, outcomes, strict=True):
        assert outcome.code == (1 if word == "damaged" else 2), word
        assert word in outcome.err
        assert len(outcome.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()
