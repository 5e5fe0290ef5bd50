"""What benchmarks share: options, the machine in one line, timing, processes, and rows written at once."""

from __future__ import annotations

import argparse
import csv
import os
import platform
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

RESULTS = Path(__file__).parent / "results"


def machine(*libraries: str) -> str:
    """Processor model and count, Python, and the versions of the named libraries."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    fields = (line.partition(":") for line in reversed(lines))  # so that the first processor's stay
    facts = {name.strip(): value.strip() for name, _, value in fields}
    cpu = facts.get("model name", platform.processor())
    if not any(letter.isdigit() for letter in cpu) and "cpu family" in facts:
        cpu += f" (family {facts['cpu family']})"  # virtual machines name whole generations "AMD EPYC"
    here = [cpu, f"{os.cpu_count()} cores", platform.system(), f"Python {platform.python_version()}"]
    for name in libraries:
        try:
            here.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            here.append(f"no {name}")
    return ", ".join(here)


def options(description: str | None, *positional: str, **defaults: Any) -> argparse.Namespace:
    """The command line of a benchmark.

    Args:
        description: the program's own docstring.
        positional: names of paths that must be given.
        defaults: of the options, which also give their types. A list is written with commas between its
            items; False stands for a flag.
    """
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, formatter_class=layout)
    for name in positional:
        parser.add_argument(name, type=Path)
    for name, default in defaults.items():
        if default is False:
            parser.add_argument(f"--{name}", action="store_true")
            continue
        kind = type(default[0] if isinstance(default, list) else default)
        parse = partial(_items, kind) if isinstance(default, list) else kind
        parser.add_argument(f"--{name}", default=default, type=parse)
    return parser.parse_args()


def _items(kind: Callable[[str], Any], text: str) -> list[Any]:
    return [kind(item) for item in text.split(",")]


def timed(draw: Callable[[], object], seconds: float) -> list[float]:
    """Seconds of each call within so many seconds, at least three, sorted; one before them warms up."""
    draw()
    taken: list[float] = []
    while len(taken) < 3 or sum(taken) < seconds:
        begun = perf_counter()
        draw()
        taken.append(perf_counter() - begun)
    return sorted(taken)


class Apart:
    """An object in a process of its own: its methods are called by name.

    Args:
        make: makes the object there, from `arguments`.
        environment: variables of that process, set before.
    """

    def __init__(self, make: Callable[..., object], *arguments: object, **environment: str) -> None:
        self._pool = ProcessPoolExecutor(1, get_context("spawn"))
        self._pool.submit(_make, make, arguments, environment).result()

    def submit(self, method: str, *arguments: object) -> Future[Any]:
        """Begin a call; the result comes later."""
        return self._pool.submit(_call, method, arguments)

    def call(self, method: str, *arguments: object) -> Any:
        return self.submit(method, *arguments).result()

    def end(self) -> None:
        self._pool.shutdown()


#: In the process of an Apart: its object.
_objects: list[object] = []


def _make(make: Callable[..., object], arguments: tuple[object, ...], environment: dict[str, str]) -> None:
    os.environ.update(environment)
    _objects.append(make(*arguments))


def _call(method: str, arguments: tuple[object, ...]) -> Any:
    return getattr(_objects[0], method)(*arguments)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV file without its comments; none if there is no file."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


class Rows:
    """A CSV file whose first line is a comment, if there is one.

    Every row is printed and written at once: a run that is cut short keeps what it has. With the names of
    columns in `key`, rows of earlier runs stay, but for those that have the values of a new one there.
    Without a path, rows are only printed.
    """

    def __init__(self, path: Path | None, comment: str, *key: str) -> None:
        self._path, self._comment, self._key = path, comment, key
        self._groups: dict[tuple[str, ...], list[Mapping[str, object]]] = {}
        for row in read_rows(path) if path and key else ():
            self._groups.setdefault(tuple(row[name] for name in key), []).append(row)
        self._begun: set[tuple[str, ...]] = set()
        print(comment, flush=True)

    def add(self, row: Mapping[str, object]) -> None:
        """One more row; all have the same columns."""
        print(*(f"{name} {value}" for name, value in row.items()), sep=", ", flush=True)
        if self._path is None:
            return
        group = tuple(str(row[name]) for name in self._key)
        if group not in self._begun:
            self._begun.add(group)
            self._groups[group] = []
        self._groups[group].append(row)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with open(self._path, "w", newline="", encoding="utf-8") as file:
            file.write(f"# {self._comment}\n" * bool(self._comment))
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            writer.writeheader()
            for rows in self._groups.values():
                writer.writerows(rows)
