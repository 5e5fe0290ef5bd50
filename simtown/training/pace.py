"""How a run goes between two validations, once a second.

Not after every step: reading a loss makes a card wait for the steps before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

#: Seconds between two reports.
EVERY = 1.0
#: Reports whose time and examples make the speed.
_WINDOW = 30


@dataclass(frozen=True)
class Pace:
    """Where a run stands between two validations, and how fast it goes.

    Attributes:
        epoch: the one that it visits, 1 the first.
        step: taken since the run began.
        loss: mean cross-entropy of the examples since the last report, nats.
        examples: seen since the last validation.
        of: examples from the last validation to the next.
        images_per_second: of the last half minute.
    """

    epoch: int
    step: int
    loss: float
    examples: int
    of: int
    images_per_second: float

    @property
    def seconds(self) -> float:
        """Seconds to the next validation."""
        return (self.of - self.examples) / max(self.images_per_second, 1e-9)


class Pacer:
    """Reports to a watcher what happens from here to the next validation.

    Args:
        paced: called with a Pace every EVERY seconds, the first time so long after the first step.
        loss: () the sum of the cross-entropy since the last validation, on its device; it is added to from
            outside.
        examples: seen since the last validation.
        of: examples from the last validation to the next.
    """

    def __init__(self, paced: Callable[[Pace], None], loss: torch.Tensor, examples: int, of: int) -> None:
        self._paced, self._loss, self._of = paced, loss, of
        self._sum, self._examples = float(loss), examples
        self._times: deque[tuple[float, int]] = deque(maxlen=_WINDOW)
        self._due = 0.0

    def stepped(self, epoch: int, step: int, examples: int) -> None:
        """A step was taken; `examples` were seen since the last validation."""
        now = perf_counter()
        if now < self._due:
            return
        if self._times:
            total, (start, before) = float(self._loss), self._times[0]
            loss = (total - self._sum) / (examples - self._examples)
            self._paced(Pace(epoch, step, loss, examples, self._of, (examples - before) / (now - start)))
            self._sum, self._examples = total, examples
        self._times.append((now, examples))  # the first step is not timed: much is made ready in it
        self._due = now + EVERY
