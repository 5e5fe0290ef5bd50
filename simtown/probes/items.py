"""Items of a study: subjects, the classes that may fit them, and which one is right; and how a table says so.

A table of items is CSV with a line an item:

=========== ================================================================================================
column      content
=========== ================================================================================================
subject     the noun that replaces [X] in the templates
gold        the class that is right; or how often each was seen, such as "yellow=8|green=2"
classes     optional: the classes to choose among, such as "yellow|green|grey=gray" (grey, also spelt gray)
template    optional: the item's own sentence, with [Y] for the class and perhaps [X] for the subject
group       optional: a name for a group of items, reported apart
train       optional: 1 for items that a head learns from, 0 for the test
=========== ================================================================================================

Classes and templates that all items share are options instead of columns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from simtown.core.files import DamagedError
from simtown.probes.release_files import read_text

Group = Literal["single", "multi", "any"]
GROUPS: tuple[Group, ...] = ("single", "multi", "any")
Thresholds = Literal["paper", "release"]
#: Share of the commonest class that makes a subject Single; how many classes and which share of them make it
#: Multi (section 3.2 of Zhang et al. 2022).
_GROUPING: dict[Thresholds, tuple[float, int, float]] = {"paper": (0.80, 4, 0.90), "release": (0.85, 3, 0.90)}
#: Columns of a table of items: those that it must have, and those that it may have.
REQUIRED, OPTIONAL = ("subject", "gold"), ("classes", "template", "group", "train")
#: Items of a table at most, and cells of items by classes.
MOST_ITEMS, MOST_CELLS = 100_000, 20_000_000


class ItemsError(ValueError):
    """A table of items is not usable; the message names the file, the row and what to change."""


@dataclass(frozen=True)
class ItemSet:
    """Subjects of a relation, in their source's order.

    Attributes:
        relation: "color".
        classes: (c) names.
        words: (c) tuples of the words that count for a class.
        subjects: (n) nouns.
        gold: (n,) int64, the class that fits best.
        other: (n,) int64, a class that does not fit, to choose against; -1 if there is none.
        train: (n,) bool, whether a subject is there to learn from; the others are the test.
        counts: (n, c) float64 how often a class was seen of a subject, or None where only the best is known.
        templates: sentences with [X] for the subject and [Y] for the class.
        own_templates: (n) each subject's own sentence, or () if all share :attr:`templates`.
        choices: (n, c) bool, the classes that a subject is asked about; None: all.
        groups: (n) names of groups; () to group by counts.
    """

    relation: str
    classes: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    subjects: tuple[str, ...]
    gold: np.ndarray
    other: np.ndarray
    train: np.ndarray
    counts: np.ndarray | None
    templates: tuple[str, ...]
    own_templates: tuple[str, ...] = ()
    choices: np.ndarray | None = None
    groups: tuple[str, ...] = ()

    @property
    def test(self) -> np.ndarray:
        """(m,) int64 numbers of the test's subjects."""
        return np.flatnonzero(~self.train)

    def group_names(self) -> tuple[str, ...]:
        """The names of the groups, in the order of tables."""
        return tuple(dict.fromkeys(self.groups)) if self.groups else GROUPS

    def group_of(self) -> np.ndarray:
        """(n,) str: each subject's group, by name or by the released thresholds; "" without both."""
        if self.groups:
            return np.array(self.groups)
        return np.full(len(self.subjects), "") if self.counts is None else grouped(self.counts, "release")


def make_items(
    name: str,
    subjects: Sequence[str],
    gold: Sequence[str],
    templates: Sequence[str] = (),
    classes: Sequence[str] = (),
) -> ItemSet:
    """Items in Python, with the spelling of a table's columns.

    Args:
        name: of the set.
        subjects: the nouns that replace [X].
        gold: for each subject the right class, or how often each class was seen ("yellow=8|green=2").
        templates: sentences with [X] and [Y].
        classes: those to choose among, such as "grey=gray"; by default all that `gold` names.
    """
    rows = [{"subject": subject, "gold": right} for subject, right in zip(subjects, gold, strict=True)]
    return _items(name, name, rows, templates, classes)


