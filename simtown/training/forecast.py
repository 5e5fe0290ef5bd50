"""Forecasts of the duration of a plan's runs: as long as a finished run of their model, or at least timed
steps.
"""

from collections.abc import Sequence
from math import log
from time import perf_counter
from typing import Any

import numpy as np
import torch

from simtown.core.amounts import duration
from simtown.core.processes import default_workers
from simtown.render.renderers import make_renderer
from simtown.training.early_stopping import least_steps
from simtown.training.fit import autocast, loss_of, new_model, precision
from simtown.training.plan import SweepCell
from simtown.training.sources import FreshExamples

#: Steps that :func:`seconds_a_step` takes before it times any, and that it times.
_WARM, _TIMED = 2, 3


def time_left(
    cells: Sequence[SweepCell], done: Sequence[tuple[SweepCell, dict[str, Any]]], jobs: int, growing: bool
) -> list[str]:
    """The time that cells still take, `jobs` at once, in words, and how it is known.

    `done` are finished cells, each with its run.json; `growing` says whether other runs will follow.
    """
    seconds: list[float] = []
    step_seconds: dict[str, float] = {}
    for cell in cells:
        model, size = cell.fit.model, cell.fit.train_size
        finished = [entry for entry in done if entry[0].fit.model == model]
        if finished:
            _, run = min(finished, key=lambda entry: abs(log(entry[0].fit.train_size / size)))
            seconds.append(run["seconds"] * max(least_steps(cell.fit) / run["steps"], 1))
        else:
            step_seconds[model] = step_seconds.get(model) or seconds_a_step(cell, jobs)
            seconds.append(step_seconds[model] * least_steps(cell.fit))
    if not seconds:
        return []
    bound = "at least" if growing or step_seconds else "about"
    left = duration(max(sum(seconds) / jobs, *seconds))
    time = f"{bound} {left} left with {jobs} run{'s' * (jobs > 1)} at once, if the machine does nothing else"
    timed = ", ".join(f"{model} {each:.2f} s" for model, each in step_seconds.items())
    basis = "assuming each run takes as long as its model's finished one nearest in training examples"
    if step_seconds:
        basis = f"a step timed here, {timed}, times the fewest steps of each run, which may take more"
    return [time, f"({basis})"]


def seconds_a_step(cell: SweepCell, jobs: int) -> float:
    """Seconds that a training step of a cell takes in one of `jobs` processes."""
    settings, threads = cell.fit, torch.get_num_threads()
    examples = FreshExamples(cell.data, make_renderer(), torch.device(settings.device))
    (batch,) = examples.batches([np.arange(min(settings.batch, settings.train_size))])
    model, optimizer = new_model(settings, cell.data)
    torch.set_num_threads(max(1, default_workers() // jobs))
    try:
        with precision(settings):
            for step in range(_WARM + _TIMED):
                if step == _WARM:
                    entered = perf_counter()
                with autocast(settings):
                    loss, _ = loss_of(model, batch)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                float(loss.detach())  # a GPU works on its own until somebody waits for it
            return (perf_counter() - entered) / _TIMED
    finally:
        torch.set_num_threads(threads)
