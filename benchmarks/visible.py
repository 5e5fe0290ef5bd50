"""How much of the vehicles that test questions name can be seen, in the test sets of the main grid.

    python benchmarks/visible.py

Makes the test sets of the kept cells without a distractor (benchmarks/results/sample-complexity) again,
except those that benchmarks/results/visible.csv has. A line of it is a test set: its checksum, the size of
its world, and for each question the visible share of the one of its two vehicles that is hidden more, in
percent, rounded down, as two hexadecimal digits. From it `python -m tools.pages` tells how many examples
models need for some of these questions alone. No model is trained, and nothing depends on the machine.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from simtown.complexity import cells
from simtown.core.files import replacing
from simtown.datasets.generate import generate
from simtown.datasets.reader import Split, open_dataset
from simtown.datasets.settings import Settings

RESULTS = Path(__file__).parent / "results"
RESULT = RESULTS / "visible.csv"
COLUMNS = ("test_id", "entities", "percent")


def settings_of(data: dict[str, Any]) -> Settings:
    """The settings of a cell's data set, with as few other examples as a data set can have."""
    known = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data.items()
        if name in Settings.__dataclass_fields__
    }
    return Settings(**(known | {"n": 2, "val": 2}))


def shares(test: Split) -> np.ndarray:
    """(examples,) uint8, percent: how much is seen of the one of the two vehicles that is hidden more."""
    rows, visible = np.arange(len(test)), test.column("visible")
    asked = [visible[rows, test.column(slot)] for slot in ("subject_slot", "object_slot")]
    return np.floor(100 * np.minimum(*asked)).astype(np.uint8)


def made_again(test_id: str, data: dict[str, Any]) -> dict[str, object]:
    """The line of a test set.

    Raises ValueError if this simtown draws other examples.
    """
    with tempfile.TemporaryDirectory() as place:
        generate(settings_of(data), place)
        test = open_dataset(place).test
        if test.digests([len(test)])[len(test)] != test_id:
            raise ValueError(f"this simtown draws other test examples than those of {test_id}")
        percent = shares(test).tobytes().hex()
    return dict(zip(COLUMNS, (test_id, data["entities"], percent), strict=True))


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    known = {}
    if RESULT.exists():
        with RESULT.open(encoding="utf-8", newline="") as file:
            known = {line["test_id"]: line for line in csv.DictReader(file)}
    kept = [cells.load(path)[0]["data"] for path in sorted((RESULTS / "sample-complexity").glob("*.json"))]
    sets = {data["test_id"]: data for data in kept if not data["distractor"]}
    lines = [
        known.get(test_id) or made_again(test_id, data) for test_id, data in track(sets.items(), "test sets")
    ]
    with replacing(RESULT) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
