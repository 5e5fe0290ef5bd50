"""What a scene must have so that a program can have a value in it: vehicles, or things beside the road.

The words of a question and its answer are drawn first, then streets until the answer is true. Most streets
have no second bus; planting puts in what the words name, and keeps out what would make "the bus" two.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from simtown.assets.catalogue import PROPS
from simtown.assets.entities import ENTITIES
from simtown.assets.palette import COLOUR_WORDS, PAINTS
from simtown.language.families import AskedWorld, Choices, Draws, choices_of
from simtown.language.forms import Form
from simtown.language.nouns import GROUPS, NOUNS, STREET_NOUNS, kinds_meant
from simtown.language.programs import COLOURS
from simtown.language.sights import also_shown
from simtown.language.views import groups, own_colours
from simtown.scenes.paint import may_change
from simtown.scenes.street import BUILDINGS, PAVEMENT_SLOTS, ROADSIDE_SLOTS, kernel_kinds, pavement_kinds

#: What :func:`fill_street` gives.
Filled: TypeAlias = tuple[np.ndarray, np.ndarray, int, tuple[str, int] | None]


class Want(NamedTuple):
    """Vehicles that a street must have: `noun`, and perhaps a colour; with `apart`, of any other colour."""

    noun: str
    colour: str = ""
    apart: bool = False


@dataclass
class Plan:
    """What a street must have, what no other vehicle may be, and how many `things` of a noun it must have."""

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


def plan(form: Form, answer: int, draws: Draws) -> Plan:
    """What a street needs for a program to have an answer, as the evaluator numbers it."""
    result = Plan()
    _question(form, answer, draws, result)
    seen: list[Want] = []
    for want in result.wants:  # "the bus" twice is one bus
        if want.noun != "vehicle" or want.colour:
            seen.append(want)
    result.wants = seen
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
        case "exist", members:
            _counted(members, 1 + draws.below(2) if answer else 0, draws, result)
        case "count", members:
            _counted(members, answer, draws, result)
        case ("more" | "fewer" | "equal") as compared, Form("count", (one,)), Form("count", (other,)):
            x, y = _counts(compared, bool(answer), draws)
            _counted(one, x, draws, result)
            _counted(other, y, draws, result)
        case "query", "weather":
            result.weather = answer
        case "query", attribute, phrase, *others:
            _phrase(phrase, result, attribute, answer)
            for other in others:
                _phrase(other, result)
        case "holds", phrase, clause:
            _phrase(phrase, result)
            _clause(clause, result)


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
        _nested(members, result)
        return
    if narrowed:
        number += draws.below(2) + (number == 0)
    result.wants += [Want(noun, colour)] * number
    result.bans.append(Want(noun, colour))
    if colour:
        result.wants.append(Want(noun, colour, apart=True))
    _nested(members, result)


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
    result.wants.append(wanted)
    if phrase.name == "the" and not narrowed:
        result.bans.append(Want(noun, colour))
        if colour:
            result.wants.append(Want(noun, colour, apart=True))
    elif phrase.name == "the" and noun != "vehicle":
        result.wants.append(Want(noun))  # one that it does not mean, and no more
        result.bans.append(Want(noun))
    _nested(members, result)


def _nested(members: Form, result: Plan) -> None:
    for part in members.parts:
        if isinstance(part, Form):
            if part.name in ("related", "compared", "same", "not", "and", "or"):
                _clause(part, result)
            else:
                _nested(part, result)


def _clause(clause: Form, result: Plan) -> None:
    for part in clause.parts:
        if isinstance(part, Form):
            if part.name in ("the", "a", "every", "no"):
                _phrase(part, result)
            elif part.name in ("and", "or", "not", "related", "compared", "same"):
                _clause(part, result)


#: Uniform numbers for some plans of each answer.
_SPREAD = np.random.default_rng(0).random((8, 32)).tolist()


def fits(world: AskedWorld, form: Form, answers: tuple[int, ...], apart: int = 0) -> bool:
    """Whether a street can hold what each answer of a program needs at least, and `apart` vehicles whose
    kinds differ from all others'.

    Words that fit some answers alone would give those away.
    """

    def needs(answer: int, numbers: list[float]) -> int:
        wants = Counter(want.noun for want in plan(form, answer, Draws(numbers)).wants)
        return wants.total() + max(0, apart - sum(count == 1 for count in wants.values()))

    return all(any(needs(answer, numbers) <= world.most for numbers in _SPREAD) for answer in answers)


def kinds_of(world: AskedWorld, want: Want) -> np.ndarray:
    """(entities,) chances of the kinds that may be what is wanted."""
    if want.noun in GROUPS and want.noun not in NOUNS:
        chances = np.where(groups()[:-1] == GROUPS.index(want.noun), world.chances, 0.0)
    elif want.noun in STREET_NOUNS:
        chances = np.where(np.isin(ENTITIES, [*also_shown(kinds_meant(want.noun))]), world.chances, 0.0)
    else:
        chances = world.kinds(want.noun)
    if want.colour:
        fits = (own_colours() == COLOURS.index(want.colour)) != want.apart
        chances = np.where(fits | may_change()[:-1] if world.painted else fits, chances, 0.0)
    return chances


def fill_street(world: AskedWorld, form: Form, answer: int, draws: Draws) -> Filled | None:
    """The vehicles of a street in which a program may have an answer.

    Returns:
        (most,) int64 entities, -1 for an empty slot; (most,) int8 paints, -1 for the kind's own; the weather,
        -1 for any; and what :func:`plant_things` puts beside the road. None if the vehicles do not fit into a
        street of this world.
    """
    wanted = plan(form, answer, draws)
    number = world.least + draws.below(world.most - world.least + 1)
    if len(wanted.wants) > world.most:
        return None
    number = max(number, len(wanted.wants))
    entity, paint = [-1] * world.most, [-1] * world.most
    bans = tuple(ban for ban in wanted.bans if not ban.colour or not world.painted)
    barred = {ban.colour: world.kinds(ban.noun) > 0 for ban in wanted.bans if ban.colour and world.painted}
    for slot in range(number):
        want = wanted.wants[slot] if slot < len(wanted.wants) else None
        kinds, sums = _table(world, want) if want else _others(world, bans)
        if not kinds:
            if want is not None:
                return None
            break
        entity[slot] = draws.pick(kinds, sums)
        if world.painted and may_change()[entity[slot]]:
            paint[slot] = paint_of(world.paint, want, entity[slot], barred, draws)
    order = sorted(range(world.most), key=[draws.below(1 << 30) for _ in range(world.most)].__getitem__)
    shuffled = np.array(entity)[order], np.array(paint, dtype=np.int8)[order]
    return *shuffled, wanted.weather, wanted.things


def let_animals_in(prop: np.ndarray, draws: Draws) -> None:
    """Put up to two animals into free cells of the pavement, so that none is asked for because it is there.

    Args:
        prop: (SLOTS,) int16 kinds, changed in place.
        draws: five numbers.
    """
    cells = [slot for slot in PAVEMENT_SLOTS if prop[slot] < 0]
    for _ in range(min(draws.below(3), len(cells))):
        prop[cells.pop(draws.below(len(cells)))] = PROPS.index(draws.choice(NOUNS["animal"]))


def plant_things(prop: np.ndarray, noun: str, number: int, draws: Draws) -> None:
    """Put so many things that a noun means beside the road, and take out what could be taken for more.

    What fits into a cell of the pavement goes into cells that are free or have the like; of trees and lamps
    some stay.

    Args:
        prop: (SLOTS,) int16 kinds, as :func:`simtown.scenes.street.draw_street` draws them; changed in place.
        noun: one of STREET_NOUNS.
        number: of things.
        draws: at least twice as many numbers.
    """
    kinds, meant = kernel_kinds(), [PROPS.index(kind) for kind in kinds_meant(noun)]
    people = kinds["person"].tolist()
    fitting = [kind for kind in meant if kind in pavement_kinds()]
    before = prop.tolist()
    if fitting:
        whose = fitting[0] in people
        cells = [slot for slot in PAVEMENT_SLOTS if before[slot] < 0 or (before[slot] in people) == whose]
    else:
        plants = (*kinds["hedge"].tolist(), *kinds["winter_hedge"].tolist())
        cells = [slot for slot in ROADSIDE_SLOTS if before[slot] in meant and before[slot] not in plants]
    alike = [PROPS.index(kind) for kind in also_shown(kinds_meant(noun)) if kind in PROPS]
    prop[BUILDINGS:][np.isin(prop[BUILDINGS:], [*meant, *alike])] = -1
    for _ in range(min(number, len(cells))):
        slot = cells.pop(draws.below(len(cells)))
        prop[slot] = before[slot] if before[slot] in meant else draws.choice(fitting)


@lru_cache(maxsize=1024)
def _table(world: AskedWorld, want: Want) -> Choices:
    """The kinds that may be what is wanted."""
    return choices_of(kinds_of(world, want))


@lru_cache(maxsize=1024)
def _others(world: AskedWorld, bans: tuple[Want, ...]) -> Choices:
    """The kinds that are none of what is banned."""
    banned = np.any([kinds_of(world, ban) > 0 for ban in bans], axis=0) if bans else False
    return choices_of(np.where(banned, 0.0, world.chances))


def paint_of(paints: np.ndarray, want: Want | None, kind: int, barred: dict[str, Any], draws: Draws) -> int:
    """One of some paints, (36,) chances, that a wanted vehicle may have, or one that is not barred."""
    chances = paints
    if want is not None and want.colour:
        chances = np.where(of_colour(want.colour) != want.apart, chances, 0.0)
    elif want is None:
        for colour, kinds in barred.items():
            if kinds[kind]:
                chances = np.where(of_colour(colour), 0.0, chances)
    return draws.weighted(chances if chances.any() else paints)


@cache
def of_colour(colour: str) -> np.ndarray:
    """(paints,) bool: which paints a colour word names."""
    return np.isin(PAINTS, COLOUR_WORDS["gray" if colour == "grey" else colour])
