"""Batch norm, ReLU and dropout of whole channels as one operation, on one thread of a processor.

PyTorch goes through the maps once or more for each of the three, forwards and backwards. Here it is four
times: sums, result, sums of gradients, gradient; once where nothing is learned. Where the maps are those of a
picture and labels, the sum of the two is never written: every pass adds them anew. Arithmetic is float32,
sums over the pictures are float64, and only what is written is rounded.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.autograd.function import once_differentiable

from simtown import kernels

#: Places that a kernel takes at once at most: a loop over the channels of one is too short to be fast.
_TOGETHER = 8


def memory(values: torch.Tensor) -> np.ndarray:
    """The memory of a contiguous tensor as an array of its shape; bfloat16 as int16."""
    values = values.detach()
    return (values if values.dtype == torch.float32 else values.view(torch.int16)).numpy()


def channels_last(maps: torch.Tensor) -> torch.Tensor:
    """(b, channels, h, w) → contiguous (b, h, w, channels): the same memory if it lies so already."""
    return maps.permute(0, 2, 3, 1).contiguous()


def serves(maps: torch.Tensor) -> bool:
    """Whether a kernel of one thread may compute these maps. A sweep's runs have one thread each."""
    return (
        maps.dtype in (torch.float32, torch.bfloat16)
        and maps.device.type == "cpu"
        and torch.get_num_threads() == 1
        and not torch.compiler.is_compiling()
        # such as vmap, which needs PyTorch's own operations
        and not torch._C._are_functorch_transforms_active()
    )


@dataclass(frozen=True)
class Places:
    """The places of a map in groups that a kernel takes at once; a lane is a channel of one place of a group.

    Attributes:
        kinds: number of kinds of places: to all of a kind the same is added.
        kind_of: (rows, places) int, of which kind each place is, in groups that are like this row.
        row_of: (groups,) int, which row each group is like.
    """

    kinds: int
    kind_of: np.ndarray
    row_of: np.ndarray

    @classmethod
    def alike(cls, count: int) -> Places:
        """So many places, all of one kind."""
        together = gcd(count, _TOGETHER)
        return cls(1, np.zeros((1, together), int), np.zeros(count // together, int))

    @classmethod
    def of_kinds(cls, kind_of: np.ndarray) -> Places:
        """From the kind of each place, (h, w): a group is a row of the map."""
        rows, row_of = np.unique(kind_of, axis=0, return_inverse=True)
        return cls(int(kind_of.max()) + 1, rows, row_of.reshape(-1))

    def of(self, maps: torch.Tensor) -> np.ndarray:
        """(b, h, w, channels) → the same memory as (b, groups, lanes)."""
        lanes = self.kind_of.shape[1] * maps.shape[3]
        return memory(maps).reshape(len(maps), len(self.row_of), lanes)

    def lanes(self, *values: np.ndarray) -> list[np.ndarray]:
        """Values of channels, (..., channels), repeated for each lane: (..., lanes) float32."""
        return [np.tile(each.astype(np.float32), self.kind_of.shape[1]) for each in values]


class Label(NamedTuple):
    """The addition of labels to the maps of pictures.

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


class _Source:
    """Maps of (b, channels, h, w) and what labels add to them, as the kernels read them.

    In simtown/kernels/processor/layers.cpp maps are (pictures, groups, lanes), see Places. What is known of a
    channel stands in all its lanes. Result n is of picture n % pictures.
    """

    def __init__(self, x: torch.Tensor, added: torch.Tensor | None, places: Places | None) -> None:
        b, h, w, channels = x.shape
        self.places = places or Places.alike(h * w)
        self.added = np.zeros((1, 1, channels), np.float32)
        if added is not None:
            self.added = added.detach().float().contiguous().numpy()
        self.results = b if added is None else len(added)
        self.given = {"x": self.places.of(x), "added": self.added, "half": x.dtype == torch.bfloat16}
        for name in ("kind_of", "row_of"):
            self.given[name] = np.ascontiguousarray(getattr(self.places, name), dtype=np.int64)

    def call(self, kernel: str, centre: np.ndarray, **given: Any) -> None:
        """Call a kernel with the maps and what is known of their channels."""
        kernels.call(kernel, **self.given, centre=np.ascontiguousarray(centre, dtype=np.float32), **given)


class _NormReluDrop(torch.autograd.Function):
    """Batch norm, ReLU and dropout of whole channels in training.

    `maps` are (b, channels, h, w) float32 or bfloat16; `norm` has float32 parameters and running statistics.
    """

    @staticmethod
    def forward(  # noqa: PLR0917 (apply() passes no keywords)
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
        source.call("norm_sums", centre, results=source.results, sums=sums)
        above, squares = sums / n
        variance = np.maximum(squares - above**2, 0)
        inverse_std = 1 / np.sqrt(variance + norm.eps)
        scale = weight.detach().numpy() * inverse_std
        shift = bias.detach().numpy() - above * scale
        keep = torch.empty(source.results, channels).bernoulli_(1 - rate).div_(1 - rate or 1).numpy()
        y = x.new_empty(source.results, *x.shape[1:])
        known = dict(zip(("scale", "shift", "keep"), source.places.lanes(scale, shift, keep), strict=True))
        source.call("norm_results", centre, **known, y=source.places.of(y))
        unbiased = variance * n / max(n - 1, 1)
        for running, now in ((norm.running_mean, centre + above), (norm.running_var, unbiased)):
            running.lerp_(torch.from_numpy(now).to(running.dtype), norm.momentum)
        norm.num_batches_tracked += 1
        ctx.save_for_backward(x, *(() if added is None else (added,)))
        ctx.places, ctx.centre, ctx.known = places, centre, known
        ctx.moments = n, scale, above, inverse_std
        return y.permute(0, 3, 1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, *others = ctx.saved_tensors
        added = others[0] if others else None
        source, (n, scale, above, inverse_std) = _Source(x, added, ctx.places), ctx.moments
        places, arrived, of_x = source.places, channels_last(gradient), torch.empty_like(x)
        known = ctx.known | {"gradient": places.of(arrived)}
        sums = np.zeros((2, x.shape[3]))
        source.call("norm_gradient_sums", ctx.centre, **known, sums=sums)
        of_bias, products = sums
        of_weight = (products - above * of_bias) * inverse_std
        slope = -scale * of_weight * inverse_std / n
        known["slope"], known["offset"] = places.lanes(slope, -scale * of_bias / n - slope * above)
        summed = np.zeros_like(source.added)
        source.call("norm_gradients", ctx.centre, **known, of_x=places.of(of_x), of_added=summed)
        of_added = None if added is None else torch.from_numpy(summed).to(added.dtype)
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
    given = dict(zip(("scale", "shift", "keep"), known, strict=True)) | {"y": source.places.of(y)}
    source.call("norm_results", norm.running_mean.detach().float().numpy(), **given)
    return y.permute(0, 3, 1, 2)


class Stage(nn.Module):
    """The steps after a convolution: batch norm, ReLU, dropout of whole channels, as PyTorch has them.

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
                norm, rate = self.norm, self.drop.p
                return _NormReluDrop.apply(x, added, norm.weight, norm.bias, norm, rate, places)
            if not torch.is_grad_enabled():
                return _norm_relu(x, added, self.norm, places)
        if label is not None:
            x = label.add_to(x)
        return self.drop(torch.relu_(self.norm(x)))
