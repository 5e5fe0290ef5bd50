"""Progress of a long command: a live bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn
from rich.progress import Progress as Bar

from simtown.core.callbacks import NO_STAGES, ProgressCallback
from simtown.core.console import PlainConsole, Words
from simtown.core.notebook import NotebookBar, in_notebook
from simtown.core.terminal import complain
from simtown.core.untrusted import printable

#: Seconds before the first plain line, and how many times as long each wait is as the one before.
FIRST, LONGER = 5.0, 1.5
#: Columns from which on the bar shows the share of each stage too.
WIDE = 140
#: Seconds since the first progress, or the share of the work, from which on the time left is told.
_SURE_SECONDS, _SURE_SHARE = 3.0, 0.05
#: What every plain line of progress begins with. Whether it is printed depends on the time, unlike a message.
PREFIX = "progress: "


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


class Progress(ProgressCallback):
    """Shows progress on stderr, in a notebook below its cell."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._console = PlainConsole(stderr=True)
        self._bar: Bar | None = None
        self._notebook_bar = NotebookBar() if in_notebook() else None
        self._total = self._done = self._before = 0
        self._begun, self._clock = monotonic(), LineClock()
        self._first: tuple[float, int] | None = None
        self._seconds: dict[str, float] = {}

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._notebook_bar:
            self._notebook_bar.show(f"{self._title}: {self._so_far()}", last=True)

    def say(self, line: str) -> None:
        """A line above the bar."""
        self._console.print(printable(line), soft_wrap=True)

    def on_begin(self, total: int, done: int = 0) -> None:
        """See :class:`simtown.core.callbacks.ProgressCallback`."""
        self._total, self._done, self._before = total, done, done
        self._begun, self._clock = monotonic(), LineClock()
        self._first = None
        if done and done < total:
            self.say(f"continuing: {done:,} of {total:,} examples are there")
        if self._console.is_terminal and (done < total or not total):
            columns = [Words("{task.description}"), BarColumn(None), MofNCompleteColumn()]
            columns += [Words("{task.fields[rate]}"), Words("{task.fields[left]}")]
            wide = self._console.width >= WIDE
            if wide:
                columns.append(Words("{task.fields[shares]}"))
            self._bar = Bar(*columns, console=self._console, expand=not wide)
            empty: dict[str, Any] = {"rate": "", "left": "", "shares": ""}
            self._bar.add_task(self._title, total=total or None, completed=done, **empty)
            self._bar.start()

    def on_progress(self, count: int, seconds: Mapping[str, float] = NO_STAGES) -> None:
        """See :class:`simtown.core.callbacks.ProgressCallback`."""
        self._done += count
        self._first = self._first or (monotonic(), self._done)
        for stage, spent in seconds.items():
            self._seconds[stage] = self._seconds.get(stage, 0.0) + spent
        if self._bar is not None:
            fields: dict[str, Any] = {"rate": f"{self._rate():,.0f}/s", "left": self._left()}
            fields["shares"] = self._shares()
            self._bar.update(self._bar.task_ids[0], completed=self._done, **fields)
        elif self._notebook_bar:
            self._notebook_bar.show(f"{self._title}: {self._so_far()}", self._done, self._total)
        elif self._clock.due():
            shares = f"; {self._shares()}" if self._shares() else ""
            report(f"{self._title}: {self._so_far()}{shares}")

    def _so_far(self) -> str:
        whole = f" of {self._total:,}" if self._total else ""  # a total of 0 is not known
        end = self._left()
        return f"{self._done:,}{whole}, {self._rate():,.0f}/s{end and ', '}{end}"

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
