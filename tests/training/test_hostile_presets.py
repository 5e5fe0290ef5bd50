"""Presets, tables and folders of sweeps from a stranger: planned or refused in one line, before anything is
written or made.
"""

import os
import shutil
import tracemalloc
from itertools import product

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")

from simtown.core.files import DamagedError, RefusedError  # noqa: E402
from simtown.datasets.settings import Settings, SettingsError  # noqa: E402
from simtown.training import cells, forecast, others  # noqa: E402
from simtown.training import sweep as sweeps  # noqa: E402
from simtown.training.complexity import estimate  # noqa: E402
from simtown.training.fit import fit  # noqa: E402
from simtown.training.others import COLUMNS, read_table  # noqa: E402
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
#: What stands where a number, a text or a list belongs, as TOML.
VALUES = (
    *(
        "true",
        "-1",
        "0",
        "1.5",
        "nan",
        "inf",
        "1" + "0" * 40,
        "0x" + "f" * 9_000,
        '""',
        '"../../x"',
        '"a\\u001b[31m"',
        f'"{"x" * 9_000}"',
    ),
    *(
        "[]",
        "[[]]",
        "{a = 1}",
        "2020-01-01",
        '["0/../../../outside"]',
        "[nan]",
        "[true]",
        "[-1]",
        "[1e3]",
        "[[1]]",
        "[1" + "0" * 40 + "]",
    ),
    *(
        '["simtown/../../x:Evil"]',
        '["' + "x" * 9_000 + '"]',
        "[{a = [1]}]",
        "[2020-01-01T00:00:00Z]",
        '[""]',
        '["pbn\\n"]',
    ),
)
LONGEST = 600


def preset(before="", after="", **axes):
    lines = [f"{name} = {value}" for name, value in (AXES | axes).items()]
    return "\n".join(["version = 1", before, "[[grid]]", *lines, after, ""])


@pytest.fixture
def refused(tmp_path):
    """The line with which a preset is refused, "" if it is planned.

    Its folder holds nothing else afterwards.
    """

    def check(text):
        path = tmp_path / "mine" / "p.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        told, planned = "", []
        try:
            planned = read(str(path), "cpu").cells
        except ValueError as error:
            told = str(error)
        assert "\n" not in told
        assert "\x1b" not in told
        assert bool(planned) != bool(told)
        assert len(told) < LONGEST + len(str(path)), told
        for cell in planned:
            assert sweeps.run_path(tmp_path, cell).parent == tmp_path / "runs"
            assert sweeps.dataset_path(tmp_path, cell.data).parent == tmp_path / "data"
        assert [p.name for p in path.parent.iterdir()] == ["p.toml"]
        assert [p.name for p in tmp_path.iterdir()] == ["mine"]
        return told

    return check


def test_a_seed_names_no_place(refused):
    """It once wrote a run elsewhere."""
    assert "grid[0].seeds[0]: '0/../../../outside' where a whole number" in refused(
        preset(seeds='["0/../../../outside"]')
    )


@pytest.mark.parametrize("axis", AXES)
def test_any_value_of_an_axis_is_planned_or_refused(axis, refused):
    refusals = [
        refused(preset(before, **{axis: value}))
        for value, before in product(VALUES, ("", "adaptive = [0.9]"))
    ]
    assert sum(map(bool, refusals)) >= len(refusals) - 4


@pytest.mark.parametrize(
    "key",
    ["size", "same_data", "same_world", "adaptive", "version", "grid", "fit", "data"]
    + [
        f"fit.{name}"
        for name in (
            "min_steps",
            "patience",
            "batch",
            "learning_rate",
            "max_steps",
            "protocol",
            "precision",
            "compile",
        )
    ]
    + [
        f"data.{name}"
        for name in ("seed", "frequencies", "relations", "phrasing", "weathers", "jitter", "val", "test")
    ],
)
def test_any_value_of_a_key_is_planned_or_refused(key, refused):
    plain = {
        *("true", "0", "-1", "1.5"),
        '""',
        "[]",
        "2020-01-01",  # some of these may be meant
    }
    for value in VALUES:
        table, dot, name = key.rpartition(".")
        if key in ("grid", "version"):
            told = refused(f"version = 1\n{key} = {value}\n")
        else:
            told = refused(
                preset(after=f"[{table}]\n{name} = {value}") if dot else preset(f"{key} = {value}")
            )
        assert (
            told or value in plain or name in ("compile", "protocol", "precision", "same_data", "same_world")
        ), value


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 9_000,
        "a = " + "{a = " * 3_000,
        "[" + "a." * 4_000 + "a]\n",
        "adaptive" + ".a" * 4_000 + " = 1\n",
        "[grid" + ".a" * 4_000 + "]\n",
        "[fit" + ".a" * 4_000 + "]\n",
        '"' + "k" * 15_000 + '" = 1',
        "\n".join(f"k{n} = 1" for n in range(1_500)),
        "version = 1\n" + "[[grid]]\n" * 1_500,
        "#" * 30_000,
        "a = 1" + "0" * 5_000,
        "\x00",
        "",
    ],
)
def test_what_is_no_preset_ends_at_once(text, refused):
    assert refused(text)
    assert refused("version = 1\n" + text)


