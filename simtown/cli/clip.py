"""The town in motion: clip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import app, parse_size
from simtown.cli.places import local
from simtown.terminal import say


@app.command(short_help="Film a street in motion: MP4 or GIF.")
def clip(
    seconds: Annotated[float, typer.Option(help="How long.")] = 4.0,
    out: Annotated[Path, typer.Option(help="The file to write: .mp4 or .gif.")] = Path("street.mp4"),
    seed: Annotated[int, typer.Option(help="Another seed is another street.")] = 0,
    size: Annotated[str, typer.Option(help="Pixels: width x height.")] = "512x288",
    fps: Annotated[int, typer.Option(help="Frames a second.")] = 25,
    vehicles: Annotated[int, typer.Option(help="How many vehicles drive, seen or not.")] = 5,
    entities: Annotated[int, typer.Option(help="How many kinds of vehicles exist: the first of the catalogue.")] = 60,
    weather: Annotated[str | None, typer.Option(help="A weather; by default a random one.")] = None,
) -> None:
    """Film a random street: vehicles follow each other, people walk, physics moves them (extra "physics").

    simtown clip --seconds 4 --out street.mp4
    """
    from collections import Counter

    from simtown.progress import Progress
    from simtown.town import clip as clips

    extent, out = parse_size(size), local(out)
    clips.check(out, seconds, fps, extent)
    with Progress(f"clip {out}") as watcher:
        town = clips.traffic(seed, vehicles, entities, weather)
        watcher.started(max(1, round(seconds * fps)), 0)
        contacts = clips.write(town, out, seconds, fps, extent, lambda n: watcher.advanced(n, {}))
    say(f"{out}: {seconds:g} s of {size} at {fps} frames a second, {out.stat().st_size / 1e6:,.1f} MB. {town.describe()}")
    for (first, second), steps in Counter((c.first, c.second) for c in contacts).items():
        say(f"the {first} touched the {second} in {steps} frame{'s' if steps > 1 else ''}")
