"""Choosing what draws: the rasteriser on the processor or on a graphics card."""

from __future__ import annotations

from collections.abc import Callable

from simtown.render.frames import LARGEST_ON_CARD, Renderer

DEVICES = ("cpu", "cuda", "auto")


class CardWarning(UserWarning):
    """The graphics card does less than was asked for; the message says what happens instead."""


class CardError(ValueError):
    """The graphics card cannot be used; the message says why and what to do."""


def settled(device: str, say: Callable[[str], None], width: int = LARGEST_ON_CARD, height: int = LARGEST_ON_CARD) -> str:
    """ "cpu" or "cuda": "auto" is the card where it works, otherwise the processor, and `say` is told why, in one line.

    Args:
        width, height: pixels of the pictures; a card does not draw the largest.

    Raises:
        CardError: the device is "cuda" and cannot be used. ValueError: there is no such device.
    """
    if device not in DEVICES:
        raise ValueError(f"unknown device '{device}': choose {', '.join(DEVICES[:-1])} or {DEVICES[-1]}")
    if device == "cpu":
        return device
    try:
        if max(width, height) > LARGEST_ON_CARD:
            raise CardError(f"a card draws pictures of up to {LARGEST_ON_CARD} pixels each side, not {width}x{height}")
        _check_card()
    except CardError as error:
        if device == "cuda":
            raise CardError(f"--device cuda: {error}: use --device cpu or auto") from error
        say(f"drawing on the processor: {error}")
        return "cpu"
    return "cuda"


def rasteriser(device: str = "cpu") -> Renderer:
    """The rasteriser on "cpu" or "cuda". Raises CardError where the card cannot be used."""
    if device == "cuda":
        from simtown.render.cuda.engine import Cuda

        return Cuda()
    from simtown.render.raster import Raster

    return Raster()


def _check_card() -> None:
    """Raises CardError, in one line, unless there are a card, its driver and what compiles for it."""
    from simtown.render.cuda.card import check_card

    check_card()
