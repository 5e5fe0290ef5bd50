"""Runs, presets and pictures from elsewhere: nothing is executed, written outside or read outside."""

import contextlib
import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")

from PIL import Image  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from simtown.core.files import DamagedError  # noqa: E402
from simtown.core.options import SettingsError  # noqa: E402
from simtown.core.untrusted import RefusedError  # noqa: E402
from simtown.datasets.generate import generate  # noqa: E402
from simtown.training import run_directory  # noqa: E402
from simtown.training.ask import open_run, predict  # noqa: E402
from simtown.training.fit import fit  # noqa: E402
from simtown.training.models import ModelError  # noqa: E402
from simtown.training.plan import read  # noqa: E402
from tests.training import towns  # noqa: E402
from tests.training.towns import Interrupter, small  # noqa: E402

pytestmark = pytest.mark.usefixtures("undrawn")
SETTINGS = small("question-only", max_steps=8)
QUESTION = "Is a sedan left of a school bus?"
PRESET = (
    'version = 1\nsize = "32"\n[fit]\nprotocol = "paper"\nbatch = 16\nmax_steps = 2\n'
    "[data]\nval = 4\ntest = 4\n"
    '[[grid]]\nentities = [3]\ndistractor = [false]\nmodels = ["question-only"]\ntrain_sizes = [10]\n'
    "seeds = [0]\n"
)


@pytest.fixture(scope="module")
def unfinished(data, tmp_path_factory):
    directory = tmp_path_factory.mktemp("unfinished") / "run"
    with pytest.raises(KeyboardInterrupt):
        fit(SETTINGS, data, directory, Interrupter(validations=1))
    return directory


@pytest.fixture
def begun(unfinished, tmp_path):
    return shutil.copytree(unfinished, tmp_path / "run")


def changed(directory, change):
    """run.json with one change."""
    content = json.loads((directory / "run.json").read_text())
    change(content)
    (directory / "run.json").write_text(json.dumps(content))


def test_no_pickle_is_read(begun, data, tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "marker"),)

    torch.save({"correct": Evil()}, begun / "weights.safetensors")
    with pytest.raises(DamagedError):
        open_run(begun)
    torch.save({"epoch": Evil()}, begun / "state.safetensors")
    with pytest.raises(DamagedError):
        fit(SETTINGS, data, begun)
    assert not (tmp_path / "marker").exists()