def test_a_grid_is_counted_before_it_is_made(refused, monkeypatch):
    monkeypatch.setattr("simtown.training.plan.SweepCell", lambda *_: pytest.fail("a cell was made"))
    many = f"[{','.join(['7'] * 900)}]"
    told = refused(preset(entities=many, seeds=many, train_sizes=many))
    assert "asks for 729,000,000 runs, more than 20,000" in told
    assert "searches, more than 500" in refused(preset("adaptive = [0.9]", entities=many, train_sizes="[20]"))
    assert "runs, more than 20,000" in refused(
        preset("adaptive = [0.9]", seeds=many, train_sizes="[1000000000]")
    )


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


@pytest.mark.parametrize("kind", ["pipe", "folder", "large"])
def test_a_preset_is_a_small_plain_file(kind, tmp_path):
    path = tmp_path / "p.toml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text(preset())
        os.truncate(path, 2**40)
    with pytest.raises(SettingsError, match=r"no plain file|too large"):
        read(str(path), "cpu")


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


def test_a_kept_cell_of_a_stranger_is_checked(plan, tmp_path, cli, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path)
    fit(small("question-only", max_steps=4), towns.hamlet(tmp_path_factory), tmp_path / plan.cells[0].name)
    kept = cells.save(tmp_path / plan.cells[0].name, tmp_path / "kept")
    shutil.copy(kept, tmp_path / "whole")
    for old, new in (
        ('"accuracy":', '"accuracy":[],"x":'),
        ('"steps":4', '"steps":"many"'),
        ('"seconds":', '"seconds":-1,"x":'),
    ):
        text = (tmp_path / "whole").read_text()
        assert old in text
        kept.write_text(text.replace(old, new))
        with pytest.raises(DamagedError):
            sweeps.started_runs(plan, tmp_path / "out", kept.parent)


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


# Others' results

HEAD = ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "x" * 300 + ",100,0,60,100\n", "column group"),
        (HEAD + "a\x1b[31m,100,0,60,100\n", "column group"),
        (HEAD + "m,100,0,60,1e309\n", "'1e309' is no whole number"),
        (HEAD + "m,100,0," + "9" * 9_000 + ",100\n", "is no whole number"),
        (HEAD + "m,²,0,60,100\n", "'²' is no whole number"),
        (HEAD.replace("\n", ",world\n") + "m,100,0,60,100,1000000000000000000\n", "column world"),
        ("group," + "c" * 9_000 + "\n", "lacks the column"),
        (HEAD.replace("\n", f",{'c' * 9_000}\n"), "has a column"),
        (HEAD + "m,100,0,60,100,\x00\n", "line"),
        (HEAD + f"{'m' * 200_000},100,0,60,100\n", "field larger"),
        (HEAD + "".join(f"m,{n},0,9000000,9999999\n" for n in range(1, 7)), "50,000,000 answers"),
        (HEAD + "".join(f"m,{n},0,1,2\n" for n in range(1, 20_002)), "more than 20,000 results"),
    ],
)
def test_a_table_is_read_or_refused_in_one_line(text, words, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=words) as told:
        read_table(tmp_path / "t.csv")
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 300 + len(str(tmp_path))


def test_a_table_is_a_plain_file_of_some_megabytes(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "large.csv").write_text(HEAD)
    os.truncate(tmp_path / "large.csv", 2**40)
    for name, words in (("pipe.csv", "no plain file"), ("large.csv", "too large")):
        with pytest.raises(RefusedError, match=words):
            read_table(tmp_path / name)


def test_lines_of_a_table_are_counted_as_they_are_read(tmp_path):
    (tmp_path / "t.csv").write_text(HEAD + "a\n" * 300_000)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than 20,000 results"):
            read_table(tmp_path / "t.csv")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([f"m{n},100,0,6,10,1" for n in range(50)], "50 models"),
        ([f"m,100,0,6,10,{n + 1}" for n in range(50)], "50 worlds"),
        ([f"m,{n + 1},0,6,10,1" for n in range(150)], "150 sizes of one curve"),
        ([f"m,100,{n},6,10,1" for n in range(1_500)], "1,500 seeds of one curve"),
    ],
)
def test_a_report_has_room_for_so_many(lines, words, tmp_path):
    (tmp_path / "t.csv").write_text(HEAD.replace("\n", ",world\n") + "\n".join(lines))
    with pytest.raises(ValueError, match=words):
        estimate(read_table(tmp_path / "t.csv").runs, replicates=40)


def test_names_that_mean_something_to_others_are_names(tmp_path, cli):
    """To a spreadsheet, to matplotlib, to rich, to a page; and numbers at the end of their range."""
    names = ["=1+1", r"$\frac{", "_[bold]x[/nothing]", "x" * 200]
    top = 10**15 - 1
    lines = [
        f'"{name}",{size},0,{correct},100,{world}'
        for name in names
        for size, correct in ((1, 60), (top, 99))
        for world in (1, top)
    ]
    (tmp_path / "t.csv").write_text(HEAD.replace("\n", ",world\n") + "\n".join(lines))
    cli("complexity", tmp_path / "t.csv", "--replicates", 40, "--out", tmp_path / "out").succeeds()
    assert (tmp_path / "out" / "samples.png").stat().st_size > 10_000
    assert others.read_table(tmp_path / "t.csv").reference == "=1+1"
