"""The command that runs a study, and what the commands under ``simtown probe`` share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtown.cli.command import RefusalError
from simtown.core import extras
from simtown.core.terminal import say, say_block
from simtown.probes.study_settings import ScorerOptions

if TYPE_CHECKING:
    from simtown.probes.reproduce import PrintedTable

#: The directory of a study's results.
Out = Annotated[Path, typer.Option(help="The directory to write; the same command again continues it.")]

probe = typer.Typer(
    name="probe",
    help="What text alone teaches of the physical world: studies of word vectors and language models.\n\n"
    "Start with: simtown probe ask ITEMS.csv --template 'a [X] is [Y] .' --model hf:bert-base-uncased "
    "--out DIR.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def need() -> None:
    """Raises MissingExtraError if the extra is not installed."""
    extras.need("probes")


def show(tables: Sequence[PrintedTable]) -> None:
    """Print tables, wide where nobody's terminal decides; no cell is broken in two lines."""
    from rich.table import Table

    from simtown.core.console import page

    with page(160) as console:
        for table in tables:
            notes = "\n".join(table.notes) or None
            drawn = Table(title=table.title, title_justify="left", caption=notes, caption_justify="left")
            for i, head in enumerate(("", *table.columns)):
                drawn.add_column(
                    head, justify="left" if i < table.words else "right", no_wrap=not table.notes
                )
            for row in table.texts():
                drawn.add_row(*row)
            console.print(drawn)


def show_page(path: Path) -> None:
    """Print a page that a study wrote."""
    from simtown.core.untrusted import read_text

    say_block(read_text(path, follow=False))


def run_study(
    context: typer.Context | None, name: str, source: Path, settings: Any, out: Path, scorer: ScorerOptions
) -> None:
    """Run a study and show its tables; `context` is that of a command with others beside it."""
    from simtown.probes.bars import one_bar
    from simtown.probes.studies import STUDIES
    from simtown.probes.study import run

    if context is not None and context.invoked_subcommand is not None:
        return
    study = STUDIES[name]
    if settings.model is None or out is None or source is None:
        raise RefusalError(
            f"probe {name} needs --model, --{study.source} and --out, or a command: see --help"
        )
    with one_bar() as bars:
        run(study, source, settings, out, scorer, bars)
    show_page(out / "summary.md")
    say(f"Everything is in {out}; figures: {out}/*.png")
