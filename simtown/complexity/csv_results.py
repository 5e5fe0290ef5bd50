"""Results of experiments that never saw the town: a CSV of learning curves, read as runs."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from simtown.complexity.finished_runs import Run
from simtown.core.tables import TableRow, read_rows

#: Columns of whole numbers, and the least of each.
_LEAST = {"size": 1, "total": 1, "seed": 0, "correct": 0, "world": 1}
COLUMNS = ("group", "size", "seed", "correct", "total")
SCORED = (*COLUMNS[:3], "score")


def read_csv(path: Path) -> tuple[list[Run], str, bool]:
    """The runs of a CSV of results, the first line's group, and whether there is a column world.

    The columns are group, size, seed, correct, total and, optionally, world; or, with two seeds or more of
    each group and size, score instead of correct and total. Or it is wide: a row for each seed, with scores
    in columns named by sizes; group, seed and world are optional there.

    Raises:
        FileNotFoundError: the file is missing.
        ValueError: it is not such a table; the message names the line and the column.
    """
    columns = ", ".join(COLUMNS)
    rows = read_rows(path, ())
    rows = _long(rows, path.stem) or read_rows(path, COLUMNS[:3])
    if not rows:
        raise ValueError(f"{path} has no results: write lines below the columns {columns}")
    names = list(rows[0].cells)
    if {*names} - {"world"} not in ({*COLUMNS}, {*SCORED}):
        raise ValueError(
            f"{path} has the columns {', '.join(names)}, not {columns} (or score for the last two) and, "
            "if you like, world"
        )
    runs: dict[str, Run] = {}
    place_of: dict[str, str] = {}
    for where, cells in rows:
        run = _run(where, dict(cells))
        if run.test_id in runs:
            case = ", ".join(sorted(set(names) - {"correct", "total", "score"}))
            raise ValueError(f"{where}: the same {case} as in {place_of[run.test_id]}")
        runs[run.test_id], place_of[run.test_id] = run, where
    seeds = Counter((run.model, run.entities, run.train_size) for run in runs.values())
    if "score" in names and (lonely := [case for case, count in seeds.items() if count < 2]):
        group, _, size = lonely[0]
        raise ValueError(
            f"{path}: {group} has one seed with size {size}, and a score does not say of how many items: "
            "give columns correct and total, or more seeds"
        )
    return list(runs.values()), next(iter(runs.values())).model, "world" in names


def _long(rows: Sequence[TableRow], group: str) -> list[TableRow]:
    """The rows of a wide table, a score each; none if fewer than two columns are named by sizes."""
    sizes = [name for name in rows[0].cells if name.isdecimal()] if rows else []
    if len(sizes) < 2:
        return []
    result, seeds = [], Counter[str]()
    for where, cells in rows:
        case = {name: text for name, text in cells.items() if name not in sizes}
        case.setdefault("group", group)
        case.setdefault("seed", str(seeds[case["group"]]))
        seeds[case["group"]] += 1
        result += [
            TableRow(where, {**case, "size": size, "score": cells[size]}) for size in sizes if cells[size]
        ]
    return result


def _run(where: str, row: dict[str, str]) -> Run:
    group = row.pop("group")
    if not group:
        raise ValueError(f"{where}, column group: it is empty")
    score = row.pop("score", None)
    numbers = {"world": 1, "correct": 0, "total": 1}
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
    answers = np.arange(total) < correct
    if score is not None:
        try:
            answers = np.array([float(score)])
        except ValueError:
            answers = np.array([np.nan])
        if not 0 <= answers[0] <= 1:
            raise ValueError(f"{where}, column score: {score!r} is not a number from 0 to 1")
    return Run(group, world, False, size, seed, test_id, answers)
