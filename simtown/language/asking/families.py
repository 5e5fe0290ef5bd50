"""Families of questions: templates of programs and their words (families.toml, or a user's file)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import accumulate
from typing import Annotated, Any, TypeAlias, cast

import msgspec
import numpy as np

from simtown.assets.entities import ENTITIES, KEEP_PAINT
from simtown.core.streams import Stream
from simtown.core.untrusted import parse_toml
from simtown.language.meaning.forms import Form, fill, parsed
from simtown.language.meaning.nouns import (
    GROUPS,
    NOUNS,
    OWN_NOUNS,
    STREET_NOUNS,
    VEHICLE_NOUNS,
    confused_with,
    group_of,
    kinds_meant,
)
from simtown.language.meaning.programs import (
    COLOURS,
    DIRECTIONS,
    LANES,
    ORDERS,
    OWN_RELATIONS,
    answer_type,
    check,
)
from simtown.language.meaning.relations import LATERAL, RELATION_NAMES, RELATIONS
from simtown.language.meaning.views import ENDS_ALIKE, THIRDS, own_colours, paint_colours
from simtown.language.words import wording
from simtown.scenes.paint import may_change
from simtown.scenes.weather import WEATHERS

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
    "hidden": ("none of it", "less than a third", "more than a third"),
    "metres": tuple(f"{metres} m" for metres in range(31)),
    "box": THIRDS,
}
#: The answer to a question whose value is too close to say.
CANNOT_TELL = "cannot tell"
#: The viewer's relations by name.
_VIEWERS = {relation.name: relation for relation in RELATIONS}
#: Lanes and relations that hardly any vehicle has both.
_RARE = ({"far", "in front of"}, {"parked", "behind"})
#: Forms whose values may be too close to say, with the parts that they begin with.
_CLOSE = (
    ("related",),
    ("compared",),
    ("nth",),
    ("most",),
    ("utmost",),
    ("query", "hidden"),
    ("query", "box"),
)


class FamilyError(ValueError):
    """A family of questions cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Template:
    """A program with slots, and texts that mean the same."""

    program: str
    slots: tuple[str, ...]
    texts: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]

    @property
    def form(self) -> Form:
        """The program, in which numbers stand for slots."""
        return cast(Form, parsed(self.program))


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
        return not all("one" in t.slots or may_be_close(t.form) for t in self.templates)


def may_be_close(program: Form) -> bool:
    """Whether the value of a program may be too close to say."""
    return any(program.has(*beginning) for beginning in _CLOSE)


@cache
def families() -> dict[str, Family]:
    """Every family of the package, by its name."""
    return read_families(
        files("simtown.language.asking").joinpath("families.toml").read_text(encoding="utf-8"),
        "families.toml",
    )


def read_families(text: str, where: str) -> dict[str, Family]:
    """The families of a TOML text. Raises FamilyError, which names where it comes from."""
    by_name = dict[Annotated[str, msgspec.Meta(pattern=r"^[\w-]+$")], Family]
    try:
        tables = msgspec.convert(parse_toml(text), by_name)
    except ValueError as error:
        raise FamilyError(f"{where} is no TOML of families: {error}") from None
    for name, family in tables.items():
        for template in family.templates:
            if problem := _problem(template, family.answer):
                raise FamilyError(f"{where}: a template of {name} {problem}")
    return {name: replace(family, name=name) for name, family in tables.items()}


def _problem(template: Template, answer: str) -> str:
    """What is wrong with a template whose answers are of a type; "" if nothing is."""
    for slot in template.slots:
        if slot not in SLOTS and not _range(slot):
            return f"has a slot '{slot}': choose among {', '.join(SLOTS)}"
    try:
        form, values = AskedWorld.of(np.ones(len(ENTITIES)), np.zeros(0), WEATHERS, 2, 8).trial(template)
        check(form)
    except (IndexError, AttributeError, TypeError, ValueError) as error:
        why = "a bracket or a slot is missing" if isinstance(error, IndexError) else error
        return f"has the program '{template.program}', which cannot be read: {why}"
    varied = {place for place, slot in enumerate(template.slots, 1) if not slot.isdigit()}
    for text in template.texts:
        named = {int(digits) for digits in re.findall(r"\{[^}]*?(\d+)\}", text)}
        if varied - named or "{" in wording.fill(text, values):
            return f"has the text '{text}': name each of its slots, as {{1}}, {{a 1}} or {{many 1}}"
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
    def lateral(self) -> tuple[str, ...]:
        """The relations that many may have at once, if there are such."""
        return tuple(name for name in self.relations if _VIEWERS[name].axis == LATERAL) or self.relations

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
        """By type the answers that are asked for, as the evaluator numbers them.

        Where vehicles are painted no kind is asked for that keeps its paint, since colours would hint at it.
        """
        kinds = tuple(np.flatnonzero(self.chances * (may_change()[:-1] | (not self.painted))).tolist())
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
        for template in family.templates:
            try:
                self.trial(template)
            except NoWordsError:
                return f"has no words for '{template.texts[0]}' in this world: allow more `entities`"
        return ""

    def trial(self, template: Template) -> tuple[Form, list[Any]]:
        """Some program of a template, and the values of its slots. Raises NoWordsError if none is found."""
        for numbers in Stream(0, "", "trial").uniform(np.arange(32), 64).tolist():
            with suppress(NoWordsError):
                return Drawer(self, Draws(numbers)).question(template)
        raise NoWordsError(f"there are no words for '{template.texts[0]}'")


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


