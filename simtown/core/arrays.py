"""NumPy's files from a stranger: nothing is allocated that the file itself does not account for."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from simtown.core.files import DamagedError, RefusedError, open_plain

#: What NumPy's readers raise for a file that is damaged.
_DAMAGE = (
    *(OSError, KeyError, ValueError, EOFError, TypeError, AttributeError, NotImplementedError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)


def load_npz(path: Path, names: tuple[str, ...], largest: int, follow: bool = False) -> dict[str, np.ndarray]:
    """Arrays of a .npz file by name, at most `largest` bytes each; others that it holds are not read.

    Raises:
        DamagedError: it cannot be read, or declares more than it may have; the message says why.
    """
    try:
        with open_plain(path, follow) as file, zipfile.ZipFile(file) as archive:
            return {name: _member(archive, f"{name}.npy", largest) for name in names}
    except _DAMAGE as error:
        raise DamagedError(f"{path} is damaged ({error})") from error


def _member(archive: zipfile.ZipFile, name: str, largest: int) -> np.ndarray:
    entry = archive.getinfo(name)
    if entry.file_size > largest:
        raise RefusedError(f"its array {name} has {entry.file_size:,} bytes, more than {largest:,}")
    with archive.open(entry) as file:
        return read_npy(file, entry.file_size)


def read_npy(file: IO[bytes], size: int) -> np.ndarray:
    """The array of numbers or texts that a .npy file of `size` bytes holds.

    Raises ValueError where it declares another size.
    """
    shape, fortran, dtype = _header(file, size)
    count = math.prod(shape)
    content = file.read(count * dtype.itemsize)
    array = np.frombuffer(content, dtype=dtype, count=count)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def map_npy(path: Path, follow: bool = True, writable: bool = False) -> np.ndarray:
    """The array of a .npy file as it lies on disk; it is read when it is used.

    What is written to a writable one goes into the file.

    Raises:
        ValueError: it declares more than it holds, or other than numbers or texts.
        RefusedError: as :func:`simtown.core.files.open_plain`, and where a file that is written to has a
            second name (a hard link).
        OSError: as :func:`simtown.core.files.open_plain`.
    """
    with open_plain(path, follow, writable) as file:
        status = os.fstat(file.fileno())
        if writable and status.st_nlink > 1:
            raise RefusedError(
                f"{path} has a second name elsewhere, where it would be changed too: put a copy of it there"
            )
        shape, fortran, dtype = _header(file, status.st_size)
        place = file.tell()
        if place + math.prod(shape) * dtype.itemsize > status.st_size:
            raise ValueError(f"it declares {shape} {dtype}, which is more than it holds")
        if not math.prod(shape):
            return np.empty(shape, dtype)
        return np.memmap(file, dtype, "r+" if writable else "r", place, shape, "F" if fortran else "C")


def _header(file: IO[bytes], size: int) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether it is stored by columns, and type of an item.

    Raises ValueError where they tell of more than `size` bytes.
    """
    version = npy.read_magic(file)
    header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if header is None:
        raise ValueError(f"it has the version {version} of NumPy's format")
    try:
        shape, fortran, dtype = header(file)
    except Exception as error:  # NumPy reads it as Python, which fails in a dozen ways
        raise ValueError(f"its header cannot be read ({type(error).__name__})") from None
    if dtype.hasobject or dtype.itemsize == 0:
        raise ValueError(f"it holds {dtype} where numbers belong")
    count = math.prod(shape)
    if min(shape, default=1) < 0 or max(shape, default=1) >= 1 << 48 or count * dtype.itemsize > size:
        raise ValueError(f"it declares {shape} {dtype}, which is more than it holds")
    return shape, fortran, dtype
