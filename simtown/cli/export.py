"""A data set for other tools, and as a page: export and gallery."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import (
    AddressOption,
    EngineOption,
    PoolSettings,
    WorkersOption,
    app,
    progress_of,
)
from simtown.cli.places import beside, local
from simtown.core.terminal import say


@app.command(short_help="Write a data set in another tool's format.")
def export(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set.")],
    to: Annotated[str, typer.Option(help="coco, clevr, webdataset, parquet, yolo or png.")],
    split: Annotated[
        str, typer.Option(help="Splits: all, or some of train, val and test, separated by commas.")
    ] = "all",
    out: Annotated[
        Path | None, typer.Option(help="The directory to write; by default DIR-FORMAT, here if DIR is a URL.")
    ] = None,
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Write a data set in another tool's format: COCO, CLEVR, WebDataset, Parquet for Hugging Face, YOLO, or
    plain PNG files.

    The directory appears when it is complete. On a cluster, all machines must reach it. What each format
    holds and how to load it: docs/export.md.
    """
    from simtown.core.files import require_new
    from simtown.datasets import export
    from simtown.datasets.reader import open_dataset

    export.find_format(to)
    directory = local(out) if out else beside(dataset, to)
    require_new(directory, "simtown export")
    data = open_dataset(dataset)
    splits = export.choose_splits(data, [] if split == "all" else [name.strip() for name in split.split(",")])
    counts = {name: len(data[name]) for name in splits}
    team = PoolSettings(engine, address, workers, sum(counts.values()))
    with progress_of(f"export {directory}", sum(counts.values())) as progress, team.pool() as pool:
        export.export(data, to, splits, directory, progress, pool)
    say(f"{directory}: {', '.join(f'{count:,} {name}' for name, count in counts.items())} examples for {to}")


@app.command(short_help="Write a page that shows a data set.")
def gallery(
    dataset: Annotated[str, typer.Argument(help="Directory or URL of a data set.")],
    everything: Annotated[
        bool, typer.Option("--all", help="Show every example, not a sample of 2,000 of each split.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="The directory to write; by default DIR-gallery, here if DIR is a URL."),
    ] = None,
) -> None:
    """Write a page that shows a data set: index.html, for any browser, without a server, and a folder beside
    it that the page reads as needed.

    It filters by split, answer, relation, weather and entity. It shows boxes, masks, and why an answer is
    what it is. It plots distributions of the whole data set against their target. Of a split of more than
    2,000 examples it shows 2,000, evenly spread, unless you give --all.
    """
    from simtown.core.files import require_new
    from simtown.datasets import gallery
    from simtown.datasets.export import choose_splits
    from simtown.datasets.reader import open_dataset

    directory = local(out) if out else beside(dataset, "gallery")
    require_new(directory, "simtown gallery")
    data = open_dataset(dataset)
    counts = [len(data[name]) for name in choose_splits(data, [])]
    shown = sum(len(gallery.gallery_sample(count, everything)) for count in counts)
    with progress_of(f"gallery {directory}", shown) as progress:
        gallery.gallery(data, directory, progress, everything)
    sample = "" if shown == sum(counts) else f" for {shown:,} of {sum(counts):,} examples"
    say(f"Open {directory / 'index.html'} in a browser{sample}; keep the folder data beside it")
