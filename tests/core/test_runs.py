"""Run directories: begun in an empty one, continued with the same settings, refused otherwise."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.core.files import DamagedError, ForeignDirectoryError
from simtown.core.runs import RunRecord, changed_settings

RECORD = RunRecord("run.json", "toy run", "simtown toy", frozenset({"run.json", "table.csv"}), schema=2)
SETTINGS = {"seed": 0, "steps": ["a", "b"], "rate": 0.5, "model": "pbn"}
values = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers())
settings = st.dictionaries(st.text(min_size=1), values, max_size=5)


@given(settings, settings)
def test_exactly_the_settings_that_differ_are_named(before, now):
    different = {name for name in {*before, *now} if before.get(name) != now.get(name)}
    changes = changed_settings(before, now)
    assert len(changes) == len(different)
    assert all(any(change.startswith(f"{name} ") for change in changes) for name in different)


def test_a_run_is_begun_once_and_continued(tmp_path):
    with RECORD.opened(tmp_path / "a", {"settings": SETTINGS, "done": 0}) as content:
        assert (content["schema"], content["format"]) == (2, "toy run")
        assert json.loads((tmp_path / "a" / "run.json").read_text()) == content
        content["done"] = 7
        RECORD.save(tmp_path / "a", content)
    with RECORD.opened(tmp_path / "a", {"settings": SETTINGS, "done": 0}) as content:
        assert content["done"] == 7


def test_other_settings_are_refused_with_both_values_and_nothing_changes(tmp_path):
    with RECORD.opened(tmp_path, {"settings": SETTINGS}):
        before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(ForeignDirectoryError, match="seed 0, now 1"):
        RECORD.opened(tmp_path, {"settings": SETTINGS | {"seed": 1}}).__enter__()
    assert (tmp_path / "run.json").read_bytes() == before


def test_tuples_and_lists_are_the_same_setting(tmp_path):
    for steps in (("a", "b"), ["a", "b"]):
        with RECORD.opened(tmp_path, {"settings": SETTINGS | {"steps": steps}}) as content:
            assert content["settings"]["steps"] == ["a", "b"]


def test_a_record_that_lacks_something_is_damaged(tmp_path):
    fresh = {"settings": SETTINGS, "done": 0}
    for content in ({"done": 0}, {"settings": {}}, {"settings": SETTINGS, "done": "x"}):
        RECORD.save(tmp_path, content)
        with pytest.raises(DamagedError, match=r"run\.json is damaged"):
            RECORD.opened(tmp_path, fresh, lambda record: record["settings"]["seed"]).__enter__()


def test_a_directory_with_another_file_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ForeignDirectoryError, match=r"thesis\.tex.*simtown toy"):
        RECORD.opened(tmp_path, {"settings": SETTINGS}).__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_leftovers_of_a_killed_process_go_and_others_stay(tmp_path):
    with RECORD.opened(tmp_path, {"settings": SETTINGS}):
        pass
    ours, others = tmp_path / f".table.csv.{'0' * 16}.tmp", tmp_path / f".thesis.tex.{'0' * 16}.tmp"
    ours.touch()
    others.touch()
    with RECORD.opened(tmp_path, {"settings": SETTINGS}):
        assert others.exists()
        assert not ours.exists()


#: What run.json holds, and how that is refused.
NO_RECORDS = [
    ("{", DamagedError, "is damaged"),
    ('{"format": "another run", "schema": 2}', ForeignDirectoryError, "was not made by simtown toy"),
    ('{"format": "toy run", "schema": 1}', ForeignDirectoryError, "another version of simtown toy"),
]


def test_a_record_that_is_none_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="simtown toy"):
        RECORD.load(tmp_path)
    for content, error, words in NO_RECORDS:
        (tmp_path / "run.json").write_text(content)
        with pytest.raises(error, match=words):
            RECORD.load(tmp_path)
