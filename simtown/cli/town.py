"""The town and its data: generate, preview, render, info, verify, captions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtown.cli.app import (
    DAMAGED,
    AddressOption,
    EngineOption,
    PoolSettings,
    RefusalError,
    WorkersOption,
    app,
    as_typed,
    defaults_of,
    parse_names,
    parse_size,
    progress_of,
    save_picture,
)
from simtown.cli.places import local_file, name_of
from simtown.core.extras import need
from simtown.core.terminal import complain, say

if TYPE_CHECKING:
    from simtown.datasets.settings import Settings
    from simtown.render.frames import Renderer


PREVIEW = "preview.png"
_SETTINGS = "simtown.datasets.settings:Settings"


def _names(text: str, everything: tuple[str, ...]) -> tuple[str, ...]:
    return everything if text == "all" else parse_names(text)


def _renderer(engine: str, device: str = "cpu") -> Renderer:
    """The engine by name, "raster" on "cpu" or "cuda", or "opengl".

    numba compiles the kernels of raster here, once on each machine, and a line announces it.
    """
    from simtown.render.renderers import make_renderer

    if engine == "opengl":
        return make_renderer("opengl")
    if engine != "raster":
        raise RefusalError(f"unknown renderer '{engine}': choose raster or opengl")
    import numpy as np
    from numba.core import event

    from simtown.core.progress import report
    from simtown.datasets.settings import Settings
    from simtown.datasets.shards import columns
    from simtown.language.sampler import sample

    class Notice(event.Listener):
        """Announces a compilation; numba tells of none if it finds the kernel on disk."""

        announced = False

        def on_start(self, event: object) -> None:
            if not self.announced:
                report("compiling for this machine, once, in about 40 seconds ...")
            self.announced = True

        def on_end(self, event: object) -> None:
            """Nothing to announce."""

    with event.install_listener("numba:compile", Notice()):
        settings, renderer = Settings(distractor=True), make_renderer(device)
        examples = sample(settings.recipe("train"), np.arange(2))
        columns(examples, np.arange(2), settings)
        renderer.render(examples.scene, 32, 32)
    return renderer


@app.command(
    cls=defaults_of(_SETTINGS, size="width"),
    short_help="Make a data set: scenes, pictures, questions, answers.",
)
def generate(
    *,
    entities: Annotated[
        int,
        typer.Option(help="Number of kinds of vehicles: the first of the catalogue, or see --world-seed."),
    ],
    n: Annotated[int, typer.Option(help="Number of training examples, even.")],
    val: Annotated[int, typer.Option(help="Number of validation examples, drawn like the training ones.")],
    test: Annotated[int, typer.Option(help="Number of test examples; their entities are drawn uniformly.")],
    distractor: Annotated[bool, typer.Option("--distractor", help="Put a third vehicle into every scene.")],
    size: Annotated[str, typer.Option(help="Pixels: 128, or width x height such as 64x32.")],
    seed: Annotated[
        int,
        typer.Option(help="Seed of all random choices: another makes another data set of the same world."),
    ],
    test_seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the test split; by default the --seed. Data sets with different seeds and the same "
            "test seed share their test split."
        ),
    ],
    world_seed: Annotated[
        int,
        typer.Option(
            help="Seed of the world: which kinds of vehicles exist, and which of them are common. Use "
            "several to show that a result does not depend on the kinds. 0 is the catalogue's order. With "
            "one seed, a larger world contains all kinds of a smaller one."
        ),
    ],
    frequencies: Annotated[
        str,
        typer.Option(
            help="How common entities are: vg (Visual Genome), uniform, zipf:EXPONENT, or a CSV file."
        ),
    ],
    relations: Annotated[
        str,
        typer.Option(
            help="Relations asked about: names separated by commas, or all (also in front of, behind)."
        ),
    ],
    phrasing: Annotated[
        str, typer.Option(help="paper: every question in the paper's one phrasing; varied: in several.")
    ],
    weathers: Annotated[
        str,
        typer.Option(
            "--weather",
            help="Weathers that occur: all, or names separated by commas.",
        ),
    ],
    paint: Annotated[
        str,
        typer.Option(
            help="How vehicles are painted: own (as their kind is), uniform, natural (as cars in the "
            "street), or a CSV file."
        ),
    ],
    jitter: Annotated[
        float,
        typer.Option(help="Move the camera sideways at random by up to this many metres, at most 1."),
    ],
    masks: Annotated[bool, typer.Option("--masks", help="Store instance masks.")],
    depth: Annotated[bool, typer.Option("--depth", help="Store depth in metres.")],
    shard: Annotated[
        int | None,
        typer.Option(help="Examples in each file; by default as many as fill 64 to 256 MB."),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            help="A directory, or a URL such as s3://BUCKET/NAME; by default simtown-ENTITIES-N, followed by "
            "whatever is not the default."
        ),
    ] = None,
    workers: WorkersOption = None,
    device: Annotated[str, typer.Option(help="What draws: cpu, cuda (a graphics card), or auto.")] = "cpu",
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Make a data set: scenes, pictures, questions and answers, as HDF5 shards.

    If it is stopped or killed, run the same command again to continue. The paper's hardest world: simtown
    generate --entities 60 --n 60000 --distractor
    """
    from simtown.core.progress import Progress
    from simtown.datasets import job
    from simtown.datasets.preview import dataset_sheet
    from simtown.datasets.reader import open_dataset
    from simtown.datasets.settings import Settings
    from simtown.datasets.stores import store_of
    from simtown.language.relations import RELATION_NAMES
    from simtown.render.renderers import choose_device
    from simtown.scenes.weather import WEATHERS

    width, height = parse_size(size)
    settings = Settings(
        entities=entities,
        n=n,
        val=val,
        test=test,
        width=width,
        height=height,
        seed=seed,
        distractor=distractor,
        frequencies=frequencies,
        relations=_names(relations, RELATION_NAMES),
        phrasing=phrasing,
        weathers=_names(weathers, WEATHERS),
        paint=paint,
        jitter=jitter,
        masks=masks,
        depth=depth,
        shard=shard,
        test_seed=test_seed,
        world_seed=world_seed,
    )
    target = default_name(settings) if out is None else out
    store = store_of(target)
    settings.check()
    if settings.hints_at_depth:
        complain(
            "note: beside a distractor, the words alone answer 6 of 10 questions about near and far (chance: "
            "5), since longer vehicles stand behind more often; left and right are fair"
        )
    job.begun(store, settings)  # refused before anything is told
    team = PoolSettings(engine, address, workers)
    with Progress(f"generate {store}") as progress, team.pool() as pool:
        if engine == "ray" and device == "cuda":
            drawn_on = device  # the cluster's cards, not this machine's
        else:
            drawn_on = choose_device(device, complain, width, height)
        if engine == "local" and drawn_on == "cpu":
            _renderer("raster")  # compile once, here, before the workers start
        manifest = job.generate(settings, target, callback=progress, device=drawn_on, pool=pool)
    if PREVIEW not in store.sizes():
        sheet = dataset_sheet(open_dataset(target), _renderer("raster"))
        with store.making(PREVIEW) as place:
            save_picture(sheet, place / PREVIEW)
    megabytes = sum(entry["bytes"] for entry in manifest["shards"].values()) / 1e6
    amount = f"{megabytes:,.1f} MB in {len(manifest['shards'])} shards"
    say(f"{store}: {n} train, {val} val, {test} test examples, {amount}; {progress.summary()}")
    say(f"Look at {store}/{PREVIEW}; check it with: simtown verify {store}")


