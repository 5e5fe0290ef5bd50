"""A grid of runs: makes its data sets, runs what is missing, and continues where it was stopped."""

import contextlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from simtown.complexity import cells
from simtown.core.callbacks import FitCallback, ProgressCallback, SweepCallback
from simtown.core.cluster import Cluster
from simtown.core.files import DamagedError, ForeignDirectoryError, claimed
from simtown.core.pool import Processes, Report
from simtown.core.processes import Outcome, WorkerError, default_workers, environment
from simtown.core.untrusted import inside
from simtown.datasets.making import manifests
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.training import identity, run_directory
from simtown.training.plan import SweepCell, SweepPlan
from simtown.training.schedule import Schedule

DATA, RUNS = "data", "runs"
#: How often a run is begun again where a machine of the cluster died under it, before it counts as failed.
RETRIES = 3


def dataset_path(out: Path, settings: Settings) -> Path:
    """The folder of a sweep's data set, such as data/15-distractor-seed3-60000; RefusedError for a link."""
    third = "-distractor" if settings.distractor else ""
    world = f"-world{settings.world_seed}" if settings.world_seed != settings.seed else ""
    return inside(out, f"{DATA}/{settings.entities}{third}-seed{settings.seed}{world}-{settings.n}")


def run_path(out: Path, cell: SweepCell) -> Path:
    """The folder of a sweep's run, such as runs/pbn-15-2000-seed0; RefusedError for a link."""
    return inside(out, f"{RUNS}/{cell.name}")


