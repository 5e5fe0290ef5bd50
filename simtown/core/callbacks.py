"""Receiving the progress of long work."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import SupportsFloat

#: The work has no stages that are timed apart.
NO_STAGES: Mapping[str, float] = MappingProxyType({})


class ProgressCallback:
    """Receives the progress of long work, and does nothing with it: override what you need.

    :class:`simtown.core.progress.Progress` shows it on stderr.
    """

    def on_begin(self, total: int, done: int = 0) -> None:
        """The work begins.

        Args:
            total: units of work, such as examples; 0 if the number is not known.
            done: how many of them earlier calls have finished.
        """

    def on_progress(self, count: int, seconds: Mapping[str, float] = NO_STAGES) -> None:
        """More units are finished.

        Args:
            count: newly finished units.
            seconds: time spent in each stage since the last call, over all workers.
        """


class FitCallback:
    """Receives the progress of a training run, and does nothing with it: override what you need."""

    def on_compare(self, count: int, total: int) -> None:
        """So many more of `total` examples were read for their digests, before training."""

    def on_note(self, line: str) -> None:
        """Something is worth knowing before training, such as how much memory the pictures take."""

    def on_step(self, epoch: int, step: int, examples: int, loss: SupportsFloat) -> None:
        """A step was taken on so many examples; reading the loss makes a GPU wait for the steps before."""

    def on_validation(self, row: dict[str, float], best: dict[str, float]) -> None:
        """A validation was made: a row of metrics.jsonl, and the best so far."""