#: Settings whose values a default name shows as a digest.
_DIGESTED = (
    "val",
    "test",
    "frequencies",
    "relations",
    "phrasing",
    "weathers",
    "paint",
    "jitter",
    "masks",
    "depth",
    "shard",
)


def default_name(settings: Settings) -> str:
    """Directory name of a data set: its entities and size, then whatever is not the default."""
    from hashlib import sha256

    from simtown.datasets.settings import Settings

    settings, usual = settings.canonical, Settings()
    name = f"simtown-{settings.entities}-{settings.n}"
    if settings.distractor:
        name += "-distractor"
    if (settings.width, settings.height) != (usual.width, usual.height):
        name += f"-{settings.width}x{settings.height}"
    if settings.seed != usual.seed:
        name += f"-seed{settings.seed}"
    if settings.test_seed is not None:
        name += f"-test{settings.test_seed}"
    if settings.world_seed != usual.world_seed:
        name += f"-world{settings.world_seed}"
    values = {key: getattr(settings, key) for key in _DIGESTED}
    changed = [f"{key}={value}" for key, value in values.items() if value != getattr(usual, key)]
    if changed:
        name += f"-{sha256(';'.join(changed).encode()).hexdigest()[:6]}"
    return name


@app.command(cls=defaults_of(_SETTINGS), short_help="Draw a contact sheet of a data set or the catalogue.")
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
    distractor: Annotated[bool, typer.Option("--distractor", help="With --random: a third vehicle.")],
    entities: Annotated[int, typer.Option(help="With --random: number of kinds of vehicles.")],
    seed: Annotated[int, typer.Option(help="With --random or --weather: which street.")],
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
    from simtown.assets.catalogue import ENTITIES
    from simtown.datasets import preview
    from simtown.datasets.reader import open_dataset
    from simtown.datasets.settings import SPLITS, Settings
    from simtown.scenes.weather import WEATHERS

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
    path = _png(out, f"{name_of(dataset)}-{PREVIEW}" if dataset else names[chosen[0]])
    settings = Settings(entities=entities, distractor=distractor, seed=seed)
    settings.check()
    if dataset is not None:
        data = open_dataset(dataset)
        if not len(data[split]):
            raise RefusalError(f"{dataset} has no {split} examples: choose another --split")
        sheet = preview.dataset_sheet(data, _renderer(renderer), split, count, large)
    elif random:
        side = 512 if large else 160
        sheet = preview.random_sheet(settings, _renderer(renderer), count, side, side)
    elif entity is not None:
        numbers = [_entity(name, ENTITIES) for name in _names(entity, ENTITIES) or [entity]]
        sheet = preview.entity_sheet(_renderer(renderer), numbers, 384 if large else 192)
    else:
        weathers = list(_names(weather or "", WEATHERS))
        unknown = [name for name in weathers if name not in WEATHERS]
        if unknown or not weathers:
            raise RefusalError(
                f"unknown weather '{', '.join(unknown)}': choose among all, {', '.join(WEATHERS)}"
            )
        sheet = preview.weather_sheet(settings, _renderer(renderer), weathers, 512 if large else 256)
    save_picture(sheet, path)
    say(f"{path}: {sheet.width} x {sheet.height} pixels")


