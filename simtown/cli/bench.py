"""Measuring on the user's own machine: bench render."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import RefusalError, app
from simtown.cli.places import local_file
from simtown.extras import need
from simtown.terminal import say

bench = typer.Typer(help="Measure speed on this machine.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(bench, name="bench")


def _numbers(option: str, text: str, least: int) -> list[int]:
    """Whole numbers of "64,128", none twice."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) >= least for part in parts):
        raise RefusalError(f"{option} {text} is no list of whole numbers from {least} up: write 64,128")
    return list(dict.fromkeys(map(int, parts)))


@bench.command("render", short_help="Frames a second of every engine.")
def bench_render(
    device: Annotated[str, typer.Option(help="Engines of cpu, of cuda (a graphics card), or auto: all that work here.")] = "auto",
    size: Annotated[str, typer.Option(help="Picture sizes in pixels, with commas between.")] = "64,128,256,512",
    scenes: Annotated[str, typer.Option(help="How many scenes to draw at once, with commas between.")] = "1,16,256",
    repeats: Annotated[int, typer.Option(help="Drawings of which the median counts, after one that warms up.")] = 5,
    out: Annotated[Path, typer.Option(help="The CSV to write; the picture goes beside it.")] = Path("bench-render.csv"),
) -> None:
    """Frames a second of all engines that are installed, with depth and ids: a table, a CSV file, and a picture (extra "train").

    On a graphics card: simtown bench render --scenes 1,128,1024,16384. A batch that would take an engine over 20 seconds is left out.
    """

    from rich.table import Table

    from simtown.bench import render as study
    from simtown.console import page
    from simtown.progress import Progress
    from simtown.render.engines import settled
    from simtown.render.frames import check_size

    sizes, counts = _numbers("--size", size, 1), _numbers("--scenes", scenes, 1)
    for side in sizes:
        check_size(side, side)
    if repeats < 1:
        raise RefusalError(f"--repeats must be at least 1, not {repeats}")
    if out.suffix.lower() != ".csv":
        raise RefusalError(f"--out {out} must end in .csv")
    out = local_file(out)
    need("the picture of what is measured", ("matplotlib",), "train")
    rows: list[study.Row] = []
    with Progress("bench render") as watcher:
        drawn_on = settled(device, watcher.say)
        where = study.machine(drawn_on)
        watcher.started(len(sizes) * len(counts), 0)
        engines = "auto" if device == "auto" and drawn_on == "cuda" else drawn_on
        for more in study.measure(engines, sizes, counts, repeats, watcher.say, lambda: watcher.advanced(1, {})):
            rows += more
    table = Table("engine", "size", "scenes", "frames/s", "lowest to highest", "million triangles/s", "µs a frame", "stages", "MB")
    for row in rows:
        spread = f"{row.fps_low:,.0f} to {row.fps_high:,.0f}"
        table.add_row(row.engine, str(row.size), f"{row.scenes:,}", f"{row.fps:,.0f}", spread, f"{row.triangles_per_second / 1e6:,.1f}",
                      f"{row.milliseconds * 1e3:,.1f}", row.stages, f"{row.megabytes:,}")  # fmt: skip
    with page(160) as console:
        console.print(table)
    say(where)
    study.save(rows, where, out)
    say(str(out))
    study.plot(rows, where, out.with_suffix(".png"))
    say(str(out.with_suffix(".png")))
