"""Measuring on the user's own machine: bench render."""

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.command import command, parse_numbers
from simtown.cli.places import local_file, require_suffix
from simtown.cli.sharing import known_device
from simtown.core.console import new_table, page
from simtown.core.extras import need
from simtown.core.progress import Progress
from simtown.core.terminal import say

bench = typer.Typer(help="Measure speed on this machine.", no_args_is_help=True, rich_markup_mode=None)

HEADS = ["engine", "size", "scenes", "frames/s", "lowest to highest", "million triangles/s", "µs a frame"]


@bench.command("render", short_help="Frames a second of every engine.")
@command
def bench_render(
    *,
    device: Annotated[
        str,
        "Engines of cpu, of cuda (a graphics card), or auto: all that work on this machine.",
        known_device,
    ] = "auto",
    size: Annotated[str, "Picture sizes in pixels, separated by commas."] = "64,128,256,512",
    scenes: Annotated[str, "Numbers of scenes to draw at once, separated by commas."] = "1,16,256",
    repeats: Annotated[
        int, typer.Option(help="Number of drawings, after one that warms up; their median counts.", min=1)
    ] = 5,
    out: Annotated[Path, "The CSV to write; the picture goes beside it."] = Path("bench-render.csv"),
) -> None:
    """Measure frames a second of all engines that are installed, with depth and ids: a table, a CSV file, and
    a picture (extra "train").

    On a graphics card: simtown bench render --scenes 1,128,1024,16384. The command skips a batch that would
    take an engine over 20 seconds.
    """
    from simtown.render.frames import check_size

    sizes = parse_numbers(size, "--size", "64,128", int, 1)
    counts = parse_numbers(scenes, "--scenes", "1,16", int, 1)
    for side in sizes:
        check_size(side, side)
    require_suffix(out, ".csv")
    out = local_file(out)
    need("train", modules="matplotlib", what="the picture of what is measured")
    from simtown.bench import render
    from simtown.render.renderers import choose_device

    rows: list[render.EngineTiming] = []
    with Progress("bench render") as progress:
        drawn_on = choose_device(device, progress.on_note)
        machine = render.machine(drawn_on)
        progress.on_begin(len(sizes) * len(counts))
        engines = "auto" if device == "auto" and drawn_on == "cuda" else drawn_on
        callbacks = progress.on_note, progress.on_progress
        for timings in render.measure(engines, sizes, counts, repeats, *callbacks):
            rows += timings
    table = new_table("", HEADS, left=HEADS)
    for row in rows:
        spread = f"{row.fps_low:,.0f} to {row.fps_high:,.0f}"
        speed = (f"{row.fps:,.0f}", spread, f"{row.triangles_per_second / 1e6:,.1f}")
        time = f"{row.milliseconds * 1e3:,.1f}"
        table.add_row(row.engine, str(row.size), f"{row.scenes:,}", *speed, time)
    with page(160) as console:
        console.print(table)
    picture = out.with_suffix(".png")
    render.save(rows, machine, out)
    render.plot(rows, machine, picture)
    say(machine, str(out), str(picture))
