"""Reading run directories, and refusing damaged ones."""

import base64
import json

import numpy as np
import pytest

from simtown.complexity.finished_runs import read_runs
from simtown.core.files import DamagedError


def test_nothing_there(tmp_path, exact, store):
    with pytest.raises(FileNotFoundError, match="is not there"):
        read_runs([tmp_path / "nowhere"])
    with pytest.raises(FileNotFoundError, match="no finished run; make some with simtown fit"):
        read_runs([tmp_path])
    store(tmp_path / "a", exact("pbn", 5, 500, 0.6), status="running")
    with pytest.raises(FileNotFoundError, match="1 running"):
        read_runs([tmp_path])


def test_two_directories_of_one_cell(tmp_path, exact, store):
    for name in ("first", "second"):
        store(tmp_path / name, exact("pbn", 5, 500, 0.6))
    with pytest.raises(
        ValueError, match=r"first and .*second hold the same run \(pbn, 5 entities, 500 samples, seed 0\)"
    ):
        read_runs([tmp_path])


def _cut(path):
    path.write_bytes(path.read_bytes()[:100])


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("run.json", lambda p: p.write_text("{")),
        ("run.json", lambda p: p.write_bytes(b"\xff\xfe")),
        ("run.json", lambda p: p.write_text("[]")),
        ("run.json", lambda p: p.write_text(json.dumps(json.loads(p.read_text()) | {"data": {}}))),
        ("run.json", lambda p: p.write_text(json.dumps(json.loads(p.read_text()) | {"train_size": "many"}))),
        ("run.json", lambda p: p.write_text(json.dumps(json.loads(p.read_text()) | {"test": None}))),
        ("test.npz", lambda p: p.unlink()),
        ("test.npz", _cut),
        ("test.npz", lambda p: p.write_bytes(b"")),
        ("test.npz", lambda p: np.savez(p, wrong=np.ones(4, bool))),
        ("test.npz", lambda p: np.savez(p, correct=np.ones(400))),
        ("test.npz", lambda p: np.savez(p, correct=np.array([None, 1], dtype=object))),
        ("test.npz", lambda p: np.savez(p, correct=np.ones(400, bool))),  # accuracy contradicts
    ],
)
def test_damage_is_named(tmp_path, name, damage, exact, store):
    store(tmp_path / "run", exact("pbn", 5, 500, 0.6))
    damage(tmp_path / "run" / name)
    with pytest.raises(DamagedError, match=f"run/{name} is damaged"):
        read_runs([tmp_path])


def test_one_test_set_has_one_length(tmp_path, exact, store):
    store(tmp_path / "a", exact("pbn", 5, 500, 0.6))
    store(tmp_path / "b", exact("pbn", 5, 1000, 0.6, items=200))
    with pytest.raises(DamagedError, match="400 of the same test set"):
        read_runs([tmp_path])


def keep(folder, run, name="cell", **changes):
    """The small file of a finished cell, as the description of its format says."""
    shares = {"validation": {"accuracy": 0.9, "n": 10}, "reweighted": {"accuracy": 0.8, "n": 10}}
    world = {"entities": run.entities, "distractor": run.distractor, "seed": 4, "world_seed": 7}
    record = {
        "format": "simtown-run",
        "status": "done",
        "model": run.model,
        "train_size": run.train_size,
        "seed": run.seed,
        "steps": 10,
        "seconds": 1.0,
        "settings": {"model": run.model},
        "test": {"accuracy": float(run.correct.mean()), "n": len(run.correct), **shares},
        "data": {**world, "test_id": run.test_id},
    }
    packed = base64.b64encode(np.packbits(run.correct).tobytes()).decode()
    content = {
        "correct": packed,
        "format": "simtown-cell",
        "version": 1,
        "run": record | changes,
        "curve": {"step": []},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(content, separators=(",", ":")))


def test_cells_are_read_as_their_runs_are(tmp_path, exact, store):
    run = exact("pbn", 5, 500, 0.6, items=401)
    keep(tmp_path, run)
    (tmp_path / "complexity.json").write_text('{"format": "simtown-complexity"}')
    (tmp_path / "broken.json").write_text("{")
    (found,) = read_runs([tmp_path])
    np.testing.assert_array_equal(found.correct, run.correct)
    assert (found.data_seed, found.world_seed, found.validation, found.reweighted) == (4, 7, 0.9, 0.8)
    assert read_runs([tmp_path / "cell.json"]) == [found]
    keep(tmp_path / "again", run)
    assert read_runs([tmp_path]) == [found]  # the same cell kept twice
    keep(tmp_path / "other", exact("pbn", 5, 500, 0.7, items=401))
    with pytest.raises(ValueError, match=r"cell\.json and .*other/cell\.json hold the same run"):
        read_runs([tmp_path])


def test_a_damaged_cell_is_named(tmp_path, exact):
    keep(tmp_path, exact("pbn", 5, 500, 0.6))
    path = tmp_path / "cell.json"
    whole = path.read_text()
    for damaged in (
        whole[:300],
        whole.replace('"train_size":500', '"train_size":"many"'),
        whole.replace('"accuracy":0.6', '"accuracy":0.7'),
    ):
        path.write_text(damaged)
        with pytest.raises(DamagedError, match=r"cell\.json is damaged"):
            read_runs([tmp_path])


def test_seeds_of_the_data_and_measures_of_validation_are_read(tmp_path, exact, store):
    run = exact("pbn", 5, 500, 0.6)
    data = {"entities": 5, "distractor": False, "test_id": "t"}
    store(tmp_path / "old", run, data=data)
    (found,) = read_runs([tmp_path / "old"])
    assert (found.data_seed, found.world_seed, found.validation) == (None, None, None)
    store(tmp_path / "new", run, data=data | {"seed": 3})
    (found,) = read_runs([tmp_path / "new"])
    assert (found.data_seed, found.world_seed) == (3, 0)
