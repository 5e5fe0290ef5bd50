"""A grid of runs: makes the data it needs, runs what is missing in worker processes, goes on where it was stopped."""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

from simtown.cluster import Cluster
from simtown.datasets import manifest as manifests
from simtown.datasets.job import Silent, generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings, differences
from simtown.files import DamagedError, ForeignDirectoryError, claimed, inside, save_json
from simtown.pool import OnCluster
from simtown.processes import Outcome, WorkerError, default_workers, environment, team
from simtown.training import cells, identity
from simtown.training import run as runs
from simtown.training.pace import Pace
from simtown.training.plan import Cell, Curve, Plan
from simtown.training.schedule import Schedule

DATA, RUNS = "data", "runs"
#: How often a run is begun again where a machine of the cluster died under it, before it counts as failed.
RETRIES = 3
#: Runs that an error names; it counts the others.
_NAMED = 3


#: How a cell ended: "done" and its run.json, or "failed" and {"error": what went wrong}.
Ended = tuple[Cell, Literal["done", "failed"], dict[str, Any]]


class Watcher(Protocol):
    """Receives the progress of a sweep."""

    def changed(self, cell: Cell, state: str, told: dict[str, Any]) -> None:
        """A cell is "waiting", "running" (`told`: a row of its metrics), "done" (`told`: its run.json) or "failed" (`told`: error)."""
        ...

    def noted(self, line: str) -> None:
        """What the sweep does besides running cells, or what an adaptive one knows by now."""
        ...


def dataset_path(out: Path, settings: Settings) -> Path:
    """Where a sweep keeps a data set, such as data/15-distractor-seed3-60000. Raises RefusedError if a link on the way leads elsewhere."""
    third = "-distractor" if settings.distractor else ""
    world = f"-world{settings.world_seed}" if settings.world_seed != settings.seed else ""
    return inside(out, f"{DATA}/{settings.entities}{third}-seed{settings.seed}{world}-{settings.n}")


def run_path(out: Path, cell: Cell) -> Path:
    """Where a sweep keeps a run, such as runs/pbn-15-2000-seed0. Raises RefusedError if a link on the way leads elsewhere."""
    return inside(out, f"{RUNS}/{cell.name}")


def begun(plan: Plan, out: Path, kept: Path | None = None) -> dict[str, dict[str, Any]]:
    """run.json of the plan's cells that were begun, by name: those in `out`, and those that a folder `kept` holds (see `cells`).

    A run that cannot be read is left out: what is wrong with it is told when it is its turn, and harms no other.

    Raises:
        ForeignDirectoryError: some of them have other settings than the plan; the message names both.
        DamagedError: a kept cell cannot be read. RefusedError: a symbolic link has the place of a data set, a run or a cell.
    """
    for settings in plan.data():
        dataset_path(out, settings)  # refused before anything is written
    found: dict[str, dict[str, Any]] = {}
    others: dict[Path, dict[str, list[str]]] = {}

    def enter(cell: Cell, run: dict[str, Any], place: Path) -> None:
        found[cell.name] = run
        if differ := identity.other_settings(run, cell.fit, cell.data):
            others.setdefault(place, {}).setdefault("; ".join(differ), []).append(cell.name)

    for cell in plan.cells:
        directory = run_path(out, cell)
        with contextlib.suppress(FileNotFoundError, DamagedError, ForeignDirectoryError):
            enter(cell, runs.load(directory), out / RUNS)
        if kept is not None and not _done(found.get(cell.name)) and cells.path_of(kept, cell.name).exists():
            enter(cell, cells.load(cells.path_of(kept, cell.name))[0], kept)
    for place, names in others.items():
        shared = " (--same-data says whether all seeds share one data set)" if any("data.seed" in differ for differ in names) else ""
        option = "--resume-from" if place == kept else "--out"
        raise ForeignDirectoryError(
            f"{place} holds {_counted(names)} with other settings: {_named(names)}; give the settings they were made with, "
            f"or another {option}{shared}"
        )
    return found


def _done(run: Mapping[str, Any] | None) -> bool:
    return run is not None and run["status"] == "done"


def _counted(others: Mapping[str, list[str]]) -> str:
    """How many runs differ; `others`: their names, by that in which they do."""
    count = sum(map(len, others.values()))
    return f"{count} run{'s' * (count != 1)}"


def _named(others: Mapping[str, list[str]]) -> str:
    return "; ".join(f"{differ} ({_some(names)})" for differ, names in others.items())


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


