"""Places for things: which kind, where it stands, by what name; functions of the list of a town's things."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.assets.entities import with_article
from simtown.core.exact import sincos
from simtown.core.streams import Stream
from simtown.language.meaning.nouns import similar_names
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import GROUP
from simtown.scenes.placement import GAP, LANES, draw_poses, half_sizes, overlap
from simtown.scenes.scene import Scene, SceneBatch
from simtown.scenes.silhouette import framed
from simtown.scenes.street import FRONT, draw_street
from simtown.scenes.weather import WEATHER_KINDS, WEATHERS
from simtown.town.checks import TownError, folded, shown
from simtown.town.things import Thing, check, kinds_of, meant, overlapping, paintable

#: What :meth:`simtown.Town.place` takes beside a kind.
PLACED_WITH = ("x", "y", "yaw", "z", "lane", "on", "scale", "style", "paint")
#: The attributes that decide whether a thing is in the way of others.
SPACE = frozenset({"kind", "x", "y", "z", "yaw", "scale", "style"})
#: The attributes that decide, without a place, how bodies go on from now.
MOTION = frozenset({"velocity", "spin"})
#: By group, the y at which things stand by default, metres.
_PLACES = {
    "building": FRONT + 0.4,
    "tree": 7.9,
    "furniture": 5.6,
    "person": 5.0,
    "cloud": 92.0,
    "animal": 5.3,
}
#: By group, how far to either side of the middle things are tried, metres.
_SPREAD = {"building": 25.0, "tree": 13.0, "furniture": 10.0, "person": 10.0, "cloud": 60.0, "animal": 10.0}
#: How many places are tried before a town counts as full.
_TRIES = 400
#: The most things that a town holds.
MOST_THINGS = 250
#: How high clouds float, metres.
_SKY = 26.0


class NoRoomError(TownError):
    """Something else stands there; another kind or place may fit."""


@dataclass
class Dice:
    """The random choices of a town, numbered so that the same verbs make the same ones.

    Attributes:
        seed: the town's.
        draws: how many choices there have been.
    """

    seed: int
    draws: int = 0

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Take back the choices for what is refused, so that the town stays as it was."""
        draws = self.draws
        try:
            yield
        except TownError:
            self.draws = draws
            raise

    def uniform(self, what: str) -> float:
        """The next number, at least 0 and less than 1."""
        self.draws += 1
        return float(Stream(self.seed, "town", what).uniform(np.array([self.draws]), 1)[0, 0])

    def places(self) -> np.ndarray:
        """(tries, 3) numbers for the next sequence of places."""
        self.draws += 1
        return Stream(self.seed, "town", "spot").uniform(np.full(_TRIES, self.draws), 3, np.arange(_TRIES))

    def order(self, n: int) -> np.ndarray:
        """(n,) places in a random order; the same until something is drawn."""
        keys = Stream(self.seed, "town", "kinds").bits(np.array([self.draws]), n)[0]
        return keys.argsort(kind="stable")


@dataclass(frozen=True)
class Wanted:
    """A thing that is wanted, before its kind is known.

    Attributes:
        x: metres along the road; None for a free place.
        y: metres across the road; None for the kind's usual place.
        yaw: radians; None for the kind's usual direction.
        z: height above the ground, or above `below`, metres.
        lane: of a vehicle, "near" or "far", or None.
        below: the thing on top of which it stands, or None.
        scale: 1 is the catalogue's size.
        style: its tints and pose, or None to use `drawn_style`, which vehicles do not have.
        drawn_style: the style of what is not a vehicle.
        paint: of a vehicle's body, or None.
    """

    x: float | None
    y: float | None
    yaw: float | None
    z: float
    lane: str | None
    below: Thing | None
    scale: float
    style: int | None
    drawn_style: int
    paint: str | None

    def thing(self, kind: str) -> Thing:
        """The thing without a place. Raises TownError if it has a lane that the kind cannot have."""
        vehicle = GROUP[kind] == "vehicle"
        if self.lane is not None and not vehicle:
            raise TownError(f"{with_article(kind)} has no lane: leave out lane, which is for vehicles")
        style = self.style
        if style is None:
            style = 0 if vehicle else self.drawn_style
        return Thing(kind, 0.0, 0.0, self.z, 0.0, self.scale, style, self.paint)


