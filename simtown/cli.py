"""The command line: a command parses, calls one function of the package, and prints. Heavy imports wait until they are needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from simtown.datasets.settings import Settings
    from simtown.render.frames import Renderer

BAD_INPUT, DAMAGED, INTERRUPTED = 2, 1, 130

app = typer.Typer(
    name="simtown",
    help="A cartoon street that asks how visual question answering scales with the world.\n\n"
    "Start with: simtown generate --entities 20 --n 1000, then simtown preview on the directory it names.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


class RefusalError(Exception):
    """One line for the user, and the exit code."""

    def __init__(self, message: str, code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


def main() -> NoReturn:
    """Entry point: every failure is one clear line on stderr and an exit code, never a traceback."""
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # what typer makes of Ctrl-C
            raise KeyboardInterrupt
        sys.stdout.flush()
    except RefusalError as refusal:
        _stop(str(refusal), refusal.code)
    except KeyboardInterrupt:
        _stop("stopped; the same command continues where this one ended", INTERRUPTED)
    except BrokenPipeError:  # the reader, such as head, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except SystemExit as stop:  # what typer makes of a reader that has gone
        sys.exit(0 if type(sys.stdout).__name__ == "PacifyFlushWrapper" else stop.code)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.ctx.get_help())  # type: ignore[attr-defined]
            sys.exit(BAD_INPUT)
        if type(error).__name__ == "Abort":
            _stop("stopped; the same command continues where this one ended", INTERRUPTED)
        if hasattr(error, "format_message"):  # what typer says of a wrong option
            _stop(error.format_message(), getattr(error, "exit_code", BAD_INPUT))
        _stop(*_explain(error))
    sys.exit(code if isinstance(code, int) else 0)


def _stop(message: str, code: int) -> NoReturn:
    print("simtown: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(code)


def _explain(error: Exception) -> tuple[str, int]:
    """The line and the exit code for an error of the package or the system; what nobody foresaw is raised again."""
    from simtown.datasets.job import WorkerError, is_disk_full
    from simtown.files import DamagedError

    if isinstance(error, (DamagedError, WorkerError)):
        return str(error), DAMAGED
    if isinstance(error, OSError):
        if is_disk_full(error):
            return "the disk is full: make room and run the same command again to continue, or give another --out", BAD_INPUT
        if isinstance(error, FileNotFoundError) and error.errno is None:
            return str(error), BAD_INPUT
        where = f" {error.filename}" if error.filename else ""
        return f"cannot read or write{where}: {error.strerror or error}", BAD_INPUT
    if isinstance(error, (ValueError, MemoryError, ImportError)):
        return str(error) or "out of memory: give a smaller --size or fewer --workers", BAD_INPUT
    raise error


def _version(value: bool) -> None:
    if value:
        import simtown

        print(f"simtown {simtown.__version__}")
        raise typer.Exit()


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    pass


def parse_size(text: str) -> tuple[int, int]:
    """Width and height of "128" or "64x32"."""
    parts = text.lower().split("x")
    if not 1 <= len(parts) <= 2 or not all(p.isascii() and p.isdigit() for p in parts):
        raise RefusalError(f"--size {text} is no size: write 128 or, as width and height, 64x32")
    width, height = int(parts[0]), int(parts[-1])
    from simtown.render.frames import check_size

    check_size(width, height)
    return width, height


def _names(text: str, everything: tuple[str, ...]) -> tuple[str, ...]:
    return everything if text == "all" else tuple(part.strip() for part in text.split(",") if part.strip())


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _renderer(engine: str, say: Callable[[str], None] = _tell) -> Renderer:
    """The engine by name, ready: what numba compiles, once a machine, is compiled here, and announced if it takes long."""
    if engine == "opengl":
        from simtown.render.opengl import OpenGL

        return OpenGL()
    if engine != "raster":
        raise RefusalError(f"unknown renderer '{engine}': choose raster or opengl")
    from threading import Timer

    notice = Timer(2.5, say, ["first start: compiling for this machine, once, in about 20 seconds ..."])
    notice.daemon = True
    notice.start()
    try:
        import numpy as np

        from simtown.datasets.settings import Settings
        from simtown.datasets.shards import columns
        from simtown.language.sampler import sample
        from simtown.render.raster import Raster

        settings, renderer = Settings(distractor=True), Raster()
        examples = sample(settings.recipe("train"), np.arange(2))
        columns(examples, np.arange(2), settings)
        renderer.render(examples.scene, 32, 32)
    finally:
        notice.cancel()
    return renderer


@app.command(short_help="Make a data set: scenes, pictures, questions, answers.")
def generate(
    entities: Annotated[int, typer.Option(help="How many kinds of vehicles exist: the first of the catalogue.")] = 60,
    n: Annotated[int, typer.Option(help="Training examples, an even number.")] = 60_000,
    val: Annotated[int, typer.Option(help="Validation examples, drawn like the training ones.")] = 1_000,
    test: Annotated[int, typer.Option(help="Test examples, entities drawn uniformly.")] = 2_000,
    distractor: Annotated[bool, typer.Option("--distractor", help="Put a third vehicle into every scene.")] = False,
    size: Annotated[str, typer.Option(help="Pixels: 128, or width x height such as 64x32.")] = "128",
    seed: Annotated[int, typer.Option(help="Another seed is another data set.")] = 0,
    frequencies: Annotated[str, typer.Option(help="How common entities are: vg, uniform, zipf:S, or a CSV file.")] = "vg",
    relations: Annotated[str, typer.Option(help="What is asked: names with commas between, or all.")] = "left of,right of",
    phrasing: Annotated[str, typer.Option(help="paper: one wording; varied: several.")] = "paper",
    weather: Annotated[str, typer.Option(help="Weathers that occur: all, or names with commas between.")] = "all",
    jitter: Annotated[float, typer.Option(help="Move the camera at random by up to this many metres, at most 1.")] = 0.0,
    masks: Annotated[bool, typer.Option("--masks", help="Store instance masks.")] = False,
    depth: Annotated[bool, typer.Option("--depth", help="Store depth in metres.")] = False,
    shard: Annotated[int, typer.Option(help="Examples a file.")] = 2_000,
    out: Annotated[Path | None, typer.Option(help="Where to; by default simtown-ENTITIES-N, with what else differs.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one a processor. The bytes are the same.")] = None,
) -> None:
    """Make a data set: scenes, pictures, questions and answers, as HDF5 shards.

    Killed or stopped, the same command continues. For the paper's hardest world: simtown generate --entities 60 --n 60000 --distractor
    """
    from simtown.datasets.job import generate as make
    from simtown.datasets.settings import Settings
    from simtown.language.relations import RELATION_NAMES
    from simtown.progress import Progress
    from simtown.scenes.weather import WEATHERS

    width, height = parse_size(size)
    settings = Settings(entities, n, val, test, width, height, seed, distractor, frequencies, _names(relations, RELATION_NAMES),
                        phrasing, _names(weather, WEATHERS), jitter, masks, depth, shard)  # fmt: skip
    directory = out or Path(default_name(settings))
    settings.check()
    with Progress(f"generate {directory}") as watcher:
        _renderer("raster", watcher.say)  # compile once, here, before the workers start
        manifest = make(settings, directory, workers, watcher)
    size_on_disk = sum(entry["bytes"] for entry in manifest["shards"].values())
    if not (directory / "preview.png").exists():
        from simtown.datasets.preview import dataset_sheet
        from simtown.datasets.reader import open_dataset

        _save(dataset_sheet(open_dataset(directory), _renderer("raster")), directory / "preview.png")
    made = f"{n} train, {val} val, {test} test examples"
    print(f"{directory}: {made}, {size_on_disk / 1e6:,.1f} MB in {len(manifest['shards'])} shards; {watcher.summary()}")
    print(f"Look at {directory / 'preview.png'}; check it with: simtown verify {directory}")


def default_name(settings: Settings) -> str:
    """Directory name of a data set: its entities and size, then whatever is not the default."""
    from hashlib import sha256

    from simtown.datasets.settings import Settings as Plain

    name, plain = f"simtown-{settings.entities}-{settings.n}", Plain()
    if settings.distractor:
        name += "-distractor"
    if (settings.width, settings.height) != (plain.width, plain.height):
        name += f"-{settings.width}x{settings.height}"
    if settings.seed != plain.seed:
        name += f"-seed{settings.seed}"
    rest = ("val", "test", "frequencies", "relations", "phrasing", "weathers", "jitter", "masks", "depth", "shard")
    differs = [f"{key}={getattr(settings, key)}" for key in rest if getattr(settings, key) != getattr(plain, key)]
    if differs:
        name += f"-{sha256(';'.join(differs).encode()).hexdigest()[:6]}"
    return name


def _save(image: Any, path: Path) -> None:
    """Write a picture whole or not at all."""
    from simtown.files import replacing

    with replacing(path) as temporary:
        image.save(temporary, format="PNG")


@app.command(short_help="Draw a contact sheet of a data set or the catalogue.")
def preview(
    dataset: Annotated[Path | None, typer.Argument(help="Directory of a data set.")] = None,
    random: Annotated[bool, typer.Option("--random", help="Fresh examples, without a data set.")] = False,
    entity: Annotated[str | None, typer.Option(help="The catalogue: all, or names with commas between.")] = None,
    weather: Annotated[str | None, typer.Option(help="One street in these weathers: all, or names.")] = None,
    split: Annotated[str, typer.Option(help="train, val or test.")] = "train",
    count: Annotated[int, typer.Option("--n", help="How many examples.")] = 24,
    large: Annotated[bool, typer.Option("--large", help="Draw them anew, larger.")] = False,
    distractor: Annotated[bool, typer.Option("--distractor", help="With --random: a third vehicle.")] = False,
    entities: Annotated[int, typer.Option(help="With --random: how many kinds exist.")] = 60,
    seed: Annotated[int, typer.Option(help="With --random or --weather: which street.")] = 0,
    renderer: Annotated[str, typer.Option(help="raster or opengl.")] = "raster",
    out: Annotated[Path | None, typer.Option(help="The PNG to write.")] = None,
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
    settings = Settings(entities=entities, distractor=distractor, seed=seed)
    settings.check()
    if dataset is not None:
        data = open_dataset(dataset)
        if not len(data[split]):
            raise RefusalError(f"{dataset} has no {split} examples: choose another --split")
        sheet, path = sheets.dataset_sheet(data, _renderer(renderer), split, count, large), dataset / "preview.png"
    elif random:
        side = 512 if large else 160
        sheet, path = sheets.random_sheet(settings, _renderer(renderer), count, side, side), Path("simtown-random.png")
    elif entity is not None:
        numbers = [_entity(name, ENTITIES) for name in _names(entity, ENTITIES) or [entity]]
        sheet, path = sheets.entity_sheet(_renderer(renderer), numbers, 384 if large else 192), Path("simtown-entities.png")
    else:
        names = list(_names(weather or "", WEATHERS))
        unknown = [w for w in names if w not in WEATHERS]
        if unknown or not names:
            raise RefusalError(f"unknown weather '{', '.join(unknown)}': choose among all, {', '.join(WEATHERS)}")
        sheet, path = sheets.weather_sheet(settings, _renderer(renderer), names, 512 if large else 256), Path("simtown-weather.png")
    path = out or path
    if path.suffix.lower() != ".png":
        raise RefusalError(f"--out {path} must end in .png")
    _save(sheet, path)
    print(f"{path}: {sheet.width} x {sheet.height} pixels")


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
    depth: Annotated[bool, typer.Option("--depth", help="Also write depth: 16-bit PNG in millimetres, 0 for the sky.")] = False,
    masks: Annotated[bool, typer.Option("--masks", help="Also write instance ids: 8-bit PNG.")] = False,
    glb: Annotated[Path | None, typer.Option(help="Also write the scene for 3D viewers, binary glTF.")] = None,
    json: Annotated[Path | None, typer.Option(help="Also write the latent scene as JSON.")] = None,
    out: Annotated[Path | None, typer.Option(help="The PNG to write.")] = None,
) -> None:
    """Draw one stored example again, at any size, from its latent scene."""
    import cv2
    import numpy as np

    from simtown.datasets.locate import locate

    width, height = parse_size(size)
    scene, name = locate(where)
    path = out or Path(f"{name}.png")
    if path.suffix.lower() != ".png":
        raise RefusalError(f"--out {path} must end in .png")
    frames = _renderer(renderer).render(scene, width, height)
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
        target.write_bytes(data.tobytes())
        print(target)
    if glb is not None:
        from simtown.datasets.export_scene import glb as write_glb

        write_glb(scene, glb)
        print(glb)
    if json is not None:
        json.write_text(scene.scene(0).to_json() + "\n", encoding="utf-8")
        print(json)


@app.command(short_help="Tell what a data set holds, and how it was made.")
def info(dataset: Annotated[Path, typer.Argument(help="Directory of a data set.")]) -> None:
    """Tell what a data set holds: counts, balance, acceptance rates, timings, and entity frequencies against their target."""
    from simtown.datasets.info import show

    show(dataset)


@app.command(short_help="Check every file and every answer.")
def verify(
    dataset: Annotated[Path, typer.Argument(help="Directory of a data set.")],
    pictures: Annotated[int, typer.Option(help="Pictures a shard to draw again and compare, 0 for none.")] = 8,
) -> None:
    """Check every file against its checksum, and every answer against its scene. Exit code 1 if anything is wrong."""
    from simtown.datasets.manifest import load
    from simtown.datasets.settings import Settings
    from simtown.datasets.verify import verify as check
    from simtown.progress import Progress

    if pictures < 0:
        raise RefusalError(f"--pictures must be at least 0, not {pictures}")
    settings = Settings.from_resolved(load(dataset)["settings"])
    with Progress(f"verify {dataset}") as watcher:
        watcher.started(sum(settings.counts().values()), 0)
        problems = check(dataset, _renderer("raster") if pictures else None, pictures, lambda n: watcher.advanced(n, {}))
    for problem in problems:
        print(f"simtown: {problem}", file=sys.stderr)
    if problems:
        raise typer.Exit(DAMAGED)
    print(f"{dataset}: {sum(settings.counts().values())} examples, all files and answers are right")


def _train_extra() -> None:
    """The libraries of the extra "train" are there, or one line says how to get them."""
    from importlib.util import find_spec

    missing = [name for name in ("torch", "tensorboard", "safetensors", "scipy", "matplotlib") if find_spec(name) is None]
    if missing:
        raise RefusalError(f"training needs {', '.join(missing)}: pip install 'simtown[train]'")


def _device(name: str) -> str:
    """ "cuda" or "cpu" for "auto", the name itself otherwise."""
    import torch

    return ("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else name


def parse_seeds(text: str) -> list[int]:
    """Seeds of "3", "0-4" or "0,2,7-9"."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()) or (dash and int(last) < int(first)):
            raise RefusalError(f"--seeds {text} is no list of seeds: write 3, 0-4 or 0,2,7")
        seeds += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(seeds))


