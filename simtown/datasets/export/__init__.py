"""Data sets in the formats of other tools: a small module each, with the protocol :class:`Format`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from simtown.core.files import whole
from simtown.core.pool import Pool, Processes, Report, ignore, require_shared
from simtown.core.room import require_room
from simtown.datasets.export.parts import FOLDER
from simtown.datasets.export.portion import Portion
from simtown.datasets.reader import Dataset, Handle
from simtown.datasets.settings import SPLITS, Settings

#: Every format, with a description.
FORMATS: dict[str, str] = {
    "coco": "COCO instances: JSON with boxes and run-length masks",
    "clevr": "CLEVR scenes and questions with functional programs",
    "webdataset": "WebDataset tar shards",
    "parquet": "Parquet with pictures inside, for Hugging Face datasets",
    "yolo": "YOLO labels and data.yaml",
    "png": "PNG files and questions.jsonl",
}


class Format(Protocol):
    """A format writes pieces of a split into its own directory.

    Pieces are written in any process and in any order, each into its own files.
    """

    def block(self, settings: Settings) -> int:
        """Examples of a piece. It does not depend on the workers, since files may depend on it."""

    def prepare(self, data: Dataset, splits: Sequence[str], directory: Path) -> None:
        """Make the folders, before any piece is written."""

    def write(self, portion: Portion, directory: Path) -> None:
        """Write a piece of a split. If a worker dies, the piece is written again to the same files."""

    def finish(self, data: Dataset, splits: Sequence[str], directory: Path) -> None:
        """Join the files of pieces, and write the files beside the splits, after all pieces."""


class _Piece(NamedTuple):
    """A piece of a split, as it is sent to a worker."""

    split: str
    rows: range
    number: int


def find_format(name: str) -> Format:
    """A format by name.

    Raises ValueError if there is no such format, ImportError if its library is missing.
    """
    if name not in FORMATS:
        raise ValueError(f"unknown format '{name}': choose among {', '.join(FORMATS)}")
    return cast(Format, import_module(f"simtown.datasets.export.{name}"))


def choose_splits(data: Dataset, names: Sequence[str]) -> list[str]:
    """The splits called `names`, or all that have examples, in the usual order.

    Raises ValueError if there is no such split, or it has no examples.
    """
    for name in names:
        if name not in SPLITS:
            raise ValueError(f"unknown split '{name}': choose among {', '.join(SPLITS)}")
        if not len(data[name]):
            raise ValueError(f"{data.place} has no {name} examples: choose another `split`")
    return [name for name in SPLITS if (name in names if names else len(data[name]))]


def export(
    data: Dataset,
    name: str,
    splits: Sequence[str],
    out: Path,
    progress: Callable[[int], None] = ignore,
    pool: Pool | None = None,
) -> None:
    """Write splits of a data set in the format `name`.

    The same data set gives the same bytes with any pool. Memory does not grow with the number of examples. On
    a cluster, all machines must reach the data set, and the directory of `out`, under the same names.

    Args:
        data: the data set.
        name: a key of FORMATS.
        splits: names of splits; none for all that have examples.
        out: the directory to write, whole or not at all.
        progress: called with the number of examples written since the last call.
        pool: does the work; by default this process.

    Raises:
        ValueError: there is no such format or split.
        ImportError: a library is missing.
        RoomError: the disk has too little room.
        ForeignDirectoryError: `out` is not empty.
        DamagedError: a shard cannot be read.
        ClusterError: a machine of the cluster does not reach the data set or the directory.
        WorkerError: a worker process died.
    """
    form, chosen = find_format(name), choose_splits(data, splits)
    shards = data.manifest["shards"].items()
    require_room(out, sum(entry["bytes"] for shard, entry in shards if shard.startswith(tuple(chosen))))
    block = form.block(data.settings)
    pieces = [
        _Piece(split, range(first, min(first + block, len(data[split]))), number)
        for split in chosen
        for number, first in enumerate(range(0, len(data[split]), block))
    ]
    with whole(out, "simtown export") as directory:
        form.prepare(data, chosen, directory)
        (directory / FOLDER).mkdir()
        with closing(
            (pool or Processes()).map(_write, pieces, (Handle(data), name, directory), progress)
        ) as written:
            for _ in written:
                pass
        form.finish(data, chosen, directory)
        shutil.rmtree(directory / FOLDER)


def _write(piece: _Piece, report: Report, handle: Handle, name: str, directory: Path) -> None:
    """Write a piece; reports numbers of examples."""
    require_shared(directory)
    find_format(name).write(Portion(handle.open(), piece.split, report, piece.rows, piece.number), directory)
