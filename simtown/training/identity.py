"""A run is identified by its settings and the examples that it reads, not by the files that hold them.

So it stays the same run if its data set grows, moves or is stored in other shards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from simtown.core.files import as_json
from simtown.core.runs import changed_settings
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import Settings, file_name
from simtown.training.fit_settings import FitSettings

#: Settings of a data set that do not change its training examples: how many there are, what else is stored of
#: them, and how.
_STORAGE = ("n", "val", "test", "masks", "depth", "shard")
#: Settings of a data set that may name a CSV file.
_TABLES = ("frequencies", "paint")
#: What an error calls the examples of each split.
_NAMES = {"train": "training", "val": "validation", "test": "test"}


def world(settings: Settings) -> dict[str, Any]:
    """The settings of a data set that run.json repeats.

    They decide which examples there are; the sizes of val and test are among them.
    """
    plain: dict[str, Any] = as_json(asdict(settings.canonical))
    for name, from_file in (("frequencies", settings.table_from_file), ("paint", settings.paint_from_file)):
        if from_file:
            plain[name] = plain[name].replace("\\", "/").rpartition("/")[2]
    return {name: value for name, value in plain.items() if name not in _STORAGE or name in ("val", "test")}


def examples_read(
    dataset: Dataset, train_sizes: Iterable[int], progress: Callable[[int], object] = lambda examples: None
) -> dict[int, dict[str, str]]:
    """By training size: the digests of the examples that such a run reads, by split.

    Reads the training examples, and all of validation and test, once; `progress` as in
    :meth:`simtown.datasets.reader.Split.digests`.
    """
    val, test = (split.digests([len(split)], progress)[len(split)] for split in (dataset.val, dataset.test))
    return {
        n: {"train": train, "val": val, "test": test}
        for n, train in dataset.train.digests(train_sizes, progress).items()
    }


def endless(dataset: Dataset) -> str:
    """The digest of an endless stream of training examples: SHA-256 of the settings that decide them."""
    drawn = {
        name: value
        for name, value in dataset.manifest["settings"].items()
        if name not in (*_STORAGE, "test_seed")
    }
    return sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()


def of_run(run: Mapping[str, Any]) -> dict[str, Any]:
    """What a run.json says of its identity: settings, world and digests of the examples."""
    others = ("name", "path", "examples", "test_id")  # older versions wrote the path
    world = {name: value for name, value in run["data"].items() if name not in others}
    return {
        **run["settings"],
        **{f"data.{name}": value for name, value in _by_name(world).items()},
        **{f"{_NAMES[split]} examples": digest for split, digest in run["data"]["examples"].items()},
    }


def other_settings(
    run: dict[str, Any], settings: FitSettings, data: Settings, any_device: bool = False
) -> list[str]:
    """The settings of a run.json that differ from these: "patience 10, now 7" or "data.seed 0, now 5".

    `any_device`: a run on another device counts as the same.
    """
    now = _by_name(world(data))
    before = _by_name({name: run["data"].get(name) for name in now})
    trained_with = {**run["settings"], "device": settings.device} if any_device else run["settings"]
    return changed_settings(trained_with, as_json(asdict(settings))) + [
        f"data.{change}" for change in changed_settings(before, now)
    ]


def _by_name(world: dict[str, Any]) -> dict[str, Any]:
    """The same, CSV files by their names alone: the digests of the examples tell tables apart."""
    return world | {name: file_name(world[name]) for name in _TABLES if isinstance(world.get(name), str)}


def other_examples(run: dict[str, Any], examples: dict[str, str]) -> str:
    """Which examples of a run.json differ from those with these digests by split; "" if none do."""
    recorded = run["data"]["examples"]
    splits = [name for split, name in _NAMES.items() if recorded.get(split) != examples[split]]
    return f"other {' and '.join(splits)} examples" if splits else ""
