"""Families of questions: templates of programs and their words (families.toml, or a user's file)."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import accumulate
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np

from simtown.assets.entities import ENTITIES, KEEP_PAINT
from simtown.language.forms import Form, fill
from simtown.language.nouns import (
    GROUPS,
    NOUNS,
    OWN_NOUNS,
    STREET_NOUNS,
    VEHICLE_NOUNS,
    group_of,
    kinds_meant,
)
from simtown.language.programs import (
    COLOURS,
    DIRECTIONS,
    LANES,
    OWN_RELATIONS,
    ProgramError,
    answer_type,
    check,
)
from simtown.language.relations import AXES, LATERAL, RELATION_NAMES, SIGNS
from simtown.language.views import THIRDS, own_colours, paint_colours
from simtown.scenes.paint import may_change
from simtown.scenes.weather import WEATHERS

#: Values of "hidden".
HIDDEN = ("none of it", "less than a third", "more than a third")
#: The most vehicles that are counted, and the most metres that are asked for.
MOST_COUNT, MOST_METRES = 3, 6
#: What each type of answer may be, by the number that the evaluator gives it.
ANSWERS: dict[str, tuple[str, ...]] = {
    "truth": ("no", "yes"),
    "count": tuple(map(str, range(9))),
    "kind": ENTITIES,
    "group": GROUPS,
    "colour": COLOURS,
    "lane": ("near lane", "far lane", "parked"),
    "direction": DIRECTIONS,
    "weather": WEATHERS,
    "hidden": HIDDEN,
    "metres": tuple(f"{metres} m" for metres in range(31)),
    "box": THIRDS,
}
#: The answer to a question whose value is too close to say.
CANNOT_TELL = "cannot tell"
#: What every slot may be filled with.
_SLOTS: dict[str, Any] = {
    **dict.fromkeys(("noun", "group", "set", "tally", "street"), Form("all", ("car",))),
    **dict.fromkeys(("thing", "kind", "one", "pale"), Form("the", (Form("all", ("car",)),))),
    **dict.fromkeys(("clause", "turn"), Form("has", ("lane", "near"))),
    **dict.fromkeys(("relation", "lateral"), "left of"), "driver": "driver-left", "order": "nearest",
    "side": "leftmost", "colour": "red", "lane": "near", "direction": "left", "weather": "clear",
}  # fmt: skip


#: Parts of programs whose values may be too close to say.
_CLOSE = ("related(", "compared(", "nth(", "most(", "query(hidden", "query(box")


class FamilyError(ValueError):
    """A family of questions cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Template:
    """A program with slots, and texts that mean the same."""

    program: str
    slots: tuple[str, ...]
    texts: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


def slots_of(template: Template, form: Form) -> list[Any]:
    """The values of a template's slots in a program. Raises FamilyError if it is not of the template."""
    values: list[Any] = [None] * len(template.slots)
    _unify(fill(template.program, range(len(values))), form, values)
    return values


def _unify(pattern: Any, part: Any, values: list[Any]) -> None:
    if isinstance(pattern, int):
        values[pattern] = part
    elif isinstance(pattern, Form) and isinstance(part, Form) and len(pattern.parts) == len(part.parts):
        for inner, other in zip((pattern.name, *pattern.parts), (part.name, *part.parts), strict=True):
            _unify(inner, other, values)
    elif pattern != part:
        raise FamilyError(f"{part} is not what {pattern} stands for")


@dataclass(frozen=True)
class Family:
    """Questions with one type of answer, a key of ANSWERS, in streets of up to `vehicles` or more."""

    answer: str
    templates: Annotated[tuple[Template, ...], msgspec.Meta(min_length=1)]
    vehicles: Annotated[int, msgspec.Meta(ge=2, le=8)] = 2
    name: str = ""

    @property
    def clear(self) -> bool:
        """Whether some of its programs are never, or hardly ever, too close to say."""
        return not all("one" in t.slots or may_be_close(t.program) for t in self.templates)


def may_be_close(program: str) -> bool:
    """Whether the value of a program, as text, may be too close to say."""
    return any(part in program for part in _CLOSE)


@cache
def families() -> dict[str, Family]:
    """Every family of the package, by its name."""
    return read_families(
        files("simtown.language").joinpath("families.toml").read_text(encoding="utf-8"), "families.toml"
    )


def read_families(text: str, where: str) -> dict[str, Family]:
    """The families of a TOML text. Raises FamilyError, which names where it comes from."""
    try:
        tables = msgspec.convert(tomllib.loads(text), dict[str, Family])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise FamilyError(f"{where} is no TOML of families: {error}") from None
    for name, family in tables.items():
        for template in family.templates:
            if problem := _problem(template, family.answer):
                raise FamilyError(f"{where}: a template of {name} {problem}")
    return {name: replace(family, name=name) for name, family in tables.items()}


