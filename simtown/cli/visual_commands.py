"""The commands beside the study of probe visual: mining, distilling, figures, the bridge to the town."""

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli import places
from simtown.cli.command import RefusalError, command, parse_numbers
from simtown.cli.places import require_suffix, there
from simtown.cli.sharing import known_device
from simtown.cli.study_commands import CORPUS, Out, is_study, need, probe, runner, show_page, show_results
from simtown.core.progress import Progress
from simtown.core.terminal import say, shell_words
from simtown.probes.study_settings import ScorerOptions
from simtown.probes.visual import DistillSettings, MiningSettings, VisualSettings

visual = typer.Typer(
    name="visual", short_help="Colour, shape, material, size, co-occurrence of things.", rich_markup_mode=None
)
probe.add_typer(visual)
#: The figures of the paper that are drawn.
DRAWN = (2, 3, 5, 6, 7, 8, 9)


def _study(
    context: typer.Context,
    *,
    data: Annotated[
        Path,
        "A clone of github.com/ChenyuHeidiZhang/VL-commonsense, or what simtown probe visual mine made.",
        there,
    ],
    settings: VisualSettings,
    out: Out,
    scorer: ScorerOptions,
) -> None:
    """Ask a model what things look like, without training it or by a head on its vectors, and compare with
    what was seen (Zhang et al. 2022).

    Writes every subject's result as Parquet, the means with intervals, prior and ceiling as JSON, CSV and
    Markdown, and a picture a task.
    """
    if not is_study(context, settings, out, data=data):
        return
    run, progress = runner("visual")
    with progress as bars:
        show_results(run(data, settings, out, scorer, bars))


visual.callback(invoke_without_command=True)(command(_study, optional=True))


@visual.command("mine", short_help="Count what things look like in annotations or text.")
@command
def mine_command(
    settings: MiningSettings, *, out: Annotated[Path, "The directory to write: data for --data."]
) -> None:
    """Count how often things have each color, shape and material and which are seen together; write Parquet,
    a table a relation.
    """
    settings.check()
    need()
    from simtown.probes.visual.mined import mine

    with Progress(f"mine {out}, {'sentences' if settings.text else 'kB'}") as progress:
        read = ((settings.attributes, 1), (settings.graphs, 2))
        progress.on_begin(sum(times * path.stat().st_size for path, times in read if path) // 1000)
        content = mine(settings, out, progress.on_progress if settings.text else progress.kilobytes())
    for relation, summary in content["relations"].items():
        classes = f"{len(summary['classes']):,} classes, {summary['counted']:,.0f} counted"
        say(f"{relation}: {summary['subjects']:,} subjects, {classes}")
    if bad := content["source"]["bad_records"]:
        say(f"{bad:,} malformed records passed over")
    say(f"Ask about it: simtown probe visual --data {shell_words(out)} --model MODEL --out DIR")


@visual.command("distill", short_help="Teach a masked model what another one says.")
@command
def distill_command(
    corpus: Annotated[Path, CORPUS, there],
    settings: DistillSettings,
    *,
    teacher: Annotated[str, "A masked model, hf:ID-OR-DIR: a vision-language one, or any."],
    student: Annotated[str, "A masked model with the same vocabulary, hf:ID-OR-DIR."],
    out: Annotated[Path, "The directory to write: the student in Hugging Face's layout."],
    device: Annotated[str, "Where both models run: auto, cpu or cuda.", known_device] = "auto",
) -> None:
    """Train a student to give the teacher's distributions at every position of masked text (KL divergence,
    section 4.2).
    """
    need()
    from simtown.probes.scorers import open_scorer
    from simtown.probes.visual.distill import distill

    teaching, learning = (open_scorer(model, device=device) for model in (teacher, student))
    summary = distill(teaching, learning, corpus, out, settings)
    first, last = summary["divergence_first"], summary["divergence_last"]
    amount = f"{summary['texts']:,} sentences, {summary['seconds']:.0f} s"
    say(f"{out}: divergence {first:.3f} at first, {last:.3f} at last, {amount}")
    say(f"Ask it: simtown probe visual --model {shell_words(f'hf:{out}')} --data DATA --out DIR")


@visual.command(short_help="Draw a figure of the paper from the released results.")
@command
def figure(
    number: Annotated[int, "2, 3, 5, 6, 7, 8 or 9; Figure 4 is in every study's own pictures."],
    *,
    data: Annotated[Path, "A clone of github.com/ChenyuHeidiZhang/VL-commonsense.", there],
    out: Annotated[Path, "The PNG to write; one that is there is replaced."],
) -> None:
    """Draw a figure of Zhang et al. (2022) from their released results."""
    if number not in DRAWN:
        raise RefusalError(f"there is no figure {number}: give {', '.join(map(str, DRAWN))}")
    require_suffix(out, ".png")
    need()
    from simtown.probes.visual.release import VisualRelease
    from simtown.probes.visual.vicomte_figures import FIGURES

    FIGURES[number](VisualRelease(data), out)
    say(str(out))


@visual.command(short_help="Colours of the town: what a model believes as reporting bias grows.")
@command
def bridge(
    dataset: Annotated[str, "A data set; its training scenes get captions.", places.dataset_named],
    *,
    out: Out,
    bias: Annotated[
        str, "Probabilities that captions omit a kind's typical colour, below 1."
    ] = "0,0.25,0.5,0.75,0.95",
    epochs: Annotated[int, "Times that each model reads its captions."] = 2,
) -> None:
    """Train an LSTM on captions of the town for every reporting bias, ask it for the colours of vehicles, and
    compare with the truth.

    Writes captions and model of every bias, all shares as Parquet, divergence and correlation as JSON and
    Markdown, and a picture.
    """
    biases = parse_numbers(bias, "--bias", "0,0.5,0.95")
    need()
    from simtown.datasets.reading.reader import open_dataset
    from simtown.probes.visual.bridge import run

    run(open_dataset(dataset), biases, epochs, out, Progress)
    show_page(out / "bridge.md")
    say(f"Everything is in {out}; the picture is {out}/bridge.png")
