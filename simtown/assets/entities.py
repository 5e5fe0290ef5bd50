"""The kinds of vehicles by name: what can be read without building any.

Entity i of a world stands for the i-th most common entity of Visual Genome's relationships, by this fixed and
arbitrary mapping (section 6.3 of the paper). The order is part of the data format: append, never reorder
(:data:`VERSION`).
"""

from __future__ import annotations

from simtown.assets.own import load
from simtown.assets.palette import COLOUR_WORDS

VERSION = 2
#: {version of the world: how many kinds of vehicles `simtown generate --world-seed` draws from}.
SIZES = {2: 102}

#: The entities of the catalogue, most common first.
CATALOGUE: tuple[str, ...] = (
    "sedan", "fire truck", "school bus", "taxi", "red truck", "green car", "police car", "ambulance",
    "city bus", "motorcycle", "bicycle", "pickup", "box truck", "double-decker bus", "tractor",
    "garbage truck", "convertible", "ice-cream van", "excavator", "concrete mixer", "limousine", "racing car",
    "dump truck", "scooter", "tanker truck", "camper van", "horse cart", "monster truck", "bulldozer",
    "tow truck", "food truck", "golf cart", "semi-trailer truck", "hatchback", "SUV", "forklift", "mail van",
    "crane truck", "road roller", "hearse", "rickshaw", "military truck", "tram", "combine harvester", "jeep",
    "hot rod", "car carrier", "quad bike", "street sweeper", "minibus", "snow plough", "tricycle",
    "sports car", "buggy", "cargo bike", "tank", "flatbed truck", "caravan", "sidecar motorcycle", "tuk-tuk",
    "estate car", "coupe", "vintage car", "muscle car", "microcar", "fire chief car", "red car", "white car",
    "black car", "pink car", "orange car", "red pickup", "black pickup", "fire engine", "coach", "red bus",
    "green bus", "blue truck", "green truck", "cement pumper", "logging truck", "delivery van", "white van",
    "black van", "blue van", "police van", "news van", "bucket truck", "armoured truck", "cattle truck",
    "wheel loader", "backhoe loader", "hay wagon", "ice resurfacer", "lawn mower", "police motorcycle",
    "delivery scooter", "tandem bicycle", "kick scooter", "luggage tug", "yellow truck", "street-food cart",
)  # fmt: skip

#: Kinds of one's own, which come behind.
OWN = load(CATALOGUE)
#: Every entity.
ENTITIES: tuple[str, ...] = (*CATALOGUE, *(kind.name for kind in OWN))

#: Entities whose name has a colour in it, such as "red truck".
NAMED_BY_COLOUR = frozenset(name for name in ENTITIES if set(name.split()) & set(COLOUR_WORDS))
#: Entities that keep their own paint.
KEEP_PAINT = NAMED_BY_COLOUR | {kind.name for kind in OWN if not kind.paintable}
#: Nouns for several kinds of vehicles; no two of the first five share a kind
#: (:mod:`simtown.language.meaning.nouns`).
VEHICLE_NOUNS: tuple[str, ...] = (
    "car", "bus", "truck", "van", "two-wheeler", "emergency vehicle", "construction machine", "farm vehicle",
    "vehicle",
)  # fmt: skip


def with_article(name: str) -> str:
    """ "a bus", "an ambulance", "an SUV"."""
    vowel = name[0].lower() in "aeiou" and not name.lower().startswith(("uni", "eu", "one"))
    return f"{'an' if vowel or name == 'SUV' else 'a'} {name}"
