"""The kernels in a debug build of another compiler: the sanitizers of addresses and undefined behaviour."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simtown.kernels import LEVEL
from simtown.kernels.compiling import compile_kernels, levels_here

ROOT = Path(__file__).parents[2]
FLAGS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
FILES = (
    "render/test_raster.py",
    "language/test_evaluate.py",
    "language/test_rejection.py",
    "language/test_sights.py",
    "scenes/test_crowd.py",
    "datasets/test_golden.py",
    "town/test_town.py",
)


@pytest.mark.slow
def test_nothing_is_out_of_bounds_or_undefined(tmp_path, monkeypatch):
    if not (compiler := shutil.which("g++")):
        pytest.skip("needs g++, which brings the sanitizers")
    monkeypatch.setenv("CXX", compiler)
    compile_kernels(tmp_path / "kernels.so", levels_here()[0], FLAGS)
    paths = [
        subprocess.check_output([compiler, f"-print-file-name=lib{s}.so"], text=True)
        for s in ("asan", "ubsan")
    ]
    settings = {LEVEL: str(tmp_path / "kernels.so"), "LD_PRELOAD": " ".join(map(str.strip, paths))}
    words = ["-q", "-p", "no:cacheprovider", *(f"tests/{file}" for file in FILES)]
    command = [sys.executable, "-m", "pytest", *words]
    environment = {**os.environ, **settings, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
