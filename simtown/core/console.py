"""Tables on a terminal: rich's, without markup and without anything that a terminal obeys.

Words and numbers of a table are never cut: a table that is too wide for the terminal is printed row by row.
"""

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from simtown.core.untrusted import printable

#: Columns that no table needs.
_UNBOUNDED = 100_000


class PlainConsole(Console):
    """A console that shows every string as it is: [bold] is six characters, ESC is \\x1b."""

    def __init__(self, stderr: bool = False, width: int | None = None) -> None:
        # A notebook keeps every state of the bar of "!simtown": plain lines are shown there.
        terminal = False if "JPY_PARENT_PID" in os.environ else None
        plain: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
        super().__init__(stderr=stderr, width=width, force_terminal=terminal, **plain)

    def render_str(self, text: str, **options: Any) -> Text:
        """A string as rich's text. See :meth:`rich.console.Console.render_str`."""
        return super().render_str(printable(text, block=True), **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """See :meth:`rich.console.Console.print`."""
        too_wide = [isinstance(thing, Table) and self._least_width(thing) > self.width for thing in objects]
        pairs = zip(objects, too_wide, strict=True)
        super().print(*(_rows(thing) if wide else thing for thing, wide in pairs), **options)

    def _least_width(self, table: Table) -> int:
        """The width from which on no word of a table is cut; only columns that can be wrapped will shrink."""
        for column in table.columns:
            cells = [self.measure(cell) for cell in (column.header, *column.cells)]
            widest_cell = max(cell.maximum for cell in cells)
            if column.no_wrap or widest_cell == max(cell.minimum for cell in cells):
                column.no_wrap, column.min_width = True, widest_cell
        return self.measure(table, options=self.options.update(width=_UNBOUNDED)).minimum


def _rows(table: Table) -> Group:
    """A table row by row: a line for each cell, after the head of its column, and an empty line."""
    lines = Table.grid(padding=(0, 1))
    lines.add_column()
    lines.add_column(overflow="fold")
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        for column, cell in zip(table.columns, cells, strict=True):
            lines.add_row(column.header, cell)
        lines.add_row()
    return Group(*(part for part in (table.title, lines, table.caption) if part))


def styled(text: str, style: str = "") -> Text:
    """A text in one of rich's styles."""
    return Text(printable(text), style)


def new_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]] = (),
    left: Collection[str] = (),
    **style: Any,
) -> Table:
    """A table; the columns in `left` are aligned left, the others, with numbers, right."""
    table = Table(title=title, title_justify="left", caption_justify="left", **style)
    for name in columns:
        table.add_column(name, justify="left" if name in left else "right")
    for row in rows:
        table.add_row(*row)
    return table


@contextmanager
def page(width: int = 80) -> Iterator[PlainConsole]:
    """A console for stdout, printed when the block ends well; `width` counts in a file or a pipe."""
    console = PlainConsole(width=None if sys.stdout.isatty() else width)
    with console.capture() as printed:
        yield console
    sys.stdout.write(printed.get())
