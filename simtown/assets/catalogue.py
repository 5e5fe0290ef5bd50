"""Parts of the town, by name and in a fixed order (:mod:`simtown.assets.entities`)."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from simtown.assets.entities import ENTITIES as ENTITIES
from simtown.assets.entities import KEEP_PAINT as KEEP_PAINT
from simtown.assets.entities import NAMED_BY_COLOUR as NAMED_BY_COLOUR
from simtown.assets.mesh import Mesh, VehicleKind
from simtown.assets.palette import TINTS
from simtown.assets.street import animals, buildings, corners, furniture, people, road_surface, trees
from simtown.assets.vehicles import buses, cars, cycles, farm, offroad, service, showcars, trucks, vans, works

VEHICLES: dict[str, VehicleKind] = {}
for _module in (cars, showcars, offroad, trucks, service, buses, vans, works, farm, cycles):
    VEHICLES.update(_module.KINDS)
#: The paint of every entity's body, which a scene may exchange.
BODIES = {name: kind.body for name, kind in VEHICLES.items()}

#: Kinds of things beside the road, by group; each group's order is fixed.
STREET: dict[str, tuple[str, ...]] = {
    "building": (*buildings.KINDS, *buildings.NEWER, *corners.KINDS),
    "tree": tuple(trees.KINDS),
    "furniture": tuple(furniture.KINDS),
    "person": tuple(people.KINDS),
    "cloud": tuple(road_surface.KINDS),
    "animal": tuple(animals.KINDS),
}
_FIRST_STREET = buildings.KINDS | trees.KINDS | furniture.KINDS | people.KINDS | road_surface.KINDS
_STREET = _FIRST_STREET | buildings.NEWER | corners.KINDS | animals.KINDS

#: Every street kind in order; a scene stores an index into this tuple.
PROPS: tuple[str, ...] = tuple(_STREET)

#: In how many ways people stand; the first is anything else's only one.
POSES = 3
#: Every street mesh in order: the kind, and the pose it stands in; all kinds in their first pose come first.
STREET_MESHES: tuple[tuple[str, int], ...] = (
    *((name, 0) for name in PROPS),
    *((name, pose) for name in STREET["person"] for pose in range(1, POSES)),
)


Style = TypeVar("Style", int, np.ndarray)


def pose_of(style: Style) -> Style:
    """Which pose a style, or an array of them, picks; its remainders pick tints."""
    return style // (TINTS * TINTS) % POSES


def mesh_in_pose(kind: str, pose: int) -> int:
    """The number in STREET_MESHES of a kind of PROPS in a pose. Raises ValueError for an unknown kind."""
    return STREET_MESHES.index((kind, pose if kind in people.POSES else 0))


#: The number in STREET_MESHES of every kind of PROPS in every pose: (props, POSES) int32.
IN_POSE = np.array([[mesh_in_pose(name, pose) for pose in range(POSES)] for name in PROPS], dtype=np.int32)


def entity_mesh(name: str) -> Mesh:
    """The mesh of an entity, forward along +x, wheels on z = 0 (KeyError for an unknown name)."""
    return VEHICLES[name].make()


def prop_mesh(name: str, pose: int = 0) -> Mesh:
    """The mesh of a street kind, its front towards -y (KeyError for an unknown name), in one of its poses."""
    return people.POSES[name][pose]() if name in people.POSES else _STREET[name]()
