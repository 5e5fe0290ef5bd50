"""The released data of the study: objects, properties, affordances, human answers.

Read from a clone of https://github.com/mbforbes/physical-commonsense, from its folder ``data``, or from a
copy of that folder.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import numpy as np

from simtown.probes.physical import TASKS
from simtown.probes.release_files import ReleaseFiles, parsing, read_text

#: Where the files lie: in a clone, and in its folder data. The clone has a Python package pc/ as well, which
#: holds no data.
FILES = ReleaseFiles(
    "github.com/mbforbes/physical-commonsense",
    {part: (f"data/{part}/{{}}", f"{part}/{{}}") for part in ("pc", "human", "nl")},
)
#: The four kinds of properties (Figure 2 b).
CATEGORIES = ("functional", "encyclopedic", "commonsense", "perceptual")


@dataclass(frozen=True)
class Object:
    """An object: its name in a sentence, its word for static vectors, and its word to find in a sentence."""

    uid: str
    name: str
    word: str
    context: str


@dataclass(frozen=True)
class Property:
    """A property: what follows an object in a sentence ("is a tool"), its word for static vectors, its word
    to find in a sentence, and one of :data:`CATEGORIES`.
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
    """What the expert said of one test item, beside the truth."""

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
        splits: {("abstract" or "situated", "train" or "test"): object uids}.
        answers: {"abstract-OP", ...: the human's}.
        frequencies: {"property" or "affordance": {uid or verb: relative frequency in text}}.
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
        """All affordances that could be chosen."""
        return tuple(self.frequencies["affordance"])

    @cached_property
    def digest(self) -> str:
        """A digest of everything that was read."""
        digest = blake2b(digest_size=8)
        for part in (
            self.objects,
            self.properties,
            {uid: labels.tolist() for uid, labels in self.abstract.items()},
            [(i.annotation, i.object, i.properties.tolist(), i.yes, i.no) for i in self.instances],
            {which: sorted(uids) for which, uids in self.splits.items()},
            self.answers,
        ):
            digest.update(repr(part).encode())
        return digest.hexdigest()


def read(directory: Path) -> PhysicalRelease:
    """Read the released files.

    Args:
        directory: the repository's clone, its folder ``data``, or a copy of that.

    Raises:
        FileNotFoundError: they are not there; the message says where to get them.
        DamagedError: a file is malformed; the message names it.
    """

    def place(part: str, name: str) -> Path:
        return FILES.path(Path(directory), part, name)

    with parsing(path := place("pc", "objects.tsv")):
        columns = ["uid", "original", "word-embedding", "ctx"]
        objects = {row["uid"]: Object(*(row[column] for column in columns)) for row in _rows(path)}
    with parsing(path := place("pc", "properties.tsv")):
        columns = ["uid", "sentence", "word-embedding", "ctx", "categorization"]
        properties = {row["uid"]: Property(*(row[column] for column in columns)) for row in _rows(path)}
        if unknown := {p.category for p in properties.values()} - set(CATEGORIES):
            raise ValueError(f"no category {unknown.pop()}")
    with parsing(path := place("pc", "abstract.csv")):
        abstract = {
            objects[row["objectUID"]].uid: _labels(row, properties, (-2, -1, 0, 1)) for row in _rows(path)
        }
    with parsing(path := place("pc", "situated-properties.csv")):
        labels = {row["cocoAnnID"]: _labels(row, properties, (0, 1)) for row in _rows(path)}
    with parsing(path := place("pc", "situated-affordances-sampled.csv")):
        instances = tuple(
            Instance(
                row["cocoAnnID"],
                row["cocoImgID"],
                objects[row["objectUID"]].uid,
                labels[row["cocoAnnID"]],
                *(_verbs(row[column]) for column in ("affordancesYes", "affordancesNo")),
            )
            for row in _rows(path)
        )
    splits = {}
    for which in ("abstract", "situated"):
        for part in ("train", "test"):
            with parsing(path := place("pc", f"{which}-{part}-object-uids.txt")):
                splits[which, part] = frozenset(objects[uid].uid for uid in read_text(path).split())
    answers = {}
    for task in TASKS:
        gold = read_text(place("human", f"{task}-round1-gold.txt")).split()
        with parsing(path := place("human", f"{task}-round1-annotations-first50.csv")):
            answers[task] = _answers(path, gold)
    uids = {p.word: p.uid for p in properties.values()}
    with parsing(path := place("nl", "prop-freqs-nl.csv")):
        frequencies = {"property": {uids[row["word"]]: float(row["freq"]) for row in _rows(path)}}
    with parsing(path := place("nl", "aff-freqs-nl.csv")):
        frequencies["affordance"] = {row["word"]: float(row["freq"]) for row in _rows(path)}
    return PhysicalRelease(objects, properties, abstract, instances, splits, answers, frequencies)


def _rows(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV or TSV file."""
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    rows = list(csv.DictReader(io.StringIO(read_text(path), newline=""), delimiter=delimiter))
    if not rows or any(None in row or None in row.values() for row in rows):
        raise ValueError("a table without rows, or one whose rows are not equally long")
    return rows


def _labels(row: dict[str, str], properties: dict[str, Property], allowed: tuple[int, ...]) -> np.ndarray:
    """(p,) int8 of a row's cells, each one of the allowed numbers."""
    labels = np.array([int(row[uid]) for uid in properties], dtype=np.int8)
    if not np.isin(labels, allowed).all():
        raise ValueError(f"a label that is none of {', '.join(map(str, allowed))}")
    return labels


def _verbs(cell: str) -> tuple[str, ...]:
    return tuple(verb.strip() for verb in cell.split(","))


def _answers(path: Path, gold: list[str]) -> tuple[ExpertAnswer, ...]:
    """The annotated items: the first 50 of the 100 that were sampled; the others' cells are blank."""
    answers = []
    truth = {"0": False, "1": True}
    for row, label in zip(_rows(path), gold, strict=True):
        pair, said = row.values()
        left, right = pair.split("/")
        if said.strip():
            answers.append(ExpertAnswer(left, right, truth[label], truth[said.strip()]))
    return tuple(answers)
