"""Finding one stored example by its address on a command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.datasets.addresses import name_of, parse_address
from simtown.datasets.reader import Split, open_dataset
from simtown.datasets.shard_file import form_of, reading
from simtown.datasets.shards import COLUMNS
from simtown.scenes.scene import SceneBatch


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


def find(where: str) -> Address:
    """The example at "SHARD:INDEX" or "DIR/SPLIT:INDEX"; DIR may be a URL.

    Raises:
        ValueError: the words do not name an example, or the index is out of range.
        FileNotFoundError, DamagedError: nothing readable.
    """
    place, name, index = parse_address(where)
    if name is not None:
        split, path = open_dataset(place)[name], Path(place, name)
    else:
        path = Path(place)
        shard = path.resolve()
        with reading(shard, "run simtown verify on its data set"):
            arrays, count = form_of(shard)
        split = Split([shard], [count], arrays)
    if index >= len(split):
        content = f"holds examples 0 to {len(split) - 1}" if len(split) else "holds no example"
        raise ValueError(f"{path} {content}, so there is no example {index}")
    dataset = name_of(place if name is not None else path.parent)
    return Address(split, index, "-".join(filter(None, (dataset, path.stem, str(index)))))
