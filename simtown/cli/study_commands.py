"""The command that runs a study, and what the commands under ``simtown probe`` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtown.cli.command import RefusalError
from simtown.core import extras
from simtown.core.console import new_table, page
from simtown.core.progress import one_bar
from simtown.core.terminal import say, say_block
from simtown.core.untrusted import read_text

if TYPE_CHECKING:
    from simtown.probes.report import Results
    from simtown.probes.reproduce import PrintedTable

CORPUS = "Text, one phrase a line, or Visual Genome's region_descriptions.json; packed or not."
#: The directory of a study's results.
Out = Annotated[Path, "The directory to write; the same command again continues it."]

probe = typer.Typer(
    name="probe",
    help="What text alone teaches of the physical world: studies of word vectors and language models.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def need() -> None:
    """Raises MissingExtraError if the extra is not installed."""
    extras.need("probes")


def show(tables: Sequence[PrintedTable]) -> None:
    """Print tables, wide where nobody's terminal decides; no cell is broken in two lines."""
    with page(160) as console:
        for table in tables:
            heads = ("", *table.columns)
            drawn = new_table(table.title, heads, table.texts(), left=heads[: table.words])
            drawn.caption = "\n".join(table.notes) or None
            for column in drawn.columns:
                column.no_wrap = not table.notes
            console.print(drawn)


def show_page(path: Path) -> None:
    """Print a page that a study wrote."""
    say_block(read_text(path, follow=False))


def is_study(context: typer.Context, settings: Any, out: Path | None, **source: Path | None) -> bool:
    """Whether the study is run, and not a command beside it; `source` is its data, by the option's name.

    Raises:
        RefusalError: one of what the study needs is missing.
    """
    if context.invoked_subcommand is not None:
        return False
    (name,) = source
    if settings.model is None or out is None or source[name] is None:
        raise RefusalError(
            f"probe {context.info_name} needs --model, --{name} and --out (see --help), or a command"
        )
    return True


def runner(name: str) -> tuple[Callable[..., Results], AbstractContextManager[Any]]:
    """The runner of a study, and its progress bar."""
    need()
    from simtown.probes.studies import STUDIES
    from simtown.probes.study import run

    return partial(run, STUDIES[name]), one_bar()


def show_results(results: Results) -> None:
    """Print the scores of a study."""
    show_page(results.path / "summary.md")
    say(f"Everything is in {results.path}; figures: {results.path}/*.png")
