"""Counting what things look like, in Visual Genome's annotations and in plain text (sections 3.1 and 3.4);
files are streamed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from simtown.probes.corpus import is_word
from simtown.probes.visual.classes import RELATIONS, VisualRelation
from simtown.visualgenome.clean import plain, singular

if TYPE_CHECKING:
    from simtown.visualgenome.records import ImageObject

#: Words behind an attribute that add nothing: "wood made" is "wood".
_SUFFIXES = ("colored", "coloured", "color", "colour", "made", "shaped")
#: Spellings of a class that a subject may have in it besides the class's own name.
_ALSO = {"gray": "grey"}
#: Images whose pairs are gathered before they are added up.
BLOCK = 10_000
#: Cells of a table of nouns by nouns at most: the paper keeps 2,108 nouns.
MOST_CELLS = 50_000_000


class ClassCounts:
    """Counts of a relation's classes by subject, subjects in the order in which they first came.

    A class that a subject has in its name does not count: "orange", "green ball".

    Attributes:
        relation: whose classes are counted.
        table: {subject: (c,) int64}.
    """

    def __init__(self, relation: VisualRelation) -> None:
        self.relation = relation
        self.table: dict[str, np.ndarray] = {}
        self.class_of = relation.class_of()
        self._allowed: dict[str, list[bool]] = {}

    def add(self, subject: str, classes: Iterable[int | None]) -> None:
        """Count classes of a subject; None stands for no class."""
        allowed = self._allowed.get(subject)
        if allowed is None:
            names = [(name, _ALSO.get(name, name)) for name in self.relation.classes]
            allowed = [name not in subject and also not in subject for name, also in names]
            self._allowed[subject] = allowed
        if kept := [c for c in classes if c is not None and allowed[c]]:
            row = self.table.setdefault(subject, np.zeros(len(allowed), dtype=np.int64))
            for c in kept:
                row[c] += 1

    def kept(self, threshold: int) -> tuple[list[str], np.ndarray]:
        """Subjects with anything above the threshold, and their (n, c) counts, cells at or under it zero."""
        counts = np.array(list(self.table.values())).reshape(-1, len(self.relation.classes))
        counts[counts <= threshold] = 0
        rows = np.flatnonzero(counts.any(axis=1))
        subjects = list(self.table)
        return [subjects[i] for i in rows], counts[rows]


@lru_cache(maxsize=1 << 18)
def noun_of(name: str) -> str:
    """A name with its last word as a dictionary lists it, lower case: "Street Lights" is "street light"."""
    words = plain(name).split()
    return " ".join([*words[:-1], *map(singular, words[-1:])])


def class_in(attribute: str, words: dict[str, int]) -> int | None:
    """Number of the class that an attribute names: "Y colored" is Y, and of several words the last counts
    (section 3.1).
    """
    parts = plain(attribute.replace("-", " ")).split()
    while len(parts) > 1 and parts[-1] in _SUFFIXES:
        parts.pop()
    return words.get(parts[-1]) if parts else None


def from_attributes(images: Iterable[Iterable[ImageObject]]) -> dict[str, ClassCounts]:
    """{relation: counts} of annotated objects; a class counts once an object, however often it is said."""
    counts_of = {name: ClassCounts(relation) for name, relation in RELATIONS.items()}
    for image in images:
        for thing in image:
            subject = noun_of(thing.text)
            if subject and thing.attributes:
                for counts in counts_of.values():
                    counts.add(subject, {class_in(a, counts.class_of) for a in thing.attributes})
    return counts_of


def from_text(sentences: Iterable[Sequence[str]], subjects: Collection[str]) -> dict[str, ClassCounts]:
    """{relation: counts} of sentences that say "Y X", "X is Y" or "X are Y"; of materials "X is (are) made of
    Y".

    X is one of the subjects, in the singular or plural, of one word or more; the longest counts. Sentences
    are lower-case tokens with marks of punctuation, across which nothing is said.
    """
    counts_of = {name: ClassCounts(relation) for name, relation in RELATIONS.items()}
    matcher = Matcher(subjects)
    for tokens in sentences:
        for begin, end, subject in matcher.matches(tokens):
            before, after = tokens[begin - 1] if begin else "", tokens[end : end + 4]
            linked = after[1:] if after[:1] in (["is"], ["are"]) else []
            made_of = linked[2:3] if linked[:2] == ["made", "of"] else []
            for name, counts in counts_of.items():
                candidates = [before, *(made_of if name == "material" else linked[:1])]
                counts.add(subject, map(counts.class_of.get, candidates))
    return counts_of


class Matcher:
    """Finds nouns, given in the singular, in sentences: of one or more words, none across punctuation."""

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
        ValueError: too many nouns are left for a table.
    """
    seen: Counter[str] = Counter()
    for nouns in images():
        seen.update(set(nouns))
    frequent = [noun for noun, n in seen.items() if n > threshold and noun]
    number = {noun: i for i, noun in enumerate(frequent)}
    n = max(len(frequent), 1)
    codes, counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    for block in _pair_codes(images(), number, ordered):
        codes, where = np.unique(np.concatenate([codes, block]), return_inverse=True)
        weights = np.concatenate([counts, np.ones(len(block), dtype=np.int64)])
        counts = np.bincount(where, weights=weights, minlength=len(codes)).astype(np.int64)
    kept = counts > threshold
    a, b, times = codes[kept] // n, codes[kept] % n, counts[kept]
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


def _pair_codes(
    images: Iterable[Sequence[str]], number: dict[str, int], ordered: bool
) -> Iterator[np.ndarray]:
    """Pairs of nouns that are seen together, coded as a * n + b, in blocks of BLOCK images."""
    pending: list[np.ndarray] = []
    for nouns in images:
        here = np.array([number[noun] for noun in dict.fromkeys(nouns) if noun in number], dtype=np.int64)
        i, j = np.triu_indices(len(here), 1)
        a, b = here[i], here[j]
        if not ordered:
            a, b = np.minimum(a, b), np.maximum(a, b)
        pending.append(a * max(len(number), 1) + b)
        if len(pending) >= BLOCK:
            yield np.concatenate(pending)
            pending = []
    if pending:
        yield np.concatenate(pending)


def windows(sentences: Iterable[Sequence[str]], nouns: Collection[str], width: int) -> Iterator[list[str]]:
    """The nouns of every stretch of `width` words, so that text can stand for images: sentences are cut, none
    is counted twice.
    """
    matcher = Matcher(nouns)
    for tokens in sentences:
        begins = [i for i, token in enumerate(tokens) if is_word(token)][::width]
        for begin, end in pairwise([*begins, len(tokens)]):
            if seen := [noun for _, _, noun in matcher.matches(tokens[begin:end])]:
                yield seen
