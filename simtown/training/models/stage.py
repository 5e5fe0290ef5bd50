"""Batch norm, ReLU and dropout of whole channels as one operation, on one thread of a processor.

PyTorch goes through the maps once or more for each of the three, forwards and backwards. Here it is four
times: sums, result, sums of gradients, gradient; once where nothing is learned. Arithmetic is float32, sums
over the pictures are float64, and only what is written is rounded.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.autograd.function import once_differentiable

from simtown.core.exact import kernel
from simtown.training.models.maps import channels_last, kept, memory, serves, wide

#: Places that a kernel takes at once at most: a loop over the channels of one is too short to be fast.
_TOGETHER = 8

# In the kernels maps are (pictures, groups of places, lanes): a lane is a channel of one place of the group.
# What is known of a channel stands in all its lanes.


@kernel
def _sums(x, centre, sums):
    """Add, to (2, channels) float64, the sum of what x exceeds the centre by, and that of the squares.

    Near a centre sums lose no digits, however far from 0 it lies.
    """
    # arrays of its own: LLVM knows that no other lies in the same place, and takes a vector at a time
    lanes, channels = x.shape[2], sums.shape[1]
    total, squares = np.empty(lanes, np.float32), np.empty(lanes, np.float32)
    for b in range(len(x)):
        total[:] = 0
        squares[:] = 0
        for group in range(x.shape[1]):
            for lane in range(lanes):
                value = wide(x[b, group, lane]) - centre[lane]
                total[lane] += value
                squares[lane] += value * value
        for first in range(0, lanes, channels):
            for c in range(channels):
                sums[0, c] += total[first + c]
                sums[1, c] += squares[first + c]


@kernel
def _results(x, centre, scale, shift, keep, y):
    """y = relu(scale · (x - centre) + shift) · keep; what is no number stays so."""
    for b in range(len(x)):
        share = keep[b]
        for group in range(x.shape[1]):
            before, after = x[b, group], y[b, group]
            for lane in range(x.shape[2]):
                value = (wide(before[lane]) - centre[lane]) * scale[lane] + shift[lane]
                after[lane] = kept(after, (np.float32(0) if value <= 0 else value) * share[lane])


@kernel
def _gradient_sums(x, gradient, centre, scale, shift, keep, sums):
    """Add, to (2, channels) float64, the sum of what passes dropout and ReLU, and of its products with
    x - centre.
    """
    lanes, channels = x.shape[2], sums.shape[1]
    total, products = np.empty(lanes, np.float32), np.empty(lanes, np.float32)
    for b in range(len(x)):
        total[:] = 0
        products[:] = 0
        for group in range(x.shape[1]):
            before, after = x[b, group], gradient[b, group]
            for lane in range(lanes):
                value, arriving = wide(before[lane]) - centre[lane], wide(after[lane])
                passed = arriving if value * scale[lane] + shift[lane] > 0 else np.float32(0)
                total[lane] += passed
                products[lane] += passed * value
        for first in range(0, lanes, channels):
            for c in range(channels):
                sums[0, c] += total[first + c] * keep[b, c]
                sums[1, c] += products[first + c] * keep[b, c]


@kernel
def _gradients(x, gradient, centre, scale, shift, keep, slope, offset, result):
    """result = scale · passed · keep + slope · (x - centre) + offset."""
    for b in range(len(x)):
        share = keep[b]
        for group in range(x.shape[1]):
            before, after, to = x[b, group], gradient[b, group], result[b, group]
            for lane in range(x.shape[2]):
                value, arriving = wide(before[lane]) - centre[lane], wide(after[lane]) * share[lane]
                passed = arriving if value * scale[lane] + shift[lane] > 0 else np.float32(0)
                to[lane] = kept(to, passed * scale[lane] + value * slope[lane] + offset[lane])


class _Lanes:
    """How a kernel sees maps of (b, h, w, channels)."""

    def __init__(self, maps: torch.Tensor) -> None:
        b, h, w, channels = maps.shape
        self.together = gcd(h * w, _TOGETHER)
        self._shape = b, h * w // self.together, self.together * channels

    def of(self, maps: torch.Tensor) -> np.ndarray:
        """(b, h, w, channels) → the same memory as (b, groups, lanes)."""
        return memory(maps).reshape(self._shape)

    def known(self, *values: np.ndarray) -> list[np.ndarray]:
        """(..., channels) → (..., lanes) float32."""
        return [np.tile(each.astype(np.float32), self.together) for each in values]


class _NormReluDrop(torch.autograd.Function):
    """See :func:`norm_relu_drop`."""

    @staticmethod
    def forward(
        ctx: Any,
        maps: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        norm: nn.BatchNorm2d,
        rate: float,
    ) -> torch.Tensor:
        x = channels_last(maps)
        lanes, (b, channels), n = _Lanes(x), maps.shape[:2], x.numel() // x.shape[3]
        centre, sums = x[0, 0, 0].detach().float().numpy(), np.zeros((2, channels))
        _sums(lanes.of(x), *lanes.known(centre), sums)
        above, squares = sums / n
        variance = np.maximum(squares - above**2, 0)
        inverse_std = 1 / np.sqrt(variance + norm.eps)
        scale = weight.detach().numpy() * inverse_std
        shift = bias.detach().numpy() - above * scale
        keep = torch.empty(b, channels).bernoulli_(1 - rate).div_(1 - rate or 1).numpy()
        known, y = lanes.known(centre, scale, shift, keep), torch.empty_like(x)
        _results(lanes.of(x), *known, lanes.of(y))
        for running, now in (
            (norm.running_mean, centre + above),
            (norm.running_var, variance * n / max(n - 1, 1)),
        ):
            running.lerp_(torch.from_numpy(now).to(running.dtype), norm.momentum)
        norm.num_batches_tracked += 1
        ctx.save_for_backward(x)
        ctx.lanes, ctx.known, ctx.moments = lanes, known, (n, scale, above, inverse_std)
        return y.permute(0, 3, 1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (x,) = ctx.saved_tensors
        lanes, (n, scale, above, inverse_std) = ctx.lanes, ctx.moments
        arrived, result, sums = channels_last(gradient), torch.empty_like(x), np.zeros((2, x.shape[3]))
        _gradient_sums(lanes.of(x), lanes.of(arrived), *ctx.known, sums)
        of_bias, products = sums
        of_weight = (products - above * of_bias) * inverse_std
        slope = -scale * of_weight * inverse_std / n
        offset = -scale * of_bias / n - slope * above
        _gradients(lanes.of(x), lanes.of(arrived), *ctx.known, *lanes.known(slope, offset), lanes.of(result))
        of_parameters = (torch.from_numpy(each.astype(np.float32)) for each in (of_weight, of_bias))
        return result.permute(0, 3, 1, 2), *of_parameters, None, None


def applies(maps: torch.Tensor, norm: nn.BatchNorm2d) -> bool:
    """Whether :func:`norm_relu_drop` and :func:`norm_relu` serve these maps and this norm."""
    return serves(maps) and norm.running_mean is not None


def norm_relu_drop(maps: torch.Tensor, norm: nn.BatchNorm2d, rate: float) -> torch.Tensor:
    """Batch norm, ReLU and dropout of whole channels in training, as PyTorch's three layers have it.

    The random numbers are the same too. The norm's running statistics move on.

    Args:
        maps: (b, channels, h, w) float32 or bfloat16 on a processor, where one thread computes.
        norm: a batch norm with float32 parameters, momentum and running statistics.
        rate: share of channels dropped.

    Returns:
        (b, channels, h, w) of the same kind, channels last.
    """
    result: torch.Tensor = _NormReluDrop.apply(maps, norm.weight, norm.bias, norm, rate)
    return result


def norm_relu(maps: torch.Tensor, norm: nn.BatchNorm2d) -> torch.Tensor:
    """Batch norm by the running statistics, and ReLU, where nothing is learned.

    Maps, norm and result as of :func:`norm_relu_drop`. No gradient comes back.
    """
    x = channels_last(maps)
    lanes, y = _Lanes(x), torch.empty_like(x)
    scale, keep = norm.weight * (norm.running_var + norm.eps).rsqrt(), torch.ones(len(x), x.shape[3])
    known = (each.detach().numpy() for each in (norm.running_mean, scale, norm.bias, keep))
    _results(lanes.of(x), *lanes.known(*known), lanes.of(y))
    return y.permute(0, 3, 1, 2)
