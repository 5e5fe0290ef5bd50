"""Counts of Visual Genome that others have published, for who has not the files:
github.com/FireSterLine/interactionwise-vrd, data/genome.

A folder of them is read as these files, each plain, .gz or .xz: tab-separated tables ``relations_count``
(name, count), ``objects_count``, ``attributes_count`` (the same) and ``triples_150x50`` (subject, predicate,
object, train, test).
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import pyarrow as pa
from pyarrow import csv

from simtown.core.files import DamagedError
from simtown.core.packed import PackedFile
from simtown.core.untrusted import cause, inside
from simtown.visualgenome.clean import summed
from simtown.visualgenome.records import ImageObject

T = TypeVar("T")

#: The tables without which a folder is none of published counts.
NEEDED = ("relations_count", "triples_150x50")
#: All tables that are read.
TABLES = (*NEEDED, "objects_count", "attributes_count")
#: A lemmatiser's slips in those counts: "riding" and "ride" are told as "rid", "on left side of" as "on leave
#: side of".
_SLIPS = ((re.compile(r"\brid\b"), "ride"), (re.compile(r"\bleave (?=(?:hand )?side\b|of\b)"), "left "))


def tables(directory: Path) -> dict[str, Path]:
    """The files of a folder of published counts, by table. Raises RefusedError where one is a link."""
    return {
        name: inside(directory, name + ending)
        for name in TABLES
        for ending in (".tsv.xz", ".tsv.gz", ".tsv")
        if (directory / (name + ending)).is_file()
    }


def _read(path: Path, names: tuple[str, ...], numbers: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """The rows of a table of texts, then whole numbers of at least 0. Raises DamagedError."""
    kinds = {**dict.fromkeys(names, pa.string()), **dict.fromkeys(numbers, pa.uint32())}
    with PackedFile(path, follow=False) as file:
        text = file.read()
    try:
        parse = csv.ParseOptions(delimiter="\t", quote_char=False)
        convert = csv.ConvertOptions(column_types=kinds, include_columns=list(kinds), null_values=[])
        table = csv.read_csv(pa.BufferReader(text), parse_options=parse, convert_options=convert)
    except (pa.ArrowException, LookupError) as error:
        wanted = f"a table of {', '.join(kinds)}"
        raise DamagedError(f"{path} must be {wanted} ({error}): fetch it again") from error
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def counts(path: Path) -> Counter[str]:
    """{name: count} of a table with the columns name and count. Raises DamagedError."""
    return summed(_read(path, ("name",), ("count",)))


def predicates(path: Path) -> Counter[str]:
    """:func:`counts` of a table of predicates, its known slip undone ("rid on" is "ride on")."""
    return summed((_unslipped(name), count) for name, count in counts(path).items())


def _unslipped(predicate: str) -> str:
    for slip, meant in _SLIPS:
        predicate = slip.sub(meant, predicate)
    return predicate


def triples(path: Path) -> Counter[tuple[str, str, str]]:
    """{(subject, predicate, object): train and test counts added}. Raises DamagedError."""
    rows = _read(path, ("subject", "predicate", "object"), ("train", "test"))
    return summed(((s, _unslipped(predicate), o), train + test) for s, predicate, o, train, test in rows)


class _Box(msgspec.Struct, gc=False):
    cls: Annotated[int, msgspec.Meta(ge=0)]
    bbox: tuple[float, float, float, float]


class _Marked(msgspec.Struct, gc=False):
    objs: list[_Box]


def class_names(directory: Path) -> list[str]:
    """The names of the classes, which the annotations give by number."""
    path = inside(directory, "objects_150.json")
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: it holds the names of the classes; put it there")
    return _json(path, list[str])


def marked(path: Path, names: list[str]) -> Iterator[list[ImageObject]]:
    """Things in the images of an annotation file of published counts, with the `names` of classes by number.

    Its form is [[image, {"objs": [{"cls", "bbox": x1 y1 x2 y2}]} or null], ...]. Raises DamagedError.
    """
    for _, image in _json(path, list[tuple[str | None, _Marked | None]]):
        boxes = image.objs if image else []
        if any(box.cls >= len(names) for box in boxes):
            raise DamagedError(f"{path} has a class beyond the {len(names)} that have a name")
        yield [
            ImageObject(object_id=i, name=names[box.cls], x=x0, y=y0, w=x1 - x0, h=y1 - y0)
            for i, box in enumerate(boxes)
            for x0, y0, x1, y1 in [box.bbox]
        ]


def _json(path: Path, kind: type[T]) -> T:
    with PackedFile(path, follow=False) as file:
        try:
            return msgspec.json.decode(file.read(), type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise DamagedError(f"{path} is damaged ({cause(error)}): fetch it again") from error
