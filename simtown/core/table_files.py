"""Parquet files whose columns and their types are known."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from simtown.core.files import DamagedError
from simtown.core.untrusted import cause, open_regular

TEXT, FLAG, INTEGER, NUMBER = pa.string(), pa.bool_(), pa.int64(), pa.float64()
INTEGERS, NUMBERS = pa.list_(INTEGER), pa.list_(NUMBER)


def columns_of(file: BinaryIO, columns: Sequence[str]) -> pa.Table:
    """Some columns of a Parquet file, of those that it has. Raises ArrowException or OSError."""
    # without threads: now and then those of pyarrow abort a program that ends soon after
    return pq.ParquetFile(file, pre_buffer=False).read(list(columns), use_threads=False)


def read_table(path: Path, columns: Mapping[str, pa.DataType]) -> pa.Table:
    """The columns of a Parquet file that have a name here, cast to its type.

    Raises:
        DamagedError: it is not such a file, or a value is missing. Others as
            :func:`simtown.core.untrusted.open_regular`.
    """
    with open_regular(path, follow=False) as file:
        try:
            table = columns_of(file, list(columns)).select(list(columns)).cast(pa.schema(columns))
        except (pa.ArrowException, OSError, ValueError, LookupError) as error:
            raise DamagedError(f"{path} is damaged ({cause(error)})") from error
    for name, column in zip(table.column_names, table.columns, strict=True):
        nested = pa.types.is_nested(column.type)
        if column.null_count or (nested and pc.list_flatten(column).null_count):
            raise DamagedError(f"{path} is damaged (its column {name} lacks a value)")
    return table
