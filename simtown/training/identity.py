"""A run is identified by its settings and the examples that it reads, not by the files that hold them.

So it stays the same run if its data set grows, moves or is stored in other shards.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from simtown.core.files import as_json
from simtown.core.options import deciding
from simtown.core.runs import changed_settings
from simtown.datasets.frequency_tables import file_name
from simtown.datasets.reading.reader import Dataset
from simtown.datasets.resolved_settings import LEFT_OUT, list_values, settings_from
from simtown.datasets.settings import Settings
from simtown.training.fit_settings import FitSettings
from simtown.training.world import LANGUAGE

#: Settings of a data set that may name a CSV file. The digests of the examples tell tables apart.
_TABLES = ("frequencies", "paint")
#: What run.json holds beside the settings of the data set. Older versions wrote the path.
_OTHERS = ("name", "path", "examples", "test_id", *LANGUAGE)


def world(settings: Settings) -> dict[str, Any]:
    """The settings of a data set that run.json repeats.

    They decide which examples there are; the sizes of val and test are among them. Settings that older runs
    do not have are left out if they have their default.
    """
    plain: dict[str, Any] = as_json(list_values(settings))
    usual = {name for name, value in LEFT_OUT.items() if getattr(settings, name) == value}
    left_out = {"n", *deciding(Settings, "storage"), *usual} - {*deciding(Settings, "draw")}
    return {name: value for name, value in plain.items() if name not in left_out}


def settings_of(run: Mapping[str, Any]) -> Settings:
    """The settings of the data set that a run.json repeats: it has no frequencies, and no file is read.

    Raises ValueError for settings that none has.
    """
    return settings_from({name: value for name, value in run["data"].items() if name not in _OTHERS})


def examples_read(
    dataset: Dataset, train_sizes: Iterable[int], progress: Callable[[int], object] = lambda examples: None
) -> dict[int, dict[str, str]]:
    """By training size: the digests of the examples that such a run reads, by split.

    Reads the training examples, and all of validation and test, once; `progress` as in
    :meth:`simtown.datasets.reading.reader.Split.digests`.
    """
    val, test = (split.digests([len(split)], progress)[len(split)] for split in (dataset.val, dataset.test))
    trains = dataset.train.digests(train_sizes, progress)
    return {n: {"train": train, "val": val, "test": test} for n, train in trains.items()}


def endless(dataset: Dataset) -> str:
    """The digest of an endless stream of training examples: SHA-256 of the settings that decide them."""
    others = ("test_seed", *deciding(Settings, "size", "storage"))
    drawn = {name: value for name, value in dataset.manifest["settings"].items() if name not in others}
    return sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()


def of_run(run: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of a run by its run.json: settings, world and digests of the examples."""
    world = {name: value for name, value in run["data"].items() if name not in _OTHERS}
    world |= {name: file_name(world[name]) for name in _TABLES if isinstance(world.get(name), str)}
    examples = run["data"].get("examples", {})
    digests = {f"{split} examples": digest for split, digest in examples.items()}
    return {**run["settings"], **{f"data.{name}": value for name, value in world.items()}, **digests}


def other_settings(
    run: Mapping[str, Any], settings: FitSettings, data: Settings, any_device: bool = False
) -> list[str]:
    """The settings of a run.json that differ from these: "patience 10, now 7" or "data.seed 0, now 5".

    `any_device`: a run on another device counts as the same.
    """
    now = of_run({"settings": as_json(asdict(settings)), "data": world(data)})
    before = {name: value for name, value in of_run(run).items() if name in now}
    if any_device:
        before["device"] = settings.device
    return changed_settings(before, now)
