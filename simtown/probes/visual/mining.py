"""Counting what things look like, in Visual Genome's annotations and in plain text (sections 3.1 and 3.4);
files are streamed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

import numpy as np

from simtown.core.files import DamagedError
from simtown.probes.corpus import is_word
from simtown.probes.visual.classes import RELATIONS, VisualRelation
from simtown.visualgenome.clean import Lemmas, plain

#: Words behind an attribute that add nothing: "wood made" is "wood".
_SUFFIXES = ("colored", "coloured", "color", "colour", "made", "shaped")
#: Spellings of a class that a subject may have in it besides the class's own name.
_ALSO = {"gray": "grey"}
#: Pairs gathered before they are added up.
BLOCK = 2_000_000
#: Letters of the longest name that counts; different nouns at most, of all and of an image; cells of a table
#: of nouns by nouns. Visual Genome has 80,000 nouns, an image of it some hundred, and the paper keeps 2,108.
LONGEST_NAME, MOST_NOUNS, MOST_OF_IMAGE, MOST_CELLS = 200, 1_000_000, 2_000, 50_000_000


class AnnotatedObject(Protocol):
    """An annotated object: its name, and what is said of it."""

    @property
    def text(self) -> str: ...

    @property
    def attributes(self) -> list[str] | None: ...


@dataclass
class ClassCounts:
    """Counts of classes by subject, subjects in the order in which they first came.

    Attributes:
        relation: whose classes are counted.
        table: {subject: (c,) int64}.
    """

    relation: VisualRelation
    table: dict[str, np.ndarray] = field(default_factory=dict)

    def add(self, subject: str, classes: Iterable[int]) -> None:
        row = self.table.get(subject)
        if row is None:
            row = self.table[subject] = np.zeros(len(self.relation.classes), dtype=np.int64)
            _check_nouns(len(self.table))
        for c in classes:
            row[c] += 1

    def kept(self, threshold: int) -> tuple[list[str], np.ndarray]:
        """Subjects with anything above the threshold, and their (n, c) counts, cells at or under it set to
        zero.
        """
        rows = [(subject, np.where(row > threshold, row, 0)) for subject, row in self.table.items()]
        rows = [(subject, row) for subject, row in rows if row.any()]
        return [s for s, _ in rows], np.array([row for _, row in rows]).reshape(
            len(rows), len(self.relation.classes)
        )


@lru_cache(maxsize=1 << 18)
def noun_of(name: str) -> str:
    """A name with its last word as a dictionary lists it, lower case: "Street Lights" is "street light"."""
    *before, last = plain(name[:LONGEST_NAME]).split() or [""]
    return " ".join([*before, Lemmas().entity(last)]).strip()


def class_in(attribute: str, words: dict[str, int]) -> int | None:
    """Number of the class that an attribute names:

    "Y colored" is Y, and of several words the last counts (section 3.1).
    """
    parts = plain(attribute.replace("-", " ")).split()
    while len(parts) > 1 and parts[-1] in _SUFFIXES:
        parts.pop()
    return words.get(parts[-1]) if parts else None


def allowed(subject: str, relation: VisualRelation) -> list[bool]:
    """For each class whether it may count for a subject: not where the subject has it in its name, as
    "orange" or "green ball".
    """
    return [c not in subject and _ALSO.get(c, c) not in subject for c in relation.classes]


def from_attributes(images: Iterable[Iterable[AnnotatedObject]]) -> dict[str, ClassCounts]:
    """{relation: counts} of annotated objects; a class counts once an object, however often it is said."""
    counts_of = {name: ClassCounts(relation) for name, relation in RELATIONS.items()}
    words = {name: relation.class_of() for name, relation in RELATIONS.items()}
    may: dict[tuple[str, str], list[bool]] = {}
    for image in images:
        for thing in image:
            subject = noun_of(thing.text)
            if not subject or not thing.attributes:
                continue
            for name, counts in counts_of.items():
                named = {c for a in thing.attributes if (c := class_in(a, words[name])) is not None}
                if not named:
                    continue
                fits = may.setdefault((name, subject), allowed(subject, counts.relation))
                kept = [c for c in named if fits[c]]
                if kept:
                    counts.add(subject, kept)
    return counts_of


def from_text(sentences: Iterable[Sequence[str]], subjects: Collection[str]) -> dict[str, ClassCounts]:
    """{relation: counts} of sentences that say "Y X", "X is Y" or "X are Y"; of materials "X is (are) made of
    Y".

    X is one of the subjects, in the singular or plural, of one word or more; the longest counts. Sentences
    are lower-case tokens with marks of punctuation, across which nothing is said.
    """
    counts_of = {name: ClassCounts(relation) for name, relation in RELATIONS.items()}
    words = {name: relation.class_of() for name, relation in RELATIONS.items()}
    matcher = Matcher(subjects)
    may: dict[tuple[str, str], list[bool]] = {}
    for tokens in sentences:
        for begin, end, subject in matcher.matches(tokens):
            before, after = tokens[begin - 1] if begin else "", tokens[end : end + 4]
            for name, counts in counts_of.items():
                candidates = [before]
                if after[:1] in (["is"], ["are"]):
                    rest = after[1:]
                    if name != "material":
                        candidates += rest[:1]
                    elif rest[:2] == ["made", "of"]:
                        candidates += rest[2:3]
                for word in candidates:
                    c = words[name].get(word)
                    if (
                        c is not None
                        and may.setdefault((name, subject), allowed(subject, counts.relation))[c]
                    ):
                        counts.add(subject, [c])
    return counts_of


class Matcher:
    """Finds nouns of one or more words in sentences, none across a mark of punctuation. nouns: in the
    singular.
    """

    def __init__(self, nouns: Collection[str]) -> None:
        self._nouns = frozenset(nouns)
        self._longest = max((noun.count(" ") + 1 for noun in self._nouns), default=1)
        self._first = frozenset(noun.split(" ")[0] for noun in self._nouns if " " in noun)

    def matches(self, tokens: Sequence[str]) -> Iterator[tuple[int, int, str]]:
        """(begin, end, noun), from the left, without overlaps, the longest first."""
        i = 0
        while i < len(tokens):
            longest = self._longest if tokens[i] in self._first else 1
            for length in range(min(longest, len(tokens) - i), 0, -1):
                words = tokens[i : i + length]
                noun = noun_of(" ".join(words)) if all(map(is_word, words)) else ""
                if noun and noun in self._nouns:
                    yield i, i + length, noun
                    i += length
                    break
            else:
                i += 1


def cooccurrence(
    images: Callable[[], Iterable[Sequence[str]]], threshold: int, *, ordered: bool = False
) -> tuple[list[str], np.ndarray]:
    """Nouns that are seen together in more than `threshold` images, and their (n, n) int64 counts of images.

    The images are read twice: a noun in too few images can be in no pair, and is left out before pairs are
    counted.

    Args:
        images: gives, each time it is called, the nouns of every image from the start, in order, repeated
            ones included.
        threshold: images in which two nouns must be seen together, and one more.
        ordered: count a pair only as (the one that stands first in its record, the other), as the release
            does, so that rows depend on the annotators' order; otherwise the counts are symmetric.

    Raises:
        DamagedError: an image, or all of them, has more nouns than Visual Genome.
        ValueError: too many nouns are left for a table.
    """
    seen: Counter[str] = Counter()
    for nouns in images():
        seen.update(set(nouns))
        _check_nouns(len(seen))
    frequent = [noun for noun, n in seen.items() if n > threshold and noun]
    number = {noun: i for i, noun in enumerate(frequent)}
    n = len(frequent)
    codes, counts, pending = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), list[np.ndarray]()
    waiting = 0

    def merged() -> tuple[np.ndarray, np.ndarray]:
        every, times = (
            np.concatenate([codes, *pending]),
            np.concatenate([counts, np.ones(waiting, dtype=np.int64)]),
        )
        distinct, where = np.unique(every, return_inverse=True)
        return distinct, np.bincount(where, weights=times, minlength=len(distinct)).astype(np.int64)

    for nouns in images():
        here = np.array([number[noun] for noun in dict.fromkeys(nouns) if noun in number], dtype=np.int64)
        if len(here) < 2:
            continue
        if len(here) > MOST_OF_IMAGE:
            raise DamagedError(
                f"an image has more than {MOST_OF_IMAGE:,} different things, which none of Visual Genome's "
                "has"
            )
        i, j = np.triu_indices(len(here), 1)
        a, b = here[i], here[j]
        if not ordered:
            a, b = np.minimum(a, b), np.maximum(a, b)
        pending.append(a * n + b)
        waiting += len(a)
        if waiting > BLOCK:
            codes, counts = merged()
            pending, waiting = [], 0
    if waiting:
        codes, counts = merged()
    kept = counts > threshold
    a, b, times = codes[kept] // max(n, 1), codes[kept] % max(n, 1), counts[kept]
    used = np.unique(np.concatenate([a, b]))
    if len(used) ** 2 > MOST_CELLS:
        raise ValueError(
            f"{len(used):,} nouns are seen together more often than the threshold, too many for a table: "
            "raise `threshold`"
        )
    table = np.zeros((len(used), len(used)), dtype=np.int64)
    rows, columns = np.searchsorted(used, a), np.searchsorted(used, b)
    table[rows, columns] = times
    if not ordered:
        table[columns, rows] = times
    return [frequent[i] for i in used], table


def _check_nouns(many: int) -> None:
    if many > MOST_NOUNS:
        raise DamagedError(
            f"there are more than {MOST_NOUNS:,} different nouns, which no release of Visual Genome has"
        )


def windows(sentences: Iterable[Sequence[str]], nouns: Collection[str], width: int) -> Iterator[list[str]]:
    """The nouns of every stretch of `width` words, so that text can stand for images: sentences are cut, none
    is counted twice.
    """
    matcher = Matcher(nouns)
    for tokens in sentences:
        for stretch in _stretches(tokens, width):
            seen = [noun for _, _, noun in matcher.matches(stretch)]
            if seen:
                yield seen


def _stretches(tokens: Sequence[str], width: int) -> Iterator[Sequence[str]]:
    """Stretches of `width` words each, the last of fewer, with the marks between them."""
    begins = [i for i, token in enumerate(tokens) if is_word(token)][::width]
    for begin, end in pairwise([*begins, len(tokens)]):
        yield tokens[begin:end]
