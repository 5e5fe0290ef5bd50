"""A sweep on a Ray cluster: its runs are those of `simtown fit`, also where a machine dies under one."""

from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs Ray: pip install '.[cluster]'")

from simtown.training.fit import fit
from simtown.training.plan import read
from simtown.training.sweep import dataset_path
from tests.datasets.test_cluster import nodes
from tests.training.test_sweep import runs_of
from tests.training.towns import preset, result

#: Dies with its worker once, the first time that anyone trains it.
ONCE = """
import os, signal
from pathlib import Path
import torch

HERE = Path(__file__).parent


class Once(torch.nn.Module):
    def __init__(self, world):
        super().__init__()
        self.bias = torch.nn.Embedding(world.entities, 1)

    def forward(self, batch):
        if not (HERE / "died").exists():
            (HERE / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.bias(batch.subject).squeeze(1)


class Failing(Once):
    def forward(self, batch):
        raise RuntimeError("a tree fell on the line")
"""


@pytest.mark.slow
def test_a_sweep_on_a_cluster_ends_as_its_runs_alone(tmp_path, cli, monkeypatch, own_modules):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "towns_once.py").write_text(ONCE)
    own = ("towns_once:Once", "towns_once:Failing")
    path = preset(tmp_path / "mine.toml", [*own, "question-only"], sizes=[20, 10])
    allowed = [word for name in own for word in ("--allow-model", name)]
    with nodes(2) as (address, _):
        where = ["--engine", "ray", "--address", address, "--out", "out"]
        done = cli("sweep", "--preset", path, "--device", "cpu", *where, *allowed)
    assert done.code == 1
    assert "out: 4 of 6 runs are done, 4 of them now" in done.out
    errors = [line for line in done.err.splitlines() if line.startswith("simtown: ")]
    assert sum("a tree fell on the line" in line for line in errors) == 2
    assert (tmp_path / "died").exists()
    runs = runs_of("out")
    for cell in read(str(path), "cpu", allow_model=own).cells:
        if "Failing" not in cell.name:
            assert runs[cell.name]["machine"]["threads"] == 1
            fit(cell.fit, dataset_path(Path("out"), cell.data), tmp_path / "alone" / cell.name)
            assert result(Path("out/runs") / cell.name) == result(tmp_path / "alone" / cell.name)


def test_runs_do_not_go_behind_a_url(tmp_path, cli):
    path = preset(tmp_path / "mine.toml", sizes=[2])
    cli("sweep", "--preset", path, "--device", "cpu", "--out", "s3://bucket/sweep").refuses("is a URL")
