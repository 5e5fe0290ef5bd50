"""Finished runs, read from directories of runs and sweeps, and from the small files of cells.

Reading needs no PyTorch: a report can be made on a machine that cannot train.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simtown.complexity import cells
from simtown.complexity.cells import ANSWERS, RUN
from simtown.complexity.conditions import conditions, refuse_mixture
from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError, open_regular, read_json

#: What run.json calls itself.
FORMAT = "simtown-run"
#: Bytes from the beginning of a JSON file in which a cell's file says what it is.
_HEAD = 200_000
#: Files and folders of the largest directory in which runs are looked for, runs of the largest report, and
#: answers of all these together: each takes some ten bytes.
MOST_FILES, MOST_RUNS, MOST_ANSWERS = 500_000, 20_000, 50_000_000
#: Our models, in the order of tables and figures; any other comes after them.
MODELS = (
    "cnn-lstm",
    "cnn-lstm-boxes",
    "film",
    "relation-network",
    "vit",
    "pbn-no-boxes",
    "pbn",
    "true-boxes",
    "question-only",
)


#: Model, distractor, entities, train size and seed of a run.
_Cell = tuple[Any, ...]


@dataclass(frozen=True)
class Run:
    """One finished run: a model trained once, tested once.

    Attributes:
        model: its name.
        entities: size of the world.
        distractor: whether its scenes have a third vehicle.
        train_size: training examples.
        seed: of the run.
        test_id: identity of the test set; the same id means the same items in the same order.
        correct: (T,) bool, per test item.
        data_seed: seed of the data set that it read; None if it is not recorded.
        world_seed: the data set's world seed; None if it is not recorded.
        validation: accuracy on validation examples, None where there is none.
        reweighted: the same, each example weighted by equation 1.
    """

    model: str
    entities: int
    distractor: bool
    train_size: int
    seed: int
    test_id: str
    correct: np.ndarray = field(repr=False, compare=False)
    data_seed: int | None = None
    world_seed: int | None = None
    validation: float | None = None
    reweighted: float | None = None


def read_runs(paths: Iterable[Path]) -> list[Run]:
    """Every finished run at or below the paths, in the order of their cells; a run found twice counts once.

    Raises:
        FileNotFoundError: a path is not there, or holds no finished run.
        DamagedError: a file is not what `simtown fit` writes.
        RefusedError: they are too many, or a run is a symbolic link.
        ValueError: two directories hold the same cell.
        MixtureError: runs that were not made alike.
    """
    return read_and_count(paths)[0]


def read_and_count(paths: Iterable[Path]) -> tuple[list[Run], dict[str, int]]:
    """The finished runs, and how many others there are of each status.

    A run that is unfinished in one place and finished in another counts as finished.

    Raises:
        FileNotFoundError: a path does not exist, or there is no finished run.
        DamagedError: a file is damaged, or two runs disagree about the number of items of their test set.
        RefusedError: there are too many runs or answers.
        ValueError: the same run is given twice, or the runs cannot stand in one table.
    """
    paths = [Path(p) for p in paths]
    files: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(
                f"{path} is not there: give directories made by simtown fit or simtown sweep"
            )
        json_files = [path.resolve()] if path.is_file() else _json_files(path.resolve())
        files |= {file for file in json_files if file.name == RUN or _is_cell(file)}
    done: list[tuple[Path, dict[str, str], Run]] = []
    unfinished: list[tuple[_Cell, str]] = []
    answers = 0
    for file in sorted(files):
        record, correct = _json(file) if file.name == RUN else cells.load(file)
        if record.get("format") != FORMAT:
            continue  # another program's
        if record.get("status") != "done":
            unfinished.append((_cell(record), str(record.get("status"))))
            continue
        run = _run(file, record, correct)
        done.append((file, conditions(record), run))
        answers += len(run.correct)
        if len(done) > MOST_RUNS or answers > MOST_ANSWERS:
            raise RefusedError(
                f"{file}: more than {MOST_RUNS:,} runs, or {MOST_ANSWERS:,} answers, are not compared: give "
                "fewer directories"
            )
    refuse_mixture([(_place(file), conditions_of_run) for file, conditions_of_run, _ in done])
    runs: dict[_Cell, tuple[Run, Path]] = {}
    items: dict[str, tuple[int, Path]] = {}
    for file, _, run in done:
        key = (run.model, run.distractor, run.entities, run.train_size, run.seed)
        first, place = runs.setdefault(key, (run, file))
        same = first == run and np.array_equal(first.correct, run.correct)
        kept = not (place.name == file.name == RUN)  # a run and the small file of its cell, or two of these
        if place != file and not (same and kept):
            raise ValueError(
                f"{_place(place)} and {_place(file)} hold the same run ({_name(run)}): give only one of the "
                "two"
            )
        count, earlier = items.setdefault(run.test_id, (len(run.correct), file))
        if count != len(run.correct):
            raise DamagedError(
                f"{_answers(file)} holds answers to {len(run.correct)} test questions, {_answers(earlier)} "
                f"to {count} of the same test set: one of the two is damaged; train that run again"
            )
    others = Counter(status for cell, status in unfinished if cell not in runs)
    if not runs:
        where = ", ".join(map(str, paths)) or "nowhere"
        begun = f" ({counts(others)})" if others else ""
        raise FileNotFoundError(
            f"{where}: no finished run{begun}; make some with simtown fit or simtown sweep"
        )
    return [runs[key][0] for key in sorted(runs)], dict(sorted(others.items()))


def _cell(record: Mapping[str, Any]) -> _Cell:
    """Which cell a run.json is of; an unfinished one may lack any of this."""
    data = record.get("data", {})
    world = data.get("distractor"), data.get("entities")
    return record.get("model"), *world, record.get("train_size"), record.get("seed")


def _json_files(directory: Path) -> Iterator[Path]:
    """The JSON files at or below a directory.

    Symbolic links are not followed: they may lead anywhere, or in a circle.

    Raises RefusedError for a link that stands for a run, and for a directory of more than MOST_FILES.
    """
    count, folders = 0, [directory]
    while folders:
        try:
            entries = os.scandir(folders.pop())
        except PermissionError:
            continue
        with entries:
            for entry in entries:
                count += 1
                if count > MOST_FILES:
                    raise RefusedError(
                        f"{directory} holds more than {MOST_FILES:,} files and folders: give the directories "
                        "of runs in it"
                    )
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False) and entry.name.endswith(".json"):
                    yield Path(entry.path)
                elif entry.name == RUN and entry.is_symlink():
                    raise RefusedError(f"{entry.path} is a symbolic link: put the run itself there")


def _is_cell(file: Path) -> bool:
    """Whether a JSON file is the small file of a cell.

    Its first bytes say so; a larger file is not read further.
    """
    try:
        with open_regular(file, follow=False) as opened:
            head = opened.read(_HEAD)
    except (OSError, RefusedError):
        return False
    return head.startswith(b'{"correct":') or f'"{cells.FORMAT}"'.encode() in head


def _place(file: Path) -> Path:
    """What an error calls a run: its directory, or the file of its cell."""
    return file.parent if file.name == RUN else file


def _answers(file: Path) -> Path:
    """The file that holds a run's right answers."""
    return file.parent / ANSWERS if file.name == RUN else file


