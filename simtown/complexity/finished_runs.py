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
from simtown.complexity.cells import ANSWERS, CELL, RUN, RUN_FORMAT
from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError, open_regular

#: Bytes at the beginning of a JSON file in which a cell's file says what it is.
_HEAD = 200_000
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
#: Settings of a run and of its data set that decide what an accuracy means, so that the runs of one table
#: share them. Seeds are not among them.
_FIT = ("protocol", "patience", "max_steps", "batch", "learning_rate", "stream", "precision")
_DATA = ("relations", "frequencies", "phrasing", "weathers", "paint", "jitter", "catalogue", "val")

#: Model, distractor, entities, train size and seed of a run.
_Cell = tuple[Any, ...]


class MixtureError(ValueError):
    """Runs that cannot be compared; the message says in what they differ."""


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
        FileNotFoundError: a path does not exist, or there is no finished run.
        DamagedError: a file is damaged, or two runs disagree about the number of items of their test set.
        ValueError: two directories hold the same cell.
        MixtureError: the runs were made with different settings.
    """
    return read_and_count(paths)[0]


def read_and_count(paths: Iterable[Path]) -> tuple[list[Run], dict[str, int]]:
    """The finished runs, and how many others there are of each status.

    A run that is unfinished in one place and finished in another counts as finished. Raises as
    :func:`read_runs` does.
    """
    paths = list(paths)
    done: list[tuple[Path, dict[str, str], Run]] = []
    unfinished: list[tuple[_Cell, str]] = []
    for file in sorted({file for path in paths for file in _run_files(path)}):
        record, correct = (cells.read_run(file), None) if file.name == RUN else cells.load(file)
        if record.get("format") != RUN_FORMAT:
            continue  # another program's
        if record.get("status") == "done":
            done.append((file, conditions(record), _run(file, record, correct)))
        else:
            unfinished.append((_cell(record), str(record.get("status"))))
    _refuse_mixture([(_place(file), settings) for file, settings, _ in done])
    runs: dict[_Cell, tuple[Run, Path]] = {}
    items: dict[str, tuple[int, Path]] = {}
    for file, _, run in done:
        key = run.model, run.distractor, run.entities, run.train_size, run.seed
        first, place = runs.setdefault(key, (run, file))
        same = first == run and np.array_equal(first.correct, run.correct)
        # a run and the small file of its cell may lie side by side, and so may two of these
        if place != file and not (same and {place.name, file.name} != {RUN}):
            raise ValueError(
                f"{_place(place)} and {_place(file)} hold the same run ({run.model}, "
                f"{world_name(run.entities, run.distractor)}, {run.train_size:,} samples, seed {run.seed}): "
                "give only one of the two"
            )
        count, earlier = items.setdefault(run.test_id, (len(run.correct), file))
        if count != len(run.correct):
            raise DamagedError(
                f"{_answers(file)} holds answers to {len(run.correct)} test questions, {_answers(earlier)} "
                f"to {count} of the same test set: one of the two is damaged; train that run again"
            )
    others = Counter(status for cell, status in unfinished if cell not in runs)
    if not runs:
        begun = f" ({counts(others)})" if others else ""
        raise FileNotFoundError(
            f"{', '.join(map(str, paths)) or 'nowhere'}: no finished run{begun}; make some with simtown fit "
            "or simtown sweep"
        )
    return [runs[key][0] for key in sorted(runs)], dict(sorted(others.items()))


def _run_files(path: Path) -> Iterator[Path]:
    """The run.json and the files of cells at or below a path. Symbolic links are not followed."""
    path = path.resolve(strict=True)
    if path.is_file():
        yield path
        return
    for folder, _, names in os.walk(path):
        for file in (Path(folder, name) for name in names if name.endswith(".json")):
            if file.name == RUN and file.is_symlink():
                raise RefusedError(f"{file} is a symbolic link: put the run itself there")
            if file.name == RUN or _is_cell(file):
                yield file


def _is_cell(file: Path) -> bool:
    """Whether a JSON file is the small file of a cell, which its first bytes say."""
    try:
        with open_regular(file, follow=False) as opened:
            head = opened.read(_HEAD)
    except (OSError, RefusedError):
        return False
    return head.startswith(b'{"correct":') or f'"{CELL}"'.encode() in head


def _place(file: Path) -> Path:
    """How an error names a run: its directory, or the file of its cell."""
    return file.parent if file.name == RUN else file


def _answers(file: Path) -> Path:
    """The file that holds a run's right answers."""
    return file.parent / ANSWERS if file.name == RUN else file


