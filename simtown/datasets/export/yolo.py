"""YOLO: images/SPLIT, labels/SPLIT with a line a vehicle, and data.yaml."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from simtown.datasets.export.portion import ExportBatch, Format, Portion
from simtown.datasets.export.yaml import yaml
from simtown.datasets.reading.reader import Dataset
from simtown.render.masks import mask_and_box


def write(portion: Portion, directory: Path) -> None:
    """Write each picture, and its labels: a line a vehicle."""
    for batch in portion.batches(masks=True):
        for row, _, name in batch.write_pictures(directory / "images" / portion.name, "{:06d}.png"):
            labels = (directory / "labels" / portion.name / name).with_suffix(".txt")
            labels.write_text(_labels(batch, row), encoding="ascii")


def _labels(batch: ExportBatch, row: int) -> str:
    """ "class x y width height" for each vehicle: its visible part, as shares of the picture."""
    assert batch.ids is not None
    ids, lines = batch.ids[row], ""
    size = np.array(ids.shape[::-1])
    for slot, entity in enumerate(batch.scenes.entity[row]):
        seen = mask_and_box(ids, slot)
        if seen is not None:
            low, high = np.array(seen[1]).reshape(2, 2)
            shares = (*((low + high) / 2 / size), *((high - low) / size))
            lines += f"{entity} {' '.join(f'{share:.6f}' for share in shares)}\n"
    return lines


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """Write data.yaml, with paths from its own folder.

    A training needs train and val, so another split takes the place of a missing one; a comment says so.
    """
    folders = {split: f"images/{split}" for split in splits}
    paths = dict.fromkeys(("train", "val"), folders[splits[0]]) | folders
    comments = "".join(f"# {line}\n" for line in _missing(splits))
    content = yaml({**paths, "names": dict(enumerate(data.names["entities"]))})
    (directory / "data.yaml").write_text(comments + content, encoding="utf-8")


def _missing(splits: Sequence[str]) -> list[str]:
    """Notes on data.yaml for a user if a split that a training needs is not exported: a line each."""
    absent = [split for split in ("train", "val") if split not in splits]
    return [f"{split} is not exported: here it names the pictures of {splits[0]} again" for split in absent]


def notes(data: Dataset, splits: Sequence[str], directory: Path) -> list[str]:
    """Which splits data.yaml lacks."""
    return [f"note: data.yaml: {line}" for line in _missing(splits)]


FORMAT = Format(write, finish, ("images/{split}", "labels/{split}"), notes=notes)
