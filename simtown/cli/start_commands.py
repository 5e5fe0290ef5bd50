"""First steps: demo makes a data set and shows it, doctor says what works on this machine."""

import os
import platform
import shutil
import sys
import webbrowser
from collections.abc import Callable
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Annotated, NamedTuple

import typer
from rich.table import Table

from simtown.cli.command import DAMAGED, command
from simtown.core import extras
from simtown.core.amounts import size
from simtown.core.console import page, styled
from simtown.core.files import cache_home
from simtown.core.processes import default_workers
from simtown.core.terminal import say, say_block
from simtown.core.version import __version__, versions

#: The commands that demo runs.
DEMO = (
    "generate --questions all --vehicles 4-6 --entities 102 --n 64 --val 0 --test 16 --size 256 --masks "
    "--workers 1 --out simtown-demo",
    "gallery simtown-demo",
)
#: Files of which a machine with an NVIDIA card has one: Linux, and Linux on Windows.
_CARD_FILES = ("/dev/nvidiactl", "/dev/dxg")


@command
def demo(*, show: Annotated[bool, "Open the page in the browser.", "--open/--no-open"] = True) -> None:
    """Make a small data set of all families of questions, write a page that shows it, and open the page.

    It makes the folders simtown-demo and simtown-demo-gallery here. Run it again to reopen the page.
    """
    from simtown.cli.program import program

    for words in DEMO:
        say(f"$ simtown {words}")
        program()(words.split(), prog_name="simtown", standalone_mode=False)
    address = Path("simtown-demo-gallery/index.html").absolute().as_uri()
    say(f"{'Opened' if show and webbrowser.open(address) else 'Open'} {address}")


class Diagnosis(NamedTuple):
    """A finding of doctor: whether a thing works, its version or its use, and else the remedy."""

    name: str
    works: bool
    about: str
    remedy: str = ""


def _try(name: str, use: Callable[[], str], remedy: str) -> Diagnosis:
    """The outcome of using a thing; an error of any kind means that it does not work."""
    try:
        return Diagnosis(name, True, use())
    except Exception as error:
        return Diagnosis(name, False, " ".join(f"{error}".split()) or type(error).__name__, remedy)


def _core() -> list[Diagnosis]:
    """Parts that simtown needs."""
    again = "install simtown again: pip install . in a checkout of simtown"
    absent, packages = extras.missing(extras.CORE), map(extras.package_of, extras.CORE.split())
    installed = ", ".join(f"{name} {version}" for name, version in versions(*packages).items())
    about = f"without {', '.join(absent)}" if absent else installed
    return [Diagnosis("packages", not absent, about, again), _try("kernels", _first_examples, again)]


def _first_examples() -> str:
    from simtown.datasets.making.generate import generate
    from simtown.datasets.settings import Settings
    from simtown.kernels.compiling import levels_here

    with TemporaryDirectory() as folder:
        generate(Settings(entities=20, n=16, val=0, test=0), Path(folder, "doctor"), 1)
    return f"compiled for {levels_here()[0]}; a first data set is drawn and written"


def _machine() -> list[Diagnosis]:
    """Devices, folders and the browser."""
    nothing, elsewhere = "nothing to do: {}", "set SIMTOWN_CACHE to a folder that you may write"
    memory = size(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    mps = "; simtown does not use Metal (MPS)" if sys.platform == "darwin" else ""
    card = Diagnosis("graphics card", False, f"no NVIDIA card{mps}", nothing.format("the processor suffices"))
    if any(map(os.path.exists, _CARD_FILES)):
        card = _try("graphics card", _card, "without it the processor draws or trains: docs/install.md")
    free = f"{size(shutil.disk_usage('.').free)} free"
    return [
        Diagnosis("processor", True, f"{default_workers()} of {os.cpu_count()} cores, {memory} of memory"),
        card,
        _try("this folder", lambda: f"{_written(Path())}, {free}", "go to a folder that you may write"),
        _try("cache", lambda: _written(cache_home()), elsewhere),
        _try("browser", lambda: webbrowser.get().name, nothing.format("commands print where a page is")),
    ]


def _written(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder):
        return f"{folder.absolute()} can be written"


def _card() -> str:
    from simtown.render.cuda.card import Card, check_card
    from simtown.render.frames import CardError

    check_card()
    if extras.missing("torch"):
        return f"{Card().name}: --device cuda draws on it"
    import torch

    if not torch.cuda.is_available():
        raise CardError(f"{Card().name} draws, but PyTorch {torch.__version__} does not see it")
    return f"{Card().name}: --device cuda draws and trains on it"


def _extras() -> list[Diagnosis]:
    """Packages that not everybody needs."""
    remedies = {extra: extras.how_to_install(extra) for extra in extras.ENABLES}
    if extras.missing(extras.MODULES["physics"]):
        from simtown.town.motion.physics import how_to_install_pybullet

        remedies["physics"] = how_to_install_pybullet()
    works = {extra: not extras.missing(modules) for extra, modules in extras.MODULES.items()}
    return [Diagnosis(x, works[x], about, remedies[x]) for x, about in extras.ENABLES.items()]


@command
def doctor(*, json: Annotated[bool, "Print everything as JSON."] = False) -> None:
    """Report what is installed and works here, and how to install what is missing.

    Exit code 1 if the core does not work: its packages, the kernels, and a first data set.
    """
    parts = {"core": _core(), "machine": _machine(), "extras": _extras()}
    works = all(one.works for one in parts["core"])
    about = {"simtown": __version__, "python": platform.python_version(), "platform": platform.platform()}
    table = Table.grid(padding=(0, 2))
    for part, diagnoses in parts.items():
        for one in diagnoses:
            mark = styled("ok", "green") if one.works else styled("no", "bold red" if part == "core" else "")
            table.add_row(mark, one.name, one.about)
            if not one.works:
                table.add_row("", "", f"-> {one.remedy}")
        table.add_row()
    if json:
        records = {part: [one._asdict() for one in diagnoses] for part, diagnoses in parts.items()}
        say_block(dumps({**about, "works": works, **records}, indent=1))
    else:
        with page() as console:
            console.print(", ".join(f"{name} {version}" for name, version in about.items()), soft_wrap=True)
            console.print(table)
            console.print("The core works." if works else "The core does not work.")
    if not works:
        raise typer.Exit(DAMAGED)