def _problem(template: Template, answer: str) -> str:
    """What is wrong with a template whose answers are of a type; "" if nothing is."""
    for slot in template.slots:
        if slot not in _SLOTS and not _range(slot):
            return f"has a slot '{slot}': choose among {', '.join(_SLOTS)}"
    for text in template.texts:
        places = [int(digits) for digits in re.findall(r"\{[^}]*?(\d+)\}", text)]
        if max(places, default=0) > len(template.slots) or text.count("{") != len(places):
            return f"has the text '{text}', which names a slot that is not there"
    try:
        form = fill(template.program, [_SLOTS.get(slot, 2) for slot in template.slots])
        check(form)
    except (IndexError, AttributeError, TypeError, ProgramError) as error:
        return f"has the program '{template.program}', which cannot be read: {error}"
    asked = answer_type(form)
    return "" if asked == answer else f"answers with {asked}, not with {answer}: {template.program}"


def _range(slot: str) -> tuple[int, int] | None:
    """The whole numbers of a slot such as "2-3" or "2"."""
    low, _, high = slot.partition("-")
    return (int(low), int(high or low)) if low.isdigit() and (high or low).isdigit() else None


#: Kinds by catalogue number, and the cumulative sums of their chances.
Choices: TypeAlias = tuple[list[int], list[float]]


def choices_of(chances: np.ndarray) -> Choices:
    """The kinds of some chances, as :meth:`Draws.pick` takes them."""
    kinds = np.flatnonzero(chances)
    return kinds.tolist(), np.cumsum(chances[kinds]).tolist()


@dataclass(frozen=True, eq=False)
class AskedWorld:
    """What questions may be about.

    Attributes:
        chances: (entities,) float64 of each kind of vehicle, 0 for those that do not exist.
        paint: (36,) float64 chances of each paint, or (0,): every kind keeps its own.
        colours: places in COLOURS of the colours that vehicles can have.
        weathers: places in WEATHERS of those that occur.
        least: vehicles in a scene at least.
        most: vehicles in a scene at most.
        relations: names of the viewer's relations.
    """

    chances: np.ndarray
    paint: np.ndarray
    colours: tuple[int, ...]
    weathers: tuple[int, ...]
    least: int
    most: int
    relations: tuple[str, ...] = RELATION_NAMES

    @classmethod
    def of(
        cls,
        chances: np.ndarray,
        paint: np.ndarray,
        weathers: Sequence[str],
        least: int,
        most: int,
        relations: tuple[str, ...] = RELATION_NAMES,
    ) -> AskedWorld:
        """A world of (k,) chances of the first k kinds and (36,) or (0,) chances of paints."""
        every = np.zeros(len(ENTITIES))
        every[: len(chances)] = chances
        colours = paint_colours()[np.flatnonzero(paint)] if len(paint) else own_colours()[every > 0]
        named = tuple(sorted({*colours.tolist()} - {-1}))
        numbers = tuple(WEATHERS.index(name) for name in weathers)
        return cls(every, paint, named, numbers, least, most, relations)

    def kinds(self, noun: str) -> np.ndarray:
        """(entities,) float64 chances of the kinds that a noun means."""
        return np.where(means(noun), self.chances, 0.0)

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lanes that the camera shows: nearer ones show no parking strip."""
        return LANES if self.most > 3 else LANES[:2]

    @cached_property
    def words(self) -> dict[str, Sequence[Any]]:
        """The words that may fill a slot, by the slot; "lateral" are relations that many may have at once."""
        lateral = [name for name in self.relations if AXES[RELATION_NAMES.index(name)] == LATERAL]
        return {
            "relation": self.relations, "lateral": lateral or self.relations, "driver": OWN_RELATIONS,
            "side": ("leftmost", "rightmost"),
            "order": ("leftmost", "rightmost", "nearest", "farthest"), "lane": self.lanes,
            "direction": DIRECTIONS[:2],
            "colour": [COLOURS[place] for place in self.colours],
            "weather": [WEATHERS[place] for place in self.weathers],
            "street": [_all(noun) for noun in STREET_NOUNS],
        }  # fmt: skip

    @cached_property
    def present(self) -> list[tuple[str, float]]:
        """The kinds of this world and their chances."""
        return [(ENTITIES[kind], float(self.chances[kind])) for kind in np.flatnonzero(self.chances)]

    @cached_property
    def several(self) -> list[str]:
        """Nouns for several kinds of this world."""
        nouns = [noun for noun in (*VEHICLE_NOUNS, *OWN_NOUNS) if noun != "vehicle"]
        return [noun for noun in nouns if np.count_nonzero(self.kinds(noun)) > 1]

    @property
    def painted(self) -> bool:
        """Whether vehicles have other paints than their own."""
        return bool(len(self.paint))

    @cached_property
    def answers(self) -> dict[str, tuple[int, ...]]:
        """By type the answers that are asked for, as the evaluator numbers them."""
        kinds = tuple(np.flatnonzero(self.chances).tolist())
        groups = {group_of(ENTITIES[kind]) for kind in kinds}
        return {
            "truth": (0, 1),
            "count": tuple(range(min(MOST_COUNT, max(self.most - 1, 1)) + 1)),
            "kind": kinds,
            "group": tuple(place for place, group in enumerate(GROUPS) if group in groups),
            "colour": self.colours,
            "lane": tuple(range(len(self.lanes))),
            "direction": (0, 1),
            "weather": self.weathers,
            "hidden": (0, 1, 2),
            "metres": tuple(range(1, MOST_METRES + 1)),
            "box": (0, 1, 2),
        }

    def problem(self, family: Family) -> str:
        """Why a family cannot be asked here, "" if it can."""
        if self.most < family.vehicles:
            return f"needs streets of {family.vehicles} vehicles: allow so many with `crowd`"
        if len(self.answers[family.answer]) < 2:
            setting = "weathers" if family.answer == "weather" else "entities"
            return f"has one answer in this world: allow more `{setting}`"
        drawer, rng = Drawer(self), np.random.default_rng(0)
        for template in family.templates:
            for _ in range(32):
                with suppress(NoWordsError):
                    drawer.question(template, Draws(rng.random(64).tolist()))
                    break
            else:
                return f"has no words for '{template.texts[0]}' in this world: allow more `entities`"
        return ""


@cache
def means(noun: str) -> np.ndarray:
    """(entities,) bool: which kinds a noun means."""
    return np.isin(ENTITIES, kinds_meant(noun))


class Draws:
    """Uniform numbers, taken one after the other."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self._next = iter(numbers)

    def below(self, limit: int) -> int:
        """A whole number from 0 to limit - 1."""
        return int(next(self._next) * limit)

    def choice(self, values: Sequence[Any]) -> Any:
        """One of some values."""
        return values[self.below(len(values))]

    def weighted(self, chances: np.ndarray) -> int:
        """A place in an array, by the chances that it holds."""
        return self.pick(*choices_of(chances))

    def pick(self, kinds: Sequence[Any], sums: list[float]) -> Any:
        """One of some kinds, by the cumulative sums of their chances."""
        return kinds[min(bisect_right(sums, next(self._next) * sums[-1]), len(kinds) - 1)]

    def often(self, chance: float) -> bool:
        """True with a chance."""
        return next(self._next) < chance


