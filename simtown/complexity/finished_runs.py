"""Finished runs, read from directories of runs and sweeps, and from the small files of cells.

Reading needs no PyTorch: a report can be made on a machine that cannot train.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from simtown.complexity import cells
from simtown.complexity.cell_table import TABLE, is_table
from simtown.complexity.cells import ANSWERS, RUN, RUN_FORMAT
from simtown.complexity.model_looks import LOOKS
from simtown.core.files import DamagedError
from simtown.core.options import deciding
from simtown.core.untrusted import RefusedError, cause, open_regular

#: Settings of a run that its accuracy may differ by within one table, and those that are read apart.
_NOT_SHARED = {"model", "train_size", "seed", "device", "compile", "options", "min_steps"}


class MixtureError(ValueError):
    """Runs that cannot be compared; the message says in what they differ."""


@dataclass(frozen=True)
class Run:
    """One finished run: a model trained once, tested once.

    Attributes:
        distractor: whether the scenes have a third vehicle.
        train_size: training examples.
        test_id: identity of the test set; the same id means the same items in the same order.
        correct: (T,) bool, per test item.
        data_seed: seed of the data set; None if it is not recorded.
        world_seed: the data set's world seed; None if it is not recorded.
        validation: accuracy on validation examples, None where there is none.
        reweighted: the same, each example weighted by equation 1.
        asks: whether it answers questions of families, where chance is not one half.
        held_out: accuracy on held-out compositions; `seen`, on test questions without them, with families as
            frequent. None where they were not asked.
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
    asks: bool = False
    held_out: float | None = None
    seen: float | None = None


class _Accuracy(msgspec.Struct):
    accuracy: float | None = None
    seen: float | None = None


class _Data(msgspec.Struct):
    entities: int
    distractor: bool
    test_id: str
    seed: int | None = None
    world_seed: int | None = 0


class _Test(msgspec.Struct):
    accuracy: float
    validation: _Accuracy | None = None
    reweighted: _Accuracy | None = None
    held_out: _Accuracy | None = None


class _Record(msgspec.Struct):
    """What is read of a finished run's record."""

    model: str
    train_size: int
    seed: int
    data: _Data
    test: _Test


def read_and_count(paths: Iterable[Path], family: str = "") -> tuple[list[Run], dict[str, int]]:
    """Every finished run at or below the paths, in the order of their cells, and how many others have which
    status.

    A run that is found twice counts once; one that is finished anywhere counts as finished. With a `family`,
    only its questions count.

    Raises:
        FileNotFoundError: a path does not exist, or there is no finished run.
        DamagedError: a file is damaged.
        ValueError: two files hold different runs of the same cell, or a run was not asked about the family.
        MixtureError: the runs were made with different settings.
    """
    paths = list(paths)
    done: list[tuple[Path, Run]] = []
    settings: dict[Path, dict[str, str]] = {}
    unfinished: list[tuple[tuple[Any, ...], str]] = []
    files = sorted({file for path in paths for file in _run_files(path)})
    for file, record, *answers in chain.from_iterable(map(_records, files)):
        if record.get("format") != RUN_FORMAT:
            continue  # another program's
        if record.get("status") != "done":
            data = record.get("data")  # the record of an unfinished run may lack anything
            data = data if isinstance(data, dict) else {}
            world = data.get("distractor"), data.get("entities")
            cell = record.get("model"), *world, record.get("train_size"), record.get("seed")
            unfinished.append((cell, str(record.get("status"))))
            continue
        run, families, shared = _run(file, record, *answers)
        settings[file.parent if file.name == RUN else file] = shared
        done.append((file, _of_family(file, record, run, families, family) if family else run))
    _refuse_mixture(settings)
    runs: dict[tuple[Any, ...], tuple[Run, Path]] = {}
    for file, run in done:
        cell = run.model, run.distractor, run.entities, run.train_size, run.seed
        first, place = runs.setdefault(cell, (run, file))
        if first != run or not np.array_equal(first.correct, run.correct):
            raise ValueError(
                f"{place} and {file} hold different runs of one cell ({run.model}, "
                f"{world_name(run.entities, run.distractor)}, {run.train_size:,} samples, seed {run.seed}): "
                "give only one of the two"
            )
    finished = {*map(repr, runs)}
    others = Counter(status for cell, status in unfinished if repr(cell) not in finished)
    if not runs:
        begun = f" ({counts(others)})" if others else ""
        raise FileNotFoundError(
            f"{', '.join(map(str, paths)) or 'nowhere'}: no finished run{begun}; make some with simtown fit "
            "or simtown sweep"
        )
    return [runs[cell][0] for cell in sorted(runs)], dict(sorted(others.items()))