def _png(out: Path | None, name: str) -> Path:
    """The path of a picture to write; by default a name of ours, in place of an older picture.

    Raises RefusalError.
    """
    if out is None:
        return Path(name)
    if out.suffix.lower() != ".png":
        raise RefusalError(f"--out {out} must end in .png")
    return local_file(out)


def _entity(name: str, entities: tuple[str, ...]) -> int:
    if name not in entities:
        from difflib import get_close_matches

        similar = " or ".join(get_close_matches(name, entities, 3))
        advice = f"did you mean {similar}?" if similar else "see simtown preview --entity all"
        raise RefusalError(f"unknown entity '{name}': {advice}")
    return entities.index(name)


@app.command(short_help="Draw one stored example again, at any size.")
def render(
    where: Annotated[
        str,
        typer.Argument(
            metavar="SHARD:INDEX",
            help="A shard file or DIR/SPLIT, and the example's number in it: data/train:7.",
        ),
    ],
    size: Annotated[str, typer.Option(help="Pixels: 1024, or width x height.")] = "1024",
    renderer: Annotated[str, typer.Option(help="raster or opengl.")] = "raster",
    device: Annotated[
        str, typer.Option(help="Where raster draws: cpu, cuda (a graphics card), or auto.")
    ] = "cpu",
    depth: Annotated[
        bool,
        typer.Option(
            "--depth",
            help="Also write depth: 16-bit PNG in millimetres, 0 for the sky, 65535: 65.5 m or more.",
        ),
    ] = False,
    masks: Annotated[bool, typer.Option("--masks", help="Also write instance ids: 8-bit PNG.")] = False,
    glb: Annotated[
        Path | None, typer.Option(help="Also write the scene for 3D viewers, binary glTF.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Also write the latent scene as JSON, with the ids of its things.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The PNG to write.")] = None,
) -> None:
    """Draw one stored example again, at any size, from its latent scene."""
    import cv2
    import numpy as np

    from simtown.core.files import save_bytes, save_text
    from simtown.datasets.locate import find
    from simtown.render.renderers import choose_device

    if renderer == "opengl" and device != "cpu":
        raise RefusalError("--device chooses where raster draws; with --renderer opengl leave it out")
    width, height = parse_size(size)
    address = find(where)
    scene = address.scene()
    path = _png(out, f"{address.name}.png")
    glb = local_file(glb, "--glb") if glb else None
    json = local_file(json, "--json") if json else None
    drawn_on = choose_device(device, complain, width, height)
    frames = _renderer(renderer, drawn_on).render(scene, width, height)
    pictures = [(path, frames.rgb[0][..., ::-1])]
    if depth:
        millimetres = np.clip(frames.depth[0] * 1000 + 0.5, 0, 65535)
        millimetres = np.where(np.isfinite(frames.depth[0]), millimetres, 0)
        pictures.append((path.with_name(f"{path.stem}-depth.png"), millimetres.astype(np.uint16)))
    if masks:
        pictures.append((path.with_name(f"{path.stem}-masks.png"), frames.ids[0]))
    for target, pixels in pictures:
        encoded, data = cv2.imencode(".png", pixels)
        if not encoded:
            raise RefusalError(f"cannot encode {target}")
        save_bytes(target, data.tobytes())
        say(str(target))
    if glb is not None:
        from simtown.datasets import export_scene

        export_scene.glb(scene, glb)
        say(str(glb))
    if json is not None:
        save_text(json, scene.to_json(0) + "\n")
        say(str(json))


