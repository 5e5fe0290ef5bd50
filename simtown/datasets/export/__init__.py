"""Data sets in the formats of other tools: a small module each."""

import shutil
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path

from simtown.core.disk_space import require_room
from simtown.core.files import is_complete, whole
from simtown.core.pool import Pool, Processes, Report, ignore, require_shared
from simtown.datasets.export.portion import FOLDER, Format, Portion
from simtown.datasets.formats import HARNESSES, require_format
from simtown.datasets.making.manifests import SEAL
from simtown.datasets.reading.reader import Dataset, runs


def find_format(name: str) -> Format:
    """A format by name.

    Raises ValueError if there is no such format, ImportError if its library is missing.
    """
    require_format(name)
    folder = "harnesses." if name in HARNESSES else ""
    return import_module(f"simtown.datasets.export.{folder}{name.replace('-', '_')}").FORMAT


def choose_splits(data: Dataset, names: Sequence[str]) -> list[str]:
    """The splits called `names`, or all that have examples, in the usual order.

    Raises ValueError if there is no such split, or it has no examples.
    """
    for name in names:
        if name not in data.splits:
            raise ValueError(f"unknown split '{name}': choose among {', '.join(data.splits)}")
        if not len(data[name]):
            raise ValueError(f"{data.place} has no {name} examples: choose another `split`")
    return [name for name in data.splits if (name in names if names else len(data[name]))]


def export(
    data: Dataset,
    name: str,
    splits: Sequence[str],
    out: Path,
    progress: Report = ignore,
    pool: Pool | None = None,
) -> bool:
    """Write splits of a data set, by default all that have examples, in a format of FORMATS.

    The directory `out` appears whole or not at all. The same data set gives the same bytes with any pool, by
    default this process. Memory does not grow with the number of examples. On a cluster, all machines must
    reach the data set, and the directory of `out`, under the same names. `progress` is called with the number
    of examples written since the last call.

    Returns:
        Whether it was written: False if `out` holds this export already.

    Raises:
        ValueError: there is no such format or split.
        ImportError: a library is missing.
        RoomError: the disk has too little room.
        ForeignDirectoryError: `out` holds something else.
        DamagedError: a shard cannot be read.
        ClusterError: a machine of the cluster does not reach the data set or the directory.
        WorkerError: a worker process died.
    """
    form, chosen = find_format(name), choose_splits(data, splits)
    if data.settings.sequence and name not in HARNESSES:
        raise ValueError(f"{name} is for single pictures: of sequences choose {', '.join(HARNESSES)}")
    origin = {"command": "simtown export", "data": data.manifest[SEAL], "format": name, "splits": chosen}
    if is_complete(out, origin):
        return False
    shards = data.manifest["shards"].items()
    require_room(out, sum(entry["bytes"] for shard, entry in shards if shard.startswith(tuple(chosen))))
    size = max(1, data.settings.shard_size // form.multiple) * form.multiple
    pieces = []
    for split in chosen:
        portions = [range(*run) for run in runs(len(data[split]), size)]
        pieces += [(split, rows, number) for number, rows in enumerate(portions)]
    with whole(out, "simtown export", origin) as directory:
        for folder in (FOLDER, *(folder.format(split=split) for folder in form.folders for split in chosen)):
            (directory / folder).mkdir(parents=True, exist_ok=True)
        shared = (data, name, directory)
        with closing((pool or Processes()).map(_write, pieces, shared, progress)) as written:
            for _ in written:
                pass
        form.finish(data, chosen, directory)
        shutil.rmtree(directory / FOLDER)
    return True


def _write(piece: tuple[str, range, int], report: Report, data: Dataset, name: str, directory: Path) -> None:
    """Write a piece: the examples of a split, and their portion's number. Reports numbers of examples."""
    require_shared(directory)
    find_format(name).write(Portion(data, *piece, report), directory)
