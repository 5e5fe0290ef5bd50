"""Every renderer by name, and the choice of the device that draws: the processor or a graphics card."""

from __future__ import annotations

from collections.abc import Callable

from simtown.render.frames import LARGEST_ON_CARD, CardError, Renderer

DEVICES = ("cpu", "cuda", "auto")


def _raster() -> Renderer:
    from simtown.render.raster import Raster

    return Raster()


def _cuda() -> Renderer:
    from simtown.render.cuda.engine import Cuda

    return Cuda()


def _opengl() -> Renderer:
    from simtown.render.opengl import OpenGL

    return OpenGL()


#: What makes each renderer: the rasteriser by the device it draws on, and OpenGL. A renderer is imported when
#: it is made.
RENDERERS: dict[str, Callable[[], Renderer]] = {"cpu": _raster, "cuda": _cuda, "opengl": _opengl}


def make_renderer(name: str = "cpu") -> Renderer:
    """A new renderer of :data:`RENDERERS`.

    Raises:
        CardError: it draws on a graphics card, which cannot be used.
        ImportError: a package or library that it needs is missing; the message names it.
    """
    return RENDERERS[name]()


def choose_device(
    device: str, report: Callable[[str], None], width: int = LARGEST_ON_CARD, height: int = LARGEST_ON_CARD
) -> str:
    """The device that draws, "cpu" or "cuda"; "auto" is the card if it works, and the processor otherwise.

    Args:
        device: one of :data:`DEVICES`.
        report: receives one line that says why "auto" draws on the processor.
        width: of the pictures, pixels.
        height: of the pictures, pixels; a card does not draw the largest.

    Raises:
        CardError: the device is "cuda" and cannot be used.
        ValueError: there is no such device.
    """
    if device not in DEVICES:
        raise ValueError(f"unknown device '{device}': choose {', '.join(DEVICES[:-1])} or {DEVICES[-1]}")
    if device == "cpu":
        return device
    try:
        if max(width, height) > LARGEST_ON_CARD:
            limit = f"a card draws pictures of up to {LARGEST_ON_CARD} pixels each side"
            raise CardError(f"{limit}, not {width}x{height}")
        from simtown.render.cuda.card import check_card

        check_card()
    except CardError as error:
        if device == "cuda":
            raise CardError(f"`device=cuda`: {error}: use `device=cpu` or auto") from error
        report(f"drawing on the processor: {error}")
        return "cpu"
    return "cuda"
