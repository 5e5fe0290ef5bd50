"""How much of the vehicles that test questions name can be seen, in the test sets of the main grid.

    python benchmarks/visible.py

Makes the test sets of the kept cells without a distractor (benchmarks/results/sample-complexity) again,
except those that benchmarks/results/visible.csv has. A line of it is a test set: its checksum, the size of
its world, and for each question the visible share of the one of its two vehicles that is hidden more, in
percent, rounded down, as two hexadecimal digits. From it `python -m tools.pages` tells how many examples
models need for some of these questions alone. No model is trained, and nothing depends on the machine.
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from simtown.complexity import cells
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings

RESULTS = Path(__file__).parent / "results"
COLUMNS = ("test_id", "entities", "percent")


def made_again(test_id: str, data: dict[str, Any]) -> dict[str, object]:
    """The line of a test set. Raises ValueError if this simtown draws other examples."""
    with tempfile.TemporaryDirectory() as folder:
        generate(msgspec.convert(data | {"n": 2, "val": 2}, Settings), folder)  # no more others than must be
        test = open_dataset(folder).test
        if test.digests([len(test)])[len(test)] != test_id:
            raise ValueError(f"this simtown draws other test examples than those of {test_id}")
        every, visible = np.arange(len(test)), test.column("visible")
        asked = [visible[every, test.column(slot)] for slot in ("subject_slot", "object_slot")]
        percent = np.floor(100 * np.minimum(*asked)).astype(np.uint8).tobytes().hex()
    return dict(zip(COLUMNS, (test_id, data["entities"], percent), strict=True))


def main() -> None:
    with (RESULTS / "visible.csv").open(encoding="utf-8", newline="") as file:
        known = {line["test_id"]: line for line in csv.DictReader(file)}
    kept = [run["data"] for run, *_ in cells.load_table(RESULTS / "sample-complexity").values()]
    sets = {data["test_id"]: data for data in kept if not data["distractor"]}
    lines = [known.get(test_id) or made_again(test_id, data) for test_id, data in sets.items()]
    with (RESULTS / "visible.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
