"""Nouns for kinds of things: "car" stands for sedans, taxis, coupes and so on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from simtown.assets.catalogue import BODIES, ENTITIES, PROPS, STREET
from simtown.assets.entities import CATALOGUE, OWN
from simtown.assets.entities import VEHICLE_NOUNS as VEHICLE_NOUNS
from simtown.assets.palette import ALSO_CALLED, COLOUR_WORDS, PAINTS
from simtown.core.files import KindsError
from simtown.language.words.reply_words import WORDS

#: How places in an order are counted.
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
#: Nouns for several kinds. A kind's own name, such as "pickup" or "man", means that kind alone.
NOUNS: dict[str, tuple[str, ...]] = {
    "vehicle": ENTITIES,
    "car": (
        "sedan", "taxi", "hatchback", "estate car", "coupe", "convertible", "limousine", "hearse", "SUV",
        "jeep", "hot rod", "microcar", "sports car", "racing car", "muscle car", "vintage car", "police car",
        "fire chief car", "red car", "green car", "white car", "black car", "pink car", "orange car",
    ),
    "bus": ("city bus", "school bus", "double-decker bus", "minibus", "coach", "red bus", "green bus"),
    "truck": (
        "fire truck", "fire engine", "garbage truck", "box truck", "dump truck", "tanker truck",
        "monster truck", "tow truck", "food truck", "semi-trailer truck", "crane truck", "military truck",
        "flatbed truck", "logging truck", "bucket truck", "armoured truck", "cattle truck", "red truck",
        "blue truck", "green truck", "yellow truck", "concrete mixer", "cement pumper", "car carrier",
        "pickup", "red pickup", "black pickup",
    ),
    "van": (
        "ambulance", "mail van", "delivery van", "camper van", "ice-cream van", "police van", "news van",
        "white van", "black van", "blue van",
    ),
    "two-wheeler": (
        "motorcycle", "bicycle", "scooter", "sidecar motorcycle", "police motorcycle", "delivery scooter",
        "tandem bicycle", "kick scooter",
    ),
    "emergency vehicle": (
        "fire truck", "fire engine", "fire chief car", "police car", "police van", "police motorcycle",
        "ambulance",
    ),
    "construction machine": (
        "excavator", "bulldozer", "road roller", "forklift", "wheel loader", "backhoe loader",
        "concrete mixer", "cement pumper", "dump truck", "crane truck",
    ),
    "farm vehicle": ("tractor", "combine harvester", "hay wagon", "horse cart", "cattle truck"),
    **STREET,
    "house": (
        "cottage", "gabled house", "bungalow", "villa", "timbered house", "canal house", "town house",
        "blue town house", "terrace",
    ),
    "pedestrian": STREET["person"],
}  # fmt: skip


#: The noun for everything that stands in a town.
THING = "thing"
_IRREGULAR = {
    "person": "people", "man": "men", "woman": "women", "child": "children", "postman": "postmen",
    "sheep": "sheep",
}  # fmt: skip


def plural(noun: str) -> str:
    """The plural of a noun: "buses", "people with prams" is "people with pram"."""
    if own := next((kind.plural for kind in OWN if kind.name == noun), ""):
        return own
    head, space, rest = noun.partition(" with ")
    *before, last = head.split(" ")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith("y") and last[-2:-1] not in "aeiou":
        last = f"{last[:-1]}ies"
    elif last.endswith(("ch", "sh", "x", "bus")):
        last += "es"
    elif last != "apartments" and last != "flats":
        last += "s"
    return " ".join([*before, last]) + space + rest


def _other_words() -> set[str]:
    """Words of questions and answers that are not nouns: a name of these alone would mean two things."""
    from simtown.language.meaning.solids import SOLID_RELATIONS  # which few need

    grammar = files("simtown.language.words").joinpath("grammar.txt").read_text(encoding="utf-8")
    rules = re.split("; |\n", re.sub("(?m)^#.*", "", grammar.partition("[synonyms]")[0]))
    sides = [rule.partition(" = ") for rule in rules]
    texts = [left for left, _, right in sides if right != r"\1"]  # words that are kept mean nothing here
    texts += [answer for answers in WORDS.values() for answer in answers]
    texts += [*PAINTS, *COLOUR_WORDS, *ORDINALS, *SOLID_RELATIONS]
    return {word for text in texts for word in re.findall("[a-z]+", text)} - {*NOUNS}


#: Nouns of kinds of one's own that are none of these.
OWN_NOUNS: tuple[str, ...] = tuple(dict.fromkeys(kind.group for kind in OWN if kind.group not in NOUNS))
_OTHER_WORDS = _other_words() if OWN else set()
_PLURALS = {plural(noun).lower() for noun in (*NOUNS, *PROPS, THING, *CATALOGUE)}
_TAKEN = {noun.lower() for noun in (*NOUNS, *OWN_NOUNS, *PROPS, THING)} | _PLURALS
for _kind in OWN:
    for _noun in filter(None, (_kind.name, _kind.plural, _kind.group)):
        if _noun not in NOUNS and {*re.findall(r"\w+", _noun.lower())} <= _OTHER_WORDS:
            means = "means something else in questions: give another name"
            raise KindsError(f"{_kind.source}: '{_noun}' {means}")
    for _noun in (_kind.name, _kind.plural):
        if _noun.lower() in _TAKEN:
            raise KindsError(f"{_kind.source}: '{_noun}' is a noun of the town: give your kind another name")
    if _kind.group in (*_PLURALS, *ENTITIES, *PROPS, *STREET, "house", "pedestrian", THING, "other"):
        raise KindsError(
            f"{_kind.source}: the group '{_kind.group}' is not a noun for vehicles: give another"
        )
    if _kind.group != "vehicle":
        NOUNS[_kind.group] = (*NOUNS.get(_kind.group, ()), _kind.name)
#: Last words of names of vehicles.
_VEHICLE_WORDS = {
    word.lower().split(" ")[-1] for noun in (*VEHICLE_NOUNS, *ENTITIES) for word in (noun, plural(noun))
}
#: Groups of vehicles of which none shares a kind with another: what :func:`group_of` answers.
GROUPS: tuple[str, ...] = (*VEHICLE_NOUNS[:5], "other")
ANIMAL_NOUNS: tuple[str, ...] = ("animal", *STREET["animal"])
#: Nouns for what stands beside the road that questions of data sets use.
STREET_NOUNS: tuple[str, ...] = (
    "person", "child", "tree", "street lamp", "mailbox", "bench", "bin", "hydrant", "phone box", "bus stop",
    "traffic light", "stop sign", *ANIMAL_NOUNS,
)  # fmt: skip
#: Nouns, each with the kinds that every reader calls so, beside those whose name ends in it, and behind "/"
#: the kinds that only some call so.
_CALLED = {
    noun: [[kind.strip() for kind in part.split(",")] for part in kinds.split("/")]
    for line in """\