@app.command(short_help="Train a model on a data set.")
def fit(
    dataset: Annotated[Path, typer.Argument(help="Directory of a data set.")],
    model: Annotated[str, typer.Option(help="pbn, cnn-lstm, question-only, or your own as package.module:Class.")] = "pbn",
    train_size: Annotated[int | None, typer.Option(help="Only the first so many training examples; by default all.")] = None,
    seed: Annotated[int, typer.Option(help="Of the initial weights, the order of examples and dropout.")] = 0,
    seeds: Annotated[str | None, typer.Option(help="Several runs one after the other: 0-4 or 0,2,7.")] = None,
    protocol: Annotated[
        str, typer.Option(help="paper: stop after --patience epochs without better validation accuracy; patient: only after --min-steps.")
    ] = "patient",
    min_steps: Annotated[int, typer.Option(help="With patient: steps before patience counts; models sit at chance at first.")] = 2_000,
    patience: Annotated[int, typer.Option(help="Validations without better accuracy before stopping.")] = 10,
    max_steps: Annotated[int, typer.Option(help="Stop there at the latest; 0 for never.")] = 0,
    batch: Annotated[int, typer.Option(help="Examples a step.")] = 128,
    lr: Annotated[float, typer.Option(help="Learning rate of Adam.")] = 1e-3,
    option: Annotated[list[str] | None, typer.Option(help="The model's own option, as name=value; may be repeated.")] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Train on endless fresh examples; --train-size is then an epoch's length.")
    ] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    precision: Annotated[str, typer.Option(help="float32; on a GPU also tf32 or bf16.")] = "float32",
    compile: Annotated[bool, typer.Option("--compile", help="Use torch.compile.")] = False,
    out: Annotated[Path | None, typer.Option(help="Run directory; by default runs/DATASET-MODEL-SIZE-seedS.")] = None,
) -> None:
    """Train a model: Adam, early stopping on validation accuracy, the best weights, one test (section 6.5 of the paper).

    The run directory holds run.json, metrics.jsonl, curve.png, weights.safetensors, test.npz, and logs for TensorBoard. Killed or
    stopped, the same command continues and ends with the same numbers.
    """
    _train_extra()
    from simtown.datasets.reader import open_dataset
    from simtown.training.display import FitDisplay
    from simtown.training.fit import fit as train
    from simtown.training.models import options
    from simtown.training.run import FitSettings

    data = open_dataset(dataset)
    pairs = [text.partition("=") for text in option or []]
    if not all(sign for _, sign, _ in pairs):
        raise RefusalError("--option must be name=value")
    chosen = options(model, {name: value for name, _, value in pairs})
    size = len(data.train) if train_size is None else train_size
    many = parse_seeds(seeds) if seeds else [seed]
    for number in many:
        settings = FitSettings(model, size, number, chosen, protocol, min_steps, patience, batch, lr, max_steps, stream,
                               _device(device), precision, compile)  # fmt: skip
        name = f"{model.replace(':', '.')}-{size}-seed{number}"
        directory = (out / f"seed{number}" if len(many) > 1 else out) if out else Path("runs") / f"{dataset.resolve().name}-{name}"
        with FitDisplay(f"fit {directory}", settings) as watcher:
            run = train(settings, data, directory, watcher)
        best, steps = run["best"], f"{run['epochs']} epochs ({run['steps']} steps)"
        print(f"{directory}: {_accuracy(run['test'])}; best of {steps} was {best['epoch']}; stopped: {run['stopped']}")
        print(_parts(run["test"], run["references"]))
    print(f"Look at {directory / 'curve.png'}; more in {directory / 'run.json'}")


