"""Making a data set: worker processes make the shards that are missing, and the manifest lists them.

A shard is either whole under its own name or not there. So a job that was killed at any moment continues when
it is run again, and ends with the same bytes as a job that was never disturbed.
"""

from contextlib import closing
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

from simtown.core.amounts import split_counts
from simtown.core.callbacks import ProgressCallback
from simtown.core.disk_space import require_room
from simtown.core.files import DamagedError, ForeignDirectoryError
from simtown.core.notebook import Described, is_watched
from simtown.core.pool import Pool, Processes, Report
from simtown.core.processes import WorkerError, default_workers
from simtown.core.progress import Progress
from simtown.core.untrusted import RefusedError
from simtown.datasets.making import manifests
from simtown.datasets.making.shards import STAGES, Clock, ShardTask, checksum, tasks, write_shard
from simtown.datasets.reading.remote import DirectoryStore, Remote, is_leftover, store_of
from simtown.datasets.reading.shard_file import Entry, read_entry
from simtown.datasets.settings import Settings
from simtown.datasets.source import check_settings
from simtown.render.frames import Renderer
from simtown.render.renderers import make_renderer

__all__ = ["WorkerError", "generate"]

#: Saving the manifest takes at most about this share of a job's time, however many shards it lists.
MANIFEST_SHARE = 0.05
#: Pixels that are drawn before a second process, which takes seconds to start, would have helped.
WORTH_A_PROCESS = 1 << 27


def generate(
    settings: Settings,
    directory: str | Path,
    workers: int | None = None,
    callback: ProgressCallback | None = None,
    device: str = "cpu",
    pool: Pool | None = None,
) -> Described:
    """Make a data set, or what is missing of it. Returns its manifest, which shows itself as a sentence.

    Args:
        settings: what the data set is made of.
        directory: a path, or a URL that fsspec knows, such as s3://bucket/town.
        workers: number of processes; by default one a processor, and this one alone for little work.
        callback: receives the number of examples that are made, and the time of each stage. By default a
            terminal or a notebook shows it; ``ProgressCallback()`` is silent.
        device: what draws the pictures, "cpu" or "cuda".
        pool: makes the shards; by default processes of this machine. All its machines must reach `directory`.

    Raises:
        SettingsError: a setting is out of range.
        RoomError: the disk has too little room.
        ForeignDirectoryError: the directory holds something else, or a data set of other settings.
        DamagedError: a finished shard does not match its checksum.
        RefusedError: a shard is a link or not a regular file.
        ImpossibleError: some example cannot be sampled.
        CardError: the device is "cuda" and cannot be used.
        WorkerError: a worker died; what is written is kept.

    >>> import simtown
    >>> simtown.generate(simtown.Settings(entities=5, n=8, val=2, test=2), "town")
    town: 8 train + 2 val + 2 test examples, 0.3 MB in 3 shards
    """
    check_settings(settings)
    total = sum(settings.counts().values())
    if workers is None:
        workers = 1 if total * settings.width * settings.height < WORTH_A_PROCESS else default_workers()
    pool, store = pool or Processes(workers), store_of(directory)
    if callback is None and is_watched():
        with Progress(f"generate {store}") as progress_bar:
            return generate(settings, directory, workers, progress_bar, device, pool)
    callback = callback or ProgressCallback()
    with store.claimed("simtown generate"):
        store.tidy()
        old = begun(store, settings)
        manifest = old or manifests.fresh(settings)
        missing = _missing_shards(store, settings, manifest)
        missing_examples = sum(task.count for task in missing)
        if isinstance(store, DirectoryStore):
            require_room(store.path, missing_examples * settings.example_bytes)
        if not old:
            store.save_manifest(manifest)
        callback.on_begin(total, total - missing_examples)
        clock, start, save_after = Clock(), perf_counter(), 0.0

        def progress(report: tuple[int, dict[str, float]]) -> None:
            examples, seconds = report
            for stage in STAGES:
                clock.seconds[stage] += seconds[stage]
            callback.on_progress(examples, seconds)

        try:
            job = (store, settings, device)
            with closing(pool.map(_make_shard, missing, job, progress, card=device == "cuda")) as shards:
                for task, entry in shards:
                    manifests.enter(manifest, task, entry)
                    # not after each shard: the next run finds shards that the manifest does not list yet
                    if (now := perf_counter()) >= save_after:
                        store.save_manifest(manifest)
                        save_after = perf_counter() + (perf_counter() - now) / MANIFEST_SHARE
        finally:
            _renderer.cache_clear()
            if missing:
                store.tidy()  # unfinished files of workers that were stopped or died
        if not manifest["complete"]:
            manifest["acceptance"] = manifests.acceptance(manifest["shards"])
            manifest["complete"] = True
            store.save_manifest(manifest)
        if missing:
            _note_timings(store, clock, perf_counter() - start, pool.workers, missing_examples)
    megabytes = sum(entry["bytes"] for entry in manifest["shards"].values()) / 1e6
    amount = f"{megabytes:,.1f} MB in {len(manifest['shards'])} shards"
    return Described(manifest, f"{store}: {split_counts(settings.counts())}, {amount}")


