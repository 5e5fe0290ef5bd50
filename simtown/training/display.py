"""How a run or a sweep goes: a live display in a terminal, plain lines elsewhere."""

from __future__ import annotations

from math import inf, isnan, nan
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TimeElapsedColumn
from rich.text import Text

from simtown.core.amounts import duration
from simtown.core.console import PlainConsole, Words, new_table, styled
from simtown.core.progress import EVERY, report
from simtown.core.untrusted import printable
from simtown.training.early_stopping import between_validations
from simtown.training.fit import FitCallback

if TYPE_CHECKING:
    import torch

    from simtown.training.fit_settings import FitSettings
    from simtown.training.plan import SweepCell, SweepPlan


#: Seconds over which the speed of a run is measured. Reading a loss makes a GPU wait.
_MEASURE_EVERY = 1.0
#: Seconds after which a sweep without a terminal says how it goes, though no run has ended.
_QUIET = 60.0
#: Lines above the table of a sweep: what it did last, or found.
_NOTES = 4
#: A run of a sweep: its state, and the accuracy reached so far, NaN if there is none.
_State = tuple[str, float]
_ENDED = ("done", "failed")


class _Display:
    """What is drawn live in a terminal, between entering and leaving; elsewhere nothing is."""

    def __init__(self) -> None:
        self._console = PlainConsole(stderr=True)
        self._live: Live | None = None
        self._reported = monotonic()
        if self._console.is_terminal:
            self._live = Live(console=self._console, get_renderable=self._drawn)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._live.stop()

    def _report(self, line: str, every: float = 0.0) -> None:
        """Print a line where nothing is drawn, if so many seconds have passed since the last one."""
        if self._live is None and monotonic() - self._reported >= every:
            self._reported = monotonic()
            report(line)

    def _drawn(self) -> Group:
        raise NotImplementedError


class FitDisplay(_Display, FitCallback):
    """Shows the progress of a training run on stderr.

    The bar counts the steps up to the next validation. How long a run takes is not known: it ends when it
    stops getting better.

    Args:
        title: of its lines.
        settings: of the run.
    """

    def __init__(self, title: str, settings: FitSettings) -> None:
        super().__init__()
        self._title, self._settings = title, settings
        self._compared = self._steps = self._examples = 0
        self._measured = -inf
        self._now = self._validated = ""
        columns = (Words("{task.description}"), BarColumn(None), TimeElapsedColumn())
        self._bar = Progress(*columns, console=self._console, expand=True)
        self._task = self._bar.add_task(title, total=None)

    def _drawn(self) -> Group:
        lines = [styled(f"  {line}") for line in (self._now, self._validated) if line]
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(self._bar.get_renderable(), *lines)

    def _show(self, now: str, done: int, of: int) -> None:
        self._now = now
        self._bar.update(self._task, completed=done, total=of)
        self._report(f"{self._title}: {'; '.join(filter(None, (now, self._validated)))}", EVERY)

    def on_compare(self, count: int, total: int) -> None:
        """See :class:`simtown.training.fit.FitCallback`."""
        self._compared += count
        line = f"reading the examples for their digests: {self._compared:,} of {total:,}"
        self._show(line, self._compared, total)

    def on_note(self, line: str) -> None:
        """See :class:`simtown.training.fit.FitCallback`."""
        if self._live:
            self._console.print(printable(line), soft_wrap=True)
        self._report(f"{self._title}: {line}")

    def on_step(self, epoch: int, step: int, examples: int, loss: torch.Tensor) -> None:
        """See :class:`simtown.training.fit.FitCallback`."""
        self._examples += examples
        now = monotonic()
        if now - self._measured < _MEASURE_EVERY:
            return
        if self._steps:  # the first step is not timed: much is prepared in it
            between = between_validations(self._settings)
            speed = self._examples / (now - self._measured)
            line = f"epoch {epoch:,}, step {step:,}, loss {float(loss):.3f}, {speed:,.0f} images/s"
            self._show(line, (step - 1) % between + 1, between)
        self._steps, self._examples, self._measured = step, 0, now

    def on_validation(self, row: dict[str, float], best: dict[str, float]) -> None:
        """See :class:`simtown.training.fit.FitCallback`."""
        self._validated = (
            f"epoch {row['epoch']:,.0f} validated: loss {row['train_loss']:.3f}, train "
            f"{row['train_accuracy']:.3f}, val {row['val_accuracy']:.3f}, best {best['val_accuracy']:.3f} in "
            f"epoch {best['epoch']:,.0f}"
        )
        self._report(f"{self._title}: {self._validated}", EVERY)


