"""Does a data set hold shortcuts, repetitions or leaks? audit."""

from __future__ import annotations

from pathlib import Path
from tempfile import gettempdir
from typing import Annotated

import typer

from simtown.cli.app import DAMAGED, AddressOption, EngineOption, WorkersOption, app, pool_of
from simtown.cli.costs import announce, cores_of
from simtown.cli.places import local_file
from simtown.extras import need
from simtown.terminal import say


@app.command(short_help="Look for shortcuts, repetitions and leaks.")
def audit(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set.")],
    json: Annotated[Path | None, typer.Option(help="Also write everything found as JSON.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if there is any warning.")] = False,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Look for what would let a model answer without understanding: answers that lean, that depend on what they should not, or that small
    models guess from a part of the example; scenes and pictures that repeat or leak into the test, also nearly; questions too close to
    call or hidden; and files that were changed.

    A data set without any of it passes with a probability of 99 %, all tests taken together.
    """
    need("this command", ("sklearn", "scipy"), "audit")
    from rich import box
    from rich.table import Table

    from simtown.console import page, styled
    from simtown.datasets import costs
    from simtown.datasets.audit import run
    from simtown.datasets.reader import open_dataset
    from simtown.datasets.settings import SPLITS
    from simtown.datasets.stores import store_of
    from simtown.files import save_json
    from simtown.progress import Progress

    report_file = local_file(json, "--json") if json else None
    name = str(store_of(dataset))
    data = open_dataset(dataset)
    examples = sum(len(data[split]) for split in SPLITS)
    cost = costs.of_audit(data)
    announce(f"audit {name}", cost, cores_of(engine, workers, cost.seconds), Path(gettempdir()), "another TMPDIR")
    with Progress(f"audit {name}") as watcher, pool_of(engine, address, workers, seconds=cost.seconds) as pool:
        watcher.started(run.PASSES * examples, 0)
        findings = run.audit(data, pool, lambda n: watcher.advanced(n, {}))
    summary = run.report(data.name, findings)
    if report_file:
        save_json(report_file, summary)
    table = Table(title=f"Audit of {name}", box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("", "check", "split", "found"):
        table.add_column(head, no_wrap=head in ("", "check"))
    colours = {"pass": "green", "warn": "bold red", "note": "dim"}
    for f in findings:
        table.add_row(styled(f.status, colours[f.status]), f.check, f.where, f.found)
    with page(150) as console:
        console.print(table)
    for f in findings:
        if f.status == "warn":
            say(f"{f.check} ({f.where}): {f.advice}")
    say(f"{name}: {summary['warnings'] or 'no'} warning{'' if summary['warnings'] == 1 else 's'} in {len(findings)} checks")
    if strict and summary["warnings"]:
        raise typer.Exit(DAMAGED)