def place(wanted: Wanted, kind: str, things: list[Thing], camera: Camera, dice: Dice) -> Thing:
    """The wanted thing of a kind, where it has room among others. Raises NoRoomError if it has none."""
    thing = wanted.thing(kind)
    if wanted.below is not None:
        return _on_top(thing, wanted, things)
    if wanted.x is None:
        check(thing)
        return find_place(thing, things, camera, dice, wanted)
    vehicle = thing.group == "vehicle"
    y, yaw = LANES[wanted.lane == "far"] if vehicle else (_PLACES[thing.group], 0.0)
    y = y if wanted.y is None else wanted.y
    yaw = yaw if wanted.yaw is None else wanted.yaw
    z = _SKY if thing.group == "cloud" and not thing.z else thing.z
    return check_room(replace(thing, x=wanted.x, y=y, yaw=yaw, z=z), things)


def change(thing: Thing, kind: str, attributes: dict[str, Any], others: list[Thing]) -> Thing:
    """A thing of a kind, with other attributes. Raises NoRoomError if it overlaps one of the others then."""
    if kind != thing.kind:
        style = 0 if kind in ENTITIES else thing.style
        paint = thing.paint if paintable(kind) else None
        attributes = {"kind": kind, "name": "", "style": style, "paint": paint} | attributes
    other = replace(thing, **attributes)
    return other if SPACE.isdisjoint(attributes) else check_room(other, others)


def make_first_that_fits(noun: str, kinds: list[str], make: Callable[[str], Thing]) -> Thing:
    """The thing that `make` makes of the first kind that finds room. Raises TownError if none does."""
    for kind in kinds:
        try:
            return make(kind)
        except NoRoomError as error:
            reason = str(error)
    raise TownError(reason if len(kinds) == 1 else f"no kind of {noun} finds room: {reason}")


def choose_kinds(noun: object, paint: str | None, weather: str, dice: Dice) -> list[str]:
    """The kinds that a noun stands for, in a random order; of several, those that may have the paint.

    Raises TownError if the noun is unknown.
    """
    kinds = list(kinds_of(noun))
    if len(kinds) > 1 and not WEATHER_KINDS[WEATHERS.index(weather)].bare_trees:
        kinds = [k for k in kinds if not k.endswith(" bare")]
    if paint is not None and len(kinds) > 1:
        kinds = [k for k in kinds if paintable(k)] or kinds
    if len(kinds) == 1:
        return kinds
    first = kinds[int(dice.uniform("kind") * len(kinds))]
    return [first, *(kinds[i] for i in dice.order(len(kinds)) if kinds[i] != first)]


def find_place(
    thing: Thing, things: list[Thing], camera: Camera, dice: Dice, wanted: Wanted | None = None
) -> Thing:
    """The thing at the first free place of a random sequence; a wanted lane, y or yaw is kept.

    Raises NoRoomError if no place is free.
    """
    u = dice.places()
    usable = np.ones(_TRIES, dtype=bool)
    sine, cosine = map(float, sincos(camera.yaw))
    middle = camera.x + camera.y * sine / max(cosine, 0.3)  # where it looks at the road
    if thing.group == "vehicle":
        if wanted is not None and wanted.lane is not None:
            u[:, 0] = 0.75 if wanted.lane == "near" else 0.25
        entity = np.full((_TRIES, 1), ENTITIES.index(thing.kind))
        poses = draw_poses(u[:, None], entity)
        poses[..., 0] += np.float32(middle)
        inside = framed(entity, poses, np.tile(camera.row(), (_TRIES, 1)))
        usable = inside if inside.any() else usable  # a camera may see too little of the road
        poses = poses[:, 0].astype(np.float64)
    else:
        x = middle + _SPREAD[thing.group] * (2 * u[:, 0] - 1)
        poses = np.stack([x, _PLACES[thing.group] + 0.4 * (u[:, 1] - 0.5), 0 * u[:, 2]], axis=1)
    if wanted is not None and wanted.y is not None:
        poses[:, 1] = wanted.y
    if wanted is not None and wanted.yaw is not None:
        poses[:, 2] = wanted.yaw
    if thing.group == "vehicle":
        usable &= ~_is_crowded(thing, poses, things)
    height = _SKY if thing.group == "cloud" else thing.z
    for new_x, new_y, new_yaw in poses[usable].tolist():
        candidate = replace(thing, x=new_x, y=new_y, z=height, yaw=new_yaw)
        if overlapping(candidate, things) is None:
            return candidate
    problem = f"no free place for {with_article(thing.kind)} in {_TRIES} tries"
    raise NoRoomError(f"{problem}: remove something, or say where with x and y")


