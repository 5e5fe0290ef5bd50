"""A CUDA driver that computes nothing (driver.c), for processes that call the package's real card without
having one.
"""

import os
import subprocess
from pathlib import Path


def built(folder: Path) -> Path:
    """Compile the driver into a folder that stands in LD_LIBRARY_PATH then; the folder."""
    words = [
        "gcc",
        "-shared",
        "-fPIC",
        "-O2",
        "-w",
        "-Wl,-soname,libcuda.so.1",
        Path(__file__).with_name("driver.c"),
    ]
    subprocess.run([*words, "-o", folder / "libcuda.so.1", "-ldl"], check=True)
    return folder


def environment(folder: Path, **settings: object) -> dict[str, str]:
    """Variables for a process that finds this driver: `megabytes=64` is FAKE_MEGABYTES."""
    paths = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {
        **os.environ,
        "LD_LIBRARY_PATH": ":".join(paths),
        **{f"FAKE_{name.upper()}": str(value) for name, value in settings.items()},
    }
