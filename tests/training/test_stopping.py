"""benchmarks/stopping.py: a run of one stopping rule is taken for that of the other where training under the
other makes the same, and nowhere else.
"""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")

from benchmarks.stopping import shared, take
from simtown.complexity import cells
from simtown.datasets.reader import open_dataset
from simtown.training import early_stopping
from simtown.training.fit import fit
from simtown.training.plan import SweepCell
from tests.training import towns
from tests.training.towns import HERE, small

pytestmark = pytest.mark.usefixtures("undrawn")
ROOT = Path(__file__).parents[2]
PRESETS, RESULTS = ROOT / "benchmarks" / "presets", ROOT / "benchmarks" / "results"
#: By the name of its grid: cells that were trained under one rule, and its preset.
GRIDS = {"fixed-15": PRESETS / "fixed-15.toml", "paper-rule-64": PRESETS / "paper-rule-64.toml"}
PAPER = small(f"{HERE}:Scripted", max_steps=0, patience=3)
PATIENT = replace(PAPER, protocol="patient", min_steps=16)
#: What may differ between a run and the same run under another rule.
MACHINE = ("machine", "seconds", "libraries", "simtown", "trained_with", "settings")


@pytest.fixture
def data(tmp_path_factory, monkeypatch):
    monkeypatch.setattr(early_stopping, "CLOSEST", 4)  # an epoch: both rules validate at the same steps
    return towns.hamlet(tmp_path_factory)


def trained(settings, data, script, folder, monkeypatch):
    """The file of a cell that was trained."""
    monkeypatch.setattr(towns.Scripted, "script", script)
    fit(settings, data, folder / "run")
    return cells.save(folder / "run", folder)


def told(content):
    """All that a cell's content says, but for machine, time and rule."""
    run = {name: value for name, value in content["run"].items() if name not in MACHINE}
    return {**content, "run": run}


@pytest.mark.parametrize(("before", "now"), [(PATIENT, PAPER), (PAPER, PATIENT)])
@pytest.mark.parametrize(
    ("script", "same"),
    [
        ((0.55, 0.6, 0.7, 0.8, 0.9, 0.6), True),  # the best at step 20: both end at 32
        ((0.55, 0.9, 0.6), False),  # the paper's rule ends at 20, the other at 28
        ((0.7, 0.8, 1.0), True),
    ],
)
def test_a_run_of_both_rules_is_what_the_other_trains(before, now, script, same, data, tmp_path, monkeypatch):
    cell = SweepCell(open_dataset(data).settings, now)
    there = trained(now, data, script, tmp_path / "there", monkeypatch)
    here = trained(before, data, script, tmp_path / "here", monkeypatch)
    content = shared(cell, here)
    if same:
        assert told(content) == told(json.loads(there.read_text()))
        assert content["run"]["settings"] == json.loads(there.read_text())["run"]["settings"]
        assert content["run"]["trained_with"]["protocol"] == before.protocol
    elif before is PAPER:
        assert content is None, "what would have followed is not known"
    else:
        assert told(content) == told(json.loads(there.read_text())), "cut where the rule ends"
        assert content["run"]["steps"] < content["run"]["trained_with"]["steps"]


def test_a_run_that_another_rule_would_have_left_worse_is_not_taken(data, tmp_path, monkeypatch):
    """The paper's rule ends before the best weights come."""
    here = trained(PATIENT, data, (0.55, 0.6, 0.55, 0.55, 0.55, 0.9, 0.6), tmp_path, monkeypatch)
    assert json.loads(here.read_text())["run"]["best"]["step"] == 24
    cell = SweepCell(open_dataset(data).settings, PAPER)
    assert shared(cell, here) is None


def test_a_run_whose_network_may_have_been_dead_is_not_taken(data, tmp_path, monkeypatch):
    here = trained(PAPER, data, (0.5, 0.6, 0.7, 0.8, 0.9, 0.6), tmp_path, monkeypatch)
    cell = SweepCell(open_dataset(data).settings, PATIENT)
    assert shared(cell, here) is None


@pytest.mark.parametrize(
    "change", [{"learning_rate": 0.01}, {"seed": 1}, {"batch": 32}, {"precision": "bf16"}, {"max_steps": 9}]
)
def test_a_run_of_other_settings_is_not_taken(change, data, tmp_path, monkeypatch):
    here = trained(PATIENT, data, (0.6, 0.7, 0.8, 0.9, 0.6), tmp_path, monkeypatch)
    cell = SweepCell(open_dataset(data).settings, PAPER)
    content = shared(cell, here)
    assert shared(replace(cell, fit=replace(PAPER, **change)), here) is None
    assert shared(replace(cell, data=replace(cell.data, seed=9)), here) is None
    here.write_text(json.dumps(content))
    assert shared(cell, here) is None, "taken once, not again"


@pytest.mark.parametrize(("source", "target"), [("fixed-15", "paper-rule-64"), ("paper-rule-64", "fixed-15")])
def test_runs_that_were_trained_under_both_rules_agree(source, target, tmp_path):
    """Real runs, days and machines apart: what the program takes has the answers that training gave."""
    taken, _ = take(str(GRIDS[target]), RESULTS / source, tmp_path)
    assert taken == len(list(tmp_path.iterdir()))
    compared = 0
    for path in tmp_path.iterdir():
        kept = RESULTS / target / path.name
        there = json.loads(kept.read_text()) if kept.exists() else {"run": {"trained_with": ""}}
        if "trained_with" not in there["run"]:
            assert told(json.loads(path.read_text())) == told(there), path.name
            compared += 1
    assert compared


def test_cells_that_are_there_stay_and_the_others_are_added(tmp_path):
    kept = tmp_path / "pbn-15-10000-seed0.json"
    kept.write_text("mine")
    command = [sys.executable, ROOT / "benchmarks" / "stopping.py", GRIDS["paper-rule-64"]]
    done = subprocess.run(
        [*command, RESULTS / "fixed-15", tmp_path], capture_output=True, text=True, check=True
    )
    assert "runs are those of both rules" in done.stdout
    assert kept.read_text() == "mine"
    assert {"pbn-15-20000-seed0.json", "cnn-lstm-15-30000-seed2.json"} <= {p.name for p in tmp_path.iterdir()}
