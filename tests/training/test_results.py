"""Reading run directories, and refusing damaged ones."""

import json

import numpy as np
import pytest

from simtown.files import DamagedError
from simtown.training.results import read_runs


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
    with pytest.raises(ValueError, match=r"first and .*second hold the same run \(pbn, 5 entities, 500 samples, seed 0\)"):
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
        ("run.json", lambda p: p.write_text(json.dumps(json.loads(p.read_text()) | {"train_size": 0}))),
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
