"""Parts that commands share: workers, progress, results of a grid, pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtown.cli import places
from simtown.cli.command import DAMAGED, RefusalError
from simtown.core.files import replacing
from simtown.core.options import option
from simtown.core.terminal import complain, say

if TYPE_CHECKING:
    from simtown.core.cluster import Cluster
    from simtown.core.pool import Pool
    from simtown.core.processes import Outcome

ALLOW = "Allow this model, package.module:Class or head:hf:ID-OR-DIR, which the file names; may be repeated."
AllowOption = Annotated[list[str] | None, ALLOW]
ENGINE = "What runs the work: local (processes of this machine) or ray (a cluster)."
ADDRESS = "With --engine ray: the cluster, as HOST:PORT, ray://HOST:PORT or auto; by default a new one here."
WORKERS = "Number of processes, which changes no result; by default as many as help, at most one a processor."
DatasetArgument = Annotated[str, places.DATASET, places.dataset_named]
DEVICES = ("auto", "cpu", "cuda")
#: Examples of a data set for which it is worth starting a process, which takes two seconds.
WORTH_A_PROCESS = 20_000


def known_device(name: str) -> None:
    """Raises RefusalError if there is no device of this name."""
    if name not in DEVICES:
        raise RefusalError(f"unknown --device '{name}': choose auto, cpu or cuda")


DeviceOption = Annotated[str, "auto, cpu or cuda.", known_device]


def weather_problem(name: str) -> str:
    """The problem of the name of a weather, "" if nothing is."""
    from simtown.scenes.weather import WEATHERS

    if name.lower() in WEATHERS:
        return ""
    near = get_close_matches(name.lower(), WEATHERS, 1)
    choices = f"did you mean {near[0]}?" if near else f"choose among {', '.join(WEATHERS)}"
    return f"{name} is unknown: {choices}"


@dataclass(frozen=True)
class ClusterSettings:
    """The place where the work is done."""

    engine: str = option("local", ENGINE, choices=("local", "ray"))
    address: str | None = option(None, ADDRESS)

    def __post_init__(self) -> None:
        if self.engine == "local" and self.address is not None:
            raise RefusalError("--address is where a Ray cluster answers: give --engine ray with it")

    def cluster(self, workers: int | None) -> AbstractContextManager[Cluster | None]:
        """The Ray cluster, for so many processes at once; None for local work."""
        from simtown.core.cluster import Cluster

        return nullcontext() if self.engine == "local" else Cluster(self.address, workers)


@dataclass(frozen=True)
class PoolSettings(ClusterSettings):
    """Who works: processes of this machine, or a cluster."""

    workers: int | None = option(None, WORKERS, low=1)

    @contextmanager
    def pool(self, examples: int | None = None) -> Iterator[Pool]:
        """The worker processes, fewer for a few `examples`, or the cluster, until the end of the context."""
        from simtown.core.pool import Processes
        from simtown.core.processes import default_workers

        with self.cluster(self.workers) as cluster:
            workers = self.workers or default_workers()
            if self.workers is None and examples is not None:
                workers = max(1, min(workers, examples // WORTH_A_PROCESS))
            yield cluster or Processes(workers)


def report_grid(outcome: Outcome, out: Path, what: str) -> None:
    """Print how many cells of a grid are done and which failed; ends the command if any failed."""
    done = outcome.before + outcome.now
    say(f"{out}: {done} of {done + len(outcome.failed)} {what} are done, {outcome.now} of them now")
    for name, reason in outcome.failed.items():
        complain(f"simtown: {name} failed: {reason}")
    if outcome.failed:
        raise typer.Exit(DAMAGED)


def save_picture(image: Any, path: Path) -> None:
    """Write a picture, PNG or WebP by its ending, whole or not at all."""
    with replacing(path) as temporary:
        image.save(temporary, format=path.suffix[1:], quality=88, method=6)  # PNG loses nothing
