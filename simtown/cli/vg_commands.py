"""Visual Genome: vg prepare, vg stats, vg sparsity, vg frequencies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtown.cli.command import RefusalError, command
from simtown.cli.places import require_suffix
from simtown.core.extras import need
from simtown.core.options import check
from simtown.core.terminal import say
from simtown.visualgenome.clean_settings import PrepareSettings, StepsSettings

if TYPE_CHECKING:
    from rich.table import Table

    from simtown.visualgenome.stats import Statistics

vg = typer.Typer(
    name="vg",
    help="Visual Genome's relationships: clean them as the paper does, count them, and make the world's "
    "frequencies from them.\n\n"
    "Start with: simtown vg prepare relationships.json.zip --out vg, then simtown vg stats vg.",
    short_help="Visual Genome: clean, count, and match its frequencies.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

SkipOption = Annotated[bool, typer.Option("--skip-bad", help="Skip malformed records, and count them.")]


@vg.command(short_help="Clean the triples of relationships.json; write Parquet.")
@command
def prepare(
    relationships: Annotated[
        Path,
        typer.Argument(
            help="relationships.json or scene_graphs.json, plain, .zip or .gz; or a folder of published "
            "counts."
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The directory to write.")],
    settings: PrepareSettings,
    further: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            help="Also count objects, attributes, region_descriptions, question_answers or image_data .json "
            "for Table 1; may be repeated.",
        ),
    ] = None,
    skip_bad: SkipOption = False,
) -> None:
    """Clean (subject, predicate, object) triples as the paper's section 6.1 does, and write them and their
    counts as Parquet.

    The released files are at https://homes.cs.washington.edu/~ranjay/visualgenome (CC BY 4.0). Every release
    works.
    """
    need("vg")
    from simtown.core.progress import Progress
    from simtown.visualgenome import prepare

    sources = [path for path in (relationships, *(further or ())) if path.is_file()]
    with Progress(f"prepare {out}, kB") as progress:
        progress.on_begin(sum(path.stat().st_size for path in sources) // 1000)
        content = prepare.prepare(
            relationships,
            out,
            settings,
            further=further or (),
            skip_bad=skip_bad,
            progress=progress.kilobytes(),
        )
    statements = content["statements"]
    reasons = {
        "without_an_end": "without subject or object",
        "emptied": "with nothing left",
        "repeated": "repeated",
        "rare": "rare",
    }
    dropped = ", ".join(f"{statements[key]:,} {words}" for key, words in reasons.items() if statements[key])
    kept = f"{statements['kept']:,} of {statements['stated']:,} statements kept"
    say(f"{out}: {kept}{f' (dropped: {dropped})' if dropped else ''}")
    if content["bad_records"]:
        say(f"{content['bad_records']:,} malformed records skipped; the first: {content['first_bad']}")
    say(f"See them with: simtown vg stats {out}")


@vg.command(short_help="Print the paper's Tables 1 and 2 beside ours, and marginals.")
@command
def stats(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Made by simtown vg prepare.")],
    top: Annotated[int, typer.Option(help="Rows in the lists of the most frequent.")] = 20,
) -> None:
    """Print Tables 1 and 2 beside the paper's numbers, unique relationships by threshold, and the most
    frequent of each kind.
    """
    if top < 0:
        raise RefusalError(f"--top must be at least 0, not {top}")
    need("vg")
    from simtown.core.console import page
    from simtown.visualgenome.stats import statistics

    counts = statistics(directory)
    tables = [_table1(counts), _table2(counts), _unique(counts)]
    if top:
        tables.append(_most_frequent(counts, top))
    with page(110) as console:
        for table in tables:
            console.print(table)


def _table(title: str, *heads: str, left: tuple[str, ...] = ()) -> Table:
    """An empty table; the columns in `left` are aligned to the left, the others to the right."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for head in heads:
        table.add_column(head, justify="left" if head in left else "right")
    return table


def _table1(counts: Statistics) -> Table:
    from simtown.visualgenome.stats import TABLE1

    table = _table("Table 1: what there is", "", "paper", "here", left=("",))
    for name, printed in TABLE1:
        count = counts.content["table1"].get(name)
        table.add_row(name, printed, "-" if count is None else f"{count:,}")
    return table


def _table2(counts: Statistics) -> Table:
    from simtown.visualgenome.stats import TABLE2, TOLERANCE, agreement

    heads = ("group", "printed", "paper", "here", "differs", "counted as", "conjecture")
    words = ("group", "printed", "counted as", "conjecture")
    table = _table("Table 2: relationships", *heads, left=words)
    agree, named = agreement(counts.table2)
    table.caption = (
        f"{agree} of {len(TABLE2)} counts are within {TOLERANCE:.1%} of the paper's, "
        f"{named} of them under the printed name"
    )
    table.caption_justify = "left"
    group = ""
    for entry, count in zip(TABLE2, counts.table2, strict=True):
        if group and entry.group != group:
            table.add_section()
        table.add_row(
            entry.group if entry.group != group else "",
            entry.printed,
            f"{entry.count:,}",
            f"{count:,}",
            f"{count / entry.count - 1:+.2%}",
            " + ".join(entry.predicates),
            entry.note,
        )
        group = entry.group
    return table


