"""A directory of a study's results: one model, any of the study's tasks. Tables a task as Parquet, what was found in summary.json.

The same settings continue where an earlier run ended; others are refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import simtown
from simtown.files import DamagedError, ForeignDirectoryError, claimed, load_json, replacing, save_json
from simtown.quoting import without_folders

NAME, SCHEMA = "summary.json", 1


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
                strange = sorted(p.name for p in path.iterdir() if p.name not in self.own and not p.name.endswith(".tmp"))
                if strange:
                    raise ForeignDirectoryError(f"{path} holds {strange[0]}, which {self.command} did not make: give another --out")
                content = {"format": self.form, "schema": SCHEMA, "version": simtown.__version__, "settings": settings, "tasks": {}}
                save_json(path / NAME, content)
            yield Directory(path, content)

    def load(self, path: Path) -> dict[str, Any]:
        """What summary.json says. Raises FileNotFoundError, DamagedError, ForeignDirectoryError."""
        file = path / NAME
        if not file.is_file():
            raise FileNotFoundError(f"{path} holds no results (no {NAME}): make them with {self.command}")
        content = load_json(file, self.form, self.command)
        if content.get("schema") != SCHEMA:
            raise ForeignDirectoryError(f"{file} was made by another version of {self.command}: run it again with another --out")
        if not isinstance(content.get("tasks"), dict) or not isinstance(content.get("settings"), dict):
            raise DamagedError(f"{file} is damaged (it lists no tasks): run {self.command} again with another --out")
        return content

    def table(self, path: Path, task: str) -> pa.Table:
        """A task's rows, read back. Raises DamagedError."""
        file = path / f"{task}.parquet"
        try:
            return pq.read_table(file)
        except (OSError, pa.ArrowException) as error:
            raise DamagedError(f"{file} is missing or damaged ({error}): delete it and run {self.command} again") from error


def finite(content: Any) -> Any:
    """JSON has no NaN: null."""
    if isinstance(content, dict):
        return {k: finite(v) for k, v in content.items()}
    if isinstance(content, (list, tuple)):
        return [finite(v) for v in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
