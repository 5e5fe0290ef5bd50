"""What stands in a town: one :class:`Thing` each, its solid shape, and which two would stand in each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.assets.catalogue import NAMED_BY_COLOUR
from simtown.assets.street.people import SIDEWAYS
from simtown.language.solids import Solid
from simtown.scenes.footprints import GROUP, heights, outline, placed, separation, top
from simtown.town.checks import TownError, number, paint, velocity, whole
from simtown.town.nouns import kinds_of

if TYPE_CHECKING:
    from simtown.town.town import Town

#: Two things closer than this touch, metres; what rests on another may sink so far into it.
TOUCH = 0.03
#: How fast things of a group can be told to go, metres a second; the others stand.
FASTEST = {"vehicle": 30.0, "person": 4.0}


def _kind(value: object, what: str) -> str:
    kinds = kinds_of(value)
    if len(kinds) > 1:
        raise TownError(f"{what} is '{value}', which is several: give one of {', '.join(kinds[:8])}{', ...' if kinds[8:] else ''}")
    return kinds[0]


_place = partial(number, low=-500.0, high=500.0)
#: What can be set of a thing, each with its check.
SETTABLE: dict[str, Callable[[object, str], Any]] = {
    "kind": _kind,
    "x": _place,
    "y": _place,
    "z": _place,
    "yaw": number,
    "scale": partial(number, low=0.05, high=20.0),
    "style": partial(whole, low=0, high=65535),
    "paint": paint,
    "velocity": velocity,
    "spin": partial(number, low=-100.0, high=100.0),
    "pace": partial(number, low=0.0),
}


@dataclass(eq=False)
class Thing:
    """A vehicle, a building, a tree, a mailbox, a person ... of a town.

    What is assigned is checked as :meth:`Town.change <simtown.town.town.Town.change>` checks it: ``taxi.x = 3.0`` raises TownError, and
    changes nothing, where something else stands.

    Attributes:
        kind: its name in the catalogue.
        name: what the town calls it: its kind, or "taxi 2" where there is another. Its town gives it.
        x, y, z: place, metres.
        yaw: radians counter-clockwise.
        scale: 1 is the catalogue's size.
        style: picks tints, lit windows and a person's pose.
        paint: of a vehicle's body, one of PAINTS; None is its kind's own.
        velocity: metres a second.
        spin: radians a second.
        pace: the speed it wants, metres a second; 0 stands.
        track: (t, 2) where it was in the last seconds, metres, or None. Its town keeps it.
        town: where it stands, or None.
    """

    kind: str
    x: float
    y: float
    z: float = 0.0
    yaw: float = 0.0
    scale: float = 1.0
    style: int = 0
    paint: str | None = None
    name: str = ""
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    spin: float = 0.0
    pace: float = 0.0
    track: np.ndarray | None = field(default=None, repr=False)
    town: Town | None = field(default=None, repr=False, init=False)

    def __setattr__(self, attribute: str, value: object) -> None:
        if self.town is not None:
            self.town.change(self, **{attribute: value})
        elif attribute in ("name", "track"):  # as the constructor does
            write(self, **{attribute: value})
        else:
            write(self, **{attribute: checked(attribute, value)})

    @property
    def group(self) -> str:
        """ "vehicle", "building", "tree", "furniture", "person" or "cloud"."""
        return GROUP[self.kind]

    @property
    def front(self) -> float:
        """The direction it looks in, radians counter-clockwise from +x."""
        return self.yaw + turned_front(self.kind)

    @property
    def outline(self) -> np.ndarray:
        """(k, 2) the convex outline of what stands on the ground, metres."""
        return placed(outline(self.kind, self.style), self.x, self.y, self.yaw, self.scale)

    @property
    def low(self) -> float:
        return self.z + self.scale * heights(self.kind, self.style)[0]

    @property
    def high(self) -> float:
        return self.z + self.scale * heights(self.kind, self.style)[1]

    def top(self, x: float, y: float) -> float:
        """How high it is above a point of the ground, metres; nan where it is not above it. Raises TownError for no numbers."""
        c, s, dx, dy = np.cos(self.yaw), np.sin(self.yaw), number(x, "x") - self.x, number(y, "y") - self.y
        return self.z + self.scale * top(self.kind, (c * dx + s * dy) / self.scale, (c * dy - s * dx) / self.scale, self.style)

    def solid(self) -> Solid:
        """As relations see it."""
        return Solid(self.outline, self.z, self.top, np.array([self.x, self.y]), self.front, self.track)

    def __str__(self) -> str:
        return self.name or self.kind


def write(thing: Thing, **values: object) -> None:
    """Set attributes without any check: for a thing's town and what moves it."""
    vars(thing).update(values)


def checked(attribute: str, value: object) -> Any:
    """The value of an attribute in its own type. Raises TownError for what cannot be set, and for values out of range."""
    if attribute not in SETTABLE:
        raise TownError(f"'{attribute}' of a thing cannot be set: what can is {', '.join(SETTABLE)}")
    return SETTABLE[attribute](value, attribute)


def check(thing: Thing) -> None:
    """Raises TownError for a thing that no town can hold, wherever the others stand."""
    vehicle = thing.group == "vehicle"
    if vehicle and (thing.z or thing.scale != 1.0 or thing.style):
        raise TownError(f"the {thing} stands on the ground, in its own size: leave out z, dz, on, scale and style")
    if thing.paint is not None and not may_be_painted(thing.kind):
        why = "its name says its colour" if vehicle else "only vehicles can"
        raise TownError(f"the {thing} cannot be painted {thing.paint}: {why}, so leave out paint")
    if thing.group != "cloud" and thing.z < 0:
        raise TownError(f"the {thing} would stand {-thing.z:.2f} m below the ground: give a z of 0 or more")
    most = FASTEST.get(thing.group, 0.0)
    if thing.pace > most:
        hint = f"give a speed from 0 to {most:g} metres a second" if most else "only vehicles and people go"
        raise TownError(f"the {thing} cannot go at {thing.pace:g} metres a second: {hint}")


def may_be_painted(kind: str) -> bool:
    """Whether a kind may have another paint than its own: a vehicle whose name has no colour in it."""
    return GROUP[kind] == "vehicle" and kind not in NAMED_BY_COLOUR


def turned_front(kind: str) -> float:
    """The direction in which an unturned kind looks, radians."""
    return 0.0 if kind in SIDEWAYS or GROUP[kind] == "vehicle" else -np.pi / 2


def overlapping(thing: Thing, others: list[Thing]) -> Thing | None:
    """The first of the others that would share its space: outlines overlap, heights do too, and neither rests on the other."""
    if thing.group == "cloud":
        return None
    mine, reach = thing.outline, _reach(thing)
    for other in others:
        if other is thing or other.group == "cloud" or np.hypot(other.x - thing.x, other.y - thing.y) > reach + _reach(other):
            continue
        if min(thing.high, other.high) - max(thing.low, other.low) <= TOUCH or separation(mine, other.outline) >= -1e-6:
            continue
        if not rests(thing, other) and not rests(other, thing):
            return other
    return None


def rests(upper: Thing, lower: Thing) -> bool:
    """Whether a raised thing stands on another: its underside is where the other's top is, below its middle."""
    height = lower.top(upper.x, upper.y)
    return upper.z > TOUCH and bool(upper.z >= height - TOUCH)


def _reach(thing: Thing) -> float:
    corners = outline(thing.kind, thing.style)
    return thing.scale * float(np.sqrt((corners * corners).sum(axis=1).max()))
