"""What a command costs, printed before it begins; and --plan, which ends there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtown.core.terminal import say

if TYPE_CHECKING:
    from simtown.datasets.costs import Cost

#: A command that takes longer, in seconds, prints what it costs.
MOMENT = 2.0

PlanOption = Annotated[
    bool,
    typer.Option("--plan", help="Only print what it would write and how long that would take."),
]


def announce(
    title: str,
    cost: Cost,
    cores: int | None,
    out: Path | None = None,
    advice: str = "another --out",
    plan: bool = False,
) -> None:
    """Print what a command costs, if it takes more than a moment. With `plan`, always, and end the command.

    Args:
        title: of the command, such as "export town-png".
        cost: bytes, files and time.
        cores: how many work, None if nobody knows.
        out: where it writes on this machine.
        advice: what would need less room.
        plan: whether to end here.

    Raises:
        RoomError: the disk has too little room.
    """
    from simtown.core.progress import report

    line = f"{title}: {cost.words(cores, out)}"
    if plan:
        say(line)
        raise typer.Exit
    if out is not None:
        cost.check_room(out, advice)
    if cost.lasting(cores or 1) > MOMENT:
        report(line)
