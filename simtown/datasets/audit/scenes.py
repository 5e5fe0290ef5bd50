"""Repetition, leaks, and questions that cannot be answered: repeated scenes, overlap, margins, occlusion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest

import numpy as np

from simtown.core.pool import Report
from simtown.datasets.audit.columns import Columns
from simtown.datasets.audit.counts import CLOSE, HIDDEN, SplitCounts
from simtown.datasets.audit.findings import Finding
from simtown.datasets.audit.neighbourhoods import Grid
from simtown.datasets.audit.rows import DatasetRows, hashes
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import SPLITS, Settings
from simtown.scenes.placement import LEAST_VISIBLE

#: The columns by which scenes are the same, whatever the light and the street.
SCENE = ("scene/entity", "scene/pose", "scene/camera")
#: Greatest distances in metres that count as near, along the road and across it; for a heading, at one metre
#: from the middle.
RADII = np.array([0.0025, 0.005, 0.0125, 0.025])
#: Scenes in a neighbourhood, about, and those that places are learned from, in so many runs of neighbours.
_TOGETHER, _LEARNED_FROM, _RUNS = 100_000, 2_000, 20
#: More than any distance in a scene: vehicles of different kinds are never near.
_APART = 1e4
#: Examples of what was found.
_SHOWN = 10


def vehicles(columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Kinds (n, v) int64 in ascending order, and places (n, v, 4) float64 in the same order.

    A place is x and y in metres, and the heading's cosine and sine.
    """
    kinds = columns["scene/entity"].astype(np.int64)
    order = np.argsort(kinds, axis=1, kind="stable")
    pose = np.take_along_axis(columns["scene/pose"].astype(np.float64), order[..., None], axis=1)
    places = np.concatenate([pose[..., :2], np.cos(pose[..., 2:]), np.sin(pose[..., 2:])], axis=2)
    return np.take_along_axis(kinds, order, axis=1), places


def scene_points(columns: Columns) -> np.ndarray:
    """(n, d) float64: the distance of two scenes is the largest difference of their points.

    Scenes of other kinds are far apart.
    """
    kinds, places = vehicles(columns)
    n = len(kinds)
    return np.concatenate(
        [kinds * _APART, places.reshape(n, -1), columns["scene/camera"].astype(np.float64)], axis=1
    )


def scene_record(settings: Settings) -> np.dtype[np.void]:
    """The record of a scene.

    It holds the number among all rows, a hash of SCENE, whether the neighbourhood is its home, and SCENE.
    """
    v = settings.vehicles
    return np.dtype(
        [
            ("row", "<i8"),
            ("hash", "<u8"),
            ("home", "?"),
            ("scene/entity", "<i2", (v,)),
            ("scene/pose", "<f4", (v, 3)),
            ("scene/camera", "<f4", (7,)),
        ]
    )


