"""Results of experiments that never saw the town: a CSV of learning curves.

They are read as the runs that the estimator takes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from simtown.complexity.finished_runs import MOST_ANSWERS, MOST_RUNS, Run
from simtown.core.untrusted import read_text

COLUMNS = ("group", "size", "seed", "correct", "total")


@dataclass(frozen=True)
class ResultsTable:
    """What a CSV of results holds.

    Attributes:
        runs: one a line.
        reference: the first line's group, which the others are compared with.
        worlds: whether there is a column `world`.
    """

    runs: list[Run]
    reference: str
    worlds: bool


def read_table(path: Path) -> ResultsTable:
    """Read a CSV with columns group, size, seed, correct, total and, optionally, world.

    Lines that begin with # are comments.

    Raises:
        FileNotFoundError: it is not there.
        ValueError: it is no such table; the message names the line and the column.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: give a CSV file with the columns {', '.join(COLUMNS)}")
    try:
        text = read_text(path, encoding="utf-8-sig")
        lines = list(islice(_lines(text), MOST_RUNS + 2))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read as a CSV file: {error}") from error
    if not lines:
        raise ValueError(f"{path} is empty: its first line must name the columns {', '.join(COLUMNS)}")
    (first, head), *body = lines
    names = [name.strip() for name in head]
    missing = [name for name in COLUMNS if name not in names]
    unknown = [name for name in names if name not in (*COLUMNS, "world")]
    if missing or unknown or len(set(names)) < len(names):
        what = (
            f"lacks the column {missing[0]}"
            if missing
            else f"has a column {unknown[0]!r}"
            if unknown
            else "names a column twice"
        )
        raise ValueError(
            f"{path}, line {first}: {what}; the columns are {', '.join(COLUMNS)} and, if you like, world"
        )
    if not body:
        raise ValueError(f"{path} has no results below its line {first}")
    if len(body) > MOST_RUNS:
        raise ValueError(f"{path} has more than {MOST_RUNS:,} results, which are not compared")
    runs: list[Run] = []
    answers = 0
    lines_of: dict[tuple[object, ...], int] = {}
    for number, cells in body:
        where = f"{path}, line {number}"
        if len(cells) != len(names):
            raise ValueError(f"{where}: {len(cells)} values for {len(names)} columns")
        run = _run(where, dict(zip(names, (cell.strip() for cell in cells), strict=True)))
        cell = (run.model, run.entities, run.train_size, run.seed)
        if cell in lines_of:
            raise ValueError(
                f"{where}: the same group, size, seed{' and world' if 'world' in names else ''} as line "
                f"{lines_of[cell]}"
            )
        lines_of[cell] = number
        answers += len(run.correct)
        if answers > MOST_ANSWERS:
            raise ValueError(
                f"{where}: more than {MOST_ANSWERS:,} answers of all runs together are not compared"
            )
        runs.append(run)
    return ResultsTable(runs, runs[0].model, "world" in names)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of every line that holds something."""
    raw: list[str] = []  # the lines of the record that is being read

    def watched() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            raw.append(line)
            yield line

    reader = csv.reader(watched())
    for cells in reader:
        # a quoted group may begin with #
        if any(cell.strip() for cell in cells) and not raw[0].lstrip().startswith("#"):
            yield reader.line_num, cells
        raw.clear()


def _run(where: str, line: dict[str, str]) -> Run:
    if not line["group"]:
        raise ValueError(f"{where}, column group: it is empty")
    size, total = (_whole(where, name, line[name], 1) for name in ("size", "total"))
    seed, correct = (_whole(where, name, line[name], 0) for name in ("seed", "correct"))
    if correct > total:
        raise ValueError(f"{where}, column correct: {correct} right answers of {total}")
    world = _whole(where, "world", line["world"], 1) if "world" in line else 1
    # Which items were answered right is not known, so no two runs can be paired by item: each has a test set
    # of its own name, which the place of its line does not change.
    answers = np.zeros(total, dtype=bool)
    answers[:correct] = True
    test_id = repr((line["group"], world, size, seed))
    return Run(line["group"], world, False, size, seed, test_id, answers)


def _whole(where: str, name: str, text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text) >= least):
        raise ValueError(f"{where}, column {name}: {text!r} is no whole number of at least {least}")
    return int(text)
