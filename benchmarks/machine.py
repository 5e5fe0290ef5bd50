"""What the benchmarks share: options, the machine in one line, timing, and rows that are written at once."""

from __future__ import annotations

import argparse
import csv
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

RESULTS = Path(__file__).parent / "results"


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


def options(description: str | None, *positional: str, **defaults: Any) -> argparse.Namespace:
    """The command line of a benchmark.

    Args:
        description: the program's own docstring.
        positional: names of paths that must be given.
        defaults: of the options, which also give their types. A list is written with commas between its
            items; False stands for a flag.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in positional:
        parser.add_argument(name, type=Path)
    for name, default in defaults.items():
        if default is False:
            parser.add_argument(f"--{name}", action="store_true")
        elif isinstance(default, list):
            kind = type(default[0])
            parser.add_argument(
                f"--{name}", default=default, type=lambda s, kind=kind: [kind(x) for x in s.split(",")]
            )
        else:
            parser.add_argument(f"--{name}", default=default, type=type(default))
    return parser.parse_args()


def timed(draw: Callable[[], object], seconds: float) -> list[float]:
    """Seconds of each call within so many seconds, at least three, sorted; one before them warms up."""
    draw()
    taken: list[float] = []
    while len(taken) < 3 or sum(taken) < seconds:
        begun = perf_counter()
        draw()
        taken.append(perf_counter() - begun)
    return sorted(taken)


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file without its comments; none if there is no file."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def replace_rows(path: Path, rows: Sequence[Mapping[str, object]], *key: str, comment: str = "") -> None:
    """Write rows to a CSV file in the place of its rows that have the same values in the columns `key`."""
    old: dict[tuple[str, ...], list[Mapping[str, object]]] = {}
    new: dict[tuple[str, ...], list[Mapping[str, object]]] = {}
    for groups, listed in ((old, read_rows(path)), (new, rows)):
        for row in listed:
            groups.setdefault(tuple(str(row[name]) for name in key), []).append(row)
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(f"# {comment}\n" * bool(comment))
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for group in (old | new).values():
            writer.writerows(group)


class Rows:
    """A CSV file whose first line is a comment.

    Every row is written and printed at once: a run that is cut short keeps what it has.
    """

    def __init__(self, path: Path, where: str) -> None:
        self._path, self._where = path, where

    def __enter__(self) -> Rows:
        self._path.parent.mkdir(parents=True, exist_ok=True)
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
