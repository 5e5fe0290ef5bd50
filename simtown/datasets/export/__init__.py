"""Data sets in the formats of other tools: one small module a format, all of one protocol (:class:`Format`)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from simtown.datasets.export.parts import FOLDER
from simtown.datasets.export.portion import Portion
from simtown.datasets.handle import Handle
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import SPLITS, Settings
from simtown.files import whole
from simtown.pool import Pool, Processes, Report, ignore, require_shared

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
    """A format writes into a directory that is its own: pieces of a split, anywhere and in any order, each into files of its own."""

    def block(self, settings: Settings) -> int:
        """Examples of a piece: they do not depend on who works, since files may."""

    def prepare(self, data: Dataset, splits: Sequence[str], directory: Path) -> None:
        """Make the folders, before any piece is written."""

    def write(self, portion: Portion, directory: Path) -> None:
        """Write a piece of a split; again if a worker died, to the same files."""

    def finish(self, data: Dataset, splits: Sequence[str], directory: Path) -> None:
        """Join what pieces wrote and write what stands beside the splits, after all pieces."""


class _Piece(NamedTuple):
    """A portion of a split, as it is sent to who writes it."""

    split: str
    rows: range
    number: int


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


def export(
    data: Dataset,
    name: str,
    splits: Sequence[str],
    out: Path,
    progress: Callable[[int], None] = ignore,
    pool: Pool | None = None,
) -> None:
    """Write splits of a data set to the directory `out`, whole or not at all; `progress` is told of every batch's examples.

    The same data set gives the same bytes, whoever works; by default this process does. Memory does not grow with the number of
    examples. On a cluster, all machines must reach the data set, and the directory that `out` will lie in, under the same names.

    Raises:
        ValueError: there is no such format or split. ImportError: a library is missing. ForeignDirectoryError: `out` is not empty.
        DamagedError: a shard cannot be read.
        ClusterError: a machine of the cluster does not reach the data set or the directory.
        WorkerError: a worker process died.
    """
    form, chosen = find_format(name), choose_splits(data, splits)
    block = form.block(data.settings)
    pieces = [
        _Piece(split, range(first, min(first + block, len(data[split]))), number)
        for split in chosen
        for number, first in enumerate(range(0, len(data[split]), block))
    ]
    with whole(out, "simtown export") as directory:
        form.prepare(data, chosen, directory)
        (directory / FOLDER).mkdir()
        with closing((pool or Processes()).map(_write, pieces, (Handle(data), name, directory), progress)) as written:
            for _ in written:
                pass
        form.finish(data, chosen, directory)
        shutil.rmtree(directory / FOLDER)


def _write(piece: _Piece, report: Report, handle: Handle, name: str, directory: Path) -> None:
    """Write a piece; reports numbers of examples."""
    require_shared(directory)
    find_format(name).write(Portion(handle.open(), piece.split, report, piece.rows, piece.number), directory)
