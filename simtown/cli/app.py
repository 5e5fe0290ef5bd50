"""What all commands share: the app, errors as one line, defaults, the options of who works, and pictures."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from simtown.core.terminal import complain, say, say_block

if TYPE_CHECKING:
    from simtown.core.cluster import Cluster
    from simtown.core.pool import Pool
    from simtown.core.processes import Outcome

BAD_INPUT, DAMAGED, INTERRUPTED = 2, 1, 130

app = typer.Typer(
    name="simtown",
    help="A cartoon street that asks how visual question answering scales with the world.\n\n"
    "Start with: simtown generate --entities 20 --n 1000, then simtown preview on the directory it names.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


class RefusalError(Exception):
    """One line for the user, and the exit code."""

    def __init__(self, message: str, code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


def run() -> tuple[str, int]:
    """Run the command that sys.argv names; returns the line that says why it failed, if it did, and the code.

    Raises:
        KeyboardInterrupt: Ctrl-C.
        BrokenPipeError: the reader of its output, such as head, has gone.
        Exception: an error that is not expected.
    """
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # Typer's exit code for Ctrl-C
            raise KeyboardInterrupt
        sys.stdout.flush()
    except RefusalError as refusal:
        return str(refusal), refusal.code
    except BrokenPipeError:
        raise
    except SystemExit as end:
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":  # Typer has met a reader that has gone
            raise BrokenPipeError from end
        raise
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            say_block(error.ctx.get_help())  # type: ignore[attr-defined]
            return "", BAD_INPUT
        if hasattr(error, "format_message"):  # a wrong option
            return error.format_message(), getattr(error, "exit_code", BAD_INPUT)
        line, code = _explain(error)
        if setting := getattr(error, "setting", ""):
            return f"{flags_of(sys.argv[1:]).get(setting, setting)} {error.problem}", code  # type: ignore[attr-defined]
        return as_typed(line), code
    return "", code if isinstance(code, int) else 0


#: The package's word for a parameter, and the word of the commands that have no parameter of that name.
_OTHER_WORDS = {
    "width": "size",
    "height": "size",
    "directory": "out",
    "path": "out",
    "learning_rate": "lr",
    "biases": "bias",
    "texts": "option",
    "allowed": "allow_model",
    "kept": "resume_from",
    "data": "subjects",
}
_PARAMETER = re.compile(r"`(\w+)(?:=['\"]?([^`\n'\"]*)['\"]?)?`|(?:^|(?<=; ))(\w+)(?= must |: )")


def in_flags(message: str, names: Mapping[str, str]) -> str:
    """A message of the package, with the flags of a command in place of the parameters it speaks of.

    The package names a parameter in one of three ways; words that are not in `names` stay as they are::

        world_seed must be at least 0         ->  --world-seed must be at least 0
        lr: give a smaller one                ->  --lr: give a smaller one
        leave out `masks`, or use `device=cpu` ->  leave out --masks, or use --device cpu

    The first two count at the beginning of a message or after "; ", the third everywhere. A switch is
    written `masks=True` or `cache=False`.

    Args:
        message: what an error says.
        names: a flag for each parameter; for a switch that can be turned off, also for "name=False".
    """

    def flag(match: re.Match[str]) -> str:
        quoted, value, plain = match.groups()
        name = quoted or plain
        if value is None:
            return names.get(name, match[0])
        if value in ("True", "False"):
            return names.get(name if value == "True" else f"{name}=False", match[0])
        return f"{names[name]} {value}" if name in names else match[0]

    return _PARAMETER.sub(flag, message)


def flags_of(words: list[str]) -> dict[str, str]:
    """The flags of the command that a command line names, by parameter, for :func:`in_flags`."""
    command: Any = typer.main.get_command(app)
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    names = {}
    for option in command.params:
        if option.param_type_name == "option":
            names[option.name] = max(option.opts, key=len)
            names |= {f"{option.name}=False": flag for flag in option.secondary_opts}
    parameters = {parameter.name for parameter in command.params}
    others = {word: names[ours] for word, ours in _OTHER_WORDS.items() if ours in names}
    return names | {word: flag for word, flag in others.items() if word not in parameters}


def as_typed(message: str) -> str:
    """A message of the package, with the flags of the command that runs."""
    return in_flags(message, flags_of(sys.argv[1:]))


def _explain(error: Exception) -> tuple[str, int]:
    """The line and the exit code for an error of the package or the system; raises any other again."""
    from simtown.core.files import DamagedError
    from simtown.datasets.job import WorkerError, is_disk_full

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


def defaults_of(home: str, **attributes: str) -> type[TyperCommand]:
    """The class of a command that reads defaults from a dataclass, so that they stand in one place.

    An option without a default in the command's signature gets the attribute of its name. `home` is imported
    when the command is used: the list of all commands loads nothing heavy.

    Args:
        home: "package.module:Class", or "package.module" for constants.
        attributes: for an option, the name of its attribute, if it is another.
    """

    class Command(TyperCommand):
        def make_context(self, *words: Any, **more: Any) -> Any:
            if not more.get("resilient_parsing"):  # completion of a shell needs no defaults
                module, _, name = home.partition(":")
                source = import_module(module)
                source = getattr(source, name) if name else source
                for option in self.params:
                    attribute = attributes.get(str(option.name), str(option.name))
                    if option.param_type_name == "option" and option.required and hasattr(source, attribute):
                        default = getattr(source, attribute)
                        option.default = ",".join(default) if isinstance(default, tuple) else default
                        option.required = False
            return super().make_context(*words, **more)

    return Command


def parse_size(text: str) -> tuple[int, int]:
    """Width and height of "128" or "64x32"."""
    parts = text.lower().split("x")
    if not 1 <= len(parts) <= 2 or not all(p.isascii() and p.isdigit() for p in parts):
        raise RefusalError(
            f"--size {text} cannot be read: write one number for a square, such as 128, or width x height, "
            "such as 64x32"
        )
    width, height = int(parts[0]), int(parts[-1])
    from simtown.render.frames import check_size

    check_size(width, height)
    return width, height


def parse_names(text: str) -> tuple[str, ...]:
    """The names of "a, b"."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


