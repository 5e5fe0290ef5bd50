"""The command that runs a study, and what the commands under ``simtown probe`` share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtown.cli.command import RefusalError, command
from simtown.core import extras
from simtown.core.terminal import say, say_block
from simtown.probes.study import ScorerOptions, Study, StudySettings

if TYPE_CHECKING:
    from simtown.probes.printed import PrintedTable

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


def add_study(study: Study, *, group: str = "") -> typer.Typer:
    """Add the command that runs a study.

    Args:
        group: the commands beside it, such as "judge, town"; it is then a group with the returned Typer.

    Returns: the Typer to which the commands beside it are added.
    """

    def run(context: typer.Context, source: Path, settings: Any, out: Path, scorer: ScorerOptions) -> None:
        if context.invoked_subcommand is not None:
            return
        if settings.model is None or out is None or source is None:
            raise RefusalError(
                f"probe {study.name} needs --model, --{study.source.name} and --out (see --help), or a "
                f"command: {group}"
            )
        _run(study, source, settings, out, scorer)

    name = study.source.name
    info = (
        typer.Argument(help=study.source.help, metavar=name.upper())
        if study.source.argument
        else typer.Option(f"--{name}", help=study.source.help)
    )
    directory = typer.Option("--out", help="The directory to write; the same command again continues it.")
    run.__doc__ = study.about
    run.__annotations__ |= {
        "source": Annotated[Path, info],
        "settings": study.settings,
        "out": Annotated[Path, directory],
    }
    if not group:
        probe.command(study.name, short_help=study.title)(command(run))
        return probe
    commands = typer.Typer(name=study.name, short_help=study.title, rich_markup_mode=None)
    commands.callback(invoke_without_command=True)(command(run, optional=True))
    probe.add_typer(commands)
    return commands


def _run(study: Study, source: Path, settings: StudySettings, out: Path, scorer: ScorerOptions) -> None:
    """Run a study and show its tables."""
    need()
    from simtown.probes import runner
    from simtown.probes.bars import one_bar

    with one_bar() as bars:
        content = runner.run(study, source, settings, out, scorer, bars)
    show_page(out / "summary.md")
    for line in study.remarks(content):
        say(line)
    say(study.ending.format(out=out))
