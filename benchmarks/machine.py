"""What a benchmark ran on, in one line; and rows that are kept as soon as they are known."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any


def machine(*libraries: str) -> str:
    """Processor model and count, Python, and the versions of the named libraries."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    fields = (line.partition(":") for line in reversed(lines))  # so that the first processor's stay
    said = {name.strip(): value.strip() for name, _, value in fields}
    cpu = said.get("model name", platform.processor())
    if not any(letter.isdigit() for letter in cpu) and "cpu family" in said:
        cpu += f" (family {said['cpu family']})"  # virtual machines name whole generations "AMD EPYC"
    versions = "".join(f", {name} {version(name)}" for name in libraries)
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}{versions}"


class Rows:
    """A CSV file whose first line is a comment.

    Every row is written and printed at once: a run that is cut short keeps what it has.
    """

    def __init__(self, path: Path, where: str) -> None:
        self._path, self._where = path, where

    def __enter__(self) -> Rows:
        self._file = open(self._path, "w", newline="", encoding="utf-8")
        self._file.write(f"# {self._where}\n")
        self._writer: Any = None
        print(self._where, flush=True)
        return self

    def add(self, row: Mapping[str, object]) -> None:
        """One more row; all have the same columns."""
        if self._writer is None:
            self._writer = csv.DictWriter(self._file, list(row), lineterminator="\n")
            self._writer.writeheader()
        self._writer.writerow(row)
        self._file.flush()
        print(*(f"{name} {value}" for name, value in row.items()), sep=", ", flush=True)

    def __exit__(self, *_: object) -> None:
        self._file.close()
