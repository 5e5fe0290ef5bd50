"""Runs that were not made alike do not stand in one table."""

import json

import pytest

from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import read_runs

SETTINGS = {
    "protocol": "patient",
    "min_steps": 2000,
    "patience": 10,
    "max_steps": 0,
    "batch": 128,
    "learning_rate": 0.001,
    "stream": False,
    "precision": "float32",
    "options": {"dropout": 0.1},
    "device": "cpu",
}
DATA = {
    "width": 64,
    "height": 32,
    "relations": ["left of", "right of"],
    "weathers": ["clear"],
    "phrasing": "paper",
    "paint": "own",
    "val": 1000,
}


@pytest.fixture
def make(tmp_path, exact, store):
    """make("a", 500, data={"width": 128}): a finished run with these changes."""

    def run(name, n, model="pbn", data=None, **settings):
        made = exact(model, 5, n, 0.6)
        world = {"entities": 5, "distractor": False, "test_id": "t"}
        store(tmp_path / name, made, settings=SETTINGS | settings, data=world | DATA | (data or {}))

    return run


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"protocol": "paper"}, ["protocol (paper: 1 run, such as", "patient: 2 runs, such as"]),
        ({"min_steps": 400}, ["min_steps (2000: 2 runs", "400: 1 run"]),
        ({"patience": 3}, ["patience"]),
        ({"max_steps": 800}, ["max_steps (0: 2 runs", "800: 1 run"]),
        ({"options": {"dropout": 0.5}}, ["options of pbn (dropout 0.1", "dropout 0.5"]),
        ({"data": {"width": 128, "height": 128}}, ["picture size (128x128: 1 run", "64x32: 2 runs"]),
        ({"data": {"relations": ["behind"]}}, ["relations (behind: 1 run", "left of, right of: 2 runs"]),
        ({"data": {"paint": "uniform"}}, ["paint (own: 2 runs", "uniform: 1 run"]),
        ({"data": {"weathers": ["fog"]}, "patience": 3}, ["patience", " and weathers (clear: 2 runs"]),
    ],
)
def test_runs_that_were_made_otherwise_are_refused_and_named(change, words, make, tmp_path, cli):
    make("a", 500)
    make("b", 1000)
    make(
        "other", 500, **change
    )  # the same cell as the first: that they differ says more than that there are two
    refused = cli("complexity", tmp_path, "--out", tmp_path / "complexity")
    refused.refuses(
        "cannot stand in one table", *words, str(tmp_path / "other"), "give only directories of one kind"
    )
    assert not (tmp_path / "complexity").exists()
    assert len(read_runs([tmp_path / "a", tmp_path / "b"])) == 2


def test_what_does_not_change_the_meaning_of_an_accuracy_may_differ(make, tmp_path):
    make("a", 500)
    make("b", 1000, device="cuda")
    make("c", 1000, model="cnn-lstm", options={"dropout": 0.3})
    make("paper", 2000)
    make("d", 5000, data={"seed": 3, "world_seed": 3, "test_seed": 0})
    assert len(read_runs([tmp_path])) == 5


def test_the_paper_counts_no_least_steps(make, tmp_path):
    make("a", 500, protocol="paper", min_steps=2000)
    make("b", 1000, protocol="paper", min_steps=400)
    assert len(read_runs([tmp_path])) == 2


def test_what_an_older_program_did_not_record_is_not_compared(make, tmp_path):
    make("a", 500)
    make("b", 1000)
    path = tmp_path / "b" / "run.json"
    told = json.loads(path.read_text())
    del told["settings"]["precision"], told["data"]["phrasing"], told["data"]["weathers"]
    path.write_text(json.dumps(told))
    assert len(read_runs([tmp_path])) == 2


def test_another_test_set_has_a_note(exact, tmp_path, store, cli):
    runs = [exact("pbn", 5, n, share, test=test) for n, share, test in ((500, 0.6, "t"), (1000, 0.99, "u"))]
    (note,) = estimate(runs, replicates=40).notes
    assert note.startswith("5 entities: the runs were tested on 2 test sets")
    for run in runs:
        store(tmp_path / str(run.train_size), run)
    assert f"Note: {note}." in cli("complexity", tmp_path, "--replicates", 40).succeeds().out
