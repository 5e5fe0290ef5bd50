"""YOLO: images/SPLIT, labels/SPLIT with a line a vehicle, and data.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.portion import Portion
from simtown.datasets.export.yaml import yaml
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import Settings
from simtown.render.masks import mask_and_box


def block(settings: Settings) -> int:
    """A shard."""
    return settings.shard_size


def prepare(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """Folders for the pictures and labels of each split."""
    for split in splits:
        for what in ("images", "labels"):
            (directory / what / split).mkdir(parents=True)


def write(portion: Portion, directory: Path) -> None:
    """Write a label "class x y width height" for each vehicle: its visible part, as shares of the picture."""
    s = portion.data.settings
    pictures, labels = (directory / what / portion.name for what in ("images", "labels"))
    for batch in portion.batches(masks=True):
        assert batch.ids is not None
        for row, number in batch.numbers():
            (pictures / f"{number:06d}.png").write_bytes(batch.png(row))
            lines = ""
            for slot, entity in enumerate(batch.scenes.entity[row]):
                seen = mask_and_box(batch.ids[row], slot)
                if seen is not None:
                    _, (x0, y0, x1, y1) = seen
                    shares = (
                        (x0 + x1) / 2 / s.width,
                        (y0 + y1) / 2 / s.height,
                        (x1 - x0) / s.width,
                        (y1 - y0) / s.height,
                    )
                    lines += f"{entity} {' '.join(f'{share:.6f}' for share in shares)}\n"
            (labels / f"{number:06d}.txt").write_text(lines, encoding="ascii")


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """Write data.yaml, with paths from its own folder.

    A training needs train and val, so another split takes the place of a missing one.
    """
    folders = {split: f"images/{split}" for split in splits}
    fallback = folders[splits[0]]
    paths = {"train": folders.get("train", fallback), "val": folders.get("val", fallback), **folders}
    names = dict(enumerate(data.names["entities"]))
    (directory / "data.yaml").write_text(yaml({**paths, "names": names}), encoding="utf-8")
