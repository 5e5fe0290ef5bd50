"""All commands under ``simtown probe``: the studies, and what they can do with their results."""

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli import spatial_commands, visual_commands  # noqa: F401  (they add their commands)
from simtown.cli.command import RefusalError, command
from simtown.cli.places import holding, local_directory, there
from simtown.cli.sharing import ClusterSettings, report_grid
from simtown.cli.study_commands import Out, need, probe, runner, show, show_results
from simtown.core.progress import Progress, one_bar
from simtown.core.terminal import say, say_block, shell_words
from simtown.probes.physical import PhysicalSettings
from simtown.probes.study_settings import AskSettings, ScorerOptions

__all__ = ["probe"]

#: The tables that `probe reproduce` prints.
TABLES = ("forbes-table1", "forbes-table2", *(f"vicomte-table{number}" for number in (*range(1, 7), 9, 11)))
TABLES += ("spatial-figure3", "spatial-analogy", "spatial-odd-one-out", "spatial-similarity")
results = holding("results", "summary.json", "simtown probe")


@probe.command(short_help="Your own table of subjects and right answers.")
@command
def ask(
    items: Annotated[Path, "A table of subject and gold (CSV), or of pairs (CSV, TSV, JSON lines).", there],
    *,
    settings: AskSettings,
    out: Out,
    scorer: ScorerOptions,
) -> None:
    """Ask a model about a table: subjects and the classes that may fit; or pairs of texts.

    ITEMS is CSV with the columns subject and gold, and perhaps classes, template, group and train; or pairs,
    with the columns good, bad and perhaps context, or as BLiMP, COMPS, EWoK, lm-eval and simtown export
    write them (docs/probes.md). Writes every item's answer as Parquet, accuracy or rank correlation with
    intervals, prior and ceiling as JSON, CSV and Markdown, and a picture.
    """
    need()
    from simtown.probes.item_study import ASK  # not STUDIES: the papers' take a second to import
    from simtown.probes.pair_study import PAIRS
    from simtown.probes.pair_tables import layout_of
    from simtown.probes.study import run

    with one_bar() as bars:
        study = PAIRS if settings.elicit or layout_of(items) else ASK
        show_results(run(study, items, settings, out, scorer, bars))


@probe.command(short_help="Objects, properties, affordances: run a model on the tasks.")
@command
def physical(
    *,
    data: Annotated[Path, "A clone of github.com/mbforbes/physical-commonsense, or its folder data.", there],
    settings: PhysicalSettings,
    out: Out,
    scorer: ScorerOptions,
) -> None:
    """Ask which objects have which properties, what can be done with them, and what the one says of the other
    (Forbes et al., 2019).

    Writes every decision as Parquet, the scores as JSON, CSV, Markdown and LaTeX, and Figure 2 as a picture a
    task.
    """
    run, progress = runner("physical")
    with progress as bars:
        show_results(run(data, settings, out, scorer, bars))


@probe.command(short_help="Two models on the same questions: tests and intervals.")
@command
def compare(
    a: Annotated[Path, "Made by simtown probe ask, physical, visual or spatial.", results],
    b: Annotated[Path, "Made by the same study.", results],
) -> None:
    """Print the differences of two models' scores with 95 % intervals, and paired tests, for all that both
    directories have.

    physical: F1s, intervals over test objects, McNemar's test. ask and visual: ρ over subjects, paired and
    Welch's t, McNemar's test of Acc@1. spatial: analogies and odd ones out, McNemar's test, and how alike the
    matrices are.
    """
    need()
    from simtown.probes.studies import open_results

    (study, results_a), (other, results_b) = open_results(a), open_results(b)
    if study is not other:
        raise RefusalError(
            f"{a} (simtown probe {study.name}) cannot be compared with {b} (simtown probe {other.name})"
        )
    show(study.compare(results_a, results_b))


@probe.command(short_help="Print a paper's table beside ours.")
@command
def reproduce(
    table: Annotated[
        str,
        "forbes-table1 or forbes-table2; vicomte-tableN with N 1 to 6, 9 or 11; spatial-figure3, "
        "spatial-analogy, spatial-odd-one-out or spatial-similarity.",
    ],
    *,
    data: Annotated[Path, "What the paper's authors released: a clone of their repository.", there],
    runs: Annotated[
        list[Path] | None,
        "A directory of simtown probe to add to a table of models, or for spatial-... vectors: glove:FILE. "
        "Repeatable.",
        "--with",
    ] = None,
) -> None:
    """Print a table of a paper cell by cell: the printed number, and the one that comes out here."""
    if table not in TABLES:
        raise RefusalError(f"there is no table {table}: give {', '.join(TABLES)}")
    need()
    from simtown.probes.studies import STUDIES

    printed = {name: make for study in STUDIES.values() for name, make in study.printed.items()}
    tables = printed[table](data, runs or ())
    show(tables)
    for each in tables:
        if verdict := each.verdict():
            say_block(f"{each.title}: {verdict}" if len(tables) > 1 else verdict)


@probe.command("grid", short_help="Many models, data and ways of asking at once.")
@command
def grid_command(
    file: Annotated[Path, "A TOML file of that form.", there],
    *,
    out: Annotated[Path, "Where each cell gets a directory; with --engine ray one that all machines share."],
    jobs: Annotated[
        int | None, typer.Option(help="Cells at once, each a process; by default one a processor.", min=1)
    ] = None,
    where: ClusterSettings,
    plan: Annotated[bool, "Only list the commands."] = False,
) -> None:
    """Run simtown probe physical, visual or spatial for every cell of a grid; go on where it was stopped, try
    again what failed.

    The file has version = 1 and [[grid]] tables of a study and its command's options, without the dashes; a
    list stands for several cells:

    study = "physical", data = "physical-commonsense", model = ["glove:glove.txt", "majority"], task = ["OP",
    "OA"]
    """
    need()
    from simtown.core.processes import default_workers
    from simtown.probes import grid

    cells, out = grid.read(file), local_directory(out)
    if plan:
        for cell in cells:
            say(shell_words("simtown", "probe", *cell.words, "--out", out / cell.name))
        return
    with where.cluster(jobs) as cluster, Progress(f"probe grid {out}, cells") as bar:
        bar.on_begin(len(cells))

        def done(cell: grid.GridCell, error: str) -> None:
            bar.on_progress(1)
            if not error:
                bar.on_note(f"{cell.name} is done")

        outcome = grid.run(cells, out, jobs or default_workers(), done, cluster)
    report_grid(outcome, out, "cells")
    table = f"simtown probe reproduce TABLE --data DATA --with {shell_words(out / 'A')}"
    say(f"Now: simtown probe compare {shell_words(out / 'A', out / 'B')}, or {table}")