def _cell(record: Mapping[str, Any]) -> _Cell:
    """The cell of a run.json; an unfinished one may lack any of this."""
    data = record.get("data", {})
    world = data.get("distractor"), data.get("entities")
    return record.get("model"), *world, record.get("train_size"), record.get("seed")


def _run(file: Path, record: dict[str, Any], correct: np.ndarray | None) -> Run:
    """A finished run from its record; `correct`: its right answers, None if they lie beside the file."""
    answers = cells.right_answers(file.parent / ANSWERS) if correct is None else correct
    try:
        data = record["data"]
        cell = record["model"], data["entities"], data["distractor"], record["train_size"], record["seed"]
        if [type(value) for value in cell] != [str, int, bool, int, int]:
            raise ValueError(f"model, entities, distractor, train_size and seed cannot be {cell}")
        seeds = (int(data["seed"]), int(data.get("world_seed", 0))) if "seed" in data else (None, None)
        shares = [_share(record["test"].get(name)) for name in ("validation", "reweighted")]
        test_id = str(data["test_id"])
        _share(record["test"]["accuracy"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"{file} is damaged ({error!r}): train this run again") from error
    try:
        cells.check_accuracy(record, answers)
    except ValueError as error:
        raise DamagedError(f"{_answers(file)} is damaged ({error}): train this run again") from error
    return Run(*cell, test_id, answers, *seeds, *shares)


def _share(value: Any) -> float | None:
    """An accuracy that a run recorded, alone or with an interval; None where it did not."""
    if isinstance(value, Mapping):
        value = value.get("accuracy")
    return None if value is None else float(value)


def conditions(record: Mapping[str, Any]) -> dict[str, str]:
    """By name, as text, the settings that all runs of one table share.

    Those that an older simtown did not record are left out.
    """
    settings, data = record.get("settings") or {}, record["data"]
    shared = {name: settings[name] for name in _FIT if name in settings}
    if settings.get("protocol") == "patient" and "min_steps" in settings:
        shared["min_steps"] = settings["min_steps"]
    if settings.get("options"):
        shared[f"options of {record['model']}"] = [
            f"{name} {value}" for name, value in sorted(settings["options"].items())
        ]
    if "width" in data and "height" in data:
        shared["picture size"] = f"{data['width']}x{data['height']}"
    shared |= {name: data[name] for name in _DATA if name in data}
    return {
        name: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in shared.items()
    }


def _refuse_mixture(runs: Sequence[tuple[Path, Mapping[str, str]]]) -> None:
    """Raises MixtureError if the conditions of runs differ, each given with its directory."""
    differences = []
    for name in dict.fromkeys(name for _, settings in runs for name in settings):
        places: dict[str, list[Path]] = {}
        for directory, settings in runs:
            if name in settings:
                places.setdefault(settings[name], []).append(directory)
        if len(places) > 1:
            kinds = [f"{v}: {len(p)} runs, such as {p[0]}" for v, p in sorted(places.items())]
            differences.append(f"{name} ({'; '.join(kinds)})")
    if differences:
        raise MixtureError(
            f"these runs cannot stand in one table, since they differ in {' and '.join(differences)}: "
            "give only directories of one kind"
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
    """The runs of the sizes at which all seeds of a curve are finished.

    A grid that is running has sizes that lack some. So a curve counts with its first m seeds, at the sizes
    that have all of these, where m is the number that leaves most runs.
    """
    curves: dict[tuple[str, int, bool], dict[int, dict[int, Run]]] = {}
    for run in runs:
        sizes = curves.setdefault((run.model, run.entities, run.distractor), {})
        sizes.setdefault(run.train_size, {})[run.seed] = run
    chosen = []
    for sizes in curves.values():
        seeds = sorted(set().union(*sizes.values()))
        kept: list[Run] = []
        for m in range(len(seeds), 0, -1):
            complete = [by_seed for by_seed in sizes.values() if set(seeds[:m]) <= by_seed.keys()]
            kept = max(kept, [by_seed[seed] for by_seed in complete for seed in seeds[:m]], key=len)
        chosen += kept
    return chosen