class ScenePlaces:
    """Where the scenes of a data set lie: neighbourhoods by the place of the first vehicle along the road.

    Attributes:
        record: dtype of :func:`scene_record`.
        grid: neighbourhoods.
    """

    def __init__(self, dataset: Dataset, rows: DatasetRows) -> None:
        self.record = scene_record(dataset.settings)
        learned = rows.columns(dataset, SCENE, rows.spread(_LEARNED_FROM, _RUNS))
        self.grid = Grid.by(
            vehicles(learned)[1][:, 0, :1], [max(1, -(-len(rows) // _TOGETHER))], float(RADII[-1])
        )

    def records(self, rows: np.ndarray, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
        """Neighbourhoods (m,) int64 and records (m,) of the scenes `rows`."""
        row, number, home = self.grid.assign(vehicles(columns)[1][:, 0, :1])
        records = np.zeros(len(row), dtype=self.record)
        content = np.concatenate(
            [np.ascontiguousarray(columns[name]).reshape(len(rows), -1).view(np.uint8) for name in SCENE],
            axis=1,
        )
        records["row"], records["hash"], records["home"] = rows[row], hashes(content)[row], home
        for name in SCENE:
            records[name] = columns[name][row]
        return number, records


@dataclass
class Copies:
    """Rows that occur elsewhere too.

    Attributes:
        count: how many there are.
        first: the first few, each with the row that it repeats; numbers among all rows.
    """

    count: int
    first: list[tuple[int, int]]

    @classmethod
    def of(cls, rows: np.ndarray, others: np.ndarray) -> Copies:
        """Those of (k,) rows and where each is found."""
        return cls(len(rows), nsmallest(_SHOWN, zip(rows.tolist(), others.tolist(), strict=True)))

    def add(self, other: Copies) -> None:
        """Add those of other rows."""
        self.count += other.count
        self.first = nsmallest(_SHOWN, self.first + other.first)


@dataclass
class Repeats:
    """The repeated scenes of a neighbourhood, or of all.

    Attributes:
        within: by split, scenes that repeat an earlier one of the split.
        seen: by split, its scenes that are training scenes.
        near: by split and the split that it is compared with, (k, 3) float64: a scene's row, the row of the
            nearest scene if that is near, and the distance in metres.
    """

    within: dict[str, Copies]
    seen: dict[str, Copies]
    near: dict[tuple[str, str], list[np.ndarray]]

    @classmethod
    def none(cls) -> Repeats:
        """No repeats."""
        return cls(
            {name: Copies(0, []) for name in SPLITS},
            {name: Copies(0, []) for name in SPLITS[1:]},
            {(name, other): [] for name in SPLITS for other in {name, "train"}},
        )

    def add(self, other: Repeats) -> None:
        """Add those of another neighbourhood."""
        for name, copies in other.within.items():
            self.within[name].add(copies)
        for name, copies in other.seen.items():
            self.seen[name].add(copies)
        for names, pairs in other.near.items():
            self.near[names] += pairs


def repeats(neighbourhood: tuple[int, np.ndarray], report: Report, rows: DatasetRows) -> Repeats:
    """A piece of work: what repeats among the records of a neighbourhood (:func:`scene_record`)."""
    records = neighbourhood[1]
    result = Repeats.none()
    train = records[:0]
    for name in SPLITS:
        begin, end = np.searchsorted(
            records["row"], [rows.start(name), rows.start(name) + rows.lengths[name]]
        )
        split_records = records[begin:end]
        _, first, group = np.unique(split_records["hash"], return_index=True, return_inverse=True)
        copies = np.flatnonzero((first[group] != np.arange(len(split_records))) & split_records["home"])
        result.within[name] = Copies.of(
            split_records["row"][copies], split_records["row"][first[group[copies]]]
        )
        mine = split_records[np.sort(first)]  # exact copies are another finding
        result.near[name, name] = [_near(mine[mine["home"]], mine, same=True)]
        if name == "train":
            train = mine
        else:
            place = np.searchsorted(
                train["hash"], split_records["hash"], sorter=(order := np.argsort(train["hash"]))
            )
            trained_on = np.zeros(len(split_records), dtype=bool)
            same = place < len(train)
            trained_on[same] = train["hash"][order[place[same]]] == split_records["hash"][same]
            copies = np.flatnonzero(trained_on & split_records["home"])
            result.seen[name] = Copies.of(split_records["row"][copies], train["row"][order[place[copies]]])
            result.near[name, "train"] = [
                _near(split_records[~trained_on & split_records["home"]], train, same=False)
            ]
    report(int(records["home"].sum()))
    return result


def _near(mine: np.ndarray, others: np.ndarray, same: bool) -> np.ndarray:
    """(k, 3) float64 of :class:`Repeats`: records with a near one among others.

    Of the `same` split, the later of a pair is first.
    """
    from scipy.spatial import KDTree

    if len(mine) == 0 or len(others) == 0:
        return np.zeros((0, 3))
    distances, places = (
        column[:, 0]
        for column in KDTree(_points(others)).query(
            _points(mine), k=[2 if same else 1], p=np.inf, distance_upper_bound=RADII[-1]
        )
    )
    is_near = np.isfinite(distances)
    pairs = np.stack([mine["row"][is_near], others["row"][places[is_near]]], axis=1)
    if same:
        pairs = np.sort(pairs, axis=1)[:, ::-1]
    return np.concatenate([pairs, distances[is_near, None]], axis=1)


def _points(records: np.ndarray) -> np.ndarray:
    """:func:`scene_points` of records."""
    return scene_points({name: records[name] for name in SCENE})


def nearest_pairs(parts: list[np.ndarray], same: bool) -> np.ndarray:
    """(k, 3) float64: near scenes of all neighbourhoods.

    Each pair occurs once if a split is compared with itself, otherwise each row occurs once.
    """
    pairs = np.concatenate(parts)
    pairs = pairs[
        np.lexsort(
            (pairs[:, 2], pairs[:, 0], pairs[:, 1]) if same else (pairs[:, 1], pairs[:, 2], pairs[:, 0])
        )
    ]
    kept = np.unique(pairs[:, 1::-1] if same else pairs[:, 0], axis=0, return_index=True)[1]
    result: np.ndarray = pairs[np.sort(kept)]
    return result


def repeated(repeats: Repeats, counts: Mapping[str, SplitCounts], rows: DatasetRows) -> Iterator[Finding]:
    """Scenes that occur twice within a split, or in two splits."""
    for name in counts:
        copies, start, n = repeats.within[name], rows.start(name), rows.lengths[name]
        pairs = [[row - start, other - start] for row, other in copies.first]
        example = f"; first: {name} {pairs[0][0]} repeats {name} {pairs[0][1]}" if pairs else ""
        yield Finding(
            "duplicate scenes",
            name,
            f"{copies.count:,} of {n:,} repeat another{example}",
            "Remove the repeated scenes, or generate the data set again: they count as more examples than "
            "they are.",
            status="warn" if copies.count else "pass",
            details={"repeated": copies.count, "n": n, "first": pairs},
        )
    for name in ("val", "test"):
        if name in counts and "train" in counts:
            seen, n = repeats.seen[name], rows.lengths[name]
            first = [row - rows.start(name) for row, _ in seen.first]
            example = f"; first: {name} {first[0]}" if first else ""
            yield Finding(
                "scenes seen in training",
                name,
                f"{seen.count:,} of {n:,} are training scenes{example}",
                f"Generate the {name} examples again with another seed, or remove these scenes from "
                "training: accuracy there is remembered.",
                status="warn" if seen.count else "pass",
                details={"seen": seen.count, "n": n, "first": first},
            )
            triples, trained_on = counts[name].triples, counts["train"].triples > 0
            repeated_questions = int(triples[trained_on].sum())
            yield Finding(
                "questions seen in training",
                name,
                f"{repeated_questions / n:.1%} of {n:,} ask about a subject, relation and object that "
                "training asks about",
                "",
                status="note",
                details={"seen": repeated_questions, "n": n, "triples": int((triples > 0).sum())},
            )


def margins(counts: SplitCounts, sample: Columns, name: str) -> Finding:
    """Questions whose relation is nearly undefined; the median is that of the `sample`."""
    close = counts.close / counts.examples
    median = float(np.median(np.abs(sample["margin"].astype(np.float64))))
    return Finding(
        "ambiguous margins",
        name,
        f"{counts.ambiguous:,} of {counts.examples:,} too close to call, {close:.1%} less than {CLOSE} m "
        f"from that; median margin {median:.2f} m",
        "Remove questions whose vehicles stand nearer to each other than the relation's margin: the picture "
        "does not answer them.",
        status="warn" if counts.ambiguous else "pass",
        details={"ambiguous": counts.ambiguous, "close": close, "median_m": median},
    )


def occlusion(counts: SplitCounts, name: str) -> Finding:
    """Vehicles asked about that another vehicle hides."""
    under, hidden = counts.unseen, counts.hidden / counts.examples
    return Finding(
        "occlusion",
        name,
        f"{under:,} of {counts.examples:,} ask about a vehicle under {LEAST_VISIBLE:.0%} visible, "
        f"{hidden:.1%} under {HIDDEN:.0%}; least {counts.least:.0%}",
        f"Remove questions about vehicles of which less than {LEAST_VISIBLE:.0%} can be seen.",
        status="warn" if under else "pass",
        details={"under": under, "hidden": hidden, "least": counts.least},
    )
