"""Gigabytes of JSON, one record at a time.

A compiled scanner cuts a top-level array into its records, and each is decoded alone.

Memory is flat: one block of the file and one record. Measured against the alternatives in
docs/reproduce/visual-genome.md. A place in a file is told as the byte offset in its uncompressed text,
counted from 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
import numpy as np

from simtown.core.exact import kernel
from simtown.core.files import DamagedError
from simtown.core.packed import BLOCK, PackedFile

T = TypeVar("T")

#: Bytes of the longest record that is believed: five times the longest of Visual Genome's. In memory it may
#: take 40 times as many.
LONGEST = 8 << 20
#: How often a byte is walked over, beyond the first: a record without an end is walked to the longest, and
#: again from the next opening.
_MOST_WALKS, _FREE_WALKS = 20, 1 << 30
#: What may come next between the records: a record or the end, a comma or the end, a record; or nothing, the
#: array being over.
_FIRST, _COMMA, _RECORD, _OVER = range(4)
#: What a decoder raises at a record.
_UNDECODED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


#: How any record begins.
_ANY = re.compile(rb'\{\s*"[^"\\]*"\s*:')


@kernel
def _cut(data, position, state, places):  # type: ignore[no-untyped-def]
    """Walk over data[position:] and note where records (the items of the outermost array) begin and end.

    Args:
        data: (n,) uint8.
        position: where to go on.
        state: (4,) int64: depth, in a string, what may come next, bits of open brackets (1 a brace), kept
            from block to block.
        places: (2m,) int64, filled with the offsets of a begin and the end after it, in turn.

    Returns:
        How many offsets were written, where the walk stopped, and whether it stopped at a byte that cannot
        stand there.
    """
    depth, inside, expected, kinds = state[0], state[1], state[2], state[3]
    count, i, n, wrong = 0, position, len(data), False
    while i < n and count < len(places) - 1:
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
                    places[count] = i + 1
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
            places[count] = i
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
        progress: receives the number of bytes of the file on disk that were read, after every block.

    Attributes:
        good: records decoded so far.
        bad: records passed over so far.
        read: uncompressed bytes read so far.
        first_bad: what was wrong with the first record that was passed over.

    Raises:
        DamagedError: while iterating, at a malformed record or the end of a file that is cut short; the
            message holds the byte offset.
    """

    def __init__(
        self,
        path: Path,
        kind: type[T],
        *,
        skip_bad: bool = False,
        longest: int = LONGEST,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        self.path, self._skip, self._longest, self._progress = path, skip_bad, longest, progress
        self._decoder = msgspec.json.Decoder(kind)
        self.good = self.bad = self.read = self._walked = 0
        self.first_bad = self._broken = ""

    def __iter__(self) -> Iterator[T]:
        self._walked = 0
        with PackedFile(self.path) as file:
            yield from self._records(file)

    def _records(self, file: PackedFile) -> Iterator[T]:
        state, places = np.zeros(4, dtype=np.int64), np.empty(1 << 14, dtype=np.int64)
        # Bytes not yet done with, their offset in the file, how many of them were walked, and where the open
        # record begins among them.
        buffer, base, seen, begin = b"", 0, 0, -1
        opening: re.Pattern[bytes] | None = None  # how records of this file begin, learned from the first
        lost = searching = (
            False  # lost: no good record since a place that made no sense; searching: for the next opening
        )
        while True:
            block = self._block(file)
            buffer += block
            if not base and buffer.startswith(b"\xef\xbb\xbf"):  # a byte order mark
                seen = max(seen, 3)
            while True:
                if searching:
                    match = (opening or _ANY).search(buffer, seen)
                    if match is None:
                        seen = max(seen, len(buffer) - 64)  # an opening may be cut in two by the block's end
                        break
                    seen, searching = match.start(), False
                    state[:] = (1, 0, _RECORD, 0)
                start = seen
                count, stop, wrong = _cut(np.frombuffer(buffer, dtype=np.uint8), seen, state, places)
                self._walked += stop - start
                if self._walked > _FREE_WALKS + _MOST_WALKS * self.read:
                    raise DamagedError(
                        f"{self.path} is damaged in too many places to be read past them: fetch it again"
                    )
                text, swallowed = memoryview(buffer), None
                for place in places[:count].tolist():
                    if begin < 0:
                        begin = place
                        continue
                    try:
                        record = self._decoder.decode(text[begin:place])
                    except _UNDECODED as error:
                        if not lost:
                            self._miss(self._malformed(base + begin, error))
                        if opening is not None and not isinstance(error, msgspec.ValidationError):
                            # an odd quote and another far behind it
                            swallowed = opening.search(buffer, begin + 1, place)
                    else:
                        opening = opening or _opening(buffer, begin)
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
                ended = not block and stop == len(buffer) and begin >= 0
                if wrong or ended or (begin >= 0 and stop - begin > self._longest):
                    if not lost:
                        self._miss(
                            self._broken or self._senseless(buffer, base, begin, stop, ended and not wrong)
                        )
                    lost = searching = True
                    seen, begin = (begin + 1 if begin >= 0 else stop), -1
                elif stop == len(buffer):
                    break
            if not block:
                if not lost and (state[2] != _OVER or self._broken):
                    self._miss(self._broken or self._short(base + len(buffer), -1))
                return
            done = begin if begin >= 0 else seen
            buffer, base, seen, begin = buffer[done:], base + done, seen - done, min(begin, 0)

    def _block(self, file: PackedFile) -> bytes:
        """The next piece of the file, empty at its end.

        If broken packing is passed over, it is an end too.
        """
        before = file.position if self.read else 0
        try:
            block = file.read(BLOCK)
        except DamagedError as error:
            if not self._skip:
                raise
            block, self._broken = b"", str(error)
        self.read = file.offset
        if self._progress is not None:
            self._progress(file.position - before)
        return block

    def _miss(self, message: str) -> None:
        if not self._skip:
            raise DamagedError(message + ": fetch the file again, or skip such records with `skip_bad=True`")
        self.bad += 1
        # others may read it
        self.first_bad = self.first_bad or message.replace(str(self.path), self.path.name)

    def _short(self, end: int, begin: int) -> str:
        number = self.good + self.bad + 1
        if end == 0:
            return f"{self.path} is empty"
        if begin < 0:
            return (
                f"{self.path} is cut short: it ends at byte {end:,}, after {number - 1:,} records, without "
                "closing its list"
            )
        return (
            f"{self.path} is cut short: it ends at byte {end:,}, inside record {number:,}, which begins at "
            f"byte {begin:,}"
        )

    def _senseless(self, buffer: bytes, base: int, begin: int, stop: int, ended: bool) -> str:
        before = self.good + self.bad
        if begin < 0:
            if not before and base + stop == 0:
                return (
                    f"{self.path} is no list of records: at byte 0 stands {_shown(buffer, stop)} instead of ["
                )
            return (
                f"{self.path} is damaged: at byte {base + stop:,}, after {before:,} records, stands "
                f"{_shown(buffer, stop)}"
            )
        try:  # the decoder, which knows all of JSON, may name the very byte
            self._decoder.decode(buffer[begin : stop + 1])
        except _UNDECODED as error:
            if "truncated" not in str(error):
                return self._malformed(base + begin, error)
        if ended:
            return self._short(base + stop, base + begin)
        return (
            f"{self.path} is damaged: record {before + 1:,}, which begins at byte {base + begin:,}, has no "
            f"end up to byte {base + stop:,}"
        )

    def _malformed(self, begin: int, error: Exception) -> str:
        """The message about a record that does not decode.

        msgspec names the byte of wrong JSON, and the field of a wrong value.
        """
        reason, place = str(error), begin
        match = re.search(r" \(byte (\d+)\)$", reason)
        if match:
            reason, place = reason[: match.start()], begin + int(match[1])
        reason = reason.removeprefix("JSON is malformed: ")
        number = self.good + self.bad + 1
        return (
            f"{self.path} is damaged: record {number:,}, which begins at byte {begin:,}, is malformed at "
            f"byte {place:,} ({reason})"
        )


def _shown(buffer: bytes, place: int) -> str:
    return repr(buffer[place : place + 1].decode("latin-1"))


def _opening(buffer: bytes, begin: int) -> re.Pattern[bytes] | None:
    """How a record begins: a brace and its first key."""
    match = re.compile(rb'\{\s*"([^"\\]*)"\s*:').match(buffer, begin)
    return re.compile(rb'\{\s*"' + re.escape(match[1]) + rb'"\s*:') if match else None