#: What a set may be narrowed by.
NARROWED = ("colour", "lane", "direction")


@dataclass
class Drawer:
    """Draws the words of a question in a world; kinds that are `used` are not drawn again.

    Sets are narrowed by a place in NARROWED, or if it is None by any or none.
    """

    world: AskedWorld
    draws: Draws
    narrowed: int | None = None
    used: set[str] = field(default_factory=set)

    def question(self, template: Template) -> tuple[Form, list[Any]]:
        """A program and the values of its slots, which all differ. Raises NoWordsError."""
        values: list[Any] = []
        for slot in template.slots:
            numbers = _range(slot)
            for _ in range(4):
                value = self.draws.choice(range(numbers[0], numbers[1] + 1)) if numbers else SLOTS[slot](self)
                if not _clash(value, values):
                    break
            else:
                raise NoWordsError(f"too few kinds for '{template.program}'")
            values.append(value)
            self.used |= _named(value)
        form = fill(template.program, values)
        if _asks_unseen_heading(form):
            raise NoWordsError(f"no picture answers '{form}'")
        return form, values

    def kind(self, may_change: bool = False) -> Form:
        """A kind of this world; with `may_change`, one whose vehicles may have other paints."""
        barred = self.used | KEEP_PAINT if may_change else self.used
        left = [(name, chance) for name, chance in self.world.present if name not in barred]
        if not left:
            raise NoWordsError("there are too few kinds of vehicles")
        names, chances = zip(*left, strict=True)
        return _all(self.draws.pick(names, list(accumulate(chances))))

    def group(self) -> Form:
        """A noun for several kinds of this world, none of them used."""
        nouns = [noun for noun in self.world.several if self.used.isdisjoint(NOUNS[noun])]
        return _all(self.draws.choice(nouns)) if nouns else self.kind()

    def noun(self) -> Form:
        """A kind or a group."""
        return self.kind() if self.draws.often(0.7) else self.group()

    def members(self, lanes: bool) -> Form:
        """A noun, or those of it that have a colour, perhaps a lane, or a direction."""
        noun, how = self.noun(), self.draws.below(4)
        how = how if self.narrowed is None else self.narrowed
        if how == 0:
            return self.coloured(noun)
        attribute = "lane" if how == 1 and lanes else "direction" if how == 2 else ""
        return Form("filter", (noun, self.has(attribute))) if attribute else noun

    def coloured(self, noun: Form) -> Form:
        """A set with a colour that some of its kinds, but not all of them, may have, if there is one."""
        chances, possible = self.world.kinds(noun.parts[0]), self.world.colours
        if self.world.painted:
            possible = possible if chances[may_change()[:-1]].any() else ()
        else:
            own = {*own_colours()[chances > 0].tolist()}
            possible = tuple(place for place in possible if place in own and len(own) > 1)
        if not possible:
            return noun
        return Form("filter", (noun, Form("has", ("colour", COLOURS[self.draws.choice(possible)]))))

    def thing(self) -> Form:
        """A set of one, named by its kind."""
        self.draws.below(6)  # means nothing, but all data sets have this draw
        return self.kind()

    def nameless(self) -> Form:
        """A set of one that is not named by its kind."""
        how, vehicle = self.draws.below(6), _all("vehicle")
        coloured = self.coloured(vehicle) if how >= 3 and self.world.painted else vehicle
        return self.placed(how) if coloured is vehicle else coloured

    def pale(self) -> Form:
        """A set of one that is not named by its colour."""
        how = self.draws.below(6)
        return self.kind(may_change=True) if how < 3 and self.world.painted else self.placed(how)

    def placed(self, how: int) -> Form:
        """A set of one that is named by its lane or its place."""
        if how == 4:
            return Form("filter", (_all("vehicle"), self.has("lane")))
        return Form("most", (self.draws.choice(ORDERS[:4]), _all("vehicle")))

    def has(self, attribute: str) -> Form:
        """A predicate of a lane or a direction."""
        return Form("has", (attribute, SLOTS[attribute](self)))

    def beside(self) -> Form:
        """A predicate of where something stands."""
        other = _the(self.kind())
        return Form("related", (self.draws.choice(self.world.relations), other))

    def clause(self) -> Form:
        """What may be said of a thing: where it stands, in which lane, or where it faces."""
        how = self.draws.below(3)
        return self.has("lane" if how == 1 else "direction") if how else self.beside()


