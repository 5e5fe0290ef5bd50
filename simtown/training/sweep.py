"""A grid of runs: makes its data sets, runs what is missing, and continues where it was stopped."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from simtown.complexity import cells
from simtown.core.callbacks import ProgressCallback
from simtown.core.cluster import Cluster
from simtown.core.files import DamagedError, ForeignDirectoryError, claimed, save_json
from simtown.core.pool import Processes
from simtown.core.processes import Outcome, WorkerError, default_workers, environment
from simtown.core.untrusted import inside
from simtown.datasets import manifests
from simtown.datasets.generate import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.training import identity, run_directory
from simtown.training.fit import FitCallback
from simtown.training.plan import SizeCurve, SweepCell, SweepPlan
from simtown.training.schedule import Schedule

DATA, RUNS = "data", "runs"
#: How often a run is begun again where a machine of the cluster died under it, before it counts as failed.
RETRIES = 3


class SweepCallback(Protocol):
    """Receives the progress of a sweep."""

    def on_change(self, cell: SweepCell, state: str, content: dict[str, Any]) -> None:
        """A cell is "waiting"; "running": a row of its metrics; "done": its run.json; "failed": {"error"}."""

    def on_note(self, line: str) -> None:
        """What the sweep does besides running cells, or what an adaptive one knows by now."""


def dataset_path(out: Path, settings: Settings) -> Path:
    """Where a sweep keeps a data set, such as data/15-distractor-seed3-60000; RefusedError for a link."""
    third = "-distractor" if settings.distractor else ""
    world = f"-world{settings.world_seed}" if settings.world_seed != settings.seed else ""
    return inside(out, f"{DATA}/{settings.entities}{third}-seed{settings.seed}{world}-{settings.n}")


def run_path(out: Path, cell: SweepCell) -> Path:
    """Where a sweep keeps a run, such as runs/pbn-15-2000-seed0; RefusedError for a link."""
    return inside(out, f"{RUNS}/{cell.name}")


def started_runs(plan: SweepPlan, out: Path, kept: Path | None = None) -> dict[str, dict[str, Any]]:
    """run.json of the plan's cells that were begun, by name: those in `out`, and those that `kept` holds.

    A run that cannot be read is left out. It fails when it is its turn, and harms no other.

    Raises:
        ForeignDirectoryError: a run has other settings than the plan; the message names it and both values.
        DamagedError: a kept cell cannot be read.
        RefusedError: a symbolic link has the place of a data set, a run or a cell.
    """
    for settings in plan.data():
        dataset_path(out, settings)  # refused before anything is written
    runs: dict[str, dict[str, Any]] = {}
    for cell in plan.cells:
        directory = run_path(out, cell)
        with contextlib.suppress(FileNotFoundError, DamagedError, ForeignDirectoryError):
            runs[cell.name] = run_directory.load(directory)
        if cell.name in runs:
            _require_same(cell, runs[cell.name], directory)
        if kept is not None and (path := cells.path_of(kept, cell.name)).exists():
            run, _ = cells.load(path)
            _require_same(cell, run, path, any_device=True)  # it is finished
            if not _done(runs.get(cell.name)):
                runs[cell.name] = run
    return runs


def _require_same(cell: SweepCell, run: dict[str, Any], place: Path, any_device: bool = False) -> None:
    """Raises ForeignDirectoryError if a run has other settings than its cell."""
    if differ := identity.other_settings(run, cell.fit, cell.data, any_device):
        seeds = any(change.startswith("data.seed") for change in differ)
        hint = " (`same_data` says whether all seeds share one data set)" if seeds else ""
        raise ForeignDirectoryError(
            f"{place} holds a run with other settings: {'; '.join(differ)}; give its settings, or another "
            f"directory{hint}"
        )


def _done(run: Mapping[str, Any] | None) -> bool:
    return run is not None and run["status"] == "done"


class SweepData:
    """The data sets of a sweep: each is made when a cell needs it, and compared with the runs begun on it.

    `progress_of(title)` makes a context manager that gives a callback, for each data set.

    Args:
        begun: as :func:`started_runs` returns it.
        cluster: makes the data sets if given.
    """

    def __init__(
        self, plan: SweepPlan, out: Path, begun: Mapping[str, dict[str, Any]], cluster: Cluster | None = None
    ) -> None:
        self._plan, self._out, self._begun, self._cluster = plan, out, begun, cluster
        self._ready: set[Settings] = set()

    def make(self, settings: Settings, progress_of: Any) -> None:
        """Make what is missing of a data set, then compare it."""
        if settings not in self._ready:
            path = dataset_path(self._out, settings)
            with progress_of(f"data {path.name}") as progress:
                generate(settings, path, callback=progress, pool=self._cluster)
            self.compare(settings, progress_of)

    def is_complete(self, settings: Settings) -> bool:
        """Whether a data set is there in full. Raises ForeignDirectoryError if one of other settings is."""
        path = dataset_path(self._out, settings)
        try:
            manifest = manifests.load(path)
        except FileNotFoundError:
            return False
        manifests.require_settings(str(path), manifest, settings)
        return bool(manifest["complete"])

    def compare(self, settings: Settings, progress_of: Any) -> None:
        """Raises ForeignDirectoryError if a run that was begun read other examples than a data set has."""
        readers = [c for c in self._plan.cells if c.data == settings and c.name in self._begun]
        self._ready.add(settings)
        if not readers:
            return
        dataset = open_dataset(dataset_path(self._out, settings))
        sizes = {cell.fit.train_size for cell in readers}
        with progress_of(f"compare {dataset.path.name}") as progress:
            progress.on_begin(max(sizes) + len(dataset.val) + len(dataset.test))
            examples = identity.examples_read(dataset, sizes, progress.on_progress)
        for cell in readers:
            if others := identity.other_examples(self._begun[cell.name], examples[cell.fit.train_size]):
                raise ForeignDirectoryError(
                    f"the run {cell.name} read {others} than {dataset.path} has; give another `out`"
                )


def begin(
    plan: SweepPlan, out: Path, progress_of: Any, cluster: Cluster | None = None, kept: Path | None = None
) -> tuple[dict[str, Any], SweepData]:
    """Compare the runs that were begun with the plan and with the data sets that are there.

    Args:
        plan: of the sweep.
        out: its directory.
        progress_of: as in :class:`SweepData`.
        cluster: makes the data sets; by default this machine does.
        kept: folder of cells that were finished elsewhere.

    Returns:
        run.json of the cells that are done, by name; and the data sets, each made when the first cell needs
        it.

    Raises:
        ForeignDirectoryError: a data set or a run has other settings than the plan, or a run read other
            examples.
    """
    begun = started_runs(plan, out, kept)
    data = SweepData(plan, out, begun, cluster)
    for settings in [settings for settings in plan.data() if data.is_complete(settings)]:
        data.compare(settings, progress_of)
    return {name: run for name, run in begun.items() if _done(run)}, data


def sweep(
    plan: SweepPlan,
    out: Path,
    done: dict[str, dict[str, Any]],
    data: SweepData,
    jobs: int,
    callback: SweepCallback,
    cluster: Cluster | None = None,
    kept: Path | None = None,
) -> Outcome:
    """Run the cells of a plan that are not done; of an adaptive plan those that its targets need.

    The numbers are those of running the cells alone. A cell that fails, or whose process dies, does not stop
    the others, and is tried again by the next call.

    Args:
        plan: of the sweep.
        out: its directory.
        done: as :func:`begin` returns it.
        data: as :func:`begin` returns it.
        jobs: worker processes, each of which takes one cell after another.
        callback: receives the progress.
        cluster: its machines take the cells instead, a processor each, and reach `out` under the same path.
        kept: folder to which every finished cell is added.
    """
    with claimed(out, "simtown sweep"):
        save_json(
            out / "sweep.json",
            {"preset": plan.preset, "targets": plan.targets, "cells": [cell.name for cell in plan.cells]},
        )
        for cell in plan.cells:
            if cell.name in done:
                callback.on_change(cell, "done", done[cell.name])
                _keep(cell, out, kept)
            elif not plan.targets:
                callback.on_change(cell, "waiting", {})
        schedule = Schedule(plan, {name: run["test"]["accuracy"] for name, run in done.items()})
        queue = _Queue(schedule, data, callback)
        at_once = jobs if plan.targets else max(1, min(jobs, len(plan.cells) - len(done)))
        # not by the cells that are left: with other threads a run has other last digits
        threads = 1 if cluster else max(1, default_workers() // jobs)
        outcomes = (cluster or Processes(at_once)).outcomes(
            _fit,
            queue,
            (str(out.resolve() if cluster else out), os.getcwd(), threads, None if cluster else at_once),
            lambda cell, row: callback.on_change(cell, "running", row),
            card=any(cell.fit.device == "cuda" for cell in plan.cells),
            retries=RETRIES,
        )
        finished, failed = 0, {}
        limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), str(threads))
        with environment(**limits), contextlib.closing(outcomes):
            for cell, result in outcomes:
                if isinstance(result, Exception):
                    name = "" if isinstance(result, WorkerError) else f"{type(result).__name__}: "
                    failed[cell.name] = f"{name}{result}"
                    callback.on_change(cell, "failed", {"error": failed[cell.name]})
                    schedule.ended(cell, None)
                else:
                    finished += 1
                    callback.on_change(cell, "done", result)
                    _keep(cell, out, kept)
                    schedule.ended(cell, result["test"]["accuracy"])
                queue.note()
        return Outcome(len(done), finished, failed)


def _keep(cell: SweepCell, out: Path, kept: Path | None) -> None:
    """Add a finished cell to the folder of kept ones, if it is not there yet."""
    if kept is not None and not cells.path_of(kept, cell.name).exists():
        cells.save(run_path(out, cell), kept)


class _Queue(Iterator[SweepCell]):
    """Cells whose turn it is, their data made.

    An adaptive sweep's queue may be empty now, and hold others when a cell has ended.
    """

    def __init__(self, schedule: Schedule, data: SweepData, callback: SweepCallback) -> None:
        self._schedule, self._data, self._callback = schedule, data, callback
        self._open = self._open_searches()

    def __next__(self) -> SweepCell:
        cell = self._schedule.take()
        if cell is None:
            raise StopIteration
        self._data.make(cell.data, self._silently)
        self._callback.on_change(cell, "waiting", {})
        return cell

    @contextlib.contextmanager
    def _silently(self, title: str) -> Iterator[ProgressCallback]:
        self._callback.on_note(title)
        yield ProgressCallback()

    def note(self) -> None:
        """Report the searches that have come nearer to their ends."""
        before, self._open = self._open, self._open_searches()
        for (target, curve), line in before.items():
            now = self._schedule.describe(target, curve)
            if (target, curve) not in self._open:
                searches = len(list(self._schedule.searches()))
                now += f"; {self._schedule.over()} of {searches} searches are over"
            if now != line:
                self._callback.on_note(now)

    def _open_searches(self) -> dict[tuple[float, SizeCurve], str]:
        """What is known of the searches that need more runs."""
        return {
            (target, curve): self._schedule.describe(target, curve)
            for target, curve, _ in self._schedule.open_searches()
        }


class _Reporter(FitCallback):
    """Reports the validations of a fit to the process of the sweep."""

    def __init__(self, report: Callable[[dict[str, Any]], None]) -> None:
        self._report = report

    def on_validation(self, row: dict[str, float], best: dict[str, float]) -> None:
        self._report({**row, "best": best["val_accuracy"]})


def _fit(
    cell: SweepCell,
    report: Callable[[dict[str, Any]], None],
    out: str,
    home: str,
    threads: int,
    beside: int | None,
) -> dict[str, Any]:
    """In a worker: one run, continued if it was begun; its run.json.

    `home`: the user's working directory, where a model of their own lies. `beside` runs share the memory of
    this machine; None: one a processor.
    """
    import torch

    from simtown.training.fit import fit
    from simtown.training.models import MODELS, search

    if cell.fit.model not in MODELS:
        search(home)
    torch.set_num_threads(threads)
    return fit(
        cell.fit,
        dataset_path(Path(out), cell.data),
        run_path(Path(out), cell),
        _Reporter(report),
        beside=beside or default_workers(),
    )
