"""Progress of long work: live in a terminal, below its cell in a notebook, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from simtown.core.amounts import duration
from simtown.core.callbacks import NO_STAGES, ProgressCallback
from simtown.core.console import PlainConsole, styled
from simtown.core.notebook import NotebookBar, in_notebook
from simtown.core.terminal import complain
from simtown.core.untrusted import printable

#: Seconds before a terminal shows anything.
PATIENCE = 1.0
#: Seconds before the first plain line, and how many times as long each wait is as the one before.
FIRST, LONGER = 5.0, 1.5
#: Seconds since the first progress, or the share of the work, from which on the time left is told.
_SURE_SECONDS, _SURE_SHARE = 3.0, 0.05
#: The beginning of every plain line of progress. Whether it is printed depends on the time, unlike a message.
PREFIX = "progress: "
#: Opens a progress display: takes a title and the number of units (0: unknown), and gives the function that
#: receives the number of newly finished units.
Bars = Callable[[str, int], Callable[[int], object]]


def no_bars(title: str, total: int) -> Callable[[int], None]:
    """:data:`Bars` that show nothing."""
    return lambda count: None


def report(line: str) -> None:
    """Print one plain line of progress on stderr."""
    complain(f"{PREFIX}{line}")


class LineClock:
    """Says when a plain line of progress is due: ever more seldom, so that a long command has a short log."""

    def __init__(self) -> None:
        self._wait, self._next = FIRST, monotonic() + FIRST

    def due(self) -> bool:
        """Whether it is time for a line; the wait for the next one begins then."""
        if monotonic() < self._next:
            return False
        self._wait *= LONGER
        self._next = monotonic() + self._wait
        return True


class Display(ProgressCallback):
    """Shows the state of long work on stderr, or below a notebook's cell: a title, a bar, and lines about it.

    A terminal shows it live, from :data:`PATIENCE` on. Elsewhere its lines are logged, ever more seldom.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._console = PlainConsole(stderr=True)
        self._live: Live | None = None
        self._notebook_bar = NotebookBar() if in_notebook() else None
        self._begun, self._clock = monotonic(), LineClock()
        self._lines: tuple[str, ...] = ()
        self._bar = ProgressBar(total=None)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(console=self._console, get_renderable=self._render)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._live.stop()
        if self._notebook_bar:
            self._notebook_bar.show(self._text(), last=True)

    def show(self, *lines: str, done: int = 0, total: int = 0) -> None:
        """Show where the work stands; a total of 0 is not known."""
        self._lines = lines
        self._bar.update(done, total or None)
        if self._notebook_bar:
            self._notebook_bar.show(self._text(), done, total)
        elif not self._live and self._clock.due():
            report(self._text())

    def on_note(self, line: str) -> None:
        """Show a line at once that stays: above the bar, or in the log."""
        if self._live:
            self._console.print(printable(line), soft_wrap=True)
        elif not self._notebook_bar:
            report(f"{self.title}: {line}")

    def _text(self) -> str:
        lines = "; ".join(filter(None, self._lines))
        return f"{self.title}: {lines}" if lines else self.title

    def _render(self) -> Group:
        seconds = monotonic() - self._begun
        if seconds < PATIENCE:
            return Group()
        head = Table.grid(padding=(0, 1), expand=True)
        head.add_column(no_wrap=True)
        head.add_column(ratio=1)
        head.add_column(no_wrap=True)
        head.add_row(self.title, self._bar, duration(seconds))
        lines = [styled(f"  {line}") for line in self._lines if line]
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(head, *lines)


class Progress(Display):
    """Shows how many units of work are done, how fast, and how long the others take."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._total = self._done = self._before = 0
        self._stage = ""
        self._first: tuple[float, int] | None = None
        self._seconds: dict[str, float] = {}

    def on_begin(self, total: int, done: int = 0, stage: str = "") -> None:
        """See :class:`simtown.core.callbacks.ProgressCallback`."""
        self._total, self._done, self._before = total, done, done
        self._stage, self._first = stage and f"{stage}: ", None
        self._begun, self._clock = monotonic(), LineClock()
        if done and done < total:
            self.on_note(f"continuing: {done:,} of {total:,} are there")
        self.show(self._so_far(), done=done, total=total)

    def on_progress(self, count: int, seconds: Mapping[str, float] = NO_STAGES) -> None:
        """See :class:`simtown.core.callbacks.ProgressCallback`."""
        self._done += count
        self._first = self._first or (monotonic(), self._done)
        for stage, spent in seconds.items():
            self._seconds[stage] = self._seconds.get(stage, 0.0) + spent
        self.show(self._so_far(), self._shares(), done=self._done, total=self._total)

    def _so_far(self) -> str:
        of_total = f" of {self._total:,}" if self._total else ""
        words = [f"{self._stage}{self._done:,}{of_total}", f"{self._rate():,.0f}/s", self._left()]
        return ", ".join(filter(None, words))

    def _left(self) -> str:
        """The time that is left, by the speed since the first progress, which start-up does not slow down.

        "" before 5 % of the work or 3 seconds: a guess would be far off.
        """
        begun, first = self._first or (monotonic(), self._done)
        seconds, finished = monotonic() - begun, self._done - first
        early = seconds < _SURE_SECONDS and self._done - self._before < _SURE_SHARE * self._total
        if early or not finished or self._done >= self._total:
            return ""
        return f"{(self._total - self._done) * seconds / finished:,.0f} s left"

    def kilobytes(self) -> Callable[[int], None]:
        """A callback that receives numbers of bytes, for a bar that counts kilobytes."""
        counted = received = 0

        def advance(count: int) -> None:
            nonlocal counted, received
            received += count
            self.on_progress(received // 1000 - counted)
            counted = received // 1000

        return advance

    def _rate(self) -> float:
        return (self._done - self._before) / max(monotonic() - self._begun, 1e-9)

    def _shares(self) -> str:
        busy = sum(self._seconds.values())
        return " ".join(f"{stage} {spent / busy:.0%}" for stage, spent in self._seconds.items() if busy)

    def summary(self) -> str:
        """A summary of this run: what was made, how fast, and the share of each stage."""
        finished = self._done - self._before
        if not finished:
            return "nothing was missing"
        seconds = monotonic() - self._begun
        return f"{finished:,} examples in {seconds:.1f} s, {self._rate():,.0f}/s ({self._shares()})"


@contextmanager
def progress_of(title: str, total: int = 0, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Show work of `total` units (0: unknown); yields what receives the number of newly finished units."""
    if not shown:
        yield no_bars(title, total)
        return
    with Progress(title) as progress:
        progress.on_begin(total)
        yield progress.on_progress


@contextmanager
def one_bar() -> Iterator[Bars]:
    """Progress displays for the duration, one at a time: each ends the one before."""
    with ExitStack() as displays:

        def start(title: str, total: int) -> Callable[[int], object]:
            displays.close()
            return displays.enter_context(progress_of(title, total))

        yield start
