"""The same picture under different scenes, found by a fingerprint that survives another brightness and a
lossy format.

The fingerprint of a picture is its mean brightness in SIDE × SIDE cells, less their mean and over their
standard deviation. Two pictures are the same if their fingerprints differ by less than SAME (root mean
square: a correlation of 1 - SAME² / 2 = 0.995), and nowhere by PEAK. Noise, another brightness or a JPEG
change a picture a little everywhere. In dense fog nothing but two vehicles is seen, so pictures of other
scenes may differ by less than 0.1; but what has moved changes a few cells much: among 60,000 examples of
32 × 32 pixels with five kinds of vehicles, more than 50 cm apart, by 0.37 at least, by 0.30 if all of them
stand in fog. docs/audit.md says how this was measured, and how many altered copies are found.

All pictures are compared with all, or, of a split of more, with REFERENCES of it. What is kept of each is
where it lies along the directions in which pictures differ most; those that lie within REACH of each other
are read again and compared in full.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing

import cv2
import numpy as np

from simtown.core.pool import Pool, Report
from simtown.datasets.audit.findings import Finding
from simtown.datasets.audit.repeats import SCENE, scene_points
from simtown.datasets.audit.rows import DatasetRows, Neighbourhoods, hashes
from simtown.datasets.settings import Settings

#: Cells along each side of a fingerprint, and the differences from which two pictures are different: of all
#: cells, and of any one.
SIDE, SAME, PEAK = 16, 0.1, 0.23
#: Metres from which on scenes are different whose pictures are equal, and whose pictures are the same but not
#: equal: in fog and a small picture a step of 15 cm changes no more than a disguise does.
DIFFERENT, DIFFERENT_IN_DISGUISE = 0.1, 0.5
#: Of pictures longer than so many times their other side, only equal ones are found: the street fills so few
#: cells that different scenes have one fingerprint.
_LONGEST = 4
#: Added to a picture's standard deviation (of 255): one of a single colour has none.
_FLOOR = 2.0
#: Directions of greatest variation that pictures are placed by, pictures they are learned from, and in how
#: many places those lie.
_DIRECTIONS, _LEARNED_FROM, _PLACES = 16, 1_000, 20
#: Distance in these directions within which two pictures are candidates, and candidates of each. No disguised
#: picture of docs/audit.md moved that far if it stayed the same by SAME and PEAK.
REACH, _CANDIDATES = 0.8, 4
#: Pictures of a split that every picture is compared with at most, at equal distances over the split: how
#: long it takes to find candidates grows with their number. Equal pictures are found among all.
REFERENCES = 1_000_000
#: Pictures in a neighbourhood, about, the parts that a direction is cut into, and directions that are cut at
#: most.
_TOGETHER, _PARTS, _CUTS = 50_000, 4, 3
#: Pairs that are compared at once.
_PAIRS = 4_096
#: What is kept of a picture: its number among all rows, a hash of its cells, whether the neighbourhood is its
#: home, whether others are compared with it, and where it lies.
_FLAGS = [("home", "?"), ("reference", "?")]
PICTURE = np.dtype([("row", "<i8"), ("hash", "<u8"), *_FLAGS, ("place", "<f2", (_DIRECTIONS,))])


def directions(rows: DatasetRows) -> np.ndarray:
    """(SIDE * SIDE, _DIRECTIONS) float32: those in which the pictures vary most."""
    learned = fingerprints(cell_brightness(rows, rows.spread(_LEARNED_FROM, _PLACES)))
    found = np.linalg.svd(learned - learned.mean(axis=0), full_matrices=False)[2][:_DIRECTIONS].T
    result = np.zeros((SIDE * SIDE, _DIRECTIONS), dtype=np.float32)
    result[:, : found.shape[1]] = found  # fewer pictures than that have fewer
    return result


def neighbourhoods(rows: DatasetRows, directions: np.ndarray) -> Neighbourhoods:
    """Neighbourhoods of pictures, without any as yet."""
    learned = picture_records(rows, rows.spread(_LEARNED_FROM, _PLACES), directions)["place"]
    cuts = next((cuts for cuts in range(_CUTS) if len(rows) <= _TOGETHER * _PARTS**cuts), _CUTS)
    return Neighbourhoods(learned.astype(np.float32), [_PARTS] * cuts, REACH, PICTURE)


def picture_records(rows: DatasetRows, numbers: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """(n,) records of the pictures with these numbers among all rows."""
    cells, records = cell_brightness(rows, numbers), np.zeros(len(numbers), dtype=PICTURE)
    records["row"], records["hash"] = numbers, hashes(cells)
    records["place"] = fingerprints(cells) @ directions
    for name, places, own in rows.by_split(numbers):
        records["reference"][places] = own % -(-rows.lengths[name] // REFERENCES) == 0
    return records


def cell_brightness(rows: DatasetRows, numbers: np.ndarray) -> np.ndarray:
    """(n, SIDE * SIDE) uint8: mean brightness of the cells of pictures, by their numbers among all rows.

    Of a sequence it is that of the picture that is shown first.
    """
    settings, cells = rows.dataset.settings, np.empty((len(numbers), SIDE, SIDE), dtype=np.uint8)
    size = settings.at_once(256)
    for name, places, own in rows.by_split(numbers):
        for begin in range(0, len(own), size):
            pictures = rows.dataset[name].images(own[begin : begin + size])
            if settings.sequence:
                pictures = pictures[:, 0]
            for place, picture in zip(places[begin : begin + size].tolist(), pictures, strict=True):
                grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
                cells[place] = cv2.resize(grey, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    return cells.reshape(len(cells), -1)


def fingerprints(cells: np.ndarray) -> np.ndarray:
    """(n, SIDE * SIDE) float32 of the uint8 cells: mean 0, standard deviation a little under 1."""
    prints = cells.astype(np.float32)
    prints -= prints.mean(axis=1, keepdims=True)
    prints /= prints.std(axis=1, keepdims=True) + _FLOOR
    return prints


def equal_twins(rows: DatasetRows, records: np.ndarray) -> list[int]:
    """The records of groups of twins with equal pictures: the first of each two pictures that have the same
    pixels.
    """
    equal = []
    for twins in records["row"].reshape(-1, 2)[records["hash"][::2] == records["hash"][1::2]]:
        ((name, _, own),) = rows.by_split(twins)
        if np.array_equal(*rows.dataset[name].images(own)):
            equal.append(int(twins[0]))
    return equal


def repeated_pictures(
    pictures: Sequence[tuple[int, np.ndarray]],
    equal: Sequence[int],
    rows: DatasetRows,
    pool: Pool,
    progress: Report,
) -> Iterator[Finding]:
    """The findings about pictures, by the records of all neighbourhoods, and about :func:`equal_twins`."""
    with closing(pool.map(same_pictures, pictures, (rows,), progress)) as results:
        pairs = np.unique(np.concatenate([part for _, part in results]), axis=0)
    if rows.dataset.settings.twins:
        n = len(rows) // (2 * rows.dataset.settings.questions_per_picture)
        addresses = [rows.address(row) for row in equal[:10]]
        figure = f"{len(equal):,} of {n:,} pairs show one picture twice"
        figure += f"; first: {addresses[0]}" if addresses else ""
        advice = "What differs between twins must be seen: draw them larger, or generate the data set again."
        measured = {"equal": len(equal), "n": n, "first": addresses}
        yield Finding.of_count("equal twins", "all", len(equal), figure, advice, **measured)
    copies, place = np.unique(pairs[:, 0], return_index=True)
    first = [[rows.address(row), rows.address(original)] for row, original in pairs[place[:10]].tolist()]
    figure = f"{len(copies):,} of {len(rows):,} are the picture of another scene"
    if first:
        figure += f"; first: {first[0][0]} shows the picture of {first[0][1]}"
    if too_long(rows.dataset.settings):
        figure += "; such long pictures are compared for equality alone"
    advice = (
        "A picture cannot show two scenes: run simtown verify to see which of them it shows, and generate "
        "the data set again."
    )
    measured = {"repeated": len(copies), "n": len(rows), "first": first}
    yield Finding.of_count("repeated pictures", "all", len(copies), figure, advice, **measured)


def too_long(settings: Settings) -> bool:
    """Whether pictures are too long for fingerprints that nearly agree to mean anything."""
    sides = settings.width, settings.height
    return max(sides) > _LONGEST * min(sides)


def same_pictures(neighbourhood: tuple[int, np.ndarray], report: Report, rows: DatasetRows) -> np.ndarray:
    """A piece of work: (k, 2) int64 rows of equal pictures of different scenes, the later of a pair first;
    none are of one group of twins.
    """
    records = neighbourhood[1]
    home, references = records[records["home"]], records[records["reference"]]
    _, first, group = np.unique(home["hash"], return_index=True, return_inverse=True)
    copies = np.flatnonzero(first[group] != np.arange(len(home)))
    pairs = np.stack([home["row"][copies], home["row"][first[group[copies]]]], axis=1)
    same = [_of_different_scenes(rows, some, DIFFERENT) for some in _batches(_of_two_groups(pairs, rows))]
    if not too_long(rows.dataset.settings):
        references = references[np.unique(references["hash"], return_index=True)[1]]
        candidates = _candidates(home[np.sort(first)], references)
        for some in _batches(_of_two_groups(candidates, rows)):
            prints, others = (fingerprints(cell_brightness(rows, numbers)) for numbers in some.T)
            change = np.abs(prints - others)
            alike = (np.square(change).mean(axis=1) < SAME**2) & (change.max(axis=1) < PEAK)
            same.append(_of_different_scenes(rows, some[alike], DIFFERENT_IN_DISGUISE))
    report(len(home))
    return np.concatenate([np.zeros((0, 2), dtype=np.int64), *same])


def _of_two_groups(pairs: np.ndarray, rows: DatasetRows) -> np.ndarray:
    """The pairs among (k, 2) rows that are of different groups of twins; every split has whole ones."""
    block = rows.dataset.settings.block if rows.dataset.settings.paired else 1
    return pairs[pairs[:, 0] // block != pairs[:, 1] // block]


def _candidates(records: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Pairs (k, 2) of rows whose pictures lie within REACH of each other, the later one first."""
    from scipy.spatial import KDTree

    if len(records) == 0 or len(references) == 0:
        return np.zeros((0, 2), dtype=np.int64)
    tree, ranks = KDTree(references["place"]), list(range(1, _CANDIDATES + 2))
    nearest = tree.query(records["place"], k=ranks, distance_upper_bound=REACH)[1]
    mine, candidate = np.nonzero(nearest < len(references))
    pairs = np.stack([records["row"][mine], references["row"][nearest[mine, candidate]]], axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.unique(np.sort(pairs, axis=1)[:, ::-1], axis=0)


def _batches(pairs: np.ndarray) -> Iterator[np.ndarray]:
    return (pairs[begin : begin + _PAIRS] for begin in range(0, len(pairs), _PAIRS))


def _of_different_scenes(rows: DatasetRows, pairs: np.ndarray, metres: float) -> np.ndarray:
    """The pairs among (k, 2) rows whose scenes are more than so many metres from each other."""
    if len(pairs) == 0:
        return pairs
    points, other_points = (scene_points(rows.columns(SCENE, numbers)) for numbers in pairs.T)
    return pairs[np.abs(points - other_points).max(axis=1) > metres]
