"""One pass over a data set, piece by piece, by any number of workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np

from simtown.core.pool import Pool, Report
from simtown.datasets.audit.checksums import is_changed
from simtown.datasets.audit.columns import THINGS
from simtown.datasets.audit.counts import COLUMNS, SplitCounts, sample_rows
from simtown.datasets.audit.neighbourhoods import Neighbourhoods
from simtown.datasets.audit.pictures import RECORD, PicturePlaces, cell_brightness
from simtown.datasets.audit.rows import DatasetRows
from simtown.datasets.audit.scenes import ScenePlaces
from simtown.datasets.reader import Dataset, Handle

#: Examples of a piece, which one worker looks at, and those that are read at once.
_PIECE, _BLOCK = 65_536, 2_048
#: A split's name, the first row of a piece of it, and the row after its last one.
Piece = tuple[str, int, int]
#: Records and the neighbourhoods that they belong to.
Placed = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class AuditPlan:
    """What workers know of the whole data set.

    Attributes:
        rows: of the data set.
        scenes: where its scenes lie.
        pictures: where its pictures lie.
    """

    rows: DatasetRows
    scenes: ScenePlaces
    pictures: PicturePlaces

    @classmethod
    def of(cls, dataset: Dataset) -> AuditPlan:
        """Made of a few examples. Raises DamagedError."""
        rows = DatasetRows.of(dataset)
        return cls(rows, ScenePlaces(dataset, rows), PicturePlaces(dataset, rows))


@dataclass
class PieceSurvey:
    """The survey of a piece.

    Attributes:
        counts: of its examples.
        sample: columns of those of its examples that are in the split's sample.
        scenes: a record of each scene, by neighbourhood, of each block of examples.
        pictures: likewise of each picture.
        changed: names of shards that begin in this piece and whose files were changed.
    """

    counts: SplitCounts
    sample: dict[str, np.ndarray]
    scenes: list[Placed]
    pictures: list[Placed]
    changed: list[str]


def survey_piece(piece: Piece, report: Report, handle: Handle, plan: AuditPlan) -> PieceSurvey:
    """A piece of work: read and count some examples; reports how many were read."""
    dataset, (name, begin, end) = handle.open(), piece
    split, wanted = dataset[name], sample_rows(len(dataset[name]))
    survey = PieceSurvey(SplitCounts.none(dataset.settings), {}, [], [], _changed(dataset, name, begin, end))
    kept = []
    for first, columns in split.stream(COLUMNS, _BLOCK, begin=begin, end=end):
        columns[THINGS] = (columns.pop("scene/prop") >= 0).sum(axis=1).astype(np.uint8)
        after = first + len(columns["answer"])
        rows = plan.rows.start(name) + np.arange(first, after)
        survey.counts.add(SplitCounts.of(columns, dataset.settings))
        survey.scenes.append(plan.scenes.records(rows, columns))
        survey.pictures.append(plan.pictures.records(rows, cell_brightness(dataset, plan.rows, rows)))
        own = wanted[slice(*np.searchsorted(wanted, [first, after]))] - first
        kept.append({column: values[own] for column, values in columns.items()})
        report(after - first)
    survey.sample = {column: np.concatenate([block[column] for block in kept]) for column in kept[0]}
    return survey


def _changed(dataset: Dataset, name: str, begin: int, end: int) -> list[str]:
    """Names of the changed files of shards that begin with one of these rows."""
    changed = []
    for row in dataset[name].first_rows(begin, end):
        path, _ = dataset[name].address(row)
        if is_changed(dataset, path):
            changed.append(path.relative_to(dataset.path).as_posix())
    return changed


@dataclass
class Survey:
    """The survey of a whole data set.

    Attributes:
        rows: of the data set.
        counts: by split, of those that have examples.
        samples: columns of the examples of :func:`~simtown.datasets.audit.counts.sample_rows`, by split.
        scenes: a record of each scene, by neighbourhood.
        pictures: a record of each picture, by neighbourhood.
        changed: names of shards whose files were changed, in order.
    """

    rows: DatasetRows
    counts: dict[str, SplitCounts]
    samples: dict[str, dict[str, np.ndarray]]
    scenes: Neighbourhoods
    pictures: Neighbourhoods
    changed: list[str]


@contextmanager
def surveyed(dataset: Dataset, pool: Pool, progress: Report) -> Iterator[Survey]:
    """Survey every example. What is kept is there until the block ends.

    Args:
        dataset: the data set.
        pool: does the work.
        progress: called with the number of examples read since the last call.

    Raises:
        DamagedError: a shard cannot be read.
    """
    plan = AuditPlan.of(dataset)
    pieces = [(name, begin, end) for name in plan.rows.lengths for begin, end in dataset[name].parts(_PIECE)]
    samples: dict[Piece, dict[str, np.ndarray]] = {}
    with (
        closing(Neighbourhoods(len(plan.scenes.grid), plan.scenes.record)) as scenes,
        closing(Neighbourhoods(len(plan.pictures.grid), RECORD)) as pictures,
    ):
        survey = Survey(plan.rows, {}, {}, scenes, pictures, [])
        with closing(pool.map(survey_piece, pieces, (Handle(dataset), plan), progress)) as results:
            for piece, piece_survey in results:
                survey.counts.setdefault(piece[0], SplitCounts.none(dataset.settings)).add(
                    piece_survey.counts
                )
                samples[piece] = piece_survey.sample
                for kept, records in ((scenes, piece_survey.scenes), (pictures, piece_survey.pictures)):
                    for numbers, some in records:
                        kept.add(numbers, some)
                survey.changed += piece_survey.changed
        survey.changed.sort()
        survey.counts = {name: survey.counts[name] for name in plan.rows.lengths if name in survey.counts}
        for name in survey.counts:
            parts = [samples.pop(piece) for piece in pieces if piece[0] == name]
            survey.samples[name] = {
                column: np.concatenate([part[column] for part in parts]) for column in parts[0]
            }
        yield survey
