"""Presets, tables and folders of sweeps from a stranger: planned or refused in one line, before anything is
written or made.
"""

import os

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")

from simtown.datasets.settings import Settings, SettingsError  # noqa: E402
from simtown.training import forecast  # noqa: E402
from simtown.training.plan import SweepCell, read  # noqa: E402
from tests.training import towns  # noqa: E402
from tests.training.towns import small  # noqa: E402

AXES = {
    "entities": "[5]",
    "distractor": "[false]",
    "models": '["pbn"]',
    "train_sizes": "[20]",
    "seeds": "[0]",
}


def preset(before="", after="", **axes):
    lines = [f"{name} = {value}" for name, value in (AXES | axes).items()]
    return "\n".join(["version = 1", before, "[[grid]]", *lines, after, ""])


def test_a_seed_names_no_place(tmp_path):
    (tmp_path / "p.toml").write_text(preset(seeds='["0/../../../outside"]'))
    with pytest.raises(SettingsError, match="seeds"):
        read(str(tmp_path / "p.toml"), "cpu")


@pytest.mark.parametrize("kind", ["outside", "absolute", "link", "pipe"])
def test_a_preset_names_a_table_beside_it_or_none(kind, tmp_path):
    """Not any file of the reader's: its numbers would stand in the data set, its first line in a message."""
    table = "entity,subject,object\n" + "a,1,1\n" * 9
    folder = tmp_path / "mine"
    folder.mkdir()
    (tmp_path / "secret.csv").write_text(table)
    name = {
        "outside": "../secret.csv",
        "absolute": str(tmp_path / "secret.csv"),
        "link": "link.csv",
        "pipe": "pipe.csv",
    }[kind]
    (folder / "link.csv").symlink_to("../secret.csv")
    os.mkfifo(folder / "pipe.csv")
    (folder / "p.toml").write_text(preset(after=f'[data]\nfrequencies = "{name}"'))
    with pytest.raises(ValueError, match=r"inside|symbolic link|unknown frequencies"):
        read(str(folder / "p.toml"), "cpu")
    (folder / "own.csv").write_text(table)
    (folder / "p.toml").write_text(preset(after='[data]\nfrequencies = "own.csv"'))
    (settings,) = read(str(folder / "p.toml"), "cpu").data()
    assert settings.frequencies == str(folder / "own.csv")


def test_a_preset_of_the_working_directory_names_its_table_as_ever(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.csv").write_text("entity,subject,object\n" + "a,1,1\n" * 9)
    (tmp_path / "p.toml").write_text(preset(after='[data]\nfrequencies = "own.csv"'))
    assert read("p.toml", "cpu").data()[0].frequencies == "own.csv"


# Folders of a sweep


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "p.toml").write_text(
        'version = 1\nsize = "32"\n[fit]\nprotocol = "paper"\nbatch = 16\nmax_steps = 2\n[data]\nval = '
        "4\ntest = 4\n[[grid]]\n"
        'entities = [3]\ndistractor = [false]\nmodels = ["question-only"]\ntrain_sizes = [10]\nseeds = [0]\n'
    )
    return read(str(tmp_path / "p.toml"), "cpu")


@pytest.mark.parametrize(
    "place", ["out/data", "out/runs", "out/runs/question-only-3-10-seed0", "out/data/3-seed0-10", "kept"]
)
def test_a_sweep_writes_through_no_link(place, plan, tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outside").mkdir()
    if place == "kept":
        place = f"kept/{plan.cells[0].name}.json"
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).symlink_to(tmp_path / "outside")
    before = sorted(tmp_path.rglob("*"))
    words = ["sweep", "--preset", "p.toml", "--device", "cpu", "--out", "out", "--resume-from", "kept"]
    for more in ([], ["--plan"]):
        cli(*words, *more).refuses("is a symbolic link")
    assert sorted(tmp_path.rglob("*")) == before


def test_the_usual_place_of_a_sweep_is_no_link(plan, tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outside").mkdir()
    (tmp_path / "sweep-p").symlink_to("outside")
    cli("sweep", "--preset", "p.toml", "--device", "cpu").refuses("sweep-p is a symbolic link")
    assert not list((tmp_path / "outside").iterdir())


# How long it takes


def test_a_model_that_is_too_large_is_not_made_to_time_it(monkeypatch):
    monkeypatch.setattr(forecast, "_noise", lambda *_: pytest.fail("noise was made"))
    data = Settings(entities=5, width=4_096, height=4_096)
    for settings in (
        small("pbn", batch=2),
        small("question-only", batch=10**9, train_size=10**9, options={"hidden": 10_000}),
    ):
        assert forecast.seconds_a_step(SweepCell(data, settings), 1) is None


def test_a_large_batch_is_timed_on_a_part_of_it(monkeypatch):
    made = []
    noise = forecast._noise
    monkeypatch.setattr(forecast, "_LARGEST_BATCH", 10 * 32 * 32 * 12)
    monkeypatch.setattr(
        forecast, "_noise", lambda world, b, device: (made.append(b), noise(world, b, device))[1]
    )
    cell = SweepCell(towns.TOWN, small("question-only", batch=10**6, train_size=10**6))
    assert forecast.seconds_a_step(cell, 1) > 0
    assert made == [10]
