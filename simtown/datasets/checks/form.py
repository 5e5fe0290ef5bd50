"""The form of a shard's file: it has every array and attribute of the layout, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import h5py

from simtown.core.untrusted import open_regular
from simtown.datasets.checks.problems import Problem
from simtown.datasets.settings import Settings
from simtown.datasets.shard_file import FormError, attribute, open_array
from simtown.datasets.shards import ShardTask, attributes, layout

#: Characters of an attribute that a message shows.
_SHOWN = 60
#: An HDF5 file begins with these bytes and the version of its superblock; at these places are the addresses
#: of its beginning and its end.
_SIGNATURE, _BASE, _END = b"\x89HDF\r\n\x1a\n", slice(12, 20), slice(28, 36)


def bytes_outside(path: Path, task: ShardTask) -> Iterator[Problem]:
    """Bytes before or after what HDF5 calls the file, where anything may be hidden."""
    with open_regular(path, follow=False) as file:
        size, head = os.fstat(file.fileno()).st_size, file.read(_END.stop)
    if not head.startswith(_SIGNATURE) or len(head) < _END.stop or head[8] not in (2, 3) or any(head[_BASE]):
        yield Problem(task.name, "bytes that do not belong there stand before the data")
        return
    surplus = size - int.from_bytes(head[_END], "little")
    if surplus:
        yield Problem(task.name, "bytes that do not belong there follow the data", f" ({surplus:,} bytes)")


def wrong_arrays(file: h5py.File, settings: Settings, task: ShardTask) -> list[Problem]:
    """Arrays that are missing or have the wrong form. Rows can be compared only if there are none."""
    wrong = []
    for name, (shape, kind) in layout(settings).items():
        try:
            open_array(file, name, (task.count, *shape), kind)
        except FormError as error:
            wrong.append(str(error))
    return [Problem(task.name, kind) for kind in dict.fromkeys(wrong)]


def _groups(names: Iterable[str]) -> list[str]:
    return sorted({name.rpartition("/")[0] for name in names if "/" in name})


def strangers(file: h5py.File, settings: Settings, task: ShardTask) -> Iterator[Problem]:
    """Everything in the file that does not belong there."""
    arrays = layout(settings)
    groups = _groups(arrays)
    for group in ("", *groups):
        if group and not _is_group(file, group):
            continue
        parent = file[group] if group else file
        for own_name in parent.keys():  # noqa: SIM118  (a group is no dict)
            name = f"{group}/{own_name}".lstrip("/")
            if name not in arrays and name not in groups:
                yield Problem(task.name, f"it holds '{name}', which does not belong there")
            elif isinstance(parent.get(own_name, getlink=True), h5py.HardLink):
                for attribute in parent[own_name].attrs:
                    yield Problem(
                        task.name, f"'{name}' has an attribute '{attribute}', which does not belong there"
                    )
    for attribute in file.attrs:
        if attribute not in attributes(task, {}, {}):
            yield Problem(task.name, f"it has an attribute '{attribute}', which does not belong there")


def _is_group(file: h5py.File, name: str) -> bool:
    return (
        isinstance(file.get(name, getlink=True), h5py.HardLink)
        and file.get(name, getclass=True) is h5py.Group
    )


def wrong_attributes(file: h5py.File, wanted: dict[str, int | str], task: ShardTask) -> Iterator[Problem]:
    """Attributes that differ from what the settings make."""
    for name, value in wanted.items():
        try:
            stored = attribute(file, name, type(value))
        except FormError as error:
            yield Problem(task.name, str(error), f": these settings make {_brief(value)}")
            continue
        if stored != value:
            yield Problem(
                task.name,
                f"its attribute '{name}'",
                f" is {_brief(stored)}, these settings make {_brief(value)}",
            )


def _brief(value: Any) -> str:
    """A value of which a message shows the beginning."""
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
