"""Files that may be packed with gzip, xz or zip."""

from __future__ import annotations

import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from simtown.core.files import DamagedError
from simtown.core.untrusted import open_regular

#: Bytes that are read at a time.
BLOCK = 4 << 20
#: What the readers of packed files raise if the bytes are wrong.
_UNPACKING = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile, NotImplementedError)


class PackedFile:
    """The unpacked bytes of a file, or of the only .json, .txt or .vec file in a zip archive.

    The first bytes of the file say how it is packed, not its name. Use it as a context manager.

    Args:
        path: of the file.
        follow: whether the path may be a symbolic link.

    Attributes:
        size: bytes of the file on disk.
        offset: unpacked bytes that :meth:`read` has returned.

    Raises:
        ValueError: a zip archive holds no such file, or several.
        DamagedError: the packing is broken.
        RefusedError: it is not a regular file.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path, follow: bool = True) -> None:
        self.path, self.offset = path, 0
        with ExitStack() as stack:
            self._disk = stack.enter_context(open_regular(path, follow))
            self.size = os.fstat(self._disk.fileno()).st_size
            self._content: IO[bytes] = stack.enter_context(self._unpacked())
            self._open = stack.pop_all()

    def _unpacked(self) -> Any:
        magic = self._disk.read(6)
        self._disk.seek(0)
        if magic.startswith(b"\x1f\x8b"):
            return gzip.open(self._disk)
        if magic == b"\xfd7zXZ\x00":
            return lzma.open(self._disk)
        if not magic.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return self._disk
        try:
            archive = zipfile.ZipFile(self._disk)
            names = [name for name in archive.namelist() if name.lower().endswith((".json", ".txt", ".vec"))]
            names = [name for name in names if not name.startswith("__MACOSX/")]
            if len(names) == 1:
                return archive.open(names[0])
        except (*_UNPACKING, RuntimeError) as error:
            raise DamagedError(f"{self.path} is a broken zip archive ({error}): fetch it again") from error
        listed = ", ".join(names[:5]) or "none"
        remedy = "unpack it and give the file you mean"
        raise ValueError(f"{self.path} must hold one .json, .txt or .vec file, not {listed}: {remedy}")

    def __enter__(self) -> PackedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def position(self) -> int:
        """Bytes of the file on disk that have been read, for a progress bar."""
        return min(self._disk.tell(), self.size)

    def read(self, size: int = -1) -> bytes:
        """The next `size` bytes, fewer only at the end. Raises DamagedError if the packing is broken."""
        try:
            data = self._content.read(size)
        except _UNPACKING as error:
            place = f"unpacking fails after byte {self.offset:,}"
            raise DamagedError(f"{self.path} is damaged: {place} ({error})") from error
        self.offset += len(data)
        return data

    def restart(self) -> None:
        """Read again from the first byte."""
        self._content.seek(0)
        self.offset = 0

    def lines(self) -> Iterator[str]:
        """Lines of text without their ends and a byte order mark. Raises DamagedError if one is not UTF-8."""
        number = 0
        try:
            for line in self._content:
                text = line.decode("utf-8" if number else "utf-8-sig")
                self.offset += len(line)
                number += 1
                yield text.rstrip("\r\n")
        except UnicodeDecodeError as error:
            problem = f"{self.path} line {number + 1:,} is not UTF-8 (byte 0x{error.object[error.start]:02x})"
            raise DamagedError(f"{problem}: convert it, such as by iconv -f latin1 -t utf-8") from error
        except _UNPACKING as error:
            raise DamagedError(f"{self.path} is damaged after line {number:,} ({error})") from error
