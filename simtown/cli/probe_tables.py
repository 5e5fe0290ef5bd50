"""What all studies can do with their results: probe compare, probe reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import RefusalError
from simtown.cli.probe import need, probe, show
from simtown.core.terminal import say_block
from simtown.probes.studies import STUDIES, study_of


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