def begun(store: DirectoryStore | Remote, settings: Settings) -> dict[str, Any] | None:
    """The manifest of the data set that was begun with these settings, None if the store is empty.

    Raises ForeignDirectoryError if the store holds anything else.
    """
    if isinstance(store, DirectoryStore) and not store.path.is_dir():
        if store.path.exists():
            raise ForeignDirectoryError(f"{store} is a file: give another `directory`")
        return None
    names = {name for name in store.listing()[0] if not is_leftover(name)}
    if not names:
        return None
    if manifests.NAME not in names:
        others = f"{store} holds other files ({min(names)}) and no simtown data set"
        raise ForeignDirectoryError(f"{others}: give another `directory`")
    manifest = store.load_manifest()
    manifests.require_settings(str(store), manifest, settings)
    made_by, this = manifest["simtown"], manifests.fresh(settings)["simtown"]
    if made_by != this and not manifest["complete"]:
        remedy = "finish it with that version or give another `directory`"
        raise ForeignDirectoryError(f"{store} was begun by simtown {made_by}, this is {this}: {remedy}")
    return manifest


def _missing_shards(
    store: DirectoryStore | Remote, settings: Settings, manifest: dict[str, Any]
) -> list[ShardTask]:
    """The shards still to be made; of the others, those behind a URL are checked by their size alone."""
    missing, (sizes, irregular) = [], store.listing()
    for task in tasks(settings):
        size, listed = sizes.get(task.name), manifest["shards"].get(task.name)
        if task.name in irregular:
            kind = irregular[task.name]
            raise RefusedError(f"{store}/{task.name} is {kind}: put the file itself there, or move it away")
        if size is None:
            if listed is not None:
                manifest["complete"] = False
            missing.append(task)
        elif listed is None:  # whole, but the job was killed before it saved the manifest
            with store.reading(task.name) as path:
                manifests.enter(manifest, task, read_entry(path, task))
        elif size != listed["bytes"] or (
            isinstance(store, DirectoryStore) and checksum(store.path / task.name) != listed["sha256"]
        ):
            remedy = "move it away and run the same command again, which makes it"
            raise DamagedError(f"{store}/{task.name} does not match its checksum: {remedy}")
    return missing


def _make_shard(
    task: ShardTask, report: Report, store: DirectoryStore | Remote, settings: Settings, device: str
) -> Entry:
    """A piece of work: make one shard, whole and always with the same bytes; returns its entry."""
    clock, reported = Clock(), dict.fromkeys(STAGES, 0.0)

    def progress(examples: int) -> None:
        report((examples, {stage: clock.seconds[stage] - reported[stage] for stage in STAGES}))
        reported.update(clock.seconds)

    with store.making(task.name) as directory:
        write_shard(directory, settings, task, _renderer(device), clock, progress=progress)
        entry = read_entry(directory / task.name, task)
    progress(0)
    return entry


@lru_cache(maxsize=1)
def _renderer(device: str) -> Renderer:
    """A process keeps it for its next shard."""
    return make_renderer(device)


def _note_timings(
    store: DirectoryStore | Remote, clock: Clock, wall: float, workers: int, examples: int
) -> None:
    """Append this run to timings.json."""
    busy = sum(clock.seconds.values()) or 1.0
    run = {
        "examples": examples,
        "wall_seconds": wall,
        "workers": workers,
        "stage_seconds": clock.seconds,
        "stage_shares": {stage: seconds / busy for stage, seconds in clock.seconds.items()},
    }
    try:
        runs = list(store.load_json(manifests.TIMINGS)["runs"])
    except (OSError, ValueError, KeyError, TypeError):  # there are none yet, or somebody changed the file
        runs = []
    store.save_json(manifests.TIMINGS, {"runs": [*runs, run]})
