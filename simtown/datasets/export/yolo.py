"""YOLO: images/SPLIT, labels/SPLIT with a line a vehicle, and data.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simtown.datasets.export.masks import seen
from simtown.datasets.export.portion import Portion
from simtown.datasets.export.yaml import yaml
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import Settings


def block(settings: Settings) -> int:
    """A shard."""
    return settings.shard_size


def prepare(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """Folders for the pictures and labels of each split."""
    for split in splits:
        for what in ("images", "labels"):
            (directory / what / split).mkdir(parents=True)


def write(portion: Portion, directory: Path) -> None:
    """A label is "class x y width height": the middle and size of the box around what is seen, as shares of the picture."""
    s = portion.data.settings
    pictures, labels = (directory / what / portion.name for what in ("images", "labels"))
    for batch in portion.batches(masks=True):
        assert batch.ids is not None
        for row, number in batch.numbers():
            (pictures / f"{number:06d}.png").write_bytes(batch.png(row))
            lines = ""
            for slot, entity in enumerate(batch.scenes.entity[row]):
                found = seen(batch.ids[row], slot)
                if found is not None:
                    x0, y0, x1, y1 = found[1]
                    shares = (x0 + x1) / 2 / s.width, (y0 + y1) / 2 / s.height, (x1 - x0) / s.width, (y1 - y0) / s.height
                    lines += f"{entity} {' '.join(f'{share:.6f}' for share in shares)}\n"
            (labels / f"{number:06d}.txt").write_text(lines, encoding="ascii")


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """data.yaml, with paths from where it lies; a training needs train and val, so another split stands in for one that is not there."""
    here = {split: f"images/{split}" for split in splits}
    fallback = here[splits[0]]
    told = {"train": here.get("train", fallback), "val": here.get("val", fallback), **here}
    names = dict(enumerate(data.names["entities"]))
    (directory / "data.yaml").write_text(yaml({**told, "names": names}), encoding="utf-8")