def _is_crowded(thing: Thing, poses: np.ndarray, things: list[Thing]) -> np.ndarray:
    """(tries,) bool: whether a vehicle leaves less than the gap of data sets to another one."""
    vehicles = [t for t in things if t.group == "vehicle"]
    if not vehicles:
        return np.zeros(len(poses), dtype=bool)
    half, others = half_sizes(), np.array([[t.x, t.y, t.yaw] for t in vehicles])
    other_halves = half[[ENTITIES.index(t.kind) for t in vehicles]]
    close = overlap(poses[:, None], half[ENTITIES.index(thing.kind)], others, other_halves, GAP)
    return np.asarray(close.any(axis=1))


def _on_top(thing: Thing, wanted: Wanted, things: list[Thing]) -> Thing:
    """The thing on top of another one, where it stands best if no place is wanted."""
    below = wanted.below
    assert below is not None
    x, y = below.foothold
    x = x if wanted.x is None else wanted.x
    y = y if wanted.y is None else wanted.y
    height = below.top(x, y)
    if not np.isfinite(height):
        raise TownError(f"({x:.2f}, {y:.2f}) is not above the {below}: give an x and a y that are")
    return check_room(replace(thing, x=x, y=y, z=thing.z + height, yaw=wanted.yaw or 0.0), things)


def check_room(thing: Thing, others: list[Thing]) -> Thing:
    """The thing, after checks.

    Raises TownError if no town can hold it, NoRoomError if it overlaps one of the others.
    """
    check(thing)
    other = overlapping(thing, others)
    if other is not None:
        place, other_place = (f"({t.x:.2f}, {t.y:.2f})" for t in (thing, other))
        problem = f"the {thing} at {place} would overlap the {other} at {other_place}"
        raise NoRoomError(f"{problem}: give another place, or move or remove one of them")
    return thing


def choose_name(kind: str, others: Sequence[Thing]) -> str:
    """The kind itself, or the first of "taxi 2", "taxi 3" ... that none of the others has."""
    taken = {t.name for t in others}
    names = (kind, *(f"{kind} {i}" for i in range(2, MOST_THINGS + 2)))
    return next(name for name in names if name not in taken)


def find(things: Sequence[Thing], name: object) -> Thing:
    """The thing of a name, or of a noun that only one thing has.

    Raises TownError if there is none, or several.
    """
    alike: list[Thing] = []
    if isinstance(name, str):
        named = [t for t in things if t.name.lower() == folded(name)]
        alike = named or meant([*things], name)
    if len(alike) == 1:
        return alike[0]
    names = [t.name for t in alike or things]
    listed = ", ".join(names[:12]) + (", ..." if names[12:] else "")
    if alike:
        raise TownError(f"'{name}' may mean {len(alike)} things of this town: use a name ({listed})")
    similar = similar_names(folded(shown(name).strip("'")), names, 1)
    remedy = f"place it, or use a name ({listed})" if names else "it is empty"
    remedy = f"did you mean {similar[0]}?" if similar else remedy
    raise TownError(f"there is no {shown(name)} in this town: {remedy}")


def draw_scene(seed: int, sky: dict[str, np.ndarray]) -> Scene:
    """A seed's houses, trees and people, under some columns of :func:`.draw_weather`."""
    batch = SceneBatch.of([Scene()])
    for column, values in sky.items():
        setattr(batch, column, values)
    street = draw_street(Stream(seed, "town", "street"), np.array([0]), batch.weather)
    batch.prop, batch.prop_pose, batch.prop_style = street
    return batch.scene(0)
