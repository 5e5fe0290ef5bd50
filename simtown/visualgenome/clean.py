"""The paper's preprocessing (section 6.1) of (subject, predicate, object) triples, in steps.

Each step can be left out, ordered and tested alone:

======== ============ ===========================================================================
number   name         what it does
======== ============ ===========================================================================
1        be           removes the verb "to be": "is on" is "on"
2        determiners  removes articles, demonstratives, possessives and quantifiers: "on the" is "on"
3        lemmas       removes inflections: "trees" is "tree", "wearing" is "wear"
4        spelling     corrects slips: "umbrela" is "umbrella"
5        nouns        keeps of an entity its first noun phrase's nouns: "red hydrant" is "hydrant"
6        rare         drops predicates that are stated fewer times than a threshold
======== ============ ===========================================================================

They run in the order 1 2 4 3 5 6: a slip has no lemma until it is corrected. What comes out equal is one
entity or one predicate from then on (the paper's "consolidating"). Every string is cleaned once and looked up
afterwards.

Language tools, none of which fetches anything at run time: lemminflect for lemmas, pyspellchecker for
spelling, and the lexicon inside textblob for a word's usual part of speech. docs/reproduce/visual-genome.md
says why these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

from simtown.visualgenome.clean_settings import STEPS

_BE = frozenset(["be", "am", "is", "are", "was", "were", "been", "isn't", "aren't", "wasn't", "weren't"])
_DETERMINERS = frozenset({
    "a", "an", "the", "this", "that", "these", "those", "some", "any", "each", "every", "another", "all",
    "both", "either", "neither", "no", "its", "his", "her", "their", "my", "your", "our", "several", "many",
    "few",
})  # fmt: skip
#: Words of predicates that look like an inflected verb or a plural and mean a place or a manner.
_PLACES = frozenset({
    "above", "across", "against", "ahead", "along", "alongside", "among", "around", "as", "aside", "at",
    "atop", "away", "back", "behind", "below", "beneath", "beside", "besides", "between", "beyond", "by",
    "close", "down", "far", "for", "forward", "from", "front", "in", "inside", "into", "left", "like", "near",
    "next", "of", "off", "on", "onto", "opposite", "out", "outside", "over", "past", "right", "side",
    "through", "to", "top", "toward", "towards", "under", "underneath", "until", "up", "upon", "upside",
    "with", "within", "without",
})  # fmt: skip
#: Nouns that before another noun only say which one is meant: "right hand", "front leg".
_SIDES = frozenset({"left", "right", "front", "back", "rear", "top", "bottom", "middle"})
_WORD = re.compile(r"[^\W_]+(?:['’.&/-][^\W_]+)*", re.UNICODE)
_NUMBER = re.compile(r".*\d")


class Triple(NamedTuple):
    """What is stated: the name of an entity, what is stated of it, and the name of another."""

    subject: str
    predicate: str
    object: str


class CleaningStep(Protocol):
    """One step of the preprocessing. A text that comes back empty makes the whole triple go."""

    name: str

    def entity(self, text: str) -> str: ...

    def predicate(self, text: str) -> str: ...


def plain(text: str) -> str:
    """Lower case, single spaces, no punctuation but inside words: what every step expects."""
    return " ".join(_WORD.findall(text.lower().replace("’", "'")))


def word_counts(strings: Iterable[tuple[str, int]]) -> Counter[str]:
    """How often each word occurs in strings, each with its count."""
    counts: Counter[str] = Counter()
    for text, count in strings:
        for word in plain(text).split():
            counts[word] += count
    return counts


class Be:
    """Step 1: no form of "to be". Entities keep "being", which is a noun there."""

    name = "be"

    def entity(self, text: str) -> str:
        return _without(text, _BE)

    def predicate(self, text: str) -> str:
        return _without(text, _BE | {"being"})


class Determiners:
    """Step 2: no determiners.

    A text of nothing else keeps its last word: a picture may show a letter, "a".
    """

    name = "determiners"

    def entity(self, text: str) -> str:
        return _without(text, _DETERMINERS) or text.rpartition(" ")[2]

    def predicate(self, text: str) -> str:
        return _without(text, _DETERMINERS)


def _without(text: str, words: Collection[str]) -> str:
    return " ".join(word for word in text.split() if word not in words)


class Lemmas:
    """Step 3: words as a dictionary lists them.

    An entity's words are nouns; a predicate's first word is a verb if it can be one.
    """

    name = "lemmas"

    def entity(self, text: str) -> str:
        return " ".join(map(_singular, text.split()))

    def predicate(self, text: str) -> str:
        words = text.split()
        return " ".join([*map(_infinitive, words[:1]), *map(_later, words[1:])])


@cache
def _lemmas(word: str) -> dict[str, tuple[str, ...]]:
    """{part of speech: lemmas} of a word, empty if lemminflect's dictionary has none."""
    from lemminflect import getAllLemmas

    return dict(getAllLemmas(word))


