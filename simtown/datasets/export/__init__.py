"""Data sets in the formats of other tools: one small module a format, all of one protocol (:class:`Format`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from simtown.datasets.export.portion import Portion
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import SPLITS
from simtown.files import whole

#: Every format, and what it is.
FORMATS: dict[str, str] = {
    "coco": "COCO instances: JSON with boxes and run-length masks",
    "clevr": "CLEVR scenes and questions with functional programs",
    "webdataset": "WebDataset tar shards",
    "parquet": "Parquet with pictures inside, for Hugging Face datasets",
    "yolo": "YOLO labels and data.yaml",
    "png": "PNG files and questions.jsonl",
}


class Format(Protocol):
    """A format writes into a directory that is its own."""

    def write(self, portion: Portion, directory: Path) -> None:
        """Write one split."""

    def finish(self, data: Dataset, splits: Sequence[str], directory: Path) -> None:
        """Write what stands beside the splits, after all of them."""


def find_format(name: str) -> Format:
    """A format by name. Raises ValueError for one there is not, ImportError where its library is missing."""
    if name not in FORMATS:
        raise ValueError(f"unknown format '{name}': choose among {', '.join(FORMATS)}")
    return cast(Format, import_module(f"simtown.datasets.export.{name}"))


def choose_splits(data: Dataset, names: Sequence[str]) -> list[str]:
    """The splits called `names`, or all that have examples, in the usual order. Raises ValueError for one that has none."""
    for name in names:
        if name not in SPLITS:
            raise ValueError(f"unknown split '{name}': choose among {', '.join(SPLITS)}")
        if not len(data[name]):
            raise ValueError(f"{data.place} has no {name} examples: choose another --split")
    return [name for name in SPLITS if (name in names if names else len(data[name]))]


def export(data: Dataset, name: str, splits: Sequence[str], out: Path, step: Callable[[int], None] = lambda n: None) -> None:
    """Write splits of a data set to the directory `out`, whole or not at all; `step` is told of every batch's examples.

    The same data set gives the same bytes. Memory does not grow with the number of examples.

    Raises:
        ValueError: there is no such format or split. ImportError: a library is missing. ForeignDirectoryError: `out` is not empty.
        DamagedError: a shard cannot be read.
    """
    form, chosen = find_format(name), choose_splits(data, splits)
    with whole(out, "simtown export") as directory:
        for split in chosen:
            form.write(Portion(data, split, step), directory)
        form.finish(data, chosen, directory)
