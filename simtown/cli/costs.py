"""What a command costs, told before it begins; and --plan, which ends there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtown.terminal import say

if TYPE_CHECKING:
    from simtown.datasets.costs import Cost

#: Seconds from which on a command says what it will take.
MOMENT = 2.0

PlanOption = Annotated[bool, typer.Option("--plan", help="Say what it would write and how long that takes, write nothing, and end.")]


def cores_of(engine: str, workers: int | None, seconds: float | None = None) -> int | None:
    """How many cores work: None of a cluster that nobody bounds. As :func:`simtown.cli.app.pool_of`."""
    from simtown.pool import Processes, processes_for

    if workers is not None:
        return Processes(workers).workers  # which refuses fewer than one, before anything is said
    return processes_for(seconds).workers if engine == "local" else None


def announce(title: str, cost: Cost, cores: int | None, out: Path | None = None, advice: str = "another --out", plan: bool = False) -> None:
    """Say what a command will take if that is more than a moment. With `plan`, say it and end the command.

    Args:
        title: of the command, such as "export town-png".
        cores: that work, None if nobody knows how many.
        out: where it writes on this machine.
        advice: what would need less room.

    Raises:
        RoomError: the disk has less room than it will fill.
    """
    from simtown.progress import report

    line = f"{title}: {cost.words(cores, out)}"
    if plan:
        say(line)
        raise typer.Exit
    if out is not None:
        cost.check_room(out, advice)
    if cost.lasting(cores or 1) > MOMENT:
        report(line)
