"""The frames that renderers return, and the contract of every renderer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from simtown.core.options import SettingsError

if TYPE_CHECKING:
    import numpy as np

    from simtown.scenes.scene import SceneBatch

#: Pixels of a picture's side.
SMALLEST, LARGEST = 32, 4096
#: At most, if a graphics card draws it.
LARGEST_ON_CARD = 1024


class CardWarning(UserWarning):
    """The graphics card does less than was asked for; the message says what happens instead."""


class CardError(ValueError):
    """The graphics card cannot be used; the message says why and what to do."""


@dataclass
class Frames:
    """Pictures of n scenes.

    Attributes:
        rgb: (n, h, w, 3) uint8 display sRGB.
        depth: (n, h, w) float32 metres along the view's axis at the pixel's middle, inf where nothing stands.
        ids: (n, h, w) uint8: 0 for sky and ground, 1 + i for vehicle slot i, 1 + v + j for prop slot j.
    """

    rgb: np.ndarray
    depth: np.ndarray
    ids: np.ndarray

    @classmethod
    def empty(cls, n: int, width: int, height: int, geometry: bool = True) -> Frames:
        """Arrays to be drawn into; without `geometry` depth and ids hold no pictures (n is 0)."""
        shape = (n * geometry, height, width)
        import numpy as np

        rgb = np.empty((n, height, width, 3), dtype=np.uint8)
        return cls(rgb, np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.uint8))

    def __len__(self) -> int:
        return len(self.rgb)


class Renderer(Protocol):
    """Anything that draws a batch of scenes: same camera, same meshes, same ids, whatever the engine."""

    def render(self, batch: SceneBatch, width: int, height: int, geometry: bool = True) -> Frames:
        """Draw every scene of a batch at one size.

        Args:
            batch: the scenes.
            width: of the pictures, pixels.
            height: of the pictures, pixels.
            geometry: whether depth and ids are drawn, too.

        Raises:
            ValueError: the size is out of range.
        """
        ...


@runtime_checkable
class CardRenderer(Renderer, Protocol):
    """A renderer that can leave its pictures on a graphics card."""

    def draw_into(self, batch: SceneBatch, rgb: Any, depth: Any = None, ids: Any = None) -> None:
        """Draw into arrays on the card.

        Args:
            batch: the scenes.
            rgb: as in :class:`Frames`, with ``__cuda_array_interface__``.
            depth: an array of the same kind, or None.
            ids: an array of the same kind, or None.
        """
        ...


def check_card_size(width: int, height: int) -> None:
    """Raises ValueError unless a graphics card draws pictures of this size."""
    check_size(width, height)
    if max(width, height) > LARGEST_ON_CARD:
        limit = f"a card draws pictures of up to {LARGEST_ON_CARD} pixels each side"
        raise ValueError(f"{limit}, not {width}x{height}: use `device=cpu`")


def check_size(width: int, height: int) -> None:
    """Raises SettingsError unless both sides are from SMALLEST to LARGEST pixels."""
    if not (SMALLEST <= width <= LARGEST and SMALLEST <= height <= LARGEST):
        limits = f"each side from {SMALLEST} to {LARGEST} pixels"
        raise SettingsError(f"picture size {width}x{height} is out of range: {limits}")
