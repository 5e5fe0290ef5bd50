"""What a benchmark ran on, in one line."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path


def machine(*libraries: str) -> str:
    """Processor model and count, Python, and the versions of the named libraries."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    versions = "".join(f", {name} {version(name)}" for name in libraries)
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}{versions}"