#: What fills the slots of templates, by their names.
SLOTS: dict[str, Callable[[Drawer], Any]] = {
    "noun": Drawer.noun,
    "group": Drawer.group,
    "set": lambda drawer: drawer.members(lanes=True),
    "tally": lambda drawer: drawer.members(lanes=False),
    "street": lambda drawer: _all(drawer.draws.choice(STREET_NOUNS)),
    "thing": lambda drawer: _the(drawer.thing()),
    "kind": lambda drawer: _the(drawer.kind()),
    "one": lambda drawer: _the(drawer.nameless()),
    "pale": lambda drawer: _the(drawer.pale()),
    "clause": Drawer.clause,
    "turn": lambda drawer: drawer.beside() if drawer.draws.often(0.5) else drawer.has("direction"),
    "relation": lambda drawer: drawer.draws.choice(drawer.world.relations),
    "lateral": lambda drawer: drawer.draws.choice(drawer.world.lateral),
    "driver": lambda drawer: drawer.draws.choice(OWN_RELATIONS),
    "order": lambda drawer: drawer.draws.choice(ORDERS[:4]),
    "side": lambda drawer: drawer.draws.choice(ORDERS[:2]),
    "colour": lambda drawer: COLOURS[drawer.draws.choice(drawer.world.colours)],
    "lane": lambda drawer: drawer.draws.choice(drawer.world.lanes),
    "direction": lambda drawer: drawer.draws.choice(DIRECTIONS[:2]),
    "weather": lambda drawer: WEATHERS[drawer.draws.choice(drawer.world.weathers)],
}


def _clash(value: Any, before: list[Any]) -> bool:
    """Whether a slot's value leaves a question only one answer beside the values before it."""
    if any(_never_both(_place(value), _place(other)) for other in before):
        return True
    if isinstance(value, Form) and value.name == "has":
        return any(isinstance(other, Form) and other.parts[0] == value.parts[0] for other in before)
    return isinstance(value, Form) and value in before


def _place(value: Any) -> str:
    """The viewer's relation, or else the lane or direction, that a slot's value says; "" if none."""
    if isinstance(value, Form):
        return {"related": value.parts[0], "has": value.parts[-1]}.get(value.name, "")
    return str(value)


def _never_both(one: str, other: str) -> bool:
    """Whether hardly any street has both in a row: opposite relations, two along the view, or a lane where
    nothing is in front or behind.
    """
    if {one, other} in _RARE:
        return True
    first, second = _VIEWERS.get(one), _VIEWERS.get(other)
    if first is None or second is None or first.axis != second.axis:
        return False
    return first.sign != second.sign or first.axis != LATERAL


def _asks_unseen_heading(form: Form) -> bool:
    """Whether a program hangs on a heading, and names a kind of which no picture shows it."""
    words = {part for node in form.forms() for part in node.parts if isinstance(part, str)}
    return not words.isdisjoint(("direction", *OWN_RELATIONS)) and not words.isdisjoint(ENDS_ALIKE)


def _all(noun: str) -> Form:
    return Form("all", (noun,))


def _the(members: Form) -> Form:
    return Form("the", (members,))


@lru_cache(maxsize=4096)
def _named(value: Any) -> frozenset[str]:
    """The kinds of vehicles that the words of a slot mean, but for "vehicle", or that readers confuse with
    them.
    """
    forms = value.forms() if isinstance(value, Form) else ()
    nouns = {form.parts[0] for form in forms if form.name == "all"} - {"vehicle"}
    return frozenset(kind for noun in nouns for kind in confused_with(noun))