def _unique(counts: Statistics) -> Table:
    title = "Unique relationships by threshold (the paper keeps roughly 2,000)"
    table = _table(title, "at least", "predicates", "of statements", "")
    threshold = counts.content["choices"]["threshold"]
    for least, count, share in counts.unique:
        table.add_row(f"{least:,}", f"{count:,}", f"{share:.2%}", "chosen" if least == threshold else "")
    return table


def _most_frequent(counts: Statistics, top: int) -> Table:
    names = ("entity", "subject", "object", "relation")
    table = _table("Most frequent", "rank", *(head for name in names for head in (name, "count")), left=names)
    columns = (counts.entities, counts.subjects, counts.objects, counts.relations)
    for rank in range(min(top, max(map(len, columns), default=0))):
        row = [column[rank] if rank < len(column) else None for column in columns]
        cells = [cell for entry in row for cell in ((entry[0], f"{entry[1]:,}") if entry else ("", ""))]
        table.add_row(str(rank + 1), *cells)
    return table


@vg.command(short_help="Draw Figure 11, and list the most lopsided pairs.")
@command
def sparsity(
    source: Annotated[
        Path,
        typer.Argument(
            help="objects.json, scene_graphs.json or relationships.json, packed or not; or a prepared "
            "directory."
        ),
    ],
    *,
    out: Annotated[
        Path, typer.Option(help="The PNG to write; a CSV table of all pairs goes beside it.")
    ] = Path("vg-sparsity.png"),
    top: Annotated[int, typer.Option(help="Number of entities: the most frequent ones.")] = 100,
    pairs: Annotated[int, typer.Option(help="Number of lopsided pairs to list.")] = 15,
    least: Annotated[
        int, typer.Option(help="List only pairs that stand beside each other at least this often.")
    ] = 9,
    steps: StepsSettings,
    skip_bad: SkipOption = False,
) -> None:
    """Draw how often the most frequent entities occur in the same image (Figure 11), and count, from boxes,
    which of them stands left of which.
    """
    require_suffix(out, ".png")
    if pairs < 0 or least < 1:
        raise RefusalError("--pairs must be at least 0 and --least at least 1")
    check(steps)
    need("vg")
    from simtown.core.progress import Progress
    from simtown.visualgenome import sparsity

    with Progress("sparsity, kB") as progress:
        images = sparsity.ImageSource(source, skip_bad=skip_bad, progress=progress.kilobytes())
        progress.on_begin(2 * images.size // 1000)
        result = sparsity.sparsity(images, top, steps.steps)
    sparsity.heatmap(result, out)
    table = out.with_suffix(".csv")
    sparsity.write_tables(result, table)
    n = len(result.names)
    say(
        f"{result.images:,} images with anything marked, the {n} most frequent of their entities "
        f"({int(result.boxes.sum()):,} boxes)"
    )
    say(f"never in the same image: {result.empty():.1%} of {n * (n - 1) // 2:,} pairs of entities")
    say(f"never the one left of the other: {result.empty_left():.1%} of {n * (n - 1):,} ordered pairs")
    example = result.pair(*sparsity.EXAMPLE)
    if example is not None:
        a, b = sparsity.EXAMPLE
        say(f"{a} left of {b}: {example[0]:,}, {b} left of {a}: {example[1]:,} (the paper: 1 and 8)")
    listed = result.lopsided(least)[:pairs]
    if listed:
        say(f"Most lopsided of those counted at least {least} times:")
        width = max(len(f"{a} left of {b}") for a, b, *_ in listed)
        for a, b, few, many in listed:
            say(f"  {f'{a} left of {b}':{width}} {few:>6,}   the other way {many:>6,}")
    if result.bad:
        say(f"{result.bad:,} malformed records skipped")
    say(f"Figure 11: {out}; all pairs: {table}")


@vg.command(short_help="Write the table that generate --frequencies reads.")
@command
def frequencies(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Made by simtown vg prepare.")],
    top: Annotated[
        int, typer.Option(help="Number of entities: those most frequent as subject and object together.")
    ] = 150,
    out: Annotated[Path, typer.Option(help="The CSV file to write.")] = Path("vg-frequencies.csv"),
) -> None:
    """Write how often the most frequent entities are subject and object: the table that simtown generate
    --frequencies reads.
    """
    need("vg")
    from simtown.visualgenome.prepare import load
    from simtown.visualgenome.stats import frequency_table, write_frequencies

    rows = frequency_table(directory, top)
    content = load(directory)
    steps = ", ".join(content["choices"]["steps"]) or "none"
    origin = (
        f"Counted by simtown vg from {content['source']['name']} (steps: {steps}; Visual Genome, Krishna et "
        "al. "
        "2017, CC BY 4.0)."
    )
    write_frequencies(rows, out, origin)
    (first, *most), (last, *fewest) = rows[0], rows[-1]
    say(f"{out}: {len(rows)} entities, from {first} ({sum(most):,}) to {last} ({sum(fewest):,})")
    say(f"Use it: simtown generate --frequencies {out}")
