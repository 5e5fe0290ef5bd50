"""Files that grow or are updated in place: no link, dangling link or pipe in the place of one is followed."""

import ast
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from simtown.core import untrusted
from simtown.core.untrusted import RefusedError
from tests.test_imports import modules


def metrics(folder):
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    from simtown.training import run_directory

    run_directory.append_metrics(folder, {"epoch": 1, "step": 2})
    return folder / run_directory.METRICS


def kept_answers(folder):
    from simtown.probes.scorers import cache, oracle

    cache.Cached(oracle.Oracle(), "m", folder)
    return folder / cache.FILE


def scores(folder):
    path = folder / "scores.npy"
    if not os.path.lexists(path):
        np.save(path, np.zeros(3))
    array = untrusted.load_array(path, follow=False, mmap_mode="r+")
    array += 1
    array.flush()
    return path


def lines(folder):
    with untrusted.open_to_append(folder / "answers.jsonl") as file:
        file.write(b"{}\n")
    return folder / "answers.jsonl"


@pytest.mark.parametrize("grow", [metrics, kept_answers, scores, lines])
@pytest.mark.parametrize("plant", ["link", "dangling link", "pipe"])
def test_a_file_that_grows_is_a_file_of_the_folder(grow, plant, tmp_path, contents):
    given, outside = tmp_path / "given", tmp_path / "outside"
    given.mkdir()
    outside.mkdir()
    place = grow(given)
    assert grow(given).is_file()  # a file that is there goes on
    shutil.move(place, outside / "file")
    before = contents(outside)
    if plant == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(outside / ("file" if plant == "link" else "absent"))
    with pytest.raises(RefusedError, match=place.name):
        grow(given)
    assert contents(outside) == before


#: The modules that open files for all others.
OPENERS = ("simtown.core.untrusted", "simtown.core.files")
#: Calls that change a file in its place, or make one, unless one argument is among these.
HARMLESS = {
    "os.open": ("os.devnull",),
    "sqlite3.connect": ("':memory:'",),
    **dict.fromkeys(("os.truncate", "touch", "FileHandler", "open_memmap", "mkfifo"), ()),
}


def updates(call):
    """Whether a call opens a file to append to it or to update it; unless it says how, it might."""
    name = ast.unparse(call.func)
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    for harmful, allowed in HARMLESS.items():
        if name == harmful or name.endswith(f".{harmful}"):
            return not {*map(ast.unparse, arguments)} & {*allowed}
    if name.rpartition(".")[2] not in ("open", "File", "memmap", "load", "fdopen"):
        return False
    modes = [a.value for a in arguments if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    return any(mode.strip("rwxabt+") == "" and {*mode} & {"a", "+"} for mode in modes)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("open(path, 'a')", True), ("path.open(mode='r+b')", True), ("io.open(path, 'w+')", True),
        ("h5py.File(path, 'a')", True), ("np.load(path, mmap_mode='r+')", True), ("path.touch()", True),
        ("sqlite3.connect(path)", True), ("os.open(path, os.O_RDWR)", True), ("open(path, 'wb')", False),
        ("os.open(os.devnull, os.O_RDWR)", False), ("Image.open(path)", False), ("open(path)", False),
    ],
)  # fmt: skip
def test_a_call_that_updates_is_known(code, found):
    assert updates(ast.parse(code).body[0].value) is found


def test_only_the_core_parses_toml():
    named = [name for name, tree in modules().items() if "tomllib" in ast.unparse(tree)]
    assert named == ["simtown.core.untrusted"]


def test_only_the_core_opens_files_to_append_or_update():
    """Others call `open_to_append`, `open_database`, `load_array` or `replacing`."""
    calls = [
        f"{Path(name)}, line {node.lineno}: {ast.unparse(node)}"
        for name, tree in modules().items()
        if name not in OPENERS
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and updates(node)
    ]
    assert calls == []
