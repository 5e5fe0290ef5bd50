"""Files of a run that are damaged, or that lead elsewhere: beyond what tests/hostile shows of all readers."""

import contextlib
import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from simtown.core.files import DamagedError
from simtown.core.options import SettingsError
from simtown.core.untrusted import RefusedError
from simtown.datasets.making.generate import generate
from simtown.training import run_curve
from simtown.training.ask import open_run, predict
from simtown.training.fit import fit
from simtown.training.plan import read
from tests.training import towns
from tests.training.towns import Interrupter, preset, small

pytestmark = pytest.mark.usefixtures("undrawn")
SETTINGS = small("question-only", max_steps=8)


@pytest.fixture(scope="module")
def unfinished(data, tmp_path_factory):
    directory = tmp_path_factory.mktemp("unfinished") / "run"
    with pytest.raises(KeyboardInterrupt):
        fit(SETTINGS, data, directory, Interrupter(validations=1))
    return directory


@pytest.fixture
def begun(unfinished, tmp_path):
    return shutil.copytree(unfinished, tmp_path / "run")


def test_a_state_is_not_unpickled(begun, data, tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "marker"),)

    torch.save({"epoch": Evil()}, begun / "state.safetensors")
    with pytest.raises(DamagedError):
        fit(SETTINGS, data, begun)
    assert not (tmp_path / "marker").exists()


FILES = ["metrics.jsonl", "weights.safetensors", "state.safetensors", "test.npz", "run.json", "tensorboard"]


@pytest.mark.parametrize("name", FILES)
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


def test_a_stream_reads_no_table_that_a_data_set_names(tmp_path):
    """A manifest may name any file of this machine; it holds the frequencies of the examples."""
    table = tmp_path / "table.csv"
    table.write_text("entity,subject,object\na,3,1\nb,1,1\nc,1,2\n")
    generate(replace(towns.TOWN, n=20, val=4, test=4, frequencies=str(table)), tmp_path / "set", workers=1)
    table.unlink()
    os.mkfifo(table)
    settings = small("question-only", stream=True, train_size=8, max_steps=2, batch=8)
    assert fit(settings, tmp_path / "set", tmp_path / "run")["status"] == "done"


def test_a_preset_names_a_table_beside_it_or_none(tmp_path):
    """A file from elsewhere must not become part of a data set."""
    (tmp_path / "own.csv").write_text("entity,subject,object\n" + "a,1,1\n" * 9)
    (tmp_path / "link.csv").symlink_to("own.csv")
    path = tmp_path / "p.toml"
    for name in ("link.csv", str(tmp_path / "own.csv")):
        preset(path, data=f'frequencies = "{name}"')
        with pytest.raises(RefusedError, match=r"inside|link"):
            read(str(path), "cpu")
    preset(path, data='frequencies = "own.csv"')
    (settings,) = read(str(path), "cpu").data()
    assert settings.frequencies == str(tmp_path / "own.csv")


@pytest.mark.parametrize(
    "place", ["out/data", "out/runs/question-only-3-10-seed0", "out/data/3-seed0-10", "sweep-p", "kept/*"]
)
def test_a_sweep_writes_through_no_link(place, tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outside").mkdir()
    preset(tmp_path / "p.toml")
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


DAMAGE = [({"settings": None}, DamagedError), ({"settings": {"batch": []}}, DamagedError)]
DAMAGE += [({"data": {"entities": "three"}}, DamagedError)]
DAMAGE += [({"settings": {"fog": 3}}, DamagedError), ({"data": {"fog": 3}}, DamagedError)]
DAMAGE += [({"data": {"entities": 900}}, SettingsError), ({"data": {"width": 3}}, SettingsError)]


@pytest.mark.parametrize(("change", "error"), DAMAGE)
def test_a_damaged_run_json_is_refused(change, error, begun):
    content = json.loads((begun / "run.json").read_text())
    for part, values in change.items():
        content[part] = values and {**content[part], **values}
    (begun / "run.json").write_text(json.dumps(content))
    with pytest.raises(error, match=r"run\.json|entities|size"):
        open_run(begun)


WRONG = [lambda tensors: tensors.update(more=torch.zeros(3)), lambda tensors: tensors.popitem()]
WRONG += [lambda tensors: tensors.update({min(tensors): torch.zeros(2)})]
WRONG += [lambda tensors: tensors.update({max(tensors): tensors[max(tensors)].long()})]


@pytest.mark.parametrize("change", WRONG)
def test_weights_are_those_of_the_model_or_refused(change, begun):
    tensors = load_file(begun / "weights.safetensors")
    change(tensors)
    save_file(tensors, begun / "weights.safetensors")
    with pytest.raises(DamagedError, match=r"weights\.safetensors.* tensor "):
        open_run(begun)


@pytest.mark.parametrize("text", ["[]\n", '{"epoch": "one", "step": 1}\n', "{\n{}\n"])
def test_damaged_metrics_are_refused(text, begun, data):
    (begun / "metrics.jsonl").write_text(text)
    with pytest.raises(DamagedError, match=r"metrics\.jsonl.* line 1"):
        fit(SETTINGS, data, begun)


@pytest.mark.parametrize("form", ["GIF", "PDF"])
def test_only_a_png_or_jpeg_is_a_picture(form, begun, tmp_path):
    path = tmp_path / "x.png"
    Image.fromarray(np.arange(64 * 64 * 3, dtype=np.uint8).reshape(64, 64, 3)).save(path, form)
    with pytest.raises(SettingsError, match=r"x\.png"):
        predict(begun, path, "Is a sedan left of a school bus?")


@pytest.mark.parametrize("epochs", [1, 2, 9])
def test_a_runs_curve_marks_the_best_epoch(tmp_path, monkeypatch, epochs):
    losses = dict.fromkeys(("train_loss", "val_loss", "train_accuracy"), 0.6)
    rows = [{"epoch": e, **losses, "val_accuracy": 0.9 - 0.1 * abs(e - 4)} for e in range(1, epochs + 1)]
    kept = []
    monkeypatch.setattr(run_curve, "save_figure", lambda figure, path: kept.append(figure))
    run_curve.curve(rows, "PBN, 100 examples of town", tmp_path / "curve.png")
    assert kept[0].get_suptitle() == "PBN, 100 examples of town"
    assert "chance" in [text.get_text() for text in kept[0].axes[1].texts]
    best = min(4, epochs)
    labels = [line.get_label() for line in kept[0].axes[1].lines]
    assert f"best, epoch {best}: {rows[best - 1]['val_accuracy']:.3f}" in labels
