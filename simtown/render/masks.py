"""Masks of single things in a picture's instance ids: the box around one, COCO's run lengths; what makes ids
and depth visible; and files of pictures.
"""

import colorsys
import io
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

#: zlib's strategy that looks for runs alone: quick, and good for drawn pictures.
_RUN_LENGTHS = 3
#: Red, green and blue of depths, of the sky first: Matplotlib's colours "inferno" at nine places.
_INFERNO = np.array(
    [
        (0, 0, 4),
        (33, 12, 74),
        (87, 16, 110),
        (138, 34, 106),
        (188, 55, 84),
        (228, 90, 49),
        (249, 142, 9),
        (249, 203, 53),
        (252, 255, 164),
    ]
)


def mask_and_box(ids: np.ndarray, slot: int) -> tuple[np.ndarray, tuple[int, int, int, int]] | None:
    """The mask of a vehicle slot, and the box around it.

    Args:
        ids: (h, w) instance ids.
        slot: number of the vehicle, from 0 on.

    Returns:
        (h, w) bool, and x0, y0, x1, y1 in pixels, the last two just outside the mask. None if no pixel of the
        vehicle is seen.
    """
    mask: np.ndarray = ids == slot + 1
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return None
    return mask, (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)


def run_lengths(mask: np.ndarray) -> list[int]:
    """A (h, w) bool mask as COCO's run lengths: column by column, beginning with a run of zeros."""
    flat = mask.T.ravel()
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    lengths: list[int] = np.diff([0] * (1 + int(flat[0])) + [*changes.tolist(), flat.size]).tolist()
    return lengths


def compressed_run_lengths(mask: np.ndarray) -> str:
    """The same as COCO's compressed text: from the fourth on, each length is written as its difference to the
    last but one.
    """
    lengths = run_lengths(mask)
    differences = [length - before for length, before in zip(lengths[3:], lengths[1:], strict=False)]
    return "".join(map(_characters, lengths[:3] + differences))


@lru_cache(maxsize=1 << 16)
def _characters(number: int) -> str:
    """A signed number, five bits a character from the lowest on; a character's sixth bit says that more
    follow.
    """
    out = ""
    while True:
        low, number = number & 31, number >> 5
        more = number != (-1 if low & 16 else 0)
        out += chr(48 + low + 32 * more)
        if not more:
            return out


def palette_png(ids: np.ndarray) -> bytes:
    """A PNG whose indices are (h, w) uint8 instance ids; its palette gives neighbouring ids other colours."""
    hues = ((id_ * 0.618 % 1.0, 0.45 + 0.15 * (id_ % 3), 0.95 - 0.2 * (id_ % 2)) for id_ in range(1, 256))
    colours = [(0.12, 0.12, 0.14), *(colorsys.hsv_to_rgb(*hue) for hue in hues)]
    return picture_file(ids, palette=[round(255 * part) for colour in colours for part in colour])


def picture_file(
    pixels: np.ndarray, picture_format: str = "PNG", palette: Sequence[int] = (), **options: Any
) -> bytes:
    """A file of (h, w) uint8 or uint16, (h, w, 3) RGB or (h, w, 4) RGBA pixels, as Pillow writes it.

    Args:
        palette: red, green and blue of the numbers of pixels, 0 to 255.
        options: of Pillow's format; of PNG by default those that take least time.
    """
    from PIL import Image

    picture, data = Image.fromarray(pixels), io.BytesIO()
    if palette:
        picture.putpalette(list(palette))
    if picture_format == "PNG":
        options = {"compress_level": 1, "compress_type": _RUN_LENGTHS, **options}
    picture.save(data, format=picture_format, **options)
    return data.getvalue()


def depth_colours(depth: np.ndarray) -> np.ndarray:
    """(h, w, 3) uint8 of depths in metres: yellow is near, black is the sky."""
    places = np.linspace(0, 255, len(_INFERNO))
    table = np.stack([np.interp(np.arange(256), places, part) for part in _INFERNO.T], axis=1)
    return np.asarray(table.round().astype(np.uint8)[nearness(depth)])


def nearness(depth: np.ndarray) -> np.ndarray:
    """(h, w) uint8 of depths in metres: 255 at the nearest, half of it twice as far away, 0 in the sky."""
    return np.asarray(255 * min(float(depth.min()), 1e6) / depth).astype(np.uint8)
