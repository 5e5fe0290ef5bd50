"""Progress of a training run and of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, SupportsFloat

from simtown.core.amounts import duration
from simtown.core.callbacks import FitCallback, SweepCallback
from simtown.core.progress import Display, Progress
from simtown.training.early_stopping import between_validations

if TYPE_CHECKING:
    from simtown.training.fit_settings import FitSettings
    from simtown.training.plan import SweepPlan

#: Seconds over which the speed of a run is measured. Reading a loss makes a GPU wait.
_MEASURE_EVERY = 1.0


class FitDisplay(Progress, FitCallback):
    """Shows the progress of a training run.

    The bar counts the steps up to `max_steps`, or to the next validation: without a limit, a run ends when it
    stops getting better, and how long it takes is not known.
    """

    def __init__(self, title: str, settings: FitSettings) -> None:
        super().__init__(title)
        self._settings = settings
        self._last_step = self._examples = 0
        self._measured = -inf
        self._now = self._validated = ""
        self._bar_counts: dict[str, int] = {}

    def on_step(self, epoch: int, step: int, examples: int, loss: SupportsFloat) -> None:
        """See :class:`simtown.core.callbacks.FitCallback`."""
        self._examples += examples
        now = monotonic()
        if now - self._measured < _MEASURE_EVERY:
            return
        if self._last_step:  # the first step is not timed: much is prepared in it
            between = between_validations(self._settings)
            limit = self._settings.max_steps
            done = step if limit else (step - 1) % between + 1
            self._bar_counts = {"done": done, "total": limit or between}
            speed = self._examples / (now - self._measured)
            self._now = f"epoch {epoch:,}, step {step:,}, loss {float(loss):.3f}, {speed:,.0f} images/s"
            self._show()
        self._last_step, self._examples, self._measured = step, 0, now

    def on_validation(self, row: dict[str, float], best: dict[str, float]) -> None:
        """See :class:`simtown.core.callbacks.FitCallback`."""
        accuracies = f"train {row['train_accuracy']:.3f}, val {row['val_accuracy']:.3f}"
        best_yet = f"best {best['val_accuracy']:.3f} in epoch {best['epoch']:,.0f}"
        loss = f"epoch {row['epoch']:,.0f} validated: loss {row['train_loss']:.3f}"
        self._validated = f"{loss}, {accuracies}, {best_yet}"
        self._show()

    def _show(self) -> None:
        self.show(self._now, self._validated, **self._bar_counts)


class SweepDisplay(Display, SweepCallback):
    """Shows the progress of a sweep: the running cells, and a line for each that ended.

    How many cells an adaptive sweep runs is not known.
    """

    def __init__(self, plan: SweepPlan) -> None:
        super().__init__(plan.preset)
        self._total = 0 if plan.targets else len(plan.cells)
        self._ended: set[str] = set()
        self._running: dict[str, str] = {}

    def on_change(self, cell: str, state: str, content: Mapping[str, Any]) -> None:
        """See :class:`simtown.core.callbacks.SweepCallback`."""
        if state == "running":
            step, best = f"{content['step']:,.0f}", f"{content['best']:.3f}"
            self._running[cell] = f"{cell} at step {step}, best validation accuracy {best}"
        else:
            self._ended.add(cell)
            ran_now = self._running.pop(cell, None)  # and was not done before this sweep
            if state == "failed":
                self.on_note(f"{self._so_far()}: {cell} failed: {content['error']}")
            elif ran_now:
                self.on_note(f"{self._so_far()}: {cell} test accuracy {content['test']['accuracy']:.3f}")
        self.show(self._so_far(), *self._running.values(), done=len(self._ended), total=self._total)

    def _so_far(self) -> str:
        of_total = f" of {self._total}" if self._total else ""
        return f"{len(self._ended)}{of_total} runs after {duration(monotonic() - self._begun)}"
