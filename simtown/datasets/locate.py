"""Finding one stored example from the words of a command line."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)

from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import SPLITS
from simtown.files import DamagedError
from simtown.scenes.scene import SceneBatch, plausible


def locate(where: str) -> tuple[SceneBatch, str]:
    """A batch of the one scene at "SHARD:INDEX" or "DIR/SPLIT:INDEX", and a name for its picture.

    Raises:
        ValueError: the words are no such place, or the index is out of range. FileNotFoundError, DamagedError: nothing readable.
    """
    text, _, number = where.rpartition(":")
    if not text or not number.isdigit():
        raise ValueError(
            f"'{where}' is no example: write SHARD:INDEX, such as data/train-00000.h5:7, or DIR/SPLIT:INDEX, such as data/train:7"
        )
    path, index = Path(text), int(number)
    if path.name in SPLITS and not path.exists():
        split = open_dataset(path.parent)[path.name]
        _check(index, len(split), text)
        return split.scenes(slice(index, index + 1)), f"{path.name}-{index}"
    if not path.is_file():
        raise FileNotFoundError(f"there is no shard {path}: write SHARD:INDEX or DIR/SPLIT:INDEX")
    try:
        with h5py.File(path, "r") as file:
            _check(index, len(file["answer"]), text)
            scene = SceneBatch(**{f.name: file[f"scene/{f.name}"][index : index + 1] for f in fields(SceneBatch)})
    except (OSError, KeyError, RuntimeError, TypeError) as error:
        raise DamagedError(f"{path} is no readable shard ({error})") from error
    if not plausible(scene).all():
        raise DamagedError(f"{path} holds numbers of things that do not exist: run simtown verify")
    return scene, f"{path.stem}-{index}"


def _check(index: int, count: int, text: str) -> None:
    if index >= count:
        raise ValueError(f"{text} holds examples 0 to {count - 1}, not {index}")
