"""Tables and bars on a terminal: rich's, without markup and without anything that a terminal obeys."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Task, TextColumn
from rich.text import Text

from simtown.core.terminal import plain


class PlainConsole(Console):
    """A console that shows every string as it is, also a table's cell, title or heading.

    [bold] is six characters, ESC is \\x1b.
    """

    def __init__(self, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """A string as rich's text. See :meth:`rich.console.Console.render_str`."""
        return super().render_str(plain(text, block=True), **options)


class Words(TextColumn):
    """A column of a progress bar: its format filled in, and shown as it is."""

    def render(self, task: Task) -> Text:
        """See :meth:`rich.progress.TextColumn.render`."""
        return styled(self.text_format.format(task=task))


def styled(text: str, style: str = "") -> Text:
    """A text in one of rich's styles."""
    return Text(plain(text), style)


@contextmanager
def page(width: int | None = None) -> Iterator[PlainConsole]:
    """A console for stdout; all that is printed on it appears when the block ends well.

    `width`: columns where no terminal decides.
    """
    console = PlainConsole(width=None if sys.stdout.isatty() else width)
    with console.capture() as printed:
        yield console
    sys.stdout.write(printed.get())
