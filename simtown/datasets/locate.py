"""Finding one stored example by its address on a command line."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.datasets.reader import Split, open_dataset
from simtown.datasets.settings import SPLITS
from simtown.datasets.shard_file import form_of, reading
from simtown.datasets.shards import COLUMNS
from simtown.scenes.scene import SceneBatch

_ADDRESS = re.compile(r"(?P<place>.+):(?P<number>[0-9]+)", re.DOTALL)
_HOW = "write DIR/SPLIT:INDEX, such as data/train:7, or SHARD:INDEX, such as data/train-00000.h5:7"


@dataclass(frozen=True)
class Address:
    """Where an example is stored: its row in a split, or in a shard alone; `name` is for its picture."""

    split: Split
    row: int
    name: str

    def columns(self) -> dict[str, np.ndarray]:
        """Its columns without pictures, (1, ...) each. Raises DamagedError if they cannot be read."""
        return self.split.rows(COLUMNS, [self.row])

    def scene(self) -> SceneBatch:
        """Its scene, a batch of one. Raises DamagedError, also if it is not a scene of the town."""
        return self.split.scenes(np.array([self.row]))


def is_address(where: str) -> bool:
    """Whether words look like the address of an example, and do not name a file or directory."""
    return _ADDRESS.fullmatch(where) is not None and not Path(where).exists()


def find(where: str) -> Address:
    """The example at "SHARD:INDEX" or "DIR/SPLIT:INDEX"; DIR may be a URL.

    Raises:
        ValueError: the words do not name an example, or the index is out of range.
        FileNotFoundError, DamagedError: nothing readable.
    """
    match = _ADDRESS.fullmatch(where)
    if match is None:
        raise ValueError(f"'{where}' is no example: {_HOW}")
    path, index = Path(match["place"]), int(match["number"])
    if path.name in SPLITS and not path.is_file():  # the shards of a split may lie in a folder of its name
        split = open_dataset(os.path.dirname(match["place"]) or ".")[path.name]
    elif path.is_file():
        shard = path.resolve()
        with reading(shard, "run simtown verify on its data set"):
            arrays, count = form_of(shard)
        split = Split([shard], [count], arrays)
    else:
        raise FileNotFoundError(f"there is no shard {path}: {_HOW}")
    if index >= len(split):
        content = f"holds examples 0 to {len(split) - 1}" if len(split) else "holds no example"
        raise ValueError(f"{path} {content}, so there is no example {index}")
    return Address(split, index, f"{path.stem}-{index}")
