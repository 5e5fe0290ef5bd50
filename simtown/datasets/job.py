"""The generation job: shards that are missing are made, by worker processes, and written down in the manifest.

A shard is either whole under its own name or not there. So a job that was killed at any moment continues when it is run
again, and ends with the bytes of one that was never disturbed.
"""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import queue
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from simtown.datasets import manifest as manifests
from simtown.datasets.settings import Settings, SettingsError, differences
from simtown.datasets.shards import STAGES, Clock, Task, checksum, read_tried, tasks, write_shard
from simtown.files import DamagedError, ForeignDirectoryError, claimed
from simtown.language.sampler import ImpossibleError
from simtown.processes import bind_to, default_workers, uninterrupted
from simtown.render.engines import CardError, rasteriser

#: Seconds after which a first start is announced as a compilation.
PATIENCE = 2.0


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


class WorkerError(RuntimeError):
    """A worker process died; what is written is kept."""


def generate(
    settings: Settings, directory: Path, workers: int | None = None, watcher: Watcher | None = None, device: str = "cpu"
) -> dict[str, Any]:
    """Make a data set in `directory`, or what is missing of it; returns the manifest. Draws on "cpu" or "cuda".

    Raises:
        SettingsError: a setting that cannot be. ForeignDirectoryError: the directory holds something else, or a data set of other
        settings (the message says which differ). DamagedError: a finished shard does not match its checksum.
        ImpossibleError: some example cannot be sampled. OSError: the directory cannot be written, or the disk is full.
        CardError: the device is "cuda" and cannot be used.
    """
    settings.check()
    workers = default_workers() if workers is None else workers
    if workers < 1:
        raise SettingsError(f"--workers must be at least 1, not {workers}")
    watcher = watcher or Silent()
    with claimed(directory, "simtown generate"):
        manifest = _begin(directory, settings)
        missing = _missing(directory, settings, manifest)
        done = sum(settings.counts().values()) - sum(t.count for t in missing)
        watcher.started(sum(settings.counts().values()), done)
        clock, begun = Clock(), perf_counter()
        for task in _run(directory, settings, missing, min(workers, len(missing)), watcher, clock, device):
            manifest["shards"][task.name] = _entry(directory / task.name, task)
            manifests.save(directory, manifest)
        if not manifest["complete"]:
            manifest["acceptance"] = _acceptance(manifest)
            manifest["complete"] = True
            manifests.save(directory, manifest)
        if missing:
            _note_timings(directory, clock, perf_counter() - begun, workers, sum(t.count for t in missing))
    return manifest


def _begin(directory: Path, settings: Settings) -> dict[str, Any]:
    """The directory's manifest: a fresh one in an empty directory, the one that is there if its settings are these."""
    for leftover in directory.iterdir():
        if _ours(leftover):
            leftover.unlink(missing_ok=True)
    if not (directory / manifests.NAME).exists():
        other = [p.name for p in directory.iterdir()]
        if other:
            raise ForeignDirectoryError(f"{directory} is not empty and holds no simtown data set ({other[0]}): give another --out")
        manifest = manifests.fresh(settings)
        manifests.save(directory, manifest)
        return manifest
    manifest = manifests.load(directory)
    now = json.loads(json.dumps(settings.resolved()))
    differ = differences(manifest["settings"], now)
    if differ:
        raise ForeignDirectoryError(
            f"{directory} holds a data set of other settings: {'; '.join(differ)}; give another --out or the same settings"
        )
    made_by, here = manifest["simtown"], manifests.fresh(settings)["simtown"]
    if made_by != here and not manifest["complete"]:
        raise ForeignDirectoryError(
            f"{directory} was begun by simtown {made_by}, this is {here}: finish it with that version or give another --out"
        )
    return manifest


def _ours(path: Path) -> bool:
    """Whether a file is a temporary one of a generation job that was killed."""
    return re.fullmatch(r"\.((train|val|test)-\d{5,}\.h5|manifest\.json|timings\.json|preview\.png)\.\d+\.tmp", path.name) is not None


def _missing(directory: Path, settings: Settings, manifest: dict[str, Any]) -> list[Task]:
    """Shards still to be made; those that are there are checked against the manifest, or entered into it."""
    missing = []
    for task in tasks(settings):
        path, entry = directory / task.name, manifest["shards"].get(task.name)
        if not path.exists():
            if entry is not None:
                manifest["complete"] = False
            missing.append(task)
        elif entry is None:  # whole, but the job was killed before it could write it down
            manifest["shards"][task.name] = _entry(path, task)
        elif path.stat().st_size != entry["bytes"] or checksum(path) != entry["sha256"]:
            raise DamagedError(f"{path} does not match its checksum: move it away and run the same command again to make it anew")
    return missing


def _entry(path: Path, task: Task) -> dict[str, Any]:
    try:
        tried = read_tried(path)
    except (OSError, KeyError, ValueError) as error:
        raise DamagedError(f"{path} is damaged ({error}): move it away and run the same command again") from error
    return {"sha256": checksum(path), "bytes": path.stat().st_size, "examples": task.count, "tried": tried}


