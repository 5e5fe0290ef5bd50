"""The vehicles of streets in which questions have their answers, as the rules of a hold-out want them.

The words of a question and its answer are drawn first, then streets until the answer is true. Most streets
have no second bus: a plan puts in what the words name, and keeps out what would make "the bus" two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.assets.palette import COLOUR_WORDS, PAINTS
from simtown.core.streams import Choices, Draws, choices_of
from simtown.language.asking.hold_out import HeldOut, Limits
from simtown.language.asking.question_world import AskedWorld
from simtown.language.meaning.colours import colour_of
from simtown.language.meaning.nouns import GROUPS, NOUNS, STREET_NOUNS, kinds_meant
from simtown.language.meaning.programs import COLOURS, Form
from simtown.language.meaning.sights import also_shown
from simtown.language.meaning.views import groups, own_colours, paint_colours
from simtown.scenes.paint import may_change


class Want(NamedTuple):
    """Vehicles that a street must have: `noun`, and perhaps a colour; with `apart`, of any other colour."""

    noun: str
    colour: str = ""
    apart: bool = False


@dataclass
class Plan:
    """Vehicles that a street must have, bans on its other vehicles, and how many `things` of a noun it must
    have.

    Of an `unclear` one, two vehicles may be what "the ..." means.
    """

    unclear: bool = False
    wants: list[Want] = field(default_factory=list)
    bans: list[Want] = field(default_factory=list)
    weather: int = -1
    things: tuple[str, int] | None = None


def _base(members: Form) -> tuple[str, str, bool]:
    """The noun of a set, its colour, and whether anything else narrows it."""
    match members.name, *members.parts:
        case "all", noun:
            return noun, "", False
        case "filter", inner, Form("has", ("colour", colour)):
            noun, _, narrowed = _base(inner)
            return noun, colour, narrowed
        case "filter", inner, _:
            noun, colour, _ = _base(inner)
            return noun, colour, True
        case (("most" | "nth"), *_, inner):
            noun, colour, _ = _base(inner)
            return noun, colour, True
    return "vehicle", "", True


def plan(form: Form, answer: int, unclear: bool, draws: Draws) -> Plan:
    """The plan of a street in which a program has an answer, as the evaluator numbers it.

    In an `unclear` street the answer may be too close to say.
    """
    result = Plan(unclear)
    _question(form, answer, draws, result)
    result.wants = [want for want in result.wants if want.noun != "vehicle" or want.colour]
    return result


def _question(form: Form, answer: int, draws: Draws, result: Plan) -> None:
    match form.name, *form.parts:
        case "not", part:
            _question(part, 1 - answer, draws, result)
        case ("and" | "or") as join, one, other:
            both = (join == "and") == bool(answer)
            first = answer if both or draws.often(0.5) else 1 - answer
            second = answer if both or first != answer else draws.below(2)
            for part, truth in ((one, first), (other, second)):
                _question(part, truth, draws, result)
        case "exist", Form("filter", (Form("all", (noun,)), Form("same", ("colour", phrase)))) if answer:
            colour = draws.below(len(COLOURS))
            result.wants.append(Want(noun, COLOURS[colour]))
            _phrase(phrase, result, "colour", colour)
        case "exist", members:
            _counted(members, 1 + draws.below(2) if answer else 0, draws, result)
        case "count", members:
            _counted(members, answer, draws, result)
        case ("more" | "fewer" | "equal") as compared, Form("count", (one,)), Form("count", (other,)):
            x, y = _counts(compared, bool(answer), draws)
            _counted(one, x, draws, result)
            _counted(other, y, draws, result)
        case ("least" | "utmost") as limit, Form("count", (members,)), int(number):
            number += limit == "utmost"
            enough = bool(answer) == (limit == "least")
            _counted(members, number + draws.below(2) if enough else draws.below(number), draws, result)
        case "query", "weather":
            result.weather = answer
        case "query", attribute, phrase, *others:
            _phrase(phrase, result, attribute, answer)
            for other in others:
                _phrase(other, result)
        case (("at" | "first" | "earlier"), *parts):
            for part in parts:
                if isinstance(part, Form):
                    _question(part, answer, draws, result)
        case "holds", phrase, clause:
            _phrase(phrase, result)
            _within(clause, result)


def _counts(compared: str, answer: bool, draws: Draws) -> tuple[int, int]:
    """Two counts of which a comparison is true or false."""
    small = draws.below(2)
    large = small + 1 + draws.below(2 - small + 1) % 2
    if compared == "equal":
        return (1, 1) if answer else draws.choice([(small, large), (large, small)])
    true, false = ((large, small), (small, large)) if compared == "more" else ((small, large), (large, small))
    return true if answer else draws.choice([false, (1, 1)])


def _counted(members: Form, number: int, draws: Draws, result: Plan) -> None:
    noun, colour, narrowed = _base(members)
    if noun in STREET_NOUNS:
        result.bans.append(Want(noun))
        result.things = noun, number
        return
    if noun == "vehicle" and not colour:
        _within(members, result)
        return
    if narrowed:
        number += 1 + draws.below(2)  # some are left out
    result.wants += [Want(noun, colour)] * number
    result.bans.append(Want(noun, colour))
    if colour:
        result.wants.append(Want(noun, colour, apart=True))
    _within(members, result)


def _phrase(phrase: Form, result: Plan, attribute: str = "", answer: int = -1) -> None:
    """Plant what "the ..." means; with an attribute, so that it has a value."""
    (members,) = phrase.parts
    noun, colour, narrowed = _base(members)
    wanted = Want(noun, colour)
    if attribute == "kind":
        wanted = Want(ENTITIES[answer], colour)
    elif attribute == "group":
        wanted = Want(GROUPS[answer], colour)
    elif attribute == "colour":
        wanted = Want(noun, COLOURS[answer])
    if wanted in result.wants and phrase.name == "the":
        return
    result.wants += [wanted] * (1 + (phrase.name == "every"))
    if phrase.name == "the" and not narrowed:
        result.bans.append(Want(noun, colour))
        if colour:
            result.wants.append(Want(noun, colour, apart=True))
    elif phrase.name == "the" and noun != "vehicle":
        result.wants += [Want(noun)] * (1 + result.unclear)  # one that it does not mean, and no more
        result.bans.append(Want(noun))
    _within(members, result)


def _within(form: Form, result: Plan) -> None:
    """Plant what the phrases in a form mean."""
    parts = list(form.parts)
    while parts:
        part = parts.pop(0)
        if not isinstance(part, Form):
            continue
        if part.name in ("the", "a", "every", "no"):
            _phrase(part, result)
        else:
            parts = [*part.parts, *parts]


class VehiclesOfStreet(NamedTuple):
    """The vehicles, weather and things of a street for a question.

    Attributes:
        entity: (most,) int64 kinds of vehicles, -1 for an empty slot.
        paint: (most,) int8 their paints, -1 for the kind's own.
        weather: the weather, -1 for any.
        things: a noun and how many such things stand beside the road
            (:mod:`simtown.language.asking.roadside`); None if the question is about none.
    """

    entity: np.ndarray
    paint: np.ndarray
    weather: int
    things: tuple[str, int] | None


def fill_street(
    world: AskedWorld,
    form: Form,
    answer: int,
    number: int,
    draws: Draws,
    limits: Limits | None = None,
    *,
    unclear: bool = False,
) -> VehiclesOfStreet | None:
    """The vehicles of a street in which a program may have an answer, and which keeps to limits.

    There are `number` of them, or fewer if no others fit. In an `unclear` street the answer may be too close
    to say.

    Returns None if the vehicles do not fit into a street of this world.
    """
    wanted = plan(form, answer, unclear, draws)
    if len(wanted.wants) > number:
        return None
    street = _Street(world, wanted, draws, limits)
    if not all(map(street.add, wanted.wants)):
        return None
    if limits and limits.alone and not street.compose(limits.held):
        return None
    while len(street.entity) < number and street.add(None):
        pass
    if len(street.entity) < world.least:
        return None
    empty = [-1] * (world.most - len(street.entity))
    order = sorted(range(world.most), key=[draws.below(1 << 30) for _ in range(world.most)].__getitem__)
    return VehiclesOfStreet(
        entity=np.array(street.entity + empty)[order],
        paint=np.array(street.paint + empty, dtype=np.int8)[order],
        weather=street.weather,
        things=wanted.things,
    )


#: Uniform numbers for some plans of each answer, in hundredths, a plan a line.
_HUNDREDTHS = """\
64 27 04 02 81 91 61 73 54 94 81 00 86 03 73 18 86 54 29 42 03 12 67 65 62 38 99 98 69 65 69 39
14 72 53 31 49 89 93 36 58 32 59 34 39 89 23 62 09 83 79 24 88 06 34 15 45 79 23 05 40 19 09 58
29 67 19 94 37 11 63 93 44 95 49 42 62 99 95 46 76 49 53 79 41 73 71 93 12 73 93 97 01 86 98 96
15 97 89 82 48 23 80 92 27 54 44 93 04 73 61 03 72 02 76 51 93 07 84 07 34 43 97 56 26 24 88 23
12 29 59 55 81 56 29 41 81 63 96 37 55 59 85 15 41 91 04 82 41 83 01 37 08 65 28 70 94 13 86 06
38 43 49 98 77 31 27 86 88 51 34 99 32 19 88 81 67 96 93 74 86 24 14 67 72 17 39 91 56 58 19 53
52 09 98 57 01 77 98 59 32 19 67 19 58 60 96 07 49 74 18 39 06 72 09 39 87 47 91 77 91 13 07 07
87 63 49 16 67 32 71 46 51 79 09 58 19 81 49 99 19 96 80 48 81 60 66 91 07 84 38 33 99 78 49 42"""
_SPREAD = [[int(number) / 100 for number in line.split()] for line in _HUNDREDTHS.splitlines()]


def least_vehicles(
    world: AskedWorld, form: Form, answers: Sequence[int], wanted: int, distinct_kinds: int, unclear: bool
) -> int:
    """The least number of vehicles, `wanted` or more, of a street in which any answer of a program fits, also
    an `unclear` one, and `distinct_kinds` vehicles whose kinds differ from all others'.

    It is more than `world.most` if some answer never fits.
    Words that fit some answers alone, or need more vehicles for them, would give those away.
    """
    cases = [(answer, False) for answer in answers] + [(answer, True) for answer in answers[:1] if unclear]
    enough = wanted
    for answer, is_unclear in cases:
        least = world.most + 1
        for numbers in _SPREAD:
            planned = plan(form, answer, is_unclear, Draws(numbers))
            wants = Counter(want.noun for want in planned.wants)
            need = wants.total() + max(0, distinct_kinds - sum(count == 1 for count in wants.values()))
            if need >= world.least or _kinds(world, None, _banned(world, planned))[1][0]:
                least = min(least, need)
            if least <= wanted:
                break
        enough = max(enough, least)
    return enough


def _banned(world: AskedWorld, wanted: Plan) -> tuple[Want, ...]:
    """Bans on other vehicles; where vehicles are painted, their paints see to colours."""
    return tuple(ban for ban in wanted.bans if not ban.colour or not world.painted)


@lru_cache(maxsize=1024)
def _kinds(world: AskedWorld, want: Want | None, bans: tuple[Want, ...]) -> tuple[np.ndarray, Choices]:
    """(entities,) chances of the kinds that may be what is wanted, or if it is None, are none of the bans."""
    if want is None:
        banned = np.any([_kinds(world, ban, ())[0] > 0 for ban in bans], axis=0) if bans else False
        chances = np.where(banned, 0.0, world.chances)
    elif want.noun in GROUPS and want.noun not in NOUNS:
        chances = np.where(groups()[:-1] == GROUPS.index(want.noun), world.chances, 0.0)
    elif want.noun in STREET_NOUNS:
        chances = np.where(np.isin(ENTITIES, [*also_shown(kinds_meant(want.noun))]), world.chances, 0.0)
    else:
        chances = world.kinds(want.noun)
    if want and want.colour:
        fits = (own_colours() == COLOURS.index(want.colour)) != want.apart
        chances = np.where(fits | may_change()[:-1] if world.painted else fits, chances, 0.0)
    return chances, choices_of(chances)


@cache
def _of_colour(colour: str) -> np.ndarray:
    """(paints,) bool: which paints a colour word names."""
    return np.isin(PAINTS, COLOUR_WORDS["gray" if colour == "grey" else colour])


class _Street:
    """The vehicles of a street that is being filled."""

    def __init__(self, world: AskedWorld, wanted: Plan, draws: Draws, limits: Limits | None) -> None:
        self.world, self.wanted, self.draws = world, wanted, draws
        self.entity: list[int] = []
        self.paint: list[int] = []
        self.weather = limits.weather if limits and wanted.weather < 0 else wanted.weather
        self.clear = limits.held if limits and not limits.alone else None
        self.bans = _banned(world, wanted)
        self.barred = {
            ban.colour: world.kinds(ban.noun) > 0 for ban in wanted.bans if ban.colour and world.painted
        }

    def add(self, want: Want | None) -> bool:
        """Add what is wanted, or any other vehicle; False if there is none."""
        chances, choices = _kinds(self.world, want, () if want else self.bans)
        if self.clear:
            choices = choices_of(self._clear_of(self.clear, chances, want))
        if not choices[0]:
            return False
        kind, paint = self.draws.pick(*choices), -1
        if self.world.painted and may_change()[kind]:
            paints = self.world.paint
            if self.clear:
                paints = paints * ~self.clear.tables["colour"][kind, colour_of()[: len(PAINTS)]]
            paint = self._paint(want, kind, paints) if paints.any() else -1
            wrong = want and want.colour and _of_colour(want.colour)[paint] == want.apart
            if self.clear and (paint < 0 or wrong):
                return False
        self.entity.append(kind)
        self.paint.append(paint)
        return True

    def _clear_of(self, held: HeldOut, chances: np.ndarray, want: Want | None) -> np.ndarray:
        """Chances of the kinds that make no composition; what is wanted may need another weather."""
        chances = chances * ~held.tables["kind"][:-1, self.entity].any(axis=1)
        barred = held.tables["weather"][:-1]
        if want is not None and self.wanted.weather < 0 and not (chances * ~barred[:, self.weather]).any():
            skies = [w for w in self.world.weathers if not barred[self.entity, w].any()]
            fits = [w for w in skies if (chances * ~barred[:, w]).any()]
            self.weather = self.draws.choice(fits) if fits else self.weather
        return np.asarray(chances * ~barred[:, self.weather])

    def _paint(self, want: Want | None, kind: int, paints: np.ndarray) -> int:
        """One of some paints, (36,) chances, that a wanted vehicle may have, or one that is not barred."""
        chances = paints
        if want is not None and want.colour:
            chances = np.where(_of_colour(want.colour) != want.apart, chances, 0.0)
        elif want is None:
            for colour, kinds in self.barred.items():
                if kinds[kind]:
                    chances = np.where(_of_colour(colour), 0.0, chances)
        return self.draws.weighted(chances if chances.any() else paints)

    def compose(self, held: HeldOut) -> bool:
        """Make the street show a composition that fits beside what is wanted; False if none does."""
        what = next(name for name in held.SEEN if held.tables[name].any())
        table, room = held.tables[what][:-1, :-1], self.world.most - len(self.entity)
        slots = list(range(len(self.entity)))
        if what == "colour":  # of a vehicle whose colour nothing decides yet, or of another one
            slots = [slot for slot in slots if not self.wanted.wants[slot].colour]
        present = np.isin(np.arange(len(table)), [self.entity[slot] for slot in slots])
        weights = np.where(present, 1.0, _kinds(self.world, None, self.bans)[0] * (room > 0))
        pairs = table * weights[:, None]
        if what == "kind":
            pairs = pairs * weights * (present[:, None] | present | (room > 1))
        elif what == "weather":
            here = pairs * (np.arange(pairs.shape[1]) == self.weather)
            pairs = here if self.wanted.weather >= 0 or here.any() else pairs
        else:
            pairs = pairs * np.bincount(paint_colours() + 1, self.world.paint, len(COLOURS) + 1)[1:]
            for colour, kinds in self.barred.items():
                pairs[kinds & ~present, COLOURS.index(colour)] = 0
        if not pairs.any():
            return False
        kind, other = divmod(self.draws.weighted(pairs.reshape(-1)), pairs.shape[1])
        for new in (kind, other) if what == "kind" else (kind,):
            if not present[new]:
                slots.append(len(self.entity))
                painted = self.world.painted and may_change()[new]
                self.entity.append(new)
                self.paint.append(self._paint(None, new, self.world.paint) if painted else -1)
        if what == "weather":
            self.weather = other
        elif what == "colour":
            slot = next(slot for slot in slots if self.entity[slot] == kind)
            self.paint[slot] = self.draws.weighted(self.world.paint * (paint_colours() == other))
        return True
