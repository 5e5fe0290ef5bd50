"""Finished cells of a sweep, each kept as one small file, so that a sweep can continue on another machine.

A cell's file holds all that its run directory holds, except weights and logits. Reading it needs no PyTorch.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from simtown.core.files import DamagedError, replacing
from simtown.core.runs import load_json
from simtown.core.untrusted import inside, open_regular

FORMAT, VERSION = "simtown-cell", 1
#: Digits after the point of the accuracies of a curve.
_DIGITS = 4
#: What a curve shows.
_CURVE = ("train_accuracy", "val_accuracy")
#: The files of a run directory that are read here.
RUN, ANSWERS, METRICS = "run.json", "test.npz", "metrics.jsonl"


def path_of(folder: Path, name: str) -> Path:
    """Where a folder keeps the cell of this name (:attr:`simtown.training.plan.SweepCell.name`).

    Raises RefusedError if a link lies there.
    """
    return inside(folder, f"{name}.json")


def save(directory: Path, folder: Path) -> Path:
    """Keep a finished run, named after its directory; the file is whole or not there.

    Raises:
        FileNotFoundError: the run directory holds no run, or one that is not finished.
        DamagedError: a file of the run is damaged.
    """
    if not (directory / RUN).is_file():
        raise FileNotFoundError(f"{directory} holds no run")
    run = json.loads((directory / RUN).read_text(encoding="utf-8"))
    if run["status"] != "done":
        raise FileNotFoundError(
            f"{directory} holds no finished run: let simtown fit or simtown sweep finish it"
        )
    correct = right_answers(directory / ANSWERS)
    # without the place where the data lay
    run["data"] = {key: value for key, value in run["data"].items() if key not in ("name", "path")}
    lines = (directory / METRICS).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    if not all(name in row for row in rows for name in _CURVE):
        raise DamagedError(
            f"{directory / METRICS} is damaged (a row lacks an accuracy): train this run again"
        )
    content = {
        "format": FORMAT,
        "version": VERSION,
        "run": run,
        "correct": base64.b64encode(np.packbits(correct).tobytes()).decode(),
        "curve": {
            "step": [int(row["step"]) for row in rows],
            **{name: [round(row[name], _DIGITS) for row in rows] for name in _CURVE},
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(folder, directory.name)
    with replacing(path) as temporary:
        temporary.write_text(
            json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8"
        )
    return path


def right_answers(path: Path) -> np.ndarray:
    """(T,) bool, which test items were answered correctly, from a run's test.npz.

    Raises:
        DamagedError: the file is damaged.
    """
    try:
        with open_regular(path, follow=False) as file, np.load(file, allow_pickle=False) as arrays:
            correct = arrays["correct"]
    except (OSError, ValueError, LookupError, EOFError, zlib.error, BadZipFile) as error:
        raise DamagedError(f"{path} is damaged ({error}): train this run again") from error
    if correct.ndim != 1 or correct.dtype != np.bool_ or not len(correct):
        raise DamagedError(
            f"{path} is damaged (its array 'correct' is not a list of right and wrong answers): train this "
            "run again"
        )
    return correct


def load(path: Path) -> tuple[dict[str, Any], np.ndarray]:
    """A kept cell: what its run.json said, and which test items were answered correctly.

    The latter is (T,) bool, in the order of the test set.

    Raises:
        FileNotFoundError: there is none.
        DamagedError: it is not what :func:`save` writes.
        ForeignDirectoryError: another program wrote it.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: give a file that simtown sweep --resume-from wrote")
    content = load_json(path, FORMAT, "simtown sweep --resume-from")
    try:
        if content["version"] != VERSION:
            raise DamagedError(
                f"{path} has version {content['version']}, this simtown reads version {VERSION}: "
                "use the simtown that wrote it"
            )
        run = content["run"]
        count = run["test"]["n"]
        packed = np.frombuffer(base64.b64decode(content["correct"], validate=True), dtype=np.uint8)
        if count < 1 or len(packed) != (count + 7) // 8:
            raise ValueError(f"its {len(packed)} bytes of answers are not those of {count} test items")
        correct = np.unpackbits(packed, count=count).astype(bool)
        if not abs(run["test"]["accuracy"] - correct.mean()) < 0.5 / count:
            raise ValueError(
                f"its answers have accuracy {correct.mean():.4f}, it says {run['test']['accuracy']:.4f}"
            )
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedError(
            f"{path} is damaged ({reason}): put back a copy of it, or delete it to train that run again"
        ) from error
    return run, correct
