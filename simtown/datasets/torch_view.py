"""A split as PyTorch's DataLoader reads it: a batch at a time, from the shards straight into tensors.

PyTorch is imported when a batch is collated, not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.datasets.handover import Room

if TYPE_CHECKING:
    from simtown.datasets.reader import Split

#: Columns that a view reads besides the pictures.
_COLUMNS = ("tokens", "answer", "subject", "relation", "object", "subject_slot", "object_slot", "boxes")


class Row(dict[str, Any]):
    """One example of a batch, by key."""


class Batch(Sequence[Row]):
    """Examples that were read together: a sequence of rows for whoever wants rows, and one tensor a key for DataLoader.

    DataLoader's own way makes a tensor of every key of every example before it stacks them, which takes longer than reading them.

    Attributes:
        arrays: by key, the example first.
    """

    def __init__(self, arrays: dict[str, np.ndarray], room: Room) -> None:
        self.arrays, self._room = arrays, room

    def __len__(self) -> int:
        return len(self.arrays["answer"])

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        return Row({name: values[i] for name, values in self.arrays.items()})

    def tensors(self) -> dict[str, Any]:
        """A tensor a key, which share the arrays' memory."""
        import torch

        return self._room.parcel({name: torch.from_numpy(values) for name, values in self.arrays.items()})


def _collate(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """What DataLoader's default makes of rows: :meth:`Batch.tensors` where they came as one batch."""
    from torch.utils.data import default_collate

    return batch.tensors() if isinstance(batch, Batch) else default_collate([dict(row) for row in batch])


def _known_to_torch() -> None:
    """Tell DataLoader's default of :class:`Row`, in this process."""
    from torch.utils.data._utils.collate import default_collate_fn_map

    default_collate_fn_map[Row] = _collate


def read(split: Split, rows: np.ndarray) -> Batch:
    """Some examples, by number ((n,) int64), in any order.

    Keys: image (n, 3, h, w) uint8, in channels-last memory; tokens (n, 16) int64; answer (n,) float32 0 or 1; subject, relation, object
    (n,) int64, the numbers that are stored (`dataset.settings.ranks[subject]` counts the kinds of the world from 0 on); boxes
    (n, 2, 4) float32 of the subject and the object, x0, y0, x1, y1 as shares of the picture's width and height.
    """
    column = split.rows(_COLUMNS, rows)
    height, width, _ = split.form("images")[0]
    n = len(rows)
    room = Room({
        "image": ((n, height, width, 3), np.uint8),
        "tokens": (column["tokens"].shape, np.int64),
        "answer": ((n,), np.float32),
        **dict.fromkeys(("subject", "relation", "object"), ((n,), np.int64)),
        "boxes": ((n, 2, 4), np.float32),
    })  # fmt: skip
    arrays = room.arrays
    split.images(rows, out=arrays["image"])
    for name in ("tokens", "answer", "subject", "relation", "object"):
        arrays[name][...] = column[name]
    slots = np.stack([column["subject_slot"], column["object_slot"]], axis=1).astype(np.int64)
    size = np.array([width, height] * 2, dtype=np.float32)
    np.divide(np.take_along_axis(column["boxes"], slots[:, :, None], axis=1), size, out=arrays["boxes"])
    return Batch({**arrays, "image": arrays["image"].transpose(0, 3, 1, 2)}, room)


class TorchView:
    """A map-style data set for DataLoader, which fetches whole batches from it. An example is a dict with the keys of :func:`read`."""

    def __init__(self, split: Split) -> None:
        self.split = split

    def __len__(self) -> int:
        return len(self.split)

    def __getitem__(self, i: int) -> dict[str, Any]:
        if not -len(self) <= i < len(self):
            raise IndexError(f"there is no example {i}: the split holds {len(self)}, numbered from 0")
        row = dict(read(self.split, np.array([i % len(self)]))[0])
        return {**row, "image": np.ascontiguousarray(row["image"])}

    def __getitems__(self, numbers: Sequence[int]) -> Batch:
        """Examples by their numbers, as DataLoader asks for a batch of them."""
        _known_to_torch()
        return read(self.split, np.asarray(numbers, dtype=np.int64) % max(len(self), 1))
