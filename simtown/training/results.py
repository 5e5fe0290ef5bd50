"""Finished runs, read from the directories that `simtown fit` and `simtown sweep` make.

Reading needs no PyTorch: a report can be made on a machine that cannot train.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simtown.files import DamagedError
from simtown.training.conditions import conditions, refuse_mixture

#: What a run directory holds of use here, and what its run.json calls itself.
RUN, TEST, FORMAT = "run.json", "test.npz", "simtown-run"
#: Our models, in the order of tables and figures; any other comes after them.
MODELS = ("cnn-lstm", "pbn", "question-only")


@dataclass(frozen=True)
class Run:
    """One finished run: a model trained once, tested once."""

    model: str
    entities: int
    distractor: bool
    train_size: int
    seed: int
    test_id: str  #: identity of the test set; the same id means the same items in the same order
    correct: np.ndarray = field(repr=False, compare=False)  #: (T,) bool, per test item


def read_runs(paths: Iterable[Path]) -> list[Run]:
    """Every finished run at or below the paths, in the order of their cells; a run found twice counts once.

    Raises:
        FileNotFoundError: a path is not there, or holds no finished run. DamagedError: a file is not what `simtown fit` writes.
        ValueError: two directories hold the same cell. MixtureError: runs that were not made alike.
    """
    return read_and_count(paths)[0]


def read_and_count(paths: Iterable[Path]) -> tuple[list[Run], dict[str, int]]:
    """The finished runs, and how many others there are of each status."""
    paths = [Path(p) for p in paths]
    files: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there: give directories made by simtown fit or simtown sweep")
        files |= {f.resolve() for f in ([path] if path.is_file() else path.rglob(RUN))}
    done: list[tuple[Path, dict[str, Any], Run]] = []
    others: Counter[str] = Counter()
    for file in sorted(files):
        told = _json(file)
        if told.get("format") != FORMAT:
            continue  # another program's
        if told.get("status") != "done":
            others[str(told.get("status"))] += 1
            continue
        done.append((file, told, _run(file, told)))
    refuse_mixture([(file.parent, conditions(told)) for file, told, _ in done])
    cells: dict[tuple[Any, ...], tuple[Run, Path]] = {}
    items: dict[str, tuple[int, Path]] = {}
    for file, _, run in done:
        key = (run.model, run.distractor, run.entities, run.train_size, run.seed)
        if key in cells:
            raise ValueError(f"{cells[key][1]} and {file.parent} hold the same run ({_name(run)}): give only one of the two")
        cells[key] = run, file.parent
        count, first = items.setdefault(run.test_id, (len(run.correct), file.parent))
        if count != len(run.correct):
            raise DamagedError(
                f"{file.parent / TEST} holds answers to {len(run.correct)} test questions, {first / TEST} to {count} of the same test set: "
                "one of the two is damaged; train that run again"
            )
    if not cells:
        where = ", ".join(map(str, paths)) or "nowhere"
        unfinished = f" ({counts(others)})" if others else ""
        raise FileNotFoundError(f"{where}: no finished run{unfinished}; make some with simtown fit or simtown sweep")
    return [cells[key][0] for key in sorted(cells)], dict(sorted(others.items()))


#: What an error calls a kind of value.
_KINDS = {str: "a text", int: "a whole number", bool: "true or false"}


def _json(file: Path) -> dict[str, Any]:
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DamagedError(f"{file} is damaged ({error}): train this run again") from error
    if not isinstance(told, dict):
        raise DamagedError(f"{file} is damaged (it holds no settings): train this run again")
    return told


def _run(file: Path, told: dict[str, Any]) -> Run:
    try:
        data = told["data"]
        kinds: dict[type, tuple[Any, ...]] = {
            str: (told["model"], data["test_id"]), int: (told["train_size"], told["seed"], data["entities"]), bool: (data["distractor"],)
        }  # fmt: skip
        for kind, values in kinds.items():
            for value in values:
                if type(value) is not kind:
                    raise TypeError(f"{value!r} where {_KINDS[kind]} belongs")
        if min(told["train_size"], data["entities"]) < 1:
            raise ValueError("fewer than one training example or entity")
        accuracy = float(told["test"]["accuracy"])
    except (KeyError, TypeError, ValueError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedError(f"{file} is damaged ({reason}): train this run again") from error
    path = file.parent / TEST
    try:
        with np.load(path, allow_pickle=False) as arrays:
            correct = arrays["correct"]
    except (OSError, KeyError, ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise DamagedError(f"{path} is damaged ({error}): train this run again") from error
    if correct.ndim != 1 or correct.dtype != np.bool_ or not len(correct):
        raise DamagedError(f"{path} is damaged (its array 'correct' is not a list of right and wrong answers): train this run again")
    if not abs(accuracy - correct.mean()) < 0.5 / len(correct):
        raise DamagedError(f"{path} is damaged (its accuracy is {correct.mean():.4f}, run.json says {accuracy:.4f}): train this run again")
    return Run(told["model"], data["entities"], data["distractor"], told["train_size"], told["seed"], data["test_id"], correct)


def _name(run: Run) -> str:
    return f"{run.model}, {world_name(run.entities, run.distractor)}, {run.train_size:,} samples, seed {run.seed}"


def world_name(entities: int, distractor: bool) -> str:
    return f"{entities} entities{', distractor' if distractor else ''}"


def counts(others: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(others.items()))


def model_order(model: str) -> tuple[int, str]:
    """Sort models by this."""
    return (MODELS.index(model) if model in MODELS else len(MODELS)), model
