"""Maps of a network as kernels see them: on one thread of a processor, in float32 or bfloat16."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
import torch

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
        """What is known of channels, (..., channels), for each lane: (..., lanes) float32."""
        return [np.tile(each.astype(np.float32), self.kind_of.shape[1]) for each in values]
