"""A sweep in worker processes: only what is missing is run, what fails harms nothing else; the search."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch

from simtown.core import progress
from simtown.core.files import claimed
from simtown.datasets.making.generate import generate
from simtown.training import display
from simtown.training.fit import fit
from simtown.training.models import MODELS, build, options
from simtown.training.plan import read
from simtown.training.sweep import dataset_path
from tests.training.towns import preset, result, snapshot, world

#: Models that fail or take their process with them while a file lies beside them.
WILD = """
import os, signal
from pathlib import Path
import torch

HERE = Path(__file__).parent


class Good(torch.nn.Module):
    def __init__(self, world):
        super().__init__()
        self.bias = torch.nn.Embedding(world.entities, 1)

    def forward(self, batch):
        return self.bias(batch.subject).squeeze(1)


class Failing(Good):
    def forward(self, batch):
        if (HERE / "storm").exists():
            raise RuntimeError("a tree fell on the line")
        return super().forward(batch)


class Dying(Good):
    def forward(self, batch):
        if (HERE / "storm").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().forward(batch)
"""


#: The person allows these by name: a preset may not name them otherwise.
ALLOWED = ("towns_wild:Failing", "towns_wild:Dying")


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch, own_modules):
    monkeypatch.chdir(tmp_path)


def made(path, out):
    """Where a sweep's one data set belongs, made without worker processes."""
    (settings,) = read(str(path), "cpu", allow_model=ALLOWED).data()
    generate(settings, dataset_path(Path(out), settings), workers=1)


def runs_of(out):
    return {p.parent.name: json.loads(p.read_text()) for p in Path(out).glob("runs/*/run.json")}


def as_if_alone(path, out, tmp_path):
    """Every run of a sweep ended as `simtown fit` ends on as many threads."""
    runs = runs_of(out)
    for cell in read(str(path), "cpu", allow_model=ALLOWED).cells:
        torch.set_num_threads(runs[cell.name]["machine"]["threads"])
        fit(cell.fit, dataset_path(Path(out), cell.data), tmp_path / "alone" / cell.name)
        torch.set_num_threads(1)  # as all tests here
        assert result(Path(out) / "runs" / cell.name) == result(tmp_path / "alone" / cell.name)


@pytest.mark.slow
def test_what_fails_or_dies_is_told_harms_nobody_and_is_tried_again(tmp_path, cli):
    (tmp_path / "towns_wild.py").write_text(WILD)
    (tmp_path / "storm").touch()
    path = preset(tmp_path / "mine.toml", [*ALLOWED, "pbn"], sizes=[20])
    words = ["sweep", "--preset", path, "--device", "cpu", "--jobs", 2, "--out", "out"]
    words += [word for name in ALLOWED for word in ("--allow-model", name)]
    made(path, "out")
    failed = cli(*words)
    assert failed.code == 1
    assert "out: 1 of 3 runs are done, 1 of them now" in failed.out
    assert "Traceback" not in failed.err
    dying, failing = sorted(line for line in failed.err.splitlines() if line.startswith("simtown: "))
    assert all(word in dying for word in ("towns_wild.Dying-3-20-seed0", "SIGKILL"))
    assert all(word in failing for word in ("towns_wild.Failing-3-20-seed0", "a tree fell on the line"))
    good = Path("out/runs/pbn-3-20-seed0")
    assert runs_of("out")[good.name]["status"] == "done"
    before = snapshot(good)
    (tmp_path / "storm").unlink()
    words[words.index("--jobs") + 1] = 1
    done = cli(*words).succeeds()
    assert "3 of 3 runs are done, 2 of them now" in done.out
    assert {run["status"] for run in runs_of("out").values()} == {"done"}
    assert snapshot(good) == before
    as_if_alone(path, "out", tmp_path)
    before = snapshot("out/runs") | snapshot("out/data")
    assert "3 of 3 runs are done, 0 of them now" in cli(*words).succeeds().out
    assert snapshot("out/runs") | snapshot("out/data") == before
    preset(path, ["pbn"], sizes=[20], fit="patience = 7")
    cli(*words).refuses("patience 10, now 7", "pbn-3-20-seed0")
    assert snapshot("out/runs") | snapshot("out/data") == before


@pytest.mark.parametrize(
    ("state", "content", "word"),
    [("done", {"test": {"accuracy": 0.75}}, "0.750"), ("failed", {"error": "a tree fell"}, "a tree fell")],
)
def test_a_run_that_ends_is_a_line_without_a_terminal(state, content, word, tmp_path, monkeypatch):
    lines = []
    monkeypatch.setattr(progress, "report", lines.append)
    monkeypatch.setattr(progress.PlainConsole, "is_terminal", False)
    plan = read(str(preset(tmp_path / "mine.toml")), "cpu")
    (cell,) = plan.cells
    with display.SweepDisplay(plan) as sweep_display:
        sweep_display.on_change(cell.name, "running", {"step": 4, "best": 0.5})
        sweep_display.on_change(cell.name, state, content)
    (line,) = lines
    assert all(part in line for part in ("1 of 1 runs", cell.name, word))


def test_two_sweeps_do_not_write_one_directory(tmp_path, cli):
    path = preset(tmp_path / "mine.toml", sizes=[2])
    made(path, "out")
    with claimed(tmp_path / "out", "simtown sweep"):
        refused = cli("sweep", "--preset", path, "--device", "cpu", "--out", "out")
    refused.refuses("being written by another simtown sweep")


@pytest.fixture(scope="module")
def search():
    """benchmarks/search.py, which is no part of the package."""
    path = Path(__file__).parents[2] / "benchmarks" / "search.py"
    spec = importlib.util.spec_from_file_location("simtown_benchmarks_search", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_every_search_is_over_options_that_the_model_has(search):
    for model in set(search.SPACE) & set(MODELS):
        assert set(search.SPACE[model]) <= set(options(model, {}))
        for number in range(4):
            build(model, world(), {**options(model, {}), **search.trial(model, number).choices})