class Sweep:
    """The runs of a plan in a directory. Cells and data sets that were begun with other settings are refused.

    `kept` is a folder of cells that were finished elsewhere; every finished cell is added to it.

    Attributes:
        begun: run.json of the cells that were begun, by name. A run that cannot be read is not among them: it
            fails when it is its turn, and harms no other.

    Raises:
        ForeignDirectoryError: a run has other settings than the plan; the message names it and both values.
        DamagedError: a kept cell cannot be read.
        RefusedError: a symbolic link has the place of a data set, a run or a cell.
    """

    def __init__(self, plan: SweepPlan, out: Path, kept: Path | None = None) -> None:
        self.plan, self.out, self.kept = plan, out, kept
        self.begun: dict[str, dict[str, Any]] = {}
        self._compared: set[Settings] = set()
        self._table = cells.load_table(kept) if kept is not None else {}
        for settings in plan.data():
            dataset_path(out, settings)  # refused before anything is written
        for cell in plan.cells:
            directory = run_path(out, cell)
            with contextlib.suppress(FileNotFoundError, DamagedError, ForeignDirectoryError):
                self.begun[cell.name] = run_directory.load(directory)
            if cell.name in self.begun:
                _require_same(cell, self.begun[cell.name], directory)
            if kept is not None and self._is_kept(cell):
                path = cells.path_of(kept, cell.name)
                run, *_ = self._table[cell.name] if cell.name in self._table else cells.load(path)
                _require_same(cell, run, path, any_device=True)  # it is finished
                if cell.name not in self.done:
                    self.begun[cell.name] = run

    @property
    def done(self) -> dict[str, dict[str, Any]]:
        """run.json of the cells that are done, by name."""
        return {name: run for name, run in self.begun.items() if run["status"] == "done"}

    def compare(self, progress_of: Callable[[str], AbstractContextManager[ProgressCallback]]) -> None:
        """Compare the data sets that are there with the plan, and with what the runs read that were begun.

        Raises:
            ForeignDirectoryError: a data set has other settings than the plan, or a run read other examples.
        """
        for settings in self.plan.data():
            path = dataset_path(self.out, settings)
            try:
                manifest = manifests.load(path)
            except FileNotFoundError:
                continue
            manifests.require_settings(str(path), manifest, settings)
            if manifest["complete"]:
                with progress_of(f"compare {path.name}") as progress:
                    self._compare(settings, progress)

    def _compare(self, settings: Settings, progress: ProgressCallback) -> None:
        """Raises ForeignDirectoryError if a run that was begun read other examples than a data set has."""
        readers = [cell for cell in self.plan.cells if cell.data == settings and cell.name in self.begun]
        self._compared.add(settings)
        if not readers:
            return
        dataset = open_dataset(dataset_path(self.out, settings))
        sizes = {cell.fit.train_size for cell in readers}
        progress.on_begin(max(sizes) + len(dataset.val) + len(dataset.test))
        digests = identity.examples_read(dataset, sizes, progress.on_progress)
        for cell in readers:
            read, now = self.begun[cell.name]["data"].get("examples", {}), digests[cell.fit.train_size]
            if others := [split for split in now if read.get(split) != now[split]]:
                read_others = f"the run {cell.name} read other {' and '.join(others)} examples"
                raise ForeignDirectoryError(f"{read_others} than {dataset.path} has; give another `out`")

    def run(self, jobs: int, callback: SweepCallback, cluster: Cluster | None = None) -> Outcome:
        """Run the cells that are not done; of an adaptive plan those that its targets need.

        The numbers are those of running the cells alone. A cell that fails, or whose process dies, does not
        stop the others, and is tried again by the next call. Each of `jobs` worker processes takes one cell
        after another; or the machines of a cluster do, a processor each, and make the data. They reach the
        directory under the same path.
        """
        plan, done = self.plan, self.done

        def with_data(cell: SweepCell) -> SweepCell:
            if cell.data not in self._compared:
                path = dataset_path(self.out, cell.data)
                callback.on_note(f"data {path.name}")
                generate(cell.data, path, callback=ProgressCallback(), pool=cluster)
                self._compare(cell.data, ProgressCallback())
            return cell

        def running(cell: SweepCell, row: dict[str, Any]) -> None:
            callback.on_change(cell.name, "running", row)

        with claimed(self.out, "simtown sweep"):
            for cell in plan.cells:
                if cell.name in done:
                    callback.on_change(cell.name, "done", done[cell.name])
                    self._keep(cell)
            schedule = Schedule(plan, {name: run["test"]["accuracy"] for name, run in done.items()})
            at_once = jobs if plan.targets else max(1, min(jobs, len(plan.cells) - len(done)))
            # not by the cells that are left: with other threads a run has other last digits
            threads = 1 if cluster else max(1, default_workers() // jobs)
            out, beside = (self.out.resolve(), None) if cluster else (self.out, at_once)
            shared, cells_with_data = (out, os.getcwd(), threads, beside), map(with_data, schedule)
            card, pool = any(cell.fit.device == "cuda" for cell in plan.cells), cluster or Processes(at_once)
            outcomes = pool.outcomes(_fit, cells_with_data, shared, running, card=card, retries=RETRIES)
            finished, failed = 0, {}
            limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), str(threads))
            with environment(**limits), contextlib.closing(outcomes):
                for cell, result in outcomes:
                    if isinstance(result, Exception):
                        name = "" if isinstance(result, WorkerError) else f"{type(result).__name__}: "
                        failed[cell.name] = f"{name}{result}"
                        callback.on_change(cell.name, "failed", {"error": failed[cell.name]})
                        schedule.ended(cell, None)
                    else:
                        finished += 1
                        callback.on_change(cell.name, "done", result)
                        self._keep(cell)
                        schedule.ended(cell, result["test"]["accuracy"])
                    for line in schedule.news():
                        callback.on_note(line)
            return Outcome(len(done), finished, failed)

    def _keep(self, cell: SweepCell) -> None:
        """Add a finished cell to the folder of kept ones, if it is not there yet."""
        if self.kept is not None and not self._is_kept(cell):
            cells.save(run_path(self.out, cell), self.kept)

    def _is_kept(self, cell: SweepCell) -> bool:
        """Whether the folder of kept cells has a finished cell, in its table or in a file."""
        return self.kept is not None and (
            cell.name in self._table or cells.path_of(self.kept, cell.name).exists()
        )


def _require_same(cell: SweepCell, run: dict[str, Any], place: Path, any_device: bool = False) -> None:
    """Raises ForeignDirectoryError if a run has other settings than its cell."""
    if differ := identity.other_settings(run, cell.fit, cell.data, any_device):
        seeds = any(change.startswith("data.seed") for change in differ)
        hint = " (`same_data` says whether all seeds share one data set)" if seeds else ""
        remedy = f"give its settings, or another directory{hint}"
        raise ForeignDirectoryError(f"{place} holds a run with other settings: {'; '.join(differ)}; {remedy}")


class _Reporter(FitCallback):
    """Reports the validations of a fit to the process of the sweep."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def on_validation(self, row: dict[str, float], best: dict[str, float]) -> None:
        self._report({**row, "best": best["val_accuracy"]})


def _fit(
    cell: SweepCell, report: Report, out: Path, home: str, threads: int, beside: int | None
) -> dict[str, Any]:
    """In a worker: a run's run.json; `home` may hold models, `beside` as of fit, None: a run a processor."""
    import torch

    from simtown.training.fit import fit
    from simtown.training.models import MODELS, search

    if cell.fit.model not in MODELS:
        search(home)
    torch.set_num_threads(threads)
    data, directory = dataset_path(out, cell.data), run_path(out, cell)
    return fit(cell.fit, data, directory, _Reporter(report), beside=beside or default_workers())