def test_no_code_is_imported_because_a_file_names_it(begun, tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text("open('marker', 'w')\n")
    monkeypatch.chdir(tmp_path)
    changed(begun, lambda run: run["settings"].update(model="evil:Net"))
    with pytest.raises(ModelError, match="evil:Net"):
        open_run(begun)
    (tmp_path / "p.toml").write_text(PRESET.replace("question-only", "evil:Net"))
    with pytest.raises(ModelError, match="evil:Net"):
        read("p.toml", "cpu")
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize(
    "name",
    ["metrics.jsonl", "weights.safetensors", "state.safetensors", "test.npz", "run.json", "tensorboard"],
)
def test_continuing_writes_through_no_link(name, begun, data, tmp_path):
    outside = tmp_path / "outside"
    if name == "tensorboard":
        outside.mkdir()
        shutil.rmtree(begun / name)
    else:
        outside.write_text("mine")
        (begun / name).unlink(missing_ok=True)
    (begun / name).symlink_to(outside)
    with contextlib.suppress(ValueError, DamagedError):  # a link is refused or replaced
        fit(SETTINGS, data, begun)
    assert not list(outside.iterdir()) if name == "tensorboard" else outside.read_text() == "mine"


def test_logs_are_written_through_no_link(begun, data, tmp_path):
    (begun / "tensorboard" / "events.out.tfevents.1.here.1.0").symlink_to(tmp_path / "outside")
    with pytest.raises(RefusedError, match="tensorboard"):
        fit(SETTINGS, data, begun)
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("name", ["weights.safetensors", "metrics.jsonl"])
def test_nothing_outside_the_folder_is_read(name, begun, tmp_path):
    readers = {"weights.safetensors": open_run, "metrics.jsonl": run_directory.read_metrics}
    (begun / name).rename(tmp_path / "elsewhere")
    (begun / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises((RefusedError, DamagedError), match="symbolic link"):
        readers[name](begun)


def test_a_stream_reads_no_table_that_a_data_set_names(tmp_path):
    """A manifest may name any file of this machine; it holds the frequencies of the examples."""
    table = tmp_path / "table.csv"
    table.write_text("entity,subject,object\na,3,1\nb,1,1\nc,1,2\n")
    generate(replace(towns.TOWN, n=20, val=4, test=4, frequencies=str(table)), tmp_path / "set", workers=1)
    table.unlink()
    os.mkfifo(table)
    settings = small("question-only", stream=True, train_size=8, max_steps=2, batch=8)
    assert fit(settings, tmp_path / "set", tmp_path / "run")["status"] == "done"


@pytest.mark.parametrize("kind", ["outside", "absolute", "link", "pipe"])
def test_a_preset_names_a_table_beside_it_or_none(kind, tmp_path):
    """A file from elsewhere must not become part of a data set."""
    table = "entity,subject,object\n" + "a,1,1\n" * 9
    folder = tmp_path / "mine"
    folder.mkdir()
    (tmp_path / "secret.csv").write_text(table)
    names = {"outside": "../secret.csv", "absolute": str(tmp_path / "secret.csv"), "link": "link.csv"}
    (folder / "link.csv").symlink_to("../secret.csv")
    os.mkfifo(folder / "pipe.csv")
    text = PRESET.replace("[data]", '[data]\nfrequencies = "TABLE"')
    (folder / "p.toml").write_text(text.replace("TABLE", names.get(kind, "pipe.csv")))
    with pytest.raises(ValueError, match=r"inside|link|frequencies"):
        read(str(folder / "p.toml"), "cpu")
    (folder / "own.csv").write_text(table)
    (folder / "p.toml").write_text(text.replace("TABLE", "own.csv"))
    (settings,) = read(str(folder / "p.toml"), "cpu").data()
    assert settings.frequencies == str(folder / "own.csv")


@pytest.mark.parametrize(
    "place",
    ["out/data", "out/runs", "out/runs/question-only-3-10-seed0", "out/data/3-seed0-10", "sweep-p", "kept/*"],
)
def test_a_sweep_writes_through_no_link(place, tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outside").mkdir()
    (tmp_path / "p.toml").write_text(PRESET)
    link = tmp_path / place.replace("*", "question-only-3-10-seed0.json")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "outside")
    before = sorted(tmp_path.rglob("*"))
    out = [] if place == "sweep-p" else ["--out", "out", "--resume-from", "kept"]
    for more in ([], ["--plan"]):
        cli("sweep", "--preset", "p.toml", "--device", "cpu", *out, *more).refuses("is a symbolic link")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_is_written_through_no_link_that_nobody_named(data, tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outside").mkdir()
    (tmp_path / "runs").symlink_to("outside")
    cli("fit", data, "--model", "question-only", "--max-steps", 4).refuses("runs is a symbolic link")
    assert not list((tmp_path / "outside").iterdir())


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.pop("settings"),
        lambda run: run["settings"].update(stream="yes"),
        lambda run: run["settings"].update(elsewhere=1, batch=[]),
        lambda run: run.update(seed="zero"),
        lambda run: run.update(status="done"),
    ],
)
def test_a_damaged_run_json_is_refused(change, begun):
    changed(begun, change)
    with pytest.raises(DamagedError, match=r"run\.json"):
        run_directory.load(begun)


@pytest.mark.parametrize("change", [{"entities": 900}, {"catalogue": 1}, {"width": 3}])
def test_an_impossible_world_is_refused(change, begun):
    changed(begun, lambda run: run["data"].update(change))
    with pytest.raises(SettingsError, match=next(iter(change)) if "width" not in change else "size"):
        open_run(begun)


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.update(more=torch.zeros(3)),
        lambda tensors: tensors.popitem(),
        lambda tensors: tensors.update({min(tensors): torch.zeros(2)}),
    ],
)
def test_weights_are_those_of_the_model_or_refused(change, begun):
    tensors = load_file(begun / "weights.safetensors")
    change(tensors)
    save_file(tensors, begun / "weights.safetensors")
    with pytest.raises(DamagedError, match=r"weights\.safetensors"):
        open_run(begun)


@pytest.mark.parametrize(
    "text", ["[]\n", "3\n", '{"epoch": 1}\n', '{"epoch": "one", "step": 1}\n', "{\n{}\n"]
)
def test_damaged_metrics_are_refused(text, begun, data):
    (begun / "metrics.jsonl").write_text(text)
    with pytest.raises(DamagedError, match=r"metrics\.jsonl.* line 1"):
        fit(SETTINGS, data, begun)


@pytest.mark.parametrize("form", ["GIF", "TIFF", "PDF", "half"])
def test_only_a_png_or_jpeg_is_a_picture(form, begun, tmp_path):
    path = tmp_path / "x.png"
    Image.fromarray(np.arange(64 * 64 * 3, dtype=np.uint8).reshape(64, 64, 3)).save(
        path, "PNG" if form == "half" else form
    )
    if form == "half":
        path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(SettingsError, match=r"x\.png"):
        predict(begun, path, QUESTION)
