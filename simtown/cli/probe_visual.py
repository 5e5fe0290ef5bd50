"""What language models know of how things look: probe visual, and the tables of its paper for probe reproduce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtown.cli.app import RefusalError
from simtown.cli.probe import need, probe, show_page
from simtown.terminal import say

if TYPE_CHECKING:
    from rich.table import Table as Drawn

    from simtown.probes.visual.tables import Table

visual = typer.Typer(
    name="visual",
    help="Colour, shape, material, size and company of things: what a language model knows of them (Zhang et al. 2022).\n\n"
    "Start with: simtown probe visual --task color --model glove:glove.txt --data VL-commonsense --out color-glove\n"
    "(VL-commonsense: a clone of github.com/ChenyuHeidiZhang/VL-commonsense, or what simtown probe visual mine made).",
    short_help="Colour, shape, material, size, company of things.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
probe.add_typer(visual)


DataOption = Annotated[
    Path | None,
    typer.Option(help="A clone of github.com/ChenyuHeidiZhang/VL-commonsense, or a directory made by simtown probe visual mine."),
]


@visual.callback(invoke_without_command=True)
def study(
    context: typer.Context,
    data: DataOption = None,
    model: Annotated[
        str | None, typer.Option(help="hf:ID-OR-DIR, sentence:ID-OR-DIR, clip:ID-OR-DIR, lstm:DIR, glove:FILE, ngram:CORPUS.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The directory to write; the same command again continues it.")] = None,
    task: Annotated[str, typer.Option(help="color, shape, material, cooccurrence, size: names with commas between, or all.")] = "all",
    use: Annotated[
        str | None,
        typer.Option("--as", help="How the model is used: prompts (zero-shot), head (logistic regression on its vectors), "
                     "tuned (soft prompts at every layer of "
                     "a masked model) or tuned-embeddings (at the first). "
                     "Default: prompts where it has probabilities of words."),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="Rules where paper and code differ: paper, release or corrected (docs/reproduce/visual-commonsense.md).")
    ] = "corrected",
    seed: Annotated[int, typer.Option(help="Of the head's solver.")] = 0,
) -> None:  # fmt: skip
    """Ask a model what things look like, without training it or by a head on its vectors, and compare with what was seen.

    Writes every subject's result as Parquet, the means with intervals, prior and ceiling as JSON, CSV and Markdown, and a picture a task.
    """
    if context.invoked_subcommand is not None:
        return
    if data is None or model is None or out is None:
        raise RefusalError("give --data, --model and --out, or one of the commands that simtown probe visual --help lists")
    need()
    from simtown.probes.scorers import open_scorer
    from simtown.probes.visual.results import TASKS
    from simtown.probes.visual.sources import open_data
    from simtown.probes.visual.study import Choices, run
    from simtown.progress import Progress

    wanted = TASKS if task == "all" else tuple(dict.fromkeys(part.strip() for part in task.split(",")))
    if not wanted or set(wanted) - set(TASKS):
        raise RefusalError(f"unknown --task {task}: give {', '.join(TASKS)}, several with commas between, or all")
    choices = Choices(model, use, protocol, seed)  # type: ignore[arg-type]
    choices.check()
    source = open_data(data)
    if task == "all":
        wanted = tuple(t for t in TASKS if t in source.tasks())
    with ExitStack() as bars:

        def watch(title: str, steps: int) -> Callable[[], None]:
            bars.close()
            bar = bars.enter_context(Progress(title))
            bar.started(steps, 0)
            return lambda: bar.advanced(1, {})

        run(source, wanted, choices, out, lambda policy: open_scorer(model, policy=policy, progress=True), watch)
    show_page(out / "summary.md")
    say(f"Everything is in {out}; figures: {out}/*.png")


def reproduced(table: str, data: Path, runs: Sequence[Path]) -> tuple[list[Drawn], str]:
    """A table of the paper, how many of its cells are as printed, and which of them are only copied."""
    from simtown.probes.visual.release import Release
    from simtown.probes.visual.tables import TABLES

    if table not in TABLES:
        raise RefusalError(f"there is no table {table}: give {', '.join(TABLES)}")
    made = TABLES[table](Release(data), runs)
    return [_drawn(one) for one in made], "\n".join(f"{one.title}: {verdict}" for one in made if (verdict := one.verdict()))


def _drawn(table: Table) -> Drawn:
    """With "paper / here" where the paper has a number, "!" where they differ."""
    from rich.table import Table as Drawn

    drawn = Drawn(title=table.title, title_justify="left", caption="\n".join(table.notes) or None, caption_justify="left")
    drawn.add_column("")
    for head in table.columns:
        drawn.add_column(head, justify="right")
    for name, cells in table.rows:
        drawn.add_row(name, *(" / ".join(x for x in (c.paper or ("-" if c.here and table.printed else ""), c.here) if x)
                              + (" !" if c.same is False else "") for c in cells))  # fmt: skip
    return drawn


@visual.command(short_help="Count what things look like in annotations or text.")
def mine(
    out: Annotated[Path, typer.Option(help="The directory to write: data for --data.")],
    attributes: Annotated[Path | None, typer.Option(help="Visual Genome's attributes.json: color, shape, material.")] = None,
    graphs: Annotated[Path | None, typer.Option(help="Visual Genome's scene_graphs.json or objects.json: cooccurrence.")] = None,
    text: Annotated[Path | None, typer.Option(help="Text, a sentence a line, or region_descriptions.json: all of them.")] = None,
    coda: Annotated[Path | None, typer.Option(help="CoDa's folder projects/coda/data: color, from people's ratings.")] = None,
    subjects: Annotated[
        Path | None, typer.Option(help="Whose nouns to look for in --text: a ViComTe release or a mined directory.")
    ] = None,
    threshold: Annotated[
        int | None,
        typer.Option(help="Counts at or below it are noise. Default: color 5, material 2, shape 1, cooccurrence 8; of text 0 and 8."),
    ] = None,
    ordered: Annotated[
        bool, typer.Option("--ordered", help="Count co-occurring pairs in the annotators' order, as the release does.")
    ] = False,
    window: Annotated[int, typer.Option(help="Tokens of text within which nouns co-occur.")] = 10,
    seed: Annotated[
        int | None, typer.Option(help="Of the split into train and test. Default: as released, 8 of every 10 in order.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Pass over malformed records, and count them.")] = False,
) -> None:
    """Count how often things have each color, shape and material and which are seen together; write Parquet, a table a relation."""
    need()
    from simtown.cli.visualgenome import _moved
    from simtown.probes.visual.mine import Sources
    from simtown.probes.visual.mine import mine as run
    from simtown.progress import Progress

    sources = Sources(attributes, graphs, text, coda, subjects, threshold, ordered, window, seed, skip_bad)
    sources.check()
    amount, unit = sources.work()
    with Progress(f"mine {out}, {'kB' if unit == 'bytes' else unit}") as watcher:
        watcher.started(amount // 1000 if unit == "bytes" else amount, 0)
        content = run(sources, out, _moved(watcher) if unit == "bytes" else lambda more: watcher.advanced(more, {}))
    for relation, told in content["relations"].items():
        say(f"{relation}: {told['subjects']:,} subjects, {len(told['classes']):,} classes, {told['counted']:,.0f} counted")
    if content["told"]["bad_records"]:
        say(f"{content['told']['bad_records']:,} malformed records passed over")
    say(f"Ask about it: simtown probe visual --data {out} --model MODEL --out DIR")


@visual.command(short_help="Teach a masked model what another one says.")
def distill(
    teacher: Annotated[str, typer.Option(help="A masked model, hf:ID-OR-DIR: a vision-language one, or any.")],
    student: Annotated[str, typer.Option(help="A masked model with the same vocabulary, hf:ID-OR-DIR.")],
    corpus: Annotated[Path, typer.Argument(help="Text, a sentence a line, or Visual Genome's region_descriptions.json; packed or not.")],
    out: Annotated[Path, typer.Option(help="The directory to write: the student in Hugging Face's layout.")],
    epochs: Annotated[int, typer.Option(help="Times that the corpus is read.")] = 1,
    batch: Annotated[int, typer.Option(help="Sentences a step.")] = 64,
    lr: Annotated[float, typer.Option(help="Learning rate at first; it falls linearly to zero.")] = 5e-5,
    seed: Annotated[int, typer.Option(help="Of the order, the masks and dropout.")] = 0,
) -> None:
    """Train a student to give the teacher's distributions at every position of masked text (KL divergence, section 4.2)."""
    need()
    from simtown.probes.scorers import open_scorer
    from simtown.probes.visual.distill import Settings
    from simtown.probes.visual.distill import distill as run

    settings = Settings(epochs, batch, lr, seed)
    settings.check()
    told = run(open_scorer(teacher), open_scorer(student), corpus, out, settings)
    say(f"{out}: divergence {told['divergence_first']:.3f} at first, {told['divergence_last']:.3f} at last, {told['texts']:,} sentences, "
          f"{told['seconds']:.0f} s")  # fmt: skip
    say(f"Ask it: simtown probe visual --model hf:{out} --data DATA --out DIR")


