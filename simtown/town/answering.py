"""Questions about a town, answered from its truth, not from pictures; and the town in a few sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise, permutations, product
from typing import NamedTuple

import numpy as np

from simtown.language.parsing import any_of, match
from simtown.language.questions import PHRASINGS, with_article, words
from simtown.language.solids import SURFACES, Solid, truth
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import GROUP
from simtown.scenes.weather import WEATHER_KINDS, WEATHERS
from simtown.town.checks import TownError, text
from simtown.town.nouns import NOUNS
from simtown.town.reasons import reason
from simtown.town.relating import MARGINS, measure, most_between
from simtown.town.snapshot import SIZE
from simtown.town.things import Thing, label, meant
from simtown.town.truth import pixels_alone

_EXAMPLES = "ask like 'Is a taxi left of a building?' or 'Is a man between a bus and a tree?'"
_TWO_PLACE = [name for name in MARGINS if name != "between"]
#: The longest question that is read, characters.
_LONGEST = 400


@dataclass(frozen=True)
class TownAnswer:
    """The answer to a question about a town.

    ``bool(answer)`` raises TownError if the truth is too close to say.

    Attributes:
        question: as it was asked.
        truth: yes, no, or None if it is too close to say.
        margin: metres by which the relation holds (negative: by which it fails), -inf if it cannot hold.
        why: one sentence with the distance that was measured and the one that counts.
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
        verdict = {True: "yes", False: "no", None: "too close to say"}[self.truth]
        return f"{verdict}: {self.why}"


class View(NamedTuple):
    """What a question is about: things as a camera sees them.

    `seen` returns the names of the visible ones, which alone count; it is None if hidden things count, too.
    """

    things: list[Thing]
    camera: Camera
    seen: Callable[[], set[str]] | None

    def counted(self, things: list[Thing]) -> list[Thing]:
        """Those of some things that count."""
        if self.seen is None or not things:
            return things
        seen = self.seen()
        return [t for t in things if t.name in seen]


class _Candidate(NamedTuple):
    """Something that a noun phrase may stand for; the ground has several solids."""

    name: str
    solids: tuple[Solid, ...]


def answer(view: View, question: str) -> TownAnswer:
    """The answer to a question; see :meth:`simtown.town.town.Town.ask`."""
    relation, phrases = _parse(view.things, text(question, "the question", "Is the taxi left of a building?"))
    ground = next((noun for _, noun in phrases if noun in SURFACES), None)
    if ground is not None and (relation != "on" or phrases[0][1] in SURFACES):
        example = f"such as 'Is a taxi on the {ground}?'"
        raise TownError(f"of the {ground} one can only ask what is on it, {example}: or {_EXAMPLES}")
    candidates = [_candidates(view, article, noun) for article, noun in phrases]
    cases = _between_case(candidates) if relation == "between" else list(_cases(candidates))
    if not cases:
        return TownAnswer(question, False, -float("inf"), _nothing(view, phrases, candidates))
    shapes = ((case, solids) for case in cases for solids in product(*(c.solids for c in case)))
    measured = ((measure(relation, view.camera, *solids), case, solids) for case, solids in shapes)
    margin, case, solids = max(measured, key=lambda entry: entry[0])
    holds = truth(margin, MARGINS[relation])
    why = reason(relation, [c.name for c in case], solids, view.camera, margin, holds)
    several = len(list(islice(_cases(candidates), 2))) > 1
    nearest = several and not holds and np.isfinite(margin)
    return TownAnswer(question, holds, margin, f"at best, {why}" if nearest else why)


def _cases(candidates: list[list[_Candidate]]) -> Iterator[tuple[_Candidate, ...]]:
    """Every choice of a different thing for each noun phrase."""
    return (case for case in product(*candidates) if len({c.name for c in case}) == len(case))


def _between_case(candidates: list[list[_Candidate]]) -> list[tuple[_Candidate, ...]]:
    """The case with the greatest margin of "between", if there is any: measuring all would take hours."""
    subjects, firsts, seconds = candidates
    pairs: dict[frozenset[str], tuple[_Candidate, _Candidate]] = {}
    for first, second in product(firsts, seconds):
        if first.name != second.name:
            pairs.setdefault(frozenset((first.name, second.name)), (first, second))
    distinct = np.array([[s.name not in pair for s in subjects] for pair in pairs], dtype=bool)
    if not distinct.any():
        return []
    ends = list(pairs.values())
    subject, pair = most_between(
        [s.solids[0] for s in subjects], [(b.solids[0], c.solids[0]) for b, c in ends], distinct
    )
    return [(subjects[subject], *ends[pair])]


def _parse(things: list[Thing], question: str) -> tuple[str, list[tuple[str, str]]]:
    """The relation, and the (article, noun) of the subject and the objects. Raises TownError if unclear."""
    if len(question) > _LONGEST:
        raise TownError(f"the question has {len(question)} characters, more than {_LONGEST}: {_EXAMPLES}")
    names = [name for t in things for name in (t.name, f"{t.kind} 1")]
    nouns = [*GROUP, *NOUNS, *SURFACES, *names]
    articles = re.compile(r"\{a_(.)\}|the \{(.)\}")
    forms = list(dict.fromkeys(articles.sub(r"{\1\2}", phrasing) for phrasing in PHRASINGS))
    vocabulary = {w for phrase in [*forms, *nouns, *MARGINS, "a an the and"] for w in words(phrase)}
    unknown = [w for w in words(question) if w not in vocabulary]
    if unknown:
        raise TownError(f"the question's word '{unknown[0]}' is not known in this town: {_EXAMPLES}")
    slots = {f"{{{k}}}": f"(?:(?P<{k}_article>an?|the) )?{any_of(nouns, k)}" for k in "sop"}
    with_two_objects = [f.replace("{o}", "{o} and {p}") for f in forms]
    groups = match(question, forms, slots | {"{r}": any_of(_TWO_PLACE, "r")})
    groups = groups or match(question, with_two_objects, slots | {"{r}": "(?P<r>between)"})
    if groups is None:
        relations = f"the relations are {', '.join(MARGINS)}"
        raise TownError(f"the question is not understood: {_EXAMPLES}; {relations}")
    spelled = {" ".join(words(n)): n for n in nouns}
    given = [k for k in "sop" if groups.get(k)]
    return str(groups["r"]), [(groups[f"{k}_article"] or "the", spelled[str(groups[k])]) for k in given]


