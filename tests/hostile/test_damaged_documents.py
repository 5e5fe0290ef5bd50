"""JSON files of which any value is another or gone: they are read, or refused in words of ours."""

import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from simtown.complexity import cells
from simtown.complexity.finished_runs import read_and_count
from simtown.core.files import DamagedError
from simtown.core.table_files import FLAG
from simtown.core.untrusted import RefusedError
from simtown.datasets.making import manifests
from simtown.probes.report import SCHEMA, SUMMARY, Results, write_rows
from simtown.town import saving
from simtown.town.town import Town
from simtown.vlm import leaderboard
from simtown.vlm.referee import MEANING
from simtown.vlm.vlm_run import RECORD
from tests.hostile.marks import IN_PYTHON, damages

CELLS = Path(__file__).parents[2] / "benchmarks" / "results" / "sample-complexity" / cells.TABLE
_SHARE = {"accuracy": 0.5, "n": 2}
SUMMARY_OF_TWO = {
    "format": "simtown evaluate",
    "schema": SCHEMA,
    "settings": {"model": "hf:tiny", "seal": "0", "split": "test"},
    "tasks": {"picture": _SHARE},
    "twins": {"pair": _SHARE, "group": None, "chance": {"pair": 0.2}},
    "verdict": {"asked": 2} | {name: {"n": 0, "verdict": "no"} for name in MEANING},
}


def a_town(folder):
    town = Town()
    town.clear("building")
    town.clear("tree")
    town.place("taxi", x=0)
    return json.loads(saving.encode(town)), lambda document: saving.decode(Town, json.dumps(document))


def a_cell(folder, status="done"):
    (content,) = [*cells.read_table(CELLS).values()][:1]
    content["run"]["status"], content["curve"] = status, {}
    place = folder / "cell.json"

    def read(document):
        place.write_text(json.dumps(document, sort_keys=True, separators=(",", ":")))
        read_and_count([folder])

    return content, read


def a_run(folder):
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    from simtown.training import run_directory
    from simtown.training.run_scores import accuracy_in_words

    share = {"n": 2, "accuracy": 0.5, "low": 0.1, "high": 0.9}
    parts = {name: {"a": share} for name in ("relations", "deciles", "families", "kinds", "twins")}
    held_out = {**share, "families": {"a": {**share, "seen": share}}, "seen": 0.5}
    run = {
        "format": "simtown-run",
        "status": "done",
        "model": "pbn",
        "train_size": 2,
        "seconds": 1.0,
        "epochs": 1,
        "steps": 2,
        "stopped": "at its end",
        "best": {"epoch": 1},
        "references": {"a": 0.5},
        "settings": {"batch": 2, "options": {"width": 1.0}},
        "data": {"name": "town", "entities": 3, "examples": {"train": "0"}, "test_id": "0"},
        "test": {**share, **parts, "seen": share, "unseen": None, "held_out": held_out}
        | {"reweighted": {**share, "effective_n": 1.5}},
    }

    def read(document):
        (folder / "run.json").write_text(json.dumps(document))
        run = run_directory.load(folder)
        if run["status"] == "done":
            shares = [run["test"][name] for name in ("seen", "held_out") if run["test"].get(name)]
            assert [f"{part['n']:,} {part.get('accuracy') or 0:.3f}" for part in shares]
            assert f"{accuracy_in_words(run['test'])} {run['best']['epoch']:,} {run['steps']:,}"

    return run, read


def a_manifest(folder):
    manifest = {"format": manifests.FORMAT, "schema": manifests.SCHEMA, "settings": {"n": 2}, "shards": {}}

    def read(document):
        sealed = manifests.sealed(document) if isinstance(document, dict) else document
        (folder / manifests.NAME).write_text(json.dumps(sealed))
        manifests.load(folder)

    return manifest, read


def a_summary(folder):
    def read(document):
        (folder / SUMMARY).write_text(json.dumps(document))
        results = Results(folder, RECORD.load(folder))
        assert results.model + str("picture" in results.tasks)
        rows = {name: np.arange(2) for name in ("right", "cluster", "unparsed", "refused")}
        leaderboard.leaderboard([leaderboard.Answered("a", results, {"picture": rows})])

    return SUMMARY_OF_TWO, read


@pytest.mark.parametrize(
    "make",
    [a_town, a_cell, partial(a_cell, status="running"), a_run, a_manifest, a_summary],
    ids=["town", "cell", "running cell", "run", "manifest", "summary"],
)
def test_a_damaged_document_is_read_or_refused_in_words(tmp_path, make):
    document, read = make(tmp_path)
    said = set()
    for damaged in damages(document):
        try:
            read(damaged)
        except (ValueError, DamagedError, FileNotFoundError) as error:
            said.add(str(error))
    assert said
    assert not [words for words in said if IN_PYTHON.search(words) or "\n" in words]


def test_a_pipe_in_the_place_of_rows_is_refused(tmp_path):
    os.mkfifo(tmp_path / "picture.parquet")
    with pytest.raises(RefusedError, match="not a regular file"):
        Results(tmp_path, SUMMARY_OF_TWO).rows("picture", {"right": FLAG})


@pytest.mark.parametrize("values", [["true"], [0.5], [1], [None], [True, None], [[True]]], ids=str)
def test_rows_of_another_type_are_refused(tmp_path, values):
    write_rows(tmp_path / "picture.parquet", {"right": values})
    with pytest.raises(DamagedError, match="its column right holds other values than true and false"):
        Results(tmp_path, SUMMARY_OF_TWO).rows("picture", {"right": FLAG})
