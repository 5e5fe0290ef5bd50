"""The town and pictures of it: generate, preview, clip."""

from dataclasses import dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from simtown.assets.entities import ENTITIES
from simtown.assets.own import own_options
from simtown.cli import places
from simtown.cli.command import RefusalError, command, parse_size
from simtown.cli.places import local, name_of, png_file
from simtown.cli.sharing import PoolSettings, known_device, save_picture, weather_problem
from simtown.core.amounts import split_counts
from simtown.core.options import deciding, option
from simtown.core.progress import Progress, progress_of, report
from simtown.core.terminal import complain, say, shell_words
from simtown.datasets.addresses import ALL_SPLITS
from simtown.datasets.settings import Settings
from simtown.scenes.weather import WEATHERS

PREVIEW = "preview.png"
#: Numbers that a default name shows if they are not the default, and what it calls them.
_NUMBERS = {name: name.replace("_", "") for name in deciding(Settings, "size", "draw")[1:]}
_NUMBERS["world_seed"] = "world"
#: The options of settings that a note names.
_NAMED = {"crowd": "--vehicles", "entities": "--entities", "size": "--size", "weathers": "--weather"}
#: Characters of the families that it shows, at most.
_LONGEST_QUESTIONS = 40
#: Other settings that it shows, or leaves out; a digest shows the rest.
_SHOWN = ("entities", "n", "distractor", "width", "height", "catalogue", *_NUMBERS)
#: Options that may stand beside --world, besides those of FREE.
_BESIDE_WORLD = {"world", "out", "device", *(field.name for field in fields(PoolSettings))}
_WORLD = (
    "A ready world, which has all settings: simtown-60, -distractor, -twins, -composition, -busy, -levels-1 "
    "to -levels-9; list shows what is in each. --n, --val, --test and --seed may be others."
)


@command
def generate(
    settings: Settings,
    *,
    world: Annotated[str | None, _WORLD] = None,
    size: Annotated[str, "Pixels: 128, or width x height such as 64x32."] = str(Settings.width),
    out: Annotated[
        str | None,
        "A directory, or a URL such as s3://BUCKET/NAME; by default simtown-ENTITIES-N, followed by "
        "what is not the default, such as -64x32-val200-seed3.",
    ] = None,
    device: Annotated[str, "What draws: cpu, cuda (a graphics card), or auto.", known_device] = "cpu",
    workers: PoolSettings,
    context: typer.Context,
) -> None:
    """Make a data set: scenes, pictures, questions and answers, as HDF5 shards.

    If it is stopped or killed, run the same command again to continue.
    """
    width, height = parse_size(size)
    settings = replace(settings, width=width, height=height)
    from simtown.datasets.frequency_tables import tables_of
    from simtown.datasets.making.ready_worlds import LICENCE, cited, worlds
    from simtown.datasets.question_files import read_question_files
    from simtown.datasets.source import check_names, check_settings, source_of

    if world == "list":
        say(*(f"{name}: {own.holds}" for name, own in worlds().items()))
        return
    settings = read_question_files(settings)
    given = _given(context)
    if world is not None:
        settings = _ready(world, settings, given)
    check_names(settings)
    tables_of(settings)  # and so on: what is quickest to check comes first
    target = default_name(settings, world) if out is None else out
    from simtown.datasets.making.generate import begun, generate
    from simtown.datasets.reading.remote import store_of

    store = store_of(target)
    begun(store, settings)
    check_settings(settings)
    for note in source_of(settings).notes():
        for setting, named in _NAMED.items():
            note = note.replace(f"`{setting}`", named)
        complain(f"note: {note}")
    from simtown.datasets.reading.reader import open_dataset
    from simtown.datasets.showing.preview import dataset_sheet
    from simtown.render.renderers import choose_device, make_renderer

    with Progress(f"generate {store}") as progress, workers.cluster(workers.workers) as cluster:
        report(f"{store}: {split_counts(settings.counts())}")
        if workers.engine == "ray" and device == "cuda":
            drawn_on = device  # the cluster's cards, not this machine's
        else:
            drawn_on = choose_device(device, complain, width, height)
        manifest = generate(settings, target, workers.workers, progress, drawn_on, cluster)
    if PREVIEW not in store.listing()[0]:
        sheet = dataset_sheet(open_dataset(target), make_renderer())
        with store.making(PREVIEW) as place:
            save_picture(sheet, place / PREVIEW)
    say(f"{manifest}; {progress.summary()}")
    if world is not None:
        say(f"This is {cited(settings)}; licence {LICENCE}.")
    check = shell_words("simtown", "verify", store, *own_options())
    say(f"Look at {store}/{PREVIEW}; check it with: {check}")


