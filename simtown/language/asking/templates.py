"""Templates of questions: programs with slots, texts that mean the same, and the words for slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Annotated, Any, cast

import msgspec

from simtown.assets.entities import KEEP_PAINT
from simtown.core.streams import Draws
from simtown.language.asking.question_world import AskedWorld
from simtown.language.meaning.nouns import NOUNS, STREET_NOUNS, confused_with
from simtown.language.meaning.programs import (
    COLOURS,
    DIRECTIONS,
    HEADING,
    ORDERS,
    OWN_RELATIONS,
    Form,
    fill,
    parsed,
)
from simtown.language.meaning.relations import LATERAL, RELATIONS
from simtown.language.meaning.views import ENDS_ALIKE, own_colours
from simtown.scenes.paint import may_change
from simtown.scenes.weather import WEATHERS

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

    @cached_property
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

    @cached_property
    def clear(self) -> bool:
        """Whether some of its programs are never, or hardly ever, too close to say."""
        return not all("one" in t.slots or may_be_close(t.form) for t in self.templates)


@dataclass(frozen=True)
class SequenceFamily(Family):
    """Questions about sequences of a mode, of so many `pictures` at least."""

    sequence: str = "time"
    pictures: int = 2


def may_be_close(program: Form) -> bool:
    """Whether the value of a program may be too close to say."""
    return any((form.name,) in _CLOSE or (form.name, *form.parts[:1]) in _CLOSE for form in program.forms())


#: The viewer's relations by name.
_VIEWERS = {relation.name: relation for relation in RELATIONS}
#: Lanes and relations that hardly any vehicle has both.
_RARE = ({"far", "in front of"}, {"parked", "behind"})


class NoWordsError(FamilyError):
    """Raised if this world has no word for a slot."""


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
            for _ in range(4):
                if slot in SLOTS:
                    value = SLOTS[slot](self)
                else:
                    low, high = range_of(slot) or (0, 0)
                    value = low + self.draws.below(high + 1 - low)
                if not _clash(value, values):
                    break
            else:
                raise NoWordsError(f"too few kinds for '{template.program}'")
            values.append(value)
            self.used |= _named(value)
        form = fill(template.program, values)
        if not (form.words.isdisjoint(HEADING) or form.words.isdisjoint(ENDS_ALIKE)):
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
        """A clause about a thing: where it stands, in which lane, or where it faces."""
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
    "alike": Drawer.kind,
    "kind": lambda drawer: _the(drawer.kind()),
    "paintable": lambda drawer: _the(drawer.kind(may_change=True)),
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


def range_of(slot: str) -> tuple[int, int] | None:
    """The whole numbers of a slot such as "2-3" or "2"."""
    low, _, high = slot.partition("-")
    return (int(low), int(high or low)) if low.isdigit() and (high or low).isdigit() else None


def _clash(value: Any, before: list[Any]) -> bool:
    """Whether a slot's value leaves a question only one answer beside the values before it.

    Hardly any street has both of two opposite relations, of two along the view, or a lane and a relation
    where nothing is in front or behind.
    """
    place = _place(value)
    for other in before:
        other_place = _place(other)
        if {place, other_place} in _RARE:
            return True
        one, two = _VIEWERS.get(place), _VIEWERS.get(other_place)
        if one and two and one.axis == two.axis and (one.sign != two.sign or one.axis != LATERAL):
            return True
        if not isinstance(value, Form) or not isinstance(other, Form):
            continue
        if value == other or (value.name == "has" and value.parts[0] == other.parts[0]):
            return True
    return False


def _place(value: Any) -> str:
    """The viewer's relation, or else the lane or direction, that a slot's value says; "" if none."""
    if isinstance(value, Form):
        return {"related": value.parts[0], "has": value.parts[-1]}.get(value.name, "")
    return str(value)


def _all(noun: str) -> Form:
    return Form("all", (noun,))


def _the(members: Form) -> Form:
    return Form("the", (members,))


@lru_cache(maxsize=4096)
def _named(value: Any) -> frozenset[str]:
    """The kinds of vehicles that the words of a slot mean, but for "vehicle", or that readers confuse with
    them.
    """
    nouns = {*value.nouns()} - {"vehicle"} if isinstance(value, Form) else ()
    return frozenset(kind for noun in nouns for kind in confused_with(noun))