EngineOption = Annotated[
    str,
    typer.Option(help="What runs the work: local (processes of this machine) or ray (a cluster)."),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        help="Number of processes; by default as many as help, at most one for each processor. The results "
        "are the same."
    ),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        help="With --engine ray: address of a running cluster, as HOST:PORT, ray://HOST:PORT or auto. "
        "By default Ray starts on this machine."
    ),
]


#: Examples of a data set for which it is worth starting a process, which takes two seconds.
WORTH_A_PROCESS = 20_000


@dataclass(frozen=True)
class PoolSettings:
    """Who works, as the options of a command say.

    Attributes:
        engine: "local" or "ray".
        address: of a Ray cluster; None starts one here.
        workers: processes; None: as many as pay for themselves.
        examples: that the command works on, None if there are enough for every processor.

    Raises:
        RefusalError: an engine that does not exist, or an address without a cluster.
        ClusterError: an address that cannot be read.
        ValueError: less than one worker.
    """

    engine: str
    address: str | None
    workers: int | None
    examples: int | None = None

    def __post_init__(self) -> None:
        from simtown.core.cluster import ENGINES, parse_address
        from simtown.core.pool import Processes

        if self.engine not in ENGINES:
            raise RefusalError(f"unknown --engine {self.engine}: choose {' or '.join(ENGINES)}")
        if self.engine == "local" and self.address is not None:
            raise RefusalError("--address is where a Ray cluster answers: give --engine ray with it")
        if self.address is not None:
            parse_address(self.address)
        if self.workers is not None:
            Processes(self.workers)

    @property
    def cores(self) -> int | None:
        """How many cores work; None if the cluster decides."""
        from simtown.core.processes import default_workers

        if self.workers is None and self.engine == "local":
            if self.examples is None:
                return default_workers()
            return max(1, min(default_workers(), self.examples // WORTH_A_PROCESS))
        return self.workers

    @contextmanager
    def pool(self) -> Iterator[Pool]:
        """The worker processes or the cluster, until the end of the context."""
        from simtown.core.pool import Processes

        with connected(self.engine, self.address, self.workers) as cluster:
            yield cluster or Processes(self.cores or 1)


@contextmanager
def connected(engine: str, address: str | None, workers: int | None) -> Iterator[Cluster | None]:
    """The Ray cluster that the options name, None for local work."""
    from simtown.core.cluster import Cluster
    from simtown.core.extras import need

    PoolSettings(engine, address, workers)  # refuses what cannot be
    if engine == "local":
        yield None
        return
    need("cluster", modules=("ray",), what="--engine ray")
    with Cluster(address, workers) as cluster:
        yield cluster


@contextmanager
def progress_of(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar; yields the function that receives how many more units are finished."""
    from simtown.core.progress import Progress

    with Progress(title) as bar:
        bar.on_begin(total)
        yield bar.on_progress


def report(outcome: Outcome, out: Path, what: str) -> None:
    """Print how many cells of a grid are done and which failed; ends the command if any failed."""
    done = outcome.before + outcome.now
    say(f"{out}: {done} of {done + len(outcome.failed)} {what} are done, {outcome.now} of them now")
    for name, reason in outcome.failed.items():
        complain(f"simtown: {name} failed: {as_typed(reason)}")
    if outcome.failed:
        raise typer.Exit(DAMAGED)


def save_picture(image: Any, path: Path) -> None:
    """Write a picture whole or not at all."""
    from simtown.core.files import replacing

    with replacing(path) as temporary:
        image.save(temporary, format="PNG")
