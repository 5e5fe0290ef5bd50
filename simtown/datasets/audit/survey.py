"""One pass over a data set, piece by piece, by any number of workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from simtown.core.pool import Pool, Report
from simtown.datasets.audit.counts import COLUMNS, SplitCounts, sample_rows
from simtown.datasets.audit.features import THINGS
from simtown.datasets.audit.findings import Finding
from simtown.datasets.audit.neighbourhoods import Grid, Neighbourhoods
from simtown.datasets.audit.pictures import PICTURE, PicturePlaces, cell_brightness
from simtown.datasets.audit.repeats import scene_grid, scene_record, scene_records
from simtown.datasets.audit.rows import DatasetRows
from simtown.datasets.reader import Dataset, Handle
from simtown.datasets.settings import SPLITS
from simtown.datasets.shards import checksum

#: Examples of a piece, which one worker looks at, and those that are read at once.
_PIECE, _BLOCK = 65_536, 2_048
#: A split's name, the first row of a piece of it, and the row after its last one.
Piece = tuple[str, int, int]


@dataclass
class Survey:
    """What is kept of all examples.

    Attributes:
        counts: by split, of those that have examples.
        samples: columns of the examples of :func:`~simtown.datasets.audit.counts.sample_rows`, by split.
        scenes: a record of each scene, by neighbourhood.
        pictures: a record of each picture, by neighbourhood.
        changed: names of shards whose bytes are not those that the manifest names, in order.
    """

    counts: dict[str, SplitCounts]
    samples: dict[str, dict[str, np.ndarray]]
    scenes: Sequence[tuple[int, np.ndarray]]
    pictures: Sequence[tuple[int, np.ndarray]]
    changed: list[str]


@contextmanager
def surveyed(rows: DatasetRows, pool: Pool, progress: Report) -> Iterator[Survey]:
    """Survey every example. What is kept is there until the block ends.

    Raises DamagedError if a shard cannot be read.
    """
    dataset, grid, places = rows.dataset, scene_grid(rows), PicturePlaces(rows)
    pieces = [(name, *run) for name in SPLITS for run in dataset[name].parts(_PIECE)]
    shared = (Handle(dataset), grid, places)
    counts: dict[str, SplitCounts] = {}
    samples: dict[Piece, dict[str, np.ndarray]] = {}
    changed: list[str] = []
    with (
        closing(Neighbourhoods(len(grid), scene_record(dataset.settings.vehicles))) as scenes,
        closing(Neighbourhoods(len(places.grid), PICTURE)) as pictures,
        closing(pool.map(survey_piece, pieces, shared, progress)) as results,
    ):
        for piece, (counted, samples[piece], scene_part, picture_part, changed_files) in results:
            name = piece[0]
            counts[name] = counts[name].add(counted) if name in counts else counted
            scenes.add(*scene_part)
            pictures.add(*picture_part)
            changed += changed_files
        yield Survey(
            {name: counts[name] for name in SPLITS if name in counts},
            {name: _joined([samples.pop(piece) for piece in pieces if piece[0] == name]) for name in counts},
            scenes,
            pictures,
            sorted(changed),
        )


def survey_piece(piece: Piece, report: Report, handle: Handle, grid: Grid, places: PicturePlaces) -> Any:
    """A piece of work: read and count some examples; reports how many were read.

    Returns:
        Their counts, columns of those in the split's sample, records of scenes and of pictures with their
        neighbourhoods, and names of changed shards that begin in this piece.
    """
    (name, begin, end), dataset = piece, handle.open()
    split, rows = dataset[name], DatasetRows(dataset)
    in_sample = sample_rows(len(split))
    counts, sample, scenes, pictures = None, [], [], []
    for first, columns in split.stream(COLUMNS, _BLOCK, begin=begin, end=end):
        columns[THINGS] = (columns.pop("scene/prop") >= 0).sum(axis=1).astype(np.uint8)
        after = first + len(columns["answer"])
        numbers = rows.starts[name] + np.arange(first, after)
        counted = SplitCounts.of(columns, dataset.settings)
        counts = counts.add(counted) if counts else counted
        scenes.append(scene_records(grid, numbers, columns))
        pictures.append(places.records(rows, numbers, cell_brightness(rows, numbers)))
        kept = in_sample[slice(*np.searchsorted(in_sample, [first, after]))] - first
        sample.append({column: values[kept] for column, values in columns.items()})
        report(after - first)
    records = [tuple(map(np.concatenate, zip(*part, strict=True))) for part in (scenes, pictures)]
    return counts, _joined(sample), *records, _changed(dataset, name, begin, end)


def _joined(blocks: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {column: np.concatenate([block[column] for block in blocks]) for column in blocks[0]}


def _changed(dataset: Dataset, name: str, begin: int, end: int) -> list[str]:
    """Names of the changed files of shards that begin with one of these rows."""
    paths = [dataset[name].address(row)[0] for row in dataset[name].first_rows(begin, end)]
    checksums = {path.relative_to(dataset.path).as_posix(): checksum(path) for path in paths}
    return [shard for shard, sha in checksums.items() if sha != dataset.manifest["shards"][shard]["sha256"]]


def changed_files(changed: list[str], files: int) -> Finding:
    """Shards that are not what the manifest names, of so many files."""
    example = f": {', '.join(changed[:3])}{' ...' if len(changed) > 3 else ''}" if changed else ""
    return Finding.of_count(
        "changed files",
        "all",
        len(changed),
        f"{len(changed):,} of {files:,} files differ from their checksum in the manifest{example}",
        "Somebody changed these files after simtown made them: run simtown verify to see what is wrong, or "
        "generate the data set again.",
        changed=changed,
        files=files,
    )
