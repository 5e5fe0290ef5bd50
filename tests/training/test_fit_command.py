"""`simtown fit` at the command line: what it says when all goes well, and one line when it does not."""

import json
import os
import signal
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from simtown.core.files import claimed
from simtown.training import display, models
from simtown.training.fit import fit
from simtown.training.fit_settings import FitSettings, device_of
from tests.training import towns
from tests.training.towns import result, small

SHORT = ["--protocol", "paper", "--batch", 16, "--max-steps", 8, "--device", "cpu"]


OWN_NET = """
import torch

class Net(torch.nn.Module):
    def __init__(self, world, width: int = 4, scale: float = 1.0):
        super().__init__()
        self.scale, self.words = scale, torch.nn.Embedding(world.words, width)
        self.out = torch.nn.Linear(width, 1)

    def forward(self, batch):
        return self.scale * self.out(self.words(batch.tokens).mean(1)).squeeze(1)

    def loss(self, batch):
        logits = self(batch)
        return ((torch.sigmoid(logits) - batch.answer) ** 2).mean(), logits
"""


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch, own_modules):
    """Every command is run in an empty directory, and what it imports from there is forgotten."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def test_a_run_says_how_it_went(cli, data):
    done = cli("fit", data, "--model", "pbn", "--train-size", 40, *SHORT).succeeds()
    written = Path("runs/town-pbn-40-seed0/run.json").read_text()
    run = json.loads(written)
    assert "test accuracy {accuracy:.3f} (95 %: {low:.3f} to {high:.3f}".format(**run["test"]) in done.out
    words = ("left of", "triple in training", "oracle 1.000", "chance 0.500", "curve.png", "reached 8 steps")
    assert [word for word in words if word not in done.out] == []
    assert run["data"]["name"] == data.name
    assert str(data.parent) not in written
    assert run["status"] == "done"


def test_every_choice_arrives(cli, data):
    options = (
        "--model cnn-lstm --train-size 30 --seed 7 --protocol patient --min-steps 2 --patience 1 "
        "--max-steps 3 --batch 15 --lr 0.01 --option dropout=0.25 --option embedding=8 --stream "
        "--device auto --out there"
    )
    cli("fit", data, *options.split()).succeeds()
    run = json.loads(Path("there/run.json").read_text())["settings"]
    model = models.options("cnn-lstm", {"dropout": "0.25", "embedding": "8"})
    wanted = FitSettings("cnn-lstm", 30, 7, model, "patient", 2, 1, 15, 0.01, 3, stream=True, device="cpu")
    assert run == asdict(wanted)


def test_the_whole_set_is_the_default_and_seeds_are_runs_beside_each_other(cli, data):
    cli("fit", data, "--model", "question-only", "--seeds", "0,2-3", *SHORT, "--out", "many").succeeds()
    for seed in (0, 2, 3):
        run = json.loads(Path(f"many/seed{seed}/run.json").read_text())
        assert (run["train_size"], run["seed"], run["status"]) == (60, seed, "done")
    alone = fit(small("question-only", seed=2, max_steps=8, train_size=0), data, Path("alone"))
    assert alone["train_size"] == 60
    assert alone["test"] == json.loads(Path("many/seed2/run.json").read_text())["test"]


def test_a_model_of_ones_own_trains_with_the_same_command(cli, data):
    os.makedirs("shapes/deep")
    for place in ("shapes", "shapes/deep"):
        Path(place, "__init__.py").touch()
    Path("shapes/deep/towns_own_net.py").write_text(OWN_NET)
    words = ["--model", "shapes.deep.towns_own_net:Net", "--option", "width=6", *SHORT, "--out", "own"]
    done = cli("fit", data, *words).succeeds()
    assert "test accuracy" in done.out
    run = json.loads(Path("own/run.json").read_text())
    assert run["settings"]["options"] == {"width": 6, "scale": 1.0}
    row = json.loads(Path("own/metrics.jsonl").read_text().splitlines()[0])
    assert row["objective"] < 0.5 < row["train_loss"]  # its own loss, a mean square; and cross-entropy
    cli("fit", data, *words, "--option", "depth=6").refuses("depth", "width")
    cli("evaluate", "own", data, "--allow-model", "shapes.deep.towns_own_net:Net").succeeds()


#: Impossible choices, and what the refusal names.
IMPOSSIBLE = {
    "--train-size 61": "--train-size",
    "--stream --train-size 1": "--train-size",
    "--precision fp8": "fp8",
    "--device cpu --precision tf32": "tf32",
    "--device cuda": "--device cuda",
    "--protocol hasty": "hasty",
    "--lr 0": "--lr",
    "--batch 1": "--batch",
    "--seeds 4-0": "--seeds",
    "--model gpt": "gpt",
    "--option dropout": "--option",
    "--option depth=3": "depth",
    "--option dropout=2": "dropout",
}


@pytest.mark.parametrize(("words", "word"), IMPOSSIBLE.items())
def test_an_impossible_choice_is_one_line_and_leaves_no_trace(words, word, cli, data):
    cli("fit", data, *words.split(), "--out", "run").refuses(word)
    assert os.listdir() == []


@pytest.mark.parametrize(("card", "name"), [(True, "cuda"), (False, "cpu")])
def test_auto_is_the_card_where_there_is_one(card, name, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: card)
    assert device_of("auto") == name
    assert device_of("cpu") == "cpu"


@pytest.mark.parametrize("device", ["gpu", "cuda"])
def test_a_device_that_is_not_there_is_refused_before_any_work(device, cli, data):
    for words in (("fit", data), ("sweep", "--preset", "tiny")):
        cli(*words, "--device", device).refuses("--device", device)
    assert os.listdir() == []


@pytest.mark.parametrize(("split", "word"), [("val", "validation"), ("test", "test")])
def test_a_data_set_without_a_split_is_refused(split, word, cli, dataset_of):
    town = dataset_of(replace(towns.TOWN, n=4, **{"val": 2, "test": 2, split: 0}))
    cli("fit", town, "--out", "run").refuses(f"no {word} examples")
    assert os.listdir() == []


def test_two_commands_do_not_write_one_run(cli, data, tmp_path):
    with claimed(tmp_path / "run", "simtown fit"):
        cli("fit", data, "--out", tmp_path / "run").refuses("being written", "simtown fit")


def test_ctrl_c_is_one_line_and_the_same_command_continues(cli, data, tmp_path, monkeypatch):
    words = ["fit", data, "--model", "question-only", *SHORT, "--out", "run"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by a shell's background jobs
    try:
        with monkeypatch.context() as patch:
            patch.setattr(display.FitDisplay, "on_validation", lambda *_: signal.raise_signal(signal.SIGINT))
            cli(*words).refuses("the same command finishes", code=130)
    finally:
        signal.signal(signal.SIGINT, before)
    assert os.path.exists("run/state.safetensors")
    cli(*words).succeeds()
    fit(small("question-only", max_steps=8), data, tmp_path / "whole")
    assert result("run") == result(tmp_path / "whole")
