"""The commands beside the study of probe spatial: people's judgements, and the town."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import RefusalError
from simtown.cli.places import local_file
from simtown.cli.probe import need, spatial, takes_scorer_options
from simtown.core import stopping
from simtown.core.terminal import say
from simtown.probes.study import ScorerOptions


@spatial.command(short_help="Ask people how alike relations are, on a local web page.")
def judge(
    out: Annotated[
        Path, typer.Option(help="The CSV file that keeps the answers; an existing one is continued.")
    ],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page on this machine; 0: any that is free.")
    ] = 0,
) -> None:
    """Serve a page on this machine that asks for similarity judgements with a slider, as the paper's appendix
    D describes; Ctrl-C ends it.

    66 pairs of words in random order, and catch trials between them: a relation with itself, a relation with
    "green".
    """
    need()
    from simtown.probes.spatial.judge.answers import RatingsFile
    from simtown.probes.spatial.judge.server import serve

    if out.is_dir():
        raise RefusalError(f"--out {out} is a directory: give a file")
    with RatingsFile(out) as answers, serve(answers, port) as server:
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
    out: Annotated[
        Path | None, typer.Option(help="A table of mean ratings to write (tab-separated).")
    ] = None,
) -> None:
    """Take out workers by the paper's rule ("green" above 60 %, itself below 90 %) and print the others'
    agreement.
    """
    need()
    if out is not None and out.exists():
        raise RefusalError(f"--out {out} exists: give another file")
    say(_agreement(file, out))


def _agreement(file: Path, out: Path | None = None) -> str:
    """The agreement in words; writes the mean ratings to `out`."""
    from simtown.probes.spatial.judge.answers import read
    from simtown.probes.spatial.judge.trials import WORDS, agreement
    from simtown.probes.spatial.tables import NumberTable, write_table

    ratings = agreement(read(file))
    if out is not None:
        write_table(out, NumberTable(WORDS, WORDS, ratings.means))
    removed = f"{len(ratings.removed)} taken out" + (
        f" ({', '.join(ratings.removed)})" if ratings.removed else ""
    )
    return (
        f"{ratings.workers} workers, {removed}; {ratings.ratings:,} ratings of pairs are kept; "
        f"Krippendorff's α {ratings.alpha:.3f}, mean correlation of one with the others {ratings.one_out:.3f}"
    )


@spatial.command(short_help="Does a model of the town's captions know the town's space?")
@takes_scorer_options
def town(
    dataset: Annotated[Path, typer.Argument(help="The data set whose test scenes it is asked about.")],
    model: Annotated[
        str,
        typer.Option(help="A language model trained on the captions that simtown captions DATASET wrote."),
    ],
    out: Annotated[Path, typer.Option(help="The picture to write, as .png and .svg.")],
    scorer_options: ScorerOptions,
) -> None:
    """Compare the P-vectors of the town's relations with their spatial templates, measured in the scenes."""
    need()
    from simtown.core.quoting import title_of
    from simtown.datasets.reader import open_dataset
    from simtown.language.captions import WORDED, related
    from simtown.probes.spatial import figures
    from simtown.probes.spatial.tables import NumberTable
    from simtown.probes.spatial.town import bridge

    for suffix in (".png", ".svg"):
        local_file(out.with_suffix(suffix))
    source = open_dataset(dataset)
    if not len(source.test):
        raise RefusalError(f"{dataset} has no test scenes: make it with simtown generate --test 2000")
    comparison = bridge(
        scorer_options.open(model), related(source.test.scenes(), source.settings.seed, "test")
    )
    figures.town(
        NumberTable(WORDED, WORDED, comparison.words),
        comparison.templates,
        f"distances of P-vectors: {title_of(model)}",
        out,
    )
    say("perplexity of each relation (row) in captions of each (column):")
    for name, row in zip(WORDED, comparison.perplexities.values, strict=True):
        say(f"  {name:16}" + "".join(f"{x:9.2f}" for x in row))
    say(
        f"P-vectors: opposites {comparison.opposite:.3f}, different axes {comparison.across:.3f}; with the "
        f"templates: r = {comparison.correlation:.3f}"
    )
