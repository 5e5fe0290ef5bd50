"""Requirements of a program on a scene, so that it can have a value there: vehicles, or things beside the
road.

The words of a question and its answer are drawn first, then streets until the answer is true. Most streets
have no second bus; planting puts in what the words name, and keeps out what would make "the bus" two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from simtown.assets.catalogue import PROPS
from simtown.assets.entities import ENTITIES
from simtown.language.asking.draws import Draws
from simtown.language.meaning.forms import Form
from simtown.language.meaning.nouns import GROUPS, NOUNS, STREET_NOUNS, kinds_meant
from simtown.language.meaning.programs import COLOURS
from simtown.language.meaning.sights import also_shown
from simtown.scenes.street import BUILDINGS, PAVEMENT_SLOTS, ROADSIDE_SLOTS, kernel_kinds, pavement_kinds


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
    for part in form.parts:
        if isinstance(part, Form):
            (_phrase if part.name in ("the", "a", "every", "no") else _within)(part, result)


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
