"""The paper's preprocessing (section 6.1) of (subject, predicate, object) triples, in steps.

Each step can be left out:

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

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, TypeVar

from simtown.visualgenome.clean_settings import STEPS

T = TypeVar("T")

#: Forms of "to be" (entities keep "being", which is a noun there); determiners; words of predicates that
#: look like an inflected verb or a plural and mean a place or a manner; and nouns that before another noun
#: only say which one is meant: "right hand", "front leg".
_LISTS = (
    "be am is are was were been isn't aren't wasn't weren't",
    "a an the this that these those some any each every another all both either neither no its his her their "
    "my your our several many few",
    "above across against ahead along alongside among around as aside at atop away back behind below beneath "
    "beside besides between beyond by close down far for forward from front in inside into left like near "
    "next of off on onto opposite out outside over past right side through to top toward towards under "
    "underneath until up upon upside with within without",
    "left right front back rear top bottom middle",
)
_BE, _DETERMINERS, _PLACES, _SIDES = (frozenset(words.split()) for words in _LISTS)
#: Names that mean something else without their adjective: a hot dog is not a dog.
_WHOLE = frozenset({
    "hot dog", "french fry", "french fries", "flip flop", "flip flops", "wet suit", "remote control",
    "back pack",
})  # fmt: skip
#: A word used `_FIRM` times or more is a slip only if its neighbour is used `_TIMES` as often.
_FIRM, _TIMES = 20, 10
_WORD = re.compile(r"[^\W_]+(?:['’.&/-][^\W_]+)*", re.UNICODE)
_NUMBER = re.compile(r".*\d")


class Cleaner:
    """The steps one after the other; what a string becomes is remembered, and "" if nothing is left of it.

    >>> cleaner = Cleaner(["be", "determiners", "lemmas", "nouns"])
    >>> cleaner.entity("The red hydrants"), cleaner.predicate("are on the")
    ('hydrant', 'on')

    Args:
        steps: the names of those that run, of :data:`STEPS`; "rare" needs counts and is left to the caller.
        counts: how often the corpus uses each word; the step "spelling" then prefers common words.
    """

    def __init__(self, steps: Collection[str] = STEPS, counts: Mapping[str, int] | None = None) -> None:
        spelling = partial(_each, cache(partial(_corrected, counts=counts or {})))
        names = [name for name in STEPS if name in steps]
        steps_of: dict[str, tuple[Callable[[str], str], ...]] = {  # of an entity, and of a predicate
            "be": (partial(_without, _BE), partial(_without, _BE | {"being"})),
            "determiners": (_without_determiners, partial(_without, _DETERMINERS)),
            "spelling": (spelling, spelling),
            "lemmas": (partial(_each, singular), _lemmas_of_predicate),
            "nouns": (_nouns,),
        }
        chosen = [steps_of[name] for name in names if name in steps_of]
        self.entity = _remembered([functions[0] for functions in chosen])
        self.predicate = _remembered([functions[1] for functions in chosen if len(functions) > 1])


def _remembered(functions: Sequence[Callable[[str], str]]) -> Callable[[str], str]:
    @cache
    def through(text: str) -> str:
        text = plain(text)
        for function in functions:
            text = text and function(text)
        return text

    return through


def folded(text: str) -> str:
    """Lower case, composed letters (NFC), straight apostrophes: what every pattern of words expects."""
    return unicodedata.normalize("NFC", text.lower()).replace("’", "'")


def plain(text: str) -> str:
    """Lower case, single spaces, no punctuation but inside words: what every step expects."""
    return " ".join(_WORD.findall(folded(text)))


def summed(counts: Iterable[tuple[T, int]]) -> Counter[T]:
    """The sum of the counts of each thing; a thing may come several times."""
    sums: Counter[T] = Counter()
    for thing, count in counts:
        sums[thing] += count
    return sums


def word_counts(strings: Iterable[tuple[str, int]]) -> Counter[str]:
    """How often each word occurs in strings, each with its count."""
    return summed((word, count) for text, count in strings for word in plain(text).split())


def _each(function: Callable[[str], str], text: str) -> str:
    return " ".join(map(function, text.split()))


def _without(words: Collection[str], text: str) -> str:
    return " ".join(word for word in text.split() if word not in words)


def _without_determiners(entity: str) -> str:
    """An entity of nothing else keeps its last word: a picture may show a letter, "a"."""
    return _without(_DETERMINERS, entity) or entity.rpartition(" ")[2]


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
def singular(word: str) -> str:
    """The lemma of a word as a noun, which the words of an entity are."""
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
    """A word of a predicate after the first, as a verb ("man wearing") or a noun ("in hands of")."""
    if word in _PLACES:
        return word
    tag = _tag(word)
    if tag.startswith("VB") and word.endswith(("ing", "ed", "es", "s")):
        return _infinitive(word)
    return singular(word) if tag.startswith("NN") or (not tag and word.endswith("s")) else word


def _lemmas_of_predicate(predicate: str) -> str:
    """A predicate's first word is a verb if it can be one."""
    first, *others = predicate.split()
    return " ".join([_infinitive(first), *map(_later, others)])


@cache
def _dictionary() -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(language="en", distance=1)


def _corrected(word: str, counts: Mapping[str, int]) -> str:
    """An unknown word becomes a known one that is one edit away, if there is one."""
    # three letters are one edit away from too much; numbers, apostrophes and compounds are no slips
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    dictionary = _dictionary()
    if word in dictionary or _lemmas(word) or _tag(word):
        return word
    neighbours = dictionary.known(dictionary.edit_distance_1(word))
    if not neighbours:
        return word

    def likelihood(neighbour: str) -> tuple[Any, ...]:
        # letters that changed places are the likeliest slip ("lable" is a label, not a table), a wrong first
        # letter the unlikeliest; the alphabet comes last, so that every run says the same
        swapped, same_start = sorted(neighbour) == sorted(word), neighbour[0] == word[0]
        common = _used(neighbour, counts), dictionary.word_usage_frequency(neighbour)
        return not swapped, not same_start, -common[0], -common[1], neighbour

    best, uses = min(neighbours, key=likelihood), counts.get(word, 0)
    return word if uses >= _FIRM and _used(best, counts) < _TIMES * uses else best


def _used(word: str, counts: Mapping[str, int]) -> int:
    """How often the corpus uses the word, or its lemma if that is more: published counts hold only lemmas."""
    forms = {word, *(lemma for lemmas in _lemmas(word).values() for lemma in lemmas)}
    return max(counts.get(form, 0) for form in forms)


def _nouns(entity: str) -> str:
    """What stands before the first preposition or "and": the last word, and nouns before it ("stop sign")."""
    words = entity.split()
    end = next((i for i, word in enumerate(words) if i and _tag(word) in ("IN", "CC", "TO")), len(words))
    words = words[:end]
    if " ".join(words[-2:]) in _WHOLE:
        return " ".join(words[-2:])
    return " ".join([word for word in words[:-1] if _is_noun(word)] + words[-1:])


@cache
def _is_noun(word: str) -> bool:
    """Whether a word before a noun usually is one too, or a verb ("stop sign") or unknown and can be one."""
    if word.endswith(("'s", "'")) or word in _SIDES:
        return False
    tag = _tag(word)
    if tag in ("", "VB", "VBG", "VBP", "VBZ"):
        lemmas = _lemmas(word)
        return "NOUN" in lemmas or (not lemmas and not _NUMBER.match(word) and not word.endswith("ed"))
    return tag.startswith("NN")
