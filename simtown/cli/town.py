"""The town and its data: generate, preview, render, info, verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtown.cli.app import DAMAGED, AddressOption, EngineOption, RefusalError, WorkersOption, app, parse_size, pool_of, save_picture
from simtown.cli.costs import PlanOption, announce, cores_of
from simtown.cli.places import local_file, name_of
from simtown.extras import need
from simtown.terminal import complain, say

if TYPE_CHECKING:
    from simtown.datasets.settings import Settings
    from simtown.datasets.stores import Directory, Remote
    from simtown.render.frames import Renderer


PREVIEW = "preview.png"


def _names(text: str, everything: tuple[str, ...]) -> tuple[str, ...]:
    return everything if text == "all" else tuple(part.strip() for part in text.split(",") if part.strip())


def _renderer(engine: str, device: str = "cpu") -> Renderer:
    """The engine by name, ready: what numba compiles, once a machine, is compiled here, and announced.

    `device` is "cpu" or "cuda" for raster.
    """
    if engine == "opengl":
        from simtown.render.opengl import OpenGL

        return OpenGL()
    if engine != "raster":
        raise RefusalError(f"unknown renderer '{engine}': choose raster or opengl")
    import numpy as np
    from numba.core import event

    from simtown.datasets.settings import Settings
    from simtown.datasets.shards import columns
    from simtown.language.sampler import sample
    from simtown.progress import report
    from simtown.render.engines import rasteriser

    class Notice(event.Listener):
        """Told of what is compiled indeed, not of what numba finds on disk."""

        said = False

        def on_start(self, event: object) -> None:
            if not self.said:
                report("compiling for this machine, once, in about 40 seconds ...")
            self.said = True

        def on_end(self, event: object) -> None:
            """Nothing to say."""

    with event.install_listener("numba:compile", Notice()):
        settings, renderer = Settings(distractor=True), rasteriser(device)
        examples = sample(settings.recipe("train"), np.arange(2))
        columns(examples, np.arange(2), settings)
        renderer.render(examples.scene, 32, 32)
    return renderer


@app.command(short_help="Make a data set: scenes, pictures, questions, answers.")
def generate(
    entities: Annotated[int, typer.Option(help="How many kinds of vehicles exist: the first of the catalogue, or see --world-seed.")] = 60,
    n: Annotated[int, typer.Option(help="Training examples, an even number.")] = 60_000,
    val: Annotated[int, typer.Option(help="Validation examples, drawn like the training ones.")] = 1_000,
    test: Annotated[int, typer.Option(help="Test examples, entities drawn uniformly.")] = 2_000,
    distractor: Annotated[bool, typer.Option("--distractor", help="Put a third vehicle into every scene.")] = False,
    size: Annotated[str, typer.Option(help="Pixels: 128, or width x height such as 64x32.")] = "128",
    seed: Annotated[int, typer.Option(help="Of all random choices: another seed makes another data set of the same world.")] = 0,
    test_seed: Annotated[
        int | None,
        typer.Option(help="Of the test split; by default the --seed. Data sets of several seeds that share it have the same test split."),
    ] = None,
    world_seed: Annotated[
        int,
        typer.Option(
            help="Which kinds of vehicles exist, and which of them are common: another seed makes a world of other kinds, to show that a "
            "result does not hang on the kinds. 0 is the catalogue's order. The kinds of a smaller world are among those of a larger one "
            "of the same seed."
        ),
    ] = 0,
    frequencies: Annotated[
        str, typer.Option(help="How common entities are: vg (Visual Genome), uniform, zipf:EXPONENT, or a CSV file.")
    ] = "vg",
    relations: Annotated[
        str, typer.Option(help="What is asked: names with commas between, or all (also in front of, behind).")
    ] = "left of,right of",
    phrasing: Annotated[str, typer.Option(help="paper: every question in the paper's one wording; varied: in several.")] = "paper",
    weather: Annotated[str, typer.Option(help="Weathers that occur: all, or names with commas between, such as clear,snow,night.")] = "all",
    paint: Annotated[
        str,
        typer.Option(help="What vehicles are painted: own (as their kind is), uniform, natural (as cars in the street), or a CSV file."),
    ] = "own",
    jitter: Annotated[float, typer.Option(help="Move the camera sideways at random by up to this many metres, at most 1.")] = 0.0,
    masks: Annotated[bool, typer.Option("--masks", help="Store instance masks.")] = False,
    depth: Annotated[bool, typer.Option("--depth", help="Store depth in metres.")] = False,
    shard: Annotated[int | None, typer.Option(help="Examples in each file; by default so many that a file has 64 to 256 MB.")] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="Where to, a directory or a URL such as s3://BUCKET/NAME; by default simtown-ENTITIES-N, with what else differs."
        ),
    ] = None,
    workers: WorkersOption = None,
    device: Annotated[str, typer.Option(help="What draws: cpu, cuda (a graphics card), or auto.")] = "cpu",
    engine: EngineOption = "local",
    address: AddressOption = None,
    plan: PlanOption = False,
) -> None:
    """Make a data set: scenes, pictures, questions and answers, as HDF5 shards.

    Killed or stopped, the same command continues. For the paper's hardest world: simtown generate --entities 60 --n 60000 --distractor
    """
    from simtown.datasets import costs
    from simtown.datasets.job import generate as make
    from simtown.datasets.settings import Settings
    from simtown.datasets.stores import Directory, store_of
    from simtown.language.relations import RELATION_NAMES
    from simtown.progress import Progress
    from simtown.render.engines import settled
    from simtown.scenes.weather import WEATHERS

    width, height = parse_size(size)
    settings = Settings(entities, n, val, test, width, height, seed, distractor, frequencies, _names(relations, RELATION_NAMES),
                        phrasing, _names(weather, WEATHERS), paint, jitter, masks, depth, shard, test_seed=test_seed,
                        world_seed=world_seed)  # fmt: skip
    target = default_name(settings) if out is None else out
    store = store_of(target)
    settings.check()
    cost = costs.of_generate(settings, _sizes(store), device)
    place = store.path if isinstance(store, Directory) else None
    announce(f"generate {store}", cost, cores_of(engine, workers), place, "a smaller --n or --size, or another --out", plan)
    with Progress(f"generate {store}") as watcher, pool_of(engine, address, workers) as pool:
        if engine == "ray" and device == "cuda":
            drawn_on = device  # the cluster's cards, not this machine's
        else:
            drawn_on = settled(device, complain, settings.width, settings.height)
        if engine == "local" and drawn_on == "cpu":
            _renderer("raster")  # compile once, here, before the workers start
        manifest = make(settings, target, watcher=watcher, device=drawn_on, pool=pool)
    size_on_disk = sum(entry["bytes"] for entry in manifest["shards"].values())
    if PREVIEW not in store.sizes():
        from simtown.datasets.preview import dataset_sheet
        from simtown.datasets.reader import open_dataset

        sheet = dataset_sheet(open_dataset(target), _renderer("raster"))
        with store.making(PREVIEW) as place:
            save_picture(sheet, place / PREVIEW)
    made = f"{n} train, {val} val, {test} test examples"
    say(f"{store}: {made}, {size_on_disk / 1e6:,.1f} MB in {len(manifest['shards'])} shards; {watcher.summary()}")
    say(f"Look at {store}/{PREVIEW}; check it with: simtown verify {store}")


def _sizes(store: Directory | Remote) -> dict[str, int]:
    """Bytes of the files of a store; none where there is no store yet."""
    try:
        return store.sizes()
    except (FileNotFoundError, NotADirectoryError):
        return {}


def default_name(settings: Settings) -> str:
    """Directory name of a data set: its entities and size, then whatever is not the default."""
    from hashlib import sha256

    from simtown.datasets.settings import Settings as Plain

    settings, plain = settings.canonical, Plain()
    name = f"simtown-{settings.entities}-{settings.n}"
    if settings.distractor:
        name += "-distractor"
    if (settings.width, settings.height) != (plain.width, plain.height):
        name += f"-{settings.width}x{settings.height}"
    if settings.seed != plain.seed:
        name += f"-seed{settings.seed}"
    if settings.test_seed is not None:
        name += f"-test{settings.test_seed}"
    if settings.world_seed != plain.world_seed:
        name += f"-world{settings.world_seed}"
    rest = ("val", "test", "frequencies", "relations", "phrasing", "weathers", "paint", "jitter", "masks", "depth", "shard")
    differs = [f"{key}={getattr(settings, key)}" for key in rest if getattr(settings, key) != getattr(plain, key)]
    if differs:
        name += f"-{sha256(';'.join(differs).encode()).hexdigest()[:6]}"
    return name


@app.command(short_help="Draw a contact sheet of a data set or the catalogue.")
def preview(
    dataset: Annotated[str | None, typer.Argument(help="Directory or URL of a data set.")] = None,
    random: Annotated[bool, typer.Option("--random", help="Fresh examples, without a data set.")] = False,
    entity: Annotated[str | None, typer.Option(help="The catalogue: all, or names with commas between.")] = None,
    weather: Annotated[str | None, typer.Option(help="One street in these weathers: all, or names.")] = None,
    split: Annotated[str, typer.Option(help="train, val or test.")] = "train",
    count: Annotated[int, typer.Option("--n", help="How many examples.")] = 24,
    large: Annotated[bool, typer.Option("--large", help="Draw the examples again, larger than they are stored.")] = False,
    distractor: Annotated[bool, typer.Option("--distractor", help="With --random: a third vehicle.")] = False,
    entities: Annotated[int, typer.Option(help="With --random: how many kinds exist.")] = 60,
    seed: Annotated[int, typer.Option(help="With --random or --weather: which street.")] = 0,
    renderer: Annotated[str, typer.Option(help="raster or opengl.")] = "raster",
    out: Annotated[Path | None, typer.Option(help="The PNG to write; by default NAME-preview.png, in the working directory.")] = None,
) -> None:
    """Write a contact sheet: pictures with questions, answers and boxes (subject blue, object orange).

    simtown preview DIR | simtown preview --random | simtown preview --entity all | simtown preview --weather all
    """
    from simtown.assets.catalogue import ENTITIES
    from simtown.datasets import preview as sheets
    from simtown.datasets.reader import open_dataset
    from simtown.datasets.settings import SPLITS, Settings
    from simtown.scenes.weather import WEATHERS

    chosen = [what for what, given in (("DIR", dataset), ("--random", random), ("--entity", entity), ("--weather", weather)) if given]
    if len(chosen) != 1:
        raise RefusalError(f"give one of DIR, --random, --entity and --weather, not {' and '.join(chosen) or 'none'}")
    if count < 1 or split not in SPLITS:
        raise RefusalError(f"--n must be at least 1 and --split one of {', '.join(SPLITS)}")
    usual = {"--random": "simtown-random.png", "--entity": "simtown-entities.png", "--weather": "simtown-weather.png"}
    path = _png(out or Path(f"{name_of(dataset)}-{PREVIEW}" if dataset else usual[chosen[0]]))
    settings = Settings(entities=entities, distractor=distractor, seed=seed)
    settings.check()
    if dataset is not None:
        data = open_dataset(dataset)
        if not len(data[split]):
            raise RefusalError(f"{dataset} has no {split} examples: choose another --split")
        sheet = sheets.dataset_sheet(data, _renderer(renderer), split, count, large)
    elif random:
        side = 512 if large else 160
        sheet = sheets.random_sheet(settings, _renderer(renderer), count, side, side)
    elif entity is not None:
        numbers = [_entity(name, ENTITIES) for name in _names(entity, ENTITIES) or [entity]]
        sheet = sheets.entity_sheet(_renderer(renderer), numbers, 384 if large else 192)
    else:
        names = list(_names(weather or "", WEATHERS))
        unknown = [w for w in names if w not in WEATHERS]
        if unknown or not names:
            raise RefusalError(f"unknown weather '{', '.join(unknown)}': choose among all, {', '.join(WEATHERS)}")
        sheet = sheets.weather_sheet(settings, _renderer(renderer), names, 512 if large else 256)
    save_picture(sheet, path)
    say(f"{path}: {sheet.width} x {sheet.height} pixels")


def _png(path: Path) -> Path:
    """A picture that can be written. Raises RefusalError."""
    if path.suffix.lower() != ".png":
        raise RefusalError(f"--out {path} must end in .png")
    return local_file(path)


def _entity(name: str, entities: tuple[str, ...]) -> int:
    if name not in entities:
        from difflib import get_close_matches

        like = get_close_matches(name, entities, 3)
        raise RefusalError(
            f"unknown entity '{name}'" + (f": did you mean {' or '.join(like)}?" if like else ": see simtown preview --entity all")
        )
    return entities.index(name)


@app.command(short_help="Draw one stored example again, at any size.")
def render(
    where: Annotated[
        str, typer.Argument(metavar="SHARD:INDEX", help="A shard file or DIR/SPLIT, and an example's place in it: data/train:7.")
    ],
    size: Annotated[str, typer.Option(help="Pixels: 1024, or width x height.")] = "1024",
    renderer: Annotated[str, typer.Option(help="raster or opengl.")] = "raster",
    device: Annotated[str, typer.Option(help="Where raster draws: cpu, cuda (a graphics card), or auto.")] = "cpu",
    depth: Annotated[bool, typer.Option("--depth", help="Also write depth: 16-bit PNG in millimetres, 0 for the sky.")] = False,
    masks: Annotated[bool, typer.Option("--masks", help="Also write instance ids: 8-bit PNG.")] = False,
    glb: Annotated[Path | None, typer.Option(help="Also write the scene for 3D viewers, binary glTF.")] = None,
    json: Annotated[Path | None, typer.Option(help="Also write the latent scene as JSON.")] = None,
    out: Annotated[Path | None, typer.Option(help="The PNG to write.")] = None,
) -> None:
    """Draw one stored example again, at any size, from its latent scene."""
    import cv2
    import numpy as np

    from simtown.datasets.locate import find
    from simtown.files import save_bytes, save_text
    from simtown.render.engines import settled

    if renderer == "opengl" and device != "cpu":
        raise RefusalError("--device chooses where raster draws; with --renderer opengl leave it out")
    width, height = parse_size(size)
    address = find(where)
    scene = address.scene()
    if address.schema() == 1:
        complain("this scene is of version 1 of the world: its things stand where they stood, and look as version 2 draws them")
    path = _png(out or Path(f"{address.name}.png"))
    glb, json = (local_file(file, option) if file else None for file, option in ((glb, "--glb"), (json, "--json")))
    frames = _renderer(renderer, device=settled(device, complain, width, height)).render(scene, width, height)
    pictures = [(path, frames.rgb[0][..., ::-1])]
    if depth:
        millimetres = np.where(np.isfinite(frames.depth[0]), np.clip(frames.depth[0] * 1000 + 0.5, 0, 65535), 0)
        pictures.append((path.with_name(f"{path.stem}-depth.png"), millimetres.astype(np.uint16)))
    if masks:
        pictures.append((path.with_name(f"{path.stem}-masks.png"), frames.ids[0]))
    for target, pixels in pictures:
        good, data = cv2.imencode(".png", pixels)
        if not good:
            raise RefusalError(f"cannot encode {target}")
        save_bytes(target, data.tobytes())
        say(str(target))
    if glb is not None:
        from simtown.datasets.export_scene import glb as write_glb

        write_glb(scene, glb)
        say(str(glb))
    if json is not None:
        save_text(json, scene.scene(0).to_json() + "\n")
        say(str(json))


@app.command(short_help="Tell what a data set or one example holds.")
def info(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set; DIR/SPLIT:INDEX for one example, such as data/test:3.")],
    plot: Annotated[bool, typer.Option("--plot", help="Also draw subjects and objects against their target: NAME-marginals.png.")] = False,
) -> None:
    """Tell what a data set holds: counts, balance, acceptance rates, timings, and entity frequencies against their target.

    Of one example (DIR/SPLIT:INDEX or SHARD:INDEX): the question, the answer, where its vehicles stand, and what else is in the street.

    --plot draws the paper's Figures 12 and 13: frequencies asked for against generated ones, and training against test, with a chi-square
    test of how well they fit.
    """
    from simtown.datasets.info import show
    from simtown.datasets.locate import is_address

    if is_address(dataset):
        from simtown.datasets.describe import show_example

        if plot:
            raise RefusalError(f"--plot draws a whole data set: give its directory, not the example {dataset}")
        show_example(dataset)
        return
    if plot:
        need("--plot", ("scipy", "matplotlib"), "vg")
    show(dataset)
    if plot:
        from simtown.datasets import marginals as study
        from simtown.datasets.reader import open_dataset

        data = open_dataset(dataset)
        found = study.marginals(data)
        path = Path(f"{name_of(dataset)}-marginals.png")
        study.plot(found, data.settings.frequencies, path)
        for split, m in found.items():
            for role, fit in m.fit.items():
                say(f"{split} {role}s against {'uniform' if split == 'test' else data.settings.frequencies}: "
                      f"chi-square {fit.chi2:.1f}, {fit.dof} degrees of freedom, p {fit.p:.3g}")  # fmt: skip
        say(f"Figures 12 and 13: {path}")


@app.command(short_help="Prove that a data set is what its settings make.")
def verify(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set.")],
    pictures: Annotated[int, typer.Option(help="How many pictures of the whole set to draw again and compare, 0 for none.")] = 256,
    everything: Annotated[bool, typer.Option("--all", help="Draw every picture again.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Sample nothing again: only check that files and examples agree with themselves.")
    ] = False,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Prove that a data set is what its settings make: every file, scene, question and answer, and a sample of the pictures.

    Scenes, questions and answers are sampled again from the settings and compared. Whatever is wrong or does not belong is named, a line
    each. Exit code 1 if anything is wrong.
    """
    from simtown.datasets import costs
    from simtown.datasets.settings import Settings
    from simtown.datasets.stores import Remote, store_of
    from simtown.datasets.verify import verify as check
    from simtown.progress import Progress

    if pictures < 0:
        raise RefusalError(f"--pictures must be at least 0, not {pictures}")
    store = store_of(dataset)
    manifest = store.load_manifest()
    settings = Settings.from_resolved(manifest["settings"])
    total, drawn = sum(settings.counts().values()), None if everything else pictures
    cost = costs.of_verify(manifest, settings, drawn, isinstance(store, Remote))
    announce(f"verify {store}", cost, cores_of(engine, workers, cost.seconds))
    renderer = _renderer("raster")  # compiled here, also for what samples, before the workers start
    with Progress(f"verify {store}") as watcher, pool_of(engine, address, workers, seconds=cost.seconds) as pool:
        watcher.started(total, 0)
        report = check(dataset, renderer if drawn != 0 else None, drawn, quick, lambda n: watcher.advanced(n, {}), pool)
    for problem in report.problems:
        complain(f"simtown: {problem}")
    if report.problems:
        count = len(report.problems)
        of_shards = any(".h5: " in problem for problem in report.problems)
        remedy = "; a shard that is moved away is made again by the same simtown generate" if of_shards else ""
        complain(f"simtown: {store} is not what its settings make: {count} problem{'s' if count > 1 else ''}{remedy}")
        raise typer.Exit(DAMAGED)
    say(f"{store}: {report.summary}")


