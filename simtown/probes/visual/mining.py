"""Counting what things look like in annotations and in plain text (sections 3.1, 3.4), streamed."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

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
#: Gives, each time it is called, the nouns of every image in order, repeated ones included.
Images = Callable[[], Iterable[Sequence[str]]]


class ClassCounts:
    """Counts of a relation's classes by subject: {(subject, number of a class): how often}."""

    def __init__(self, relation: VisualRelation) -> None:
        self.relation, self.class_of = relation, relation.class_of()
        self.times: Counter[tuple[str, int]] = Counter()

    def add(self, subject: str, classes: Iterable[int | None]) -> None:
        """Count classes of a subject; None stands for no class."""
        self.times.update((subject, c) for c in classes if c is not None)

    def kept(self, threshold: int) -> tuple[list[str], np.ndarray]:
        """Subjects, as they first came, with counts above the threshold, and these as (n, c) int64.

        A class that a subject has in its name does not count: "orange", "green ball".
        """
        spelled = [(name, _ALSO.get(name, name)) for name in self.relation.classes]
        named = {(subject, c) for subject, c in self.times if any(name in subject for name in spelled[c])}
        counted = {place: n for place, n in self.times.items() if place not in named}
        row = {subject: i for i, subject in enumerate(dict.fromkeys(subject for subject, _ in counted))}
        counts = np.zeros((len(row), len(spelled)), dtype=np.int64)
        for (subject, c), n in counted.items():
            counts[row[subject], c] = n if n > threshold else 0
        above = np.flatnonzero(counts.any(axis=1))
        subjects = list(row)
        return [subjects[i] for i in above], counts[above]


@lru_cache(maxsize=1 << 18)
def noun_of(name: str) -> str:
    """A name with its last word as a dictionary lists it, lower case: "Street Lights" is "street light"."""
    words = plain(name).split()
    return " ".join([*words[:-1], *map(singular, words[-1:])])


def class_in(attribute: str, words: dict[str, int]) -> int | None:
    """Number of the class that an attribute names, by its last word; "Y colored" is Y (section 3.1)."""
    parts = plain(attribute.replace("-", " ")).split()
    while len(parts) > 1 and parts[-1] in _SUFFIXES:
        parts.pop()
    return words.get(parts[-1]) if parts else None


def from_attributes(images: Iterable[Iterable["ImageObject"]]) -> dict[str, ClassCounts]:
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
    """{relation: counts} of sentences that say "Y X", "X is Y" or, of materials, "X is made of Y", or "are".

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


def cooccurrence(images: Images, threshold: int, *, ordered: bool = False) -> tuple[list[str], np.ndarray]:
    """Nouns that are seen together in more than `threshold` images, and their (n, n) int64 counts of images.

    The images are read twice: a noun in too few images can be in no pair, and is left out before pairs are
    counted.

    Args:
        images: is called twice.
        threshold: images in which two nouns must be seen together, and one more.
        ordered: count a pair only as (the one that stands first in its record, the other), as the release
            does, so that rows depend on the annotators' order; otherwise the counts are symmetric.
    """
    seen: Counter[str] = Counter()
    for nouns in images():
        seen.update(set(nouns))
    frequent = [noun for noun, n in seen.items() if n > threshold and noun]
    number = {noun: i for i, noun in enumerate(frequent)}
    shape = (len(frequent), len(frequent))
    counts = sparse.csr_array(shape, dtype=np.int64)
    read = iter(images())
    while block := list(islice(read, BLOCK)):
        pairs = [_pairs([number[noun] for noun in dict.fromkeys(nouns) if noun in number]) for nouns in block]
        first, second = np.concatenate(pairs, axis=1)
        ones = np.ones(len(first), dtype=np.int64)
        counts = counts + sparse.coo_array((ones, (first, second)), shape).tocsr()
    if not ordered:
        counts = counts + counts.T
    counts.data[counts.data <= threshold] = 0
    counts.eliminate_zeros()
    used = np.unique(np.concatenate(counts.nonzero()))
    if len(used) ** 2 > MOST_CELLS:
        many = f"{len(used):,} nouns are seen together more often than the threshold"
        raise ValueError(f"{many}, too many for a table: raise `threshold`")
    return [frequent[i] for i in used], counts[used][:, used].toarray()


def _pairs(nouns: list[int]) -> np.ndarray:
    """(2, pairs) int64: every two of the nouns, in their order."""
    return np.array(nouns, dtype=np.int64)[np.array(np.triu_indices(len(nouns), 1))]


def windows(sentences: Iterable[Sequence[str]], nouns: Collection[str], width: int) -> Iterator[list[str]]:
    """The nouns of every stretch of `width` words of a sentence, so that text can stand for images."""
    matcher = Matcher(nouns)
    for tokens in sentences:
        begins = [i for i, token in enumerate(tokens) if is_word(token)][::width]
        for begin, end in pairwise([*begins, len(tokens)]):
            if seen := [noun for _, _, noun in matcher.matches(tokens[begin:end])]:
                yield seen
