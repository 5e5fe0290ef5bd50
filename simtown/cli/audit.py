"""Does a data set hold shortcuts, repetitions or leaks? audit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import (
    DAMAGED,
    AddressOption,
    EngineOption,
    PoolSettings,
    WorkersOption,
    app,
    progress_of,
)
from simtown.cli.places import local_file
from simtown.core.extras import need
from simtown.core.terminal import say


@app.command(short_help="Look for shortcuts, repetitions and leaks.")
def audit(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set.")],
    json: Annotated[Path | None, typer.Option(help="Also write all results as JSON.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if there is a warning.")] = False,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Look for what lets a model answer without understanding, and for leaks.

    That is: answers that are biased, or depend on what they should not; answers that a small model guesses
    from a part of the example; repeated scenes and pictures; training scenes and pictures that are also, or
    nearly, in the test split; questions too close to call or about hidden vehicles; changed files.

    A data set without any of these passes all tests together with a probability of 99 %.
    """
    need("audit")
    from rich import box
    from rich.table import Table

    from simtown.core.console import page, styled
    from simtown.core.files import save_json
    from simtown.datasets.audit import run
    from simtown.datasets.reader import open_dataset
    from simtown.datasets.settings import SPLITS
    from simtown.datasets.stores import store_of

    report_file = local_file(json, "--json") if json else None
    name = str(store_of(dataset))
    data = open_dataset(dataset)
    examples = sum(len(data[split]) for split in SPLITS)
    team = PoolSettings(engine, address, workers, examples)
    with progress_of(f"audit {name}", run.PASSES * examples) as progress, team.pool() as pool:
        findings = run.audit(data, pool, progress)
    summary = run.report(data.name, findings)
    if report_file:
        save_json(report_file, summary)
    table = Table(title=f"Audit of {name}", box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("", "check", "split", "found"):
        table.add_column(head, no_wrap=head in ("", "check"))
    colours = {"pass": "green", "warn": "bold red", "note": "dim"}
    for finding in findings:
        status = styled(finding.status, colours[finding.status])
        table.add_row(status, finding.check, finding.where, finding.figure)
    with page(150) as console:
        console.print(table)
    for finding in findings:
        if finding.status == "warn":
            say(f"{finding.check} ({finding.where}): {finding.advice}")
    warnings = summary["warnings"]
    say(f"{name}: {warnings or 'no'} warning{'' if warnings == 1 else 's'} in {len(findings)} checks")
    if strict and warnings:
        raise typer.Exit(DAMAGED)
