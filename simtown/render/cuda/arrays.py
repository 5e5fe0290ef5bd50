"""Arrays on a card: other libraries' memory and streams (PyTorch, CuPy), and our own arrays for them."""

import ctypes
import math
import sys
from typing import Any, NamedTuple

import numpy as np

#: CUDA's number of the legacy default stream.
LEGACY = 1
#: Type codes of DLPack.
_INTEGER, _UNSIGNED, _FLOAT = 0, 1, 2


class Target(NamedTuple):
    """Memory on a card that a caller wants pictures in.

    Attributes:
        address: of its first byte.
        stream: number of the stream on which the caller works on it.
    """

    address: int
    stream: int


def target(name: str, array: Any, shape: tuple[int, ...], dtype: Any) -> Target:
    """The place of an array on a card. The array has ``__cuda_array_interface__`` or ``__dlpack__``.

    Raises:
        ValueError: it is not an array on a card, has another shape or type, is not in C order, or must not be
            written to.
    """
    if hasattr(array, "__cuda_array_interface__"):
        interface = array.__cuda_array_interface__
        address, readonly = interface["data"]
        has = (tuple(interface["shape"]), np.dtype(interface["typestr"]), interface.get("strides"))
        stream = interface.get("stream")
    elif hasattr(array, "__dlpack__") and not isinstance(array, np.ndarray):
        address, readonly, *has = _imported(array)  # type: ignore[assignment]
        stream = None
    else:
        remedy = "give a tensor of PyTorch or CuPy, or another with __dlpack__"
        raise ValueError(f"{name} is not an array on a card: {remedy}")
    expected = np.dtype(dtype)
    if has[0] != shape or has[1] != expected:
        raise ValueError(f"{name} is {has[1]} {has[0]}, and {expected} {shape} is needed")
    if readonly or (has[2] is not None and tuple(has[2]) != _strides(shape, expected.itemsize)):
        remedy = "give an array in C order that may be changed"
        raise ValueError(f"{name} cannot be written to as a whole: {remedy}")
    return Target(int(address), _stream(array, stream))


def _strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Bytes from one element to the next along every axis, in C order."""
    return tuple(itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _stream(array: Any, stream_number: int | None) -> int:
    """The number of the stream on which the array's library works now.

    If it is unknown, it is the legacy default stream, which waits for all others.
    """
    if type(array).__module__.partition(".")[0] == "torch":  # its __cuda_array_interface__ names no stream
        return int(sys.modules["torch"].cuda.current_stream(array.device).cuda_stream) or LEGACY
    return stream_number or LEGACY


# DLPack's structs (dlpack.h of version 0.8: what every library exchanges)
_Sizes = ctypes.POINTER(ctypes.c_int64)
_DEVICE = (("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))
_TYPE = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))
_LAYOUT = (("shape", _Sizes), ("strides", _Sizes), ("byte_offset", ctypes.c_uint64))


class _Tensor(ctypes.Structure):
    _fields_ = (*_DEVICE, ("ndim", ctypes.c_int32), *_TYPE, *_LAYOUT)


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))

_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
_python.PyCapsule_IsValid.argtypes = (ctypes.c_void_p, ctypes.c_char_p)


def _imported(array: Any) -> tuple[int, bool, tuple[int, ...], np.dtype[Any], tuple[int, ...] | None]:
    """Address, whether it is read only, shape, type and strides in bytes of what an array exports.

    The array keeps its memory.
    """
    capsule = array.__dlpack__(stream=LEGACY)
    tensor = _Managed.from_address(_python.PyCapsule_GetPointer(capsule, b"dltensor")).tensor
    kind = {_INTEGER: "i", _UNSIGNED: "u", _FLOAT: "f"}.get(tensor.code, "V")
    axes = range(tensor.ndim)
    dtype = np.dtype(f"{kind}{tensor.bits // 8}")
    strides = tuple(tensor.strides[axis] * dtype.itemsize for axis in axes) if tensor.strides else None
    address, shape = (tensor.data or 0) + tensor.byte_offset, tuple(tensor.shape[axis] for axis in axes)
    return address, False, shape, dtype, strides


class CardArray:
    """An array in a card's memory for other libraries: ``torch.from_dlpack(array)``, ``cupy.asarray(array)``.

    Its values are complete: nothing has to be waited for.

    Attributes:
        shape: as NumPy's.
        dtype: as NumPy's.
    """

    def __init__(self, address: int, shape: tuple[int, ...], dtype: Any, kind: tuple[int, int]) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        self._address, self._kind = address, kind

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes of the card's memory."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        kind = {"version": 3, "shape": self.shape, "typestr": self.dtype.str}
        return {**kind, "data": (self._address, False), "strides": None, "stream": None}

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._kind

    def __dlpack__(self, **_: Any) -> Any:
        """A capsule of DLPack, whose new owner keeps the array alive.

        Nothing is queued on the array, so no stream has to wait.
        """
        managed, shape = _Managed(), (ctypes.c_int64 * len(self.shape))(*self.shape)
        code = _FLOAT if self.dtype.kind == "f" else _UNSIGNED
        kind = (len(shape), code, 8 * self.dtype.itemsize, 1)
        managed.tensor = _Tensor(self._address, *self._kind, *kind, shape, None, 0)
        address = ctypes.addressof(managed)
        managed.deleter = _Deleter(lambda _: _exported.pop(address, None) and None)
        _exported[address] = (self, managed, shape)
        return _python.PyCapsule_New(address, b"dltensor", ctypes.cast(_unused, ctypes.c_void_p))


#: What other libraries still hold, by the address of its struct.
_exported: dict[int, tuple[Any, ...]] = {}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _unused(capsule: int) -> None:
    """A capsule goes: if nobody took what is in it, it goes too."""
    if _python.PyCapsule_IsValid(capsule, b"dltensor"):
        kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
        pointer = kind(("PyCapsule_GetPointer", _python))
        _exported.pop(int(pointer(capsule, b"dltensor")), None)
