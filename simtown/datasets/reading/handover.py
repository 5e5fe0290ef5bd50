"""Sending batches from a DataLoader's worker process through shared memory that is used again and again.

PyTorch itself maps new shared memory for every tensor of every batch, copies the tensor into it, and maps it
in the other process. For pictures this takes longer than reading and unpacking them. Here a worker keeps a
few pieces of shared memory, and writes a batch into a free one. The other process frees the piece when it no
longer holds a tensor of that batch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import prod
from multiprocessing.reduction import ForkingPickler
from secrets import token_hex
from typing import Any
from weakref import ref

import numpy as np

#: Most pieces of memory that a worker keeps. If all are in use, a batch is sent in PyTorch's own way.
PIECES = 32
#: Every array begins at a multiple of this number of bytes. The first bytes of a piece hold no data: the very
#: first says whether the piece is in use.
_ALIGNED = 64


class _Hold:
    """Keeps a piece of shared memory in use, as the base of a batch's arrays, until the last one is gone."""

    def __init__(self, piece: Any) -> None:
        self.memory: np.ndarray = piece.numpy()
        self.handed_over = False
        self.__array_interface__ = {**self.memory.__array_interface__}

    def __del__(self) -> None:
        if not self.handed_over:
            self.memory[0] = 0

    def view(
        self, offset: int, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None = None
    ) -> np.ndarray:
        """An array in this memory, which keeps this hold."""
        return np.ndarray(shape, dtype, np.asarray(self), offset, strides)


class _Pieces:
    """The pieces of shared memory of this process, a worker."""

    def __init__(self, process: int) -> None:
        self.process, self.token = process, token_hex(8)
        self.pieces: list[Any] = []
        self.holds: list[Callable[[], _Hold | None]] = []
        self.known: set[int] = set()  # by their numbers, to the process that receives batches

    def take(self, size: int) -> tuple[int, _Hold] | None:
        """The number of a free piece of `size` bytes or more, and a hold on it; None if all are in use."""
        idle = (number for number, hold in enumerate(self.holds) if hold() is None)
        free = (n for n in idle if len(self.pieces[n]) >= size and not self.pieces[n][0])
        number = next(free, None)
        if number is None:
            import torch

            number = len(self.pieces)
            if number == PIECES:
                return None
            self.pieces.append(torch.empty(0, dtype=torch.uint8).set_(torch.UntypedStorage._new_shared(size)))
            self.holds.append(lambda: None)
        piece = self.pieces[number]
        piece[0] = 1
        hold = _Hold(piece)
        self.holds[number] = ref(hold)
        return number, hold


#: By the token of the process that sends: its number, and its pieces by their numbers.
_received: dict[str, tuple[int, dict[int, Any]]] = {}


@lru_cache(maxsize=1)
def _pieces(process: int) -> _Pieces:
    """The pieces of a process; after a fork, not those of its parent."""
    return _Pieces(process)


class Room:
    """Memory for a batch's arrays of these shapes and types, by name: shared in a DataLoader's worker."""

    def __init__(self, forms: Mapping[str, tuple[tuple[int, ...], Any]]) -> None:
        offsets, size = {}, _ALIGNED
        for name, (shape, dtype) in forms.items():
            offsets[name] = size
            size += -(-prod(shape) * np.dtype(dtype).itemsize // _ALIGNED) * _ALIGNED
        loading = sys.modules.get("torch.utils.data")
        in_worker = loading is not None and loading.get_worker_info() is not None
        self.taken = _pieces(os.getpid()).take(size) if in_worker else None
        self.arrays: dict[str, np.ndarray] = {}
        for name, (shape, dtype) in forms.items():
            if self.taken is None:
                self.arrays[name] = np.empty(shape, dtype)
            else:
                self.arrays[name] = self.taken[1].view(offsets[name], shape, dtype)

    def parcel(self, tensors: dict[str, Any]) -> dict[str, Any]:
        """The same tensors; those in shared memory stay there when they are sent to another process."""
        return tensors if self.taken is None else Parcel(tensors, *self.taken)


class Parcel(dict[str, Any]):
    """Tensors by name, some of them in shared memory; the receiving process gets an ordinary dict."""

    def __init__(self, tensors: Mapping[str, Any], number: int, hold: _Hold) -> None:
        super().__init__(tensors)
        self.number, self.hold = number, hold

    def __copy__(self) -> Parcel:
        return Parcel(self, self.number, self.hold)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def _send(parcel: Parcel) -> Any:
    """Pickle a parcel. PyTorch itself sends the tensors that are not in the shared memory."""
    hold, pieces = parcel.hold, _pieces(os.getpid())
    if hold.handed_over:
        return dict, (dict(parcel),)
    begin, size = hold.memory.ctypes.data, len(hold.memory)
    inside, others = {}, {}
    for name, tensor in parcel.items():
        array = None if tensor.requires_grad or tensor.device.type != "cpu" else tensor.numpy()
        offset = -1 if array is None else array.ctypes.data - begin
        if array is not None and 0 <= offset < size:
            inside[name] = (offset, array.shape, array.dtype.str, array.strides)
        else:
            others[name] = tensor
    piece = None if parcel.number in pieces.known else pieces.pieces[parcel.number]
    pieces.known.add(parcel.number)
    hold.handed_over = True
    return _receive, (pieces.token, pieces.process, parcel.number, piece, inside, others, list(parcel))


ForkingPickler.register(Parcel, _send)


def _receive(token: str, process: int, number: int, piece: Any, *content: Any) -> dict[str, Any]:
    import torch

    inside, others, names = content

    if token not in _received:
        for ended in [other for other, (sender, _) in _received.items() if not _runs(sender)]:
            del _received[ended]
        _received[token] = (process, {})
    pieces = _received[token][1]
    if piece is not None:
        pieces[number] = piece
    hold = _Hold(pieces[number])
    tensors = others | {name: torch.from_numpy(hold.view(*form)) for name, form in inside.items()}
    return {name: tensors[name] for name in names}


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        pass
    return True