@app.command(short_help="Describe a data set, or one example.")
def info(
    dataset: Annotated[
        str,
        typer.Argument(
            help="Directory or URL of a data set; DIR/SPLIT:INDEX for one example, such as data/test:3."
        ),
    ],
    plot: Annotated[
        bool,
        typer.Option(
            "--plot", help="Also draw subjects and objects against their target: NAME-marginals.png."
        ),
    ] = False,
) -> None:
    """Describe a data set: counts, balance, acceptance rates, timings, and entity frequencies against their
    target.

    Describe one example (DIR/SPLIT:INDEX or SHARD:INDEX): the question, the answer, where its vehicles stand,
    and what else is in the street.

    --plot draws the paper's Figures 12 and 13: generated frequencies against those that were asked for, and
    training against test, with a chi-square test of the fit.
    """
    from simtown.datasets import marginals
    from simtown.datasets.describe import show_example
    from simtown.datasets.info import show
    from simtown.datasets.locate import is_address
    from simtown.datasets.reader import open_dataset

    if is_address(dataset):
        if plot:
            raise RefusalError(
                f"--plot draws a whole data set: give its directory, not the example {dataset}"
            )
        show_example(dataset)
        return
    if plot:
        need("vg", modules=("scipy", "matplotlib"), what="--plot")
    show(dataset)
    if plot:
        data = open_dataset(dataset)
        counted = marginals.marginals(data)
        path = Path(f"{name_of(dataset)}-marginals.png")
        marginals.plot(counted, data.settings.frequencies, path)
        for split, marginal in counted.items():
            target = "uniform" if split == "test" else data.settings.frequencies
            for role, fit in marginal.fit.items():
                say(
                    f"{split} {role}s against {target}: chi-square {fit.chi2:.1f}, "
                    f"{fit.dof} degrees of freedom, p {fit.p:.3g}"
                )
        say(f"Figures 12 and 13: {path}")


