"""What all studies can do with their results: probe compare, probe reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli import probe_physical, probe_spatial, probe_visual
from simtown.cli.app import RefusalError
from simtown.cli.probe import need, probe, show
from simtown.terminal import say_block

_STUDIES = {"physical": probe_physical, "visual": probe_visual, "spatial": probe_spatial}
#: What the names of a paper's tables begin with.
_PAPERS = {"forbes-": probe_physical, "vicomte-": probe_visual, "spatial-": probe_spatial}


@probe.command(short_help="Two models on the same questions: tests and intervals.")
def compare(
    a: Annotated[Path, typer.Argument(help="Made by simtown probe physical, visual or spatial.")],
    b: Annotated[Path, typer.Argument(help="Made by the same study.")],
) -> None:
    """Print the differences of two models' scores with 95 % intervals, and paired tests, for all that both directories have.

    physical: F1s, intervals over test objects, McNemar's test. visual: ρ over subjects, paired and Welch's t, McNemar's test of Acc@1.
    spatial: analogies and odd ones out, McNemar's test, and how alike the matrices are.
    """
    need()
    from simtown.probes.studies import study_of

    study, other = study_of(a), study_of(b)
    if study != other:
        raise RefusalError(f"{a} was made by simtown probe {study} and {b} by simtown probe {other}: they cannot be compared")
    show(_STUDIES[study].compared(a, b))


@probe.command(short_help="Print a paper's table beside ours.")
def reproduce(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="forbes-table1 or forbes-table2; vicomte-tableN with N 1 to 6, 9 or 11; spatial-figure3, spatial-analogy, "
            "spatial-odd-one-out or spatial-similarity.",
        ),
    ],
    data: Annotated[Path, typer.Option(help="What the paper's authors released: a clone of their repository.")],
    runs: Annotated[
        list[Path] | None,
        typer.Option(
            "--with", help="A directory of simtown probe to add to a table of models, or for spatial-... vectors: glove:FILE. Repeatable."
        ),
    ] = None,
) -> None:
    """Print a table of a paper cell by cell: the printed number, and the one that comes out here."""
    need()
    paper = next((study for name, study in _PAPERS.items() if table.startswith(name)), None)
    if paper is None:
        raise RefusalError(f"there is no table {table}: give one of {', '.join(f'{name}...' for name in _PAPERS)} (see --help)")
    tables, told = paper.reproduced(table, data, runs or ())
    show(tables)
    if told:
        say_block(told)
