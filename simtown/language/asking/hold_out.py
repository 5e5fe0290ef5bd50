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
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np

from simtown.assets.entities import ENTITIES
from simtown.core.options import SettingsError
from simtown.core.streams import Stream
from simtown.language.asking.question_world import AskedWorld, means
from simtown.language.meaning.nouns import NOUNS, VEHICLE_NOUNS
from simtown.language.meaning.programs import (
    COLOURS,
    OWN_RELATIONS,
    PROGRAM_RELATIONS,
    SOLIDS,
    Form,
    decode,
    depth,
)
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.language.meaning.views import body_colours
from simtown.scenes.paint import may_change
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS

#: Frames of reference, by the relations that are said in them.
FRAMES = {"viewer": RELATION_NAMES, "driver": OWN_RELATIONS}
#: What a kind is composed with, by the names of each.
OTHERS: dict[str, tuple[str, ...]] = {
    "kind": ENTITIES, "colour": COLOURS, "weather": WEATHERS, "relation": PROGRAM_RELATIONS
}  # fmt: skip
#: A limit that nothing exceeds.
NO_LIMIT = 99
_HOW = (
    "write kind-kind:0.1, kind-colour:0.1, kind-weather:0.1, kind-relation:0.1, taxi+school bus, taxi+snow, "
    "taxi+red, taxi+left of, count>2, depth>2, frame:driver or frame:viewer"
)
#: Why a world has none of the pairs that a rule names.
_WHY_NOT = {
    "kind": "these kinds do not meet in this world: give more `entities`",
    "colour": "no such vehicle has that colour and others, too: give `paint=uniform`, another colour or kind",
    "weather": "there is no such weather in this world: add it to `weathers`",
    "relation": "this relation is not asked about: add it to `relations`",
}


class RuleError(SettingsError):
    """A rule cannot be used; the message says which and why."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, "hold_out")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The compositions that a rule, or several rules together, hold out.

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

    def shown(self, scenes: Any) -> np.ndarray:
        """(n,) bool: which scenes of a batch show a composition."""
        kind = scenes.entity.astype(np.int64)
        result = self.tables["kind"][kind[:, :, None], kind[:, None]].any(axis=(1, 2))
        result |= self.tables["weather"][kind, scenes.weather[:, None]].any(axis=1)
        if self.tables["colour"].any():
            result |= self.tables["colour"][kind, body_colours(scenes)].any(axis=1)
        return np.asarray(result)

    def asks(self, form: Form, count: int = -1) -> bool:
        """Whether a question asks for a composition that no picture shows.

        `count` is its answer if it counts.
        """
        said = [mention for mention in _mentions(form) if mention[0] == "relation"]
        framed = any(relation in FRAMES[frame] for _, _, relation in said for frame in self.frames)
        return count > self.count or depth(form) > self.depth or framed or not self._whole.isdisjoint(said)

    def names(self, form: Form, weather: str = "") -> bool:
        """Whether a question names a composition that pictures show, whatever the answer is.

        A noun for several kinds names one if each of them holds it. If the weather is given, it counts as
        named.
        """
        said = [*_mentions(form)]
        nouns = [noun for what, noun, _ in said if what == "noun"]
        skies = [weather, *(sky for what, _, sky in said if what == "weather")]
        named = [mention for mention in said if mention[0] == "colour"]
        named += [("kind", *pair) for pair in product(nouns, nouns)]
        named += [("weather", *pair) for pair in product(nouns, skies)]
        return not self._whole.isdisjoint(named)

    @cached_property
    def _whole(self) -> set[tuple[str, str, str]]:
        """Entries for each kind that a noun means: a key of OTHERS, the noun, and the other word."""
        nouns = (*NOUNS, *ENTITIES)
        kinds = np.stack([means(noun) for noun in nouns]) & self.exists
        result = set[tuple[str, str, str]]()
        for what, words in OTHERS.items():
            free = kinds @ ~self.tables[what][:-1, :-1]
            if what == "kind":
                words, free = nouns, (free @ kinds.T) | ~kinds.any(axis=1)
            whole = kinds.any(axis=1)[:, None] & ~free
            result |= {(what, nouns[noun], words[other]) for noun, other in np.argwhere(whole)}
        return result

    def answers(
        self, answer: str, possible: Sequence[int], alone: bool, twins: bool = False
    ) -> tuple[int, ...]:
        """The possible answers of a type that are left, or with `alone`, those that are held out.

        With `twins` also the count next to these, which is that of the other picture.
        """
        if answer != "count" or self.count == NO_LIMIT:
            return tuple(possible)
        return tuple(n for n in possible if (n > self.count - twins if alone else n <= self.count))


@dataclass(frozen=True)
class HoldOut:
    """The rules of a split.

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


