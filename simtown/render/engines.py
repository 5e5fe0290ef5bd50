"""Choosing what draws: the rasteriser on the processor or on a graphics card."""

from __future__ import annotations

from collections.abc import Callable

from simtown.render.frames import Renderer

DEVICES = ("cpu", "cuda", "auto")


class CardError(ValueError):
    """The graphics card cannot be used; the message says why and what to do."""


def rasteriser(device: str = "cpu", say: Callable[[str], None] = lambda line: None) -> Renderer:
    """The rasteriser on a device; "auto" is the card where it works, otherwise the processor, and `say` is told why in one line.

    Raises:
        CardError: the device is "cuda" and cannot be used. ValueError: there is no such device.
    """
    if device not in DEVICES:
        raise ValueError(f"unknown device '{device}': choose {', '.join(DEVICES[:-1])} or {DEVICES[-1]}")
    if device != "cpu":
        try:
            return _on_card()
        except CardError as error:
            if device == "cuda":
                raise
            say(f"drawing on the processor: {error}")
    from simtown.render.raster import Raster

    return Raster()


def _on_card() -> Renderer:
    try:
        from simtown.render.cuda.engine import Cuda
    except ImportError as error:
        raise CardError(f"numba's CUDA is not there ({error}): pip install 'simtown[cuda]', or use --device cpu") from error
    return Cuda()
