"""What language models know of spatial relations: probe spatial, and the spatial tables of probe reproduce."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtown import stopping
from simtown.cli.app import RefusalError
from simtown.cli.probe import headed, need, probe, show_page
from simtown.terminal import say

if TYPE_CHECKING:
    from rich.table import Table

    from simtown.probes.spatial.released import Release
    from simtown.probes.spatial.reproduce import Line
    from simtown.probes.spatial.vectors import Space

spatial = typer.Typer(
    name="spatial",
    short_help="Spatial relations: perplexity vectors of a language model.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
probe.add_typer(spatial)


@spatial.callback(invoke_without_command=True)
def study(
    context: typer.Context,
    model: Annotated[str | None, typer.Option(help="lstm:DIR, hf:ID-OR-DIR (causal or masked), ngram:CORPUS.")] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Text, one phrase a line, or Visual Genome's region_descriptions.json; packed or not.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The directory to write; the same command again continues it.")] = None,
    rare: Annotated[int, typer.Option(help="Phrases with a word that the corpus has less often are dropped.")] = 20,
    least: Annotated[int, typer.Option(help="Contexts with fewer phrases are left out.")] = 10,
    most: Annotated[int, typer.Option(help="Phrases of a context at most, drawn at random.")] = 200,
    held_out: Annotated[bool, typer.Option("--held-out", help="Only phrases that simtown lm train holds out.")] = False,
    seed: Annotated[int, typer.Option(help="Of the sample of phrases.")] = 0,
) -> None:
    """Put every spatial relation in every other's place and see how perplexed a model is (Ghanimifard and Dobnik, 2019).

    Phrases of the corpus are binned by the relation they hold. 67 relations in up to 57 such contexts make the matrix of perplexities; its
    rows are the relations' P-vectors, which are tested by analogies, odd ones out and clusters. --model, --corpus and --out are needed.
    """
    if context.invoked_subcommand is not None:
        return
    if model is None or corpus is None or out is None:
        raise RefusalError("probe spatial needs --model, --corpus and --out (see --help), or a command: judge, judgements, town")
    need()
    from simtown.probes.scorers import open_scorer
    from simtown.probes.scorers.batching import metered
    from simtown.probes.spatial.study import FIGURE, SUMMARY, Settings, run

    run(
        model,
        corpus,
        out,
        Settings(rare, least, most, held_out, seed),
        lambda: open_scorer(model),
        lambda title, n: metered(title, n, True),
    )
    show_page(out / f"{SUMMARY}.md")
    say(f"Everything is in {out}; the heat map is {out / FIGURE}.png and .svg")


def reproduced(name: str, data: Path, runs: Sequence[Path]) -> tuple[list[Table], str]:
    """A table of the paper, how many of its numbers are as printed, and what the release lacks for the others."""
    from simtown.probes.spatial import released, reproduce, study

    tables = {
        "spatial-analogy": ("Analogies of opposites: accuracy", reproduce.analogy),
        "spatial-odd-one-out": ("Odd one out: accuracy", reproduce.odd_one_out),
        "spatial-similarity": ("Similarity of words: Spearman's correlation", reproduce.similarity),
    }
    if name not in ("spatial-figure3", *tables):
        raise RefusalError(f"there is no table {name}: give spatial-figure3, {', '.join(tables)}")
    release = released.read(data)
    if name == "spatial-figure3":
        title, lines = "Figure 3", reproduce.figure3(release, [(run.name, study.load(run)[0]) for run in runs])
    else:
        title, compute = tables[name]
        lines = compute(release, [space for run in runs for space in _spaces(run)])
    return [_lines(title, lines)], "\n".join(_told(release, lines))


def _told(release: Release, lines: Sequence[Line]) -> list[str]:
    """How many printed numbers came out, and the parts of the release without which lines are empty."""
    printed = [line for line in lines if line.paper is not None]
    compared = [line.same for line in printed if line.same is not None]
    told = [f"{sum(compared)} of {len(compared)} numbers are as printed"] if compared else []
    if len(compared) < len(printed):
        told.append(f"{len(printed) - len(compared)} of the paper's {len(printed)} numbers cannot be computed from this folder:")
    empty = [part for part in release.missing if any(part in line.note and line.here != line.here for line in lines)]
    return told + [f"no {part}: {release.missing[part]}" for part in empty]


def _spaces(run: Path) -> list[Space]:
    """Vectors to add to a table: those of a run of probe spatial, or of a model."""
    from simtown.probes.scorers import open_scorer
    from simtown.probes.spatial import study
    from simtown.probes.spatial.relations import RELATIONS
    from simtown.probes.spatial.vectors import embedded

    return study.load(run)[1] if run.is_dir() else [embedded(open_scorer(str(run), progress=True), RELATIONS)]


def compared(a: Path, b: Path) -> list[Table]:
    """Two runs of probe spatial: tests of their vectors question by question, and how alike their matrices are."""
    from simtown.probes.spatial.compare import compare

    found, alike = compare(a, b)
    made = headed(f"Accuracy, A: {a}, B: {b}", "test", "vectors", "A", "B", "A - B", "95 %", "McNemar p", left=2)
    for one in found:
        d = one.difference
        made.add_row(one.test, one.vectors, f"{one.a:.3f}", f"{one.b:.3f}", f"{d.difference:+.3f}", f"{d.low:+.3f} to {d.high:+.3f}",
                     f"{d.p:.2g}")  # fmt: skip
    return [made, _lines("Spearman's correlation", alike)]


def _lines(title: str, lines: Sequence[Line]) -> Table:
    from rich.table import Table

    made = Table(title=title, title_justify="left")
    for head in ("", "paper", "here", "95 %", "", ""):
        made.add_column(head, justify="left" if not head else "right")
    for line in lines:
        verdict = "" if line.same is None else "same" if line.same else "differs"
        paper = "" if line.paper is None else f"{line.paper:.2f}"
        here = "" if line.here != line.here else f"{line.here:.3f}"
        between = "" if line.low != line.low else f"{line.low:.3f} to {line.high:.3f}"
        made.add_row(line.name, paper, here, between, verdict, line.note)
    return made


@spatial.command(short_help="Ask people how alike relations are, on a local web page.")
def judge(
    out: Annotated[Path, typer.Option(help="The CSV file that keeps the answers; one that is there is gone on with.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page on this machine; 0: any that is free.")] = 0,
) -> None:
    """Serve a page on this machine that asks for similarity judgements with a slider, as the paper's appendix D describes; Ctrl-C ends it.

    66 pairs of words in random order, and catch trials between them: a relation with itself, a relation with "green".
    """
    need()
    from simtown.probes.spatial.judge.answers import Answers
    from simtown.probes.spatial.judge.server import serve

    if out.is_dir():
        raise RefusalError(f"--out {out} is a directory: give a file")
    with Answers(out) as answers, serve(answers, port) as server:
        say(f"{server.address} asks; {out} keeps the answers ({len(answers.all):,} so far); Ctrl-C ends.")
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            stopping.resume()
            say("")
    say(_agreement(out))


@spatial.command(short_help="Clean judgements, and tell how far people agree.")
def judgements(
    file: Annotated[Path, typer.Argument(help="Made by simtown probe spatial judge.")],
    out: Annotated[Path | None, typer.Option(help="A table of mean ratings to write (tab-separated).")] = None,
) -> None:
    """Take out workers by the paper's rule ("green" above 60 %, itself below 90 %) and print the others' agreement."""
    need()
    if out is not None and out.exists():
        raise RefusalError(f"--out {out} is there already: give another file")
    say(_agreement(file, out))


def _agreement(file: Path, out: Path | None = None) -> str:
    """Told in words; the mean ratings are written to out."""
    from simtown.probes.spatial.judge.answers import read
    from simtown.probes.spatial.judge.trials import WORDS, agreement
    from simtown.probes.spatial.tables import Table, write_table

    found = agreement(read(file))
    if out is not None:
        write_table(out, Table(WORDS, WORDS, found.means))
    removed = f"{len(found.removed)} taken out" + (f" ({', '.join(found.removed)})" if found.removed else "")
    return (f"{found.workers} workers, {removed}; {found.ratings:,} ratings of pairs are kept; "
            f"Krippendorff's α {found.alpha:.3f}, mean correlation of one with the others {found.one_out:.3f}")  # fmt: skip


@spatial.command(short_help="Does a model of the town's captions know the town's space?")
def town(
    dataset: Annotated[Path, typer.Argument(help="The data set whose test scenes it is asked about.")],
    model: Annotated[str, typer.Option(help="A language model trained on the captions that simtown captions DATASET wrote.")],
    out: Annotated[Path, typer.Option(help="The picture to write, as .png and .svg.")],
) -> None:
    """Compare the P-vectors of the town's relations with their spatial templates, measured in the scenes."""
    need()
    from simtown.datasets.reader import open_dataset
    from simtown.language.captions import WORDED, related
    from simtown.probes.scorers import open_scorer
    from simtown.probes.spatial import figures
    from simtown.probes.spatial.tables import Table as Numbers
    from simtown.probes.spatial.town import bridge
    from simtown.quoting import title_of

    taken = [p for p in (out.with_suffix(".png"), out.with_suffix(".svg")) if p.exists()]
    if taken:
        raise RefusalError(f"{taken[0]} is there already: give another --out")
    source = open_dataset(dataset)
    if not len(source.test):
        raise RefusalError(f"{dataset} has no test scenes: make it with simtown generate --test 2000")
    found = bridge(open_scorer(model, progress=True), related(source.test.scenes(), source.settings.seed, "test"))
    figures.town(Numbers(WORDED, WORDED, found.words), found.templates, f"cosines of P-vectors: {title_of(model)}", out)
    say("perplexity of each relation (row) in captions of each (column):")
    for name, row in zip(WORDED, found.perplexities.values, strict=True):
        say(f"  {name:16}" + "".join(f"{x:9.2f}" for x in row))
    say(f"P-vectors: opposites {found.opposite:.3f}, different axes {found.across:.3f}; with the templates: r = {found.correlation:.3f}")
