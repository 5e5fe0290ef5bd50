"""Commands for a data set: render, info, verify, captions, export, gallery, audit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from simtown.cli import places
from simtown.cli.command import DAMAGED, RefusalError, command, parse_names, parse_size
from simtown.cli.places import beside, local, local_file, name_of, png_file
from simtown.cli.sharing import DatasetArgument, PoolSettings, weather_problem
from simtown.core.amounts import counted, split_counts
from simtown.core.console import page, styled
from simtown.core.extras import need
from simtown.core.files import save_all, save_json
from simtown.core.options import option
from simtown.core.progress import progress_of
from simtown.core.terminal import complain, say
from simtown.datasets.addresses import ALL_SPLITS, is_address
from simtown.datasets.formats import FORMATS, require_format

if TYPE_CHECKING:
    from simtown.town.town import Town

AUDIT_COLOURS = {"pass": "green", "warn": "bold red", "note": "dim"}
EXAMPLE = (
    "A shard file or DIR/SPLIT, and the example's number in it: latest/train:7; without it, a random street."
)
EXAMPLE_ARGUMENT = typer.Argument(metavar="SHARD:INDEX", help=EXAMPLE)
BIAS = "Reporting bias: probability that a caption omits a kind's typical colour."
SPLIT = "Splits: all, or some of train, val, test and test-composition, separated by commas."
TO = f"{', '.join(FORMATS)}."
PICTURES = "Number of pictures of the whole set to draw again and compare; 0 for none."
DATASET_OR_TRANSCRIPT = f"{places.DATASET} Not with --transcript."
DATASET_OR_EXAMPLE = f"{places.DATASET} DIR/SPLIT:INDEX for one example, such as latest/test:3."


def known_splits(text: str) -> None:
    """Raises RefusalError if one of the names between commas is not a split."""
    for name in parse_names(text, "split", ALL_SPLITS):
        if name not in ALL_SPLITS:
            raise RefusalError(f"--split {name} is unknown: choose among all, {', '.join(ALL_SPLITS)}")


@dataclass(frozen=True)
class StreetOptions:
    """A random street, which is drawn if no example is given."""

    seed: int | None = option(None, "Without an example: seed of the street, 0 by default.")
    weather: str | None = option(
        None, "Without an example: its weather; by default a random one.", test=weather_problem
    )
    vehicles: str | None = option(
        None, "Without an example: how many vehicles, or which, such as taxi,bus; 3 by default."
    )

    def town(self) -> Town:
        """The street. Raises TownError, a ValueError, for a weather or vehicle that there is not."""
        from simtown.town.town import Town

        count = self.vehicles is None or self.vehicles.isdecimal()
        names = () if count else parse_names(self.vehicles or "", "vehicles")
        town = Town.random(self.seed or 0, int(self.vehicles or 3) if count else 0, self.weather)
        for name in names:
            town.place(name)
        for _ in range(20 if names else 0):  # each to where others do not hide it, if that is possible
            hidden = [t for t in town.truth((256, 144)).things if t.group == "vehicle" and t.visible < 0.4]
            if not hidden:
                break
            town.remove(hidden[0].name)
            town.place(hidden[0].kind)
        return town

    def name(self) -> str:
        """The name of its picture, such as town-3-snow-taxi-bus."""
        seed = str(self.seed or 0).replace("-", "minus-")
        words = ("town", seed, self.weather, *parse_names(self.vehicles or "", "vehicles"))
        return "-".join(str(word).replace(" ", "-") for word in words if word is not None)


@dataclass(frozen=True)
class RenderOptions:
    """Options for drawing a street."""

    size: str | None = option(
        None, "Pixels: 1024, or width x height; by default 1024, of a random street 1024x576."
    )
    renderer: str = option("raster", "raster or opengl.", choices=("raster", "opengl"))
    device: str = option("cpu", "Where raster draws: cpu, cuda (a graphics card), or auto.")
    depth: bool = option(
        False,
        "Also write depth: 16-bit PNG in millimetres, 0 for the sky, 65535: 65.5 m or more; "
        "and a picture of it for the eye.",
    )
    masks: bool = option(False, "Also write instance ids: PNG with a palette, its indices are the ids.")
    glb: Path | None = option(None, "Also write the scene for 3D viewers, binary glTF.")
    json: Path | None = option(None, "Also write the latent scene as JSON, with the ids of its things.")
    out: Path | None = option(None, "The PNG to write.")


def _reason(*example: Any) -> str:
    """Why an example's answer is what it is; the town is imported when the first reason is wanted."""
    from simtown.town.explaining import reason

    return reason(*example)


