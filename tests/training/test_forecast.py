"""How long a sweep still takes, told from its runs; what is not known is said to be unknown."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")

from simtown.core.amounts import duration  # noqa: E402
from simtown.datasets.settings import Settings  # noqa: E402
from simtown.training.early_stopping import least_steps  # noqa: E402
from simtown.training.fit import fit  # noqa: E402
from simtown.training.fit_settings import FitSettings  # noqa: E402
from simtown.training.forecast import Forecast, seconds_a_step  # noqa: E402
from simtown.training.plan import SweepCell  # noqa: E402
from tests.training import towns  # noqa: E402
from tests.training.towns import HERE, small  # noqa: E402

FIT = FitSettings("pbn", 1280, protocol="paper", patience=4)  # ten steps an epoch, five epochs at least


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return towns.hamlet(tmp_path_factory)


def waiting(jobs, *fits):
    """A forecast for cells that wait, and these."""
    cells, forecast = [SweepCell(Settings(), settings) for settings in fits], Forecast(jobs)
    for cell in cells:
        forecast.on_change(cell, "waiting", {})
    return forecast, cells


@pytest.mark.parametrize(
    "choice",
    [
        {"protocol": "paper", "patience": 2, "max_steps": 0},
        {"protocol": "paper", "patience": 2, "max_steps": 5},
        {"protocol": "patient", "patience": 2, "min_steps": 40, "max_steps": 0},
        {"protocol": "patient", "patience": 1, "min_steps": 0, "max_steps": 0, "batch": 1000},
    ],
)
def test_a_run_that_never_gets_better_takes_the_least_steps(choice, data, tmp_path, monkeypatch):
    monkeypatch.setattr(towns.Scripted, "script", (0.6, 0.5))
    settings = small(f"{HERE}:Scripted", **choice)
    run = fit(settings, data, tmp_path / "run")
    assert least_steps(settings) == run["steps"]


def test_nothing_known_is_said_and_a_running_run_tells_the_least():
    forecast, cells = waiting(1, FIT, replace(FIT, seed=1))
    assert str(forecast) == "time left unknown until a run of pbn was validated"
    assert forecast.unknown == cells[:1]
    forecast.on_change(
        cells[0], "running", {"step": 10, "images_per_second": 128.0, "best": 0.5}
    )  # a second a step
    assert not forecast.unknown
    assert str(forecast) == f"at least {duration(90)} left"


def test_a_finished_run_stands_for_the_others_of_its_model():
    forecast, cells = waiting(
        2,
        FIT,
        replace(FIT, train_size=2560),
        replace(FIT, train_size=100_000),
        replace(FIT, model="cnn-lstm"),
    )
    forecast.on_change(cells[0], "done", {"steps": 200, "seconds": 100.0})
    forecast.on_change(cells[2], "done", {"steps": 9000, "seconds": 9000.0})
    assert forecast.unknown == cells[3:]
    forecast.timed("cnn-lstm", 1.0)
    assert (
        str(forecast) == f"at least {duration(100)} left"
    )  # one as long as the nearer run, one of at least 50 steps; two at once
    forecast.on_change(cells[3], "failed", {"error": "a tree fell on the line"})
    assert str(forecast) == f"about {duration(100)} left"
    forecast.on_change(cells[1], "done", {"steps": 200, "seconds": 100.0})
    assert str(forecast) == ""


def test_a_run_is_no_shorter_than_one_process_makes_it():
    forecast, cells = waiting(8, FIT, replace(FIT, seed=1))
    forecast.on_change(cells[0], "done", {"steps": 100, "seconds": 50.0})
    assert str(forecast) == "about 50 s left"


def test_where_other_runs_will_follow_the_time_is_known_from_below_only():
    forecast, cells = (
        Forecast(1, growing=True),
        [SweepCell(Settings(), FIT), SweepCell(Settings(), replace(FIT, seed=1))],
    )
    assert str(forecast) == ""
    forecast.on_change(cells[0], "waiting", {})
    forecast.on_change(cells[0], "done", {"steps": 100, "seconds": 50.0})
    forecast.on_change(cells[1], "waiting", {})
    assert str(forecast) == "at least 50 s left"


@pytest.mark.parametrize(
    ("seconds", "words"), [(3, "3 s"), (600, "10 min"), (9000, "2.5 h"), (864_000, "10 days")]
)
def test_durations_are_words(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize("model", ["pbn", "cnn-lstm", "question-only"])
def test_a_step_is_timed_and_leaves_no_trace(model):
    before = torch.get_num_threads(), torch.random.get_rng_state()
    assert seconds_a_step(SweepCell(Settings(width=64, height=32), small(model)), 2) > 0
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.random.get_rng_state(), before[1])


def test_a_model_that_refuses_noise_is_not_timed():
    assert seconds_a_step(SweepCell(Settings(), small(f"{HERE}:Hungry")), 1) is None


def test_a_plan_tells_what_is_done_and_how_long_the_rest_takes(cli, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(
        'version = 1\nsame_data = true\nsize = "32"\n'
        '[[grid]]\nentities = [3]\ndistractor = [false]\nmodels = ["question-only"]\ntrain_sizes = [60]\n'
        'seeds = [0, 1]\n[data]\nval = 40\ntest = 40\n[fit]\nprotocol = "paper"\nbatch = 16\nmax_steps = 8\n'
    )
    fit(small("question-only", max_steps=8), data, Path("out/runs/question-only-3-60-seed0"))
    words = ["sweep", "--preset", "mine.toml", "--device", "cpu", "--out", "out", "--plan"]
    lines = cli(*words).succeeds().out.splitlines()
    assert lines[:2] == ["question-only-3-60-seed0 done", "question-only-3-60-seed1"]
    assert "2 runs, 1 of them done" in lines[2]
    assert lines[3].startswith("about ")
    assert "nearest in training examples" in lines[4]
    fit(small("question-only", max_steps=8, seed=1), data, Path("out/runs/question-only-3-60-seed1"))
    assert "2 runs, 2 of them done" in cli(*words).succeeds().out.splitlines()[-1]
    run = Path("out/runs/question-only-3-60-seed1/run.json")
    run.write_text(
        json.dumps(
            {
                **json.loads(run.read_text()),
                "settings": {**json.loads(run.read_text())["settings"], "patience": 4},
            }
        )
    )
    cli(*words).refuses("question-only-3-60-seed1", "patience 4, now 10")
