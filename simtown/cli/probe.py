"""What the studies' commands share: their group, the extra they need, and tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from simtown import extras
from simtown.cli.app import app
from simtown.terminal import say_block

if TYPE_CHECKING:
    from rich.table import Table

#: Bytes of the largest page that is printed: several times a summary of every task and group.
LARGEST_PAGE = 1_000_000

probe = typer.Typer(
    name="probe",
    help="What text alone teaches of the physical world: studies of word vectors and language models.\n\n"
    "Start with: simtown probe reproduce forbes-table2 --data physical-commonsense (a clone of github.com/mbforbes/physical-commonsense).",
    short_help="Studies of what language models know of the world.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.add_typer(probe)


def need() -> None:
    """One line instead of an ImportError where the extra is not installed."""
    extras.need("this command", ("torch", "transformers", "sklearn", "scipy", "lemminflect", "pyarrow", "matplotlib"), "probes")


def show(tables: Sequence[Table]) -> None:
    """Print tables, wide where nobody's terminal decides."""
    from simtown.console import page

    with page(160) as console:
        for table in tables:
            console.print(table)


def show_page(path: Path) -> None:
    """Print a page that a study wrote."""
    from simtown.files import read_text

    say_block(read_text(path, LARGEST_PAGE, follow=False))


def headed(title: str, *heads: str, left: int = 1) -> Table:
    """An empty table whose first `left` columns hold words and the others numbers; no cell is broken in two lines."""
    from rich.table import Table

    made = Table(title=title, title_justify="left")
    for i, head in enumerate(heads):
        made.add_column(head, justify="left" if i < left else "right", no_wrap=True)
    return made