@visual.command(short_help="Draw a figure of the paper from the released results.")
def figure(
    number: Annotated[int, typer.Argument(help="2, 3, 5, 6, 7, 8 or 9; Figure 4 is in every study's own pictures.")],
    data: Annotated[Path, typer.Option(help="A clone of github.com/ChenyuHeidiZhang/VL-commonsense.")],
    out: Annotated[Path, typer.Option(help="The PNG to write; one that is there is replaced.")],
) -> None:
    """Draw a figure of Zhang et al. (2022) from their released results."""
    need()
    from simtown.probes.visual.figures import FIGURES
    from simtown.probes.visual.release import Release

    if number not in FIGURES:
        raise RefusalError(f"there is no figure {number}: give {', '.join(map(str, FIGURES))}")
    if out.suffix.lower() != ".png":
        raise RefusalError(f"--out {out} must end in .png")
    FIGURES[number](Release(data), out)
    say(str(out))


@visual.command(short_help="Colours of the town: what a model believes as reporting bias grows.")
def bridge(
    dataset: Annotated[Path, typer.Argument(help="A data set of the town; its training scenes are told in captions.")],
    out: Annotated[Path, typer.Option(help="The directory to write; the same command again continues it.")],
    bias: Annotated[str, typer.Option(help="Probabilities that a kind's typical colour is left unsaid, below 1.")] = "0,0.25,0.5,0.75,0.95",
    epochs: Annotated[int, typer.Option(help="Times that each model reads its captions.")] = 2,
) -> None:
    """Train an LSTM on captions of the town for every reporting bias, ask it for the colours of vehicles, and compare with the truth.

    Writes captions and model of every bias, all shares as Parquet, divergence and correlation as JSON and Markdown, and a picture.
    """
    need()
    from simtown.datasets.reader import open_dataset
    from simtown.probes.visual.bridge import run
    from simtown.progress import Progress

    try:
        biases = [float(part) for part in bias.split(",")]
    except ValueError:
        raise RefusalError(f"--bias {bias} is no list of probabilities: write 0,0.5,0.95") from None
    run(open_dataset(dataset), biases, epochs, out, Progress)
    show_page(out / "bridge.md")
    say(f"Everything is in {out}; the picture is {out}/bridge.png")


def compared(a: Path, b: Path) -> list[Drawn]:
    """For every task, mode and group that both have, the difference of ρ with its 95 % interval, and tests; McNemar's of Acc@1."""
    from simtown.probes.visual.compare import compare
    from simtown.probes.visual.tables import Cell, Table, percent

    table = Table(f"A: {a}   B: {b}", ("n", "ρ, A - B", "95 %", "paired p", "adjusted", "Welch p", "Acc@1 A", "Acc@1 B", "McNemar p"))
    for one in compare(a, b):
        low, high = one.interval
        rho = ("", "", "", "", "", "")
        if one.rho is not None:
            rho = (str(one.rho.n), percent(one.rho.mean), f"[{percent(low)}, {percent(high)}]",
                   *(f"{p:.2g}" for p in (one.rho.paired, one.adjusted, one.rho.welch)))  # type: ignore[assignment]  # fmt: skip
        cells = (*rho, percent(one.accuracy[0]), percent(one.accuracy[1]), f"{one.right.exact:.2g}")
        table.rows.append((f"{one.task}, {one.mode}, {one.group}", [Cell(here=text) for text in cells]))
    return [_drawn(table)]
