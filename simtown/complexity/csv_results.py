"""Results of experiments that never saw the town: a CSV of learning curves, read as runs."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import NamedTuple

import numpy as np

from simtown.complexity.finished_runs import Run
from simtown.core.untrusted import read_text

COLUMNS = ("group", "size", "seed", "correct", "total")


class CsvResults(NamedTuple):
    """The content of a CSV of results.

    Attributes:
        runs: one a line.
        reference: the first line's group, which the others are compared with.
        worlds: whether there is a column `world`.
    """

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
    runs: list[Run] = []
    line_of: dict[str, int] = {}
    for number, row in records[1:]:
        where = f"{path}, line {number}"
        if len(row) != len(names):
            raise ValueError(f"{where}: {len(row)} values for {len(names)} columns")
        run = _run(where, dict(zip(names, (cell.strip() for cell in row), strict=True)))
        first = line_of.setdefault(run.test_id, number)
        if first != number:
            raise ValueError(
                f"{where}: the same {', '.join(sorted(set(names) - {'correct', 'total'}))} as line {first}"
            )
        runs.append(run)
    return CsvResults(runs, runs[0].model, "world" in names)


def _run(where: str, row: dict[str, str]) -> Run:
    def whole(name: str, least: int) -> int:
        text = row[name]
        if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text) >= least):
            raise ValueError(f"{where}, column {name}: {text!r} is not a whole number of at least {least}")
        return int(text)

    if not row["group"]:
        raise ValueError(f"{where}, column group: it is empty")
    size, total, seed, correct = whole("size", 1), whole("total", 1), whole("seed", 0), whole("correct", 0)
    if correct > total:
        raise ValueError(f"{where}, column correct: {correct} right answers of {total}")
    world = whole("world", 1) if "world" in row else 1
    # Which items were answered right is unknown, so no two runs can be paired by item: each has a test set of
    # its own, whose name does not depend on the order of lines.
    test_id = repr((row["group"], world, size, seed))
    return Run(row["group"], world, False, size, seed, test_id, np.arange(total) < correct)
