"""A grid of runs: makes the data it needs, runs what is missing in worker processes, goes on where it was stopped."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

from simtown.cluster import Cluster
from simtown.datasets.engines import OnCluster
from simtown.datasets.job import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.files import claimed, save_json
from simtown.processes import Outcome, WorkerError, bind_to, default_workers, uninterrupted
from simtown.training import run as runs
from simtown.training.plan import Cell, Plan

DATA, RUNS = "data", "runs"
#: How often a run is begun again where a machine of the cluster died under it, before it counts as failed.
RETRIES = 3


class Watcher(Protocol):
    """Whoever wants to know how a sweep goes."""

    def changed(self, cell: Cell, state: str, told: dict[str, Any]) -> None:
        """A cell is "waiting", "running" (`told`: a row of its metrics), "done" (`told`: its run.json) or "failed" (`told`: error)."""
        ...


def dataset_path(out: Path, settings: Settings) -> Path:
    """Where a sweep keeps a data set."""
    third = "-distractor" if settings.distractor else ""
    return out / DATA / f"{settings.entities}{third}-{settings.n}"


def prepare(plan: Plan, out: Path, watcher: Any, cluster: Cluster | None = None) -> None:
    """Make the data sets of a plan that are not there yet; `watcher(title)` makes a context manager and data watcher for each."""
    for settings in plan.data():
        with watcher(f"data {dataset_path(out, settings).name}") as progress:
            generate(settings, dataset_path(out, settings), watcher=progress, engine=OnCluster(cluster) if cluster else None)


def sweep(plan: Plan, out: Path, jobs: int, watcher: Watcher, cluster: Cluster | None = None) -> Outcome:
    """Run every cell of a plan that is not done; its data must be there (:func:`prepare`).

    Each of `jobs` worker processes takes one cell after another; the numbers are those of running them alone. A cell that fails, or
    whose process dies, does not stop the others, and is tried again by the next call. With a `cluster` its machines take the cells
    instead, a processor each; all of them must reach `out` under the same path.
    """
    with claimed(out, "simtown sweep"):
        save_json(out / "sweep.json", {"preset": plan.preset, "cells": [cell.name for cell in plan.cells]})
        done = {cell.name: told for cell in plan.cells if (told := _done(cell, out))}
        for cell in plan.cells:
            watcher.changed(cell, "done" if cell.name in done else "waiting", done.get(cell.name, {}))
        missing = [cell for cell in plan.cells if cell.name not in done]
        failed: dict[str, str] = {}
        ended = _on_cluster(missing, out, cluster, watcher) if cluster else _run(missing, out, min(jobs, len(missing)), watcher)
        for cell, error in ended:
            if error:
                failed[cell.name] = error
        return Outcome(len(done), len(missing) - len(failed), failed)


def _done(cell: Cell, out: Path) -> dict[str, Any]:
    """run.json of a cell that is done with these settings and data, {} otherwise (what is there of others, `fit` will refuse)."""
    try:
        told = runs.load(out / RUNS / cell.name)
        data = runs.digest(open_dataset(dataset_path(out, cell.data)))
    except (FileNotFoundError, RuntimeError, ValueError):
        return {}
    same = told["settings"] == json.loads(json.dumps(asdict(cell.fit))) and told["data"]["sha256"] == data
    return told if same and told["status"] == "done" else {}


def _run(missing: list[Cell], out: Path, jobs: int, watcher: Watcher) -> Iterator[tuple[Cell, str]]:
    """Yields each cell as it ends, with what went wrong or ""."""
    todo = deque(missing)
    team: dict[Any, _Worker] = {}
    try:
        while todo or team:
            while todo and len(team) < jobs:
                worker = _Worker(out, jobs)
                worker.take(todo.popleft())
                team[worker.pipe] = worker
            for pipe in wait(list(team)):
                worker = team[pipe]
                state, told = worker.hear()
                watcher.changed(worker.cell, state, told)
                if state == "running":
                    continue
                yield worker.cell, told["error"] if state == "failed" else ""
                if worker.alive and todo:
                    worker.take(todo.popleft())
                else:
                    team.pop(pipe).end()
    finally:
        for worker in team.values():
            worker.process.terminate()
            worker.process.join()


def _on_cluster(missing: list[Cell], out: Path, cluster: Cluster, watcher: Watcher) -> Iterator[tuple[Cell, str]]:
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


class _Worker:
    """A process that takes cells, and the parent's end of the pipe to it."""

    cell: Cell

    def __init__(self, out: Path, jobs: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, str(out), jobs, os.getpid()), daemon=True)
        with uninterrupted(), _threads(jobs):
            self.process.start()
        theirs.close()
        self.alive = True

    def take(self, cell: Cell) -> None:
        self.cell = cell
        with contextlib.suppress(OSError):  # it has died since: hear() will tell
            self.pipe.send(cell)

    def hear(self) -> tuple[str, dict[str, Any]]:
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            self.alive = False
            self.process.join()
            return "failed", {"error": f"its process ended with code {self.process.exitcode} (out of memory?)"}

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.pipe.send(None)
        self.process.join()


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

    def __init__(self, pipe: Connection, parent: int) -> None:
        self.pipe, self.parent = pipe, parent

    def stepped(self, examples: int) -> None: ...

    def validated(self, row: dict[str, float], best: dict[str, float]) -> None:
        if os.getppid() != self.parent:
            os._exit(1)
        self.pipe.send(("running", {**row, "best": best["val_accuracy"]}))


def _work(pipe: Connection, out: str, jobs: int, parent: int) -> None:
    """A worker process: takes cells until there are none, or until its parent is gone."""
    if not bind_to(parent):
        return
    import torch

    from simtown.training.fit import fit

    torch.set_num_threads(max(1, default_workers() // jobs))
    while (cell := pipe.recv()) is not None:
        try:
            directory = Path(out) / RUNS / cell.name
            run = fit(cell.fit, dataset_path(Path(out), cell.data), directory, _Reporter(pipe, parent))
            pipe.send(("done", run))
        except Exception as error:
            pipe.send(("failed", {"error": f"{type(error).__name__}: {error}"}))