@app.command(
    cls=defaults_of("simtown.datasets.verify", pictures="PICTURES"),
    short_help="Check that a data set is what its settings make.",
)
def verify(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set.")],
    *,
    pictures: Annotated[
        int, typer.Option(help="Number of pictures of the whole set to draw again and compare; 0 for none.")
    ],
    everything: Annotated[bool, typer.Option("--all", help="Draw every picture again.")] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Sample nothing again: only check that files and examples are consistent."
        ),
    ] = False,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Check a data set against its settings: every file, scene, question and answer, and a sample of the
    pictures.

    Scenes, questions and answers are sampled again from the settings and compared. Each error and each file
    that does not belong there is one line. Exit code 1 if there is an error.
    """
    from simtown.datasets import verify
    from simtown.datasets.settings import Settings
    from simtown.datasets.stores import store_of

    if pictures < 0:
        raise RefusalError(f"--pictures must be at least 0, not {pictures}")
    store = store_of(dataset)
    manifest = store.load_manifest()
    settings = Settings.from_resolved(manifest["settings"])
    drawn = None if everything else pictures
    total = sum(settings.counts().values())
    team = PoolSettings(engine, address, workers, total)
    renderer = _renderer("raster")  # compiled here, also for what samples, before the workers start
    with progress_of(f"verify {store}", total) as progress, team.pool() as pool:
        report = verify.verify(dataset, renderer if drawn != 0 else None, drawn, quick, progress, pool)
    for problem in report.problems:
        complain(f"simtown: {problem}")
    if report.problems:
        count = len(report.problems)
        remedy = ""
        if any(".h5: " in problem for problem in report.problems):
            remedy = "; if you move a shard away, the same simtown generate makes it again"
        complain(
            f"simtown: {store} is not what its settings make: {count} "
            f"problem{'s' if count > 1 else ''}{remedy}"
        )
        raise typer.Exit(DAMAGED)
    say(f"{store}: {as_typed(report.summary)}")


@app.command(short_help="Describe the scenes of a data set in words.")
def captions(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set.")],
    out: Annotated[
        Path, typer.Option(help="The text file to write, a caption a line; simtown lm train learns from it.")
    ],
    bias: Annotated[
        float,
        typer.Option(help="Reporting bias: probability that a caption omits a kind's typical colour."),
    ] = 0.0,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Write region descriptions of the training scenes: how vehicles stand, their colours and the weather,
    what is in the street.

    All of them are true. With a reporting bias, captions mention typical colours less often than pictures
    show them.
    """
    from simtown.datasets.captioned import scenes_to_read, write_captions
    from simtown.datasets.reader import open_dataset
    from simtown.language.captions import check_bias

    out = local_file(out)
    check_bias(bias)
    source = open_dataset(dataset)
    scenes = scenes_to_read(source, "train", bias)
    team = PoolSettings(engine, address, workers, scenes)
    with progress_of(f"captions {out.name}", scenes) as progress, team.pool() as pool:
        count, example = write_captions(out, source, "train", bias, pool, progress)
    say(f"{out}: {count:,} captions of {len(source.train):,} scenes, such as '{example}'")
