"""Who makes the shards of a job: processes of this machine, or a Ray cluster. Both give the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from simtown.cluster import Cluster
from simtown.datasets.checks import form
from simtown.datasets.settings import Settings, SettingsError
from simtown.datasets.shards import STAGES, Clock, Task, checksum, write_shard
from simtown.datasets.stored import FormError, open_file, read_counts
from simtown.datasets.stores import Store
from simtown.files import DamagedError, RefusedError
from simtown.language.sampler import ImpossibleError
from simtown.processes import WorkerError, team
from simtown.render.engines import CardError, rasteriser
from simtown.render.frames import Renderer

#: Told of examples that were made and the seconds of each stage since the last call.
Tell = Callable[[int, dict[str, float]], None]
Entry = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """What is the same for all shards: where they go, what they are made of, and what draws ("cpu" or "cuda")."""

    store: Store
    settings: Settings
    device: str


class Engine(Protocol):
    """Makes shards. It may call for any of them again, anywhere: a shard is whole or not there, and its bytes are always the same."""

    @property
    def workers(self) -> int:
        """How many shards are made at once at most."""
        ...

    def make(self, job: Job, missing: list[Task], tell: Tell) -> Generator[tuple[Task, Entry], None, None]:
        """Make the missing shards; yields each, when it is whole, with its entry of the manifest."""
        ...


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


def _make(job: Job, task: Task, renderer: Renderer, tell: Tell) -> Entry:
    """Make one shard, here."""
    clock, told = Clock(), dict.fromkeys(STAGES, 0.0)

    def progress(n: int) -> None:
        tell(n, {s: clock.seconds[s] - told[s] for s in STAGES})
        told.update(clock.seconds)

    with job.store.making(task.name) as directory:
        write_shard(directory, job.settings, task, renderer, clock, progress)
        made = entry(directory / task.name, job.settings, task)
    progress(0)
    return made


class Processes:
    """Worker processes of this machine; one makes its shards in this process."""

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise SettingsError(f"--workers must be at least 1, not {workers}")
        self.workers = workers

    def make(self, job: Job, missing: list[Task], tell: Tell) -> Generator[tuple[Task, Entry], None, None]:
        """See :class:`Engine`."""
        many = min(self.workers, len(missing))
        if many > 1:
            yield from _team(job, missing, many, tell)
        elif missing:
            renderer = rasteriser(job.device)
            for task in missing:
                yield task, _make(job, task, renderer, tell)


def _team(job: Job, missing: list[Task], workers: int, tell: Tell) -> Generator[tuple[Task, Entry], None, None]:
    try:
        with closing(team(_work, missing, (job,), workers)) as events:
            for task, kind, content in events:
                if kind == "died":
                    raise WorkerError(f"a worker process {content}: run the same command again to continue")
                if kind == "told":
                    tell(*content)
                elif isinstance(content, Exception):
                    raise content
                else:
                    yield task, content
    finally:
        job.store.tidy()  # what workers that were killed had begun


def _work(task: Task, report: Callable[[tuple[int, dict[str, float]]], None], job: Job) -> Entry | Exception:
    """In a worker process: make one shard; its entry, or why there is none."""
    try:
        return _make(job, task, _renderer(job.device), lambda n, seconds: report((n, seconds)))
    except Exception as error:
        return _portable(error)


def _portable(error: Exception) -> Exception:
    """An exception that can be sent to another process and says there what it says here."""
    if isinstance(error, (ImpossibleError, SettingsError, CardError, MemoryError)):
        return error
    return OSError(error.errno, str(error)) if isinstance(error, OSError) else WorkerError(f"{type(error).__name__}: {error}")


class OnCluster:
    """A Ray cluster: every shard is a piece of work of one processor. The store must be one that all its machines reach."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @property
    def workers(self) -> int:
        """See :class:`Engine`."""
        return self.cluster.size()

    def make(self, job: Job, missing: list[Task], tell: Tell) -> Generator[tuple[Task, Entry], None, None]:
        """See :class:`Engine`."""
        try:
            with closing(self.cluster.map(_piece, missing, (job,), card=job.device == "cuda")) as results:
                for task, result in results:
                    if isinstance(result, Exception):
                        raise result
                    made, seconds = result
                    tell(task.count, seconds)
                    yield task, made
        finally:
            job.store.tidy()  # what workers that were stopped, or died with their machines, had begun


@lru_cache(maxsize=1)
def _renderer(device: str) -> Renderer:
    """Kept by a worker from one shard to the next."""
    return rasteriser(device)


def _piece(task: Task, job: Job) -> tuple[Entry, dict[str, float]]:
    """On a machine of the cluster: the shard's entry, and the seconds of each stage."""
    seconds = dict.fromkeys(STAGES, 0.0)

    def tell(n: int, more: dict[str, float]) -> None:
        for stage in STAGES:
            seconds[stage] += more[stage]

    try:
        return _make(job, task, _renderer(job.device), tell), seconds
    except Exception as error:
        raise _portable(error) from None
