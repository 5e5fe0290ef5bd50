"""No code of a folder runs, in commands, workers, studies or Ray: what is planted would leave a mark."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from simtown.core.pool import Processes
from tests.conftest import HANGS, Outcome
from tests.hostile.marks import PRESET

#: Modules that a command or its children import, of Python and of others.
MODULES = ("__future__", "typing", "pickle", "json", "numpy", "ctypes", "matplotlib", "h5py", "typer", "rich")


def planted(marks: Path, name: str) -> str:
    return f"open({str(marks / name)!r}, 'w').close()\nraise SystemExit('{name} of the folder was run')\n"


@pytest.fixture
def marks(tmp_path):
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


@pytest.fixture
def folder(tmp_path, marks, monkeypatch):
    """The folder from which the user calls, which holds modules."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in (*MODULES, "scipy", "simtown_mine"):
        (folder / f"{name}.py").write_text(planted(marks, name))
    monkeypatch.chdir(folder)
    return folder


def ran(marks: Path) -> list[str]:
    return sorted(path.name for path in marks.iterdir())


def python(*words, **more) -> Outcome:
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, **more)
    return Outcome(done.returncode, done.stdout, done.stderr)


# The working directory


def test_a_command_runs_nothing_of_the_working_directory(folder, marks, plain, copy):
    """Its kernels are compiled, and a figure is drawn."""
    data = copy(plain, "data")
    drawn = python("-m", "simtown", "info", data, "--plot", cwd=folder)
    assert drawn.succeeds().out
    assert not drawn.messages
    assert not ran(marks)


def _where(piece, tell):
    return os.path.realpath(os.getcwd()) in map(os.path.realpath, sys.path), os.environ.get("PYTHONSAFEPATH")


def test_workers_run_nothing_of_it(folder, marks):
    before = os.environ.get("PYTHONSAFEPATH")
    answers = [answer for _, answer in Processes(1).outcomes(_where, [0])]
    assert answers == [(False, "1")]
    assert os.environ.get("PYTHONSAFEPATH") == before
    assert not ran(marks)


def test_studies_run_nothing_of_it(folder, marks, tmp_path):
    grid = pytest.importorskip("simtown.probes.grid")
    cell = grid.GridCell("cell", ("physical", "--help"))
    assert grid._study(cell, print, str(tmp_path / "out"), str(folder), 1) == ""
    assert not ran(marks)


# Models named in files

OWN = """
from pathlib import Path
import torch
(Path({marks!r}) / "simtown_own").touch()


class Net(torch.nn.Module):
    def __init__(self, world):
        super().__init__()
        self.bias = torch.nn.Embedding(world.entities, 1)

    def forward(self, batch):
        return self.bias(batch.subject).squeeze(1)
"""


def test_a_model_that_a_file_names_is_imported_if_the_person_names_it(
    tmp_path_factory, dataset_of, marks, monkeypatch, cli
):
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    from PIL import Image

    from simtown.datasets.reading.reader import open_dataset
    from simtown.training.ask import open_run
    from simtown.training.fit import fit
    from simtown.training.models import ModelError
    from simtown.training.plan import read
    from tests.training.towns import TOWN, small

    data, name, tmp_path = dataset_of(TOWN), "simtown_own:Net", tmp_path_factory.mktemp("own")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    (tmp_path / "simtown_own.py").write_text(OWN.format(marks=str(marks)))
    fit(small(name, max_steps=4), data, tmp_path / "run")  # typed by the person
    assert ran(marks) == ["simtown_own"]

    def forget():
        (marks / "simtown_own").unlink(missing_ok=True)
        sys.modules.pop("simtown_own", None)
        sys.path[:] = [place for place in sys.path if place != str(tmp_path)]

    example = open_dataset(data).test[0]
    Image.fromarray(example.image).save(tmp_path / "street.png")
    (tmp_path / "preset.toml").write_text(PRESET.replace("question-only", name))
    sweep = ("sweep", "--preset", "preset.toml", "--plan", "--device", "cpu")
    for words in (("evaluate", "run", data), ("predict", "run", "street.png", example.question), sweep):
        forget()
        cli(*words).refuses("simtown_own:Net", "--allow-model simtown_own:Net")
        cli(*words, "--allow-model", "simtown_own:Other").refuses(
            "simtown_own:Net", "--allow-model simtown_own:Net"
        )
        assert not ran(marks)
        assert str(tmp_path) not in sys.path
        assert cli(*words, "--allow-model", name).succeeds().out
        assert ran(marks) == ["simtown_own"]
    forget()
    for call in (lambda: open_run(tmp_path / "run"), lambda: read("preset.toml", "cpu")):
        with pytest.raises(ModelError, match="simtown_own:Net"):
            call()
    saved = json.loads((tmp_path / "run" / "run.json").read_text())
    for evil in ("simtown.training.models.pbn:PlaceBinder", "os:system", "nothing", "", 7, ["pbn"], None):
        saved["settings"]["model"] = saved["model"] = evil
        (tmp_path / "run" / "run.json").write_text(json.dumps(saved))
        with pytest.raises((ValueError, RuntimeError)):
            open_run(tmp_path / "run")
    assert not ran(marks)
    forget()


# Ray


@pytest.mark.slow
def test_ray_runs_nothing_of_it_and_listens_to_this_machine_alone(folder, marks, monkeypatch):
    pytest.importorskip("ray", reason="needs Ray: pip install '.[cluster]'")
    psutil = pytest.importorskip("psutil", reason="looks at sockets: pip install psutil")
    from simtown.core.cluster import Cluster

    monkeypatch.delenv("RAY_TMPDIR", raising=False)
    with Cluster(workers=1) as cluster:
        # a function without a module of its own, which the cluster could not import
        ((_, on_path),) = cluster.outcomes(lambda piece, report: os.getcwd() in sys.path, [0], retries=0)
        assert on_path is False
        places = []
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended since
                sockets = process.net_connections("inet")
                places += [socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN]
        assert places
        assert {place.removeprefix("::ffff:") for place in places} == {"127.0.0.1"}
        files = Path(cluster._ray._private.worker._global_node.get_temp_dir_path())
        assert files.parent.stat().st_mode & 0o077 == 0  # Ray makes its own one for everybody
    assert not ran(marks)
    assert not files.parent.exists()
