"""Making the shards of a job: each is a piece of work for a pool. The bytes do not depend on the pool."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from simtown.core.files import DamagedError
from simtown.core.pool import Pool, Report
from simtown.core.untrusted import RefusedError
from simtown.datasets.checks import form
from simtown.datasets.settings import Settings
from simtown.datasets.shards import STAGES, Clock, ShardTask, checksum, write_shard
from simtown.datasets.stored import FormError, open_file, read_counts
from simtown.datasets.stores import Store
from simtown.render.frames import Renderer
from simtown.render.renderers import make_renderer

#: Receives the number of examples made, and the seconds of each stage, since the last call.
Progress = Callable[[int, dict[str, float]], None]
Entry = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """What is the same for all shards.

    Attributes:
        store: where they are written.
        settings: of the data set.
        device: what draws, "cpu" or "cuda".
    """

    store: Store
    settings: Settings
    device: str


def make_shards(
    pool: Pool, job: Job, missing: list[ShardTask], progress: Progress
) -> Generator[tuple[ShardTask, Entry], None, None]:
    """Make the missing shards; yields each, when it is whole, with its entry for the manifest.

    The pool may make a shard twice, on any machine: its bytes are always the same, and it appears whole. All
    machines of the pool must reach the store.
    """
    try:
        with closing(
            pool.map(_make, missing, (job,), lambda reported: progress(*reported), card=job.device == "cuda")
        ) as shards:
            yield from shards
    finally:
        _renderer.cache_clear()
        if missing:
            job.store.tidy()  # unfinished files of workers that were stopped or died


def entry(path: Path, settings: Settings, task: ShardTask) -> Entry:
    """The manifest's entry of a shard, with its summary.

    Raises:
        DamagedError: the file is not a shard, such as one that raises FormError.
        RefusedError: it is not a plain file.
    """
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
            f"{path} is damaged: it cannot be read as a shard ({error}); move it away and run the same "
            "command again"
        ) from error
    return {
        "sha256": checksum(path),
        "bytes": path.stat().st_size,
        "examples": task.count,
        "tried": tried,
        "summary": summary,
    }


def _make(task: ShardTask, report: Report, job: Job) -> Entry:
    """Make one shard in this process."""
    clock, reported = Clock(), dict.fromkeys(STAGES, 0.0)

    def progress(n: int) -> None:
        report((n, {s: clock.seconds[s] - reported[s] for s in STAGES}))
        reported.update(clock.seconds)

    with job.store.making(task.name) as directory:
        write_shard(directory, job.settings, task, _renderer(job.device), clock, progress)
        shard_entry = entry(directory / task.name, job.settings, task)
    progress(0)
    return shard_entry


@lru_cache(maxsize=1)
def _renderer(device: str) -> Renderer:
    """A process keeps it for its next shard."""
    return make_renderer(device)
