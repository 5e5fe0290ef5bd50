"""Results of experiments that never saw the town: a CSV of learning curves, read as runs."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import NamedTuple

import numpy as np

from simtown.complexity.finished_runs import Run
from simtown.core.untrusted import read_text

#: Columns of whole numbers, and the least of each.
_LEAST = {"size": 1, "total": 1, "seed": 0, "correct": 0, "world": 1}
COLUMNS = ("group", "size", "seed", "correct", "total")


class CsvResults(NamedTuple):
    """The runs of a CSV of results, the first line's group, and whether there is a column `world`."""

    runs: list[Run]
    reference: str
    worlds: bool


def read_csv(path: Path) -> CsvResults:
    """Read a CSV with columns group, size, seed, correct, total and, optionally, world.

    Lines that begin with # are comments.

    Raises:
        FileNotFoundError: the file is missing.
        ValueError: it is not such a table; the message names the line and the column.
    """
    columns = ", ".join(COLUMNS)
    lines = io.StringIO(read_text(path, encoding="utf-8-sig"), newline="")
    reader = csv.reader("\n" if line.lstrip().startswith("#") else line for line in lines)
    try:
        records = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as a CSV file: {error}") from error
    if len(records) < 2:
        raise ValueError(f"{path} has no results: give a head with the columns {columns}, and lines below it")
    names = [name.strip() for name in records[0][1]]
    if sorted(names) not in (sorted(COLUMNS), sorted((*COLUMNS, "world"))):
        raise ValueError(f"{path} has the columns {', '.join(names)}, not {columns} and, if you like, world")
    runs: dict[str, Run] = {}
    line_of: dict[str, int] = {}
    for number, row in records[1:]:
        where = f"{path}, line {number}"
        if len(row) != len(names):
            raise ValueError(f"{where}: {len(row)} values for {len(names)} columns")
        run = _run(where, dict(zip(names, (cell.strip() for cell in row), strict=True)))
        if run.test_id in runs:
            case = ", ".join(sorted(set(names) - {"correct", "total"}))
            raise ValueError(f"{where}: the same {case} as line {line_of[run.test_id]}")
        runs[run.test_id], line_of[run.test_id] = run, number
    return CsvResults(list(runs.values()), next(iter(runs.values())).model, "world" in names)


def _run(where: str, row: dict[str, str]) -> Run:
    group = row.pop("group")
    if not group:
        raise ValueError(f"{where}, column group: it is empty")
    numbers = {"world": 1}
    for name, text in row.items():
        least = _LEAST[name]
        if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text) >= least):
            raise ValueError(f"{where}, column {name}: {text!r} is not a whole number of at least {least}")
        numbers[name] = int(text)
    world, size, seed, correct, total = (numbers[x] for x in ("world", "size", "seed", "correct", "total"))
    if correct > total:
        raise ValueError(f"{where}, column correct: {correct} right answers of {total}")
    # Which items were answered right is unknown, so no two runs can be paired by item: each has a test set of
    # its own, whose name does not depend on the order of lines.
    test_id = repr((group, world, size, seed))
    return Run(group, world, False, size, seed, test_id, np.arange(total) < correct)