def _given(context: typer.Context) -> dict[str, str]:
    """The options of the command line, and their flags."""
    return {
        option.name: option.opts[0]
        for option in context.command.params
        if option.name and getattr(context.get_parameter_source(option.name), "name", "") == "COMMANDLINE"
    }


def _ready(world: str, given: Settings, flags: dict[str, str]) -> Settings:
    """The settings of a ready world with what is given of FREE; nothing else may be."""
    from simtown.datasets.making.ready_worlds import FREE, ready

    for name, flag in flags.items():
        if name not in (*FREE, *_BESIDE_WORLD):
            raise RefusalError(f"{flag} is set by --world {world}: leave out one of them")
    return ready(world, **{name: getattr(given, name) for name in FREE if name in flags})


def default_name(settings: Settings, world: str | None = None) -> str:
    """Directory name of a data set: its entities and size, then whatever is not the default.

    Of a ready world its name, then whatever it leaves free and is not the world's.
    """
    from simtown.datasets.making.ready_worlds import ready, worlds
    from simtown.datasets.resolved_settings import canonical

    if world is not None:
        whole, usual = worlds()[world].settings, ready(world, n=settings.n)
        name = world if settings.n == whole.n else f"{world}-{settings.n}"
        return name + _numbers(settings, usual)
    settings, usual = canonical(settings), Settings(n=settings.n, own_kinds=())
    name = f"simtown-{settings.entities}-{settings.n}"
    if settings.distractor:
        name += "-distractor"
    asked = "-".join(settings.questions)
    if asked != "paper" and len(asked) <= _LONGEST_QUESTIONS and not settings.own_families:
        name, settings = f"{name}-{asked}", replace(settings, questions=("paper",))
    if (settings.width, settings.height) != (usual.width, usual.height):
        name += f"-{settings.width}x{settings.height}"
    name += _numbers(settings, usual)
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    others = {name: value for name, value in values.items() if name not in _SHOWN}
    changed = [f"{name}={value}" for name, value in others.items() if value != getattr(usual, name)]
    if changed:
        name += f"-{sha256(';'.join(changed).encode()).hexdigest()[:6]}"
    return name


def _numbers(settings: Settings, usual: Settings) -> str:
    changed = {n: word for n, word in _NUMBERS.items() if getattr(settings, n) != getattr(usual, n)}
    return "".join(f"-{word}{getattr(settings, number)}" for number, word in changed.items())


@dataclass(frozen=True)
class PreviewOptions:
    """Options for a contact sheet."""

    random: bool = option(False, "Show new examples, without a data set.")
    entity: tuple[str, ...] = option((), "Show these kinds of vehicles, or all.", choices=ENTITIES)
    weather: tuple[str, ...] = option((), "Show one street in these weathers, or all.", choices=WEATHERS)
    split: str = option("train", "train, val, test, or with a hold-out test-composition.", choices=ALL_SPLITS)
    count: int = option(24, "Number of examples.", low=1, flag="n")
    large: bool = option(False, "Draw the examples again, larger than they are stored.")
    distractor: bool = option(
        Settings.distractor, "With --random: a third vehicle, about which nothing is asked."
    )
    entities: int = option(Settings.entities, "With --random: number of kinds of vehicles.")
    seed: int = option(Settings.seed, "With --random or --weather: which street.")
    renderer: str = option("raster", "raster or opengl.", choices=("raster", "opengl"))
    out: Path | None = option(None, "The PNG or WebP to write; by default NAME-preview.png.")