@command
def render(
    where: Annotated[str | None, EXAMPLE_ARGUMENT, places.example_named] = None,
    *,
    street: StreetOptions,
    drawing: RenderOptions,
) -> None:
    """Draw a random street, or one stored example again, at any size, from its latent scene."""
    if drawing.renderer == "opengl" and drawing.device != "cpu":
        raise RefusalError("--device chooses where raster draws; with --renderer opengl leave it out")
    if where is not None and street != StreetOptions():
        raise RefusalError(
            f"--seed, --weather and --vehicles make a random street: leave them out, or {where}"
        )
    width, height = parse_size(drawing.size or ("1024" if where else "1024x576"))
    glb = local_file(drawing.glb, "--glb") if drawing.glb else None
    json = local_file(drawing.json, "--json") if drawing.json else None
    name = street.name()
    path = png_file(drawing.out, f"{name}.png") if drawing.out or not where else Path()
    import numpy as np

    from simtown.scenes.scene import SceneBatch

    if where is None:
        scene = SceneBatch.of([street.town().to_scene((width, height))])
    else:
        from simtown.datasets.reading.locate import find  # HDF5 takes as long as drawing

        split, row, name = find(where)
        scene = split.scenes(np.array([row]))
        path = png_file(drawing.out, f"{name}.png")
    from simtown.core.portable_png import png_bytes
    from simtown.render.masks import depth_colours, palette_png, picture_file
    from simtown.render.renderers import choose_device, make_renderer

    device = choose_device(drawing.device, complain, width, height)
    renderer = make_renderer("opengl" if drawing.renderer == "opengl" else device)
    frames = renderer.render(scene, width, height)
    files = {"": png_bytes(frames.rgb[0])}
    if drawing.depth:
        depth = frames.depth[0]
        millimetres = np.where(np.isfinite(depth), np.clip(depth * 1000 + 0.5, 0, 65535), 0)
        files["-depth"] = picture_file(millimetres.astype(np.uint16))
        files["-depth-view"] = png_bytes(depth_colours(depth))
    if drawing.masks:
        files["-masks"] = palette_png(frames.ids[0])
    contents = {
        local_file(path.with_name(f"{path.stem}{suffix}.png")): data for suffix, data in files.items()
    }
    if glb is not None:
        from simtown.datasets.showing import export_scene  # trimesh takes a second

        contents[glb] = export_scene.glb(scene)
    if json is not None:
        contents[json] = scene.to_json(0).encode() + b"\n"
    save_all(contents)
    say(*map(str, contents))


@command
def info(
    dataset: Annotated[str, DATASET_OR_EXAMPLE, places.stored_named],
    *,
    everything: Annotated[bool, "Show all kinds of vehicles, not the 15 most frequent.", "--all"] = False,
    json: Annotated[Path | None, "Also write settings and counts of a data set as JSON."] = None,
    plot: Annotated[bool, "Also draw subjects and objects against their target: NAME-marginals.png."] = False,
) -> None:
    """Describe a data set: counts, balance, acceptance rates, timings, and entity frequencies against their
    target.

    Describe one example (DIR/SPLIT:INDEX or SHARD:INDEX): the question, the answer, where its vehicles stand,
    and what else is in the street.

    --plot draws the paper's Figures 12 and 13: generated frequencies against those that were asked for, and
    training against test, with a chi-square test of the fit.
    """
    if is_address(dataset) and (plot or json):
        option = "--plot" if plot else "--json"
        raise RefusalError(
            f"{option} is about a whole data set: give its directory, not the example {dataset}"
        )
    report_file = local_file(json, "--json") if json else None
    if plot:
        need("vg", modules="scipy matplotlib", what="--plot")
    from simtown.datasets.proving import marginals
    from simtown.datasets.reading.reader import open_dataset
    from simtown.datasets.showing import describe

    if is_address(dataset):
        describe.show_example(dataset, _reason)
        return
    data = open_dataset(dataset)
    if plot and data.settings.has_families:
        raise RefusalError(
            f"--plot is about subjects and objects, which {dataset} does not have: leave it out"
        )
    describe.show(dataset, everything)
    if report_file:
        save_json(report_file, describe.summary(data))
    if plot:
        path = Path(f"{name_of(dataset)}-marginals.png")
        counted = marginals.marginals(data)
        marginals.plot(counted, data.settings.frequencies, path)
        for split, marginal in counted.items():
            target = "uniform" if split.startswith("test") else data.settings.frequencies
            for role, fit in marginal.fit.items():
                test = f"chi-square {fit.chi2:.1f}, {fit.dof} degrees of freedom, p {fit.p:.3g}"
                say(f"{split} {role}s against {target}: {test}")
        say(f"Figures 12 and 13: {path}")


