"""PNG files, and one line of JSON an example in questions.jsonl."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.portion import Portion, png, record
from simtown.datasets.reader import Dataset


def write(portion: Portion, directory: Path) -> None:
    """SPLIT/000000.png ..., and masks/SPLIT/000000.png where masks are stored."""
    pictures, masks = directory / portion.name, directory / "masks" / portion.name
    pictures.mkdir()
    if portion.data.settings.masks:
        masks.mkdir(parents=True)
    with open(directory / "questions.jsonl", "a", encoding="utf-8") as lines:
        for batch in portion.batches():
            for row, number in batch.numbers():
                name = f"{number:06d}.png"
                (pictures / name).write_bytes(batch.png(row))
                where = {"split": portion.name, "image": f"{portion.name}/{name}"}
                if batch.ids is not None:
                    (masks / name).write_bytes(png(batch.ids[row]))
                    where["mask"] = f"masks/{portion.name}/{name}"
                lines.write(json.dumps({**where, **record(batch, row, number)}) + "\n")


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """Nothing more."""
