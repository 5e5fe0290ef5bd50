"""Batch norm, ReLU and dropout of whole channels as one operation, on one thread of a processor.

PyTorch goes through the maps once or more for each of the three, forwards and backwards. Here it is four
times: sums, result, sums of gradients, gradient; once where nothing is learned. Where the maps are those of a
picture and labels, the sum of the two is never written: every pass adds them anew. Arithmetic is float32,
sums over the pictures are float64, and only what is written is rounded.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.autograd.function import once_differentiable

from simtown.core.exact import kernel
from simtown.training.models.maps import Places, channels_last, kept, serves, wide


class Label(NamedTuple):
    """What labels add to the maps of pictures.

    Attributes:
        added: (slots · b, kinds, channels), what each label adds to all places of a kind.
        kinds: (h · w, kinds), 1 where a place is of a kind.
        places: the same, for kernels.
    """

    added: torch.Tensor
    kinds: torch.Tensor
    places: Places

    def add_to(self, maps: torch.Tensor) -> torch.Tensor:
        """(b, channels, h, w) → (slots · b, channels, h, w), channels last, by PyTorch's operations."""
        b, channels, h, w = maps.shape
        pixels = maps.permute(0, 2, 3, 1).reshape(b, h * w, channels)
        kinds = self.kinds.to(maps.dtype).expand(b, -1, -1)
        # slot by slot: repeating the pixels would sum their gradients over the slots, which is slow in bf16
        slots = [torch.baddbmm(pixels, kinds, slot) for slot in self.added.to(maps.dtype).split(b)]
        return torch.cat(slots).view(-1, h, w, channels).permute(0, 3, 1, 2)


# In the kernels maps are (pictures, groups, lanes), see Places. What is known of a channel stands in all its
# lanes. A source is maps; what is added to them, (results, kinds, channels) or (1, kinds, channels) if it is
# the same for all; and the kinds and rows of Places. Result n is of picture n % pictures.


@kernel
def _centred(added, kind_of, centre, rows):
    """What has to be subtracted from the lanes of each row: the centre, less what is added."""
    channels = added.shape[1]
    for row in range(len(kind_of)):
        for place in range(kind_of.shape[1]):
            kind, first = kind_of[row, place], place * channels
            for c in range(channels):
                rows[row, first + c] = centre[c] - added[kind, c]


@kernel
def _sums(source, results, centre, sums):
    """Add, to (2, channels) float64, the sum of what x exceeds the centre by, and that of the squares.

    Near a centre sums lose no digits, however far from 0 it lies.
    """
    x, added, kind_of, row_of = source
    # arrays of its own: LLVM knows that no other lies in the same place, and takes a vector at a time
    lanes, channels = x.shape[2], sums.shape[1]
    rows = np.empty((len(kind_of), lanes), np.float32)
    total, squares = np.empty(lanes, np.float32), np.empty(lanes, np.float32)
    for n in range(results):
        if n < len(added):
            _centred(added[n], kind_of, centre, rows)
        total[:] = 0
        squares[:] = 0
        for group in range(len(row_of)):
            before, row = x[n % len(x), group], rows[row_of[group]]
            for lane in range(lanes):
                value = wide(before[lane]) - row[lane]
                total[lane] += value
                squares[lane] += value * value
        for first in range(0, lanes, channels):
            for c in range(channels):
                sums[0, c] += total[first + c]
                sums[1, c] += squares[first + c]


@kernel
def _results(source, centre, scale, shift, keep, y):
    """y = relu(scale · (x - centre) + shift) · keep; NaN stays NaN."""
    x, added, kind_of, row_of = source
    rows = np.empty((len(kind_of), x.shape[2]), np.float32)
    for n in range(len(y)):
        if n < len(added):
            _centred(added[n], kind_of, centre, rows)
        share = keep[n]
        for group in range(len(row_of)):
            before, row, after = x[n % len(x), group], rows[row_of[group]], y[n, group]
            for lane in range(x.shape[2]):
                value = (wide(before[lane]) - row[lane]) * scale[lane] + shift[lane]
                after[lane] = kept(after, (np.float32(0) if value <= 0 else value) * share[lane])


