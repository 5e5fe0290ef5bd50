"""How long a sweep will still take, from its finished and running runs, or from steps timed here."""

from __future__ import annotations

from functools import partial
from math import log
from time import perf_counter
from typing import Any

import torch

from simtown.core.amounts import duration
from simtown.core.processes import default_workers
from simtown.training.early_stopping import least_steps
from simtown.training.fit import autocast, loss_of, precision, seeded
from simtown.training.models import MODELS, build
from simtown.training.plan import SweepCell
from simtown.training.weights import sizes_of
from simtown.training.world import Batch, World

#: Steps that :func:`seconds_a_step` takes before it times any, and that it times.
_WARM, _TIMED = 2, 3
#: Bytes of the pictures, and of the weights, with which a step is timed at most: it takes some twenty times
#: the one, four times the other.
_LARGEST_BATCH, _LARGEST_MODEL = 30_000_000, 200_000_000


class Forecast:
    """The time that the waiting and running cells of a sweep still take, `jobs` of them at once.

    A run is taken to need as many steps, of as many seconds, as the finished run of its model that is nearest
    in training examples. Of a model without one, only the least number of steps is known.

    Args:
        growing: other runs will follow, so that the time is known from below only.
    """

    def __init__(self, jobs: int, growing: bool = False) -> None:
        self._left: dict[str, SweepCell] = {}
        self._jobs, self._growing = jobs, growing
        self._ended: dict[
            str, list[tuple[int, int, float]]
        ] = {}  # by model: training examples, steps, seconds
        self._pace: dict[str, float] = {}  # by model: seconds a step, of a run that is not finished
        self._steps: dict[str, float] = {}  # by cell: steps done

    def on_change(self, cell: SweepCell, state: str, content: dict[str, Any]) -> None:
        """As :meth:`simtown.training.sweep.SweepCallback.on_change`."""
        if state in ("waiting", "running"):
            self._left[cell.name] = cell
        if state == "running" and "images_per_second" in content:
            self._steps[cell.name] = content["step"]
            self._pace[cell.fit.model] = cell.fit.batch / max(content["images_per_second"], 1e-9)
        elif state in ("done", "failed"):
            self._left.pop(cell.name, None)
        if state == "done" and content.get("steps"):
            self._ended.setdefault(cell.fit.model, []).append(
                (cell.fit.train_size, content["steps"], content["seconds"])
            )

    def timed(self, model: str, seconds: float) -> None:
        """A step of a model was timed."""
        self._pace[model] = seconds

    @property
    def unknown(self) -> list[SweepCell]:
        """Of each model of which nothing is known yet, the first cell that is left."""
        first: dict[str, SweepCell] = {}
        for cell in self._left.values():
            if cell.fit.model not in self._ended and cell.fit.model not in self._pace:
                first.setdefault(cell.fit.model, cell)
        return list(first.values())

    @property
    def bounded(self) -> bool:
        """Whether only a lower bound of the time is known.

        Some model has no finished run yet, or other runs will follow.
        """
        return self._growing or any(cell.fit.model not in self._ended for cell in self._left.values())

    def _seconds(self, cell: SweepCell) -> float:
        steps, pace = float(least_steps(cell.fit)), self._pace.get(cell.fit.model, 0.0)
        if ended := self._ended.get(cell.fit.model):
            _, taken, seconds = min(ended, key=lambda run: abs(log(run[0] / cell.fit.train_size)))
            steps, pace = max(steps, taken), seconds / taken
        return max(steps - self._steps.get(cell.name, 0.0), 0.0) * pace

    def __str__(self) -> str:
        """Such as "about 12 min left", or until when it is unknown; "" if nothing is left."""
        if not self._left:
            return ""
        if self.unknown:
            return f"time left unknown until a run of {self.unknown[0].fit.model} was validated"
        each = [self._seconds(cell) for cell in self._left.values()]
        return (
            f"{'at least' if self.bounded else 'about'} {duration(max(sum(each) / self._jobs, *each))} left"
        )


def seconds_a_step(cell: SweepCell, jobs: int) -> float | None:
    """Seconds that a training step of a cell takes in one of `jobs` processes, timed on noise.

    A large batch is timed in part.

    None if its model refuses noise, or is too large to be tried.
    """
    settings, threads = cell.fit, torch.get_num_threads()
    world = World.made_with(cell.data)
    device = torch.device(settings.device)
    examples = min(settings.batch, settings.train_size)
    timed = min(examples, _LARGEST_BATCH // (world.width * world.height * 12))
    if timed < 2:
        return None
    torch.set_num_threads(max(1, default_workers() // jobs))
    try:
        with precision(settings), seeded(0, "timing", 0, device):
            make = partial(build, settings.model, world, settings.options)
            if (
                settings.model in MODELS
                and sum(tensor.nbytes for tensor in sizes_of(make).values()) > _LARGEST_MODEL
            ):
                return None
            model = make().to(device, memory_format=torch.channels_last)
            optimizer = torch.optim.Adam(model.parameters(), fused=True)
            batch = _noise(world, timed, device)
            for step in range(_WARM + _TIMED):
                if step == _WARM:
                    entered = perf_counter()
                with autocast(settings):
                    loss, _ = loss_of(model, batch)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                float(loss.detach())  # a card works on its own until somebody waits for it
            return (perf_counter() - entered) / _TIMED * examples / timed
    except Exception:  # a user's own model may refuse noise in its own way
        return None
    finally:
        torch.set_num_threads(threads)


def _noise(world: World, b: int, device: torch.device) -> Batch:
    """b examples that mean nothing."""

    def below(top: int, *shape: int) -> torch.Tensor:
        return torch.randint(top, (b, *shape), device=device)

    image = torch.rand(b, 3, world.height, world.width, device=device).contiguous(
        memory_format=torch.channels_last
    )
    tokens, boxes = 1 + below(world.words - 1, world.length), torch.rand(b, 2, 4, device=device)
    return Batch(
        image,
        tokens,
        below(world.entities),
        below(world.relations),
        below(world.entities),
        boxes,
        below(2).float(),
    )
