"""Every script of examples/ as a user runs it: without arguments, in a folder of the user's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import HANGS

EXAMPLES = Path(__file__).parents[1] / "examples"
#: What a script needs beside matplotlib.
NEEDS = {"grpo_step": "trl", "hold_out": "sklearn", "sklearn_needs": "sklearn"}
NEEDS |= {"grpo_curve": "torch", "threshold_in_metres": "sklearn", "digits_needed": "sklearn"}
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n != "published_curves")) for n in SCRIPTS]
)
def test_an_example_runs_without_arguments_and_leaves_nothing_behind(name, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip(NEEDS.get(name, "matplotlib"))
    environment = {**os.environ, "MPLBACKEND": "agg", "TMPDIR": str(tmp_path)}
    (tmp_path / "here").mkdir()
    command = [sys.executable, EXAMPLES / f"{name}.py"]
    more = {"cwd": tmp_path / "here", "env": environment, "timeout": HANGS}
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not list((tmp_path / "here").iterdir())
    assert "Traceback" not in done.stderr
