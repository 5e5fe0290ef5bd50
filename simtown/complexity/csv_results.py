"""Results of experiments that never saw the town: a CSV of learning curves, read as runs."""

from pathlib import Path

import numpy as np

from simtown.complexity.finished_runs import Run
from simtown.core.tables import read_rows

#: Columns of whole numbers, and the least of each.
_LEAST = {"size": 1, "total": 1, "seed": 0, "correct": 0, "world": 1}
COLUMNS = ("group", "size", "seed", "correct", "total")


def read_csv(path: Path) -> tuple[list[Run], str, bool]:
    """The runs of a CSV of results, the first line's group, and whether there is a column world.

    The columns are group, size, seed, correct, total and, optionally, world.

    Raises:
        FileNotFoundError: the file is missing.
        ValueError: it is not such a table; the message names the line and the column.
    """
    columns = ", ".join(COLUMNS)
    rows = read_rows(path, COLUMNS)
    if not rows:
        raise ValueError(f"{path} has no results: write lines below the columns {columns}")
    names = list(rows[0].cells)
    if sorted(names) not in (sorted(COLUMNS), sorted((*COLUMNS, "world"))):
        raise ValueError(f"{path} has the columns {', '.join(names)}, not {columns} and, if you like, world")
    runs: dict[str, Run] = {}
    place_of: dict[str, str] = {}
    for where, cells in rows:
        run = _run(where, dict(cells))
        if run.test_id in runs:
            case = ", ".join(sorted(set(names) - {"correct", "total"}))
            raise ValueError(f"{where}: the same {case} as in {place_of[run.test_id]}")
        runs[run.test_id], place_of[run.test_id] = run, where
    return list(runs.values()), next(iter(runs.values())).model, "world" in names


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