@command
def preview(
    dataset: Annotated[str | None, places.DATASET, places.dataset_named] = None,
    *,
    show: PreviewOptions,
) -> None:
    """Write a contact sheet: pictures with questions, answers and boxes (subject blue, object orange).

    Of a data set, of new examples (--random), of kinds of vehicles (--entity) or of weathers (--weather).
    """
    sources = {"DIR": dataset, "--random": show.random, "--entity": show.entity, "--weather": show.weather}
    chosen = [name for name, value in sources.items() if value]
    if len(chosen) != 1:
        given = " and ".join(chosen) or "none"
        raise RefusalError(f"give one of DIR, --random, --entity and --weather, not {given}")
    names = {"--random": "random", "--entity": "entities", "--weather": "weather"}
    name = f"{name_of(dataset)}-{PREVIEW}" if dataset else f"simtown-{names[chosen[0]]}.png"
    path = png_file(show.out, name, ".webp")
    settings = Settings(entities=show.entities, distractor=show.distractor, seed=show.seed)
    settings.check()
    from simtown.datasets.reading.reader import open_dataset
    from simtown.datasets.showing import preview
    from simtown.render.renderers import make_renderer

    renderer = make_renderer("opengl" if show.renderer == "opengl" else "cpu")
    if dataset is not None:
        data = open_dataset(dataset)
        if show.split not in data.splits or not len(data[show.split]):
            raise RefusalError(f"{dataset} has no {show.split} examples: choose another --split")
        sheet = preview.dataset_sheet(data, renderer, show.split, show.count, show.large)
    elif show.random:
        side = preview.EXAMPLE_SIDES[show.large]
        sheet = preview.random_sheet(settings, renderer, show.count, side, side)
    elif show.entity:
        numbers = [ENTITIES.index(name) for name in show.entity]
        sheet = preview.entity_sheet(renderer, numbers, 384 if show.large else 192)
    else:
        side = 512 if show.large else 256
        sheet = preview.weather_sheet(settings, renderer, list(show.weather), side)
    save_picture(sheet, path)
    say(f"{path}: {sheet.width} x {sheet.height} pixels")


def ending_problem(path: Path) -> str:
    """The problem of the end of a clip's path, "" if nothing is."""
    ends = path.suffix.lower() in (".mp4", ".webp", ".gif")
    return "" if ends else f"{path} must end in .mp4, .webp or .gif"


@dataclass(frozen=True)
class ClipOptions:
    """A clip of a random street."""

    seconds: float = option(4.0, "Length.", above=0, high=600)
    out: Path = option(Path("street.mp4"), "The file to write: .mp4, .webp or .gif.", test=ending_problem)
    seed: int = option(Settings.seed, "Seed of the street.")
    size: str = option("512x288", "Pixels: width x height.")
    fps: int = option(25, "Frames a second: at most 60, in a GIF 50.", low=1, high=60)
    vehicles: int | None = option(None, "Number of vehicles; by default as many as keep two in view.")
    entities: int = option(Settings.entities, "Number of kinds of vehicles: the first of the catalogue.")
    weather: str | None = option(None, "A weather; by default a random one.", test=weather_problem)


@command
def clip(street: ClipOptions) -> None:
    """Film a random street, in which vehicles drive past."""
    size, out, seconds, fps = parse_size(street.size), local(street.out), street.seconds, street.fps
    from simtown.town.motion import clip
    from simtown.town.motion.traffic import traffic

    count = max(2, round(seconds * fps))
    clip.check(out, fps, size)
    with progress_of(f"clip {out}", count) as progress:
        town = traffic(street.seed, street.vehicles, street.entities, street.weather, seconds)
        town.film((count - 1) / fps, count, size).save(out, progress)
    megabytes = out.stat().st_size / 1e6
    about = f"{seconds:g} s of {street.size} at {fps} frames a second, {megabytes:,.1f} MB"
    weather = town.weather
    say(f"{out}: {about}", f"{weather.kind} of intensity {weather.intensity:.1f}")
