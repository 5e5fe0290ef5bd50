"""The files of a directory of results: its record, rows and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from simtown.core.columns import read_table
from simtown.core.files import DamagedError, replacing, save_text
from simtown.core.runs import RunRecord
from simtown.core.tables import csv_text, markdown_table
from simtown.core.untrusted import markdown
from simtown.probes.model_names import title_of

if TYPE_CHECKING:
    from simtown.probes.study import SummaryTable


def load(record: RunRecord, path: Path) -> dict[str, Any]:
    """What the record of a directory of results says.

    Raises:
        FileNotFoundError: the directory has none.
        DamagedError: it cannot be read.
        ForeignDirectoryError: something else made it.
    """
    content = record.load(path)
    tasks = content.get("tasks", {} if record.schema is None else None)
    sound = isinstance(tasks, dict) and all(
        f"{task}.parquet" in record.owned and isinstance(summary, dict) for task, summary in tasks.items()
    )
    if not sound or not isinstance(content.get("settings"), dict):
        raise DamagedError(
            f"{path / record.name} is damaged (it lists no tasks, or no settings): "
            f"run {record.command} again with another --out"
        )
    return content


def shared_tasks(record: RunRecord, names: Sequence[str], a: Path, b: Path) -> list[str]:
    """The tasks of these names that two directories of results both have.

    Raises:
        ValueError: they have none in common.
    """
    contents = [load(record, path)["tasks"] for path in (a, b)]
    tasks = [task for task in names if all(task in content for content in contents)]
    if not tasks:
        raise ValueError(f"{a} and {b} have no task in common")
    return tasks


def read_rows(record: RunRecord, path: Path, task: str, columns: Mapping[str, pa.DataType]) -> pa.Table:
    """Columns of a task's rows.

    Raises:
        DamagedError: the file is missing or damaged.
    """
    try:
        return read_table(path / f"{task}.parquet", columns)
    except (DamagedError, OSError) as error:
        raise DamagedError(f"{error}: delete the file and run {record.command} again") from error


def write_rows(path: Path, rows: Mapping[str, Any] | pa.Table) -> None:
    """Write a task's rows as Parquet, whole or not at all."""
    with replacing(path) as temporary:
        pq.write_table(rows if isinstance(rows, pa.Table) else pa.table(dict(rows)), temporary)


def write_tables(out: Path, model: str, table: SummaryTable) -> None:
    """Write summary.csv and summary.md."""
    cells = [[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in table.rows]
    page = [
        "# " + markdown(short_model(model)),
        "",
        markdown_table([table.head, *cells], table.words),
        "",
        *table.explained,
    ]
    save_text(out / "summary.csv", csv_text([table.head, *table.rows]))
    save_text(out / "summary.md", "\n".join(page) + "\n")


def short_model(model: str) -> str:
    """A model's name with the last folders of its path alone: "sentence:all-minilm/model"."""
    kind, colon, place = title_of(model).partition(":")
    return f"{kind}{colon}{'/'.join(Path(place).parts[-2:])}"
