"""What all commands share: the app, how failures are told, sizes, and pictures written whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtown.terminal import complain, say, say_block

if TYPE_CHECKING:
    from simtown.cluster import Cluster
    from simtown.pool import Pool
    from simtown.processes import Outcome

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
    """Run the command that sys.argv names; the line that says why it failed, "" where it did not, and the exit code.

    Raises KeyboardInterrupt if it was interrupted, BrokenPipeError if the reader of its output, such as head, has gone, and what nobody
    foresaw.
    """
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # what typer makes of Ctrl-C
            raise KeyboardInterrupt
        sys.stdout.flush()
    except RefusalError as refusal:
        return str(refusal), refusal.code
    except BrokenPipeError:
        raise
    except SystemExit as end:
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":  # what typer makes of a reader that has gone
            raise BrokenPipeError from end
        raise
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            say_block(error.ctx.get_help())  # type: ignore[attr-defined]
            return "", BAD_INPUT
        if hasattr(error, "format_message"):  # what typer says of a wrong option
            return error.format_message(), getattr(error, "exit_code", BAD_INPUT)
        return _explain(error)
    return "", code if isinstance(code, int) else 0


def _explain(error: Exception) -> tuple[str, int]:
    """The line and the exit code for an error of the package or the system; what nobody foresaw is raised again."""
    from simtown.datasets.job import WorkerError, is_disk_full
    from simtown.files import DamagedError

    if isinstance(error, (DamagedError, WorkerError)):
        return str(error), DAMAGED
    if isinstance(error, OSError):
        if is_disk_full(error):
            return "the disk is full: make room and run the same command again to continue, or give another --out", BAD_INPUT
        if isinstance(error, FileNotFoundError) and error.errno is None:
            return str(error), BAD_INPUT
        where = f" {error.filename}" if error.filename else ""
        return f"cannot read or write{where}: {error.strerror or error}", BAD_INPUT
    if isinstance(error, (ValueError, MemoryError, ImportError)):
        return str(error) or "out of memory: give a smaller --size or fewer --workers", BAD_INPUT
    raise error


def _version(value: bool) -> None:
    if value:
        import simtown

        say(f"simtown {simtown.__version__}")
        raise typer.Exit()


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    pass


def parse_size(text: str) -> tuple[int, int]:
    """Width and height of "128" or "64x32"."""
    parts = text.lower().split("x")
    if not 1 <= len(parts) <= 2 or not all(p.isascii() and p.isdigit() for p in parts):
        raise RefusalError(f"--size {text} cannot be read: write one number for a square, such as 128, or width x height, such as 64x32")
    width, height = int(parts[0]), int(parts[-1])
    from simtown.render.frames import check_size

    check_size(width, height)
    return width, height


EngineOption = Annotated[
    str, typer.Option(help="Who works: local (processes of this machine) or ray (a cluster). The results are the same.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option(help="Processes at work; by default as many as help, one a processor at most. The results are the same."),
]
AddressOption = Annotated[
    str | None,
    typer.Option(help="With --engine ray: HOST:PORT, ray://HOST:PORT or auto, of a cluster that runs; by default one starts here."),
]


@contextmanager
def connected(engine: str, address: str | None, workers: int | None) -> Iterator[Cluster | None]:
    """The Ray cluster that was asked for, None for local work."""
    from simtown.cluster import ENGINES, Cluster

    if engine not in ENGINES:
        raise RefusalError(f"unknown --engine {engine}: choose {' or '.join(ENGINES)}")
    if engine == "local":
        if address is not None:
            raise RefusalError("--address is where a Ray cluster answers: give --engine ray with it")
        yield None
        return
    with Cluster(address, workers) as cluster:
        yield cluster


@contextmanager
def pool_of(engine: str, address: str | None, workers: int | None, *, seconds: float | None = None) -> Iterator[Pool]:
    """Who works: the Ray cluster that was asked for, or `workers` processes of this machine.

    By default one a processor; fewer for work that takes one core few `seconds`.
    """
    from simtown.pool import OnCluster, Processes, processes_for

    with connected(engine, address, workers) as cluster:
        if cluster:
            yield OnCluster(cluster)
        else:
            yield processes_for(seconds) if workers is None else Processes(workers)


def report(outcome: Outcome, out: Path, what: str) -> None:
    """Say how many cells of a grid are done and which failed, if any: then the command ends here."""
    done = outcome.before + outcome.now
    say(f"{out}: {done} of {done + len(outcome.failed)} {what} are done, {outcome.now} of them now")
    for name, reason in outcome.failed.items():
        complain(f"simtown: {name} failed: {reason}")
    if outcome.failed:
        raise typer.Exit(DAMAGED)


def save_picture(image: Any, path: Path) -> None:
    """Write a picture whole or not at all."""
    from simtown.files import replacing

    with replacing(path) as temporary:
        image.save(temporary, format="PNG")
