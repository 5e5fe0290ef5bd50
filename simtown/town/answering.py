"""Asking a town, and hearing of it: questions are answered from the truth, not from pictures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING

import numpy as np

from simtown.language.parsing import any_of, match
from simtown.language.questions import PHRASINGS, with_article, words
from simtown.language.relations import RELATION_NAMES
from simtown.language.solids import SURFACES, Solid, truth
from simtown.scenes.footprints import GROUP
from simtown.town.checks import TownError, text
from simtown.town.nouns import NOUNS, label, meant
from simtown.town.pictures import SIZE
from simtown.town.reasons import reason
from simtown.town.relating import MARGINS, measure
from simtown.town.things import Thing
from simtown.town.truth import pixels_alone

if TYPE_CHECKING:
    from simtown.town.town import Town

_LIKE = "ask like 'Is a taxi left of a building?' or 'Is a man between a bus and a tree?'"
_TWO_PLACE = [name for name in MARGINS if name != "between"]
#: The longest question that is read, characters.
_LONGEST = 400


@dataclass(frozen=True)
class Answer:
    """What a town says; ``bool(answer)`` raises TownError where it cannot say.

    Attributes:
        question: as it was asked.
        truth: yes, no, or None where it is too close to say.
        margin: metres by which it holds (negative: fails), -inf where it cannot hold at all.
        why: in words: the distance that was measured, and the one that counts.
    """

    question: str
    truth: bool | None
    margin: float
    why: str

    def __bool__(self) -> bool:
        if self.truth is None:
            raise TownError(f"'{self.question}' has no clear answer: {self.why}")
        return self.truth

    def __str__(self) -> str:
        return f"{ {True: 'yes', False: 'no', None: 'too close to say'}[self.truth] }: {self.why}"


@dataclass(frozen=True)
class _Named:
    """Something that a noun phrase may stand for; the ground has several pieces."""

    name: str
    solids: tuple[Solid, ...]


def answer(town: Town, question: str, everywhere: bool = False) -> Answer:
    """See :meth:`simtown.town.town.Town.ask`."""
    relation, phrases = _read(town, text(question, "the question", "Is the taxi left of a building?"))
    _check_ground(relation, [noun for _, noun in phrases])
    candidates = [_candidates(town, article, noun, everywhere) for article, noun in phrases]
    cases = [chosen for chosen in product(*candidates) if len({c.name for c in chosen}) == len(chosen)]
    if not cases:
        return Answer(question, False, -float("inf"), _nothing(town, phrases, candidates, everywhere))
    best, margin, chosen, solids = -1, -float("inf"), cases[0], tuple(c.solids[0] for c in cases[0])
    for k, case in enumerate(cases):
        for pieces in product(*(c.solids for c in case)):
            by = measure(relation, town.camera, *pieces)
            if best < 0 or by > margin:
                best, margin, chosen, solids = k, by, case, pieces
    holds = truth(margin, MARGINS[relation])
    why = reason(relation, [c.name for c in chosen], solids, town.camera, margin, holds)
    nearest = len(cases) > 1 and not holds and np.isfinite(margin)
    return Answer(question, holds, margin, f"at best, {why}" if nearest else why)


def _read(town: Town, question: str) -> tuple[str, list[tuple[str, str]]]:
    """The relation and the (article, noun) of subject and objects. Raises TownError."""
    if len(question) > _LONGEST:
        raise TownError(f"the question has {len(question)} characters, more than {_LONGEST}: {_LIKE}")
    names = [t.name for t in town.things] + [f"{t.kind} 1" for t in town.things]
    nouns = [*GROUP, *NOUNS, *SURFACES, *names]
    forms = list(dict.fromkeys(re.sub(r"\{a_(.)\}|the \{(.)\}", lambda m: f"{{{(m[1] or m[2])}}}", p) for p in PHRASINGS))
    vocabulary = {w for phrase in [*forms, *nouns, *MARGINS, "a an the and"] for w in words(phrase)}
    unknown = [w for w in words(question) if w not in vocabulary]
    if unknown:
        raise TownError(f"the question's word '{unknown[0]}' is not known in this town: {_LIKE}")
    slots = {f"{{{k}}}": f"(?:(?P<{k}_article>an?|the) )?{any_of(nouns, k)}" for k in "sop"}
    found = match(question, forms, slots | {"{r}": any_of(_TWO_PLACE, "r")})
    found = found or match(question, [f.replace("{o}", "{o} and {p}") for f in forms], slots | {"{r}": "(?P<r>between)"})
    if found is None:
        raise TownError(f"the question is not understood: {_LIKE}; the relations are {', '.join(MARGINS)}")
    spelled = {" ".join(words(n)): n for n in nouns}
    return str(found["r"]), [(found[f"{k}_article"] or "the", spelled[str(found[k])]) for k in "sop" if found.get(k)]


def _check_ground(relation: str, nouns: list[str]) -> None:
    """Raises TownError for a question that asks of the ground more than what is on it."""
    ground = next((noun for noun in nouns if noun in SURFACES), None)
    if ground is None:
        return
    if relation in RELATION_NAMES:
        raise TownError(f"nothing is {relation} the {ground}: ask whether it is on the {ground}, or {_LIKE}")
    if relation != "on" or nouns[0] in SURFACES:
        raise TownError(f"of the {ground} one can only ask what is on it, such as 'Is a taxi on the {ground}?': or {_LIKE}")


def _candidates(town: Town, article: str, noun: str, everywhere: bool) -> list[_Named]:
    """What a noun phrase may stand for. Raises TownError for "the" where there is none, or more than one."""
    if noun in SURFACES:
        return [_Named(noun, SURFACES[noun])]
    there = meant(town.things, noun)
    seen = there if everywhere else _seen(town, there)
    if article == "the" and not there:
        raise TownError(f"there is no {noun} in this town: place one, or ask about {with_article(noun)}")
    if article == "the" and not seen:
        raise TownError(f"{_unseen(town, noun, there)}: move things or the camera, or ask(..., everywhere=True)")
    if article == "the" and len(seen) > 1:
        first = ", ".join(label(t) for t in seen[:4]) + (", ..." if len(seen) > 4 else "")
        raise TownError(f"there are {len(seen)} of what '{noun}' may mean ({first}): ask about {with_article(noun)}, or use a name")
    return [_Named(t.name, (t.solid(),)) for t in seen]


def _nothing(town: Town, phrases: list[tuple[str, str]], candidates: list[list[_Named]], everywhere: bool) -> str:
    """Why a question has nothing to measure."""
    for (_, noun), found in zip(phrases, candidates, strict=True):
        if not found:
            there = meant(town.things, noun)
            return _unseen(town, noun, there) if there else f"there is no {noun} in the town"
    noun = phrases[-1][1]
    there = meant(town.things, noun)
    seen = there if everywhere else _seen(town, there)
    unseen = [t for t in there if t not in seen]
    if not unseen:
        return f"there is no other {noun} in the town"
    return f"there is no other {noun} in the picture, and {_unseen(town, noun, unseen)}"


def _seen(town: Town, things: list[Thing]) -> list[Thing]:
    seen = town.seen() if things else set()
    return [t for t in things if t.name in seen]


def _unseen(town: Town, noun: str, things: list[Thing]) -> str:
    """Why none of some things is seen."""
    if len(things) > 1:
        return f"{len(things)} things that '{noun}' may mean are outside the picture or hidden"
    hidden = pixels_alone(town, things, *SIZE)[0] > 0
    return f"the {things[0]} is {'hidden by what stands before it' if hidden else 'outside the picture'}"


_WEATHER = {"clear": "The sky is clear", "cloudy": "It is cloudy", "rain": "It is raining", "fog": "It is foggy", "snow": "It is snowing",
            "dusk": "The sun is setting", "night": "It is night"}  # fmt: skip


def describe(town: Town) -> str:
    """See :meth:`simtown.town.town.Town.describe`."""
    cars = sorted(town.vehicles, key=lambda t: t.x)
    parts = [f"{_WEATHER[town.weather.kind]}."]
    for car in cars:
        named = with_article(car.kind).capitalize() if car.kind == car.name else f"The {car.name}"
        parts.append(f"{named}{f', painted {car.paint},' if car.paint else ''} {_doing(car)}.")
    neighbours = [*pairwise(cars), *((b, a) for a, b in pairwise(cars))]
    for relation, pairs in (("left of", neighbours), ("in front of", neighbours), ("overtaking", permutations(cars, 2))):
        for a, b in pairs:
            if truth(measure(relation, town.camera, a.solid(), b.solid()), MARGINS[relation]):
                parts.append(f"The {a.name} is {relation} the {b.name}.")
    counts = {noun: sum(t.group == noun for t in town.props) for noun in ("building", "tree", "person")}
    counts["mailbox"] = sum(t.kind in ("mailbox", "pillar box") for t in town.props)
    several = {"person": "people", "mailbox": "mailboxes"}
    said = [f"{n} {noun if n == 1 else several.get(noun, noun + 's')}" for noun, n in counts.items() if n]
    if said:
        parts.append(f"Beside the road: {', '.join(said[:-1])}{' and ' if said[:-1] else ''}{said[-1]}.")
    return " ".join(parts)


def _doing(car: Thing) -> str:
    way = "right" if np.cos(car.front) > 0.5 else "left" if np.cos(car.front) < -0.5 else "across the road"
    speed = float(np.hypot(*car.velocity[:2]))
    verb = f"drives at {speed:.1f} m/s" if speed > 0.1 else "stands"
    on_road = abs(car.y) < 3.7
    return f"{verb} {'in the ' + ('near' if car.y < 0 else 'far') + ' lane' if on_road else 'off the road'}, heading {way}"
