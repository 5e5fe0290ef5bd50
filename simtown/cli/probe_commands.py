"""All commands under ``simtown probe``: the studies, and what they can do with their results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli import spatial_commands, visual_commands  # noqa: F401  (they add their commands)
from simtown.cli.command import RefusalError, command
from simtown.cli.places import local_directory
from simtown.cli.sharing import ClusterSettings, report_grid
from simtown.cli.study_commands import add_study, need, probe, show
from simtown.core.terminal import say, say_block
from simtown.probes.studies import STUDIES, study_of

__all__ = ["probe"]

add_study(STUDIES["ask"])
add_study(STUDIES["physical"])


@probe.command(short_help="Two models on the same questions: tests and intervals.")
def compare(
    a: Annotated[Path, typer.Argument(help="Made by simtown probe ask, physical, visual or spatial.")],
    b: Annotated[Path, typer.Argument(help="Made by the same study.")],
) -> None:
    """Print the differences of two models' scores with 95 % intervals, and paired tests, for all that both
    directories have.

    physical: F1s, intervals over test objects, McNemar's test. ask and visual: ρ over subjects, paired and
    Welch's t, McNemar's test of Acc@1. spatial: analogies and odd ones out, McNemar's test, and how alike the
    matrices are.
    """
    need()
    study, other = study_of(a), study_of(b)
    if study is not other:
        raise RefusalError(
            f"{a} was made by {study.command} and {b} by {other.command}: they cannot be compared"
        )
    show(study.compare(a, b))


@probe.command(short_help="Print a paper's table beside ours.")
def reproduce(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="forbes-table1 or forbes-table2; vicomte-tableN with N 1 to 6, 9 or 11; spatial-figure3, "
            "spatial-analogy, spatial-odd-one-out or spatial-similarity.",
        ),
    ],
    data: Annotated[
        Path, typer.Option(help="What the paper's authors released: a clone of their repository.")
    ],
    runs: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            help="A directory of simtown probe to add to a table of models, or for spatial-... vectors: "
            "glove:FILE. Repeatable.",
        ),
    ] = None,
) -> None:
    """Print a table of a paper cell by cell: the printed number, and the one that comes out here."""
    need()
    study = next((study for study in STUDIES.values() if table in study.published), None)
    if study is None:
        names = ", ".join(name for study in STUDIES.values() for name in study.published)
        raise RefusalError(f"there is no table {table}: give {names}")
    tables, remarks = study.reproduce(table, data, runs or ())
    show(tables)
    if remarks := [remark for remark in remarks if remark]:
        say_block("\n".join(remarks))


@probe.command("grid", short_help="Many models, data and ways of asking at once.")
@command
def grid_command(
    file: Annotated[Path, typer.Argument(help="A TOML file of that form.")],
    *,
    out: Annotated[
        Path,
        typer.Option(help="Where each cell gets a directory; with --engine ray one that all machines share."),
    ],
    jobs: Annotated[
        int | None, typer.Option(help="Cells at once, each a process; by default one a processor.")
    ] = None,
    where: ClusterSettings,
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
    with where.cluster(jobs) as cluster, Progress(f"probe grid {out}, cells") as bar:
        bar.on_begin(len(cells))

        def done(cell: grid.GridCell, error: str) -> None:
            bar.on_progress(1)
            if not error:
                bar.say(f"{cell.name} is done")

        outcome = grid.run(cells, out, many, done, cluster)
    report_grid(outcome, out, "cells")
    say(
        f"Now: simtown probe compare {out}/A {out}/B, or simtown probe reproduce TABLE --data DATA --with "
        f"{out}/A"
    )
