"""Finished cells of a sweep, each kept as one small file, so that a grid goes on from any checkout.

A cell's file says everything that its run directory says but for weights and logits. Reading it needs no PyTorch.
"""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any

import numpy as np

from simtown.files import DamagedError, inside, load_json, replacing
from simtown.training import record

FORMAT, VERSION = "simtown-cell", 1
#: Bytes of the largest such file: the answers of the largest test set, packed, and a run.json and a curve. Ours have some 5,000.
_LARGEST = 4_000_000
#: Digits after the point of the accuracies of a curve.
_DIGITS = 4
#: What a curve shows.
_CURVE = ("train_accuracy", "val_accuracy")
#: What is read of a kept run.
_NEEDED = (
    "status", "model", "train_size", "seed", "settings.model", "data.test_id", "seconds", "steps", "test.n", "test.accuracy",
)  # fmt: skip


def path_of(folder: Path, name: str) -> Path:
    """Where a folder keeps the cell of this name (:attr:`simtown.training.plan.Cell.name`). Raises RefusedError if a link lies there."""
    return inside(folder, f"{name}.json")


def save(run_directory: Path, folder: Path) -> Path:
    """Keep a finished run, named after its directory; the file is whole or not there.

    Raises:
        FileNotFoundError: the directory holds no run, or one that is not finished. DamagedError: a file of the run is damaged.
    """
    from simtown.training import results
    from simtown.training import run as runs  # reading cells needs no PyTorch, reading runs does

    run = runs.load(run_directory)
    if run["status"] != "done":
        raise FileNotFoundError(f"{run_directory} holds no finished run: let simtown fit or simtown sweep finish it")
    correct = results.right_answers(run_directory / results.TEST)
    run["data"] = {key: value for key, value in run["data"].items() if key not in ("name", "path")}  # where it lay
    rows = runs.read_metrics(run_directory)
    if not all(name in row for row in rows for name in _CURVE):
        raise DamagedError(f"{run_directory / runs.METRICS} is damaged (a row lacks an accuracy): train this run again")
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
    path = path_of(folder, run_directory.name)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")
    return path


def load(path: Path) -> tuple[dict[str, Any], np.ndarray]:
    """A kept cell: what its run.json said, and (T,) bool, which test items were answered correctly, in the test set's order.

    Raises:
        FileNotFoundError: there is none. DamagedError: it is not what :func:`save` writes. ForeignDirectoryError: another program wrote it.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: give a file that simtown sweep --resume-from wrote")
    content = load_json(path, FORMAT, "simtown sweep --resume-from", _LARGEST)
    try:
        if content["version"] != VERSION:
            found = record.brief(content["version"])
            raise DamagedError(f"{path} has version {found}, this simtown reads version {VERSION}: use the simtown that wrote it")
        run = content["run"]
        record.check(run)
        record.require(run, _NEEDED)
        count = run["test"]["n"]
        packed = np.frombuffer(base64.b64decode(content["correct"], validate=True), dtype=np.uint8)
        if count < 1 or len(packed) != (count + 7) // 8:
            raise ValueError(f"its {len(packed)} bytes of answers are not those of {count} test items")
        correct = np.unpackbits(packed, count=count).astype(bool)
        if not abs(run["test"]["accuracy"] - correct.mean()) < 0.5 / count:
            raise ValueError(f"its answers have accuracy {correct.mean():.4f}, it says {run['test']['accuracy']:.4f}")
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedError(f"{path} is damaged ({reason}): put back a copy of it, or delete it to train that run again") from error
    return run, correct