class Data:
    """The data sets of a sweep: each is made when a cell needs it, and compared with the runs that were begun on it.

    Args:
        begun: as :func:`begun` returns it.
        cluster: makes the data sets if given.
    """

    def __init__(self, plan: Plan, out: Path, begun: Mapping[str, dict[str, Any]], cluster: Cluster | None = None) -> None:
        self._out, self._begun, self._cluster = out, begun, cluster
        self._readers: dict[Settings, list[Cell]] = defaultdict(list)
        for cell in plan.cells:
            if cell.name in begun:
                self._readers[cell.data].append(cell)
        self._made: set[Settings] = set()
        self._compared: set[Settings] = set()

    def make(self, settings: Settings, watcher: Any) -> None:
        """Make what is missing of a data set, then compare it.

        Args:
            watcher: watcher(title) makes a context manager and data watcher.

        Raises:
            ForeignDirectoryError: see :meth:`compare`. Others: see :func:`simtown.datasets.job.generate`.
        """
        if settings not in self._made:
            path = dataset_path(self._out, settings)
            with watcher(f"data {path.name}") as progress:
                generate(settings, path, watcher=progress, pool=OnCluster(self._cluster) if self._cluster else None)
            self._made.add(settings)
            self.compare(settings, watcher)

    def made(self, settings: Settings) -> bool:
        """Whether a data set is there in full. Raises ForeignDirectoryError if one of other settings is."""
        path = dataset_path(self._out, settings)
        try:
            manifest = manifests.load(path)
        except FileNotFoundError:
            return False
        if differ := differences(manifest["settings"], json.loads(json.dumps(settings.resolved()))):
            raise ForeignDirectoryError(
                f"{path} holds a data set of other settings: {'; '.join(differ)}; give another --out or the same settings"
            )
        return bool(manifest["complete"])

    def compare(self, settings: Settings, watcher: Any) -> None:
        """Raises ForeignDirectoryError if a run that was begun read other examples than a data set has. `watcher` as for :meth:`make`."""
        readers = self._readers[settings]
        if not readers or settings in self._compared:
            return
        dataset, sizes = open_dataset(dataset_path(self._out, settings)), {cell.fit.train_size for cell in readers}
        with watcher(f"compare {dataset.path.name}") as progress:
            progress.started(max(sizes) + len(dataset.val) + len(dataset.test), 0)
            examples = identity.examples_read(dataset, sizes, partial(_advance, progress))
        others = defaultdict(list)
        for cell in readers:
            if other := identity.other_examples(self._begun[cell.name], examples[cell.fit.train_size], dataset):
                others[other].append(cell.name)
        if others:
            raise ForeignDirectoryError(f"{_counted(others)} read {_named(others)} than {dataset.path} has; give another --out")
        self._compared.add(settings)


def _advance(progress: Any, examples: int) -> None:
    progress.advanced(examples, {})


def begin(plan: Plan, out: Path, watcher: Any, cluster: Cluster | None = None, kept: Path | None = None) -> tuple[dict[str, Any], Data]:
    """Everything before the first run: refuse what cannot go on, and compare the runs that were begun with the data sets that are there.

    Args:
        watcher: watcher(title) makes a context manager and data watcher for each data set.
        kept: folder of cells that were finished elsewhere.

    Returns:
        run.json of the cells that are done, by name; and the data sets, each made when the first cell needs it.

    Raises:
        ForeignDirectoryError: a data set or a run has other settings than the plan, or a run read other examples.
    """
    runs_begun = begun(plan, out, kept)
    data = Data(plan, out, runs_begun, cluster)
    for settings in [settings for settings in plan.data() if data.made(settings)]:
        data.compare(settings, watcher)
    return {name: run for name, run in runs_begun.items() if _done(run)}, data


def sweep(
    plan: Plan,
    out: Path,
    done: dict[str, dict[str, Any]],
    data: Data,
    jobs: int,
    watcher: Watcher,
    cluster: Cluster | None = None,
    kept: Path | None = None,
) -> Outcome:
    """Run the cells of a plan that are not done; of an adaptive plan those that its targets need.

    Each of `jobs` worker processes takes one cell after another; the numbers are those of running them alone. A cell that fails, or
    whose process dies, does not stop the others, and is tried again by the next call. With a `cluster` its machines take the cells
    instead, a processor each; all of them must reach `out` under the same path.

    Args:
        done, data: as :func:`begin` returns them.
        kept: folder to which every finished cell is added.
    """
    with claimed(out, "simtown sweep"):
        save_json(out / "sweep.json", {"preset": plan.preset, "targets": plan.targets, "cells": [cell.name for cell in plan.cells]})
        for cell in plan.cells:
            if cell.name in done:
                watcher.changed(cell, "done", done[cell.name])
                _keep(cell, out, kept)
            elif not plan.targets:
                watcher.changed(cell, "waiting", {})
        schedule = Schedule(plan, {name: run["test"]["accuracy"] for name, run in done.items()})
        queue = _Queue(schedule, data, watcher)
        at_once = jobs if plan.targets else max(1, min(jobs, len(plan.cells) - len(done)))
        now, failed = 0, {}
        ends = _on_cluster(queue, out, cluster) if cluster else _run(queue, out, at_once, watcher)
        with contextlib.closing(ends):
            for cell, state, told in ends:
                watcher.changed(cell, state, told)
                if state == "done":
                    now += 1
                    _keep(cell, out, kept)
                    schedule.ended(cell, told["test"]["accuracy"])
                else:
                    failed[cell.name] = told["error"]
                    schedule.ended(cell, None)
                queue.note()
        return Outcome(len(done), now, failed)


