"""The same picture under different scenes, found by a fingerprint that survives another brightness and a lossy format.

The fingerprint of a picture is its mean brightness in SIDE × SIDE cells, less their mean and over their standard deviation. Two pictures
are the same if their fingerprints differ by less than SAME (root mean square: a correlation of 1 - SAME² / 2 = 0.995), and nowhere by
PEAK. Noise, another brightness or a JPEG of quality 90 change a picture by 0.02 to 0.12, and its most changed cell by 0.07 to 0.3
(half of them below 0.12): a little everywhere. In dense fog nothing but two vehicles is seen, so other scenes may come as near as 0.06; but
what has moved changes a few cells much: among 60,000 ordinary examples of 32 × 32 pixels with five kinds of vehicles by 0.29 at least, by
0.24 if all of them stand in fog.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from simtown.datasets.audit.findings import Finding
from simtown.datasets.audit.near import scene_points
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import SPLITS

#: Cells along each side of a fingerprint, and the differences from which two pictures are different: of all cells, and of any one.
SIDE, SAME, PEAK = 16, 0.1, 0.23
#: Metres from which on two scenes are different.
DIFFERENT = 0.1
#: Added to a picture's standard deviation (of 255): one of a single colour has none.
_FLOOR = 2.0
#: Directions of greatest variation in which candidates are looked for, pictures they are learned from, candidates for each picture.
_DIRECTIONS, _LEARNED_FROM, _CANDIDATES = 12, 1_000, 4
#: Fingerprints at a time; only the small integers they are made of stay in memory.
_BATCH = 4_096


def repeated_pictures(dataset: Dataset) -> Finding:
    """Pictures that belong to two or more different scenes, in one split or in two."""
    names = [name for name in SPLITS if len(dataset[name])]
    cells = np.concatenate([cell_brightness(dataset, name) for name in names])
    points = np.concatenate([scene_points(dataset[name]) for name in names])
    starts = np.cumsum([0] + [len(dataset[name]) for name in names])
    originals: dict[int, int] = {}
    for a, b in same_pictures(cells):
        if np.abs(points[a] - points[b]).max() > DIFFERENT:
            originals.setdefault(max(a, b), min(a, b))

    def address(row: int) -> str:
        split = int(np.searchsorted(starts, row, side="right")) - 1
        return f"{names[split]} {row - starts[split]}"

    first = [[address(row), address(original)] for row, original in sorted(originals.items())[:10]]
    example = f"; first: {first[0][0]} shows the picture of {first[0][1]}" if first else ""
    return Finding(
        "repeated pictures", "all", f"{len(originals):,} of {len(cells):,} are the picture of another scene{example}",
        "A picture cannot show two scenes: run simtown verify to see which of them it shows, and make the data anew.",
        status="warn" if originals else "pass", details={"repeated": len(originals), "n": len(cells), "first": first},
    )  # fmt: skip


def cell_brightness(dataset: Dataset, name: str) -> np.ndarray:
    """(n, SIDE * SIDE) uint8: mean brightness of the cells of every picture of a split."""
    out = np.empty((len(dataset[name]), SIDE, SIDE), dtype=np.uint8)
    for start, columns in dataset[name].stream(("images",), 256):
        for i, picture in enumerate(columns["images"]):
            out[start + i] = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    return out.reshape(len(out), -1)


def same_pictures(cells: np.ndarray) -> Iterator[tuple[int, int]]:
    """Pairs of rows of (n, SIDE * SIDE) uint8 that are one picture: each row with a few of those that it equals.

    Identical rows are paired with the first of them. Others are looked for in a few directions, in which they can only be
    nearer than they are, and then compared in full.
    """
    from scipy.spatial import KDTree

    packed = cells.view(f"V{cells.shape[1]}")[:, 0]
    _, first, group = np.unique(packed, return_index=True, return_inverse=True)
    for row in np.flatnonzero(first[group] != np.arange(len(cells))):
        yield int(first[group[row]]), int(row)
    different = cells[first]
    learned = fingerprints(different[:_LEARNED_FROM])
    directions = np.linalg.svd(learned - learned.mean(axis=0), full_matrices=False)[2][:_DIRECTIONS].T
    seen = np.concatenate([fingerprints(different[i : i + _BATCH]) @ directions for i in range(0, len(different), _BATCH)])
    radius = SAME * np.sqrt(cells.shape[1])
    _, nearest = KDTree(seen).query(seen, k=list(range(1, _CANDIDATES + 2)), distance_upper_bound=radius)
    rows, places = np.nonzero((nearest < len(first)) & (nearest != np.arange(len(first))[:, None]))
    others = nearest[rows, places]
    for i in range(0, len(rows), _BATCH):
        a, b = rows[i : i + _BATCH], others[i : i + _BATCH]
        change = fingerprints(different[a]) - fingerprints(different[b])
        same = (np.square(change).mean(axis=1) < SAME**2) & (np.abs(change).max(axis=1) < PEAK)
        yield from zip(first[a[same]].tolist(), first[b[same]].tolist(), strict=True)


def fingerprints(cells: np.ndarray) -> np.ndarray:
    """(n, SIDE * SIDE) float32 of the uint8 cells: mean 0, standard deviation a little under 1."""
    prints = cells.astype(np.float32)
    prints -= prints.mean(axis=1, keepdims=True)
    prints /= prints.std(axis=1, keepdims=True) + _FLOOR
    return prints
