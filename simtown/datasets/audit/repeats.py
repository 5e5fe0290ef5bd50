"""Scenes that repeat another within a split, or from training: exactly, or nearly.

Twins repeat each other, wholly or in part: that is not a fault, and chance is about one scene of each group.

Scenes are near if they show the same kinds of vehicles, each within centimetres of the same place. In a large
data set of few kinds some scenes are that near by chance. So the number of such pairs is compared with the
number that chance gives: how often a vehicle of a kind is that near while the rest of its scene is not,
multiplied over the vehicles of a scene, and by how much oftener scenes are WIDE of each other than
independent vehicles would be.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from simtown.core.pool import Pool, Report
from simtown.datasets.addresses import COMPOSITION
from simtown.datasets.audit.features import Columns, firsts
from simtown.datasets.audit.findings import Finding
from simtown.datasets.audit.rows import DatasetRows, Neighbourhoods, hashes

_REMOVE = "Remove the copies, or generate the data set again: they count as more examples than they are."
#: The columns by which scenes are the same, whatever the light and the street.
SCENE = ("scene/entity", "scene/pose", "scene/camera")
#: Greatest distances in metres that count as near, along the road and across it; for a heading, at one metre
#: from the middle.
RADII = np.array([0.0025, 0.005, 0.0125, 0.025])
#: Metres within which a sample of scenes shows how much vehicles of a scene depend on each other: two share a
#: lane only if it has room, they neither overlap nor hide each other, and a distractor fits between. Hundreds
#: of times as many scenes are that near as within the last of RADII, so copies hardly count there.
WIDE = 0.1
#: How many times oftener than independent vehicles whole scenes were near, at most: three kinds with a
#: distractor. Counts as one more scene, for samples in which few are near.
MOST_DEPENDENT = 13.0
#: The check allows for so many times the expected number. At 2.5 cm true numbers were 0.87 to 1.03 times.
SAFETY = 1.5
#: Scenes in a neighbourhood, about, and those that places are learned from, in so many runs of neighbours.
_TOGETHER, _LEARNED_FROM, _RUNS = 100_000, 2_000, 20
#: More than any distance in a scene: vehicles of different kinds are never near.
_APART = 1e4
#: Fewer pairs than these are compared one by one, which takes less time than building trees.
_FEW_PAIRS = 4_096
#: Examples that a finding names.
_SHOWN = 10
#: (k, 3) float64: rows, rows that they repeat, and distances in metres; by "exact", "twin" or "near", the
#: split of the rows, and that of those that they repeat.
Pairs = dict[tuple[str, str, str], np.ndarray]


def vehicles(columns: Columns | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kinds (n, v) int64, ascending; places (n, v, 4) float64: x, y, the heading's cosine and sine."""
    kinds = columns["scene/entity"].astype(np.int64)
    order = np.argsort(kinds, axis=1, kind="stable")
    pose = np.take_along_axis(columns["scene/pose"].astype(np.float64), order[..., None], axis=1)
    places = np.concatenate([pose[..., :2], np.cos(pose[..., 2:]), np.sin(pose[..., 2:])], axis=2)
    return np.take_along_axis(kinds, order, axis=1), places


def scene_points(columns: Columns | np.ndarray) -> np.ndarray:
    """(n, d) float64: the distance of two scenes is the largest difference; of other kinds, it is large."""
    kinds, places = vehicles(columns)
    camera = columns["scene/camera"].astype(np.float64)
    return np.concatenate([kinds * _APART, places.reshape(len(kinds), -1), camera], axis=1)


def scene_record(slots: int) -> np.dtype[np.void]:
    """A scene's record: number among all rows, its first twin's, hash, whether the neighbourhood is its home,
    and SCENE.
    """
    scene = [("<i2", (slots,)), ("<f4", (slots, 3)), ("<f4", (7,))]
    about = [("row", "<i8"), ("group", "<i8"), ("hash", "<u8"), ("home", "?")]
    return np.dtype([*about, *((name, *form) for name, form in zip(SCENE, scene, strict=True))])


