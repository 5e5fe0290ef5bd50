"""What stands in a town: one :class:`Thing` each, its solid shape, and which two would stand in each other."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simtown.language.solids import Solid
from simtown.scenes.footprints import GROUP, heights, outline, placed, separation, top

#: People who walk look along +x in their own frame; the others towards -y, as every street kind does.
_WALKERS = ("jogger", "person with dog", "person with pram")
#: Two things closer than this touch, metres; what rests on another may sink so far into it.
TOUCH = 0.03


class TownError(ValueError):
    """Something a town cannot do; the message says what to change."""


@dataclass(eq=False)
class Thing:
    """A vehicle, a building, a tree, a mailbox, a person ... of a town. Read it; the verbs of its town change it.

    Attributes:
        kind: its name in the catalogue.
        name: what the town calls it: its kind, or "taxi 2" where there is another.
        x, y, z: place, metres.
        yaw: radians counter-clockwise.
        scale: 1 is the catalogue's size.
        style: picks tints and lit windows.
        velocity: metres a second.
        spin: radians a second.
        pace: the speed it wants, metres a second; 0 stands.
    """

    kind: str
    x: float
    y: float
    z: float = 0.0
    yaw: float = 0.0
    scale: float = 1.0
    style: int = 0
    name: str = ""
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    spin: float = 0.0
    pace: float = 0.0
    track: np.ndarray | None = field(default=None, repr=False)

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
        return placed(outline(self.kind), self.x, self.y, self.yaw, self.scale)

    @property
    def low(self) -> float:
        return self.z + self.scale * heights(self.kind)[0]

    @property
    def high(self) -> float:
        return self.z + self.scale * heights(self.kind)[1]

    def top(self, x: float, y: float) -> float:
        """How high it is above a point of the ground, metres; nan where it is not above it."""
        c, s, dx, dy = np.cos(self.yaw), np.sin(self.yaw), x - self.x, y - self.y
        return self.z + self.scale * top(self.kind, (c * dx + s * dy) / self.scale, (c * dy - s * dx) / self.scale)

    def solid(self) -> Solid:
        """As relations see it."""
        return Solid(self.outline, self.z, self.top, np.array([self.x, self.y]), self.front, self.track)

    def __str__(self) -> str:
        return self.name or self.kind


def turned_front(kind: str) -> float:
    """The direction in which an unturned kind looks, radians."""
    return 0.0 if kind in _WALKERS or GROUP[kind] == "vehicle" else -np.pi / 2


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
    corners = outline(thing.kind)
    return thing.scale * float(np.sqrt((corners * corners).sum(axis=1).max()))
