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
from simtown.town.relating import MARGINS, measure
from simtown.town.things import Thing, TownError

if TYPE_CHECKING:
    from simtown.town.town import Town

#: Words for groups of things.
GROUP_NOUNS = {"vehicle": "vehicle", "building": "building", "tree": "tree", "person": "person", "pedestrian": "person", "cloud": "cloud"}
_LIKE = "ask like 'Is the taxi left of a building?' or 'Is the man between the bus and the tree?'"
_TWO_PLACE = [name for name in MARGINS if name != "between"]


@dataclass(frozen=True)
class Answer:
    """What a town says; ``bool(answer)`` raises TownError where it cannot say.

    Attributes:
        question: as it was asked.
        truth: yes, no, or None where it is too close to say.
        margin: metres by which it holds (negative: fails).
        why: in words.
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
    label: str
    solid: Solid


def answer(town: Town, question: str) -> Answer:
    """See :meth:`simtown.town.town.Town.ask`."""
    relation, phrases = _read(town, question)
    if relation in RELATION_NAMES and any(noun in SURFACES for _, noun in phrases):
        raise TownError(f"nothing is {relation} the ground: ask whether it is on the {next(n for _, n in phrases if n in SURFACES)}")
    if phrases[0][1] in SURFACES or (relation != "on" and any(noun in SURFACES for _, noun in phrases)):
        raise TownError(f"the {next(n for _, n in phrases if n in SURFACES)} is only what things are on: {_LIKE}")
    candidates = [_meant(town, article, noun) for article, noun in phrases]
    best: tuple[float, tuple[_Named, ...]] | None = None
    for chosen in product(*candidates):
        if len({c.label for c in chosen}) == len(chosen):
            margin = measure(relation, town.camera, *(c.solid for c in chosen))
            if best is None or margin > best[0]:
                best = margin, chosen
    if best is None:
        missing = [noun for (_, noun), found in zip(phrases, candidates, strict=True) if not found]
        why = f"there is no {missing[0]} in the town" if missing else f"there is no other {phrases[0][1]} in the town"
        return Answer(question, False, -float("inf"), why)
    margin, chosen = best
    if len(chosen) == 2 and all(c.label in SURFACES for c in chosen[1:]):
        margin = max(measure(relation, town.camera, chosen[0].solid, s) for s in SURFACES[chosen[1].label])
    holds = truth(margin, MARGINS[relation])
    return Answer(question, holds, margin, _why(relation, [c.label for c in chosen], margin, holds, len(list(product(*candidates))) > 1))


def _read(town: Town, question: str) -> tuple[str, list[tuple[str, str]]]:
    """The relation and the (article, noun) of subject and objects. Raises TownError."""
    names = [t.name for t in town.things] + [f"{t.kind} 1" for t in town.things]
    nouns = [*GROUP, *GROUP_NOUNS, *SURFACES, *names]
    forms = list(dict.fromkeys(re.sub(r"\{a_(.)\}|the \{(.)\}", lambda m: f"{{{(m[1] or m[2])}}}", p) for p in PHRASINGS))
    vocabulary = {w for phrase in [*forms, *nouns, *MARGINS, "a an the and"] for w in words(phrase)}
    unknown = [w for w in words(question) if w not in vocabulary]
    if unknown:
        raise TownError(f"the question's word '{unknown[0]}' is unknown: {_LIKE}")
    slots = {f"{{{k}}}": f"(?:(?P<{k}_article>an?|the) )?{any_of(nouns, k)}" for k in "sop"}
    found = match(question, forms, slots | {"{r}": any_of(_TWO_PLACE, "r")})
    found = found or match(question, [f.replace("{o}", "{o} and {p}") for f in forms], slots | {"{r}": "(?P<r>between)"})
    if found is None:
        raise TownError(f"the question is not understood: {_LIKE}; relations: {', '.join(MARGINS)}")
    spelled = {" ".join(words(n)): n for n in nouns}
    return str(found["r"]), [(found[f"{k}_article"] or "the", spelled[str(found[k])]) for k in "sop" if found.get(k)]


def _meant(town: Town, article: str, noun: str) -> list[_Named]:
    """What a noun phrase may stand for. Raises TownError for "the" where there is none, or more than one."""
    if noun in SURFACES:
        return [_Named(noun, SURFACES[noun][0])]
    group = GROUP_NOUNS.get(noun)
    found = [t for t in town.things if noun in (t.kind, f"{t.name} 1") or t.group == group]
    found = found or [t for t in town.things if t.name == noun]
    if article == "the" and len(found) != 1:
        if not found:
            raise TownError(f"there is no {noun} in this town: place one, or ask about {with_article(noun)}")
        first = ", ".join(_label(t) for t in found[:4]) + (", ..." if len(found) > 4 else "")
        raise TownError(f"there are {len(found)} of what '{noun}' may mean ({first}): ask about {with_article(noun)}, or use a name")
    return [_Named(t.name, t.solid()) for t in found]


def _label(thing: Thing) -> str:
    return f"{thing.kind} 1" if thing.name == thing.kind else thing.name


def _why(relation: str, labels: list[str], margin: float, holds: bool | None, several: bool) -> str:
    phrase = f"{relation} the {' and the '.join(labels[1:])}"
    if not np.isfinite(margin):
        return f"the {labels[0]} is not {phrase}: they have not both moved the same way" if relation == "overtaking" else f"not {phrase}"
    if holds is None:
        return f"the {labels[0]} is {phrase} by {margin:.2f} m, too little to say: {MARGINS[relation]} m either way; move one of them"
    nearest = ", which comes nearest" if several and not holds else ""
    return f"the {labels[0]} is {'' if holds else 'not '}{phrase}{nearest}, by {abs(margin):.2f} m"


_WEATHER = {"clear": "The sky is clear", "cloudy": "It is cloudy", "rain": "It is raining", "fog": "It is foggy", "snow": "It is snowing",
            "dusk": "The sun is setting", "night": "It is night"}  # fmt: skip


def describe(town: Town) -> str:
    """See :meth:`simtown.town.town.Town.describe`."""
    cars = sorted(town.vehicles, key=lambda t: t.x)
    parts = [f"{_WEATHER[town.weather.kind]}."]
    for car in cars:
        parts.append(f"{with_article(car.kind).capitalize() if car.kind == car.name else 'The ' + car.name} {_doing(car)}.")
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
