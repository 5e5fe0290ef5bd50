"""A table of cells holds what the files of cells hold, and everything that reads cells reads it."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.complexity import cells
from simtown.complexity.cell_table import TABLE, read_table, write_table
from simtown.complexity.finished_runs import read_and_count
from simtown.complexity.need_report import report
from simtown.core.files import DamagedError
from tests.complexity.simulated import exact, store
from tools.cells import commits_of, join

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
NAMES = st.text(st.characters(codec="utf-8", exclude_characters=".=", exclude_categories=["Cc", "Zl", "Zp"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(contents=st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=4), min_size=1, max_size=3))
def test_a_table_gives_back_what_was_written(contents, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / TABLE
    write_table(path, contents, {})
    assert json.dumps(read_table(path), sort_keys=True) == json.dumps(contents, sort_keys=True)


def test_nothing_is_written_that_would_be_read_as_something_else(tmp_path):
    with pytest.raises(ValueError, match="dot"):
        write_table(tmp_path / TABLE, {"a": {"run": {"x.y": 1}}}, {})
    assert not (tmp_path / TABLE).exists()


@pytest.fixture
def kept(tmp_path):
    """A folder with the files of twelve cells."""
    for model, entities, size, share in (
        ("pbn", 5, 500, 0.6),
        ("pbn", 5, 900, 0.9),
        ("cnn-lstm", 5, 900, 0.7),
    ):
        for seed in range(4):
            run = tmp_path / "runs" / f"{model}-{entities}-{size}-seed{seed}"
            store(run, exact(model, entities, size, share, seed))
            cells.save(run, tmp_path / "kept")
    return tmp_path / "kept"


def test_joined_cells_are_the_same_runs_and_the_same_report(kept, tmp_path):
    before, files = read_and_count([kept]), {path.stem: cells.load(path) for path in kept.iterdir()}
    report([kept], tmp_path / "from files", replicates=40)
    assert join(kept, "abc") == 12
    assert [path.name for path in kept.iterdir()] == [TABLE]
    after = read_and_count([kept])
    assert after == before
    for one, other in zip(before[0], after[0], strict=True):
        np.testing.assert_array_equal(one.correct, other.correct)
    for name, (record, correct, family) in cells.load_table(kept).items():
        assert (record, family) == (files[name][0], files[name][2])
        np.testing.assert_array_equal(correct, files[name][1])
    for place in (kept, kept / TABLE):
        report([place], tmp_path / "from table", replicates=40)
        for name in ("complexity.json", "complexity.csv"):
            written = [(tmp_path / out / name).read_text() for out in ("from files", "from table")]
            assert written[0] == written[1]


def test_new_files_join_the_table_that_is_there(kept):
    last = (kept / "pbn-5-900-seed3.json").read_bytes()
    (kept / "pbn-5-900-seed3.json").unlink()
    join(kept, "abc")
    (kept / "pbn-5-900-seed3.json").write_bytes(last)
    assert len(read_and_count([kept])[0]) == 12, "beside the table a file counts, too"
    assert join(kept, "def") == 1
    assert sorted(commits_of(kept / TABLE).values()) == ["abc"] * 11 + ["def"]
    assert join(kept, "ghi") == 0


SPOILT = {
    "another first line": lambda text: text.replace("simtown-cells 1", "simtown-cells 2"),
    "no columns": lambda text: text.partition("\ncell,")[0],
    "half a line": lambda text: text[: -len(text.splitlines()[-1]) // 2],
    "a cell twice": lambda text: text + text.splitlines()[-1] + "\n",
    "no answers": lambda text: text.replace("\ncell,commit,correct", "\ncell,commit,right"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_damaged_table_is_named(kept, how):
    join(kept, "abc")
    (kept / TABLE).write_text(SPOILT[how]((kept / TABLE).read_text()))
    with pytest.raises(DamagedError, match=str(kept / TABLE)):
        cells.load_table(kept)


@pytest.mark.parametrize("table", sorted(RESULTS.rglob(TABLE)), ids=lambda table: table.parent.name)
def test_every_committed_cell_can_be_read_and_says_machine_and_commit(table):
    commits = commits_of(table)
    for name, (run, correct, _) in cells.load_table(table.parent).items():
        assert len(correct) == run["test"]["n"]
        assert run["machine"]["device"]
        assert commits[name], name
    assert list(table.parent.glob("*.json")) == []
