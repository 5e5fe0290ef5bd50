"""Data sets with a hold-out have a fourth split; verify counts what every split holds."""

import shutil
from dataclasses import replace

import pytest

from simtown.datasets import family_questions
from simtown.datasets.addresses import COMPOSITION, parse_address, stored_counts
from simtown.datasets.export import choose_splits
from simtown.datasets.making.generate import generate
from simtown.datasets.proving.verify import verify
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.resolved_settings import resolve
from simtown.datasets.settings import SPLITS, Settings
from tests.datasets.conftest import reseal

SIZES = {"entities": 6, "n": 40, "val": 4, "test": 20, "width": 32, "height": 32}


@pytest.fixture(scope="module")
def held(dataset_of):
    return dataset_of(Settings(**SIZES, questions=("exist", "count"), hold_out=("taxi+sedan", "count>2")))


def test_the_fourth_split_is_read_as_any_other(held):
    data = open_dataset(held)
    assert data.splits == (*SPLITS, COMPOSITION)
    assert len(data[COMPOSITION]) == stored_counts(held)[COMPOSITION] == 20
    assert parse_address(f"{held}/{COMPOSITION}:3") == (str(held), COMPOSITION, 3)
    assert choose_splits(data, []) == [*SPLITS, COMPOSITION]
    assert data.settings.hold_out == ("taxi+sedan", "count>2")
    assert {example.reply for example in data[COMPOSITION] if example.family == "count"} >= {"3"}


@pytest.mark.parametrize("quick", [True, False])
def test_verify_counts_every_example(held, quick, monkeypatch):
    report = verify(held, quick=quick)
    assert "held out taxi+sedan, count>2: none of 64 examples, all 20 of test-composition" in report.summary
    whole = family_questions.keeps_rules
    monkeypatch.setattr(family_questions, "keeps_rules", lambda *given: ~whole(*given))
    problems = " ".join(verify(held, quick=quick).problems)
    assert (
        "train-00000.h5: an example holds a composition that is held out (example 0 and 39 more)" in problems
    )
    assert f"{COMPOSITION}-00000.h5: an example holds no composition that is held out" in problems


@pytest.mark.parametrize("more", [{"twins": True}, {"questions_per_picture": 2}], ids=str)
def test_verify_finds_a_composition_in_twins_and_further_questions(more, tmp_path):
    ruled = Settings(**SIZES, questions=("exist", "count"), hold_out=("taxi+sedan",), **more)
    generate(ruled, tmp_path / "ruled", workers=1)
    assert "none of 64 examples, all 20 of test-composition" in verify(tmp_path / "ruled").summary
    generate(replace(ruled, hold_out=()), tmp_path / "free", workers=1)
    shutil.copy(tmp_path / "free/train-00000.h5", tmp_path / "ruled")
    reseal(tmp_path / "ruled")
    problems = " ".join(verify(tmp_path / "ruled", quick=True).problems)
    assert "train-00000.h5: an example holds a composition that is held out" in problems


def test_data_sets_without_a_hold_out_have_three_splits():
    settings = Settings(**SIZES, questions=("exist",))
    assert tuple(settings.counts()) == SPLITS
    assert "hold_out" not in resolve(settings)
