"""simtown probe grid: cells of a TOML file; what is done is not done again, what fails harms no other."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import uuid
from pathlib import Path

import pytest

from simtown.probes import grid
from simtown.probes.grid import GridError, read
from tests.probes.physical.world import write_release

FILE = """
version = 1
[[grid]]
study = "physical"
data = "{data}"
model = {models}
task = ["OP", "OA"]
set = "situated"
seed = 3
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The folder of the physical study's small release."""
    return write_release(tmp_path_factory.mktemp("physical") / "release")


@pytest.fixture
def plan(tmp_path, small):
    """plan(models): a file with two cells for each."""

    def write(models):
        path = tmp_path / "grid.toml"
        path.write_text(FILE.format(data=small, models=json.dumps(models)))
        return path

    return write


def test_cells_are_the_product_of_lists_in_their_order(plan, small):
    cells = read(plan(["majority", "glove:/some where/v.txt"]))
    names = ("majority-OP", "majority-OA", "glove.some.where.v.txt-OP", "glove.some.where.v.txt-OA")
    assert [cell.name for cell in cells] == [f"physical-{name}" for name in names]
    options = {"data": small, "model": "majority", "task": "OP", "set": "situated", "seed": 3}
    assert cells[0].words == ("physical", *(f"--{key}={value}" for key, value in options.items()))


def test_true_is_a_flag_and_false_is_none(tmp_path):
    path, words = tmp_path / "grid.toml", ("physical", "--model=m")
    path.write_text('version = 1\n[[grid]]\nstudy = "physical"\nmodel = "m"\ntune = [true, false]\n')
    assert [cell.words for cell in read(path)] == [(*words, "--tune"), words]


STUDY = "version = 1\n[[grid]]\nstudy = "
REFUSED = {
    "version = 2": "version = 1",
    f"{STUDY}'chemical'": "study must be",
    f"{STUDY}['physical']": "study must be",
    "version = 1\ngrid = [1]": "study must be",
    f"{STUDY}'physical'\nout = 'x'": "'out' must be",
    f"{STUDY}'physical'\nmodel = []": "'model' must be",
    f"{STUDY}'physical'\nmodel = {{a = 1}}": "'model' must be",
    f"{STUDY}'physical'\nmodel = ['a', 'a']": "two cells have the same settings, physical-a",
    "version = ": "cannot be read as TOML",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_grid_that_cannot_be_is_refused(text, tmp_path, cli):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    cli("probe", "grid", path, "--out", tmp_path / "out").refuses(REFUSED[text])
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_grid_is_its_commands_and_goes_on(plan, tmp_path, cli, small, monkeypatch):
    out = tmp_path / "out"
    done = cli("probe", "grid", plan(["majority", "glove:missing.txt"]), "--out", out, "--jobs", 2)
    assert done.code == 1
    assert "2 of 4 cells are done, 2 of them now" in done.out
    failed = [line for line in done.err.splitlines() if line.startswith("simtown: ")]
    assert ["missing.txt" in line for line in failed] == [True, True]
    words = ("--model", "majority", "--task", "OP", "--set", "situated", "--seed", 3)
    cli("probe", "physical", "--data", small, *words, "--out", tmp_path / "OP").succeeds()
    for name in ("summary.json", "situated-OP.parquet"):
        assert (out / "physical-majority-OP" / name).read_bytes() == (tmp_path / "OP" / name).read_bytes()
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("what is done was run again"))
    again = cli("probe", "grid", plan(["majority"]), "--out", out).succeeds()
    assert "2 of 2 cells are done, 0 of them now" in again.out


def test_a_cell_ends_with_a_grid_that_is_killed(plan, tmp_path, started, marked, until):
    mark = uuid.uuid4().hex
    command = started("probe", "grid", plan(["majority"]), "--out", tmp_path / "out", "--jobs", 1, mark=mark)

    def begun():
        assert command.poll() is None
        with contextlib.suppress(OSError):  # of another process that has ended
            for place in (Path(f"/proc/{number}") for number in marked(mark)):
                if (
                    b"--set=" in (place / "cmdline").read_bytes()
                    and b"numpy" in (place / "maps").read_bytes()
                ):
                    return int(place.name)

    os.kill(until(begun), signal.SIGSTOP)  # so that it does not end by itself
    command.kill()
    until(lambda: not marked(mark), 60)


ASK = """
[[grid]]
study = "ask"
items = "{items}"
template = "[X] is [Y] ."
model = "oracle:{answers}"
"""


@pytest.fixture
def tables(tmp_path):
    """Two tables that differ in what is right, and answers to both."""
    answers = tmp_path / "answers.json"
    answers.write_text('{"classes": {"it is [BLANK] .": {"yes": 0.2, "no": 0.1}}}')
    text = "version = 1\n"
    for name, gold in (("a.csv", "yes"), ("b.csv", "no")):
        (tmp_path / name).write_text(f"subject,gold,classes\nit,{gold},yes|no\n")
        text += ASK.format(items=tmp_path / name, answers=answers)
    (tmp_path / "tables.toml").write_text(text)
    return tmp_path / "tables.toml"


def test_cells_of_other_data_have_other_names(tables, tmp_path):
    cells = read(tables)
    assert len({cell.name for cell in cells}) == 2
    assert cells[1].name.startswith(f"{cells[0].name}-")
    tables.write_text(tables.read_text().replace("b.csv", "a.csv"))
    with pytest.raises(GridError, match="same settings"):
        read(tables)


@pytest.mark.slow
def test_a_cell_of_edited_files_is_not_done(tables, tmp_path, cli):
    words = ("probe", "grid", tables, "--out", tmp_path / "out", "--jobs", 2)
    assert "2 of 2 cells are done, 2 of them now" in cli(*words).succeeds().out
    (tmp_path / "b.csv").write_text("subject,gold,classes\nit,yes,yes|no\n")
    done = cli(*words)
    assert done.code == 1
    assert "other items data" in done.err
    (tmp_path / "b.csv").write_text("subject,gold,classes\nit,no,yes|no\n")
    assert "2 of 2 cells are done, 0 of them now" in cli(*words).succeeds().out
    (tmp_path / "answers.json").write_text('{"classes": {"it is [BLANK] .": {"yes": 0.1, "no": 0.2}}}')
    assert cli(*words).err.count("weights ") == 2


def test_the_plan_is_listed_and_nothing_is_done(plan, tmp_path, cli):
    listed = cli("probe", "grid", plan(["majority"]), "--out", tmp_path / "my out", "--plan").succeeds()
    commands = [shlex.split(line) for line in listed.out.splitlines()]
    assert [words[:3] for words in commands] == [["simtown", "probe", "physical"]] * 2
    assert commands[0][-1] == str(tmp_path / "my out" / "physical-majority-OP")
    assert not (tmp_path / "my out").exists()


def test_another_directory_is_left_alone(plan, tmp_path, cli):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / grid.NAME).write_text('{"format": "something else"}')
    cli("probe", "grid", plan(["majority"]), "--out", tmp_path / "out").refuses("was not made by")
    table = plan(["majority"])
    for words in ((), ("--plan",)):
        cli("probe", "grid", table, "--out", table, *words).refuses("is a file: give a directory")
    assert (tmp_path / "out" / grid.NAME).read_text() == '{"format": "something else"}'
