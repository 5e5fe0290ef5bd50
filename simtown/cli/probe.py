"""The commands under ``simtown probe`` that run a study, made from the registry of studies."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from simtown.cli.app import RefusalError, app
from simtown.core import extras
from simtown.core.options import Option, options_of
from simtown.core.terminal import say, say_block
from simtown.probes.studies import STUDIES
from simtown.probes.study import ScorerOptions, Study

if TYPE_CHECKING:
    from simtown.probes.printed import PrintedTable


probe = typer.Typer(
    name="probe",
    help="What text alone teaches of the physical world: studies of word vectors and language models.\n\n"
    "Start with: simtown probe ask ITEMS.csv --template 'a [X] is [Y] .' --model hf:bert-base-uncased "
    "--out DIR.",
    short_help="Studies of what language models know of the world.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(probe)


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


def takes_scorer_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command with :class:`ScorerOptions` as options; it is given them as `scorer_options`."""
    signature = inspect.signature(command)
    own = [p for p in signature.parameters.values() if p.name != "scorer_options"]
    hints = get_type_hints(command, include_extras=True)
    parameters = [*(p.replace(annotation=hints[p.name]) for p in own), *_options(ScorerOptions)]

    def wrapped(**values: Any) -> None:
        names = options_of(ScorerOptions)
        options = ScorerOptions(**{name: values.pop(name) for name in names})
        command(**values, scorer_options=options)

    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    return _with_parameters(wrapped, parameters)


def _with_parameters(
    command: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """The command with the signature that Typer reads its options from."""
    command.__signature__ = inspect.Signature(list(parameters))  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    return command


def _options(settings: type, optional: bool = False) -> list[inspect.Parameter]:
    """The parameters of a command for the fields of a dataclass; `optional`: none of them is required."""
    parameters = []
    for name, (kind, option) in options_of(settings).items():
        default = getattr(settings, name, None if optional else inspect.Parameter.empty)
        parameters.append(_parameter(name, kind, option, default))
    return parameters


def _parameter(name: str, kind: Any, option: Option, default: Any) -> inspect.Parameter:
    flag = f"--{option.flag or name.replace('_', '-')}"
    if kind == tuple[str, ...]:
        kind, default = list[str] | None, None
    elif default is None:
        kind = kind | None
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, typer.Option(flag, help=option.help)],
    )


def add_study(study: Study, *, group: str = "") -> typer.Typer:
    """Add the command that runs a study.

    Args:
        group: the commands beside it, such as "judge, town"; it is then a group with the returned Typer.

    Returns: the Typer to which the commands beside it are added.
    """
    source = study.source
    info = (
        typer.Argument(help=source.help, metavar=source.name.upper())
        if source.argument
        else typer.Option(help=source.help)
    )
    missing = None if group else inspect.Parameter.empty
    path = Path | None if group else Path

    def parameter(name: str, annotation: Any) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=missing, annotation=annotation)

    out = typer.Option(help="The directory to write; the same command again continues it.")
    model, *others = _options(study.settings, optional=bool(group))
    parameters = [
        parameter(source.name, Annotated[path, info]),
        model,
        parameter("out", Annotated[path, out]),
        *others,
        *_options(ScorerOptions),
    ]
    if group:
        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters.insert(0, context)

    def command(**values: Any) -> None:
        context = values.pop("context", None)
        if context is not None and context.invoked_subcommand is not None:
            return
        if values["model"] is None or values["out"] is None or values[source.name] is None:
            raise RefusalError(
                f"probe {study.name} needs --model, --{source.name} and --out (see --help), or a command: "
                f"{group}"
            )
        _run(study, values)

    command.__doc__ = study.about
    _with_parameters(command, parameters)
    if not group:
        probe.command(study.name, short_help=study.title)(command)
        return probe
    commands = typer.Typer(name=study.name, short_help=study.title, rich_markup_mode=None)
    commands.callback(invoke_without_command=True)(command)
    probe.add_typer(commands)
    return commands


def _run(study: Study, values: dict[str, Any]) -> None:
    """Run a study with the values of its command's options."""
    need()
    from simtown.probes import runner
    from simtown.probes.bars import one_bar

    out, source = values.pop("out"), values.pop(study.source.name)
    options = ScorerOptions(**{name: values.pop(name) for name in options_of(ScorerOptions)})
    for name, value in values.items():
        if isinstance(value, list):
            values[name] = tuple(value)
    settings = study.settings(**{name: value for name, value in values.items() if value is not None})
    with one_bar() as bars:
        content = runner.run(study, source, settings, out, options, bars)
    show_page(out / "summary.md")
    for line in study.remarks(content):
        say(line)
    say(study.ending.format(out=out))


add_study(STUDIES["ask"])
add_study(STUDIES["physical"])
visual = add_study(STUDIES["visual"], group="mine, distill, figure, bridge")
spatial = add_study(STUDIES["spatial"], group="judge, judgements, town")