@kernel
def _gradient_sums(source, gradient, centre, scale, shift, keep, sums):
    """Add, to (2, channels) float64, sums of what passes dropout and ReLU, and of it times (x - centre)."""
    x, added, kind_of, row_of = source
    lanes, channels = x.shape[2], sums.shape[1]
    rows = np.empty((len(kind_of), lanes), np.float32)
    total, products = np.empty(lanes, np.float32), np.empty(lanes, np.float32)
    for n in range(len(gradient)):
        if n < len(added):
            _centred(added[n], kind_of, centre, rows)
        total[:] = 0
        products[:] = 0
        for group in range(len(row_of)):
            before, row, after = x[n % len(x), group], rows[row_of[group]], gradient[n, group]
            for lane in range(lanes):
                value, arriving = wide(before[lane]) - row[lane], wide(after[lane])
                passed = arriving if value * scale[lane] + shift[lane] > 0 else np.float32(0)
                total[lane] += passed
                products[lane] += passed * value
        for first in range(0, lanes, channels):
            for c in range(channels):
                sums[0, c] += total[first + c] * keep[n, c]
                sums[1, c] += products[first + c] * keep[n, c]


@kernel
def _gradient(value, arriving, scale, shift, slope, offset):
    """scale · passed + slope · (x - centre) + offset, of one lane."""
    passed = arriving if value * scale + shift > 0 else np.float32(0)
    return passed * scale + value * slope + offset


@kernel
def _gradients(x, gradient, centre, scale, shift, keep, slope, offset, of_x):
    """The gradient of maps to which nothing is added."""
    for n in range(len(x)):
        share = keep[n]
        for group in range(x.shape[1]):
            before, after, to = x[n, group], gradient[n, group], of_x[n, group]
            for lane in range(x.shape[2]):
                value, arriving = wide(before[lane]) - centre[lane], wide(after[lane]) * share[lane]
                to[lane] = kept(
                    to, _gradient(value, arriving, scale[lane], shift[lane], slope[lane], offset[lane])
                )


@kernel
def _labelled_gradients(source, gradient, centre, scale, shift, keep, slope, offset, of_x, of_added):
    """The gradients of the maps, summed over the slots, and of what is added, summed over the places."""
    x, added, kind_of, row_of = source
    pictures, lanes, channels = len(x), x.shape[2], added.shape[2]
    slots = len(added) // pictures
    rows = np.empty((slots, len(kind_of), lanes), np.float32)
    totals = np.empty((slots, len(kind_of), lanes), np.float32)
    total_of_slots = np.empty(lanes, np.float32)
    of_added[:] = 0
    for b in range(pictures):
        totals[:] = 0
        for slot in range(slots):
            _centred(added[slot * pictures + b], kind_of, centre, rows[slot])
        for group in range(len(row_of)):
            before, to = x[b, group], of_x[b, group]
            total_of_slots[:] = 0
            for slot in range(slots):
                n, like = slot * pictures + b, row_of[group]
                after, share, row, total = gradient[n, group], keep[n], rows[slot, like], totals[slot, like]
                for lane in range(lanes):
                    value, arriving = wide(before[lane]) - row[lane], wide(after[lane]) * share[lane]
                    result = _gradient(value, arriving, scale[lane], shift[lane], slope[lane], offset[lane])
                    total[lane] += result
                    total_of_slots[lane] += result
            for lane in range(lanes):
                to[lane] = kept(to, total_of_slots[lane])
        for slot in range(slots):
            for like in range(len(kind_of)):
                for place in range(kind_of.shape[1]):
                    for c in range(channels):
                        of_added[slot * pictures + b, kind_of[like, place], c] += totals[
                            slot, like, place * channels + c
                        ]


class _Source:
    """Maps of (b, channels, h, w) and what labels add to them, as the kernels read them."""

    def __init__(self, x: torch.Tensor, added: torch.Tensor | None, places: Places | None) -> None:
        b, h, w, channels = x.shape
        self.places = places or Places.alike(h * w)
        self.maps = self.places.of(x)
        self.added = (
            np.zeros((1, 1, channels), np.float32)
            if added is None
            else added.detach().float().contiguous().numpy()
        )
        self.results = b if added is None else len(added)
        self.all = self.maps, self.added, self.places.kind_of, self.places.row_of


