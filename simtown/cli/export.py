"""Data sets for other tools and other eyes: export and gallery."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import AddressOption, EngineOption, WorkersOption, app, pool_of
from simtown.cli.costs import PlanOption, announce, cores_of
from simtown.cli.places import beside, local
from simtown.terminal import say


def _shown(title: str, examples: int, write: Callable[[Callable[[int], None]], None]) -> None:
    """Run `write`, which is given the function to tell of every batch's examples, under a progress bar."""
    from simtown.progress import Progress

    with Progress(title) as watcher:
        watcher.started(examples, 0)
        write(lambda n: watcher.advanced(n, {}))


@app.command(short_help="Write a data set in another tool's format.")
def export(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set.")],
    to: Annotated[str, typer.Option(help="coco, clevr, webdataset, parquet, yolo or png.")],
    split: Annotated[str, typer.Option(help="Splits: all, or train, val, test with commas between.")] = "all",
    out: Annotated[Path | None, typer.Option(help="The directory to write; by default DIR-FORMAT, here if DIR is a URL.")] = None,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    plan: PlanOption = False,
) -> None:
    """Write a data set in another tool's format: COCO, CLEVR, WebDataset, Parquet for Hugging Face, YOLO, or plain PNG files.

    The directory appears when it is whole. On a cluster, all machines must reach it. What each format holds and how to load it:
    docs/export.md.
    """
    from simtown.datasets import costs
    from simtown.datasets.export import choose_splits, find_format
    from simtown.datasets.export import export as write
    from simtown.datasets.reader import open_dataset

    find_format(to)
    directory = local(out) if out else beside(dataset, to)
    data = open_dataset(dataset)
    splits = choose_splits(data, [] if split == "all" else [name.strip() for name in split.split(",")])
    examples = sum(len(data[name]) for name in splits)
    cost = costs.of_export(data, to, splits)
    announce(f"export {directory}", cost, cores_of(engine, workers, cost.seconds), directory, "one --split, or another --out", plan)
    with pool_of(engine, address, workers, seconds=cost.seconds) as pool:
        _shown(f"export {directory}", examples, lambda step: write(data, to, splits, directory, step, pool))
    say(f"{directory}: {', '.join(f'{len(data[name]):,} {name}' for name in splits)} examples for {to}")


@app.command(short_help="Write a page to look at a data set.")
def gallery(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set.")],
    everything: Annotated[bool, typer.Option("--all", help="Show every example, not a sample of 2,000 of each split.")] = False,
    out: Annotated[Path | None, typer.Option(help="The directory to write; by default DIR-gallery, here if DIR is a URL.")] = None,
    plan: PlanOption = False,
) -> None:
    """Write a page to look at a data set: index.html, for any browser, without a server, and a folder beside it that it reads bit by bit.

    It filters by split, answer, relation, weather and entity, shows boxes, masks, and why an answer is what it is, and plots distributions
    of the whole data set against their target. Of a split of more than 2,000 examples it shows 2,000, evenly spread, unless --all is given.
    """
    from simtown.datasets import costs
    from simtown.datasets.export import choose_splits
    from simtown.datasets.gallery import gallery as write
    from simtown.datasets.gallery import shown
    from simtown.datasets.reader import open_dataset

    directory = local(out) if out else beside(dataset, "gallery")
    data = open_dataset(dataset)
    announce(f"gallery {directory}", costs.of_gallery(data, everything), 1, directory, plan=plan)
    splits = {name: len(data[name]) for name in choose_splits(data, [])}
    examples = sum(len(shown(count, everything)) for count in splits.values())
    _shown(f"gallery {directory}", examples, lambda step: write(data, directory, step, everything))
    sample = "" if examples == sum(splits.values()) else f" for {examples:,} of {sum(splits.values()):,} examples"
    say(f"Open {directory / 'index.html'} in a browser{sample}; keep the folder data beside it")
