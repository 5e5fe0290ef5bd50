"""Gigabytes of JSON, one record at a time: a top-level array is cut into its records by a compiled scanner, and each is decoded alone.

Memory is flat: one block of the file and one record. Measured against the alternatives in docs/reproduce/visual-genome.md.
A place in a file is told as the byte offset in its uncompressed text, counted from 0.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import msgspec
import numpy as np

from simtown.exact import kernel
from simtown.files import DamagedError, RefusedError, open_plain

T = TypeVar("T")

#: Bytes read at a time, and the longest record that is believed: five times the longest of Visual Genome's. In memory it may take 40 times
#: as many.
BLOCK, LONGEST = 4 << 20, 8 << 20
#: Bytes of the longest line of text: a book is shorter.
LONGEST_LINE = BLOCK
#: How many times as large as it is a file may become, beyond the first bytes: Visual Genome's are packed to a sixth, tables of counts to a
#: fiftieth.
MOST_UNPACKED, FREE = 200, 1 << 28
#: Bytes that unpacking may take: xz -9 needs 65 MB. And bytes that are read of a zip archive at once: of the list of what is in it.
_MEMORY, _MOST_AT_ONCE = 128 << 20, 16 << 20
#: How often a byte is walked over, beyond the first: a record without an end is walked to the longest, and again from the next opening.
_MOST_WALKS, _FREE_WALKS = 20, 1 << 30
#: What a packed file's reader raises when its bytes are wrong.
_PACKED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile, NotImplementedError, RuntimeError, struct.error)
#: What may come next between the records: a record or the end, a comma or the end, a record; or nothing, the array being over.
_FIRST, _COMMA, _RECORD, _OVER = range(4)
#: What a decoder raises at a record.
_UNDECODED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


#: How any record begins.
_ANY = re.compile(rb'\{\s*"[^"\\]*"\s*:')


class Opened:
    """A file's uncompressed bytes, whichever way it is packed: plain, gzip, xz, or a zip archive with one JSON or text file in it.

    How it is packed is told by its first bytes, not by its name. Use as a context manager.

    Args:
        follow: whether the path may be a link (see :func:`simtown.files.open_plain`).

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
            e for e in archive.infolist() if e.filename.lower().endswith((".json", ".txt")) and not e.filename.startswith("__MACOSX/")
        ]
        if len(entries) != 1:
            names = ", ".join(e.filename[:100] for e in entries[:5]) or "none"
            raise ValueError(f"{self.path} must hold one .json file, not {names}: unpack it and give the file you mean")
        try:
            if entries[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack without a limit
                raise zipfile.BadZipFile("it is packed in a way other than deflate")
            return self._stack.enter_context(archive.open(entries[0]))
        except (*_PACKED, OSError, ValueError, LookupError) as error:
            raise DamagedError(f"{self.path} is a broken zip archive ({error}): fetch it again") from error

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def position(self) -> int:
        """Bytes of the file on disk that have been taken in, for a progress bar."""
        return min(self._disk.tell(), self.size)

    def read(self, n: int = -1) -> bytes:
        """The next n bytes, fewer only at the end. Raises DamagedError where the packing is broken, RefusedError for too much."""
        try:
            data = self._plain.read(n)
        except _PACKED as error:
            raise DamagedError(
                f"{self.path} is damaged: unpacking fails after byte {self.offset:,} ({str(error).rstrip('.') or type(error).__name__})"
            ) from error
        self.offset += len(data)
        if self.offset > FREE + MOST_UNPACKED * self.size:
            raise RefusedError(f"{self.path} unpacks to more than {MOST_UNPACKED} times its size, which no file of its kind does")
        return data

    def all(self, most: int) -> bytes:
        """All bytes of a file that is read at once. Raises DamagedError where there are more than `most`."""
        data = self.read(most + 1)
        if len(data) > most:
            raise DamagedError(f"{self.path} has more than {most:,} bytes, which no file of its kind has: fetch it again")
        return data

    def restart(self) -> None:
        """Read again from the first byte."""
        self._plain.seek(0)
        self.offset = 0

    def lines(self) -> Iterator[str]:
        """Lines of text without their ends. Raises DamagedError at bytes that are not UTF-8, and at a line that is too long."""
        rest, number = b"", 0
        while True:
            block = self.read(BLOCK)
            parts = (rest + block).split(b"\n")
            rest = parts.pop() if block else b""
            if len(rest) > LONGEST_LINE:
                raise DamagedError(
                    f"{self.path}: line {number + len(parts) + 1:,} has more than {LONGEST_LINE:,} bytes: break it into lines"
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
    """A file of which only so much is read at once: a zip archive's list of files, of which it has one, may have any declared size."""

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


@kernel
def _cut(data, position, state, found):  # type: ignore[no-untyped-def]
    """Walk over data[position:] and note where records (the items of the outermost array) begin and end.

    Args:
        data: (n,) uint8.
        position: where to go on.
        state: (4,) int64: depth, in a string, what may come next, bits of open brackets (1 a brace), kept from block to block.
        found: (2m,) int64, filled with the offsets of a begin and the end after it, in turn.

    Returns:
        How many offsets were written, where the walk stopped, and whether it stopped at a byte that cannot stand there.
    """
    depth, inside, expected, kinds = state[0], state[1], state[2], state[3]
    count, i, n, wrong = 0, position, len(data), False
    while i < n and count < len(found) - 1:
        c = data[i]
        if inside:
            if c == 92:  # a backslash: the next byte means itself, wherever the block ends
                inside = 2 if inside == 1 else 1
            elif inside == 2:
                inside = 1
            elif c == 34:
                inside = 0
        elif depth > 1:
            if c == 34:
                inside = 1
            elif c == 123 or c == 91:
                depth += 1
                if depth > 60:
                    wrong = True
                    break
                kinds = (kinds << 1) | (c == 123)
            elif c == 125 or c == 93:
                if (kinds & 1) != (c == 125):
                    wrong = True
                    break
                kinds >>= 1
                depth -= 1
                if depth == 1:
                    found[count] = i + 1
                    count += 1
                    expected = 1
        elif c == 32 or c == 10 or c == 13 or c == 9:
            pass
        elif depth == 0:
            if c != 91 or expected != 0:
                wrong = True
                break
            depth, kinds = 1, 0
        elif c == 123 and (expected == 0 or expected == 2):
            depth, kinds = 2, (kinds << 1) | 1
            found[count] = i
            count += 1
        elif c == 44 and expected == 1:
            expected = 2
        elif c == 93 and expected != 2:
            depth, expected = 0, 3
        else:
            wrong = True
            break
        i += 1
    state[0], state[1], state[2], state[3] = depth, inside, expected, kinds
    return count, i, wrong


class Records(Generic[T]):
    """Iterate over the records of a file that holds one JSON array of objects.

    Args:
        path: plain, .gz, .xz or .zip.
        kind: the msgspec type of a record.
        skip_bad: pass over malformed records and count them.
        longest: bytes; what is longer is no record.
        moved: told, after every block, how many more bytes of the file on disk were taken in.

    Attributes:
        good, bad: records decoded and passed over so far.
        read: uncompressed bytes read so far.
        first_bad: what was wrong with the first record that was passed over.

    Raises (while iterating):
        DamagedError: a malformed record, or a file cut short; the message holds the byte offset.
    """

    def __init__(self, path: Path, kind: type[T], *, skip_bad: bool = False, longest: int = LONGEST,
                 moved: Callable[[int], None] | None = None) -> None:  # fmt: skip
        self.path, self._skip, self._longest, self._moved = path, skip_bad, longest, moved
        self._decoder = msgspec.json.Decoder(kind)
        self.good = self.bad = self.read = self._walked = 0
        self.first_bad = self._broken = ""

    def __iter__(self) -> Iterator[T]:
        self._walked = 0
        with Opened(self.path) as file:
            yield from self._records(file)

    def _records(self, file: Opened) -> Iterator[T]:
        state, found = np.zeros(4, dtype=np.int64), np.empty(1 << 14, dtype=np.int64)
        # Bytes not yet done with, their offset in the file, how many of them were walked, and where the open record begins among them.
        held, base, seen, begin = b"", 0, 0, -1
        opening: re.Pattern[bytes] | None = None  # how records of this file begin, learned from the first
        lost = searching = False  # lost: no good record since a place that made no sense; searching: for the next opening
        while True:
            block = self._block(file)
            held += block
            if not base and held.startswith(b"\xef\xbb\xbf"):  # a byte order mark
                seen = max(seen, 3)
            while True:
                if searching:
                    match = (opening or _ANY).search(held, seen)
                    if match is None:
                        seen = max(seen, len(held) - 64)  # an opening may be cut in two by the block's end
                        break
                    seen, searching = match.start(), False
                    state[:] = (1, 0, _RECORD, 0)
                begun = seen
                count, stop, wrong = _cut(np.frombuffer(held, dtype=np.uint8), seen, state, found)
                self._walked += stop - begun
                if self._walked > _FREE_WALKS + _MOST_WALKS * self.read:
                    raise DamagedError(f"{self.path} is damaged in too many places to be read past them: fetch it again")
                text, swallowed = memoryview(held), None
                for place in found[:count].tolist():
                    if begin < 0:
                        begin = place
                        continue
                    try:
                        record = self._decoder.decode(text[begin:place])
                    except _UNDECODED as error:
                        if not lost:
                            self._miss(self._malformed(base + begin, error))
                        if opening is not None and not isinstance(error, msgspec.ValidationError):
                            swallowed = opening.search(held, begin + 1, place)  # an odd quote and another far behind it
                    else:
                        opening = opening or _opening(held, begin)
                        self.good += 1
                        lost = False
                        yield record
                    begin = -1
                    if swallowed is not None:
                        break
                if swallowed is not None:
                    lost, seen = True, swallowed.start()
                    state[:] = (1, 0, _RECORD, 0)
                    continue
                seen = stop
                ended = not block and stop == len(held) and begin >= 0
                if wrong or ended or (begin >= 0 and stop - begin > self._longest):
                    if not lost:
                        self._miss(self._broken or self._senseless(held, base, begin, stop, ended and not wrong))
                    lost = searching = True
                    seen, begin = (begin + 1 if begin >= 0 else stop), -1
                elif stop == len(held):
                    break
            if not block:
                if not lost and (state[2] != _OVER or self._broken):
                    self._miss(self._broken or self._short(base + len(held), -1))
                return
            done = begin if begin >= 0 else seen
            held, base, seen, begin = held[done:], base + done, seen - done, min(begin, 0)

    def _block(self, file: Opened) -> bytes:
        """The next piece of the file, empty at its end; where the packing is broken and such is passed over, that is an end too."""
        before = file.position if self.read else 0
        try:
            block = file.read(BLOCK)
        except DamagedError as error:
            if not self._skip:
                raise
            block, self._broken = b"", str(error)
        self.read = file.offset
        if self._moved is not None:
            self._moved(file.position - before)
        return block

    def _miss(self, message: str) -> None:
        if not self._skip:
            raise DamagedError(message + ": fetch the file again, or pass over such records with --skip-bad")
        self.bad += 1
        self.first_bad = self.first_bad or message.replace(str(self.path), self.path.name)  # others may read it

    def _short(self, end: int, begin: int) -> str:
        number = self.good + self.bad + 1
        if end == 0:
            return f"{self.path} is empty"
        if begin < 0:
            return f"{self.path} is cut short: it ends at byte {end:,}, after {number - 1:,} records, without closing its list"
        return f"{self.path} is cut short: it ends at byte {end:,}, inside record {number:,}, which begins at byte {begin:,}"

    def _senseless(self, held: bytes, base: int, begin: int, stop: int, ended: bool) -> str:
        before = self.good + self.bad
        if begin < 0:
            if not before and base + stop == 0:
                return f"{self.path} is no list of records: at byte 0 stands {_shown(held, stop)} instead of ["
            return f"{self.path} is damaged: at byte {base + stop:,}, after {before:,} records, stands {_shown(held, stop)}"
        try:  # the decoder, which knows all of JSON, may name the very byte
            self._decoder.decode(held[begin : stop + 1])
        except _UNDECODED as error:
            if "truncated" not in str(error):
                return self._malformed(base + begin, error)
        if ended:
            return self._short(base + stop, base + begin)
        return (
            f"{self.path} is damaged: record {before + 1:,}, which begins at byte {base + begin:,}, has no end up to byte {base + stop:,}"
        )

    def _malformed(self, begin: int, error: Exception) -> str:
        """A record that does not decode: msgspec tells the byte of wrong JSON, and the field of a wrong value."""
        reason, place = str(error), begin
        told = re.search(r" \(byte (\d+)\)$", reason)
        if told:
            reason, place = reason[: told.start()], begin + int(told[1])
        reason = reason.removeprefix("JSON is malformed: ")
        number = self.good + self.bad + 1
        return f"{self.path} is damaged: record {number:,}, which begins at byte {begin:,}, is malformed at byte {place:,} ({reason})"


def _shown(held: bytes, place: int) -> str:
    return repr(held[place : place + 1].decode("latin-1"))


def _opening(held: bytes, begin: int) -> re.Pattern[bytes] | None:
    """How a record begins: a brace and its first key."""
    told = re.compile(rb'\{\s*"([^"\\]*)"\s*:').match(held, begin)
    return re.compile(rb'\{\s*"' + re.escape(told[1]) + rb'"\s*:') if told else None
