"""PNG files, and one line of JSON an example in questions.jsonl."""

from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.portion import Format, Portion, joined, write_lines
from simtown.datasets.reading.reader import Dataset
from simtown.render.masks import picture_file


def write(portion: Portion, directory: Path) -> None:
    """SPLIT/000000.png ..., and masks/SPLIT/000000.png if masks are stored."""
    split, masks = portion.name, directory / "masks" / portion.name
    if portion.data.settings.masks:
        masks.mkdir(parents=True, exist_ok=True)
    with portion.part(directory, "questions") as add_question:
        for batch in portion.batches():
            for row, _, name in batch.write_pictures(directory / split, "{:06d}.png"):
                where = {"split": split, "image": f"{split}/{name}"}
                if batch.ids is not None:
                    (masks / name).write_bytes(picture_file(batch.ids[row]))
                    where["mask"] = f"masks/{split}/{name}"
                for entry in batch.records(row):
                    add_question({**where, **entry})


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """questions.jsonl: a line an example, of all splits."""
    entries = (entry for split in splits for entry in joined(directory, split, "questions"))
    write_lines(directory / "questions.jsonl", entries)


FORMAT = Format(write, finish, ("{split}",))
