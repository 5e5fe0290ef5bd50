"""Metrics of one's own: functions of the rows."""

import pytest

from simtown.core.options import SettingsError
from simtown.vlm.vlm_run import ANSWERS_FILE, evaluate_model
from simtown.vlm.vlm_settings import VlmSettings
from tests.vlm.chat_server import serving

MODULE = """\
def recall(rows):
    yes = [row for row in rows if row["gold"] == "yes"]
    return sum(row["answer"] == "yes" for row in yes) / len(yes)

def accuracy(rows):
    found = sum(row["right"] for row in rows) / len(rows)
    for row in rows:
        row["right"] = False
    return found

def undefined(rows):
    return float("nan")

def fails(rows):
    raise KeyError("no such column")

def words(rows):
    return "many"
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a module of functions in the working directory."""
    (tmp_path / "measures_of_mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "measures_of_mine"


def test_a_function_of_the_rows_is_a_metric(paper, tmp_path, module):
    names = tuple(f"{module}:{name}" for name in ("recall", "accuracy", "undefined"))
    settings = VlmSettings(controls=4, metric=names)
    with serving(lambda *_: "yes") as server:
        results = evaluate_model(server.model, paper, settings, tmp_path / "out")
        found = results.content["metrics"]
        assert set(found[names[0]].values()) == {1.0}
        assert {*found[names[1]]} == {*results.tasks}
        assert all(results.tasks[name]["accuracy"] == value for name, value in found[names[1]].items())
        assert set(found[names[2]].values()) == {None}
        assert names[0] in (tmp_path / "out" / "summary.md").read_text()
        asked = len(server.bodies)
        results = evaluate_model(server.model, paper, VlmSettings(controls=4), tmp_path / "out")
        assert results.content["metrics"] == {}
        assert len(server.bodies) == asked


@pytest.mark.parametrize("name", ["fails", "words"])
def test_a_metric_that_fails_loses_no_answer(paper, tmp_path, module, name):
    out, settings = tmp_path / "out", VlmSettings(controls=0, metric=(f"{module}:{name}",))
    with serving(lambda *_: "yes") as server:
        with pytest.raises(SettingsError, match=f"^metric {module}:{name}"):
            evaluate_model(server.model, paper, settings, out)
        assert (out / ANSWERS_FILE).read_text().count("\n") == 24
        evaluate_model(server.model, paper, VlmSettings(controls=0), out)
        assert len(server.bodies) == 24


def test_a_metric_that_is_not_there_is_refused_before_anything_is_asked(towns, tmp_path, module, together):
    with serving(lambda *_: "yes") as server:
        words = ["evaluate", server.model, towns[0], "--controls", 0]
        missing, given = together(
            [*words, "--metric", f"{module}:nowhere"],
            [*words, "--metric", f"{module}:recall", "--metric", f"{module}:accuracy"],
            cwd=tmp_path,
        )
        assert len(server.bodies) == 24
    assert missing.code == 2
    assert missing.err.startswith("simtown: --metric") or "--metric" in missing.err
    assert len(missing.err.splitlines()) == 1
    assert given.code == 0, given.err
    assert f"{module}:accuracy" in given.out
