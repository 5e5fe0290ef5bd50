"""Visual Genome: vg prepare, vg stats, vg sparsity, vg frequencies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtown.cli.app import RefusalError, app
from simtown.extras import need
from simtown.terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.table import Table

    from simtown.progress import Progress
    from simtown.visualgenome.stats import Statistics

vg = typer.Typer(
    name="vg",
    help="Visual Genome's relationships: cleaned as the paper does, counted, and made into the world's frequencies.\n\n"
    "Start with: simtown vg prepare relationships.json.zip --out vg, then simtown vg stats vg.",
    short_help="Visual Genome: clean, count, and match its frequencies.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.add_typer(vg)

_STEPS = "be,determiners,spelling,lemmas,nouns,rare"
StepsOption = Annotated[str, typer.Option(help=f"Which steps of the preprocessing run: names with commas between, or none. All: {_STEPS}.")]
SkipOption = Annotated[bool, typer.Option("--skip-bad", help="Pass over malformed records, and count them.")]


def _steps(text: str) -> tuple[str, ...]:
    _need()
    from simtown.visualgenome.clean import check_steps

    return () if text == "none" else check_steps(part.strip() for part in text.split(",") if part.strip())


def _need() -> None:
    """One line instead of an ImportError where the extra is not installed."""
    need("this command", ("msgspec", "pyarrow", "lemminflect", "spellchecker", "textblob", "matplotlib"), "vg")


@vg.command(short_help="Clean the triples of relationships.json; write Parquet.")
def prepare(
    relationships: Annotated[
        Path, typer.Argument(help="relationships.json or scene_graphs.json, plain, .zip or .gz; or a folder of published counts.")
    ],
    out: Annotated[Path, typer.Option(help="The directory to write.")],
    steps: StepsOption = _STEPS,
    threshold: Annotated[int, typer.Option(help="Fewer statements than this, and a predicate is rare.")] = 13,
    once: Annotated[bool, typer.Option("--once", help="Count a statement that is repeated about the same two things only once.")] = False,
    further: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            help="Also count objects, attributes, region_descriptions, question_answers or image_data .json for Table 1. Repeatable.",
        ),
    ] = None,
    skip_bad: SkipOption = False,
) -> None:
    """Clean (subject, predicate, object) triples as the paper's section 6.1 does, and write them and their counts as Parquet.

    The released files are at https://homes.cs.washington.edu/~ranjay/visualgenome (CC BY 4.0); any release will do.
    """
    chosen = _steps(steps)
    from simtown.progress import Progress
    from simtown.visualgenome.prepare import Choices
    from simtown.visualgenome.prepare import prepare as make

    sources = [p for p in (relationships, *(further or ())) if p.is_file()]
    with Progress(f"prepare {out}, kB") as watcher:
        moved = _moved(watcher)
        watcher.started(sum(p.stat().st_size for p in sources) // 1000, 0)
        content = make(relationships, out, Choices(chosen, threshold, once), further=further or (), skip_bad=skip_bad, moved=moved)
    told = content["statements"]
    lost = ", ".join(f"{told[key]:,} {words}" for key, words in (
        ("without_an_end", "without subject or object"), ("emptied", "with nothing left"), ("repeated", "repeated"), ("rare", "rare")
    ) if told[key])  # fmt: skip
    say(f"{out}: {told['kept']:,} of {told['stated']:,} statements kept" + (f" (dropped: {lost})" if lost else ""))
    if content["bad_records"]:
        say(f"{content['bad_records']:,} malformed records passed over; the first: {content['first_bad']}")
    say(f"See them with: simtown vg stats {out}")


def _moved(watcher: Progress) -> Callable[[int], None]:
    """Takes bytes and tells the watcher the whole kilobytes that its bar counts."""
    told = seen = 0

    def moved(more: int) -> None:
        nonlocal told, seen
        seen += more
        watcher.advanced(seen // 1000 - told, {})
        told = seen // 1000

    return moved


@vg.command(short_help="Print the paper's Tables 1 and 2 beside ours, and marginals.")
def stats(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Made by simtown vg prepare.")],
    top: Annotated[int, typer.Option(help="Rows of the lists of the most frequent.")] = 20,
) -> None:
    """Print Tables 1 and 2 beside the paper's numbers, unique relationships by threshold, and the most frequent of each kind."""
    if top < 0:
        raise RefusalError(f"--top must be at least 0, not {top}")
    _need()
    from simtown.console import page
    from simtown.visualgenome.stats import statistics

    found = statistics(directory)
    with page(110) as console:
        for table in _tables(found, top):
            console.print(table)