def neighbourhoods(rows: DatasetRows) -> Neighbourhoods:
    """Neighbourhoods of scenes, by the place of the first vehicle along the road; without any as yet."""
    learned = first_places(rows.columns(SCENE, rows.spread(_LEARNED_FROM, _RUNS)))
    record = scene_record(rows.dataset.settings.vehicles)
    return Neighbourhoods(learned, [max(1, -(-len(rows) // _TOGETHER))], float(RADII[-1]), record)


def first_places(columns: Columns | np.ndarray) -> np.ndarray:
    """(n, 1) float64: where the first vehicle of each scene stands along the road."""
    return vehicles(columns)[1][:, 0, :1]


def scene_records(numbers: np.ndarray, group: np.ndarray, columns: Columns) -> np.ndarray:
    """(n,) records of the scenes with these numbers among all rows; `group` has their first twins'."""
    records = np.zeros(len(numbers), dtype=scene_record(columns["scene/entity"].shape[1]))
    content = [np.ascontiguousarray(columns[name]).reshape(len(numbers), -1).view(np.uint8) for name in SCENE]
    records["row"], records["group"] = numbers, group
    records["hash"] = hashes(np.concatenate(content, axis=1))
    for name in SCENE:
        records[name] = columns[name]
    return records


def repeated_scenes(
    scenes: Sequence[tuple[int, np.ndarray]],
    counts: Mapping[str, Any],
    samples: Mapping[str, Columns],
    rows: DatasetRows,
    pool: Pool,
    progress: Report,
) -> list[Finding]:
    """Every finding about scenes that occur again, by their records of all neighbourhoods.

    `counts` and `samples`, columns of a part of the examples, are of the splits that have examples.
    """
    parts = defaultdict(list)
    with closing(pool.map(repeats, scenes, (rows,), progress)) as results:
        for _, found in results:
            for key, pairs in found.items():
                parts[key].append(pairs)
    pairs = {key: np.concatenate(arrays) for key, arrays in parts.items()}
    compared = [name for name in ("val", "test", COMPOSITION) if name in counts and "train" in counts]
    findings = [
        _duplicates(pairs["exact", name, name], len(pairs["twin", name, name]), rows, name) for name in counts
    ]
    for name in compared:
        findings += _seen_in_training(pairs, counts, samples, rows, name)
    if rows.dataset.settings.paired:  # one of each group
        ones = {name: firsts(sample["group"]) for name, sample in samples.items()}
        samples = {n: {name: c[ones[n]] for name, c in sample.items()} for n, sample in samples.items()}
    for name, other in [*((name, name) for name in counts), *((name, "train") for name in compared)]:
        findings.append(_nearly_repeated(pairs["near", name, other], counts, samples, rows, name, other))
    return findings


def repeats(neighbourhood: tuple[int, np.ndarray], report: Report, rows: DatasetRows) -> Pairs:
    """A piece of work: what repeats among the records of a neighbourhood (:func:`scene_record`)."""
    records, pairs = neighbourhood[1], {}
    for name in rows.lengths:
        begin, end = np.searchsorted(records["row"], rows.starts[name] + np.array([0, rows.lengths[name]]))
        own = records[begin:end]
        _, first, group = np.unique(own["hash"], return_index=True, return_inverse=True)
        original, twin = first[group], own["group"][first[group]] == own["group"]
        copies = np.flatnonzero((original != np.arange(len(own))) & own["home"] & ~twin)
        twins = np.flatnonzero((original != np.arange(len(own))) & own["home"] & twin)
        pairs["twin", name, name] = _pairs(own["row"][twins], own["row"][original[twins]])
        pairs["exact", name, name] = _pairs(own["row"][copies], own["row"][first[group[copies]]])
        distinct = own[np.sort(first)]  # exact copies are another finding
        distinct = distinct[firsts(distinct["group"])]
        pairs["near", name, name] = _near(distinct[distinct["home"]], distinct, same=True)
        if name == "train":
            train = distinct
            row_of = dict(zip(own["hash"][first].tolist(), own["row"][first].tolist(), strict=True))
        else:
            home = own[own["home"]]
            known = np.array([row_of.get(number, -1) for number in home["hash"].tolist()], dtype=np.int64)
            seen = known >= 0
            pairs["exact", name, "train"] = _pairs(home["row"][seen], known[seen])
            unseen = home[~seen]
            pairs["near", name, "train"] = _near(unseen[firsts(unseen["group"])], train, same=False)
    report(int(records["home"].sum()))
    return pairs


def _pairs(rows: np.ndarray, others: np.ndarray, distances: Any = 0.0) -> np.ndarray:
    return np.stack([rows, others, np.broadcast_to(distances, rows.shape)], axis=1).astype(np.float64)


def _near(mine: np.ndarray, others: np.ndarray, same: bool) -> np.ndarray:
    """Records with the nearest of the others, as Pairs; of the `same` split, the later one is first."""
    from scipy.spatial import KDTree

    if len(mine) == 0 or len(others) == 0:
        return np.zeros((0, 3))
    tree, points, rank = KDTree(scene_points(others)), scene_points(mine), 2 if same else 1
    nearest = tree.query(points, k=[rank], p=np.inf, distance_upper_bound=RADII[-1])
    distances, places = (column[:, 0] for column in nearest)
    is_near = np.isfinite(distances)
    rows = np.stack([mine["row"][is_near], others["row"][places[is_near]]])
    if same:
        rows = np.sort(rows, axis=0)[::-1]
    return _pairs(rows[0], rows[1], distances[is_near])


def _duplicates(pairs: np.ndarray, twins: int, rows: DatasetRows, name: str) -> Finding:
    """Scenes that occur twice within a split, but for the vehicles of `twins`."""
    n, pairs = rows.lengths[name], pairs[np.argsort(pairs[:, 0], kind="stable")]
    first = (pairs[:_SHOWN, :2] - rows.starts[name]).astype(int).tolist()
    example = f"; first: {name} {first[0][0]} repeats {name} {first[0][1]}" if first else ""
    figure = f"{len(pairs):,} of {n:,} repeat another{example}"
    figure += f"; {twins:,} repeat one of their own group of twins" if twins else ""
    measured = {"repeated": len(pairs), "twins": twins, "n": n, "first": first}
    return Finding.of_count("duplicate scenes", name, len(pairs), figure, _REMOVE, **measured)


def _remembered(name: str) -> str:
    """The advice about examples of another split that training has."""
    again = f"Generate the {name} examples again with another seed, or remove these scenes from training"
    return f"{again}: accuracy there is remembered."


def _seen_in_training(
    pairs: Pairs,
    counts: Mapping[str, Any],
    samples: Mapping[str, Columns],
    rows: DatasetRows,
    name: str,
) -> Iterator[Finding]:
    """Scenes of another split that are training scenes, and questions that training asks too."""
    seen, n = pairs["exact", name, "train"], rows.lengths[name]
    first = np.sort(seen[:, 0] - rows.starts[name])[:_SHOWN].astype(int).tolist()
    figure = f"{len(seen):,} of {n:,} are training scenes{f'; first: {name} {first[0]}' if first else ''}"
    measured = {"seen": len(seen), "n": n, "first": first}
    yield Finding.of_count("scenes seen in training", name, len(seen), figure, _remembered(name), **measured)
    if "program" in samples[name]:
        own, known = (hashes(samples[split]["program"]) for split in (name, "train"))
        asked, what = int(np.isin(own, known).sum()), "what training asks, perhaps in other words"
        details = {"seen": asked, "n": len(own)}
    else:
        triples, what = counts[name].triples, "about a subject, relation and object that training asks about"
        asked = int(triples[counts["train"].triples > 0].sum())
        details = {"seen": asked, "n": n, "triples": int((triples > 0).sum())}
    figure = f"{asked / details['n']:.1%} of {details['n']:,} ask {what}"
    yield Finding("questions seen in training", name, figure, status="note", details=details)


def _nearly_repeated(
    pairs: np.ndarray,
    counts: Mapping[str, Any],
    samples: Mapping[str, Columns],
    rows: DatasetRows,
    name: str,
    other: str,
) -> Finding:
    """Near scenes without exact copies, for the radius at which chance explains the pairs least."""
    from scipy.stats import poisson

    same, n = other == name, counts[name].examples
    mine, theirs, distances = nearest_pairs(pairs, same).T
    share, dependence = chances(samples[name], None if same else samples[other])
    independent = expected_pairs(share, counts[name].kinds, None if same else counts[other].kinds)
    expected = SAFETY * dependence * independent
    within = (distances[:, None] <= RADII).sum(axis=0)
    p = poisson.sf(within - 1, expected)
    best = int(np.argmin(p)) if within.any() else len(RADII) - 1
    shown = np.flatnonzero(distances <= RADII[best])[:_SHOWN]
    first = [[int(mine[i]) - rows.starts[name], int(theirs[i]) - rows.starts[other]] for i in shown]
    example = f"; first: {name} {first[0][0]} is like {other} {first[0][1]}" if first else ""
    check, among, remedy = "near copies of training scenes", f"one of {other}", _remembered(name)
    if same:
        check, among, remedy = "nearly repeated scenes", "another", _REMOVE
    figure = f"{within[best]:,} of {n:,} repeat {among} within {100 * RADII[best]:g} cm"
    figure += f"; chance gives up to {expected[best]:.2g}{example}"
    details = {"radii_m": RADII.tolist(), "pairs": within.tolist(), "expected": expected.tolist()}
    details |= {"n": n, "first": first}
    return Finding(check, name, figure, remedy, min(1.0, float(p[best]) * len(RADII)), details=details)


def nearest_pairs(pairs: np.ndarray, same: bool) -> np.ndarray:
    """The near scenes: each pair once within the `same` split, otherwise each row once, with the nearest."""
    row, other, distance = pairs.T
    pairs = pairs[np.lexsort((distance, row, other) if same else (other, distance, row))]
    kept = np.unique(pairs[:, 1::-1] if same else pairs[:, 0], axis=0, return_index=True)[1]
    return np.asarray(pairs[np.sort(kept)])


def chances(sample: Columns, other: Columns | None) -> tuple[np.ndarray, float]:
    """Chances that two vehicles of a kind, of different scenes, are near, and their dependence on the rest.

    `sample` has columns of some scenes, `other` of some of another split; None compares those of one split
    with each other.

    Returns:
        shares: (kinds + 1, len(RADII)) float64, the share of pairs of vehicles that are near; the last row,
            for no vehicle, is 1.
        excess: how many times as many pairs of scenes are WIDE of each other as if their vehicles were
            independent.
    """
    mine = vehicles(sample)
    theirs = mine if other is None else vehicles(other)
    radii = np.append(RADII, WIDE)
    kinds = int(max(mine[0].max(), theirs[0].max())) + 1
    near_pairs, pairs = np.zeros((kinds + 1, len(radii))), np.zeros(kinds + 1)
    for kind in range(kinds):
        own, others = mine[1][mine[0] == kind], theirs[1][theirs[0] == kind]
        near_pairs[kind], pairs[kind] = _near_pairs(own, others, radii, other is None)
    their_groups = _by_kinds(*theirs)
    scenes: dict[tuple[int, ...], tuple[np.ndarray, float]] = {}
    for group, places in _by_kinds(*mine).items():
        if group in their_groups:
            scenes[group] = _near_pairs(places, their_groups[group], radii, other is None)
    for group, (near, _) in scenes.items():
        near_pairs[list(group)] -= near  # the vehicles of whole scenes say nothing about chance
    overall = (near_pairs[:-1].sum(axis=0) + 1) / max(pairs.sum(), 1)  # for kinds that are rare
    share: np.ndarray = (near_pairs + 1) / (pairs[:, None] + 1 / overall)
    share[-1] = 1.0
    wide = sum(near[-1] for near, _ in scenes.values())
    independent = sum(count * share[list(group), -1].prod() for group, (_, count) in scenes.items())
    return share[:, :-1], (wide + MOST_DEPENDENT) / (independent + 1)


def expected_pairs(
    share: np.ndarray, mine: Mapping[tuple[int, ...], int], other: Mapping[tuple[int, ...], int] | None
) -> np.ndarray:
    """(len(RADII),) float64: expected pairs of near scenes if vehicles were independent of each other.

    `share` is that of :func:`chances`; the others count the scenes of a split with each set of kinds, and
    those of the split that it is compared with, None for itself.
    """
    sets = sorted(mine) if other is None else sorted(mine.keys() & other.keys())
    if not sets:
        return np.zeros(len(RADII))
    scenes = np.array([mine[kinds] for kinds in sets], dtype=np.float64)
    pairs = scenes * (scenes - 1) / 2 if other is None else scenes * [other[kinds] for kinds in sets]
    groups = np.array(sets)
    kind_rows = np.where((groups >= 0) & (groups < len(share) - 1), groups, len(share) - 1)
    return np.asarray((pairs[:, None] * share[kind_rows].prod(axis=1)).sum(axis=0))


def _by_kinds(kinds: np.ndarray, places: np.ndarray) -> dict[tuple[int, ...], np.ndarray]:
    """Places (m, v * 4) of the scenes of each set of kinds."""
    groups, number = np.unique(kinds, axis=0, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    parts = np.split(places.reshape(len(places), -1)[order], np.cumsum(np.bincount(number.ravel()))[:-1])
    return dict(zip(map(tuple, groups.tolist()), parts, strict=True))


def _near_pairs(mine: np.ndarray, theirs: np.ndarray, radii: np.ndarray, same: bool) -> Any:
    """Pairs of rows within each radius, and of all; of the `same` rows, each pair of different ones once."""
    from scipy.spatial import KDTree

    alone, twice = (len(mine), 2) if same else (0, 1)
    pairs = len(mine) * len(theirs) - alone
    if not pairs:
        return np.zeros(len(radii)), 0.0
    if len(mine) * len(theirs) < _FEW_PAIRS:
        distances = np.abs(mine[:, None].astype(np.float64) - theirs).max(axis=2)
        counts = (distances[..., None] <= radii).sum(axis=(0, 1))
    else:
        tree = KDTree(theirs)
        counts = (tree if mine is theirs else KDTree(mine)).count_neighbors(tree, radii, p=np.inf)
    return (counts - alone) / twice, pairs / twice
