"""The released data of the study, as yes/no decisions about objects, properties and affordances.

Read from a clone of https://github.com/mbforbes/physical-commonsense, from its folder ``data``, or from a
copy of that folder.
"""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from simtown.probes.physical import TASKS
from simtown.probes.release_files import ReleaseFiles, parsing, read_text

Kind = Literal["object", "property", "affordance"]
#: What stands left and right in a pair of each task.
KINDS: dict[str, tuple[Kind, Kind]]
KINDS = {"OP": ("object", "property"), "OA": ("object", "affordance"), "AP": ("affordance", "property")}
#: Where the files lie: in a clone, and in its folder data. The clone has a Python package pc/ as well, which
#: holds no data.
FILES = ReleaseFiles(
    "github.com/mbforbes/physical-commonsense",
    {part: (f"data/{part}/{{}}", f"{part}/{{}}") for part in ("pc", "human", "nl")},
)
#: The four kinds of properties (Figure 2 b).
CATEGORIES = ("functional", "encyclopedic", "commonsense", "perceptual")
#: Labels of the release. "No agreement" (-1) and "too hard to tell" (-2) count as no.
_TRUTH = {"1": True, "0": False, "-1": False, "-2": False}


class Object(NamedTuple):
    """An object: its name in a sentence, its word for static vectors, and its word to find in a sentence."""

    uid: str
    name: str
    word: str
    context: str


class Property(NamedTuple):
    """A property: what follows an object ("is a tool"), its word for vectors and to find, its category."""

    uid: str
    phrase: str
    word: str
    context: str
    category: str


@dataclass(frozen=True)
class Decisions:
    """Decisions whether what is on the right can be said of what is on the left, a row each.

    Left and right are uids or verbs. Labels repeat for every instance of an object and are not merged.

    Attributes:
        object: (n,) str, the object behind each.
        label: (n,) bool, the truth.
    """

    left: np.ndarray
    right: np.ndarray
    object: np.ndarray
    label: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str, str, bool]]) -> "Decisions":
        """Decisions of rows (left, right, object, label)."""
        return cls(*(np.array(column) for column in zip(*rows, strict=True)))

    def __len__(self) -> int:
        return len(self.label)

    def where(self, chosen: np.ndarray) -> "Decisions":
        """The rows of a mask or of indices."""
        return Decisions(self.left[chosen], self.right[chosen], self.object[chosen], self.label[chosen])


#: What somebody decided: the decisions, and (n,) bool what was said.
Answers = tuple[Decisions, np.ndarray]


class Pairs(NamedTuple):
    """The different pairs of train and test, far fewer than rows.

    A loss that is a mean over rows is the same sum over pairs with their counts: full-batch training on pairs
    takes exactly the steps that training on rows would take.

    Attributes:
        train: (n,) int64, the pair of each training row.
        test: (m,) int64, the pair of each test row.
    """

    left: np.ndarray
    right: np.ndarray
    train: np.ndarray
    test: np.ndarray

    def names(self) -> Iterable[tuple[str, str]]:
        """Both items of each pair."""
        return zip(self.left.tolist(), self.right.tolist(), strict=True)


@dataclass(frozen=True)
class PhysicalTask:
    """One column group of Table 2, "situated-AP": decisions to learn from, and others about other objects."""

    title: str
    release: "PhysicalRelease"
    train: Decisions
    test: Decisions
    pairs: Pairs

    @property
    def kinds(self) -> tuple[Kind, Kind]:
        """What left and right are."""
        return KINDS[self.title[-2:]]


