"""Batch norm, ReLU and dropout of whole channels as one operation, on one thread of a processor.

PyTorch goes through the maps once or more for each of the three, forwards and backwards. Here it is four
times: sums, result, sums of gradients, gradient. Maps are float32 or bfloat16. Arithmetic is float32, sums
over the pictures are float64, and only what is written is rounded.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from torch import nn
from torch.autograd.function import once_differentiable

from simtown.core.exact import kernel

_I16, _I32 = ir.IntType(16), ir.IntType(32)


@intrinsic
def _wide(typing, kept):
    """The float32 that is kept: as itself, or as a bfloat16's bits, an int16."""

    def generate(context, builder, signature, arguments):
        if kept == types.float32:
            return arguments[0]
        return builder.bitcast(builder.shl(builder.zext(arguments[0], _I32), _I32(16)), ir.FloatType())

    return types.float32(kept), generate


@intrinsic
def _kept(typing, array, number):
    """A float32 as an array keeps it: itself, or the bits of the nearest bfloat16, the even one of two."""

    def generate(context, builder, signature, arguments):
        if array.dtype == types.float32:
            return arguments[1]
        bits = builder.bitcast(arguments[1], _I32)
        odd = builder.and_(builder.lshr(bits, _I32(16)), _I32(1))
        return builder.trunc(builder.lshr(builder.add(builder.add(bits, _I32(0x7FFF)), odd), _I32(16)), _I16)

    return array.dtype(array, types.float32), generate


# In the kernels maps are (pictures, places, channels), float32 or, of bfloat16, int16.


@kernel
def _sums(x, centre, sums):
    """Of every picture and channel: the sum of what x exceeds the centre by, and that of the squares.

    They go to (pictures, 2, channels) float32. Near a centre sums lose no digits, however far from 0 it lies.
    """
    # arrays of its own: LLVM knows that no other lies in the same place, and takes a vector at a time
    total, squares = np.empty(x.shape[2], np.float32), np.empty(x.shape[2], np.float32)
    for b in range(len(x)):
        total[:] = 0
        squares[:] = 0
        for place in range(x.shape[1]):
            for c in range(x.shape[2]):
                value = _wide(x[b, place, c]) - centre[c]
                total[c] += value
                squares[c] += value * value
        sums[b, 0] = total
        sums[b, 1] = squares


@kernel
def _results(x, centre, scale, shift, keep, y):
    """y = relu(scale · (x - centre) + shift) · keep; what is no number stays so."""
    for b in range(len(x)):
        kept = keep[b]
        for place in range(x.shape[1]):
            before, after = x[b, place], y[b, place]
            for c in range(x.shape[2]):
                value = (_wide(before[c]) - centre[c]) * scale[c] + shift[c]
                after[c] = _kept(after, (np.float32(0) if value <= 0 else value) * kept[c])


@kernel
def _gradient_sums(x, gradient, centre, scale, shift, sums):
    """Of every picture and channel: the sum of what passes the ReLU, and of its products with x - centre."""
    total, products = np.empty(x.shape[2], np.float32), np.empty(x.shape[2], np.float32)
    for b in range(len(x)):
        total[:] = 0
        products[:] = 0
        for place in range(x.shape[1]):
            before, after = x[b, place], gradient[b, place]
            for c in range(x.shape[2]):
                value, arriving = _wide(before[c]) - centre[c], _wide(after[c])
                passed = arriving if value * scale[c] + shift[c] > 0 else np.float32(0)
                total[c] += passed
                products[c] += passed * value
        sums[b, 0] = total
        sums[b, 1] = products


@kernel
def _gradients(x, gradient, centre, scale, shift, keep, slope, offset, result):
    """result = scale · passed · keep + slope · (x - centre) + offset."""
    for b in range(len(x)):
        kept = keep[b]
        for place in range(x.shape[1]):
            before, after, to = x[b, place], gradient[b, place], result[b, place]
            for c in range(x.shape[2]):
                value, arriving = _wide(before[c]) - centre[c], _wide(after[c]) * kept[c]
                passed = arriving if value * scale[c] + shift[c] > 0 else np.float32(0)
                to[c] = _kept(to, passed * scale[c] + value * slope[c] + offset[c])


def _memory(maps: torch.Tensor) -> np.ndarray:
    """(b, h, w, channels) → the same memory as (b, h · w, channels); bfloat16 as int16."""
    maps = maps.detach()
    values: np.ndarray = (
        (maps if maps.dtype == torch.float32 else maps.view(torch.int16)).flatten(1, 2).numpy()
    )
    return values


def _channels_last(maps: torch.Tensor) -> torch.Tensor:
    """(b, channels, h, w) → contiguous (b, h, w, channels): the same memory if it lies so already."""
    return maps.permute(0, 2, 3, 1).contiguous()


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
        x = _channels_last(maps)
        values, (b, channels) = _memory(x), maps.shape[:2]
        n, sums = b * values.shape[1], np.empty((b, 2, channels), dtype=np.float32)
        centre = x[0, 0, 0].detach().float().numpy()
        _sums(values, centre, sums)
        above, squares = sums.sum(0, dtype=np.float64) / n
        variance = np.maximum(squares - above**2, 0)
        inverse_std = 1 / np.sqrt(variance + norm.eps)
        scale = (weight.detach().numpy() * inverse_std).astype(np.float32)
        shift = (bias.detach().numpy() - above * scale).astype(np.float32)
        keep = torch.empty(b, channels).bernoulli_(1 - rate).div_(1 - rate or 1).numpy()
        y = torch.empty_like(x)
        _results(values, centre, scale, shift, keep, _memory(y))
        for running, now in (
            (norm.running_mean, centre + above),
            (norm.running_var, variance * n / max(n - 1, 1)),
        ):
            running.lerp_(torch.from_numpy(now).to(running.dtype), norm.momentum)
        norm.num_batches_tracked += 1
        ctx.save_for_backward(x)
        ctx.known = centre, scale, shift, keep, above, inverse_std
        return y.permute(0, 3, 1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (x,) = ctx.saved_tensors
        centre, scale, shift, keep, above, inverse_std = ctx.known
        values, arrived = _memory(x), _memory(_channels_last(gradient))
        b, places, channels = values.shape
        n, sums = b * places, np.empty((b, 2, channels), dtype=np.float32)
        _gradient_sums(values, arrived, centre, scale, shift, sums)
        of_bias, products = (sums * keep[:, None]).sum(0, dtype=np.float64)
        of_weight = (products - above * of_bias) * inverse_std
        slope = -scale * of_weight * inverse_std / n
        offset = -scale * of_bias / n - slope * above
        result = torch.empty_like(x)
        _gradients(
            *(values, arrived, centre, scale, shift, keep),
            *(slope.astype(np.float32), offset.astype(np.float32)),
            _memory(result),
        )
        of_parameters = (torch.from_numpy(each.astype(np.float32)) for each in (of_weight, of_bias))
        return result.permute(0, 3, 1, 2), *of_parameters, None, None


def applies(maps: torch.Tensor, norm: nn.BatchNorm2d) -> bool:
    """Whether :func:`norm_relu_drop` serves these maps and this norm. A sweep's runs have one thread each."""
    return (
        maps.dtype in (torch.float32, torch.bfloat16)
        and maps.device.type == "cpu"
        and torch.get_num_threads() == 1
        and norm.running_mean is not None
        and not torch.compiler.is_compiling()
        # such as vmap, which needs PyTorch's own operations
        and not torch._C._are_functorch_transforms_active()
    )


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
