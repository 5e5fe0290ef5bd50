"""What is seen of each vehicle: masks as COCO's run lengths, and the boxes around them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np


def seen(ids: np.ndarray, slot: int) -> tuple[np.ndarray, tuple[int, int, int, int]] | None:
    """Mask (h, w) bool of a vehicle slot in (h, w) instance ids, and its box x0, y0, x1, y1 in pixels, the last two outside it.

    None where nothing of the vehicle is seen.
    """
    mask: np.ndarray = ids == slot + 1
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return None
    return mask, (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)


def runs(mask: np.ndarray) -> str:
    """A (h, w) bool mask as COCO's compressed run lengths: column by column, beginning with a run of zeros."""
    flat = mask.T.ravel()
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    counts = np.diff(np.concatenate([[0] * (1 + int(flat[0])), edges, [flat.size]]))
    counts[3:] -= counts[1:-2].copy()  # from the fourth on, as differences to the last but one
    return "".join(map(_digits, counts.tolist()))


@lru_cache(maxsize=1 << 16)
def _digits(number: int) -> str:
    """A signed number, five bits a character from the lowest on; a character's sixth bit says that more follow."""
    out = ""
    while True:
        low, number = number & 31, number >> 5
        more = number != (-1 if low & 16 else 0)
        out += chr(48 + low + 32 * more)
        if not more:
            return out
