"""Finished cells of an experiment in one CSV: a line a cell.

A column is a value of a cell's file (:mod:`simtown.complexity.cells`) by its path, such as
``run.test.accuracy``; what is deeper than three names is JSON. Values that all cells share stand above, in
lines that begin with "#". The first columns are the cell's name and the commit with which it came.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simtown.core.files import DamagedError, save_text
from simtown.core.untrusted import RefusedError, cause, open_regular, parse_json, read_text

#: The name of the table in a folder of cells, and its first line.
TABLE, _FIRST = "cells.csv", "# simtown-cells 1"
#: Names of a path, at most.
_DEEPEST = 3
#: The columns that are no values of a cell.
_NAME, _COMMIT = "cell", "commit"
#: The longest text of a column: one byte of the families of a million test items, as base64, and more.
_LONGEST = 1 << 24


def is_table(path: Path) -> bool:
    """Whether a file begins as a table of cells does."""
    try:
        with open_regular(path, follow=False) as opened:
            return opened.read(len(_FIRST)) == _FIRST.encode()
    except (OSError, RefusedError):
        return False


def read_table(path: Path) -> dict[str, dict[str, Any]]:
    """The contents of the files of a table's cells, by the cells' names.

    Raises:
        FileNotFoundError: there is no table.
        DamagedError: it cannot be read; the message says behind which cell.
    """
    try:
        return _parse(read_text(path, follow=False))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise DamagedError(f"{path} is damaged ({error}): put back a copy of it") from error


def _parse(text: str) -> dict[str, dict[str, Any]]:
    """The contents in the text of a table. Raises ValueError, which says behind which cell it ends."""
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST))
    contents: dict[str, dict[str, Any]] = {}
    try:
        head, _, body = text.partition(f"\n{_NAME},")
        if not head.startswith(_FIRST) or not body:
            raise ValueError(f"it does not begin with '{_FIRST}' and a line of columns")
        shared = dict(row[2:].split(" = ", 1) for row in head.splitlines()[1:])
        for row in csv.DictReader(io.StringIO(f"{_NAME},{body}")):
            name = row.pop(_NAME)
            row.pop(_COMMIT, None)
            if name in contents or None in row or None in row.values():
                raise ValueError(f"{name} stands twice, or has other columns")
            contents[name] = _nested(shared | row)
    except (ValueError, TypeError, AttributeError, csv.Error) as error:
        raise ValueError(f"behind {len(contents)} cells: {cause(error)}") from error
    return contents


def write_table(path: Path, cells: Mapping[str, dict[str, Any]], commits: Mapping[str, str]) -> None:
    """Write the contents of cells' files by name, each with the commit with which it came.

    Raises ValueError, and writes nothing, if reading the table would give other contents.
    """
    flat = {name: dict(_leaves(content)) for name, content in sorted(cells.items())}
    columns = sorted({column for row in flat.values() for column in row})
    texts = {column: {row.get(column, "") for row in flat.values()} for column in columns}
    shared = {column: own.pop() for column, own in texts.items() if len(own) == 1}
    varied = [column for column in columns if column not in shared]
    out = io.StringIO(newline="")
    out.write(f"{_FIRST}\n" + "".join(f"# {column} = {text}\n" for column, text in shared.items()))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_NAME, _COMMIT, *varied])
    for name, row in flat.items():
        writer.writerow([name, commits.get(name, ""), *(row.get(column, "") for column in varied)])
    if _parse(out.getvalue()) != dict(cells):
        raise ValueError(f"{path} cannot hold these cells: a name in them has a dot, a = or a line break")
    save_text(path, out.getvalue())


def _leaves(value: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """The columns of a content, and their texts."""
    for name, part in value.items():
        own = (*path, name)
        if isinstance(part, dict) and part and len(own) < _DEEPEST:
            yield from _leaves(part, own)
        else:
            yield ".".join(own), _text(part)


def _text(value: Any) -> str:
    """The text of a value: JSON, or a plain text that nobody takes for JSON or a formula."""
    plain = isinstance(value, str) and value.isprintable() and value[:1] not in ("", "=", "+", "-", "@")
    if not plain or _value(value) != value:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    return value


def _value(text: str) -> Any:
    """The value of a text."""
    try:
        return parse_json(text)
    except ValueError:
        return text


def _nested(row: Mapping[str, str]) -> dict[str, Any]:
    """The content of a cell's file from its columns; an empty one says nothing."""
    content: dict[str, Any] = {}
    for column, text in row.items():
        if text:
            *path, last = column.split(".")
            part = content
            for name in path:
                part = part.setdefault(name, {})
            part[last] = _value(text)
    return content