@cache
def _tag(word: str) -> str:
    """The usual part of speech of a word (Penn Treebank tag), "" if the lexicon lacks it."""
    from textblob.en import lexicon

    return lexicon.get(word) or ""


@cache
def _singular(word: str) -> str:
    # "graffiti", "cola": singular in use, whatever Latin says
    if "'" in word or (_tag(word) == "NN" and not word.endswith("s")):
        return word
    lemmas = _lemmas(word)
    if "NOUN" in lemmas:
        nouns: Sequence[str] = lemmas["NOUN"]
        # "leaves": leaf (NN), not leave (VB)
        return next((lemma for lemma in nouns if _tag(lemma).startswith("NN")), nouns[0])
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    if is_plural and not lemmas and len(word) > 3 and not _NUMBER.match(word):
        from lemminflect import getAllLemmasOOV

        return next(iter(getAllLemmasOOV(word, "NOUN").get("NOUN", ())), word)
    return word


@cache
def _infinitive(word: str) -> str:
    lemmas = _lemmas(word)
    if word in _PLACES or "VERB" not in lemmas:
        return word
    return word if word in lemmas["VERB"] else lemmas["VERB"][0]


@cache
def _later(word: str) -> str:
    """A word of a predicate after the first, as a verb or a noun by its usual part of speech.

    "man wearing", "in hands of".
    """
    if word in _PLACES:
        return word
    tag = _tag(word)
    if tag.startswith("VB") and word.endswith(("ing", "ed", "es", "s")):
        return _infinitive(word)
    return _singular(word) if tag.startswith("NN") or (not tag and word.endswith("s")) else word


class Spelling:
    """Step 4: an unknown word becomes a known one that is one edit away, if there is one.

    Args:
        counts: how often the corpus uses each word. With them, of equally likely neighbours the one that the
            corpus uses most is taken (English at large decides where equal), and a word used FIRM times or
            more is a slip only if that neighbour is used TIMES as often: "backsplash" is none of "backslash".
    """

    name = "spelling"
    FIRM, TIMES = 20, 10

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self._counts = counts or {}
        self._corrected = cache(self._correct)

    def entity(self, text: str) -> str:
        return " ".join(map(self._corrected, text.split()))

    predicate = entity

    def _correct(self, word: str) -> str:
        # Three letters are one edit away from too much; numbers, names with an apostrophe and compounds are
        # no slips.
        if len(word) < 4 or not word.isascii() or not word.isalpha():
            return word
        dictionary = _dictionary()
        if word in dictionary or _lemmas(word) or _tag(word):
            return word
        neighbours = dictionary.known(dictionary.edit_distance_1(word))
        if not neighbours:
            return word
        # Two letters that changed places are the likeliest slip ("lable" is a label, not a table), a wrong
        # first letter the unlikeliest; the alphabet comes last, so that every run says the same.
        best = min(
            neighbours,
            key=lambda w: (
                sorted(w) != sorted(word),
                w[0] != word[0],
                -self._used(w),
                -dictionary.word_usage_frequency(w),
                w,
            ),
        )
        uses = self._counts.get(word, 0)
        return word if uses >= self.FIRM and self._used(best) < self.TIMES * uses else best

    def _used(self, word: str) -> int:
        """How often the corpus uses the word, or its lemma if that is more.

        Published counts hold only lemmas.
        """
        forms = {word, *(lemma for lemmas in _lemmas(word).values() for lemma in lemmas)}
        return max(self._counts.get(form, 0) for form in forms)


