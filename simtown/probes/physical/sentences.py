"""A sentence for every pair (section "Contextualized representations"), and where its two words stand.

Object and property: "An accordion is squishy."; object and affordance: "He lifted the accordion."; affordance
and property: "If you can lift something, then it is squishy."
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from simtown.probes.physical.decisions import PhysicalTask
from simtown.probes.physical.physical_release import Object, Property

#: As released, with "An unicycle", "A scissors is a tool" and "A ball squishy", or correct English.
English = Literal["released", "corrected"]

#: Past tenses of the released sentences that lemminflect gives otherwise.
_RELEASED_PAST = {
    "burn": "burnt",
    "cheerlead": "cheerled",
    "chisel": "chiselled",
    "dive": "dove",
    "feed": "feed",
    "fuel": "fuelled",
    "gnaw": "gnawn",
    "heave": "hove",
    "lean": "leant",
    "pay": "payed",
    "rid": "ridded",
    "shovel": "shovelled",
    "signal": "signalled",
    "sing": "sung",
    "smell": "smelt",
    "spill": "spilt",
    "spit": "spit",
    "spoil": "spoilt",
    "wet": "wet",
}
#: Verbs that lemminflect does not know as irregular.
_PAST = {"cheerlead": "cheerled", "wet": "wet"}
#: Objects without an article. No inflection table says what is a mass noun.
_MASS = {
    *("armour", "asparagus", "bread", "broccoli", "celery", "cheese", "corn", "garlic"),
    *("lettuce", "parsley", "rhubarb", "rice", "sandpaper", "seaweed", "spinach"),
}
#: Plurals that have no singular, so that a lemmatiser leaves them as they are.
_PLURAL_ONLY = frozenset(("jeans", "pajamas", "pliers", "scissors"))


@dataclass(frozen=True)
class Sentence:
    """A text, and where its two words stand.

    Attributes:
        text: the sentence.
        left: characters (start, end) of the left word.
        right: characters (start, end) of the right word.
    """

    text: str
    left: tuple[int, int]
    right: tuple[int, int]


@cache
def _inflected(word: str, tag: str) -> str:
    from lemminflect import getInflection

    return str(getInflection(word, tag=tag)[0])


@cache
def _lemma(word: str, kind: str) -> str:
    from lemminflect import getLemma

    return str(getLemma(word, upos=kind)[0])


def past(verb: str, english: English = "corrected") -> str:
    """The past tense: "lift" is "lifted"."""
    irregular = _RELEASED_PAST if english == "released" else _PAST
    return irregular.get(verb) or _inflected(verb, "VBD")


def article(name: str, english: English = "corrected") -> str:
    """A or An: the release goes by the first letter, and so says "An unicycle"."""
    return "An" if name[0] in "aeiou" and (english == "released" or not name.startswith("uni")) else "A"


def is_plural(name: str) -> bool:
    """Is an object's name a plural, such as "socks"? By its last word, which then differs from its lemma."""
    word = name.split()[-1]
    return word in _PLURAL_ONLY or (word.endswith("s") and _lemma(word, "NOUN") != word)


def plural_phrase(phrase: str) -> str:
    """What is said of several: "is a tool" becomes "are tools", "has shelves" becomes "have shelves"."""
    first, _, rest = phrase.partition(" ")
    if first == "can":
        return phrase
    noun = re.fullmatch(r"an? (\w+)", rest)
    if first == "is" and noun:
        rest = _inflected(noun[1], "NNS")
    if first == "has":
        rest = re.sub(r"^an? (\w+)", lambda m: _inflected(m[1], "NNS"), rest)
    return f"{'are' if first == 'is' else _lemma(first, 'VERB')} {rest.replace(' on it', ' on them')}"


def _phrase(of: Property, english: English) -> str:
    """The one phrase without a verb, "squishy", gets its "is" back."""
    return of.phrase if english == "released" or " " in of.phrase else f"is {of.phrase}"


def _sentence(text: str, left: tuple[int, int], right: str) -> Sentence:
    """The right word stands after the left one, as it is or with an s ("are tools")."""
    match = re.compile(rf"\b{re.escape(right)}s?\b").search(text, left[1])
    if match is None:
        raise ValueError(f"'{right}' is not in '{text}'")
    return Sentence(text, left, match.span())


def object_property(of: Object, has: Property, english: English = "corrected") -> Sentence:
    """ "An accordion is squishy." """
    phrase = _phrase(has, english)
    if english == "corrected" and is_plural(of.name):
        text = f"{of.name.capitalize()} {plural_phrase(phrase)}."
    elif english == "corrected" and of.name in _MASS:
        text = f"{of.name.capitalize()} {phrase}."
    else:
        text = f"{article(of.name, english)} {of.name} {phrase}."
    start = text.lower().index(of.name) + of.name.rindex(of.context)
    return _sentence(text, (start, start + len(of.context)), has.context)


def object_affordance(of: Object, verb: str, english: English = "corrected") -> Sentence:
    """ "He lifted the accordion." The left word is the object's, though it stands last."""
    done = past(verb, english)
    text = f"He {done} the {of.name}."
    start = text.rindex(of.context)
    return Sentence(text, (start, start + len(of.context)), (3, 3 + len(done)))


def affordance_property(verb: str, has: Property, english: English = "corrected") -> Sentence:
    """ "If you can lift something, then it is squishy." """
    start = len("If you can ")
    return _sentence(
        f"If you can {verb} something, then it {_phrase(has, english)}.",
        (start, start + len(verb)),
        has.context,
    )


def sentence(task: PhysicalTask, pair: tuple[str, str], english: English = "corrected") -> Sentence:
    """The sentence of a pair of a task."""
    left, right = pair
    release = task.release
    if task.name == "OP":
        return object_property(release.objects[left], release.properties[right], english)
    if task.name == "OA":
        return object_affordance(release.objects[left], right, english)
    return affordance_property(left, release.properties[right], english)


def question(task: PhysicalTask, pair: tuple[str, str]) -> str:
    """The pair as a yes/no question, always in correct English: "Is an accordion squishy?", "Can you lift an
    accordion?"
    """
    left, right = pair
    release = task.release
    if task.name == "AP":
        what = _asked("it", _phrase(release.properties[right], "corrected"), False, inside=True)
        return f"If you can {left} something, {what}?"
    of = release.objects[left]
    several = is_plural(of.name)
    name = of.name if several or of.name in _MASS else f"{article(of.name).lower()} {of.name}"
    if task.name == "OA":
        return f"Can you {right} {name}?"
    return f"{_asked(name, _phrase(release.properties[right], 'corrected'), several)}?"


def _asked(name: str, phrase: str, several: bool, inside: bool = False) -> str:
    first, _, rest = phrase.partition(" ")
    if several and first != "can":
        rest = plural_phrase(phrase).partition(" ")[2]
    if first in ("is", "can"):
        verb = "are" if several and first == "is" else first
        text = f"{verb} {name} {rest}"
    else:
        text = f"{'do' if several else 'does'} {name} {_lemma(first, 'VERB')} {rest}"
    return text if inside else text[0].upper() + text[1:]
