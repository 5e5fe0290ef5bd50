"""Counts of Visual Genome that others have published, for who has not the files:
github.com/FireSterLine/interactionwise-vrd, data/genome.

A folder of them is read as these files, each plain, .gz or .xz: tab-separated tables ``relations_count``
(name, count), ``objects_count``, ``attributes_count`` (the same) and ``triples_150x50`` (subject, predicate,
object, train, test).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from simtown.core.files import DamagedError
from simtown.core.packed import PackedFile
from simtown.core.untrusted import inside
from simtown.visualgenome.records import ImageObject, Objects

#: The tables without which a folder is none of published counts.
NEEDED = ("relations_count", "triples_150x50")
#: All tables that are read.
TABLES = (*NEEDED, "objects_count", "attributes_count")
#: A lemmatiser's slips in those counts: "riding" and "ride" are told as "rid", "on left side of" as "on leave
#: side of".
_SLIPS = ((re.compile(r"\brid\b"), "ride"), (re.compile(r"\bleave (?=(?:hand )?side\b|of\b)"), "left "))


def find(directory: Path, name: str) -> Path | None:
    """The file of a table in a folder of published counts, or None.

    Raises RefusedError where it is a link.
    """
    return next(
        (
            inside(directory, name + end)
            for end in (".tsv", ".tsv.gz", ".tsv.xz")
            if (directory / (name + end)).is_file()
        ),
        None,
    )


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[list[str]]:
    with PackedFile(path, follow=False) as file:
        for number, line in enumerate(file.lines(), start=1):
            row = line.split("\t")
            if number == 1 and tuple(row) != columns:
                raise DamagedError(
                    f"{path} is no table of {', '.join(columns)}: it begins with "
                    f"{', '.join(row)[:100] or 'nothing'}"
                )
            if len(row) != len(columns):
                raise DamagedError(
                    f"{path} is damaged: line {number:,} has {len(row)} columns instead of {len(columns)}"
                )
            if number > 1:
                yield row
        if not file.offset:
            raise DamagedError(f"{path} is no table of {', '.join(columns)}: it begins with nothing")


def _number(path: Path, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise DamagedError(
            f"{path} is damaged: '{text[:40]}' is no count, which is a whole number of at least 0; fetch it "
            "again"
        )
    return int(text)


def counts(path: Path) -> Counter[str]:
    """{name: count} of a table with the columns name and count. Raises DamagedError."""
    result: Counter[str] = Counter()
    for name, count in _rows(path, ("name", "count")):
        result[name] += _number(path, count)
    return result


def predicates(path: Path) -> Counter[str]:
    """:func:`counts` of a table of predicates, its known slip undone ("rid on" is "ride on")."""
    result: Counter[str] = Counter()
    for name, count in counts(path).items():
        result[_unslipped(name)] += count
    return result


def _unslipped(predicate: str) -> str:
    for slip, meant in _SLIPS:
        predicate = slip.sub(meant, predicate)
    return predicate


def triples(path: Path) -> Counter[tuple[str, str, str]]:
    """{(subject, predicate, object): train and test counts added}. Raises DamagedError."""
    result: Counter[tuple[str, str, str]] = Counter()
    for subject, predicate, obj, train, test in _rows(
        path, ("subject", "predicate", "object", "train", "test")
    ):
        result[subject, _unslipped(predicate), obj] += _number(path, train) + _number(path, test)
    return result


class _Box(msgspec.Struct, gc=False):
    cls: Annotated[int, msgspec.Meta(ge=0)]
    bbox: tuple[float, float, float, float]


class _Marked(msgspec.Struct, gc=False):
    objs: list[_Box]


def marked(path: Path, names: list[str]) -> list[Objects]:
    """Things in the images of an annotation file of published counts.

    Its form is [[image, {"objs": [{"cls", "bbox": x1 y1 x2 y2}]} or null], ...].

    Args:
        path: of the annotation file.
        names: of the classes, by number.

    Raises:
        DamagedError: it is no such file, or names a class that is none.
    """
    with PackedFile(path, follow=False) as file:
        text = file.read()
    try:
        content = msgspec.json.decode(text, type=list[tuple[str | None, _Marked | None]])
        return [
            Objects(
                image_id=number,
                objects=[
                    ImageObject(object_id=i, name=names[box.cls], x=x0, y=y0, w=x1 - x0, h=y1 - y0)
                    for i, box in enumerate(image.objs if image else ())
                    for x0, y0, x1, y1 in [box.bbox]
                ],
            )
            for number, (_, image) in enumerate(content)
        ]
    except (msgspec.MsgspecError, UnicodeDecodeError, IndexError, RecursionError) as error:
        raise DamagedError(
            f"{path} must be a JSON list of images with their annotations ({error}): fetch it again"
        ) from error
