"""Every renderer by name, and the choice of the device that draws: the processor or a graphics card."""

from collections.abc import Callable
from importlib import import_module

from simtown.render.frames import LARGEST_ON_CARD, CardError, Renderer

#: The module and the class of each renderer: the rasteriser by the device it draws on, and OpenGL.
RENDERERS = {
    "cpu": ("simtown.render.raster", "Raster"),
    "cuda": ("simtown.render.cuda.engine", "Cuda"),
    "opengl": ("simtown.render.opengl", "OpenGL"),
}


def make_renderer(name: str = "cpu") -> Renderer:
    """A new renderer of :data:`RENDERERS`, whose module is imported now.

    Raises:
        CardError: it draws on a graphics card, which cannot be used.
        ImportError: a package or library that it needs is missing; the message names it.
    """
    module, kind = RENDERERS[name]
    renderer: Renderer = getattr(import_module(module), kind)()
    return renderer


def choose_device(
    device: str, report: Callable[[str], None], width: int = LARGEST_ON_CARD, height: int = LARGEST_ON_CARD
) -> str:
    """The device that draws, "cpu" or "cuda"; "auto" is the card if it works, and the processor otherwise.

    Args:
        device: "auto", "cpu" or "cuda".
        report: receives one line that says why "auto" draws on the processor.
        width: of the pictures, pixels.
        height: of the pictures, pixels; a card does not draw the largest.

    Raises:
        CardError: the device is "cuda" and cannot be used.
        ValueError: there is no such device.
    """
    if device == "cpu":
        return device
    if device not in ("auto", "cuda"):
        raise ValueError(f"unknown device '{device}': choose auto, cpu or cuda")
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
