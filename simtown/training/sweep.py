"""A grid of runs: makes the data it needs, runs what is missing in worker processes, goes on where it was stopped."""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from simtown.cluster import Cluster
from simtown.datasets import manifest as manifests
from simtown.datasets.engines import OnCluster
from simtown.datasets.job import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings, differences
from simtown.files import DamagedError, ForeignDirectoryError, claimed, save_json
from simtown.processes import Outcome, WorkerError, default_workers, team
from simtown.training import identity
from simtown.training import run as runs
from simtown.training.plan import Cell, Plan

DATA, RUNS = "data", "runs"
#: How often a run is begun again where a machine of the cluster died under it, before it counts as failed.
RETRIES = 3
#: Runs that an error names; it counts the others.
_NAMED = 3


class Watcher(Protocol):
    """Receives the progress of a sweep."""

    def changed(self, cell: Cell, state: str, told: dict[str, Any]) -> None:
        """A cell is "waiting", "running" (`told`: a row of its metrics), "done" (`told`: its run.json) or "failed" (`told`: error)."""
        ...


def dataset_path(out: Path, settings: Settings) -> Path:
    """Where a sweep keeps a data set."""
    third = "-distractor" if settings.distractor else ""
    return out / DATA / f"{settings.entities}{third}-{settings.n}"


def begun(plan: Plan, out: Path) -> dict[str, dict[str, Any]]:
    """run.json of the plan's cells that were begun, by name.

    A run that cannot be read is left out: what is wrong with it is told when it is its turn, and harms no other.

    Raises:
        ForeignDirectoryError: some of them have other settings than the plan; the message names both.
    """
    found, others = {}, defaultdict(list)
    for cell in plan.cells:
        try:
            run = runs.load(out / RUNS / cell.name)
        except (FileNotFoundError, DamagedError, ForeignDirectoryError):
            continue
        found[cell.name] = run
        if differ := identity.other_settings(run, cell.fit, cell.data):
            others["; ".join(differ)].append(cell.name)
    if others:
        told = "; ".join(f"{differ} ({_some(names)})" for differ, names in others.items())
        raise ForeignDirectoryError(
            f"{out / RUNS} holds {_counted(others)} with other settings: {told}; give the settings they were made with, or another --out"
        )
    return found


def _counted(others: dict[str, list[str]]) -> str:
    count = sum(map(len, others.values()))
    return f"{count} run{'s' * (count != 1)}"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def begin(plan: Plan, out: Path, watcher: Any, cluster: Cluster | None = None) -> dict[str, dict[str, Any]]:
    """Everything before the first run: refuse what cannot go on, make the data, compare the runs that are there with it.

    Args:
        watcher: watcher(title) makes a context manager and data watcher for each data set.

    Returns:
        run.json of the cells that are done, by name.

    Raises:
        ForeignDirectoryError: a data set or a run in `out` has other settings than the plan, or a run read other examples.
    """
    there = begun(plan, out)
    for settings in plan.data():
        _check_data(settings, dataset_path(out, settings))
    prepare(plan, out, watcher, cluster)
    others = defaultdict(list)
    for settings in plan.data():
        cells = [cell for cell in plan.cells if cell.data == settings and cell.name in there]
        if not cells:
            continue
        dataset, sizes = open_dataset(dataset_path(out, settings)), {cell.fit.train_size for cell in cells}
        with watcher(f"compare {dataset.path.name}") as progress:
            progress.started(max(sizes) + len(dataset.val) + len(dataset.test), 0)
            examples = identity.examples_read(dataset, sizes, partial(_advance, progress))
        for cell in cells:
            if other := identity.other_examples(there[cell.name], examples[cell.fit.train_size], dataset):
                others[other].append(cell.name)
    if others:
        told = "; ".join(f"{other} ({_some(names)})" for other, names in others.items())
        raise ForeignDirectoryError(f"{out / RUNS} holds {_counted(others)} of {told} than {out / DATA} has; give another --out")
    return {name: run for name, run in there.items() if run["status"] == "done"}


def _advance(progress: Any, examples: int) -> None:
    progress.advanced(examples, {})


def _check_data(settings: Settings, path: Path) -> None:
    """Raises ForeignDirectoryError if a data set of other settings is there."""
    try:
        there = manifests.load(path)
    except FileNotFoundError:
        return
    differ = differences(there["settings"], json.loads(json.dumps(settings.resolved())))
    if differ:
        raise ForeignDirectoryError(
            f"{path} holds a data set of other settings: {'; '.join(differ)}; give another --out or the same settings"
        )


