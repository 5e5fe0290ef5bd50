"""Visual Genome: vg prepare, vg stats, vg sparsity, vg frequencies."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from simtown.cli.command import command
from simtown.cli.places import holding, require_suffix, there
from simtown.core.console import new_table, page
from simtown.core.extras import need
from simtown.core.progress import Progress
from simtown.core.terminal import say, shell_words
from simtown.visualgenome.clean_settings import PrepareSettings, StepsSettings

if TYPE_CHECKING:
    from simtown.visualgenome.stats import Statistics

vg = typer.Typer(
    name="vg",
    help="Visual Genome's relationships: clean them as the paper does, count them, and make the world's "
    "frequencies from them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

SkipOption = Annotated[bool, "Skip malformed records, and count them."]
PREPARED = "Made by simtown vg prepare."
PreparedArgument = Annotated[Path, PREPARED, holding("statements", "prepared.json", "simtown vg prepare")]
FIGURE11 = Path("vg-sparsity.png")
LEAST = "List only pairs that stand beside each other at least this often."
RELATIONSHIPS = "relationships.json or scene_graphs.json, packed or not; or a folder of published counts."
FURTHER = (
    "Also count objects, attributes, region_descriptions, question_answers or image_data .json for Table 1; "
    "may be repeated."
)
MARKED = "objects.json, scene_graphs.json or relationships.json, packed or not; or a prepared directory."
#: Why statements are dropped, as prepared.json and as we say it.
DROPPED = {
    "without_an_end": "without subject or object",
    "emptied": "with nothing left",
    "repeated": "repeated",
    "rare": "rare",
}


@vg.command(short_help="Clean the triples of relationships.json; write Parquet.")
@command
def prepare(
    relationships: Annotated[Path, RELATIONSHIPS, there],
    *,
    out: Annotated[Path, "The directory to write."],
    settings: PrepareSettings,
    further: Annotated[list[Path] | None, FURTHER, "--with", there] = None,
    skip_bad: SkipOption = False,
) -> None:
    """Clean (subject, predicate, object) triples as the paper's section 6.1 does, and write them and their
    counts as Parquet.

    The released files are at https://homes.cs.washington.edu/~ranjay/visualgenome (CC BY 4.0). Every release
    works.
    """
    need("vg")
    from simtown.visualgenome.prepare import prepare

    others = further or []
    with Progress(f"prepare {out}, kB") as bar:
        bar.on_begin(sum(path.stat().st_size for path in (relationships, *others) if path.is_file()) // 1000)
        advance = bar.kilobytes()
        content = prepare(relationships, out, settings, further=others, skip_bad=skip_bad, progress=advance)
    counts = content["statements"]
    dropped = ", ".join(f"{counts[reason]:,} {words}" for reason, words in DROPPED.items() if counts[reason])
    kept = f"{counts['kept']:,} of {counts['stated']:,} statements kept"
    say(f"{out}: {kept}{f' (dropped: {dropped})' if dropped else ''}")
    if content["bad_records"]:
        say(f"{content['bad_records']:,} malformed records skipped; the first: {content['first_bad']}")
    say(f"See them with: simtown vg stats {shell_words(out)}")


@vg.command(short_help="Print the paper's Tables 1 and 2 beside ours, and marginals.")
@command
def stats(
    directory: PreparedArgument,
    *,
    top: Annotated[int, typer.Option(help="Rows in the lists of the most frequent.", min=0)] = 20,
) -> None:
    """Print Tables 1 and 2 beside the paper's numbers, unique relationships by threshold, and the most
    frequent of each kind.
    """
    need("vg")
    from simtown.visualgenome.stats import statistics

    counts = statistics(directory)
    with page(110) as console:
        for table in (_table1(counts), _table2(counts), _unique(counts)):
            console.print(table)
        if top:
            console.print(_most_frequent(counts, top))


def _table1(counts: Statistics) -> Table:
    from simtown.visualgenome.stats import TABLE1

    ours = counts.content["table1"]
    rows = [(name, printed, "-" if ours.get(name) is None else f"{ours[name]:,}") for name, printed in TABLE1]
    return new_table("Table 1: what there is", ("", "paper", "here"), rows, left=("",))


def _table2(counts: Statistics) -> Table:
    from simtown.visualgenome.stats import TABLE2, TOLERANCE, agreement

    agree, named = agreement(counts.table2)
    heads = ("group", "printed", "paper", "here", "differs", "counted as", "conjecture")
    table = new_table("Table 2: relationships", heads, left=("group", "printed", "counted as", "conjecture"))
    within = f"{agree} of {len(TABLE2)} counts are within {TOLERANCE:.1%} of the paper's"
    table.caption = f"{within}, {named} of them under the printed name"
    group = ""
    for entry, count in zip(TABLE2, counts.table2, strict=True):
        if group and entry.group != group:
            table.add_section()
        numbers = (f"{entry.count:,}", f"{count:,}", f"{count / entry.count - 1:+.2%}")
        shown = entry.group if entry.group != group else ""
        table.add_row(shown, entry.printed, *numbers, " + ".join(entry.predicates), entry.note)
        group = entry.group
    return table


def _unique(counts: Statistics) -> Table:
    title = "Unique relationships by threshold (the paper keeps roughly 2,000)"
    chosen = {counts.content["choices"]["threshold"]: "chosen"}
    rows = [(f"{k:,}", f"{count:,}", f"{share:.2%}", chosen.get(k, "")) for k, count, share in counts.unique]
    return new_table(title, ("at least", "predicates", "of statements", ""), rows)


def _most_frequent(counts: Statistics, top: int) -> Table:
    names = tuple(counts.most_frequent)
    heads = ("rank", *(head for name in names for head in (name, "count")))
    columns = (rows[:top] for rows in counts.most_frequent.values())
    table = new_table("Most frequent", heads, left=names)
    for rank, entries in enumerate(zip_longest(*columns), start=1):
        cells = (cell for entry in entries for cell in ((entry[0], f"{entry[1]:,}") if entry else ("", "")))
        table.add_row(str(rank), *cells)
    return table


@vg.command(short_help="Draw Figure 11, and list the most lopsided pairs.")
@command
def sparsity(
    source: Annotated[Path, MARKED, there],
    *,
    out: Annotated[Path, "The PNG to write; a CSV table of all pairs goes beside it."] = FIGURE11,
    top: Annotated[int, "Number of entities: the most frequent ones."] = 100,
    pairs: Annotated[int, typer.Option(help="Number of lopsided pairs to list.", min=0)] = 15,
    least: Annotated[int, typer.Option(help=LEAST, min=1)] = 9,
    steps: StepsSettings,
    skip_bad: SkipOption = False,
) -> None:
    """Draw how often the most frequent entities occur in the same image (Figure 11), and count, from boxes,
    which of them stands left of which.
    """
    require_suffix(out, ".png")
    need("vg")
    from simtown.visualgenome import sparsity

    with Progress("sparsity, kB") as progress:
        images = sparsity.ImageSource(source, skip_bad=skip_bad, progress=progress.kilobytes())
        progress.on_begin(2 * images.size // 1000)
        result = sparsity.sparsity(images, top, steps.steps)
    sparsity.heatmap(result, out)
    table = out.with_suffix(".csv")
    sparsity.write_tables(result, table)
    n, boxes = len(result.names), int(result.boxes.sum())
    marked = f"{result.images:,} images with anything marked"
    say(f"{marked}, the {n} most frequent of their entities ({boxes:,} boxes)")
    say(f"never in the same image: {result.empty():.1%} of {n * (n - 1) // 2:,} pairs of entities")
    say(f"never the one left of the other: {result.empty_left():.1%} of {n * (n - 1):,} ordered pairs")
    a, b = sparsity.EXAMPLE
    if example := result.pair(a, b):
        say(f"{a} left of {b}: {example[0]:,}, {b} left of {a}: {example[1]:,} (the paper: 1 and 8)")
    lopsided = [(f"{a} left of {b}", few, many) for a, b, few, many in result.lopsided(least)[:pairs]]
    if lopsided:
        say(f"Most lopsided of those counted at least {least} times:")
        width = max(len(pair) for pair, _, _ in lopsided)
        say(*(f"  {pair:{width}} {few:>6,}   the other way {many:>6,}" for pair, few, many in lopsided))
    if result.bad:
        say(f"{result.bad:,} malformed records skipped")
    say(f"Figure 11: {out}; all pairs: {table}")


@vg.command(short_help="Write the table that generate --frequencies reads.")
@command
def frequencies(
    directory: PreparedArgument,
    *,
    top: Annotated[int, "Number of entities: those most frequent as subject and object together."] = 150,
    out: Annotated[Path, "The CSV file to write."] = Path("vg-frequencies.csv"),
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
    source = f"{content['source']['name']} (steps: {steps}; Visual Genome, Krishna et al. 2017, CC BY 4.0)"
    write_frequencies(rows, out, f"Counted by simtown vg from {source}.")
    (first, *most), (last, *fewest) = rows[0], rows[-1]
    say(f"{out}: {len(rows)} entities, from {first} ({sum(most):,}) to {last} ({sum(fewest):,})")
    say(f"Use it: simtown generate --frequencies {shell_words(out)}")
