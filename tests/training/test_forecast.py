"""How long the runs of a sweep take: as finished ones did, or by timed steps."""

from dataclasses import replace
from pathlib import Path

import pytest

from simtown.core.amounts import duration
from simtown.datasets.settings import Settings
from simtown.training import forecast
from simtown.training.early_stopping import least_steps
from simtown.training.fit import fit
from simtown.training.fit_settings import FitSettings
from simtown.training.forecast import seconds_a_step, time_left
from simtown.training.plan import SweepCell
from tests.training import towns
from tests.training.towns import HERE, preset, small

FIT = FitSettings("pbn", 1280, protocol="paper", patience=4)  # ten steps an epoch, five epochs at least


CHOICES = [{"patience": 2}, {"patience": 2, "max_steps": 5}]
CHOICES += [{"protocol": "patient", "patience": 2, "min_steps": 40}]
CHOICES += [{"protocol": "patient", "patience": 1, "min_steps": 0, "batch": 1000}]


@pytest.mark.parametrize("choice", CHOICES)
def test_a_run_that_never_gets_better_takes_the_least_steps(choice, data, tmp_path, monkeypatch):
    monkeypatch.setattr(towns.Scripted, "script", (0.6, 0.5))
    settings = small(f"{HERE}:Scripted", **{"max_steps": 0, **choice})
    run = fit(settings, data, tmp_path / "run")
    assert least_steps(settings) == run["steps"]


def test_a_finished_run_stands_for_the_others_of_its_model(monkeypatch):
    cells = {n: SweepCell(Settings(), replace(FIT, train_size=n)) for n in (1280, 2560, 100_000)}
    other = SweepCell(Settings(), replace(FIT, model="cnn-lstm"))
    seconds = {1280: {"steps": 200, "seconds": 100.0}, 100_000: {"steps": 9000, "seconds": 9000.0}}
    done = [(cells[n], run) for n, run in seconds.items()]
    monkeypatch.setattr(forecast, "seconds_a_step", lambda cell, jobs: 1.0)
    left = [cells[2560]]
    assert time_left([], done, 1, False) == []
    assert time_left(left, done, 2, False)[0].startswith(f"about {duration(100)} left")
    assert time_left(left, done, 2, True)[0].startswith(f"at least {duration(100)} left")
    assert time_left([*left, other], done, 1, False)[0].startswith(f"at least {duration(150)} left")


def test_a_step_is_timed():
    assert seconds_a_step(SweepCell(Settings(width=64, height=32), small("pbn")), 2) > 0


def test_a_plan_tells_what_is_done_and_how_long_the_rest_takes(cli, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    preset(Path("mine.toml"), sizes=[60], seeds=[0, 1], top="same_data = true")
    fit(small("question-only", max_steps=4), data, Path("out/runs/question-only-3-60-seed0"))
    words = ["sweep", "--preset", "mine.toml", "--device", "cpu", "--out", "out", "--plan"]
    lines = cli(*words).succeeds().out.splitlines()
    assert lines[:2] == ["question-only-3-60-seed0 done", "question-only-3-60-seed1"]
    assert "2 runs, 1 of them done" in lines[2]
    assert lines[3].startswith("about ")
    assert "nearest in training examples" in lines[4]
    fit(small("question-only", max_steps=4, seed=1), data, Path("out/runs/question-only-3-60-seed1"))
    assert "2 runs, 2 of them done" in cli(*words).succeeds().out.splitlines()[-1]