@app.command(short_help="Say in words what a data set shows.")
def captions(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set.")],
    out: Annotated[Path, typer.Option(help="The text file to write, a caption a line; simtown lm train learns from it.")],
    bias: Annotated[float, typer.Option(help="Reporting bias: probability that a kind's typical colour is left unsaid.")] = 0.0,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    plan: PlanOption = False,
) -> None:
    """Write region descriptions of the training scenes: how vehicles stand, their colours and the weather, what is in the street.

    All are true. With a reporting bias, colours that everybody knows are said less often than they are seen.
    """
    from simtown.datasets import costs
    from simtown.datasets.captioned import scenes_to_read, write_captions
    from simtown.datasets.reader import open_dataset
    from simtown.language.captions import check_bias
    from simtown.progress import Progress

    out = local_file(out)
    if out.exists():
        raise RefusalError(f"--out {out} is there already: give another file")
    check_bias(bias)
    source = open_dataset(dataset)
    cost = costs.of_captions(source)
    announce(f"captions {out}", cost, cores_of(engine, workers, cost.seconds), out, plan=plan)
    with Progress(f"captions {out.name}") as watcher, pool_of(engine, address, workers, seconds=cost.seconds) as pool:
        watcher.started(scenes_to_read(source, "train", bias), 0)
        count, example = write_captions(out, source, "train", bias, pool, lambda n: watcher.advanced(n, {}))
    say(f"{out}: {count:,} captions of {len(source.train):,} scenes, such as '{example}'")
