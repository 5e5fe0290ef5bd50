"""Data sets for other tools and other eyes: export and gallery."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.app import INTERRUPTED, RefusalError, app


def _default(dataset: Path, suffix: str) -> Path:
    """Beside the data set: town, town-coco."""
    return dataset.with_name(f"{dataset.resolve().name}-{suffix}") if dataset.name else Path(f"{dataset.resolve().name}-{suffix}")


@app.command(short_help="Write a data set in another tool's format.")
def export(
    dataset: Annotated[Path, typer.Argument(help="Directory of a data set.")],
    to: Annotated[str, typer.Option(help="coco, clevr, webdataset, parquet, yolo or png.")],
    split: Annotated[str, typer.Option(help="Splits: all, or train, val, test with commas between.")] = "all",
    out: Annotated[Path | None, typer.Option(help="The directory to write; by default DIR-FORMAT.")] = None,
) -> None:
    """Write a data set in another tool's format: COCO, CLEVR, WebDataset, Parquet for Hugging Face, YOLO, or plain PNG files.

    The directory appears when it is whole. What each format holds and how to load it: docs/export.md.
    """
    from simtown.datasets.export import choose_splits, find_format
    from simtown.datasets.export import export as write
    from simtown.datasets.reader import open_dataset
    from simtown.progress import Progress

    find_format(to)
    data = open_dataset(dataset)
    splits = choose_splits(data, [] if split == "all" else [name.strip() for name in split.split(",")])
    directory = out or _default(dataset, to)
    with Progress(f"export {directory}") as watcher:
        watcher.started(sum(len(data[name]) for name in splits), 0)
        try:
            write(data, to, splits, directory, lambda n: watcher.advanced(n, {}))
        except KeyboardInterrupt:
            raise RefusalError(f"stopped, nothing kept: the same command begins {directory} again", INTERRUPTED) from None
    print(f"{directory}: {', '.join(f'{len(data[name]):,} {name}' for name in splits)} examples for {to}")