def _accuracy(test: dict[str, Any]) -> str:
    return f"test accuracy {test['accuracy']:.3f} (95 %: {test['low']:.3f} to {test['high']:.3f}, n {test['n']})"


def _parts(test: dict[str, Any], references: dict[str, float]) -> str:
    """Accuracies in parts, and what does not learn, as lines."""

    def line(name: str, shares: dict[str, Any]) -> str:
        return f"  {name}: " + ", ".join(f"{k} {s['accuracy']:.3f} (n {s['n']})" for k, s in shares.items() if s)

    unlike: dict[str, Any] = {k: test[k] for k in ("seen", "unseen") if k in test}
    lines = [line("by relation", test["relations"]), line("by tenth of the entities, frequent first", test["deciles"])]
    lines += [line("triples of the training set and others", unlike)] if unlike else []
    if "reweighted" in test:
        weighed = test["reweighted"]
        lines.append(f"  validation: {test['validation']['accuracy']:.3f}; weighted by 1/frequency {weighed['accuracy']:.3f} "
                     f"(as good as {weighed['effective_n']:.0f} examples)")  # fmt: skip
    lines.append("  for comparison: " + ", ".join(f"{k.replace('_', ' ')} {v:.3f}" for k, v in references.items()))
    return "\n".join(lines)


