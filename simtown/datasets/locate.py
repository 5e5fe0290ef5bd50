"""Finding one stored example by its address on a command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError
from simtown.datasets.reader import SCENE_COLUMNS, open_dataset
from simtown.datasets.settings import SPLITS
from simtown.datasets.shard_file import Shard, open_alone
from simtown.datasets.shards import LAYOUT, PICTURES
from simtown.scenes.scene import SceneBatch, plausible

_ADDRESS = re.compile(r"(?P<place>.+):(?P<number>[0-9]+)", re.DOTALL)
_HOW = "write DIR/SPLIT:INDEX, such as data/train:7, or SHARD:INDEX, such as data/train-00000.h5:7"


@dataclass(frozen=True)
class Address:
    """Where an example is stored.

    Attributes:
        shard: its file on this machine; of a data set behind a URL, in its mirror.
        row: its row there.
        name: for its picture, such as "train-7".
    """

    shard: Path
    row: int
    name: str

    def read(self, names: tuple[str, ...]) -> dict[str, np.ndarray]:
        """Its row of these columns, (1, ...) each. Raises DamagedError if the file is not a shard."""
        with _reading(self.shard) as shard:
            return {name: shard.read(name, slice(self.row, self.row + 1)) for name in names}

    def columns(self) -> dict[str, np.ndarray]:
        """Its columns without pictures, (1, ...) each. Raises DamagedError if the file is not a shard."""
        return self.read(tuple(name for name in LAYOUT if name not in PICTURES))

    def scene(self) -> SceneBatch:
        """Its scene, a batch of one. Raises DamagedError, also if a number stands for nothing."""
        columns = self.read(SCENE_COLUMNS)
        scene = SceneBatch(**{name.removeprefix("scene/"): rows for name, rows in columns.items()})
        if not plausible(scene).all():
            raise DamagedError(
                f"{self.shard} has numbers in row {self.row} that stand for nothing in the town: run simtown "
                "verify on its data set"
            )
        return scene


def is_address(where: str) -> bool:
    """Whether words look like the address of an example, and are no name of a file or directory."""
    return _ADDRESS.fullmatch(where) is not None and not Path(where).exists()


def find(where: str) -> Address:
    """The example at "SHARD:INDEX" or "DIR/SPLIT:INDEX"; DIR may be a URL.

    Raises:
        ValueError: the words are no such place, or the index is out of range.
        FileNotFoundError, DamagedError: nothing readable.
    """
    match = _ADDRESS.fullmatch(where)
    if match is None:
        raise ValueError(f"'{where}' is no example: {_HOW}")
    text, index = match["place"], int(match["number"])
    path = Path(text)
    if path.name in SPLITS and not path.is_file():  # the shards of a split may lie in a folder of its name
        split = open_dataset(path.parent)[path.name]
        _check(index, len(split), text)
        return Address(*split.address(index), f"{path.name}-{index}")
    if not path.is_file():
        raise FileNotFoundError(f"there is no shard {path}: {_HOW}")
    _check(index, _rows(path), text)
    return Address(path, index, f"{path.stem}-{index}")


@contextmanager
def _reading(path: Path) -> Iterator[Shard]:
    """An open shard. Raises DamagedError if it, or what is read of it, cannot be read."""
    try:
        with closing(open_alone(path)) as shard:
            yield shard
    except RefusedError:
        raise
    except (OSError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise DamagedError(
            f"{path} is no shard that can be read ({error}): run simtown verify on its data set"
        ) from error


def _rows(path: Path) -> int:
    with _reading(path) as shard:
        return shard.count


def _check(index: int, count: int, text: str) -> None:
    if index >= count:
        content = f"holds examples 0 to {count - 1}" if count else "holds no example"
        raise ValueError(f"{text} {content}, so there is no example {index}")
