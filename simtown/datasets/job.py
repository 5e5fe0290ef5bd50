"""The generation job: shards that are missing are made, by a pool of workers, and written down in the manifest.

A shard is either whole under its own name or not there. So a job that was killed at any moment continues when it is run
again, and ends with the bytes of one that was never disturbed.
"""

from __future__ import annotations

import errno
import json
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from simtown.datasets import manifest as manifests
from simtown.datasets import timings
from simtown.datasets.making import Job, entry, make_shards
from simtown.datasets.settings import SCHEMA, Settings, differences
from simtown.datasets.shards import STAGES, Clock, Task, checksum, tasks
from simtown.datasets.stores import Directory, Remote, store_of
from simtown.files import DamagedError, ForeignDirectoryError, RefusedError
from simtown.pool import Pool, Processes
from simtown.processes import WorkerError, default_workers

__all__ = ["Silent", "Watcher", "WorkerError", "generate", "is_disk_full"]

#: Writing the manifest down takes at most about this share of a job's time, however many shards it lists.
MANIFEST_SHARE = 0.05


class Watcher(Protocol):
    """Whoever wants to know how a job goes."""

    def started(self, total: int, done: int) -> None:
        """The job will make `total` examples, of which `done` are there already."""

    def advanced(self, examples: int, seconds: dict[str, float]) -> None:
        """So many more examples were made; `seconds` is the time per stage since the last call, over all workers."""


class Silent:
    """A watcher that says nothing."""

    def started(self, total: int, done: int) -> None: ...

    def advanced(self, examples: int, seconds: dict[str, float]) -> None: ...


def generate(
    settings: Settings,
    directory: str | Path,
    workers: int | None = None,
    watcher: Watcher | None = None,
    device: str = "cpu",
    pool: Pool | None = None,
) -> dict[str, Any]:
    """Make a data set in `directory`, or what is missing of it; returns the manifest. Draws on "cpu" or "cuda".

    Args:
        directory: a path, or a URL that fsspec knows, such as s3://bucket/town.
        workers: processes, by default one a processor.
        pool: who makes the shards; by default processes of this machine.

    Raises:
        SettingsError: a setting that cannot be. ValueError: `workers` is less than 1.
        ForeignDirectoryError: the directory holds something else, or a data set of other settings (the message says which differ).
        DamagedError: a finished shard does not match its checksum. RefusedError: a shard is a link or no plain file.
        ImpossibleError: some example cannot be sampled. OSError: the directory cannot be written, or the disk is full.
        CardError: the device is "cuda" and cannot be used. WorkerError: a worker died; what is written is kept.
    """
    settings.check()
    pool = pool or Processes(default_workers() if workers is None else workers)
    watcher, store = watcher or Silent(), store_of(directory)
    with store.claimed("simtown generate"):
        manifest = _begin(store, settings)
        missing = _missing(store, settings, manifest)
        done = sum(settings.counts().values()) - sum(t.count for t in missing)
        watcher.started(sum(settings.counts().values()), done)
        clock, begun, book = Clock(), perf_counter(), _Book(store, manifest)

        def tell(n: int, seconds: dict[str, float]) -> None:
            for stage in STAGES:
                clock.seconds[stage] += seconds[stage]
            watcher.advanced(n, seconds)

        with closing(make_shards(pool, Job(store, settings, device), missing, tell)) as shards:
            for task, made in shards:
                book.enter(task, made)
        if not manifest["complete"]:
            manifest["acceptance"] = manifests.acceptance(manifest["shards"])
            manifest["complete"] = True
            book.save()
        if missing:
            _note_timings(store, clock, perf_counter() - begun, pool.workers, sum(t.count for t in missing))
    return manifest


class _Book:
    """Writes the manifest down while shards come in; one that was not yet written down is found by the next run."""

    def __init__(self, store: Directory | Remote, manifest: dict[str, Any]) -> None:
        self.store, self.manifest, self.due = store, manifest, 0.0

    def enter(self, task: Task, made: dict[str, Any]) -> None:
        manifests.enter(self.manifest, task, made)
        if perf_counter() >= self.due:
            self.save()

    def save(self) -> None:
        begun = perf_counter()
        self.store.save_manifest(self.manifest)
        self.due = perf_counter() + (perf_counter() - begun) / MANIFEST_SHARE


def _begin(store: Directory | Remote, settings: Settings) -> dict[str, Any]:
    """The store's manifest: a fresh one in an empty store, the one that is there if its settings are these."""
    store.tidy()
    there = store.sizes()
    if manifests.NAME not in there:
        if there:
            raise ForeignDirectoryError(f"{store} holds other files ({min(there)}) and no simtown data set: give another --out")
        manifest = manifests.fresh(settings)
        store.save_manifest(manifest)
        return manifest
    manifest = store.load_manifest()
    if manifest["schema"] != SCHEMA:
        raise ForeignDirectoryError(
            f"{store} holds a data set of version {manifest['settings']['catalogue']} of the world, which this simtown reads but does not "
            f"make (it makes version {settings.catalogue}): give another --out"
        )
    now = json.loads(json.dumps(settings.resolved()))
    differ = differences(manifest["settings"], now)
    if differ:
        raise ForeignDirectoryError(
            f"{store} holds a data set of other settings: {'; '.join(differ)}; give another --out or the same settings"
        )
    made_by, here = manifest["simtown"], manifests.fresh(settings)["simtown"]
    if made_by != here and not manifest["complete"]:
        raise ForeignDirectoryError(
            f"{store} was begun by simtown {made_by}, this is {here}: finish it with that version or give another --out"
        )
    return manifest


def _missing(store: Directory | Remote, settings: Settings, manifest: dict[str, Any]) -> list[Task]:
    """Shards still to be made; those that are there are checked against the manifest, or entered into it.

    A shard that was lost keeps its entry, and its part in the summary: the one that is made in its place is the same.
    Behind a URL a shard's size alone is looked at: reading all of them again would cost as much as making them.
    """
    missing, sizes, irregular = [], store.sizes(), store.irregular()
    for task in tasks(settings):
        size, told = sizes.get(task.name), manifest["shards"].get(task.name)
        if task.name in irregular:
            raise RefusedError(f"{store}/{task.name} is {irregular[task.name]}: put the file itself there, or move it away")
        if size is None:
            if told is not None:
                manifest["complete"] = False
            missing.append(task)
        elif told is None:  # whole, but the job was killed before it could write it down
            with store.reading(task.name, size) as path:
                manifests.enter(manifest, task, entry(path, settings, task))
        elif size != told["bytes"] or (isinstance(store, Directory) and checksum(store.path / task.name) != told["sha256"]):
            raise DamagedError(
                f"{store}/{task.name} does not match its checksum: move it away and run the same command again, which makes it"
            )
    return missing


def _note_timings(store: Directory | Remote, clock: Clock, wall: float, workers: int, examples: int) -> None:
    """Append this run to timings.json."""
    runs = timings.load(store)
    busy = sum(clock.seconds.values())
    shares = {stage: clock.seconds[stage] / busy if busy else 0.0 for stage in STAGES}
    runs.append({"examples": examples, "wall_seconds": wall, "workers": workers, "stage_seconds": clock.seconds, "stage_shares": shares})
    store.save_json(manifests.TIMINGS, {"runs": runs})


def is_disk_full(error: OSError) -> bool:
    """Whether an error of the operating system or of HDF5 says that the disk is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error) or f"errno = {errno.ENOSPC}" in str(error)