def read_items(path: Path, templates: Sequence[str] = (), classes: Sequence[str] = ()) -> ItemSet:
    """Read a table of items; see the module for its columns.

    Args:
        path: a CSV file.
        templates: sentences for items that have none of their own.
        classes: those of items that name none; by default all classes that are the right one for some item.

    Raises:
        FileNotFoundError: no such file.
        ItemsError: a column is missing, or a row cannot be used; the message names it.
        DamagedError: the file is not text.
        RefusedError: it is too large.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is no file: give a CSV file with the columns {', '.join(REQUIRED)}")
    try:
        lines = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
        head = list(lines.fieldnames or ())
        missing = [column for column in REQUIRED if column not in head]
        strange = [column for column in head if column not in (*REQUIRED, *OPTIONAL)]
        if missing:
            raise ItemsError(
                f"{path} has no column '{missing[0]}': its first line names {', '.join(REQUIRED)}"
            )
        if strange or len(set(head)) < len(head):
            unknown = strange[0] if strange else next(c for c in head if head.count(c) > 1)
            raise ItemsError(
                f"{path} has a column '{unknown}' that is unknown or stands there twice: "
                f"the columns are {', '.join((*REQUIRED, *OPTIONAL))}"
            )
        rows = list(lines)
    except csv.Error as error:
        raise DamagedError(f"{path} cannot be read as CSV ({error}): write it again") from error
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise ItemsError(f"{path} line {number} must have {len(head)} cells, as the first line has")
    return _items("items", str(path), rows, templates, classes)


def _items(
    name: str, place: str, rows: Sequence[dict[str, str]], templates: Sequence[str], classes: Sequence[str]
) -> ItemSet:
    if not rows:
        raise ItemsError(f"{place} holds no items: add a line for each")
    if len(rows) > MOST_ITEMS:
        raise ItemsError(f"{place} holds more than {MOST_ITEMS:,} items: split it")
    places = [f"{place} line {number}" for number in range(2, len(rows) + 2)]
    for where, row in zip(places, rows, strict=True):
        if empty := [column for column in REQUIRED if not row[column].strip()]:
            raise ItemsError(f"{where} has nothing in the column '{empty[0]}': fill it in")
    shares = [_shares(where, row["gold"]) for where, row in zip(places, rows, strict=True)]
    usual = _words(place, classes) if classes else {gold: (gold,) for share in shares for gold in share}
    own = [_words(w, row.get("classes", "").split("|")) or usual for w, row in zip(places, rows, strict=True)]
    words: dict[str, tuple[str, ...]] = {}
    for where, names in zip(places, own, strict=True):
        for class_name, spellings in names.items():
            if words.setdefault(class_name, spellings) != spellings:
                raise ItemsError(
                    f"{where}: the class '{class_name}' has other spellings than above: use the same"
                )
    if len(words) < 2:
        raise ItemsError(f"{place} has one class, '{next(iter(words))}': name others with `classes`")
    if len(rows) * len(words) > MOST_CELLS:
        raise ItemsError(f"{place}: {len(rows):,} items by {len(words):,} classes are too many: split it")
    number = {class_name: i for i, class_name in enumerate(words)}
    counts, choices = np.zeros((len(rows), len(words))), np.zeros((len(rows), len(words)), dtype=bool)
    for i, (where, names, share) in enumerate(zip(places, own, shares, strict=True)):
        choices[i, [number[class_name] for class_name in names]] = True
        for class_name, times in share.items():
            if class_name not in names:
                raise ItemsError(f"{where}: gold '{class_name}' is none of the classes {', '.join(names)}")
            counts[i, number[class_name]] = times
        if len(names) < 2:
            raise ItemsError(f"{where} has a single class: give two at least, with | between them")
    groups = tuple(row["group"].strip() or "none" for row in rows) if "group" in rows[0] else ()
    if "all" in groups:
        raise ItemsError(
            f"{places[groups.index('all')]}: 'all' stands for all items: give the group another name"
        )
    graded = any(len(share) > 1 for share in shares)
    sentences, own_sentences = _templates(place, places, rows, templates)
    return ItemSet(
        relation=name,
        classes=tuple(words),
        words=tuple(words.values()),
        subjects=tuple(row["subject"] for row in rows),
        gold=counts.argmax(axis=1),
        other=np.full(len(rows), -1),
        train=_flags(places, rows),
        counts=counts if graded else None,
        templates=sentences,
        own_templates=own_sentences,
        choices=choices,
        groups=groups,
    )


def _shares(where: str, gold: str) -> dict[str, float]:
    """{class: how often it was seen} of "yellow=8|green=2", or 1 of "yellow"."""
    shares: dict[str, float] = {}
    for part in gold.split("|"):
        name, equals, times = (piece.strip() for piece in part.partition("="))
        try:
            shares[name] = float(times) if equals else 1.0
        except ValueError:
            shares[name] = -1.0
        if not name or not 0 <= shares[name] < 1e15:
            raise ItemsError(f"{where}: gold '{gold}' is neither a class nor counts such as yellow=8|green=2")
    if not any(shares.values()):
        raise ItemsError(f"{where}: gold '{gold}' counts nothing: give one class a count above 0")
    return shares


def _words(where: str, classes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """{class: the words that count for it} of ("yellow", "grey=gray")."""
    words: dict[str, tuple[str, ...]] = {}
    for part in classes:
        spellings = tuple(piece.strip() for piece in part.split("="))
        if len(classes) == 1 and spellings == ("",):
            return {}
        if not all(spellings) or spellings[0] in words:
            raise ItemsError(f"{where}: a class is empty or named twice among {', '.join(classes)[:80]}")
        words[spellings[0]] = spellings
    return words


def _flags(places: Sequence[str], rows: Sequence[dict[str, str]]) -> np.ndarray:
    """(n,) bool of the column train."""
    flags = [row.get("train", "").strip() or "0" for row in rows]
    for where, flag in zip(places, flags, strict=True):
        if flag not in ("0", "1"):
            raise ItemsError(f"{where}: train is '{flag}': write 1 for an item to learn from, 0 for the test")
    if "0" not in flags:
        raise ItemsError(
            f"{places[0].rpartition(' line ')[0]} has no item with train 0: nothing is left to ask about"
        )
    return np.array([flag == "1" for flag in flags])


def _templates(
    place: str, places: Sequence[str], rows: Sequence[dict[str, str]], shared: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The templates that all items share, and every item's own."""
    own = tuple(row.get("template", "").strip() for row in rows)
    if not any(own):
        for template in shared:
            if template.count("[Y]") != 1 or template.count("[X]") != 1:
                raise ItemsError(
                    f"template '{template}' must hold [X], the subject, and [Y], the class, once each"
                )
        if not shared:
            raise ItemsError(f"{place} has no column 'template': give `template`, such as 'a [X] is [Y] .'")
        return tuple(shared), ()
    if shared:
        raise ItemsError(f"{place} has a column 'template': leave `template` out")
    for where, template in zip(places, own, strict=True):
        if template.count("[Y]") != 1 or template.count("[X]") > 1:
            raise ItemsError(
                f"{where}: the template '{template}' must hold [Y], the class, once, and [X] at most once"
            )
    return (), own


def grouped(counts: np.ndarray, thresholds: Thresholds = "paper") -> np.ndarray:
    """Reporting-bias groups (section 3.2). (n,) str: single, multi, any.

    Args:
        counts: (n, c), each row with something in it.
        thresholds: the paper says Single from 80 % and Multi from 90 % in four classes; the released groups
            were made with 85 % and three classes.
    """
    most, classes, together = _GROUPING[thresholds]
    shares = -np.sort(-counts / counts.sum(axis=1, keepdims=True), axis=1)
    within = shares[:, :classes].sum(axis=1)
    above: np.ndarray = shares[:, 0] > most if thresholds == "paper" else shares[:, 0] >= most
    multi = within > together if thresholds == "paper" else within >= together
    result: np.ndarray = np.where(above, "single", np.where(multi, "multi", "any"))
    return result