class _NormReluDrop(torch.autograd.Function):
    """Batch norm, ReLU and dropout of whole channels in training.

    `maps` are (b, channels, h, w) float32 or bfloat16; `norm` has float32 parameters and running statistics.
    """

    @staticmethod
    def forward(
        ctx: Any,
        maps: torch.Tensor,
        added: torch.Tensor | None,
        weight: torch.Tensor,
        bias: torch.Tensor,
        norm: nn.BatchNorm2d,
        rate: float,
        places: Places | None,
    ) -> torch.Tensor:
        x = channels_last(maps)
        source = _Source(x, added, places)
        n, channels = source.results * x.shape[1] * x.shape[2], x.shape[3]
        centre, sums = x[0, 0, 0].detach().float().numpy() + source.added[0, 0], np.zeros((2, channels))
        _sums(source.all, source.results, centre, sums)
        above, squares = sums / n
        variance = np.maximum(squares - above**2, 0)
        inverse_std = 1 / np.sqrt(variance + norm.eps)
        scale = weight.detach().numpy() * inverse_std
        shift = bias.detach().numpy() - above * scale
        keep = torch.empty(source.results, channels).bernoulli_(1 - rate).div_(1 - rate or 1).numpy()
        known, y = source.places.lanes(scale, shift, keep), x.new_empty(source.results, *x.shape[1:])
        _results(source.all, centre, *known, source.places.of(y))
        for running, now in (
            (norm.running_mean, centre + above),
            (norm.running_var, variance * n / max(n - 1, 1)),
        ):
            running.lerp_(torch.from_numpy(now).to(running.dtype), norm.momentum)
        norm.num_batches_tracked += 1
        ctx.save_for_backward(x, *(() if added is None else (added,)))
        ctx.places, ctx.known, ctx.moments = places, (centre, *known), (n, scale, above, inverse_std)
        return y.permute(0, 3, 1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, *others = ctx.saved_tensors
        added = others[0] if others else None
        source, (n, scale, above, inverse_std) = _Source(x, added, ctx.places), ctx.moments
        places, arrived, of_x = source.places, channels_last(gradient), torch.empty_like(x)
        centre, *known = ctx.known
        sums = np.zeros((2, x.shape[3]))
        _gradient_sums(source.all, places.of(arrived), centre, *known, sums)
        of_bias, products = sums
        of_weight = (products - above * of_bias) * inverse_std
        slope = -scale * of_weight * inverse_std / n
        known += places.lanes(slope, -scale * of_bias / n - slope * above)
        of_added = None
        if added is None:
            _gradients(source.maps, places.of(arrived), *places.lanes(centre), *known, places.of(of_x))
        else:
            summed = np.empty(added.shape, np.float32)
            _labelled_gradients(source.all, places.of(arrived), centre, *known, places.of(of_x), summed)
            of_added = torch.from_numpy(summed).to(added.dtype)
        of_parameters = (torch.from_numpy(each.astype(np.float32)) for each in (of_weight, of_bias))
        return of_x.permute(0, 3, 1, 2), of_added, *of_parameters, None, None, None


def _norm_relu(
    maps: torch.Tensor, added: torch.Tensor | None, norm: nn.BatchNorm2d, places: Places | None
) -> torch.Tensor:
    """Batch norm by the running statistics, and ReLU, where nothing is learned."""
    x = channels_last(maps)
    source = _Source(x, added, places)
    y = x.new_empty(source.results, *x.shape[1:])
    scale, keep = norm.weight * (norm.running_var + norm.eps).rsqrt(), torch.ones(len(y), x.shape[3])
    known = source.places.lanes(*(each.detach().numpy() for each in (scale, norm.bias, keep)))
    centre = norm.running_mean.detach().float().numpy()
    _results(source.all, centre, *known, source.places.of(y))
    return y.permute(0, 3, 1, 2)


class Stage(nn.Module):
    """What follows a convolution: batch norm, ReLU, dropout of whole channels, as PyTorch has them.

    With labels, what they add comes first: (b, channels, h, w) maps become (slots · b, channels, h, w).
    The random numbers and the running statistics are PyTorch's too.
    """

    def __init__(self, channels: int, dropout: float) -> None:
        super().__init__()
        self.norm, self.drop = nn.BatchNorm2d(channels), nn.Dropout2d(dropout)

    def forward(self, x: torch.Tensor, label: Label | None = None) -> torch.Tensor:
        if serves(x) and self.norm.running_mean is not None:
            added, places = (None, None) if label is None else (label.added, label.places)
            if self.training:
                norm = self.norm
                y: torch.Tensor = _NormReluDrop.apply(
                    x, added, norm.weight, norm.bias, norm, self.drop.p, places
                )
                return y
            if not torch.is_grad_enabled():
                return _norm_relu(x, added, self.norm, places)
        if label is not None:
            x = label.add_to(x)
        return self.drop(torch.relu_(self.norm(x)))
