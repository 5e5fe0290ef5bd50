"""A random street full of traffic."""

import math

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.core.streams import Stream
from simtown.scenes.placement import LANES, SWAY, half_sizes
from simtown.town.checks import TownError, number, whole
from simtown.town.motion.clip import LONGEST
from simtown.town.things import Thing, overlapping
from simtown.town.town import Town

#: The speeds of drivers, metres a second, and about how many metres of the road are in view.
DRIVE, VIEW = (2.0, 9.0), 20.0
#: The least distance between two vehicles of a lane, metres, and how far each drives at most.
_APART, _REACH = 4.0, 450.0
#: How many vehicles pass the middle while one is in view, and how far away the last may start, metres.
_PASSING, _FARTHEST = 3.0, 420.0
#: How many places are tried for one vehicle, how far each is behind the one before, metres, and the most
#: vehicles.
_TRIES, _BEHIND, _MOST = 200, 0.2, 40
#: The least distance between the places at which two vehicles start, metres.
_ROOM = 6.0


def traffic(
    seed: int,
    vehicles: int | None = None,
    entities: int = 60,
    weather: str | None = None,
    seconds: float = 4.0,
) -> Town:
    """A random street with vehicles that drive.

    They pass one after another, so that some are in view for so many seconds; those of a lane have one speed.

    Args:
        seed: of the street.
        vehicles: how many, from 0 to 40; if None, as many as keep two in view, for up to two minutes.
        entities: the vehicles are of the first so many kinds.
        weather: a kind of weather; a random one if None.
        seconds: how long vehicles are to come.
    """
    number(seconds, "seconds", 0.001, LONGEST)
    count = min(max(5, math.ceil(seconds) + 1), _MOST) if vehicles is None else vehicles
    whole(count, "vehicles", 0, _MOST)
    whole(entities, "entities", 1, len(ENTITIES))
    town = Town.random(seed, 0, weather)
    fastest = float(np.clip(VIEW / _PASSING * (count - 1) / seconds, *DRIVE))
    room = max(min(fastest * seconds, _FARTHEST) / max(count - 1, 1), _ROOM)
    u = Stream(seed, "clip", "traffic").uniform(np.arange(count * _TRIES), 4).reshape(count, _TRIES, 4)
    speeds = fastest * (0.8 + 0.2 * Stream(seed, "clip", "speed").uniform(np.arange(1), len(LANES))[0])
    half = dict(zip(ENTITIES, half_sizes()[:, 0], strict=True))
    for k, tries in enumerate(u):
        for i, (kind, way, sway, place) in enumerate(tries.tolist()):
            lane_number = int(way < 0.5)
            speed = float(speeds[lane_number])
            y, yaw = LANES[lane_number]
            x = speed / fastest * room * (k + 0.5 * place - 0.25) + _BEHIND * i
            y += SWAY * (2 * sway - 1)
            vehicle = Thing(ENTITIES[int(kind * entities)], x if yaw else -x, y, yaw=yaw)
            lane = [other for other in town.vehicles if (other.y > 0) == (y > 0)]
            gaps = (abs(vehicle.x - o.x) - half[vehicle.kind] - half[o.kind] for o in lane)
            if all(gap > _APART for gap in gaps) and overlapping(vehicle, town.things) is None:
                town.drive(town.place(vehicle.kind, vehicle.x, y, yaw), speed, then=0.0, at=_REACH / speed)
                break
        else:
            raise TownError(f"{count} vehicles find no room on the road: give fewer")
    return town
