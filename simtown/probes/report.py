"""A directory of results: one study of one model.

``summary.json`` holds the settings, digests of what was asked, and for each task scores with intervals;
``summary.csv`` and ``summary.md`` the scores as a table; ``TASK.parquet`` a row an item; ``TASK.png`` a
picture.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from simtown.core.files import DamagedError, replacing
from simtown.core.runs import RunRecord
from simtown.core.table_files import FLAG, INTEGER, columns_of
from simtown.core.tables import Table
from simtown.core.untrusted import cause, inside, markdown, open_regular
from simtown.probes.model_names import title_of

#: What columns of a type hold.
_HELD = {FLAG: "true and false", INTEGER: "whole numbers"}
#: The file that says what a directory of results is, and the version of its format.
SUMMARY, SCHEMA = "summary.json", 1


@dataclass(frozen=True)
class Results:
    """A directory of results, and the content of its summary.json."""

    path: Path
    content: dict[str, Any]

    @property
    def tasks(self) -> dict[str, Any]:
        """The summary of every task that is done."""
        tasks: dict[str, Any] = self.content.get("tasks", {})
        return tasks

    @property
    def model(self) -> str:
        """The model's name with the last folders of its path alone: "sentence:all-minilm/model"."""
        kind, colon, place = title_of(str(self.content["settings"]["model"])).partition(":")
        return f"{kind}{colon}{'/'.join(Path(place).parts[-2:])}"

    def rows(self, task: str, columns: Mapping[str, pa.DataType]) -> dict[str, list[Any]]:
        """Columns of a task's rows, by their types. Raises DamagedError if the file is missing or damaged."""
        path = inside(self.path, f"{task}.parquet")
        try:
            with open_regular(path, follow=False) as file:
                rows = columns_of(file, list(columns))
            for name, kind in columns.items():  # casting would take 0.5 for true
                if kind in (FLAG, INTEGER) and (rows[name].type != kind or rows[name].null_count):
                    problem = f"its column {name} holds other values than {_HELD[kind]}"
                    raise DamagedError(f"{path} is damaged ({problem}): run the study again")
            return {name: rows[name].cast(kind).to_pylist() for name, kind in columns.items()}
        except (pa.ArrowException, OSError, KeyError) as error:
            raise DamagedError(
                f"{path} is damaged ({cause(error)}): delete it and run the study again"
            ) from error


def load(path: Path, form: str) -> Results:
    """Open a directory of results whose summary.json names a format; raises as :meth:`RunRecord.load`."""
    return Results(path, RunRecord(SUMMARY, form, "simtown probe", frozenset(), SCHEMA).load(path))


def shared_tasks(a: Results, b: Results) -> list[str]:
    """The tasks that two directories of results both have, in the order of the first.

    Raises ValueError if they have none in common, or asked about different items.
    """
    shared = [task for task in a.tasks if task in b.tasks]
    if not shared:
        raise ValueError(f"{a.path} and {b.path} have no task in common")
    if other := [task for task in shared if a.content["data"][task] != b.content["data"][task]]:
        problem = f"{a.path} and {b.path} hold answers to different questions about {other[0]}"
        raise ValueError(f"{problem}: give two with the same items, right answers and templates")
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
