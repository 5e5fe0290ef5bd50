"""Scenes that nearly repeat another: the same kinds of vehicles, each within centimetres of the same place.

In a large data set of few kinds some scenes are that near by chance. So the number of such pairs is compared
with the number that chance gives: how often a vehicle of a kind is that near while the rest of its scene is
not, multiplied over the vehicles of a scene, and by how much oftener scenes are WIDE of each other than
independent vehicles would be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from simtown.datasets.audit.columns import Columns
from simtown.datasets.audit.counts import SplitCounts, kinds_of
from simtown.datasets.audit.findings import Finding
from simtown.datasets.audit.rows import DatasetRows
from simtown.datasets.audit.scenes import RADII, Repeats, nearest_pairs, vehicles

#: Metres within which a sample of scenes shows how much vehicles of a scene depend on each other: two share a
#: lane only if it has room, they neither overlap nor hide each other, and a distractor fits between. Hundreds
#: of times as many scenes are that near as within the last of RADII, so copies hardly count there.
WIDE = 0.1
#: How many times oftener than independent vehicles whole scenes were near, at most: three kinds with a
#: distractor. Counts as one more scene, for samples in which few are near.
MOST_DEPENDENT = 13.0
#: The check allows for so many times the expected number. At 2.5 cm true numbers were 0.87 to 1.03 times.
SAFETY = 1.5


def near_repeats(
    repeats: Repeats, counts: Mapping[str, SplitCounts], samples: Mapping[str, Columns], rows: DatasetRows
) -> Iterator[Finding]:
    """Near copies within each split, and between training and the other splits, without exact copies.

    Args:
        repeats: of all scenes.
        counts: by split, of the splits that have examples.
        samples: by split, of the same.
        rows: of the data set.
    """
    for name in counts:
        yield _compare(
            "nearly repeated scenes",
            name,
            name,
            repeats,
            counts,
            samples,
            rows,
            "Remove the copies, or generate the data set again: they count as more examples than they are.",
        )
    for name in ("val", "test"):
        if name in counts and "train" in counts:
            yield _compare(
                "near copies of training scenes",
                name,
                "train",
                repeats,
                counts,
                samples,
                rows,
                f"Generate the {name} examples again with another seed, or remove these from training: "
                "accuracy there is remembered.",
            )


def _compare(
    check: str,
    name: str,
    other: str,
    repeats: Repeats,
    counts: Mapping[str, SplitCounts],
    samples: Mapping[str, Columns],
    rows: DatasetRows,
    advice: str,
) -> Finding:
    """The finding of one split against another, or against itself.

    It is for the radius at which chance explains the pairs least.
    """
    from scipy.stats import poisson

    same, n = other == name, counts[name].examples
    mine, theirs, distances = nearest_pairs(repeats.near[name, other], same).T
    share, dependence = chances(samples[name], None if same else samples[other])
    expected = (
        SAFETY
        * dependence
        * expected_pairs(
            share, counts[name], None if same else counts[other], samples[name]["scene/entity"].shape[1]
        )
    )
    pairs = (distances[:, None] <= RADII).sum(axis=0)
    p = poisson.sf(pairs - 1, expected)
    best = int(np.argmin(p)) if pairs.any() else len(RADII) - 1
    shown = np.flatnonzero(distances <= RADII[best])[:10]
    first = [[int(mine[i]) - rows.start(name), int(theirs[i]) - rows.start(other)] for i in shown]
    example = f"; first: {name} {first[0][0]} is like {other} {first[0][1]}" if first else ""
    among = "another" if same else f"one of {other}"
    return Finding(
        check,
        name,
        f"{pairs[best]:,} of {n:,} repeat {among} within {100 * RADII[best]:g} cm; chance gives up to "
        f"{expected[best]:.2g}{example}",
        advice,
        min(1.0, float(p[best]) * len(RADII)),
        details={
            "radii_m": RADII.tolist(),
            "pairs": pairs.tolist(),
            "expected": expected.tolist(),
            "n": n,
            "first": first,
        },
    )


def chances(sample: Columns, other: Columns | None) -> tuple[np.ndarray, float]:
    """How often two vehicles of a kind, of different scenes, are near, and how much they depend on the rest.

    Args:
        sample: columns of some scenes.
        other: of some scenes of another split; None compares the scenes of one split with each other.

    Returns:
        (kinds + 1, len(RADII)) float64: the share of pairs of vehicles that are near; the last row, for no
            vehicle, is 1.
        how many times as many pairs of scenes are WIDE of each other as if their vehicles were independent.
    """
    mine = vehicles(sample)
    theirs = mine if other is None else vehicles(other)
    radii = np.append(RADII, WIDE)
    kinds = int(max(mine[0].max(), theirs[0].max())) + 1
    near_pairs, pairs = np.zeros((kinds + 1, len(radii))), np.zeros(kinds + 1)
    for kind in range(kinds):
        near_pairs[kind], pairs[kind] = _near_pairs(
            mine[1][mine[0] == kind], theirs[1][theirs[0] == kind], radii, other is None
        )
    their_groups = _by_kinds(*theirs)
    scenes: dict[tuple[int, ...], tuple[np.ndarray, float]] = {
        group: _near_pairs(places, their_groups[group], radii, other is None)
        for group, places in _by_kinds(*mine).items()
        if group in their_groups
    }
    for group, (near, _) in scenes.items():
        near_pairs[list(group)] -= near  # the vehicles of whole scenes say nothing about chance
    overall = (near_pairs[:-1].sum(axis=0) + 1) / max(pairs.sum(), 1)  # for kinds that are rare
    share: np.ndarray = (near_pairs + 1) / (pairs[:, None] + 1 / overall)
    share[-1] = 1.0
    wide = sum(near[-1] for near, _ in scenes.values())
    independent = sum(count * share[list(group), -1].prod() for group, (_, count) in scenes.items())
    return share[:, :-1], (wide + MOST_DEPENDENT) / (independent + 1)


def expected_pairs(share: np.ndarray, mine: SplitCounts, other: SplitCounts | None, slots: int) -> np.ndarray:
    """(len(RADII),) float64: expected pairs of near scenes if vehicles were independent of each other.

    Args:
        share: of :func:`chances`.
        mine: of all examples of a split.
        other: of the split that it is compared with; None for itself.
        slots: of vehicles in a scene.
    """
    theirs = mine if other is None else other
    kinds, place, place_there = np.intersect1d(
        mine.kinds, theirs.kinds, assume_unique=True, return_indices=True
    )
    our_scenes, their_scenes = (
        mine.scenes[place].astype(np.float64),
        theirs.scenes[place_there].astype(np.float64),
    )
    pairs = our_scenes * (our_scenes - 1) / 2 if other is None else our_scenes * their_scenes
    groups = kinds_of(kinds, slots)
    kind_rows = np.where((groups >= 0) & (groups < len(share) - 1), groups, len(share) - 1)
    expected: np.ndarray = (pairs[:, None] * share[kind_rows].prod(axis=1)).sum(axis=0)
    return expected


def _by_kinds(kinds: np.ndarray, places: np.ndarray) -> dict[tuple[int, ...], np.ndarray]:
    """Places (m, v * 4) of the scenes of each set of kinds."""
    groups, number = np.unique(kinds, axis=0, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    parts = np.split(places.reshape(len(places), -1)[order], np.cumsum(np.bincount(number.ravel()))[:-1])
    return dict(zip(map(tuple, groups.tolist()), parts, strict=True))


def _near_pairs(
    mine: np.ndarray, theirs: np.ndarray, radii: np.ndarray, same: bool
) -> tuple[np.ndarray, float]:
    """Pairs of rows within each radius, (len(radii),) float64, and the number of all pairs.

    If both are the `same`, each pair of different rows counts once.
    """
    from scipy.spatial import KDTree

    alone, twice = (len(mine), 2) if same else (0, 1)
    pairs = len(mine) * len(theirs) - alone
    if not pairs:
        return np.zeros(len(radii)), 0.0
    counts = KDTree(mine).count_neighbors(KDTree(theirs), radii, p=np.inf)
    return (counts - alone) / twice, pairs / twice
