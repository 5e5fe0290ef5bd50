"""The form of a shard's file: every array and attribute there must be, each as it must be, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from simtown.datasets.checks.problems import Problem
from simtown.datasets.settings import Settings
from simtown.datasets.shards import Task, attributes, layout

#: Characters of an attribute that a message shows.
_SHOWN = 60
#: An HDF5 file begins with these bytes, and its superblock (versions 2 and 3) tells at this place where its data end.
_SIGNATURE, _END = b"\x89HDF\r\n\x1a\n", slice(28, 36)


def bytes_outside(path: Path, task: Task) -> Iterator[Problem]:
    """Bytes before or after what HDF5 calls the file, where anything may be hidden."""
    with open(path, "rb") as file:
        head = file.read(_END.stop)
    if not head.startswith(_SIGNATURE):
        yield Problem(task.name, "bytes that do not belong there stand before the data")
        return
    surplus = path.stat().st_size - int.from_bytes(head[_END], "little")
    if surplus:
        yield Problem(task.name, "bytes that do not belong there follow the data", f" ({surplus:,} bytes)")


def wrong_arrays(file: h5py.File, settings: Settings, task: Task) -> list[Problem]:
    """Arrays that are missing or cannot be read as what they should be; only where there are none can rows be compared."""
    found: list[Problem] = []
    wanted = layout(settings)
    groups = {name: _wrong_item(file, name, h5py.Group, "group") for name in _groups(wanted)}
    found += [Problem(task.name, wrong) for wrong in groups.values() if wrong]
    for name, (shape, kind) in wanted.items():
        if not groups.get(name.rpartition("/")[0]):
            wrong = _wrong_item(file, name, h5py.Dataset, "array") or _wrong_values(file[name], name, (task.count, *shape), kind)
            found += [Problem(task.name, wrong)] if wrong else []
    return found


def _groups(names: Iterable[str]) -> list[str]:
    return sorted({name.rpartition("/")[0] for name in names if "/" in name})


def _wrong_item(file: h5py.File, name: str, kind: type, word: str) -> str:
    """What is wrong with the array or group of this name, whose own group is right; no link is followed."""
    link = file.get(name, getlink=True)
    if link is None:
        return f"the {word} '{name}' is missing"
    if not isinstance(link, h5py.HardLink):
        return f"the {word} '{name}' is a link to elsewhere: it must lie in this file"
    return "" if isinstance(file[name], kind) else f"'{name}' is no {word}"


def _wrong_values(array: h5py.Dataset, name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> str:
    if array.external or array.is_virtual:
        return f"the array '{name}' lies in another file: it must lie in this one"
    if array.shape != shape or array.dtype != kind:
        return f"the array '{name}' is {array.dtype} {array.shape}, not {kind} {shape}"
    return ""


def strangers(file: h5py.File, settings: Settings, task: Task) -> Iterator[Problem]:
    """Everything in the file that does not belong there."""
    arrays = layout(settings)
    groups = _groups(arrays)
    for group in ("", *groups):
        if group and _wrong_item(file, group, h5py.Group, "group"):
            continue
        parent = file[group] if group else file
        for own_name in parent.keys():  # noqa: SIM118  (a group is no dict)
            name = f"{group}/{own_name}".lstrip("/")
            if name not in arrays and name not in groups:
                yield Problem(task.name, f"it holds '{name}', which does not belong there")
            elif isinstance(parent.get(own_name, getlink=True), h5py.HardLink):
                for attribute in parent[own_name].attrs:
                    yield Problem(task.name, f"'{name}' has an attribute '{attribute}', which does not belong there")
    for attribute in file.attrs:
        if attribute not in attributes(settings, task, {}, {}):
            yield Problem(task.name, f"it has an attribute '{attribute}', which does not belong there")


def wrong_attributes(file: h5py.File, wanted: dict[str, int | str], task: Task) -> Iterator[Problem]:
    """Attributes that differ from what the settings make."""
    for name, value in wanted.items():
        stored = file.attrs.get(name)
        if type(stored) is not (np.int64 if isinstance(value, int) else str) or stored != value:
            there = "is missing" if stored is None else f"is {_brief(stored)}"
            yield Problem(task.name, f"its attribute '{name}'", f" {there}, these settings make {_brief(value)}")


def _brief(value: Any) -> str:
    """A value of which a message shows the beginning."""
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
