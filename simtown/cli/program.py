"""The program: the list of its commands, each imported when it is used, and errors as one line."""

import re
import sys
from collections.abc import Collection
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from simtown.cli.command import BAD_INPUT, DAMAGED, WITH_KINDS, RefusalError
from simtown.core.terminal import say, say_block

_COMMANDS = """
    generate   | generate_commands | Make a data set: scenes, pictures, questions, answers.
    play       | play_commands     | Play with a street in the browser: drag, ask, change the weather.
    preview    | generate_commands | Draw a contact sheet of a data set or the catalogue.
    render     | dataset_commands  | Draw a random street, or one stored example again.
    info       | dataset_commands  | Describe a data set, or one example.
    verify     | dataset_commands  | Check that a data set is what its settings make.
    captions   | dataset_commands  | Describe the scenes of a data set in words.
    export     | dataset_commands  | Write a data set in another tool's format.
    gallery    | dataset_commands  | Write a page that shows a data set.
    audit      | dataset_commands  | Look for shortcuts, repetitions and leaks.
    clip       | generate_commands | Film a street in motion: MP4 or GIF.
    fit        | training_commands | Train a model on a data set.
    evaluate   | training_commands | Test a trained model, or any vision-language model, on a data set.
    check      | check_commands    | Check whether the path to a model delivers the pictures that were sent.
    compare    | evaluation_commands | Say which of several models is better, and by how much.
    thresholds | training_commands | From how many metres on a model tells left from right.
    predict    | training_commands | Ask a trained model about a picture.
    sweep      | sweep_commands    | Run a grid of trainings.
    complexity | sweep_commands    | Sample complexity from many runs, or from other results.
    vg         | vg_commands       | Visual Genome: clean, count, and match its frequencies.
    lm         | lm_commands       | Small language models for the probes.
    probe      | probe_commands    | Studies of what language models know of the world.
    bench      | bench_commands    | Measure speed on this machine.
    demo       | start_commands    | Make a small data set and open it as a page.
    doctor     | start_commands    | Say what is installed, what works, and what to do.
"""
#: The module of each command or group of commands, and what the list of commands says of it.
COMMANDS = {
    name: about
    for name, *about in (re.split(" +[|] ", line.strip()) for line in _COMMANDS.strip().splitlines())
}
#: The panels of the list of commands.
GROUPS = {
    "Start": "demo play render",
    "Data sets": "generate preview info verify gallery audit captions export clip",
    "Models": "fit predict evaluate check compare thresholds sweep complexity",
    "Language and frequencies": "lm probe vg",
    "This machine": "doctor bench",
}
#: Panels of --help below Arguments and Options, and their options; "evaluate:batch" is that of one command.
PANELS = {
    "Questions": "questions questions_per_picture cannot_tell twins hold_out relations phrasing",
    "World": "kinds distractor frequencies test_seed world_seed",
    "Look": "weathers paint jitter cameras masks depth renderer large",
    "Training": "fit:protocol min_steps patience batch learning_rate max_steps stream adaptive same_data",
    "Model": "answers choices system shots samples max_tokens dtype evaluate:batch check:batch policy "
    "variant tokens",
    "Servers": "parallel rate timeout retries request price",
    "Machine": "device precision compile cache shard workers engine address jobs allow_model",
}
#: What the program says without a command: what it is, and what to do first.
START = """\
simtown makes pictures of a cartoon street, with questions and exact answers, in worlds of any size.

  simtown render                            a street as a picture, in a few seconds
  simtown play                              a street in your browser: drag, ask, change the weather
  simtown demo                              a small data set, as a page in your browser
  simtown generate --entities 20 --n 1000   a data set; then: simtown info latest

Next: simtown --help (all commands), simtown doctor (what works here), README.md (more)"""
#: The type of a value in a panel, of which "list" and "range" say nothing.
_TYPE = re.compile(r"<(?:list\[)?(\w+)(?:\]| range)?>")


@cache
def examples() -> list[str]:
    """Two or more command lines for every command, with remarks in parentheses."""
    return Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").splitlines()


def examples_of(path: str, inner: Collection[str] = ()) -> list[str]:
    """The examples of a command, "simtown vg stats"; of a group, whose commands are `inner`, two of those."""
    all_below = [example for example in examples() if example.startswith(f"{path} ") or example == path]
    own = [line for line in all_below if not {*line.removeprefix(path).split()[:1]} & {*inner}]
    return own or (all_below[::2] + all_below[1::2])[:2]


class Panels:
    """Help with options in panels, those that must be given first, and with examples at the end."""

    def format_options(self: Any, ctx: Any, formatter: Any) -> None:
        """Called to write the options."""
        panel_of = {word: name for name, words in PANELS.items() for word in words.split()}
        panels: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", "Options", *PANELS)}
        ranks = {word: rank for rank, word in enumerate(panel_of, 1)}
        for parameter in sorted(self.get_params(ctx), key=lambda p: (not p.required, ranks.get(p.name, 0))):
            usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
            panel = panel_of.get(f"{self.name}:{parameter.name}") or panel_of.get(parameter.name or "", usual)
            if record := parameter.get_help_record(ctx):
                name = _TYPE.sub(lambda found: f"<{found[1].lower()}>", record[0])
                panels[panel].append((name, record[1]))
        for panel, records in panels.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)
        if isinstance(self, TyperGroup):
            self.format_commands(ctx, formatter)
        lines = examples_of(ctx.command_path, getattr(self, "commands", {}))
        with formatter.section("Examples"):
            formatter.write_dl([(line, "") for line in lines])


