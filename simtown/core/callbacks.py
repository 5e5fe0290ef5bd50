"""Receiving the progress of long work."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, SupportsFloat

#: The work has no stages that are timed apart.
NO_STAGES: Mapping[str, float] = MappingProxyType({})


class ProgressCallback:
    """Receives the progress of long work, and does nothing with it: override what you need.

    :class:`simtown.core.progress.Progress` shows it on stderr.
    """

    def on_begin(self, total: int, done: int = 0, stage: str = "") -> None:
        """The work begins, or another stage of it.

        Args:
            total: units of work, such as examples; 0 if the number is not known.
            done: how many of them earlier calls have finished.
            stage: what is done now, if the work has several stages.
        """

    def on_progress(self, count: int, seconds: Mapping[str, float] = NO_STAGES) -> None:
        """More units are finished.

        Args:
            count: newly finished units.
            seconds: time spent in each stage since the last call, over all workers.
        """

    def on_note(self, line: str) -> None:
        """Something is worth knowing, such as how much memory the pictures take."""


class FitCallback(ProgressCallback):
    """Receives the progress of a training run, and does nothing with it: override what you need.

    :meth:`on_begin` and :meth:`on_progress` are of what is done before training.
    """

    def on_step(self, epoch: int, step: int, examples: int, loss: SupportsFloat) -> None:
        """A step was taken on so many examples; reading the loss makes a GPU wait for the steps before."""

    def on_validation(self, row: dict[str, float], best: dict[str, float]) -> None:
        """A validation was made: a row of metrics.jsonl, and the best so far."""


class SweepCallback(ProgressCallback):
    """Receives the progress of a sweep, and does nothing with it: override what you need."""

    def on_change(self, cell: str, state: str, content: Mapping[str, Any]) -> None:
        """A cell, by its name, is "running": a row of metrics; "done": its run.json; "failed": {"error"}."""