class NoWordsError(FamilyError):
    """Nothing in this world fills a slot."""


@dataclass(frozen=True)
class Drawer:
    """Draws the words of questions in a world."""

    world: AskedWorld

    def question(self, template: Template, draws: Draws) -> tuple[Form, list[Any]]:
        """A program and the values of its slots, which all differ. Raises NoWordsError."""
        values: list[Any] = []
        used: set[str] = set()
        for slot in template.slots:
            for _ in range(4):
                if not _clash(value := self._slot(slot, draws, used), values):
                    break
            else:
                raise NoWordsError(f"too few kinds for '{template.program}'")
            values.append(value)
            used |= _named(value)
        return fill(template.program, values), values

    def _slot(self, slot: str, draws: Draws, used: set[str]) -> Any:
        """What fills a slot; kinds in `used` are not drawn again."""
        if numbers := _range(slot):
            return draws.choice(range(numbers[0], numbers[1] + 1))
        if slot in ("noun", "group"):
            return self._noun(draws, used) if slot == "noun" else _all(self._group(draws, used))
        if slot in ("set", "tally"):
            return self._set(draws, used, lanes=slot == "set")
        if slot == "kind":
            return _the(_all(self._kind(draws, used)))
        if slot in ("thing", "one", "pale"):
            return _the(self._thing(slot, draws, used))
        if slot == "clause" or (slot == "turn" and draws.often(0.5)):
            return self._clause(draws, used) if slot == "clause" else self._beside(draws, used)
        if slot == "turn":
            return Form("has", ("direction", draws.choice(DIRECTIONS[:2])))
        return draws.choice(self.world.words[slot])

    def _kind(self, draws: Draws, used: set[str], may_change: bool = False) -> str:
        barred = used | KEEP_PAINT if may_change else used
        left = [(name, chance) for name, chance in self.world.present if name not in barred]
        if not left:
            raise NoWordsError("there are too few kinds of vehicles")
        names, chances = zip(*left, strict=True)
        return str(draws.pick(names, list(accumulate(chances))))

    def _group(self, draws: Draws, used: set[str]) -> str:
        """A noun for several kinds of this world, none of them used."""
        nouns = [noun for noun in self.world.several if used.isdisjoint(NOUNS[noun])]
        return str(draws.choice(nouns)) if nouns else self._kind(draws, used)

    def _noun(self, draws: Draws, used: set[str]) -> Form:
        return _all(self._kind(draws, used) if draws.often(0.7) else self._group(draws, used))

    def _set(self, draws: Draws, used: set[str], lanes: bool) -> Form:
        noun = self._noun(draws, used)
        how = draws.below(4)
        if how == 0:
            return self._coloured(noun, draws)
        if how == 1 and lanes:
            return _filtered(noun, "lane", draws.choice(self.world.lanes))
        return _filtered(noun, "direction", draws.choice(DIRECTIONS[:2])) if how == 2 else noun

    def _coloured(self, noun: Form, draws: Draws) -> Form:
        """A set with a colour that some of its kinds, but not all of them, may have."""
        chances = self.world.kinds(noun.parts[0])
        if self.world.painted:
            if not chances[may_change()[:-1]].any() or not self.world.colours:
                return noun
            return _filtered(noun, "colour", COLOURS[draws.choice(self.world.colours)])
        own = {*own_colours()[chances > 0].tolist()}
        possible = [place for place in self.world.colours if place in own and len(own) > 1]
        return _filtered(noun, "colour", COLOURS[draws.choice(possible)]) if possible else noun

    def _thing(self, slot: str, draws: Draws, used: set[str]) -> Form:
        """A set of one: named by its kind or colour, or if it must not be, by its lane or place."""
        pale, nameless = slot == "pale", slot == "one" or (slot == "pale" and not self.world.painted)
        how = draws.below(6)
        if not nameless and (how < 3 or slot == "thing"):
            return _all(self._kind(draws, used, may_change=pale))
        if how >= 3 and not pale and (slot != "one" or self.world.painted):
            noun = _all("vehicle") if nameless else _all(self._group(draws, used))
            coloured = self._coloured(noun, draws)
            if coloured is not noun:
                return coloured
        if how == 4:
            return _filtered(_all("vehicle"), "lane", draws.choice(self.world.lanes))
        order = draws.choice(("leftmost", "rightmost", "nearest", "farthest"))
        return Form("most", (order, _all("vehicle")))

    def _beside(self, draws: Draws, used: set[str]) -> Form:
        other = _the(_all(self._kind(draws, used)))
        return Form("related", (draws.choice(self.world.relations), other))

    def _clause(self, draws: Draws, used: set[str]) -> Form:
        """What may be said of a thing: where it stands, in which lane, or where it faces."""
        how = draws.below(3)
        if how == 0:
            return self._beside(draws, used)
        if how == 1:
            return Form("has", ("lane", draws.choice(self.world.lanes)))
        return Form("has", ("direction", draws.choice(DIRECTIONS[:2])))


