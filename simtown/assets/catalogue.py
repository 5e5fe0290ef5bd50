"""What the town is made of, by name and in a fixed order.

Entity i of a world stands for the i-th most common entity of Visual Genome's relationships, by this fixed and arbitrary
mapping (section 6.3 of the paper). The order is part of the data format: append, never reorder (:data:`VERSION`).
"""

from __future__ import annotations

from collections.abc import Callable

from simtown.assets.mesh import Mesh
from simtown.assets.palette import COLOUR_WORDS
from simtown.assets.street import buildings, furniture, ground, people, trees
from simtown.assets.vehicles import buses, cars, cycles, farm, offroad, service, showcars, trucks, vans, works

VERSION = 2

#: Every entity, most common first.
ENTITIES: tuple[str, ...] = (
    "sedan", "fire truck", "school bus", "taxi", "red truck", "green car", "police car", "ambulance", "city bus", "motorcycle",
    "bicycle", "pickup", "box truck", "double-decker bus", "tractor", "garbage truck", "convertible", "ice-cream van", "excavator",
    "concrete mixer", "limousine", "racing car", "dump truck", "scooter", "tanker truck", "camper van", "horse cart",
    "monster truck", "bulldozer", "tow truck", "food truck", "golf cart", "semi-trailer truck", "hatchback", "SUV", "forklift",
    "mail van", "crane truck", "road roller", "hearse", "rickshaw", "military truck", "tram", "combine harvester", "jeep",
    "hot rod", "car carrier", "quad bike", "street sweeper", "minibus", "snow plough", "tricycle", "sports car", "buggy",
    "cargo bike", "tank", "flatbed truck", "caravan", "sidecar motorcycle", "tuk-tuk",
    "estate car", "coupe", "vintage car", "muscle car", "microcar", "fire chief car", "red car", "white car", "black car",
    "pink car", "orange car", "red pickup", "black pickup", "fire engine", "coach", "red bus", "green bus", "blue truck",
    "green truck", "cement pumper", "logging truck", "delivery van", "white van", "black van", "blue van", "police van",
    "news van", "bucket truck", "armoured truck", "cattle truck", "wheel loader", "backhoe loader", "hay wagon",
    "ice resurfacer", "lawn mower", "police motorcycle", "delivery scooter", "tandem bicycle", "kick scooter", "luggage tug",
    "yellow truck", "street-food cart",
)  # fmt: skip

_VEHICLES: dict[str, Callable[[], Mesh]] = {}
#: The paint of every entity's body, which a scene may exchange.
BODIES: dict[str, str] = {}
for _module in (cars, showcars, offroad, trucks, service, buses, vans, works, farm, cycles):
    _VEHICLES.update(_module.KINDS)
    BODIES.update(_module.BODY)

#: Entities whose name has a colour in it, such as "red truck": they keep their own paint.
NAMED_BY_COLOUR: frozenset[str] = frozenset(name for name in ENTITIES if set(name.split()) & set(COLOUR_WORDS))

#: Kinds of things beside the road, by group; each group's order is fixed.
STREET: dict[str, tuple[str, ...]] = {
    "building": tuple(buildings.KINDS),
    "tree": tuple(trees.KINDS),
    "furniture": tuple(furniture.KINDS),
    "person": tuple(people.KINDS),
    "cloud": tuple(ground.KINDS),
}
_STREET = {**buildings.KINDS, **trees.KINDS, **furniture.KINDS, **people.KINDS, **ground.KINDS}

#: Every street kind in order; a scene stores an index into this tuple.
PROPS: tuple[str, ...] = tuple(_STREET)


def entity_mesh(name: str) -> Mesh:
    """The mesh of an entity, forward along +x, wheels on z = 0 (KeyError for an unknown name)."""
    return _VEHICLES[name]()


def prop_mesh(name: str) -> Mesh:
    """The mesh of a street kind, its front towards -y (KeyError for an unknown name)."""
    return _STREET[name]()
