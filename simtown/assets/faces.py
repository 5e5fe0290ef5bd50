"""Faces as the readers of mesh files give them to :mod:`simtown.assets.own_mesh`, and their mean colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simtown.core.files import KindsError
from simtown.core.untrusted import eight_bits

if TYPE_CHECKING:
    from PIL import Image

#: Most faces of a file, corners that it lists, and pixels of all its textures.
LARGEST, MOST_CORNERS, MOST_PIXELS = 200_000, 600_000, 2**26
#: Places of a face at which its texture is read: the middles of the cells of a triangular grid.
_STEPS = 10
_PLACES = [((i + 1 / 3) / _STEPS, (j + 1 / 3) / _STEPS) for i in range(_STEPS) for j in range(_STEPS - i)]
#: How a texture goes on outside of [0, 1].
_WRAPS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "repeat": lambda x: x % 1.0,
    "clamp": lambda x: np.clip(x, 0.0, 1.0),
    "mirror": lambda x: 1.0 - np.abs(x % 2.0 - 1.0),
}


def linear(srgb: np.ndarray) -> np.ndarray:
    """Linear colours of (..., 3) sRGB ones, or of (..., 4) with an opacity, which stays."""
    colour = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return np.concatenate([colour[..., :3], srgb[..., 3:]], axis=-1)


def check_counts(faces: int = 0, corners: int = 0, pixels: int = 0) -> None:
    """Raises KindsError if a file has too many faces, corners or pixels of its textures."""
    limits = {"faces": (faces, LARGEST), "corners": (corners, MOST_CORNERS), "pixels": (pixels, MOST_PIXELS)}
    for what, (count, most) in limits.items():
        if count > most:
            raise KindsError(f"it has {count:,} {what}: reduce them to at most {most:,}")


@dataclass(eq=False)
class Texture:
    """A picture over faces, and how it goes on beyond its sides, and beyond its top and bottom."""

    picture: Image.Image
    wraps: Sequence[str] = ("repeat", "repeat")

    @cached_property
    def _pixels(self) -> np.ndarray:
        return np.asarray(eight_bits(self.picture).convert("RGBA"))

    def at(self, places: np.ndarray) -> np.ndarray:
        """(t, 4) linear colours and opacities at (t, 2) places: right of the left side, below the top."""
        column, row = (
            np.minimum((_WRAPS[wrap](x) * size).astype(int), size - 1)
            for x, size, wrap in zip(places.T, self.picture.size, self.wraps, strict=True)
        )
        return linear(self._pixels[row, column] / 255)


@dataclass(eq=False)
class Part:
    """Faces of one material.

    Attributes:
        corners: (t, 3, 3).
        name: of the material.
        colour: linear, with an opacity.
        opacity: instead of that of all colours.
        cutoff: what is less opaque than this is a hole, and all else solid.
        tints: (t, 3, c) linear colours of the corners.
        texture: over the faces.
        places: (t, 3, 2) of the corners in it.
    """

    corners: np.ndarray
    name: str
    colour: Sequence[float] | np.ndarray
    opacity: float | None = None
    cutoff: float | None = None
    tints: np.ndarray | None = None
    texture: Texture | None = None
    places: np.ndarray | None = None

    @cached_property
    def colours(self) -> np.ndarray:
        """(t, 4) mean linear colours and opacities; the opacity of a hole is NaN."""
        colour = np.tile(self.colour, (len(self.corners), 1))
        if self.tints is not None:
            tint = self.tints.mean(axis=1)
            colour[:, : tint.shape[1]] *= tint
        samples: Iterable[np.ndarray] = [colour]
        if self.texture is not None and self.places is not None:
            first, second, third = self.places.swapaxes(0, 1)
            places = (first * (1 - s - t) + second * s + third * t for s, t in _PLACES)
            samples = (colour * self.texture.at(place) for place in places)
        total, shown, count = np.zeros_like(colour), np.zeros((len(colour), 1)), 0
        for sample in samples:
            is_shown = sample[:, 3:] >= (-np.inf if self.cutoff is None else self.cutoff)
            total += np.where(is_shown, sample, 0.0)
            shown += is_shown
            count += 1
        total /= np.maximum(shown, 1)
        if self.cutoff is not None:
            total[:, 3] = np.where(2 * shown[:, 0] < count, np.nan, 1.0)
        elif self.opacity is not None:
            total[:, 3] = self.opacity
        return total
