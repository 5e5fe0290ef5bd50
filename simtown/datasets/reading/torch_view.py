"""A split for PyTorch's DataLoader, which reads a batch at a time from the shards straight into tensors.

PyTorch is imported when a batch is collated, not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.datasets.reading.handover import Room

if TYPE_CHECKING:
    from simtown.datasets.reading.reader import Split

#: Columns that a view reads besides the pictures.
_COLUMNS = ("tokens", "answer", "subject", "relation", "object", "subject_slot", "object_slot", "boxes")
#: Instead of them, those of a data set of families.
_FAMILY_COLUMNS = ("tokens", "answer", "family", "value", "number", "tolerance")
#: Pictures that are unpacked before windows are cut out of them: so few stay in the processor's cache.
_CUT_TOGETHER = 16


class ExampleRow(dict[str, Any]):
    """One example of a batch, by key."""


class ExampleBatch(Sequence[ExampleRow]):
    """Examples that were read together: a sequence of rows, or one tensor a key for DataLoader.

    DataLoader itself would make a tensor of every key of every example before it stacks them, which takes
    longer than reading them. The `arrays` by key have the example first.
    """

    def __init__(self, arrays: dict[str, np.ndarray], room: Room) -> None:
        self.arrays, self._room = arrays, room

    def __len__(self) -> int:
        return len(self.arrays["answer"])

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        return ExampleRow({name: values[i] for name, values in self.arrays.items()})

    def tensors(self) -> dict[str, Any]:
        """A tensor a key; tensors share the arrays' memory."""
        import torch

        return self._room.parcel({name: torch.from_numpy(values) for name, values in self.arrays.items()})


def _collate(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Collate rows as DataLoader does by default; :meth:`ExampleBatch.tensors` if they came as one batch."""
    from torch.utils.data import default_collate

    if isinstance(batch, ExampleBatch):
        return batch.tensors()
    return default_collate([dict(row) for row in batch])


def read(split: Split, rows: np.ndarray, crop: tuple[int, int] | None = None) -> ExampleBatch:
    """Read some examples, by number ((n,) int64), in any order.

    `crop` (width, height) cuts each picture out at a random place, by PyTorch's random numbers; an example of
    sequences has one place for its pictures. The keys of the batch are:

    - image: (n, 3, h, w) uint8, in channels-last memory; of sequences (n, P, 3, h, w).
    - tokens: (n, 16) int64.
    - answer: (n,) float32, 0 or 1.
    - subject, relation, object: (n,) int64, the numbers that are stored; `dataset.settings.ranks[subject]`
      counts the kinds of the world from 0 on.
    - boxes: (n, 2, 4) float32 of the subject and the object, x0, y0, x1, y1 as shares of the picture's size.

    A data set of families has (n, 48) tokens and, instead of the last two entries, family and value: (n,)
    int64, places in `dataset.names`; number and tolerance: (n,) float32 metres of a distance, else nan.
    """
    column = split.rows(_FAMILY_COLUMNS if split.families else _COLUMNS, rows)
    shape = split.form("images")[0]
    height, width, n = *shape[-3:-1], len(rows)
    cut = crop or (width, height)
    forms: dict[str, tuple[tuple[int, ...], Any]] = {"image": ((n, *shape[:-3], cut[1], cut[0], 3), np.uint8)}
    forms |= {"tokens": (column["tokens"].shape, np.int64), "answer": ((n,), np.float32)}
    whole = ("family", "value") if split.families else ("subject", "relation", "object")
    forms |= dict.fromkeys(whole, ((n,), np.int64))
    if split.families:
        forms |= dict.fromkeys(("number", "tolerance"), ((n,), np.float32))
    else:
        forms["boxes"] = (n, 2, 4), np.float32
    room = Room(forms)
    arrays = room.arrays
    corners = np.zeros((n, 2), dtype=np.int64)
    if crop:
        corners = _read_windows(split, rows, arrays["image"])
    else:
        split.images(rows, out=arrays["image"])
    for name in forms.keys() - {"image", "boxes"}:
        arrays[name][...] = column[name]
    if not split.families:
        slots = np.stack([column["subject_slot"], column["object_slot"]], axis=1).astype(np.int64)
        boxes = np.take_along_axis(column["boxes"], slots[:, :, None], axis=1)
        boxes = np.clip(boxes - np.tile(corners, 2)[:, None], 0, cut * 2)
        size = np.array(cut * 2, dtype=np.float32)
        np.divide(boxes, size, out=arrays["boxes"], casting="same_kind")
    return ExampleBatch({**arrays, "image": np.moveaxis(arrays["image"], -1, -3)}, room)


def _read_windows(split: Split, rows: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Cut a random window out of each picture into `out`; returns (n, 2) left and top edges in pixels."""
    import torch

    shape = split.form("images")[0]
    height, width = out.shape[-3:-1]
    spare = shape[-2] - width, shape[-3] - height
    corners = np.stack([torch.randint(most + 1, (len(out),)).numpy() for most in spare], axis=1)
    whole = np.empty((_CUT_TOGETHER, *shape), dtype=np.uint8)
    for begin in range(0, len(rows), _CUT_TOGETHER):
        part = slice(begin, begin + _CUT_TOGETHER)
        pictures = split.images(rows[part], out=whole[: len(rows[part])])
        for picture, window, (left, top) in zip(pictures, out[part], corners[part].tolist(), strict=True):
            window[...] = picture[..., top : top + height, left : left + width, :]
    return corners


class TorchView:
    """A map-style data set for DataLoader, which fetches whole batches from it.

    An example is a dict with the keys of :func:`read`, which cuts pictures to `crop`.

    Raises:
        ValueError: the crop is larger than the pictures.
    """

    def __init__(self, split: Split, crop: tuple[int, int] | None = None) -> None:
        height, width = split.form("images")[0][-3:-1]
        if crop and not (0 < crop[0] <= width and 0 < crop[1] <= height):
            cut = f"windows of {crop[0]} × {crop[1]} pixels"
            raise ValueError(f"{cut} do not lie in pictures of {width} × {height}")
        self.split = split
        self.crop = crop

    def __len__(self) -> int:
        return len(self.split)

    def __getitem__(self, i: int) -> dict[str, Any]:
        row = dict(read(self.split, np.array([i + len(self) if i < 0 else i]), self.crop)[0])
        return {**row, "image": np.ascontiguousarray(row["image"])}

    def __getitems__(self, numbers: Sequence[int]) -> ExampleBatch:
        """Examples by their numbers; DataLoader reads a batch by this method, and collates it as we do."""
        from torch.utils.data._utils.collate import default_collate_fn_map

        default_collate_fn_map[ExampleRow] = _collate
        return read(self.split, np.asarray(numbers, dtype=np.int64), self.crop)