@command
def verify(
    dataset: Annotated[str | None, DATASET_OR_TRANSCRIPT, places.dataset_named] = None,
    *,
    transcript: Annotated[Path | None, "JSON lines of the gym's tasks, with what a model replied."] = None,
    pictures: Annotated[int, typer.Option(help=PICTURES, min=0)] = 256,
    everything: Annotated[bool, "Draw every picture again.", "--all"] = False,
    quick: Annotated[bool, "Sample nothing again: only check that data are consistent."] = False,
    workers: PoolSettings,
) -> None:
    """Check a data set against its settings: every file, scene, question and answer, and a sample of the
    pictures.

    It regenerates scenes, questions and answers from the settings and compares. Each error and each file
    that does not belong there is one line. Exit code 1 if there is an error.

    --transcript regenerates every task in the file and compares question, picture, answer and score
    (docs/gym.md).
    """
    if (dataset is None) == (transcript is None):
        raise RefusalError("verify takes a data set or a --transcript: give one of them")
    if transcript:
        _verify_transcript(transcript)
        return
    assert dataset
    from simtown.datasets.proving import verify
    from simtown.datasets.reading.remote import store_of
    from simtown.datasets.resolved_settings import settings_from
    from simtown.render.renderers import make_renderer

    store = store_of(dataset)
    total = sum(settings_from(store.load_manifest()["settings"]).counts().values())
    drawn = None if everything else pictures
    with progress_of(f"verify {store}", total) as progress, workers.pool(total) as pool:
        report = verify.verify(dataset, make_renderer() if drawn != 0 else None, drawn, quick, progress, pool)
    for problem in report.problems:
        complain(f"simtown: {problem}")
    if count := len(report.problems):
        in_shard = any(".h5: " in problem for problem in report.problems)
        remedy = "; if you move a shard away, the same simtown generate makes it again" if in_shard else ""
        problems = counted(count, "problem")
        raise RefusalError(f"{store} is not what its settings make: {problems}{remedy}", DAMAGED)
    say(f"{store}: {report.summary}")


def _verify_transcript(path: Path) -> None:
    from simtown.gym.transcripts import check_transcript

    lines, problems = check_transcript(path)
    complain(*(f"simtown: {problem}" for problem in problems))
    if problems:
        count = counted(len(problems), "problem")
        raise RefusalError(f"{path} does not hold the town's tasks alone: {count}", DAMAGED)
    say(f"{path}: {lines:,} tasks, each as the town makes it")


@dataclass(frozen=True)
class CaptionOptions:
    """Options for captions."""

    bias: float = option(0.0, BIAS, low=0, high=1)


@command
def captions(
    dataset: DatasetArgument,
    *,
    out: Annotated[Path, "The text file to write, a caption a line; simtown lm train learns from it."],
    how: CaptionOptions,
    workers: PoolSettings,
) -> None:
    """Write region descriptions of the training scenes: how vehicles stand, their colours and the weather,
    what is in the street.

    All of them are true. With a reporting bias, captions mention typical colours less often than pictures
    show them.
    """
    out, bias = local_file(out), how.bias
    from simtown.datasets.reading.reader import open_dataset
    from simtown.datasets.showing.captioned import caption_blocks, scenes_to_read, write_captions

    source = open_dataset(dataset)
    scenes = scenes_to_read(source, "train", bias)
    with progress_of(f"captions {out.name}", scenes) as progress, workers.pool(scenes) as pool:
        count, example = write_captions(out, caption_blocks(source, "train", bias, pool, progress))
    say(f"{out}: {count:,} captions of {len(source.train):,} scenes, such as '{example}'")


@command
def export(
    dataset: DatasetArgument,
    *,
    to: Annotated[str, TO, require_format],
    split: Annotated[str, SPLIT, known_splits] = "all",
    out: Annotated[Path | None, "Directory to write; by default DIR-FORMAT, here if DIR is a URL."] = None,
    workers: PoolSettings,
) -> None:
    """Write a data set in another tool's format: COCO, CLEVR, WebDataset, Parquet for Hugging Face, YOLO, or
    plain PNG files; as tasks of lmms-eval, VLMEvalKit or Inspect; to train with, as LLaVA or chat messages.

    The directory appears when it is complete. On a cluster, all machines must reach it. What each format
    holds and how to load it: docs/export.md.
    """
    from simtown.datasets import export
    from simtown.datasets.reading.reader import open_dataset

    directory = local(out) if out else beside(dataset, to)
    data = open_dataset(dataset)
    splits = export.choose_splits(data, [] if split == "all" else parse_names(split, "split"))
    counts = {name: len(data[name]) for name in splits}
    total = sum(counts.values())
    work = 3 * total  # an example takes three times as long to encode as to make and compare
    with progress_of(f"export {directory}", total) as progress, workers.pool(work) as pool:
        written = export.export(data, to, splits, directory, progress, pool)
    say(f"{directory}{'' if written else ' is complete'}: {split_counts(counts)} for {to}")
    say(*export.find_format(to).notes(data, splits, directory))