class PanelCommand(Panels, TyperCommand):
    """A command whose help is in panels, and which refuses empty words."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Called to parse the words of a command. An empty one, of a variable that is not set, is
        not a path.
        """
        parser: Any = self.make_parser(ctx)
        given, _, parameters = parser.parse_args(list(args))
        for parameter in parameters:
            value = given[parameter.name]
            words = value if isinstance(value, (list, tuple)) else [value]
            if any(isinstance(word, str) and not word.strip() for word in words) and parameter.default != "":
                raise typer.BadParameter("it is empty: give a value, or leave it out", ctx, parameter)
        return super().parse_args(ctx, args)


class PanelGroup(Panels, TyperGroup):
    """A group of commands whose help is in panels."""


class Root(TyperGroup):
    """The program, whose help groups its commands."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Called to write the commands."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(80)) for name in names.split()]
                )


app = typer.Typer(
    name="simtown",
    cls=Root,
    help="A cartoon street that asks how visual question answering scales with the world.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(value: bool) -> None:
    if value:
        from simtown.core.version import __version__

        say(f"simtown {__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        say_block(START)


class Deferred(TyperCommand):
    """A command, or group of commands, whose module is imported when it is used."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name, short_help=summary)
        self.module = module

    def load(self) -> Any:
        """The command itself: the function of its name in the module, or the group that is defined there."""
        target = getattr(import_module(f"simtown.cli.{self.module}"), self.name or "")
        if isinstance(target, typer.Typer):
            _in_panels(target)
            return typer.main.get_group(target)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(self.name, cls=PanelCommand)(target)
        return typer.main.get_command(single)

    def make_context(self, info_name: str | None, args: list[str], *others: Any, **more: Any) -> Any:
        """Called to parse the words after the command's name; kinds must be known before the town is."""
        places = [place for word, place in pairwise(args) if word == "--kinds"]
        places += [word.removeprefix("--kinds=") for word in args if word.startswith("--kinds=")]
        if places and self.module in WITH_KINDS:
            from simtown.assets.own import use_kinds

            use_kinds(*places)
        return self.load().make_context(info_name, args, *others, **more)


def _in_panels(group: Any) -> None:
    """Let the help of a group, and of all below it, be in panels."""
    group.info.cls = PanelGroup
    for command in group.registered_commands:
        command.cls = PanelCommand
    for inner in group.registered_groups:
        inner.cls = PanelGroup
        _in_panels(inner.typer_instance)


@cache
def program() -> TyperGroup:
    """The tree of all commands."""
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    for name, (module, summary) in COMMANDS.items():
        root.add_command(Deferred(name, module, summary))
    return root


def _wrong_value(error: Any) -> str:
    """The line that names an option and the value that it cannot have; "" for another error."""
    if not hasattr(error.__cause__, "errors"):
        return ""
    (wrong, *_), name = error.__cause__.errors(), error.param.opts[0]
    kinds = {"int_parsing": "a whole number such as 1000", "float_parsing": "a number such as 0.5"}
    needed = kinds.get(wrong["type"], wrong["msg"].replace("Input should be", "a number"))
    return f"{name} is '{wrong['input']}': give {needed}"


def explain(error: BaseException) -> tuple[str, int]:
    """The line that says why a command failed, or "", and the exit code; raises what is not expected."""
    if isinstance(error, RefusalError):
        return str(error), error.code
    if isinstance(error, SystemExit) and type(sys.stdout).__name__ == "PacifyFlushWrapper":
        return "", 0  # Typer has met a reader, such as head, that has gone
    if type(error).__name__ == "NoArgsIsHelpError":
        say_block(error.ctx.get_help())  # type: ignore[attr-defined]
        return "", BAD_INPUT
    if hasattr(error, "format_message"):  # a wrong option
        if type(error).__name__ == "MissingParameter":
            command = error.ctx.command_path  # type: ignore[attr-defined]
            such_as = examples_of(command)[0].partition("   (")[0]
            return f"{error.format_message().rstrip('.')}: for example {such_as}", BAD_INPUT
        return _wrong_value(error) or error.format_message(), getattr(error, "exit_code", BAD_INPUT)
    from simtown.core.files import DamagedError, is_disk_full
    from simtown.core.processes import WorkerError

    if isinstance(error, (DamagedError, WorkerError)):
        return str(error), DAMAGED
    if isinstance(error, OSError):
        if is_disk_full(error):
            remedy = "make room and run the same command again to continue, or give another --out"
            return f"the disk is full: {remedy}", BAD_INPUT
        if isinstance(error, FileNotFoundError) and error.errno is None:
            return str(error), BAD_INPUT
        place = error.filename2 or error.filename  # the file that a temporary one was to become
        where = f" {place}" if place else ""
        return f"cannot read or write{where}: {error.strerror or error}", BAD_INPUT
    if isinstance(error, (ValueError, MemoryError, ImportError)):
        return str(error) or "out of memory: give a smaller --size or fewer --workers", BAD_INPUT
    raise error