def numbered(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different names in the order in which they come, and (n,) int64 the number of each."""
    number = {name: i for i, name in enumerate(dict.fromkeys(names.tolist()))}
    return np.array(list(number)), np.array([number[name] for name in names.tolist()])


@dataclass(frozen=True)
class PhysicalRelease:
    """Everything that the study needs.

    Attributes:
        objects: by uid.
        properties: by uid.
        decisions: {title of a task: all its decisions}.
        splits: {("abstract" or "situated", "train" or "test"): object uids}.
        answers: {title of a task: what the expert said of some test items}. In AP the object is not named.
        frequencies: {"property" or "affordance": {uid or verb: relative frequency in text}}.
    """

    objects: dict[str, Object]
    properties: dict[str, Property]
    decisions: dict[str, Decisions]
    splits: dict[tuple[str, str], list[str]]
    answers: dict[str, Answers]
    frequencies: dict[str, dict[str, float]]

    @cached_property
    def digest(self) -> str:
        """A digest of everything that decides the answers."""
        digest = blake2b(repr((self.objects, self.properties, self.splits)).encode(), digest_size=8)
        for rows, said in (*self.answers.values(), *((rows, rows.label) for rows in self.decisions.values())):
            for array in (*vars(rows).values(), said):
                digest.update(array.tobytes())
        return digest.hexdigest()

    def task(self, title: str) -> PhysicalTask:
        """The decisions of a task, those to learn from apart from those of the test."""
        rows, which = self.decisions[title], title.partition("-")[0]
        train, test = (np.isin(rows.object, self.splits[which, part]) for part in ("train", "test"))
        (lefts, left), (rights, right) = numbered(rows.left), numbered(rows.right)
        codes, pair = np.unique(left * len(rights) + right, return_inverse=True)
        left, right = np.divmod(codes, len(rights))
        pairs = Pairs(lefts[left], rights[right], pair[train], pair[test])
        return PhysicalTask(title, self, rows.where(train), rows.where(test), pairs)


def read(directory: Path) -> PhysicalRelease:
    """Read the released files from the repository's clone, its folder ``data``, or a copy of that.

    Raises:
        FileNotFoundError: they are not there; the message says where to get them.
        DamagedError: a file is malformed; the message names it.
    """

    def table(part: str, name: str, parse: Callable[[dict[str, str]], Any]) -> list[Any]:
        return _table(FILES.path(directory, part, name), parse)

    def labels(row: dict[str, str]) -> dict[str, bool]:
        return {uid: _TRUTH[row[uid]] for uid in properties}

    def instance(row: dict[str, str]) -> tuple[str, dict[str, bool], list[str], list[str]]:
        """An object in a photograph: its properties, the affordances that were chosen, and those not."""
        sides = (row[column].split(",") for column in ("affordancesYes", "affordancesNo"))
        yes, no = ([verb.strip() for verb in verbs] for verbs in sides)
        return objects[row["objectUID"]].uid, properties_of[row["cocoAnnID"]], yes, no

    objects = {made.uid: made for made in table("pc", "objects.tsv", _object)}
    properties = {made.uid: made for made in table("pc", "properties.tsv", _property)}
    abstract = table("pc", "abstract.csv", lambda row: (objects[row["objectUID"]].uid, labels(row)))
    properties_of = dict(table("pc", "situated-properties.csv", lambda row: (row["cocoAnnID"], labels(row))))
    instances = table("pc", "situated-affordances-sampled.csv", instance)
    decisions = {
        "abstract-OP": ((uid, p, uid, label) for uid, has in abstract for p, label in has.items()),
        "situated-OP": ((uid, p, uid, label) for uid, has, *_ in instances for p, label in has.items()),
        "situated-OA": ((uid, v, uid, v in yes) for uid, _, yes, no in instances for v in (*yes, *no)),
    }
    # each of an instance's three affordances takes the instance's whole row of properties
    shown = [(verb, uid, has) for uid, has, yes, _ in instances for verb in yes]
    decisions["situated-AP"] = ((v, p, uid, label) for v, uid, has in shown for p, label in has.items())
    splits = {}
    for which, part in product(("abstract", "situated"), ("train", "test")):
        with parsing(path := FILES.path(directory, "pc", f"{which}-{part}-object-uids.txt")):
            splits[which, part] = [objects[uid].uid for uid in read_text(path).split()]
    uids = {p.word: p.uid for p in properties.values()}
    by_property = table("nl", "prop-freqs-nl.csv", lambda row: (uids[row["word"]], float(row["freq"])))
    by_verb = table("nl", "aff-freqs-nl.csv", lambda row: (row["word"], float(row["freq"])))
    frequencies = {"property": dict(by_property), "affordance": dict(by_verb)}
    answers = {title: _answers(directory, title) for title in TASKS}
    rows_of = {title: Decisions.of(rows) for title, rows in decisions.items()}
    return PhysicalRelease(objects, properties, rows_of, splits, answers, frequencies)


def _table(path: Path, parse: Callable[[dict[str, str]], Any]) -> list[Any]:
    """What `parse` makes of each row of a CSV or TSV file."""
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    with parsing(path):
        rows = list(csv.DictReader(io.StringIO(read_text(path), newline=""), delimiter=delimiter))
        if not rows or any(None in row or None in row.values() for row in rows):
            raise ValueError("a table without rows, or one whose rows are not equally long")
        return [parse(row) for row in rows]


def _object(row: dict[str, str]) -> Object:
    return Object(row["uid"], row["original"], row["word-embedding"], row["ctx"])


def _property(row: dict[str, str]) -> Property:
    category = CATEGORIES[CATEGORIES.index(row["categorization"])]
    return Property(row["uid"], row["sentence"], row["word-embedding"], row["ctx"], category)


def _answers(directory: Path, title: str) -> Answers:
    """The annotated items: the first 50 of the 100 that were sampled; the others' cells are blank."""
    path = FILES.path(directory, "human", f"{title}-round1-annotations-first50.csv")
    gold = read_text(FILES.path(directory, "human", f"{title}-round1-gold.txt")).split()
    rows, said = [], []
    with parsing(path):
        for (pair, answer), label in zip(_table(path, lambda row: row.values()), gold, strict=True):
            left, right = pair.split("/")
            if answer.strip():
                rows.append((left, right, left, _TRUTH[label]))
                said.append(_TRUTH[answer.strip()])
    return Decisions.of(rows), np.array(said)
