"""A sweep grows: other sizes, seeds and worlds leave what is done; other settings are refused at once."""

import json
import shutil
from itertools import islice
from pathlib import Path

import pytest

from simtown.complexity import cells
from simtown.core.pool import Processes
from tests.training.towns import preset, snapshot
from tools.cells import join


@pytest.fixture
def sweep(tmp_path, cli, monkeypatch, in_this_process):
    """sweep(sizes=[10, 20]): `simtown sweep` of a grid into "out"."""
    monkeypatch.chdir(tmp_path)

    def run(*more, **grid):
        preset(Path("grid.toml"), **grid)
        return cli("sweep", "--preset", "grid.toml", "--device", "cpu", "--jobs", 1, "--out", "out", *more)

    return run


def edited(path, change):
    """Change a JSON file."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_a_grid_grows_in_sizes_seeds_and_worlds_and_does_nothing_again(sweep):
    assert "1 of 1 runs are done, 1 of them now" in sweep().succeeds().out
    edited(Path("out/runs/question-only-3-10-seed0/run.json"), lambda run: run.update(status="running"))
    assert "2 of 2 runs are done, 2 of them now" in sweep(sizes=[10, 20]).succeeds().out
    worlds = {"sizes": [6, 10, 20], "seeds": [1, 0], "entities": [3, 4]}
    grown = [({"sizes": [10, 20], "seeds": [0, 1]}, "4 of 4 runs are done, 2 of them now")]
    grown += [(worlds, "12 of 12 runs are done, 8 of them"), ({}, "1 of 1 runs are done, 0 of them now")]
    for axes, words in grown:
        before = snapshot("out/runs") | snapshot("out/data")
        assert words in sweep(**axes).succeeds().out
        after = snapshot("out/runs") | snapshot("out/data")
        assert {path: after[path] for path in before} == before


def test_another_setting_is_refused_once_before_anything_starts(sweep):
    grid = {"sizes": [10], "seeds": [0, 1], "entities": [3, 4]}
    sweep(**grid).succeeds()
    before = snapshot("out")
    for change, words in (
        ({"fit": "patience = 7"}, ["patience 10, now 7"]),
        ({"data": "seed = 5", "sizes": [10, 20]}, ["data.test_seed", "now 5"]),
        ({"data": 'weathers = ["fog"]', "sizes": [10, 20]}, ["data.weathers"]),
    ):
        changed = sweep(**(grid | {"seeds": [0, 1, 2]} | change))  # runs that are not there must not begin
        changed.refuses("out", *words)
        assert snapshot("out") == before, change
    path = Path("out/runs/question-only-3-10-seed1/run.json")
    edited(path, lambda run: run["settings"].update(device="cuda"))
    sweep(**grid).refuses("question-only-3-10-seed1", "device cuda, now cpu")


def test_seeds_that_shared_one_data_set_are_told_how_to_go_on(sweep):
    sweep("--same-data", seeds=[0, 1]).succeeds()
    sweep(seeds=[0, 1]).refuses("data.seed 0, now 1", "question-only-3-10-seed1", "--same-data")
    assert "0 of them now" in sweep("--same-data", seeds=[0, 1]).succeeds().out


def test_a_grid_goes_on_from_kept_cells_without_their_data(sweep):
    sweep("--resume-from", "kept", sizes=[10, 20], seeds=[0, 1]).succeeds()
    assert {p.stem for p in Path("kept").iterdir()} == {p.name for p in Path("out/runs").iterdir()}
    before = snapshot("kept")
    shutil.rmtree("out")
    done = sweep("--resume-from", "kept", sizes=[10, 20], seeds=[0, 1]).succeeds()
    assert "4 of 4 runs are done, 0 of them now" in done.out
    assert "simtown complexity kept" in done.out
    assert not Path("out/data").exists()
    grown = sweep("--resume-from", "kept", sizes=[10, 20], seeds=[0, 1, 2]).succeeds()
    assert "6 of 6 runs are done, 2 of them now" in grown.out
    assert [p.name for p in Path("out/data").iterdir()] == ["3-seed2-20"], "data of other cells are not made"
    assert {p: kept for p, kept in snapshot("kept").items() if p in before} == before
    assert len(list(Path("kept").iterdir())) == 6


def test_a_kept_cell_counts_whatever_device_trained_it(sweep):
    sweep("--resume-from", "kept", seeds=[0, 1]).succeeds()
    path = Path("kept/question-only-3-10-seed1.json")
    edited(path, lambda cell: cell["run"]["settings"].update(device="cuda"))
    shutil.rmtree("out")
    assert "0 of them now" in sweep("--resume-from", "kept", seeds=[0, 1]).succeeds().out
    edited(path, lambda cell: cell["run"]["settings"].update(patience=11))
    refused = sweep("--resume-from", "kept", seeds=[0, 1])
    refused.refuses("kept", "patience 11, now 10")
    assert "device" not in refused.err


def test_a_kept_cell_of_other_settings_or_examples_is_refused_before_anything_starts(sweep):
    sweep("--resume-from", "kept", seeds=[0, 1]).succeeds()
    shutil.rmtree("out/runs")
    shutil.copytree("kept", "joined")
    assert join(Path("joined"), "abc") == len(list(Path("kept").iterdir()))
    assert "2 of them done" in sweep("--resume-from", "joined", "--plan", seeds=[0, 1]).succeeds().out
    before = snapshot(".")
    sweep("--resume-from", "kept", seeds=[0, 1], fit="patience = 7").refuses("kept", "patience 10, now 7")
    path = Path("kept/question-only-3-10-seed1.json")
    edited(path, lambda cell: cell["run"]["data"]["examples"].update(train="0" * 64))
    refused = sweep("--resume-from", "kept", seeds=[0, 1, 2])
    refused.refuses("question-only-3-10-seed1", "other train examples", "3-seed1-10")
    changed = {name for name, content in snapshot(".").items() if before.get(name) != content}
    assert changed == {path, Path("grid.toml")}
    path.write_text(path.read_text()[:-50])
    sweep("--resume-from", "kept", seeds=[0, 1]).refuses(str(path), "damaged", code=1)
    for words in (["--resume-from", "grid.toml"], ["--out", "grid.toml"], ["--out", "grid.toml", "--plan"]):
        sweep(*words).refuses(f"{words[0]} grid.toml is a file: give a directory")


def test_an_adaptive_sweep_ends_alike_however_often_it_is_stopped(sweep, cli, monkeypatch):
    """Stopped after every cell, every other time with all but the kept cells lost."""
    grid = {"sizes": [50], "seeds": [0, 1]}
    words = ["--adaptive", "0.51"]
    sweep(*words, "--resume-from", "kept", **grid).succeeds()
    whole = {path.name: answers(path) for path in Path("kept").iterdir()}
    shutil.rmtree("out/runs")
    Path("kept").rename("whole")
    outcomes = Processes.outcomes

    def first_outcome(*words, **settings):
        yield from islice(outcomes(*words, **settings), 1)

    monkeypatch.setattr(Processes, "outcomes", first_outcome)
    for sitting in range(len(whole)):
        assert "1 of them now" in sweep(*words, "--resume-from", "kept", **grid).succeeds().out
        if sitting % 2:
            shutil.rmtree("out/runs")
    assert "0 of them now" in sweep(*words, "--resume-from", "kept", **grid).succeeds().out
    assert {path.name: answers(path) for path in Path("kept").iterdir()} == whole
    listed = sweep(*words, "--resume-from", "kept", "--plan", **grid).succeeds().out
    assert f"{len(whole)} runs are done; 0 can begin now" in listed


def answers(path):
    run, correct, _ = cells.load(path)
    return correct.tobytes(), run["data"], run["steps"]