@app.command(short_help="Test a trained model on a data set.")
def evaluate(
    run: Annotated[Path, typer.Argument(help="Directory of a run.")],
    dataset: Annotated[Path, typer.Argument(help="Directory of a data set, of the same picture size.")],
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    json: Annotated[Path | None, typer.Option(help="Also write the figures as JSON.")] = None,
) -> None:
    """Test a run's best weights on the test set of any data set of its picture size, such as one with other weather."""
    _train_extra()
    import torch

    from simtown.files import save_json
    from simtown.training.ask import evaluate as test

    told = test(run, dataset, torch.device(_device(device)))
    if json is not None:
        save_json(json, told)
    print(f"{run} on {dataset}: {_accuracy(told)}")
    print(_parts(told, told["references"]))


@app.command(short_help="Ask a trained model about a picture.")
def predict(
    run: Annotated[Path, typer.Argument(help="Directory of a run.")],
    image: Annotated[Path, typer.Argument(help="A picture of a street, such as simtown render writes.")],
    question: Annotated[str, typer.Argument(help='Such as "Is a sedan left of a fire truck?"')],
    out: Annotated[Path | None, typer.Option(help="Draw the boxes the model found into this PNG.")] = None,
) -> None:
    """Ask a trained model one question about one picture; the Place-Binder Network also says where it looked."""
    _train_extra()
    from simtown.training.ask import draw
    from simtown.training.ask import predict as ask

    answer = ask(run, image, question)
    print(f"{'yes' if answer.yes > 0.5 else 'no'} (yes with probability {answer.yes:.3f})")
    for name, box in zip(("subject", "object"), [] if answer.boxes is None else answer.boxes, strict=False):
        print(f"  {name} found at x {box[0]:.0f} to {box[2]:.0f}, y {box[1]:.0f} to {box[3]:.0f} pixels")
    if out is not None:
        if answer.boxes is None:
            raise RefusalError("--out: this model finds no boxes; ask a pbn run")
        if out.suffix.lower() != ".png":
            raise RefusalError(f"--out {out} must end in .png")
        _save(draw(image, answer), out)
        print(out)