fire truck: fire engine /
fire engine: fire truck /
bicycle: cargo bike /
mailbox: pillar box /
street lamp: arm lamp /
bus stop: bus shelter /
conifer: spruce, pine / poplar
man: elder with cane, postman / jogger, gardener, person with dog, person with umbrella, person with pram
woman: grandmother / jogger, gardener, person with dog, person with umbrella, person with pram
sedan: / red car, green car, white car, black car, pink car, orange car, taxi, police car, fire chief car
hatchback: / red car, green car, white car, black car, pink car, orange car
estate car: / red car, green car, white car, black car, pink car, orange car
coupe: / sports car, red car
muscle car: / sports car, coupe
sports car: / coupe, muscle car, racing car, red car
racing car: / sports car
convertible: / jeep, vintage car
SUV: / jeep, black car
jeep: / SUV, black car
microcar: / pink car, orange car
city bus: / red bus, green bus
coach: / city bus
minibus: / camper van
van: / minibus
box truck: / red truck, green truck
delivery van: / white van, black van, blue van, mail van
camper van: / caravan
flatbed truck: / blue truck, yellow truck
motorcycle: / scooter, delivery scooter
excavator: / backhoe loader, wheel loader
wheel loader: / backhoe loader
tractor: / backhoe loader, hay wagon
food truck: / ice-cream van, street-food cart
pillar box: / mailbox
spruce: / conifer, pine
pine: / conifer, spruce
bush: / hedge
hedge: / bush
""".splitlines()
    for noun, kinds in [line.split(":")]
}
_NONE: list[list[str]] = [[], []]


def similar_names(given: str, names: Iterable[str], count: int = 3, cutoff: float = 0.6) -> list[str]:
    """The names most like one, the nearest first: of vehicles alone, or of others, as what it may mean."""
    names = list(names)
    meant = get_close_matches(given, [*NOUNS, *_PLURALS, *ENTITIES, *names], 1, cutoff)
    sort = [name for name in names if meant and _names_vehicle(name) == _names_vehicle(meant[0])]
    return get_close_matches(given, sort, count, cutoff)


def _names_vehicle(name: str) -> bool:
    return name.lower().rstrip(" 0123456789").split(" ")[-1] in _VEHICLE_WORDS


def kinds_meant(noun: str) -> tuple[str, ...]:
    """The kinds that a noun stands for; a kind's own name stands for that kind alone."""
    return NOUNS.get(noun, (noun,))


