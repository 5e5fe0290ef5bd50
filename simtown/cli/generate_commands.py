"""The town and pictures of it: generate, preview, clip."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from simtown.assets.catalogue import ENTITIES
from simtown.cli.command import RefusalError, command, parse_names, parse_size
from simtown.cli.places import local, name_of, png_file
from simtown.cli.sharing import PoolSettings, progress_of, ready_renderer, save_picture
from simtown.core.terminal import complain, say
from simtown.datasets.settings import SPLITS, Settings
from simtown.scenes.weather import WEATHERS

PREVIEW = "preview.png"


@command
def generate(
    settings: Settings,
    *,
    size: Annotated[str, typer.Option(help="Pixels: 128, or width x height such as 64x32.")] = str(
        Settings.width
    ),
    out: Annotated[
        str | None,
        typer.Option(
            help="A directory, or a URL such as s3://BUCKET/NAME; by default simtown-ENTITIES-N, followed by "
            "whatever is not the default."
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="What draws: cpu, cuda (a graphics card), or auto.")] = "cpu",
    workers: PoolSettings,
) -> None:
    """Make a data set: scenes, pictures, questions and answers, as HDF5 shards.

    If it is stopped or killed, run the same command again to continue. The paper's hardest world: simtown
    generate --entities 60 --n 60000 --distractor
    """
    from simtown.core.progress import Progress
    from simtown.datasets.generate import begun, generate
    from simtown.datasets.preview import dataset_sheet
    from simtown.datasets.reader import open_dataset
    from simtown.datasets.remote import store_of
    from simtown.render.renderers import choose_device

    width, height = parse_size(size)
    settings = replace(settings, width=width, height=height)
    target = default_name(settings) if out is None else out
    store = store_of(target)
    settings.check()
    if settings.hints_at_depth:
        complain(
            "note: beside a distractor, the words alone answer 6 of 10 questions about near and far (chance: "
            "5), since longer vehicles stand behind more often; left and right are fair"
        )
    begun(store, settings)  # refused before anything is compiled
    with Progress(f"generate {store}") as progress, workers.pool() as pool:
        if workers.engine == "ray" and device == "cuda":
            drawn_on = device  # the cluster's cards, not this machine's
        else:
            drawn_on = choose_device(device, complain, width, height)
        if workers.engine == "local" and drawn_on == "cpu":
            ready_renderer("raster")  # compile once, here, before the workers start
        manifest = generate(settings, target, callback=progress, device=drawn_on, pool=pool)
    if PREVIEW not in store.sizes():
        sheet = dataset_sheet(open_dataset(target), ready_renderer("raster"))
        with store.making(PREVIEW) as place:
            save_picture(sheet, place / PREVIEW)
    counts = ", ".join(f"{count} {split}" for split, count in settings.counts().items())
    megabytes = sum(entry["bytes"] for entry in manifest["shards"].values()) / 1e6
    amount = f"{megabytes:,.1f} MB in {len(manifest['shards'])} shards"
    say(f"{store}: {counts} examples, {amount}; {progress.summary()}")
    say(f"Look at {store}/{PREVIEW}; check it with: simtown verify {store}")


#: Settings that a default name shows by themselves, and those that it does not show; a digest shows the rest.
_SHOWN = ("entities", "n", "distractor", "width", "height", "seed", "test_seed", "world_seed", "catalogue")


def default_name(settings: Settings) -> str:
    """Directory name of a data set: its entities and size, then whatever is not the default."""
    settings, usual = settings.canonical, Settings()
    name = f"simtown-{settings.entities}-{settings.n}"
    if settings.distractor:
        name += "-distractor"
    if (settings.width, settings.height) != (usual.width, usual.height):
        name += f"-{settings.width}x{settings.height}"
    for field, word in (("seed", "seed"), ("test_seed", "test"), ("world_seed", "world")):
        if getattr(settings, field) != getattr(usual, field):
            name += f"-{word}{getattr(settings, field)}"
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    changed = [
        f"{key}={value}"
        for key, value in values.items()
        if key not in _SHOWN and value != getattr(usual, key)
    ]
    if changed:
        name += f"-{sha256(';'.join(changed).encode()).hexdigest()[:6]}"
    return name


@command
def preview(
    dataset: Annotated[str | None, typer.Argument(help="Directory or URL of a data set.")] = None,
    *,
    random: Annotated[bool, typer.Option("--random", help="Show new examples, without a data set.")] = False,
    entity: Annotated[
        str | None, typer.Option(help="Show the catalogue: all, or names separated by commas.")
    ] = None,
    weather: Annotated[
        str | None, typer.Option(help="Show one street in these weathers: all, or names separated by commas.")
    ] = None,
    split: Annotated[str, typer.Option(help="train, val or test.")] = "train",
    count: Annotated[int, typer.Option("--n", help="Number of examples.")] = 24,
    large: Annotated[
        bool, typer.Option("--large", help="Draw the examples again, larger than they are stored.")
    ] = False,
    distractor: Annotated[
        bool, typer.Option("--distractor", help="With --random: a third vehicle.")
    ] = Settings.distractor,
    entities: Annotated[
        int, typer.Option(help="With --random: number of kinds of vehicles.")
    ] = Settings.entities,
    seed: Annotated[int, typer.Option(help="With --random or --weather: which street.")] = Settings.seed,
    renderer: Annotated[str, typer.Option(help="raster or opengl.")] = "raster",
    out: Annotated[
        Path | None,
        typer.Option(help="The PNG to write; by default NAME-preview.png, in the working directory."),
    ] = None,
) -> None:
    """Write a contact sheet: pictures with questions, answers and boxes (subject blue, object orange).

    simtown preview DIR | simtown preview --random | simtown preview --entity all | simtown preview --weather
    all
    """
    from simtown.datasets import preview
    from simtown.datasets.reader import open_dataset

    sources = {"DIR": dataset, "--random": random, "--entity": entity, "--weather": weather}
    chosen = [name for name, value in sources.items() if value]
    if len(chosen) != 1:
        raise RefusalError(
            f"give one of DIR, --random, --entity and --weather, not {' and '.join(chosen) or 'none'}"
        )
    if count < 1 or split not in SPLITS:
        raise RefusalError(f"--n must be at least 1 and --split one of {', '.join(SPLITS)}")
    names = {
        "--random": "simtown-random.png",
        "--entity": "simtown-entities.png",
        "--weather": "simtown-weather.png",
    }
    path = png_file(out, f"{name_of(dataset)}-{PREVIEW}" if dataset else names[chosen[0]])
    settings = Settings(entities=entities, distractor=distractor, seed=seed)
    settings.check()
    if dataset is not None:
        data = open_dataset(dataset)
        if not len(data[split]):
            raise RefusalError(f"{dataset} has no {split} examples: choose another --split")
        sheet = preview.dataset_sheet(data, ready_renderer(renderer), split, count, large)
    elif random:
        side = 512 if large else 160
        sheet = preview.random_sheet(settings, ready_renderer(renderer), count, side, side)
    elif entity is not None:
        numbers = [_entity(name) for name in parse_names(entity, ENTITIES) or [entity]]
        sheet = preview.entity_sheet(ready_renderer(renderer), numbers, 384 if large else 192)
    else:
        weathers = list(parse_names(weather or "", WEATHERS))
        unknown = [name for name in weathers if name not in WEATHERS]
        if unknown or not weathers:
            raise RefusalError(
                f"unknown weather '{', '.join(unknown)}': choose among all, {', '.join(WEATHERS)}"
            )
        sheet = preview.weather_sheet(settings, ready_renderer(renderer), weathers, 512 if large else 256)
    save_picture(sheet, path)
    say(f"{path}: {sheet.width} x {sheet.height} pixels")


def _entity(name: str) -> int:
    if name not in ENTITIES:
        from difflib import get_close_matches

        similar = " or ".join(get_close_matches(name, ENTITIES, 3))
        advice = f"did you mean {similar}?" if similar else "see simtown preview --entity all"
        raise RefusalError(f"unknown entity '{name}': {advice}")
    return ENTITIES.index(name)


@command
def clip(
    *,
    seconds: Annotated[float, typer.Option(help="Length.")] = 4.0,
    out: Annotated[Path, typer.Option(help="The file to write: .mp4 or .gif.")] = Path("street.mp4"),
    seed: Annotated[int, typer.Option(help="Seed of the street.")] = Settings.seed,
    size: Annotated[str, typer.Option(help="Pixels: width x height.")] = "512x288",
    fps: Annotated[int, typer.Option(help="Frames a second.")] = 25,
    vehicles: Annotated[int, typer.Option(help="Number of vehicles that drive, seen or not.")] = 5,
    entities: Annotated[
        int, typer.Option(help="Number of kinds of vehicles: the first of the catalogue.")
    ] = Settings.entities,
    weather: Annotated[str | None, typer.Option(help="A weather; by default a random one.")] = None,
) -> None:
    """Film a random street: vehicles follow each other, people walk, physics moves them (extra "physics").

    simtown clip --seconds 4 --out street.mp4
    """
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
