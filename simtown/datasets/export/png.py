"""PNG files, and one line of JSON an example in questions.jsonl."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.parts import joined, part
from simtown.datasets.export.portion import Portion, png, record
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import Settings


def block(settings: Settings) -> int:
    """A shard."""
    return settings.shard_size


def prepare(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """A folder for the pictures of each split, and one for their masks."""
    for split in splits:
        (directory / split).mkdir()
        if data.settings.masks:
            (directory / "masks" / split).mkdir(parents=True)


def write(portion: Portion, directory: Path) -> None:
    """SPLIT/000000.png ..., and masks/SPLIT/000000.png if masks are stored."""
    pictures, masks = directory / portion.name, directory / "masks" / portion.name
    with part(directory, portion, "questions") as add_question:
        for batch in portion.batches():
            for row, number in batch.numbers():
                name = f"{number:06d}.png"
                (pictures / name).write_bytes(batch.png(row))
                where = {"split": portion.name, "image": f"{portion.name}/{name}"}
                if batch.ids is not None:
                    (masks / name).write_bytes(png(batch.ids[row]))
                    where["mask"] = f"masks/{portion.name}/{name}"
                add_question({**where, **record(batch, row, number)})


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """questions.jsonl: a line an example, of all splits."""
    with open(directory / "questions.jsonl", "w", encoding="utf-8") as file:
        file.writelines(
            f"{question}\n" for split in splits for question in joined(directory, split, "questions")
        )