def _json(file: Path) -> tuple[dict[str, Any], None]:
    """A run.json; the right answers lie beside it."""
    try:
        record = read_json(file)
        if not isinstance(record, dict):
            raise ValueError("it holds no settings")
    except (OSError, ValueError) as error:
        raise DamagedError(f"{file} is damaged ({error}): train this run again") from error
    return record, None


#: What a report needs to know of a run.
_NEEDED: dict[str, type | tuple[type, ...]] = {
    "model": str,
    "train_size": int,
    "seed": int,
    "data": dict,
    "data.test_id": str,
    "data.entities": int,
    "data.distractor": bool,
    "test": dict,
    "test.accuracy": (int, float),
}


def _run(file: Path, record: dict[str, Any], correct: np.ndarray | None) -> Run:
    """A finished run from its run.json, or from the record of a cell.

    `correct`: its right answers, None if they lie beside the file.
    """
    for key, kind in _NEEDED.items():
        table, _, name = key.rpartition(".")
        value = (record[table] if table else record).get(name)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise DamagedError(f"{file} is damaged (its {key} is {value!r:.60}): train this run again")
    data, path = record["data"], _answers(file)
    accuracy, *shares = (_share(record["test"], name) for name in ("accuracy", "validation", "reweighted"))
    if correct is None:
        correct = cells.right_answers(path)
    if accuracy is None or not abs(accuracy - correct.mean()) < 0.5 / len(correct):
        raise DamagedError(
            f"{path} is damaged (its accuracy is {correct.mean():.4f}, {file.name} says {accuracy:.4f}): "
            "train this run again"
        )
    seeds = (data["seed"], data.get("world_seed", 0)) if "seed" in data else (None, None)
    cell = record["model"], data["entities"], data["distractor"], record["train_size"], record["seed"]
    return Run(*cell, data["test_id"], correct, *seeds, *shares)


def _share(test: Mapping[str, Any], name: str) -> float | None:
    """An accuracy that a run recorded, None where it did not; of validation sets it lies one level deeper."""
    value = test.get(name)
    if isinstance(value, Mapping):
        value = value.get("accuracy")
    return None if value is None else float(value)


def _name(run: Run) -> str:
    return (
        f"{run.model}, {world_name(run.entities, run.distractor)}, {run.train_size:,} samples, seed "
        f"{run.seed}"
    )


def world_name(entities: int, distractor: bool) -> str:
    return f"{entities} entities{', distractor' if distractor else ''}"


def counts(others: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(others.items()))


def model_order(model: str) -> tuple[int, list[tuple[int, str]]]:
    """The key by which models are sorted: ours first, then the others by name.

    Numbers in names count as numbers: ResNet-50 comes before ResNet-101.
    """
    parts = [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", model)]
    return (MODELS.index(model) if model in MODELS else len(MODELS)), parts


def whole(runs: Sequence[Run]) -> list[Run]:
    """Of every curve the sizes at which all its seeds are finished.

    A grid that is running has sizes that lack some. So a curve counts with its first m seeds, at the sizes
    that have all of these, where m is the number that leaves most runs.
    """
    curves: dict[tuple[str, int, bool], dict[int, dict[int, Run]]] = {}
    for run in runs:
        curves.setdefault((run.model, run.entities, run.distractor), {}).setdefault(run.train_size, {})[
            run.seed
        ] = run
    chosen = []
    for sizes in curves.values():
        seeds = sorted({seed for finished in sizes.values() for seed in finished})
        kept: list[Run] = []
        for m in range(len(seeds), 0, -1):
            first = seeds[:m]
            complete = [
                finished[seed]
                for finished in sizes.values()
                if set(first) <= finished.keys()
                for seed in first
            ]
            kept = max(kept, complete, key=len)
        chosen += kept
    return chosen
