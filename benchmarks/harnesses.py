"""Exported tasks in their harnesses' own packages, with models that know, see nothing, or err.

    python benchmarks/harnesses.py FOLDER

Makes an environment for each harness in FOLDER, once (12 GB, since two of them bring PyTorch), then runs
tests/datasets/export/test_harnesses.py in them. What each harness reported, and what simtown computes of the
same replies, is benchmarks/results/harnesses.csv.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from machine import RESULTS, machine

ROOT = Path(__file__).parents[1]
COLUMNS = ("harness", "data", "model", "examples", "metric", "reported", "computed")
PACKAGES = {
    "lmms-eval": ("lmms-eval==0.7.3", "av<16", "filelock<4"),
    "vlmevalkit": ("ms-vlmeval==0.0.20",),
    "inspect": ("inspect-ai==0.3.285", "fsspec<=2026.6.0", "pillow"),
}


def main(folder: Path) -> int:
    for name, packages in PACKAGES.items():
        if not (folder / name).exists():
            venv.create(folder / name, with_pip=True)
            subprocess.run([folder / name / "bin" / "pip", "install", *packages], check=True)
    reports = folder / "reports.csv"
    harnesses = ", ".join(packages[0].replace("==", " ") for packages in PACKAGES.values())
    reports.write_text(f"# {harnesses}; {machine()}\n{','.join(COLUMNS)}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "tests/datasets/export/test_harnesses.py"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"SIMTOWN_HARNESSES": str(folder)})
    shutil.copy(reports, RESULTS / "harnesses.csv")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
