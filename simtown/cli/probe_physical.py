"""What language models know of objects, properties and affordances: probe physical, and the tables of its paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtown.cli.app import RefusalError
from simtown.cli.probe import headed, need, probe, show_page
from simtown.terminal import say

if TYPE_CHECKING:
    from rich.table import Table

    from simtown.probes.physical.reproduce import Cell, Row

DataOption = Annotated[Path, typer.Option(help="A clone of github.com/mbforbes/physical-commonsense, or its folder data.")]


@probe.command(short_help="Objects, properties, affordances: run a model on the tasks.")
def physical(
    data: DataOption,
    model: Annotated[
        str, typer.Option(help="glove:PATH, hf:ID-OR-DIR, sentence:ID-OR-DIR, lstm:DIR; or a baseline: majority, random, human.")
    ],
    out: Annotated[Path, typer.Option(help="The directory to write; the same command again continues it.")],
    task: Annotated[
        str, typer.Option(help="OP (object, property), OA (object, affordance), AP (affordance, property), or all.")
    ] = "all",
    which: Annotated[str, typer.Option("--set", help="abstract (has only OP), situated, or all.")] = "all",
    use: Annotated[
        str | None,
        typer.Option("--as", help="How the model is used: words, tokens (words in a sentence), sentence, finetune, yes-no. "
                     "Default: words for word vectors, sentence for sentence encoders, tokens for others."),
    ] = None,
    head: Annotated[str, typer.Option(help="What learns from fixed vectors: mlp, as in the paper, or logistic.")] = "mlp",
    protocol: Annotated[
        str, typer.Option(help="Rules where paper and code differ: paper, release or corrected (docs/reproduce/physical-commonsense.md).")
    ] = "corrected",
    tune: Annotated[bool, typer.Option("--tune", help="Choose the head's hyperparameters by 5-fold cross-validation.")] = False,
    seed: Annotated[int, typer.Option(help="Of the head's first weights, of folds, of the coin.")] = 0,
) -> None:  # fmt: skip
    """Ask which objects have which properties, what can be done with them, and what the one says of the other (Forbes et al., 2019).

    Writes every decision as Parquet, the scores as JSON, CSV, Markdown and LaTeX, and Figure 2 as a picture a task.
    """
    need()
    from simtown.probes.physical import study
    from simtown.probes.physical.datasets import read
    from simtown.probes.physical.models import Choices
    from simtown.probes.physical.tasks import chosen
    from simtown.probes.scorers import open_scorer
    from simtown.progress import Progress

    wanted = chosen(task, which)
    choices = Choices(model, use, head, protocol, tune, seed)
    choices.check()
    release = read(data)

    bars: list[Progress] = []

    def watch(title: str, steps: int) -> Callable[[], None]:
        for bar in bars:
            bar.__exit__(None, None, None)
        bar = Progress(f"{title}, steps")
        bars[:] = [bar]
        bar.started(steps, 0)
        return lambda: bar.advanced(1, {})

    try:
        content = study.run(release, wanted, choices, out, lambda: open_scorer(model, progress=True), watch)
    finally:
        for bar in bars:
            bar.__exit__(None, None, None)
    show_page(out / "summary.md")
    for title, found in content["tasks"].items():
        for kind, unknown in found.get("unknown", {}).items():
            if unknown["words"]:
                some = ", ".join(unknown["words"][:5]) + (", …" if len(unknown["words"]) > 5 else "")
                say(f"{title}: {len(unknown['words'])} words unknown, of {unknown['of']} {kind} names: {some}")
    say(f"Everything is in {out}; figures: {out}/*.png")


def reproduced(table: str, data: Path, runs: Sequence[Path]) -> tuple[list[Table], str]:
    """A table of the paper, and how many of its cells are as printed."""
    from simtown.probes.physical import reproduce as tables
    from simtown.probes.physical.datasets import read

    if table not in ("forbes-table1", "forbes-table2"):
        raise RefusalError(f"there is no table {table}: give forbes-table1 or forbes-table2")
    if table == "forbes-table1":
        if runs:
            raise RefusalError("--with adds a row to forbes-table2; Table 1 is about the data")
        cells = tables.table1(read(data))
        return [_table1(cells)], _count([cell for _, cell in cells])
    rows = tables.table2(read(data), runs)
    return _table2(rows), _count([cell for row in rows for cell in row.cells.values()])


def _count(cells: list[Cell]) -> str:
    """Cells that the data decides are counted apart from the Random row's, which nearly any coin would fit."""
    decided = [c.same for c in cells if c.same is not None and c.spread is None]
    drawn = [c.same for c in cells if c.same is not None and c.spread is not None]
    told = f"{sum(decided)} of {len(decided)} cells are as printed"
    return f"{told}; {sum(drawn)} of {len(drawn)} cells of coin tosses are within two standard deviations" if drawn else told


def _table1(cells: list[tuple[str, Cell]]) -> Table:
    made = headed("Table 1", "", "paper", "here", "")
    for name, cell in cells:
        made.add_row(name, cell.paper, cell.here, "same" if cell.same else "differs")
    return made


def _table2(rows: list[Row]) -> list[Table]:
    """A table a column group: paper and here for each of its columns."""
    from simtown.probes.physical.published import TABLE2
    from simtown.probes.physical.results import TITLES, columns

    made = []
    here = {row.name: row for row in rows}
    for title in TITLES:
        table = headed(f"Table 2, {title.replace('-', ' ')}: paper / here", "", *columns(title), "sig: paper", "here", "adjusted")
        for name in [*(n for n in TABLE2 if n != "Human"), *(n for n in here if n not in TABLE2), "Human"]:
            row, paper = here.get(name), TABLE2.get(name, {}).get(title)
            if row is not None and (title, "micro") not in row.cells:
                continue
            cells = []
            for i, part in enumerate(("left", "right", "micro")):
                cell = row.cells[title, part] if row else None
                ours = "-" if cell is None else cell.here if cell.spread is None else f"{cell.here}±{cell.spread:.3f}"
                cells.append(f"{f'{paper[i]:.2f}' if paper else '-'} / {ours}{' !' if cell and cell.same is False else ''}")
            table.add_row(name, *cells, paper[3] if paper else "", *(row.stars.get(title, ("", "")) if row else ("", "")))
        made.append(table)
    return made


def compared(a: Path, b: Path) -> list[Table]:
    """Two directories: differences of F1, and McNemar's test."""
    from simtown.probes.physical.compare import compare
    from simtown.probes.physical.results import columns

    found = compare(a, b)
    scores = headed(f"F1, A: {a}, B: {b}", "task", "F1", "A", "B", "A - B", "95 % of objects", left=2)
    tests = headed("McNemar's test of the decisions", "task", "only A right", "only B right", "p", "corrected", "exact", "p, adjusted")
    for one in found:
        for part, name in zip(("left", "right", "micro"), columns(one.title), strict=True):
            middle, low, high = one.difference[part]
            scores.add_row(one.title if part == "left" else "", name, f"{one.a[part]:.3f}", f"{one.b[part]:.3f}", f"{middle:+.3f}",
                           f"{low:+.3f} to {high:+.3f}", end_section=part == "micro")  # fmt: skip
        test = one.test
        tests.add_row(one.title, f"{test.only_a:,}", f"{test.only_b:,}",
                      *(f"{p:.2g}" for p in (test.plain, test.corrected, test.exact, one.adjusted)))  # fmt: skip
    return [scores, tests]
