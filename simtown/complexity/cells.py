"""Finished cells of a sweep, each kept as one small file, so that a sweep can continue on another machine.

A cell's file holds all that its run directory holds, except weights and logits. Many of them may be one table
(:mod:`simtown.complexity.cell_table`), which `python -m tools.cells FOLDER` makes.
"""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from simtown.complexity.cell_table import TABLE, read_table
from simtown.core.files import DamagedError, ForeignDirectoryError, save_text
from simtown.core.untrusted import cause, inside, open_regular, parse_json, read_json, read_text

#: What the files of cells and run directories call their format.
CELL, RUN_FORMAT = "simtown-cell", "simtown-run"
#: The files of a run directory that are read here.
RUN, ANSWERS, METRICS = "run.json", "test.npz", "metrics.jsonl"
_DIGITS = 4

#: A cell's run.json; (T,) bool, which items of the test set were answered correctly; and of questions of
#: families (T,) uint8, the place of each item's family in the list of the run.json.
KeptCell: TypeAlias = tuple[dict[str, Any], np.ndarray, np.ndarray | None]


def path_of(folder: Path, name: str) -> Path:
    """The path of the cell of this name in a folder (:attr:`simtown.training.plan.SweepCell.name`)."""
    return inside(folder, f"{name}.json")


def save(directory: Path, folder: Path) -> Path:
    """Keep a finished run in a file named after its directory.

    Raises:
        FileNotFoundError: the directory holds no finished run.
        DamagedError: a file of the run is damaged.
    """
    run = read_run(directory / RUN) if (directory / RUN).is_file() else {}
    if run.get("status") != "done":
        raise FileNotFoundError(
            f"{directory} holds no finished run: let simtown fit or simtown sweep finish it"
        )
    correct, family = read_answers(directory / ANSWERS, run)
    try:
        rows = [parse_json(line) for line in read_text(directory / METRICS, follow=False).splitlines()]
        curve: dict[str, list[float]] = {"step": [int(row["step"]) for row in rows]}
        for name in ("train_accuracy", "val_accuracy"):
            curve[name] = [round(row[name], _DIGITS) for row in rows]
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise DamagedError(
            f"{directory / METRICS} is damaged ({cause(error)}): train this run again"
        ) from error
    data = {name: value for name, value in run["data"].items() if name not in ("name", "path")}
    content: dict[str, Any] = {
        "format": CELL,
        "version": 1,
        "run": run | {"data": data},
        "correct": base64.b64encode(np.packbits(correct).tobytes()).decode(),
        "curve": curve,
    }
    if family is not None:
        content["family"] = base64.b64encode(family.tobytes()).decode()
    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(folder, directory.name)
    save_text(path, json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n")
    return path


def load(path: Path) -> KeptCell:
    """A kept cell.

    Raises:
        FileNotFoundError: there is none.
        DamagedError: it is not what :func:`save` writes.
        ForeignDirectoryError: another program wrote it.
    """
    try:
        content = read_json(path)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from error
    return _kept(path, content)


def load_table(folder: Path) -> dict[str, KeptCell]:
    """The cells of a folder's table by name; none if it has no table. Raises like :func:`load`."""
    try:
        contents = read_table(inside(folder, TABLE))
    except FileNotFoundError:
        return {}
    return {name: _kept(folder / TABLE / name, content) for name, content in contents.items()}


def _damaged(path: Path, error: Exception) -> DamagedError:
    return DamagedError(
        f"{path} is damaged ({cause(error)}): put back a copy of it, or delete it to train that run again"
    )


def _kept(path: Path, content: Any) -> KeptCell:
    """A cell from the content of its file. Raises like :func:`load`."""
    try:
        if content.get("format") != CELL:
            raise ForeignDirectoryError(
                f"{path} was not made by simtown sweep --resume-from (its format is not '{CELL}')"
            )
        run, count = content["run"], content["run"]["test"]["n"]
        packed = np.frombuffer(base64.b64decode(content["correct"], validate=True), dtype=np.uint8)
        if count < 1 or len(packed) != (count + 7) // 8:
            raise ValueError(f"its {len(packed)} bytes of answers are not those of {count} test items")
        correct = np.unpackbits(packed, count=count).astype(bool)
        check_accuracy(run["test"]["accuracy"], correct)
        family = None
        if "family" in content:
            family = np.frombuffer(base64.b64decode(content["family"], validate=True), dtype=np.uint8)
            if len(family) != count or family.max() >= len(run["data"]["families"]):
                raise ValueError("its families are not those of its test items")
    except ForeignDirectoryError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path, error) from error
    return run, correct, family


def read_run(path: Path) -> dict[str, Any]:
    """The content of a run.json. Raises DamagedError if it cannot be read."""
    try:
        run = read_json(path)
        if not isinstance(run, dict):
            raise ValueError("it holds no settings")
    except (OSError, ValueError) as error:
        raise DamagedError(f"{path} is damaged ({cause(error)}): train this run again") from error
    return run


def read_answers(path: Path, run: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray | None]:
    """The answers in a run's test.npz, as :func:`load` gives those of a cell, or DamagedError."""
    kinds = {"correct": np.bool_} | ({"family": np.uint8} if "families" in run["data"] else {})
    try:
        with open_regular(path, follow=False) as file, np.load(file, allow_pickle=False) as arrays:
            answers = {name: arrays[name] for name in kinds}
        if any(a.ndim != 1 or a.dtype != kinds[name] or not len(a) for name, a in answers.items()):
            raise ValueError("its arrays are not lists with an entry for each question")
        check_accuracy(run["test"]["accuracy"], answers["correct"])
    except Exception as error:  # NumPy fails in many ways on a damaged archive
        raise DamagedError(f"{path} is damaged ({cause(error)}): train this run again") from error
    return answers["correct"], answers.get("family")


def check_accuracy(stated: float, correct: np.ndarray) -> None:
    """Raises ValueError unless this is the accuracy of these answers."""
    if not abs(stated - correct.mean()) < 0.5 / len(correct):
        raise ValueError(f"its answers have accuracy {correct.mean():.4f}, it says {stated:.4f}")
