"""Finished cells as small files: what a run says, and which test items it answered correctly, without
weights.
"""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra.numpy import arrays  # noqa: E402

from simtown.complexity import cells  # noqa: E402
from simtown.core.files import DamagedError, ForeignDirectoryError  # noqa: E402
from simtown.training.fit import fit  # noqa: E402
from simtown.training.run_directory import load, read_metrics  # noqa: E402
from tests.training import towns  # noqa: E402
from tests.training.towns import small  # noqa: E402


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run's directory."""
    directory = tmp_path_factory.mktemp("runs") / "question-only-3-60-seed0"
    fit(small("question-only"), towns.hamlet(tmp_path_factory), directory)
    return directory


@pytest.fixture
def kept(run, tmp_path):
    return cells.save(run, tmp_path / "kept")


def test_a_kept_cell_says_what_its_run_directory_says(run, kept):
    told, correct = cells.load(kept)
    whole = load(run)
    del whole["data"]["name"]
    assert told == whole
    with np.load(run / "test.npz") as test:
        assert (correct == test["correct"]).all()
        assert correct.dtype == bool
    assert kept.name == "question-only-3-60-seed0.json"
    assert [p.name for p in kept.parent.iterdir()] == [kept.name]
    curve, rows = json.loads(kept.read_text())["curve"], read_metrics(run)
    assert curve["step"] == [row["step"] for row in rows]
    for name in ("train_accuracy", "val_accuracy"):
        assert np.abs(np.array(curve[name]) - [row[name] for row in rows]).max() <= 0.5e-4


def test_a_kept_cell_is_small_and_names_no_place(run, kept):
    assert len(kept.read_bytes()) < 6_000
    assert str(run.parent) not in kept.read_text()
    assert cells.save(run, kept.parent).read_bytes() == kept.read_bytes()


def test_a_run_that_is_not_finished_is_not_kept(run, tmp_path):
    directory = tmp_path / "half"
    directory.mkdir()
    (directory / "run.json").write_text(json.dumps({**load(run), "status": "running"}))
    with pytest.raises(FileNotFoundError, match="no finished run"):
        cells.save(directory, tmp_path / "kept")
    with pytest.raises(FileNotFoundError, match="no run"):
        cells.save(tmp_path, tmp_path / "kept")
    (directory / "run.json").write_text((run / "run.json").read_text())
    with pytest.raises(DamagedError, match=r"test\.npz"):
        cells.save(directory, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@given(arrays(bool, st.integers(1, 40)))
def test_answers_come_back_whatever_their_number(tmp_path_factory, correct):
    directory = tmp_path_factory.getbasetemp() / "any-number"
    directory.mkdir(exist_ok=True)
    settings = {"model": "pbn", "train_size": 4, "seed": 0}
    told = {
        "format": "simtown-run",
        "status": "done",
        **settings,
        "settings": settings,
        "seconds": 1.0,
        "steps": 3,
        "data": {"entities": 3, "width": 32, "height": 32, "test_id": "t", "sha256": ""},
        "test": {"accuracy": float(correct.mean()), "n": len(correct)},
    }
    (directory / "run.json").write_text(json.dumps(told))
    np.savez(directory / "test.npz", correct=correct)
    (directory / "metrics.jsonl").write_text("")
    assert (cells.load(cells.save(directory, directory.parent / "kept"))[1] == correct).all()


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (lambda c: c["run"].pop("test"), DamagedError, "lacks 'test'"),
        (lambda c: c.update(correct="!!"), DamagedError, "damaged"),
        (lambda c: c.update(correct=c["correct"][4:]), DamagedError, "bytes of answers"),
        (lambda c: c["run"]["test"].update(accuracy=0.123), DamagedError, "accuracy"),
        (lambda c: c["run"]["test"].update(n=0), DamagedError, "damaged"),
        (lambda c: c.update(run=[]), DamagedError, "damaged"),
        (lambda c: c.update(version=2), DamagedError, "version 2"),
        (lambda c: c.update(format="other"), ForeignDirectoryError, "format"),
    ],
)
def test_what_is_no_kept_cell_is_one_line(kept, spoil, error, words):
    content = json.loads(kept.read_text())
    spoil(content)
    kept.write_text(json.dumps(content))
    with pytest.raises(error, match=words) as raised:
        cells.load(kept)
    assert str(kept) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_cell_that_is_not_there_or_cut_is_one_line(kept, tmp_path):
    with pytest.raises(FileNotFoundError, match="not there"):
        cells.load(tmp_path / "none.json")
    kept.write_text(kept.read_text()[:-9])
    with pytest.raises(DamagedError, match="damaged"):
        cells.load(kept)
