"""Emulated global memory: arrays, and for every byte whether it was written and which threads touched it
last.
"""

import ctypes
import mmap
from typing import Any

import numpy as np

from tests.cuda.ptx import Program

_SLOT = 30  # as in machine.c: log2 of the bytes from the beginning of an array to that of the next
_SLOTS = 1024
_CELL = np.dtype([("readers", "u8", 2), ("writers", "u8", 2), ("split", "u8")])


class _Array(ctypes.Structure):
    _fields_ = [(x, ctypes.c_void_p) for x in ("data", "written", "words", "bytes")] + [
        (x, ctypes.c_uint64) for x in ("size", "align")
    ]


class _Memory(ctypes.Structure):
    _fields_ = [(x, ctypes.c_void_p) for x in ("base", "arrays")] + [
        (x, ctypes.c_uint64) for x in ("slots", "clock")
    ]


class Memory:
    """Global memory.

    Arrays lie a gigabyte apart, so that an index out of bounds meets no other array. Addresses are the
    processor's own.

    Args:
        megabytes: how much may be allocated at a time.
    """

    def __init__(self, megabytes: int) -> None:
        self.limit, self.used = megabytes << 20, 0
        # Addresses without memory behind them: the system gives a page when it is first written.
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
        self._map = mmap.mmap(-1, _SLOTS << _SLOT, flags=private)
        self._bytes = np.frombuffer(self._map, np.uint8)
        self._base = self._bytes.ctypes.data
        self._names: dict[int, str] = {}  # slot to name
        self._kept: dict[int, tuple[np.ndarray, ...]] = {}  # what the machine knows of an array's bytes
        self._tables: dict[str, list[int]] = {}  # addresses of the variables of modules
        self._next = 0
        self._arrays = (_Array * _SLOTS)()
        self.c = _Memory(self._base, ctypes.addressof(self._arrays), _SLOTS, 1)

    def allocate(self, size: int, name: str = "") -> int:
        """The address of `size` new bytes that hold no values.

        Raises:
            MemoryError: more than `megabytes`, or more than half a gigabyte in one array, would be allocated.
        """
        if self.used + size > self.limit or len(self._names) == _SLOTS:
            raise MemoryError(
                f"{size} bytes for {name or 'an array'}: {self.used} of {self.limit} bytes are in use, "
                f"{len(self._names)} arrays"
            )
        if size > 1 << (_SLOT - 1):
            raise MemoryError(f"an array of {size} bytes is too large for the emulator")
        while self._next in self._names:
            self._next = (self._next + 1) % _SLOTS
        slot = self._next
        self._next = (
            slot + 1
        ) % _SLOTS  # what was freed is used again as late as can be: an old address stays wrong for long
        words = -(-size // 4)
        kept = np.zeros(size, np.uint8), np.zeros(words, _CELL), np.zeros(4 * words, _CELL)
        address = self._base + (slot << _SLOT)
        self._arrays[slot] = _Array(address, *(x.ctypes.data for x in kept), size, 256)
        self._names[slot], self._kept[slot] = name or f"array {slot}", kept
        self._bytes[slot << _SLOT : (slot << _SLOT) + size] = 0xEE
        self.used += size
        return address

    def free(self, address: int) -> None:
        """Give an array back; any later access to it is out of bounds.

        Raises:
            ValueError: no array begins there.
        """
        slot, offset = divmod(address - self._base, 1 << _SLOT)
        if slot not in self._names or offset:
            raise ValueError(f"no array begins at {address:#x}")
        size = self._arrays[slot].size
        self._arrays[slot] = _Array()
        self.used -= size
        self._map.madvise(
            mmap.MADV_DONTNEED, slot << _SLOT, -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        )
        del self._names[slot], self._kept[slot]

    def view(self, address: int, size: int) -> np.ndarray:
        """The bytes from an address on: (size,) uint8.

        Raises:
            ValueError: they do not lie within one array.
        """
        slot, offset = self._find(address, size)
        return self._bytes[(slot << _SLOT) + offset :][:size]

    def put(self, name: str, values: Any) -> np.ndarray:
        """A new array with a copy of the values; `.ctypes.data` is its address on the card."""
        values = np.ascontiguousarray(values)
        array = self.empty(name, values.shape, values.dtype)
        array[...] = values
        self.written(array)
        return array

    def empty(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
        """A new array without values: a kernel that reads it before it is written is at fault."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return self.view(self.allocate(size, name), size).view(dtype).reshape(shape)

    def written(self, array: np.ndarray) -> None:
        """Note that the host has written an array, or a contiguous part of one."""
        self.mask(array)[:] = 1

    def mask(self, array: np.ndarray) -> np.ndarray:
        """For every byte of an array whether it was ever written: (bytes,) uint8, a view."""
        slot, offset = self._find(array.ctypes.data, array.nbytes)
        return self._kept[slot][0][offset : offset + array.nbytes]

    def where(self, slot: int, offset: int) -> str:
        """A place as a message names it."""
        return f"{self._names.get(slot, 'no array')} + {offset}"

    def tables(self, key: str, program: Program) -> list[int]:
        """The addresses of a module's variables, which all its kernels share."""
        addresses = self._tables.setdefault(key, [])
        for table in list(program.tables.values())[len(addresses) :]:
            addresses.append(self.put(table.name, np.frombuffer(table.values, np.uint8)).ctypes.data)
        return addresses

    def _find(self, address: int, size: int) -> tuple[int, int]:
        slot, offset = divmod(address - self._base, 1 << _SLOT)
        if slot not in self._names or offset + size > self._arrays[slot].size:
            raise ValueError(f"{size} bytes at {address:#x} do not lie within one array")
        return slot, offset