@app.command(short_help="Run a grid of trainings.")
def sweep(
    preset: Annotated[str, typer.Option(help="paper, small, tiny, or a TOML file of that form.")] = "small",
    out: Annotated[Path | None, typer.Option(help="Where to; by default sweep-PRESET.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Runs at once, each in a process; by default one a processor, on a GPU 4.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    plan: Annotated[bool, typer.Option("--plan", help="Only list the runs.")] = False,
) -> None:
    """Run a grid: make the data it needs, train what is missing, go on where it was stopped, try again what failed.

    A preset is a TOML file with version, size, and [[grid]] tables of entities, distractor, models, train_sizes and seeds; [fit] and
    [data] may hold other choices of simtown fit and simtown generate. Then: simtown complexity OUT
    """
    _train_extra()
    from simtown.processes import default_workers
    from simtown.progress import Progress
    from simtown.training import sweep as sweeps
    from simtown.training.display import SweepDisplay
    from simtown.training.plan import read

    kind = _device(device)
    planned = read(preset, kind)
    directory = out or Path(f"sweep-{Path(preset).stem}")
    if plan:
        for cell in planned.cells:
            print(cell.name)
        print(
            f"{len(planned.cells)} runs on {len(planned.data())} data sets of {sum(s.n for s in planned.data()):,} training examples in all"
        )
        return
    many = jobs if jobs is not None else (4 if kind == "cuda" else default_workers())
    if many < 1:
        raise RefusalError(f"--jobs must be at least 1, not {many}")
    sweeps.prepare(planned, directory, Progress)
    with SweepDisplay(planned) as watcher:
        outcome = sweeps.sweep(planned, directory, many, watcher)
    print(f"{directory}: {outcome.before + outcome.now} of {len(planned.cells)} runs are done, {outcome.now} of them now")
    for name, reason in outcome.failed.items():
        print(f"simtown: {name} failed: {reason}", file=sys.stderr)
    if outcome.failed:
        raise typer.Exit(DAMAGED)
    print(f"Now: simtown complexity {directory}")


@app.command(short_help="Sample complexity from many runs.")
def complexity(
    runs: Annotated[list[Path], typer.Argument(help="Directories with runs in them, such as a sweep's.")],
    out: Annotated[Path | None, typer.Option(help="Where tables and figures go; by default RUNS/complexity.")] = None,
    replicates: Annotated[int, typer.Option(help="Bootstrap replicates for the intervals.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
) -> None:
    """Samples needed to reach 75, 85, 90 and 95 % test accuracy, by model and world, with intervals; and how they grow with the world.

    Writes complexity.md, .csv and .json, samples.png (the paper's Figures 5 to 10) and learning.png.
    """
    _train_extra()
    from rich.console import Console
    from rich.table import Table

    from simtown.training.report import report

    if replicates < 10:
        raise RefusalError(f"--replicates must be at least 10, not {replicates}")
    directory = out or runs[0] / "complexity"
    told = report(runs, directory, replicates=replicates, seed=seed)
    rows = told.table()
    table = Table(*rows[0].keys()) if rows else Table()
    for row in rows:
        table.add_row(*row.values())
    Console().print(table)
    print(
        f"Look at {directory / 'samples.png'} and {directory / 'learning.png'}; all rules and intervals are in {directory / 'complexity.md'}"
    )