@dataclass(frozen=True)
class Limits:
    """Compositions that a street must not show, or with `alone`, of which it must show one.

    `weather` is that of the street, unless the question or a composition needs another one.
    """

    held: HeldOut
    alone: bool
    weather: int


def streets_obey(
    limits: Sequence[Limits | None], scenes: SceneBatch, programs: np.ndarray | None = None
) -> np.ndarray:
    """(n,) bool: which streets show a composition or none, as they must, and which further questions about
    such streets, (n, LENGTH), fit in with that.
    """
    result = np.ones(len(limits), dtype=bool)
    for held, alone in {(own.held, own.alone) for own in limits if own}:
        rows = np.array([own is not None and own.held is held for own in limits])
        if held.pictured:
            result[rows] = held.shown(scenes[rows]) == alone
        if programs is not None and not (alone and held.pictured):
            forms = map(decode, programs[rows])
            result[rows] &= [held.asks(f) if alone else not (held.asks(f) or held.names(f)) for f in forms]
    return result


def _mentions(form: Form, of: str = "") -> Iterator[tuple[str, str, str]]:
    """The words that a program mentions: nouns, weathers, and the colours and relations of nouns (perhaps
    "").
    """
    match form.name, *form.parts:
        case "all", noun:
            yield "noun", noun, ""
        case "has", "colour", colour:
            yield "colour", of, colour
        case "weather", *kinds:
            yield from (("weather", "", kind) for kind in kinds)
        case "related", relation, *phrases:
            yield from (("relation", noun, relation) for noun in (of, *map(_noun, phrases)))
        case (("filter" | "holds"), members, _):
            of = _noun(members)
    for part in form.parts:
        if isinstance(part, Form):
            yield from _mentions(part, of)


def _noun(form: Form) -> str:
    """The noun of a set or a phrase, "" if it has several."""
    while form.name != "all":
        if form.name not in ("filter", "most", "nth", "the", "a", "every", "no"):
            return ""
        form = next(part for part in form.parts if isinstance(part, Form))
    return str(form.parts[0])


def read_rule(text: str, world: AskedWorld, seed: int) -> HeldOut:
    """The compositions that a rule holds out in a world.

    Compositions of a share are drawn by their addresses: the same ones in a larger world of the same seed.

    Raises RuleError if it is not a rule, or the world has no such composition, or all of them.
    """
    exists = world.chances > 0
    tables = {
        name: np.zeros((len(ENTITIES) + 1, len(names) + 1), dtype=bool) for name, names in OTHERS.items()
    }
    held = HeldOut(text, exists, tables)
    if limit := re.fullmatch(r"depth *> *(\d{1,2})", text):
        return replace(held, depth=int(limit[1]))
    if limit := re.fullmatch(r"count *> *(\d{1,2})", text):
        if not 0 < int(limit[1]) < (most := max(world.answers["count"])):
            why = f"with {world.most} vehicles counts from 0 to {most} are asked for, and two must be left"
            raise RuleError(f"{text}: {why}: choose another count, or more `crowd`")
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
        free = exists & may_change()[:-1] & world.painted
        return free[:, None] & np.isin(np.arange(len(COLOURS)), world.colours)
    if what == "weather":
        return exists[:, None] & np.isin(np.arange(len(WEATHERS)), world.weathers)
    return exists[:, None] & np.isin(PROGRAM_RELATIONS, [*world.relations, *OWN_RELATIONS, *SOLIDS])


def _named(text: str, world: AskedWorld) -> tuple[str, np.ndarray]:
    """A key of OTHERS, and (k, m) bool: the pairs that a rule such as "taxi+snow" names."""
    nouns = {noun.lower(): noun for noun in (*VEHICLE_NOUNS[:-1], *ENTITIES)}
    kinds, others = [], []
    for name in [" ".join(part.split()).lower().replace("gray", "grey") for part in text.split("+")]:
        found = [what for what in ("colour", "weather", "relation") if name in OTHERS[what]]
        if name in nouns:
            kinds.append(means(nouns[name]))
            if not kinds[-1][world.chances > 0].any():
                raise RuleError(f"{text}: there is no {name} in this world: give more `entities`")
        elif found:
            others.append((found[0], np.array(OTHERS[found[0]]) == name))
        else:
            similar = get_close_matches(name, [*nouns, *COLOURS, *WEATHERS, *PROGRAM_RELATIONS])
            hint = f"did you mean {' or '.join(similar)}?" if similar else _HOW
            raise RuleError(f"{text}: '{name}' is unknown: {hint}")
    if len(kinds) + len(others) != 2 or not kinds or (len(kinds) == 2 and (kinds[0] & kinds[1]).any()):
        raise RuleError(f"{text}: {_HOW}")
    if others:
        return others[0][0], kinds[0][:, None] & others[0][1]
    pairs = kinds[0][:, None] & kinds[1]
    return "kind", pairs | pairs.T
