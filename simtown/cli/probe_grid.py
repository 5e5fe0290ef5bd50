"""Many studies in one go: probe grid."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import AddressOption, EngineOption, RefusalError, connected, report
from simtown.cli.places import local_directory
from simtown.cli.probe import need, probe
from simtown.core.terminal import say


@probe.command("grid", short_help="Many models, data and ways of asking at once.")
def grid_command(
    file: Annotated[Path, typer.Argument(help="A TOML file of that form.")],
    out: Annotated[
        Path,
        typer.Option(help="Where each cell gets a directory; with --engine ray one that all machines share."),
    ],
    jobs: Annotated[
        int | None, typer.Option(help="Cells at once, each a process; by default one a processor.")
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only list the commands.")] = False,
) -> None:
    """Run simtown probe physical, visual or spatial for every cell of a grid; go on where it was stopped, try
    again what failed.

    The file has version = 1 and [[grid]] tables of a study and its command's options, without the dashes; a
    list stands for several cells:

    study = "physical", data = "physical-commonsense", model = ["glove:glove.txt", "majority"], task = ["OP",
    "OA"]
    """
    from simtown.core.processes import default_workers
    from simtown.core.progress import Progress
    from simtown.probes import grid

    cells, out = grid.read(file), local_directory(out)
    if plan:
        for cell in cells:
            say(" ".join(("simtown probe", *cell.words, "--out", str(out / cell.name))))
        return
    need()
    many = default_workers() if jobs is None else jobs
    if many < 1:
        raise RefusalError(f"--jobs must be at least 1, not {many}")
    with connected(engine, address, jobs) as cluster, Progress(f"probe grid {out}, cells") as bar:
        bar.on_begin(len(cells))

        def done(cell: grid.GridCell, error: str) -> None:
            bar.on_progress(1)
            if not error:
                bar.say(f"{cell.name} is done")

        outcome = grid.run(cells, out, many, done, cluster)
    report(outcome, out, "cells")
    say(
        f"Now: simtown probe compare {out}/A {out}/B, or simtown probe reproduce TABLE --data DATA --with "
        f"{out}/A"
    )
