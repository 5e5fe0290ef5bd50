"""One pass over a data set, a piece of a shard after the other, by any number of workers: what is counted, kept and compared of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np

from simtown.datasets.audit.checksums import is_changed
from simtown.datasets.audit.columns import THINGS
from simtown.datasets.audit.counts import COLUMNS, Counts, sample_rows
from simtown.datasets.audit.neighbourhoods import Neighbourhoods
from simtown.datasets.audit.pictures import RECORD, Places, cell_brightness
from simtown.datasets.audit.rows import Rows
from simtown.datasets.audit.scenes import ScenePlaces
from simtown.datasets.handle import Handle
from simtown.datasets.reader import Dataset
from simtown.pool import Pool, Report

#: Examples of a piece, which one worker looks at, and those that are read at once.
_PIECE, _BLOCK = 65_536, 2_048
#: A split's name, the first row of a piece of it, and the row after its last one.
Piece = tuple[str, int, int]
#: Records and the neighbourhoods that they belong to.
Placed = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Plan:
    """What workers know of the whole data set: its rows, and where its scenes and pictures lie."""

    rows: Rows
    scenes: ScenePlaces
    pictures: Places

    @classmethod
    def of(cls, dataset: Dataset) -> Plan:
        """Made of a few examples. Raises DamagedError."""
        rows = Rows.of(dataset)
        return cls(rows, ScenePlaces(dataset, rows), Places(dataset, rows))


@dataclass
class Looked:
    """What was seen of a piece.

    Attributes:
        counts: of its examples.
        sample: columns of those of its examples that are in the split's sample.
        scenes, pictures: a record of each, by neighbourhood; of each block of examples.
        changed: the name of the shard that begins with this piece, if its file was changed.
    """

    counts: Counts
    sample: dict[str, np.ndarray]
    scenes: list[Placed]
    pictures: list[Placed]
    changed: str | None


def look(piece: Piece, report: Report, handle: Handle, plan: Plan) -> Looked:
    """A piece of work: read and count some examples. Reports how many were read."""
    dataset, (name, begin, end) = handle.open(), piece
    split, wanted = dataset[name], sample_rows(len(dataset[name]))
    found = Looked(Counts.none(dataset.settings), {}, [], [], _changed(dataset, name, begin))
    kept = []
    for first, columns in split.stream(COLUMNS, _BLOCK, begin=begin, end=end):
        columns[THINGS] = (columns.pop("scene/prop") >= 0).sum(axis=1).astype(np.uint8)
        after = first + len(columns["answer"])
        rows = plan.rows.start(name) + np.arange(first, after)
        found.counts.add(Counts.of(columns, dataset.settings))
        found.scenes.append(plan.scenes.records(rows, columns))
        found.pictures.append(plan.pictures.records(rows, cell_brightness(dataset, plan.rows, rows)))
        own = wanted[slice(*np.searchsorted(wanted, [first, after]))] - first
        kept.append({column: values[own] for column, values in columns.items()})
        report(after - first)
    found.sample = {column: np.concatenate([block[column] for block in kept]) for column in kept[0]}
    return found


def _changed(dataset: Dataset, name: str, begin: int) -> str | None:
    with dataset[name].held(begin) as (path, row):
        return path.relative_to(dataset.path).as_posix() if row == 0 and is_changed(dataset, path) else None


@dataclass
class Survey:
    """What was seen of a whole data set.

    Attributes:
        rows: of the data set.
        counts: by split, of those that have examples.
        samples: columns of the examples of :func:`~simtown.datasets.audit.counts.sample_rows`, by split.
        scenes, pictures: a record of each, by neighbourhood.
        changed: names of shards whose files were changed, in order.
    """

    rows: Rows
    counts: dict[str, Counts]
    samples: dict[str, dict[str, np.ndarray]]
    scenes: Neighbourhoods
    pictures: Neighbourhoods
    changed: list[str]


@contextmanager
def surveyed(dataset: Dataset, pool: Pool, progress: Report) -> Iterator[Survey]:
    """Look at every example; `progress` is told of numbers of examples. What was kept is there until the block ends.

    Raises:
        DamagedError: a shard cannot be read.
    """
    plan = Plan.of(dataset)
    pieces = [(name, begin, end) for name in plan.rows.lengths for begin, end in dataset[name].parts(_PIECE)]
    samples: dict[Piece, dict[str, np.ndarray]] = {}
    with (
        closing(Neighbourhoods(len(plan.scenes.grid), plan.scenes.record)) as scenes,
        closing(Neighbourhoods(len(plan.pictures.grid), RECORD)) as pictures,
    ):
        survey = Survey(plan.rows, {}, {}, scenes, pictures, [])
        with closing(pool.map(look, pieces, (Handle(dataset), plan), progress)) as results:
            for piece, found in results:
                survey.counts.setdefault(piece[0], Counts.none(dataset.settings)).add(found.counts)
                samples[piece] = found.sample
                for kept, records in ((scenes, found.scenes), (pictures, found.pictures)):
                    for numbers, some in records:
                        kept.add(numbers, some)
                survey.changed += [found.changed] if found.changed else []
        survey.changed.sort()
        survey.counts = {name: survey.counts[name] for name in plan.rows.lengths if name in survey.counts}
        for name in survey.counts:
            parts = [samples.pop(piece) for piece in pieces if piece[0] == name]
            survey.samples[name] = {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}
        yield survey