def _candidates(view: View, article: str, noun: str) -> list[_Candidate]:
    """What a noun phrase may stand for. Raises TownError unless "the" stands for one thing that counts."""
    if noun in SURFACES:
        return [_Candidate(noun, SURFACES[noun])]
    all_meant = meant(view.things, noun)
    counted = view.counted(all_meant)
    if article == "the" and len(counted) != 1:
        if not all_meant:
            raise TownError(f"there is no {noun} in this town: place one, or ask about {with_article(noun)}")
        if not counted:
            remedy = "move things or the camera, or ask(..., everywhere=True)"
            raise TownError(f"{_unseen(view, noun, all_meant)}: {remedy}")
        names = ", ".join(label(t) for t in counted[:4]) + (", ..." if len(counted) > 4 else "")
        problem = f"there are {len(counted)} of what '{noun}' may mean ({names})"
        raise TownError(f"{problem}: ask about {with_article(noun)}, or use a name")
    return [_Candidate(t.name, (t.solid(),)) for t in counted]


def _nothing(view: View, phrases: list[tuple[str, str]], candidates: list[list[_Candidate]]) -> str:
    """Why a question has nothing to measure."""
    for (_, noun), its_candidates in zip(phrases, candidates, strict=True):
        if not its_candidates:
            hidden = meant(view.things, noun)
            return _unseen(view, noun, hidden) if hidden else f"there is no {noun} in the town"
    noun = phrases[-1][1]
    all_meant = meant(view.things, noun)
    counted = view.counted(all_meant)
    hidden = [t for t in all_meant if t not in counted]
    if not hidden:
        return f"there is no other {noun} in the town"
    return f"there is no other {noun} in the picture, and {_unseen(view, noun, hidden)}"


def _unseen(view: View, noun: str, things: list[Thing]) -> str:
    """Why none of some things is visible."""
    if len(things) > 1:
        return f"{len(things)} things that '{noun}' may mean are outside the picture or hidden"
    in_picture = pixels_alone(view.camera, things, *SIZE)[0] > 0
    return f"the {things[0]} is {'hidden by what stands before it' if in_picture else 'outside the picture'}"


def describe(things: list[Thing], weather: str, camera: Camera, seen: set[str]) -> str:
    """A few sentences about a town; see :meth:`simtown.town.town.Town.describe`."""
    vehicles = sorted((t for t in things if t.group == "vehicle"), key=lambda t: t.x)
    sentences = [WEATHER_KINDS[WEATHERS.index(weather)].sentence]
    for vehicle in vehicles:
        named = with_article(vehicle.kind) if vehicle.kind == vehicle.name else f"the {vehicle.name}"
        paint = f", painted {vehicle.paint}," if vehicle.paint else ""
        hidden = "" if vehicle.name in seen else ", not in view"
        sentences.append(f"{named[0].upper()}{named[1:]}{paint} {_motion(vehicle)}{hidden}.")
    neighbours = [*pairwise(vehicles), *((b, a) for a, b in pairwise(vehicles))]
    pairs = [(r, *pair) for r in ("left of", "in front of") for pair in neighbours]
    pairs += [("overtaking", *pair) for pair in permutations(vehicles, 2)]
    for relation, a, b in pairs:
        if truth(measure(relation, camera, a.solid(), b.solid()), MARGINS[relation]):
            sentences.append(f"The {a.name} is {relation} the {b.name}.")
    groups = {noun: [t for t in things if t.group == noun] for noun in ("building", "tree", "person")}
    groups["mailbox"] = [t for t in things if t.kind in ("mailbox", "pillar box")]
    plurals = {"person": "people", "mailbox": "mailboxes"}
    counted = []
    for noun, group in groups.items():
        n, visible = len(group), sum(t.name in seen for t in group)
        share = f"{n}" if visible == n else f"{visible} of {n}"
        counted += [f"{share} {noun if n == 1 else plurals.get(noun, noun + 's')}"] if n else []
    if counted:
        *others, last = counted
        sentences.append(f"In view beside the road: {', '.join(others)}{' and ' if others else ''}{last}.")
    return " ".join(sentences)


def _motion(vehicle: Thing) -> str:
    """How a vehicle moves, on what, and where it heads: "stands in the near lane, heading right"."""
    across = np.cos(vehicle.front)
    heading = "right" if across > 0.5 else "left" if across < -0.5 else "across the road"
    speed = float(np.hypot(*vehicle.velocity[:2]))
    verb = f"drives at {speed:.1f} m/s" if speed > 0.1 else "stands"
    place = "off the road"
    if abs(vehicle.y) < 3.7:
        place = f"in the {'near' if vehicle.y < 0 else 'far'} lane"
    return f"{verb} {place}, heading {heading}"
