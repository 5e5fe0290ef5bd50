"""Parquet files from a stranger: every page is looked at before any is unpacked.

A file may declare any number of rows, and a few bytes of it may unpack to gigabytes: by compression, by runs
of equal values, by a dictionary whose one long text stands in every row. So the headers of all pages are read
first, which tell how large each is when unpacked and how many values it holds, and what they add up to is
held against a limit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as kinds

from simtown.core.files import DamagedError, open_plain

#: Whether a column has the type that it should have.
Kind = Callable[[pa.DataType], bool]


def _is_text(kind: pa.DataType) -> bool:
    return bool(kinds.is_string(kind.value_type if kinds.is_dictionary(kind) else kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _is_integers(kind: pa.DataType) -> bool:
    return bool(kinds.is_list(kind) and kinds.is_integer(kind.value_type))


def _is_numbers(kind: pa.DataType) -> bool:
    return bool(kinds.is_list(kind) and _is_number(kind.value_type))


def _is_box(kind: pa.DataType) -> bool:
    return bool(kinds.is_fixed_size_list(kind) and kind.list_size == 4 and kinds.is_floating(kind.value_type))


TEXT: Kind = _is_text
FLAG: Kind = kinds.is_boolean
INTEGER: Kind = kinds.is_integer
NUMBER: Kind = _is_number
INTEGERS: Kind = _is_integers
NUMBERS: Kind = _is_numbers
BOX: Kind = _is_box

#: Bytes that a value may have on average, in its file and in memory: texts are names, a few dozen letters
#: long.
WIDE = 16
#: Bytes within which the header of a page ends: the longest text in it, of its statistics, has 4,096.
_HEADER = 1 << 16
#: Numbers of the encodings that simtown's files have: plain, by dictionary (two names), in runs, in bits.
#: Others let a few bytes stand for long texts.
_ENCODINGS = (0, 2, 8, 3, 4)
#: Sorts of pages, and Thrift's types of fields.
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_2 = 0, 2, 3
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12


def read_table(path: Path, columns: Mapping[str, Kind], most: int, follow: bool = False) -> pa.Table:
    """The columns of a Parquet file, without any that is empty in a row; texts as strings.

    Args:
        path: of the file.
        columns: what each must hold; others in the file are not read.
        most: values that all of them hold together at most, and :data:`WIDE` times as many bytes.
        follow: whether the path may be a symbolic link.

    Raises:
        DamagedError: it is no such file, or declares more.
        RefusedError: as :func:`simtown.core.files.open_plain`.
        OSError: as :func:`simtown.core.files.open_plain`.
    """
    with open_plain(path, follow) as file:
        try:
            return _read(file, columns, most)
        except (
            pa.ArrowException,
            OSError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            MemoryError,
            OverflowError,
        ) as error:
            raise DamagedError(
                f"{path} is damaged ({str(error).splitlines()[0] if str(error) else type(error).__name__})"
            ) from error


def _read(file: BinaryIO, columns: Mapping[str, Kind], most: int) -> pa.Table:
    size = os.fstat(file.fileno()).st_size
    if size > most * WIDE:
        raise ValueError(f"it has {size:,} bytes, more than {most * WIDE:,}")
    _check_pages(file, size, columns, most)
    texts = [name for name, kind in columns.items() if kind is TEXT]
    file.seek(0)
    with pq.ParquetFile(file, read_dictionary=texts, pre_buffer=False) as source:
        schema = source.schema_arrow
        for name, kind in columns.items():
            if schema.names.count(name) != 1 or not kind(schema.field(name).type):
                raise ValueError(f"its column {name} is missing or of the wrong kind")
        table = source.read(columns=list(columns))
    for name in columns:
        column = table[name]
        if column.null_count or (kinds.is_nested(column.type) and pc.list_flatten(column).null_count):
            raise ValueError(f"its column {name} lacks a value")
    for name in texts:
        table = table.set_column(table.schema.get_field_index(name), name, _texts(table[name], most))
    return table


def _texts(column: pa.ChunkedArray, most: int) -> pa.ChunkedArray:
    """A column of numbered texts as strings, if these have no more bytes than they may."""
    numbered = [chunk for chunk in column.chunks if len(chunk)]
    size = sum(
        pc.sum(pc.take(pc.binary_length(chunk.dictionary), chunk.indices).cast(pa.int64())).as_py()
        for chunk in numbered
    )
    if size > most * WIDE:
        raise ValueError(f"its texts have {size:,} bytes, more than {most * WIDE:,}")
    return pa.chunked_array([chunk.cast(pa.string()) for chunk in numbered], pa.string())


def _check_pages(file: BinaryIO, size: int, columns: Mapping[str, Kind], most: int) -> None:
    """Raises ValueError where the pages of the columns declare more values or bytes than they may."""
    values = width = 0
    for group in _footer(file, size)[4, _LIST]:
        for chunk in group[1, _LIST]:
            if (1, _BINARY) in chunk:
                raise ValueError("a column is in another file")
            column = chunk[3, _STRUCT]
            if column[3, _LIST][0].decode() not in columns:
                continue
            declared, seen = max(column[5, _I64], group[3, _I64]), 0
            place = min((at for at in (column[9, _I64], column.get((11, _I64), 0)) if at > 0), default=size)
            while seen < declared:
                file.seek(place)
                header = _Compact(file.read(_HEADER))
                page = header.struct()
                unpacked, packed, more = page[2, _I32], page[3, _I32], _values(page)
                width, seen, values, place = (
                    width + unpacked,
                    seen + more,
                    values + more,
                    place + header.at + packed,
                )
                if min(unpacked, packed, more) < 0 or values > most or width > most * WIDE:
                    raise ValueError(f"its pages declare more than {most:,} values or {most * WIDE:,} bytes")


def _footer(file: BinaryIO, size: int) -> dict[tuple[int, int], Any]:
    """What the end of the file says of the rest.

    It is read here since pyarrow ends the process at some that are damaged.
    """
    file.seek(max(0, size - 8))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != b"PAR1" or length > size - 12:
        raise ValueError("it is no Parquet file, or cut short")
    file.seek(size - 8 - length)
    return _Compact(file.read(length)).struct()


def _values(page: dict[tuple[int, int], Any]) -> int:
    """How many values a page of data holds; 0 for one of another sort.

    Raises ValueError for an encoding that is not ours.
    """
    if page[1, _I32] == _DICTIONARY_PAGE:
        header, count = page[7, _STRUCT], 0
        encoding = header[2, _I32]
        if header[1, _I32] > page[2, _I32] + 1:  # a value has a byte at least
            raise ValueError("its dictionary declares more than it holds")
    elif page[1, _I32] == _DATA_PAGE:
        header = page[5, _STRUCT]
        count, encoding = header[1, _I32], header[2, _I32]
    elif page[1, _I32] == _DATA_PAGE_2:
        header = page[8, _STRUCT]
        count, encoding = header[1, _I32], header[4, _I32]
    else:
        return 0
    if encoding not in _ENCODINGS:
        raise ValueError(f"a page has the encoding {encoding}, which simtown does not write")
    return int(count)


class _Compact:
    """Reads Thrift's compact protocol, in which Parquet's headers are written.

    A struct comes as {(number of a field, its type): value}, so that a field of another type is none, as it
    is for other readers. Raises IndexError where the bytes end too early, ValueError for what cannot be.
    """

    def __init__(self, content: bytes) -> None:
        self._content, self.at = content, 0

    def struct(self, depth: int = 0) -> dict[tuple[int, int], Any]:
        fields: dict[tuple[int, int], Any] = {}
        numbers = set()
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            if number in numbers:
                raise ValueError("a field of it stands there twice")
            numbers.add(number)
            kind = head & 15
            fields[number, kind] = kind == 1 if kind in (1, 2) else self._value(kind, depth + 1)
        return fields

    def _byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number in it is too long")

    def _integer(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def _bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self._content):
            raise IndexError("it is cut short")
        return self._content[self.at - count : self.at]

    def _value(self, kind: int, depth: int) -> Any:
        if depth > 12:
            raise ValueError("it nests too deeply")
        if kind in (1, 2, 3):  # an item of a list of flags, a byte
            return self._byte()
        if kind in (4, _I32, _I64):
            return self._integer()
        if kind == 7:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind == _STRUCT:
            return self.struct(depth)
        if kind != _LIST:
            raise ValueError("it holds what Parquet has not")
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._unsigned()
        return [self._value(head & 15, depth + 1) for _ in range(count)]
