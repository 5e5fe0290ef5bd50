"""The town in motion: clip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import app, defaults_of, parse_size, progress_of
from simtown.cli.places import local
from simtown.core.terminal import say


@app.command(
    cls=defaults_of("simtown.datasets.settings:Settings"), short_help="Film a street in motion: MP4 or GIF."
)
def clip(
    *,
    seconds: Annotated[float, typer.Option(help="Length.")] = 4.0,
    out: Annotated[Path, typer.Option(help="The file to write: .mp4 or .gif.")] = Path("street.mp4"),
    seed: Annotated[int, typer.Option(help="Seed of the street.")],
    size: Annotated[str, typer.Option(help="Pixels: width x height.")] = "512x288",
    fps: Annotated[int, typer.Option(help="Frames a second.")] = 25,
    vehicles: Annotated[int, typer.Option(help="Number of vehicles that drive, seen or not.")] = 5,
    entities: Annotated[int, typer.Option(help="Number of kinds of vehicles: the first of the catalogue.")],
    weather: Annotated[str | None, typer.Option(help="A weather; by default a random one.")] = None,
) -> None:
    """Film a random street: vehicles follow each other, people walk, physics moves them (extra "physics").

    simtown clip --seconds 4 --out street.mp4
    """
    from collections import Counter

    from simtown.town import clip

    extent, out = parse_size(size), local(out)
    clip.check(out, seconds, fps, extent)
    with progress_of(f"clip {out}", max(1, round(seconds * fps))) as progress:
        town = clip.traffic(seed, vehicles, entities, weather)
        contacts = clip.write(town, out, seconds, fps, extent, progress)
    megabytes = out.stat().st_size / 1e6
    say(f"{out}: {seconds:g} s of {size} at {fps} frames a second, {megabytes:,.1f} MB. {town.describe()}")
    for (first, second), steps in Counter((c.first, c.second) for c in contacts).items():
        say(f"the {first} touched the {second} in {steps} frame{'s' if steps > 1 else ''}")