class SweepDisplay(_Display):
    """Shows the progress of a sweep: a table of worlds and sizes in a terminal, elsewhere a line a run.

    See :class:`simtown.training.sweep.SweepCallback`. An adaptive sweep's cells are unknown until they are
    waiting to run.

    Args:
        plan: of the sweep.
    """

    def __init__(self, plan: SweepPlan) -> None:
        super().__init__()
        self._plan, self._begun = plan, monotonic()
        self._states: dict[str, tuple[SweepCell, _State]] = {}
        self._notes: list[str] = []

    def on_note(self, line: str) -> None:
        """See :class:`simtown.training.sweep.SweepCallback`."""
        self._notes = [*self._notes, line][-_NOTES:]
        self._report(line)

    def on_change(self, cell: SweepCell, state: str, content: dict[str, Any]) -> None:
        """See :class:`simtown.training.sweep.SweepCallback`."""
        first = cell.name not in self._states
        accuracy = content["test"]["accuracy"] if state == "done" else content.get("best", nan)
        self._states[cell.name] = cell, (state, accuracy)
        if first:
            return
        words = {
            "done": f"test accuracy {accuracy:.3f}",
            "failed": f"failed: {content.get('error')}",
            "running": f"at step {content.get('step', 0):.0f}, best validation accuracy {accuracy:.3f}",
        }
        every = _QUIET if state == "running" else 0.0
        self._report(f"{self._so_far()}: {cell.name} {words[state]}", every)

    def _so_far(self) -> str:
        ended = sum(state in _ENDED for _, (state, _) in self._states.values())
        of = "" if self._plan.targets else f" of {len(self._plan.cells)}"
        return f"{ended}{of} runs after {duration(monotonic() - self._begun)}"

    def _drawn(self) -> Group:
        rows: dict[tuple[str, str], dict[int, list[_State]]] = {}
        for cell, state in self._states.values():
            world = f"{cell.data.entities}{' + distractor' if cell.data.distractor else ''}"
            rows.setdefault((world, cell.fit.model), {}).setdefault(cell.fit.train_size, []).append(state)
        if self._plan.targets:  # too many for a terminal: those that are being searched
            rows = {
                name: row
                for name, row in rows.items()
                if any(state not in _ENDED for states in row.values() for state, _ in states)
            }
        sizes = sorted({n for row in rows.values() for n in row})
        table = new_table("", ["world", "model", *(f"{n:,}" for n in sizes)], left=("world", "model"))
        for column in table.columns:
            column.no_wrap = True
        for (world, model), row in rows.items():
            table.add_row(world, model, *(_brief(row[n]) if n in row else "" for n in sizes))
        title = f"{self._plan.preset}: {self._so_far()}"
        return Group(title, *map(styled, self._notes), table)


def _brief(states: list[_State]) -> Text:
    """The runs of all seeds in a table's cell: their mean accuracy, dimmed while some still run.

    With how many have ended, unless all have.
    """
    reached = [accuracy for _, accuracy in states if not isnan(accuracy)]
    ended, failed = (sum(state in some for state, _ in states) for some in (_ENDED, ("failed",)))
    mean = f"{sum(reached) / len(reached):.2f}" if reached else "·"
    text = styled(mean, "bold") if ended == len(states) else styled(f"{mean}{'…' if reached else ''}", "dim")
    count = f" {ended}/{len(states)}" if 0 < ended < len(states) else ""
    return text + count + styled(f" {failed} failed" if failed else "", "red")
