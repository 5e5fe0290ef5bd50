"""A directory of a study's results: one model, any of the study's tasks. Tables a task as Parquet, what was found in summary.json.

The same settings continue where an earlier run ended; others are refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import simtown
from simtown.columns import Kind, read_table
from simtown.files import DamagedError, ForeignDirectoryError, becoming, claimed, clear_leftovers, load_json, replacing, save_json
from simtown.quoting import without_folders

NAME, SCHEMA = "summary.json", 1
#: Values of a task's table at most: the paper's largest task has 160,000 decisions of six values each.
MOST_VALUES = 5_000_000
#: Bytes of the largest summary.json: one of co-occurrence, with 2,108 classes, has 700,000.
LARGEST = 4_000_000


class Directory:
    """Results that are being written; open one with :meth:`Study.opened`."""

    def __init__(self, path: Path, content: dict[str, Any]) -> None:
        self.path, self.content = path, content

    def has(self, task: str) -> bool:
        return task in self.content["tasks"] and (self.path / f"{task}.parquet").is_file()

    def add(self, task: str, rows: pa.Table, told: dict[str, Any]) -> None:
        """Write a task's rows, then its summary, whose presence says that the rows are whole."""
        with replacing(self.path / f"{task}.parquet") as temporary:
            pq.write_table(rows, temporary)
        self.content["tasks"][task] = finite(told)
        save_json(self.path / NAME, self.content)


@dataclass(frozen=True)
class Study:
    """A kind of results.

    Attributes:
        command: that makes them.
        form: what summary.json calls its format.
        own: names of the files that the command writes.
    """

    command: str
    form: str
    own: frozenset[str]

    @contextmanager
    def opened(self, path: Path, settings: dict[str, Any]) -> Iterator[Directory]:
        """The directory, new or continued, kept for this process.

        Raises:
            ForeignDirectoryError: it holds something else, results with other settings, or is being written.
        """
        settings = {**settings, "model": without_folders(settings["model"])}
        with claimed(path, self.command):
            if (path / NAME).exists():
                content = self.load(path)
                if isinstance(model := content["settings"].get("model"), str):  # an older simtown recorded the whole path
                    content["settings"]["model"] = without_folders(model)
                changed = [f"{key}: {json.dumps(content['settings'].get(key))} there, {json.dumps(value)} now"
                           for key, value in settings.items() if content["settings"].get(key) != value]  # fmt: skip
                if changed:
                    raise ForeignDirectoryError(f"{path} holds results with other settings ({'; '.join(changed)}): give another --out")
            else:
                strange = sorted(p.name for p in path.iterdir() if (becoming(p.name) or p.name) not in self.own)
                if strange:
                    raise ForeignDirectoryError(f"{path} holds {strange[0]}, which {self.command} did not make: give another --out")
                content = {"format": self.form, "schema": SCHEMA, "version": simtown.__version__, "settings": settings, "tasks": {}}
                save_json(path / NAME, content)
            clear_leftovers(path, self.own.__contains__)
            yield Directory(path, content)

    def load(self, path: Path) -> dict[str, Any]:
        """What summary.json says. Raises FileNotFoundError, DamagedError, ForeignDirectoryError."""
        file = path / NAME
        if not file.is_file():
            raise FileNotFoundError(f"{path} holds no results (no {NAME}): make them with {self.command}")
        content = load_json(file, self.form, self.command, LARGEST)
        if content.get("schema") != SCHEMA:
            raise ForeignDirectoryError(f"{file} was made by another version of {self.command}: run it again with another --out")
        tasks = content.get("tasks")
        sound = isinstance(tasks, dict) and all(f"{t}.parquet" in self.own and isinstance(told, dict) for t, told in tasks.items())
        if not sound or not isinstance(content.get("settings"), dict):
            raise DamagedError(f"{file} is damaged (it lists no tasks): run {self.command} again with another --out")
        return content

    def table(self, path: Path, task: str, columns: Mapping[str, Kind]) -> pa.Table:
        """Columns of a task's rows, read back. Raises DamagedError."""
        try:
            return read_table(path / f"{task}.parquet", columns, MOST_VALUES)
        except (DamagedError, OSError) as error:
            raise DamagedError(f"{error}: delete the file and run {self.command} again") from error


def finite(content: Any) -> Any:
    """JSON has no NaN: null."""
    if isinstance(content, dict):
        return {k: finite(v) for k, v in content.items()}
    if isinstance(content, (list, tuple)):
        return [finite(v) for v in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
