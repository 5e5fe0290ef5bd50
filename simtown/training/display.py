"""Progress of a run or a sweep: a live display in a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections import deque
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, SupportsFloat

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TimeElapsedColumn

from simtown.core.amounts import duration
from simtown.core.callbacks import FitCallback
from simtown.core.console import PlainConsole, Words, styled
from simtown.core.notebook import NotebookBar, in_notebook
from simtown.core.progress import LineClock, report
from simtown.core.untrusted import printable
from simtown.training.early_stopping import between_validations

if TYPE_CHECKING:
    from simtown.training.fit_settings import FitSettings
    from simtown.training.plan import SweepCell, SweepPlan


#: Seconds over which the speed of a run is measured. Reading a loss makes a GPU wait.
_MEASURE_EVERY = 1.0
#: Lines above the running cells of a sweep: what it did last, or found.
_NOTES = 8


class _Display:
    """A live display in a terminal, between entering and leaving; elsewhere it draws nothing."""

    def __init__(self) -> None:
        self._console = PlainConsole(stderr=True)
        self._live: Live | None = None
        self._clock = LineClock()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(console=self._console, get_renderable=self._drawn)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._live.stop()

    def _report(self, line: str, timed: bool = False) -> None:
        """Print a line where nothing is drawn; a `timed` one, of which there are many, if one is due."""
        if self._live is None and (not timed or self._clock.due()):
            report(line)

    def _drawn(self) -> Group:
        raise NotImplementedError


class FitDisplay(_Display, FitCallback):
    """Shows the progress of a training run on stderr, in a notebook below its cell.

    The bar counts the steps up to `max_steps`, or to the next validation: without a limit, a run ends when it
    stops getting better, and how long it takes is not known.
    """

    def __init__(self, title: str, settings: FitSettings) -> None:
        super().__init__()
        self._title, self._settings = title, settings
        self._compared = self._steps = self._examples = 0
        self._measured = -inf
        self._now = self._validated = ""
        self._notebook_bar = NotebookBar() if in_notebook() else None
        columns = (Words("{task.description}"), BarColumn(None), TimeElapsedColumn())
        self._bar = Progress(*columns, console=self._console, expand=True)
        self._task = self._bar.add_task(title, total=None)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self._notebook_bar:
            words = self._validated or ("stopped" if error[0] else "was done before")
            self._notebook_bar.show(f"{self._title}: {words}", last=True)

    def _drawn(self) -> Group:
        lines = [styled(f"  {line}") for line in (self._now, self._validated) if line]
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(self._bar.get_renderable(), *lines)

    def _show(self, now: str, done: int, of: int) -> None:
        self._now = now
        self._bar.update(self._task, completed=done, total=of)
        line = f"{self._title}: {'; '.join(filter(None, (now, self._validated)))}"
        if self._notebook_bar:
            self._notebook_bar.show(line, done, of)
        self._report(line, timed=True)

    def _report(self, line: str, timed: bool = False) -> None:
        if not self._notebook_bar:
            super()._report(line, timed)

    def on_compare(self, count: int, total: int) -> None:
        """See :class:`simtown.core.callbacks.FitCallback`."""
        self._compared += count
        line = f"reading the examples for their digests: {self._compared:,} of {total:,}"
        self._show(line, self._compared, total)

    def on_note(self, line: str) -> None:
        """See :class:`simtown.core.callbacks.FitCallback`."""
        if self._live:
            self._console.print(printable(line), soft_wrap=True)
        self._report(f"{self._title}: {line}")

    def on_step(self, epoch: int, step: int, examples: int, loss: SupportsFloat) -> None:
        """See :class:`simtown.core.callbacks.FitCallback`."""
        self._examples += examples
        now = monotonic()
        if now - self._measured < _MEASURE_EVERY:
            return
        if self._steps:  # the first step is not timed: much is prepared in it
            between = between_validations(self._settings)
            most, done = self._settings.max_steps, (step - 1) % between + 1
            speed = self._examples / (now - self._measured)
            line = f"epoch {epoch:,}, step {step:,}, loss {float(loss):.3f}, {speed:,.0f} images/s"
            self._show(line, step if most else done, most or between)
        self._steps, self._examples, self._measured = step, 0, now

    def on_validation(self, row: dict[str, float], best: dict[str, float]) -> None:
        """See :class:`simtown.core.callbacks.FitCallback`."""
        accuracies = f"train {row['train_accuracy']:.3f}, val {row['val_accuracy']:.3f}"
        best_yet = f"best {best['val_accuracy']:.3f} in epoch {best['epoch']:,.0f}"
        loss = f"epoch {row['epoch']:,.0f} validated: loss {row['train_loss']:.3f}"
        self._validated = f"{loss}, {accuracies}, {best_yet}"
        self._report(f"{self._title}: {self._validated}", timed=True)


class SweepDisplay(_Display):
    """Shows the progress of a sweep: in a terminal its running cells and what happened last; elsewhere lines.

    See :class:`simtown.training.sweep.SweepCallback`. How many cells an adaptive sweep runs is not known.
    """

    def __init__(self, plan: SweepPlan) -> None:
        super().__init__()
        self._plan, self._begun = plan, monotonic()
        self._ended: set[str] = set()
        self._running: dict[str, str] = {}
        self._notes: deque[str] = deque(maxlen=_NOTES)

    def on_note(self, line: str) -> None:
        """See :class:`simtown.training.sweep.SweepCallback`."""
        self._notes.append(line)
        self._report(line)

    def on_change(self, cell: SweepCell, state: str, content: dict[str, Any]) -> None:
        """See :class:`simtown.training.sweep.SweepCallback`."""
        if state == "running":
            step, best = f"{content['step']:,.0f}", f"{content['best']:.3f}"
            self._running[cell.name] = f"{cell.name} at step {step}, best validation accuracy {best}"
            self._report(f"{self._so_far()}: {self._running[cell.name]}", timed=True)
            return
        self._ended.add(cell.name)
        if self._running.pop(cell.name, None) or state == "failed":  # not what was done before this sweep
            failed = state == "failed"
            words = content["error"] if failed else f"test accuracy {content['test']['accuracy']:.3f}"
            line = f"{cell.name} {'failed: ' * failed}{words}"
            self._notes.append(line)
            self._report(f"{self._so_far()}: {line}")

    def _so_far(self) -> str:
        of = "" if self._plan.targets else f" of {len(self._plan.cells)}"
        return f"{len(self._ended)}{of} runs after {duration(monotonic() - self._begun)}"

    def _drawn(self) -> Group:
        lines = [f"{self._plan.preset}: {self._so_far()}", *self._notes, *self._running.values()]
        return Group(*map(styled, lines))
