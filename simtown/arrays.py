"""NumPy's files from a stranger: nothing is allocated that the file itself does not account for."""

from __future__ import annotations

import math
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from simtown.files import DamagedError, RefusedError, open_plain

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
    """The array of numbers or texts that a .npy file of `size` bytes holds. Raises ValueError where it declares another size."""
    version = npy.read_magic(file)
    header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if header is None:
        raise ValueError(f"it has the version {version} of NumPy's format")
    shape, fortran, dtype = header(file)
    if dtype.hasobject or dtype.itemsize == 0:
        raise ValueError(f"it holds {dtype} where numbers belong")
    count = math.prod(shape)
    if min(shape, default=1) < 0 or count * dtype.itemsize > size:
        raise ValueError(f"it declares {shape} {dtype}, which is more than it holds")
    content = file.read(count * dtype.itemsize)
    array = np.frombuffer(content, dtype=dtype, count=count)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)