@command
def gallery(
    dataset: DatasetArgument,
    other: Annotated[
        str | None, "A second data set, to be shown beside the first one.", places.dataset_named
    ] = None,
    *,
    everything: Annotated[bool, "Show every example, not a sample of 1,000 of each split.", "--all"] = False,
    large: Annotated[bool, "With --all, too, draw each example again at 384 pixels to look at."] = False,
    out: Annotated[Path | None, "Directory to write; by default DIR-gallery, here if DIR is a URL."] = None,
) -> None:
    """Write a page that shows a data set, or two side by side: index.html, for any browser, without a server,
    and folders beside it that the page reads as needed.

    It filters by split, family, answer, relation, weather, entity and margin, and its address keeps what you
    choose. It shows boxes, masks, programs, twins, and the reason of each answer. It plots distributions of
    the whole data set against their target. Of a split of more than 1,000 examples it shows 1,000, evenly
    spread, unless you give --all; each of a sample is drawn again at 384 pixels.
    """
    from simtown.datasets.export import choose_splits
    from simtown.datasets.reading.reader import open_dataset
    from simtown.datasets.showing import gallery

    suffix = f"{name_of(other)}-gallery" if other else "gallery"
    directory = local(out) if out else beside(dataset, suffix)
    both = [open_dataset(each) for each in (dataset, other) if each]
    counts = [len(data[name]) for data in both for name in choose_splits(data, [])]
    shown = sum(len(part) for count in counts for part in gallery.gallery_sample(count, everything))
    with progress_of(f"gallery {directory}", shown) as progress:
        written = gallery.gallery(
            both[0],
            directory,
            progress=progress,
            everything=everything,
            large=large or None,
            reason=_reason,
            other=both[1] if other else None,
        )
    sample = "" if shown == sum(counts) else f" for {shown:,} of {sum(counts):,} examples"
    complete = "" if written else f"{directory} is complete. "
    folders = "folders a and b" if other else "folder data"
    say(f"{complete}Open {directory / 'index.html'} in a browser{sample}; keep the {folders} beside it")


@command
def audit(
    dataset: DatasetArgument,
    *,
    everything: Annotated[
        bool, "Show every check, not only warnings, notes and a line a family.", "--all"
    ] = False,
    json: Annotated[Path | None, "Also write all results as JSON."] = None,
    strict: Annotated[bool, "Exit with code 1 if there is a warning."] = False,
    workers: PoolSettings,
) -> None:
    """Look for what lets a model answer without understanding, and for leaks.

    That is: answers that are biased, or depend on what they should not; answers that a small model guesses
    from a part of the example; repeated scenes and pictures; training scenes and pictures that are also, or
    nearly, in the test split; questions too close to call or about hidden vehicles; changed files.

    False alarms: 1 % per data set, over all tests.
    """
    report_file = local_file(json, "--json") if json else None
    need("audit")
    from simtown.datasets.audit import run
    from simtown.datasets.reading.reader import open_dataset
    from simtown.datasets.reading.remote import store_of

    name = str(store_of(dataset))
    data = open_dataset(dataset)
    examples = sum(len(data[split]) for split in data.splits)
    work = examples // 4  # a piece has 65,536, and what small models need takes a process a second to import
    with progress_of(f"audit {name}", run.PASSES * examples) as progress, workers.pool(work) as pool:
        findings = run.audit(data, pool, progress)
    summary = run.report(data.name, findings)
    if report_file:
        save_json(report_file, summary)
    warnings = summary["warnings"]
    verdict = f"{name}: {counted(warnings, 'warning')} in {len(findings)} checks"
    table = Table.grid(padding=(0, 2))
    for status, text in run.lines(findings, everything):
        table.add_row(styled(status, AUDIT_COLOURS[status]), text)
    with page() as console:
        console.print(styled(verdict, "bold red" if warnings else "bold green"), soft_wrap=True)
        console.print(table)
        console.print(run.threshold(findings) + ("" if everything else " Every check: --all"))
    if strict and warnings:
        raise typer.Exit(DAMAGED)
