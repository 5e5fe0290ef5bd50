"""Scenes that nearly repeat another: the same kinds of vehicles, each within centimetres of where it stood.

In a large data set of few kinds some scenes are that near by chance. So the number of such pairs is compared with the number that
chance gives: how often one vehicle of a kind is that near while the rest of its scene is not, multiplied over the vehicles of a scene.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simtown.datasets.audit.findings import Finding
from simtown.datasets.audit.scenes import scene_keys
from simtown.datasets.reader import Dataset, Split
from simtown.datasets.settings import SPLITS

#: Greatest distances in metres that count as near, along the road and across it; for a heading, at one metre from the middle.
RADII = np.array([0.0025, 0.005, 0.0125, 0.025])
#: Vehicles of a scene are not independent (they neither overlap nor hide each other): true counts were 1.5 times the expected ones.
SAFETY = 3.0
#: More than any distance in a scene: vehicles of different kinds are never near.
_APART = 1e4


def near_repeats(dataset: Dataset) -> Iterator[Finding]:
    """Near copies within each split, and between training and the other splits. Exact copies are not counted here."""
    for name in SPLITS:
        if len(dataset[name]):
            yield _compare(
                "nearly repeated scenes", dataset, name, name,
                "Remove the copies, or make the data anew: they count as more examples than they are.",
            )  # fmt: skip
    for name in ("val", "test"):
        if len(dataset[name]) and len(dataset.train):
            yield _compare(
                "near copies of training scenes", dataset, name, "train",
                f"Make the {name} examples anew with another seed, or remove these from training: accuracy there is remembered.",
            )  # fmt: skip


def _compare(check: str, dataset: Dataset, name: str, other_name: str, advice: str) -> Finding:
    """The finding of one split against another, or against itself: at the radius at which chance explains the pairs least."""
    from scipy.stats import poisson

    split, other = dataset[name], None if other_name == name else dataset[other_name]
    rows, matches, distances = _nearest(split, other)
    expected = SAFETY * _expected(split, other)
    pairs = (distances[:, None] <= RADII).sum(axis=0)
    p = poisson.sf(pairs - 1, expected)
    best = int(np.argmin(p)) if pairs.any() else len(RADII) - 1
    near = distances <= RADII[best]
    first = [[int(i), int(j)] for i, j in zip(rows[near][:10], matches[near][:10], strict=True)]
    example = f"; first: {name} {first[0][0]} is like {other_name} {first[0][1]}" if first else ""
    among = "another" if other is None else f"one of {other_name}"
    return Finding(
        check, name,
        f"{pairs[best]:,} of {len(split):,} repeat {among} within {100 * RADII[best]:g} cm; "
        f"chance gives up to {expected[best]:.2g}{example}",
        advice, min(1.0, float(p[best]) * len(RADII)),
        details={"radii_m": RADII.tolist(), "pairs": pairs.tolist(), "expected": expected.tolist(), "n": len(split), "first": first},
    )  # fmt: skip


def _vehicles(split: Split) -> tuple[np.ndarray, np.ndarray]:
    """Kinds (n, v) int64 in ascending order, and in the same order places (n, v, 4) float64: x, y in metres, the heading's cos and sin."""
    kinds = split.column("scene/entity").astype(np.int64)
    order = np.argsort(kinds, axis=1, kind="stable")
    pose = np.take_along_axis(split.column("scene/pose").astype(np.float64), order[..., None], axis=1)
    places = np.concatenate([pose[..., :2], np.cos(pose[..., 2:]), np.sin(pose[..., 2:])], axis=2)
    return np.take_along_axis(kinds, order, axis=1), places


def scene_points(split: Split) -> np.ndarray:
    """(n, d) float64: two scenes are as far apart as the largest difference of their points; those of other kinds are far apart."""
    kinds, places = _vehicles(split)
    n = len(split)
    camera = split.column("scene/camera").astype(np.float64)
    return np.concatenate([kinds * _APART, places.reshape(n, -1), camera], axis=1)


def _nearest(split: Split, other: Split | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scenes with a near one in `other` (or in the split itself, each pair once): rows, rows there, and distances in metres."""
    from scipy.spatial import KDTree

    keys, points = scene_keys(split), scene_points(split)
    if other is None:
        rows = np.sort(np.unique(keys, return_index=True)[1])  # exact copies are another finding
        distances, places = KDTree(points[rows]).query(points[rows], k=2, p=np.inf, distance_upper_bound=RADII[-1])
        near = np.isfinite(distances[:, 1])
        pairs = np.sort(np.stack([rows[near], rows[places[near, 1]]], axis=1), axis=1)
        pairs, first = np.unique(pairs, axis=0, return_index=True)
        return pairs[:, 1], pairs[:, 0], distances[near, 1][first]
    rows = np.flatnonzero(~np.isin(keys, scene_keys(other)))
    distances, places = KDTree(scene_points(other)).query(points[rows], k=1, p=np.inf, distance_upper_bound=RADII[-1])
    near = np.isfinite(distances)
    return rows[near], places[near], distances[near]


def _expected(split: Split, other: Split | None) -> np.ndarray:
    """(len(RADII),) float64: pairs of scenes that are near by chance, were vehicles independent of each other."""
    mine, theirs = _vehicles(split), _vehicles(split if other is None else other)
    kinds = int(max(mine[0].max(), theirs[0].max())) + 1
    near, pairs = np.zeros((kinds, len(RADII))), np.zeros(kinds)
    for kind in range(kinds):
        near[kind], pairs[kind] = _near_pairs(mine[1][mine[0] == kind], theirs[1][theirs[0] == kind], other is None)
    scene_pairs: dict[tuple[int, ...], float] = {}
    there = _by_kinds(*theirs)
    for group, places in _by_kinds(*mine).items():
        if group in there:
            copies, scene_pairs[group] = _near_pairs(places, there[group], other is None)
            near[list(group)] -= copies  # of whole scenes: they say nothing about chance
    overall = (near.sum(axis=0) + 1) / max(pairs.sum(), 1)  # for kinds that are rare
    share = (near + 1) / (pairs[:, None] + 1 / overall)
    expected: np.ndarray = sum((count * share[list(group)].prod(axis=0) for group, count in scene_pairs.items()), np.zeros(len(RADII)))
    return expected


def _by_kinds(kinds: np.ndarray, places: np.ndarray) -> dict[tuple[int, ...], np.ndarray]:
    """Places (m, v * 4) of the scenes of each set of kinds."""
    groups, number = np.unique(kinds, axis=0, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    parts = np.split(places.reshape(len(places), -1)[order], np.cumsum(np.bincount(number.ravel()))[:-1])
    return dict(zip(map(tuple, groups.tolist()), parts, strict=True))


def _near_pairs(mine: np.ndarray, theirs: np.ndarray, same: bool) -> tuple[np.ndarray, float]:
    """Near pairs of rows (len(RADII),) float64, and all pairs; where both are the `same`, each pair of different rows once."""
    from scipy.spatial import KDTree

    alone, twice = (len(mine), 2) if same else (0, 1)
    pairs = len(mine) * len(theirs) - alone
    if not pairs:
        return np.zeros(len(RADII)), 0.0
    near = KDTree(mine).count_neighbors(KDTree(theirs), RADII, p=np.inf)
    return (near - alone) / twice, pairs / twice