def _keep(cell: Cell, out: Path, kept: Path | None) -> None:
    """Add a finished cell to the folder of kept ones, if it is not there yet."""
    if kept is not None and not cells.path_of(kept, cell.name).exists():
        cells.save(run_path(out, cell), kept)


class _Queue(Iterator[Cell]):
    """Cells whose turn it is, their data made. An adaptive sweep's queue may be empty now, and hold others when a cell has ended."""

    def __init__(self, schedule: Schedule, data: Data, watcher: Watcher) -> None:
        self._schedule, self._data, self._watcher = schedule, data, watcher
        self._open = self._open_searches()

    def __next__(self) -> Cell:
        cell = self._schedule.take()
        if cell is None:
            raise StopIteration
        self._data.make(cell.data, self._silently)
        self._watcher.changed(cell, "waiting", {})
        return cell

    @contextlib.contextmanager
    def _silently(self, title: str) -> Iterator[Silent]:
        self._watcher.noted(title)
        yield Silent()

    def note(self) -> None:
        """Tell the watcher about the searches that have come nearer to their ends."""
        before, self._open = self._open, self._open_searches()
        for (target, curve), line in before.items():
            now = self._schedule.describe(target, curve)
            if (target, curve) not in self._open:
                now += f"; {self._schedule.over()} of {len(list(self._schedule.searches()))} searches are over"
            if now != line:
                self._watcher.noted(now)

    def _open_searches(self) -> dict[tuple[float, Curve], str]:
        """What is known of the searches that need more runs."""
        return {(target, curve): self._schedule.describe(target, curve) for target, curve, _ in self._schedule.open_searches()}


def _run(queue: Iterator[Cell], out: Path, jobs: int, watcher: Watcher) -> Generator[Ended, None, None]:
    """Run the cells of a queue in worker processes; yields each as it ends."""
    with _threads(jobs), contextlib.closing(team(_fit_in_worker, queue, (str(out), jobs), jobs)) as events:
        for cell, kind, content in events:
            if kind == "told":
                watcher.changed(cell, "running", content)
            elif kind == "died":
                yield cell, "failed", {"error": f"its process {content}"}
            else:
                yield cell, *content


def _on_cluster(queue: Iterator[Cell], out: Path, cluster: Cluster) -> Generator[Ended, None, None]:
    """The same on the machines of a cluster: round by round, all cells that are in the queue at once."""
    while ready := list(queue):
        card = any(cell.fit.device == "cuda" for cell in ready)
        for cell, told in cluster.map(_fit_there, ready, (str(out.resolve()), os.getcwd()), card, RETRIES):
            if isinstance(told, Exception):
                yield cell, "failed", {"error": str(told) if isinstance(told, WorkerError) else f"{type(told).__name__}: {told}"}
            else:
                yield cell, "done", told


def _fit_there(cell: Cell, out: str, home: str) -> dict[str, Any]:
    """On a machine of the cluster: one run on one thread, from where it was left; what its run.json says.

    A model of the person's own lies where the person called: in the directory `home`.
    """
    import torch

    from simtown.training.fit import fit
    from simtown.training.models import MODELS, search

    if cell.fit.model not in MODELS:
        search(home)

    torch.set_num_threads(1)
    return fit(cell.fit, dataset_path(Path(out), cell.data), run_path(Path(out), cell))


@contextlib.contextmanager
def _threads(jobs: int) -> Iterator[None]:
    """Processes started here share the processors: several of one thread get more done than one of several."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    with environment(**dict.fromkeys(names, str(max(1, default_workers() // jobs)))):
        yield


class _Reporter:
    """A fit's watcher that tells the parent."""

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self.tell = tell

    def compared(self, examples: int, of: int) -> None: ...

    def noted(self, line: str) -> None: ...

    def stepped(self, examples: int) -> None: ...

    def paced(self, pace: Pace) -> None: ...

    def validated(self, row: dict[str, float], best: dict[str, float]) -> None:
        self.tell({**row, "best": best["val_accuracy"]})


def _fit_in_worker(cell: Cell, tell: Callable[[dict[str, Any]], None], out: str, jobs: int) -> tuple[str, dict[str, Any]]:
    """In a worker process: one run; "done" and its run.json, or "failed" and the error."""
    import torch

    from simtown.training.fit import fit

    torch.set_num_threads(max(1, default_workers() // jobs))
    try:
        return "done", fit(cell.fit, dataset_path(Path(out), cell.data), run_path(Path(out), cell), _Reporter(tell))
    except Exception as error:
        return "failed", {"error": f"{type(error).__name__}: {error}"}
