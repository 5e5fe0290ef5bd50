"""Gigabytes of JSON, one record at a time.

A compiled scanner cuts a top-level array into its records, and msgspec decodes each alone. Memory is flat:
one block of the file and one record. docs/reproduce/visual-genome.md compares the alternatives. A place in a
file is the byte offset in its uncompressed text, counted from 0.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
import numpy as np

from simtown import kernels
from simtown.core.files import DamagedError
from simtown.core.packed import BLOCK, PackedFile
from simtown.core.untrusted import cause

T = TypeVar("T")
#: Receives numbers of bytes that were read from disk.
Progress = Callable[[int], object]

#: Bytes of the longest record: five times the longest of Visual Genome's. After damage, the search for the
#: next record begins again when so many bytes have no end.
LONGEST = 8 << 20
#: What may come next between the records: a record or the end, a comma or the end, a record; or nothing, the
#: array being over.
_FIRST, _COMMA, _RECORD, _OVER = range(4)
#: How any record begins: a brace and its first key.
_ANY = re.compile(rb'\{\s*"([^"\\]*)"\s*:')


class Records(Generic[T]):
    """Iterate over the records of a file that holds one JSON array of objects; plain, .gz, .xz or .zip.

    Args:
        kind: the msgspec type of a record.
        skip_bad: pass over malformed records and count them.

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
        self, path: Path, kind: type[T], *, skip_bad: bool = False, progress: Progress | None = None
    ) -> None:
        self.path, self._skip, self._progress = path, skip_bad, progress
        self._decoder = msgspec.json.Decoder(kind)
        self.good = self.bad = self.read = 0
        self.first_bad = ""

    def __iter__(self) -> Iterator[T]:
        with PackedFile(self.path) as file:
            yield from self._records(file)

    def _records(self, file: PackedFile) -> Iterator[T]:  # noqa: PLR0915 - one machine of states
        state, places, said = (np.zeros(n, dtype=np.int64) for n in (4, 1 << 14, 3))
        # Bytes not yet done with, their offset in the file, how many of them were walked, and where the open
        # record begins among them.
        buffer, base, seen, begin = b"", 0, 0, -1
        opening = _ANY  # how records of this file begin, learned from the first
        searching = lost = False  # for the next record after damage; lost: until a good record came
        while True:
            block = self._block(file)
            buffer += block
            if not base and buffer.startswith(b"\xef\xbb\xbf"):  # a byte order mark
                seen = max(seen, 3)
            while True:
                if searching:
                    match = opening.search(buffer, seen)
                    if match is None:
                        seen = max(seen, len(buffer) - 64)  # an opening may be cut in two by the block's end
                        break
                    seen, searching = match.start(), False
                    state[:] = (1, 0, _RECORD, 0)
                data = np.frombuffer(buffer, dtype=np.uint8)
                kernels.call("cut_records", data=data, position=seen, state=state, places=places, out=said)
                count, stop, wrong = said.tolist()
                text = memoryview(buffer)
                for place in places[:count].tolist():
                    if begin < 0:
                        begin = place
                        continue
                    try:
                        record = self._decoder.decode(text[begin:place])
                    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                        self._miss(base + begin, f"is malformed ({cause(error)})", lost)
                    else:
                        if opening is _ANY and (key := _ANY.match(buffer, begin)):
                            opening = re.compile(rb'\{\s*"' + re.escape(key[1]) + rb'"\s*:')
                        self.good += 1
                        lost = False
                        yield record
                    begin = -1
                seen = stop
                ended = not block and stop == len(buffer) and begin >= 0
                if wrong or ended or (begin >= 0 and stop - begin > LONGEST):
                    if begin < 0:
                        first = repr(buffer[stop : stop + 1].decode("latin-1"))
                        self._miss(base + stop, f"begins with {first} instead of a brace", lost)
                    else:
                        self._miss(base + begin, f"has no end up to byte {base + stop:,}", lost)
                    searching = lost = True
                    seen, begin = (begin + 1 if begin >= 0 else stop), -1
                elif stop == len(buffer):
                    break
            if not block:
                if state[2] != _OVER:
                    self._miss(base + len(buffer), "is missing: the file ends without closing its list", lost)
                return
            done = begin if begin >= 0 else seen
            buffer, base, seen, begin = buffer[done:], base + done, seen - done, min(begin, 0)

    def _block(self, file: PackedFile) -> bytes:
        """The next piece of the file, empty at its end."""
        before = file.position if self.read else 0
        try:
            block = file.read(BLOCK)
        except DamagedError as error:
            if not self._skip:
                raise
            block = b""
            # counted as the record that it cuts short
            self.first_bad = self.first_bad or str(error).replace(str(self.path), self.path.name)
        self.read = file.offset
        if self._progress is not None:
            self._progress(file.position - before)
        return block

    def _miss(self, place: int, reason: str, lost: bool) -> None:
        if lost:  # a part of what was counted already
            return
        number = self.good + self.bad + 1
        message = f"is damaged: record {number:,}, at byte {place:,}, {reason}"
        if not self._skip:
            raise DamagedError(
                f"{self.path} {message}: fetch the file again, or skip such records with `skip_bad=True`"
            )
        self.bad += 1
        self.first_bad = self.first_bad or f"{self.path.name} {message}"