@cache
def _dictionary() -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(language="en", distance=1)


class Nouns:
    """Step 5: of an entity only nouns. Predicates stay as they are.

    Counts what stands before the first preposition or "and" ("leg of man" is a leg); of that the last word
    stays whatever it is ("writing", "top"), and the words before it if they usually are nouns ("stop sign"
    and "fire hydrant", but not "red hydrant"). Names that mean something else without their adjective stay
    whole: a hot dog is no dog.
    """

    WHOLE = frozenset({
        "hot dog", "french fry", "french fries", "flip flop", "flip flops", "wet suit", "remote control",
        "back pack",
    })  # fmt: skip

    name = "nouns"

    def entity(self, text: str) -> str:
        words = text.split()
        end = next((i for i, word in enumerate(words) if i and _tag(word) in ("IN", "CC", "TO")), len(words))
        words = words[:end]
        if " ".join(words[-2:]) in self.WHOLE:
            return " ".join(words[-2:])
        return " ".join([word for word in words[:-1] if _is_noun(word)] + words[-1:])

    def predicate(self, text: str) -> str:
        return text


@cache
def _is_noun(word: str) -> bool:
    """Whether a word before a noun is one too, by its usual part of speech.

    A verb ("stop sign") or an unknown word is, if it can be one.
    """
    if word.endswith(("'s", "'")) or word in _SIDES:
        return False
    tag = _tag(word)
    if tag in ("", "VB", "VBG", "VBP", "VBZ"):
        lemmas = _lemmas(word)
        return "NOUN" in lemmas or (not lemmas and not _NUMBER.match(word) and not word.endswith("ed"))
    return tag.startswith("NN")


class Cleaner:
    """Steps one after the other, on triples, entities or predicates; what a string becomes is remembered.

    >>> clean = Cleaner([Be(), Determiners(), Lemmas(), Nouns()])
    >>> clean(Triple("The red hydrants", "are on the", "sidewalk"))
    Triple(subject='hydrant', predicate='on', object='sidewalk')
    """

    def __init__(self, steps: Iterable[CleaningStep]) -> None:
        steps = tuple(steps)
        self.entity = _remembered([step.entity for step in steps])
        self.predicate = _remembered([step.predicate for step in steps])

    def __call__(self, triple: Triple) -> Triple | None:
        """The triple after all steps, or None if one of them left nothing of a part."""
        subject, obj = self.entity(triple.subject), self.entity(triple.object)
        predicate = self.predicate(triple.predicate)
        return Triple(subject, predicate, obj) if subject and predicate and obj else None


def _remembered(functions: Sequence[Callable[[str], str]]) -> Callable[[str], str]:
    @cache
    def through(text: str) -> str:
        text = plain(text)
        for function in functions:
            text = text and function(text)
        return text

    return through


def steps(names: Iterable[str] = STEPS, words: Mapping[str, int] | None = None) -> list[CleaningStep]:
    """The steps with these names in the order in which they run, except "rare", which needs counts.

    `words` goes to :class:`Spelling`.
    """
    wanted = set(names)
    every: list[CleaningStep] = [Be(), Determiners(), Spelling(words), Lemmas(), Nouns()]
    return [step for step in every if step.name in wanted]
