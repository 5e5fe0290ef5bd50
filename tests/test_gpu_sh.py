"""benchmarks/gpu.sh, rehearsed: every step with small numbers, on a card that the processor plays."""

import csv
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytest.importorskip("ziglang", reason="needs ziglang: pip install '.[dev]'")

from tests.conftest import HANGS

ROOT = Path(__file__).parents[1]


def gpu_sh(*words, **more):
    path = str(ROOT / "tests" / "cuda" / "rehearsal")
    environment = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": path, **more}
    command = [ROOT / "benchmarks" / "gpu.sh", *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANGS)


def results(folder):
    """How every step ended."""
    with open(folder / "summary.csv", encoding="utf-8") as file:
        return {row["step"]: row["result"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("words", ["--minutes 0", "--fast", "parities"])
def test_what_cannot_be_is_refused(words, tmp_path):
    done = gpu_sh(*words.split(), "--out", tmp_path / "out")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


def changed():
    """When each file of benchmarks/ was last written."""
    files = (path for path in (ROOT / "benchmarks").rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path: path.stat().st_mtime_ns for path in files}


def rehearse(out, *steps):
    """Run steps; returns what was printed. Nothing but the folder is written in the checkout."""
    before = changed()
    done = gpu_sh("--rehearse", "--minutes", HANGS // 60, "--out", out, *steps)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no wheel" not in done.stderr
    assert changed() == before
    return done.stdout


@pytest.mark.slow
def test_parity_is_rehearsed(tmp_path, monkeypatch):
    (tmp_path / "wheels").mkdir()
    monkeypatch.setenv("WHEELS", str(tmp_path / "wheels"))  # empty: nothing is missing here
    printed = rehearse(tmp_path / "out", "parity")
    for text in (printed, (tmp_path / "out" / "log.txt").read_text(encoding="utf-8")):
        assert "every byte is equal" in text
    assert results(tmp_path / "out") == {"parity": "passed"}
    assert "night" in (tmp_path / "out" / "parity.csv").read_text(encoding="utf-8")


@pytest.mark.slow
def test_all_steps_are_rehearsed(tmp_path):
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    steps = ["card", "generate", "stream", "bytes", "streaming", "sanitizer", "profile"]
    printed = rehearse(tmp_path / "out", *steps)
    ended = results(tmp_path / "out")
    assert list(ended) == steps
    assert {ended[step] for step in steps[:5]} == {"passed"}
    assert set(ended.values()) <= {"passed", "not on this machine"}
    assert "1 of 1 shards have the same bytes" in printed
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"log.txt", "summary.csv", "card.csv", "generate.csv", "streaming.csv"}
    assert len(names) <= 9


@pytest.mark.slow
def test_training_is_rehearsed_alone_and_together(tmp_path):
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    rehearse(tmp_path / "out", "training", "together")
    assert results(tmp_path / "out") == {"training": "passed", "together": "passed"}
    for name, ways in (("training", 8), ("together", 4)):
        with open(tmp_path / "out" / f"{name}.csv", encoding="utf-8") as file:
            file.readline()  # the machine
            assert len(list(csv.DictReader(file))) == ways


@pytest.mark.slow
def test_the_grid_is_rehearsed_under_both_rules_and_goes_on(tmp_path):
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    printed = rehearse(tmp_path / "out", "grid")
    assert "patient-sweep: 2 of 2 runs are done, 2 of them now" in printed
    assert "paper-sweep: 2 of 2 runs are done" in printed
    assert rehearse(tmp_path / "out", "grid").count("sweep: 2 of 2 runs are done, 0 of them now") == 2
    with tarfile.open(tmp_path / "out" / "grid.tgz") as kept:
        cells = [name for name in kept.getnames() if name.endswith(".json")]
    places = [f"{rule}/cnn-lstm-3-{n}" for rule in ("paper", "patient") for n in (4, 64)]
    assert sorted(cells) == [f"grid/{place}-seed0.json" for place in places]


def test_a_step_that_fails_is_told_and_does_not_stop_the_others(tmp_path):
    broken = tmp_path / "python"
    cases = f'*parity*) exit 4;; *card*) exit 3;; *) exec {sys.executable} "$@";;'
    broken.write_text(f'#!/bin/sh\ncase "$*" in {cases} esac\n')
    broken.chmod(0o755)
    done = gpu_sh("--rehearse", "--out", tmp_path / "out", "parity", "card", PYTHON=str(broken))
    assert done.returncode == 1
    assert results(tmp_path / "out") == {"parity": "failed with 4", "card": "not on this machine"}
