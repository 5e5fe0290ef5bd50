"""Adding a label to the maps of a picture as one operation, on one thread of a processor.

What a label adds at a place is the sum of the kernel's taps that fall into the picture there. Nearly all
places have all taps, so a row of places differs from the next only at the picture's border.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from simtown.core.exact import kernel
from simtown.training.models.maps import kept, memory, wide

# In the kernels a row of places is one axis of lanes, of a place and a channel each; `kinds` says which taps
# the places of each kind have, `kind_of` which kind each place is of, and `row_of` which of its rows a row of
# maps is like.


@kernel
def _add(pixels, taps, kinds, kind_of, row_of, y):
    """y = pixels + what the label adds, for every slot and picture."""
    pictures, lanes, channels = len(pixels), pixels.shape[2], taps.shape[2]
    added = np.empty((len(kinds), channels), np.float32)
    rows = np.empty((len(kind_of), lanes), np.float32)
    for n in range(len(taps)):
        added[:] = 0
        for kind in range(len(kinds)):
            for tap in range(kinds.shape[1]):
                if kinds[kind, tap]:
                    for c in range(channels):
                        added[kind, c] += wide(taps[n, tap, c])
        for row in range(len(kind_of)):
            for place in range(kind_of.shape[1]):
                rows[row, place * channels : (place + 1) * channels] = added[kind_of[row, place]]
        for h in range(pixels.shape[1]):
            before, row, after = pixels[n % pictures, h], rows[row_of[h]], y[n, h]
            for lane in range(lanes):
                after[lane] = kept(after, wide(before[lane]) + row[lane])


@kernel
def _gradients(gradient, kinds, kind_of, row_of, of_pixels, of_taps):
    """The gradients of the pixels, summed over the slots, and of the taps, summed over the places."""
    pictures, lanes, channels = len(of_pixels), of_pixels.shape[2], of_taps.shape[2]
    pixels = np.empty((of_pixels.shape[1], lanes), np.float32)
    rows = np.empty((len(kind_of), lanes), np.float32)
    added = np.empty((len(kinds), channels), np.float32)
    for b in range(pictures):
        pixels[:] = 0
        for n in range(b, len(gradient), pictures):
            rows[:] = 0
            for h in range(len(pixels)):
                arriving, row, pixel = gradient[n, h], rows[row_of[h]], pixels[h]
                for lane in range(lanes):
                    value = wide(arriving[lane])
                    row[lane] += value
                    pixel[lane] += value
            added[:] = 0
            for row_kind in range(len(kind_of)):
                for place in range(kind_of.shape[1]):
                    kind = kind_of[row_kind, place]
                    for c in range(channels):
                        added[kind, c] += rows[row_kind, place * channels + c]
            for tap in range(kinds.shape[1]):
                for c in range(channels):
                    total = np.float32(0)
                    for kind in range(len(kinds)):
                        total += kinds[kind, tap] * added[kind, c]
                    of_taps[n, tap, c] = kept(of_taps, total)
        for h in range(len(pixels)):
            pixel, to = pixels[h], of_pixels[b, h]
            for lane in range(lanes):
                to[lane] = kept(to, pixel[lane])


class Border:
    """Which taps fall into the picture, as the kernels want it.

    Args:
        inside: (h, w, taps): 1 where a tap of a place falls into the picture.
    """

    def __init__(self, inside: np.ndarray) -> None:
        rows, row_of = np.unique(inside, axis=0, return_inverse=True)
        kinds, kind_of = np.unique(rows.reshape(-1, inside.shape[2]), axis=0, return_inverse=True)
        self.known = kinds.astype(np.float32), kind_of.reshape(rows.shape[:2]), row_of.reshape(-1)


class _AddLabels(torch.autograd.Function):
    """See :func:`add_labels`."""

    @staticmethod
    def forward(ctx: Any, pixels: torch.Tensor, taps: torch.Tensor, border: Border) -> torch.Tensor:
        pixels, taps = pixels.contiguous(), taps.contiguous()
        y = pixels.new_empty(len(taps), *pixels.shape[1:])
        _add(_rows(pixels), memory(taps), *border.known, _rows(y))
        ctx.border, ctx.pixels, ctx.taps, ctx.kind = border, pixels.shape, taps.shape, taps.dtype
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        gradient = gradient.contiguous()
        of_pixels = gradient.new_empty(ctx.pixels)
        of_taps = gradient.new_empty(ctx.taps, dtype=ctx.kind)
        _gradients(_rows(gradient), *ctx.border.known, _rows(of_pixels), memory(of_taps))
        return of_pixels, of_taps, None


def _rows(maps: torch.Tensor) -> np.ndarray:
    """(b, h, w, channels) → the same memory as (b, h, w · channels)."""
    return memory(maps.flatten(2))


def add_labels(pixels: torch.Tensor, taps: torch.Tensor, border: Border) -> torch.Tensor:
    """What the pixels give, plus what the labels' constant channels give.

    Args:
        pixels: (b, h, w, channels) float32 or bfloat16 on a processor.
        taps: (slots · b, taps, channels) float32 or bfloat16: what a label gives through each tap.
        border: which taps each place has.

    Returns:
        (slots · b, h, w, channels) of the pixels' kind.
    """
    result: torch.Tensor = _AddLabels.apply(pixels, taps, border)
    return result