def _clash(value: Any, before: list[Any]) -> bool:
    """Whether a slot's value leaves a question only one answer beside the values before it."""
    if not before:
        return False
    relation = _relation(value)
    if relation and any((other := _relation(part)) and _opposite(relation, other) for part in before):
        return True
    if not isinstance(value, Form):
        return False
    if value.name == "has":
        return any(isinstance(other, Form) and other.parts[0] == value.parts[0] for other in before)
    return value in before


def _relation(value: Any) -> str:
    """The viewer's relation that a slot's value says, "" if it says none."""
    name = value.parts[0] if isinstance(value, Form) and value.name == "related" else value
    return name if isinstance(name, str) and name in RELATION_NAMES else ""


def _opposite(one: str, other: str) -> bool:
    """Whether hardly any street has both relations in a row: opposite ones, or two along the view."""
    a, b = RELATION_NAMES.index(one), RELATION_NAMES.index(other)
    return bool(AXES[a] == AXES[b] and (SIGNS[a] != SIGNS[b] or AXES[a] != LATERAL))


def _all(noun: str) -> Form:
    return Form("all", (noun,))


def _the(members: Form) -> Form:
    return Form("the", (members,))


def _filtered(members: Form, attribute: str, value: str) -> Form:
    return Form("filter", (members, Form("has", (attribute, value))))


@lru_cache(maxsize=4096)
def _named(value: Any) -> frozenset[str]:
    """The kinds of vehicles that the words of a slot mean, but for "vehicle"."""
    forms = value.forms() if isinstance(value, Form) else ()
    nouns = {form.parts[0] for form in forms if form.name == "all"} - {"vehicle"}
    return frozenset(kind for noun in nouns for kind in kinds_meant(noun))