def keep_complete_sizes(runs: Sequence[Run]) -> list[Run]:
    """The runs of the sizes at which all seeds of a curve are finished.

    A sweep that is running has sizes that lack some. So a curve counts with its first m seeds, at the sizes
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


def _run_files(path: Path) -> Iterator[Path]:
    """The run.json and the files of cells at or below a path. Links to directories are not followed."""
    path = path.resolve(strict=True)
    if path.is_file():
        yield path
    for folder, _, names in os.walk(path):
        for file in (Path(folder, name) for name in names if name.endswith(".json")):
            if file.name == RUN or _is_cell(file):
                yield file
        if is_table(table := Path(folder, TABLE)):
            yield table


def _records(file: Path) -> Iterator[tuple[Any, ...]]:
    """The place and the record of each run in a file; the answers too, but for a run directory."""
    if file.name == RUN:
        yield file, cells.read_run(file)
    elif file.name == TABLE:
        for name, kept in cells.load_table(file.parent).items():
            yield file / name, *kept
    else:
        yield file, *cells.load(file)


def _is_cell(file: Path) -> bool:
    """Whether a JSON file begins as the file of a cell does, whose keys are sorted."""
    try:
        with open_regular(file, follow=False) as opened:
            return opened.read(11) == b'{"correct":'
    except (OSError, RefusedError):
        return False


def _run(
    file: Path, record: dict[str, Any], correct: np.ndarray | None = None, families: np.ndarray | None = None
) -> tuple[Run, np.ndarray | None, dict[str, str]]:
    """A finished run from its record, the families of its test items, if it has any, and its conditions.

    The answers are those of :func:`cells.load`; without them, they lie beside the file.
    """
    try:
        finished = msgspec.convert(record, _Record)
        shared = conditions(record)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"{file} is damaged ({cause(error)}): train this run again") from error
    if correct is None:
        correct, families = cells.read_answers(file.parent / ANSWERS, record)
    data, none = finished.data, _Accuracy()
    measures = (getattr(finished.test, name) or none for name in ("validation", "reweighted", "held_out"))
    validation, reweighted, held_out = measures
    run = Run(
        finished.model,
        data.entities,
        data.distractor,
        finished.train_size,
        finished.seed,
        data.test_id,
        correct,
        data.seed,
        None if data.seed is None else data.world_seed,
        validation.accuracy,
        reweighted.accuracy,
        "families" in record["data"],
        held_out.accuracy,
        held_out.seen,
    )
    return run, families, shared


def _of_family(
    file: Path, record: Mapping[str, Any], run: Run, families: np.ndarray | None, name: str
) -> Run:
    """A run on the test items of one family; `families`: of all items."""
    asked = record["data"].get("families")
    if families is None or name not in asked:
        known = "the paper's questions" if families is None else ", ".join(asked)
        raise ValueError(f"{file} was not asked questions of the family '{name}': it was asked {known}")
    rows = families == asked.index(name)
    if len(rows) != len(run.correct) or not rows.any():
        raise ValueError(f"{file} has no test questions of the family '{name}': make more (--test)")
    held = record["test"].get("held_out", {}).get("families", {}).get(name, {})
    of_both = {"held_out": held.get("accuracy"), "seen": (held.get("seen") or {}).get("accuracy")}
    own = {"test_id": f"{run.test_id}, {name}", "correct": run.correct[rows]}
    return replace(run, **own, **of_both, validation=None, reweighted=None)


def conditions(record: Mapping[str, Any]) -> dict[str, str]:
    """By name, as text, the settings that all runs of one table share.

    Those that an older simtown did not record are left out.
    """
    from simtown.datasets.resolved_settings import as_texts
    from simtown.datasets.settings import Settings  # a table of results needs nothing of the town

    settings, data = record.get("settings") or {}, as_texts(record["data"])
    # the number of validation examples decides when training stops
    decisive = ("val", *deciding(Settings, "examples", "families"))
    shared = {name: str(value) for name, value in settings.items() if name not in _NOT_SHARED}
    if settings.get("protocol") == "patient" and "min_steps" in settings:
        shared["min_steps"] = str(settings["min_steps"])
    if options := settings.get("options"):
        texts = (f"{name} {value}" for name, value in sorted(options.items()))
        shared[f"options of {record['model']}"] = ", ".join(texts)
    return shared | {name: text for name, text in data.items() if name in decisive}


def _refuse_mixture(settings: Mapping[Path, Mapping[str, str]]) -> None:
    """Raises MixtureError if the settings of runs differ, by the place of each run."""
    differences = []
    for name in dict.fromkeys(name for shared in settings.values() for name in shared):
        places: dict[str, list[Path]] = {}
        for place, shared in settings.items():
            if name in shared:
                places.setdefault(shared[name], []).append(place)
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
    return (list(LOOKS).index(model) if model in LOOKS else len(LOOKS)), parts
