"""The program: the list of its commands, each imported when it is used, and errors as one line."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from simtown.cli.command import BAD_INPUT, DAMAGED, WITH_KINDS, RefusalError
from simtown.core.terminal import say, say_block

#: The module of each command or group of commands, and what the list of commands says of it.
COMMANDS = {
    "generate": ("generate_commands", "Make a data set: scenes, pictures, questions, answers."),
    "play": ("play_commands", "Play with a street in the browser: drag, ask, change the weather."),
    "preview": ("generate_commands", "Draw a contact sheet of a data set or the catalogue."),
    "render": ("dataset_commands", "Draw a random street, or one stored example again."),
    "info": ("dataset_commands", "Describe a data set, or one example."),
    "verify": ("dataset_commands", "Check that a data set is what its settings make."),
    "captions": ("dataset_commands", "Describe the scenes of a data set in words."),
    "export": ("dataset_commands", "Write a data set in another tool's format."),
    "gallery": ("dataset_commands", "Write a page that shows a data set."),
    "audit": ("dataset_commands", "Look for shortcuts, repetitions and leaks."),
    "clip": ("generate_commands", "Film a street in motion: MP4 or GIF."),
    "fit": ("training_commands", "Train a model on a data set."),
    "evaluate": ("training_commands", "Test a trained model, or any vision-language model, on a data set."),
    "thresholds": ("training_commands", "From how many metres on a model tells left from right."),
    "predict": ("training_commands", "Ask a trained model about a picture."),
    "sweep": ("sweep_commands", "Run a grid of trainings."),
    "complexity": ("sweep_commands", "Sample complexity from many runs, or from other results."),
    "vg": ("vg_commands", "Visual Genome: clean, count, and match its frequencies."),
    "lm": ("lm_commands", "Small language models for the probes."),
    "probe": ("probe_commands", "Studies of what language models know of the world."),
    "bench": ("bench_commands", "Measure speed on this machine."),
}
#: What --help shows last, of the command in the second word.
EXAMPLES = """\
simtown generate --entities 20 --n 1000
simtown generate --entities 60 --n 60000 --distractor   (the paper's hardest world)
simtown generate --world simtown-twins   (a ready world)
simtown play
simtown play simtown-20-1000/train:7 --run runs/simtown-20-1000-pbn-1000-seed0
simtown preview simtown-20-1000
simtown preview --entity all
simtown render --seed 3 --weather snow --vehicles taxi,bus
simtown render simtown-20-1000/train:7 --masks --glb street.glb
simtown info simtown-20-1000
simtown info simtown-20-1000/test:3
simtown verify simtown-20-1000
simtown verify simtown-20-1000 --all
simtown verify --transcript replies.jsonl   (tasks of simtown.gym)
simtown captions simtown-20-1000 --out captions.txt
simtown captions simtown-20-1000 --bias 0.75 --out biased.txt
simtown export simtown-20-1000 --to parquet   (Hugging Face reads it)
simtown export simtown-20-1000 --to yolo --split train,val
simtown gallery simtown-20-1000
simtown gallery simtown-20-1000 --all --out page
simtown audit simtown-20-1000
simtown audit simtown-20-1000 --all --json audit.json
simtown clip --seconds 4 --out street.mp4
simtown clip --seed 3 --weather snow --out snow.gif
simtown fit simtown-20-1000 --model pbn
simtown fit simtown-20-1000 --model cnn-lstm --train-size 500 --seeds 0-4
simtown evaluate runs/simtown-20-1000-pbn-1000-seed0 simtown-20-1000
simtown evaluate runs/simtown-20-1000-pbn-1000-seed0 snow --json snow.json
simtown evaluate hf:HuggingFaceTB/SmolVLM-256M-Instruct simtown-20-1000
simtown evaluate openai:http://localhost:8000/v1#MODEL simtown-20-1000 --parallel 16
simtown evaluate hf:HuggingFaceTB/SmolVLM-256M-Instruct --over entities=5,15,31,60,102
simtown thresholds evaluations/simtown-20-1000-hf-SmolVLM evaluations/simtown-20-1000-hf-Qwen
simtown thresholds runs/simtown-20-1000-pbn-1000-seed0 --data simtown-20-1000
simtown predict runs/simtown-20-1000-pbn-1000-seed0 street.png 'Is a taxi left of a sedan?'
simtown predict RUN street.png 'Is a taxi left of a sedan?' --out boxes.png
simtown sweep --preset small --plan   (what it would do)
simtown sweep --preset small
simtown complexity sweep-small
simtown complexity results.csv --targets 0.9
""".splitlines()
#: Options that --help lists below the everyday ones.
PANELS = {
    "World": "kinds distractor frequencies relations phrasing test_seed world_seed",
    "Look": "weathers paint jitter masks depth renderer large",
    "Training": "protocol min_steps patience batch learning_rate max_steps stream adaptive same_data",
    "Servers": "parallel rate timeout retries request price",
    "Machine": "device precision compile cache shard workers engine address jobs allow_model",
}

app = typer.Typer(
    name="simtown",
    help="A cartoon street that asks how visual question answering scales with the world.\n\n"
    "Start with: simtown generate --entities 20 --n 1000, then simtown preview on the directory it names.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(value: bool) -> None:
    if value:
        from simtown.core.version import __version__

        say(f"simtown {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


class Helpful(TyperCommand):
    """A command whose help has its options in panels, and ends with examples."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Called to write the options."""
        panel_of = {word: name for name, words in PANELS.items() for word in words.split()}
        panels: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", "Options", *PANELS)}
        for parameter in self.get_params(ctx):
            usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
            if record := parameter.get_help_record(ctx):
                panels[panel_of.get(parameter.name or "", usual)].append(record)
        panels["Examples"] = [(example, "") for example in EXAMPLES if example.split()[1] == self.name]
        for panel, records in panels.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)


class Deferred(TyperCommand):
    """A command, or group of commands, whose module is imported when it is used."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name, short_help=summary)
        self.module = module

    def load(self) -> Any:
        """The command itself: the function of its name in the module, or the group that is defined there."""
        target = getattr(import_module(f"simtown.cli.{self.module}"), self.name or "")
        if isinstance(target, typer.Typer):
            return typer.main.get_group(target)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(self.name, cls=Helpful)(target)
        return typer.main.get_command(single)

    def make_context(self, info_name: str | None, args: list[str], *others: Any, **more: Any) -> Any:
        """Called to parse the words after the command's name; kinds must be known before the town is."""
        places = [place for word, place in pairwise(args) if word == "--kinds"]
        places += [word.removeprefix("--kinds=") for word in args if word.startswith("--kinds=")]
        if places and self.module in WITH_KINDS:
            from simtown.assets.own import use_kinds

            use_kinds(*places)
        return self.load().make_context(info_name, args, *others, **more)


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
        where = f" {error.filename}" if error.filename else ""
        return f"cannot read or write{where}: {error.strerror or error}", BAD_INPUT
    if isinstance(error, (ValueError, MemoryError, ImportError)):
        return str(error) or "out of memory: give a smaller --size or fewer --workers", BAD_INPUT
    raise error
