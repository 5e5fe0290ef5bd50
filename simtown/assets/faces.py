"""Faces as the readers of mesh files give them to :mod:`simtown.assets.own_mesh`, and their mean colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simtown.core.files import KindsError
from simtown.core.untrusted import eight_bits

if TYPE_CHECKING:
    from PIL import Image

#: Most corners of all triangles of a file, and of each table in it.
MOST_CORNERS = 600_000
#: Places of a face at which its texture is read: the middles of the cells of a triangular grid.
_STEPS = 10
_PLACES = [((i + 1 / 3) / _STEPS, (j + 1 / 3) / _STEPS) for i in range(_STEPS) for j in range(_STEPS - i)]
#: Ways in which a texture goes on outside of [0, 1], as glTF numbers them.
REPEAT, CLAMP, MIRROR = 10497, 33071, 33648


def linear(srgb: np.ndarray) -> np.ndarray:
    """Linear colours of sRGB ones, both in [0, 1]."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def check_corners(count: int) -> None:
    """Raises KindsError if a file, or a table in it, has too many corners."""
    if count > MOST_CORNERS:
        raise KindsError(f"it has {count:,} corners: simplify it to at most {MOST_CORNERS:,}")


@dataclass(eq=False)
class Texture:
    """A picture over faces, and the ways in which it goes on beyond its sides, and beyond top and bottom."""

    picture: Image.Image
    wraps: Sequence[int] = (REPEAT, REPEAT)

    @cached_property
    def _pixels(self) -> np.ndarray:
        return np.asarray(eight_bits(self.picture).convert("RGBA"))

    def at(self, places: np.ndarray) -> np.ndarray:
        """(t, 4) linear colours and opacities at (t, 2) places: right of the left side, below the top."""
        cells = []
        for x, size, wrap in zip(places.T, self.picture.size, self.wraps, strict=True):
            if wrap == MIRROR:
                x = 1.0 - np.abs(x % 2.0 - 1.0)
            x = x % 1.0 if wrap == REPEAT else x.clip(0.0, 1.0)
            cells.append(np.minimum((x * size).astype(int), size - 1))
        column, row = cells
        texels = self._pixels[row, column] / 255
        texels[:, :3] = linear(texels[:, :3])
        return texels


@dataclass(eq=False)
class Part:
    """Faces of one material.

    Attributes:
        corners: (t, 3, 3).
        name: of the material.
        colour: (t, 4), linear, with an opacity.
        opacity: of all faces, instead of that of colours and texture.
        cutoff: what is less opaque than this is a hole.
        texture: over the faces.
        places: (t, 3, 2) of the corners in it.
    """

    corners: np.ndarray
    name: str
    colour: np.ndarray
    opacity: float | None = 1.0
    cutoff: float = 0.0
    texture: Texture | None = None
    places: np.ndarray | None = None

    @cached_property
    def colours(self) -> np.ndarray:
        """(t, 4) mean linear colours and opacities; the opacity of a hole is NaN."""
        total, shown = np.zeros_like(self.colour), np.zeros((len(self.colour), 1))
        samples = _PLACES if self.texture else _PLACES[:1]
        for s, t in samples:
            sample = self.colour
            if self.texture and self.places is not None:
                first, second, third = self.places.swapaxes(0, 1)
                sample = sample * self.texture.at(first * (1 - s - t) + second * s + third * t)
            is_shown = sample[:, 3:] >= self.cutoff
            total += np.where(is_shown, sample, 0.0)
            shown += is_shown
        total /= np.maximum(shown, 1)
        if self.opacity is not None:
            total[:, 3] = self.opacity
        total[2 * shown[:, 0] < len(samples), 3] = np.nan
        return total
