"""Making the shards of a job: each is a piece of work for a pool. Whoever works, the bytes are the same."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from simtown.datasets.checks import form
from simtown.datasets.settings import Settings
from simtown.datasets.shards import STAGES, Clock, Task, checksum, write_shard
from simtown.datasets.stored import FormError, open_file, read_counts
from simtown.datasets.stores import Store
from simtown.files import DamagedError, RefusedError
from simtown.pool import Pool, Report
from simtown.render.engines import rasteriser
from simtown.render.frames import Renderer

#: Receives the number of examples that were made and the seconds of each stage since the last call.
Progress = Callable[[int, dict[str, float]], None]
Entry = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """What is the same for all shards: where they go, what they are made of, and what draws ("cpu" or "cuda")."""

    store: Store
    settings: Settings
    device: str


def make_shards(pool: Pool, job: Job, missing: list[Task], progress: Progress) -> Generator[tuple[Task, Entry], None, None]:
    """Make the missing shards; yields each, when it is whole, with its entry of the manifest.

    The pool may make a shard again, anywhere: it is whole or not there, and its bytes are always the same. The store must be one that
    all machines of the pool reach.
    """
    try:
        with closing(pool.map(_make, missing, (job,), lambda made: progress(*made), card=job.device == "cuda")) as shards:
            yield from shards
    finally:
        _renderer.cache_clear()
        if missing:
            job.store.tidy()  # what workers that were stopped, or died with their machines, had begun


def entry(path: Path, settings: Settings, task: Task) -> Entry:
    """What the manifest says of a shard, and its summary. Raises DamagedError for a file that is none, RefusedError for no plain file."""
    try:
        with open_file(path) as file:
            wrong = form.wrong_arrays(file, settings, task)
            if wrong:
                raise FormError(wrong[0].kind)
            tried, summary = read_counts(file)
    except RefusedError:
        raise
    except (OSError, KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        raise DamagedError(
            f"{path} is damaged: it cannot be read as a shard ({error}); move it away and run the same command again"
        ) from error
    return {"sha256": checksum(path), "bytes": path.stat().st_size, "examples": task.count, "tried": tried, "summary": summary}


def _make(task: Task, report: Report, job: Job) -> Entry:
    """Make one shard, here."""
    clock, told = Clock(), dict.fromkeys(STAGES, 0.0)

    def progress(n: int) -> None:
        report((n, {s: clock.seconds[s] - told[s] for s in STAGES}))
        told.update(clock.seconds)

    with job.store.making(task.name) as directory:
        write_shard(directory, job.settings, task, _renderer(job.device), clock, progress)
        made = entry(directory / task.name, job.settings, task)
    progress(0)
    return made


@lru_cache(maxsize=1)
def _renderer(device: str) -> Renderer:
    """Kept by a process from one shard to the next."""
    return rasteriser(device)