def _tables(found: Statistics, top: int) -> Sequence[Table]:
    from rich.table import Table

    from simtown.visualgenome.stats import TABLE1, TABLE2, TOLERANCE, agreement

    def table(title: str, *heads: str, left: tuple[str, ...] = ()) -> Table:
        made = Table(title=title, title_justify="left")
        for head in heads:
            made.add_column(head, justify="left" if head in left else "right")
        return made

    one = table("Table 1: what there is", "", "paper", "here", left=("",))
    for name, printed in TABLE1:
        here = found.content["table1"].get(name)
        one.add_row(name, printed, "-" if here is None else f"{here:,}")
    two = table("Table 2: relationships", "group", "printed", "paper", "here", "differs", "counted as", "conjecture",
                left=("group", "printed", "counted as", "conjecture"))  # fmt: skip
    agree, named = agreement(found.table2)
    two.caption = f"{agree} of {len(TABLE2)} counts are within {TOLERANCE:.1%} of the paper's, {named} of them under the printed name"
    two.caption_justify = "left"
    for i, (entry, here) in enumerate(zip(TABLE2, found.table2, strict=True)):
        two.add_row(entry.group if not i or TABLE2[i - 1].group != entry.group else "", entry.printed, f"{entry.count:,}", f"{here:,}",
                    f"{here / entry.count - 1:+.2%}", " + ".join(entry.predicates), entry.note,
                    end_section=i + 1 < len(TABLE2) and TABLE2[i + 1].group != entry.group)  # fmt: skip
    threshold = found.content["choices"]["threshold"]
    unique = table("Unique relationships by threshold (the paper keeps roughly 2,000)", "at least", "predicates", "of statements", "")
    for least, count, share in found.unique:
        unique.add_row(f"{least:,}", f"{count:,}", f"{share:.2%}", "chosen" if least == threshold else "")
    lists = table("Most frequent", "rank", "entity", "count", "subject", "count", "object", "count", "relation", "count",
                  left=("entity", "subject", "object", "relation"))  # fmt: skip
    columns = (found.entities, found.subjects, found.objects, found.relations)
    for rank in range(min(top, max(map(len, columns), default=0))):
        lists.add_row(str(rank + 1), *(cell for c in columns for cell in ((c[rank][0], f"{c[rank][1]:,}") if rank < len(c) else ("", ""))))
    return [one, two, unique, lists] if top else [one, two, unique]


@vg.command(short_help="Draw Figure 11, and list the most lopsided pairs.")
def sparsity(
    source: Annotated[
        Path, typer.Argument(help="objects.json, scene_graphs.json or relationships.json, packed or not; or a prepared directory.")
    ],
    out: Annotated[Path, typer.Option(help="The PNG to write; a CSV table of all pairs goes beside it.")] = Path("vg-sparsity.png"),
    top: Annotated[int, typer.Option(help="How many of the most frequent entities.")] = 100,
    pairs: Annotated[int, typer.Option(help="How many lopsided pairs to list.")] = 15,
    least: Annotated[int, typer.Option(help="How often a pair must stand beside each other to be listed.")] = 9,
    steps: StepsOption = _STEPS,
    skip_bad: SkipOption = False,
) -> None:
    """Draw how often the most frequent entities occur in the same image (Figure 11), and count who stands left of whom by boxes."""
    if out.suffix.lower() != ".png":
        raise RefusalError(f"--out {out} must end in .png")
    if pairs < 0 or least < 1:
        raise RefusalError("--pairs must be at least 0 and --least at least 1")
    chosen = _steps(steps)
    from simtown.progress import Progress
    from simtown.visualgenome import sparsity as study

    with Progress("sparsity, kB") as watcher:
        images = study.Source(source, skip_bad=skip_bad, moved=_moved(watcher))
        watcher.started(2 * images.size // 1000, 0)
        found = study.sparsity(images, top, chosen)
    study.heatmap(found, out)
    table = out.with_suffix(".csv")
    study.write_tables(found, table)
    n = len(found.names)
    say(f"{found.images:,} images with anything marked, the {n} most frequent of their entities ({int(found.boxes.sum()):,} boxes)")
    say(f"never in the same image: {found.empty():.1%} of {n * (n - 1) // 2:,} pairs of entities")
    say(f"never the one left of the other: {found.empty_left():.1%} of {n * (n - 1):,} ordered pairs")
    example = found.pair(*study.EXAMPLE)
    if example is not None:
        a, b = study.EXAMPLE
        say(f"{a} left of {b}: {example[0]:,}, {b} left of {a}: {example[1]:,} (the paper: 1 and 8)")
    listed = found.lopsided(least)[:pairs]
    if listed:
        say(f"Most lopsided of those counted at least {least} times:")
        wide = max(len(f"{a} left of {b}") for a, b, *_ in listed)
        for a, b, few, many in listed:
            say(f"  {f'{a} left of {b}':{wide}} {few:>6,}   the other way {many:>6,}")
    if found.bad:
        say(f"{found.bad:,} malformed records passed over")
    say(f"Figure 11: {out}; all pairs: {table}")


@vg.command(short_help="Write the table that generate --frequencies reads.")
def frequencies(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Made by simtown vg prepare.")],
    top: Annotated[int, typer.Option(help="How many entities: those stated most as subject and object together.")] = 150,
    out: Annotated[Path, typer.Option(help="The CSV file to write.")] = Path("vg-frequencies.csv"),
) -> None:
    """Write how often the most frequent entities are subject and object: the table that simtown generate --frequencies reads."""
    _need()
    from simtown.visualgenome.prepare import load
    from simtown.visualgenome.stats import frequency_table, write_frequencies

    rows = frequency_table(directory, top)
    content = load(directory)
    choices = content["choices"]
    steps = ", ".join(choices["steps"]) or "none"
    write_frequencies(rows, out, f"Counted by simtown vg from {content['source']['name']} (steps: {steps}; Visual Genome, Krishna et al. "
                                 "2017, CC BY 4.0).")  # fmt: skip
    say(f"{out}: {len(rows)} entities, from {rows[0][0]} ({rows[0][1] + rows[0][2]:,}) to {rows[-1][0]} ({rows[-1][1] + rows[-1][2]:,})")
    say(f"Use it: simtown generate --frequencies {out}")
