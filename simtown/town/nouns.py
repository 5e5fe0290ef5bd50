"""Nouns: what a town's kinds of things are called together, and what a noun means in a town."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from simtown.assets.catalogue import ENTITIES, STREET
from simtown.scenes.footprints import GROUP
from simtown.town.checks import TownError, text

if TYPE_CHECKING:
    from simtown.town.things import Thing

#: Nouns for several kinds. A kind's own name, such as "pickup" or "man", means that kind alone.
NOUNS: dict[str, tuple[str, ...]] = {
    "vehicle": ENTITIES,
    "car": ("sedan", "taxi", "hatchback", "estate car", "coupe", "convertible", "limousine", "hearse", "SUV", "jeep", "hot rod", "microcar",
            "sports car", "racing car", "muscle car", "vintage car", "police car", "fire chief car", "red car", "green car", "white car",
            "black car", "pink car", "orange car"),
    "bus": ("city bus", "school bus", "double-decker bus", "minibus", "coach", "red bus", "green bus"),
    "truck": ("fire truck", "fire engine", "garbage truck", "box truck", "dump truck", "tanker truck", "monster truck", "tow truck",
              "food truck", "semi-trailer truck", "crane truck", "military truck", "flatbed truck", "logging truck", "bucket truck",
              "armoured truck", "cattle truck", "red truck", "blue truck", "green truck", "yellow truck", "concrete mixer", "cement pumper",
              "car carrier", "pickup", "red pickup", "black pickup"),
    "van": ("ambulance", "mail van", "delivery van", "camper van", "ice-cream van", "police van", "news van", "white van", "black van",
            "blue van"),
    **STREET,
    "house": ("cottage", "gabled house", "bungalow", "villa", "timbered house", "canal house", "town house", "blue town house", "terrace"),
    "pedestrian": STREET["person"],
}  # fmt: skip


def kinds_of(noun: object) -> tuple[str, ...]:
    """The kinds that a noun stands for: one for a kind's own name. Raises TownError for any other word."""
    noun = text(noun, "the kind", "fire truck")
    if noun in GROUP:
        return (noun,)
    if noun not in NOUNS:
        known = {word.lower(): word for word in (*GROUP, *NOUNS)}
        near = [known[word] for word in get_close_matches(noun.lower(), known, 3, 0.5)]
        hint = f"did you mean {' or '.join(near)}?" if near else "see simtown preview --entity all for all kinds of vehicles"
        raise TownError(f"unknown kind '{noun}': {hint}")
    return NOUNS[noun]


def meant(things: Iterable[Thing], noun: str) -> list[Thing]:
    """The things that a noun, a kind or a name may mean. "taxi 1" is the one called "taxi", beside "taxi 2"."""
    kinds = {noun, *NOUNS.get(noun, ())}
    things = list(things)
    return [t for t in things if t.kind in kinds or f"{t.name} 1" == noun] or [t for t in things if t.name == noun]


def label(thing: Thing) -> str:
    """The words that mean this thing and no other."""
    return f"{thing.kind} 1" if thing.name == thing.kind else thing.name
