"""Compositions that training never shows: the rules of ``--hold-out``, and which examples hold one.

A composition is seen in a picture (two kinds in one street, a kind in a colour, a kind in a weather) or asked
for in a question (a kind in a relation, a count, the depth of a program, a frame of reference). Whether an
example holds one depends on its scene and its program alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from simtown.assets.entities import ENTITIES, NAMED_BY_COLOUR
from simtown.core.options import SettingsError
from simtown.core.streams import Stream
from simtown.language.evaluate import ProgramNode, skeletons, tree
from simtown.language.families import AskedWorld, Family
from simtown.language.nouns import NOUNS, VEHICLE_NOUNS
from simtown.language.programs import COLOURS, OWN_RELATIONS, WORD, WORDS, decode, depth
from simtown.language.relations import RELATION_NAMES
from simtown.language.views import Views, members
from simtown.scenes.weather import WEATHERS

RELATIONS = (*RELATION_NAMES, *OWN_RELATIONS, "between")
#: Frames of reference, by the relations that are said in them.
FRAMES = {"viewer": RELATION_NAMES, "driver": OWN_RELATIONS}
#: What a kind is composed with, by the names of each.
OTHERS: dict[str, tuple[str, ...]] = {
    "kind": ENTITIES, "colour": COLOURS, "weather": WEATHERS, "relation": RELATIONS
}  # fmt: skip
#: Parts of a template, and slots, that take a question one thing farther.
_STEPS = "related|same|compared|clause|turn"
#: A limit that nothing exceeds.
NO_LIMIT = 99
_HOW = (
    "write kind-kind:0.1, kind-colour:0.1, kind-weather:0.1, kind-relation:0.1, taxi+school bus, taxi+snow, "
    "taxi+red, taxi+left of, count>2, depth>2, frame:driver or frame:viewer"
)
#: Why a world has none of the pairs that a rule names.
_WHY_NOT = {
    "kind": "these kinds do not meet in this world: give more `entities`",
    "colour": "no such vehicle has that colour and others, too: give `paint=uniform`, or another colour",
    "weather": "there is no such weather in this world: add it to `weathers`",
    "relation": "this relation is not asked about: add it to `relations`",
}


class RuleError(SettingsError):
    """A rule cannot be used; the message says which and why."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, "hold_out")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a rule, or several rules together, hold out.

    Attributes:
        text: the rule as it is written; several have commas between.
        exists: (k,) bool: which kinds of vehicles the world has.
        tables: by a key of OTHERS, (k + 1, m + 1) bool: kinds with what they are not composed with. The last
            row and column, of what there is not, are False.
        count: counts above it are held out, and programs deeper than `depth`.
        frames: keys of FRAMES that are held out.
    """

    text: str
    exists: np.ndarray
    tables: dict[str, np.ndarray]
    count: int = NO_LIMIT
    depth: int = NO_LIMIT
    frames: tuple[str, ...] = ()

    #: Keys of OTHERS whose compositions are seen in pictures.
    SEEN: ClassVar[tuple[str, ...]] = ("kind", "colour", "weather")

    def __add__(self, other: HeldOut) -> HeldOut:
        return HeldOut(
            f"{self.text},{other.text}",
            self.exists,
            {name: table | other.tables[name] for name, table in self.tables.items()},
            min(self.count, other.count),
            min(self.depth, other.depth),
            self.frames + other.frames,
        )

    @cached_property
    def pictured(self) -> bool:
        """Whether pictures hold the compositions."""
        return any(self.tables[name].any() for name in self.SEEN)

    @property
    def leaves_out(self) -> bool:
        """Whether whole families may be held out: those of a frame, or of deep programs."""
        return bool(self.frames) or self.depth < NO_LIMIT

    def shown(self, scenes: Any) -> np.ndarray:
        """(n,) bool: which scenes of a batch show a composition."""
        kind = scenes.entity.astype(np.int64)
        result = self.tables["kind"][kind[:, :, None], kind[:, None]].any(axis=(1, 2))
        result |= self.tables["weather"][kind, scenes.weather[:, None]].any(axis=1)
        if self.tables["colour"].any():
            result |= self.tables["colour"][kind, Views(scenes).body].any(axis=1)
        return np.asarray(result)

    def asked(self, stored: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """(n,) bool: which (n, LENGTH) stored programs ask for a composition that no picture shows.

        `counts`, (n,), holds the answers to questions that count, and -1 for others.
        """
        return np.asarray((counts > self.count) | self._judged(stored)[0])

    def named(self, stored: np.ndarray, weather: np.ndarray | None = None) -> np.ndarray:
        """(n,) bool: which programs name a composition that pictures show, whatever the answer is.

        A noun for several kinds names one if each of them holds it. If the weather is given, (n,), it counts
        as named.
        """
        return self._judged(stored, weather)[1]

    def _judged(self, stored: np.ndarray, weather: np.ndarray | None = None) -> np.ndarray:
        """(2, n) bool: which programs ask for a composition, and which name one."""
        result = np.zeros((2, len(stored)), dtype=bool)
        for rows in skeletons(stored) if len(stored) > 1 else [np.arange(len(stored))]:
            words = stored[rows].astype(np.int64)
            asks, names = np.zeros((2, len(rows)), dtype=bool)
            if self.depth < NO_LIMIT:
                asks |= depth(decode(words[0])) > self.depth
            nouns, skies = [], [] if weather is None else [weather[rows]]
            for what, of, value in _mentions(tree(words[0])[0]):
                place = _places(what)[words[:, value]]
                if what == "noun":
                    nouns.append(place)
                elif what == "weather":
                    skies.append(place)
                else:
                    has = False if of is None else self._every[what][_places("noun")[words[:, of]], place]
                    if what == "relation":
                        asks |= has | np.isin(place, self._framed)
                    else:
                        names |= has
            for noun in nouns:
                for table, others in (("kind", nouns), ("weather", skies)):
                    for other in others:
                        names |= self._every[table][noun, other]
            result[:, rows] = asks, names
        return result

    @cached_property
    def _framed(self) -> list[int]:
        """Places in RELATIONS of those of a frame that is held out."""
        return [RELATIONS.index(name) for frame in self.frames for name in FRAMES[frame]]

    @cached_property
    def _every(self) -> dict[str, np.ndarray]:
        """As `tables`, with nouns for kinds: whether each kind of a noun is held out."""
        kinds = np.stack([*members().values()])[:, : len(ENTITIES)] & self.exists
        some = kinds.any(axis=1)
        left = {name: (kinds @ ~table[:-1]).astype(bool) for name, table in self.tables.items()}
        result = {name: some[:, None] & ~table for name, table in left.items()}
        free = (kinds.astype(int) @ ~self.tables["kind"][:-1, :-1] @ kinds.T).astype(bool)
        return result | {"kind": some[:, None] & some & ~free}

    def answers(
        self, answer: str, possible: Sequence[int], alone: bool, twins: bool = False
    ) -> tuple[int, ...]:
        """Those of the possible answers of a type that are left, or with `alone`, those that are held out.

        With `twins` also the count next to these, which is that of the other picture.
        """
        if answer != "count" or self.count == NO_LIMIT:
            return tuple(possible)
        return tuple(n for n in possible if (n > self.count - twins if alone else n <= self.count))


@dataclass(frozen=True)
class HoldOut:
    """How a split keeps to the rules.

    Attributes:
        held: for each rule that an example may be drawn for, what it holds out; of a split that keeps clear
            of all rules, all of them together.
        alone: whether the split consists of examples that hold a composition.
        families: for each of `held`, places of the families that are asked.
        tries: words that are drawn at most until some keep to the rules.
    """

    held: tuple[HeldOut, ...]
    alone: bool
    families: tuple[tuple[int, ...], ...] = ()
    tries: int = 512


def may_ask(family: Family, held: HeldOut, alone: bool) -> bool:
    """False where a family surely holds nothing of what is held out, if it must (`alone`)."""
    if not alone or held.pictured:
        return True
    if held.count < NO_LIMIT:
        return family.answer == "count"
    return any(re.search(_STEPS, f"{template.program} {template.slots}") for template in family.templates)


#: What a program mentions: a noun; a colour or a relation, and the noun that has it; or a weather. Nouns and
#: the others are columns of its words.
_Mention = tuple[str, int | None, int]


def _mentions(node: ProgramNode, of: int | None = None) -> Iterator[_Mention]:
    name, parts = node.name, node.parts
    if name == "all":
        yield "noun", parts[0].column, parts[0].column
    elif name == "has" and parts[0].name == "colour":
        yield "colour", of, parts[1].column
    elif name == "weather":
        yield from (("weather", None, part.column) for part in parts)
    elif name == "related":
        yield "relation", of, parts[0].column
        yield from (("relation", _noun(part), parts[0].column) for part in parts[1:])
    if name in ("filter", "holds"):
        of = _noun(parts[0])
    for part in parts:
        yield from _mentions(part, of)


def _noun(node: ProgramNode) -> int | None:
    """The column of the noun of a set or a phrase."""
    while node.name != "all":
        if node.name not in ("filter", "most", "nth", "the", "a", "every", "no"):
            return None
        node = node.parts[-1 if node.name in ("most", "nth") else 0]
    return node.parts[0].column


@cache
def _places(what: str) -> np.ndarray:
    """By the number of a word in programs, its place among the OTHERS of this name; -1 if it has none.

    Of a "noun" its place among :func:`~simtown.language.views.members`.
    """
    table = np.full(WORD + len(WORDS), -1)
    if what == "noun":
        table[[*members()]] = np.arange(len(members()))
    for place, name in enumerate(OTHERS.get(what, ())):
        if name in WORDS:
            table[WORD + WORDS.index(name)] = place
    return table


def read_rule(text: str, world: AskedWorld, seed: int) -> HeldOut:
    """What a rule holds out in a world.

    Compositions of a share are drawn by their addresses: the same ones in a larger world of the same seed.

    Raises RuleError if it is no rule, or the world has no such composition, or all of them.
    """
    exists = world.chances > 0
    tables = {
        name: np.zeros((len(ENTITIES) + 1, len(names) + 1), dtype=bool) for name, names in OTHERS.items()
    }
    held = HeldOut(text, exists, tables)
    if limit := re.fullmatch(r"depth *> *(\d{1,2})", text):
        return replace(held, depth=int(limit[1]))
    if limit := re.fullmatch(r"count *> *(\d{1,2})", text):
        if not 0 < int(limit[1]) < (most := max(world.answers("count"))):
            why = f"counts from 0 to {most} are asked for, and two must be left"
            raise RuleError(
                f"{text}: with {world.most} vehicles {why}: choose another count, or more `vehicles`"
            )
        return replace(held, count=int(limit[1]))
    if frame := re.fullmatch(rf"frame: *({'|'.join(FRAMES)})", text):
        return replace(held, frames=(frame[1],))
    possible = {name: _possible(name, world) for name in OTHERS}
    if share := re.fullmatch(r"kind-(kind|colou?r|weather|relation): *(\d*\.?\d+)", text):
        what, part = share[1].replace("color", "colour"), float(share[2])
        if not 0 < part <= 0.5:
            raise RuleError(f"{text} must hold out a share above 0 and at most 0.5")
        chosen = _drawn(what, part, seed)
    else:
        what, chosen = _named(text, world)
    if not (chosen & possible[what]).any():
        drawn = share and possible[what].any()
        why = "give a greater share, or another `seed`" if drawn else _WHY_NOT[what]
        raise RuleError(f"{text} holds out nothing: {why}")
    tables[what][:-1, :-1] = chosen & possible[what]
    return held


def _drawn(what: str, share: float, seed: int) -> np.ndarray:
    """(k, m) bool: a share of all pairs, by their addresses."""
    numbers = (np.arange(len(ENTITIES))[:, None] << 16) + np.arange(len(OTHERS[what]))
    u = Stream(seed, "hold-out", f"kind-{what}").uniform(numbers.reshape(-1), 1).reshape(numbers.shape)
    if what == "kind":
        u = np.triu(u, 1) + np.triu(u, 1).T
    return np.asarray(u < share)


def _possible(what: str, world: AskedWorld) -> np.ndarray:
    """(k, m) bool: the pairs that this world has."""
    exists = world.chances > 0
    if what == "kind":
        return exists[:, None] & exists & ~np.eye(len(exists), dtype=bool)
    if what == "colour":
        free = exists & ~np.isin(ENTITIES, [*NAMED_BY_COLOUR]) & world.painted
        return free[:, None] & np.isin(np.arange(len(COLOURS)), world.colours)
    if what == "weather":
        return exists[:, None] & np.isin(np.arange(len(WEATHERS)), world.weathers)
    return exists[:, None] & np.isin(RELATIONS, [*world.relations, *OWN_RELATIONS, "between"])


def _named(text: str, world: AskedWorld) -> tuple[str, np.ndarray]:
    """A key of OTHERS, and (k, m) bool: the pairs that a rule such as "taxi+snow" names."""
    nouns = {noun.lower(): noun for noun in (*VEHICLE_NOUNS[:-1], *ENTITIES)}
    kinds, others = [], []
    for name in [" ".join(part.split()).lower().replace("gray", "grey") for part in text.split("+")]:
        found = [what for what in ("colour", "weather", "relation") if name in OTHERS[what]]
        if name in nouns:
            kinds.append(np.isin(ENTITIES, NOUNS.get(nouns[name], (nouns[name],))))
            if not kinds[-1][world.chances > 0].any():
                raise RuleError(f"{text}: there is no {name} in this world: give more `entities`")
        elif found:
            others.append((found[0], np.array(OTHERS[found[0]]) == name))
        else:
            similar = get_close_matches(name, [*nouns, *COLOURS, *WEATHERS, *RELATIONS])
            meant = (
                f"'{name}' is unknown: did you mean {' or '.join(similar)}?"
                if similar
                else f"'{name}' is unknown: {_HOW}"
            )
            raise RuleError(f"{text}: {meant}")
    if len(kinds) + len(others) != 2 or not kinds or (len(kinds) == 2 and (kinds[0] & kinds[1]).any()):
        raise RuleError(f"{text}: {_HOW}")
    if others:
        return others[0][0], kinds[0][:, None] & others[0][1]
    pairs = kinds[0][:, None] & kinds[1]
    return "kind", pairs | pairs.T
