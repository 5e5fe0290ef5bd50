"""A sentence for every pair (section "Contextualized representations"), and where its two words stand.

Object and property: "An accordion is squishy."; object and affordance: "He lifted the accordion."; affordance
and property: "If you can lift something, then it is squishy."
"""

import re
from functools import cache
from typing import Literal, NamedTuple

from simtown.probes.physical.physical_release import Object, PhysicalTask, Property

#: As released, with "An unicycle", "A scissors is a tool" and "A ball squishy", or correct English.
English = Literal["released", "corrected"]

_RELEASED = """
burn/burnt cheerlead/cheerled chisel/chiselled dive/dove feed/feed fuel/fuelled gnaw/gnawn heave/hove
lean/leant pay/payed rid/ridded shovel/shovelled signal/signalled sing/sung smell/smelt spill/spilt spit/spit
spoil/spoilt wet/wet
"""
#: Past tenses of the released sentences that lemminflect gives otherwise.
_RELEASED_PAST = dict(pair.split("/") for pair in _RELEASED.split())
#: Verbs that lemminflect does not know as irregular.
_PAST = {"cheerlead": "cheerled", "wet": "wet"}
#: Objects without an article. No inflection table says what is a mass noun.
_MASS = {
    *("armour", "asparagus", "bread", "broccoli", "celery", "cheese", "corn", "garlic"),
    *("lettuce", "parsley", "rhubarb", "rice", "sandpaper", "seaweed", "spinach"),
}
#: Plurals that have no singular, so that a lemmatiser leaves them as they are.
_PLURAL_ONLY = frozenset(("jeans", "pajamas", "pliers", "scissors"))


class Sentence(NamedTuple):
    """A text, and where its two words stand: characters (start, end)."""

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


def _phrase(has: Property, english: English) -> str:
    """The one phrase without a verb, "squishy", gets its "is" back."""
    return has.phrase if english == "released" or " " in has.phrase else f"is {has.phrase}"


def statement(of: Object, has: Property, english: English = "corrected") -> str:
    """ "An accordion is squishy." """
    phrase = _phrase(has, english)
    if english == "corrected" and is_plural(of.name):
        return f"{of.name.capitalize()} {plural_phrase(phrase)}."
    if english == "corrected" and of.name in _MASS:
        return f"{of.name.capitalize()} {phrase}."
    return f"{article(of.name, english)} {of.name} {phrase}."


def sentences(task: PhysicalTask, english: English = "corrected") -> list[Sentence]:
    """The sentence of each of a task's pairs."""
    return [sentence(task, left, right, english) for left, right in task.pairs.names()]


def sentence(task: PhysicalTask, left: str, right: str, english: English = "corrected") -> Sentence:
    """The sentence of a pair. The words stand where they are used, in OA the object's after the verb."""
    objects, properties = task.release.objects, task.release.properties
    if task.kinds == ("object", "affordance"):
        of, done = objects[left], past(right, english)
        text = f"He {done} the {of.name}."
        start = text.rindex(of.context)
        return Sentence(text, (start, start + len(of.context)), (3, 3 + len(done)))
    has = properties[right]
    if task.kinds[0] == "object":
        of = objects[left]
        text, word = statement(of, has, english), of.context
        start = text.lower().index(of.name) + of.name.rindex(word)
    else:
        text, word = f"If you can {left} something, then it {_phrase(has, english)}.", left
        start = len("If you can ")
    end = start + len(word)
    match = re.compile(rf"\b{re.escape(has.context)}s?\b").search(text, end)  # "are tools"
    if match is None:
        raise ValueError(f"'{has.context}' is not in '{text}'")
    return Sentence(text, (start, end), match.span())


def question(task: PhysicalTask, left: str, right: str) -> str:
    """The pair as a question, "Is an accordion squishy?" or "Can you lift an accordion?", in good English."""
    properties = task.release.properties
    if task.kinds[0] != "object":
        return f"If you can {left} something, {_asked('it', _phrase(properties[right], 'corrected'), False)}?"
    name = task.release.objects[left].name
    several = is_plural(name)
    if not several and name not in _MASS:
        name = f"{article(name).lower()} {name}"
    if task.kinds[1] == "affordance":
        return f"Can you {right} {name}?"
    asked = _asked(name, _phrase(properties[right], "corrected"), several)
    return f"{asked[0].upper()}{asked[1:]}?"


def _asked(name: str, phrase: str, several: bool) -> str:
    first, _, rest = phrase.partition(" ")
    if several and first != "can":
        rest = plural_phrase(phrase).partition(" ")[2]
    if first in ("is", "can"):
        return f"{'are' if several and first == 'is' else first} {name} {rest}"
    return f"{'do' if several else 'does'} {name} {_lemma(first, 'VERB')} {rest}"
