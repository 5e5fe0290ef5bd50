"""From the words of a question to its logical form: the chart parser of the language in grammar.txt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from itertools import combinations, islice, product
from typing import Any, NamedTuple

from simtown.assets.catalogue import ENTITIES, NAMED_BY_COLOUR
from simtown.assets.palette import COLOUR_WORDS, PAINTS
from simtown.language.meaning.nouns import (
    GROUPS,
    NOUNS,
    ORDINALS,
    THING,
    group_of,
    plural,
    similar_names,
)
from simtown.language.meaning.programs import Form, fill
from simtown.language.meaning.relations import DRIVER_RELATIONS, RELATION_NAMES, RELATIONS
from simtown.language.meaning.solids import SOLID_RELATIONS, SURFACES
from simtown.scenes.footprints import GROUP


class QuestionError(ValueError):
    """A question is not understood; the message says from where on."""


#: The longest question that is read, characters.
LONGEST = 400
_OFTEN_LEFT_OUT = ("is", "the", "of", "what is the", "is there", "how many")
#: Questions that are understood, but that nobody asks: "Is the taxi the bus?", "What vehicle?".
_SILLY = re.compile(
    r"exist\(filter\(all\([^()]*\), among|holds\(the\(all\([^()]*\)\), among\(the\(all"
    r"|which\((the\()?all|\ba [aeiou]|s holds\(the\(all\([^()]*\)\), among"
    r"|^(how many|who) \S+ [a-z]+\("
)
#: As many words of a question that is not understood are rephrased.
MOST_WORDS = 24
#: By symbol of the grammar, its phrases with what they mean.
Lexicon = dict[str, dict[str, Any]]


def parse(names: Iterable[str], question: str) -> tuple[Form, list[str], bool]:
    """The logical form of a question about a town whose things have some names.

    Returns:
        The form, notes about corrected words, and whether it asks "isn't it?" instead of "is it?".

    Raises:
        QuestionError: the question is not understood.
    """
    if len(question) > LONGEST:
        raise QuestionError(f"the question has {len(question)} characters: ask with at most {LONGEST}")
    lexicon = _lexicon(tuple(names), tuple(SOLID_RELATIONS))
    text, notes = _corrected(_spaced(question).split(), lexicon)
    for pattern, replacement in language().rewrites:
        text = " ".join(pattern.sub(replacement, text).split())
    words = _resolved(text.split(), lexicon)
    negated = words[1:2] == ["not"] and words[0] in ("is", "does", "can")
    if negated:
        del words[1]
    chart = _Chart(words, lexicon)
    meanings = chart.meanings("QUESTION", 0)
    form = meanings.get(len(words)) or (meanings.get(len(words) - 1) if words[-1:] == ["pictured"] else None)
    if form is None:
        rest = " ".join(words[chart.reached :])
        where = f" from '{rest}' on" if rest else ", as it breaks off"
        raise QuestionError(f"the question is not understood{where}: ask in other words")
    return form, notes, negated


def rephrasings(names: Iterable[str], question: str) -> Iterator[str]:
    """Questions that are understood, the nearest to one that is not: words exchanged, dropped or added."""
    names, words = list(names), question.strip(" ?!.").split()[:MOST_WORDS]
    known = _known(_lexicon(tuple(names), tuple(SOLID_RELATIONS)))
    words[:1] = [word.lower() for word in words[:1]]
    meant = set[Form]()
    wrong = [i for i, word in enumerate(words) if not set(_spaced(word).split()) <= known]
    nearest = [similar_names(words[i], [*names, *known], 5, 0.5) or names[:8] for i in wrong]
    others = (dict(zip(wrong, chosen, strict=True)) for chosen in islice(product(*nearest), 50))
    candidates = [" ".join(other.get(i, word) for i, word in enumerate(words)).split() for other in others]
    places = range(len(words))
    candidates += [[*words[:i], *words[i + 1 :]] for i in places]
    left_out = _OFTEN_LEFT_OUT if len(words) > 1 else ()  # one word is not a question that lacks a word
    candidates += [[*words[:i], *more.split(), *words[i:]] for i in places for more in left_out]
    candidates += [[words[k] for k in places if k not in pair] for pair in combinations(places, 2)]
    candidates += [[*words[:i], *words[i + n :]] for n in (3, 4) for i in places[: 1 - n]]
    firsts = {*words[:1], "is", "how", "what"}
    for candidate in (c for c in candidates if firsts & {*c[:1]}):
        text = " ".join(candidate)
        with suppress(QuestionError):
            form, notes, _ = parse(names, text)
            if form not in meant and not notes and not _SILLY.search(f"{text} {form}"):
                meant.add(form)
                yield f"{text[0].upper()}{text[1:]}?"


def _resolved(words: list[str], lexicon: Lexicon) -> list[str]:
    """The words, with nouns for "one" and "ones": "the red vehicle ... the blue one"."""
    rules = language().rules
    before = {"the", *lexicon["COLOUR"], *lexicon["ORDINAL"]}
    before |= {pattern[-1] for symbol in ("MOST", "STATE") for pattern, _ in rules[symbol]}
    result: list[str] = []
    noun = ""
    for word, previous in zip(words, ["", *words], strict=False):
        if noun and previous in before and word in ("one", "ones"):
            word = _spaced(noun if word == "one" else plural(noun))
        else:
            named = str(lexicon["NOUN"].get(word) or lexicon["NOUNS"].get(word))
            noun = named if named in NOUNS and not (noun and words[0] == "what") else noun
        result += word.split()
    return result


@lru_cache(maxsize=4096)
def _spaced(text: str) -> str:
    """A text in lower case, its words apart, without punctuation."""
    text = re.sub(r"n't\b", " not", text.lower().replace("’", "'"))
    text = re.sub(r"\b(what|where|who|that|there|it|how|colou?r)'s\b", r"\1 is", text)
    return re.sub(r"[^\w ]", " ", re.sub(r"'s\b", "", text)).strip()


def _corrected(words: list[str], lexicon: Lexicon) -> tuple[str, list[str]]:
    """The words, near spellings corrected, and notes about them. Raises QuestionError for an unknown word."""
    known = _known(lexicon)
    corrected, notes = [], []
    for word in words:
        if word not in known and not word.isdigit():
            similar = [w for w in get_close_matches(word, known, 5, 0.85) if w[0] == word[0]]
            similar = [] if word.removesuffix("s") in known else similar
            if not similar or len(word) < 4:
                raise QuestionError(f"the question's word '{word}' is not known in this town: use another")
            notes.append(f"'{word}' is read as '{similar[0]}'")
            word = similar[0]
        corrected.append(word)
    return " ".join(corrected), notes


def _known(lexicon: Lexicon) -> set[str]:
    """Every word of the grammar and of a lexicon."""
    known = {w for phrases in lexicon.values() for phrase in phrases for w in phrase.split()}
    return known | language().words


class Language(NamedTuple):
    """The contents of grammar.txt, part by part, and all its words."""

    rewrites: list[tuple[re.Pattern[str], str]]
    rules: dict[str, list[tuple[list[str], str]]]
    synonyms: dict[str, str]
    readings: list[tuple[re.Pattern[str], str]]
    templates: list[str]
    slots: dict[str, list[str]]
    words: set[str]


@cache
def language() -> Language:
    """The language of questions."""
    result = Language([], {}, {}, [], [], {}, set())
    content = files("simtown.language.words").joinpath("grammar.txt").read_text(encoding="utf-8")
    part = symbol = ""
    for line in re.split(r"; |\n", content):
        left, equals, right = (text.strip() for text in line.partition("="))
        if line.startswith(("[", "#")) or not line:
            part = line if line.startswith("[") else part
            continue
        if part == "[examples]":
            result.templates.append(line)
        elif part == "[slots]":
            result.slots[left] = right.split("|")
        elif part == "[synonyms]":
            result.synonyms.update(dict.fromkeys(left.split("|"), right))
        elif part == "[other words]":
            result.rewrites.append((re.compile(rf"\b(?:{left})\b"), right))
        elif part == "[other readings]":
            result.readings.append((re.compile(left), right))
        elif equals:
            result.rules[symbol].append((left.split(), right))
        else:
            symbol = left
            result.rules[symbol] = []
        result.words.update(re.findall(r"[a-z]+", left if symbol else line))
    for symbol in ("SET", "BASE"):  # the same of several
        for pattern, right in result.rules[symbol]:
            plurals = [f"{item}S" if item in ("SET", "BASE", "NOUN") else item for item in pattern]
            result.rules.setdefault(f"{symbol}S", []).append((plurals, right))
    return result


@lru_cache(maxsize=8)
def _lexicon(names: tuple[str, ...], solid_relations: tuple[str, ...]) -> Lexicon:
    """The phrases of a town that the grammar does not hold."""
    kinds = [kind for kind in GROUP if kind not in NAMED_BY_COLOUR or kind in names]  # or else a painted car
    nouns = language().synonyms | {noun: noun for noun in (THING, *kinds, *NOUNS, *SURFACES)}
    nouns |= {f"bare {kind[:-5]}": kind for kind in GROUP if kind.endswith(" bare")}
    symbols: Lexicon = {
        "NOUN": nouns | {name: name for name in names},
        "NOUNS": {plural(noun): meaning for noun, meaning in nouns.items()},
        "COLOUR": {colour: colour for colour in (*PAINTS, *COLOUR_WORDS) if colour != "gray"},
        "RELATION": {name: name for name in (*RELATION_NAMES, *solid_relations) if name != "between"},
        "OWNED": {r.name: own.name for r, own in zip(RELATIONS, DRIVER_RELATIONS, strict=False)},
        "ORDINAL": {ordinal: i for i, ordinal in enumerate(ORDINALS, 1)},
        "N": {str(i): i for i in range(251)} | {"no": 0, "one": 1},
    }
    return {symbol: {_spaced(phrase): v for phrase, v in table.items()} for symbol, table in symbols.items()}


@cache
def spoken_names(answer: str) -> dict[str, str]:
    """Names, synonyms and plurals of the answers "kind" or "group" for `read_reply`; {} for other types."""
    names = language().synonyms | {kind: kind for kind in ENTITIES}
    if answer == "group":
        others = dict.fromkeys(("another vehicle", "other vehicle", "another", "something else"), "other")
        names = {name: group_of(kind) if kind in ENTITIES else kind for name, kind in names.items()}
        names |= {group: group for group in GROUPS} | others
    possible = {"kind": ENTITIES, "group": GROUPS}.get(answer, ())
    names = {name: meant for name, meant in names.items() if meant in possible}
    return names | {plural(name): meant for name, meant in names.items()}


class _Chart:
    """Meanings of the grammar's symbols in a question, by place; each span of words has one meaning
    a symbol.
    """

    def __init__(self, words: list[str], lexicon: Lexicon) -> None:
        self.words, self.lexicon, self.reached = words, lexicon, 0
        self._known: dict[tuple[str, int], dict[int, Any]] = {}

    def meanings(self, symbol: str, start: int) -> dict[int, Any]:
        """The meanings of a symbol that begins with a word, by the number of the word after its end."""
        if (symbol, start) not in self._known:
            phrases = self.lexicon.get(symbol, {})
            ends = range(min(start + 6, len(self.words)), start, -1) if phrases else ()
            spans = {end: " ".join(self.words[start:end]) for end in ends}
            found = {end: phrases[span] for end, span in spans.items() if span in phrases}
            self.reached = max([self.reached, *found])
            for pattern, template in language().rules.get(symbol, ()):
                for end, values in self._read(pattern, start).items():
                    if end not in found:
                        found[end] = fill(template, values) if template else None
            self._known[symbol, start] = found
        return self._known[symbol, start]

    def _read(self, pattern: list[str], start: int) -> dict[int, tuple[Any, ...]]:
        """The meanings of a pattern's symbols, by the number of the word after its end."""
        ends: dict[int, tuple[Any, ...]] = {start: ()}
        for item in pattern:
            found: dict[int, tuple[Any, ...]] = {}
            for end, values in ends.items():
                if item.isupper():
                    for after, value in self.meanings(item, end).items():
                        found.setdefault(after, (*values, value))
                    continue
                if self.words[end : end + 1] and self.words[end] in item.rstrip("?").split("|"):
                    found.setdefault(end + 1, values)
                    self.reached = max(self.reached, end + 1)
                if item.endswith("?"):
                    found.setdefault(end, values)
            ends = found
        return ends
