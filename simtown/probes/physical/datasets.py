"""The released data of the physical-commonsense study (Forbes, Holtzman & Choi 2019): objects, properties,
affordances, human answers.

Read from a clone of https://github.com/mbforbes/physical-commonsense, from its folder ``data``, or from a
copy of that folder.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from simtown.core.files import DamagedError
from simtown.probes.release_files import ReleaseFiles, read_text

#: Where the files lie: in a clone, and in its folder data. The clone has a Python package pc/ as well, which
#: holds no data.
FILES = ReleaseFiles(
    "github.com/mbforbes/physical-commonsense",
    {part: (f"data/{part}/{{}}", f"{part}/{{}}") for part in ("pc", "human", "nl")},
)
#: The annotated sets; "situated" objects stand in photographs.
SETS = ("abstract", "situated")
#: The four kinds of properties (Figure 2 b).
CATEGORIES = ("functional", "encyclopedic", "commonsense", "perceptual")
#: Rows of a table at most, and letters of a name: the longest that is released has 1,040 rows, and no name
#: 100 letters.
MOST_ROWS, LONGEST_NAME = 20_000, 500
_SPLITS = ("train", "test")
_HUMAN = ("abstract-OP", "situated-OP", "situated-OA", "situated-AP")
_INSTANCE = ("cocoImgID", "cocoAnnID", "objectUID")


@dataclass(frozen=True)
class Object:
    """An object.

    Attributes:
        uid: its identifier.
        name: its name in a sentence.
        word: its word for static vectors.
        context: its word to find in a sentence.
    """

    uid: str
    name: str
    word: str
    context: str


@dataclass(frozen=True)
class Property:
    """A property.

    Attributes:
        uid: its identifier.
        phrase: what follows an object in a sentence ("is a tool").
        word: its word for static vectors.
        context: its word to find in a sentence.
        category: one of :data:`CATEGORIES`.
    """

    uid: str
    phrase: str
    word: str
    context: str
    category: str


@dataclass(frozen=True)
class Instance:
    """An object in a photograph.

    Attributes:
        annotation: identifier of the annotation.
        image: identifier of the photograph.
        object: identifier of the object.
        properties: (p,) int8 of 0 and 1, in the order of :attr:`PhysicalRelease.properties`.
        yes: affordances that were chosen.
        no: affordances that were not.
    """

    annotation: str
    image: str
    object: str
    properties: np.ndarray
    yes: tuple[str, ...]
    no: tuple[str, ...]


@dataclass(frozen=True)
class ExpertAnswer:
    """What the expert said of one test item.

    Attributes:
        left: the left item.
        right: the right item.
        label: the truth.
        said: the answer.
    """

    left: str
    right: str
    label: bool
    said: bool


@dataclass(frozen=True)
class PhysicalRelease:
    """Everything that the study needs.

    Attributes:
        objects: by uid.
        properties: by uid.
        abstract: {object uid: (p,) int8}, 1 yes, 0 no, -1 without agreement, -2 too hard to tell; in the
            order of :attr:`properties`.
        instances: the situated objects.
        splits: {(set, "train" or "test"): object uids}.
        answers: {"abstract-OP", ...: the human's}.
        frequencies: {"property" or "affordance": {uid or verb: relative frequency in text}}. verbs: all
            affordances that could be chosen.
    """

    objects: dict[str, Object]
    properties: dict[str, Property]
    abstract: dict[str, np.ndarray]
    instances: tuple[Instance, ...]
    splits: dict[tuple[str, str], frozenset[str]]
    answers: dict[str, tuple[ExpertAnswer, ...]]
    frequencies: dict[str, dict[str, float]]

    @property
    def verbs(self) -> tuple[str, ...]:
        return tuple(self.frequencies["affordance"])


def read(directory: Path) -> PhysicalRelease:
    """Read the released files.

    Args:
        directory: the repository's clone, its folder ``data``, or a copy of that.

    Raises:
        FileNotFoundError: they are not there; the message says where to get them.
        DamagedError: a file is malformed; the message names its row and column.
    """

    def place(part: str, name: str) -> Path:
        return FILES.path(Path(directory), part, name)

    objects = {
        r["uid"]: Object(r["uid"], r["original"], r["word-embedding"], r["ctx"])
        for r in _Table(place("pc", "objects.tsv"), ("uid", "original", "word-embedding", "ctx")).rows
    }
    properties = _properties(place("pc", "properties.tsv"))
    names = [text for thing in (*objects.values(), *properties.values()) for text in vars(thing).values()]
    if not all(text.strip() and len(text) <= LONGEST_NAME for text in names):
        raise DamagedError(
            f"{directory}: an object or a property has no name, or one that is too long: fetch the release "
            "again"
        )
    labels = _Table(place("pc", "situated-properties.csv"), (*_INSTANCE, *properties))
    verbs = _Table(
        place("pc", "situated-affordances-sampled.csv"), (*_INSTANCE, "affordancesYes", "affordancesNo")
    )
    release = PhysicalRelease(
        objects,
        properties,
        _abstract(place("pc", "abstract.csv"), objects, properties),
        _instances(labels, verbs, objects, properties),
        {
            (s, part): _uids(place("pc", f"{s}-{part}-object-uids.txt"), objects)
            for s in SETS
            for part in _SPLITS
        },
        {
            name: _answers(
                place("human", f"{name}-round1-annotations-first50.csv"),
                place("human", f"{name}-round1-gold.txt"),
            )
            for name in _HUMAN
        },
        {
            "property": _frequencies(
                place("nl", "prop-freqs-nl.csv"), {p.word: p.uid for p in properties.values()}
            ),
            "affordance": _frequencies(place("nl", "aff-freqs-nl.csv"), None),
        },
    )
    sets = (
        release.abstract,
        release.instances,
        release.verbs,
        *release.splits.values(),
        *release.answers.values(),
    )
    if not all(sets):
        raise DamagedError(f"{directory}: one of its tables has no rows: fetch the release again")
    return release


class _Table:
    """Rows of a CSV or TSV file, as dictionaries, that can say where they are."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path = path
        delimiter = "\t" if ".tsv" in path.suffixes else ","
        try:
            reader = csv.reader(io.StringIO(read_text(path), newline=""), delimiter=delimiter)
            head = next(reader, [])
            lines = list(islice((row for row in reader if row), MOST_ROWS + 1))
        except csv.Error as error:
            raise DamagedError(f"{path} is no table of text ({error}): fetch it again") from None
        self.columns = tuple(head)
        for column in columns:
            if column not in head:
                raise DamagedError(
                    f"{path} has no column {column}: it begins with {', '.join(head)[:80] or 'nothing'}"
                )
        if len(lines) > MOST_ROWS:
            raise DamagedError(f"{path} has more than {MOST_ROWS:,} rows: fetch it again")
        for number, row in enumerate(lines, 2):
            if len(row) != len(head):
                raise DamagedError(
                    f"{path} is malformed: row {number} has {len(row)} columns instead of {len(head)}"
                )
        self.rows = [dict(zip(head, row, strict=True)) for row in lines]

    def wrong(self, index: int, column: str, what: str) -> DamagedError:
        """The error for a cell; row numbers count the header."""
        cell = self.rows[index].get(column, "")[:60]
        return DamagedError(f"{self.path} is malformed: row {index + 2}, column {column}: '{cell}' is {what}")

    def known(self, column: str, names: Sequence[str] | dict[str, Object]) -> None:
        """Every cell of the column is one of the names, none twice where it is the key of the table."""
        for i, row in enumerate(self.rows):
            if row[column] not in names:
                raise self.wrong(i, column, "unknown")

    def labels(self, names: Sequence[str], allowed: Sequence[int]) -> np.ndarray:
        """(rows, names) int8 of cells that are one of the allowed numbers."""
        table = {str(a): a for a in allowed}
        result = np.empty((len(self.rows), len(names)), dtype=np.int8)
        for i, row in enumerate(self.rows):
            for j, name in enumerate(names):
                if row[name] not in table:
                    raise self.wrong(i, name, f"none of {', '.join(table)}")
                result[i, j] = table[row[name]]
        return result


def _properties(path: Path) -> dict[str, Property]:
    table = _Table(path, ("uid", "word-embedding", "sentence", "ctx", "categorization"))
    for i, row in enumerate(table.rows):
        if row["categorization"] not in CATEGORIES:
            raise table.wrong(i, "categorization", f"none of {', '.join(CATEGORIES)}")
    return {
        r["uid"]: Property(r["uid"], r["sentence"], r["word-embedding"], r["ctx"], r["categorization"])
        for r in table.rows
    }


def _uids(path: Path, objects: dict[str, Object]) -> frozenset[str]:
    uids = read_text(path).split()
    for number, uid in enumerate(uids, 1):
        if uid not in objects:
            raise DamagedError(f"{path} is malformed: row {number}: '{uid[:60]}' is no object of objects.tsv")
    return frozenset(uids)


def _abstract(
    path: Path, objects: dict[str, Object], properties: dict[str, Property]
) -> dict[str, np.ndarray]:
    table = _Table(path, ("objectUID", *properties))
    table.known("objectUID", objects)
    labels = table.labels(tuple(properties), (-2, -1, 0, 1))
    return {row["objectUID"]: labels[i] for i, row in enumerate(table.rows)}


def _instances(
    properties_table: _Table,
    affordances_table: _Table,
    objects: dict[str, Object],
    properties: dict[str, Property],
) -> tuple[Instance, ...]:
    for table in (properties_table, affordances_table):
        table.known("objectUID", objects)
    labels = {
        row["cocoAnnID"]: values
        for row, values in zip(
            properties_table.rows, properties_table.labels(tuple(properties), (0, 1)), strict=True
        )
    }
    result = []
    for i, row in enumerate(affordances_table.rows):
        if row["cocoAnnID"] not in labels:
            raise affordances_table.wrong(i, "cocoAnnID", "not in situated-properties.csv")
        verbs = {}
        for column in ("affordancesYes", "affordancesNo"):
            verbs[column] = tuple(v.strip() for v in row[column].split(","))
            if not all(verbs[column]):
                raise affordances_table.wrong(i, column, "no list of verbs with commas between")
        annotation = row["cocoAnnID"]
        result.append(
            Instance(
                annotation,
                row["cocoImgID"],
                row["objectUID"],
                labels[annotation],
                verbs["affordancesYes"],
                verbs["affordancesNo"],
            )
        )
    if len(result) != len(properties_table.rows):
        raise DamagedError(
            f"{affordances_table.path} has {len(result)} rows, situated-properties.csv "
            f"{len(properties_table.rows)}: they must be "
            "the same instances"
        )
    return tuple(result)


def _answers(path: Path, gold_path: Path) -> tuple[ExpertAnswer, ...]:
    """The annotated items: the first 50 of the 100 that were sampled; the others' cells are blank."""
    table = _Table(path, ())
    if len(table.columns) != 2:
        raise DamagedError(f"{path} is malformed: row 1 has {len(table.columns)} columns instead of 2")
    pair, answer = table.columns
    gold = read_text(gold_path).split()
    result = []
    for i, row in enumerate(table.rows):
        if not row[answer].strip():
            continue
        left, slash, right = row[pair].partition("/")
        if not slash:
            raise table.wrong(i, pair, "no pair with / between")
        if row[answer].strip() not in ("0", "1"):
            raise table.wrong(i, answer, "neither 0 nor 1")
        if i >= len(gold) or gold[i] not in ("0", "1"):
            raise DamagedError(f"{gold_path} is malformed: row {i + 1} is missing, or neither 0 nor 1")
        result.append(ExpertAnswer(left, right, gold[i] == "1", row[answer].strip() == "1"))
    return tuple(result)


def _frequencies(path: Path, uids: dict[str, str] | None) -> dict[str, float]:
    table = _Table(path, ("word", "freq"))
    result = {}
    for i, row in enumerate(table.rows):
        try:
            result[row["word"] if uids is None else uids[row["word"]]] = number = float(row["freq"])
            if not 0 <= number < math.inf:
                raise ValueError
        except ValueError:
            raise table.wrong(i, "freq", "no number") from None
        except KeyError:
            raise table.wrong(i, "word", "no word of properties.tsv") from None
    return result
