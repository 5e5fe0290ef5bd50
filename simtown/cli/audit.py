"""Does a data set hold shortcuts, repetitions or leaks? audit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import DAMAGED, RefusalError, app


@app.command(short_help="Look for shortcuts, repetitions and leaks.")
def audit(
    dataset: Annotated[Path, typer.Argument(help="Directory of a data set.")],
    json: Annotated[Path | None, typer.Option(help="Also write everything found as JSON.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if there is any warning.")] = False,
) -> None:
    """Look for what would let a model answer without understanding: answers that lean, that depend on what they should not, or that small
    models guess from a part of the example; scenes that repeat or leak into the test; questions too close to call or hidden.

    A data set without any of it passes with a probability of 99 %, all tests taken together.
    """
    from importlib.util import find_spec

    missing = [package for module, package in (("sklearn", "scikit-learn"), ("scipy", "scipy")) if find_spec(module) is None]
    if missing:
        raise RefusalError(f"{missing[0]} is not installed: pip install 'simtown[audit]'")
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from simtown.datasets.audit import run
    from simtown.datasets.reader import open_dataset
    from simtown.files import save_json
    from simtown.progress import Progress

    data = open_dataset(dataset)
    with Progress(f"audit {dataset}") as watcher:
        watcher.started(run.STEPS, 0)
        findings = run.audit(data, lambda name: watcher.advanced(1, {}))
    told = run.report(dataset, findings)
    if json is not None:
        save_json(json, told)
    table = Table(title=f"Audit of {dataset}", box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("", "check", "split", "found"):
        table.add_column(head, no_wrap=head in ("", "check"))
    colours = {"pass": "green", "warn": "bold red", "note": "dim"}
    for f in findings:
        table.add_row(f"[{colours[f.status]}]{f.status}[/]", f.check, f.where, f.found)
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    for f in findings:
        if f.status == "warn":
            print(f"{f.check} ({f.where}): {f.advice}")
    print(f"{dataset}: {told['warnings'] or 'no'} warning{'' if told['warnings'] == 1 else 's'} in {len(findings)} checks")
    if strict and told["warnings"]:
        raise typer.Exit(DAMAGED)
