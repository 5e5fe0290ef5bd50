"""Receiving the progress of long work."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
