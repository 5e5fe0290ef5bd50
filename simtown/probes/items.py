"""Items of a study: subjects, classes, which one is right; what a model answered about them.

A table of items is CSV with a line an item; docs/probes.md says what its columns hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import numpy as np

from simtown.core.tables import TableRow, read_rows
from simtown.probes import measures

Group = Literal["single", "multi", "any"]
GROUPS: tuple[Group, ...] = ("single", "multi", "any")
#: What a line of a table states, in the order of its columns.
_Row = tuple[str, dict[str, float], dict[str, tuple[str, ...]], str, str, bool]
#: Columns that a table of items must have, all that decide something, and those that answers have besides.
REQUIRED = ("subject", "gold")
COLUMNS = (*REQUIRED, "classes", "template", "group", "train")
ANSWERS = ("mode", "said", "right", "rho", "prior_rho", "prior_right", "ceiling_rho", "logprob")


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
        more: {column: (n) texts} of a table that decide nothing.
        equals: (n, c) bool, the classes that are equally right though none was counted; None: `gold` alone.
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
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    equals: np.ndarray | None = None

    @property
    def right(self) -> np.ndarray:
        """(n, c) bool: the classes that are right. In a table of one's own, all that were seen most often."""
        if self.equals is not None:
            return self.equals
        if self.counts is None or self.choices is None:
            return np.arange(len(self.classes)) == self.gold[:, None]
        most: np.ndarray = self.counts.max(axis=1, keepdims=True)
        return self.counts == most

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
        return np.full(len(self.subjects), "") if self.counts is None else grouped(self.counts)

    def digest(self) -> str:
        """A digest of all that decides the answers."""
        state = blake2b(digest_size=8)
        decisive = {name: value for name, value in vars(self).items() if name != "more"}
        if self.equals is None:  # as in results that were begun before there was such a field
            del decisive["equals"]
        for value in decisive.values():
            state.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
        return state.hexdigest()


@dataclass(frozen=True)
class ItemAnswers:
    """What a model answered about items, asked in one way.

    Attributes:
        mode: the way: "best", "average", "head", "tuned".
        items: (m,) int64 numbers of subjects.
        scores: (m, c) float64, higher fits better; -inf for classes that are unknown or no choice.
        rho: (m,) with the counts, NaN where there are none.
        right: (m,) float64, see :func:`simtown.probes.measures.share_right`.
    """

    mode: str
    items: np.ndarray
    scores: np.ndarray
    rho: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, data: ItemSet, items: np.ndarray, scores: np.ndarray, mode: str) -> "ItemAnswers":
        """Judge one score a class; those of classes that are no choice of an item do not count."""
        choices = None if data.choices is None else data.choices[items]
        scores = scores if choices is None else np.where(choices, scores, -np.inf)
        rho = np.full(len(items), np.nan)
        if data.counts is not None:
            rho = measures.spearman_rows(scores, data.counts[items], choices)
        return cls(mode, items, scores, rho, measures.share_right(scores, data.right[items]))

    @property
    def answered(self) -> np.ndarray:
        """(m,) bool: items of which the model knows a class."""
        return np.isfinite(self.scores).any(axis=1)


def grouped(counts: np.ndarray) -> np.ndarray:
    """Reporting-bias groups of (n, c) counts, each row with something in it. (n,) str: single, multi, any.

    Single has at least 85 % in one class, Multi 90 % in three, as the released groups were made. (Section 3.2
    of Zhang et al. 2022 says 80 %, and 90 % in four.)
    """
    shares = -np.sort(-counts / counts.sum(axis=1, keepdims=True), axis=1)
    multi = np.where(shares[:, :3].sum(axis=1) >= 0.90, "multi", "any")
    return np.where(shares[:, 0] >= 0.85, "single", multi)


def make_items(
    name: str,
    subjects: Sequence[str],
    gold: Sequence[str],
    templates: Sequence[str] = (),
    classes: Sequence[str] = (),
) -> ItemSet:
    """Items in Python, with the spelling of a table's columns.

    Args:
        subjects: the nouns that replace [X].
        gold: for each subject the right class, several that are equally right ("red|white"), or how often
            each class was seen ("yellow=2|green=1").
        templates: sentences with [X] and [Y].
        classes: those to choose among, such as "grey=gray"; by default all that `gold` names.
    """
    pairs = enumerate(zip(subjects, gold, strict=True), start=1)
    rows = [TableRow(f"{name}, item {i}", {"subject": noun, "gold": right}) for i, (noun, right) in pairs]
    return _items(name, name, rows, templates, classes)


