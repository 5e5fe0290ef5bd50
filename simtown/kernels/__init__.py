"""The hot code: C++ that is compiled when simtown is installed. One boundary checks every array."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from simtown.kernels.compiling import LEVELS, LIBRARIES, levels_here, name_of
from simtown.kernels.entries import ENTRIES, NO_MEMORY, Array, entry

#: Names the level of processor, or the file, of the library to load instead of the best that runs here.
LEVEL = "SIMTOWN_KERNELS"
#: Numbers of which the canary leaves nothing.
CANARY = {
    "single": np.array([1 + 2**-12, 1 + 2**-11, 1, 2**25], dtype=np.float32),
    "wide": np.array([1 + 2**-27, 1 + 2**-26, 1, 2**54]),
}


class KernelsError(ImportError):
    """No library of kernels suits this processor; the message says what to do."""


class Library:
    """A shared library of kernels.

    Args:
        path: the file.
        entries: its entry points, as in :mod:`simtown.kernels.entries`.
    """

    def __init__(self, path: Path, entries: Mapping[str, str] = ENTRIES) -> None:
        self._library, self._entries = ctypes.CDLL(str(path)), entries
        self._prepared: dict[str, tuple[Any, ...]] = {}

    def call(self, name: str, **given: Any) -> int:
        """Call an entry point. The GIL is free while it runs.

        Args:
            name: of the entry point.
            given: all of its arrays and numbers.

        Returns:
            What the kernel says.

        Raises:
            TypeError: an array has another dtype, shape or order than the entry point declares.
            MemoryError: the kernel found no memory.
        """
        function, arrays, numbers, sizes = self._prepared.get(name) or self._prepare(name)
        known: dict[str, int] = {}
        packed = np.empty(len(arrays) + len(numbers) + len(sizes), dtype=np.int64)
        for place, (array, dtype) in enumerate(arrays):
            values = given.pop(array.name)
            if not _fits(values, array, dtype, known):
                raise TypeError(
                    f"{name}: {array.name} is {values.dtype} {values.shape}, "
                    f"and {array.dtype} {array.shape} in C order is needed (sizes: {known})"
                )
            packed[place] = values.ctypes.data
        for place, number in enumerate(numbers, len(arrays)):
            packed[place] = int(given.pop(number))
        packed[len(arrays) + len(numbers) :] = [known[size] for size in sizes]
        if given:
            raise TypeError(f"{name} takes no {', '.join(given)}")
        said = int(function(packed.ctypes.data))
        if said == NO_MEMORY:
            raise MemoryError(f"the kernel {name} found no memory")
        return said

    def _prepare(self, name: str) -> tuple[Any, ...]:
        """An entry point's function, arrays with their dtypes, numbers and sizes."""
        arrays, numbers, sizes = entry(self._entries[name])
        function = getattr(self._library, name)
        function.restype, function.argtypes = ctypes.c_int64, [ctypes.c_void_p]
        dtypes = [None if array.dtype == "*" else np.dtype(array.dtype) for array in arrays]
        self._prepared[name] = function, list(zip(arrays, dtypes, strict=True)), numbers, sizes
        return self._prepared[name]


def _fits(values: np.ndarray, array: Array, dtype: np.dtype[Any] | None, known: dict[str, int]) -> bool:
    """Whether an array is as declared; notes the sizes that its shape tells."""
    if values.ndim != len(array.shape) or not values.flags.c_contiguous:
        return False
    if array.written and not values.flags.writeable:
        return False
    if values.dtype not in ((np.float32, np.int16) if dtype is None else (dtype,)):
        return False
    sizes = zip(array.shape, values.shape, strict=True)
    return all(has == (size if isinstance(size, int) else known.setdefault(size, has)) for size, has in sizes)


@cache
def library() -> Library:
    """The library of the best level that this processor runs. Raises KernelsError if there is none."""
    np.empty(31 << 20, dtype=np.uint8)  # glibc then keeps what is freed: batches need no new pages
    forced = os.environ.get(LEVEL)
    if forced and forced not in LEVELS and not forced.endswith(".so"):
        raise KernelsError(f"{LEVEL}={forced} is unknown: choose among {', '.join(LEVELS)}")
    for level in [forced] if forced else levels_here():
        name = level if level.endswith(".so") else name_of(level)
        path = next((home / name for home in _homes() if (home / name).exists()), None)
        if path:
            found = Library(path)
            if found.call("canary", **CANARY):
                raise KernelsError(f"{path} contracts or reorders arithmetic: compile without such options")
            return found
    sources, remedy = LIBRARIES.parents[2], "install simtown again on this machine"
    if (sources / "pyproject.toml").exists():
        ways = "pip install -e . or python simtown/kernels/compiling.py"
        remedy = f"{sources} is the source of simtown, so type {ways} there"
    raise KernelsError(f"{LIBRARIES} holds no kernels for this processor: {remedy}")


def _homes() -> Iterator[Path]:
    """Folders of libraries: this one, and those of installed packages of simtown, which a clone hides.

    A library's name has the digest of its sources, so one of other sources is not taken for theirs.
    """
    yield LIBRARIES
    from importlib import metadata

    for installed in metadata.distributions(name="simtown"):
        yield Path(str(installed.locate_file("simtown/kernels/lib")))


def call(name: str, **given: Any) -> int:
    """Call an entry point of :func:`library`, see :meth:`Library.call`."""
    return library().call(name, **given)
