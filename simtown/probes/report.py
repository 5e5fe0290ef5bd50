"""A directory of results: one study of one model.

================= ============================================================================
file              content
================= ============================================================================
summary.json      the settings; digests of what was asked; for each task scores with intervals
summary.csv .md   the scores as a table
TASK.parquet      one row an item
TASK.png          the task's picture
================= ============================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from simtown.core.files import DamagedError, ForeignDirectoryError, replacing
from simtown.core.tables import Table
from simtown.core.untrusted import inside, markdown, read_json
from simtown.probes.model_names import title_of

#: The file that says what a directory of results is, and the version of its format.
SUMMARY, SCHEMA = "summary.json", 1


@dataclass(frozen=True)
class Results:
    """A directory of results.

    Attributes:
        path: of the directory.
        content: of its summary.json.
    """

    path: Path
    content: dict[str, Any]

    @property
    def tasks(self) -> dict[str, Any]:
        """The summary of every task that is done."""
        tasks: dict[str, Any] = self.content["tasks"]
        return tasks

    @property
    def model(self) -> str:
        """The model's name with the last folders of its path alone: "sentence:all-minilm/model"."""
        kind, colon, place = title_of(str(self.content["settings"]["model"])).partition(":")
        return f"{kind}{colon}{'/'.join(Path(place).parts[-2:])}"

    def rows(self, task: str, columns: Sequence[str]) -> dict[str, list[Any]]:
        """Columns of a task's rows.

        Raises:
            DamagedError: the file is missing or damaged.
        """
        path = inside(self.path, f"{task}.parquet")
        try:
            rows = pq.read_table(path, columns=list(columns)).to_pydict()
            return {column: rows[column] for column in columns}
        except (pa.ArrowException, OSError, KeyError) as error:
            raise DamagedError(f"{path} is damaged ({error}): delete it and run the study again") from error


def load(path: Path, form: str = "") -> Results:
    """Open a directory of results.

    Args:
        path: of the directory.
        form: the format that its summary.json must name, see :class:`simtown.probes.study.Study`.

    Raises:
        FileNotFoundError: it holds no results.
        DamagedError: its summary.json cannot be read.
        ForeignDirectoryError: something else, or another version, made it.
    """
    summary = path / SUMMARY
    if not summary.is_file():
        raise FileNotFoundError(f"{path} holds no results (no {SUMMARY}): make them with simtown probe")
    try:
        content = read_json(summary)
        found = content["format"], content.get("schema")
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(
            f"{summary} is damaged ({error}): delete the directory and make it again"
        ) from error
    if found[1] != SCHEMA or (form and found[0] != form):
        raise ForeignDirectoryError(f"{summary} was not made by this study, or by another version of it")
    tasks = content.get("tasks")
    if not isinstance(tasks, dict) or not isinstance(content.get("settings"), dict):
        raise DamagedError(f"{summary} is damaged (no tasks or settings): run the study in another directory")
    content.setdefault("data", {task: summary.get("data") for task, summary in tasks.items()})
    return Results(path, content)


def shared_tasks(a: Results, b: Results) -> list[str]:
    """The tasks that two directories of results both have, in the order of the first.

    Raises:
        ValueError: they have none in common, or asked about different items.
    """
    shared = [task for task in a.tasks if task in b.tasks]
    if not shared:
        raise ValueError(f"{a.path} and {b.path} have no task in common")
    for task in shared:
        if a.content["data"].get(task) != b.content["data"].get(task):
            raise ValueError(
                f"{a.path} and {b.path} hold answers to different questions about {task}: give two "
                "directories made with the same subjects, classes, right answers and templates"
            )
    return shared


def write_rows(path: Path, rows: Mapping[str, Any]) -> None:
    """Write a task's rows as Parquet, whole or not at all."""
    with replacing(path) as temporary:
        pq.write_table(pa.table(dict(rows)), temporary)


def pages(
    results: Results, table: Table, notes: Sequence[str], text_columns: int | None = None
) -> dict[str, str]:
    """summary.csv and summary.md: the scores as a table, and lines below it."""
    title = f"# {markdown(results.model)}"
    page = [title, "", table.markdown(text_columns), "", *(markdown(note) for note in notes)]
    return {"summary.csv": table.csv(), "summary.md": "\n".join(page) + "\n"}