def prepare(plan: Plan, out: Path, watcher: Any, cluster: Cluster | None = None) -> None:
    """Make the data sets of a plan that are not there yet; `watcher` as in :func:`begin`."""
    for settings in plan.data():
        with watcher(f"data {dataset_path(out, settings).name}") as progress:
            generate(settings, dataset_path(out, settings), watcher=progress, engine=OnCluster(cluster) if cluster else None)


def sweep(plan: Plan, out: Path, done: dict[str, dict[str, Any]], jobs: int, watcher: Watcher, cluster: Cluster | None = None) -> Outcome:
    """Run every cell of a plan that is not `done`, as :func:`begin` found it.

    Each of `jobs` worker processes takes one cell after another; the numbers are those of running them alone. A cell that fails, or
    whose process dies, does not stop the others, and is tried again by the next call. With a `cluster` its machines take the cells
    instead, a processor each; all of them must reach `out` under the same path.
    """
    with claimed(out, "simtown sweep"):
        save_json(out / "sweep.json", {"preset": plan.preset, "cells": [cell.name for cell in plan.cells]})
        for cell in plan.cells:
            watcher.changed(cell, "done" if cell.name in done else "waiting", done.get(cell.name, {}))
        missing = [cell for cell in plan.cells if cell.name not in done]
        failed: dict[str, str] = {}
        ended = _on_cluster(missing, out, cluster, watcher) if cluster else _run(missing, out, min(jobs, len(missing)), watcher)
        with contextlib.closing(ended):
            for cell, error in ended:
                if error:
                    failed[cell.name] = error
        return Outcome(len(done), len(missing) - len(failed), failed)


def _run(missing: list[Cell], out: Path, jobs: int, watcher: Watcher) -> Generator[tuple[Cell, str], None, None]:
    """Yields each cell as it ends, with what went wrong or ""."""
    if not missing:
        return
    with _threads(jobs), contextlib.closing(team(_fit_in_worker, missing, (str(out), jobs), jobs)) as events:
        for cell, kind, content in events:
            if kind == "told":
                watcher.changed(cell, "running", content)
                continue
            state, told = ("failed", {"error": f"its process {content}"}) if kind == "died" else content
            watcher.changed(cell, state, told)
            yield cell, told["error"] if state == "failed" else ""


def _on_cluster(missing: list[Cell], out: Path, cluster: Cluster, watcher: Watcher) -> Generator[tuple[Cell, str], None, None]:
    """The same on the machines of a cluster."""
    card = any(cell.fit.device == "cuda" for cell in missing)
    for cell, told in cluster.map(_fit_there, missing, (str(out.resolve()),), card, RETRIES):
        if isinstance(told, Exception):
            error = str(told) if isinstance(told, WorkerError) else f"{type(told).__name__}: {told}"
            watcher.changed(cell, "failed", {"error": error})
            yield cell, error
        else:
            watcher.changed(cell, "done", told)
            yield cell, ""


def _fit_there(cell: Cell, out: str) -> dict[str, Any]:
    """On a machine of the cluster: one run on one thread, from where it was left; what its run.json says."""
    import torch

    from simtown.training.fit import fit

    torch.set_num_threads(1)
    return fit(cell.fit, dataset_path(Path(out), cell.data), Path(out) / RUNS / cell.name)


@contextlib.contextmanager
def _threads(jobs: int) -> Iterator[None]:
    """Processes started here share the processors: several of one thread get more done than one of several."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, str(max(1, default_workers() // jobs))))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Reporter:
    """A fit's watcher that tells the parent."""

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self.tell = tell

    def compared(self, examples: int) -> None: ...

    def stepped(self, examples: int) -> None: ...

    def validated(self, row: dict[str, float], best: dict[str, float]) -> None:
        self.tell({**row, "best": best["val_accuracy"]})


def _fit_in_worker(cell: Cell, tell: Callable[[dict[str, Any]], None], out: str, jobs: int) -> tuple[str, dict[str, Any]]:
    """In a worker process: one run; "done" and its run.json, or "failed" and the error."""
    import torch

    from simtown.training.fit import fit

    torch.set_num_threads(max(1, default_workers() // jobs))
    try:
        return "done", fit(cell.fit, dataset_path(Path(out), cell.data), Path(out) / RUNS / cell.name, _Reporter(tell))
    except Exception as error:
        return "failed", {"error": f"{type(error).__name__}: {error}"}