@cache
def called_by(noun: str) -> tuple[str, ...]:
    """The kinds that every reader calls by a noun, in the order of the catalogue.

    Beside those of :func:`kinds_meant` these are the kinds whose name ends in it (a "kick scooter" is a
    scooter, a "woman with black hair" a woman) and those of another name (a "pillar box" is a mailbox). A
    colour and a noun, such as "red truck", call all kinds whose own paint is of that colour.
    """
    nouns = (noun, *kinds_meant(noun))
    called = {kind for each in nouns for kind in (each, *_CALLED.get(each, _NONE)[0])}
    colour, _, painted = noun.partition(" ")
    if painted and colour in COLOUR_WORDS:
        called |= {kind for kind in called_by(painted) if BODIES.get(kind) in COLOUR_WORDS[colour]}
    heads = {kind: kind.partition(" with ")[0].removesuffix(" bare") for kind in (*ENTITIES, *PROPS)}
    last_words = tuple(f" {each}" for each in nouns)
    return tuple(kind for kind, head in heads.items() if kind in called or f" {head}".endswith(last_words))


@cache
def perhaps_called_by(noun: str) -> tuple[str, ...]:
    """The kinds that some readers call by a noun and others do not: a jogger may be a man."""
    colour, _, painted = noun.partition(" ")
    perhaps = {*_CALLED.get(noun, _NONE)[1]}
    if painted and colour in COLOUR_WORDS:
        doubtful = [paint for paint, words in ALSO_CALLED.items() if colour in words]
        perhaps |= {kind for kind in called_by(painted) if BODIES.get(kind) in doubtful}
    return tuple(kind for kind in (*ENTITIES, *PROPS) if kind in perhaps.difference(called_by(noun)))


class OtherReadings(NamedTuple):
    """The vehicles that readers may call by a noun that does not mean them.

    Attributes:
        always: kinds of them.
        if_painted: kinds that are called so where their bodies have the `colour` that the noun names.
        colour: a colour word, "" if the noun names none.
    """

    always: frozenset[str]
    if_painted: frozenset[str]
    colour: str


@cache
def other_readings(noun: str) -> OtherReadings:
    """The vehicles that readers may call by a noun that does not mean them: a kick scooter for "scooter"."""
    others = frozenset(ENTITIES) - {*kinds_meant(noun)}
    colour, _, painted = noun.partition(" ")
    if not painted or colour not in COLOUR_WORDS:
        return OtherReadings(others & {*called_by(noun), *perhaps_called_by(noun)}, frozenset(), "")
    if_painted = others & {*called_by(painted), *perhaps_called_by(painted)}
    always = others & {*called_by(noun), *perhaps_called_by(noun)}
    return OtherReadings(always - if_painted, if_painted, colour)


@cache
def confused_with(noun: str) -> frozenset[str]:
    """The kinds of vehicles that a question does not name beside a noun, since readers confuse them."""
    meant = {*kinds_meant(noun)}
    named_so = other_readings(noun)
    naming = {
        kind for kind in ENTITIES if meant & (other_readings(kind).always | other_readings(kind).if_painted)
    }
    return frozenset(meant | named_so.always | named_so.if_painted | naming)


def group_of(kind: str) -> str:
    """The one of GROUPS that a kind of vehicle belongs to."""
    return next((group for group in GROUPS[:-1] if kind in NOUNS[group]), GROUPS[-1])