def read_items(path: Path, templates: Sequence[str] = (), classes: Sequence[str] = ()) -> ItemSet:
    """Read a table of items; docs/probes.md says what its columns hold.

    Args:
        templates: sentences for items that have none of their own.
        classes: those of items that name none; by default all classes that are the right one for some item.

    Raises:
        FileNotFoundError: no such file.
        ItemsError: a row cannot be used; the message names it.
        ValueError: it is not a table with these columns, see :func:`simtown.core.tables.read_rows`.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file: give a CSV file with columns {', '.join(REQUIRED)}")
    rows = read_rows(path, REQUIRED)
    if taken := [column for column in ANSWERS if rows and column in rows[0].cells]:
        raise ItemsError(f"{path} has a column '{taken[0]}', as the answers have: give it another name")
    return _items("items", str(path), rows, templates, classes)


def _items(
    name: str, place: str, lines: Sequence[TableRow], templates: Sequence[str], classes: Sequence[str]
) -> ItemSet:
    for template in templates:
        _check_template(template, subjects=1)
    golds = [part.partition("=")[0].strip() for line in lines for part in line.cells["gold"].split("|")]
    usual = _words(classes) or {gold: (gold,) for gold in golds}
    rows, words = list[_Row](), dict[str, tuple[str, ...]]()
    for where, cells in lines:
        try:
            rows.append(_row(cells, usual, templates))
        except ItemsError as error:
            raise ItemsError(f"{where}: {error}") from None
    if all(train for *_, train in rows):
        raise ItemsError(f"{place} has no item with train 0: nothing is left to ask about")
    subjects, gold, choices, own, groups, train = zip(*rows, strict=True)
    for class_name, spellings in (entry for classes in choices for entry in classes.items()):
        words[class_name] = tuple(dict.fromkeys(words.get(class_name, ()) + spellings))
    counts = np.array([[times.get(class_name, 0.0) for class_name in words] for times in gold])
    several = any(len(times) > 1 for times in gold)
    counted = several and any("=" in line.cells["gold"] for line in lines)
    return ItemSet(
        relation=name,
        classes=tuple(words),
        words=tuple(words.values()),
        subjects=subjects,
        gold=counts.argmax(axis=1),
        other=np.full(len(rows), -1),
        train=np.array(train),
        counts=counts if counted else None,
        templates=tuple(templates),
        own_templates=() if templates else own,
        choices=np.array([[class_name in classes for class_name in words] for classes in choices]),
        groups=groups if "group" in lines[0].cells else (),
        more={c: tuple(line.cells[c] for line in lines) for c in lines[0].cells if c not in COLUMNS},
        equals=counts > 0 if several and not counted else None,
    )


def _row(line: Mapping[str, str], usual: dict[str, tuple[str, ...]], templates: Sequence[str]) -> _Row:
    """Subject, gold, classes (the usual ones if it names none), template, group, train of a table's line."""
    cells = {column: line.get(column, "").strip() for column in COLUMNS}
    if empty := [column for column in REQUIRED if not cells[column]]:
        raise ItemsError(f"there is nothing in the column '{empty[0]}': fill it in")
    gold, classes = _gold(cells["gold"]), _words(cells["classes"].split("|")) or usual
    if unknown := [right for right in gold if right not in classes]:
        raise ItemsError(f"gold '{unknown[0]}' is none of the classes {', '.join(classes)}")
    if len(classes) < 2:
        raise ItemsError(f"there is one class, '{next(iter(classes))}': name others with `classes`")
    if bool(cells["template"]) == bool(templates):
        raise ItemsError("give either a column 'template' or `template`, such as 'a [X] is [Y] .'")
    if cells["template"]:
        _check_template(cells["template"])
    if cells["group"] == "all":
        raise ItemsError("'all' stands for all items: give the group another name")
    if cells["train"] not in ("", "0", "1"):
        raise ItemsError(f"train is '{cells['train']}': write 1 to learn from the item, 0 to test it")
    group, train = cells["group"] or "none", cells["train"] == "1"
    return cells["subject"], gold, classes, cells["template"], group, train


def _gold(cell: str) -> dict[str, float]:
    """{class: how often it was seen} of "yellow=8|green=2", or 1 of "yellow"."""
    gold: dict[str, float] = {}
    for part in cell.split("|"):
        name, equals, times = (piece.strip() for piece in part.partition("="))
        if name in gold:
            raise ItemsError(f"gold '{cell}' names '{name}' twice: name it once, with one count")
        try:
            gold[name] = float(times) if equals else 1.0
        except ValueError:
            gold[name] = -1.0
        if not name or not 0 <= gold[name] < 1e15:
            form = "write a class, which cannot hold '=' or '|', or a class and a count, such as yellow=8"
            raise ItemsError(f"gold '{part}' is neither a class nor a count: {form}")
    if not any(gold.values()):
        raise ItemsError(f"gold '{cell}' counts nothing: give one class a count above 0")
    return gold


def _words(classes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """{class: the words that count for it} of ("yellow", "grey=gray"); {} of nothing."""
    words: dict[str, tuple[str, ...]] = {}
    for part in classes if any(classes) else ():
        spellings = tuple(piece.strip() for piece in part.split("="))
        if not all(spellings) or spellings[0] in words:
            raise ItemsError(f"a class is empty or named twice among {', '.join(classes)[:80]}")
        words[spellings[0]] = spellings
    return words


def _check_template(template: str, subjects: int = 0) -> None:
    if template.count("[Y]") != 1 or not subjects <= template.count("[X]") <= 1:
        raise ItemsError(f"the template '{template}' must have [X], the subject, and [Y], the class, once")
