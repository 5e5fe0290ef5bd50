"""Tensors in files (safetensors): no code in them, and read only if they are those that a model has."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from simtown.core.files import save_bytes
from simtown.core.untrusted import read_bytes

#: Bytes of the longest header. It has some 100 for each tensor.
_HEADER = 1_000_000


def save(path: Path, tensors: Mapping[str, torch.Tensor], **texts: str) -> None:
    """Write tensors, and texts by name, whole or not at all."""
    own: dict[str, torch.Tensor] = {}
    places: set[int] = set()
    for name, tensor in tensors.items():
        place = tensor.untyped_storage().data_ptr()
        # safetensors takes no memory twice: weights that are tied, or parts of one tensor
        own[name] = tensor.clone() if place in places else tensor.contiguous()
        places.add(place)
    # not save_file: it hides why it failed, and lets nobody else read the file
    save_bytes(path, safetensors.torch.save(own, texts or None))


def load(
    path: Path, wanted: Mapping[str, torch.Tensor], optional: Collection[str] = ()
) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """The tensors and the texts of a file; no more is read than the wanted tensors take.

    Args:
        path: a safetensors file.
        wanted: by name, a tensor of the same shape and dtype, which may be on PyTorch's meta device.
        optional: names of those that the file may lack.

    Raises:
        ValueError: it is no such file, or holds other tensors; the message says which.
        OSError: it cannot be read.
    """
    content = read_bytes(path, follow=False)
    try:
        (length,) = struct.unpack("<Q", content[:8])
        if length > _HEADER:
            raise ValueError("its header is too long")
        tensors = safetensors.torch.load(content)
        texts = json.loads(content[8 : 8 + length]).get("__metadata__", {})
    except Exception as error:  # safetensors and PyTorch raise a dozen kinds
        raise ValueError(f"it is no file of tensors: {type(error).__name__}") from error
    for name, tensor in wanted.items():
        if name not in tensors and name not in optional:
            raise ValueError(f"it lacks {name}")
        if name in tensors and (tensors[name].shape, tensors[name].dtype) != (tensor.shape, tensor.dtype):
            raise ValueError(f"its {name} has other sizes than the model's")
    if len(set(tensors) - set(wanted)):
        raise ValueError("it holds tensors that the model has not")
    return tensors, texts


class _NoNumbers(TorchFunctionMode):
    """Skips the initialisation of weights.

    On the meta device there are none, and PyTorch would import for seconds to make them.
    """

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(function, "__module__", "") == "torch.nn.init" or function in (
            torch.Tensor.normal_,
            torch.Tensor.uniform_,
        ):
            return args[0] if args else kwargs["tensor"]
        return function(*args, **(kwargs or {}))


def sizes_of(build: Callable[[], nn.Module]) -> dict[str, torch.Tensor]:
    """What a model's state_dict will hold, as tensors on the meta device.

    So it is known before the model takes any memory.
    """
    with torch.device("meta"), _NoNumbers():
        return build().state_dict()
