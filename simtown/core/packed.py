"""Text files that may be packed, unpacked within limits of memory, size and time."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from simtown.core.files import DamagedError, RefusedError, open_plain

#: Bytes read at a time, and those of the longest line of text: a book is shorter.
BLOCK = LONGEST_LINE = 4 << 20
#: How many times as large as it is a file may become, beyond the first bytes: Visual Genome's are packed to a
#: sixth, tables of counts to a fiftieth.
MOST_UNPACKED, FREE = 200, 1 << 28
#: Bytes of memory that unpacking may take: xz -9 needs 65 MB.
_MEMORY = 128 << 20
#: Bytes that are read of a zip archive at once: its list of files is read whole.
_MOST_AT_ONCE = 16 << 20
#: What a packed file's reader raises when its bytes are wrong.
_PACKED = (
    EOFError,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    struct.error,
)


class PackedFile:
    """Unpacked bytes of a plain file, of gzip or xz, or of a zip archive with one JSON or text file in it.

    The first bytes of the file say how it is packed, not its name. Use as a context manager.

    Args:
        follow: whether the path may be a link (see :func:`simtown.core.files.open_plain`).

    Raises:
        ValueError: a zip archive without exactly one such file.
        DamagedError: the packing is broken.
        RefusedError: no plain file, or one that unpacks to more than :data:`MOST_UNPACKED` times its size.
        OSError: as from open.
    """

    def __init__(self, path: Path, follow: bool = True) -> None:
        self.path = path
        self._stack = ExitStack()
        self._disk: IO[bytes] = self._stack.enter_context(open_plain(path, follow))
        #: Bytes of the file on disk.
        self.size = os.fstat(self._disk.fileno()).st_size
        #: Uncompressed bytes read so far.
        self.offset = 0
        try:
            self._plain = self._unpacked(self._disk.read(6))
        except BaseException:
            self._stack.close()
            raise

    def _unpacked(self, magic: bytes) -> IO[bytes]:
        self._disk.seek(0)
        if magic[:2] == b"\x1f\x8b":
            packed: Any = self._stack.enter_context(gzip.GzipFile(fileobj=self._disk))
            return packed
        if magic == b"\xfd7zXZ\x00":
            return self._stack.enter_context(io.BufferedReader(_Xz(self._disk)))
        if magic[:4] not in (b"PK\x03\x04", b"PK\x05\x06"):
            return self._disk
        try:
            archive = self._stack.enter_context(zipfile.ZipFile(_Bounded(self._disk)))
        except (*_PACKED, OSError, ValueError, LookupError) as error:
            raise DamagedError(f"{self.path} is a broken zip archive ({error}): fetch it again") from error
        entries = [
            e
            for e in archive.infolist()
            if e.filename.lower().endswith((".json", ".txt")) and not e.filename.startswith("__MACOSX/")
        ]
        if len(entries) != 1:
            names = ", ".join(e.filename[:100] for e in entries[:5]) or "none"
            raise ValueError(
                f"{self.path} must hold one .json file, not {names}: unpack it and give the file you mean"
            )
        try:
            # others unpack without a limit
            if entries[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise zipfile.BadZipFile("it is packed in a way other than deflate")
            return self._stack.enter_context(archive.open(entries[0]))
        except (*_PACKED, OSError, ValueError, LookupError) as error:
            raise DamagedError(f"{self.path} is a broken zip archive ({error}): fetch it again") from error

    def __enter__(self) -> PackedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def position(self) -> int:
        """Bytes of the file on disk that have been taken in, for a progress bar."""
        return min(self._disk.tell(), self.size)

    def read(self, n: int = -1) -> bytes:
        """The next n bytes, fewer only at the end.

        Raises DamagedError where the packing is broken, RefusedError for too much.
        """
        try:
            data = self._plain.read(n)
        except _PACKED as error:
            reason = str(error).rstrip(".") or type(error).__name__
            raise DamagedError(
                f"{self.path} is damaged: unpacking fails after byte {self.offset:,} ({reason})"
            ) from error
        self.offset += len(data)
        if self.offset > FREE + MOST_UNPACKED * self.size:
            raise RefusedError(
                f"{self.path} unpacks to more than {MOST_UNPACKED} times its size, which no file of its kind "
                "does"
            )
        return data

    def all(self, most: int) -> bytes:
        """All bytes of a file that is read at once. Raises DamagedError where there are more than `most`."""
        data = self.read(most + 1)
        if len(data) > most:
            raise DamagedError(
                f"{self.path} has more than {most:,} bytes, which no file of its kind has: fetch it again"
            )
        return data

    def restart(self) -> None:
        """Read again from the first byte."""
        self._plain.seek(0)
        self.offset = 0

    def lines(self) -> Iterator[str]:
        """Lines of text without their ends.

        Raises DamagedError at bytes that are not UTF-8, and at a line that is too long.
        """
        rest, number = b"", 0
        while True:
            block = self.read(BLOCK)
            parts = (rest + block).split(b"\n")
            rest = parts.pop() if block else b""
            if len(rest) > LONGEST_LINE:
                line_number = number + len(parts) + 1
                raise DamagedError(
                    f"{self.path}: line {line_number:,} has more than {LONGEST_LINE:,} bytes: break it into "
                    "lines"
                )
            for part in parts:
                number += 1
                try:
                    line = part.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise DamagedError(f"{self.path} is damaged: line {number:,} is no UTF-8 text") from error
                if block or line:
                    yield line.rstrip("\r")
            if not block:
                return


class _Xz(io.RawIOBase):
    """The unpacked bytes of an xz file, with a bound on the memory that its dictionary may ask for."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._restart()

    def _restart(self) -> None:
        self._file.seek(0)
        self._at = 0
        self._part = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        if offset or whence:
            raise io.UnsupportedOperation("an xz file is read from its first byte")
        self._restart()
        return 0

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._part.eof:  # a file may hold several packed parts, with zeros between
                more = (self._part.unused_data or self._file.read(io.DEFAULT_BUFFER_SIZE)).lstrip(b"\0")
                if not more:
                    return 0
                self._part = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)
            else:
                more = self._file.read(io.DEFAULT_BUFFER_SIZE) if self._part.needs_input else b""
                if self._part.needs_input and not more:
                    raise EOFError("it ends before the end of what is packed")
            data = self._part.decompress(more, len(buffer))
            if data:
                buffer[: len(data)] = data
                self._at += len(data)
                return len(data)


class _Bounded(io.RawIOBase):
    """A file of which only so much is read at once.

    The list of files in a zip archive may have any declared size.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        if size > _MOST_AT_ONCE:
            raise zipfile.BadZipFile(f"its list of files has {size:,} bytes")
        return self._file.read(size if size >= 0 else _MOST_AT_ONCE)