def _acceptance(manifest: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Proposals, acceptances and their ratio of every rejection loop, over all shards."""
    out: dict[str, dict[str, float]] = {}
    for name in sorted(manifest["shards"]):
        for loop, (proposed, accepted) in manifest["shards"][name]["tried"].items():
            total = out.setdefault(loop, {"proposed": 0, "accepted": 0})
            total["proposed"] += proposed
            total["accepted"] += accepted
    for total in out.values():
        total["rate"] = total["accepted"] / max(total["proposed"], 1)
    return out


def _note_timings(directory: Path, clock: Clock, wall: float, workers: int, examples: int) -> None:
    """Append this run to timings.json."""
    path = directory / manifests.TIMINGS
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    except (OSError, ValueError, KeyError, TypeError):
        runs = []
    busy = sum(clock.seconds.values())
    shares = {stage: clock.seconds[stage] / busy if busy else 0.0 for stage in STAGES}
    runs.append({"examples": examples, "wall_seconds": wall, "workers": workers, "stage_seconds": clock.seconds, "stage_shares": shares})
    manifests.save(directory, {"runs": runs}, manifests.TIMINGS)


def _run(
    directory: Path, settings: Settings, missing: list[Task], workers: int, watcher: Watcher, clock: Clock, device: str
) -> Iterator[Task]:
    """Make the missing shards; yields each when it is whole."""
    if workers <= 1:
        yield from _run_here(directory, settings, missing, watcher, clock, device)
    else:
        yield from _run_workers(directory, settings, missing, workers, watcher, clock, device)


def _run_here(directory: Path, settings: Settings, missing: list[Task], watcher: Watcher, clock: Clock, device: str) -> Iterator[Task]:
    if not missing:
        return
    renderer = rasteriser(device)
    for task in missing:
        told = dict(clock.seconds)

        def progress(n: int, told: dict[str, float] = told) -> None:
            watcher.advanced(n, {s: clock.seconds[s] - told[s] for s in STAGES})
            told.update(clock.seconds)

        write_shard(directory, settings, task, renderer, clock, progress)
        yield task


def _run_workers(
    directory: Path, settings: Settings, missing: list[Task], workers: int, watcher: Watcher, clock: Clock, device: str
) -> Iterator[Task]:
    context = multiprocessing.get_context("spawn")
    todo, told = context.Queue(), context.Queue()
    for task in [*missing, *[None] * workers]:
        todo.put(task)
    arguments = (str(directory), asdict(settings), todo, told, os.getpid(), device)
    team = [context.Process(target=_work, args=arguments, daemon=True) for _ in range(workers)]
    with uninterrupted():
        for member in team:
            member.start()
    left = len(missing)
    try:
        while left:
            try:
                kind, content = told.get(timeout=1.0)
            except queue.Empty:
                codes = [m.exitcode for m in team if m.exitcode not in (None, 0)]
                if codes:
                    raise WorkerError(
                        f"a worker process ended with code {codes[0]} (out of memory?): run the same command again to continue"
                    ) from None
                continue
            if kind == "progress":
                examples, seconds = content
                for stage in STAGES:
                    clock.seconds[stage] += seconds[stage]
                watcher.advanced(examples, seconds)
            elif kind == "done":
                left -= 1
                yield content
            else:
                raise content
    finally:
        for member in team:
            if left:
                member.terminate()
        for member in team:
            member.join()
            for unfinished in directory.glob(f".*.{member.pid}.tmp"):
                unfinished.unlink(missing_ok=True)


def _work(directory: str, settings: dict[str, Any], todo: Any, told: Any, parent: int, device: str) -> None:
    """A worker process: takes tasks until there are none, or until its parent is gone."""
    if not bind_to(parent):
        return
    try:
        renderer = rasteriser(device)
        while (task := todo.get()) is not None:
            clock, last = Clock(), dict.fromkeys(STAGES, 0.0)

            def progress(n: int, clock: Clock = clock, last: dict[str, float] = last) -> None:
                if os.getppid() != parent:
                    os._exit(1)
                told.put(("progress", (n, {s: clock.seconds[s] - last[s] for s in STAGES})))
                last.update(clock.seconds)

            write_shard(Path(directory), Settings(**settings), task, renderer, clock, progress)
            progress(0)
            told.put(("done", task))
    except (ImpossibleError, SettingsError, CardError, MemoryError) as error:
        told.put(("error", error))
    except OSError as error:
        told.put(("error", OSError(error.errno, str(error))))
    except Exception as error:
        told.put(("error", WorkerError(f"{type(error).__name__}: {error}")))


def is_disk_full(error: OSError) -> bool:
    """Whether an error of the operating system or of HDF5 says that the disk is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error) or f"errno = {errno.ENOSPC}" in str(error)
